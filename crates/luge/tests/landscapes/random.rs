//! Random machines on random tapes: several tapes and symbols, wildcards, read-only tapes, stay moves, heads anywhere.

use std::collections::BTreeSet;

use luge::trace::{PreparedTrace, TraceError, TraceOptions};
use luge_landscape::{BuildError, InternalError, LandscapeKind, VertexSet};
use luge_machine::{
    Access, Input, Machine, Move, Pattern, Simulator, SymbolId,
    lowering::{LoweringError, Moves, lower},
};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};

use crate::{
    OUTSIDE, options,
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
                TraceError::Build(BuildError::Internal(InternalError::TooManyVertices { .. }))
                | TraceError::TooManyDeclared { .. }
                | TraceError::Lowering(LoweringError::NotNormal(_)),
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
