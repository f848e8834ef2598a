//! Tracing: builds the landscape of a machine and its input, and trains it in lockstep with the simulator.
//!
//! The code follows the paper's outline: machine, normal form, window, landscape, training, comparison.

mod options;

use std::ops::ControlFlow;

use luge_landscape::{BuildError, Configuration, InternalError, Landscape, LandscapeKind, Undecodable};
use luge_machine::{
    Input, Machine, Outcome, Simulator, StateId, Step,
    lowering::{Lowered, lower},
};
use luge_net::{Layers, Values};
use luge_train::{LossRange, Rate, Snapshot, SpotCheck, StopRule, TrainError};
use serde::Serialize;

use crate::{
    certificate::gradient::{self, GradientCheck},
    files::{checkpoint::snapshot_digest, json},
    job::JobError,
    run::{
        engine::{Chosen, EngineChoice, Task, TrainingConfig},
        follow::{Decoder, ObservationRate, RunProgress, RunSetup, TapeLimit},
        lockstep::Window,
        memory,
        run_stats::{FirstMismatch, Levels, RunStats},
    },
};
pub use options::TraceOptions;
pub(crate) use options::n_external_vertices;

/// The default step limit when the dense engine trains, which must know in advance whether the machine halts.
pub const LONGEST_SEARCH: Step = 10_000_000;

/// The default step limit of the fast engines.
pub const LONGEST_TRACE: Step = 100_000_000;

/// The most cells of all tapes together.
pub const MAX_CELLS: usize = 1 << 24;

/// The most input cells for which `internal` declares all contents.
pub(crate) const MAX_DECLARED_CELLS: usize = 12;

/// Cells added on each side of those that a run needs.
const MARGIN: usize = 2;

/// A training job with its network built, ready to be trained.
#[derive(Debug)]
pub struct PreparedTrace {
    /// How to trace.
    pub options: TraceOptions,
    /// The machine as given.
    pub machine: Machine,
    /// The machine in normal form.
    pub lowered: Lowered,
    /// Its input.
    pub input: Input,
    /// The cells of the network.
    pub window: Window,
    /// The landscape.
    pub landscape: Landscape,
    /// The configuration at the start.
    pub start: Configuration,
    /// Steps until the machine halts; known only if it halts within the limit and the dense engine trains.
    pub machine_steps: Option<Step>,
    /// The most gradient steps.
    pub most_steps: Step,
    /// Why the dense engine trains, if it does.
    dense: Option<Chosen>,
}

/// The result of a trace.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Trace {
    /// How training ended.
    #[serde(flatten, serialize_with = "json::outcome")]
    pub outcome: luge_train::Outcome,
    /// Steps the machine makes until it halts, if it does within the limit.
    pub machine_steps: Option<Step>,
    /// Iterates that differ from the machine's configuration.
    pub mismatches: u64,
    /// The first mismatch.
    pub first_mismatch: Option<FirstMismatch>,
    /// Iterates that were compared with the simulator.
    #[serde(rename = "compared")]
    pub n_compared: u64,
    /// The loss over the run.
    pub loss: LossRange,
    /// Whether the loss always kept the bounds of the construction.
    pub bounds_held: bool,
    /// Whether every step lowered the loss.
    #[serde(skip)]
    pub strictly_falling: bool,
    /// Units of the network.
    #[serde(rename = "units")]
    pub n_units: usize,
    /// Layers of the network.
    #[serde(rename = "layers")]
    pub n_layers: usize,
    /// Cells per tape of the network after the run.
    #[serde(rename = "cells")]
    pub n_cells: usize,
    /// The engine, and why it was chosen.
    #[serde(flatten)]
    pub chosen: Chosen,
    /// Steps recomputed by automatic differentiation.
    pub gradient: GradientCheck,
    /// The digest of the visited vertices.
    #[serde(serialize_with = "json::path")]
    pub path: u64,
    /// SHA-256 of the trained weights; `None` on `internal`.
    pub weights: Option<String>,
}

impl Trace {
    /// Whether training run the machine exactly: no mismatch, every step along the network's gradient, losses within
    /// their bounds, and the same end.
    pub fn matches_machine(&self) -> bool {
        self.bounds_held && self.decodes_to_machine()
    }

    /// The same without the bounds on losses, which noise can exceed even if every iterate is right.
    pub fn decodes_to_machine(&self) -> bool {
        self.mismatches == 0 && self.gradient.holds() && self.ended_alike()
    }

    /// Whether training ended where the machine does.
    pub fn ended_alike(&self) -> bool {
        use luge_train::Outcome::{Converged, OutOfCells, StepLimit};
        match self.machine_steps {
            Some(steps) => self.outcome == Converged { steps },
            None => matches!(self.outcome, StepLimit { .. } | OutOfCells { .. }),
        }
    }
}

impl PreparedTrace {
    /// Lowers the machine, runs it once to find how many cells it needs, and builds the landscape.
    ///
    /// # Errors
    /// Everything that can be wrong with the request.
    pub fn new(machine: &Machine, input: &Input, options: &TraceOptions) -> Result<Self, JobError> {
        // Only `internal` is piecewise linear, which a line search needs.
        if options.manner.rate == Rate::LineSearch && options.landscape != LandscapeKind::Internal {
            return Err(TrainError::NotPiecewiseLinear.into());
        }
        options.manner.check()?;
        let lowered = lower(machine, options.moves)?;
        let input = lowered.encode(input);
        if options.steps.is_none() && !halting_reachable(lowered.normal.machine()) {
            let start = lowered.normal.machine().state(lowered.normal.start()).name.clone();
            return Err(JobError::HaltingUnreachable(start));
        }
        let dense = options.chosen_dense(&lowered.normal)?;
        let mut simulator = Simulator::new(lowered.normal.machine(), &input);
        let limit = options.steps.unwrap_or(if dense.is_some() { LONGEST_SEARCH } else { LONGEST_TRACE });
        let mut machine_steps = None;
        if dense.is_some() {
            machine_steps = match memory::run(&mut simulator, limit)? {
                Outcome::StepLimit if options.steps.is_none() => {
                    return Err(JobError::DoesNotHalt(limit));
                }
                Outcome::StepLimit => None,
                Outcome::Halted { .. } | Outcome::NoRule { .. } => Some(simulator.steps()),
            };
        }
        let n_cells = |needed: usize| options.cells.unwrap_or(needed + 2 * MARGIN);
        let window = Window::around(&simulator, &input, n_cells)
            .map_err(|needed| JobError::TooFewCells { needed, given: options.cells.unwrap_or_default() })?;
        if window.n_cells.saturating_mul(lowered.normal.n_tapes()) > MAX_CELLS {
            return Err(JobError::TooManyCells { needed: window.n_cells, n_tapes: lowered.normal.n_tapes() });
        }
        if options.landscape == LandscapeKind::Internal && machine_steps.is_none() {
            return Err(BuildError::Internal(InternalError::NeverHalts(window.n_cells)).into());
        }
        options.ask_network(&lowered.normal, window.n_cells)?;
        let start = window
            .configuration(&Simulator::new(lowered.normal.machine(), &input))
            .ok_or(JobError::TooFewCells { needed: window.n_cells + 1, given: window.n_cells })?;
        let mut build = options.landscape_of(window.n_cells);
        if options.landscape == LandscapeKind::Internal {
            build.declared = declared(&start, &input, &window)?;
        }
        let landscape = Landscape::build(&lowered.normal, &build)?;
        Ok(Self {
            options: options.clone(),
            machine: machine.clone(),
            lowered,
            input,
            window,
            landscape,
            start,
            machine_steps,
            most_steps: machine_steps.unwrap_or(limit),
            dense,
        })
    }

    /// Whether the dense engine trains, which keeps no snapshots.
    pub fn dense(&self) -> bool {
        self.dense.is_some()
    }

    /// The machine's cell in the first column of each of the network's tapes.
    pub fn first_cells(&self) -> &[luge_machine::Cell] {
        &self.window.first
    }

    /// Returns the network, its initial weights, and the stop rule.
    ///
    /// # Errors
    /// If the start is not a configuration of the landscape.
    pub fn task(&self) -> Result<Task<'_>, JobError> {
        let encoded = self.landscape.encode_sparse(&self.start);
        let (parameters, inputs) = encoded.ok_or(BuildError::Internal(InternalError::NothingDeclared))?;
        let manner = match &self.dense {
            Some(_) => TrainingConfig { engine: EngineChoice::Dense, ..self.options.manner },
            None => self.options.manner,
        };
        let stop = StopRule {
            loss_at_most: self.landscape.bounds().stop,
            not_before: 0,
            most_steps: self.most_steps,
        };
        Ok(Task { network: self.landscape.network(), parameters, inputs, stop, manner })
    }

    /// Trains and compares iterates with the simulator. `watch` sees every step and may stop the run.
    ///
    /// # Errors
    /// If the engine cannot be opened or cannot compute a gradient.
    pub fn run(&self, watch: impl FnMut(RunProgress<'_>) -> ControlFlow<()>) -> Result<Trace, JobError> {
        self.follow(None, ObservationRate::Steps, watch)
    }

    /// Like [`run`](Self::run), from the start, or from a snapshot and the statistics until then. At a lower rate `watch` sees
    /// fewer steps, and the run is many times faster; as many iterates are still compared.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub fn follow(
        &self,
        from: Option<(&Snapshot, RunStats)>,
        rate: ObservationRate,
        watch: impl FnMut(RunProgress<'_>) -> ControlFlow<()>,
    ) -> Result<Trace, JobError> {
        let task = self.task()?;
        let bounds = self.landscape.bounds();
        let setup = RunSetup {
            task: &task,
            machine: self.lowered.normal.machine(),
            input: &self.input,
            window: &self.window,
            control: self.landscape.control(),
            decoder: &LandscapeDecoder { landscape: &self.landscape, inputs: &task.inputs },
            levels: Levels { bounds, added: 0.0, halted_high: bounds.halted_high, tolerance: 0.0, from: 0 },
            extra_steps: 0,
            labels: None,
            room: TapeLimit::Cells(self.options.cells.unwrap_or(MAX_CELLS)),
            comparisons: self.options.compare,
            attention: rate,
        };
        let mut run = setup.follow(from, watch)?;
        let gradient = run.recheck(self.options.autodiff_checks, (task.network, &[], true), |checked| {
            self.check(checked)
        })?;
        let machine_steps = run.machine_steps().or(self.machine_steps);
        let layers = Layers::of(task.network);
        let has_tapes = self.options.landscape != LandscapeKind::Internal;
        let RunStats { mismatches, first_mismatch, n_compared, loss, bounds_held, rose, stalled, .. } =
            run.record;
        Ok(Trace {
            outcome: run.outcome,
            machine_steps,
            mismatches,
            first_mismatch,
            n_compared,
            loss: loss.unwrap_or(LossRange::of(f64::NAN)),
            bounds_held,
            strictly_falling: !rose && !stalled,
            n_units: layers.n_units(),
            n_layers: layers.depth(),
            n_cells: run.n_cells.unwrap_or(self.landscape.n_cells()),
            gradient,
            path: run.path,
            chosen: self.dense.clone().unwrap_or(run.chosen),
            weights: has_tapes.then(|| snapshot_digest(&run.snapshot)),
        })
    }

    /// Recomputes some steps of a run by automatic differentiation, on the same landscape with the cells that they need.
    fn check(&self, checked: &[gradient::CheckedStep]) -> Result<GradientCheck, JobError> {
        let Some((first, last)) = gradient::extent(checked) else {
            return Ok(GradientCheck::default());
        };
        let n_cells = usize::try_from(last - first + 1).unwrap_or(usize::MAX);
        self.options.ask_network(&self.lowered.normal, n_cells)?;
        let wide = Landscape::build(&self.lowered.normal, &self.options.landscape_of(n_cells))?;
        let inputs = self.read_only_cells(&wide, first);
        let shift = vec![-first; self.lowered.normal.n_tapes()];
        Ok(gradient::check(SpotCheck::new(wide.network(), &inputs, &shift)?, checked)?)
    }

    /// Returns the inputs of a wider landscape: the read-only tapes, from the network's cell `first` on.
    fn read_only_cells(&self, wide: &Landscape, first: i64) -> Vec<Values> {
        let n_cells = wide.n_cells();
        let start = &self.start;
        let cell = |tape: &Vec<bool>, cell: usize| {
            let at = usize::try_from(first + cell as i64).ok();
            at.and_then(|at| tape.get(at)).copied().unwrap_or(false)
        };
        let tapes = start.tapes.iter().map(|tape| (0..n_cells).map(|i| cell(tape, i)).collect()).collect();
        let head = |&head: &usize| usize::try_from(head as i64 - first).unwrap_or(0).min(n_cells - 1);
        let heads = start.heads.iter().map(head).collect();
        let wider = Configuration { state: start.state, tapes, heads };
        wide.encode(&wider).map_or_else(Vec::new, |(_, inputs)| inputs)
    }
}

/// Decodes the parameters of a landscape alone.
struct LandscapeDecoder<'a> {
    landscape: &'a Landscape,
    inputs: &'a [Values],
}

impl Decoder for LandscapeDecoder<'_> {
    fn decode(&self, parameters: &[Values], _: &Configuration) -> Result<Configuration, Undecodable> {
        self.landscape.decode(parameters, self.inputs)
    }

    fn tape_read(&self, _: &[Values], _: &Configuration) -> bool {
        true
    }
}

/// Whether some sequence of rules leads from the start to a halting state or a missing rule.
fn halting_reachable(machine: &Machine) -> bool {
    let mut seen = vec![false; machine.states().len()];
    let mut pending: Vec<StateId> = vec![machine.start()];
    while let Some(state) = pending.pop() {
        if std::mem::replace(&mut seen[state.index()], true) {
            continue;
        }
        let rules = machine.rules(state);
        if machine.halting(state).is_some() || !machine.is_total(state) {
            return true;
        }
        pending.extend(rules.iter().map(|rule| rule.next));
    }
    false
}

/// Returns the start with every content of the cells that the input fills, all of which `internal` must be able to run.
fn declared(start: &Configuration, input: &Input, window: &Window) -> Result<Vec<Configuration>, JobError> {
    let mut places = Vec::new();
    for (tape, laid) in input.tapes.iter().enumerate() {
        for cell in 0..laid.symbols.len() {
            let index = usize::try_from(i64::try_from(cell).unwrap_or(i64::MAX) - window.first[tape]);
            places.push((tape, index.unwrap_or(usize::MAX)));
        }
    }
    if places.len() > MAX_DECLARED_CELLS {
        return Err(JobError::TooManyDeclared(places.len()));
    }
    let content = |bits: u32| {
        let mut configuration = start.clone();
        for (i, &(tape, cell)) in places.iter().enumerate() {
            configuration.tapes[tape][cell] = bits >> i & 1 == 1;
        }
        configuration
    };
    Ok((0..1_u32 << places.len()).map(content).collect())
}
