//! Features beyond numbers, bits and loops, each compared with plain Rust.

mod machines;

use luge_sled::{Program, Settings, Verdict};
use machines::{agree, interpret, simulate, sizes};

const HEAD: &str = "learner l(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; 4] {\n";

/// Theta of a learner with this body, on samples of one feature and one label in fix:8.4.
fn theta(body: &str, samples: &[[i64; 2]]) -> Vec<i64> {
    let samples: Vec<Vec<i64>> = samples.iter().map(|sample| sample.to_vec()).collect();
    agree(&format!("{HEAD}{body}\n}}"), &sizes(1, 1, 8, 4), &samples, 1_000_000).0.theta
}

#[test]
fn samples_are_compared_with_each_other() {
    // Counts the pairs that are closer than 1, and uses the outer sample after the inner loop.
    let body = "for one in data {
        let here = x[0];
        for other in data { if abs(x[0] - here) < 1 { theta[0] += 1; } }
        theta[1] += x[0];
        for other in data { if x[0] > 2 { break; } theta[2] += 1; }
        theta[3] = y;
    }";
    assert_eq!(theta(body, &[[16, 1], [20, 2], [48, 3]]), [5 * 16, 84, 6 * 16, 3]);
}

#[test]
fn indices_computed_at_run_time() {
    let body = "let k: int<8>; let a: [[fix<I,F>; 3]; 2] = [[1, 2, 3], [4, 5, 6]];
        for sample in data { k = x[0] as int<8>; theta[0] += a[k][2 - k]; a[k][k] += 1; }
        theta[k] = a[0][0]; theta[2] = a[1][1];";
    assert_eq!(theta(body, &[[0, 0], [16, 0], [0, 0]]), [3 * 16, 0, 6 * 16, 0].map(|n: i64| n));
    let outside = format!("{HEAD}let k: int<8> = 3;\n theta[k] = 1;\n k += 1;\n theta[k] = 1;\n}}");
    let outcome = interpret(&outside, &sizes(1, 1, 8, 4), &[vec![0, 0]], 100).expect("a program");
    assert_eq!((outcome.verdict, outcome.line), (Verdict::Rejected, Some(5)));
    agree(&outside, &sizes(1, 1, 8, 4), &[vec![0, 0]], 100);
}

#[test]
fn loops_to_a_bound_that_is_computed() {
    // The bound is copied where the loop begins, `continue` counts, and the variable is an integer.
    let body = "let n: int<8> = 4;
        for i in 1..n { n = 0; if i == 2 { continue; } theta[0] += i as fix<I,F>; }
        for i in n..3 { theta[i] += 1; if i == 1 { break; } }
        for i in n + 2..n { theta[3] = 1; }
        for i in 0..5 { for j in i..(n + 3) { theta[3] += 1; } }";
    assert_eq!(theta(body, &[[0, 0]]), [(1 + 3 + 1) * 16, 16, 0, (3 + 2 + 1) * 16]);
}

#[test]
fn choices_are_values() {
    let body = "for sample in data {
        theta[0] += if y > 0 { 1 } else { -1 };
        let a: [fix<I,F>; 2] = if x[0] > 1 { [x[0], y] } else if y > 0 { [0, y] } else { theta[1..3] };
        theta[1..3] = a;
        theta[3] = theta[3] + if x[0] > 0 && y > 0 { x[0] } else { 0.5 };
    }";
    assert_eq!(theta(body, &[[32, 16], [0, 16], [0, -16]]), [16, 0, 16, 32 + 8 + 8]);
}

#[test]
fn functions_return_early() {
    let source = "fn first(a: [fix<I,F>; 4], above: fix<I,F>) -> int<4> {
        for i in 0..4 {
            unroll for turn in 0..2 { if a[i] > above + turn { return i as int<4>; } }
            while true { if a[i] == above { return 7; } break; }
        }
        return -1;
    }
    learner l(x: [fix<I,F>; 4], y: fix<I,F>) -> theta: [fix<I,F>; 4] {
        let row: int<4>;
        for sample in data {
            theta[row] = first(x, y) as fix<I,F>;
            row += 1;
            if row == 3 { return; }
        }
        theta[3] = 1;
    }";
    let rows = |n: usize| -> Vec<Vec<i64>> {
        [[0, 1, 5, 9, 3], [0, 0, 4, 0, 4], [0, 0, 0, 0, 3], [9, 0, 0, 0, 0]][..n]
            .iter()
            .map(|r| r.to_vec())
            .collect()
    };
    let theta = |n| agree(source, &sizes(4, 1, 8, 0), &rows(n), 1_000_000).0.theta;
    assert_eq!(theta(2), [2, 7, 0, 1]);
    assert_eq!(theta(4), [2, 7, -1, 0]);
}

#[test]
fn slices_are_arguments() {
    let source = "fn sum(a: [fix<I,F>; 2]) -> fix<I,F> { return a[0] + a[1]; }
    fn shown(a: [[fix<I,F>; 2]; 2]) -> fix<I,F> { return sum(a[0]) - sum(a[1][0..2]); }
    learner l(x: [fix<I,F>; 4], y: fix<I,F>) -> theta: [fix<I,F>; 4] {
        let rows: [[fix<I,F>; 2]; 3] = [[1, 2], [3, 4], [5, 7]];
        for sample in data {
            for i in 0..3 { theta[i] += sum(x[i..i + 2]); }
            theta[3] = shown(rows[1..3]);
            theta[1..4] = theta[0..3];
        }
    }";
    let (outcome, _) = agree(source, &sizes(4, 1, 8, 0), &[vec![1, 2, 4, 8, 0]], 1_000_000);
    assert_eq!(outcome.theta, [3, 3, 6, 12]);
}

#[test]
fn triangles() {
    // The minors of a loop whose bounds depend on another: below, on and above the diagonal.
    let body = "for i in 0..5 {
            for j in 0..i { theta[0] += j; }
            for j in i..5 { theta[1] += 1; if j == i { continue; } theta[2] += i; }
            for j in i + 1..5 { if j > 3 { break; } theta[3] += 1; }
        }";
    assert_eq!(theta(body, &[[0, 0]]), [10 * 16, 15 * 16, 10 * 16, 6 * 16]);
}

/// The random generator of docs/sled.md, with plain integers.
#[test]
fn random_numbers() {
    let source = format!("const SEED = 7;\n{HEAD}for i in 0..4 {{ theta[i] = random() as fix<I,F>; }}\n}}");
    let mut state: u32 = 7;
    let expected: Vec<i64> = (0..4)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let number = (i64::from(state.cast_signed()) + (1 << 31)) >> 17;
            number >> 11
        })
        .collect();
    let (outcome, _) = agree(&source, &sizes(1, 1, 8, 4), &[vec![0, 0]], 1000);
    assert_eq!(outcome.theta, expected);
    assert!(outcome.wraps.is_empty(), "it is meant to wrap: {:?}", outcome.wraps);
}

#[test]
fn wrapping_is_noted_with_its_line_and_sample() {
    let source = format!("{HEAD}for sample in data {{\n theta[0] += y;\n theta[1] = theta[1] +| y;\n }}\n}}");
    let samples: Vec<Vec<i64>> = [1500, 500, 100, 2000].map(|y| vec![0, y]).to_vec();
    let outcome = interpret(&source, &sizes(1, 1, 8, 4), &samples, 1000).expect("a program");
    let wraps: Vec<_> = outcome.wraps.iter().map(|wrap| (wrap.line, wrap.count, wrap.first_sample)).collect();
    // 1500 + 500 fits below 2048, 2100 does not, -1996 + 2000 does.
    assert_eq!(wraps, [(3, 1, Some(2))]);
    assert_eq!(outcome.theta[..2], [4, 2047]);
}

#[test]
fn constants_are_set_from_outside() {
    let source =
        format!("const ROUNDS = 2;\nconst RATE = 1;\n{HEAD}for i in 0..ROUNDS {{ theta[0] += RATE; }}\n}}");
    let mut settings = Settings::default();
    settings.set("ROUNDS=5").expect("a setting");
    settings.set("RATE=-0.25").expect("a setting");
    let sizes = sizes(1, 1, 8, 4);
    let program = Program::new(&source, &sizes, &settings).expect("a program");
    assert_eq!(program.interpret(&[], 1000).theta[0], -20);
    let compiled = program.compile().expect("a machine");
    assert_eq!(simulate(&compiled, &sizes, &[], 10_000).0.theta[0], -20);
    for wrong in ["ROUNDS", "=4", "ROUNDS=", "ROUNDS=1e4", "ROUNDS=x", "ROUNDS=1.2.3"] {
        assert!(settings.set(wrong).is_err(), "{wrong}");
    }
    settings.set("NOTHING=1").expect("a setting");
    let findings = Program::new(&source, &sizes, &settings).expect_err("no such constant");
    assert_eq!(findings[0].message, "there is no constant `NOTHING` to set");
    assert_eq!(findings[0].help.as_deref(), Some("the file has ROUNDS, RATE"));
}

#[test]
fn asserted_and_printed() {
    let source = format!(
        "{HEAD}let a: [fix<I,F>; 2] = [0.5, -1];\n print(\"a is\", a, a[0] > 0);\n for i in 0..2 {{ print(i, a[i]); }}\n assert(a[0] < 0);\n}}"
    );
    let outcome = interpret(&source, &sizes(1, 1, 8, 4), &[], 1000).expect("a program");
    assert_eq!(outcome.printed, ["a is 0.5 -1 true", "0 0.5", "1 -1"]);
    assert_eq!((outcome.verdict, outcome.line), (Verdict::Rejected, Some(5)));
    agree(&source, &sizes(1, 1, 8, 4), &[], 1000);
}

#[test]
fn bits_and_lists() {
    let body = "let p: bit = true; let q: bit;
        theta[0] = (p ^ q) as fix<I,F>;
        theta[1] = (p ^ p) as fix<I,F>;
        theta = [theta[3], theta[0], theta[1], theta[0]];";
    assert_eq!(theta(body, &[[0, 0]]), [0, 16, 0, 16]);
}

/// Loops that leave their head before the first word of an array.
#[test]
fn loops_that_count_down() {
    let down = "let a: [fix<I,F>; 8]; for i in 0..8 { a[7 - i] = i; } theta[0] = a[3]; theta[1] = a[7];";
    assert_eq!(theta(down, &[[0, 0]]), [4 * 16, 0, 0, 0]);
    let rows = "let a: [[bit; 4]; 4];
        for i in 0..4 { for j in 0..4 { a[i][3 - j] = i > j; } if a[i][3] { theta[i] += 1; } }
        for i in 0..4 { if a[3 - i][3] { theta[i] += 4; } }";
    assert_eq!(theta(rows, &[[0, 0]]), [4 * 16, 5 * 16, 5 * 16, 16]);
}

/// Loops that move the head before or after its sample, and beyond the ends of the data.
#[test]
fn loops_over_features_in_any_order() {
    let samples: Vec<Vec<i64>> = (0..3_i64).map(|s| (0..8).map(|i| 16 * (s + 1) + i).collect()).collect();
    let sums = |terms: &[(usize, i64)]| -> i64 {
        samples.iter().flat_map(|sample| terms.iter().map(|&(i, factor)| factor * sample[i])).sum()
    };
    let down: Vec<(usize, i64)> = (0..7).map(|i| (i, 7 - i64::try_from(i).expect("small"))).collect();
    for (body, terms) in [
        (
            "for i in 0..M { theta[0] += x[M - 1 - i]; theta[1] += theta[0]; } theta[1] = theta[0];",
            &[(0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1)][..],
        ),
        ("let part: fix<I,F>; for i in 0..M { part += x[i]; theta[1] += part; }", &down),
        ("for i in 0..4 { theta[1] += x[6 - 2 * i]; }", &[(0, 1), (2, 1), (4, 1), (6, 1)]),
        ("for i in 0..3 { theta[1] += x[3 * i]; } theta[1] += y;", &[(0, 1), (3, 1), (6, 1), (7, 1)]),
        ("for i in 0..2 { theta[1] += x[5 * i + 1]; } theta[1] += x[0];", &[(1, 1), (6, 1), (0, 1)]),
        ("for i in 0..M { theta[0] = x[M - 1 - i]; } theta[1] += x[3];", &[(3, 1)]),
        (
            "for i in 0..3 { for j in 0..3 { theta[1] += x[2 * i + 2 - j]; } }",
            &[(0, 1), (1, 1), (2, 2), (3, 1), (4, 2), (5, 1), (6, 1)],
        ),
        (
            "for i in 0..3 { for j in 0..3 { theta[1] += x[2 + j - i]; } }",
            &[(0, 1), (1, 2), (2, 3), (3, 2), (4, 1)],
        ),
    ] {
        let source = format!("{HEAD}for sample in data {{ {body} }}\n}}");
        let found = agree(&source, &sizes(7, 1, 16, 4), &samples, 1_000_000).0.theta;
        assert_eq!(found[1], sums(terms), "{body}");
    }
}
