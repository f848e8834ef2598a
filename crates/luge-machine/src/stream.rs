//! Machines that learn from a stream: every step sees another batch of samples, and states say which of them to take.
//!
//! A machine has a memory of one batch: cells of a read-only tape, some for bits of features, some for bits of
//! labels. A step from a state that *takes* stores the features of its batch. The labels wait in a slot, and the
//! next step may *latch* them. After that the slot needs one more step before another batch can be taken.

mod discipline;

use crate::{Cell, Effect, Input, Machine, Outcome, SampleUse, Simulator, StateId, Step, SymbolId, TapeId};
pub use discipline::{Breach, BreachKind, check};

/// Where a machine's memory of a batch lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Memory {
    /// The tape, which no rule writes.
    pub tape: TapeId,
    /// The cells of the features' bits.
    pub features: Vec<Cell>,
    /// The cells of the labels' bits.
    pub labels: Vec<Cell>,
}

/// A batch of samples as the symbols that go into a [`Memory`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Batch {
    /// One symbol per cell of the features.
    pub features: Vec<SymbolId>,
    /// One symbol per cell of the labels.
    pub labels: Vec<SymbolId>,
}

/// What the slot between taking and latching is doing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Slot {
    /// A batch can be taken.
    Ready,
    /// The last step took a batch; its labels can be latched.
    Holds,
    /// The labels are gone, and no batch can be taken yet.
    Returns,
}

impl Slot {
    /// The slot after a step from a state that uses its sample like this.
    ///
    /// # Errors
    /// What the state must not do now.
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
    /// The state would take or latch where the slot does not allow it.
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
    /// The machine in its start state on the given input; its memory holds what the input lays there.
    pub fn new(machine: &'m Machine, input: &Input, memory: Memory) -> Self {
        let simulator = Simulator::new(machine, input);
        Self { simulator, memory, slot: Slot::Ready, held_back: Vec::new(), n_taken: 0 }
    }

    /// State, heads, tapes, and the memory as cells of its tape.
    pub fn simulator(&self) -> &Simulator<'m> {
        &self.simulator
    }

    /// What the slot is doing.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// The labels in the slot, if it holds some.
    pub fn held_back(&self) -> Option<&[SymbolId]> {
        (self.slot == Slot::Holds).then_some(&self.held_back)
    }

    /// How many batches were taken.
    pub fn n_taken(&self) -> u64 {
        self.n_taken
    }

    /// Steps made, which is also how many batches passed.
    pub fn steps(&self) -> Step {
        self.simulator.steps()
    }

    /// What the next step does with its batch.
    pub fn next_use(&self) -> SampleUse {
        self.simulator.machine().state(self.simulator.state()).samples
    }

    /// Makes one step while `batch` passes, and says what it changed beside the memory; the batch is read only if it is taken.
    ///
    /// # Errors
    /// Why there is no step; nothing changes then.
    pub fn step(&mut self, batch: impl FnOnce() -> Batch) -> Result<Effect, StreamOutcome> {
        let state = self.simulator.state();
        let samples = self.next_use();
        let slot = self.slot.after(samples).map_err(|kind| StreamOutcome::Breach { state, kind })?;
        let effect = self.simulator.step_noting().map_err(StreamOutcome::Stopped)?;
        match samples {
            SampleUse::Pass => {}
            SampleUse::Take => {
                let Batch { features, labels } = batch();
                self.simulator.renew(self.memory.tape, &self.memory.features, &features);
                self.held_back = labels;
                self.n_taken += 1;
            }
            SampleUse::Latch => {
                self.simulator.renew(self.memory.tape, &self.memory.labels, &self.held_back);
            }
        }
        self.slot = slot;
        Ok(effect)
    }
}

#[cfg(test)]
mod tests;
