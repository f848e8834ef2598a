//! Messages from the page and to the page.

use luge::job::Job;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Figure, PreparedJob, Proof, Refusal, RunError};

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
    Break {
        /// In these states.
        #[serde(default)]
        states: Vec<usize>,
        /// At states that stand in these lines of the program.
        #[serde(default)]
        lines: Vec<usize>,
        /// When the loss falls to this.
        #[serde(default)]
        loss: Option<f64>,
    },
    /// What is drawn.
    Look {
        /// Cells on each side of a head.
        radius: usize,
        /// The tape of the space-time picture.
        tape: usize,
        /// The features of the map of what the network says.
        #[serde(default)]
        features: Option<(usize, usize)>,
        /// Whether the loss is drawn as a surface.
        #[serde(default)]
        surface: bool,
    },
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

/// What a page is told.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum ServerMessage<'a> {
    Catalogue { catalogue: &'a Value },
    Opened { ticket: u64, opening: Value },
    Refused { ticket: Option<u64>, refusal: Refusal },
    Moment { moment: Value, playing: bool, busy: bool, per_second: f64, hit: Option<&'static str> },
    Around { around: Option<Value> },
    Overview { overview: Value },
    Picture { picture: Value },
    Boundary { boundary: Value },
    Nearby { nearby: Option<Value> },
    Surface { surface: Option<Value> },
    Proof { proof: Option<Box<Proof>> },
    Profile { profile: Value },
    Figure { ticket: u64, figure: Option<Value>, refusal: Option<String> },
    Failed { message: String },
}

impl ServerMessage<'_> {
    pub(super) fn failed(error: impl ToString) -> Self {
        Self::Failed { message: error.to_string() }
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|e| format!(r#"{{"kind":"failed","message":"{e}"}}"#))
    }
}
