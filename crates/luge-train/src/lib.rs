//! Gradient descent on networks.
//!
//! This crate knows nothing of Turing machines; a test on the workspace's dependencies enforces that. An engine has only
//! the network and its gradient.

mod dense;
mod engine;
mod error;
mod exact;
mod frame;
mod frank_wolfe;
mod line_search;
mod loss_range;
mod noise;
mod packed_cells;
mod path;
mod precision;
mod reverse;
mod room;
pub mod sequential;
mod situation;
mod snapshot;
mod sparse;
mod spot;
mod stream;
mod train;

pub use dense::Dense;
pub use engine::{Engine, MacrostepId, MacrostepSteps, StepDelta};
pub use error::TrainError;
#[cfg(feature = "faults")]
pub use exact::Fault;
pub use exact::{CacheLevel, Exact, MAX_GAIN_ERROR};
pub use frame::NotASnapshot;
pub use frank_wolfe::{best_vertex, weighted_mean};
pub use loss_range::LossRange;
pub use noise::Noise;
pub use packed_cells::PackedCells;
pub use path::{MULTIPLIER, visit, visit_piece};
pub use precision::Precision;
pub use reverse::ReversePass;
pub use situation::{Differs, HeadColumn, Look, Situation, SituationCheck, Surroundings};
pub use snapshot::{Snapshot, TapeSnapshot, vertex_parameter};
pub use sparse::Sparse;
pub use spot::{Agreement, Difference, ROUNDING, SpotCheck, SpotError};
pub use stream::{SparseStream, StreamEngine};
pub use train::{Iterate, Outcome, StopRule, train};

/// The length of a Frank-Wolfe step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rate {
    /// All the way to the vertex.
    #[default]
    One,
    /// To the lowest loss on the segment, by an exact line search; for piecewise linear losses only.
    LineSearch,
}

luge_net::names!(Rate, "rate", One "one", LineSearch "line-search");
