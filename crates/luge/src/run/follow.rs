//! Follows a run: training, the simulator that checks it, and the statistics. Lessons and traces use this one loop; streams have their own.

mod judging;
mod kept;
mod monitor;
mod observation_rate;

use std::{ops::ControlFlow, time::Duration};

use luge_landscape::{Configuration, Control, Undecodable};
use luge_machine::{Input, Machine, Simulator, Step};
use luge_net::{Network, Values, faults};
use luge_train::{Engine, Outcome, ROUNDING, Snapshot};
use web_time::Instant;

use crate::{
    certificate::gradient::{self, GradientCheck},
    run::{
        decimated::Decimated,
        engine::{Chosen, EngineChoice, EngineError, Task},
        lockstep::{Lockstep, Window},
        run_stats::{Levels, RunStats},
        situations::{LookAt, Situations},
        step_checker::StepChecker,
        two_cores,
    },
};
use judging::Told;
use monitor::{Monitor, Reference};
use observation_rate::cache_level;
pub use observation_rate::{Comparisons, LONG_STRIDE, LONGEST_STRIDE, ObservationRate, STRIDE};

/// Steps between two comparisons where not every step is compared.
pub(crate) const CHUNK: u64 = 1 << 24;

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
    Allowed(&'a dyn Fn(&Simulator<'_>) -> bool),
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
    /// The digest of all vertices visited, as the side that judges knows it.
    pub(crate) path: u64,
    /// The vertex that stands for where the machine has come to.
    vertex: Option<usize>,
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

    /// Whether every step was looked at, so that the network is differentiated in every situation.
    pub(crate) fn was_looked_at(&self) -> bool {
        self.situations.is_some() && self.chosen.engine != EngineChoice::Dense
    }

    /// Holds the steps of the run to automatic differentiation: the network is differentiated in every situation that the run met, and
    /// where weights drift also with the weights that it first met them with. Where the run was not looked at step by step, or somebody
    /// asks for a number, so many steps of it are handed to `check`, which makes them again with the weights that they had.
    pub(crate) fn recheck<E: From<EngineError>>(
        &mut self,
        autodiff_checks: Option<usize>,
        (network, labels, at_the_ends): (&Network, &[f64], bool),
        check: impl FnOnce(&[gradient::CheckedStep]) -> Result<GradientCheck, E>,
    ) -> Result<GradientCheck, E> {
        if self.chosen.engine == EngineChoice::Dense {
            return Ok(GradientCheck::of_dense());
        }
        let exact = self.chosen.engine == EngineChoice::Exact;
        let allowed = if exact { self.engine.left_out() } else { (ROUNDING, ROUNDING) };
        let inputs = &self.task.inputs;
        let halted = self.record.halted.filter(|_| labels.is_empty());
        let at_rest = self.vertex.zip(halted);
        let at = LookAt { network, inputs, labels, allowed, at_the_ends, exact, at_rest };
        let n_steps = self.snapshot.step;
        let looked = self.situations.as_ref().map(|situations| situations.look(&at, n_steps));
        let looked = looked.transpose().map_err(EngineError::from)?;
        let seen = looked.as_ref().map(|looked| looked.seen);
        let differs = looked.as_ref().and_then(|looked| looked.differs.clone());
        if let (Some(looked), true) = (&looked, exact) {
            self.record.derive(looked, self.added_loss);
        }
        let whole = seen.is_some_and(|seen| exact || seen.n_as_they_were == seen.n_situations);
        if differs.is_some() || whole && autodiff_checks.is_none() {
            return Ok(GradientCheck { steps: Vec::new(), every: false, seen, differs });
        }
        let end = gradient::End { snapshot: &self.snapshot, record: &self.record };
        let found = gradient::recheck(self.task, &end, &self.kept, autodiff_checks, check)?;
        Ok(GradientCheck { seen, ..found })
    }
}

/// Steps a machine has made, if it has stopped.
fn stopped_after(simulator: &Simulator<'_>) -> Option<Step> {
    simulator.stopped().map(|_| simulator.steps())
}

impl<'a> RunSetup<'a> {
    /// What training is compared with: the machine's changes, or its configurations beside the dense engine.
    fn reference(&self, dense: bool) -> Reference<'a> {
        let Self { machine, input, window, .. } = *self;
        let extra = self.expected.extra_steps;
        match self.control.filter(|_| !dense) {
            Some(control) => Reference::Changes(
                StepChecker::new(machine, input, control, window.first.clone()).after(extra),
            ),
            None => {
                let noting = |lockstep: Lockstep<'a>| match self.control {
                    Some(control) => lockstep.noting_vertices(control, extra),
                    None => lockstep,
                };
                Reference::Configurations(
                    Lockstep::new(machine, input, window.clone()).map(noting),
                    self.decoder,
                )
            }
        }
    }

    /// Trains, from the start or from a snapshot and what was seen until then, holding iterates to the simulator.
    pub(crate) fn follow(
        self,
        from: Option<(&Snapshot, RunStats)>,
        watch: impl FnMut(RunProgress<'_>) -> ControlFlow<()>,
    ) -> Result<FinishedRun<'a>, EngineError> {
        let task = self.task;
        let cache_level = cache_level(self.comparisons, self.attention);
        let moment = from.as_ref().map(|(snapshot, record)| (*snapshot, record.loss));
        let (mut engine, chosen) = task.open(cache_level, moment)?;
        let dense = chosen.engine == EngineChoice::Dense;
        let beside = self.reference(dense);
        let comparisons = if dense { Comparisons::Every } else { self.comparisons };
        let claimed = from.clone();
        let record = from.map_or_else(RunStats::default, |(_, record)| record);
        let (changes, losses, told) = (Vec::new(), Vec::new(), Told::default());
        let two_cores = two_cores::are_there() && !faults::planted("a judge without a core");
        let attention = self.attention;
        let kept = kept::room_for(&*engine);
        let expected = self.expected;
        let (machine_steps, last_loss) = (None, None);
        // The hidden tapes hold the labels from step 1 on.
        let all_due = expected.extra_steps.max(1);
        let choice = chosen.engine;
        let mut monitor = Monitor {
            beside,
            choice,
            expected,
            record,
            machine_steps,
            last_loss,
            all_due,
            attention,
            changes,
            told,
            two_cores,
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
        let path = monitor.path(engine.steps()).unwrap_or(snapshot.path);
        let Monitor { beside, record, kept, expected, .. } = monitor;
        let (simulator, vertex, situations) = match beside {
            Reference::Configurations(lockstep, _) => (lockstep.map(Lockstep::into_simulator), None, None),
            Reference::Changes(judge) => {
                let vertex = judge.vertex();
                let (simulator, situations) = judge.into_situations();
                (Some(simulator), Some(vertex), situations)
            }
        };
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
            vertex,
            added_loss: expected.levels.added,
            situations,
            task,
            kept,
        })
    }
}
