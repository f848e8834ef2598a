//! Random machines on random tapes: several tapes and symbols, wildcards, read-only tapes, stay moves, heads anywhere.

use std::collections::BTreeSet;

use luge::{
    JobError,
    trace::{PreparedTrace, TraceOptions},
};
use luge_landscape::{BuildError, InternalError, LandscapeKind, VertexSet};
use luge_machine::{
    Access, Input, Machine, Move, Pattern, Simulator, SymbolId,
    lowering::{LoweringError, Moves, lower},
};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};

use luge_net::{Network, Op, Values};
use luge_train::{Dense, Engine, Precision, Rate, ReversePass, vertex_parameter};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use rand_distr::{Distribution, Uniform};

use crate::{
    FOUR_STATES, OUTSIDE, lopsided, machine, options,
    random_machines::{Shape, machine_and_input},
    trace,
};

const MAX_STEPS: u64 = 60;

/// A machine that does something: ten steps at least, through two states or more, with a cell changed.
struct Subject {
    machine: Machine,
    input: Input,
    steps: u64,
}

fn subject(shape: &Shape, runner: &mut TestRunner) -> Option<Subject> {
    let (machine, input) = machine_and_input(shape.clone()).new_tree(runner).expect("no filter").current();
    if lower(&machine, Moves::Keep).expect("few symbols").normal.n_tapes() > 4 {
        return None;
    }
    let mut simulator = Simulator::new(&machine, &input);
    let mut states = BTreeSet::new();
    let mut changes = 0;
    while simulator.steps() < MAX_STEPS {
        states.insert(simulator.state());
        let heads: Vec<_> = machine.tape_ids().map(|t| (t, simulator.head(t))).collect();
        let before: Vec<SymbolId> = simulator.reads();
        if simulator.step().is_err() {
            break;
        }
        changes += heads.iter().zip(before).filter(|&(&(t, h), s)| simulator.tape(t).read(h) != s).count();
    }
    let steps = simulator.steps();
    (steps >= 10 && states.len() >= 2 && changes >= 2).then_some(Subject { machine, input, steps })
}

fn subjects(shape: &Shape, n: usize) -> Vec<Subject> {
    let mut runner = TestRunner::deterministic();
    let mut found = Vec::new();
    while found.len() < n {
        found.extend(subject(shape, &mut runner));
    }
    found
}

fn stays(machine: &Machine) -> bool {
    let mut rules = machine.state_ids().flat_map(|q| machine.rules(q));
    rules.any(|rule| rule.moves.contains(&Move::Stay))
}

fn check(shape: &Shape, n: usize) -> Vec<Subject> {
    let subjects = subjects(shape, n);
    for Subject { machine, input, .. } in &subjects {
        for (kind, vertices) in OUTSIDE.into_iter().flat_map(|kind| VertexSet::ALL.map(|set| (kind, set))) {
            let options = TraceOptions { vertices, steps: Some(MAX_STEPS), ..options(kind) };
            let trace = trace(machine, input, &options);
            let at = format!("{kind:?}, {vertices:?}");
            assert!(trace.matches_machine() && trace.bounds_held, "{at}: {trace:?}\n{machine:?}\n{input:?}");
        }
    }
    subjects
}

const ANY: Shape = Shape { n_tapes: 1..=3, n_symbols: 2..=4, start_may_halt: false, may_stay: true };

#[test]
fn with_stay_moves() {
    let subjects = check(&ANY, 200);
    let count = |has: fn(&Machine) -> bool| subjects.iter().filter(|s| has(&s.machine)).count();
    assert!(count(stays) > 150);
    assert!(count(|m| m.tapes().iter().any(|t| t.access == Access::ReadOnly)) > 30);
    assert!(count(|m| m.tapes().iter().any(|t| t.alphabet.len() > 2)) > 50);
    assert!((1..=3).all(|d| subjects.iter().filter(|s| s.machine.n_tapes() == d).count() > 15));
    assert!(
        count(|m| m.state_ids().any(|q| m.rules(q).iter().any(|r| r.reads.contains(&Pattern::Any)))) > 150
    );
    let filled = |input: &Input| input.tapes.iter().any(|t| t.symbols.len() > 3);
    assert!(subjects.iter().filter(|s| filled(&s.input)).count() > 100);
    assert!(subjects.iter().filter(|s| s.input.tapes.iter().any(|t| t.head != 0)).count() > 100);
}

#[test]
fn without_stay_moves() {
    let subjects = check(&Shape { may_stay: false, ..ANY }, 120);
    assert!(!subjects.iter().any(|s| stays(&s.machine)));
    assert!(subjects.iter().map(|s| s.steps).sum::<u64>() > 120 * 30);
}

/// Cells doubled, two steps for one: the paper's moves only.
#[test]
fn with_strict_moves() {
    for Subject { machine, input, steps } in subjects(&ANY, 40) {
        for kind in [LandscapeKind::Compact, LandscapeKind::Plain] {
            let options = TraceOptions { steps: Some(2 * steps), moves: Moves::Strict, ..options(kind) };
            let trace = trace(&machine, &input, &options);
            assert!(
                trace.matches_machine() && trace.bounds_held,
                "{kind:?}: {trace:?}\n{machine:?}\n{input:?}"
            );
        }
    }
}

/// Landscape A serves every content of the input's cells, so all of them must halt within the tape.
#[test]
fn on_landscape_a() {
    let mut runner = TestRunner::deterministic();
    let mut n_checked = 0;
    while n_checked < 30 {
        let (machine, input) = machine_and_input(ANY).new_tree(&mut runner).expect("no filter").current();
        let options = options(LandscapeKind::Internal);
        if !matches!(Simulator::new(&machine, &input).run(200), luge_machine::Outcome::Halted { .. }) {
            continue;
        }
        match PreparedTrace::new(&machine, &input, &options) {
            // Too large, or already halted: the rules that keep the subjects small.
            Err(
                JobError::Build(BuildError::Internal(InternalError::TooManyVertices(_)))
                | JobError::TooManyDeclared(_)
                | JobError::Lowering(LoweringError::NotNormal(_)),
            ) => continue,
            Err(error) => panic!("{error}\n{machine:?}\n{input:?}"),
            Ok(plan) if plan.machine_steps < Some(5) || plan.landscape.n_vertices() > 3000 => continue,
            Ok(_) => {}
        }
        let trace = trace(&machine, &input, &options);
        let falls = trace.matches_machine() && trace.bounds_held && trace.strictly_falling;
        assert!(falls, "{trace:?}\n{machine:?}\n{input:?}");
        n_checked += 1;
    }
}

/// The reverse pass that certificates differentiate with finds candle's gradient, at random weights of every landscape.
#[test]
fn the_reverse_pass_is_candles() {
    let small = Shape { n_tapes: 1..=1, n_symbols: 2..=2, ..ANY };
    let (internal, outside) = (subjects(&small, 10), subjects(&ANY, 12));
    let outside = outside.iter().flat_map(|subject| OUTSIDE.map(|kind| (subject, kind)));
    let all = internal.iter().map(|subject| (subject, LandscapeKind::Internal)).chain(outside);
    let mut generator = ChaCha8Rng::seed_from_u64(26);
    let around = Uniform::new(-0.5, 0.5).expect("a range that is not empty");
    let mut n_compared = [0; 4];
    for (Subject { machine, input, .. }, kind) in all {
        let options = TraceOptions {
            steps: Some(if kind == LandscapeKind::Internal { 2 } else { 10 }),
            ..options(kind)
        };
        let Ok(plan) = PreparedTrace::new(machine, input, &options) else { continue };
        let (mut parameters, inputs) = plan.landscape.encode(&plan.start).expect("a configuration");
        let network = plan.landscape.network();
        for weight in parameters.iter_mut().flat_map(|block| &mut block.data) {
            *weight += around.sample(&mut generator);
        }
        let mut dense =
            Dense::new(network, &parameters, &inputs, Precision::F64, Rate::One, None).expect("dense");
        let mut pass = ReversePass::new(network);
        let losses = (pass.evaluate(&parameters, &inputs), dense.loss().expect("a loss"));
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0);
        assert!(near(losses.0, losses.1), "{kind:?}: {losses:?}");
        for (ours, theirs) in pass.gradient(1.0).iter().zip(&dense.gradient().expect("a gradient")) {
            assert!(ours.data.iter().zip(&theirs.data).all(|(&a, &b)| near(a, b)), "{kind:?}");
        }
        let start = plan.landscape.encode(&plan.start).expect("a configuration");
        remembers_nothing_wrong(network, pass, start, &mut generator);
        n_compared[kind as usize] += 1;
    }
    assert!(OUTSIDE.iter().all(|&kind| n_compared[kind as usize] >= 3), "{n_compared:?}");
}

/// A pass that remembers other points finds what a new one finds, to the last bit: loss, values and gradient, after one weight has moved
/// or many, wherever they are, and whether the gradient was asked for in between or not.
fn remembers_nothing_wrong(
    network: &Network,
    mut pass: ReversePass<'_>,
    (start, inputs): (Vec<Values>, Vec<Values>),
    generator: &mut ChaCha8Rng,
) {
    let around = Uniform::new(-0.5, 0.5).expect("a range that is not empty");
    let mut parameters = start.clone();
    for round in 0..24_u32 {
        // Most often a vertex is left for another one, as in a step; cells flip, heads go beside their cell, and back.
        for (block, values) in parameters.iter_mut().enumerate() {
            if round % 6 == 5 {
                values.data.clone_from(&start[block].data);
            }
            let n = values.data.len();
            for _ in 0..=generator.next_u32() % 3 {
                let at = generator.next_u32() as usize % n;
                values.data[at] =
                    [0.0, 1.0, -1.0, around.sample(generator)][generator.next_u32() as usize % 4];
            }
        }
        let loss = pass.evaluate(&parameters, &inputs);
        if round % 3 == 1 {
            continue;
        }
        let seed = if round % 4 == 0 { 1.0 } else { 0.75 };
        let mut fresh = ReversePass::new(network);
        assert_eq!(loss.to_bits(), fresh.evaluate(&parameters, &inputs).to_bits(), "round {round}");
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        for (id, node) in network.numbered_nodes() {
            assert_eq!(bits(pass.value(id)), bits(fresh.value(id)), "round {round}, {}", node.name);
        }
        for (ours, theirs) in pass.gradient(seed).iter().zip(&fresh.gradient(seed)) {
            assert_eq!(bits(&ours.data), bits(&theirs.data), "round {round}");
        }
    }
}

/// The digest of a plain graph that is not recognised is that of its vertices, not of vertex 0.
#[test]
fn the_vertex_of_an_unrecognised_plain_graph_is_known() {
    let plan = PreparedTrace::new(&machine(FOUR_STATES), &lopsided(), &options(LandscapeKind::Plain));
    let plan = plan.expect("a plan");
    let network = plan.landscape.network();
    let stop = network.find("[successor]").expect("a stop-gradient");
    let Op::StopGradient(of) = network.node(stop).op else { panic!("a stop-gradient") };
    let other = network.with_op(stop, Op::Sum(vec![(1.0, of)]));
    assert!(other.sparse_layers().is_err());
    assert_eq!(vertex_parameter(&other), vertex_parameter(network));
}
