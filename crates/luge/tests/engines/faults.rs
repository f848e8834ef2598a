//! Faults planted into the exact engine are caught by lockstep, or by the engine itself.

use luge::run::step_checker::StepChecker;
use luge_landscape::LandscapeKind;
use luge_machine::formats::Format;
use luge_train::{CacheLevel, Engine, Exact, Fault, StopRule};

use crate::{FOUR_STATES, OUTSIDE, filled, machine, options, plan, start};

/// Plants a fault before every step of a run in turn; every one that makes a difference must be caught. Returns how many.
fn caught(
    machine: &luge_machine::Machine,
    input: &luge_machine::Input,
    kind: LandscapeKind,
    cache_level: CacheLevel,
    fault: Fault,
) -> u32 {
    let plan = plan(machine, input, &options(kind));
    let (parameters, inputs) = start(&plan.landscape, &plan);
    let control = plan.landscape.control().expect("vertices");
    let stop = plan.landscape.bounds().stop;
    let total = plan.machine_steps.expect("a halt");
    let mut n_caught = 0;
    for planted_at in 0..total {
        let mut engine =
            Exact::new(plan.landscape.network(), &parameters, &inputs, cache_level).expect("exact");
        let normal = plan.lowered.normal.machine();
        let mut judge = StepChecker::new(normal, &plan.input, control, plan.window.first.clone());
        let rule = |most_steps| StopRule { loss_at_most: stop, not_before: 0, most_steps };
        engine.run(&rule(planted_at)).expect("gradients");
        judge.go_to(planted_at);
        judge.compare_all(&engine).expect("no fault yet");
        if !engine.plant(fault).expect("a step") {
            continue;
        }
        let mut noticed = false;
        for _ in planted_at..total {
            if engine.step().is_err() {
                noticed = true;
                break;
            }
            judge.go_to(judge.simulator().steps() + 1);
            if judge.compare(&engine).is_err() {
                noticed = true;
                break;
            }
        }
        assert!(noticed, "{fault:?} planted before step {planted_at} on {kind:?}, {cache_level:?}");
        n_caught += 1;
    }
    n_caught
}

#[test]
fn on_one_tape() {
    for kind in OUTSIDE {
        for cache_level in [CacheLevel::Steps, CacheLevel::Macrosteps] {
            for fault in Fault::ALL {
                let n = caught(&machine(FOUR_STATES), &filled("1101000101110", 7), kind, cache_level, fault);
                assert!(n >= 10, "{fault:?} on {kind:?}: only {n}");
            }
        }
    }
}

/// Two tapes whose heads move apart.
#[test]
fn on_two_tapes() {
    let text = "machine\ntape a: 0 1 blank 0\ntape b: 0 1 blank 0\nstart: go\ngo:\n  0 0 -> 1 1, R L, go\n  1 0 -> 0 1, R R, back\n  0 1 -> 1 0, L S, go\n  1 1 -> 0 0, S L, end\nback:\n  * 0 -> * 1, L L, go\n  * 1 -> * 0, R R, go\nend: accept\n";
    let loaded = Format::Native.read(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let input = luge_machine::parse_inputs(&loaded.machine, &["0010110", "1101"]).expect("an input");
    for kind in [LandscapeKind::Compact, LandscapeKind::Plain] {
        let n: Vec<u32> = Fault::ALL
            .iter()
            .map(|&fault| caught(&loaded.machine, &input, kind, CacheLevel::Steps, fault))
            .collect();
        assert!(n.iter().all(|&n| n >= 2), "{kind:?}: {n:?}");
    }
}

/// A remembered macrostep that leaves a head elsewhere.
#[test]
fn in_a_remembered_macrostep() {
    let machine = machine("1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA");
    let few = luge::trace::TraceOptions { steps: Some(10), ..options(LandscapeKind::Compact) };
    let plan = plan(&machine, &luge_machine::Input::blank(), &few);
    let (parameters, inputs) = start(&plan.landscape, &plan);
    let control = plan.landscape.control().expect("vertices");
    let mut n_caught = 0;
    for planted_at in (10_000..20_000).step_by(500) {
        let network = plan.landscape.network();
        let mut engine = Exact::new(network, &parameters, &inputs, CacheLevel::Macrosteps).expect("exact");
        let normal = plan.lowered.normal.machine();
        let mut judge = StepChecker::new(normal, &plan.input, control, plan.window.first.clone());
        let stop =
            |most_steps| StopRule { loss_at_most: plan.landscape.bounds().stop, not_before: 0, most_steps };
        engine.run(&stop(planted_at)).expect("gradients");
        assert!(engine.plant_in_macrosteps(), "macrosteps are remembered");
        // The rest at one go, so that macrosteps are relied on.
        let ended = engine.run(&stop(30_000));
        judge.go_to(30_000);
        n_caught += u32::from(ended.is_err() || judge.compare_all(&engine).is_err());
    }
    assert_eq!(n_caught, 20);
}
