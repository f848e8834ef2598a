//! A machine as a file describes it: by names, which have places in the text. Every format is read into a [`Draft`], and one
//! resolver looks the names up.

use std::{collections::BTreeSet, ops::Range};

use super::{MAX_SYMBOLS, Piece};
use crate::{
    Access, Alphabet, Input, Missing, Move, SampleUse, Severity, SymbolId, Tape, TapeInput,
    diagnostic::Findings, input::laid_characters,
};

/// What a file says of a machine.
pub(super) struct Draft<'t> {
    pub(super) name: Option<&'t str>,
    pub(super) tapes: Vec<Tape>,
    /// The states in order; those that rules enter and nothing declares follow them.
    pub(super) states: Vec<DraftState<'t>>,
    /// Without it the machine starts in its first state.
    pub(super) start: Option<Piece<'t>>,
    pub(super) missing: Missing,
    pub(super) input: Option<Input>,
    pub(super) custom: Custom,
    pub(super) findings: Findings,
}

/// What a format makes of what its files leave open.
pub(super) struct Custom {
    /// Whether a state that nothing declares runs, or accepts if it halts; an error is the remedy where states must be declared.
    pub(super) undeclared: fn(&str) -> Result<Option<bool>, String>,
    /// What rules of a halting state are. If that is a warning they are left out.
    pub(super) rules_of_halting: Severity,
    pub(super) order: Order,
}

/// Which of the rules counts that fit the same symbols.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The first one.
    First,
    /// There is no order, so they must agree. Whether a warning tells of those that do.
    None { warns: bool },
}

/// A state as its file declares it.
pub(super) struct DraftState<'t> {
    /// What rules call it.
    pub(super) key: Piece<'t>,
    pub(super) name: String,
    /// Whether it accepts, if it halts.
    pub(super) halting: Option<bool>,
    pub(super) samples: SampleUse,
    pub(super) rules: Vec<DraftRule<'t>>,
}

/// A rule; the lists have one entry per tape.
pub(super) struct DraftRule<'t> {
    /// The symbols it asks for; `None` stands for any.
    pub(super) reads: Vec<Option<Piece<'t>>>,
    /// What it writes; `None` keeps the symbol.
    pub(super) writes: Vec<Option<Piece<'t>>>,
    pub(super) moves: Vec<Move>,
    pub(super) next: Piece<'t>,
    pub(super) span: Range<usize>,
}

impl<'t> DraftState<'t> {
    /// A state without rules that is called what rules call it.
    pub(super) fn new(key: Piece<'t>, halting: Option<bool>) -> Self {
        let name = key.text.to_owned();
        Self { key, name, halting, samples: SampleUse::Pass, rules: Vec::new() }
    }
}

impl<'t> DraftRule<'t> {
    /// A rule of a machine with one tape.
    pub(super) fn single(
        read: Option<Piece<'t>>,
        write: Option<Piece<'t>>,
        head: Move,
        next: Piece<'t>,
        span: Range<usize>,
    ) -> Self {
        Self { reads: vec![read], writes: vec![write], moves: vec![head], next, span }
    }
}

impl<'t> Draft<'t> {
    pub(super) fn new(missing: Missing, custom: Custom, findings: Findings) -> Self {
        let (tapes, states) = (Vec::new(), Vec::new());
        Self { name: None, tapes, states, start: None, missing, input: None, custom, findings }
    }

    /// The symbols of a tape that rules name which can apply.
    pub(super) fn named(&self, tape: usize) -> Vec<Piece<'t>> {
        let running = self.states.iter().filter(|state| state.halting.is_none());
        let rules = running.flat_map(|state| &state.rules);
        rules.flat_map(|rule| [&rule.reads[tape], &rule.writes[tape]]).flatten().cloned().collect()
    }

    /// Adds tapes that have no names of their own: `tape` if there is one, else `tape1`, `tape2`, …
    pub(super) fn add_tapes(&mut self, alphabets: Vec<Alphabet>) {
        let is_alone = alphabets.len() == 1;
        self.tapes.extend(alphabets.into_iter().zip(1..).map(|(alphabet, number)| {
            let name = if is_alone { "tape".to_owned() } else { format!("tape{number}") };
            Tape { name, alphabet, access: Access::ReadWrite }
        }));
    }

    /// Lays characters on the only tape; those that are no symbols are left out.
    pub(super) fn lay(&mut self, characters: impl IntoIterator<Item = &'t str>, head: i64) {
        let alphabet = &self.tapes[0].alphabet;
        let symbols = characters.into_iter().filter_map(|name| alphabet.find(name)).collect();
        self.input = Some(Input { tapes: vec![TapeInput { symbols, head }] });
    }
}

/// The alphabet of a tape whose file does not list its symbols: the blank, those that are named, in this order or sorted, and the
/// characters of the text that is to lie on it, as long as there is room for them.
pub(super) fn collected<'t>(
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
    for name in input.into_iter().flat_map(|input| laid_characters(input)).map(String::from) {
        if names.len() < MAX_SYMBOLS && !names.contains(&name) {
            names.push(name);
        }
    }
    Alphabet::new(names, SymbolId(0))
}
