//! The normal form of docs/construction.md, section 1. Landscapes are built only from machines in this form.

use crate::{Access, Machine, Move, StateId, SymbolId, TapeId, Write};

/// One symbol per tape of a two-symbol machine: bit `i` is set if tape `i` has a 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Bits(pub u32);

impl Bits {
    /// Whether tape `tape` has a 1.
    pub fn get(self, tape: usize) -> bool {
        self.0 >> tape & 1 == 1
    }

    /// The same bits, except that the bit of `tape` is `value`.
    #[must_use]
    pub fn with(self, tape: usize, value: bool) -> Self {
        Self(self.0 & !(1 << tape) | u32::from(value) << tape)
    }

    /// -1 for a 0 (the blank), +1 for a 1: the paper's symbols.
    pub fn sign(self, tape: usize) -> f64 {
        if self.get(tape) { 1.0 } else { -1.0 }
    }
}

/// The step of a machine in normal form for one state and symbols.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transition {
    /// The state that follows.
    pub next: StateId,
    /// The symbols written.
    pub write: Bits,
    /// How the heads move.
    pub moves: Vec<Move>,
}

/// Why a machine is not in normal form.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotNormal {
    /// A tape does not have two symbols, the blank first: its name, and the number of its symbols.
    #[error("tape `{0}` has {1} symbols; the normal form has two, the blank first")]
    Alphabet(String, usize),
    /// There are too many tapes.
    #[error("{0} binary tapes, but at most {MAX_TAPES} are supported")]
    TooManyTapes(usize),
    /// The start state halts.
    #[error("the start state `{0}` halts at once")]
    StartHalts(String),
}

/// The most tapes a [`NormalForm`] can have.
pub const MAX_TAPES: usize = 24;

/// A machine whose tapes all have two symbols, the blank (-1, bit 0) first.
///
/// Wildcards stay wildcards; transitions are looked up when needed. Departs from the paper: a machine halts in a situation
/// (a state and symbols), not in a state alone, so that a missing rule halts without an extra step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NormalForm {
    machine: Machine,
}

impl NormalForm {
    /// Checks that a machine is in normal form.
    ///
    /// # Errors
    /// If it is not in normal form.
    pub fn new(machine: Machine) -> Result<Self, NotNormal> {
        for tape in machine.tapes() {
            if tape.alphabet.len() != 2 || tape.alphabet.blank() != SymbolId(0) {
                return Err(NotNormal::Alphabet(tape.name.clone(), tape.alphabet.len()));
            }
        }
        if machine.n_tapes() > MAX_TAPES {
            return Err(NotNormal::TooManyTapes(machine.n_tapes()));
        }
        let start = machine.state(machine.start());
        if machine.halting(machine.start()).is_some() {
            return Err(NotNormal::StartHalts(start.name.clone()));
        }
        Ok(Self { machine })
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Number of tapes, d.
    pub fn n_tapes(&self) -> usize {
        self.machine.n_tapes()
    }

    /// Number of states, |Q|, including halting ones.
    pub fn n_states(&self) -> usize {
        self.machine.states().len()
    }

    /// The start state.
    pub fn start(&self) -> StateId {
        self.machine.start()
    }

    /// Whether a tape is read-only.
    pub fn read_only(&self, tape: TapeId) -> bool {
        self.machine.tape(tape).access == Access::ReadOnly
    }

    /// The transition of a state for the symbols under the heads; `None` if the machine halts.
    pub fn transition(&self, state: StateId, reads: Bits) -> Option<Transition> {
        let n_tapes = self.n_tapes();
        let symbols: Vec<SymbolId> = (0..n_tapes).map(|i| SymbolId(u8::from(reads.get(i)))).collect();
        let rule = self.machine.rule_for(state, &symbols)?;
        let write = rule.writes.iter().enumerate().fold(reads, |bits, (tape, write)| match write {
            Write::Keep => bits,
            Write::Put(symbol) => bits.with(tape, symbol.0 == 1),
        });
        Some(Transition { next: rule.next, write, moves: rule.moves.clone() })
    }
}
