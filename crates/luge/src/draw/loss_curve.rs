//! Stores and draws the loss over a training run, in a size that does not depend on the number of steps.

use luge_landscape::{Bounds, LandscapeKind};

use crate::{
    draw::plot::{Axis, Chart, FRAME_WIDTH, Stroke, numeral},
    run::decimated::{Decimated, Thin},
};

const CURVE: &str = "#0b5cad";
const RUNNING: &str = "#2f7d4f";
const RUNNING_BAND: &str = "#e6f4ea";
const STOP: &str = "#8a5a00";
const HALTED: &str = "#7b3fa0";
const WRONG: &str = "#c62828";

/// Up to this many steps every iterate is a dot.
const MAX_DOTS: u64 = 160;

/// The lowest and highest loss of each pixel column. The length of the run need not be known in advance.
#[derive(Clone, PartialEq, Debug)]
pub struct LossCurve {
    last_step: u64,
    /// Steps whose losses were added.
    pub n_seen: u64,
    /// The losses of the first and the last step that were added.
    ends: Option<(f64, f64)>,
    columns: Decimated<Extremes>,
}

/// The lowest and the highest of some losses.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize)]
pub struct Extremes(pub f64, pub f64);

impl Thin for Extremes {
    fn join(first: Option<Self>, second: Option<Self>) -> Option<Self> {
        let both = |a: Self, b: Self| Self(a.0.min(b.0), a.1.max(b.1));
        first.into_iter().chain(second).reduce(both)
    }
}

impl Default for LossCurve {
    fn default() -> Self {
        Self::for_run(0)
    }
}

impl LossCurve {
    /// Creates a curve for a run of this many steps, whose columns then need not be joined.
    pub fn for_run(steps: u64) -> Self {
        Self { last_step: 0, n_seen: 0, ends: None, columns: Decimated::for_run(FRAME_WIDTH, steps) }
    }

    /// Adds an iterate. A loss that is not finite leaves a gap.
    pub fn add(&mut self, step: u64, loss: f64) {
        self.n_seen += 1;
        if step >= self.last_step {
            self.ends = Some((self.ends.map_or(loss, |ends| ends.0), loss));
        }
        self.include(step, loss, loss);
    }

    /// Adds the lowest and the highest of several losses to the column of a step.
    pub fn include(&mut self, step: u64, low: f64, high: f64) {
        self.last_step = self.last_step.max(step);
        let column = self.columns.slot(step);
        if low.is_finite() && high.is_finite() {
            *column = Extremes::join(*column, Some(Extremes(low, high)));
        }
    }

    /// Steps per column.
    pub fn width(&self) -> u64 {
        self.columns.width()
    }

    /// The columns, from step 0 on.
    pub fn columns(&self) -> &[Option<Extremes>] {
        self.columns.slots()
    }

    /// The step in the middle of each column, and the lowest and highest loss there.
    fn heights(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        let width = self.width() as f64;
        let middle = move |column: usize| (column as f64 + 0.5) * width - 0.5;
        let columns = self.columns().iter().enumerate();
        columns.filter_map(move |(i, column)| column.map(|Extremes(low, high)| (middle(i), low, high)))
    }

    /// Draws the curve between its bounds.
    pub fn draw(
        &self,
        title: &str,
        subtitle: &str,
        kind: LandscapeKind,
        bounds: &Bounds,
        first_mismatch: Option<u64>,
    ) -> String {
        let Bounds { running_low, running_high, halted_high, stop, .. } = *bounds;
        let losses = self.heights().flat_map(|(_, low, high)| [low, high]);
        let y = Axis::over("loss", losses.chain([running_low, running_high, halted_high])).with_room();
        let x = Axis::over("gradient steps", [0.0, self.last_step as f64]).with_room();
        let mut chart = Chart::new(title, subtitle, x, y);
        chart.band(running_low, running_high, RUNNING_BAND);
        let edge = Stroke::solid(RUNNING, 1.0);
        chart.level(running_high, edge, &format!("running: at most {}", numeral(running_high)));
        chart.level(running_low, edge, &format!("running: at least {}", numeral(running_low)));
        let level = if kind == LandscapeKind::Internal { "is" } else { "at most" };
        // On a stream no level stops training.
        if stop.is_finite() {
            chart.level(stop, Stroke::dashed(STOP, 1.2), &format!("training stops: {}", numeral(stop)));
            let label = format!("halted: {level} {}", numeral(halted_high));
            chart.level(halted_high, Stroke::solid(HALTED, 1.0), &label);
        }
        self.draw_losses(&mut chart);
        // Before a learner reads the labels and after it halts, the loss is that of the data, far below the rest.
        for (step, loss, when) in self.ends.iter().flat_map(|&(first, last)| {
            [(0.0, first, "at the start"), (self.last_step as f64, last, "at the end")]
        }) {
            if self.ends.is_some_and(|(first, _)| first < running_low) && loss.is_finite() {
                chart.dot((step, loss), 4.0, CURVE);
                chart.label(loss, &format!("{when}: {}", numeral(loss)), CURVE);
            }
        }
        if let Some(step) = first_mismatch {
            let label = format!("first mismatch, step {step}");
            chart.upright(step as f64, Stroke::dashed(WRONG, 1.5), &label);
        }
        chart.finish()
    }

    fn draw_losses(&self, chart: &mut Chart) {
        let heights: Vec<_> = self.heights().collect();
        if self.width() > 1 {
            chart.ribbon(&heights, CURVE);
            return;
        }
        chart.line(heights.iter().map(|&(step, loss, _)| (step, loss)), Stroke::solid(CURVE, 1.6));
        if self.last_step <= MAX_DOTS {
            heights.iter().for_each(|&(step, loss, _)| chart.dot((step, loss), 2.6, CURVE));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heights(most_steps: u64, losses: impl Fn(u64) -> f64) -> Vec<(f64, f64, f64)> {
        let mut curve = LossCurve::default();
        (0..=most_steps).for_each(|step| curve.add(step, losses(step)));
        curve.heights().collect()
    }

    #[test]
    fn short_runs_are_kept_whole() {
        let losses = [3.0, f64::INFINITY, 5.0];
        assert_eq!(heights(2, |step| losses[step as usize]), [(0.0, 3.0, 3.0), (2.0, 5.0, 5.0)]);
        assert_eq!(heights(0, |_| 1.0), [(0.0, 1.0, 1.0)]);
    }

    #[test]
    fn long_runs_keep_the_extremes_of_every_column() {
        let n_steps = 128 * FRAME_WIDTH as u64;
        let kept = heights(n_steps - 1, |step| if step == 12_345 { 9.0 } else { (step % 2) as f64 });
        assert_eq!(kept.len(), FRAME_WIDTH);
        assert_eq!(kept[96], (12_351.5, 0.0, 9.0));
        assert!(kept.iter().enumerate().all(|(i, &(_, low, high))| i == 96 || (low, high) == (0.0, 1.0)));
    }

    #[test]
    fn a_loss_that_is_no_number_leaves_a_gap() {
        let mut curve = LossCurve::default();
        curve.add(0, 1.0);
        curve.add(1, f64::NAN);
        assert_eq!(curve.columns(), [Some(Extremes(1.0, 1.0)), None]);
        assert_eq!(curve.n_seen, 2);
    }
}
