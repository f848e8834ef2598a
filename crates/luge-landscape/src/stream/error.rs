//! Why a network for a stream cannot be built.

use luge_machine::stream::{self, Breach};

use super::{StreamConstantsError, StreamOptions};
use crate::{BuildError, LandscapeKind, Learner, OutsideCells, Primary, carved::check_size};

/// Why a network for a stream cannot be built.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum StreamError {
    /// The learner takes no samples.
    #[error("the learner takes no samples: no state is marked `take`")]
    TakesNothing,
    /// The learner takes or latches too soon for the slot of the labels.
    #[error(transparent)]
    Breach(#[from] Breach),
    /// The constants violate an inequality.
    #[error(transparent)]
    Constants(#[from] StreamConstantsError),
    /// The batch is empty.
    #[error(
        "a batch has at least one sample, one feature and one label; here are {n_samples}, {n_features} and {n_labels}"
    )]
    EmptyBatch {
        /// b.
        n_samples: usize,
        /// M.
        n_features: usize,
        /// m.
        n_labels: usize,
    },
    /// The data tape is the memory, so it must be read-only.
    #[error("the data lie on tape `{0}`, which must be read-only for a stream")]
    DataWritable(String),
    /// Data or theta would lie outside the network's tapes.
    #[error(transparent)]
    Outside(#[from] OutsideCells),
    /// The landscape.
    #[error(transparent)]
    Build(#[from] BuildError),
}

pub(super) fn check(
    learner: &Learner,
    primary: &dyn Primary,
    options: &StreamOptions,
) -> Result<(), StreamError> {
    let machine = learner.machine();
    if !machine.takes_samples() {
        return Err(StreamError::TakesNothing);
    }
    stream::check(machine)?;
    let layout = &options.layout;
    let (n_samples, n_features, n_labels) = (layout.n_samples, layout.n_features, layout.n_labels);
    if n_samples == 0 || n_features == 0 || n_labels == 0 {
        return Err(StreamError::EmptyBatch { n_samples, n_features, n_labels });
    }
    let (normal, data) = (&learner.lowered().normal, learner.data_track());
    if !normal.read_only(data) {
        return Err(StreamError::DataWritable(normal.machine().tape(data).name.clone()));
    }
    options.window(learner).check(primary)?;
    check_size(normal, LandscapeKind::Plain, options.vertices, &options.corrections)?;
    Ok(())
}
