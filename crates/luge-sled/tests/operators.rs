//! Every operator on all pairs of operands, for small widths: compares the interpreter with plain integers, and the machine
//! with the interpreter.

mod machines;

use machines::{agree, interpret, sizes};

/// The value reduced to the low bits.
fn wrap(value: i64, width: u32) -> i64 {
    value << (64 - width) >> (64 - width)
}

/// Runs an expression in `a` and `b` on all pairs of one type. The label is the result in plain integers, and the program
/// compares itself with it, so interpreter and machine must both accept. Some pairs are also checked one by one.
fn check(expression: &str, integer: u32, fraction: u32, expected: impl Fn(i64, i64) -> i64) {
    let sizes = sizes(2, 1, integer, fraction);
    let width = sizes.width();
    let half = 1_i64 << (width - 1);
    let pick =
        "fn pick(c: bit, a: fix<I,F>, b: fix<I,F>) -> fix<I,F> { let r = b; if c { r = a; } return r; }";
    let single = format!(
        "{pick} learner one(x: [fix<I,F>; 2], y: fix<I,F>) -> theta: [fix<I,F>; 1] {{
            for sample in data {{ let a = x[0]; let b = x[1]; theta[0] = {expression}; }}
        }}"
    );
    let mut samples = Vec::new();
    for a in -half..half {
        for b in -half..half {
            let result = expected(a, b);
            if (a * half + b) % 97 == 0 {
                let run = interpret(&single, &sizes, &[vec![a, b, 0]], 1000)
                    .unwrap_or_else(|findings| panic!("{}", findings[0].one_line(&single)));
                assert_eq!(run.theta, [result], "{expression} for a = {a}, b = {b} of {integer}.{fraction}");
            }
            samples.push(vec![a, b, result]);
        }
    }
    // The label is the expected result; the machine rejects the first sample with another.
    let all = format!(
        "{pick} learner all(x: [fix<I,F>; 2], y: fix<I,F>) -> theta: [fix<I,F>; 1] {{
            for sample in data {{ let a = x[0]; let b = x[1]; if ({expression}) != y {{ reject; }} }}
        }}"
    );
    let (outcome, _) = agree(&all, &sizes, &samples, 10_000_000);
    assert_eq!(outcome.verdict, luge_sled::Verdict::Accepted, "{expression}");
    let (last, _) = agree(&single, &sizes, &samples[samples.len() - 1..], 1000);
    assert_eq!(last.theta, [samples[samples.len() - 1][2]]);
}

/// All formats with these widths.
fn formats(widths: std::ops::RangeInclusive<u32>) -> Vec<(u32, u32)> {
    widths.flat_map(|width| (1..=width).map(move |integer| (integer, width - integer))).collect()
}

#[test]
fn remainders_and_bits() {
    for (i, f) in [(4, 0), (2, 3), (1, 2)] {
        check("a % b", i, f, |a, b| if b == 0 { a } else { a % b });
        check("a & b", i, f, |a, b| a & b);
        check("a | b", i, f, |a, b| a | b);
        check("(a ^ b) >> 1", i, f, |a, b| (a ^ b) >> 1);
        check("(a & b) + (a | -b)", i, f, |a, b| wrap((a & b) + (a | wrap(-b, i + f)), i + f));
    }
    for n in [-4, -1, 1, 3] {
        check(&format!("a % {n} + (b & {n})"), 4, 0, |a, b| wrap(a % n + (b & n), 4));
    }
}

/// A shift by a negative number rejects the data; the program shifts by its magnitude.
#[test]
fn shifts_by_variables() {
    for (i, f) in [(4, 0), (2, 2), (6, 0)] {
        let width = i + f;
        let by = format!("(abs(b as int<{}>))", width + 1);
        check(&format!("a << {by}"), i, f, |a, b| wrap(a << (b >> f).abs().min(40), width));
        check(&format!("a >> {by}"), i, f, |a, b| a >> (b >> f).abs().min(40));
    }
    let source = "learner l(x: [fix<I,F>; 1], y: fix<I,F>) -> theta: [fix<I,F>; 1] {
        for sample in data { let k = x[0] as int<4>; theta[0] = 1; theta[0] <<= k; }
    }";
    for (by, verdict) in [(2, luge_sled::Verdict::Accepted), (-1, luge_sled::Verdict::Rejected)] {
        let (outcome, _) = agree(source, &sizes(1, 1, 6, 0), &[vec![by, 0]], 1000);
        assert_eq!(outcome.verdict, verdict);
    }
}

#[test]
fn sums_and_differences() {
    for (i, f) in formats(2..=6) {
        check("a + b", i, f, |a, b| wrap(a + b, i + f));
        check("a - b", i, f, |a, b| wrap(a - b, i + f));
        check("-a + -b", i, f, |a, b| wrap(-a - b, i + f));
    }
}

#[test]
fn products() {
    for (i, f) in formats(2..=6) {
        check("a * b", i, f, |a, b| wrap((a * b).div_euclid(1 << f), i + f));
        check("a *~ b", i, f, |a, b| wrap((a * b + (1 << f >> 1)).div_euclid(1 << f), i + f));
    }
}

#[test]
fn quotients() {
    for (i, f) in formats(2..=6) {
        check("a / b", i, f, |a, b| if b == 0 { 0 } else { wrap((a << f) / b, i + f) });
    }
}

#[test]
fn saturating_forms() {
    for (i, f) in formats(2..=5) {
        let half = 1_i64 << (i + f - 1);
        let saturate = |value: i64| value.clamp(-half, half - 1);
        check("a +| b", i, f, |a, b| saturate(a + b));
        check("a -| b", i, f, |a, b| saturate(a - b));
        check("a *| b", i, f, |a, b| saturate((a * b).div_euclid(1 << f)));
    }
}

#[test]
fn shifts() {
    for (i, f) in formats(2..=6) {
        let width = i + f;
        for by in 0..=width + 1 {
            check(&format!("(a << {by}) + b"), i, f, |a, b| wrap((a << by) + b, width));
            check(&format!("(a >> {by}) + b"), i, f, |a, b| wrap((a >> by) + b, width));
        }
    }
}

#[test]
fn functions() {
    for (i, f) in formats(2..=6) {
        let width = i + f;
        check("min(a, b)", i, f, i64::min);
        check("max(a, b)", i, f, i64::max);
        check("relu(a) + abs(b)", i, f, |a, b| wrap(a.max(0) + b.abs(), width));
        if i >= 2 {
            check("sign(a) - sign(b)", i, f, |a, b| wrap((a.signum() - b.signum()) << f, width));
        }
    }
}

#[test]
fn comparisons() {
    type Holds = fn(&i64, &i64) -> bool;
    let ops: [(&str, Holds); 6] = [
        ("<", i64::lt),
        ("<=", i64::le),
        (">", i64::gt),
        (">=", i64::ge),
        ("==", |a, b| a == b),
        ("!=", |a, b| a != b),
    ];
    for (i, f) in formats(2..=6) {
        if f > 2 {
            continue;
        }
        for (op, holds) in ops {
            check(&format!("pick(a {op} b, a, b)"), i, f, |a, b| if holds(&a, &b) { a } else { b });
        }
    }
}

#[test]
fn conversions() {
    for (i, f) in formats(2..=5) {
        for (j, g) in formats(2..=7).into_iter().step_by(3) {
            let through = |a: i64| {
                let there = if g >= f { a << (g - f) } else { a >> (f - g) };
                let there = wrap(there, j + g);
                wrap(if f >= g { there << (f - g) } else { there >> (g - f) }, i + f)
            };
            check(&format!("(a as fix<{j},{g}>) as fix<I,F>"), i, f, |a, _| through(a));
            let half = 1_i64 << (j + g - 1);
            let narrow = |a: i64| {
                let there = if g >= f { a << (g - f) } else { a >> (f - g) };
                let there = there.clamp(-half, half - 1);
                wrap(if f >= g { there << (f - g) } else { there >> (g - f) }, i + f)
            };
            check(&format!("(a as| fix<{j},{g}>) as fix<I,F>"), i, f, |a, _| narrow(a));
        }
    }
}
