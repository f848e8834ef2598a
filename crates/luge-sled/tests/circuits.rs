//! Programs as circuits: the circuit simulator must end like the interpreter on the samples that the circuit took.

mod machines;
mod writer;

use luge_circuit::{Cycle, Sample, Simulator};
use luge_sled::{CircuitOptions, CompiledCircuit, Outcome, Program, Rows, Settings, Sizes, Verdict};
use machines::{interpret, refuse, sizes};
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};
use writer::{program, with_labels, without_tapes};

/// More cycles than any of these programs takes.
const MAX_CYCLES: u64 = 200_000;

/// A number that depends on its position alone.
fn number(at: u64, sizes: &Sizes) -> i64 {
    let mixed = (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) as i64) << (64 - sizes.width())
        >> (64 - sizes.width())
}

fn checked(source: &str, sizes: &Sizes) -> Program {
    Program::new(source, sizes, &Settings::default())
        .unwrap_or_else(|findings| panic!("{findings:?}:\n{source}"))
}

fn compiled(source: &str, sizes: &Sizes, rows: Option<Rows>) -> CompiledCircuit {
    let options = CircuitOptions { rows, ..CircuitOptions::default() };
    checked(source, sizes).compile_circuit(options).unwrap_or_else(|error| panic!("{error}:\n{source}"))
}

fn bits(numbers: &[i64], width: u32) -> Vec<bool> {
    numbers.iter().flat_map(|number| (0..width).map(move |bit| number >> bit & 1 == 1)).collect()
}

/// The circuit's verdict and theta, its cycles, and the samples that it took from a stream.
fn run(
    compiled: &CompiledCircuit,
    sizes: &Sizes,
    mut sample: impl FnMut(u64, usize) -> Vec<i64>,
) -> (Verdict, Vec<i64>, u64, Vec<Vec<i64>>) {
    let mut simulator = Simulator::new(&compiled.circuit);
    let mut taken = Vec::new();
    let verdict = loop {
        if simulator.steps() == MAX_CYCLES {
            break Verdict::Limit;
        }
        let passing = sample(simulator.steps(), taken.len());
        let coded = Sample {
            features: bits(&passing[..sizes.n_features], sizes.width()),
            label: bits(&passing[sizes.n_features..], sizes.width()),
        };
        match simulator.step(&coded).unwrap_or_else(|error| panic!("{error}\n{}", compiled.circuit)) {
            Cycle::Halted if compiled.has_rejected(simulator.registers()) => break Verdict::Rejected,
            Cycle::Halted => break Verdict::Accepted,
            Cycle::Take => taken.push(passing),
            Cycle::Run => {}
        }
    };
    (verdict, compiled.theta(simulator.registers()), simulator.steps(), taken)
}

fn agree(source: &str, sizes: &Sizes) -> (Outcome, u64) {
    let compiled = compiled(source, sizes, None);
    let n_numbers = (sizes.n_features + sizes.n_labels) as u64;
    let (verdict, theta, cycles, taken) = run(&compiled, sizes, |step, _| {
        (0..n_numbers).map(|i| number(step * n_numbers + i, sizes)).collect()
    });
    let reference =
        interpret(source, sizes, &taken, 10_000_000).unwrap_or_else(|findings| refuse(source, &findings));
    assert_eq!(verdict, reference.verdict, "{source}\n{taken:?}");
    if verdict == Verdict::Accepted {
        assert_eq!(theta, reference.theta, "{source}\n{taken:?}");
    }
    // The first sample is held from the start.
    assert_eq!(reference.taken.max(1), taken.len(), "{source}");
    (reference, cycles)
}

/// The number of programs, or N with `LUGE_TEST=cases=N`.
#[test]
fn circuits_do_what_the_interpreter_does() {
    let cases = luge_suite::number("cases", 200_u32);
    let dice = TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), dice);
    let numbers = prop::collection::vec(any::<u8>(), 0..240);
    let (mut accepted, mut cycles, mut statements) = (0, 0, 0);
    for case in 0..cases {
        let numbers = numbers.new_tree(&mut runner).expect("numbers").current();
        let (integer, fraction) = [(3, 2), (4, 4), (2, 6), (6, 0), (8, 8)][case as usize % 5];
        let n_labels = 1 + case as usize / 5 % 3;
        let source = with_labels(&without_tapes(&program(numbers, true)), n_labels);
        let (outcome, taken) = agree(&source, &sizes(2, n_labels, integer, fraction));
        accepted += u32::from(outcome.verdict == Verdict::Accepted);
        cycles += taken;
        statements += outcome.statements;
    }
    println!("{accepted} of {cases} programs came to their end: {statements} statements in {cycles} cycles");
    assert!(accepted >= cases / 2, "most programs are rejected: {accepted} of {cases} are not");
}

/// The rows of a table repeat in a cycle, each for some steps, and the circuit waits for the row that it needs.
#[test]
fn tables_pass_in_a_cycle() {
    let cases = luge_suite::number("cases", 100_u32);
    let dice = TestRng::from_seed(RngAlgorithm::ChaCha, &[12; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), dice);
    let numbers = prop::collection::vec(any::<u8>(), 0..240);
    let (mut n_nested, mut n_looping) = (0, 0);
    for case in 0..cases as usize {
        let numbers = numbers.new_tree(&mut runner).expect("numbers").current();
        let (integer, fraction) = [(3, 2), (4, 4), (2, 6), (6, 0), (8, 8)][case % 5];
        let sizes = sizes(2, 1, integer, fraction);
        let source = without_tapes(&program(numbers, false));
        let n_rows = 1 + case % 4;
        let table: Vec<Vec<i64>> =
            (0..n_rows).map(|row| (0..3).map(|i| number((row * 3 + i) as u64, &sizes)).collect()).collect();
        let hold = [None, Some(1), Some(2), Some(9)][case / 5 % 4];
        let rows = Some(Rows { n_rows, hold });
        let options = CircuitOptions { rows, ..CircuitOptions::default() };
        let compiled = match checked(&source, &sizes).compile_circuit(options) {
            Ok(compiled) => compiled,
            Err(error) => {
                assert!(error.to_string().contains("inside another"), "{error}:\n{source}");
                n_nested += 1;
                continue;
            }
        };
        n_looping += usize::from(source.contains("for sample in data"));
        let reference = interpret(&source, &sizes, &table, 10_000_000)
            .unwrap_or_else(|findings| refuse(&source, &findings));
        let (verdict, theta, _, _) = match hold {
            // On demand: every loop begins with the first row, and the circuit shows which row it wants.
            None if source.contains("for sample in data") => continue,
            None => run(&compiled, &sizes, |_, _| table[0].clone()),
            Some(hold) => run(&compiled, &sizes, |step, _| table[step as usize / hold % n_rows].clone()),
        };
        assert_eq!(verdict, reference.verdict, "{source}\n{table:?} {hold:?}");
        if verdict == Verdict::Accepted {
            assert_eq!(theta, reference.theta, "{source}\n{table:?} {hold:?}");
        }
    }
    println!("{n_looping} of {cases} programs loop over the data, {n_nested} refused for a loop in a loop");
    assert!(n_looping > cases as usize / 20, "{n_looping} of {cases} programs loop over the data");
}

/// A program that begins with a loop.
#[test]
fn programs_begin_with_a_loop() {
    let source = "learner l(x: [fix<I,F>; 2], y: fix<I,F>) -> theta: [fix<I,F>; 1] {
        while theta[0] < 3 { take; theta[0] += 1; }
    }";
    assert_eq!(agree(source, &sizes(2, 1, 4, 4)).0.theta, [48]);
}

/// Programs that cannot be circuits give errors.
#[test]
fn refusals_say_why() {
    let refused = |body: &str, rows: Option<Rows>| {
        let source = format!("learner l(x: [fix<I,F>; 2], y: fix<I,F>) -> theta: [fix<I,F>; 1] {{ {body} }}");
        let options = CircuitOptions { rows, ..CircuitOptions::default() };
        let result = checked(&source, &sizes(2, 1, 4, 4)).compile_circuit(options);
        result.expect_err("no circuit").to_string()
    };
    let large = refused("let many: [fix<I,F>; 5000]; take; many[0] = x[0];", None);
    assert!(large.contains("registers") && large.contains("8192"), "{large}");
    assert!(refused("let t: tape; t.write(true);", None).contains("`t`"));
    assert!(refused("for sample in data { theta[0] += y; }", None).contains("there is none"));
    let rows = Some(Rows { n_rows: 3, hold: Some(4) });
    let nested = "for sample in data { for sample in data { theta[0] += y; } }";
    assert!(refused(nested, rows).contains("line 1"));
}
