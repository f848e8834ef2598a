//! The cost of lowering.

use std::fmt;

use super::Moves;
use crate::Machine;

/// The size of a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// Number of states, including halting ones.
    pub states: usize,
    /// Number of tapes.
    pub tapes: usize,
    /// Number of rules; a rule with wildcards counts once.
    pub rules: usize,
    /// Number of pairs of a state and the symbols that it reads: sum_q 2^|S(q)| in normal form.
    pub vertices: u64,
}

impl Size {
    pub(super) fn of(machine: &Machine) -> Self {
        let states = machine.states().len();
        let symbols = |tape| machine.tape(tape).alphabet.len() as u64;
        let of_state = |state| machine.looked_at(state).map(symbols).fold(1, u64::saturating_mul);
        let vertices = machine.state_ids().map(of_state).fold(0, u64::saturating_add);
        Self { states, tapes: machine.n_tapes(), rules: machine.n_rules(), vertices }
    }
}

/// The sizes before and after lowering. Displayed as a small table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// The source machine.
    pub before: Size,
    /// The lowered machine.
    pub after: Size,
    /// The requested moves.
    pub moves: Moves,
    /// Steps of the lowered machine per step of the source.
    pub steps_per_step: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { before, after, .. } = self;
        let rows = [
            ("states", before.states as u64, after.states as u64),
            ("tapes", before.tapes as u64, after.tapes as u64),
            ("rules", before.rules as u64, after.rules as u64),
            ("vertices", before.vertices, after.vertices),
            ("steps", 1, self.steps_per_step),
        ];
        write!(f, "{:<10}{:>12}{:>12}", "", "before", "after")?;
        for (what, before, after) in rows {
            write!(f, "\n{what:<10}{before:>12}{after:>12}")?;
        }
        if self.moves == Moves::Strict && self.steps_per_step == 1 {
            write!(f, "\nno rule stays, so strict moves need no doubled cells")?;
        }
        Ok(())
    }
}
