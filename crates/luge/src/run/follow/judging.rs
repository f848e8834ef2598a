//! Holds macrosteps to the machine's steps, on a second core where there is one: the engine goes ahead within a stride,
//! and the judge follows it, batch by batch. What the judge finds does not depend on who is faster.

use std::{sync::mpsc, thread};

use luge_net::faults;
use luge_train::{Engine, MacrostepId, MacrostepSteps, StopRule, TrainError};

use crate::run::{
    lockstep::Mismatch,
    run_stats::{Levels, Losses, RunStats},
    step_checker::StepChecker,
};

/// Macrosteps that the judge is told of at once.
const BATCH: usize = 1 << 10;

/// Macrosteps in turn, and the steps of those among them that the judge has not heard of before.
struct Batch {
    made: Vec<MacrostepId>,
    new: Vec<(MacrostepId, MacrostepSteps)>,
}

/// What an engine has made and told so far.
#[derive(Default)]
pub(super) struct Told(Vec<bool>);

impl Told {
    /// The next macrosteps up to where the stop rule says; `None` where the next step belongs to none.
    fn batch(&mut self, engine: &mut dyn Engine, stop: &StopRule) -> Result<Option<Batch>, TrainError> {
        let mut made = Vec::with_capacity(BATCH);
        if !engine.run_by_macrosteps(stop, BATCH, &mut made)? {
            return Ok(None);
        }
        let mut new = Vec::new();
        for &macrostep in &made {
            if self.0.len() <= macrostep.index() {
                self.0.resize(macrostep.index() + 1, false);
            }
            if !std::mem::replace(&mut self.0[macrostep.index()], true) {
                new.push((macrostep, engine.macrostep(macrostep)?));
            }
        }
        Ok(Some(Batch { made, new }))
    }
}

/// The judge of a stride of macrosteps.
pub(super) struct Judging<'a, 'm> {
    pub(super) judge: &'a mut StepChecker<'m>,
    pub(super) record: &'a mut RunStats,
    pub(super) levels: &'a Levels,
    /// The step that the next macrostep begins with.
    step: u64,
    /// Losses of the next macrostep that were seen before.
    skip: usize,
    /// What was not judged for want of its steps, or because an earlier one differs.
    rest: Vec<MacrostepId>,
    /// The first iterate that is not the machine's, and in what it differs.
    differs: Option<(u64, Mismatch)>,
}

impl<'a, 'm> Judging<'a, 'm> {
    /// From an iterate that was seen.
    pub(super) fn new(
        judge: &'a mut StepChecker<'m>,
        record: &'a mut RunStats,
        levels: &'a Levels,
        step: u64,
    ) -> Self {
        Self { judge, record, levels, step, skip: 1, rest: Vec::new(), differs: None }
    }

    /// Lets the engine make macrosteps up to where the stop rule says and holds each to the machine; `false`, and no step, where the next
    /// step belongs to none. The last iterate is left to be seen as a whole.
    pub(super) fn stride(
        mut self,
        engine: &mut dyn Engine,
        stop: &StopRule,
        (told, two_cores): (&mut Told, bool),
    ) -> Result<bool, TrainError> {
        let before = self.step;
        let Some(first) = told.batch(engine, stop)? else { return Ok(false) };
        let unheard = if first.made.len() < BATCH {
            vec![first]
        } else {
            self.beside(engine, stop, (told, two_cores), first)?
        };
        unheard.into_iter().for_each(|batch| self.take(batch));
        for macrostep in std::mem::take(&mut self.rest) {
            if self.differs.is_some() || !self.pass(macrostep) {
                self.follow(macrostep, &engine.macrostep(macrostep)?);
            }
        }
        let end = engine.steps();
        self.record.n_compared += end - before - 1;
        if let Some((from, why)) = self.differs {
            (from..end).for_each(|at| self.record.differs(at, &why));
        }
        Ok(true)
    }

    /// Judges in a thread of its own while the engine makes one batch after the other; the batches that were not heard there, if it cannot be had.
    fn beside(
        &mut self,
        engine: &mut dyn Engine,
        stop: &StopRule,
        (told, two_cores): (&mut Told, bool),
        first: Batch,
    ) -> Result<Vec<Batch>, TrainError> {
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            let plant = faults::carried();
            let listen = move || {
                plant();
                receiver.into_iter().for_each(|batch| self.take(batch));
            };
            if two_cores {
                // A browser has no threads of this kind: then nobody listens.
                let _ = thread::Builder::new().spawn_scoped(scope, listen);
            } else {
                drop(listen);
            }
            let (mut next, mut unheard) = (Some(first), Vec::new());
            while let Some(batch) = next {
                unheard.extend(sender.send(batch).err().map(|unsent| unsent.0));
                next = told.batch(engine, stop)?;
            }
            Ok(unheard)
        })
    }

    fn take(&mut self, batch: Batch) {
        let mut new = batch.new.into_iter().peekable();
        for macrostep in batch.made {
            let stuck = self.differs.is_some() || !self.rest.is_empty();
            if stuck || !self.pass(macrostep) {
                match new.next_if(|(id, _)| *id == macrostep && !stuck) {
                    Some((_, steps)) => self.follow(macrostep, &steps),
                    None => self.rest.push(macrostep),
                }
            }
        }
    }

    /// The machine makes the same steps again, if it has made them beside this macrostep before.
    fn pass(&mut self, macrostep: MacrostepId) -> bool {
        let Some(followed) = self.judge.pass(macrostep) else { return false };
        self.record.record_losses(self.step, &followed.losses, self.skip, self.levels);
        self.step += followed.n_steps();
        self.skip = 0;
        true
    }

    /// The machine makes its steps one by one, unless it has gone another way before.
    fn follow(&mut self, macrostep: MacrostepId, steps: &MacrostepSteps) {
        if self.differs.is_none()
            && let Err((after, why)) = self.judge.follow(macrostep, steps)
        {
            self.differs = Some((self.step + after, why));
        }
        let losses = Losses::of(steps.changes.iter().map(|change| change.loss));
        self.record.record_losses(self.step, &losses, self.skip, self.levels);
        self.step += losses.n_steps();
        self.skip = 0;
    }
}
