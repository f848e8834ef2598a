//! Sizes and running times of machines, and what they must not depend on.

mod machines;

use luge_machine::{
    formats::Format,
    lowering::{Moves, lower},
};
use luge_sled::Sizes;
use machines::{agree, compile, interpret, simulate, sizes};

const PERCEPTRON: &str = include_str!("../../luge/learners/perceptron.sled");
const LEAST_SQUARES: &str = include_str!("../../luge/learners/least_squares_line.sled");
const SGD: &str = include_str!("../../luge/learners/sgd_linear.sled");
const CENTROID: &str = include_str!("../../luge/learners/nearest_centroid.sled");
const XOR: &str = include_str!("../../luge/learners/xor_search.sled");
const IRIS: &str = include_str!("../../luge/learners/iris_setosa.csv");
const BACKPROP: &str = include_str!("../../luge/learners/mlp_backprop.sled");

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

/// The machine does not depend on the number of samples; only its steps grow.
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

/// Loops are not unrolled: more features take more steps, not more states.
#[test]
fn states_do_not_depend_on_the_number_of_features() {
    let count = |n_features| n_states(PERCEPTRON, &sizes(n_features, 1, 8, 4));
    let few = count(4);
    assert!(few <= 100, "{few} states");
    assert!(10 * count(256) <= 11 * few, "{few} states for 4 features, {} for 256", count(256));
    assert!(count(64) <= 400);
    let classes = |n_features, n_labels| n_states(CENTROID, &sizes(n_features, n_labels, 8, 6));
    let (few, many) = (classes(4, 3), classes(64, 10));
    assert!(many <= few + few / 10, "{few} states for 3 classes of 4 features, {many} for 10 of 64");
}

/// The size of a network with vertices only for the tapes that a state reads.
#[test]
fn vertices_of_the_learners_that_ship() {
    let shipped = [
        (PERCEPTRON, sizes(4, 1, 8, 4), 1_200),
        (LEAST_SQUARES, sizes(1, 1, 8, 8), 2_500),
        (SGD, sizes(2, 1, 4, 8), 1_200),
        (CENTROID, sizes(4, 3, 8, 6), 2_000),
        (XOR, sizes(2, 1, 6, 0), 3_000),
        (BACKPROP, sizes(2, 1, 4, 8), 3_000),
    ];
    for (source, sizes, most) in shipped {
        let compiled = compile(source, &sizes).expect("a program");
        let found = lower(&compiled.machine, Moves::Keep).expect("a normal form").after.vertices;
        assert!(found <= most, "{found} vertices of {:?}", compiled.machine.name());
    }
}

#[test]
fn the_perceptron_on_irises_is_quick() {
    let number = |text: &str| (text.trim().parse::<f64>().expect("a number") * 16.0).round_ties_even() as i64;
    let samples: Vec<Vec<i64>> =
        IRIS.lines().skip(1).map(|line| line.split(',').map(number).collect()).collect();
    let (_, steps) = agree(PERCEPTRON, &sizes(4, 1, 8, 4), &samples, 10_000_000);
    assert!(steps <= 900_000, "{steps} steps");
}

/// A sum that is shifted and clamped is computed in one pass over the bits.
#[test]
fn a_saturating_sum_streams() {
    let sizes = sizes(1, 1, 8, 4);
    let costs = |statement: &str| {
        let source = format!(
            "learner one(x: [fix<I,F>; 1], y: fix<I,F>) -> theta: [fix<I,F>; 1] {{ for sample in data {{ {statement} }} }}"
        );
        let compiled = compile(&source, &sizes).expect("a program");
        let steps = |n| simulate(&compiled, &sizes, &vec![vec![0, 1000]; n], 10_000).1;
        (compiled.machine.states().len(), steps(3) - steps(2))
    };
    let (nothing, sum) = (costs(""), costs("theta[0] = theta[0] +| (y >> 6);"));
    assert!(sum.0 - nothing.0 <= 20, "{} states more than {}", sum.0 - nothing.0, nothing.0);
    assert!(sum.1 <= 120, "{} steps", sum.1);
}

/// Ridge regression by elimination, with the matrix in an array of arrays: the number of states does not depend on that of
/// features.
#[test]
fn elimination_compiles() {
    let source = "
        type wide = fix<I + 6, F + 4>;
        learner ridge(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M + 1] {
            const N = M + 1;
            let a: [[wide; N + 1]; N];
            for i in 0..N { a[i][i] = 1; }
            for sample in data {
                let row: [wide; N + 1];
                row[0] = 1;
                for i in 0..M { row[i + 1] = x[i] as wide; }
                row[N] = y as wide;
                for i in 0..N { for j in 0..N + 1 { a[i][j] += row[i] * row[j]; } }
            }
            for p in 0..N {
                for i in 0..N {
                    if i != p {
                        let factor = a[i][p] / a[p][p];
                        for j in p..N + 1 { a[i][j] -= factor * a[p][j]; }
                    }
                }
            }
            for i in 0..N { theta[i] = (a[i][N] / a[i][i]) as fix<I,F>; }
        }";
    let count = |n_features| n_states(source, &sizes(n_features, 1, 8, 8));
    let (few, many) = (count(5), count(10));
    assert!(many <= few + few / 10, "{few} states for 5 features, {many} for 10");
    assert!(many <= 1_000, "{many} states");
    // y = 1 + 2 a - b, shrunk a little towards 0.
    let number = |value: f64| (value * 256.0) as i64;
    let samples: Vec<Vec<i64>> = [(0.0, 0.0), (4.0, 0.0), (0.0, 4.0), (4.0, 4.0), (-4.0, 2.0), (2.0, -4.0)]
        .map(|(a, b)| vec![number(a), number(b), number(1.0 + 2.0 * a - b)])
        .to_vec();
    let (outcome, _) = agree(source, &sizes(2, 1, 8, 8), &samples, 1_000_000);
    for (found, expected) in outcome.theta.iter().zip([1.0, 2.0, -1.0]) {
        assert!((*found as f64 / 256.0 - expected).abs() < 0.25, "{:?}", outcome.theta);
    }
}

/// The most steps that one operation takes on these operands.
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

/// A `while` without end: the interpreter detects that a round began like an earlier one, the machine reaches the step limit.
#[test]
fn endless_programs_end_at_the_limit() {
    let source = "learner endless(x: [fix<I,F>; 1], y: fix<I,F>) -> theta: [fix<I,F>; 1] {
        while true { theta[0] += 1; }
    }";
    let sizes = sizes(1, 1, 4, 4);
    let reference = interpret(source, &sizes, &[vec![0, 0]], 1000).expect("a program");
    assert_eq!((reference.verdict, reference.line), (luge_sled::Verdict::Repeats, Some(2)));
    // A loop that changes something in every round runs up to the limit.
    let counts = "learner counts(x: [fix<I,F>; 1], y: fix<I,F>) -> theta: [fix<I,F>; 1] {
        let n: int<32>;
        while true { n += 1; theta[0] = -theta[0]; }
    }";
    let reference = interpret(counts, &sizes, &[vec![0, 0]], 100_000).expect("a program");
    assert_eq!(reference.verdict, luge_sled::Verdict::Limit);
    let (outcome, steps) =
        simulate(&compile(source, &sizes).expect("a program"), &sizes, &[vec![0, 0]], 1000);
    assert_eq!((outcome.verdict, steps), (luge_sled::Verdict::Limit, 1000));
}
