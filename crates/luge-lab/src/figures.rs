//! Figures that a page asks for: runs on streams, and the figures of the explanation.

mod corners;
mod lessons;
mod ordinary;
mod tapes;

use std::{
    error::Error,
    panic::{self, AssertUnwindSafe},
};

use luge::{
    job::{Job, TraceJob, catalogue::STREAM_LEARNERS, source::Source},
    stream::{Draw, Samples, StreamJob},
};
use luge_landscape::LandscapeKind;
use luge_net::Values;
use luge_train::{Dense, Engine, Precision, Rate};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{PreparedJob, StreamRecording, views};

/// The data of a figure; the page shows any error as text.
type FigureResult = Result<Value, Box<dyn Error>>;

/// The moments of a stream that are recorded.
const N_MOMENTS: usize = 200;

/// The most gradient steps on a stream.
const MAX_STREAM_STEPS: u64 = 5_000_000;

/// A figure.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(tag = "name", rename_all = "lowercase", deny_unknown_fields)]
pub enum Figure {
    /// A run on a stream.
    Stream {
        /// The name of a learner that ships.
        learner: String,
        /// What to draw, as in `--draw` [default: the learner's own samples].
        #[serde(default)]
        draw: Option<String>,
        /// The seed of the stream.
        #[serde(default)]
        seed: u64,
    },
    /// The corners of a two-state machine's landscape.
    Corners {
        /// The loss that the reader has set in the middle of some edges.
        #[serde(default)]
        levels: Vec<corners::Level>,
    },
    /// A run whose tape is made of weights.
    Tapes {},
    /// The first step of a learner of the mean.
    Labels {
        /// The labels that the reader has set.
        labels: Vec<f64>,
    },
    /// A perceptron compared with ordinary gradient descent.
    Lines {},
    /// An ordinary network, with a learner in its initial weights and with random ones.
    Ordinary {
        /// The seed of the stream.
        seed: u64,
    },
}

impl Figure {
    /// Computes the figure; the answer contains the error if there is one.
    pub(super) fn answer(&self, ticket: u64) -> Value {
        let drawn = panic::catch_unwind(AssertUnwindSafe(|| self.compute()));
        match drawn.unwrap_or_else(|_| Err("this figure cannot be computed".into())) {
            Ok(figure) => json!({ "kind": "figure", "ticket": ticket, "figure": figure }),
            Err(error) => json!({ "kind": "figure", "ticket": ticket, "refusal": error.to_string() }),
        }
    }

    fn compute(&self) -> FigureResult {
        match self {
            Self::Stream { learner, draw, seed } => stream(learner, draw.as_deref(), *seed),
            Self::Corners { levels } => corners::corners(levels),
            Self::Tapes {} => tapes::tape_weights(),
            Self::Labels { labels } => lessons::first_step(labels),
            Self::Lines {} => lessons::two_lines(),
            Self::Ordinary { seed } => ordinary::ordinary(*seed),
        }
    }
}

fn stream(learner: &str, draw: Option<&str>, seed: u64) -> FigureResult {
    let shipped = STREAM_LEARNERS.iter().find(|shipped| shipped.name == learner);
    let mut job = StreamJob::of(shipped.ok_or_else(|| format!("no learner `{learner}` ships"))?.source())?;
    if let Some(draw) = draw {
        job.samples = Samples::Draw(draw.parse::<Draw>().map_err(|error| format!("{draw}: {error}"))?);
    }
    (job.options.seed, job.options.steps) = (seed, MAX_STREAM_STEPS);
    Ok(StreamRecording::new(&job, N_MOMENTS)?.record)
}
