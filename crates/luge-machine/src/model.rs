//! The machine: tapes, states and rules. A machine is valid once built.

use crate::{StateId, SymbolId, TapeId};

/// The symbols of one tape, one of which is the blank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alphabet {
    names: Vec<String>,
    blank: SymbolId,
}

impl Alphabet {
    /// An alphabet with these symbol names, in order; `blank` is one of them.
    ///
    /// [`MachineBuilder::build`] checks that there are 1 to 256 symbols with different names.
    ///
    /// [`MachineBuilder::build`]: crate::MachineBuilder::build
    pub fn new<S: Into<String>>(names: impl IntoIterator<Item = S>, blank: SymbolId) -> Self {
        Self { names: names.into_iter().map(Into::into).collect(), blank }
    }

    /// The two-symbol alphabet of the normal form: `0`, the blank, and `1`.
    pub fn binary() -> Self {
        Self::new(["0", "1"], SymbolId(0))
    }

    /// Number of symbols, including the blank.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no symbols; never true in a machine that was built.
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

/// Whether rules may write to a tape.
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
    /// Whether the machine accepts when it halts here; `None` if it continues.
    pub halting: Option<bool>,
    /// The rules; the first that matches the symbols under the heads applies. A halting state has none.
    pub rules: Vec<Rule>,
    /// What a step from here does with the current sample.
    pub samples: SampleUse,
}

/// What a step from a state does with the current sample, in a machine that learns from a stream.
///
/// Every step sees another sample. A step that takes stores the features of its sample in the machine's memory and keeps
/// the labels aside. The next step may latch the labels; after that they are lost.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SampleUse {
    /// Ignores the sample.
    #[default]
    Pass,
    /// Stores the sample's features in the memory.
    Take,
    /// Stores the labels of the sample that the previous step took in the memory.
    Latch,
}

impl SampleUse {
    /// Its keyword in the native format, if it has one.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Pass => None,
            Self::Take => Some("take"),
            Self::Latch => Some("latch"),
        }
    }
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
    /// Whether `symbol` matches.
    pub fn matches(self, symbol: SymbolId) -> bool {
        self.symbol().is_none_or(|expected| expected == symbol)
    }

    /// The expected symbol; `None` for any.
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
    /// The symbol is written to the cell.
    Put(SymbolId),
}

impl Write {
    /// The symbol that is written; `None` if the cell keeps its own.
    pub fn symbol(self) -> Option<SymbolId> {
        match self {
            Self::Keep => None,
            Self::Put(symbol) => Some(symbol),
        }
    }

    /// Whether a rule that matches `read` can change the cell.
    pub(crate) fn changes(self, read: Pattern) -> bool {
        self.symbol().is_some_and(|written| read != Pattern::Is(written))
    }

    /// The symbol in the cell afterwards, if it was `read`.
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

    /// The move in a format with these spellings of left, stay and right.
    pub(crate) fn spelled(self, spellings: [&'static str; 3]) -> &'static str {
        spellings[self as usize]
    }

    /// Parses a move in a format with these spellings of left, stay and right.
    pub(crate) fn named(text: &str, spellings: [&str; 3]) -> Option<Self> {
        let at = spellings.iter().position(|spelling| *spelling == text)?;
        Some([Self::Left, Self::Stay, Self::Right][at])
    }
}

/// One rule of a state; the three lists have one entry per tape.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Rule {
    /// The expected symbols.
    pub reads: Vec<Pattern>,
    /// What the rule writes to the cells under the heads.
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

/// What happens if a running state has no rule for the symbols under the heads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Missing {
    /// The machine halts without a step, as is usual for busy beavers.
    Halt,
    /// The machine stops and rejects, which is an outcome of its own.
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
    /// The machine's name, if it has one.
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

    /// What happens if no rule applies.
    pub fn missing(&self) -> Missing {
        self.missing
    }

    /// The rules of a state; none if it halts.
    pub fn rules(&self, state: StateId) -> &[Rule] {
        &self.state(state).rules
    }

    pub(crate) fn state_mut(&mut self, state: StateId) -> &mut State {
        &mut self.states[state.index()]
    }

    /// Adds a state that ignores samples.
    pub(crate) fn push_state(&mut self, name: String, halting: Option<bool>, rules: Vec<Rule>) -> StateId {
        self.states.push(State { name, halting, rules, samples: SampleUse::Pass });
        StateId::new(self.states.len() - 1)
    }

    /// The rules of all states.
    pub(crate) fn all_rules(&self) -> impl Iterator<Item = (StateId, &Rule)> {
        self.state_ids().flat_map(|state| self.rules(state).iter().map(move |rule| (state, rule)))
    }

    /// The rules of all states, to be changed.
    pub(crate) fn all_rules_mut(&mut self) -> impl Iterator<Item = &mut Rule> {
        self.states.iter_mut().flat_map(|state| &mut state.rules)
    }

    /// Whether some state takes samples from a stream.
    pub fn takes_samples(&self) -> bool {
        self.states.iter().any(|state| state.samples == SampleUse::Take)
    }

    /// S(q): the tapes that some rule of a state reads. A halting state reads none.
    pub fn looked_at(&self, state: StateId) -> impl Iterator<Item = TapeId> {
        let looks =
            move |tape: &TapeId| self.rules(state).iter().any(|r| r.reads[tape.index()] != Pattern::Any);
        self.tape_ids().filter(looks)
    }

    /// Number of rules of all states.
    pub fn n_rules(&self) -> usize {
        self.all_rules().count()
    }

    /// Whether a halting state accepts; `None` if the state runs.
    pub fn halting(&self, state: StateId) -> Option<bool> {
        self.state(state).halting
    }

    /// The rule that applies in a state: the first that matches the symbols under the heads.
    pub fn rule_for(&self, state: StateId, symbols: &[SymbolId]) -> Option<&Rule> {
        self.rules(state).iter().find(|rule| rule.matches(symbols))
    }

    /// Whether a running state has a rule for every combination of symbols under the heads.
    pub fn is_total(&self, state: StateId) -> bool {
        let rules: Vec<&Rule> = self.rules(state).iter().collect();
        self.covers(&rules, 0)
    }

    /// Whether `rules` cover all combinations of symbols on the tapes from `tape` on.
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

    /// The combinations of symbols under the heads that match these patterns, the last tape varying fastest.
    pub fn situations(&self, reads: &[Pattern]) -> Vec<Vec<SymbolId>> {
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

    /// Number of combinations of symbols that match these patterns.
    pub(crate) fn n_situations(&self, reads: &[Pattern]) -> usize {
        self.tapes.iter().zip(reads).fold(1, |n: usize, (tape, read)| match read {
            Pattern::Any => n.saturating_mul(tape.alphabet.len()),
            Pattern::Is(_) => n,
        })
    }
}
