//! Requirements that several formats have in common.

use super::Obstacle;
use crate::{Access, Machine, Missing, Move, StateId, SymbolId, Tape};

/// Refuses a tape that cannot be written, for formats that have no such tapes.
pub(super) fn check_writable(tape: &Tape) -> Result<(), Obstacle> {
    match tape.access {
        Access::ReadWrite => Ok(()),
        Access::ReadOnly => Err(Obstacle::ReadOnly(tape.name.clone())),
    }
}

/// The only tape of a machine, which must be one that can be written.
pub(super) fn only_tape(machine: &Machine) -> Result<&Tape, Obstacle> {
    let [tape] = machine.tapes() else {
        return Err(Obstacle::Tapes { allowed: "one tape", n_tapes: machine.n_tapes() });
    };
    check_writable(tape).map(|()| tape)
}

/// The states that run, the start first; it must run itself.
pub(super) fn running_states(machine: &Machine) -> Result<Vec<StateId>, Obstacle> {
    let start = machine.start();
    if machine.halting(start).is_some() {
        let reason = format!("the start state `{}` halts", machine.state(start).name);
        return Err(Obstacle::Halting(reason));
    }
    let others = machine.state_ids().filter(|&q| q != start && machine.halting(q).is_none());
    Ok([start].into_iter().chain(others).collect())
}

/// Refuses what formats cannot say whose machines halt in accepting states alone, and reject where no rule applies.
pub(super) fn check_rejecting(machine: &Machine) -> Result<(), Obstacle> {
    for state in machine.state_ids() {
        let name = &machine.state(state).name;
        let reason = match machine.halting(state) {
            Some(false) => format!("state `{name}` halts without accepting"),
            None if machine.missing() == Missing::Halt && !machine.is_total(state) => {
                format!("state `{name}` halts where it has no rule, which rejects there")
            }
            Some(true) | None => continue,
        };
        return Err(Obstacle::Halting(reason));
    }
    Ok(())
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
        Some(Self { write: rule.writes[0].over(symbol), head: rule.moves[0], next: rule.next })
    }
}
