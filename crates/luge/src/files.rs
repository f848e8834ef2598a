//! The files and JSON that Luge writes and reads back.

#[doc(hidden)]
pub mod atomic_file;
pub mod audit;
#[doc(hidden)]
pub mod bounded;
pub mod checkpoint;
pub mod export;
pub(crate) mod json;
pub mod model;
#[doc(hidden)]
pub mod outputs;
pub mod predictor;
#[doc(hidden)]
pub mod rocq;
#[doc(hidden)]
pub mod summary;

pub use checkpoint::{Checkpoint, CheckpointError, Frame, Recorder};
pub use model::{AnyModel, Model, ModelError};
#[doc(hidden)]
pub use outputs::{Output, OutputError, Outputs};

/// A file that the system does not let us read or write.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {name}")]
pub struct FileError {
    doing: &'static str,
    name: String,
    /// The system's reason.
    #[source]
    pub reason: std::io::Error,
}
