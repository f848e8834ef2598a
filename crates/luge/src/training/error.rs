//! Errors of training jobs.

use luge_landscape::ExtendedError;
use luge_machine::Step;
use luge_train::{Precision, TrainError};

use crate::run::{engine::EngineError, memory::TooMuch};

/// Why there is no lesson, or no answer at its end.
#[derive(Debug, thiserror::Error)]
pub enum TrainingError {
    /// The learner runs on.
    #[error("the learner does not halt on these data within {0} steps")]
    DoesNotHalt(Step),
    /// The learner gave up.
    #[error("the learner stops in state `{0}` without accepting: it has no answer for these data")]
    Rejected(String),
    /// The run does not fit.
    #[error("the run needs {needed} cells per tape, but only {given} are allowed")]
    TooFewCells {
        /// What it needs.
        needed: usize,
        /// What was allowed.
        given: usize,
    },
    /// The wider network has other layers.
    #[error("on {0} cells the network has other layers than the one that was trained")]
    OtherLayers(usize),
    /// The network would not notice that it has read the labels.
    #[error("the labels differ too little from {offset}: |y - r|^2 = {found} is below eps = {epsilon}")]
    LabelsTooSmall {
        /// r.
        offset: f64,
        /// |y - r|^2.
        found: f64,
        /// eps.
        epsilon: f64,
    },
    /// Taking r off a label and adding it again must not change its bits.
    #[error(
        "label offset {0:e} changes the labels: some are no longer the same number of the format after subtracting and adding it"
    )]
    LabelOffset(f64),
    /// Thresholds between neighbouring numbers need all digits.
    #[error(
        "bits converted by the network's own units need precision f64, not {}: a threshold is as narrow as the gap between two numbers",
        .0.word()
    )]
    BitsNeedF64(Precision),
    /// Another number of features or labels.
    #[error(
        "the primary network takes {features} features to {outputs} outputs, the data have {found_features} and {found_labels}"
    )]
    Shapes {
        /// What it takes.
        features: usize,
        /// What it gives.
        outputs: usize,
        /// What there is.
        found_features: usize,
        /// What there is.
        found_labels: usize,
    },
    /// There is no room for it.
    #[error(transparent)]
    Memory(#[from] TooMuch),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The network cannot be built.
    #[error(transparent)]
    Extended(#[from] ExtendedError),
}

impl From<TrainError> for TrainingError {
    fn from(error: TrainError) -> Self {
        Self::Engine(error.into())
    }
}
