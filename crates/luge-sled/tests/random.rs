//! Random programs: the compiled machine must do what the interpreter does.

mod machines;
mod writer;

use machines::{agree, sizes};
use proptest::{
    prelude::*,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};
use writer::program;

/// Half of the programs from each seed, so that two cores share the work; more with LUGE_CASES. A failure prints its program.
fn check(seed: u8) {
    let cases = std::env::var("LUGE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1000) / 2;
    let config =
        ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 60, ..Default::default() };
    let format = prop_oneof![Just((3, 2)), Just((4, 4)), Just((2, 6)), Just((6, 0)), Just((8, 8))];
    let samples = prop::collection::vec((any::<i64>(), any::<i64>(), any::<i64>()), 1..4);
    let numbers = prop::collection::vec(any::<u8>(), 0..160);
    let dice = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    TestRunner::new_with_rng(config, dice)
        .run(&(numbers, format, samples), |(numbers, (integer, fraction), samples)| {
            let sizes = sizes(2, 1, integer, fraction);
            let unused = 64 - sizes.width();
            let cut = |n: i64| n << unused >> unused;
            let samples: Vec<Vec<i64>> =
                samples.into_iter().map(|(a, b, c)| vec![cut(a), cut(b), cut(c)]).collect();
            agree(&program(numbers, false), &sizes, &samples, 1_000_000);
            Ok(())
        })
        .expect("machines do what the interpreter does");
}

#[test]
fn machines_do_what_the_interpreter_does() {
    check(1);
}

#[test]
fn machines_do_what_the_interpreter_does_again() {
    check(2);
}
