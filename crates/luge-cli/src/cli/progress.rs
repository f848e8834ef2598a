//! Progress bars of long runs.

use std::{
    sync::{Arc, OnceLock},
    thread,
    time::Duration,
};

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use luge::{
    draw::numeral,
    run::memory::{self, TooMuch},
};
use luge_machine::{Outcome, Simulator, Step};

use super::output::count;

/// Runs shorter than this show nothing.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);
/// Steps between two checks of the clock.
const CHUNK: Step = 1 << 20;
/// The same if every step is reported.
const LOOK: Step = 1 << 12;

/// The templates for a known and an unknown number of steps.
const KNOWN: &str = "{prefix} {wide_bar} {msg}";
const UNKNOWN: &str = "{prefix} {spinner} {msg}";

/// A progress bar on standard error that appears after a second, and only on a terminal.
pub(super) struct Progress {
    unit: &'static str,
    expected: Step,
    /// Hidden if standard error is not a terminal.
    bar: ProgressBar,
    /// Whether steps are so fast that the clock is not read after each.
    fast: bool,
    /// Whether `expected` is the number of steps, and not only a limit.
    certain: bool,
    /// An estimate of the number of steps, once there is one.
    estimate: Arc<OnceLock<Step>>,
}

impl Progress {
    /// Progress of doing `what`, at most `expected` steps.
    pub(super) fn new(what: &'static str, expected: Step) -> Self {
        Self {
            unit: "steps",
            expected,
            bar: ProgressBar::new(expected).with_prefix(what),
            fast: false,
            certain: false,
            estimate: Arc::default(),
        }
    }

    /// The number of steps is exact, so the remaining time can be shown.
    pub(super) fn certainly(mut self) -> Self {
        self.certain = true;
        self
    }

    /// Estimates the number of steps in another thread, unless the run ends soon. The run does not wait for the estimate.
    pub(super) fn estimated_by(self, estimate: impl FnOnce() -> Option<Step> + Send + 'static) -> Self {
        if !self.bar.is_hidden() {
            let answer = Arc::clone(&self.estimate);
            thread::spawn(move || {
                thread::sleep(PATIENCE);
                estimate().map(|steps| answer.set(steps))
            });
        }
        self
    }

    /// Counts something other than steps.
    pub(super) fn in_units(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// [`Simulator::run`] with a bar.
    ///
    /// # Errors
    /// If the tapes outgrow memory.
    pub(super) fn run(&mut self, simulator: &mut Simulator<'_>, limit: Step) -> Result<Outcome, TooMuch> {
        if self.bar.is_hidden() {
            return memory::run(simulator, limit);
        }
        loop {
            let pause = simulator.steps().saturating_add(CHUNK).min(limit);
            let outcome = memory::run(simulator, pause)?;
            self.reach(simulator.steps());
            if outcome != Outcome::StepLimit || pause == limit {
                return Ok(outcome);
            }
        }
    }

    /// Reports the number of steps and the loss, NaN if it is not known. Cheap enough for every step of a fast engine.
    #[inline]
    pub(super) fn reach_with_loss(&mut self, steps: Step, loss: f64) {
        if !self.bar.is_hidden() && (steps.is_multiple_of(LOOK) || !self.fast) {
            self.fast = steps as f64 > 1e5 * self.bar.elapsed().as_secs_f64();
            self.show(steps, Some(loss).filter(|loss| !loss.is_nan()));
        }
    }

    /// Reports the number of steps.
    pub(super) fn reach(&mut self, steps: Step) {
        self.show(steps, None);
    }

    fn show(&self, steps: Step, loss: Option<f64>) {
        let (bar, elapsed) = (&self.bar, self.bar.elapsed());
        if bar.is_hidden() || elapsed < PATIENCE {
            return;
        }
        let estimate = self.estimate.get().copied();
        let expected = estimate.unwrap_or(self.expected).max(steps);
        // A bar is drawn only if the number of steps is known, not for a limit.
        let known = self.certain || estimate.is_some();
        let style = ProgressStyle::with_template(if known { KNOWN } else { UNKNOWN });
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_length(expected);
        let per_second = (steps as f64 / elapsed.as_secs_f64()) as u64;
        bar.set_position(steps);
        let unit = self.unit;
        let mut message = format!("{} {unit}, {}/s", count(steps), count(per_second));
        if let Some(loss) = loss {
            message.push_str(&format!(", loss {}", numeral(loss)));
        }
        if known && steps > 0 {
            let left = elapsed.mul_f64(expected.saturating_sub(steps) as f64 / steps as f64);
            let about = if self.certain { "" } else { "about " };
            message.push_str(&format!(", {about}{:#} left", HumanDuration(left)));
        }
        bar.set_message(message);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        // A bar that has not appeared leaves nothing behind.
        if self.bar.elapsed() >= PATIENCE {
            self.bar.finish_and_clear();
        }
    }
}
