//! Turns a draft into a machine: looks up names, checks counts, and reports rules for the same symbols.

use std::{cell::OnceCell, collections::HashMap};

use super::{Draft, DraftRule, DraftState, Loaded, Piece, RuleOrder, counted, listed};
use crate::{
    Access, Diagnostic, Machine, MachineBuilder, Pattern, Rule, StateId, SymbolId, Tape, Write,
    diagnostic::{Findings, Lines},
};

impl<'t> Draft<'t> {
    /// Builds the machine; if there are errors, returns all findings in the order of the text.
    pub(super) fn resolve(mut self, text: &str) -> Result<Loaded, Vec<Diagnostic>> {
        let states = std::mem::take(&mut self.states);
        let mut resolver = Resolver {
            text,
            lines: OnceCell::new(),
            builder: Machine::builder(),
            ids: HashMap::new(),
            conflicts: Vec::new(),
            draft: &mut self,
        };
        resolver.declare(&states);
        for (state, id) in states.iter().zip(0..) {
            resolver.rules(StateId(id), state);
        }
        if let Some(start) = resolver.draft.start.clone() {
            let start = resolver.state(&start);
            resolver.builder.start(start);
        }
        let Resolver { builder, conflicts, .. } = resolver;
        let Self { input, mut findings, .. } = self;
        let n_others = conflicts.len().saturating_sub(1);
        for mut first in conflicts.into_iter().take(1) {
            first.help.get_or_insert_default().push_str(&match n_others {
                0 => String::new(),
                1 => "; another state has such a pair too".to_owned(),
                n_others => format!("; {n_others} other states have such a pair too"),
            });
            findings.push(first);
        }
        if findings.has_errors() {
            return Err(findings.into_sorted());
        }
        match builder.build() {
            Ok(machine) => Ok(Loaded { machine, input, warnings: findings.into_sorted() }),
            Err(error) => {
                findings.error(0..text.len(), error.to_string(), "in this machine");
                Err(findings.into_sorted())
            }
        }
    }
}

/// Looks up a symbol of a tape; reports an unknown one.
pub(super) fn symbol(tape: &Tape, name: &Piece<'_>, findings: &mut Findings) -> SymbolId {
    tape.alphabet.find(name.text).unwrap_or_else(|| {
        let message = format!("tape `{}` has no symbol `{}`", tape.name, name.text);
        let symbols = listed(tape.alphabet.names().iter().map(String::as_str), " ");
        findings.error(&name.span, message, "unknown symbol").remedy(format!("its symbols are {symbols}"));
        SymbolId(0)
    })
}

struct Resolver<'d, 't> {
    draft: &'d mut Draft<'t>,
    ids: HashMap<&'t str, StateId>,
    builder: MachineBuilder,
    /// The first conflict of each state, in formats that report only one of them.
    conflicts: Vec<Diagnostic>,
    text: &'d str,
    /// Computed when first needed, because a text may contain many machines.
    lines: OnceCell<Lines>,
}

impl<'t> Resolver<'_, 't> {
    fn declare(&mut self, states: &[DraftState<'t>]) {
        let Draft { name, tapes, missing, findings, order, .. } = &mut *self.draft;
        self.builder.missing(*missing);
        if let Some(name) = name {
            self.builder.name(*name);
        }
        for Tape { name, alphabet, access } in tapes {
            self.builder.tape_with(name.clone(), alphabet.clone(), *access);
        }
        for DraftState { key, name, halting, samples, rules } in states {
            let id = self.builder.push_state(name.clone());
            self.builder.samples_in(id, *samples);
            if let Some(accepting) = *halting {
                self.builder.halt_in(id, accepting);
            }
            if self.ids.insert(key.text, id).is_some() {
                findings
                    .error(&key.span, format!("state `{}` is declared twice", key.text), "again here")
                    .remedy("put all rules of a state below one line");
            }
            if let (Some(_), Some(rule)) = (halting, rules.first()) {
                let message = format!("state `{name}` halts, so its rules never apply");
                let found = match order {
                    RuleOrder::FirstMatch => findings.error(&rule.span, message, "the first of them"),
                    RuleOrder::Unordered { .. } => findings.warning(&rule.span, message, "the first of them"),
                };
                found.remedy("drop the rules, or do not let the state halt");
            }
        }
    }

    /// Looks up a state; adds an undeclared one, or reports it if states must be declared.
    fn state(&mut self, name: &Piece<'t>) -> StateId {
        if let Some(&state) = self.ids.get(name.text) {
            return state;
        }
        match (self.draft.undeclared)(name.text) {
            Ok(halting) => {
                let state = self.builder.push_state(name.text.to_owned());
                if let Some(accepting) = halting {
                    self.builder.halt_in(state, accepting);
                }
                self.ids.insert(name.text, state);
                state
            }
            Err(help) => {
                let message = format!("unknown state `{}`", name.text);
                self.draft.findings.error(&name.span, message, "not declared").remedy(help);
                StateId(0)
            }
        }
    }

    /// Adds the rules of a state, and reports rules that another rule covers or contradicts.
    fn rules(&mut self, state: StateId, draft: &DraftState<'t>) {
        let order = self.draft.order;
        if draft.halting.is_some() && order != RuleOrder::FirstMatch {
            return;
        }
        let mut known = KnownRules::default();
        // Where the known rules begin in the text.
        let mut starts: Vec<usize> = Vec::new();
        for rule in &draft.rules {
            let span = &rule.span;
            let Some(rule) = self.rule(rule) else { continue };
            let line_of =
                |earlier: usize| self.lines.get_or_init(|| Lines::new(self.text)).of(starts[earlier]);
            let covering = known.covering(&rule.reads).min();
            match order {
                RuleOrder::FirstMatch => {
                    if let Some(line) = covering.map(line_of) {
                        let message =
                            format!("this rule never applies: line {line} already covers its reads");
                        self.draft.findings.warning(span, message, "the first rule that fits is taken");
                        self.builder.push_rule(state, rule);
                        continue;
                    }
                }
                RuleOrder::Unordered { reports_all } => {
                    if let Some(earlier) = known.conflict(&rule) {
                        let message =
                            self.conflict(&draft.name, &known.rules[earlier], line_of(earlier), &rule);
                        let error = Diagnostic::error(span.clone(), message, "the second rule").with_help(
                            "only deterministic machines are read; remove or narrow one of the two",
                        );
                        if !reports_all {
                            // One transition can stand for many rules, so the first conflict of a state is enough.
                            self.conflicts.push(error);
                            return;
                        }
                        self.draft.findings.push(error);
                        continue;
                    }
                    if let Some(earlier) =
                        covering.filter(|&earlier| known.rules[earlier].reads == rule.reads)
                    {
                        if reports_all {
                            let message =
                                format!("this rule is the same as that on line {}", line_of(earlier));
                            self.draft.findings.warning(span, message, "repeated");
                        }
                        continue;
                    }
                }
            }
            starts.push(span.start);
            self.builder.push_rule(state, rule.clone());
            known.push(rule);
        }
    }

    /// Resolves a rule; reports errors and then returns `None`.
    fn rule(&mut self, rule: &DraftRule<'t>) -> Option<Rule> {
        let n_before = self.draft.findings.count();
        let next = self.state(&rule.next);
        let Draft { tapes, findings, .. } = &mut *self.draft;
        let parts = [("read", rule.reads.len()), ("write", rule.writes.len()), ("move", rule.moves.len())];
        for (part, found) in parts.into_iter().filter(|&(_, found)| found != tapes.len()) {
            let (found, n_tapes) = (counted(found, part), counted(tapes.len(), "tape"));
            let message = format!("{found} in a rule, but the machine has {n_tapes}");
            findings.error(&rule.span, message, "this rule");
        }
        if findings.count() > n_before {
            return None;
        }
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for (tape, (read, write)) in tapes.iter().zip(rule.reads.iter().zip(&rule.writes)) {
            let mut id = |name: &Piece<'t>| symbol(tape, name, findings);
            let pattern = read.as_ref().map_or(Pattern::Any, |name| Pattern::Is(id(name)));
            let written = write.as_ref().map_or(Write::Keep, |name| Write::Put(id(name)));
            if tape.access == Access::ReadOnly
                && written.changes(pattern)
                && let Some(write) = write
            {
                findings
                    .error(&write.span, format!("tape `{}` is read-only", tape.name), "a write")
                    .remedy("write `*` to keep the symbol");
            }
            reads.push(pattern);
            writes.push(written);
        }
        (findings.count() == n_before).then(|| Rule { reads, writes, moves: rule.moves.clone(), next })
    }

    /// The message about two rules that conflict.
    fn conflict(&self, state: &str, earlier: &Rule, line: usize, rule: &Rule) -> String {
        let common = earlier.reads.iter().zip(&rule.reads).zip(&self.draft.tapes);
        let common = common.map(|((earlier, read), tape)| match earlier.symbol().or(read.symbol()) {
            None => "any symbol".to_owned(),
            Some(symbol) => format!("`{}`", tape.alphabet.name(symbol)),
        });
        let common = common.collect::<Vec<_>>().join(", ");
        let [first, second] = [earlier, rule].map(|rule| self.builder.state_name(rule.next));
        format!(
            "not deterministic: reading {common} in state `{state}`, both the rule to `{first}` on line {line} and this one to \
             `{second}` apply"
        )
    }
}

/// The rules of a state, indexed by their reads.
#[derive(Default)]
pub(super) struct KnownRules {
    rules: Vec<Rule>,
    /// Grouped by the tapes on which they match any symbol.
    groups: Vec<(Vec<bool>, ByReads)>,
}

/// The index of each rule, by its reads.
type ByReads = HashMap<Vec<Pattern>, usize>;

impl KnownRules {
    /// The rules that match whenever these reads match.
    fn covering(&self, reads: &[Pattern]) -> impl Iterator<Item = usize> {
        self.groups.iter().filter_map(|(any, group)| {
            let widened = |(&read, &any)| if any { Pattern::Any } else { read };
            group.get(&reads.iter().zip(any).map(widened).collect::<Vec<_>>()).copied()
        })
    }

    /// The first rule that conflicts with this one: both match some symbols, but they act differently.
    fn conflict(&self, rule: &Rule) -> Option<usize> {
        let disagrees = |earlier: &usize| disagree(&self.rules[*earlier], rule);
        if rule.reads.contains(&Pattern::Any) {
            return (0..self.rules.len()).find(disagrees);
        }
        self.covering(&rule.reads).filter(disagrees).min()
    }

    fn push(&mut self, rule: Rule) {
        let any: Vec<bool> = rule.reads.iter().map(|&read| read == Pattern::Any).collect();
        let at = self.groups.iter().position(|(group, _)| *group == any).unwrap_or_else(|| {
            self.groups.push((any, HashMap::new()));
            self.groups.len() - 1
        });
        self.groups[at].1.entry(rule.reads.clone()).or_insert(self.rules.len());
        self.rules.push(rule);
    }

    /// Removes the rules that an earlier rule covers.
    pub(super) fn drop_covered(rules: &mut Vec<Rule>) {
        let mut known = Self::default();
        rules.retain(|rule| {
            let is_new = known.covering(&rule.reads).next().is_none();
            known.push(rule.clone());
            is_new
        });
    }

    /// Whether the rules do the same in any order.
    pub(super) fn are_unordered(rules: &[Rule]) -> bool {
        let mut known = Self::default();
        rules.iter().all(|rule| {
            let agrees = known.conflict(rule).is_none();
            known.push(rule.clone());
            agrees
        })
    }
}

/// Whether both rules match some symbols but act differently.
fn disagree(a: &Rule, b: &Rule) -> bool {
    let overlap = |(&a, &b): (&Pattern, &Pattern)| a == Pattern::Any || b == Pattern::Any || a == b;
    if !a.reads.iter().zip(&b.reads).all(overlap) {
        return false;
    }
    let same_writes = (0..a.reads.len()).all(|tape| {
        let read = a.reads[tape].symbol().or(b.reads[tape].symbol());
        let written = |write: Write| write.symbol().or(read);
        written(a.writes[tape]) == written(b.writes[tape])
    });
    a.next != b.next || a.moves != b.moves || !same_writes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Move;

    fn rule(read: Pattern, write: Write) -> Rule {
        Rule { reads: vec![read], writes: vec![write], moves: vec![Move::Right], next: StateId(0) }
    }

    fn check(rules: &[Rule], expected: bool) {
        assert_eq!(KnownRules::are_unordered(rules), expected);
    }

    #[test]
    fn overlap_matters_only_where_effects_differ() {
        let [a, b] = [SymbolId(0), SymbolId(1)];
        let (is_a, is_b) = (Pattern::Is(a), Pattern::Is(b));
        check(&[rule(is_a, Write::Keep), rule(is_b, Write::Put(a))], true);
        check(&[rule(is_a, Write::Keep), rule(is_a, Write::Put(a))], true);
        check(&[rule(is_a, Write::Keep), rule(is_a, Write::Put(b))], false);
        check(&[rule(Pattern::Any, Write::Keep), rule(is_b, Write::Put(b))], true);
        check(&[rule(is_b, Write::Put(a)), rule(Pattern::Any, Write::Keep)], false);
        check(&[rule(Pattern::Any, Write::Keep), rule(Pattern::Any, Write::Put(b))], false);
    }
}
