//! Holds macrosteps to the machine's steps, on a second core where there is one: the engine goes ahead within a stride,
//! and the judge follows it, batch by batch. What the judge finds does not depend on who is faster.

use std::{num::NonZeroU8, sync::mpsc, thread};

use luge_net::faults;
use luge_train::{Engine, MacrostepId, MacrostepSteps, StopRule, TrainError};

use crate::run::{
    lockstep::Mismatch,
    run_stats::{Levels, Losses, RunStats},
    step_checker::StepChecker,
};

/// Macrosteps that the judge is told of at once.
const BATCH: usize = 1 << 12;

/// Macrosteps in turn, and the steps of those among them that the judge has not heard of before.
struct Batch {
    made: Vec<MacrostepId>,
    new: Vec<(MacrostepId, MacrostepSteps)>,
}

/// What an engine has told of its macrosteps so far.
#[derive(Default)]
pub(super) struct Told {
    losses: Vec<Option<Losses>>,
    /// How many steps a macrostep makes, where the record has its losses inside.
    inside: Vec<Option<NonZeroU8>>,
}

/// Tells the judge of an engine's macrosteps, and notes their losses.
pub(super) struct Telling<'a> {
    pub(super) told: &'a mut Told,
    pub(super) record: &'a mut RunStats,
    pub(super) levels: &'a Levels,
    /// The step that the next macrostep begins with.
    pub(super) step: u64,
    /// Losses of the next macrostep that were seen before.
    pub(super) skip: usize,
}

impl Telling<'_> {
    /// The next macrosteps up to where the stop rule says; `None` where the next step belongs to none.
    fn batch(&mut self, engine: &mut dyn Engine, stop: &StopRule) -> Result<Option<Batch>, TrainError> {
        let mut made = Vec::with_capacity(BATCH);
        if !engine.run_by_macrosteps(stop, BATCH, &mut made)? {
            return Ok(None);
        }
        let (mut new, mut left) = (Vec::new(), &made[..]);
        loop {
            left = &left[self.tell_inside(left)..];
            let Some((&macrostep, later)) = left.split_first() else { break };
            let Told { losses: told, inside } = &mut *self.told;
            let index = macrostep.index();
            if told.len() <= index {
                told.resize(index + 1, None);
                inside.resize(index + 1, None);
            }
            let losses = match &mut told[index] {
                Some(losses) => losses,
                unheard => {
                    let steps = engine.macrostep(macrostep)?;
                    let losses = Losses::of(steps.changes.iter().map(|change| change.loss));
                    new.push((macrostep, steps));
                    unheard.insert(losses)
                }
            };
            self.record.record_losses(self.step, losses, self.skip, self.levels);
            inside[index] = losses.steps_inside();
            self.step += losses.n_steps();
            self.skip = 0;
            left = later;
        }
        Ok(Some(Batch { made, new }))
    }

    /// Tells of the first macrosteps whose losses are no news; how many.
    fn tell_inside(&mut self, made: &[MacrostepId]) -> usize {
        if self.skip > 0 || !self.record.has_risen_and_stalled() {
            return 0;
        }
        let Told { losses, inside } = &*self.told;
        let mut n_told = 0;
        for macrostep in made {
            let Some(steps) = inside.get(macrostep.index()).copied().flatten() else { break };
            self.step += u64::from(steps.get());
            n_told += 1;
        }
        if let Some(last) = made[..n_told].last().and_then(|last| losses[last.index()].as_ref()) {
            self.record.record_inside(last, self.levels);
        }
        n_told
    }
}

/// The judge of a stride of macrosteps.
pub(super) struct Judging<'a, 'm> {
    judge: &'a mut StepChecker<'m>,
    /// Steps of training before the machine's first.
    extra_steps: u64,
    /// What was not judged for want of its steps, or because an earlier one differs.
    rest: Vec<MacrostepId>,
    /// The first iterate that is not the machine's, and in what it differs.
    differs: Option<(u64, Mismatch)>,
}

impl<'a, 'm> Judging<'a, 'm> {
    /// From an iterate that was seen.
    pub(super) fn new(judge: &'a mut StepChecker<'m>, extra_steps: u64) -> Self {
        Self { judge, extra_steps, rest: Vec::new(), differs: None }
    }

    /// Lets the engine make macrosteps up to where the stop rule says and holds each to the machine; `false`, and no step, where the next
    /// step belongs to none. The last iterate is left to be seen as a whole.
    pub(super) fn stride(
        mut self,
        engine: &mut dyn Engine,
        stop: &StopRule,
        (mut telling, two_cores): (Telling<'_>, bool),
    ) -> Result<bool, TrainError> {
        let before = telling.step;
        let Some(first) = telling.batch(engine, stop)? else { return Ok(false) };
        let unheard = if first.made.len() < BATCH {
            vec![first]
        } else {
            self.beside(engine, stop, (&mut telling, two_cores), first)?
        };
        unheard.into_iter().for_each(|batch| self.take(batch));
        let rest = std::mem::take(&mut self.rest);
        let mut left = &rest[..];
        while self.differs.is_none() && !left.is_empty() {
            left = &left[self.judge.pass(left)..];
            if let Some((&macrostep, later)) = left.split_first() {
                self.follow(macrostep, &engine.macrostep(macrostep)?);
                left = later;
            }
        }
        let end = engine.steps();
        telling.record.n_compared += end - before - 1;
        if let Some((from, why)) = self.differs {
            (from..end).for_each(|at| telling.record.differs(at, &why));
        }
        Ok(true)
    }

    /// Judges in a thread of its own while the engine makes one batch after the other; the batches that were not heard there, if it cannot be had.
    fn beside(
        &mut self,
        engine: &mut dyn Engine,
        stop: &StopRule,
        (telling, two_cores): (&mut Telling<'_>, bool),
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
                next = telling.batch(engine, stop)?;
            }
            Ok(unheard)
        })
    }

    fn take(&mut self, batch: Batch) {
        let mut new = batch.new.into_iter().peekable();
        let mut made = &batch.made[..];
        while self.differs.is_none() && self.rest.is_empty() && !made.is_empty() {
            made = &made[self.judge.pass(made)..];
            let Some((&macrostep, later)) = made.split_first() else { return };
            let Some((_, steps)) = new.next_if(|(id, _)| *id == macrostep) else { break };
            self.follow(macrostep, &steps);
            made = later;
        }
        self.rest.extend(made);
    }

    /// The machine makes its steps one by one.
    fn follow(&mut self, macrostep: MacrostepId, steps: &MacrostepSteps) {
        let step = self.judge.simulator().steps() + self.extra_steps;
        self.differs = self.judge.follow(macrostep, steps).err().map(|(after, why)| (step + after, why));
    }
}
