//! Repeats the run on display and compares every step with the simulator.

use std::{ops::ControlFlow, time::Duration};

use luge::{
    certificate::answer::{Answer, Fit},
    files::predictor::Predictor,
    run::follow::ObservationRate,
};
use luge_train::Outcome;
use serde::Serialize;
use web_time::Instant;

use super::prepared_job::{Prepared, PreparedJob};

/// How long the repeated run may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Proof {
    #[serde(flatten)]
    pub(crate) answer: Answer,
    /// Gradient steps made.
    pub(crate) steps: u64,
    /// Whether the machine has halted.
    halted: bool,
    /// The digest of all vertices visited, as in `--json`.
    path: String,
    /// The first step at which the weights are not the machine's.
    first_mismatch: Option<u64>,
    /// The number of held-out rows, and how well they are predicted before and after training.
    held_out: Option<(usize, Fit, Fit)>,
}

impl PreparedJob {
    /// Repeats the run and compares every step with the simulator; `None` if that takes too long or `go_on` returns false.
    pub fn prove(&self, go_on: &dyn Fn() -> bool) -> Option<Proof> {
        let started = Instant::now();
        let within = move || started.elapsed() < PATIENCE && go_on();
        let (answer, outcome, path, first_mismatch, held_out) = match &self.run {
            Prepared::Trace(plan) => {
                let trace = plan.follow(None, ObservationRate::Moments, |_| flow(&within)).ok()?;
                let first_mismatch = trace.first_mismatch.as_ref().map(|first| first.step);
                (Answer::of_trace(plan, &trace), trace.outcome, trace.path, first_mismatch, None)
            }
            Prepared::Training(lesson) => {
                let report = lesson.follow(None, ObservationRate::Moments, |_| flow(&within)).ok()?;
                let held_out = self.held_out.as_ref().map(|table| {
                    let fit = |theta: Vec<f64>| {
                        Fit::of(&Predictor::new(lesson.primary(), theta).predict(&table.features), table)
                    };
                    (table.n_samples(), fit(lesson.blank_theta()), fit(report.theta.clone()))
                });
                (Answer::of_training(lesson, &report), report.outcome, report.path, None, held_out)
            }
        };
        let (steps, halted) = match outcome {
            Outcome::Interrupted { .. } => return None,
            outcome => (outcome.steps(), matches!(outcome, Outcome::Converged { .. })),
        };
        Some(Proof { answer, steps, halted, path: format!("{path:016x}"), first_mismatch, held_out })
    }
}

fn flow(go_on: &dyn Fn() -> bool) -> ControlFlow<()> {
    if go_on() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}
