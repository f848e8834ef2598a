//! Dense and sparse, weight by weight: the same loss, the same vertices, the same cells and heads.

use luge::{run::step_checker::StepChecker, trace::TraceOptions};
use luge_landscape::{ExternalConstants, Landscape, LandscapeKind, LandscapeOptions, VertexSet};
use luge_machine::{
    Input, Machine,
    lowering::{Moves, lower},
};
use luge_net::{Network, Values};
use luge_train::{CacheLevel, Dense, Engine, Exact, Precision, Rate, Sparse};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};

use crate::{
    FOUR_STATES, OUTSIDE, filled, machine, options, plan,
    random_machines::{Shape, machine_and_input},
    start,
};

/// Runs both engines for some steps and holds every weight of every iterate to `tolerance`.
pub(crate) fn agree(network: &Network, parameters: &[Values], inputs: &[Values], steps: u64, tolerance: f64) {
    let mut dense =
        Dense::new(network, parameters, inputs, Precision::F64, Rate::One, None).expect("an engine");
    let mut sparse = Sparse::new(network, parameters, inputs).expect("sparse layers");
    let shift = vec![0; sparse.snapshot().tapes.len()];
    for step in 0..=steps {
        let (expected, found) = (dense.loss().expect("a loss"), sparse.loss().expect("a loss"));
        assert!(
            (expected - found).abs() <= tolerance * expected.abs(),
            "loss {expected} and {found} at step {step}"
        );
        let weights = sparse.snapshot().parameters_of(network, &shift).expect("a run that fits");
        for (block, (a, b)) in dense.parameters().expect("weights").iter().zip(&weights).enumerate() {
            let far = a.data.iter().zip(&b.data).position(|(a, b)| (a - b).abs() > tolerance);
            if let Some(at) = far {
                let name = &network.parameters()[block].name;
                panic!("{name}[{at}] is {} in dense, {} in sparse, at step {step}", a.data[at], b.data[at]);
            }
        }
        assert_eq!(dense.path(), sparse.path(), "the paths up to step {step}");
        dense.step().expect("a gradient");
        sparse.step().expect("a gradient");
    }
}

fn check(machine: &Machine, input: &Input, options: &TraceOptions) {
    let plan = plan(machine, input, options);
    let (parameters, inputs) = start(&plan.landscape, &plan);
    agree(plan.landscape.network(), &parameters, &inputs, plan.most_steps, 0.0);
}

#[test]
fn on_a_filled_tape() {
    for kind in OUTSIDE {
        check(&machine(FOUR_STATES), &filled("1101000101110", 7), &options(kind));
    }
}

#[test]
fn on_random_machines() {
    let shape = Shape { n_tapes: 1..=3, n_symbols: 2..=4, start_may_halt: false, may_stay: true };
    let mut runner = TestRunner::deterministic();
    let mut n_checked = 0;
    while n_checked < 150 {
        let (machine, input) =
            machine_and_input(shape.clone()).new_tree(&mut runner).expect("no filter").current();
        if lower(&machine, Moves::Keep).expect("few symbols").normal.n_tapes() > 4 {
            continue;
        }
        for (kind, vertices) in OUTSIDE.into_iter().flat_map(|kind| VertexSet::ALL.map(|set| (kind, set))) {
            check(&machine, &input, &TraceOptions { vertices, steps: Some(40), ..options(kind) });
        }
        n_checked += 1;
    }
}

/// Where an inequality of the constants is violated, training goes wrong, and both engines go wrong in the same way.
#[test]
fn on_landscapes_that_are_too_flat() {
    let mut n_wrong = 0;
    for kind in [LandscapeKind::Compact, LandscapeKind::Relu] {
        for base in [0.0625, 0.125, 0.25, 1.0, 8.0] {
            // Room for 40 steps in a wrong direction.
            let options = TraceOptions { cells: Some(120), ..options(kind) };
            let plan = plan(&machine(FOUR_STATES), &filled("1101000101110", 7), &options);
            let offset = 2.0 * (base * base * base + base) + 512.0;
            let constants = ExternalConstants { base, scale: 1.0, offset };
            let build = LandscapeOptions {
                unchecked: Some(constants),
                ..LandscapeOptions::new(kind, plan.window.n_cells)
            };
            let landscape = Landscape::build(&plan.lowered.normal, &build).expect("a landscape");
            let (parameters, inputs) = start(&landscape, &plan);
            agree(landscape.network(), &parameters, &inputs, 40, 0.0);
            let mut sparse = Sparse::new(landscape.network(), &parameters, &inputs).expect("layers");
            let control = landscape.control().expect("vertices");
            let mut judge = StepChecker::new(
                plan.lowered.normal.machine(),
                &plan.input,
                control,
                plan.window.first.clone(),
            );
            n_wrong += u32::from((0..40).any(|_| {
                sparse.step().expect("a gradient");
                judge.go_to(judge.simulator().steps() + 1);
                judge.compare(&sparse).is_err()
            }));
        }
    }
    assert!(n_wrong >= 2, "only {n_wrong} landscapes went wrong");
}

/// There the exact engine agrees too, or refuses: it never goes another way.
#[test]
fn exact_agrees_or_refuses_on_landscapes_that_are_too_flat() {
    let (mut n_agreed, mut n_refused) = (0, 0);
    let shape = Shape { n_tapes: 1..=3, n_symbols: 2..=2, start_may_halt: false, may_stay: true };
    let mut runner = TestRunner::deterministic();
    for _ in 0..60 {
        let (machine, input) =
            machine_and_input(shape.clone()).new_tree(&mut runner).expect("no filter").current();
        for ((kind, base), vertices) in [LandscapeKind::Compact, LandscapeKind::Relu]
            .into_iter()
            .flat_map(|kind| BASES.map(|b| (kind, b)))
            .flat_map(|which| VertexSet::ALL.map(|vertices| (which, vertices)))
        {
            let options = TraceOptions { steps: Some(30), cells: Some(200), ..options(kind) };
            let plan = plan(&machine, &input, &options);
            let offset = 2.0 * (base * base * base + 3.0 * base) + 4096.0;
            let constants = ExternalConstants { base, scale: 1.0, offset };
            let build = LandscapeOptions {
                vertices,
                unchecked: Some(constants),
                ..LandscapeOptions::new(kind, plan.window.n_cells)
            };
            let landscape = Landscape::build(&plan.lowered.normal, &build).expect("a landscape");
            let (parameters, inputs) = start(&landscape, &plan);
            let network = landscape.network();
            for cache_level in [CacheLevel::Steps, CacheLevel::Macrosteps] {
                let mut sparse = Sparse::new(network, &parameters, &inputs).expect("layers");
                let Ok(mut exact) = Exact::new(network, &parameters, &inputs, cache_level) else {
                    n_refused += 1;
                    continue;
                };
                let mut refused = false;
                for _ in 0..30 {
                    refused |= exact.step().is_err();
                    if refused {
                        break;
                    }
                    sparse.step().expect("a gradient");
                    let same = exact.snapshot().trimmed() == sparse.snapshot().trimmed();
                    assert!(same, "{kind:?}, base {base}, {cache_level:?}: {machine:?}");
                }
                n_refused += u32::from(refused);
                n_agreed += u32::from(!refused);
            }
        }
    }
    assert!(n_agreed > 100 && n_refused > 20, "{n_agreed} agreed, {n_refused} refused");
}

const BASES: [f64; 5] = [0.0625, 0.125, 0.5, 2.0, 8.0];
