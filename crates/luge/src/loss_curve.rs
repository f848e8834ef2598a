//! The loss over a training run, kept and drawn in a size that does not depend on the number of steps.

use luge_landscape::{Bounds, LandscapeKind};

use crate::plot::{Axis, Chart, FRAME_WIDTH, Stroke, numeral};

const CURVE: &str = "#0b5cad";
const RUNNING: &str = "#2f7d4f";
const RUNNING_BAND: &str = "#e6f4ea";
const STOP: &str = "#8a5a00";
const HALTED: &str = "#7b3fa0";
const WRONG: &str = "#c62828";

/// Up to this many steps every iterate is a dot.
const MOST_DOTS: u64 = 160;

/// The lowest and highest loss of each pixel column. How long the run will be need not be known: columns are joined in
/// pairs whenever they no longer suffice.
#[derive(Clone, Debug)]
pub struct LossCurve {
    last_step: u64,
    per_column: u64,
    columns: Vec<Option<(f64, f64)>>,
}

impl Default for LossCurve {
    fn default() -> Self {
        Self { last_step: 0, per_column: 1, columns: Vec::new() }
    }
}

impl LossCurve {
    /// Adds an iterate; a loss that is not finite leaves a gap.
    pub fn add(&mut self, step: u64, loss: f64) {
        self.last_step = self.last_step.max(step);
        while step / self.per_column >= FRAME_WIDTH as u64 {
            self.join();
        }
        if !loss.is_finite() {
            return;
        }
        let column = (step / self.per_column) as usize;
        if column >= self.columns.len() {
            self.columns.resize(column + 1, None);
        }
        let range = &mut self.columns[column];
        let (low, high) = range.unwrap_or((loss, loss));
        *range = Some((low.min(loss), high.max(loss)));
    }

    /// Two columns become one.
    fn join(&mut self) {
        let both = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
        let pair = |pair: &[Option<(f64, f64)>]| pair.iter().flatten().copied().reduce(both);
        self.columns = self.columns.chunks(2).map(pair).collect();
        self.per_column = self.per_column.saturating_mul(2);
    }

    /// The step in the middle of each column, and the lowest and highest loss there.
    fn heights(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        let per_column = self.per_column as f64;
        let middle = move |column: usize| (column as f64 + 0.5) * per_column - 0.5;
        let columns = self.columns.iter().enumerate();
        columns.filter_map(move |(column, range)| range.map(|(low, high)| (middle(column), low, high)))
    }

    /// Draws the curve between its bounds.
    #[must_use]
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
        chart.level(stop, Stroke::dashed(STOP, 1.2), &format!("training stops: {}", numeral(stop)));
        chart.level(
            halted_high,
            Stroke::solid(HALTED, 1.0),
            &format!("halted: {level} {}", numeral(halted_high)),
        );
        self.draw_losses(&mut chart);
        if let Some(step) = first_mismatch {
            let label = format!("first mismatch, step {step}");
            chart.upright(step as f64, Stroke::dashed(WRONG, 1.5), &label);
        }
        chart.finish()
    }

    fn draw_losses(&self, chart: &mut Chart) {
        let heights: Vec<_> = self.heights().collect();
        if self.per_column > 1 {
            chart.ribbon(&heights, CURVE);
            return;
        }
        chart.line(heights.iter().map(|&(step, loss, _)| (step, loss)), Stroke::solid(CURVE, 1.6));
        if self.last_step <= MOST_DOTS {
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
    fn endless_runs_do_not_overflow() {
        let mut curve = LossCurve::default();
        curve.add(u64::MAX, 1.0);
        assert!(curve.columns.last().is_some_and(Option::is_some) && curve.columns.len() <= FRAME_WIDTH);
    }
}
