//! Requirements that several formats have in common.

use std::collections::HashSet;

use super::{Obstacle, pieces::only_character};
use crate::{Access, Machine, Missing, Move, Rule, StateId, SymbolId, Tape};

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

/// Refuses the first state whose name cannot be spelled.
pub(super) fn check_names(
    machine: &Machine,
    spells: impl Fn(&str) -> bool,
    reason: impl Fn(&str) -> String,
) -> Result<(), Obstacle> {
    match machine.states().iter().find(|state| !spells(&state.name)) {
        Some(state) => Err(Obstacle::States(reason(&state.name))),
        None => Ok(()),
    }
}

/// The symbols of a tape as they are written: `blank`, and the names of the others, which are one character each.
/// `problem` says what stands against a character.
pub(super) fn spelled_symbols(
    tape: &Tape,
    blank: &str,
    problem: impl Fn(char) -> Option<String>,
) -> Result<Vec<String>, Obstacle> {
    let alphabet = &tape.alphabet;
    let spelled = |symbol: SymbolId| {
        let name = alphabet.name(symbol);
        let reason = match only_character(name) {
            _ if symbol == alphabet.blank() => return Ok(blank.to_owned()),
            Some(character) => problem(character),
            None => Some(format!("symbol `{name}` is not one character")),
        };
        match reason {
            Some(reason) => Err(Obstacle::Alphabet { tape: tape.name.clone(), reason }),
            None => Ok(name.to_owned()),
        }
    };
    alphabet.symbols().map(spelled).collect()
}

/// The symbols of a tape, apart from the blank, that none of these rules names.
pub(super) fn unnamed_symbols<'r>(
    machine: &Machine,
    tape: usize,
    rules: impl IntoIterator<Item = &'r Rule>,
) -> Vec<SymbolId> {
    let alphabet = &machine.tapes()[tape].alphabet;
    let mut named = HashSet::from([alphabet.blank()]);
    for rule in rules {
        named.extend([rule.reads[tape].symbol(), rule.writes[tape].symbol()].into_iter().flatten());
    }
    alphabet.symbols().filter(|symbol| !named.contains(symbol)).collect()
}

/// Refuses a symbol that would be lost, where a format declares no alphabet.
pub(super) fn unmentioned(tape: &Tape, symbol: SymbolId) -> Obstacle {
    let reason = format!("no rule mentions symbol `{}`", tape.alphabet.name(symbol));
    Obstacle::Alphabet { tape: tape.name.clone(), reason }
}

/// Refuses a state without a rule for a symbol, and says how that differs from the format's machines.
pub(super) fn without_rule(machine: &Machine, state: StateId, symbol: SymbolId, does: &str) -> Obstacle {
    let (state, symbol) = (&machine.state(state).name, machine.tapes()[0].alphabet.name(symbol));
    Obstacle::Halting(format!("state `{state}` has no rule for `{symbol}` and {does}"))
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
