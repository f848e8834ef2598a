//! How large machines are, and how long they take: what must not depend on what.

mod machines;

use luge_machine::formats::Format;
use luge_sled::{Sizes, compile};
use machines::{agree, simulate, sizes};

const PERCEPTRON: &str = include_str!("../../../learners/perceptron.sled");
const LEAST_SQUARES: &str = include_str!("../../../learners/least_squares_line.sled");
const SGD: &str = include_str!("../../../learners/sgd_linear.sled");
const BACKPROP: &str = include_str!("../../../learners/mlp_backprop.sled");

fn n_states(source: &str, sizes: &Sizes) -> usize {
    compile(source, sizes).expect("a program").machine.states().len()
}

#[test]
fn the_same_source_gives_the_same_bytes() {
    let written = || {
        let compiled = compile(BACKPROP, &sizes(2, 1, 4, 8)).expect("a program");
        (Format::Native.write(&compiled.machine, Some(&compiled.input)).expect("a program"), compiled.lines)
    };
    assert_eq!(written(), written());
}

/// One machine serves any number of samples: only its steps grow.
#[test]
fn states_do_not_depend_on_the_number_of_samples() {
    let sizes = sizes(2, 1, 6, 4);
    let compiled = compile(SGD, &sizes).expect("a program");
    let sample = |n: i64| vec![n % 7, n % 5, n % 11 - 4];
    let mut steps = Vec::new();
    for n_samples in [10, 100] {
        let samples: Vec<Vec<i64>> = (0..n_samples).map(sample).collect();
        let (reference, expected) = agree(SGD, &sizes, &samples, 1_000_000);
        let (outcome, found) = simulate(&compiled, &sizes, &samples, u64::MAX);
        assert_eq!((outcome.theta, found), (reference.theta, expected));
        steps.push(found);
    }
    assert!(steps[1] > 8 * steps[0]);
}

#[test]
fn states_hardly_grow_with_the_width() {
    for source in [PERCEPTRON, BACKPROP] {
        let count = |integer, fraction| n_states(source, &sizes(2, 1, integer, fraction));
        let (narrow, wide) = (count(4, 4), count(16, 16));
        assert!(wide <= narrow + narrow / 20, "{narrow} states for 8 bits, {wide} for 32");
    }
    let count = |integer, fraction| n_states(LEAST_SQUARES, &sizes(1, 1, integer, fraction));
    let (narrow, wide) = (count(6, 4), count(8, 12));
    assert!(wide <= narrow + narrow / 20, "{narrow} states for 14 bits, {wide} for 32");
}

/// Steps of one operation, on the operands that take longest among these.
fn steps(expression: &str, integer: u32, fraction: u32) -> u64 {
    let sizes = sizes(2, 1, integer, fraction);
    let source = |value: &str| {
        format!(
            "learner one(x: [fix<I,F>; 2], y: fix<I,F>) -> theta: [fix<I,F>; 1] {{
                let a: fix<I,F>; let b: fix<I,F>;
                for sample in data {{ a = x[0]; b = x[1]; theta[0] = {value}; }}
            }}"
        )
    };
    let largest = (1 << (sizes.width() - 1)) - 1;
    let operands = [largest, -largest, -1, 1, largest / 3];
    let cost = |a: i64, b: i64| {
        let run = |value: &str| agree(&source(value), &sizes, &[vec![a, b, 0]], 1000).1;
        // `a` alone is loaded and stored as well.
        run(expression) - run("a")
    };
    operands.iter().flat_map(|&a| operands.map(|b| cost(a, b))).max().expect("a program")
}

#[test]
fn a_product_of_16_bits_is_quick() {
    assert!(steps("a * b", 8, 8) < 1200);
    assert!(steps("a / b", 8, 8) < 1600);
    assert!(steps("a + b", 8, 8) < 60);
}

/// `while` need not end, and the machine says so by the step limit.
#[test]
fn endless_programs_end_at_the_limit() {
    let source = "learner endless(x: [fix<I,F>; 1], y: fix<I,F>) -> theta: [fix<I,F>; 1] {
        while true { theta[0] += 1; }
    }";
    let sizes = sizes(1, 1, 4, 4);
    let reference = luge_sled::interpret(source, &sizes, &[vec![0, 0]], 1000).expect("a program");
    assert_eq!(reference.verdict, luge_sled::Verdict::Limit);
    let (outcome, steps) =
        simulate(&compile(source, &sizes).expect("a program"), &sizes, &[vec![0, 0]], 1000);
    assert_eq!((outcome.verdict, steps), (luge_sled::Verdict::Limit, 1000));
}
