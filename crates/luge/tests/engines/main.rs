//! Compares the fast engines with the dense engine and with the simulator.

#[path = "../../../luge-machine/tests/random_machines/mod.rs"]
mod random_machines;

#[path = "../extended/classroom.rs"]
#[expect(dead_code, reason = "shared with other tests")]
mod classroom;

mod agreement;
mod everything;
mod extended;
mod faults;
mod lockstep;
mod macrosteps;
mod spots;

use luge::trace::{PreparedTrace, TraceOptions};
use luge_landscape::{Landscape, LandscapeKind};
use luge_machine::{Input, Machine, SymbolId, TapeInput, formats::Format};

/// The landscapes that have sparse layers.
const OUTSIDE: [LandscapeKind; 3] = [LandscapeKind::Compact, LandscapeKind::Relu, LandscapeKind::Plain];

const FOUR_STATES: &str = "1RB1LB_1LA0LC_1RZ1LD_1RD0RA";

fn machine(line: &str) -> Machine {
    Format::Bbchallenge.read(line).unwrap_or_else(|errors| panic!("{line}: {errors:?}")).machine
}

fn filled(digits: &str, head: i64) -> Input {
    let symbols = digits.bytes().map(|digit| SymbolId(digit - b'0')).collect();
    Input { tapes: vec![TapeInput { symbols, head }] }
}

fn options(landscape: LandscapeKind) -> TraceOptions {
    TraceOptions::dense(landscape)
}

fn plan(machine: &Machine, input: &Input, options: &TraceOptions) -> PreparedTrace {
    PreparedTrace::new(machine, input, options).unwrap_or_else(|e| panic!("{options:?}: {e}"))
}

fn start(landscape: &Landscape, plan: &PreparedTrace) -> (Vec<luge_net::Values>, Vec<luge_net::Values>) {
    landscape.encode(&plan.start).expect("a configuration of the landscape")
}
