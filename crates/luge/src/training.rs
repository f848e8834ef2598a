//! Training: joins a learner, a primary network and data into an extended network, and trains it by gradient descent.
//!
//! The code follows the paper's outline: data, bits, machine, window, extended network, training, certificate.

mod certificate;
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
use luge_machine::{Cell, Simulator, TapeId};
use luge_net::{
    NodeId, Op, SparseValues, Unrecognised, Values, check_inputs, evaluate, evaluate_rows,
    numbers::from_signs,
};
use luge_sled::OverflowSite;
use luge_train::{Difference, Outcome, Precision, ROUNDING, Snapshot, SpotCheck, StopRule};

pub use crate::certificate::{Certificate, Claim};
use crate::{
    certificate::{gradient, paper_bounds::SizeClaim},
    data::Table,
    files::predictor::Predictor,
    job::{JobError, STATEMENTS_PER_STEP, program::SizedSource, source::Source},
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

/// The input that takes the labels: x is the first, y the second.
const TARGETS: usize = 1;

/// The most statements that the interpreter runs beside training, which an interrupted run waits for: a second's work.
const MOST_REHEARSED: u64 = 1 << 23;

/// The most cells of a tape of the network.
pub const MAX_CELLS: usize = 1 << 28;

/// A training job with its network built, ready to be trained.
pub struct PreparedTraining {
    parts: TrainingParts,
    /// The network before training.
    built: Built,
    /// The same network with more cells, once a run has needed them.
    widened: OnceLock<Built>,
    /// The simulator's whole run, once it was made.
    simulated: OnceLock<Simulated>,
    /// What z must be once the labels are read: y - r.
    copied_labels: Vec<f64>,
    /// What the carrier adds to the landscape's loss.
    added_loss: f64,
    /// The program that the learner was compiled from, and its constants.
    program: Option<(Source, Vec<String>)>,
    interpreted: OnceLock<Option<luge_sled::Outcome>>,
    /// What the interpreter came to before the machine, if it came to an end.
    rehearsed: OnceLock<luge_sled::Outcome>,
}

impl PreparedTraining {
    /// Lays out the data and builds the network with the cells that the sizes require. Its tapes grow during training.
    ///
    /// # Errors
    /// Everything that can be wrong with the request. The simulator runs the machine first, to find how many cells it needs, only where tapes
    /// cannot grow: on `internal`, and where the dense engine trains.
    pub fn prepare(
        learner: Learner,
        primary: Arc<dyn Primary>,
        table: Table,
        options: TrainingOptions,
    ) -> Result<Self, JobError> {
        Self::prepare_beside(learner, primary, table, options, |_| Ok(None))
    }

    /// The same, while the interpreter runs the learner's program on the data, if there is one; `rehearse` returns the outcome if it ends
    /// soon, or why there is nothing to be trained.
    pub(crate) fn prepare_beside(
        learner: Learner,
        primary: Arc<dyn Primary>,
        table: Table,
        options: TrainingOptions,
        rehearse: impl FnOnce(&Table) -> Result<Option<luge_sled::Outcome>, JobError> + Send,
    ) -> Result<Self, JobError> {
        if learner.machine().takes_samples() {
            return Err(luge_landscape::ExtendedError::TakesSamples.into());
        }
        if options.bits == BitConversion::Network && options.precision != Precision::F64 {
            return Err(JobError::BitsNeedF64(options.precision));
        }
        let parts = TrainingParts::new(learner, primary, table, options)?;
        let (rehearsed, built) = beside(|| rehearse(&parts.table), || parts.first_network());
        let rehearsed = rehearsed?;
        let (built, simulated) = parts.network_that_holds_the_run(built?)?;
        let labels = &parts.table.labels;
        Ok(Self {
            copied_labels: labels.data.iter().map(|y| y - built.extended.label_offset()).collect(),
            added_loss: built.extended.carrier().added_loss(labels),
            parts,
            built,
            widened: OnceLock::new(),
            simulated: simulated.map_or_else(OnceLock::new, OnceLock::from),
            program: None,
            interpreted: OnceLock::new(),
            rehearsed: rehearsed.map_or_else(OnceLock::new, OnceLock::from),
        })
    }

    /// With the program that the learner was compiled from and its constants, for the certificate.
    #[must_use]
    pub(crate) fn of_program(self, source: Source, set: Vec<String>) -> Self {
        Self { program: Some((source, set)), ..self }
    }

    /// The outcome of the learner's program by the interpreter, once the machine has ended; the outer `None` if there is no program.
    fn interpreted(&self) -> Option<Option<&luge_sled::Outcome>> {
        let simulated = self.program.as_ref().and(self.simulated.get())?;
        // Where the machine halts the program ends.
        let limit = simulated.machine_steps.saturating_mul(STATEMENTS_PER_STEP);
        let rehearsed = self.rehearsed.get().filter(|rehearsed| rehearsed.statements <= limit);
        let outcome = || rehearsed.cloned().or_else(|| self.interpret(limit));
        Some(self.interpreted.get_or_init(outcome).as_ref())
    }

    fn interpret(&self, limit: u64) -> Option<luge_sled::Outcome> {
        let (source, set) = self.program.as_ref()?;
        let (format, table) = (self.layout().format, self.table());
        SizedSource { source, set, format, sizes: table.sizes() }.interpret(table, limit).ok()
    }

    /// Runs the interpreter before it is known when the machine halts.
    fn rehearse(&self) {
        let ended = |outcome: &luge_sled::Outcome| outcome.verdict != luge_sled::Verdict::Limit;
        if self.rehearsed.get().is_none()
            && let Some(outcome) = self.interpret(MOST_REHEARSED).filter(ended)
        {
            self.rehearsed.get_or_init(|| outcome);
        }
    }

    /// Where numbers of the learner's program wrap around on these data, once the machine has ended.
    pub fn wraps(&self) -> &[OverflowSite] {
        self.interpreted().flatten().map_or(&[], |outcome| &outcome.wraps)
    }

    /// The simulator's run. Before training, this runs the machine and widens the network to the cells that the run needs, for callers that
    /// export the network or need the result before training.
    ///
    /// # Errors
    /// If the machine finds no answer, or needs more cells than are allowed.
    pub fn simulated(&self) -> Result<&Simulated, JobError> {
        self.simulated_while(&mut || true)
    }

    /// The same, as long as `go_on` returns true; it is called every few million steps.
    ///
    /// # Errors
    /// As for [`simulated`](Self::simulated); a simulation that is interrupted has not halted.
    pub fn simulated_while(&self, go_on: &mut dyn FnMut() -> bool) -> Result<&Simulated, JobError> {
        if let Some(simulated) = self.simulated.get() {
            return Ok(simulated);
        }
        let finished = self.parts.simulate(go_on)?;
        self.widen(&finished)?;
        Ok(self.simulated.get_or_init(|| self.parts.read(&finished)))
    }

    /// Builds the network with more cells if the run needed them. The layers that engines read must not depend on the number of cells: then
    /// the run is also a run of this network.
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

    /// The network: before training with the cells that the sizes require, afterwards with those that the run needed.
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

    /// Where the numbers lie on the tape.
    pub fn layout(&self) -> &DataLayout {
        &self.parts.layout
    }

    /// Which cells the network holds.
    pub fn window(&self) -> &Window {
        &self.current_network().window
    }

    /// The bounds of the whole network's loss: the landscape's levels, and what the carrier adds while the machine runs.
    pub fn loss_levels(&self) -> Bounds {
        let bounds = self.extended().bounds();
        Bounds {
            running_low: bounds.running_low + self.added_loss,
            running_high: bounds.running_high + self.added_loss,
            halted_high: bounds.halted_high + self.added_loss,
            ..bounds
        }
    }

    /// The bounds that every loss of a run must keep.
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

    /// The network's layers and widths without the primary network, next to the claims of the paper's corollary.
    pub fn size_claim(&self) -> SizeClaim {
        let normal = &self.learner().lowered().normal;
        let n_labels = self.table().labels.data.len();
        SizeClaim::of_extended(self.extended(), normal, self.window().n_cells, n_labels)
    }

    /// The network's inputs: x and y.
    pub fn inputs(&self) -> Vec<Values> {
        vec![self.table().features.clone(), self.table().labels.clone()]
    }

    /// The weights of the primary network before training, when the tape is blank.
    pub fn blank_theta(&self) -> Vec<f64> {
        let n_bits = self.primary().n_weights() * self.layout().width();
        from_signs(self.layout().format, &vec![-1.0; n_bits])
    }

    /// The network, its initial weights, and when training stops.
    pub fn task(&self) -> Task<'_> {
        let stop = StopRule {
            loss_at_most: self.extended().stop(),
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

    /// Trains, compares every iterate with the simulator, and certifies the result. The watcher may stop the run.
    ///
    /// # Errors
    /// If the engine cannot be opened or cannot compute a gradient.
    pub fn train(
        &self,
        watch: impl FnMut(RunProgress<'_>) -> ControlFlow<()>,
    ) -> Result<TrainingReport, JobError> {
        self.follow(None, ObservationRate::Steps, watch)
    }

    /// As [`train`](Self::train), from the start or from a snapshot and the statistics until then; at a lower rate the watcher sees
    /// fewer steps. Every iterate is still compared, many times faster.
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
        let (_, followed) = beside(|| self.rehearse(), || setup.follow(from, watch));
        let mut followed = followed?;
        self.end(followed.outcome, &followed.simulator)?;
        let network_now = self.current_network();
        let firsts = before.window.first.iter().zip(&network_now.window.first);
        let shift: Vec<Cell> = firsts.map(|(before, now)| before - now).collect();
        let network = network_now.extended.network();
        let at_the_ends = network_now.window.is_touched(&followed.simulator);
        let whole = (network, &self.copied_labels[..], at_the_ends);
        let looks = followed.was_looked_at();
        let parameters = end_weights(self, &followed, &shift);
        let simulated = certificate::simulated(self, &followed);
        // The trained network is evaluated while situations are differentiated.
        let evaluated = || {
            self.interpreted();
            End::of(self, parameters, simulated, looks)
        };
        let (end, (gradient, first_step)) = beside(evaluated, || {
            let gradient = followed.recheck(self.options().autodiff_checks, whole, |spots| {
                Ok::<_, JobError>(gradient::check(SpotCheck::new(network, &task.inputs, &shift)?, spots)?)
            });
            let first_step = || self.first_step_differs(&network_now.extended, &task.inputs);
            (gradient, looks.then(first_step).transpose())
        });
        let mut gradient = gradient?;
        if gradient.seen.is_some() && gradient.differs.is_none() {
            gradient.differs = first_step?.flatten();
        }
        if self.options().landscape == LandscapeKind::Internal && self.options().engine == EngineChoice::Auto
        {
            "landscape internal has no sparse layers".clone_into(&mut followed.chosen.why);
        }
        Ok(TrainingReport::conclude(self, followed, &gradient, end))
    }

    /// How the first step, which copies the labels and moves nothing else, differs from the network's gradient step.
    fn first_step_differs(&self, extended: &Extended, inputs: &[Values]) -> Result<Option<String>, JobError> {
        let mut after = extended.initial().to_vec();
        let labels = &mut after[extended.labels().index()];
        *labels = Values::new(labels.shape, self.copied_labels.clone()).into();
        let mut check = SpotCheck::new(extended.network(), inputs, &[])?;
        let agreement = check.check_weights(extended.initial(), &after, ROUNDING)?;
        Ok(agreement.differs.map(|weight| {
            let Difference { parameter, index, dense, found } = weight;
            format!("the first step moves {parameter}[{index}] to {dense}, not to {found}")
        }))
    }

    /// Whether the labels reach only the residual of the loss, and the features only hidden tapes and the primary network.
    fn inputs_are_confined(&self) -> Result<(), Unrecognised> {
        let (extended, network) = (self.extended(), self.extended().network());
        let nodes = extended.nodes();
        let through: Vec<NodeId> = match (network.sparse_layers(), extended.kind()) {
            (Ok(layers), _) => {
                layers.fixed_cells.into_iter().chain(layers.output.map(|output| output.primary)).collect()
            }
            // On `internal` the bits of x choose the start, so features may go anywhere.
            (Err(_), LandscapeKind::Internal) => {
                let is_x =
                    |of: &NodeId| matches!(network.node(*of).op, Op::Input(id) if id.index() != TARGETS);
                let sees_x = network.numbered_nodes().filter(|(_, node)| node.op.operands().iter().any(is_x));
                sees_x.map(|(id, _)| id).collect()
            }
            (Err(_), _) => nodes.read_only.into_iter().chain([nodes.primary]).collect(),
        };
        check_inputs(network, TARGETS, &through)
    }

    /// Whether z is 0 before training, and whether every writable cell is blank.
    fn starts_blank(&self) -> (bool, bool) {
        let extended = self.extended();
        let initial = extended.initial();
        let is = |block: &SparseValues, value: f64| {
            block.others().is_empty() && block.common().total_cmp(&value).is_eq()
        };
        let cells = extended.network().sparse_layers().ok().and_then(|layers| layers.cells);
        (is(&initial[extended.labels().index()], 0.0), cells.is_some_and(|id| is(&initial[id.index()], -1.0)))
    }

    /// Whether the hidden tapes, evaluated on the graph once the labels are copied, hold the machine's input.
    fn hidden_tapes_are_the_machines(&self) -> bool {
        let (extended, window, simulator) = (self.extended(), self.window(), self.simulator());
        let Ok(layers) = extended.network().sparse_layers() else { return false };
        let Some(node) = layers.fixed_cells else { return true };
        let mut weights = extended.initial().to_vec();
        let labels = &mut weights[extended.labels().index()];
        *labels = Values::new(labels.shape, self.copied_labels.clone()).into();
        let table = &layers.table;
        let mut tape_of = vec![TapeId::new(0); table.n_tracks()];
        table.rows().iter().enumerate().for_each(|(track, &row)| tape_of[row] = TapeId::new(track));
        let mut alike = true;
        evaluate_rows(extended.network(), &weights, &self.inputs(), node, |row, first, numbers| {
            let tape = tape_of[table.n_trained() + row];
            let (start, tape) = (window.first[tape.index()] + first as Cell, simulator.tape(tape));
            let is = |number: &f64, symbol: u8| {
                number.to_bits() == if symbol == 1 { 1.0_f64 } else { -1.0 }.to_bits()
            };
            let (end, held) = (start + numbers.len() as Cell, tape.extent());
            let (from, to) = (held.start.clamp(start, end), held.end.clamp(start, end));
            let (before, rest) = numbers.split_at((from - start) as usize);
            let (inside, after) = rest.split_at((to - from) as usize);
            let blank = tape.read(held.end).0;
            // Without a branch for each cell, so that it can be vectorised.
            alike &= inside
                .iter()
                .zip(tape.held_from(from))
                .fold(true, |alike, (it, &symbol)| alike & is(it, symbol));
            alike &= before.iter().chain(after).fold(true, |alike, it| alike & is(it, blank));
        });
        alike
    }

    /// Whether there is memory for the cells that a run needs.
    fn may_grow(&self, simulator: &Simulator<'_>) -> Result<(), JobError> {
        let n_cells = self.parts.window(simulator)?.n_cells;
        if n_cells > self.window().n_cells { self.parts.check_budget(n_cells) } else { Ok(()) }
    }

    /// Records the machine's end, and refuses a run without an answer.
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
        let Some(node) = self.extended().nodes().read_only else { return true };
        let here = evaluate(self.extended().network(), parameters, &self.inputs());
        Some(here.value(node)) == self.extended().read_only(expected).as_ref()
    }
}
