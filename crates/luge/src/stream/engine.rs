//! The engines for streams, with access to their weights.

use std::borrow::Cow;

use luge_net::{StreamLayers, Values};
use luge_train::{Dense, SparseStream, StreamEngine, TrainError};

use super::{JobError, PreparedStream, StreamEngineChoice, certificate::dense};

/// An engine for streams, with access to its weights.
pub(super) enum AnyEngine<'n> {
    Sparse(Box<SparseStream<'n>>),
    /// The dense engine, all its weights, and the layers that they belong to.
    Dense(Box<Dense<'n>>, Vec<Values>, &'n StreamLayers),
}

impl<'n> AnyEngine<'n> {
    /// Opens the engine that was chosen, at these weights.
    pub(super) fn open(prepared: &'n PreparedStream, weights: &[Values]) -> Result<Self, JobError> {
        Ok(match prepared.options.engine() {
            StreamEngineChoice::Sparse => {
                Self::Sparse(Box::new(SparseStream::new(&prepared.network.network, weights)?))
            }
            StreamEngineChoice::Dense => {
                Self::Dense(Box::new(dense(prepared, weights)?), weights.to_vec(), &prepared.layers)
            }
        })
    }

    pub(super) fn step(&mut self, x: &[f64], y: &[f64]) -> Result<(), TrainError> {
        match self {
            Self::Sparse(engine) => engine.step_on(x, y),
            Self::Dense(engine, weights, _) => {
                engine.step_on(x, y)?;
                *weights = StreamEngine::weights(&**engine);
                Ok(())
            }
        }
    }

    pub(super) fn weights(&self) -> Vec<Values> {
        match self {
            Self::Sparse(engine) => engine.weights(),
            Self::Dense(_, weights, _) => weights.clone(),
        }
    }

    /// Returns the nonzero weights of the vertices, or of a head.
    pub(super) fn row(&self, tape: Option<usize>) -> Cow<'_, [(usize, f64)]> {
        match (self, tape) {
            (Self::Sparse(engine), None) => Cow::Borrowed(&engine.vertices),
            (Self::Sparse(engine), Some(tape)) => Cow::Borrowed(engine.head_weights(tape)),
            (Self::Dense(_, weights, layers), tape) => {
                let row = match tape {
                    None => &weights[layers.vertex.index()].data[..],
                    Some(tape) => weights[layers.head.index()].row(layers.table.rows[tape]),
                };
                Cow::Owned(row.iter().copied().enumerate().filter(|w| w.1 != 0.0).collect())
            }
        }
    }

    /// Returns a cell; for a read-only tape, some number that is not a weight.
    pub(super) fn cell(&self, tape: usize, column: usize) -> f64 {
        match self {
            Self::Sparse(engine) => engine.cell(tape, column),
            Self::Dense(_, weights, layers) => {
                let (row, cells) = (layers.table.rows[tape], &weights[layers.cells.index()]);
                if row < layers.table.n_trained { cells.row(row)[column] } else { 0.0 }
            }
        }
    }

    /// Returns all cells that are weights, row by row.
    pub(super) fn cells(&self) -> &[f64] {
        match self {
            Self::Sparse(engine) => &engine.cells,
            Self::Dense(_, weights, layers) => &weights[layers.cells.index()].data,
        }
    }

    /// Returns the memory of a batch.
    pub(super) fn memory(&self) -> &[f64] {
        match self {
            Self::Sparse(engine) => &engine.memory,
            Self::Dense(_, weights, layers) => &weights[layers.memory.index()].data,
        }
    }

    /// Returns z.
    pub(super) fn labels(&self) -> &[f64] {
        match self {
            Self::Sparse(engine) => &engine.labels,
            Self::Dense(_, weights, layers) => &weights[layers.labels.index()].data,
        }
    }
}
