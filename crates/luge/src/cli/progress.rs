//! Long runs say how they are getting on.

use std::{
    io::{self, IsTerminal},
    time::{Duration, Instant},
};

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use luge_machine::{Outcome, Simulator, Step};

/// Runs shorter than this say nothing.
const PATIENCE: Duration = Duration::from_secs(1);
/// Steps between two looks at the clock.
const CHUNK: Step = 1 << 20;

/// A bar on standard error that appears after a second, and only on a terminal.
pub(super) struct Progress {
    what: &'static str,
    unit: &'static str,
    expected: Step,
    started: Instant,
    bar: Option<ProgressBar>,
    silent: bool,
}

impl Progress {
    /// Progress towards `expected` steps of doing `what`.
    pub(super) fn new(what: &'static str, expected: Step) -> Self {
        let silent = !io::stderr().is_terminal();
        Self { what, unit: "steps", expected, started: Instant::now(), bar: None, silent }
    }

    /// Counts in something else than steps.
    pub(super) fn in_units(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// [`Simulator::run`] with a bar.
    pub(super) fn run(&mut self, simulator: &mut Simulator<'_>, limit: Step) -> Outcome {
        if self.silent {
            return simulator.run(limit);
        }
        loop {
            let pause = simulator.steps().saturating_add(CHUNK).min(limit);
            let outcome = simulator.run(pause);
            self.show(simulator.steps());
            if outcome != Outcome::StepLimit || pause == limit {
                return outcome;
            }
        }
    }

    /// Says that `steps` are made; cheap enough for every step of training.
    pub(super) fn reach(&mut self, steps: Step) {
        if !self.silent {
            self.show(steps);
        }
    }

    fn show(&mut self, steps: Step) {
        let elapsed = self.started.elapsed();
        if elapsed < PATIENCE {
            return;
        }
        let (what, expected) = (self.what, self.expected);
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{prefix} {wide_bar} {msg}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(expected).with_style(style).with_prefix(what)
        });
        let per_second = (steps as f64 / elapsed.as_secs_f64()) as u64;
        bar.set_position(steps);
        let unit = self.unit;
        bar.set_message(format!("{} {unit}, {} {unit}/s", HumanCount(steps), HumanCount(per_second)));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
