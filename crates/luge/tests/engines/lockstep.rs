//! Compares every engine with the simulator, step by step.

use luge::{run::step_checker::StepChecker, trace::TraceOptions};
use luge_landscape::{LandscapeKind, VertexSet};
use luge_machine::{
    Input, Machine, Simulator,
    lowering::{Moves, lower},
};
use luge_net::{Network, Values};
use luge_train::{CacheLevel, Engine, Exact, LossRange, Outcome, Snapshot, Sparse, StopRule};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};

use crate::{
    FOUR_STATES, OUTSIDE, filled, machine, options, plan,
    random_machines::{Shape, machine_and_input},
    start,
};

/// Every iterate is the machine's configuration; returns the losses.
fn follow(engine: &mut dyn Engine, judge: &mut StepChecker<'_>, stop: &StopRule, at: &str) -> LossRange {
    let mut losses: Option<LossRange> = None;
    judge.compare_all(engine).unwrap_or_else(|e| panic!("{at}: {e} at the start"));
    loop {
        let loss = engine.loss().expect("a loss");
        losses = Some(losses.map_or(LossRange::of(loss), |range| range.and(loss)));
        let steps = engine.steps();
        assert_eq!(
            judge.simulator().stopped().is_some(),
            loss <= stop.loss_at_most,
            "{at}: loss {loss} at step {steps}"
        );
        if loss <= stop.loss_at_most || steps == stop.most_steps {
            break;
        }
        engine.step().expect("a gradient");
        judge.go_to(judge.simulator().steps() + 1);
        judge.compare(engine).unwrap_or_else(|e| panic!("{at}: {e} at step {}", steps + 1));
    }
    judge.compare_all(engine).unwrap_or_else(|e| panic!("{at}: {e} at the end"));
    losses.expect("an iterate")
}

fn check(machine: &Machine, input: &Input, options: &TraceOptions) {
    let plan = plan(machine, input, options);
    let (parameters, inputs) = start(&plan.landscape, &plan);
    let network = plan.landscape.network();
    let control = plan.landscape.control().expect("vertices");
    let stop =
        StopRule { loss_at_most: plan.landscape.bounds().stop, not_before: 0, most_steps: plan.most_steps };
    let judge =
        || StepChecker::new(plan.lowered.normal.machine(), &plan.input, control, plan.window.first.clone());
    let at = |name: &str| format!("{name} on {:?}, {machine:?}, {input:?}", options.landscape);

    let mut sparse = Sparse::new(network, &parameters, &inputs).expect("sparse layers");
    let losses = follow(&mut sparse, &mut judge(), &stop, &at("sparse"));
    let mut ends: Vec<(String, Outcome, Option<LossRange>, Snapshot)> = Vec::new();
    let mut whole = Sparse::new(network, &parameters, &inputs).expect("sparse layers");
    ends.push(("sparse".to_owned(), whole.run(&stop).expect("gradients"), whole.losses(), whole.snapshot()));
    for cache_level in [CacheLevel::Steps, CacheLevel::Macrosteps] {
        let new = || Exact::new(network, &parameters, &inputs, cache_level).expect("exact arithmetic");
        let name = format!("{cache_level:?}");
        assert_eq!(follow(&mut new(), &mut judge(), &stop, &at(&name)), losses, "{}", at(&name));
        let mut whole = new();
        let outcome = whole.run(&stop).expect("gradients");
        let mut judge = judge();
        judge.go_to(outcome.steps());
        judge.compare_all(&whole).unwrap_or_else(|e| panic!("{}: {e}", at(&name)));
        ends.push((name, outcome, whole.losses(), whole.snapshot()));
    }
    for (name, outcome, range, end) in &ends {
        assert_eq!((*outcome, *range), (ends[0].1, Some(losses)), "{}", at(name));
        assert!(end.trimmed() == ends[0].3.trimmed(), "{}: weights or path", at(name));
    }
    resumed_half_way(network, (&parameters, &inputs), &stop, &ends[0].3);
}

/// Resumed from the bytes of a snapshot, engines arrive at the same weights by the same path.
fn resumed_half_way(
    network: &Network,
    (parameters, inputs): (&[Values], &[Values]),
    stop: &StopRule,
    end: &Snapshot,
) {
    let half = StopRule { most_steps: end.step / 2, ..*stop };
    let mut first = Sparse::new(network, parameters, inputs).expect("sparse layers");
    first.run(&half).expect("gradients");
    let snapshot = Snapshot::from_bytes(&first.snapshot().to_bytes()).expect("a snapshot");
    let mut sparse = Sparse::resume(network, &snapshot, None, inputs).expect("sparse layers");
    let mut exact = Exact::resume(network, &snapshot, None, inputs, CacheLevel::Macrosteps).expect("exact");
    for engine in [&mut sparse as &mut dyn Engine, &mut exact] {
        engine.run(stop).expect("gradients");
        assert!(
            engine.snapshot().trimmed() == end.trimmed(),
            "{} resumed at {}",
            engine.name(),
            snapshot.step
        );
    }
}

#[test]
fn on_a_filled_tape() {
    for kind in OUTSIDE {
        check(&machine(FOUR_STATES), &filled("1101000101110", 7), &options(kind));
    }
}

/// Random machines with up to `most` binary tapes, `n` of them.
fn random(shape: &Shape, most: usize, n: usize, steps: u64, kinds: &[LandscapeKind]) {
    let mut runner = TestRunner::deterministic();
    let mut n_checked = 0;
    while n_checked < n {
        let (machine, input) =
            machine_and_input(shape.clone()).new_tree(&mut runner).expect("no filter").current();
        if lower(&machine, Moves::Keep).expect("few symbols").normal.n_tapes() > most {
            continue;
        }
        for &kind in kinds {
            // Both sets, in turn.
            let vertices = VertexSet::ALL[n_checked % 2];
            check(&machine, &input, &TraceOptions { vertices, steps: Some(steps), ..options(kind) });
        }
        n_checked += 1;
    }
}

const ANY: Shape = Shape { n_tapes: 1..=3, n_symbols: 2..=4, start_may_halt: false, may_stay: true };

/// So many machines where everything is to be checked, and one in twenty otherwise.
pub(crate) fn many(n: usize) -> usize {
    if luge_suite::asked_for("exhaustive") { n } else { n / 20 }
}

#[test]
fn on_random_machines() {
    random(&ANY, 4, many(5000), 60, &OUTSIDE);
}

#[test]
fn on_random_machines_with_one_tape() {
    random(&Shape { n_tapes: 1..=1, n_symbols: 2..=6, ..ANY }, 4, many(4000), 400, &OUTSIDE);
}

#[test]
fn on_random_machines_with_up_to_six_tapes() {
    random(
        &Shape { n_tapes: 2..=6, n_symbols: 2..=3, ..ANY },
        9,
        many(2000),
        60,
        &[LandscapeKind::Compact, LandscapeKind::Plain],
    );
}

/// Wherever a run of macrosteps is interrupted, the engine is in the simulator's configuration.
#[test]
fn interrupted_anywhere() {
    let machine = machine(FOUR_STATES);
    let input = filled("1101000101110", 7);
    let plan = plan(&machine, &input, &options(LandscapeKind::Compact));
    let (parameters, inputs) = start(&plan.landscape, &plan);
    let control = plan.landscape.control().expect("vertices");
    let mut simulator = Simulator::new(&machine, &input);
    simulator.run(1 << 20);
    for first in 0..=simulator.steps() {
        for cache_level in [CacheLevel::Steps, CacheLevel::Macrosteps] {
            let network = plan.landscape.network();
            let mut engine = Exact::new(network, &parameters, &inputs, cache_level).expect("exact");
            let machine = plan.lowered.normal.machine();
            let mut judge = StepChecker::new(machine, &plan.input, control, plan.window.first.clone());
            for most_steps in [first, first + 1, first + 9, 1 << 20] {
                let stop = StopRule { loss_at_most: plan.landscape.bounds().stop, not_before: 0, most_steps };
                let steps = engine.run(&stop).expect("gradients").steps();
                judge.go_to(steps);
                judge.compare_all(&engine).unwrap_or_else(|e| panic!("{cache_level:?}: {e} at step {steps}"));
                let again = Exact::resume(network, &engine.snapshot(), engine.losses(), &inputs, cache_level);
                engine = again.expect("a snapshot");
            }
            assert_eq!(engine.steps(), simulator.steps());
        }
    }
}
