//! Errors of traces.

use luge_landscape::BuildError;
use luge_machine::{Step, lowering::LoweringError};
use luge_train::TrainError;

use super::{MAX_CELLS, MAX_DECLARED_CELLS};
use crate::run::{engine::EngineError, memory::TooMuch};

/// Why a trace cannot be made. Everything is found out before training begins.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// No normal form.
    #[error(transparent)]
    Lowering(#[from] LoweringError),
    /// There is no room for it.
    #[error(transparent)]
    Memory(#[from] TooMuch),
    /// No way leads to a halt.
    #[error("no halting situation can be reached from the start state `{0}`")]
    HaltingUnreachable(String),
    /// The machine runs on.
    #[error("the machine does not halt within {0} steps")]
    DoesNotHalt(Step),
    /// The run does not fit.
    #[error("the run needs {needed} cells per tape, but --cells allows only {given}")]
    TooFewCells {
        /// What it needs.
        needed: usize,
        /// What was allowed.
        given: usize,
    },
    /// The weights would not fit into memory.
    #[error(
        "the run needs {needed} cells on each of {n_tapes} binary tapes, but at most {MAX_CELLS} are built in all"
    )]
    TooManyCells {
        /// Cells per tape.
        needed: usize,
        /// Binary tapes.
        n_tapes: usize,
    },
    /// `internal` has a vertex for every configuration of every declared input.
    #[error(
        "landscape internal declares every content of the input's {0} binary cells, but at most {MAX_DECLARED_CELLS} can be declared"
    )]
    TooManyDeclared(usize),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The landscape's constants or size.
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl From<TrainError> for TraceError {
    fn from(error: TrainError) -> Self {
        Self::Engine(error.into())
    }
}
