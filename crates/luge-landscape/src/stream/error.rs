//! What can be wrong with a learner from a stream, and its sizes.

use luge_machine::stream::{self, Breach};

use super::{StreamConstantsError, StreamOptions};
use crate::{BuildError, Learner, Primary, landscape::MOST_COLUMNS, landscape::MOST_GATES};

/// Why a network for a stream cannot be built.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum StreamError {
    /// Nothing would be learned.
    #[error("the learner takes no samples: no state is marked `take`")]
    TakesNothing,
    /// The slot for labels needs its time.
    #[error(transparent)]
    Breach(#[from] Breach),
    /// The constants violate an inequality.
    #[error(transparent)]
    Constants(#[from] StreamConstantsError),
    /// A batch has samples.
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
    /// The memory is a tape of its own.
    #[error("the data lie on tape `{tape}`, which must be read-only for a stream")]
    DataWritable {
        /// The tape's name.
        tape: String,
    },
    /// The memory does not fit on the network's tapes.
    #[error("a batch takes cells 0 to {end}, outside the network's cells")]
    DataDoNotFit {
        /// The last cell it needs.
        end: usize,
    },
    /// The machine's answer would lie outside the network's tape.
    #[error(
        "theta has {n_weights} numbers of {n_bits} bits, {needed} cells, but the tape has only {available} from theta's first cell on"
    )]
    ThetaDoesNotFit {
        /// Numbers in theta.
        n_weights: usize,
        /// Bits per number.
        n_bits: usize,
        /// Cells needed.
        needed: usize,
        /// Cells there are.
        available: usize,
    },
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
        return Err(StreamError::DataWritable { tape: normal.machine().tape(data).name.clone() });
    }
    let window = options.window();
    if window.column(data, 0).is_none() || window.column(data, layout.end()).is_none() {
        return Err(StreamError::DataDoNotFit { end: layout.end() });
    }
    let (track, first) = learner.theta_track();
    let (n_weights, n_bits) = (primary.n_weights(), layout.width());
    let needed = n_weights * n_bits;
    let available = window.column(track, first).map_or(0, |from| options.n_cells - from);
    if needed > available {
        return Err(StreamError::ThetaDoesNotFit { n_weights, n_bits, needed, available });
    }
    let n_vertices = options.vertices.n_vertices(normal);
    if n_vertices > MOST_GATES {
        let (n_states, n_tapes) = (normal.n_states(), normal.n_tapes());
        return Err(BuildError::TooManyVertices { n_vertices, n_states, n_tapes }.into());
    }
    let n_columns = crate::VertexSet::LookedAt.n_vertices(normal);
    if n_columns > MOST_COLUMNS {
        return Err(BuildError::TooManyColumns { n_columns }.into());
    }
    Ok(())
}
