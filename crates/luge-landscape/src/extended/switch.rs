//! Ramps and switches.
//!
//! Paper: §5.1, §5.2.

use luge_net::{GraphBuilder, NodeId};

/// A ramp: 0 up to `low`, 1 from `high` on, of two ReLUs.
///
/// `ReLU(a) - ReLU(a - 1)` with `a = (t - low) / (high - low)` rounded once saturates at exactly 0 and 1. Departs from
/// the paper's text as most would program it: two quotients rounded apart end at 2e-16 instead of 0.
pub(crate) fn ramp(g: &mut GraphBuilder, name: &str, t: NodeId, low: f64, high: f64, once: bool) -> NodeId {
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

/// `open * on + (1 - open) * off`: fully open or closed, a switch of ours does not look at the other branch.
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
