//! Finds states that always take too soon or latch too late, from the rules alone.

use std::collections::{BTreeSet, VecDeque};

use super::Slot;
use crate::{Machine, SampleUse, StateId};

/// A violation of the rules of the slot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BreachKind {
    /// A batch is taken before two steps have passed since the last one.
    TakesTooSoon,
    /// Labels are latched in a step that does not directly follow a take.
    LatchesNothing,
}

impl BreachKind {
    /// The breach in words, and the rule that it violates.
    pub fn describe(self) -> &'static str {
        match self {
            Self::TakesTooSoon => "takes a batch too soon: between two takes there are at least two steps",
            Self::LatchesNothing => {
                "latches labels that are not there: a latch is the very next step after a take"
            }
        }
    }

    /// The word used in JSON and in messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::TakesTooSoon => "takes-too-soon",
            Self::LatchesNothing => "latches-nothing",
        }
    }
}

/// A state that violates the rules of the slot whenever it is reached.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("state `{state}` {}", .kind.describe())]
pub struct Breach {
    /// The state's name.
    pub state: String,
    /// The violation.
    pub kind: BreachKind,
}

/// Follows all rules from the start state, whatever symbols they expect.
///
/// A state that is reached with several states of the slot may violate the rules for only some of them. Such a state is not
/// reported here, but when the machine runs.
///
/// # Errors
/// The first state, in the machine's order, that takes or latches wrongly however it is reached.
pub fn check(machine: &Machine) -> Result<(), Breach> {
    let reached = reached(machine);
    for state in machine.state_ids() {
        let samples = machine.state(state).samples;
        if samples == SampleUse::Pass {
            continue;
        }
        let slots = reached.range((state, Slot::Ready)..=(state, Slot::Returns));
        let after: Vec<_> = slots.map(|(_, slot)| slot.after(samples)).collect();
        if let Some(Err(kind)) = after.first()
            && after.iter().all(Result::is_err)
        {
            return Err(Breach { state: machine.state(state).name.clone(), kind: *kind });
        }
    }
    Ok(())
}

/// The states, with the slots in which they can be reached.
fn reached(machine: &Machine) -> BTreeSet<(StateId, Slot)> {
    let mut reached = BTreeSet::from([(machine.start(), Slot::Ready)]);
    let mut waiting = VecDeque::from([(machine.start(), Slot::Ready)]);
    while let Some((state, slot)) = waiting.pop_front() {
        let Ok(after) = slot.after(machine.state(state).samples) else { continue };
        for rule in machine.rules(state) {
            if reached.insert((rule.next, after)) {
                waiting.push_back((rule.next, after));
            }
        }
    }
    reached
}
