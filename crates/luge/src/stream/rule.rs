//! The rule that every step on a stream follows: each weight goes part of the way to its target.

use super::checker::widened;

/// How far rounding may put a weight of size 1 off: that of one product and two differences.
const STEP_ROUNDING: f64 = 8.0 * f64::EPSILON;

/// How far weights go towards their targets in one step.
pub(super) struct Rule {
    pub(super) gain: f64,
    /// The smallest and the largest part of the way that a weight was seen to go.
    pub(super) gains: Option<(f64, f64)>,
}

impl Rule {
    /// Checks one weight on its way to a target; the error says how it differs.
    pub(super) fn moved(
        &mut self,
        what: &'static str,
        index: usize,
        (before, after): (f64, f64),
        target: f64,
    ) -> Result<(), String> {
        let way = target - before;
        let expected = before + self.gain * way;
        let size = before.abs().max(target.abs()).max(1.0);
        let away = (after - expected).abs();
        if away.is_nan() || away > STEP_ROUNDING * size {
            return Err(format!("a step leads {what}[{index}] to {after}, not to {expected}"));
        }
        if way.abs() >= 0.5 {
            self.gains = widened(self.gains, (after - before) / way);
        }
        Ok(())
    }

    /// Checks all weights of a row: the one at `target` goes to 1, all others to 0. `before` then holds the weights after
    /// the step, for the next check.
    pub(super) fn row(
        &mut self,
        what: &'static str,
        before: &mut Vec<(usize, f64)>,
        after: &[(usize, f64)],
        target: usize,
    ) -> Result<(), String> {
        let of = |row: &[(usize, f64)], at: usize| row.iter().find(|w| w.0 == at).map_or(0.0, |w| w.1);
        self.moved(what, target, (of(before, target), of(after, target)), 1.0)?;
        for &(at, _) in before.iter().chain(after).filter(|w| w.0 != target) {
            self.moved(what, at, (of(before, at), of(after, at)), 0.0)?;
        }
        after.clone_into(before);
        Ok(())
    }
}
