//! Machines that learn from a stream: every step sees another batch of samples, and some states take it.
//!
//! A machine has a memory for one batch: cells of a read-only tape for the bits of features and of labels. A step from a
//! state that *takes* stores the features of its batch. The labels wait in a slot, and the next step may *latch* them.
//! After that the slot needs one more step before another batch can be taken.

mod discipline;

use crate::{Cell, Effect, Input, Machine, Outcome, SampleUse, Simulator, StateId, Step, SymbolId, TapeId};
pub use discipline::{Breach, BreachKind, check};

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

    /// The labels in the slot, if it holds any.
    pub fn held_back(&self) -> Option<&[SymbolId]> {
        (self.slot == Slot::Holds).then_some(&self.held_back)
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

#[cfg(test)]
mod tests;
