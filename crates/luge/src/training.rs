//! Training: joins a learner, a primary network and data into an extended network, and trains it by gradient descent.
//!
//! The code follows the paper's outline: data, bits, machine, window, extended network, training, certificate.

mod certificate;
mod checks;
mod loss_figures;
mod options;
mod parts;
mod report;
mod variables;

use std::{
    ops::ControlFlow,
    sync::{Arc, OnceLock},
};

use luge_landscape::{
    BitConversion, Bounds, Configuration, DataLayout, Extended, LandscapeKind, Learner, Primary, Undecodable,
};
use luge_machine::{Cell, Simulator};
use luge_net::{Values, evaluate, numbers::from_signs};
use luge_sled::{OverflowSite, Verdict};
use luge_train::{Outcome, Precision, Snapshot, SpotCheck, StopRule};

pub use crate::certificate::{Certificate, Claim};
use crate::{
    certificate::{gradient, paper_bounds::SizeClaim},
    data::Table,
    files::predictor::Predictor,
    job::{JobError, STATEMENTS_PER_STEP, program::SizedSource},
    run::{
        engine::{EngineChoice, Task},
        follow::{Comparisons, Decoder, ObservationRate, RunProgress, RunSetup, TapeLimit},
        lockstep::Window,
        run_stats::{Levels, RunStats},
        two_cores::beside,
    },
};
pub use options::{MAX_MACHINE_STEPS, TrainingOptions};
pub use parts::Simulated;
pub(crate) use parts::read_theta;
use parts::{Built, TrainingParts};
pub use report::TrainingReport;
use report::{End, end_weights};
pub use variables::VariableWeights;

/// Rounding through the square root and the carrier, relative to the loss.
const LOSS_TOLERANCE: f64 = 1e-9;

/// Statements that the interpreter runs before training, to find programs that never end because their state repeats.
const FIRST_STATEMENTS: u64 = 1 << 20;

/// The most statements that the interpreter runs during training: about a second, because an interrupted run waits for it.
const MAX_REHEARSED: u64 = 1 << 23;

/// The most cells of a tape of the network.
pub const MAX_CELLS: usize = 1 << 28;

/// A training job with its network built, ready to be trained.
pub struct PreparedTraining {
    parts: TrainingParts,
    /// The network before training.
    built: Built,
    /// The same network with more cells, once a run has needed them.
    widened: OnceLock<Built>,
    /// The simulator's whole run, once it has been simulated.
    simulated: OnceLock<Simulated>,
    /// What z must be after the first step: y - r.
    copied_labels: Vec<f64>,
    /// The constant that the carrier adds to the landscape's loss.
    added_loss: f64,
    /// The program that the learner was compiled from.
    program: Option<SizedSource>,
    interpreted: OnceLock<Option<luge_sled::Outcome>>,
    /// The interpreter's outcome, if the program has ended in an interpretation with a low limit.
    rehearsed: OnceLock<luge_sled::Outcome>,
}

impl PreparedTraining {
    /// Puts the data on tapes and builds the network with the cells that the sizes require. Its tapes grow during
    /// training. Where tapes cannot grow, on `internal` and with the dense engine, the simulator first runs the machine to
    /// find how many cells it needs.
    ///
    /// # Errors
    /// Everything that can be wrong with the request.
    pub fn prepare(
        learner: Learner,
        primary: Arc<dyn Primary>,
        table: Table,
        options: TrainingOptions,
    ) -> Result<Self, JobError> {
        Self::prepare_program(learner, primary, table, options, None)
    }

    /// The same for a learner that was compiled from a program, which the interpreter runs at the same time for a while. A
    /// program whose state repeats never ends, so it is an error.
    pub(crate) fn prepare_program(
        learner: Learner,
        primary: Arc<dyn Primary>,
        table: Table,
        options: TrainingOptions,
        program: Option<SizedSource>,
    ) -> Result<Self, JobError> {
        if learner.machine().takes_samples() {
            return Err(luge_landscape::ExtendedError::TakesSamples.into());
        }
        if options.bits == BitConversion::Network && options.precision != Precision::F64 {
            return Err(JobError::BitsNeedF64(options.precision));
        }
        let parts = TrainingParts::new(learner, primary, table, options)?;
        let rehearse = || {
            let Some(program) = &program else { return Ok(None) };
            let ran = program.interpret(&parts.table, FIRST_STATEMENTS)?;
            match ran.verdict {
                Verdict::Repeats => Err(JobError::repeats(&program.source, ran.line.unwrap_or(1))),
                Verdict::Limit => Ok(None),
                _ => Ok(Some(ran)),
            }
        };
        let (rehearsed, built) = beside(rehearse, || parts.first_network());
        let rehearsed = rehearsed?;
        let (built, simulated) = parts.network_that_holds_the_run(built?)?;
        let labels = &parts.table.labels;
        Ok(Self {
            copied_labels: labels.data.iter().map(|y| y - built.extended.label_offset).collect(),
            added_loss: built.extended.carrier.added_loss(labels),
            parts,
            built,
            widened: OnceLock::new(),
            simulated: simulated.map_or_else(OnceLock::new, OnceLock::from),
            program,
            interpreted: OnceLock::new(),
            rehearsed: rehearsed.map_or_else(OnceLock::new, OnceLock::from),
        })
    }

    /// The interpreter's outcome of the learner's program, once the machine has ended; the outer `None` if there is no
    /// program, the inner if it cannot be run.
    fn interpreted(&self) -> Option<Option<&luge_sled::Outcome>> {
        let simulated = self.program.as_ref().and(self.simulated.get())?;
        // A program whose machine halts ends within this many statements.
        let limit = simulated.machine_steps.saturating_mul(STATEMENTS_PER_STEP);
        let rehearsed = self.rehearsed.get().filter(|rehearsed| rehearsed.statements <= limit);
        let outcome = || rehearsed.cloned().or_else(|| self.interpret(limit));
        Some(self.interpreted.get_or_init(outcome).as_ref())
    }

    fn interpret(&self, limit: u64) -> Option<luge_sled::Outcome> {
        self.program.as_ref()?.interpret(self.table(), limit).ok()
    }

    /// Runs the interpreter before it is known when the machine halts.
    fn rehearse(&self) {
        if self.rehearsed.get().is_none()
            && let Some(outcome) =
                self.interpret(MAX_REHEARSED).filter(|outcome| outcome.verdict != Verdict::Limit)
        {
            self.rehearsed.get_or_init(|| outcome);
        }
    }

    /// Returns where numbers of the learner's program wrap around on these data, once the machine has ended.
    pub fn wraps(&self) -> &[OverflowSite] {
        self.interpreted().flatten().map_or(&[], |outcome| &outcome.wraps)
    }

    /// Returns the simulator's run. Before training, this simulates the machine and builds the network with the cells that
    /// the run needs, for callers that export the network or need the result first.
    ///
    /// # Errors
    /// If the machine finds no answer, or needs more cells than are allowed.
    pub fn simulated(&self) -> Result<&Simulated, JobError> {
        self.simulated_while(&mut || true)
    }

    /// The same, while `go_on` returns true; it is called every few million steps.
    ///
    /// # Errors
    /// As for [`simulated`](Self::simulated); an interrupted simulation counts as one that does not halt.
    pub fn simulated_while(&self, go_on: &mut dyn FnMut() -> bool) -> Result<&Simulated, JobError> {
        if let Some(simulated) = self.simulated.get() {
            return Ok(simulated);
        }
        let finished = self.parts.simulate(go_on)?;
        self.widen(&finished)?;
        Ok(self.simulated.get_or_init(|| self.parts.read(&finished)))
    }

    /// Builds the network with more cells if the run needed them. The layers that engines read must be the same, so that the
    /// run is also a run of the wider network.
    fn widen(&self, simulator: &Simulator<'_>) -> Result<(), JobError> {
        let window = self.parts.window(simulator)?;
        if window.n_cells <= self.window().n_cells {
            return Ok(());
        }
        let wide = self.parts.build(window)?;
        let layers = |built: &Built| built.extended.network().sparse_layers().ok().cloned();
        if layers(&wide) != layers(&self.built) {
            return Err(JobError::OtherLayers(wide.window.n_cells));
        }
        self.widened.get_or_init(|| wide);
        Ok(())
    }

    fn current_network(&self) -> &Built {
        self.widened.get().unwrap_or(&self.built)
    }

    /// The network: before training with the cells that the sizes require, afterwards with the cells that the run needed.
    pub fn extended(&self) -> &Extended {
        &self.current_network().extended
    }

    /// The learner.
    pub fn learner(&self) -> &Learner {
        &self.parts.learner
    }

    /// The data.
    pub fn table(&self) -> &Table {
        &self.parts.table
    }

    /// The primary network.
    pub fn primary(&self) -> &dyn Primary {
        &*self.parts.primary
    }

    /// How to train.
    pub fn options(&self) -> &TrainingOptions {
        &self.parts.options
    }

    /// The machine at the start of its run.
    pub fn simulator(&self) -> Simulator<'_> {
        self.parts.simulator()
    }

    /// The layout of the numbers on the tape.
    pub fn layout(&self) -> &DataLayout {
        &self.parts.layout
    }

    /// The cells of the network.
    pub fn window(&self) -> &Window {
        &self.current_network().window
    }

    /// The bounds of the whole network's loss: the landscape's bounds, plus what the carrier adds while the machine runs.
    pub fn loss_levels(&self) -> Bounds {
        let bounds = self.extended().bounds();
        Bounds {
            running_low: bounds.running_low + self.added_loss,
            running_high: bounds.running_high + self.added_loss,
            halted_high: bounds.halted_high + self.added_loss,
            ..bounds
        }
    }

    /// The bounds that the losses of a run are compared with.
    fn levels(&self) -> Levels {
        let bounds = self.extended().bounds();
        Levels {
            bounds,
            added: self.added_loss,
            halted_high: bounds.stop,
            tolerance: LOSS_TOLERANCE,
            from: Extended::FIRST_STOP,
        }
    }

    /// Compares the network's layers and widths, without the primary network, with the claims of the paper's corollary.
    pub fn size_claim(&self) -> SizeClaim {
        let normal = &self.learner().lowered().normal;
        let n_labels = self.table().labels.data.len();
        SizeClaim::of_extended(self.extended(), normal, self.window().n_cells, n_labels)
    }

    /// The network's inputs: x and y.
    pub fn inputs(&self) -> Vec<Values> {
        vec![self.table().features.clone(), self.table().labels.clone()]
    }

    /// The weights of the primary network before training, while the tape is blank.
    pub fn blank_theta(&self) -> Vec<f64> {
        let n_bits = self.primary().n_weights() * self.layout().width();
        from_signs(self.layout().format, &vec![-1.0; n_bits])
    }

    /// The network, its initial weights, and when training stops.
    pub fn task(&self) -> Task<'_> {
        let stop = StopRule {
            loss_at_most: self.extended().bounds().stop,
            not_before: Extended::FIRST_STOP,
            most_steps: self.options().steps.saturating_add(self.extended().extra_steps()),
        };
        Task {
            network: self.extended().network(),
            parameters: self.extended().initial().to_vec(),
            inputs: self.inputs(),
            stop,
            manner: self.options().manner(),
        }
    }

    /// Trains, compares every iterate with the simulator, and certifies the result. `watch` sees every step and may stop the
    /// run.
    ///
    /// # Errors
    /// If the engine cannot be opened or cannot compute a gradient.
    pub fn train(
        &self,
        watch: impl FnMut(RunProgress<'_>) -> ControlFlow<()>,
    ) -> Result<TrainingReport, JobError> {
        self.follow(None, ObservationRate::Steps, watch)
    }

    /// Like [`train`](Self::train), from the start, or from a snapshot and the statistics until then. At a lower rate `watch`
    /// sees fewer steps, and the run is many times faster; every iterate is still compared.
    ///
    /// # Errors
    /// As for [`train`](Self::train).
    pub fn follow(
        &self,
        from: Option<(&Snapshot, RunStats)>,
        rate: ObservationRate,
        watch: impl FnMut(RunProgress<'_>) -> ControlFlow<()>,
    ) -> Result<TrainingReport, JobError> {
        let task = self.task();
        let before = self.current_network();
        let allows = |simulator: &Simulator<'_>| self.may_grow(simulator).is_ok();
        let setup = RunSetup {
            task: &task,
            machine: self.parts.machine(),
            input: &self.parts.input,
            window: &before.window,
            control: before.extended.control(),
            decoder: self,
            levels: self.levels(),
            extra_steps: before.extended.extra_steps(),
            labels: Some(&self.copied_labels),
            room: TapeLimit::Allowed(&allows),
            comparisons: Comparisons::Every,
            attention: rate,
        };
        let (_, run) = beside(|| self.rehearse(), || setup.follow(from, watch));
        let mut run = run?;
        self.end(run.outcome, &run.simulator)?;
        let network_now = self.current_network();
        let firsts = before.window.first.iter().zip(&network_now.window.first);
        let shift: Vec<Cell> = firsts.map(|(before, now)| before - now).collect();
        let network = network_now.extended.network();
        let at_the_ends = network_now.window.is_touched(&run.simulator);
        let whole = (network, &self.copied_labels[..], at_the_ends);
        let looks = run.was_looked_at();
        let parameters = end_weights(self, &run, &shift);
        let simulated = certificate::simulated(self, &run);
        // Evaluate the trained network on one core and differentiate situations on the other.
        let evaluated = || {
            self.interpreted();
            End::of(self, parameters, simulated, looks)
        };
        let (end, (gradient, first_step)) = beside(evaluated, || {
            let gradient = run.recheck(self.options().autodiff_checks, whole, |checked| {
                Ok::<_, JobError>(gradient::check(SpotCheck::new(network, &task.inputs, &shift)?, checked)?)
            });
            let first_step = || self.first_step_differs();
            (gradient, looks.then(first_step).transpose())
        });
        let mut gradient = gradient?;
        if gradient.seen.is_some() && gradient.differs.is_none() {
            gradient.differs = first_step?.flatten();
        }
        if self.options().landscape == LandscapeKind::Internal && self.options().engine == EngineChoice::Auto
        {
            "landscape internal has no sparse layers".clone_into(&mut run.chosen.why);
        }
        Ok(TrainingReport::conclude(self, run, &gradient, end))
    }

    /// Whether there is memory for the cells that a run needs.
    fn may_grow(&self, simulator: &Simulator<'_>) -> Result<(), JobError> {
        let n_cells = self.parts.window(simulator)?.n_cells;
        if n_cells > self.window().n_cells { self.parts.check_budget(n_cells) } else { Ok(()) }
    }

    /// Records the machine's end; a run without an answer is an error.
    fn end(&self, outcome: Outcome, simulator: &Simulator<'_>) -> Result<(), JobError> {
        let stopped = simulator.stopped().is_some();
        match outcome {
            Outcome::OutOfCells { .. } => {
                self.parts.look_ahead().and_then(|ahead| self.may_grow(&ahead))?;
                self.may_grow(simulator)?;
            }
            Outcome::StepLimit { .. } => self.parts.accepted(simulator)?,
            _ if stopped => self.parts.accepted(simulator)?,
            _ => {}
        }
        if stopped {
            self.widen(simulator)?;
            self.simulated.get_or_init(|| self.parts.read(simulator));
        }
        Ok(())
    }

    fn predictor(&self, theta: &[f64]) -> Predictor<'_> {
        Predictor::new(self.primary(), theta.to_vec())
    }
}

impl Decoder for PreparedTraining {
    fn decode(&self, parameters: &[Values], expected: &Configuration) -> Result<Configuration, Undecodable> {
        self.extended().decode(parameters, self.extended().read_only(expected).as_ref())
    }

    /// Whether the hidden read-only tapes, on which the loss depends, hold the bits of z.
    fn tape_read(&self, parameters: &[Values], expected: &Configuration) -> bool {
        let Some(node) = self.extended().nodes.read_only else { return true };
        let here = evaluate(self.extended().network(), parameters, &self.inputs());
        Some(here.value(node)) == self.extended().read_only(expected).as_ref()
    }
}
