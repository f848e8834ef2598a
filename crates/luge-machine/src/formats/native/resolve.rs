//! From lines to a machine: every name is looked up, every count compared.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    ops::Range,
};

use super::{
    lex::Token,
    syntax::{Draft, DraftRule, DraftTape},
};
use crate::{
    Access, Alphabet, Diagnostic, Input, Machine, Pattern, Rule, StateId, SymbolId, TapeInput, Write,
    diagnostic::{Findings, Lines},
    formats::{Loaded, MAX_SYMBOLS, counted, finish, listed},
};

/// Looks everything up. `errors` are those found before; warnings come with the machine, or with the errors.
pub(super) fn resolve(text: &str, draft: &Draft, errors: Findings) -> Result<Loaded, Vec<Diagnostic>> {
    let mut found = Resolver { draft, states: HashMap::new(), alphabets: Vec::new(), findings: errors };
    found.header();
    found.tapes(text.len());
    found.states(text.len());
    let lines = Lines::new(text);
    let mut builder = Machine::builder();
    if let Some(Some(name)) = &draft.header {
        builder.name(name);
    }
    for (tape, alphabet) in draft.tapes.iter().zip(&found.alphabets) {
        builder.tape_with(tape.name.text(), alphabet.clone(), tape.access);
    }
    for state in &draft.states {
        let id = builder.push_state(state.name.text().to_owned());
        if let Some(accepting) = state.halting {
            builder.halt_in(id, accepting);
        }
        builder.samples_in(id, state.samples);
        let rules: Vec<Option<Rule>> = state.rules.iter().map(|rule| found.rule(rule)).collect();
        found.shadowed(&state.rules, &rules, &lines);
        for rule in rules.into_iter().flatten() {
            builder.push_rule(id, rule);
        }
    }
    let start = draft.start.as_ref().and_then(|start| found.state(start));
    builder.start(start.unwrap_or(StateId(0)));
    builder.missing(draft.missing.unwrap_or_default());
    let input = found.input();

    finish(builder, input, found.findings, text)
}

struct Resolver<'d> {
    draft: &'d Draft,
    states: HashMap<&'d str, StateId>,
    alphabets: Vec<Alphabet>,
    findings: Findings,
}

/// Rules by what they read.
type ByReads = HashMap<Vec<Pattern>, usize>;

impl<'d> Resolver<'d> {
    fn error(&mut self, span: &Range<usize>, message: impl Into<String>, label: &str) -> &mut Diagnostic {
        self.findings.error(span, message, label)
    }

    fn header(&mut self) {
        if self.draft.header.is_none() && self.findings.is_empty() {
            self.error(&(0..0), "the file does not begin with `machine`", "expected here")
                .remedy("the first line is `machine` or `machine \"NAME\"`");
        }
    }

    fn tapes(&mut self, end: usize) {
        let draft = self.draft;
        if draft.tapes.is_empty() && self.findings.is_empty() {
            self.error(&(end..end), "the machine has no tape", "the file ends here")
                .remedy("declare one, as in `tape work: 0 1 blank 0`");
        }
        if let Some(tape) = draft.tapes.get(255) {
            self.error(&tape.name.span, "more than 255 tapes", "one too many");
        }
        let mut seen = HashSet::new();
        for tape in &draft.tapes {
            let name = tape.name.text();
            if !seen.insert(name) {
                self.error(&tape.name.span, format!("tape `{name}` is declared twice"), "again here");
            }
            let alphabet = self.alphabet(tape);
            self.alphabets.push(alphabet);
        }
    }

    fn alphabet(&mut self, tape: &'d DraftTape) -> Alphabet {
        let mut names: Vec<&str> = Vec::new();
        for symbol in &tape.symbols {
            let name = symbol.text();
            if symbol.is("*") {
                self.error(&symbol.span, "`*` means any symbol", "not a symbol")
                    .remedy("put it in quotes to use it as a symbol");
            } else if names.contains(&name) {
                self.error(&symbol.span, format!("symbol `{name}` is listed twice"), "again here");
            } else if names.len() == MAX_SYMBOLS {
                self.error(&symbol.span, "more than 256 symbols on a tape", "one too many");
                break;
            } else {
                names.push(name);
            }
        }
        let blank = tape.blank.text();
        let index = names.iter().position(|&n| n == blank);
        if index.is_none() {
            let message = format!("the blank `{blank}` is not among the tape's symbols");
            self.error(&tape.blank.span, message, "not listed")
                .remedy("list all symbols before `blank`, the blank too");
        }
        Alphabet::new(names, SymbolId::new(index.unwrap_or(0)))
    }

    fn states(&mut self, end: usize) {
        let draft = self.draft;
        if draft.states.is_empty() && self.findings.is_empty() {
            self.error(&(end..end), "the machine has no state", "the file ends here")
                .remedy("declare one, as in `scan:` or `done: accept`");
        }
        for (index, state) in draft.states.iter().enumerate() {
            let name = state.name.text();
            if self.states.contains_key(name) {
                self.error(&state.name.span, format!("state `{name}` is declared twice"), "again here")
                    .remedy("put all rules of a state below one line");
            }
            self.states.entry(name).or_insert(StateId::new(index));
            if let (Some(_), Some(rule)) = (state.halting, state.rules.first()) {
                self.error(&rule.span, format!("state `{name}` halts but has rules"), "never applies")
                    .remedy("drop `accept` or `reject`, or the rules");
            }
        }
    }

    fn state(&mut self, token: &Token) -> Option<StateId> {
        let name = token.text();
        let known = self.states.get(name).copied();
        if known.is_none() {
            let help = format!("states are declared as `{0}:`, `{0}: accept` or `{0}: reject`", name);
            self.error(&token.span, format!("unknown state `{name}`"), "not declared").remedy(help);
        }
        known
    }

    fn symbol(&mut self, tape: usize, token: &Token) -> Option<SymbolId> {
        let name = token.text();
        let alphabet = &self.alphabets[tape];
        let known = alphabet.find(name);
        if known.is_none() {
            let symbols = listed(alphabet.names().iter().map(String::as_str), " ");
            let on = self.draft.tapes[tape].name.text();
            self.error(&token.span, format!("tape `{on}` has no symbol `{name}`"), "unknown symbol")
                .remedy(format!("its symbols are {symbols}"));
        }
        known
    }

    /// The rule with its names looked up, or nothing if that failed and was reported.
    fn rule(&mut self, rule: &DraftRule) -> Option<Rule> {
        let n_tapes = self.draft.tapes.len();
        let n_before = self.findings.count();
        let next = self.state(&rule.next);
        if self.draft.lacks_tape {
            return None;
        }
        for (part, found) in
            [("read", rule.reads.len()), ("write", rule.writes.len()), ("move", rule.moves.len())]
        {
            if found != n_tapes {
                let (found, n_tapes) = (counted(found, part), counted(n_tapes, "tape"));
                let message = format!("{found} in a rule, but the machine has {n_tapes}");
                self.error(&rule.span, message, "this rule");
            }
        }
        if self.findings.count() > n_before {
            return None;
        }
        let mut looked_up =
            Rule { reads: Vec::new(), writes: Vec::new(), moves: rule.moves.clone(), next: next? };
        for (tape, (read, write)) in rule.reads.iter().zip(&rule.writes).enumerate() {
            let pattern =
                if read.is("*") { Some(Pattern::Any) } else { self.symbol(tape, read).map(Pattern::Is) };
            let written =
                if write.is("*") { Some(Write::Keep) } else { self.symbol(tape, write).map(Write::Put) };
            let DraftTape { name, access, .. } = &self.draft.tapes[tape];
            if *access == Access::ReadOnly && written.is_some_and(|written| written.changes(pattern)) {
                self.error(&write.span, format!("tape `{}` is read-only", name.text()), "a write")
                    .remedy("write `*` to keep the symbol");
            }
            looked_up.reads.extend(pattern);
            looked_up.writes.extend(written);
        }
        (self.findings.count() == n_before).then_some(looked_up)
    }

    /// Warns of rules that an earlier rule leaves nothing for.
    fn shadowed(&mut self, drafts: &[DraftRule], rules: &[Option<Rule>], lines: &Lines) {
        // The rules so far, by what they read; a wildcard on the same tapes makes a group of its own.
        let mut groups: Vec<(Vec<bool>, ByReads)> = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            let Some(rule) = rule else { continue };
            let covering = groups.iter().filter_map(|(any, group)| {
                let widened = |(&read, &any)| if any { Pattern::Any } else { read };
                group.get(&rule.reads.iter().zip(any).map(widened).collect::<Vec<_>>())
            });
            if let Some(&earlier) = covering.min() {
                let span = drafts[index].span.clone();
                let line = lines.of(drafts[earlier].span.start);
                let message = format!("this rule never applies: line {line} already covers its reads");
                self.findings.warning(span, message, "the first rule that fits is taken");
                continue;
            }
            let any: Vec<bool> = rule.reads.iter().map(|&read| read == Pattern::Any).collect();
            let at = groups.iter().position(|(group, _)| *group == any).unwrap_or_else(|| {
                groups.push((any, HashMap::new()));
                groups.len() - 1
            });
            groups[at].1.insert(rule.reads.clone(), index);
        }
    }

    fn input(&mut self) -> Option<Input> {
        let draft = self.draft;
        let mut laid: BTreeMap<usize, TapeInput> = BTreeMap::new();
        for input in &draft.inputs {
            let name = input.tape.text();
            let Some(tape) = draft.tapes.iter().position(|tape| tape.name.text() == name) else {
                if !draft.lacks_tape {
                    self.error(&input.tape.span, format!("unknown tape `{name}`"), "not declared")
                        .remedy("tapes are declared as in `tape work: 0 1 blank 0`");
                }
                continue;
            };
            let symbols = input.symbols.iter().filter_map(|symbol| self.symbol(tape, symbol)).collect();
            if laid.insert(tape, TapeInput { symbols, head: input.head }).is_some() {
                self.error(&input.tape.span, format!("a second input for tape `{name}`"), "again here");
            }
        }
        let last = *laid.keys().next_back()?;
        Some(Input { tapes: (0..=last).map(|tape| laid.remove(&tape).unwrap_or_default()).collect() })
    }
}
