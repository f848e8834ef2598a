//! Tracing: from a machine and its input to a landscape, trained in lockstep with the simulator.
//!
//! The whole way reads as the paper's outline: machine, normal form, window, landscape, training, comparison.

use std::ops::ControlFlow;

use luge_landscape::{
    AskedConstants, Bounds, BuildError, Configuration, Corrections, InternalError, Landscape, LandscapeKind,
    LandscapeOptions,
};
use luge_machine::{
    Input, Machine, NormalForm, Outcome, Simulator, StateId, Step,
    lowering::{Lowered, LoweringError, Moves, lower},
};
use luge_net::Layers;
use luge_train::{
    Dense, Iterate, LossRange, Memories, Noise, Precision, Rate, Snapshot, StopRule, Tracer, TrainError,
    train,
};

use crate::{
    checkpoint::snapshot_digest,
    engine::{self, Chosen, Engine, Start},
    lockstep::{Judge, Lockstep, Mismatch, Window},
};

/// What to trace and how.
#[derive(Clone, Debug, Default)]
pub struct TraceOptions {
    /// Which landscape.
    pub landscape: LandscapeKind,
    /// What computes the gradients.
    pub engine: Engine,
    /// Which iterates of a fast engine are compared with the simulator.
    pub check: Check,
    /// The arithmetic.
    pub precision: Precision,
    /// How far a Frank-Wolfe step goes.
    pub rate: Rate,
    /// Relative noise on every update, and its seed.
    pub noise: Option<(f64, u64)>,
    /// Cells per tape; left out: what the run needs and a margin, or with a fast engine as many as it comes to need.
    pub cells: Option<usize>,
    /// The most steps; left out: until the machine halts.
    pub steps: Option<Step>,
    /// Whether stay moves are kept.
    pub moves: Moves,
    /// The landscape's constants.
    pub constants: AskedConstants,
    /// What differs from the printed paper.
    pub corrections: Corrections,
}

impl TraceOptions {
    /// A trace by the dense engine.
    #[must_use]
    pub fn dense(landscape: LandscapeKind) -> Self {
        Self { landscape, engine: Engine::Dense, ..Self::default() }
    }

    fn noise(&self) -> Result<Option<Noise>, TraceError> {
        let noise = |(sigma, seed)| Noise::new(sigma, seed).ok_or(TraceError::Noise { sigma });
        self.noise.map(noise).transpose()
    }

    /// Why only the dense engine will do; `None` if others will.
    fn needs_dense(&self, normal: &NormalForm) -> Option<String> {
        let known = match () {
            () if self.landscape == LandscapeKind::Internal => "landscape internal has no sparse layers",
            () if self.precision != Precision::F64 => "other precisions than f64 are rounded unit by unit",
            () if self.noise.is_some() => "noise falls on every weight",
            () if self.rate != Rate::One => "a line search looks at every kink",
            () => return self.unrecognised(normal),
        };
        Some(known.to_owned())
    }

    /// Why no sparse layers are recognised in the landscape. One with a single cell has the same layers.
    fn unrecognised(&self, normal: &NormalForm) -> Option<String> {
        let mut build = LandscapeOptions::new(self.landscape, 1);
        (build.constants, build.corrections) = (self.constants, self.corrections);
        let landscape = Landscape::build(normal, &build).ok()?;
        let why = landscape.network().sparse_layers().err()?;
        Some(format!("no sparse layers are recognised: {why}"))
    }

    /// Whether the dense engine trains, and why.
    fn chosen_dense(&self, normal: &NormalForm) -> Result<Option<Chosen>, TraceError> {
        match (self.engine, self.needs_dense(normal)) {
            (Engine::Dense, _) => Ok(Some(Chosen::dense("asked for"))),
            (Engine::Auto, Some(why)) => Ok(Some(Chosen::dense(&why))),
            (Engine::Sparse | Engine::Exact, Some(why)) => {
                Err(TraceError::Engine { engine: self.engine, why })
            }
            (_, None) => Ok(None),
        }
    }
}

/// Which iterates are compared with the simulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Check {
    /// Every one.
    #[default]
    Every,
    /// The last one, and one every 16,777,216 steps: all cells of it. A fast engine then runs at its own speed.
    End,
}

impl Check {
    /// Both choices.
    pub const ALL: [Self; 2] = [Self::Every, Self::End];

    /// The choice's name on the command line and in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Every => "every",
            Self::End => "end",
        }
    }
}

/// Steps after which a machine is taken not to halt if the user names no limit and the dense engine must know.
pub const LONGEST_SEARCH: Step = 10_000_000;

/// Steps after which a fast engine stops if the user names no limit.
pub const LONGEST_TRACE: Step = 100_000_000;

/// The most cells of all tapes together.
pub const MOST_CELLS: usize = 1 << 24;

/// Steps between two looks at how many cells a run has come to need.
const LOOK_AT_CELLS: u64 = 1 << 16;

/// Steps between two comparisons where not every step is compared.
const CHUNK: u64 = 1 << 24;

/// Cells added on each side of what a run needs.
const MARGIN: usize = 2;

/// Input cells beyond which landscape A does not declare all contents.
const MOST_DECLARED_CELLS: usize = 12;

/// Why a trace cannot be made. Everything is found out before training begins.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// No normal form.
    #[error(transparent)]
    Lowering(#[from] LoweringError),
    /// No way leads to a halt.
    #[error("no halting situation can be reached from the start state `{start}`")]
    HaltingUnreachable {
        /// The start state's name.
        start: String,
    },
    /// The machine runs on.
    #[error("the machine does not halt within {tried} steps")]
    DoesNotHalt {
        /// Steps simulated.
        tried: Step,
    },
    /// The run does not fit.
    #[error("the run needs {needed} cells per tape, but --cells allows only {given}")]
    TooFewCells {
        /// What it needs.
        needed: usize,
        /// What was allowed.
        given: usize,
    },
    /// The weights would not fit into memory.
    #[error(
        "the run needs {needed} cells on each of {n_tapes} binary tapes, but at most {MOST_CELLS} are built in all"
    )]
    TooManyCells {
        /// Cells per tape.
        needed: usize,
        /// Binary tapes.
        n_tapes: usize,
    },
    /// Landscape A has a vertex for every configuration of every declared input.
    #[error(
        "landscape internal declares every content of the input's {n_cells} binary cells, but at most {MOST_DECLARED_CELLS} can be declared"
    )]
    TooManyDeclared {
        /// Binary input cells.
        n_cells: usize,
    },
    /// Noise must be a number.
    #[error("noise of relative size {sigma}: expected a finite number of at least 0")]
    Noise {
        /// What was given.
        sigma: f64,
    },
    /// An engine that does not apply.
    #[error("engine {engine} cannot be used: {why}", engine = engine.word())]
    Engine {
        /// What was asked for.
        engine: Engine,
        /// Why not.
        why: String,
    },
    /// The landscape's constants or size.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Training.
    #[error(transparent)]
    Train(#[from] TrainError),
}

/// Everything made ready: no training yet.
#[derive(Debug)]
pub struct Plan {
    /// The machine in normal form.
    pub lowered: Lowered,
    /// Its input.
    pub input: Input,
    /// Which cells the network holds.
    pub window: Window,
    /// The landscape.
    pub landscape: Landscape,
    /// Where the run starts.
    pub start: Configuration,
    /// Steps to the halt, if it comes within the limit and the dense engine, which must know, is the one that trains.
    pub machine_steps: Option<Step>,
    /// The most gradient steps.
    pub most_steps: Step,
    /// Set if the dense engine trains.
    dense: Option<Chosen>,
}

/// What a trace showed.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    /// How training ended.
    pub outcome: luge_train::Outcome,
    /// Steps the machine makes until it halts, if it does within the limit.
    pub machine_steps: Option<Step>,
    /// Iterates that are not the machine's configuration at their step.
    pub mismatches: u64,
    /// The first of them.
    pub first_mismatch: Option<(u64, Mismatch)>,
    /// The loss over the run.
    pub loss: LossRange,
    /// Whether the loss always lay where the construction says.
    pub bounds_held: bool,
    /// Whether every step lowered the loss.
    pub strictly_falling: bool,
    /// Units of the network.
    pub n_units: usize,
    /// Layers of the network.
    pub n_layers: usize,
    /// Cells per tape that the network came to hold.
    pub n_cells: usize,
    /// The engine that trained, and why that one.
    pub chosen: Chosen,
    /// SHA-256 of the trained weights, with a fast engine.
    pub weights: Option<String>,
}

impl Trace {
    /// Whether training traced the machine exactly: no mismatch, and an end where the machine's end is.
    #[must_use]
    pub fn exact(&self) -> bool {
        let ended_alike = match self.machine_steps {
            Some(steps) => self.outcome == luge_train::Outcome::Converged { steps },
            None => {
                use luge_train::Outcome::{OutOfCells, StepLimit};
                matches!(self.outcome, StepLimit { .. } | OutOfCells { .. })
            }
        };
        self.mismatches == 0 && ended_alike
    }
}

/// One moment of a trace, for whoever wants to watch.
pub struct Moment<'a> {
    /// Gradient steps made.
    pub step: u64,
    /// The loss.
    pub loss: f64,
    /// Iterates so far that are not the machine's configuration at their step, this one included.
    pub mismatches: u64,
    /// The engine, if it is a fast one.
    pub engine: Option<&'a dyn Tracer>,
    /// What was seen so far, this moment included.
    pub record: &'a Record,
}

impl Plan {
    /// Lowers the machine, runs it once to learn what it needs, and builds the landscape.
    ///
    /// # Errors
    /// Everything that can be wrong with the request.
    pub fn new(machine: &Machine, input: &Input, options: &TraceOptions) -> Result<Self, TraceError> {
        // Whether a landscape is piecewise linear needs no landscape: only A is.
        if options.rate == Rate::LineSearch && options.landscape != LandscapeKind::Internal {
            return Err(TrainError::NotPiecewiseLinear.into());
        }
        options.noise()?;
        let lowered = lower(machine, options.moves)?;
        let input = lowered.encode(input);
        if options.steps.is_none() && !halting_reachable(lowered.normal.machine()) {
            let start = lowered.normal.machine().state(lowered.normal.start()).name.clone();
            return Err(TraceError::HaltingUnreachable { start });
        }
        let dense = options.chosen_dense(&lowered.normal)?;
        let mut simulator = Simulator::new(lowered.normal.machine(), &input);
        let limit = options.steps.unwrap_or(if dense.is_some() { LONGEST_SEARCH } else { LONGEST_TRACE });
        let mut machine_steps = None;
        if dense.is_some() {
            machine_steps = match simulator.run(limit) {
                Outcome::StepLimit if options.steps.is_none() => {
                    return Err(TraceError::DoesNotHalt { tried: limit });
                }
                Outcome::StepLimit => None,
                Outcome::Halted { .. } | Outcome::NoRule { .. } => Some(simulator.steps()),
            };
        }
        let n_cells = |needed: usize| options.cells.unwrap_or(needed + 2 * MARGIN);
        let window = Window::around(&simulator, &input, n_cells)
            .map_err(|needed| TraceError::TooFewCells { needed, given: options.cells.unwrap_or_default() })?;
        if window.n_cells.saturating_mul(lowered.normal.n_tapes()) > MOST_CELLS {
            return Err(TraceError::TooManyCells {
                needed: window.n_cells,
                n_tapes: lowered.normal.n_tapes(),
            });
        }
        if options.landscape == LandscapeKind::Internal && machine_steps.is_none() {
            return Err(BuildError::Internal(InternalError::NeverHalts { n_cells: window.n_cells }).into());
        }
        let start = Lockstep::new(lowered.normal.machine(), &input, window.clone())
            .map(|lockstep| lockstep.expected().clone())
            .ok_or(TraceError::TooFewCells { needed: window.n_cells + 1, given: window.n_cells })?;
        let mut build = LandscapeOptions::new(options.landscape, window.n_cells);
        build.constants = options.constants;
        build.corrections = options.corrections;
        if options.landscape == LandscapeKind::Internal {
            build.declared = declared(&start, &input, &window)?;
        }
        let landscape = Landscape::build(&lowered.normal, &build)?;
        Ok(Self {
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
    #[must_use]
    pub fn dense(&self) -> bool {
        self.dense.is_some()
    }

    /// Where the machine's cells lie in the network's matrices.
    #[must_use]
    pub fn first_cells(&self) -> &[luge_machine::Cell] {
        &self.window.first
    }

    /// Trains, holding every iterate to the simulator. The observer sees every moment and may break off.
    ///
    /// # Errors
    /// If the engine cannot be made or a gradient cannot be had.
    pub fn run(
        &self,
        options: &TraceOptions,
        observe: impl FnMut(Moment<'_>) -> ControlFlow<()>,
    ) -> Result<Trace, TraceError> {
        match &self.dense {
            Some(chosen) => self.run_dense(options, chosen, observe),
            None => self.run_fast(options, None, observe),
        }
    }

    /// Goes on from a snapshot, after the simulator has been brought there on its own.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub fn resume(
        &self,
        options: &TraceOptions,
        snapshot: &Snapshot,
        record: Record,
        observe: impl FnMut(Moment<'_>) -> ControlFlow<()>,
    ) -> Result<Trace, TraceError> {
        self.run_fast(options, Some((snapshot, record)), observe)
    }

    fn run_fast(
        &self,
        options: &TraceOptions,
        from: Option<(&Snapshot, Record)>,
        mut observe: impl FnMut(Moment<'_>) -> ControlFlow<()>,
    ) -> Result<Trace, TraceError> {
        let nothing = || BuildError::Internal(InternalError::NothingDeclared);
        let (parameters, inputs) = self.landscape.encode(&self.start).ok_or_else(nothing)?;
        let control = self.landscape.control().ok_or_else(nothing)?;
        let start = match &from {
            None => Start::Parameters(&parameters),
            Some((snapshot, record)) => Start::Snapshot(snapshot, record.loss),
        };
        let network = self.landscape.network();
        let memories = if options.check == Check::Every { Memories::Steps } else { Memories::Blocks };
        let (mut engine, chosen) = engine::fast(options.engine, memories, network, start, &inputs)?;
        let machine = self.lowered.normal.machine();
        let mut judge = Judge::new(machine, &self.input, control, self.window.first.clone());
        judge.run(engine.steps());
        let mut record = from.map_or_else(Record::default, |(_, record)| record);
        let resumed_at = record.loss.map(|_| engine.steps());
        let bounds = self.landscape.bounds();
        let mut found = judge.compare_all(&*engine);
        let outcome = loop {
            let (step, loss) = (engine.steps(), engine.loss()?);
            let stopped = judge.stopped();
            if resumed_at != Some(step) {
                record.add(step, loss, within(&bounds, stopped, loss), found.err());
            }
            let moment =
                Moment { step, loss, mismatches: record.mismatches, engine: Some(&*engine), record: &record };
            let broke_off = observe(moment).is_break();
            match () {
                () if !loss.is_finite() => break luge_train::Outcome::Diverged { steps: step },
                () if loss <= bounds.stop => break luge_train::Outcome::Converged { steps: step },
                () if broke_off => break luge_train::Outcome::Interrupted { steps: step },
                () if step >= self.most_steps => break luge_train::Outcome::StepLimit { steps: step },
                () => {}
            }
            let most = options.cells.unwrap_or(MOST_CELLS);
            let look = options.cells.is_some() || step % LOOK_AT_CELLS == 0 || options.check == Check::End;
            if look && judge.n_cells() > most {
                break luge_train::Outcome::OutOfCells { steps: step };
            }
            if options.check == Check::End {
                let most_steps = step.saturating_add(CHUNK).min(self.most_steps);
                let stop = StopRule { loss_at_most: bounds.stop, not_before: 0, most_steps };
                engine.run(&stop)?;
                judge.run(engine.steps());
                found = judge.compare_all(&*engine);
                if let Some(range) = engine.losses() {
                    record.take_in(range, &bounds, judge.stopped());
                }
            } else {
                engine.step()?;
                judge.step();
                found = judge.compare(&*engine);
            }
        };
        if let (Err(mismatch), true) = (judge.compare_all(&*engine), record.mismatches == 0) {
            record.differs_at(outcome.steps(), mismatch);
        }
        let machine_steps = judge.stopped().then(|| judge.simulator().steps());
        let layers = Layers::of(network);
        let mut trace = record.finish(outcome, machine_steps, &layers, judge.n_cells(), chosen);
        trace.weights = Some(snapshot_digest(&engine.snapshot()));
        Ok(trace)
    }

    fn run_dense(
        &self,
        options: &TraceOptions,
        chosen: &Chosen,
        mut observe: impl FnMut(Moment<'_>) -> ControlFlow<()>,
    ) -> Result<Trace, TraceError> {
        let noise = options.noise()?;
        let (parameters, inputs) =
            self.landscape.encode(&self.start).ok_or(BuildError::Internal(InternalError::NothingDeclared))?;
        let network = self.landscape.network();
        let mut engine = Dense::new(network, &parameters, &inputs, options.precision, options.rate, noise)?;
        let mut lockstep = Lockstep::new(self.lowered.normal.machine(), &self.input, self.window.clone())
            .ok_or(TraceError::TooFewCells { needed: self.window.n_cells + 1, given: self.window.n_cells })?;

        let bounds = self.landscape.bounds();
        let layers = Layers::of(network);
        let mut record = Record::default();
        let mut broken = None;
        let stop = StopRule { loss_at_most: bounds.stop, not_before: 0, most_steps: self.most_steps };
        let outcome = train(&mut engine, &stop, |iterate| {
            if iterate.step > 0 {
                lockstep.step();
            }
            let within = within(&bounds, lockstep.stopped().is_some(), iterate.loss);
            let mismatch = match iterate.engine.parameters() {
                Ok(parameters) => lockstep.compare(self.landscape.decode(&parameters, &inputs)).err(),
                Err(error) => {
                    broken = Some(error);
                    return ControlFlow::Break(());
                }
            };
            record.add(iterate.step, iterate.loss, within, mismatch);
            let Iterate { step, loss, .. } = iterate;
            observe(Moment { step, loss, mismatches: record.mismatches, engine: None, record: &record })
        })?;
        match broken {
            Some(error) => Err(error.into()),
            None => {
                let n_cells = self.landscape.n_cells();
                Ok(record.finish(outcome, self.machine_steps, &layers, n_cells, chosen.clone()))
            }
        }
    }
}

/// Whether the loss lies where the construction says.
fn within(bounds: &Bounds, stopped: bool, loss: f64) -> bool {
    if stopped {
        loss <= bounds.halted_high
    } else {
        (bounds.running_low..=bounds.running_high).contains(&loss)
    }
}

/// What is kept while a trace runs.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Iterates that were not the machine's configuration.
    pub mismatches: u64,
    /// The first of them.
    pub first_mismatch: Option<(u64, Mismatch)>,
    /// Where the loss has been.
    pub loss: Option<LossRange>,
    /// Whether the loss was ever outside its bounds.
    pub out_of_bounds: bool,
    /// Whether a step ever failed to lower the loss.
    pub rose: bool,
}

impl Record {
    fn add(&mut self, step: u64, loss: f64, within: bool, mismatch: Option<Mismatch>) {
        if let Some(mismatch) = mismatch {
            self.differs_at(step, mismatch);
        }
        self.out_of_bounds |= !within;
        self.loss = Some(match self.loss {
            None => LossRange::of(loss),
            Some(range) => {
                self.rose |= loss.is_nan() || loss >= range.last;
                range.and(loss)
            }
        });
    }

    /// Takes in the losses of many steps at once.
    fn take_in(&mut self, range: LossRange, bounds: &Bounds, stopped: bool) {
        let lowest_running = if stopped { bounds.running_low } else { range.min };
        self.out_of_bounds |= range.max > bounds.running_high || lowest_running < bounds.running_low;
        let first = self.loss.map_or(range.first, |loss| loss.first);
        self.loss = Some(LossRange { first, ..range });
    }

    fn differs_at(&mut self, step: u64, mismatch: Mismatch) {
        self.mismatches += 1;
        self.first_mismatch.get_or_insert((step, mismatch));
    }

    fn finish(
        self,
        outcome: luge_train::Outcome,
        machine_steps: Option<Step>,
        layers: &Layers,
        n_cells: usize,
        chosen: Chosen,
    ) -> Trace {
        let nothing = LossRange::of(f64::NAN);
        Trace {
            outcome,
            machine_steps,
            mismatches: self.mismatches,
            first_mismatch: self.first_mismatch,
            loss: self.loss.unwrap_or(nothing),
            bounds_held: !self.out_of_bounds,
            strictly_falling: !self.rose,
            n_units: layers.n_units(),
            n_layers: layers.depth(),
            n_cells,
            chosen,
            weights: None,
        }
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

/// Every content of the cells the input lies in: landscape A serves them all and does not know which one comes.
fn declared(start: &Configuration, input: &Input, window: &Window) -> Result<Vec<Configuration>, TraceError> {
    let mut places = Vec::new();
    for (tape, laid) in input.tapes.iter().enumerate() {
        for cell in 0..laid.symbols.len() {
            let index = usize::try_from(i64::try_from(cell).unwrap_or(i64::MAX) - window.first[tape]);
            places.push((tape, index.unwrap_or(usize::MAX)));
        }
    }
    if places.len() > MOST_DECLARED_CELLS {
        return Err(TraceError::TooManyDeclared { n_cells: places.len() });
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
