//! Tracing: from a machine and its input to a landscape, trained in lockstep with the simulator.
//!
//! The whole way reads as the paper's outline: machine, normal form, window, landscape, training, comparison.

use std::ops::ControlFlow;

use luge_landscape::{
    AskedConstants, BuildError, Configuration, Corrections, InternalError, Landscape, LandscapeKind,
    LandscapeOptions, Undecodable, VertexSet,
};
use luge_machine::{
    Input, Machine, NormalForm, Outcome, Simulator, StateId, Step,
    lowering::{Lowered, LoweringError, Moves, lower},
};
use luge_net::{Layers, Values};
use luge_train::{LossRange, Memories, Rate, Snapshot, StopRule, TrainError};
use serde::{Deserialize, Serialize};

use crate::{
    checkpoint::snapshot_digest,
    engine::{Chosen, EngineChoice, EngineError, Manner, Task},
    follow::{Beside, Comparisons, Decoder, Expected, Moment, Referee},
    gradient::{self, GradientCheck},
    lockstep::{Judge, Lockstep, Window},
    record::{FirstMismatch, Levels, Record},
    words,
};

/// How to trace.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TraceOptions {
    /// The landscape to build.
    #[serde(with = "words")]
    pub landscape: LandscapeKind,
    /// Which symbols tell vertices apart.
    #[serde(with = "words")]
    pub vertices: VertexSet,
    /// How to train.
    pub manner: Manner,
    /// The iterates of a fast engine that are compared with the simulator.
    #[serde(with = "words")]
    pub compare: Comparisons,
    /// Cells per tape; left out: what the run needs and a margin, or with a fast engine as many as it comes to need.
    pub cells: Option<usize>,
    /// The most steps; left out: until the machine halts.
    pub steps: Option<Step>,
    /// Whether stay moves are kept.
    #[serde(with = "words")]
    pub moves: Moves,
    /// The landscape's constants.
    #[serde(with = "crate::job::constants")]
    pub constants: AskedConstants,
    /// Steps that are made again by automatic differentiation; left out: as many as cost no more than the run.
    pub spots: Option<usize>,
    /// What differs from the printed paper.
    #[serde(skip)]
    pub corrections: Corrections,
}

impl TraceOptions {
    /// A trace by the dense engine.
    #[must_use]
    pub fn dense(landscape: LandscapeKind) -> Self {
        Self { landscape, manner: Manner::by(EngineChoice::Dense), ..Self::default() }
    }

    /// Whether the dense engine trains, and why.
    fn chosen_dense(&self, normal: &NormalForm) -> Result<Option<Chosen>, TraceError> {
        if self.landscape == LandscapeKind::Internal && self.manner.engine != EngineChoice::Dense {
            let why = "landscape internal has no sparse layers".to_owned();
            return match self.manner.engine {
                EngineChoice::Auto => Ok(Some(Chosen { engine: EngineChoice::Dense, why })),
                engine => Err(EngineError::Unfit { engine, why }.into()),
            };
        }
        if let Some(chosen) = self.manner.dense(None)? {
            return Ok(Some(chosen));
        }
        // Whether layers are recognised does not depend on the number of cells.
        let mut build = LandscapeOptions::new(self.landscape, 1);
        build.vertices = self.vertices;
        (build.constants, build.corrections) = (self.constants, self.corrections);
        Ok(self.manner.dense(Some(Landscape::build(normal, &build)?.network()))?)
    }
}

/// Steps after which a machine is taken not to halt if the user names no limit and the dense engine must know.
pub const LONGEST_SEARCH: Step = 10_000_000;

/// Steps after which a fast engine stops if the user names no limit.
pub const LONGEST_TRACE: Step = 100_000_000;

/// The most cells of all tapes together.
pub const MOST_CELLS: usize = 1 << 24;

/// Cells added on each side of what a run needs.
const MARGIN: usize = 2;

/// Input cells beyond which `internal` does not declare all contents.
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
    /// `internal` has a vertex for every configuration of every declared input.
    #[error(
        "landscape internal declares every content of the input's {n_cells} binary cells, but at most {MOST_DECLARED_CELLS} can be declared"
    )]
    TooManyDeclared {
        /// Binary input cells.
        n_cells: usize,
    },
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The landscape's constants or size.
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl From<TrainError> for TraceError {
    fn from(error: TrainError) -> Self {
        Self::Engine(error.into())
    }
}

/// Everything made ready: no training yet.
#[derive(Debug)]
pub struct Plan {
    /// How to trace.
    pub options: TraceOptions,
    /// The machine as given.
    pub machine: Machine,
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
    pub first_mismatch: Option<FirstMismatch>,
    /// Iterates that were compared with the simulator.
    pub n_compared: u64,
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
    /// What automatic differentiation says of some of its steps.
    pub gradient: GradientCheck,
    /// The digest of all vertices visited.
    pub path: u64,
    /// SHA-256 of the trained weights, unless a tape lies inside the vertex.
    pub weights: Option<String>,
}

impl Trace {
    /// Whether training traced the machine exactly: no mismatch, steps that are the network's own, and an end where the
    /// machine's end is.
    #[must_use]
    pub fn exact(&self) -> bool {
        let ended_alike = match self.machine_steps {
            Some(steps) => self.outcome == luge_train::Outcome::Converged { steps },
            None => {
                use luge_train::Outcome::{OutOfCells, StepLimit};
                matches!(self.outcome, StepLimit { .. } | OutOfCells { .. })
            }
        };
        self.mismatches == 0 && self.gradient.holds() && ended_alike
    }
}

impl Plan {
    /// Lowers the machine, runs it once to learn what it needs, and builds the landscape.
    ///
    /// # Errors
    /// Everything that can be wrong with the request.
    pub fn new(machine: &Machine, input: &Input, options: &TraceOptions) -> Result<Self, TraceError> {
        // Whether a landscape is piecewise linear needs no landscape: only `internal` is.
        if options.manner.rate == Rate::LineSearch && options.landscape != LandscapeKind::Internal {
            return Err(TrainError::NotPiecewiseLinear.into());
        }
        options.manner.check()?;
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
        build.vertices = options.vertices;
        build.constants = options.constants;
        build.corrections = options.corrections;
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
    #[must_use]
    pub fn dense(&self) -> bool {
        self.dense.is_some()
    }

    /// Where the machine's cells lie in the network's matrices.
    #[must_use]
    pub fn first_cells(&self) -> &[luge_machine::Cell] {
        &self.window.first
    }

    /// The network, where it starts, and when training is done.
    ///
    /// # Errors
    /// If the start is no configuration of the landscape.
    pub fn task(&self) -> Result<Task<'_>, TraceError> {
        let (parameters, inputs) =
            self.landscape.encode(&self.start).ok_or(BuildError::Internal(InternalError::NothingDeclared))?;
        let manner = match &self.dense {
            Some(_) => Manner { engine: EngineChoice::Dense, ..self.options.manner },
            None => self.options.manner,
        };
        let stop = StopRule {
            loss_at_most: self.landscape.bounds().stop,
            not_before: 0,
            most_steps: self.most_steps,
        };
        Ok(Task { network: self.landscape.network(), parameters, inputs, stop, manner })
    }

    /// Trains, holding iterates to the simulator. The watcher sees every moment and may break off.
    ///
    /// # Errors
    /// If the engine cannot be opened or cannot compute a gradient.
    pub fn run(&self, watch: impl FnMut(Moment<'_>) -> ControlFlow<()>) -> Result<Trace, TraceError> {
        self.follow(None, watch)
    }

    /// Resumes a run from a snapshot and what was seen until then; the simulator is brought there on its own.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub fn resume(
        &self,
        snapshot: &Snapshot,
        record: Record,
        watch: impl FnMut(Moment<'_>) -> ControlFlow<()>,
    ) -> Result<Trace, TraceError> {
        self.follow(Some((snapshot, record)), watch)
    }

    fn follow(
        &self,
        from: Option<(&Snapshot, Record)>,
        watch: impl FnMut(Moment<'_>) -> ControlFlow<()>,
    ) -> Result<Trace, TraceError> {
        let task = self.task()?;
        let compare = if self.dense() { Comparisons::Every } else { self.options.compare };
        let moment = from.as_ref().map(|(snapshot, record)| (*snapshot, record.loss));
        let (mut engine, opened) = task.open(compare.memories(), moment)?;
        let machine = self.lowered.normal.machine();
        let decoder = PlanDecoder { landscape: &self.landscape, inputs: &task.inputs };
        let beside = match self.landscape.control().filter(|_| !self.dense()) {
            Some(control) => {
                Beside::Changes(Judge::new(machine, &self.input, control, self.window.first.clone()))
            }
            None => {
                Beside::Configurations(Lockstep::new(machine, &self.input, self.window.clone()), &decoder)
            }
        };
        let bounds = self.landscape.bounds();
        let expected = Expected {
            levels: Levels { bounds, added: 0.0, halted_high: bounds.halted_high, tolerance: 0.0, from: 0 },
            extra_steps: 0,
            labels: None,
            most_cells: Some(self.options.cells.unwrap_or(MOST_CELLS)),
        };
        let record = from.map_or_else(Record::default, |(_, record)| record);
        let mut referee = Referee::new(beside, expected, record);
        let outcome = referee.follow(&mut *engine, &task.stop, compare, watch)?;
        let snapshot = engine.snapshot();
        let end = gradient::End { snapshot: &snapshot, record: &referee.record };
        let gradient = match opened.engine {
            EngineChoice::Dense => GradientCheck::of_dense(),
            _ => self.look_again(&task, compare.memories(), &end)?,
        };
        let layers = Layers::of(task.network);
        let weights = (self.options.landscape != LandscapeKind::Internal).then(|| snapshot_digest(&snapshot));
        let Record { mismatches, first_mismatch, n_compared, loss, bounds_held, rose, stalled, .. } =
            referee.record.clone();
        Ok(Trace {
            outcome,
            machine_steps: referee.machine_steps().or(self.machine_steps),
            mismatches,
            first_mismatch,
            n_compared,
            loss: loss.unwrap_or(LossRange::of(f64::NAN)),
            bounds_held,
            strictly_falling: !rose && !stalled,
            n_units: layers.n_units(),
            n_layers: layers.depth(),
            n_cells: referee.n_cells().unwrap_or(self.landscape.n_cells()),
            gradient,
            path: snapshot.path,
            chosen: self.dense.clone().unwrap_or(opened),
            weights,
        })
    }
}

impl Plan {
    /// Holds some steps of a run to automatic differentiation, on the same landscape with as many cells as they need.
    fn look_again(
        &self,
        task: &Task<'_>,
        memories: Memories,
        end: &gradient::End<'_>,
    ) -> Result<GradientCheck, TraceError> {
        let steps = gradient::choose(end, task.network, self.options.spots);
        let spots = match gradient::collect(task, memories, &steps, end)? {
            Ok(spots) => spots,
            Err(why) => return Ok(GradientCheck { steps, every: false, differs: Some(why) }),
        };
        let Some((first, last)) = gradient::extent(&spots) else {
            return Ok(GradientCheck { steps, every: false, differs: None });
        };
        let n_cells = usize::try_from(last - first + 1).unwrap_or(usize::MAX);
        let mut build = LandscapeOptions::new(self.options.landscape, n_cells);
        build.vertices = self.options.vertices;
        (build.constants, build.corrections) = (self.options.constants, self.options.corrections);
        let wide = Landscape::build(&self.lowered.normal, &build)?;
        let inputs = self.read_only_cells(&wide, first);
        let shift = vec![-first; self.lowered.normal.n_tapes()];
        let dense = gradient::Dense { network: wide.network(), inputs: &inputs, shift };
        Ok(gradient::check(&dense, &spots)?)
    }

    /// What a wider landscape is fed: the read-only tapes, its first cell being the network's cell `first`.
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

/// What the parameters of a landscape alone stand for.
struct PlanDecoder<'a> {
    landscape: &'a Landscape,
    inputs: &'a [Values],
}

impl Decoder for PlanDecoder<'_> {
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

/// Every content of the cells the input lies in: `internal` serves them all and does not know which one comes.
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
