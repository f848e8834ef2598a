//! What the formats with one tape ask of a machine.

use super::{Format, Inexpressible};
use crate::{Access, Machine, Move, StateId, SymbolId, Tape, Write};

/// The only tape of a machine, which must be one that can be written.
pub(super) fn only_tape(machine: &Machine, format: Format) -> Result<&Tape, Inexpressible> {
    match machine.tapes() {
        [tape] if tape.access == Access::ReadOnly => {
            Err(Inexpressible::ReadOnly { format, tape: tape.name.clone() })
        }
        [tape] => Ok(tape),
        tapes => Err(Inexpressible::Tapes { format, allowed: "one tape", n_tapes: tapes.len() }),
    }
}

/// One step of a machine with one tape, wildcards resolved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Action {
    pub(super) write: SymbolId,
    pub(super) head: Move,
    pub(super) next: StateId,
}

impl Action {
    /// What a machine does in `state` on `symbol`; `None` where no rule applies.
    pub(super) fn of(machine: &Machine, state: StateId, symbol: SymbolId) -> Option<Self> {
        let rule = machine.rule_for(state, &[symbol])?;
        let write = match rule.writes[0] {
            Write::Keep => symbol,
            Write::Put(written) => written,
        };
        Some(Self { write, head: rule.moves[0], next: rule.next })
    }
}
