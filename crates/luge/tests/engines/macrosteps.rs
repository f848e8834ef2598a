//! Macrosteps of remembered steps, on machines with many tapes of which each state looks at a few, and with heads that walk to a mark.

use std::ops::ControlFlow;

use luge::{
    job::{TrainJob, catalogue},
    run::{
        follow::{ObservationRate, RunProgress},
        step_checker::StepChecker,
    },
    trace::{PreparedTrace, TraceOptions},
};
use luge_landscape::LandscapeKind;
use luge_machine::{Alphabet, Input, Machine, Move, Pattern, SymbolId, TapeInput, Write};
use luge_net::faults;
use luge_train::{CacheLevel, Engine, Exact, Sparse, StopRule};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

use crate::{lockstep::many, plan, start};

/// Draws of one machine.
struct Draws(ChaCha8Rng);

impl Draws {
    fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn way(&mut self) -> Move {
        [Move::Left, Move::Right, Move::Stay][self.below(3)]
    }
}

/// A machine with 2 to 16 tapes. Its states look at one or two of them, or none; some write what they did not look at, and half of
/// their rules continue in the same state.
fn walker(seed: u64) -> (Machine, Input) {
    let mut draws = Draws(ChaCha8Rng::seed_from_u64(seed));
    let n_tapes = 2 + draws.below(15);
    let mut b = Machine::builder();
    (0..n_tapes).for_each(|i| _ = b.tape(format!("t{i}"), Alphabet::binary()));
    let n_states = 2 + draws.below(7);
    let states: Vec<_> = (0..n_states).map(|i| b.state(format!("s{i}"))).collect();
    let end = b.halting_state("end", true);
    for &state in &states {
        let looks_at: Vec<usize> =
            (0..[1, 1, 2, 2, 2, 0][draws.below(6)]).map(|_| draws.below(n_tapes)).collect();
        let others: Vec<usize> = (0..draws.below(3)).map(|_| draws.below(n_tapes)).collect();
        for found in 0..1 << looks_at.len() {
            let mut reads = vec![Pattern::Any; n_tapes];
            let mut writes = vec![Write::Keep; n_tapes];
            let mut moves = vec![Move::Stay; n_tapes];
            for (i, &tape) in looks_at.iter().enumerate() {
                reads[tape] = Pattern::Is(SymbolId(found >> i & 1));
                if draws.chance(40) {
                    writes[tape] = Write::Put(SymbolId(draws.below(2) as u8));
                }
                moves[tape] = draws.way();
            }
            for &tape in &others {
                moves[tape] = draws.way();
                if draws.chance(15) {
                    writes[tape] = Write::Put(SymbolId(draws.below(2) as u8));
                }
            }
            let stays = draws.chance(50) && moves.iter().any(|way| *way != Move::Stay);
            let next = if stays {
                state
            } else if draws.chance(2) {
                end
            } else {
                states[draws.below(n_states)]
            };
            b.rule(state, reads, writes, moves, next);
        }
    }
    let machine = b.build().expect("a machine");
    let tape = |draws: &mut Draws| {
        let symbols = (0..draws.below(60)).map(|_| SymbolId(u8::from(draws.chance(30)))).collect();
        TapeInput { symbols, head: draws.below(40) as i64 - 10 }
    };
    let tapes = (0..n_tapes).map(|_| tape(&mut draws)).collect();
    (machine, Input { tapes })
}

/// What runs by macrosteps were.
#[derive(Default)]
struct Made {
    steps: u64,
    by_macrosteps: u64,
    widened: u32,
    narrowed: u32,
}

/// Holds runs by macrosteps to the sparse engine and to the simulator.
fn check(seed: u64, kind: LandscapeKind, made: &mut Made) {
    let (machine, input) = walker(seed);
    let options = TraceOptions {
        landscape: kind,
        steps: Some(3000),
        autodiff_checks: Some(1),
        ..TraceOptions::default()
    };
    let plan = plan(&machine, &input, &options);
    let (parameters, inputs) = start(&plan.landscape, &plan);
    let network = plan.landscape.network();
    let loss_at_most = plan.landscape.bounds().stop;
    let rule = |most_steps| StopRule { loss_at_most, not_before: 0, most_steps };
    let exact =
        |cache_level| Exact::new(network, &parameters, &inputs, cache_level).expect("exact arithmetic");
    let mut sparse = Sparse::new(network, &parameters, &inputs).expect("sparse layers");
    let outcome = sparse.run(&rule(plan.most_steps)).expect("gradients");
    for (cache_level, soon) in
        [(CacheLevel::Steps, false), (CacheLevel::Macrosteps, false), (CacheLevel::Macrosteps, true)]
    {
        let mut engine = exact(cache_level);
        if soon {
            engine.widen_soon();
        }
        // Interrupted at odd places, so that macrosteps are cut short.
        for most_steps in [7, 100, 101, 1013] {
            engine.run(&rule(most_steps.min(plan.most_steps))).expect("gradients");
        }
        let at = format!("{cache_level:?}, widened soon: {soon}, machine {seed} on {kind:?}");
        assert_eq!(engine.run(&rule(plan.most_steps)).expect("gradients"), outcome, "{at}");
        assert_eq!(engine.losses(), sparse.losses(), "{at}");
        assert!(engine.snapshot().trimmed() == sparse.snapshot().trimmed(), "{at}: weights or path");
        let control = plan.landscape.control().expect("vertices");
        let mut judge =
            StepChecker::new(plan.lowered.normal.machine(), &plan.input, control, plan.window.first.clone());
        judge.go_to(outcome.steps());
        judge.compare_all(&engine).unwrap_or_else(|e| panic!("{at}: {e}"));
        let (widened, narrowed) = engine.has_widened();
        made.widened += u32::from(widened);
        made.narrowed += u32::from(narrowed);
    }
    if seed % 8 < 2 {
        watched_less_closely(&plan, seed);
    }
    let (mut engine, mut macrosteps) = (exact(CacheLevel::Macrosteps), Vec::new());
    if seed.is_multiple_of(2) {
        engine.widen_soon();
    }
    made.steps += outcome.steps();
    while engine.steps() < outcome.steps() {
        let before = engine.steps();
        match engine
            .run_by_macrosteps(&rule(outcome.steps()), usize::MAX, &mut macrosteps)
            .expect("gradients")
        {
            true => made.by_macrosteps += engine.steps() - before,
            false => engine.step().expect("a gradient"),
        }
    }
}

/// Whoever watches seldom gets the same record, with every iterate compared.
fn watched_less_closely(plan: &PreparedTrace, seed: u64) {
    let follow = |attention| plan.follow(None, attention, |_| ControlFlow::Continue(())).expect("a run");
    let closely = follow(ObservationRate::Steps);
    assert_eq!((closely.mismatches, closely.n_compared), (0, closely.outcome.steps() + 1), "machine {seed}");
    for attention in [ObservationRate::Strides, ObservationRate::Moments] {
        let trace = follow(attention);
        let record = |t: &luge::trace::Trace| {
            (t.outcome, t.mismatches, t.n_compared, t.loss, t.bounds_held, t.strictly_falling, t.path)
        };
        assert_eq!(record(&trace), record(&closely), "machine {seed}, {attention:?}");
    }
}

#[test]
fn are_the_steps_they_stand_for() {
    let mut made = Made::default();
    let n_machines = many(12_000) as u64;
    for seed in 0..n_machines {
        let kind = if seed % 4 == 0 { LandscapeKind::Plain } else { LandscapeKind::Compact };
        check(seed, kind, &mut made);
    }
    let Made { steps, by_macrosteps, widened, narrowed } = made;
    assert!(by_macrosteps > steps / 2, "only {by_macrosteps} of {steps} steps by macrosteps");
    let n = n_machines as u32;
    assert!(widened > n / 2 && narrowed > n / 60, "{widened} widened, {narrowed} narrowed");
}

/// The judge certifies the same, word for word, with a core of its own and without one.
#[test]
fn are_judged_alike_on_one_core_and_on_two() {
    let job = TrainJob::of(catalogue::SHIPPED[0].source()).expect("a learner");
    let lesson = job.prepare().expect("its data");
    let judged = || {
        let watch = |_: RunProgress<'_>| ControlFlow::Continue(());
        let report = lesson.follow(None, ObservationRate::Moments, watch).expect("a run");
        (report.outcome, report.theta, report.certificate)
    };
    let beside = judged();
    assert!(beside.2.proves_the_run(), "{:?}", beside.2);
    let planted = faults::plant("a judge without a core");
    assert_eq!(judged(), beside);
    drop(planted);
}

/// A remembered macrostep that leaves something else behind.
#[test]
fn a_spoilt_one_is_caught() {
    let (mut n_caught, mut n_relied_on) = (0, 0);
    for seed in 0..400 {
        let (machine, input) = walker(seed);
        let plan = plan(&machine, &input, &TraceOptions { steps: Some(2000), ..TraceOptions::default() });
        let (parameters, inputs) = start(&plan.landscape, &plan);
        let network = plan.landscape.network();
        let loss_at_most = plan.landscape.bounds().stop;
        let stop = |most_steps| StopRule { loss_at_most, not_before: 0, most_steps };
        let mut engine = Exact::new(network, &parameters, &inputs, CacheLevel::Macrosteps).expect("exact");
        engine.run(&stop(1000)).expect("gradients");
        if engine.steps() < 1000 || !engine.plant_in_macrosteps() {
            continue;
        }
        let mut relied_on = Vec::new();
        let ended = engine.run_by_macrosteps(&stop(1800), usize::MAX, &mut relied_on);
        let control = plan.landscape.control().expect("vertices");
        let mut judge =
            StepChecker::new(plan.lowered.normal.machine(), &plan.input, control, plan.window.first.clone());
        judge.go_to(engine.steps());
        let caught = ended.is_err() || judge.compare_all(&engine).is_err();
        n_caught += u32::from(caught);
        n_relied_on += u32::from(!relied_on.is_empty());
    }
    // The others went round in macrosteps that change nothing, in which there was nothing to spoil.
    assert!(n_caught > 100 && n_caught * 10 > n_relied_on * 9, "{n_caught} of {n_relied_on}");
}
