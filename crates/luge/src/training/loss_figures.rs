//! The losses of a run as a certificate prints them. Comparing the printed numbers gives the printed verdict.

use crate::run::run_stats::{Levels, RunStats};

/// Losses and their limits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct LossFigures {
    /// The lowest and the highest while the machine runs; NaN if it was never seen running.
    running: (f64, f64),
    /// The limits of the running losses.
    limits: (f64, f64),
    /// The highest once the machine has halted, if it has.
    halted: Option<f64>,
    /// The limit of the halted loss.
    stop: f64,
}

impl LossFigures {
    /// Collects the losses of a run. A loss that exceeds its limit by no more than rounding is printed as the limit.
    pub(super) fn new(record: &RunStats, levels: &Levels) -> Self {
        let limits = (levels.bounds.running_low, levels.bounds.running_high);
        let room = levels.room();
        let running = record.running.map_or((f64::NAN, f64::NAN), |range| {
            (printed(range.min, limits, room), printed(range.max, limits, room))
        });
        let stop = levels.halted_high;
        let halted = record.halted.map(|loss| printed(loss, (f64::NEG_INFINITY, stop), 0.0));
        Self { running, limits, halted, stop }
    }

    /// Whether the printed numbers are within their limits; false if no loss of a running machine was seen.
    pub(super) fn hold(&self) -> bool {
        let ((lowest, highest), (low, high)) = (self.running, self.limits);
        low <= lowest && highest <= high && self.halted.is_none_or(|loss| loss <= self.stop)
    }
}

impl std::fmt::Display for LossFigures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { running, limits, halted, stop } = self;
        write!(f, "running {} to {} within {} to {}, then ", running.0, running.1, limits.0, limits.1)?;
        halted.map_or(Ok(()), |loss| write!(f, "{loss}, "))?;
        write!(f, "at most {stop}")
    }
}

/// Rounds a loss to twelve digits, because the square root and the carrier make later digits meaningless. Keeps all digits if
/// rounding would move it across a limit, and returns the limit itself if the two differ only by rounding.
fn printed(loss: f64, (low, high): (f64, f64), room: f64) -> f64 {
    let inside = |loss: f64| low <= loss && loss <= high;
    let short: f64 = format!("{loss:.11e}").parse().unwrap_or(loss);
    if !inside(loss) && low - room <= loss && loss <= high + room {
        return loss.clamp(low, high);
    }
    if inside(loss) == inside(short) { short } else { loss }
}

#[cfg(test)]
mod tests {
    use luge_landscape::Bounds;
    use proptest::prelude::*;

    use super::*;

    /// The verdict of a reader who has nothing but the line: the numbers in it, in their order.
    fn verdict_of_a_reader(line: &str) -> bool {
        let words = line.split([' ', ',', ';']);
        let numbers: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
        match numbers[..] {
            [lowest, highest, low, high, stop, ..] if numbers.len() == 5 => {
                low <= lowest && highest <= high && stop.is_finite()
            }
            [lowest, highest, low, high, halted, stop] => low <= lowest && highest <= high && halted <= stop,
            _ => panic!("{line}"),
        }
    }

    /// A limit, and a loss near it: some neighbours away, some parts of a billion away, or anywhere.
    fn beside_a_limit() -> impl Strategy<Value = (f64, f64)> {
        let limit = prop_oneof![1.0..1e16_f64, (0..31_u32).prop_map(|e| 3.0 * f64::from(1_u32 << e))];
        (limit, -40..40_i64, -3.0..3.0_f64, 0..3).prop_map(
            |(limit, ulps, billionths, how): (f64, _, _, _)| {
                let loss = match how {
                    0 => f64::from_bits((limit.to_bits() as i64 + ulps) as u64),
                    1 => limit * (1.0 + billionths * 1e-9),
                    _ => limit * (1.0 + billionths * 1e-12),
                };
                (limit, loss)
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn printed_losses_tell_the_verdict(
            (high, highest) in beside_a_limit(),
            (stop, halted) in beside_a_limit(),
            (low, lowest) in (0.0..1.0_f64, 0.0..1.0_f64),
            rounding in prop_oneof![Just(0.0), Just(1e-9)],
            added in prop_oneof![Just(0.0), 0.0..100.0],
        ) {
            let bounds = Bounds { running_low: low, running_high: high, halted_high: stop, stop, switch: stop };
            let levels = Levels { bounds, added, halted_high: stop, tolerance: rounding, from: 0 };
            let mut record = RunStats::default();
            for loss in [lowest.min(highest), highest] {
                record.record_loss(0, loss + added, false, &levels);
            }
            record.record_loss(1, halted, true, &levels);
            let figures = LossFigures::new(&record, &levels);
            prop_assert_eq!(figures.hold(), record.bounds_held, "{}", figures);
            prop_assert_eq!(verdict_of_a_reader(&figures.to_string()), record.bounds_held, "{}", figures);
        }
    }

    #[test]
    fn a_loss_that_is_no_number_is_printed() {
        let bounds = Bounds { running_low: 1.0, running_high: 2.0, halted_high: 1.0, stop: 1.0, switch: 1.0 };
        let levels = Levels { bounds, added: 0.0, halted_high: 1.0, tolerance: 1e-9, from: 0 };
        let mut record = RunStats::default();
        [1.5, f64::NAN, 1.5].into_iter().for_each(|loss| record.record_loss(0, loss, false, &levels));
        let figures = LossFigures::new(&record, &levels);
        assert_eq!(figures.to_string(), "running 1.5 to NaN within 1 to 2, then at most 1");
        assert!(!figures.hold() && !record.bounds_held);
    }
}
