//! Builds machines and checks them.

use crate::{
    Access, Alphabet, Machine, Missing, Move, Pattern, Rule, SampleUse, State, StateId, StateKind, SymbolId,
    Tape, TapeId, Write,
};

/// Why a machine could not be built.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BuildError {
    /// There is no tape.
    #[error("the machine has no tape")]
    NoTape,
    /// Too many tapes: their ids are bytes.
    #[error("{0} tapes, but at most 255 are supported")]
    TooManyTapes(usize),
    /// There is no state.
    #[error("the machine has no start state")]
    NoStart,
    /// Too many symbols or none: their ids are bytes.
    #[error("tape `{tape}` has {n_symbols} symbols, but 1 to 256 are supported")]
    AlphabetSize {
        /// The tape's name.
        tape: String,
        /// Number of symbols.
        n_symbols: usize,
    },
    /// A name is used twice.
    #[error("{kind} `{name}` is declared twice")]
    Duplicate {
        /// "tape", "state" or "symbol".
        kind: &'static str,
        /// The name in question.
        name: String,
    },
    /// A rule does not have one entry per tape.
    #[error("a rule of state `{state}` has {found} {part}, but the machine has {n_tapes} tapes")]
    Arity {
        /// The state's name.
        state: String,
        /// "reads", "writes" or "moves".
        part: &'static str,
        /// Number of entries found.
        found: usize,
        /// Number of tapes.
        n_tapes: usize,
    },
    /// A rule names a symbol that its tape does not have.
    #[error("a rule of state `{state}` names symbol {symbol} of tape `{tape}`, which has only {n_symbols}")]
    UnknownSymbol {
        /// The state's name.
        state: String,
        /// The tape's name.
        tape: String,
        /// The symbol's index.
        symbol: SymbolId,
        /// Number of symbols on that tape.
        n_symbols: usize,
    },
    /// A rule or the start names a state that was never added.
    #[error("{place} names state {state}, but the machine has only {n_states}")]
    UnknownState {
        /// "the start" or "a rule of state `…`".
        place: String,
        /// The state's index.
        state: StateId,
        /// Number of states.
        n_states: usize,
    },
    /// A rule writes to a read-only tape.
    #[error("a rule of state `{state}` writes to the read-only tape `{tape}`")]
    WritesReadOnly {
        /// The state's name.
        state: String,
        /// The tape's name.
        tape: String,
    },
    /// A halting state has rules.
    #[error("state `{0}` halts but has rules")]
    HaltingWithRules(String),
    /// A halting state takes or latches samples.
    #[error("state `{state}` halts but is marked `{word}`")]
    HaltingWithSamples {
        /// The state's name.
        state: String,
        /// "take" or "latch".
        word: &'static str,
    },
}

/// Collects tapes, states and rules; [`build`](Self::build) checks them all at once.
///
/// ```
/// use luge_machine::{Alphabet, Machine, Move, Pattern::Is, SymbolId, Write::Put};
///
/// // Two-state busy beaver: six steps, four ones.
/// let mut b = Machine::builder();
/// b.tape("tape", Alphabet::binary());
/// let [zero, one] = [SymbolId(0), SymbolId(1)];
/// let (a, c, halt) = (b.state("A"), b.state("B"), b.halting_state("Z", true));
/// b.rule(a, [Is(zero)], [Put(one)], [Move::Right], c);
/// b.rule(a, [Is(one)], [Put(one)], [Move::Left], c);
/// b.rule(c, [Is(zero)], [Put(one)], [Move::Left], a);
/// b.rule(c, [Is(one)], [Put(one)], [Move::Right], halt);
/// let machine = b.build().unwrap();
/// assert_eq!(machine.n_rules(), 4);
/// ```
#[derive(Clone, Debug, Default)]
pub struct MachineBuilder {
    name: Option<String>,
    tapes: Vec<Tape>,
    states: Vec<State>,
    /// The first halting state that was given rules.
    halting_with_rules: Option<StateId>,
    start: Option<StateId>,
    missing: Missing,
}

impl Machine {
    /// Starts an empty machine.
    pub fn builder() -> MachineBuilder {
        MachineBuilder::default()
    }
}

impl MachineBuilder {
    /// Names the machine.
    pub fn name(&mut self, name: impl Into<String>) -> &mut Self {
        self.name = Some(name.into());
        self
    }

    /// Adds a tape that is read and written.
    pub fn tape(&mut self, name: impl Into<String>, alphabet: Alphabet) -> TapeId {
        self.tape_with(name, alphabet, Access::ReadWrite)
    }

    /// Adds a tape that rules may only read.
    pub fn read_only_tape(&mut self, name: impl Into<String>, alphabet: Alphabet) -> TapeId {
        self.tape_with(name, alphabet, Access::ReadOnly)
    }

    /// Adds a tape.
    pub fn tape_with(&mut self, name: impl Into<String>, alphabet: Alphabet, access: Access) -> TapeId {
        self.tapes.push(Tape { name: name.into(), alphabet, access });
        TapeId(u8::try_from(self.tapes.len() - 1).unwrap_or(u8::MAX))
    }

    /// The state with this name, added as a running state if it is new. The machine starts in the first state, unless
    /// [`start`](Self::start) sets another.
    pub fn state(&mut self, name: impl AsRef<str>) -> StateId {
        let name = name.as_ref();
        if let Some(index) = self.states.iter().position(|s| s.name == name) {
            return StateId::new(index);
        }
        self.push_state(name.to_owned())
    }

    /// Makes the state with this name halting; adds it if it is new.
    pub fn halting_state(&mut self, name: impl AsRef<str>, accepting: bool) -> StateId {
        let state = self.state(name);
        self.halt_in(state, accepting);
        state
    }

    /// Adds a state without looking for one of the same name, for callers that keep their own index.
    pub fn push_state(&mut self, name: String) -> StateId {
        self.states.push(State { name, kind: StateKind::Running(Vec::new()), samples: SampleUse::Pass });
        StateId::new(self.states.len() - 1)
    }

    /// Makes an existing state halting.
    pub fn halt_in(&mut self, state: StateId, accepting: bool) -> &mut Self {
        let kind = &mut self.states[state.index()].kind;
        if matches!(kind, StateKind::Running(rules) if !rules.is_empty()) {
            self.halting_with_rules.get_or_insert(state);
        }
        *kind = StateKind::Halting { accepting };
        self
    }

    /// Sets what steps from a state do with the samples of a stream.
    pub fn samples_in(&mut self, state: StateId, samples: SampleUse) -> &mut Self {
        self.states[state.index()].samples = samples;
        self
    }

    /// The name of an existing state.
    pub(crate) fn state_name(&self, state: StateId) -> &str {
        &self.states[state.index()].name
    }

    /// Sets the start state.
    pub fn start(&mut self, state: StateId) -> &mut Self {
        self.start = Some(state);
        self
    }

    /// Sets what happens if no rule applies.
    pub fn missing(&mut self, missing: Missing) -> &mut Self {
        self.missing = missing;
        self
    }

    /// Adds a rule to a state; earlier rules take precedence.
    pub fn rule(
        &mut self,
        state: StateId,
        reads: impl IntoIterator<Item = Pattern>,
        writes: impl IntoIterator<Item = Write>,
        moves: impl IntoIterator<Item = Move>,
        next: StateId,
    ) -> &mut Self {
        let (reads, writes) = (reads.into_iter().collect(), writes.into_iter().collect());
        self.push_rule(state, Rule { reads, writes, moves: moves.into_iter().collect(), next })
    }

    /// Adds a rule to a state; earlier rules take precedence.
    pub fn push_rule(&mut self, state: StateId, rule: Rule) -> &mut Self {
        match &mut self.states[state.index()].kind {
            StateKind::Running(rules) => rules.push(rule),
            StateKind::Halting { .. } => _ = self.halting_with_rules.get_or_insert(state),
        }
        self
    }

    /// Checks the parts and builds the machine.
    ///
    /// # Errors
    /// The first inconsistency found, in the order tapes, states, rules.
    pub fn build(self) -> Result<Machine, BuildError> {
        self.check_tapes()?;
        self.check_states()?;
        for State { name, kind, .. } in &self.states {
            if let StateKind::Running(rules) = kind {
                rules.iter().try_for_each(|rule| self.check_rule(name, rule))?;
            }
        }
        if self.start.is_none() && self.states.is_empty() {
            return Err(BuildError::NoStart);
        }
        let start = self.start.unwrap_or(StateId(0));
        self.check_known(start, || "the start".to_owned())?;
        let Self { name, tapes, states, missing, .. } = self;
        Ok(Machine { name, tapes, states, start, missing })
    }

    fn check_tapes(&self) -> Result<(), BuildError> {
        if self.tapes.is_empty() {
            return Err(BuildError::NoTape);
        }
        if self.tapes.len() > 255 {
            return Err(BuildError::TooManyTapes(self.tapes.len()));
        }
        no_duplicate("tape", self.tapes.iter().map(|t| &t.name))?;
        for tape in &self.tapes {
            let n_symbols = tape.alphabet.len();
            if n_symbols == 0 || n_symbols > 256 || tape.alphabet.blank().index() >= n_symbols {
                return Err(BuildError::AlphabetSize { tape: tape.name.clone(), n_symbols });
            }
            no_duplicate("symbol", tape.alphabet.names())?;
        }
        Ok(())
    }

    fn check_states(&self) -> Result<(), BuildError> {
        no_duplicate("state", self.states.iter().map(|s| &s.name))?;
        if let Some(state) = self.halting_with_rules {
            return Err(BuildError::HaltingWithRules(self.state_name(state).to_owned()));
        }
        for State { name, kind, samples } in &self.states {
            if let (StateKind::Halting { .. }, Some(word)) = (kind, samples.word()) {
                return Err(BuildError::HaltingWithSamples { state: name.clone(), word });
            }
        }
        Ok(())
    }

    fn check_known(&self, state: StateId, place: impl Fn() -> String) -> Result<(), BuildError> {
        let n_states = self.states.len();
        if state.index() < n_states {
            return Ok(());
        }
        Err(BuildError::UnknownState { place: place(), state, n_states })
    }

    fn check_rule(&self, state: &str, rule: &Rule) -> Result<(), BuildError> {
        let n_tapes = self.tapes.len();
        let parts = [("reads", rule.reads.len()), ("writes", rule.writes.len()), ("moves", rule.moves.len())];
        if let Some((part, found)) = parts.into_iter().find(|&(_, found)| found != n_tapes) {
            return Err(BuildError::Arity { state: state.to_owned(), part, found, n_tapes });
        }
        self.check_known(rule.next, || format!("a rule of state `{state}`"))?;
        for ((tape, read), write) in self.tapes.iter().zip(&rule.reads).zip(&rule.writes) {
            let n_symbols = tape.alphabet.len();
            let names = || (state.to_owned(), tape.name.clone());
            let mut named = [read.symbol(), write.symbol()].into_iter().flatten();
            if let Some(symbol) = named.find(|symbol| symbol.index() >= n_symbols) {
                let (state, tape) = names();
                return Err(BuildError::UnknownSymbol { state, tape, symbol, n_symbols });
            }
            if tape.access == Access::ReadOnly && write.changes(*read) {
                let (state, tape) = names();
                return Err(BuildError::WritesReadOnly { state, tape });
            }
        }
        Ok(())
    }
}

fn no_duplicate<'a>(
    kind: &'static str,
    names: impl IntoIterator<Item = &'a String>,
) -> Result<(), BuildError> {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if !seen.insert(name.as_str()) {
            return Err(BuildError::Duplicate { kind, name: name.clone() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_that_were_never_added_are_refused() {
        let mut b = Machine::builder();
        b.tape("t", Alphabet::binary());
        let p = b.state("p");
        let mut with_rule = b.clone();
        with_rule.rule(p, [Pattern::Any], [Write::Keep], [Move::Right], StateId(3));
        let error = with_rule.build().unwrap_err();
        assert_eq!(error.to_string(), "a rule of state `p` names state 3, but the machine has only 1");
        b.start(StateId(1));
        let error = b.build().unwrap_err();
        assert_eq!(
            error,
            BuildError::UnknownState { place: "the start".to_owned(), state: StateId(1), n_states: 1 }
        );
    }
}
