//! Checks the program and the table of operators in docs/sled.md.

mod machines;

use machines::{agree, sizes};

const PAGE: &str = include_str!("../../../docs/sled.md");

#[test]
fn the_program_of_the_page() {
    let program = PAGE.split("```sled\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    // fix:4.4, labels 1, 2 and 4.5: their mean is 2.5, and there are 3 of them.
    let samples = [[0, 16], [0, 32], [0, 72]].map(Vec::from);
    let (outcome, _) = agree(program, &sizes(1, 1, 4, 4), &samples, 1000);
    assert_eq!(outcome.theta, [40, 48]);
}

/// The value of an expression of `fix<4,4>` numbers, in sixteenths.
fn check(expression: &str, a: f64, b: f64, expected: f64) {
    let source = format!(
        "learner one(x: [fix<I,F>; 2], y: fix<I,F>) -> theta: [fix<I,F>; 1] {{
            for sample in data {{ let a = x[0]; let b = x[1]; theta[0] = {expression}; }}
        }}"
    );
    let raw = |value: f64| (value * 16.0) as i64;
    let (outcome, _) = agree(&source, &sizes(2, 1, 4, 4), &[vec![raw(a), raw(b), 0]], 1000);
    assert_eq!(outcome.theta, [raw(expected)], "{expression} with {a} and {b}");
}

/// At least one check per row, including the edge cases that it describes.
#[test]
fn the_operators_of_the_page() {
    check("a + b", 7.5, 1.0, -7.5);
    check("a - b", -8.0, 1.0, 7.0);
    check("-a", -8.0, 0.0, -8.0);
    check("a * b", 0.25, 0.375, 0.0625);
    check("a * b", -0.25, 0.375, -0.125);
    check("a / b", 1.0, 3.0, 0.3125);
    check("a / b", -1.0, 3.0, -0.3125);
    check("a / b", 5.0, 0.0, 0.0);
    check("a / b", 4.0, 0.25, 0.0);
    check("a % b", 5.5, 2.0, 1.5);
    check("a % b", -5.5, 2.0, -1.5);
    check("a % b", 5.5, 0.0, 5.5);
    check("a & b", 5.75, -2.0, 4.0);
    check("a | b", 5.75, -2.0, -0.25);
    check("a << (b as int<4>)", 5.0, 1.0, -6.0);
    check("if a > b { a } else { 1 }", 5.0, 6.0, 1.0);
    check("a +| b", 7.5, 1.0, 7.9375);
    check("a -| b", -8.0, 1.0, -8.0);
    check("a *| b", 4.0, -4.0, -8.0);
    check("a << 1", 5.0, 0.0, -6.0);
    check("a << 9", 5.0, 0.0, 0.0);
    check("a >> 1", -0.0625, 0.0, -0.0625);
    check("a >> 40", 5.0, 0.0, 0.0);
    check("(a as int<3>) as fix<I,F>", 5.75, 0.0, -3.0);
    check("(a as| int<3>) as fix<I,F>", 5.75, 0.0, 3.0);
    check("(a as| int<3>) as fix<I,F>", -0.5, 0.0, -1.0);
    check("min(a, b)", 1.0, -1.0, -1.0);
    check("relu(a)", -1.0, 0.0, 0.0);
    check("abs(a)", -8.0, 0.0, -8.0);
    check("sign(a)", -0.5, 0.0, -1.0);
    check("a + 0.03", 1.0, 0.0, 1.0);
    check("a + 1 / 3", 1.0, 0.0, 1.3125);
    for row in [
        "`a + b`, `a - b`, `-a`",
        "`a / 0` is 0",
        "`a << k`, `a >> k`",
        "`abs(a)`",
        "`sign(a)`",
        "`a as\\| T`",
    ] {
        assert!(PAGE.contains(row), "{row}");
    }
}

/// Tapes give unbounded memory: a unary counter whose length depends on the data.
#[test]
fn tapes() {
    let source = "learner unary(x: [fix<I,F>; 1], y: fix<I,F>) -> theta: [fix<I,F>; 1] {
        let t: tape;
        t.write(true);
        t.right();
        for sample in data { t.write(true); t.right(); }
        t.left();
        while t.read() { theta[0] += 1; t.write(false); t.left(); }
        if t.read() { reject; }
    }";
    let (outcome, _) = agree(source, &sizes(1, 1, 6, 0), &vec![vec![0, 0]; 9], 1000);
    assert_eq!(outcome.theta, [10]);
}
