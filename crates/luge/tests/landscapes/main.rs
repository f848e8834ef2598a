//! Training traces machines: the evidence, landscape by landscape.

#[path = "../../../luge-machine/tests/random_machines/mod.rs"]
mod random_machines;

mod champions;
mod corrections;
mod precision;
mod random;
mod suite;
mod two_states;

use std::ops::ControlFlow;

use luge::trace::{PreparedTrace, Trace, TraceOptions};
use luge_landscape::{Configuration, Landscape, LandscapeKind, Undecodable};
use luge_machine::{Input, Machine, SymbolId, TapeInput, formats::Format};
use luge_train::{Dense, Engine, Noise, Outcome, Precision, Rate, StopRule, train};

/// The landscapes whose tapes lie outside of the vertex.
const OUTSIDE: [LandscapeKind; 3] = [LandscapeKind::Compact, LandscapeKind::Relu, LandscapeKind::Plain];

const TWO_STATES: &str = "1RB1LB_1LA1RZ";
const THREE_STATES: &str = "1RB1RZ_1LB0RC_1LC1LA";
const FOUR_STATES: &str = "1RB1LB_1LA0LC_1RZ1LD_1RD0RA";

/// A machine given as a bbchallenge line.
fn machine(line: &str) -> Machine {
    let loaded = Format::Bbchallenge.read(line);
    loaded.unwrap_or_else(|errors| panic!("{line}: {errors:?}")).machine
}

/// One tape, given by its digits, with the head somewhere on it.
fn filled(digits: &str, head: i64) -> Input {
    let symbols = digits.bytes().map(|digit| SymbolId(digit - b'0')).collect();
    Input { tapes: vec![TapeInput { symbols, head }] }
}

/// A tape without symmetry, on which the four-state champion makes 75 steps.
fn lopsided() -> Input {
    filled("1101000101110", 7)
}

fn options(landscape: LandscapeKind) -> TraceOptions {
    TraceOptions::dense(landscape)
}

fn trace(machine: &Machine, input: &Input, options: &TraceOptions) -> Trace {
    let plan = PreparedTrace::new(machine, input, options).unwrap_or_else(|e| panic!("{options:?}: {e}"));
    let trace = plan.run(|_| ControlFlow::Continue(()));
    trace.unwrap_or_else(|e| panic!("{options:?}: {e}"))
}

/// Trains without the simulator: returns how training ended, and the configuration of every iterate.
fn follow(
    landscape: &Landscape,
    start: &Configuration,
    precision: Precision,
    noise: Option<Noise>,
    most_steps: u64,
) -> (Outcome, Vec<Result<Configuration, Undecodable>>) {
    let (parameters, inputs) = landscape.encode(start).expect("a configuration of the landscape");
    let engine = Dense::new(landscape.network(), &parameters, &inputs, precision, Rate::One, noise);
    let mut engine = engine.expect("an engine");
    let stop = StopRule { loss_at_most: landscape.bounds().stop, not_before: 0, most_steps };
    let mut iterates = Vec::new();
    let outcome = train(&mut engine, &stop, |iterate| {
        let parameters = iterate.engine.parameters().expect("parameters");
        iterates.push(landscape.decode(&parameters, &inputs));
        ControlFlow::Continue(())
    });
    (outcome.expect("gradients"), iterates)
}
