//! Thresholds as continuous ramps.
//!
//! `psi((x - a + eps) / eps)` with `psi(r) = ReLU(1 - ReLU(1 - r))`, which is 0 up to `a - eps` and 1 from `a` on, exactly:
//! eps is the gap below a in f64, a power of two, so dividing by it rounds nothing.
//!
//! Departs from the paper: printed, "x >= a" lacks the shift by eps, so it is false for x = a. The ramp of the switches,
//! `ReLU(r) - ReLU(r - 1)`, does not work here: a step beyond a, r exceeds 2^53, `r - 1` rounds to r, and the difference is
//! 0.

use crate::{GraphBuilder, NodeId, Shape, Values};

/// 1 where `of >= at`, else 0, for a threshold above 0.
pub(super) fn at_least(g: &mut GraphBuilder, name: &str, of: NodeId, at: f64) -> NodeId {
    let gap = gap_below(at);
    let missing = g.affine(name, -1.0 / gap, of, at / gap);
    saturate(g, name, missing)
}

/// 1 where `of > at`, else 0, for a threshold above 0.
pub(super) fn above(g: &mut GraphBuilder, name: &str, of: NodeId, at: f64) -> NodeId {
    at_least(g, name, of, at.next_up())
}

/// [`above`] where `strict` is 1, [`at_least`] where it is 0.
pub(super) fn at_least_or_above(
    g: &mut GraphBuilder,
    name: &str,
    of: NodeId,
    at: f64,
    strict: NodeId,
) -> NodeId {
    let gap = gap_below(at);
    let one = g.scalar("one", 1.0);
    let gap_above = at.next_up() - at;
    let missing = g.sum(name, [(at / gap, one), (-1.0 / gap, of), (gap_above / gap, strict)]);
    saturate(g, name, missing)
}

/// For every entry of a vector a row: 1 at each threshold it reaches, else 0.
pub(super) fn at_least_each(g: &mut GraphBuilder, name: &str, of: NodeId, thresholds: &[f64]) -> NodeId {
    let row = |f: fn(f64) -> f64| {
        Values::new(Shape::new(1, thresholds.len()), thresholds.iter().map(|&at| f(at)).collect())
    };
    let slopes = g.constant("slopes", row(|at| -1.0 / gap_below(at)));
    let needed = g.constant("thresholds", row(|at| at / gap_below(at)));
    let scaled = g.product(name, of, slopes);
    let missing = g.sum(name, [(1.0, scaled), (1.0, needed)]);
    saturate(g, name, missing)
}

/// `ReLU(1 - ReLU(missing))`.
fn saturate(g: &mut GraphBuilder, name: &str, missing: NodeId) -> NodeId {
    let missing = g.relu(name, missing);
    let reached = g.affine(name, -1.0, missing, 1.0);
    g.relu(name, reached)
}

/// The distance to the next smaller f64.
fn gap_below(at: f64) -> f64 {
    at - at.next_down()
}

#[cfg(test)]
mod tests {
    use crate::evaluate;

    use super::*;

    fn check(build: impl Fn(&mut GraphBuilder, NodeId) -> NodeId, cases: &[(f64, f64)]) {
        let mut g = GraphBuilder::new();
        let (_, input) = g.input("x", Shape::column(cases.len()));
        let output = build(&mut g, input);
        let loss = g.sum_all("loss", output);
        let x = Values::column(cases.iter().map(|case| case.0).collect());
        let found = evaluate(&g.finish(loss), &[], &[x]).value(output).clone();
        assert_eq!(found.data, cases.iter().map(|case| case.1).collect::<Vec<_>>());
    }

    #[test]
    fn thresholds_separate_neighbours() {
        for at in [0.25_f64, 1.0, 1.5, 1e-150, 7.9e150, 0.1] {
            let (below, beyond) = (at.next_down(), at.next_up());
            let far = [(f64::MIN, 0.0), (-at, 0.0), (0.0, 0.0), (3.0 * at, 1.0), (f64::MAX, 1.0)];
            let with = |near: [(f64, f64); 3]| far.into_iter().chain(near).collect::<Vec<_>>();
            let inclusive = with([(below, 0.0), (at, 1.0), (beyond, 1.0)]);
            let strict = with([(below, 0.0), (at, 0.0), (beyond, 1.0)]);
            check(|g, x| at_least(g, "t", x, at), &inclusive);
            check(|g, x| above(g, "t", x, at), &strict);
            for (flag, cases) in [(0.0, &inclusive), (1.0, &strict)] {
                let either = |g: &mut GraphBuilder, x| {
                    let flag = g.scalar("flag", flag);
                    at_least_or_above(g, "t", x, at, flag)
                };
                check(either, cases);
            }
            let rows = |g: &mut GraphBuilder, x| {
                let each = at_least_each(g, "t", x, &[at, 4.0 * at]);
                g.gather("first", (0..8).map(|row| 2 * row).collect(), each)
            };
            check(rows, &inclusive);
        }
    }

    #[test]
    fn the_ramp_of_the_switches_forgets_large_numbers() {
        let parallel = |g: &mut GraphBuilder, x| {
            let gap = gap_below(1.0);
            let low = g.affine("low", 1.0 / gap, x, 1.0 - 1.0 / gap);
            let high = g.affine("high", 1.0, low, -1.0);
            let (low, high) = (g.relu("low", low), g.relu("high", high));
            g.sum("ramp", [(1.0, low), (-1.0, high)])
        };
        check(parallel, &[(1.0_f64.next_down(), 0.0), (1.0, 1.0), (1.5, 1.0), (8.0, 0.0)]);
    }
}
