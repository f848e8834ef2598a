//! Products of elements: heads that end on the next element, and heads that are needed where they were.

mod machines;

use machines::{agree, sizes};

/// Bodies of a loop over `i`; `v` is read, `w` is read and written, `s` and `c` are single numbers.
const BODIES: [&str; 12] = [
    "s += v[i] * w[i];",
    "s -= w[i] *~ c;",
    "w[i] += v[i] * c;",
    "w[i] -= v[i] *~ x[i];",
    "w[i] += v[i] * v[i];",
    "w[i + 1] += x[i] * w[i];",
    "w[i] += v[i] *~ c; s += w[i];",
    "s += w[i] * c; w[i] -= v[i] *~ c;",
    "w[i] += v[2 - i] * c; w[i] -= v[i] * s;",
    "if v[i] > 0 { w[i] += x[i] *~ c; } else { s += w[i] * v[i]; }",
    "for j in 0..3 { w[j] += v[i] * v[j]; }",
    "wide[i] += v[i] as fix<I + 3, F> * v[i + 1] as fix<I + 3, F>; s += wide[i] as fix<I,F>;",
];

#[test]
fn heads_of_products_are_where_they_are_wanted() {
    for (integer, fraction) in [(4, 4), (7, 0), (2, 7)] {
        for body in BODIES {
            let source = format!(
                "learner one(x: [fix<I,F>; 3], y: fix<I,F>) -> theta: [fix<I,F>; 5] {{
                    let v: [fix<I,F>; 4]; let w: [fix<I,F>; 4]; let wide: [fix<I + 3, F>; 4];
                    let s: fix<I,F>; let c: fix<I,F>;
                    for sample in data {{
                        c = y;
                        for i in 0..3 {{ v[i] = x[i]; w[i] += x[2 - i]; }}
                        for i in 0..3 {{ {body} }}
                    }}
                    for i in 0..4 {{ theta[i] = w[i]; }}
                    theta[4] = s;
                }}"
            );
            let largest = (1 << (integer + fraction - 1)) - 1;
            let number = |n: i64| (n * 37 + n * n * 11) % (2 * largest) - largest;
            let samples: Vec<Vec<i64>> =
                (0..3).map(|row| (0..4).map(|n| number(4 * row + n)).collect()).collect();
            agree(&source, &sizes(3, 1, integer, fraction), &samples, 100_000);
        }
    }
}

/// One index goes up, the other down: the head stays inside the sample only if it goes to the first number in between.
#[test]
fn a_sample_is_read_in_both_directions() {
    for body in [
        "s = x[i]; s += x[2 - i];",
        "s += x[2 - i]; s += x[i] * x[i];",
        "s -= x[i]; s += x[3 - i - 1] - x[i];",
    ] {
        let source = format!(
            "learner one(x: [fix<I,F>; 3], y: fix<I,F>) -> theta: [fix<I,F>; 1] {{
                let s: fix<I,F>;
                for sample in data {{ for i in 0..3 {{ {body} }} theta[0] += s; }}
            }}"
        );
        agree(&source, &sizes(3, 1, 4, 4), &[vec![17, -30, 55, 1], vec![-8, 3, 19, -5]], 10_000);
    }
}

/// The side of `outer` that records how far a counter was moved back has no marks, even if products count different numbers of
/// bits.
#[test]
fn long_ways_along_counters() {
    let source = "learner one(x: [fix<I,F>; 1], y: fix<I,F>) -> theta: [fix<I,F>; 1] {
        let w: [fix<I,F>; 12]; let s: fix<I,F>; let t: int<5>;
        for sample in data {
            for i in 0..12 {
                w[i] += y;
                for j in 0..12 { s += w[i] *~ x[0]; s -= w[j]; t += t * 3; t += 1; }
            }
            theta[0] = s + (t as fix<I,F>);
        }
    }";
    agree(source, &sizes(1, 1, 4, 4), &[vec![17, -30], vec![-8, 3]], 10_000);
}
