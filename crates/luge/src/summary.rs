//! Results as data: what the command line prints with `--json`, and what other languages are given.

use luge_landscape::{Bounds, LandscapeKind};
use luge_machine::{Alphabet, Cell, Outcome, Simulator, Step, SymbolId, TapeId, lowering::Size};
use luge_net::NumberFormat;
use luge_sled::Compiled;
use serde::Serialize;

use crate::{
    gradient::GradientCheck,
    lesson::{Certificate, Lesson, LessonReport},
    record::{Drift, FirstMismatch},
    trace::{Plan, Trace},
};

/// How a machine's run ended.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RunSummary<'m> {
    machine: Option<&'m str>,
    outcome: &'static str,
    steps: Step,
    limit: Step,
    state: &'m str,
    accepting: bool,
    nonzero: u64,
    /// Contents without outer blanks.
    tapes: Vec<String>,
    tape_names: Vec<&'m str>,
    /// The cell of the first symbol of each entry of `tapes`.
    first_cells: Vec<Cell>,
    heads: Vec<Cell>,
}

/// What a trace showed.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TraceSummary<'a> {
    machine: Option<&'a str>,
    outcome: &'static str,
    steps: u64,
    /// `null` if the machine does not halt within the steps.
    machine_steps: Option<Step>,
    mismatches: u64,
    first_mismatch: Option<&'a FirstMismatch>,
    /// Iterates that were compared with the simulator.
    compared: u64,
    loss: Losses,
    bounds: Limits,
    bounds_held: bool,
    /// Landscape internal only.
    strictly_falling: Option<bool>,
    landscape: &'static str,
    engine: &'static str,
    engine_why: &'a str,
    precision: &'static str,
    rate: &'static str,
    noise: Option<f64>,
    seed: Option<u64>,
    /// Steps made again by automatic differentiation, and what does not agree.
    gradient: &'a GradientCheck,
    /// The digest of all vertices visited, in hexadecimal.
    path: String,
    /// SHA-256 of the trained weights; not on `internal`.
    weights: Option<&'a str>,
    cells: usize,
    vertices: usize,
    units: usize,
    layers: usize,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
struct Losses {
    first: f64,
    min: f64,
    max: f64,
    last: f64,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
struct Limits {
    running_low: f64,
    running_high: f64,
    halted_high: f64,
    stop: f64,
}

/// What a lesson taught.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TrainSummary<'a> {
    learner: Option<&'a str>,
    outcome: &'static str,
    steps: u64,
    machine_steps: Step,
    theta: &'a [f64],
    /// The digest of all vertices visited, in hexadecimal.
    path: String,
    train_loss: f64,
    /// Rows told right, if the labels are classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    classified: Option<usize>,
    b_stop: f64,
    drift: Drift,
    certificate: &'a Certificate,
    landscape: &'static str,
    carrier: &'static str,
    format: String,
    primary: String,
    engine: &'static str,
    engine_why: &'a str,
    samples: usize,
    cells: usize,
    vertices: usize,
}

/// The size of a program that was compiled.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CompileSummary<'a> {
    /// The program's name.
    pub learner: Option<&'a str>,
    /// Features of a sample.
    pub features: usize,
    /// Labels of a sample.
    pub labels: usize,
    /// How numbers become bits.
    pub format: String,
    /// Numbers of theta.
    pub weights: usize,
    /// The tapes' names.
    pub tapes: Vec<&'a str>,
    /// Binary tapes in normal form, d.
    pub tracks: usize,
    /// States of the machine.
    pub states: usize,
    /// Rules of the machine.
    pub rules: usize,
    /// |Q| 2^d.
    pub vertices: u64,
    /// The line of each state; null where it belongs to none.
    pub lines: &'a [Option<u32>],
}

impl<'a> CompileSummary<'a> {
    /// Sums up a program compiled for so many features and labels of a format, and its size in normal form.
    #[must_use]
    pub fn of(
        compiled: &'a Compiled,
        (features, labels, format): (usize, usize, NumberFormat),
        size: &Size,
    ) -> Self {
        let machine = &compiled.machine;
        Self {
            learner: machine.name(),
            features,
            labels,
            format: format.to_string(),
            weights: compiled.n_theta,
            tapes: machine.tapes().iter().map(|tape| tape.name.as_str()).collect(),
            tracks: size.tapes,
            states: machine.states().len(),
            rules: machine.n_rules(),
            vertices: size.vertices,
            lines: &compiled.lines,
        }
    }
}

impl<'m> RunSummary<'m> {
    /// Sums up a run that was allowed so many steps.
    #[must_use]
    pub fn of(limit: Step, outcome: Outcome, simulator: &Simulator<'m>) -> Self {
        let machine = simulator.machine();
        let contents = |tape: TapeId| {
            let (first, symbols) = simulator.tape(tape).trimmed();
            (first, spelled(&machine.tape(tape).alphabet, &symbols))
        };
        let (first_cells, tapes) = machine.tape_ids().map(contents).unzip();
        Self {
            machine: machine.name(),
            outcome: outcome.word(),
            steps: simulator.steps(),
            limit,
            state: &machine.state(simulator.state()).name,
            accepting: outcome.accepting(),
            nonzero: simulator.n_nonblank(),
            tapes,
            tape_names: machine.tapes().iter().map(|tape| tape.name.as_str()).collect(),
            first_cells,
            heads: machine.tape_ids().map(|tape| simulator.head(tape)).collect(),
        }
    }
}

impl<'a> TraceSummary<'a> {
    /// Sums up a trace of a plan.
    #[must_use]
    pub fn of(plan: &'a Plan, trace: &'a Trace) -> Self {
        let options = &plan.options;
        let Bounds { running_low, running_high, halted_high, stop, .. } = plan.landscape.bounds();
        Self {
            machine: plan.machine.name(),
            outcome: trace.outcome.word(),
            steps: trace.outcome.steps(),
            machine_steps: trace.machine_steps,
            mismatches: trace.mismatches,
            first_mismatch: trace.first_mismatch.as_ref(),
            compared: trace.n_compared,
            loss: Losses {
                first: trace.loss.first,
                min: trace.loss.min,
                max: trace.loss.max,
                last: trace.loss.last,
            },
            bounds: Limits { running_low, running_high, halted_high, stop },
            bounds_held: trace.bounds_held,
            strictly_falling: (options.landscape == LandscapeKind::Internal)
                .then_some(trace.strictly_falling),
            landscape: options.landscape.word(),
            engine: trace.chosen.engine.word(),
            engine_why: &trace.chosen.why,
            precision: options.manner.precision.word(),
            rate: options.manner.rate.word(),
            noise: options.manner.noise.map(|(sigma, _)| sigma),
            seed: options.manner.noise.map(|(_, seed)| seed),
            gradient: &trace.gradient,
            path: format!("{:016x}", trace.path),
            weights: trace.weights.as_deref(),
            cells: trace.n_cells,
            vertices: plan.landscape.n_vertices(),
            units: trace.n_units,
            layers: trace.n_layers,
        }
    }
}

impl<'a> TrainSummary<'a> {
    /// Sums up the report of a lesson.
    #[must_use]
    pub fn of(lesson: &'a Lesson, report: &'a LessonReport) -> Self {
        let options = lesson.options();
        Self {
            learner: lesson.learner().machine().name(),
            outcome: report.outcome.word(),
            steps: report.outcome.steps(),
            machine_steps: report.machine_steps,
            theta: &report.theta,
            path: format!("{:016x}", report.path),
            train_loss: report.train_loss,
            classified: report.classified,
            b_stop: lesson.extended().stop(),
            drift: report.drift,
            certificate: &report.certificate,
            landscape: options.landscape.word(),
            carrier: options.carrier.word(),
            format: options.format.to_string(),
            primary: lesson.primary().describe(),
            engine: report.chosen.engine.word(),
            engine_why: &report.chosen.why,
            samples: lesson.table().n_samples(),
            cells: lesson.window().n_cells,
            vertices: lesson.extended().n_vertices(),
        }
    }
}

/// Symbols as `--input` takes them: one after the other where each is a single character, else with spaces between.
#[must_use]
pub fn spelled(alphabet: &Alphabet, symbols: &[SymbolId]) -> String {
    let names: Vec<&str> = symbols.iter().map(|&symbol| alphabet.name(symbol)).collect();
    names.join(separator(alphabet))
}

/// What stands between two symbols of a tape.
#[must_use]
pub fn separator(alphabet: &Alphabet) -> &'static str {
    if alphabet.names().iter().all(|name| name.chars().count() == 1) { "" } else { " " }
}
