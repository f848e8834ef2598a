//! Builds machines and checks them.

use crate::{
    Access, Alphabet, Machine, Missing, Move, Pattern, Rule, SampleUse, State, StateId, SymbolId, Tape,
    TapeId, Write,
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
    /// Too many symbols or none, because their ids are bytes: the tape's name, and the number of symbols.
    #[error("tape `{0}` has {1} symbols, but 1 to 256 are supported")]
    AlphabetSize(String, usize),
    /// A name is used twice: that of a "tape", "state" or "symbol", and the name in question.
    #[error("{0} `{1}` is declared twice")]
    Duplicate(&'static str, String),
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
    /// A halting state takes or latches samples: its name, and "take" or "latch".
    #[error("state `{0}` halts but is marked `{1}`")]
    HaltingWithSamples(String, &'static str),
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
#[derive(Clone, Debug)]
pub struct MachineBuilder {
    /// Not checked yet.
    pub(crate) machine: Machine,
}

impl Machine {
    /// Starts an empty machine.
    pub fn builder() -> MachineBuilder {
        let (tapes, states) = (Vec::new(), Vec::new());
        let machine = Self { name: None, tapes, states, start: StateId(0), missing: Missing::default() };
        MachineBuilder { machine }
    }
}

impl MachineBuilder {
    /// Names the machine.
    pub fn name(&mut self, name: impl Into<String>) -> &mut Self {
        self.machine.name = Some(name.into());
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
        self.machine.tapes.push(Tape { name: name.into(), alphabet, access });
        TapeId(u8::try_from(self.machine.tapes.len() - 1).unwrap_or(u8::MAX))
    }

    /// The state with this name, added as a running state if it is new. The machine starts in the first state, unless
    /// [`start`](Self::start) sets another.
    pub fn state(&mut self, name: impl AsRef<str>) -> StateId {
        let name = name.as_ref();
        self.machine.find_state(name).unwrap_or_else(|| self.push_state(name.to_owned()))
    }

    /// Makes the state with this name halting; adds it if it is new.
    pub fn halting_state(&mut self, name: impl AsRef<str>, accepting: bool) -> StateId {
        let state = self.state(name);
        self.halt_in(state, accepting);
        state
    }

    /// Adds a state without looking for one of the same name, for callers that keep their own index.
    pub fn push_state(&mut self, name: String) -> StateId {
        self.machine.push_state(name, None, Vec::new())
    }

    /// Makes an existing state halting.
    pub fn halt_in(&mut self, state: StateId, accepting: bool) -> &mut Self {
        self.machine.state_mut(state).halting = Some(accepting);
        self
    }

    /// Sets what steps from a state do with the samples of a stream.
    pub fn samples_in(&mut self, state: StateId, samples: SampleUse) -> &mut Self {
        self.machine.state_mut(state).samples = samples;
        self
    }

    /// Sets the start state.
    pub fn start(&mut self, state: StateId) -> &mut Self {
        self.machine.start = state;
        self
    }

    /// Sets what happens if no rule applies.
    pub fn missing(&mut self, missing: Missing) -> &mut Self {
        self.machine.missing = missing;
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
        self.machine.state_mut(state).rules.push(rule);
        self
    }

    /// Checks the parts and builds the machine.
    ///
    /// # Errors
    /// The first inconsistency found, in the order tapes, states, rules.
    pub fn build(self) -> Result<Machine, BuildError> {
        self.check_tapes()?;
        self.check_states()?;
        for state in self.machine.state_ids() {
            self.machine.rules(state).iter().try_for_each(|rule| self.check_rule(state, rule))?;
        }
        if self.machine.states.is_empty() {
            return Err(BuildError::NoStart);
        }
        self.check_known(self.machine.start, || "the start".to_owned())?;
        Ok(self.machine)
    }

    fn check_tapes(&self) -> Result<(), BuildError> {
        let tapes = self.machine.tapes();
        match tapes.len() {
            0 => return Err(BuildError::NoTape),
            1..=255 => {}
            n_tapes => return Err(BuildError::TooManyTapes(n_tapes)),
        }
        no_duplicate("tape", tapes.iter().map(|t| &t.name))?;
        for tape in tapes {
            let n_symbols = tape.alphabet.len();
            if n_symbols == 0 || n_symbols > 256 || tape.alphabet.blank().index() >= n_symbols {
                return Err(BuildError::AlphabetSize(tape.name.clone(), n_symbols));
            }
            no_duplicate("symbol", tape.alphabet.names())?;
        }
        Ok(())
    }

    fn check_states(&self) -> Result<(), BuildError> {
        no_duplicate("state", self.machine.states.iter().map(|s| &s.name))?;
        let halting = || self.machine.states.iter().filter(|state| state.halting.is_some());
        if let Some(state) = halting().find(|state| !state.rules.is_empty()) {
            return Err(BuildError::HaltingWithRules(state.name.clone()));
        }
        for State { name, samples, .. } in halting() {
            if let Some(word) = samples.word() {
                return Err(BuildError::HaltingWithSamples(name.clone(), word));
            }
        }
        Ok(())
    }

    fn check_known(&self, state: StateId, place: impl Fn() -> String) -> Result<(), BuildError> {
        let n_states = self.machine.states.len();
        if state.index() < n_states {
            return Ok(());
        }
        Err(BuildError::UnknownState { place: place(), state, n_states })
    }

    fn check_rule(&self, state: StateId, rule: &Rule) -> Result<(), BuildError> {
        let (state, n_tapes) = (&self.machine.state(state).name, self.machine.n_tapes());
        let parts = [("reads", rule.reads.len()), ("writes", rule.writes.len()), ("moves", rule.moves.len())];
        if let Some((part, found)) = parts.into_iter().find(|&(_, found)| found != n_tapes) {
            return Err(BuildError::Arity { state: state.clone(), part, found, n_tapes });
        }
        self.check_known(rule.next, || format!("a rule of state `{state}`"))?;
        for ((Tape { name, alphabet, access }, read), write) in
            self.machine.tapes.iter().zip(&rule.reads).zip(&rule.writes)
        {
            let n_symbols = alphabet.len();
            let names = || (state.clone(), name.clone());
            let mut named = [read.symbol(), write.symbol()].into_iter().flatten();
            if let Some(symbol) = named.find(|symbol| symbol.index() >= n_symbols) {
                let (state, tape) = names();
                return Err(BuildError::UnknownSymbol { state, tape, symbol, n_symbols });
            }
            if *access == Access::ReadOnly && write.changes(*read) {
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
            return Err(BuildError::Duplicate(kind, name.clone()));
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
