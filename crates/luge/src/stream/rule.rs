//! The rule of every step on a stream: weights go part of the way to their targets.

use luge_landscape::Undecodable;

use super::checker::widened;

/// How a step on a stream differs from the machine's.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum StreamMismatch {
    /// The weights do not stand for a configuration.
    #[error(transparent)]
    Undecodable(#[from] Undecodable),
    /// The weights stand for another configuration.
    #[error("the network's {what} differs from the machine's")]
    Differs {
        /// State, head, cell or memory.
        what: &'static str,
    },
    /// A step moved a weight elsewhere.
    #[error("a step leads {what}[{index}] to {found}, not to {expected}")]
    Weight {
        /// Vertex, head, cell, memory or z.
        what: &'static str,
        /// Which one.
        index: usize,
        /// Where it is.
        found: f64,
        /// Where the machine's step and the label lead it.
        expected: f64,
    },
    /// z does not hold what it should.
    #[error("z is {found} where it should be {expected}")]
    Slot {
        /// What z holds.
        found: f64,
        /// What it should hold.
        expected: f64,
    },
}

/// How far a weight of size 1 may lie from where a step leads it: rounding of a product and two differences.
const STEP_ROUNDING: f64 = 8.0 * f64::EPSILON;

/// How far weights go towards their targets in one step.
pub(super) struct Rule {
    pub(super) gain: f64,
    /// The smallest and the largest part of their way that weights were seen to go.
    pub(super) gains: Option<(f64, f64)>,
}

impl Rule {
    /// Checks one weight on its way to a target.
    pub(super) fn moved(
        &mut self,
        what: &'static str,
        index: usize,
        (before, after): (f64, f64),
        target: f64,
    ) -> Result<(), StreamMismatch> {
        let way = target - before;
        let expected = before + self.gain * way;
        let size = before.abs().max(target.abs()).max(1.0);
        let away = (after - expected).abs();
        if away.is_nan() || away > STEP_ROUNDING * size {
            return Err(StreamMismatch::Weight { what, index, found: after, expected });
        }
        if way.abs() >= 0.5 {
            self.gains = widened(self.gains, (after - before) / way);
        }
        Ok(())
    }

    /// Checks all weights of a row: the one at `target` goes to 1, all others go to 0. Those after the step are kept for the next.
    pub(super) fn row(
        &mut self,
        what: &'static str,
        before: &mut Vec<(usize, f64)>,
        after: &[(usize, f64)],
        target: usize,
    ) -> Result<(), StreamMismatch> {
        let of = |row: &[(usize, f64)], at: usize| row.iter().find(|w| w.0 == at).map_or(0.0, |w| w.1);
        self.moved(what, target, (of(before, target), of(after, target)), 1.0)?;
        for &(at, _) in before.iter().chain(after).filter(|w| w.0 != target) {
            self.moved(what, at, (of(before, at), of(after, at)), 0.0)?;
        }
        after.clone_into(before);
        Ok(())
    }
}
