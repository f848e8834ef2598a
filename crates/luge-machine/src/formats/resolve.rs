//! The resolver: looks up names, compares counts, and finds rules for the same symbols.

use std::{cell::OnceCell, collections::HashMap};

use super::{Draft, DraftRule, DraftState, Loaded, Order, Piece, counted, listed};
use crate::{
    Access, Diagnostic, Machine, MachineBuilder, Pattern, Rule, Severity, StateId, SymbolId, Tape, Write,
    diagnostic::{Findings, Lines},
};

impl<'t> Draft<'t> {
    /// The machine, or all findings in the order of the text if there are errors.
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

/// The symbol of a tape with this name; an unknown symbol is reported.
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
    /// The first conflict of each state, if only one of them is reported in full.
    conflicts: Vec<Diagnostic>,
    text: &'d str,
    /// Computed when first needed, because a text may contain many machines.
    lines: OnceCell<Lines>,
}

impl<'t> Resolver<'_, 't> {
    fn declare(&mut self, states: &[DraftState<'t>]) {
        let Draft { name, tapes, missing, findings, conventions, .. } = &mut *self.draft;
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
                let finding = Diagnostic::error(rule.span.clone(), message, "the first of them");
                findings
                    .push(Diagnostic { severity: conventions.rules_of_halting, ..finding })
                    .remedy("drop the rules, or do not let the state halt");
            }
        }
    }

    /// The state with this name; a state that must be declared is reported if it is not.
    fn state(&mut self, name: &Piece<'t>) -> StateId {
        if let Some(&state) = self.ids.get(name.text) {
            return state;
        }
        match (self.draft.conventions.undeclared)(name.text) {
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

    /// Resolves the rules of a state, and reports those for the same symbols.
    fn rules(&mut self, state: StateId, draft: &DraftState<'t>) {
        if draft.halting.is_some() && self.draft.conventions.rules_of_halting == Severity::Warning {
            return;
        }
        let mut known = KnownRules::default();
        // The positions of the known rules in the text.
        let mut places: Vec<usize> = Vec::new();
        for rule in &draft.rules {
            let (span, at) = (&rule.span, rule.span.start);
            let Some(rule) = self.rule(rule) else { continue };
            let lines = || self.lines.get_or_init(|| Lines::new(self.text));
            let line_of = |earlier: usize| lines().of(places[earlier]);
            let covering = known.covering(&rule.reads).min();
            match (self.draft.conventions.order, covering) {
                (Order::First, Some(earlier)) => {
                    let line = line_of(earlier);
                    let message = format!("this rule never applies: line {line} already covers its reads");
                    self.draft.findings.warning(span, message, "the first rule that fits is taken");
                    self.builder.push_rule(state, rule);
                    continue;
                }
                (Order::None { warns }, covering) => {
                    if let Some(earlier) = known.conflict(&rule) {
                        let (line, earlier) = (line_of(earlier), &known.rules[earlier]);
                        let message = self.conflict(&draft.name, earlier, line, &rule);
                        let refusal = Diagnostic::error(span.clone(), message, "the second rule").with_help(
                            "only deterministic machines are read; remove or narrow one of the two",
                        );
                        if warns {
                            self.draft.findings.push(refusal);
                        } else {
                            // One transition may be many rules, so the first conflict of a state is enough.
                            self.conflicts.push(refusal);
                            return;
                        }
                        continue;
                    }
                    let same = covering.filter(|&earlier| known.rules[earlier].reads == rule.reads);
                    if let Some(earlier) = same {
                        if warns {
                            let message =
                                format!("this rule is the same as that on line {}", line_of(earlier));
                            self.draft.findings.warning(span, message, "repeated");
                        }
                        continue;
                    }
                }
                (Order::First, None) => {}
            }
            places.push(at);
            self.builder.push_rule(state, rule.clone());
            known.push(rule);
        }
    }

    /// Resolves a rule; `None` if there are errors, which are reported.
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
                && written.changes(Some(pattern))
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

    /// Describes two rules that conflict.
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

/// The position of each rule, by its reads.
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

    /// Removes rules that an earlier rule covers.
    pub(super) fn drop_covered(rules: &mut Vec<Rule>) {
        let mut known = Self::default();
        rules.retain(|rule| {
            let is_new = known.covering(&rule.reads).next().is_none();
            known.push(rule.clone());
            is_new
        });
    }

    /// Whether the order of rules does not matter.
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
