//! The range of the loss during a run.

/// The range of the loss.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize)]
pub struct LossRange {
    /// Before the first step.
    pub first: f64,
    /// The lowest.
    pub min: f64,
    /// The highest.
    pub max: f64,
    /// At the end.
    pub last: f64,
}

impl LossRange {
    /// The range of one loss.
    pub fn of(loss: f64) -> Self {
        Self { first: loss, min: loss, max: loss, last: loss }
    }

    /// The range with one more loss at its end.
    #[must_use]
    pub fn and(self, loss: f64) -> Self {
        let mut range = self;
        range.add(loss);
        range
    }

    /// Adds one more loss at the end.
    #[inline]
    pub fn add(&mut self, loss: f64) {
        if loss < self.min {
            self.min = loss;
        }
        if loss > self.max {
            self.max = loss;
        }
        self.last = loss;
    }
}
