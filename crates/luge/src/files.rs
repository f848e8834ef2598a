//! The files and the JSON that Luge writes and reads.

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

use std::path::Path;

pub use checkpoint::{Checkpoint, CheckpointError, Frame, Recorder};
pub use model::{AnyModel, Model, ModelError};
#[doc(hidden)]
pub use outputs::{Output, OutputError, Outputs};

/// A file that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {name}")]
pub struct FileError {
    doing: &'static str,
    name: String,
    /// The system's reason.
    #[source]
    pub reason: std::io::Error,
}

impl FileError {
    /// The system's reason why doing something (`read`, `write`) with a file has failed.
    pub fn new(doing: &'static str, path: &Path, reason: std::io::Error) -> Self {
        let name = if path == Path::new("-") { "standard input".into() } else { path.display().to_string() };
        Self { doing, name, reason }
    }
}
