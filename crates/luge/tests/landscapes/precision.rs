//! Numbers: which precision and how much noise each landscape bears.

use luge::run::engine::{EngineChoice, TrainingConfig};
use luge::trace::{PreparedTrace, TraceOptions};
use luge_landscape::{
    ConstantOptions, ConstantsError, ExternalConstants, Landscape, LandscapeKind, LandscapeOptions,
    Undecodable,
};
use luge_machine::{Input, Simulator};
use luge_train::{Dense, Engine, Outcome, Precision, Rate};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};

use crate::{
    FOUR_STATES, OUTSIDE, lopsided, machine, options,
    random_machines::{Shape, machine_and_input},
    trace,
};

#[test]
fn f32_is_exact() {
    for kind in OUTSIDE {
        for (input, steps) in [(Input::blank(), 107), (lopsided(), 75)] {
            let options = TraceOptions {
                manner: TrainingConfig {
                    precision: Precision::F32,
                    ..TrainingConfig::by(EngineChoice::Dense)
                },
                ..options(kind)
            };
            let trace = trace(&machine(FOUR_STATES), &input, &options);
            assert!(trace.matches_machine() && trace.bounds_held, "{kind:?}: {trace:?}");
            assert_eq!(trace.outcome, Outcome::Converged { steps }, "{kind:?}");
        }
    }
}

#[test]
fn plain_is_exact_in_sixteen_bits() {
    for precision in [Precision::F16, Precision::Bf16] {
        for (input, steps) in [(Input::blank(), 107), (lopsided(), 75)] {
            let options = TraceOptions {
                manner: TrainingConfig { precision, ..TrainingConfig::by(EngineChoice::Dense) },
                ..options(LandscapeKind::Plain)
            };
            let trace = trace(&machine(FOUR_STATES), &input, &options);
            assert!(trace.matches_machine() && trace.bounds_held, "{precision:?}: {trace:?}");
            assert_eq!(trace.outcome, Outcome::Converged { steps }, "{precision:?}");
        }
    }
}

/// b = 16 is the least that one tape allows. Then b^3 + b = 4112 has nine significant bits and bf16 has eight: it
/// becomes 4096, and nothing speaks any more for keeping the symbol that will be read again.
#[test]
fn bf16_has_too_few_bits_for_base_16() {
    for kind in [LandscapeKind::Compact, LandscapeKind::Relu] {
        let options = TraceOptions {
            manner: TrainingConfig { precision: Precision::Bf16, ..TrainingConfig::by(EngineChoice::Dense) },
            ..options(kind)
        };
        let trace = trace(&machine(FOUR_STATES), &Input::blank(), &options);
        assert!(!trace.matches_machine() && !trace.bounds_held, "{kind:?}");
        let mismatch = trace.first_mismatch.expect("a mismatch");
        assert_eq!((mismatch.step, mismatch.why), (6, Undecodable::Symbol(0).to_string()), "{kind:?}");
    }
}

/// The first of 107 iterates of the four-state champion that is wrong, with constants nobody checks.
fn first_wrong(kind: LandscapeKind, base: f64, precision: Precision) -> Option<u64> {
    let plan = PreparedTrace::new(&machine(FOUR_STATES), &Input::blank(), &options(kind)).expect("a plan");
    let constants = ExternalConstants { base, scale: 1.0, offset: 2.0 * (base * base * base + base) };
    let build =
        LandscapeOptions { unchecked: Some(constants), ..LandscapeOptions::new(kind, plan.window.n_cells) };
    let landscape = Landscape::build(&plan.lowered.normal, &build).expect("a landscape");
    let (parameters, inputs) = landscape.encode(&plan.start).expect("encoded");
    let engine = Dense::new(landscape.network(), &parameters, &inputs, precision, Rate::One, None);
    let mut engine = engine.expect("an engine");
    let mut simulator = Simulator::new(plan.lowered.normal.machine(), &plan.input);
    (1..=107).find(|_| {
        engine.step().expect("a step");
        let _ = simulator.step();
        let found = landscape.decode(&engine.parameters().expect("parameters"), &inputs);
        plan.window.compare(&simulator, found).is_err()
    })
}

/// With b = 8 every iterate is right in bf16. But 512 <= 515: the halting level no longer lies below the running one,
/// so training would not know when to stop, and the constants are refused.
#[test]
fn bf16_traces_with_base_8_but_cannot_stop() {
    for kind in [LandscapeKind::Compact, LandscapeKind::Relu] {
        assert_eq!(first_wrong(kind, 8.0, Precision::Bf16), None, "{kind:?}");
        assert_eq!(first_wrong(kind, 16.0, Precision::Bf16), Some(6), "{kind:?}");
        assert_eq!(first_wrong(kind, 16.0, Precision::F16), None, "{kind:?}");
    }
    let asked = ConstantOptions { base: Some(8.0), ..ConstantOptions::default() };
    assert!(matches!(ExternalConstants::choose(1, &asked), Err(ConstantsError::Base { .. })));
}

/// Two or three tapes need b = 32. With scale 2^-6 everything fits into f16; with scale 1 the loss itself is too large.
#[test]
fn f16_holds_base_32_if_scaled() {
    let shape = Shape { n_tapes: 2..=3, n_symbols: 2..=2, start_may_halt: false, may_stay: true };
    let mut runner = TestRunner::deterministic();
    let mut n_checked = 0;
    while n_checked < 25 {
        let (machine, input) =
            machine_and_input(shape.clone()).new_tree(&mut runner).expect("no filter").current();
        for kind in [LandscapeKind::Compact, LandscapeKind::Relu] {
            let mut options = TraceOptions {
                manner: TrainingConfig {
                    precision: Precision::F16,
                    ..TrainingConfig::by(EngineChoice::Dense)
                },
                steps: Some(40),
                ..options(kind)
            };
            options.constants.scale = Some(1.0 / 64.0);
            let scaled = trace(&machine, &input, &options);
            // The loss itself is rounded to whole numbers here, so its bounds hold only nearly.
            assert!(scaled.decodes_to_machine(), "{kind:?}: {scaled:?}\n{machine:?}\n{input:?}");
            options.constants.scale = None;
            let unscaled = trace(&machine, &input, &options);
            assert_eq!(unscaled.outcome, Outcome::Diverged { steps: 0 }, "{kind:?}");
            n_checked += usize::from(scaled.outcome.steps() >= 10);
        }
    }
}

/// Whether the four-state champion is traced under noise, for five seeds.
fn survives(kind: LandscapeKind, sigma: f64) -> [bool; 5] {
    [1, 2, 3, 4, 5].map(|seed| {
        let options = TraceOptions {
            manner: TrainingConfig { noise: Some((sigma, seed)), ..TrainingConfig::by(EngineChoice::Dense) },
            ..options(kind)
        };
        trace(&machine(FOUR_STATES), &Input::blank(), &options).decodes_to_machine()
    })
}

#[test]
fn only_plain_forgives_noise() {
    assert_eq!(survives(LandscapeKind::Plain, 0.05), [true; 5]);
    assert_eq!(survives(LandscapeKind::Compact, 0.05), [false; 5]);
    assert_eq!(survives(LandscapeKind::Relu, 0.05), [false; 5]);
    assert_eq!(survives(LandscapeKind::Compact, 0.01), [false; 5]);
    assert_ne!(survives(LandscapeKind::Compact, 0.001), [true; 5]);
    assert_eq!(survives(LandscapeKind::Compact, 0.0), [true; 5]);
}
