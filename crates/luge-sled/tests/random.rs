//! Random programs: the compiled machine must do what the interpreter does.

mod machines;
mod second;
mod writer;

use std::{cell::Cell, thread};

use luge_sled::Verdict;
use machines::{agree, interpret, sizes};
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};
use writer::{
    aliasing::{BIT_PLACES, BIT_SHAPES, PLACES, SHAPES},
    expressions::{BIT_OPERATORS, BITS, COMPARISONS, NUMBER_FUNCTIONS, NUMBER_OPERATORS, NUMBERS},
    program, tallied_program,
    tally::Tally,
};

/// Threads that share the programs, each with its own random numbers.
const N_THREADS: u8 = 16;

/// Runs 1,000 programs, or N with `LUGE_TEST=cases=N`. A failure prints its program.
#[test]
fn machines_do_what_the_interpreter_does() {
    let cases = luge_suite::number("cases", 1000_u32);
    let cases = cases.div_ceil(N_THREADS.into());
    let accepted: u32 = thread::scope(|scope| {
        let threads: Vec<_> = (0..N_THREADS).map(|seed| scope.spawn(move || check(seed, cases))).collect();
        threads.into_iter().map(|thread| thread.join().expect("machines do what the interpreter does")).sum()
    });
    let all = cases * u32::from(N_THREADS);
    println!("{accepted} of {all} programs came to their end");
    assert!(accepted >= all / 2, "most programs are rejected: {accepted} of {all} are not");
}

/// Runs programs, and returns how many are accepted.
fn check(seed: u8, cases: u32) -> u32 {
    let config =
        ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 60, ..Default::default() };
    let format = prop_oneof![Just((3, 2)), Just((4, 4)), Just((2, 6)), Just((6, 0)), Just((8, 8))];
    let samples = prop::collection::vec((any::<i64>(), any::<i64>(), any::<i64>()), 1..4);
    let numbers = prop::collection::vec(any::<u8>(), 0..240);
    let dice = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let accepted = Cell::new(0);
    TestRunner::new_with_rng(config, dice)
        .run(&(numbers, format, samples), |(numbers, (integer, fraction), samples)| {
            let sizes = sizes(2, 1, integer, fraction);
            let unused = 64 - sizes.width();
            let cut = |n: i64| n << unused >> unused;
            let samples: Vec<Vec<i64>> =
                samples.into_iter().map(|(a, b, c)| vec![cut(a), cut(b), cut(c)]).collect();
            let (outcome, _) = agree(&program(numbers, false), &sizes, &samples, 1_000_000);
            accepted.set(accepted.get() + u32::from(outcome.verdict == Verdict::Accepted));
            Ok(())
        })
        .expect("machines do what the interpreter does");
    accepted.get()
}

/// Programs for the two interpreters, or N with `LUGE_TEST=cases=N`. A quarter of them take their samples from a stream.
const N_INTERPRETED: u32 = 2_000;

/// The second interpreter was written from the language's page alone.
#[test]
fn both_interpreters_give_programs_one_meaning() {
    let cases = luge_suite::number("cases", N_INTERPRETED);
    let dice = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), dice);
    let numbers = prop::collection::vec(any::<u8>(), 0..240);
    let data = prop::collection::vec([any::<i64>(), any::<i64>(), any::<i64>()], 1..40);
    let mut ends = [0; 3];
    for case in 0..cases {
        let takes = case % 4 == 3;
        let source = program(numbers.new_tree(&mut runner).expect("numbers").current(), takes);
        let (integer, fraction) = [(3, 2), (4, 4), (2, 6), (6, 0), (8, 8), (16, 12)][case as usize % 6];
        let sizes = sizes(2, 1, integer, fraction);
        let unused = 64 - sizes.width();
        let data = data.new_tree(&mut runner).expect("samples").current();
        let n_samples = if takes { data.len() } else { data.len().min(3) };
        let samples: Vec<Vec<i64>> =
            data[..n_samples].iter().map(|sample| sample.map(|n| n << unused >> unused).to_vec()).collect();
        let first = interpret(&source, &sizes, &samples, 1_000_000)
            .unwrap_or_else(|findings| machines::refuse(&source, &findings));
        let (verdict, theta) = second::run(&source, &sizes, &samples);
        assert_eq!(first.verdict, verdict, "{source}\n{samples:?}");
        if verdict != Verdict::Rejected {
            assert_eq!(first.theta, theta, "{source}\n{samples:?}");
        }
        ends[[Verdict::Accepted, Verdict::Rejected].iter().position(|end| *end == verdict).unwrap_or(2)] += 1;
    }
    let [accepted, rejected, waiting] = ends;
    println!(
        "{cases} programs: {accepted} came to their end, {rejected} rejected, {waiting} waited for samples"
    );
    assert!(accepted > cases / 2, "{accepted} of {cases} came to their end");
}

/// The features of the language, as texts that occur in programs.
const FEATURES: [&str; 46] = [
    "[k]",
    "v[i",
    "rows[i",
    "rows[min(k, 1)][",
    " - i",
    "grid[",
    "x[min(k, 1)]",
    "x[k]",
    "x[1 - i",
    "long[",
    "for sample in data",
    "unroll for",
    "while",
    "break;",
    "continue;",
    ") as fix",
    "both(v",
    "flip(v)",
    "turn(rows)",
    "again(",
    "*~",
    "*~=",
    "+|",
    "*|=",
    " ^ ",
    " % ",
    " & ",
    " | ",
    " << k",
    " >> k",
    "(if ",
    "early(",
    "part(",
    " in 0..k",
    " in k..3",
    "v[1..3] = ",
    "return; }",
    "random()",
    "assert(",
    "reject;",
    "const C",
    "print(",
    "twice(",
    "t.write",
    "as|",
    "sign(",
];

/// The fewest of 2,000 programs that must have a feature.
const RARE: usize = 20;

/// Every feature is in many programs, and loops over the data are nested.
#[test]
fn programs_use_everything() {
    let mut runner = TestRunner::new_with_rng(
        ProptestConfig::default(),
        TestRng::from_seed(RngAlgorithm::ChaCha, &[1; 32]),
    );
    let numbers = prop::collection::vec(any::<u8>(), 0..240);
    // The parts that all programs share are not counted.
    let same = program(Vec::new(), false);
    let programs: Vec<String> = (0..2000)
        .map(|_| program(numbers.new_tree(&mut runner).expect("numbers").current(), false))
        .collect();
    let users = |feature: &str| {
        let always = same.matches(feature).count();
        programs.iter().filter(|text| text.matches(feature).count() > always).count()
    };
    let mut rare = Vec::new();
    for feature in FEATURES {
        let n = users(feature);
        println!("{feature}: {n} of {}", programs.len());
        if n < RARE {
            rare.push(feature);
        }
    }
    assert!(rare.is_empty(), "hardly used: {rare:?}");
    let nested = |text: &&String| {
        let mut depths = Vec::new();
        text.lines().any(|line| {
            let (depth, begins) = (line.len() - line.trim_start().len(), line.contains("for sample in data"));
            depths.retain(|&outer| outer < depth);
            let inside = begins && !depths.is_empty();
            if begins {
                depths.push(depth);
            }
            inside
        })
    };
    let users = programs.iter().filter(nested).count();
    println!("loops over the data in each other: {users} of {}", programs.len());
    assert!(users >= RARE, "{users} of {} programs have nested loops over the data", programs.len());
}

/// Statements without blocks, and the blocks that can contain them.
const SIMPLE: [&str; 16] = [
    "assignment",
    "flag assignment",
    "move",
    "write",
    "let",
    "bit assignment",
    "array assignment",
    "loop over features",
    "index assignment",
    "break",
    "continue",
    "assert",
    "const",
    "print",
    "aliased assignment",
    "take",
];
const BLOCKS: [&str; 6] = ["if", "else", "for", "unroll for", "for sample", "while"];

/// The pairs that the generator must write: constructs, and those directly inside them.
fn expected_pairs() -> Vec<(&'static str, &'static str)> {
    let numbers = [
        &NUMBER_OPERATORS[..],
        &NUMBER_FUNCTIONS,
        &NUMBERS,
        &["bit as number", "both()", "twice()", "random()", "next()", "early()", "part()", "if value"],
    ]
    .concat();
    let bits = [&COMPARISONS[..], &BIT_OPERATORS, &BITS, &["!"]].concat();
    let cross = |outer: &[&'static str], inner: &[&'static str]| -> Vec<(&'static str, &'static str)> {
        outer.iter().flat_map(|&a| inner.iter().map(move |&b| (a, b))).collect()
    };
    let with_numbers = [
        &NUMBER_OPERATORS[..],
        &NUMBER_FUNCTIONS,
        &COMPARISONS,
        &["both()", "twice()", "next()", "early()", "part()", "if value", "assignment", "let"],
    ]
    .concat();
    let with_bits = [
        &BIT_OPERATORS[..],
        &[
            "!",
            "bit as number",
            "twice()",
            "early()",
            "if value",
            "flag assignment",
            "write",
            "bit assignment",
            "if",
            "while",
            "break",
            "continue",
            "assert",
        ],
    ]
    .concat();
    let places: Vec<&str> = PLACES.iter().map(|place| place.0).collect();
    let mut pairs = cross(&with_numbers, &numbers);
    pairs.extend(cross(&with_bits, &bits));
    pairs.extend(cross(&BLOCKS, &SIMPLE));
    pairs.extend(cross(&BLOCKS, &BLOCKS));
    pairs.extend(cross(&places, &SHAPES));
    pairs.extend(cross(&BIT_PLACES, &BIT_SHAPES));
    // Unrolled loops are not inside others and are not left early; learners have a table or a stream.
    let impossible = |&(outer, inner): &(&str, &str)| {
        matches!((outer, inner), ("unroll for", "unroll for" | "break" | "continue") | ("for sample", "take"))
    };
    pairs.retain(|pair| !impossible(pair));
    pairs
}

/// No pair of constructs is missing: comparisons test only what the generator writes.
#[test]
fn programs_put_everything_inside_everything() {
    let mut runner = TestRunner::new_with_rng(
        ProptestConfig::default(),
        TestRng::from_seed(RngAlgorithm::ChaCha, &[2; 32]),
    );
    let numbers = prop::collection::vec(any::<u8>(), 0..240);
    let mut tally = Tally::default();
    for number in 0..40_000 {
        let numbers = numbers.new_tree(&mut runner).expect("numbers").current();
        tally.include(&tallied_program(numbers, number % 2 == 1).1);
    }
    println!("{}", tally.table());
    let expected = expected_pairs();
    let missing: Vec<_> = expected.iter().filter(|(outer, inner)| tally.count(outer, inner) == 0).collect();
    println!("{} of {} expected pairs are written", expected.len() - missing.len(), expected.len());
    assert!(missing.is_empty(), "never written: {missing:?}");
}
