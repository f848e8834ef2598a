//! Every case of tests/suite that stops within 500 steps: the network ends where the case says.

use std::fs;

use luge::{JobError, trace::PreparedTrace};
use luge_landscape::{Configuration, LandscapeKind};
use luge_machine::{
    Cell, Input, Machine, Simulator, SymbolId, TapeId,
    formats::{Format, Loaded, recognise},
    lowering::{Lowered, LoweringError, Moves, lower},
    parse_inputs,
};
use luge_suite::Case;
use luge_train::{Outcome, Precision};

use crate::{OUTSIDE, follow, options};

const MAX_STEPS: u64 = 500;

/// Edges of the ReLU form, or vertices of the others, beyond which a landscape is not trained here.
const MAX_UNITS: usize = 200_000;

/// 3 * 4^d |Q| edges, or 2^d |Q| vertices.
fn n_units(lowered: &Lowered, kind: LandscapeKind) -> usize {
    let (d, n_states) = (lowered.normal.n_tapes(), lowered.normal.n_states());
    if kind == LandscapeKind::Relu { (3 * n_states) << (2 * d) } else { n_states << d }
}

fn load(case: &Case) -> (Machine, Input) {
    let at = case.path.display();
    let (extension, text) = match case.machine_path() {
        Some(path) => {
            let extension = path.extension().map(|e| e.to_string_lossy().into_owned());
            (extension, fs::read_to_string(&path).unwrap_or_else(|e| panic!("{at}: {e}")))
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

/// Contents without outer blanks, and how many cells are not blank.
fn contents(machine: &Machine, tape: TapeId, symbols: &[SymbolId]) -> (String, u64) {
    let alphabet = &machine.tape(tape).alphabet;
    let filled = |s: &SymbolId| *s != alphabet.blank();
    let from = symbols.iter().position(filled).unwrap_or(0);
    let to = symbols.iter().rposition(filled).map_or(from, |last| last + 1);
    let text = symbols[from..to].iter().map(|&s| alphabet.name(s)).collect();
    (text, symbols.iter().filter(|s| filled(s)).count() as u64)
}

/// Holds the configuration training ended in to what the case says of the source machine.
fn check_end(case: &Case, machine: &Machine, plan: &PreparedTrace, end: &Configuration) {
    let at = case.path.display();
    let state = plan.lowered.decode_state(end.state).unwrap_or_else(|| panic!("{at}: between two steps"));
    if let Some(name) = &case.state {
        assert_eq!(&machine.state(state).name, name, "{at}");
    }
    let read = |track: TapeId, cell: Cell| {
        let inside = plan.window.index(track, cell).map(|i| end.tapes[track.index()][i]);
        SymbolId(u8::from(inside.unwrap_or(false)))
    };
    let n_cells = Cell::try_from(plan.window.n_cells).expect("small");
    let mut found = Vec::new();
    for tape in machine.tape_ids() {
        let first = plan.window.first[plan.lowered.tracks(tape).next().expect("a track").index()];
        let symbol = |cell| plan.lowered.decode_cell(tape, cell, read).expect("a symbol of the source");
        let symbols: Vec<SymbolId> = (first..first + n_cells).map(symbol).collect();
        found.push(contents(machine, tape, &symbols));
        if let Some(heads) = &case.heads {
            for track in plan.lowered.tracks(tape) {
                let head = plan.window.first[track.index()]
                    + Cell::try_from(end.heads[track.index()]).expect("small");
                assert_eq!(head, heads[tape.index()], "{at}: head of {track}");
            }
        }
    }
    let (texts, filled): (Vec<String>, Vec<u64>) = found.into_iter().unzip();
    if let Some(tapes) = &case.tapes {
        assert_eq!(&texts, tapes, "{at}");
    }
    if let Some(nonzero) = case.nonzero {
        assert_eq!(filled.iter().sum::<u64>(), nonzero, "{at}");
    }
}

/// Whether the case is trained on this landscape; it must end there as the case says.
fn check(case: &Case, kind: LandscapeKind) -> bool {
    let at = case.path.display();
    let (machine, input) = load(case);
    match lower(&machine, Moves::Keep) {
        Ok(lowered) if n_units(&lowered, kind) <= MAX_UNITS => {}
        Ok(_) | Err(LoweringError::TooManyTracks { .. }) => return false,
        Err(error @ LoweringError::Samples { .. }) => panic!("{at}: {error}"),
        Err(LoweringError::NotNormal(error)) => {
            // Nothing to train: the start state halts.
            assert_eq!(case.steps, 0, "{at}: {error}");
            return false;
        }
    }
    let plan = match PreparedTrace::new(&machine, &input, &options(kind)) {
        Ok(plan) => plan,
        // Landscape A serves every content of the input, which is too much for the longer ones.
        Err(JobError::TooManyDeclared(_)) if kind == LandscapeKind::Internal => return false,
        Err(error) => panic!("{at}, {kind:?}: {error}"),
    };
    let (outcome, iterates) = follow(&plan.landscape, &plan.start, Precision::F64, None, MAX_STEPS + 1);
    assert_eq!(outcome, Outcome::Converged { steps: case.steps }, "{at}, {kind:?}");
    let end = iterates.last().expect("an iterate").as_ref();
    check_end(case, &machine, &plan, end.unwrap_or_else(|e| panic!("{at}, {kind:?}: {e}")));
    true
}

#[test]
fn training_meets_every_short_case() {
    let cases = luge_suite::cases("");
    let stops = |case: &&Case| case.outcome != "step-limit" && case.steps <= MAX_STEPS;
    let short: Vec<&Case> = cases.iter().filter(stops).collect();
    assert!(short.len() >= 20);
    let halted_at_start = short.iter().filter(|case| lower(&load(case).0, Moves::Keep).is_err()).count();
    assert_eq!(halted_at_start, 3, "cases whose start state halts");
    for kind in OUTSIDE {
        let trained = short.iter().filter(|case| check(case, kind)).count();
        println!("{kind:?}: {trained} of {} cases", short.len());
        assert_eq!(trained, short.len() - halted_at_start, "{kind:?}");
    }
    let inside = short.iter().filter(|case| check(case, LandscapeKind::Internal)).count();
    println!("internal: {inside} of {} cases", short.len());
    assert!(inside + 6 >= short.len(), "landscape A: only {inside} of {}", short.len());
}

/// The simulator on the source machine gives the same numbers.
#[test]
fn the_simulator_makes_the_same_number_of_steps() {
    for case in luge_suite::cases("") {
        let (machine, input) = load(&case);
        let mut simulator = Simulator::new(&machine, &input);
        simulator.run(case.limit);
        assert_eq!(simulator.steps(), case.steps, "{}", case.path.display());
    }
}
