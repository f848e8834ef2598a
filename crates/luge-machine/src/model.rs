//! The machine itself: tapes, states and rules, always valid once built.

use crate::{StateId, SymbolId, TapeId};

/// The symbols of one tape and which of them is the blank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alphabet {
    names: Vec<String>,
    blank: SymbolId,
}

impl Alphabet {
    /// An alphabet with the given symbol names, in order; `blank` is one of them.
    ///
    /// Validity (at least one symbol, no name twice, at most 256) is checked by [`MachineBuilder::build`].
    ///
    /// [`MachineBuilder::build`]: crate::MachineBuilder::build
    pub fn new<S: Into<String>>(names: impl IntoIterator<Item = S>, blank: SymbolId) -> Self {
        Self { names: names.into_iter().map(Into::into).collect(), blank }
    }

    /// The two-symbol alphabet of the normal form: `0`, the blank, and `1`.
    pub fn binary() -> Self {
        Self::new(["0", "1"], SymbolId(0))
    }

    /// Number of symbols, the blank included.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no symbol at all, which no built machine has.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The symbol in every cell that was never written.
    pub fn blank(&self) -> SymbolId {
        self.blank
    }

    /// The name of a symbol.
    pub fn name(&self, symbol: SymbolId) -> &str {
        &self.names[symbol.index()]
    }

    /// The symbol with this name.
    pub fn find(&self, name: &str) -> Option<SymbolId> {
        self.names.iter().position(|n| n == name).map(SymbolId::new)
    }

    /// All symbols in order.
    pub fn symbols(&self) -> impl ExactSizeIterator<Item = SymbolId> + use<> {
        (0..self.names.len()).map(SymbolId::new)
    }

    /// All names in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

/// Whether a machine may write to a tape.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Access {
    /// The tape is read and written.
    #[default]
    ReadWrite,
    /// The tape is never written; its head still moves.
    ReadOnly,
}

/// One tape: its name, its alphabet, and whether it may be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tape {
    /// Unique among the tapes of a machine.
    pub name: String,
    /// The symbols of this tape.
    pub alphabet: Alphabet,
    /// Whether rules may write to it.
    pub access: Access,
}

/// One state: its name and what it does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    /// Unique among the states of a machine.
    pub name: String,
    /// Whether the machine continues from here.
    pub kind: StateKind,
    /// What a step from here does with the sample that passes.
    pub samples: SampleUse,
}

/// What a step from a state does with the sample that passes, in a machine that learns from a stream.
///
/// Every step sees another sample. A step that takes puts the features of its sample into the machine's memory and holds the
/// labels back; the step after it may latch them, and later they are gone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SampleUse {
    /// The sample passes unseen.
    #[default]
    Pass,
    /// The sample's features are put into the memory.
    Take,
    /// The labels of the sample taken one step before are put into the memory.
    Latch,
}

impl SampleUse {
    /// The word for it in the native format; none for a sample that passes.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Pass => None,
            Self::Take => Some("take"),
            Self::Latch => Some("latch"),
        }
    }
}

/// What happens in a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StateKind {
    /// The first rule that matches the symbols under the heads is applied.
    Running(Vec<Rule>),
    /// The machine has halted.
    Halting {
        /// Whether halting here accepts the input.
        accepting: bool,
    },
}

/// What a rule expects under one head.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pattern {
    /// Any symbol.
    Any,
    /// Exactly this symbol.
    Is(SymbolId),
}

impl Pattern {
    /// Whether `symbol` fits.
    pub fn matches(self, symbol: SymbolId) -> bool {
        self.symbol().is_none_or(|expected| expected == symbol)
    }

    /// The symbol that is asked for, if it is one.
    pub fn symbol(self) -> Option<SymbolId> {
        match self {
            Self::Any => None,
            Self::Is(symbol) => Some(symbol),
        }
    }
}

/// What a rule does to the cell under one head.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Write {
    /// The cell keeps its symbol.
    Keep,
    /// The cell gets this symbol.
    Put(SymbolId),
}

impl Write {
    /// The symbol that is put into the cell, if the rule names one.
    pub fn symbol(self) -> Option<SymbolId> {
        match self {
            Self::Keep => None,
            Self::Put(symbol) => Some(symbol),
        }
    }

    /// Whether the cell may hold something else afterwards, in a rule that expects `read`.
    pub(crate) fn changes(self, read: Option<Pattern>) -> bool {
        self.symbol().is_some_and(|written| read != Some(Pattern::Is(written)))
    }

    /// What the cell holds afterwards, if it held `read`.
    pub fn over(self, read: SymbolId) -> SymbolId {
        self.symbol().unwrap_or(read)
    }
}

/// Where a head goes at the end of a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Move {
    /// One cell to the left.
    Left,
    /// The head stays on its cell.
    Stay,
    /// One cell to the right.
    Right,
}

impl Move {
    /// The change of the head's cell: -1, 0 or +1.
    pub fn offset(self) -> i64 {
        self as i64 - 1
    }

    /// How a format writes the move that spells left, stay and right like this.
    pub(crate) fn spelled(self, spellings: [&'static str; 3]) -> &'static str {
        spellings[self as usize]
    }

    /// The move of a text, in a format that spells left, stay and right like this.
    pub(crate) fn named(text: &str, spellings: [&str; 3]) -> Option<Self> {
        let at = spellings.iter().position(|spelling| *spelling == text)?;
        Some([Self::Left, Self::Stay, Self::Right][at])
    }
}

/// One rule of a state; the three lists have one entry per tape.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Rule {
    /// The symbols the rule asks for.
    pub reads: Vec<Pattern>,
    /// What the rule writes.
    pub writes: Vec<Write>,
    /// How the heads move after writing.
    pub moves: Vec<Move>,
    /// The state that follows.
    pub next: StateId,
}

impl Rule {
    /// Whether the rule applies to the symbols under the heads.
    pub fn matches(&self, symbols: &[SymbolId]) -> bool {
        self.reads.iter().zip(symbols).all(|(pattern, &symbol)| pattern.matches(symbol))
    }
}

/// What it means that a running state has no rule for the symbols under the heads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Missing {
    /// The machine halts there, without a step: the custom of busy beaver work.
    Halt,
    /// The machine stops there, rejecting: an outcome of its own.
    #[default]
    Reject,
}

/// A deterministic Turing machine with any number of tapes.
///
/// Built by [`Machine::builder`]; always valid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    pub(crate) name: Option<String>,
    pub(crate) tapes: Vec<Tape>,
    pub(crate) states: Vec<State>,
    pub(crate) start: StateId,
    pub(crate) missing: Missing,
}

impl Machine {
    /// The machine's own name, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The tapes in order.
    pub fn tapes(&self) -> &[Tape] {
        &self.tapes
    }

    /// One tape.
    pub fn tape(&self, tape: TapeId) -> &Tape {
        &self.tapes[tape.index()]
    }

    /// Number of tapes.
    pub fn n_tapes(&self) -> usize {
        self.tapes.len()
    }

    /// The ids of all tapes.
    pub fn tape_ids(&self) -> impl ExactSizeIterator<Item = TapeId> + use<> {
        (0..self.tapes.len()).map(TapeId::new)
    }

    /// The tape with this name.
    pub fn find_tape(&self, name: &str) -> Option<TapeId> {
        self.tapes.iter().position(|tape| tape.name == name).map(TapeId::new)
    }

    /// The states in order.
    pub fn states(&self) -> &[State] {
        &self.states
    }

    /// One state.
    pub fn state(&self, state: StateId) -> &State {
        &self.states[state.index()]
    }

    /// The ids of all states.
    pub fn state_ids(&self) -> impl ExactSizeIterator<Item = StateId> + use<> {
        (0..self.states.len()).map(StateId::new)
    }

    /// The state with this name.
    pub fn find_state(&self, name: &str) -> Option<StateId> {
        self.states.iter().position(|s| s.name == name).map(StateId::new)
    }

    /// The state the machine starts in.
    pub fn start(&self) -> StateId {
        self.start
    }

    /// What a missing rule means.
    pub fn missing(&self) -> Missing {
        self.missing
    }

    /// The rules of a state; none if it halts.
    pub fn rules(&self, state: StateId) -> &[Rule] {
        match &self.state(state).kind {
            StateKind::Running(rules) => rules,
            StateKind::Halting { .. } => &[],
        }
    }

    /// The rules of a running state, to be changed.
    pub(crate) fn rules_mut(&mut self, state: StateId) -> Option<&mut Vec<Rule>> {
        match &mut self.states[state.index()].kind {
            StateKind::Running(rules) => Some(rules),
            StateKind::Halting { .. } => None,
        }
    }

    /// The rules of all states, to be changed.
    pub(crate) fn all_rules_mut(&mut self) -> impl Iterator<Item = &mut Rule> {
        self.states.iter_mut().flat_map(|state| match &mut state.kind {
            StateKind::Running(rules) => rules.as_mut_slice(),
            StateKind::Halting { .. } => &mut [],
        })
    }

    /// Whether some state takes samples from a stream.
    pub fn takes_samples(&self) -> bool {
        self.states.iter().any(|state| state.samples == SampleUse::Take)
    }

    /// S(q): the tapes that some rule of a state looks at. A state that halts looks at none.
    pub fn looked_at(&self, state: StateId) -> impl Iterator<Item = TapeId> {
        let looks =
            move |tape: &TapeId| self.rules(state).iter().any(|r| r.reads[tape.index()] != Pattern::Any);
        self.tape_ids().filter(looks)
    }

    /// Number of rules over all states.
    pub fn n_rules(&self) -> usize {
        self.state_ids().map(|q| self.rules(q).len()).sum()
    }

    /// `Some(accepting)` if the state halts.
    pub fn halting(&self, state: StateId) -> Option<bool> {
        match self.state(state).kind {
            StateKind::Halting { accepting } => Some(accepting),
            StateKind::Running(_) => None,
        }
    }

    /// The rule that applies in `state` to the symbols under the heads: the first that matches.
    pub fn rule_for(&self, state: StateId, symbols: &[SymbolId]) -> Option<&Rule> {
        self.rules(state).iter().find(|rule| rule.matches(symbols))
    }

    /// Whether a running state has a rule for every combination of symbols under the heads.
    pub fn is_total(&self, state: StateId) -> bool {
        let rules: Vec<&Rule> = self.rules(state).iter().collect();
        self.covers(&rules, 0)
    }

    /// Whether `rules` leave out no combination of symbols on the tapes from `tape` on.
    fn covers(&self, rules: &[&Rule], tape: usize) -> bool {
        let looks_at = |tape: usize| rules.iter().any(|rule| rule.reads[tape] != Pattern::Any);
        let Some(tape) = (tape..self.n_tapes()).find(|&tape| looks_at(tape)) else {
            return !rules.is_empty();
        };
        self.tapes[tape].alphabet.symbols().all(|symbol| {
            let matching: Vec<&Rule> =
                rules.iter().copied().filter(|rule| rule.reads[tape].matches(symbol)).collect();
            self.covers(&matching, tape + 1)
        })
    }

    /// Every combination of symbols under the heads, the last tape varying fastest.
    pub fn all_reads(&self) -> Vec<Vec<SymbolId>> {
        self.situations(&vec![Pattern::Any; self.n_tapes()])
    }

    /// The combinations of symbols that fit these patterns, the last tape varying fastest.
    pub(crate) fn situations(&self, reads: &[Pattern]) -> Vec<Vec<SymbolId>> {
        let mut all = vec![Vec::with_capacity(reads.len())];
        for (tape, &read) in self.tapes.iter().zip(reads) {
            let symbols: Vec<SymbolId> = tape.alphabet.symbols().filter(|&s| read.matches(s)).collect();
            let longer = |start: &Vec<SymbolId>| {
                let start = start.clone();
                symbols.iter().map(move |&symbol| [start.as_slice(), &[symbol]].concat())
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }

    /// How many combinations of symbols fit these patterns.
    pub(crate) fn n_situations(&self, reads: &[Pattern]) -> usize {
        self.tapes.iter().zip(reads).fold(1, |n: usize, (tape, read)| match read {
            Pattern::Any => n.saturating_mul(tape.alphabet.len()),
            Pattern::Is(_) => n,
        })
    }
}
