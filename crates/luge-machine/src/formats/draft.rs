//! A machine as its file describes it: names with their positions in the text.
//!
//! The reader of each format produces a [`Draft`]; one resolver looks up the names for all formats.

use std::{collections::BTreeSet, ops::Range};

use super::{MAX_SYMBOLS, Piece};
use crate::{
    Access, Alphabet, Input, Missing, Move, SampleUse, SymbolId, Tape, TapeInput, diagnostic::Findings,
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
