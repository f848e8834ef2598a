//! Follows a run: training, the simulator that checks it, and the statistics. Lessons and traces use this one loop; streams have their own.
//!
//! Anybody can write a checkpoint, so the run before it is made and compared once more; vertices, weights, losses, labels and drift must
//! agree with the checkpoint.

mod judging;
mod kept;
mod monitor;
mod observation_rate;

use std::{ops::ControlFlow, time::Duration};

use luge_landscape::{Configuration, Control, Undecodable};
use luge_machine::{Input, Machine, Simulator, Step};
use luge_net::{Network, Values};
use luge_train::{Engine, Outcome, ROUNDING, Snapshot, StopRule};
use web_time::Instant;

use crate::{
    certificate::gradient::{self, GradientCheck},
    run::{
        decimated::Decimated,
        engine::{Chosen, EngineChoice, EngineError, Task},
        lockstep::Window,
        run_stats::{Drift, Levels, RunStats},
        situations::{LookAt, Situations},
    },
};
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

/// How far the tapes of a fast engine may grow; those of the dense engine cannot.
#[derive(Clone, Copy)]
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
#[derive(Clone, Copy)]
pub(crate) struct RunSetup<'a> {
    pub(crate) task: &'a Task<'a>,
    /// The machine in normal form.
    pub(crate) machine: &'a Machine,
    pub(crate) input: &'a Input,
    pub(crate) window: &'a Window,
    /// The network's vertices, unless they are configurations.
    pub(crate) control: Option<&'a Control>,
    pub(crate) decoder: &'a dyn Decoder,
    /// Where the loss must lie.
    pub(crate) levels: Levels,
    /// Gradient steps before the machine's first.
    pub(crate) extra_steps: u64,
    /// What z must be from step 1 on, if the network has labels.
    pub(crate) labels: Option<&'a [f64]>,
    /// How far tapes may grow.
    pub(crate) room: TapeLimit<'a>,
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
    /// Where the machine has come to.
    pub(crate) simulator: Simulator<'a>,
    /// How long training and comparing took.
    pub(crate) trained_in: Duration,
    /// Cells of the longest tape that the machine has come to need; `None` beside the dense engine.
    pub(crate) n_cells: Option<usize>,
    /// The digest of all vertices visited, as the side that judges knows it.
    pub(crate) path: u64,
    /// The vertex that stands for where the machine has come to.
    vertex: Option<usize>,
    situations: Option<Situations>,
    setup: RunSetup<'a>,
    kept: Decimated<Snapshot>,
}

impl FinishedRun<'_> {
    /// Steps the machine has made, if it has stopped.
    pub(crate) fn machine_steps(&self) -> Option<Step> {
        stopped_after(&self.simulator)
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
        let inputs = &self.setup.task.inputs;
        let halted = self.record.halted.filter(|_| labels.is_empty());
        let at_rest = self.vertex.zip(halted);
        let at = LookAt { network, inputs, labels, allowed, at_the_ends, exact, at_rest };
        let n_steps = self.snapshot.step;
        let looked = self.situations.as_ref().map(|situations| situations.look(&at, n_steps));
        let looked = looked.transpose().map_err(EngineError::from)?;
        let seen = looked.as_ref().map(|looked| looked.seen);
        let differs = looked.as_ref().and_then(|looked| looked.differs.clone());
        if let (Some(looked), true) = (&looked, exact) {
            self.record.derive(looked, self.setup.levels.added);
        }
        let whole = seen.is_some_and(|seen| exact || seen.n_as_they_were == seen.n_situations);
        if differs.is_some() || whole && autodiff_checks.is_none() {
            return Ok(GradientCheck { seen, differs, ..GradientCheck::default() });
        }
        let end = (&self.snapshot, &self.record);
        let found = gradient::recheck(self.setup.task, end, &self.kept, autodiff_checks, check)?;
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
        mut self,
        from: Option<(&Snapshot, RunStats)>,
        watch: impl FnMut(RunProgress<'_>) -> ControlFlow<()>,
    ) -> Result<FinishedRun<'a>, EngineError> {
        let task = self.task;
        let moment = from.as_ref().map(|(snapshot, record)| (*snapshot, record.loss));
        let (mut engine, chosen) = task.open(cache_level(self.comparisons, self.attention), moment)?;
        if chosen.engine == EngineChoice::Dense {
            self.comparisons = Comparisons::Every;
        }
        let record = from.as_ref().map_or_else(RunStats::default, |(_, record)| record.clone());
        let mut monitor = Monitor::new(self, &*engine, chosen.engine, record);
        let started = Instant::now();
        let outcome = monitor.follow(&mut *engine, &task.stop, watch)?;
        let trained_in = started.elapsed();
        // What is broken off is resumed again, and looked at then; what has failed by its own account stays so.
        let ended = !matches!(outcome, Outcome::Interrupted { .. });
        if let Some((moment, claimed)) = from.filter(|(_, claimed)| ended && claimed.mismatches == 0)
            && let Some(what) = self.contradiction(moment, &claimed)?
        {
            monitor.record.differs(moment.step, &format!("the checkpoint is wrong about {what}"));
        }
        let (snapshot, n_cells) = (engine.snapshot(), monitor.n_cells());
        let path = monitor.path(engine.steps()).unwrap_or(snapshot.path);
        let Monitor { beside, record, kept, .. } = monitor;
        let (simulator, vertex, situations) = match beside {
            Reference::Configurations(simulator, _) => (simulator, None, None),
            Reference::Changes(judge) => {
                let vertex = judge.vertex();
                let (simulator, situations) = judge.into_situations();
                (simulator, Some(vertex), situations)
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
            situations,
            setup: self,
            kept,
        })
    }

    /// Makes the run before a checkpoint once more: what the checkpoint is wrong about; `None` if the run passes through it and has
    /// seen the same.
    fn contradiction(
        mut self,
        snapshot: &Snapshot,
        claimed: &RunStats,
    ) -> Result<Option<&'static str>, EngineError> {
        self.attention = ObservationRate::Moments;
        let (mut engine, chosen) = self.task.open(cache_level(self.comparisons, self.attention), None)?;
        let mut monitor = Monitor::new(self, &*engine, chosen.engine, RunStats::default());
        let stop = StopRule { loss_at_most: f64::NEG_INFINITY, not_before: 0, most_steps: snapshot.step };
        monitor.follow(&mut *engine, &stop, |_| ControlFlow::Continue(()))?;
        let seen = monitor.record;
        let bits = |drift: Option<Drift>| drift.map(|Drift { tape, head }| [tape, head].map(f64::to_bits));
        Ok(match () {
            () if seen.mismatches > 0 || engine.snapshot().trimmed() != snapshot.trimmed() => {
                Some("the vertices visited or the weights they led to")
            }
            () if seen.n_compared != claimed.n_compared => Some("the iterates compared"),
            () if !seen.same_losses(claimed) => Some("the losses before it"),
            () if seen.labels_copied != claimed.labels_copied => Some("the labels"),
            () if bits(seen.drift) != bits(claimed.drift) => Some("the drift of the weights"),
            () => None,
        })
    }
}
