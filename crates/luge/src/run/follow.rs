//! Follows a run: training, the simulator that checks it, and the statistics. All runs use this one loop.

mod kept;
mod observation_rate;

use std::{ops::ControlFlow, time::Duration};

use luge_landscape::{Configuration, Control, Undecodable};
use luge_machine::{Input, Machine, Simulator, Step};
use luge_net::{Network, Values};
use luge_train::{
    CacheLevel, Engine, MacrostepId, Outcome, ROUNDING, Snapshot, StepDelta, StopRule, TrainError,
};
use web_time::Instant;

use crate::{
    certificate::gradient::{self, GradientCheck, Seen},
    run::{
        checkpoint_replay::CheckpointReplay,
        decimated::Decimated,
        engine::{Chosen, EngineChoice, EngineError, Task},
        lockstep::{Lockstep, Mismatch, Window},
        run_stats::{Levels, Losses, RunStats},
        situations::{LookAt, Situations},
        step_checker::StepChecker,
    },
};
use observation_rate::cache_level;
pub use observation_rate::{Comparisons, LONG_STRIDE, ObservationRate, STRIDE};

/// Steps between two comparisons where not every step is compared.
pub(crate) const CHUNK: u64 = 1 << 24;

/// Steps between two looks at how many cells a run has come to need.
const LOOK_AT_CELLS: u64 = 1 << 16;

/// Steps between two looks at all cells of a run that is compared step by step, at least.
const FEWEST_BETWEEN: u64 = 1 << 12;

/// One moment of a run, for whoever wants to watch.
pub struct RunProgress<'a> {
    /// Gradient steps made.
    pub step: u64,
    /// The loss.
    pub loss: f64,
    /// The losses of the iterates since the moment before, in order, if that was more than a step ago and they are watched.
    pub since: &'a [f64],
    /// The engine.
    pub engine: &'a dyn Engine,
    /// What was seen so far, this moment included.
    pub record: &'a RunStats,
}

/// What training is held to, besides the machine's configurations.
pub(crate) struct Expected<'a> {
    /// Where the loss must lie.
    pub(crate) levels: Levels,
    /// Gradient steps before the machine's first.
    pub(crate) extra_steps: u64,
    /// What z must be from step 1 on, if the network has labels.
    pub(crate) labels: Option<&'a [f64]>,
    /// How far tapes may grow.
    pub(crate) room: TapeLimit<'a>,
}

/// How far the tapes of a fast engine may grow; those of the dense engine cannot.
pub(crate) enum TapeLimit<'a> {
    /// To so many cells. A run ends with the step that needs more.
    Cells(usize),
    /// As far as the machine is allowed to go, which is asked now and then.
    PrepareOptions(&'a dyn Fn(&Simulator<'_>) -> bool),
}

/// How the parameters of a network stand for configurations.
pub(crate) trait Decoder {
    /// What parameters stand for, where the machine's configuration is `expected`.
    fn decode(&self, parameters: &[Values], expected: &Configuration) -> Result<Configuration, Undecodable>;

    /// Whether the hidden tapes hold what the machine is given.
    fn tape_read(&self, parameters: &[Values], expected: &Configuration) -> bool;
}

/// A network to be trained beside its machine, and what it is held to.
pub(crate) struct RunSetup<'a> {
    pub(crate) task: &'a Task<'a>,
    /// The machine in normal form.
    pub(crate) machine: &'a Machine,
    pub(crate) input: &'a Input,
    pub(crate) window: &'a Window,
    /// The network's vertices, unless they are configurations.
    pub(crate) control: Option<&'a Control>,
    pub(crate) decoder: &'a dyn Decoder,
    pub(crate) expected: Expected<'a>,
    /// The iterates of a fast engine that are compared; of the dense engine every one is.
    pub(crate) comparisons: Comparisons,
    /// How closely the run is watched.
    pub(crate) attention: ObservationRate,
}

/// A run that was followed to its end.
pub(crate) struct FinishedRun<'a> {
    pub(crate) outcome: Outcome,
    pub(crate) record: RunStats,
    pub(crate) engine: Box<dyn Engine + 'a>,
    /// The engine that trained, and why that one.
    pub(crate) chosen: Chosen,
    /// Where training has come to.
    pub(crate) snapshot: Snapshot,
    /// Where the machine has come to; `None` if it does not fit the network's cells.
    pub(crate) simulator: Option<Simulator<'a>>,
    /// How long training and comparing took.
    pub(crate) trained_in: Duration,
    /// Cells of the longest tape that the machine has come to need; `None` beside the dense engine.
    pub(crate) n_cells: Option<usize>,
    /// The digest of all vertices visited, as the side that judges knows it; of the dense engine, its own.
    pub(crate) path: u64,
    /// What the carrier adds to the landscape's loss.
    added_loss: f64,
    situations: Option<Situations>,
    task: &'a Task<'a>,
    kept: Decimated<Snapshot>,
}

impl FinishedRun<'_> {
    /// Steps the machine has made, if it has stopped.
    pub(crate) fn machine_steps(&self) -> Option<Step> {
        self.simulator.as_ref().and_then(stopped_after)
    }

    /// Holds the steps of the run to automatic differentiation. Where arithmetic is exact the network is differentiated in every
    /// situation that the run met. Where weights drift, or the run was not looked at step by step, steps of it are handed to `check`, which
    /// makes them with the weights that they had: so many if somebody asks for a number.
    pub(crate) fn recheck<E: From<EngineError>>(
        &mut self,
        spots: Option<usize>,
        (network, labels, at_the_ends): (&Network, &[f64], bool),
        check: impl FnOnce(&[gradient::CheckedStep]) -> Result<GradientCheck, E>,
    ) -> Result<GradientCheck, E> {
        if self.chosen.engine == EngineChoice::Dense {
            return Ok(GradientCheck::of_dense());
        }
        let exact = self.chosen.engine == EngineChoice::Exact;
        let allowed = if exact { self.engine.drift() } else { (ROUNDING, ROUNDING) };
        let forgives = exact && allowed.0 > 0.0;
        let inputs = &self.task.inputs;
        let at = LookAt { network, inputs, labels, allowed, at_the_ends, forgives };
        let looked = self.situations.as_ref().map(|situations| situations.look(&at));
        let looked = looked.transpose().map_err(EngineError::from)?;
        let seen = looked.as_ref().map(|looked| Seen {
            n_steps: self.snapshot.step,
            n_situations: looked.n_situations,
            n_looked_at: looked.n_looked_at,
            exact,
        });
        let differs = looked.as_ref().and_then(|looked| looked.differs.clone());
        if let (Some(looked), true) = (&looked, exact) {
            self.record.derive(looked, self.added_loss);
        }
        if differs.is_some() || exact && looked.is_some() {
            return Ok(GradientCheck { steps: Vec::new(), every: false, seen, differs });
        }
        let end = gradient::End { snapshot: &self.snapshot, record: &self.record };
        let found = gradient::recheck(self.task, &end, &self.kept, spots, check)?;
        Ok(GradientCheck { seen, ..found })
    }
}

/// Steps a machine has made, if it has stopped.
fn stopped_after(simulator: &Simulator<'_>) -> Option<Step> {
    simulator.stopped().map(|_| simulator.steps())
}

impl<'a> RunSetup<'a> {
    /// Trains, from the start or from a snapshot and what was seen until then, holding iterates to the simulator.
    pub(crate) fn follow(
        self,
        from: Option<(&Snapshot, RunStats)>,
        watch: impl FnMut(RunProgress<'_>) -> ControlFlow<()>,
    ) -> Result<FinishedRun<'a>, EngineError> {
        let Self { task, machine, input, window, .. } = self;
        let cache_level = cache_level(self.comparisons, self.attention);
        let moment = from.as_ref().map(|(snapshot, record)| (*snapshot, record.loss));
        let (mut engine, chosen) = task.open(cache_level, moment)?;
        let dense = chosen.engine == EngineChoice::Dense;
        let beside = match self.control.filter(|_| !dense) {
            Some(control) => Reference::Changes(
                StepChecker::new(machine, input, control, window.first.clone())
                    .after(self.expected.extra_steps),
            ),
            None => Reference::Configurations(Lockstep::new(machine, input, window.clone()), self.decoder),
        };
        let comparisons = if dense { Comparisons::Every } else { self.comparisons };
        let claimed = from.clone();
        let record = from.map_or_else(RunStats::default, |(_, record)| record);
        let (changes, made, losses) = (Vec::new(), Vec::new(), Vec::new());
        let attention = self.attention;
        let kept = kept::room_for(&*engine);
        let expected = self.expected;
        let (machine_steps, last_loss) = (None, None);
        // The hidden tapes hold the labels from step 1 on.
        let all_due = expected.extra_steps.max(1);
        let mut monitor = Monitor {
            beside,
            expected,
            record,
            machine_steps,
            last_loss,
            all_due,
            attention,
            changes,
            made,
            losses,
            kept,
        };
        let started = Instant::now();
        let outcome = monitor.follow(&mut *engine, &task.stop, comparisons, watch)?;
        let trained_in = started.elapsed();
        // What is broken off is resumed again, and looked at then; what has failed by its own account stays so.
        let ended = !matches!(outcome, Outcome::Interrupted { .. });
        if let Some((moment, record)) = claimed.filter(|(_, record)| ended && record.mismatches == 0) {
            monitor.derive_again(task, cache_level, comparisons, (moment, &record))?;
        }
        let (snapshot, n_cells) = (engine.snapshot(), monitor.n_cells());
        let Monitor { beside, record, kept, expected, .. } = monitor;
        let (simulator, path, situations) = match beside {
            Reference::Configurations(lockstep, _) => (lockstep.map(Lockstep::into_simulator), None, None),
            Reference::Changes(judge) => {
                let path = judge.path(engine.steps(), expected.extra_steps);
                let (simulator, situations) = judge.into_situations();
                (Some(simulator), path, situations)
            }
        };
        let path = path.unwrap_or(snapshot.path);
        Ok(FinishedRun {
            outcome,
            record,
            engine,
            chosen,
            snapshot,
            simulator,
            trained_in,
            n_cells,
            path,
            added_loss: expected.levels.added,
            situations,
            task,
            kept,
        })
    }
}

/// The simulator beside training.
#[expect(clippy::large_enum_variant, reason = "there is one per run")]
enum Reference<'a> {
    /// Whole configurations, for the dense engine; `None` if a head starts outside the window.
    Configurations(Option<Lockstep<'a>>, &'a dyn Decoder),
    /// What a step can change, for the fast engines.
    Changes(StepChecker<'a>),
}

/// Holds a run to the simulator and to what the construction says of it.
struct Monitor<'a> {
    beside: Reference<'a>,
    expected: Expected<'a>,
    record: RunStats,
    /// Steps the machine has made, if it has stopped.
    machine_steps: Option<Step>,
    /// The loss of the last iterate that was seen.
    last_loss: Option<f64>,
    /// The first step at which all cells are compared again.
    all_due: u64,
    attention: ObservationRate,
    /// What the steps of a stride changed.
    changes: Vec<StepDelta>,
    /// The macrosteps of a stride.
    made: Vec<MacrostepId>,
    /// The losses of the iterates within a stride.
    losses: Vec<f64>,
    kept: Decimated<Snapshot>,
}

impl Monitor<'_> {
    /// Steps until the stop rule holds or the watcher breaks off, holding what it sees to the simulator.
    fn follow(
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
                        engine.step()?;
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

    /// The stop rule, which gives a network whose machine has stopped one more step to say so.
    fn soon_after_the_machine(&self, stop: &StopRule) -> StopRule {
        let last = self.machine_steps.map(|steps| steps + self.expected.extra_steps + 1);
        StopRule { most_steps: stop.most_steps.min(last.unwrap_or(u64::MAX)), ..*stop }
    }

    /// Many steps at once, if the engine reports what they change and nobody watches every one; the machine makes the same steps,
    /// and each is held to the machine's. The last iterate is left to be seen as a whole.
    fn stride(&mut self, engine: &mut dyn Engine, stop: &StopRule) -> Result<bool, TrainError> {
        let Reference::Changes(judge) = &self.beside else { return Ok(false) };
        let step = engine.steps();
        let beside = step >= self.expected.extra_steps
            && judge.simulator().steps() + self.expected.extra_steps == step;
        // Near a limit of cells every step is looked at.
        let cells = match self.expected.room {
            TapeLimit::Cells(most) => most.saturating_sub(judge.n_cells()) as u64,
            TapeLimit::PrepareOptions(_) => u64::MAX,
        };
        let to = |stride: u64| {
            let most_steps = (step - step % stride + stride).min(stop.most_steps);
            StopRule { most_steps, ..*stop }
        };
        if !beside || self.attention == ObservationRate::Steps || cells < STRIDE {
            return Ok(false);
        }
        let macrosteps = self.attention == ObservationRate::Moments
            && cells >= LONG_STRIDE
            && step >= self.expected.levels.from
            && self.record.mismatches == 0;
        if macrosteps && self.by_macrosteps(engine, &to(LONG_STRIDE))? {
            return Ok(true);
        }
        // Between two macrosteps there may be a single step.
        self.by_changes(engine, &to(if macrosteps { 1 } else { STRIDE }))
    }

    /// Macrosteps up to where the stop rule says, each of which is the machine's passage.
    fn by_macrosteps(&mut self, engine: &mut dyn Engine, stop: &StopRule) -> Result<bool, TrainError> {
        let Reference::Changes(judge) = &mut self.beside else { return Ok(false) };
        let mut step = engine.steps();
        self.made.clear();
        if !engine.run_by_macrosteps(stop, &mut self.made)? {
            return Ok(false);
        }
        // The first iterate was seen before, the last will be seen.
        let (end, mut skip) = (engine.steps(), 1);
        self.record.n_compared += end - step - 1;
        let mut differs = false;
        for &macrostep in &self.made {
            if let Some(followed) = judge.pass(macrostep).filter(|_| !differs) {
                self.record.record_losses(step, &followed.losses, skip, &self.expected.levels);
                step += followed.n_steps();
            } else {
                let steps = engine.macrostep(macrostep)?;
                if let (false, Err((after, why))) = (differs, judge.follow(macrostep, &steps)) {
                    differs = true;
                    (step + after..end).for_each(|at| self.record.differs(at, &why));
                }
                let losses = Losses::of(steps.changes.iter().map(|change| change.loss));
                self.record.record_losses(step, &losses, skip, &self.expected.levels);
                step += steps.changes.len() as u64;
            }
            skip = 0;
        }
        Ok(true)
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
    fn derive_again(
        &mut self,
        task: &Task<'_>,
        cache_level: CacheLevel,
        comparisons: Comparisons,
        (snapshot, claimed): (&Snapshot, &RunStats),
    ) -> Result<(), EngineError> {
        let stopped_from = self.machine_steps.map(|steps| steps + self.expected.extra_steps);
        let earlier =
            CheckpointReplay { snapshot, claimed, expected: &self.expected, comparisons, stopped_from };
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
            TapeLimit::PrepareOptions(allows) if now_and_then => !allows(judge.simulator()),
            _ => false,
        }
    }

    /// The end of a run: every cell once more, and how far weights have drifted.
    fn conclude(&mut self, engine: &dyn Engine) {
        if let Reference::Changes(judge) = &self.beside
            && self.record.mismatches == 0
        {
            let step = engine.steps();
            if let Err(mismatch) = judge.compare_all(engine) {
                self.record.differs(step, &mismatch);
            } else if let Some(why) = judge.contradiction() {
                self.record.differs(step, &why);
            } else if judge.path(step, self.expected.extra_steps).is_some_and(|path| path != engine.path()) {
                self.record.differs(step, &"the engine's digest is not that of the vertices visited");
            }
        }
        self.record.drift = self.record.drift.and(engine.drift());
    }

    /// Steps the machine has made, if it has stopped.
    fn stopped_after(&self) -> Option<Step> {
        match &self.beside {
            Reference::Configurations(lockstep, _) => stopped_after(lockstep.as_ref()?.simulator()),
            Reference::Changes(judge) => stopped_after(judge.simulator()),
        }
    }

    /// Cells of the longest tape that the machine has visited or its input fills; `None` beside the dense engine.
    fn n_cells(&self) -> Option<usize> {
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
