//! Thresholds: the continuous ramp that stands for "at least this much".
//!
//! `psi((x - a + eps) / eps)` with `psi(r) = ReLU(1 - ReLU(1 - r))`, which is 0 up to `a - eps` and 1 from `a` on, exactly:
//! eps is the gap below a in f64, a power of two, so dividing by it rounds nothing.
//!
//! Departs from the paper: printed, the ramp is 1 only from 1 on, and "x >= a" is asked without the shift by eps, which
//! answers no for x = a. `ReLU(r) - ReLU(r - 1)`, the ramp of the switches, will not do here: r exceeds 2^53 a step
//! beyond a, where `r - 1` rounds to r and the difference is 0.

use luge_net::{GraphBuilder, NodeId, Shape, Values};

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
