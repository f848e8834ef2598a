//! Holds a run to the simulator while it is made.

use std::ops::ControlFlow;

use luge_landscape::Undecodable;
use luge_machine::{Simulator, Step};
use luge_net::faults;
use luge_train::{Engine, Outcome, Snapshot, StepDelta, StopRule, Surroundings, TrainError, visit};

use super::{
    CHUNK, Comparisons, LONG_STRIDE, LONGEST_STRIDE, ObservationRate, RunProgress, RunSetup, STRIDE,
    TapeLimit,
    judging::{Judging, Telling, Told},
    kept, stopped_after,
};
use crate::run::{
    decimated::Decimated,
    engine::EngineChoice,
    lockstep::Mismatch,
    run_stats::{Drift, RunStats},
    step_checker::{StepChecker, vertex_of},
    two_cores,
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
    /// Whole configurations, for the dense engine, and the digest of the vertices visited.
    Configurations(Simulator<'a>, u64),
    /// What a step can change, for the fast engines.
    Changes(StepChecker<'a>),
}

/// Holds a run to the simulator and to what the construction says of it.
pub(super) struct Monitor<'a> {
    setup: RunSetup<'a>,
    pub(super) beside: Reference<'a>,
    pub(super) record: RunStats,
    /// Steps the machine has made, if it has stopped.
    machine_steps: Option<Step>,
    /// The loss of the last iterate that was seen.
    last_loss: Option<f64>,
    /// The first step at which all cells are compared again.
    all_due: u64,
    /// The step of the next moment, where many steps are made at once.
    moment_due: u64,
    /// The engine that trains.
    choice: EngineChoice,
    /// What the steps of a stride changed.
    changes: Vec<StepDelta>,
    /// The macrosteps that the judge has heard of, and whether it may have a core of its own.
    told: Told,
    two_cores: bool,
    /// The losses of the iterates within a stride.
    losses: Vec<f64>,
    pub(super) kept: Decimated<Snapshot>,
}

impl<'a> Monitor<'a> {
    /// Beside an engine at the start or, with what was seen until then, where a run is resumed.
    pub(super) fn new(
        setup: RunSetup<'a>,
        engine: &dyn Engine,
        choice: EngineChoice,
        record: RunStats,
    ) -> Self {
        let RunSetup { machine, input, control, extra_steps, .. } = setup;
        let beside = match control.filter(|_| choice != EngineChoice::Dense) {
            Some(control) => Reference::Changes(
                StepChecker::new(machine, input, control, setup.window.first.clone()).after(extra_steps),
            ),
            None => {
                let simulator = Simulator::new(machine, input);
                let first = control.map_or(0, |control| vertex_of(control, &simulator));
                Reference::Configurations(simulator, (0..=extra_steps).fold(0, |path, _| visit(path, first)))
            }
        };
        Self {
            setup,
            beside,
            record,
            machine_steps: None,
            last_loss: None,
            // The hidden tapes hold the labels from step 1 on.
            all_due: extra_steps.max(1),
            moment_due: 0,
            choice,
            changes: Vec::new(),
            told: Told::default(),
            two_cores: two_cores::are_there() && !faults::planted("a judge without a core"),
            losses: Vec::new(),
            kept: kept::room_for(engine),
        }
    }

    /// Steps until the stop rule holds or the watcher breaks off, holding what it sees to the simulator.
    pub(super) fn follow(
        &mut self,
        engine: &mut dyn Engine,
        stop: &StopRule,
        mut watch: impl FnMut(RunProgress<'_>) -> ControlFlow<()>,
    ) -> Result<Outcome, TrainError> {
        // The iterate that a resumed run starts with was seen before.
        let resumed_at = self.record.loss.map(|_| engine.steps());
        let outcome = loop {
            let (step, loss) = (engine.steps(), engine.loss()?);
            self.advance(step);
            self.last_loss = Some(loss);
            self.machine_steps = self.stopped_after();
            if resumed_at != Some(step) {
                self.see(step, loss, engine);
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
            if self.outgrown(step) {
                break Outcome::OutOfCells { steps: step };
            }
            match self.setup.comparisons {
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
        let next = (engine.steps() + 1).checked_sub(self.setup.extra_steps).filter(|&next| next > 0);
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
        let last = self.machine_steps.map(|steps| steps + self.setup.extra_steps + 1);
        StopRule { most_steps: stop.most_steps.min(last.unwrap_or(u64::MAX)), ..*stop }
    }

    /// Many steps at once, if the engine reports what they change and nobody watches every one; the machine makes the same steps,
    /// and each is held to the machine's. The last iterate is left to be seen as a whole.
    fn stride(&mut self, engine: &mut dyn Engine, stop: &StopRule) -> Result<bool, TrainError> {
        let Reference::Changes(judge) = &mut self.beside else { return Ok(false) };
        let step = engine.steps();
        let beside =
            step >= self.setup.extra_steps && judge.simulator().steps() + self.setup.extra_steps == step;
        // Near a limit of cells every step is looked at.
        let cells = match self.setup.room {
            TapeLimit::Cells(most) => most.saturating_sub(judge.n_cells()) as u64,
            TapeLimit::Allowed(_) => u64::MAX,
        };
        let to = |stride: u64| {
            let most_steps = (step + 1).next_multiple_of(stride).min(stop.most_steps);
            StopRule { most_steps, ..*stop }
        };
        if !beside || self.setup.attention == ObservationRate::Steps || cells < STRIDE {
            return Ok(false);
        }
        let macrosteps = self.setup.attention == ObservationRate::Moments
            && cells >= LONG_STRIDE
            && step >= self.setup.levels.from
            && self.record.mismatches == 0;
        // Until all cells are compared again.
        let ahead = self.all_due.saturating_sub(step).min(cells.saturating_sub(LONG_STRIDE));
        // Macrosteps that stop short of a moment do not put it off.
        if self.moment_due <= step {
            self.moment_due = (step + ahead.clamp(1, LONGEST_STRIDE)).next_multiple_of(LONG_STRIDE);
        }
        let long = StopRule { most_steps: self.moment_due.min(stop.most_steps), ..*stop };
        if macrosteps {
            let (told, record, levels) = (&mut self.told, &mut self.record, &self.setup.levels);
            let telling = Telling { told, record, levels, step, skip: 1 };
            let judging = Judging::new(judge, self.setup.extra_steps);
            if judging.stride(engine, &long, (telling, self.two_cores))? {
                return Ok(true);
            }
        }
        let single = match macrosteps {
            // The next macrostep would go too far.
            true if long.most_steps - step < NEAR => long,
            // Between two macrosteps there may be a single step.
            true => to(1),
            false => to(STRIDE),
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
            self.record.record_loss(at, next.loss, false, &self.setup.levels);
            self.losses.push(next.loss);
        }
        Ok(true)
    }

    /// Brings the simulator to a step.
    fn advance(&mut self, step: u64) {
        let step = step.saturating_sub(self.setup.extra_steps);
        match &mut self.beside {
            Reference::Configurations(simulator, path) => {
                while simulator.steps() < step && simulator.step().is_ok() {
                    *path =
                        visit(*path, self.setup.control.map_or(0, |control| vertex_of(control, simulator)));
                }
            }
            Reference::Changes(judge) if self.setup.comparisons == Comparisons::End => judge.jump_to(step),
            Reference::Changes(judge) => judge.advance(step, self.last_loss),
        }
    }

    /// Whether an iterate is the machine's configuration, or the start vertex if the network waits there: all of it, or what the last
    /// step can have changed.
    fn compare(&self, engine: &dyn Engine, all: bool) -> Result<(), Mismatch> {
        let RunSetup { window, decoder, extra_steps, .. } = self.setup;
        match &self.beside {
            Reference::Configurations(simulator, _) => {
                let (expected, parameters) = (window.configuration(simulator), engine.parameters());
                let (expected, parameters) = expected.zip(parameters).ok_or(Mismatch::LeftWindow)?;
                match decoder.decode(&parameters, &expected) {
                    Err(Undecodable::Start) if engine.steps() < extra_steps => Ok(()),
                    found => window.compare(simulator, found),
                }
            }
            Reference::Changes(judge) if all => judge.compare_all(engine),
            Reference::Changes(judge) => judge.compare(engine),
        }
    }

    fn see(&mut self, step: u64, loss: f64, engine: &dyn Engine) {
        let comparisons = self.setup.comparisons;
        let readable_start = step == 0 && !self.is_unread(step);
        let all = comparisons == Comparisons::End || readable_start || step >= self.all_due;
        if let (Reference::Changes(judge), true) = (&self.beside, all) {
            // About a cell a step: between two looks at all cells, those that steps change are looked at.
            self.all_due = step.saturating_add(judge.n_tape_cells().max(FEWEST_BETWEEN));
        }
        self.record.compared(step, self.compare(engine, all));
        if comparisons == Comparisons::Every {
            self.record.drift = Drift::seen(self.record.drift, engine, self.choice);
        }
        if let Some(labels) = self.setup.labels {
            if step == 1 {
                self.record.tape_read = self.tape_read(engine);
            }
            self.record.labels_copied &= step == 0 || engine.labels() == labels;
        }
        let stopped = self.machine_steps.is_some();
        match engine.losses().filter(|_| comparisons == Comparisons::End && step > 0) {
            Some(range) => self.record.lost_many(range, stopped, &self.setup.levels),
            None => self.record.record_loss(step, loss, stopped, &self.setup.levels),
        }
    }

    /// Holds the moment that a run is resumed from to the machine, for a checkpoint can be written by anybody. What differs
    /// counts as a mismatch of that moment.
    fn see_resumed(&mut self, engine: &dyn Engine, stop: &StopRule) {
        let step = engine.steps();
        let found = match &self.beside {
            Reference::Changes(_) if self.is_unread(step) => Ok(()),
            _ => self.compare(engine, true),
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
        if let Some(labels) = self.setup.labels.filter(|_| step > 0) {
            self.record.labels_copied &= engine.labels() == labels;
            self.record.tape_read = self.tape_read(engine);
        }
    }

    /// Whether the network has not read its labels yet, so that the hidden tapes cannot hold them.
    fn is_unread(&self, step: u64) -> bool {
        step == 0 && self.setup.labels.is_some()
    }

    /// Whether the hidden tapes hold the bits that the machine is given.
    fn tape_read(&self, engine: &dyn Engine) -> bool {
        match &self.beside {
            Reference::Configurations(simulator, _) => {
                let expected = self.setup.window.configuration(simulator);
                let both = engine.parameters().zip(expected);
                both.is_some_and(|(found, expected)| self.setup.decoder.tape_read(&found, &expected))
            }
            Reference::Changes(judge) => judge.compare_all(engine).is_ok(),
        }
    }

    /// Whether the machine has come to need more cells than there may be.
    fn outgrown(&self, step: u64) -> bool {
        let Reference::Changes(judge) = &self.beside else { return false };
        let now_and_then = self.setup.comparisons == Comparisons::End || step.is_multiple_of(LOOK_AT_CELLS);
        match self.setup.room {
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
            if let Err(mismatch) = judge.compare_all(engine)
                && !self.is_unread(engine.steps())
            {
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
        let extra = self.setup.extra_steps;
        match &self.beside {
            Reference::Configurations(simulator, path) => {
                // Where an iterate is not the machine's, neither is the path; configurations are no vertices.
                let beside = self.record.mismatches == 0 && simulator.steps() + extra == step;
                self.setup.control.filter(|_| beside).map(|_| *path)
            }
            Reference::Changes(judge) => judge.path(step, extra),
        }
    }

    /// Steps the machine has made, if it has stopped.
    fn stopped_after(&self) -> Option<Step> {
        stopped_after(match &self.beside {
            Reference::Configurations(simulator, _) => simulator,
            Reference::Changes(judge) => judge.simulator(),
        })
    }

    /// Cells of the longest tape that the machine has visited or its input fills; `None` beside the dense engine.
    pub(super) fn n_cells(&self) -> Option<usize> {
        match &self.beside {
            Reference::Configurations(..) => None,
            Reference::Changes(judge) => Some(judge.n_cells()),
        }
    }
}
