//! Errors, as the page shows them.

use luge::{job::JobError, run::engine::EngineError};
use luge_machine::Diagnostic;
use serde::Serialize;
use serde_json::{Value, json};

use super::prepared_job::MAX_INPUT;

/// Why there is no run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The job itself is wrong.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The input is longer than the lab shows.
    #[error("the input reaches farther than {MAX_INPUT} cells")]
    InputTooLong,
    /// The engine cannot compute a step.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A bug.
    #[error("the run has failed: {0}; other tabs go on")]
    Panicked(String),
    /// The run was interrupted by its caller.
    #[error("the run was interrupted")]
    BrokenOff,
}

/// Why there is no run, and which field of the page is wrong.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Refusal {
    /// What is wrong.
    pub message: String,
    /// Which part of the job: `source`, `input`, `data` or `options`.
    pub part: &'static str,
    /// Where in the program.
    pub findings: Vec<Value>,
}

/// The most findings that are sent.
const MAX_FINDINGS: usize = 50;

impl Refusal {
    pub(super) fn new(part: &'static str, message: impl ToString) -> Self {
        Self { message: message.to_string(), part, findings: Vec::new() }
    }
}

impl From<&RunError> for Refusal {
    fn from(error: &RunError) -> Self {
        let RunError::Job(job) = error else {
            let part = if matches!(error, RunError::InputTooLong) { "input" } else { "options" };
            return Self::new(part, error);
        };
        if let Some((text, findings)) = job.findings() {
            return Self { findings: located(findings, &text.text), ..Self::new("source", error) };
        }
        let part = match job {
            JobError::ProgramAlone { .. } | JobError::NoData { .. } => {
                return Self::new("data", format!("{error}: it needs data to learn from"));
            }
            JobError::Read { .. }
            | JobError::Learner(_)
            | JobError::Universal { .. }
            | JobError::OnStream(_)
            | JobError::Lowering(_) => "source",
            JobError::Input(_) => "input",
            JobError::Table { .. }
            | JobError::NoFormat { .. }
            | JobError::Repeats { .. }
            | JobError::NoTarget(_)
            | JobError::LearnerDoesNotHalt(_)
            | JobError::Rejected(_)
            | JobError::OtherLayers(_)
            | JobError::LabelsTooSmall { .. }
            | JobError::LabelOffset(_)
            | JobError::BitsNeedF64(_)
            | JobError::Shapes { .. }
            | JobError::Extended(_) => "data",
            _ => "options",
        };
        Self::new(part, error)
    }
}

/// Findings as the page shows them.
pub(super) fn located(findings: &[Diagnostic], text: &str) -> Vec<Value> {
    let finding = |found: &Diagnostic| {
        // Both counted from 1, columns in characters.
        let (line, column) = found.position(text);
        let Diagnostic { severity, message, label, help, .. } = found;
        let severity = severity.to_string();
        json!({ "line": line, "column": column, "severity": severity, "message": message, "label": label, "help": help })
    };
    findings.iter().take(MAX_FINDINGS).map(finding).collect()
}
