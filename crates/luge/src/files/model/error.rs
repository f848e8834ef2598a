//! Errors of models.

use luge_landscape::{ExtendedError, LearnerError, PrimaryError};
use luge_machine::Diagnostic;

use crate::{files::FileError, job::JobError};

/// Why a file is not a model, or a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] FileError),
    /// Not a safetensors file.
    #[error("{name} is not a safetensors file")]
    NotSafetensors {
        /// The file.
        name: String,
        /// The reader's reason.
        #[source]
        reason: safetensors::SafeTensorError,
    },
    /// A safetensors file that Luge did not write, or a model of another kind.
    #[error("{name} is a safetensors file, but not a model of luge: its metadata have no `{key}` entry")]
    NotOurs {
        /// The file.
        name: String,
        /// The entry.
        key: &'static str,
    },
    /// Metadata that do not parse.
    #[error("cannot read the metadata of {name}: {reason}")]
    Metadata {
        /// The file.
        name: String,
        /// Why not.
        reason: String,
    },
    /// Another version of the metadata.
    #[error("{name} has version {found}, this program reads version {expected}")]
    Version {
        /// The file.
        name: String,
        /// What it has.
        found: u32,
        /// What it should have.
        expected: u32,
    },
    /// A block of weights is missing or has another form.
    #[error(
        "{name} has no tensor `{tensor}` of two dimensions in f64, and none that is packed as its header says"
    )]
    Tensor {
        /// The file.
        name: String,
        /// The block.
        tensor: String,
    },
    /// A bit has changed since it was written.
    #[error("{0} is damaged: its checksum does not match its metadata and weights")]
    Damaged(String),
    /// The machine in the file is not the one that was trained.
    #[error("the machine in the model does not match the digest that the model states")]
    MachineChanged,
    /// The machine in the file does not read.
    #[error("cannot read the machine in the model: {}", first(.0))]
    Machine(Vec<Diagnostic>),
    /// The machine in the file is not a learner.
    #[error(transparent)]
    Learner(#[from] LearnerError),
    /// The primary network does not fit.
    #[error(transparent)]
    Primary(#[from] PrimaryError),
    /// The network cannot be built again.
    #[error(transparent)]
    Extended(#[from] ExtendedError),
    /// Its data cannot be used, or its run cannot be repeated.
    #[error(transparent)]
    Job(#[from] JobError),
    /// It was trained on a table.
    #[error("the model was trained on a table, which is missing")]
    NoData,
    /// Another table.
    #[error("these are not the data that the model was trained on")]
    OtherData,
    /// What it says does not fit together.
    #[error("the model does not fit together: {0}")]
    Inconsistent(String),
    /// Sizes that no training run has.
    #[error(
        "the metadata claim {cells} cells, {first_cells} tapes and {n_samples} samples, which no training run of this machine has"
    )]
    Sizes {
        /// Cells per tape.
        cells: usize,
        /// Entries of `first_cells`.
        first_cells: usize,
        /// Samples it claims.
        n_samples: usize,
    },
    /// The primary network has another number of weights.
    #[error("theta has {n_theta} numbers, which do not fit {primary}")]
    Theta {
        /// Numbers of theta.
        n_theta: usize,
        /// The primary network.
        primary: String,
    },
}

fn first(findings: &[Diagnostic]) -> String {
    findings.first().map_or_else(String::new, |finding| finding.message.clone())
}
