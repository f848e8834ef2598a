//! The loss over a run of unknown length: lowest and highest per bucket, buckets that double.

/// The most buckets.
const MOST_BUCKETS: usize = 512;

/// Some steps' losses.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bucket {
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
}

/// The loss, bucket by bucket.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    /// Steps per bucket.
    width: u64,
    buckets: Vec<Option<Bucket>>,
    /// Losses seen.
    n_seen: u64,
}

impl Default for Curve {
    fn default() -> Self {
        Self { width: 1, buckets: Vec::new(), n_seen: 0 }
    }
}

impl Curve {
    /// A curve for a run of so many steps, whose buckets need not double.
    pub(super) fn for_run(steps: u64) -> Self {
        let width = (steps / MOST_BUCKETS as u64 + 1).next_power_of_two();
        Self { width, ..Self::default() }
    }

    /// Adds a step's loss; one that is not finite leaves a gap.
    pub fn add(&mut self, step: u64, loss: f64) {
        while step / self.width >= MOST_BUCKETS as u64 {
            self.widen();
        }
        self.n_seen += 1;
        let at = (step / self.width) as usize;
        if self.buckets.len() <= at {
            self.buckets.resize(at + 1, None);
        }
        if loss.is_finite() {
            let Bucket { low, high } = self.buckets[at].unwrap_or(Bucket { low: loss, high: loss });
            self.buckets[at] = Some(Bucket { low: low.min(loss), high: high.max(loss) });
        }
    }

    /// Lowest and highest of a whole bucket, found in another way.
    pub(super) fn include(&mut self, bucket: usize, low: f64, high: f64) {
        if let Some(slot) = self.buckets.get_mut(bucket).filter(|_| low.is_finite() && high.is_finite()) {
            let known = slot.unwrap_or(Bucket { low, high });
            *slot = Some(Bucket { low: known.low.min(low), high: known.high.max(high) });
        }
    }

    /// Notes that every loss is in.
    pub(super) fn all_seen(&mut self, n_seen: u64) {
        self.n_seen = n_seen;
    }

    fn widen(&mut self) {
        self.width *= 2;
        let join = |pair: &[Option<Bucket>]| {
            pair.iter()
                .flatten()
                .copied()
                .reduce(|a, b| Bucket { low: a.low.min(b.low), high: a.high.max(b.high) })
        };
        self.buckets = self.buckets.chunks(2).map(join).collect();
    }

    /// Steps per bucket.
    #[must_use]
    pub fn width(&self) -> u64 {
        self.width
    }

    /// Losses that were added.
    #[must_use]
    pub fn n_seen(&self) -> u64 {
        self.n_seen
    }

    /// The buckets, from step 0 on.
    #[must_use]
    pub fn buckets(&self) -> &[Option<Bucket>] {
        &self.buckets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_survive_widening() {
        let mut curve = Curve::default();
        let loss = |step: u64| if step == 12_345 { 99.0 } else { (step % 3) as f64 };
        (0..100_000).for_each(|step| curve.add(step, loss(step)));
        assert!(curve.buckets().len() <= MOST_BUCKETS && curve.buckets().len() > MOST_BUCKETS / 4);
        let at = (12_345 / curve.width()) as usize;
        let high = |b: &Option<Bucket>| b.map(|b| (b.low, b.high));
        assert_eq!(high(&curve.buckets()[at]), Some((0.0, 99.0)));
        assert!(curve.buckets().iter().enumerate().all(|(i, b)| i == at || high(b) == Some((0.0, 2.0))));
        assert_eq!(curve.n_seen(), 100_000);
    }

    #[test]
    fn a_loss_that_is_no_number_leaves_a_gap() {
        let mut curve = Curve::default();
        curve.add(0, 1.0);
        curve.add(1, f64::NAN);
        assert_eq!(curve.buckets(), [Some(Bucket { low: 1.0, high: 1.0 }), None]);
    }
}
