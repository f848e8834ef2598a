//! Messages from the page and to the page.

use luge::job::Job;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Figure, PreparedJob, Refusal, RunError};

/// The longest message that is read.
pub const MAX_BYTES: usize = 1 << 20;

/// What a page says.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Command {
    /// Run this instead.
    Open(Wish),
    /// Compute this once.
    Figure {
        /// What.
        figure: Figure,
        /// Comes back with the answer.
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
    /// Play on.
    Play {
        /// Steps per second; none: as fast as it goes.
        speed: Option<f64>,
    },
    /// Stay here.
    Pause {},
    /// Where playing stops.
    Break(Breakpoints),
    /// What is drawn.
    Look(Look),
    /// Draws part of the space-time picture again with all its cells; without a range, the whole.
    Zoom {
        /// The first and the last step.
        steps: Option<(u64, u64)>,
        /// The first and the last cell.
        cells: Option<(i64, i64)>,
    },
    /// The last moment is on the screen, and the next may come.
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
    /// At states that stand in these lines of the program.
    pub lines: Vec<usize>,
    /// When the loss falls to this.
    pub loss: Option<f64>,
}

/// A run that a page wants to see.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    /// What to run.
    pub job: Box<Job>,
    /// The step to begin at.
    #[serde(default)]
    pub step: u64,
    /// Rows of its data that a learner is not to see: CSV with the same header.
    #[serde(default)]
    pub held_out: Option<String>,
    /// Comes back with the answer, so that a page knows which of its wishes it is about.
    #[serde(default)]
    pub ticket: u64,
}

impl Wish {
    pub(super) fn prepare(&self, go_on: &mut dyn FnMut() -> bool) -> Result<PreparedJob, RunError> {
        PreparedJob::open_with(&self.job, self.held_out.as_deref(), go_on)
    }
}

impl Command {
    /// Reads what a page says.
    ///
    /// # Errors
    /// If it is too long, or no command.
    pub fn read(text: &str) -> Result<Self, Refusal> {
        if text.len() > MAX_BYTES {
            let message =
                format!("a message may have at most {MAX_BYTES} bytes, this one has {}", text.len());
            return Err(Refusal::new("source", message));
        }
        serde_json::from_str(text).map_err(|e| Refusal::new("options", format!("not a command: {e}")))
    }
}

/// A message to the page.
pub(super) struct Message(Map<String, Value>);

impl Message {
    /// A message of this kind, without content.
    pub(super) fn of(kind: &str) -> Self {
        Self(Map::new()).with("kind", kind)
    }

    /// A view, in the field that has the name of its kind.
    pub(super) fn view(kind: &str, view: impl Into<Value>) -> Self {
        Self::of(kind).with(kind, view)
    }

    /// What went wrong in a run that goes on.
    pub(super) fn failed(error: impl ToString) -> Self {
        Self::of("failed").with("message", error.to_string())
    }

    /// Why there is no run; the ticket is that of the request, if it could be read.
    pub(super) fn refused(ticket: Option<u64>, refusal: &Refusal) -> Self {
        Self::of("refused").with("ticket", ticket).with("refusal", json!(refusal))
    }

    pub(super) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.0.insert(field.to_owned(), value.into());
        self
    }

    pub(super) fn text(self) -> String {
        Value::Object(self.0).to_string()
    }
}
