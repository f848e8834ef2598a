//! A machine as its file describes it: names with their positions in the text.
//!
//! The reader of each format produces a [`Draft`]; one resolver looks up the names for all formats.

use std::{
    cell::OnceCell,
    collections::{BTreeSet, HashMap},
    ops::Range,
};

use super::{KnownRules, Loaded, MAX_SYMBOLS, Piece, counted, listed};
use crate::{
    Access, Alphabet, Diagnostic, Input, Machine, MachineBuilder, Missing, Move, Pattern, Rule, SampleUse,
    StateId, SymbolId, Tape, TapeInput, Write,
    diagnostic::{Findings, Lines},
    input::input_characters,
};

/// The contents of a machine file.
pub(super) struct Draft<'t> {
    pub(super) name: Option<&'t str>,
    pub(super) tapes: Vec<Tape>,
    /// The declared states in order. The resolver appends undeclared states that rules enter.
    pub(super) states: Vec<DraftState<'t>>,
    /// The start state; the first state if this is `None`.
    pub(super) start: Option<Piece<'t>>,
    pub(super) missing: Missing,
    pub(super) input: Option<Input>,
    /// The kind of an undeclared state with this name, or the help text if states must be declared.
    pub(super) undeclared: fn(&str) -> Result<Halting, String>,
    pub(super) order: RuleOrder,
    pub(super) findings: Findings,
}

/// Whether a state accepts if it halts; `None` for a state that runs.
pub(super) type Halting = Option<bool>;

/// How the rules of a state relate to each other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleOrder {
    /// The first rule that matches applies. A halting state must not have rules.
    FirstMatch,
    /// Rules have no order, so two rules that match the same symbols must do the same. Rules of halting states are
    /// ignored with a warning.
    Unordered {
        /// Whether every conflict and every repeated rule is reported, or only the first conflict of the machine.
        reports_all: bool,
    },
}

/// A state as its file declares it.
pub(super) struct DraftState<'t> {
    /// The name by which rules refer to it.
    pub(super) key: Piece<'t>,
    pub(super) name: String,
    pub(super) halting: Halting,
    pub(super) samples: SampleUse,
    pub(super) rules: Vec<DraftRule<'t>>,
}

/// A rule; the lists have one entry per tape.
pub(super) struct DraftRule<'t> {
    /// The expected symbols; `None` matches any symbol.
    pub(super) reads: Vec<Option<Piece<'t>>>,
    /// The symbols to write; `None` keeps the symbol.
    pub(super) writes: Vec<Option<Piece<'t>>>,
    pub(super) moves: Vec<Move>,
    pub(super) next: Piece<'t>,
    pub(super) span: Range<usize>,
}

impl<'t> DraftState<'t> {
    /// A state without rules whose name is its key.
    pub(super) fn new(key: Piece<'t>, halting: Halting) -> Self {
        let name = key.text.to_owned();
        Self { key, name, halting, samples: SampleUse::Pass, rules: Vec::new() }
    }
}

impl<'t> Draft<'t> {
    /// A draft without tapes and states in a format whose rules are ordered.
    pub(super) fn new(
        missing: Missing,
        undeclared: fn(&str) -> Result<Halting, String>,
        findings: Findings,
    ) -> Self {
        let (tapes, states, order) = (Vec::new(), Vec::new(), RuleOrder::FirstMatch);
        Self { name: None, tapes, states, start: None, missing, input: None, undeclared, order, findings }
    }

    /// The symbols of a tape that occur in the rules of running states.
    pub(super) fn named(&self, tape: usize) -> Vec<Piece<'t>> {
        let running = self.states.iter().filter(|state| state.halting.is_none());
        let rules = running.flat_map(|state| &state.rules);
        rules.flat_map(|rule| [&rule.reads[tape], &rule.writes[tape]]).flatten().cloned().collect()
    }

    /// Adds tapes with default names: `tape` if there is one, else `tape1`, `tape2`, …
    pub(super) fn add_tapes(&mut self, alphabets: Vec<Alphabet>) {
        let is_alone = alphabets.len() == 1;
        self.tapes.extend(alphabets.into_iter().zip(1..).map(|(alphabet, number)| {
            let name = if is_alone { "tape".to_owned() } else { format!("tape{number}") };
            Tape { name, alphabet, access: Access::ReadWrite }
        }));
    }

    /// Sets the input of the only tape; characters that are not symbols are ignored.
    pub(super) fn set_input(&mut self, characters: impl IntoIterator<Item = &'t str>, head: i64) {
        let alphabet = &self.tapes[0].alphabet;
        let symbols = characters.into_iter().filter_map(|name| alphabet.find(name)).collect();
        self.input = Some(Input { tapes: vec![TapeInput { symbols, head }] });
    }

    /// Builds the machine; if there are errors, returns all findings in the order of the text.
    pub(super) fn resolve(self, text: &str) -> Result<Loaded, Vec<Diagnostic>> {
        let Self { name, tapes, states, start, missing, input, undeclared, order, findings } = self;
        let mut builder = Machine::builder();
        builder.machine = Machine { name: name.map(str::to_owned), tapes, missing, ..builder.machine };
        let (ids, lines, conflicts) = (HashMap::new(), OnceCell::new(), Vec::new());
        let mut resolver = Resolver { builder, ids, undeclared, order, findings, conflicts, text, lines };
        states.iter().for_each(|state| resolver.declare(state));
        for (state, id) in states.iter().zip(0..) {
            resolver.rules(StateId(id), state);
        }
        if let Some(start) = start {
            let start = resolver.state(&start);
            resolver.builder.start(start);
        }
        let Resolver { builder, conflicts, mut findings, .. } = resolver;
        let n_others = conflicts.len().saturating_sub(1);
        if let Some(mut first) = conflicts.into_iter().next() {
            first.help.get_or_insert_default().push_str(&match n_others {
                0 => String::new(),
                1 => "; another state has such a pair too".to_owned(),
                n_others => format!("; {n_others} other states have such a pair too"),
            });
            findings.push(first);
        }
        if findings.n_errors > 0 {
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

/// Looks up names, checks counts, and reports rules for the same symbols.
struct Resolver<'d, 't> {
    builder: MachineBuilder,
    ids: HashMap<&'t str, StateId>,
    undeclared: fn(&str) -> Result<Halting, String>,
    order: RuleOrder,
    findings: Findings,
    /// The first conflict of each state, in formats that report only one of them.
    conflicts: Vec<Diagnostic>,
    text: &'d str,
    /// Computed when first needed, because a text may contain many machines.
    lines: OnceCell<Lines>,
}

impl<'t> Resolver<'_, 't> {
    fn declare(&mut self, DraftState { key, name, halting, samples, rules }: &DraftState<'t>) {
        let id = self.builder.machine.push_state(name.clone(), *halting, Vec::new());
        self.builder.samples_in(id, *samples);
        if self.ids.insert(key.text, id).is_some() {
            self.findings
                .error(&key.span, format!("state `{}` is declared twice", key.text), "again here")
                .remedy("put all rules of a state below one line");
        }
        if let (Some(_), Some(rule)) = (halting, rules.first()) {
            let message = format!("state `{name}` halts, so its rules never apply");
            let found = match self.order {
                RuleOrder::FirstMatch => self.findings.error(&rule.span, message, "the first of them"),
                RuleOrder::Unordered { .. } => {
                    self.findings.warning(&rule.span, message, "the first of them")
                }
            };
            found.remedy("drop the rules, or do not let the state halt");
        }
    }

    /// Looks up a state; adds an undeclared one, or reports it if states must be declared.
    fn state(&mut self, name: &Piece<'t>) -> StateId {
        if let Some(&state) = self.ids.get(name.text) {
            return state;
        }
        match (self.undeclared)(name.text) {
            Ok(halting) => {
                let state = self.builder.machine.push_state(name.text.to_owned(), halting, Vec::new());
                self.ids.insert(name.text, state);
                state
            }
            Err(help) => {
                let message = format!("unknown state `{}`", name.text);
                self.findings.error(&name.span, message, "not declared").remedy(help);
                StateId(0)
            }
        }
    }

    /// Adds the rules of a state, and reports rules that another rule covers or contradicts.
    fn rules(&mut self, state: StateId, draft: &DraftState<'t>) {
        if draft.halting.is_some() && self.order != RuleOrder::FirstMatch {
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
            match self.order {
                RuleOrder::FirstMatch => {
                    if let Some(line) = covering.map(line_of) {
                        let message =
                            format!("this rule never applies: line {line} already covers its reads");
                        self.findings.warning(span, message, "the first rule that fits is taken");
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
                        self.findings.push(error);
                        continue;
                    }
                    if let Some(earlier) =
                        covering.filter(|&earlier| known.rules[earlier].reads == rule.reads)
                    {
                        if reports_all {
                            let message =
                                format!("this rule is the same as that on line {}", line_of(earlier));
                            self.findings.warning(span, message, "repeated");
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
        let n_before = self.findings.count();
        let next = self.state(&rule.next);
        let (tapes, findings) = (&self.builder.machine.tapes, &mut self.findings);
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
        let common = earlier.reads.iter().zip(&rule.reads).zip(&self.builder.machine.tapes);
        let common = common.map(|((earlier, read), tape)| match earlier.symbol().or(read.symbol()) {
            None => "any symbol".to_owned(),
            Some(symbol) => format!("`{}`", tape.alphabet.name(symbol)),
        });
        let common = common.collect::<Vec<_>>().join(", ");
        let [first, second] = [earlier, rule].map(|rule| &self.builder.machine.state(rule.next).name);
        format!(
            "not deterministic: reading {common} in state `{state}`, both the rule to `{first}` on line {line} and this one to \
             `{second}` apply"
        )
    }
}

/// Collects the alphabet of a tape whose file does not declare one: the blank, the symbols in the file (in order of
/// occurrence or sorted), and the characters of the input, up to [`MAX_SYMBOLS`].
pub(super) fn collected_alphabet<'t>(
    blank: &'t str,
    named: impl IntoIterator<Item = Piece<'t>>,
    sorted: bool,
    input: Option<&String>,
    findings: &mut Findings,
) -> Alphabet {
    let mut seen = BTreeSet::from([blank]);
    let mut names = vec![blank];
    for symbol in named {
        if seen.insert(symbol.text) {
            names.push(symbol.text);
            if names.len() == MAX_SYMBOLS + 1 {
                let message = format!("more than {MAX_SYMBOLS} symbols on a tape");
                findings.error(symbol.span, message, format!("`{}` is one too many", symbol.text));
            }
        }
    }
    if sorted {
        names[1..].sort_unstable();
    }
    names.truncate(MAX_SYMBOLS);
    let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    for name in input.into_iter().flat_map(|input| input_characters(input)).map(String::from) {
        if names.len() < MAX_SYMBOLS && !names.contains(&name) {
            names.push(name);
        }
    }
    Alphabet::new(names, SymbolId(0))
}
