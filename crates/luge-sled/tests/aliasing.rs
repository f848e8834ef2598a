//! Assignments whose right side uses the target: every kind of target with every kind of value.

mod machines;

use luge_sled::Verdict;
use machines::{agree, sizes};

/// Places of numbers: constant, computed and loop indices, in one and two dimensions, and theta.
const PLACES: [&str; 17] = [
    "b",
    "a[1]",
    "a[k]",
    "a[i]",
    "a[2 - i]",
    "a[k - i]",
    "theta[1]",
    "theta[k]",
    "theta[i]",
    "g[1][2]",
    "g[j][2]",
    "g[1][k]",
    "g[j][k]",
    "g[i][k]",
    "g[j][i]",
    "g[1 - i][1 + i]",
    "n[n[1]]",
];

/// Values that use the place `P`, its other name `Q`, and another element `R`.
const VALUES: [&str; 41] = [
    "P",
    "P >> 1",
    "P << 2",
    "P >> 40",
    "P << 40",
    "-P",
    "P + P",
    "P - P",
    "P + (P >> 1)",
    "(P << 1) + P",
    "P - (P >> 3)",
    "(P >> 1) - (P << 1)",
    "-(P >> 1)",
    "-P + P",
    "-(P + P) >> 1",
    "(P >> 1) + (P >> 1)",
    "P + P + P",
    "P * P",
    "P *~ (P >> 1)",
    "P * R + P",
    "P / (P + 3)",
    "(P << 1) / P + P",
    "P +| P",
    "P -| (P << 1)",
    "P *| P",
    "abs(P)",
    "relu(P - 1)",
    "sign(P) + P",
    "min(P, P >> 1)",
    "max(P << 1, R)",
    "max(P, 0)",
    "((P as fix<3,1>) as T) + P",
    "((P as| fix<9,3>) as T) >> 1",
    "((P > (P >> 1)) as T) + P",
    "twice(P) + P",
    "twice(P >> 1)",
    "Q + P",
    "(Q >> 1) + P",
    "Q - (P >> 1)",
    "Q",
    "R + (P >> 1) - P",
];

const ASSIGNMENTS: [&str; 5] = ["=", "+=", "-=", "*=", "+|="];

/// Another name of the same element, and another element.
fn others(place: &str) -> (String, String) {
    let swap = |from: &str, to: &str| place.replace(from, to);
    let other = match place {
        "b" => "c".to_owned(),
        place if place.contains('k') => swap("k", "1"),
        place if place.contains("[i]") => swap("[i]", "[i + 1]"),
        place if place.contains("[2 - i]") => swap("[2 - i]", "[1 - i]"),
        place if place.contains("1 + i") => swap("1 + i", "1 - i"),
        place if place.starts_with('n') => "n[k]".to_owned(),
        _ => swap("1", "0"),
    };
    let same = match place {
        place if place.contains("[1]") && !place.contains('n') => swap("[1]", "[j]"),
        place if place.contains("[k]") => swap("[k]", "[(k + 1) - 1]"),
        place if place.contains("[i]") => swap("[i]", "[(i as int<5>)]"),
        place => place.to_owned(),
    };
    (same, other)
}

fn program(place: &str, assignment: &str, value: &str) -> String {
    let (same, other) = others(place);
    let ty = if place.starts_with('n') { "int<5>" } else { "fix<I,F>" };
    let value = value
        .replace('P', place)
        .replace('Q', &same)
        .replace('R', &other)
        .replace(" as T", &format!(" as {ty}"));
    let twice = format!("fn twice(a: {ty}) -> {ty} {{ let b = a + a; return b - (a >> 1); }}");
    format!(
        "{twice}
learner l(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; 3] {{
    let a: [fix<I,F>; 3] = [1.5, -3, 2.25]; let g: [[fix<I,F>; 3]; 2] = [[3, -1.25, 0.5], [-2, 7, 1.75]];
    let b: fix<I,F> = 5.25; let c: fix<I,F> = -1; let n: [int<5>; 3] = [2, 0, 1]; let k: int<5> = 2; let j: int<5> = 1;
    theta = [4, -6.5, 3.75];
    for i in 0..2 {{ {place} {assignment} {value}; }}
    for i in 0..3 {{ theta[i] += a[i] + (g[0][i] << 1) + (g[1][i] << 2) + b + (n[i] as fix<I,F>); }}
}}"
    )
}

/// Machine and interpreter agree on every place with every value, and no store is lost.
#[test]
fn a_place_may_stand_on_its_own_right_side() {
    let sizes = sizes(1, 1, 8, 4);
    let mut n_run = 0;
    for (number, place) in PLACES.iter().enumerate() {
        for (at, value) in VALUES.iter().enumerate() {
            let assignment = ASSIGNMENTS[(number + at) % ASSIGNMENTS.len()];
            let (outcome, _) = agree(&program(place, assignment, value), &sizes, &[vec![0, 0]], 10_000);
            n_run += usize::from(outcome.verdict == Verdict::Accepted);
        }
    }
    println!("{n_run} of {} programs came to their end", PLACES.len() * VALUES.len());
    assert!(n_run >= 600, "only {n_run}");
}

/// A regression: the interpreter computed 4, the machine 8.
#[test]
fn a_computed_place_is_found_again() {
    let learner = |body: &str| {
        format!("learner l(x: [int<8>; M], y: int<8>) -> theta: [int<8>; 2] {{ let k: int<4> = 0; {body} }}")
    };
    let theta = |body: &str| agree(&learner(body), &sizes(1, 1, 8, 0), &[vec![0, 0]], 1000).0.theta;
    assert_eq!(theta("let a: [int<8>; 2] = [8, 16]; a[k] = a[k] >> 1; theta = a;"), [4, 16]);
    assert_eq!(theta("let a: [int<8>; 2] = [8, 16]; k = 1; a[k] -= a[k] >> 3; theta = a;"), [8, 14]);
    assert_eq!(theta("theta = [8, 16]; k = 1; theta[k] = theta[k] + theta[k];"), [8, 32]);
    assert_eq!(
        theta(
            "let g: [[int<8>; 2]; 2] = [[8, 16], [24, 32]]; k = 1; g[k][1 - k] = g[k][1 - k] << 1; theta = g[1];"
        ),
        [48, 32]
    );
}

/// The same for bits.
#[test]
fn a_bit_may_stand_on_its_own_right_side() {
    for place in ["p", "s[1]", "s[k]", "s[i]", "h[1][k]", "h[i][k]", "h[k - i][i]"] {
        for value in ["!P", "P ^ P", "P ^ s[k]", "P == !P", "P && !s[0]", "P || s[k - 1]", "!(P && P)"] {
            let value = value.replace('P', place);
            let source = format!(
                "learner l(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; 3] {{
    let p: bit = true; let s: [bit; 3] = [true, false, true]; let h: [[bit; 3]; 3] = [s, [false, true, false], s]; let k: int<5> = 2;
    for i in 0..2 {{ {place} = {value}; }}
    for i in 0..3 {{ if s[i] {{ theta[i] += 1; }} if h[0][i] {{ theta[i] += 2; }} if h[1][i] {{ theta[i] += 4; }} if h[2][i] ^ p {{ theta[i] += 8; }} }}
}}"
            );
            agree(&source, &sizes(1, 1, 8, 4), &[vec![0, 0]], 10_000);
        }
    }
}
