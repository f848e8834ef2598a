//! What is kept of a run on its way, for a closer look afterwards.

use luge_train::{Engine, Snapshot, StopRule};

/// Snapshots of a run, taken now and then: steps that are looked at again are made again from the last one before them.
pub(super) struct Kept {
    pub(super) snapshots: Vec<Snapshot>,
    due: u64,
    every: u64,
}

impl Kept {
    /// How many are kept of a run that makes all the steps it may.
    const MOST: u64 = 16;
    /// Runs of fewer steps than this between two of them are made again from the start.
    const FEWEST_STEPS: u64 = 1 << 20;
    /// What they may take in all, in bytes.
    const MOST_BYTES: usize = 1 << 25;

    pub(super) fn new(stop: &StopRule) -> Self {
        let every = (stop.most_steps / Self::MOST).max(Self::FEWEST_STEPS);
        Self { snapshots: Vec::new(), due: every, every }
    }

    pub(super) fn keep(&mut self, engine: &dyn Engine) {
        // A byte for a cell becomes a bit.
        let bytes = engine.cell_bytes() / 8 * (self.snapshots.len() + 1);
        if engine.steps() >= self.due && bytes <= Self::MOST_BYTES {
            self.snapshots.push(engine.snapshot().trimmed());
            self.due = engine.steps() + self.every;
        }
    }
}
