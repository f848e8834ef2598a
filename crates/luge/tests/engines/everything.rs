//! Every case of tests/suite, all machines with two states, and machines with many tapes, by the fast engines.

use std::ops::ControlFlow;

use luge::{
    JobError,
    run::{
        engine::{EngineChoice, TrainingConfig},
        follow::Comparisons,
    },
    trace::{PreparedTrace, Trace, TraceOptions},
};
use luge_landscape::{BuildError, LandscapeKind};
use luge_machine::{
    Alphabet, Input, Machine, Move, Pattern, SymbolId, TapeInput, Write,
    formats::{Format, Loaded, recognise},
    lowering::LoweringError,
    parse_inputs,
};
use luge_suite::Case;
use luge_train::Outcome;

use crate::{OUTSIDE, filled, machine};

/// Cases longer than this are left to `luge trace`, as the README shows it for the five-state champion.
const MAX_STEPS: u64 = 300_000;

/// Every engine at every step, and exact with its blocks, compared where it ends.
const WAYS: [(EngineChoice, Comparisons); 4] = [
    (EngineChoice::Sparse, Comparisons::Every),
    (EngineChoice::Exact, Comparisons::Every),
    (EngineChoice::Sparse, Comparisons::End),
    (EngineChoice::Exact, Comparisons::End),
];

fn trace(machine: &Machine, input: &Input, options: &TraceOptions) -> Result<Trace, JobError> {
    PreparedTrace::new(machine, input, options)?.run(|_| ControlFlow::Continue(()))
}

fn load(case: &Case) -> (Machine, Input) {
    let at = case.path.display();
    let (extension, text) = match case.machine_path() {
        Some(path) => {
            let extension = path.extension().map(|e| e.to_string_lossy().into_owned());
            (extension, std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{at}: {e}")))
        }
        None => (None, case.line.clone().unwrap_or_else(|| panic!("{at}: no machine"))),
    };
    let format: Format = recognise(extension.as_deref(), &text).unwrap_or_else(|e| panic!("{at}: {e}"));
    let Loaded { machine, input, .. } = format.read(&text).unwrap_or_else(|e| panic!("{at}: {e:?}"));
    let input = match &case.inputs {
        Some(texts) => parse_inputs(&machine, texts).unwrap_or_else(|e| panic!("{at}: {e}")),
        None => input.unwrap_or_else(Input::blank),
    };
    (machine, input)
}

#[test]
fn of_the_suite() {
    let cases = luge_suite::cases("");
    let mut n_traced = [0; 3];
    for case in &cases {
        let (machine, input) = load(case);
        let steps = Some(case.limit.min(MAX_STEPS));
        for (kind, n_traced) in OUTSIDE.into_iter().zip(&mut n_traced) {
            for (engine, compare) in WAYS {
                let options = TraceOptions {
                    landscape: kind,
                    manner: TrainingConfig::by(engine),
                    compare,
                    steps,
                    ..TraceOptions::default()
                };
                let at = format!("{}, {kind:?}, {engine:?}, {compare:?}", case.path.display());
                match trace(&machine, &input, &options) {
                    Ok(trace) => {
                        assert!(trace.matches_machine() && trace.bounds_held, "{at}: {trace:?}");
                        let ended = case.outcome != "step-limit" && case.steps <= MAX_STEPS;
                        let converged = Outcome::Converged { steps: case.steps };
                        assert_eq!(trace.outcome == converged, ended, "{at}: {:?}", trace.outcome);
                        *n_traced += 1;
                    }
                    // The start state halts, or the ReLU form has too many edges.
                    Err(JobError::Lowering(LoweringError::NotNormal(_))) => assert_eq!(case.steps, 0),
                    Err(JobError::Build(BuildError::TooManyEdges { .. })) => {
                        assert_eq!(kind, LandscapeKind::Relu)
                    }
                    Err(error) => panic!("{at}: {error}"),
                }
            }
        }
    }
    let all = WAYS.len() * cases.len();
    println!("{n_traced:?} of {all} traces");
    assert!(n_traced[0] == n_traced[2] && n_traced[0] + 3 * WAYS.len() >= all, "{n_traced:?}");
    assert!(n_traced[1] * 10 >= all * 9, "{n_traced:?}");
}

#[test]
fn of_all_machines_with_two_states() {
    let all = luge_suite::asked_for("exhaustive");
    let tape = filled("1101000101110010100001101111001", 14);
    let mut n_steps = 0;
    for index in (0..12_usize.pow(4)).step_by(if all { 1 } else { 41 }) {
        let cell = |choice: usize| {
            let (write, way) = (choice % 2, ["L", "R"][choice / 2 % 2]);
            format!("{write}{way}{}", ["A", "B", "Z"][choice / 4])
        };
        let cells: Vec<String> = (0..4).map(|place| cell(index / 12_usize.pow(place) % 12)).collect();
        let machine = machine(&format!("{}{}_{}{}", cells[0], cells[1], cells[2], cells[3]));
        for kind in OUTSIDE {
            for (engine, compare) in WAYS {
                let steps = Some(200);
                let options = TraceOptions {
                    landscape: kind,
                    manner: TrainingConfig::by(engine),
                    compare,
                    steps,
                    ..TraceOptions::default()
                };
                let trace = trace(&machine, &tape, &options).expect("a trace");
                assert!(trace.matches_machine() && trace.bounds_held, "machine {index}, {kind:?}: {trace:?}");
                n_steps += trace.outcome.steps();
            }
        }
    }
    assert!(n_steps > 10_000);
}

/// Twelve tapes, fifty states, each of which looks at two of the tapes and moves two: 204,800 vertices.
fn twelve_tapes() -> (Machine, Input) {
    const N_TAPES: usize = 12;
    let mut b = Machine::builder();
    for tape in 0..N_TAPES {
        b.tape(format!("{tape}"), Alphabet::binary());
    }
    let states: Vec<_> = (0..50).map(|i| b.state(format!("s{i}"))).collect();
    for (i, &state) in states.iter().enumerate() {
        let (one, other) = (i * 5 % N_TAPES, (i * 7 + 3) % N_TAPES);
        for (a, c) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let mut reads = vec![Pattern::Any; N_TAPES];
            let mut writes = vec![Write::Keep; N_TAPES];
            let mut moves = vec![Move::Stay; N_TAPES];
            reads[one] = Pattern::Is(SymbolId(a));
            writes[one] = Write::Put(SymbolId(1 - a));
            moves[one] = if c == 0 { Move::Right } else { Move::Left };
            if other != one {
                reads[other] = Pattern::Is(SymbolId(c));
                moves[other] = if a == 0 { Move::Left } else { Move::Right };
            }
            let next = states[(i * 3 + usize::from(a) * 11 + usize::from(c) * 17 + 1) % states.len()];
            b.rule(state, reads, writes, moves, next);
            if other == one {
                break;
            }
        }
    }
    let laid = |tape: usize| TapeInput {
        symbols: (0..9).map(|cell| SymbolId(u8::from((cell * cell + tape) % 3 == 1))).collect(),
        head: tape as i64 % 5,
    };
    (b.build().expect("a machine"), Input { tapes: (0..N_TAPES).map(laid).collect() })
}

#[test]
fn of_a_machine_with_twelve_tapes() {
    let (machine, input) = twelve_tapes();
    for kind in [LandscapeKind::Compact, LandscapeKind::Plain] {
        for engine in [EngineChoice::Sparse, EngineChoice::Exact] {
            let steps = Some(100_000);
            let options = TraceOptions {
                landscape: kind,
                manner: TrainingConfig::by(engine),
                steps,
                ..TraceOptions::default()
            };
            let trace = trace(&machine, &input, &options).expect("a trace");
            assert!(trace.matches_machine() && trace.bounds_held, "{kind:?}, {engine:?}: {trace:?}");
        }
    }
}

/// All 47,176,870 steps, each compared with the simulator; with `LUGE_TEST=exhaustive` on every landscape.
#[test]
fn of_the_five_state_champion() {
    let all = luge_suite::asked_for("exhaustive");
    let champion = machine("1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA");
    for kind in if all { &OUTSIDE[..] } else { &OUTSIDE[..1] } {
        for (engine, compare) in WAYS {
            if compare == Comparisons::Every && !all {
                continue;
            }
            let options = TraceOptions {
                landscape: *kind,
                manner: TrainingConfig::by(engine),
                compare,
                ..TraceOptions::default()
            };
            let trace = trace(&champion, &Input::blank(), &options).expect("a trace");
            assert!(trace.matches_machine() && trace.bounds_held, "{kind:?}, {engine:?}: {trace:?}");
            assert_eq!(trace.outcome, Outcome::Converged { steps: 47_176_870 });
        }
    }
}

/// `--cells` limits the number of cells of a tape, wherever they are.
#[test]
fn within_a_limit_on_cells() {
    let champion = machine("1RB1LB_1LA0LC_1RZ1LD_1RD0RA");
    for engine in [EngineChoice::Dense, EngineChoice::Sparse, EngineChoice::Exact] {
        let options = |cells| TraceOptions {
            manner: TrainingConfig::by(engine),
            cells: Some(cells),
            ..TraceOptions::default()
        };
        let enough = trace(&champion, &Input::blank(), &options(14)).expect("a trace");
        assert_eq!(enough.outcome, Outcome::Converged { steps: 107 }, "{engine:?}");
        match trace(&champion, &Input::blank(), &options(13)) {
            Ok(trace) => assert!(matches!(trace.outcome, Outcome::OutOfCells { .. }), "{engine:?}"),
            Err(error) => assert!(matches!(error, JobError::TooFewCells { needed: 14, given: 13 })),
        }
    }
}
