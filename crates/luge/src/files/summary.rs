//! Results as JSON, for `--json` and for other languages.

use luge_landscape::LandscapeKind;
use luge_machine::{Alphabet, Cell, Outcome, Simulator, Step, SymbolId, TapeId, lowering::Size};
use luge_net::NumberFormat;
use luge_sled::Compiled;
use serde::Serialize;

use crate::{
    certificate::answer::Answer,
    object,
    run::run_stats::Limits,
    trace::{PreparedTrace, Trace},
    training::{PreparedTraining, TrainingReport},
};

/// Describes a program that was compiled for this many features and labels of a format, with its size in normal form.
pub fn of_compiled(
    compiled: &Compiled,
    (features, labels, format): (usize, usize, NumberFormat),
    size: &Size,
) -> impl Serialize {
    let machine = &compiled.machine;
    object! {
        learner: machine.name(),
        features: features,
        labels: labels,
        format: format,
        // Numbers of theta.
        weights: compiled.n_theta,
        tapes: machine.tapes().iter().map(|tape| tape.name.as_str()).collect::<Vec<_>>(),
        // Binary tapes in normal form, d.
        tracks: size.tapes,
        states: machine.states().len(),
        rules: machine.n_rules(),
        vertices: size.vertices,
        // The line of each state; null where it belongs to none.
        lines: &compiled.lines,
    }
}

/// Describes the end of a machine's run with this step limit.
pub fn of_run(limit: Step, outcome: Outcome, simulator: &Simulator<'_>) -> impl Serialize {
    let machine = simulator.machine();
    let contents = |tape: TapeId| {
        let (first, symbols) = simulator.tape(tape).trimmed();
        (first, spelled(&machine.tape(tape).alphabet, &symbols))
    };
    let (first_cells, tapes): (Vec<Cell>, Vec<String>) = machine.tape_ids().map(contents).unzip();
    object! {
        machine: machine.name(),
        outcome: outcome.word(),
        steps: simulator.steps(),
        limit: limit,
        state: &machine.state(simulator.state()).name,
        accepting: outcome.accepting(),
        nonzero: simulator.n_nonblank(),
        // Contents without outer blanks, and the cell of the first symbol of each.
        tapes: tapes,
        tape_names: machine.tapes().iter().map(|tape| tape.name.as_str()).collect::<Vec<_>>(),
        first_cells: first_cells,
        heads: machine.tape_ids().map(|tape| simulator.head(tape)).collect::<Vec<_>>(),
    }
}

/// Describes the result of a trace.
pub fn of_trace(plan: &PreparedTrace, trace: &Trace) -> impl Serialize {
    let options = &plan.options;
    let internal = options.landscape == LandscapeKind::Internal;
    object! {
        machine: plan.machine.name(),
        #[serde(flatten)]
        trace: trace,
        bounds: Limits::from(plan.landscape.bounds()),
        // Landscape internal only.
        strictly_falling: internal.then_some(trace.strictly_falling),
        landscape: options.landscape.word(),
        precision: options.manner.precision.word(),
        rate: options.manner.rate.word(),
        noise: options.manner.noise.map(|(sigma, _)| sigma),
        seed: options.manner.noise.map(|(_, seed)| seed),
        vertices: plan.landscape.n_vertices(),
    }
}

/// Describes the result of a training.
pub fn of_training(prepared: &PreparedTraining, report: &TrainingReport) -> impl Serialize {
    let options = prepared.options();
    object! {
        learner: prepared.learner().machine().name(),
        #[serde(flatten)]
        report: report,
        answer: Answer::of_training(prepared, report),
        b_stop: prepared.extended().bounds().stop,
        landscape: options.landscape.word(),
        carrier: options.carrier.word(),
        bits: options.bits.word(),
        format: options.format,
        primary: prepared.primary().describe(),
        samples: prepared.table().n_samples(),
        cells: prepared.window().n_cells,
        vertices: prepared.extended().n_vertices(),
        // Layers and units, each pair of one arrangement, and the paper's claim.
        size: prepared.size_claim(),
    }
}

/// Writes symbols as `--input` takes them: with spaces between them unless each is a single character.
pub fn spelled(alphabet: &Alphabet, symbols: &[SymbolId]) -> String {
    let names: Vec<&str> = symbols.iter().map(|&symbol| alphabet.name(symbol)).collect();
    names.join(separator(alphabet))
}

/// Returns the separator between two symbols of a tape.
pub fn separator(alphabet: &Alphabet) -> &'static str {
    if alphabet.names().iter().all(|name| name.chars().count() == 1) { "" } else { " " }
}
