//! The edges around a vertex: their slopes are those of the curves drawn, and the steepest one is the machine's step.

use luge::{
    draw::edges::OutgoingEdges,
    job::source::Source,
    trace::{PreparedTrace, TraceOptions},
};
use luge_landscape::LandscapeKind;
use luge_machine::{Input, Machine, parse_inputs};

fn machine(line: &str) -> Machine {
    Source::open(line).expect("a line").read(None).expect("a machine").1.machine
}

fn plan(machine: &Machine, input: &Input, landscape: LandscapeKind) -> PreparedTrace {
    PreparedTrace::new(machine, input, &TraceOptions::dense(landscape)).expect("a plan")
}

fn check(machine: &Machine, input: &Input, landscape: LandscapeKind) {
    let plan = plan(machine, input, landscape);
    let last = plan.machine_steps.expect("a run that halts");
    let mut goes_to: Option<usize> = None;
    for step in 0..=last {
        let leaving = OutgoingEdges::at(machine, &plan, step).expect("edges");
        if let Some(expected) = goes_to {
            assert_eq!(leaving.from, expected, "{landscape:?}, step {step}");
        }
        assert_eq!(leaving.stopped, step == last);
        assert_eq!(leaving.edges.len(), leaving.n_edges);
        if step == last {
            assert_eq!(leaving.successor(), None, "{landscape:?} leaves the halt");
        }
        goes_to = Some(leaving.successor().map_or(leaving.from, |edge| edge.to));
    }
}

#[test]
fn the_steepest_edge_is_the_step_of_the_machine() {
    let champion = machine("1RB1LB_1LA0LC_1RZ1LD_1RD0RA");
    let three_symbols = machine("1RB2LB1RZ_2LA2RB1LB");
    let filled = parse_inputs(&three_symbols, &["12*02"]).expect("an input");
    for landscape in [LandscapeKind::Compact, LandscapeKind::Relu, LandscapeKind::Plain] {
        check(&champion, &Input::blank(), landscape);
        check(&three_symbols, &filled, landscape);
    }
    check(&champion, &Input::blank(), LandscapeKind::Internal);
}

#[test]
fn slopes_are_those_of_the_curves() {
    let champion = machine("1RB1LB_1LA0LC_1RZ1LD_1RD0RA");
    for landscape in LandscapeKind::ALL {
        let plan = plan(&champion, &Input::blank(), landscape);
        for step in [0, 9, 50, 107] {
            let leaving = OutgoingEdges::at(&champion, &plan, step).expect("edges");
            for edge in &leaving.edges {
                // Second order: the curves are parabolas at most up to the first kink at 1/8.
                let [half, whole] = [1.0 / 32.0, 1.0 / 16.0].map(|f| leaving.loss_towards(edge.to, f));
                let slope = (4.0 * half - whole - 3.0 * leaving.loss()) * 16.0;
                let near = (slope - edge.slope).abs() <= 1e-6 * (1.0 + edge.slope.abs());
                assert!(near, "{landscape:?}, step {step}, {}: {slope} and {}", edge.name, edge.slope);
                assert!((leaving.loss_towards(edge.to, 1.0) - edge.end_loss).abs() < 1e-9);
            }
        }
    }
}
