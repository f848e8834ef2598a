//! Programs that take their samples from a stream: the compiled machine must do what the interpreter does with the samples
//! that the machine took.

mod machines;
mod writer;

use luge_machine::{
    Cell, Outcome, SymbolId, TapeId,
    stream::{Batch, Memory, StreamOutcome, StreamSimulator, check},
};
use luge_sled::{Compiled, Program, Settings, Sizes, Verdict};
use machines::{compile, interpret, lay, refuse, sizes, theta};
use proptest::{
    prelude::*,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};
use writer::program;

/// More steps than any of these programs takes.
const MAX_STEPS: u64 = 5_000_000;

/// The batch of a step: numbers that depend on the step alone.
fn batch(step: u64, sizes: &Sizes, n_samples: usize) -> Vec<Vec<i64>> {
    let unused = 64 - sizes.width();
    let number = |i: usize| {
        let mixed = (step * 64 + i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) as i64) << unused >> unused
    };
    let n_numbers = sizes.n_features + sizes.n_labels;
    (0..n_samples).map(|sample| (0..n_numbers).map(|i| number(sample * n_numbers + i)).collect()).collect()
}

/// Features or labels of a batch, bit by bit.
fn bits(batch: &[Vec<i64>], sizes: &Sizes, columns: std::ops::Range<usize>) -> Vec<SymbolId> {
    let numbers = batch.iter().flat_map(|sample| &sample[columns.clone()]);
    let bits = numbers.flat_map(|number| (0..sizes.width()).map(move |bit| number >> bit & 1));
    bits.map(|bit| SymbolId(u8::from(bit == 1))).collect()
}

/// The machine's memory for a batch.
fn memory(compiled: &Compiled, sizes: &Sizes, n_samples: usize) -> Memory {
    let tape = compiled.machine.tapes().iter().position(|tape| tape.name == "data").map(TapeId::new);
    let (width, n_numbers) = (sizes.width() as usize, sizes.n_features + sizes.n_labels);
    let cells = |is_feature: bool| {
        let wanted = move |number: &usize| (number % n_numbers < sizes.n_features) == is_feature;
        let numbers = (0..n_samples * n_numbers).filter(wanted);
        numbers
            .flat_map(|number| (1 + number * width..1 + (number + 1) * width).map(|cell| cell as Cell))
            .collect()
    };
    Memory { tape: tape.expect("a tape"), features: cells(true), labels: cells(false) }
}

/// The machine's verdict and theta on a stream of batches, its steps, and the samples that it took.
fn run(compiled: &Compiled, sizes: &Sizes, n_samples: usize) -> (Verdict, Vec<i64>, u64, Vec<Vec<i64>>) {
    let nothing = vec![vec![0; sizes.n_features + sizes.n_labels]; n_samples];
    let input = lay(compiled, sizes, &nothing);
    let mut simulator = StreamSimulator::new(&compiled.machine, &input, memory(compiled, sizes, n_samples));
    let mut taken = Vec::new();
    let n_features = sizes.n_features;
    let verdict = loop {
        if simulator.steps() == MAX_STEPS {
            break Verdict::Limit;
        }
        let passing = batch(simulator.steps(), sizes, n_samples);
        let step = simulator.step(|| {
            taken.extend(passing.clone());
            Batch {
                features: bits(&passing, sizes, 0..n_features),
                labels: bits(&passing, sizes, n_features..n_features + sizes.n_labels),
            }
        });
        match step {
            Ok(_) => {}
            Err(StreamOutcome::Stopped(Outcome::Halted { accepting: true, .. })) => break Verdict::Accepted,
            Err(StreamOutcome::Stopped(Outcome::Halted { .. })) => break Verdict::Rejected,
            Err(other) => panic!("{other:?}"),
        }
    };
    let theta = theta(compiled, sizes, simulator.simulator());
    (verdict, theta, simulator.steps(), taken)
}

/// Asserts that machine and interpreter end in the same way. Returns theta and the number of samples used.
fn agree(source: &str, sizes: &Sizes, n_samples: usize) -> (Vec<i64>, usize) {
    let compiled = compile(source, sizes).unwrap_or_else(|error| panic!("{error}:\n{source}"));
    assert!(compiled.takes);
    check(&compiled.machine).unwrap_or_else(|breach| panic!("{breach}:\n{source}"));
    let (verdict, found, _, taken) = run(&compiled, sizes, n_samples);
    let reference =
        interpret(source, sizes, &taken, 10_000_000).unwrap_or_else(|findings| refuse(source, &findings));
    assert_eq!(verdict, reference.verdict, "{source}\n{taken:?}");
    assert_eq!(taken.len().div_ceil(n_samples), reference.taken.div_ceil(n_samples), "{source}");
    if verdict == Verdict::Accepted {
        assert_eq!(found, reference.theta, "{source}\n{taken:?}");
    }
    (reference.theta, reference.taken)
}

/// A learner with one feature and one label.
fn learner(body: &str) -> String {
    format!("learner one(x: [fix<I,F>; 1], y: fix<I,F>) -> theta: [fix<I,F>; 4] {{ {body} }}")
}

fn taken(source: &str, n_samples: usize) -> usize {
    agree(source, &sizes(1, 1, 4, 4), n_samples).1
}

#[test]
fn samples_are_taken_anywhere() {
    let in_loops = learner("for i in 0..3 { take; theta[i] = y; if y > 0 { take; } theta[3] += x[0]; }");
    let counted = learner("let n: int<6>; while n < 9 { n += 1; take; theta[n / 4] += x[0] + y; }");
    let many = learner(
        "let s: fix<I + 4,F>; for i in 0..5000 { take; s += y as fix<I + 4,F>; } theta[0] = s as fix<I,F>;",
    );
    for n_samples in [1, 2, 7] {
        assert!((3..=6).contains(&taken(&in_loops, n_samples)));
        assert_eq!(taken(&counted, n_samples), 9);
    }
    assert_eq!(taken(&many, 3), 5000);
}

#[test]
fn functions_take_and_operands_are_read_from_left_to_right() {
    let functions = "fn next() -> fix<I,F> { take; return 0; } fn plus(a: fix<I,F>) -> fix<I,F> { let b = next(); return a + b; }\n";
    let source = learner(
        "take; theta[0] = y; theta[1] = y + next(); theta[2] = next() + y; theta[3] = plus(x[0]) + x[0];",
    );
    let sizes = sizes(1, 1, 4, 4);
    for n_samples in [1, 2] {
        agree(&(functions.to_owned() + &source), &sizes, n_samples);
    }
    // Four samples: (1, 2), (3, 4), (5, 6), (7, 8), in sixteenths.
    let samples = [[1, 2], [3, 4], [5, 6], [7, 8]].map(Vec::from);
    let outcome = interpret(&(functions.to_owned() + &source), &sizes, &samples, 1000).expect("a program");
    assert_eq!((outcome.theta, outcome.taken), (vec![2, 2, 6, 5 + 7], 4));
}

#[test]
fn before_the_first_sample_there_are_zeros() {
    let source = learner("theta[0] = y + x[0] + 1; take; theta[1] = y; take; theta[2] = x[0];");
    for n_samples in [1, 2, 7] {
        let (theta, taken) = agree(&source, &sizes(1, 1, 4, 4), n_samples);
        assert_eq!((theta[0], taken), (16, 2));
    }
}

/// The program in docs/sled.md: the fifth of these samples is the third in a row with a positive label.
#[test]
fn the_program_of_the_page() {
    let page = include_str!("../../../docs/sled.md");
    let mut programs = page.split("```sled\n").skip(1).filter_map(|rest| rest.split("```").next());
    let program = programs.find(|program| program.contains("take;")).unwrap();
    agree(program, &sizes(1, 1, 6, 2), 1);
    let samples = [3, -1, 2, 1, 1, 5].map(|label| vec![0, label]);
    let outcome = interpret(program, &sizes(1, 1, 6, 2), &samples, 1000).expect("a program");
    assert_eq!((outcome.verdict, outcome.taken, outcome.theta[0]), (Verdict::Accepted, 5, 20));
}

#[test]
fn a_program_that_waits_has_not_ended() {
    let source = learner("while true { take; theta[0] += y; }");
    let outcome = interpret(&source, &sizes(1, 1, 4, 4), &[vec![0, 1], vec![0, 2]], 1000).expect("a program");
    assert_eq!((outcome.verdict, outcome.taken, outcome.theta[0]), (Verdict::Waiting, 2, 3));
}

#[test]
fn either_a_stream_or_a_table() {
    for source in [
        learner("for sample in data { take; }"),
        learner("take; for sample in data { theta[0] += y; }"),
        format!(
            "fn next() -> bit {{ take; return true; }}\n{}",
            learner("for sample in data {} let b = next();")
        ),
    ] {
        let findings = Program::new(&source, &sizes(1, 1, 4, 4), &Settings::default()).expect_err("both");
        let said = findings[0].one_line(&source);
        assert!(said.contains("a loop over the data in a learner that takes samples"), "{said}");
        assert!(findings[0].help.as_ref().is_some_and(|help| help.contains("use either")));
    }
}

/// Random programs on random streams, batches of 1, 2 and 7; a failure prints its program.
#[test]
fn machines_on_streams_do_what_the_interpreter_does() {
    let cases = luge_suite::number("cases", 300);
    let config =
        ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 60, ..Default::default() };
    let format = prop_oneof![Just((3, 2)), Just((4, 4)), Just((2, 6)), Just((6, 0))];
    let numbers = prop::collection::vec(any::<u8>(), 0..200);
    let dice = TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]);
    let n_taking = std::cell::Cell::new(0);
    TestRunner::new_with_rng(config, dice)
        .run(
            &(numbers, format, prop_oneof![Just(1), Just(2), Just(7)]),
            |(numbers, (integer, fraction), n_samples)| {
                let sizes = sizes(2, 1, integer, fraction);
                let (_, n_taken) = agree(&program(numbers, true), &sizes, n_samples);
                n_taking.set(n_taking.get() + u32::from(n_taken > 0));
                Ok(())
            },
        )
        .expect("machines do what the interpreter does");
    // About two programs in five take a sample before they end; among few programs chance decides.
    let n_taking = n_taking.get();
    assert!(4 * n_taking + 8 >= cases, "only {n_taking} of {cases} programs take a sample");
}
