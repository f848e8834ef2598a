//! Ramps and switches.
//!
//! Paper: §5.1, §5.2.

use luge_net::{GraphBuilder, NodeId};

/// The two ends of a ramp: `low` and `high`.
type Ends = (f64, f64);

/// A ramp of two ReLUs: 0 up to `low`, 1 from `high` on. If `high` is below `low`, it is 1 up to `high` and 0 from `low` on.
///
/// `ReLU(a) - ReLU(a - 1)` with `a = (t - low) / (high - low)` rounded once saturates at exactly 0 and 1. Departs from the
/// paper as most would program it: two quotients, each rounded, end at 2e-16 instead of 0.
pub(crate) fn ramp(g: &mut GraphBuilder, name: &str, t: NodeId, (low, high): Ends, once: bool) -> NodeId {
    let slope = 1.0 / (high - low);
    let raised = g.affine(name, 1.0, t, -low);
    let (rising, falling) = if once {
        let a = g.affine(name, slope, raised, 0.0);
        (a, g.affine(name, 1.0, a, -1.0))
    } else {
        let above = g.affine(name, 1.0, t, -high);
        (g.affine(name, slope, raised, 0.0), g.affine(name, slope, above, 0.0))
    };
    let rising = g.relu(name, rising);
    let falling = g.relu(name, falling);
    g.sum(name, [(1.0, rising), (-1.0, falling)])
}

/// A falling ramp: 1 up to `low`, 0 from `high` on.
///
/// A ramp with `low` and `high` exchanged is exactly 0 however large t is; `1 - ramp` would need `a - (a - 1)` to be 1,
/// which fails from 2^53 on. Departs from the paper, which subtracts from 1.
pub(crate) fn falling_ramp(
    g: &mut GraphBuilder,
    name: &str,
    t: NodeId,
    (low, high): Ends,
    once: bool,
) -> NodeId {
    if once {
        return ramp(g, name, t, (high, low), once);
    }
    let rising = ramp(g, name, t, (low, high), once);
    g.affine(name, -1.0, rising, 1.0)
}

/// `open * on + (1 - open) * off`; with `ours`, a branch with weight 0 is ignored.
///
/// Departs from the paper: printed as a sum of products, where 0 times infinity is NaN.
pub(crate) fn switch(
    g: &mut GraphBuilder,
    name: &str,
    open: NodeId,
    on: NodeId,
    off: NodeId,
    ours: bool,
) -> NodeId {
    if ours {
        return g.switch(name, open, on, off);
    }
    let closed = g.affine(name, -1.0, open, 1.0);
    let from_on = g.product(name, open, on);
    let from_off = g.product(name, closed, off);
    g.sum(name, [(1.0, from_on), (1.0, from_off)])
}

#[cfg(test)]
mod tests {
    use luge_net::{Shape, StepRule, Values, evaluate};

    use super::*;

    /// The values of a ramp between `low` and `high` at these points.
    fn check(
        build: fn(&mut GraphBuilder, &str, NodeId, Ends, bool) -> NodeId,
        ends: Ends,
        once: bool,
        points: &[f64],
    ) -> Vec<f64> {
        let mut g = GraphBuilder::new();
        let (_, t) = g.parameter("t", Shape::SCALAR, StepRule::Gradient { rate: 1.0 });
        let value = build(&mut g, "ramp", t, ends, once);
        let network = g.finish(value);
        let at = |&t: &f64| evaluate(&network, &[Values::filled(Shape::SCALAR, t)], &[]).loss();
        points.iter().map(at).collect()
    }

    #[test]
    fn ramps_rise_and_fall() {
        let points = [0.0, 1.0, 1.25, 1.5, 2.0, 9.0];
        assert_eq!(check(ramp, (1.0, 2.0), true, &points), [0.0, 0.0, 0.25, 0.5, 1.0, 1.0]);
        assert_eq!(check(falling_ramp, (1.0, 2.0), true, &points), [1.0, 1.0, 0.75, 0.5, 0.0, 0.0]);
    }

    #[test]
    fn rounded_once_a_ramp_ends_at_exactly_one() {
        // An epsilon that is no power of two: the quotients are rounded one way or the other.
        let ends = (0.01 / 3.0, 0.02 / 3.0);
        let points: Vec<f64> = (1..1000).map(|i| 0.01 * f64::from(i)).collect();
        assert!(check(ramp, ends, true, &points).iter().all(|&v| v.total_cmp(&1.0).is_eq()));
        let apart = check(ramp, ends, false, &points);
        assert!(apart.iter().any(|&v| v < 1.0) && apart.iter().any(|&v| v > 1.0));
        assert!(apart.iter().all(|&v| (v - 1.0).abs() < 1e-10));
    }

    fn power(exponent: i64) -> f64 {
        f64::from_bits(u64::try_from(1023 + exponent).expect("a normal number") << 52)
    }

    #[test]
    fn a_falling_ramp_ends_at_zero_however_far() {
        let epsilon = power(-32);
        let (low, high) = (epsilon / 3.0, epsilon * (2.0 / 3.0));
        let points = [epsilon, 1.0, power(31), power(500)];
        assert_eq!(check(falling_ramp, (low, high), true, &points), [0.0; 4]);
        assert_eq!(check(falling_ramp, (low, high), true, &[0.0]), [1.0]);
        // Subtracted from 1 it is back at 1 where the numbers are far apart.
        let rising = check(ramp, (low, high), true, &points);
        assert_eq!(rising, [1.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn switches_do_not_look_at_the_closed_branch() {
        let value = |open: f64, on: f64, off: f64, ours: bool| {
            let mut g = GraphBuilder::new();
            let [open, on, off] = [open, on, off].map(|v| g.scalar("branch", v));
            let value = switch(&mut g, "switch", open, on, off, ours);
            evaluate(&g.finish(value), &[], &[]).loss()
        };
        let values = [value(1.0, 3.0, f64::INFINITY, true), value(0.0, f64::NAN, 3.0, true)];
        assert!(values.iter().all(|v| v.total_cmp(&3.0).is_eq()), "{values:?}");
        assert!(value(1.0, 3.0, f64::INFINITY, false).is_nan() && value(0.0, f64::NAN, 3.0, false).is_nan());
        let halfway = [value(0.25, 4.0, 8.0, true), value(0.25, 4.0, 8.0, false)];
        assert!(halfway.iter().all(|v| v.total_cmp(&7.0).is_eq()), "{halfway:?}");
    }
}
