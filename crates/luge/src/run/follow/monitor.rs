//! Holds a run to the simulator while it is made.

use std::ops::ControlFlow;

use luge_landscape::Undecodable;
use luge_machine::Step;
use luge_net::Values;
use luge_train::{CacheLevel, Engine, Outcome, Snapshot, StepDelta, StopRule, Surroundings, TrainError};

use super::{
    CHUNK, Comparisons, Decoder, Expected, LONG_STRIDE, LONGEST_STRIDE, ObservationRate, RunProgress, STRIDE,
    TapeLimit,
    judging::{Judging, Told},
    kept, stopped_after,
};
use crate::run::{
    checkpoint_replay::CheckpointReplay,
    decimated::Decimated,
    engine::{EngineChoice, EngineError, Task},
    lockstep::{Lockstep, Mismatch},
    run_stats::{Drift, RunStats},
    step_checker::StepChecker,
};

/// Steps between two looks at how many cells a run has come to need.
const LOOK_AT_CELLS: u64 = 1 << 16;

/// Steps before a moment that are made one by one if no macrostep leads to it.
const NEAR: u64 = 1 << 8;

/// Steps between two looks at all cells of a run that is compared step by step, at least.
const FEWEST_BETWEEN: u64 = 1 << 12;

/// The simulator beside training.
#[expect(clippy::large_enum_variant, reason = "there is one per run")]
pub(super) enum Reference<'a> {
    /// Whole configurations, for the dense engine; `None` if a head starts outside the window.
    Configurations(Option<Lockstep<'a>>, &'a dyn Decoder),
    /// What a step can change, for the fast engines.
    Changes(StepChecker<'a>),
}

/// Holds a run to the simulator and to what the construction says of it.
pub(super) struct Monitor<'a> {
    pub(super) beside: Reference<'a>,
    pub(super) expected: Expected<'a>,
    pub(super) record: RunStats,
    /// Steps the machine has made, if it has stopped.
    pub(super) machine_steps: Option<Step>,
    /// The loss of the last iterate that was seen.
    pub(super) last_loss: Option<f64>,
    /// The first step at which all cells are compared again.
    pub(super) all_due: u64,
    /// The engine that trains.
    pub(super) choice: EngineChoice,
    pub(super) attention: ObservationRate,
    /// What the steps of a stride changed.
    pub(super) changes: Vec<StepDelta>,
    /// The macrosteps that the judge has heard of, and whether it may have a core of its own.
    pub(super) told: Told,
    pub(super) two_cores: bool,
    /// The losses of the iterates within a stride.
    pub(super) losses: Vec<f64>,
    pub(super) kept: Decimated<Snapshot>,
}

impl Monitor<'_> {
    /// Steps until the stop rule holds or the watcher breaks off, holding what it sees to the simulator.
    pub(super) fn follow(
        &mut self,
        engine: &mut dyn Engine,
        stop: &StopRule,
        comparisons: Comparisons,
        mut watch: impl FnMut(RunProgress<'_>) -> ControlFlow<()>,
    ) -> Result<Outcome, TrainError> {
        // The iterate that a resumed run starts with was seen before.
        let resumed_at = self.record.loss.map(|_| engine.steps());
        let outcome = loop {
            let (step, loss) = (engine.steps(), engine.loss()?);
            self.advance(step, comparisons);
            self.last_loss = Some(loss);
            self.machine_steps = self.stopped_after();
            if resumed_at != Some(step) {
                self.see(step, loss, engine, comparisons);
            } else {
                self.see_resumed(engine, stop);
            }
            let moment = RunProgress { step, loss, since: &self.losses, engine, record: &self.record };
            let broke_off = watch(moment).is_break();
            self.losses.clear();
            let stop = &self.soon_after_the_machine(stop);
            if let Some(outcome) = stop.verdict(step, loss) {
                break outcome;
            }
            kept::keep(&mut self.kept, engine);
            if broke_off {
                break Outcome::Interrupted { steps: step };
            }
            if self.outgrown(step, comparisons) {
                break Outcome::OutOfCells { steps: step };
            }
            match comparisons {
                Comparisons::Every => {
                    if !self.stride(engine, stop)? {
                        self.step(engine)?;
                    }
                }
                Comparisons::End => {
                    let most_steps = step.saturating_add(CHUNK).min(stop.most_steps);
                    engine.run(&StopRule { most_steps, ..*stop })?;
                }
            }
        };
        self.conclude(engine);
        Ok(outcome)
    }

    /// One step. Where weights may drift the machine goes first, and the weights of a situation that was not met before are kept.
    fn step(&mut self, engine: &mut dyn Engine) -> Result<(), TrainError> {
        let next = (engine.steps() + 1).checked_sub(self.expected.extra_steps).filter(|&next| next > 0);
        let new = match (&mut self.beside, next.filter(|_| self.choice == EngineChoice::Sparse)) {
            (Reference::Changes(judge), Some(next)) => judge.goes_ahead(next, self.last_loss),
            _ => None,
        };
        let Some(centres) = new else { return engine.step() };
        let before = Surroundings::of(&engine.snapshot(), &centres);
        engine.step()?;
        let after = Surroundings::of(&engine.snapshot(), &centres);
        if let Reference::Changes(judge) = &mut self.beside {
            judge.keep_weights(before, after);
        }
        Ok(())
    }

    /// The stop rule, which gives a network whose machine has stopped one more step to say so.
    fn soon_after_the_machine(&self, stop: &StopRule) -> StopRule {
        let last = self.machine_steps.map(|steps| steps + self.expected.extra_steps + 1);
        StopRule { most_steps: stop.most_steps.min(last.unwrap_or(u64::MAX)), ..*stop }
    }

    /// Many steps at once, if the engine reports what they change and nobody watches every one; the machine makes the same steps,
    /// and each is held to the machine's. The last iterate is left to be seen as a whole.
    fn stride(&mut self, engine: &mut dyn Engine, stop: &StopRule) -> Result<bool, TrainError> {
        let Reference::Changes(judge) = &mut self.beside else { return Ok(false) };
        let step = engine.steps();
        let beside = step >= self.expected.extra_steps
            && judge.simulator().steps() + self.expected.extra_steps == step;
        // Near a limit of cells every step is looked at.
        let cells = match self.expected.room {
            TapeLimit::Cells(most) => most.saturating_sub(judge.n_cells()) as u64,
            TapeLimit::Allowed(_) => u64::MAX,
        };
        let to = |stride: u64, ahead: u64| {
            let most_steps = (step + ahead).next_multiple_of(stride).min(stop.most_steps);
            StopRule { most_steps, ..*stop }
        };
        if !beside || self.attention == ObservationRate::Steps || cells < STRIDE {
            return Ok(false);
        }
        let macrosteps = self.attention == ObservationRate::Moments
            && cells >= LONG_STRIDE
            && step >= self.expected.levels.from
            && self.record.mismatches == 0;
        // Until all cells are compared again.
        let ahead = self.all_due.saturating_sub(step).min(cells.saturating_sub(LONG_STRIDE));
        let long = to(LONG_STRIDE, ahead.clamp(1, LONGEST_STRIDE));
        if macrosteps {
            let judging = Judging::new(judge, &mut self.record, &self.expected.levels, step);
            if judging.stride(engine, &long, (&mut self.told, self.two_cores))? {
                return Ok(true);
            }
        }
        let single = match macrosteps {
            // The next macrostep would go too far.
            true if long.most_steps - step < NEAR => long,
            // Between two macrosteps there may be a single step.
            true => to(1, 1),
            false => to(STRIDE, 1),
        };
        self.by_changes(engine, &single)
    }

    /// Steps up to where the stop rule says, each of whose changes is the machine's.
    fn by_changes(&mut self, engine: &mut dyn Engine, stop: &StopRule) -> Result<bool, TrainError> {
        let Reference::Changes(judge) = &mut self.beside else { return Ok(false) };
        let step = engine.steps();
        self.changes.clear();
        if !engine.run_with_deltas(stop, &mut self.changes)? {
            return Ok(false);
        }
        let mut differs = None;
        for (i, change) in self.changes.iter().enumerate() {
            if let (Err(mismatch), None) = (judge.check_step(change), &differs) {
                differs = Some(mismatch.to_string());
            }
            let Some(next) = self.changes.get(i + 1) else { continue };
            let at = step + 1 + i as u64;
            self.record.compared(at, differs.as_ref().map_or(Ok(()), Err));
            self.record.record_loss(at, next.loss, false, &self.expected.levels);
            self.losses.push(next.loss);
        }
        Ok(true)
    }

    /// Brings the simulator to a step.
    fn advance(&mut self, step: u64, comparisons: Comparisons) {
        let step = step.saturating_sub(self.expected.extra_steps);
        match &mut self.beside {
            Reference::Configurations(lockstep, _) => {
                if let Some(lockstep) = lockstep {
                    while lockstep.simulator().steps() < step && lockstep.stopped().is_none() {
                        lockstep.step();
                    }
                }
            }
            Reference::Changes(judge) if comparisons == Comparisons::End => judge.jump_to(step),
            Reference::Changes(judge) => judge.advance(step, self.last_loss),
        }
    }

    fn see(&mut self, step: u64, loss: f64, engine: &dyn Engine, comparisons: Comparisons) {
        let found = match &self.beside {
            Reference::Configurations(lockstep, decoder) => {
                let waiting = step < self.expected.extra_steps;
                let parameters = engine.parameters();
                compare(lockstep.as_ref(), *decoder, parameters.as_deref(), waiting)
            }
            // Before the labels are read, the hidden tapes cannot hold them.
            Reference::Changes(judge)
                if comparisons == Comparisons::Every
                    && (step > 0 || self.expected.labels.is_some())
                    && step < self.all_due =>
            {
                judge.compare(engine)
            }
            Reference::Changes(judge) => {
                // About a cell a step: between two looks at all cells, those that steps change are looked at.
                self.all_due = step.saturating_add(judge.n_tape_cells().max(FEWEST_BETWEEN));
                judge.compare_all(engine)
            }
        };
        self.record.compared(step, found);
        if comparisons == Comparisons::Every {
            self.record.drift = Drift::seen(self.record.drift, engine, self.choice);
        }
        if let Some(labels) = self.expected.labels {
            if step == 1 {
                self.record.tape_read = self.tape_read(engine);
            }
            self.record.labels_copied &= step == 0 || engine.labels() == labels;
        }
        let stopped = self.machine_steps.is_some();
        match engine.losses().filter(|_| comparisons == Comparisons::End && step > 0) {
            Some(range) => self.record.lost_many(range, stopped, &self.expected.levels),
            None => self.record.record_loss(step, loss, stopped, &self.expected.levels),
        }
    }

    /// Holds the moment that a run is resumed from to the machine, for a checkpoint can be written by anybody. What differs
    /// counts as a mismatch of that moment.
    fn see_resumed(&mut self, engine: &dyn Engine, stop: &StopRule) {
        let step = engine.steps();
        let waiting = step < self.expected.extra_steps;
        let found = match &self.beside {
            Reference::Configurations(lockstep, decoder) => {
                compare(lockstep.as_ref(), *decoder, engine.parameters().as_deref(), waiting)
            }
            Reference::Changes(_) if step == 0 && self.expected.labels.is_some() => Ok(()),
            Reference::Changes(judge) => judge.compare_all(engine),
        };
        let why = match found {
            Err(mismatch) => Some(mismatch.to_string()),
            Ok(()) if (self.record.mismatches > 0) != self.record.first_mismatch.is_some() => {
                Some("the checkpoint is wrong about its mismatches".to_owned())
            }
            Ok(()) if step > stop.most_steps => {
                Some("the checkpoint lies beyond its own step limit".to_owned())
            }
            Ok(()) => None,
        };
        if let Some(why) = why {
            self.record.differs(step, &why);
        }
        if let Some(labels) = self.expected.labels.filter(|_| step > 0) {
            self.record.labels_copied &= engine.labels() == labels;
            self.record.tape_read = self.tape_read(engine);
        }
    }

    /// Makes the run before a checkpoint once more and holds what the checkpoint says of it to that.
    pub(super) fn derive_again(
        &mut self,
        task: &Task<'_>,
        cache_level: CacheLevel,
        comparisons: Comparisons,
        (snapshot, claimed): (&Snapshot, &RunStats),
    ) -> Result<(), EngineError> {
        let (stopped_from, choice) =
            (self.machine_steps.map(|steps| steps + self.expected.extra_steps), self.choice);
        let earlier = CheckpointReplay {
            snapshot,
            claimed,
            expected: &self.expected,
            comparisons,
            stopped_from,
            choice,
        };
        if let Some(what) = earlier.contradiction(task, cache_level)? {
            self.record.differs(snapshot.step, &format!("the checkpoint is wrong about {what}"));
        }
        Ok(())
    }

    /// Whether the hidden tapes hold the bits that the machine is given.
    fn tape_read(&self, engine: &dyn Engine) -> bool {
        match &self.beside {
            Reference::Configurations(Some(lockstep), decoder) => {
                engine.parameters().is_some_and(|p| decoder.tape_read(&p, lockstep.expected()))
            }
            Reference::Configurations(None, _) => false,
            Reference::Changes(judge) => judge.compare_all(engine).is_ok(),
        }
    }

    /// Whether the machine has come to need more cells than there may be.
    fn outgrown(&self, step: u64, comparisons: Comparisons) -> bool {
        let Reference::Changes(judge) = &self.beside else { return false };
        let now_and_then = comparisons == Comparisons::End || step.is_multiple_of(LOOK_AT_CELLS);
        match self.expected.room {
            TapeLimit::Cells(most) if now_and_then || most < LOOK_AT_CELLS as usize => judge.n_cells() > most,
            TapeLimit::Allowed(allows) if now_and_then => !allows(judge.simulator()),
            _ => false,
        }
    }

    /// The end of a run: every cell once more.
    fn conclude(&mut self, engine: &dyn Engine) {
        if let Some(why) = self.wrong_at_the_end(engine).filter(|_| self.record.mismatches == 0) {
            self.record.differs(engine.steps(), &why);
        }
    }

    /// What an engine reports at the end of a run that all its steps contradict.
    fn wrong_at_the_end(&self, engine: &dyn Engine) -> Option<String> {
        if let Reference::Changes(judge) = &self.beside {
            if let Err(mismatch) = judge.compare_all(engine) {
                return Some(mismatch.to_string());
            }
            if let Some(why) = judge.contradiction() {
                return Some(why.to_owned());
            }
        }
        let other = self.path(engine.steps()).is_some_and(|path| path != engine.path());
        other.then(|| "the engine's digest is not that of the vertices visited".to_owned())
    }

    /// The digest of all vertices visited, if every step was looked at and the machine is beside training.
    pub(super) fn path(&self, step: u64) -> Option<u64> {
        match &self.beside {
            // Where an iterate is not the machine's, neither is the path.
            Reference::Configurations(..) if self.record.mismatches > 0 => None,
            Reference::Configurations(lockstep, _) => {
                lockstep.as_ref()?.path(step, self.expected.extra_steps)
            }
            Reference::Changes(judge) => judge.path(step, self.expected.extra_steps),
        }
    }

    /// Steps the machine has made, if it has stopped.
    fn stopped_after(&self) -> Option<Step> {
        match &self.beside {
            Reference::Configurations(lockstep, _) => stopped_after(lockstep.as_ref()?.simulator()),
            Reference::Changes(judge) => stopped_after(judge.simulator()),
        }
    }

    /// Cells of the longest tape that the machine has visited or its input fills; `None` beside the dense engine.
    pub(super) fn n_cells(&self) -> Option<usize> {
        match &self.beside {
            Reference::Configurations(..) => None,
            Reference::Changes(judge) => Some(judge.n_cells()),
        }
    }
}

/// Whether parameters stand for the machine's configuration, or for the start vertex if the network waits there.
fn compare(
    lockstep: Option<&Lockstep<'_>>,
    decoder: &dyn Decoder,
    parameters: Option<&[Values]>,
    waiting: bool,
) -> Result<(), Mismatch> {
    let (Some(lockstep), Some(parameters)) = (lockstep, parameters) else { return Err(Mismatch::LeftWindow) };
    match decoder.decode(parameters, lockstep.expected()) {
        Err(Undecodable::Start) if waiting => Ok(()),
        found => lockstep.compare(found),
    }
}
