//! Messages from and to the page.

use luge::job::Job;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Figure, PreparedJob, Refusal, RunError};

/// The longest command, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// A command of a page.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Command {
    /// Show another run.
    Open(RunRequest),
    /// Compute a figure.
    Figure {
        /// The figure.
        figure: Figure,
        /// Returned with the answer.
        ticket: u64,
    },
    /// Go to a step.
    Seek {
        /// The step.
        step: u64,
    },
    /// Go some steps forwards or backwards.
    Step {
        /// How many.
        by: i64,
    },
    /// Play.
    Play {
        /// Steps per second; at full speed if left out.
        speed: Option<f64>,
    },
    /// Stop.
    Pause {},
    /// Set breakpoints.
    Break(Breakpoints),
    /// Choose what is drawn.
    Look(Look),
    /// Draw part of the space-time picture in full resolution; without ranges, the whole.
    Zoom {
        /// The first and the last step.
        steps: Option<(u64, u64)>,
        /// The first and the last cell.
        cells: Option<(i64, i64)>,
    },
    /// The last moment has been drawn: send the next.
    Drawn {},
}

/// What a page draws of a run.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Look {
    /// Cells on each side of a head.
    pub radius: usize,
    /// The tape of the space-time picture.
    pub tape: usize,
    /// The features of the map of the network's output.
    #[serde(default)]
    pub features: Option<(usize, usize)>,
    /// Whether the loss is drawn as a surface.
    #[serde(default)]
    pub surface: bool,
}

/// Where playing stops.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Breakpoints {
    /// In these states.
    pub states: Vec<usize>,
    /// In states that belong to these lines of the program.
    pub lines: Vec<usize>,
    /// When the loss falls to this value.
    pub loss: Option<f64>,
}

/// A run that a page asks for.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// The job.
    pub job: Box<Job>,
    /// The first step to show.
    #[serde(default)]
    pub step: u64,
    /// Rows that the learner does not see: CSV with the header of its data.
    #[serde(default)]
    pub held_out: Option<String>,
    /// Returned with the answer, so that a page knows which of its requests it is for.
    #[serde(default)]
    pub ticket: u64,
}

impl RunRequest {
    pub(super) fn prepare(&self, go_on: &mut dyn FnMut() -> bool) -> Result<PreparedJob, RunError> {
        PreparedJob::open_with(&self.job, self.held_out.as_deref(), go_on)
    }
}

impl Command {
    /// Reads a command.
    ///
    /// # Errors
    /// If it is too long, or not a command.
    pub fn read(text: &str) -> Result<Self, Refusal> {
        if text.len() > MAX_BYTES {
            let message =
                format!("a message may have at most {MAX_BYTES} bytes, this one has {}", text.len());
            return Err(Refusal::new("source", message));
        }
        serde_json::from_str(text).map_err(|e| Refusal::new("options", format!("not a command: {e}")))
    }
}

/// A message with a view, in the field that has the name of its kind.
pub(super) fn view(kind: &str, view: impl Serialize) -> Value {
    json!({ "kind": kind, kind: view })
}

/// A message about an error in a run that continues.
pub(super) fn failed(error: impl ToString) -> Value {
    json!({ "kind": "failed", "message": error.to_string() })
}

/// A message that says why there is no run; the ticket is that of the request, if it could be read.
pub(super) fn refused(ticket: Option<u64>, refusal: &Refusal) -> Value {
    json!({ "kind": "refused", "ticket": ticket, "refusal": refusal })
}
