//! Machines that learn from a stream: every step sees another batch of samples, and some states take it.
//!
//! A machine has a memory for one batch: cells of a read-only tape for the bits of features and of labels. A step from a
//! state that *takes* stores the features of its batch. The labels wait in a slot, and the next step may *latch* them.
//! After that the slot needs one more step before another batch can be taken.

use std::collections::{BTreeSet, VecDeque};

use crate::{Cell, Effect, Input, Machine, Outcome, SampleUse, Simulator, StateId, Step, SymbolId, TapeId};

/// The cells of a machine's memory for a batch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Memory {
    /// The tape, which is read-only.
    pub tape: TapeId,
    /// The cells for the bits of the features.
    pub features: Vec<Cell>,
    /// The cells for the bits of the labels.
    pub labels: Vec<Cell>,
}

/// A batch of samples as symbols for a [`Memory`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Batch {
    /// One symbol per cell of the features.
    pub features: Vec<SymbolId>,
    /// One symbol per cell of the labels.
    pub labels: Vec<SymbolId>,
}

/// The state of the slot between taking and latching.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Slot {
    /// A batch can be taken.
    Ready,
    /// The last step took a batch; its labels can be latched.
    Holds,
    /// The labels are no longer available, and no batch can be taken yet.
    Returns,
}

impl Slot {
    /// The slot after a step with this use of the sample.
    ///
    /// # Errors
    /// If the slot does not allow it.
    pub fn after(self, samples: SampleUse) -> Result<Self, BreachKind> {
        match (self, samples) {
            (Self::Ready, SampleUse::Take) => Ok(Self::Holds),
            (Self::Holds | Self::Returns, SampleUse::Take) => Err(BreachKind::TakesTooSoon),
            (Self::Ready | Self::Returns, SampleUse::Latch) => Err(BreachKind::LatchesNothing),
            (Self::Holds, SampleUse::Latch | SampleUse::Pass) => Ok(Self::Returns),
            (Self::Ready | Self::Returns, SampleUse::Pass) => Ok(Self::Ready),
        }
    }
}

/// Why a machine on a stream makes no further step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamOutcome {
    /// The machine stopped, as it would without a stream.
    Stopped(Outcome),
    /// The state would take or latch although the slot does not allow it.
    Breach {
        /// The state.
        state: StateId,
        /// What it would do.
        kind: BreachKind,
    },
}

/// A machine that runs on a stream.
#[derive(Clone, Debug)]
pub struct StreamSimulator<'m> {
    simulator: Simulator<'m>,
    memory: Memory,
    slot: Slot,
    held_back: Vec<SymbolId>,
    n_taken: u64,
}

impl<'m> StreamSimulator<'m> {
    /// The machine in its start state on the given input, which includes the initial memory.
    pub fn new(machine: &'m Machine, input: &Input, memory: Memory) -> Self {
        let simulator = Simulator::new(machine, input);
        Self { simulator, memory, slot: Slot::Ready, held_back: Vec::new(), n_taken: 0 }
    }

    /// The simulator, whose tapes include the memory.
    pub fn simulator(&self) -> &Simulator<'m> {
        &self.simulator
    }

    /// The state of the slot.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// Number of batches taken.
    pub fn n_taken(&self) -> u64 {
        self.n_taken
    }

    /// Number of steps, which is also the number of batches seen.
    pub fn steps(&self) -> Step {
        self.simulator.steps()
    }

    /// What the next step does with its batch.
    pub fn next_use(&self) -> SampleUse {
        self.simulator.machine().state(self.simulator.state()).samples
    }

    /// Makes one step, and returns what it changed apart from the memory. `batch` is called only if the step takes.
    ///
    /// # Errors
    /// If the machine has stopped or the slot does not allow the step; nothing changes then.
    pub fn step(&mut self, batch: impl FnOnce() -> Batch) -> Result<Effect, StreamOutcome> {
        let state = self.simulator.state();
        let samples = self.next_use();
        let slot = self.slot.after(samples).map_err(|kind| StreamOutcome::Breach { state, kind })?;
        let effect = self.simulator.step_noting().map_err(StreamOutcome::Stopped)?;
        match samples {
            SampleUse::Pass => {}
            SampleUse::Take => {
                let Batch { features, labels } = batch();
                self.simulator.overwrite(self.memory.tape, &self.memory.features, &features);
                self.held_back = labels;
                self.n_taken += 1;
            }
            SampleUse::Latch => {
                self.simulator.overwrite(self.memory.tape, &self.memory.labels, &self.held_back);
            }
        }
        self.slot = slot;
        Ok(effect)
    }
}

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

#[cfg(test)]
mod tests;
