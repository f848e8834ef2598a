//! Replays the run before a checkpoint and compares it with the checkpoint, because anybody can write one.
//!
//! The engine repeats the run from its start to the checkpoint, without the simulator, and records every loss as
//! the run itself does. Vertices, weights, losses, labels and drift must agree with the checkpoint.

use luge_train::{CacheLevel, Engine, MacrostepId, Snapshot, StopRule, TrainError};

use crate::run::{
    engine::{EngineChoice, EngineError, Task},
    follow::{CHUNK, Comparisons, Expected, LONG_STRIDE, STRIDE},
    run_stats::{Drift, Losses, RunStats},
};

/// The part of a run that a checkpoint vouches for.
pub(crate) struct CheckpointReplay<'a> {
    /// The checkpoint's moment.
    pub(crate) snapshot: &'a Snapshot,
    /// What it says was seen until then.
    pub(crate) claimed: &'a RunStats,
    /// What training is held to.
    pub(crate) expected: &'a Expected<'a>,
    /// The iterates that are compared.
    pub(crate) comparisons: Comparisons,
    /// The first step at which the machine has stopped, if it has.
    pub(crate) stopped_from: Option<u64>,
    /// The engine that trains.
    pub(crate) choice: EngineChoice,
}

impl CheckpointReplay<'_> {
    /// What the checkpoint is wrong about; `None` if the run made again passes through it and has seen the same.
    pub(crate) fn contradiction(
        &self,
        task: &Task<'_>,
        cache_level: CacheLevel,
    ) -> Result<Option<&'static str>, EngineError> {
        let Self { snapshot, claimed, .. } = self;
        if claimed.n_compared != self.n_compared() {
            return Ok(Some("the iterates compared"));
        }
        let (mut engine, _) = task.open(cache_level, None)?;
        let seen = self.watch_again(&mut *engine)?;
        let bits = |drift: Option<Drift>| drift.map(|Drift { tape, head }| [tape, head].map(f64::to_bits));
        Ok(match () {
            () if engine.snapshot().trimmed() != snapshot.trimmed() => {
                Some("the vertices visited or the weights they led to")
            }
            () if !seen.same_losses(claimed) => Some("the losses before it"),
            () if seen.labels_copied != claimed.labels_copied => Some("the labels"),
            () if bits(seen.drift) != bits(claimed.drift) => Some("the drift of the weights"),
            () => None,
        })
    }

    /// Iterates that are compared until the checkpoint.
    fn n_compared(&self) -> u64 {
        match self.comparisons {
            Comparisons::Every => self.snapshot.step + 1,
            Comparisons::End => self.snapshot.step.div_ceil(CHUNK) + 1,
        }
    }

    /// Makes the run up to the checkpoint and notes what of it needs no simulator.
    fn watch_again(&self, engine: &mut dyn Engine) -> Result<RunStats, TrainError> {
        let mut again = Again { earlier: self, seen: RunStats::default(), macrosteps: Vec::new() };
        again.see(engine)?;
        while engine.steps() < self.snapshot.step {
            let before = engine.steps();
            match self.comparisons {
                Comparisons::End => again.at_once(engine)?,
                Comparisons::Every => again.by_parts(engine)?,
            }
            // A loss that is no number ends a run.
            if engine.steps() == before {
                break;
            }
        }
        Ok(again.seen)
    }
}

/// A run that is made again.
struct Again<'a> {
    earlier: &'a CheckpointReplay<'a>,
    seen: RunStats,
    /// The losses of the macrosteps that were met.
    macrosteps: Vec<Option<Losses>>,
}

impl Again<'_> {
    /// A stop rule that only the number of steps fulfils, at the checkpoint or before it.
    fn to(&self, most_steps: u64) -> StopRule {
        let most_steps = most_steps.min(self.earlier.snapshot.step);
        StopRule { loss_at_most: f64::NEG_INFINITY, not_before: 0, most_steps }
    }

    fn stopped(&self, step: u64) -> bool {
        self.earlier.stopped_from.is_some_and(|from| step >= from)
    }

    /// Notes one iterate.
    fn see(&mut self, engine: &mut dyn Engine) -> Result<(), TrainError> {
        let (step, loss) = (engine.steps(), engine.loss()?);
        let stopped = self.stopped(step);
        self.seen.record_loss(step, loss, stopped, &self.earlier.expected.levels);
        if self.earlier.comparisons == Comparisons::Every {
            self.seen.drift = Drift::seen(self.seen.drift, engine, self.earlier.choice);
        }
        self.see_labels(engine);
        Ok(())
    }

    fn see_labels(&mut self, engine: &dyn Engine) {
        if let Some(labels) = self.earlier.expected.labels {
            self.seen.labels_copied &= engine.steps() == 0 || engine.labels() == labels;
        }
    }

    /// All steps, of which the engine keeps the range of the losses.
    fn at_once(&mut self, engine: &mut dyn Engine) -> Result<(), TrainError> {
        engine.run(&self.to(u64::MAX))?;
        let stopped = self.stopped(engine.steps());
        match engine.losses() {
            Some(range) => self.seen.lost_many(range, stopped, &self.earlier.expected.levels),
            None => return self.see(engine),
        }
        self.see_labels(engine);
        Ok(())
    }

    /// Some steps with all their losses: macrosteps, a stride, or one step.
    fn by_parts(&mut self, engine: &mut dyn Engine) -> Result<(), TrainError> {
        let before = engine.steps();
        let mut made = Vec::new();
        if engine.run_by_macrosteps(&self.to(before + LONG_STRIDE), usize::MAX, &mut made)? {
            self.lost_on_stretches(engine, before, &made)?;
            return self.see(engine);
        }
        // Between two macrosteps there may be a single step.
        let stride = if self.macrosteps.is_empty() { STRIDE } else { 1 };
        let mut changes = Vec::new();
        if !engine.run_with_deltas(&self.to(before + stride), &mut changes)? {
            engine.step()?;
        }
        for (at, change) in (before..).zip(&changes).skip(1) {
            let stopped = self.stopped(at);
            self.seen.record_loss(at, change.loss, stopped, &self.earlier.expected.levels);
        }
        self.see(engine)
    }

    /// The losses of macrosteps that begin at a step which was seen.
    fn lost_on_stretches(
        &mut self,
        engine: &mut dyn Engine,
        mut step: u64,
        made: &[MacrostepId],
    ) -> Result<(), TrainError> {
        let mut skip = 1;
        for &macrostep in made {
            if self.macrosteps.len() <= macrostep.index() {
                self.macrosteps.resize(macrostep.index() + 1, None);
            }
            let losses = match &mut self.macrosteps[macrostep.index()] {
                Some(losses) => losses,
                unknown => unknown.insert(Losses::of(
                    engine.macrostep(macrostep)?.changes.iter().map(|change| change.loss),
                )),
            };
            self.seen.record_losses(step, losses, skip, &self.earlier.expected.levels);
            step += losses.n_steps();
            skip = 0;
        }
        Ok(())
    }
}
