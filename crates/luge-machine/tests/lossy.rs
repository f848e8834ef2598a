//! Lossy conversions: the file runs like the machine, except for the reported losses.

mod random_machines;

use luge_machine::{
    Alphabet, Input, Machine, Missing, Move, Outcome, Pattern, Simulator, SymbolId, TapeInput, Write,
    formats::{Format, Inexpressible, Loss, Obstacle, WriteOptions, Written},
};
use proptest::{collection::vec, prelude::*};
use random_machines::{Shape, machine_and_input};

const LOSSY: WriteOptions = WriteOptions { lossy: true, saved: false };
const OTHERS: [Format; 5] = [
    Format::Bbchallenge,
    Format::Morphett,
    Format::TuringMachineIo,
    Format::TuringMachineSimulator,
    Format::Jflap,
];

fn config() -> ProptestConfig {
    ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() }
}

fn run(machine: &Machine, limit: u64) -> (Outcome, u64) {
    let mut simulator = Simulator::new(machine, &Input::blank());
    (simulator.run(limit), simulator.steps())
}

/// Asserts that the file runs like the machine, except for the reported losses.
fn check_runs(machine: &Machine, format: Format, written: &Written) -> Result<(), TestCaseError> {
    let Written { text, lost } = written;
    let loaded = format.read(text).map_err(|e| TestCaseError::fail(format!("{format}: {e:?}\n{text}")))?;
    let has = |test: fn(&Loss) -> bool| lost.iter().any(test);
    let extra = has(|loss| matches!(loss, Loss::MissingSteps | Loss::StartSteps { .. }));
    let doubled = has(|loss| matches!(loss, Loss::Stay { .. }));
    let (outcome, steps) = run(machine, 200);
    let (found, found_steps) = run(&loaded.machine, if extra || doubled { 402 } else { 200 });
    if outcome == Outcome::StepLimit && (extra || doubled) {
        return Ok(());
    }
    prop_assert_eq!(
        found == Outcome::StepLimit,
        outcome == Outcome::StepLimit,
        "{}: {:?}\n{}",
        format,
        lost,
        text
    );
    if !has(|loss| matches!(loss, Loss::StartAccepts { .. })) {
        prop_assert_eq!(found.accepting(), outcome.accepting(), "{}: {:?}\n{}", format, lost, text);
    }
    let most = if doubled { 2 * steps } else { steps } + 2 * u64::from(extra);
    prop_assert!((steps..=most).contains(&found_steps), "{format}: {steps}, {found_steps}, {lost:?}\n{text}");
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn written_loosely_a_machine_still_does_the_same(
        (machine, input) in machine_and_input(Shape { n_tapes: 1..=1, n_symbols: 1..=5, start_may_halt: true, may_stay: true })
    ) {
        for format in OTHERS {
            match format.write_with(&machine, Some(&input), LOSSY) {
                Ok(written) => {
                    check_runs(&machine, format, &written)?;
                    let strictly = format.write(&machine, Some(&input).filter(|_| format.carries_input()));
                    let only_input = written.lost.iter().all(|loss| matches!(loss, Loss::Input { .. }));
                    prop_assert!(strictly.is_err() || only_input, "{format}: {:?}", written.lost);
                }
                Err(refusal) => prop_assert!(false, "{format}: {refusal}"),
            }
        }
    }

    #[test]
    fn more_tapes_cross_where_there_are_tapes(
        (machine, input) in machine_and_input(Shape { n_tapes: 2..=3, n_symbols: 1..=4, start_may_halt: true, may_stay: true })
    ) {
        for format in OTHERS {
            match format.write_with(&machine, Some(&input), LOSSY) {
                Ok(written) => check_runs(&machine, format, &written)?,
                Err(refusal) => prop_assert!(matches!(refusal, Inexpressible { obstacle: Obstacle::Tapes { .. }, .. }), "{format}: {refusal}"),
            }
        }
    }

    /// The letters and digits of a line are names that other formats keep.
    #[test]
    fn a_line_comes_back_from_other_formats(line in line()) {
        let machine = Format::Bbchallenge.read(&line).unwrap().machine;
        for format in OTHERS {
            let there = format.write_with(&machine, None, LOSSY).unwrap();
            let left_out = |loss: &Loss| matches!(loss, Loss::States { .. } | Loss::Symbols { .. } | Loss::MissingSteps);
            let again = format.read(&there.text).unwrap_or_else(|e| panic!("{e:?}")).machine;
            // turingmachine.io leaves out a symbol that no rule names, and says so in its documentation only.
            let n_symbols = [&machine, &again].map(|machine| machine.tapes()[0].alphabet.len());
            if there.lost.iter().any(left_out) || n_symbols[0] != n_symbols[1] {
                continue;
            }
            let back = Format::Bbchallenge.write_with(&again, None, LOSSY).unwrap();
            // Morphett's start is called `0` and its halting states `halt…`.
            if format != Format::Morphett {
                prop_assert_eq!(&back.text, &line, "{}\n{}", format, there.text);
            }
        }
    }
}

/// A bbchallenge line with up to five rows and four columns.
fn line() -> impl Strategy<Value = String> {
    (1..=5_usize, 2..=4_usize).prop_flat_map(|(n_states, n_symbols)| {
        let step = (0..n_symbols, any::<bool>(), 0..n_states + 1).prop_map(move |(write, left, next)| {
            let next = if next == n_states { 'Z' } else { char::from(b'A' + next as u8) };
            format!("{write}{}{next}", if left { 'L' } else { 'R' })
        });
        let cell = prop_oneof![5 => step, 1 => Just("---".to_owned())];
        vec(vec(cell, n_symbols), n_states).prop_map(|rows| {
            let rows: Vec<String> = rows.into_iter().map(|cells| cells.concat()).collect();
            rows.join("_") + "\n"
        })
    })
}

/// By the site's own ways of writing, without any loss.
#[test]
fn a_line_without_undefined_cells_comes_back_strictly() {
    for line in ["2RB1LA1RZ_1LB2RA0LA\n", "1RC1LA_1RA1LB_1LB1RH\n"] {
        let machine = Format::Bbchallenge.read(line).unwrap().machine;
        let tms = Format::TuringMachineSimulator.write(&machine, None).unwrap();
        let again = Format::TuringMachineSimulator.read(&tms).unwrap().machine;
        assert_eq!(Format::Bbchallenge.write(&again, None).unwrap(), line);
    }
}

#[track_caller]
fn check_lost(machine: &Machine, format: Format, input: Option<&Input>, expected: &[&str]) {
    assert!(format.write(machine, input).is_err() || !format.carries_input());
    let written = format.write_with(machine, input, LOSSY).expect("a lossy conversion");
    let lost: Vec<String> = written.lost.iter().map(Loss::to_string).collect();
    assert_eq!(lost, expected, "{format}");
    check_runs(machine, format, &written).expect("the same run");
}

/// A recogniser with an accepting and a rejecting halt, as Morphett's custom is, crosses into every format.
#[test]
fn recognisers_cross() {
    let text = "0 1 1 r odd\n0 _ _ * halt-accept\nodd 1 1 r 0\nodd _ _ * halt-reject\n; $INITIAL_TAPE: 111\n";
    let loaded = Format::Morphett.read(text).unwrap();
    let (machine, input) = (&loaded.machine, loaded.input.as_ref());
    let rejecting = "state `halt-reject` halts without accepting; in the file the machine stops there because no rule applies";
    let no_place = |format: Format| format!("the input is left out: {format} files have no place for one");
    for format in [Format::TuringMachineSimulator, Format::Jflap] {
        check_lost(machine, format, input, &[&no_place(format), rejecting]);
    }
    let stays = "2 rules stay; in the file they take two steps, right and back";
    check_lost(machine, Format::Bbchallenge, input, &[&no_place(Format::Bbchallenge), rejecting, stays]);
    check_lost(machine, Format::TuringMachineIo, input, &[stays]);
}

#[test]
fn every_loss_is_told() {
    let mut b = Machine::builder();
    b.read_only_tape("book", Alphabet::new(["end", "~", "idle", "1"], SymbolId(0)));
    let [scan, odd] = ["scan", "a,b: c"].map(|name| b.state(name));
    b.state("alone");
    b.halting_state("no", false);
    b.missing(Missing::Halt);
    let is = |symbol: u8| [Pattern::Is(SymbolId(symbol))];
    b.rule(scan, is(1), [Write::Keep], [Move::Right], odd);
    b.rule(odd, is(3), [Write::Keep], [Move::Right], scan);
    let machine = b.build().unwrap();
    check_lost(
        &machine,
        Format::TuringMachineSimulator,
        None,
        &[
            "tape `book` is no longer marked read-only",
            "symbol `idle` of tape `book` is written `i`",
            "state `a,b: c` is called `a-b--c`",
            "where no rule applies the machine halts; in the file it rejects there",
            "state `no` halts without accepting; in the file the machine stops there because no rule applies",
            "states `alone`, `no` are never entered and left out",
            "symbol `i` is in no rule and left out of tape `book`",
        ],
    );
    check_lost(
        &machine,
        Format::Morphett,
        Some(&Input { tapes: vec![TapeInput { symbols: vec![SymbolId(1)], head: -1 }] }),
        &[
            "tape `book` is no longer marked read-only",
            "symbol `idle` of tape `book` is written `i`",
            "where no rule applies the machine stops at once; in the file it takes one more step, into `halt-no-rule`",
            "the input is left out: the head starts to the left of its first cell",
        ],
    );
}

#[test]
fn a_start_that_halts_is_told() {
    let mut b = Machine::builder();
    b.tape("tape", Alphabet::binary());
    b.halting_state("done", true);
    let machine = b.build().unwrap();
    let accepts = "the start state `done` accepts; in the file it halts without accepting";
    check_lost(&machine, Format::Bbchallenge, None, &[accepts]);
    let steps = "the start state `done` halts at once; in the file one step leads into it";
    check_lost(&machine, Format::Morphett, None, &[steps]);
}

/// Strict conversions lose nothing but an input that the format has no place for.
#[test]
fn strict_conversions_say_what_becomes_of_the_input() {
    let loaded =
        Format::Native.read("machine\ntape t: _ 1 blank _\ninput t: 1\nq:\n  1 -> 1, R, q\n").unwrap();
    let (machine, input) = (&loaded.machine, loaded.input.as_ref());
    let strictly = |format: Format| format.write_with(machine, input, WriteOptions::default()).unwrap().lost;
    assert_eq!(strictly(Format::Native), []);
    let told: Vec<String> = strictly(Format::Jflap).iter().map(Loss::to_string).collect();
    assert_eq!(told, ["the input is left out: JFLAP files have no place for one"]);
    let blank = Input { tapes: vec![TapeInput::default()] };
    assert_eq!(Format::Jflap.write_with(machine, Some(&blank), WriteOptions::default()).unwrap().lost, []);
}

#[test]
fn documents_are_saved_where_asked_for() {
    let machine = Format::Bbchallenge.read("1RB1LB_1LA1RZ").unwrap().machine;
    let saved = WriteOptions { saved: true, ..WriteOptions::default() };
    let written = Format::TuringMachineIo.write_with(&machine, None, saved).unwrap();
    assert!(written.text.starts_with("source code: |\n  blank: '0'\n"), "{}", written.text);
    assert_eq!(Format::TuringMachineIo.read(&written.text).unwrap().machine.states(), machine.states());
}
