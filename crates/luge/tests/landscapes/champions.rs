//! The champions that ship with Luge, up to 107 steps.

use luge_landscape::LandscapeKind;
use luge_machine::{Input, lowering::Moves};
use luge_train::Rate;

use crate::{OUTSIDE, TWO_STATES, filled, machine, options, trace};
use luge::{
    run::engine::{EngineChoice, TrainingConfig},
    trace::TraceOptions,
};

const CHAMPIONS: &str = include_str!("../../data/champions.csv");

/// Lines and steps of the champions that make at most 107 of them.
fn short_champions() -> Vec<(&'static str, u64)> {
    let row = |line: &'static str| {
        let (machine, rest) = line.split_once(',')?;
        Some((machine, rest.split_once(',')?.0.parse().ok()?))
    };
    let rows = CHAMPIONS.lines().skip(1).map(|line| row(line).unwrap_or_else(|| panic!("{line}")));
    rows.filter(|&(_, steps)| steps <= 107).collect()
}

#[test]
fn traced_exactly_where_tapes_lie_outside() {
    let champions = short_champions();
    assert_eq!(champions.iter().map(|c| c.1).collect::<Vec<_>>(), [6, 21, 107, 38]);
    for (line, steps) in champions {
        for kind in OUTSIDE {
            // No champion stays anywhere, so strict moves change nothing: the same number of steps.
            for moves in [Moves::Keep, Moves::Strict] {
                let trace = trace(&machine(line), &Input::blank(), &TraceOptions { moves, ..options(kind) });
                assert!(
                    trace.matches_machine() && trace.bounds_held,
                    "{line}, {kind:?}, {moves:?}: {trace:?}"
                );
                assert_eq!(trace.outcome.steps(), steps, "{line}, {kind:?}");
                assert_eq!(trace.machine_steps, Some(steps), "{line}, {kind:?}");
            }
        }
    }
}

#[test]
fn two_states_fall_strictly_on_landscape_a() {
    let inputs = [Input::blank(), filled("0110", 2), filled("10", 0), filled("1110", -1)];
    for input in inputs {
        for rate in [Rate::One, Rate::LineSearch] {
            let options = TraceOptions {
                manner: TrainingConfig { rate, ..TrainingConfig::by(EngineChoice::Dense) },
                ..options(LandscapeKind::Internal)
            };
            let trace = trace(&machine(TWO_STATES), &input, &options);
            assert!(
                trace.matches_machine() && trace.bounds_held && trace.strictly_falling,
                "{input:?}, {rate:?}: {trace:?}"
            );
            assert!(trace.machine_steps >= Some(1), "{input:?}");
        }
    }
}
