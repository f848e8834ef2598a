//! Errors of models.

use luge_landscape::{ExtendedError, LearnerError, PrimaryError};
use luge_machine::Diagnostic;

use crate::{files::FileError, job::JobError};

/// Why a file is not a model, or a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The file cannot be read or written.
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
    /// Not a model of this kind and version, or a block of weights that is missing or has another form.
    #[error("{name} {problem}")]
    Invalid {
        /// The file.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Metadata that do not parse.
    #[error("cannot read the metadata of {name}: {reason}")]
    Metadata {
        /// The file.
        name: String,
        /// Why not.
        reason: String,
    },
    /// The file has changed since it was written.
    #[error("{0} is damaged: its checksum does not match its metadata and weights")]
    Damaged(String),
    /// The machine in the file is not the one that was trained.
    #[error("the machine in the model does not match the digest that the model states")]
    MachineChanged,
    /// The machine in the file is invalid.
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
    /// The table that it was trained on is missing.
    #[error("the model was trained on a table, which is missing")]
    NoData,
    /// Another table.
    #[error("these are not the data that the model was trained on")]
    OtherData,
    /// The parts of the model contradict each other.
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

impl ModelError {
    pub(super) fn invalid(name: &str, problem: String) -> Self {
        Self::Invalid { name: name.to_owned(), problem }
    }

    /// A block of weights is missing or has another form.
    pub(super) fn tensor(name: &str, tensor: &str) -> Self {
        let form = "of two dimensions in f64, and none that is packed as its header says";
        Self::invalid(name, format!("has no tensor `{tensor}` {form}"))
    }
}

fn first(findings: &[Diagnostic]) -> String {
    findings.first().map_or_else(String::new, |finding| finding.message.clone())
}
