//! The engines for streams, with access to their weights.

use std::borrow::Cow;

use luge_net::{StreamLayers, Values};
use luge_train::{Dense, SparseStream, StreamEngine, TrainError};

/// An engine for streams, with access to its weights.
pub(super) enum AnyEngine<'n> {
    Sparse(Box<SparseStream<'n>>),
    /// The dense engine, and all its weights.
    Dense(Box<Dense<'n>>, Vec<Values>),
}

impl<'n> AnyEngine<'n> {
    pub(super) fn dense(engine: Dense<'n>) -> Self {
        let weights = StreamEngine::weights(&engine);
        Self::Dense(Box::new(engine), weights)
    }

    pub(super) fn step(&mut self, x: &[f64], y: &[f64]) -> Result<(), TrainError> {
        match self {
            Self::Sparse(engine) => engine.step_on(x, y),
            Self::Dense(engine, weights) => {
                engine.step_on(x, y)?;
                *weights = StreamEngine::weights(&**engine);
                Ok(())
            }
        }
    }

    /// Whether the next step may read the features of the batch.
    pub(super) fn looks_at_features(&self) -> bool {
        match self {
            Self::Sparse(engine) => engine.takes(),
            Self::Dense(..) => true,
        }
    }

    pub(super) fn weights(&self) -> Vec<Values> {
        match self {
            Self::Sparse(engine) => engine.weights(),
            Self::Dense(_, weights) => weights.clone(),
        }
    }

    /// Returns the nonzero weights of the vertices, or of a head.
    pub(super) fn row(&self, layers: &StreamLayers, tape: Option<usize>) -> Cow<'_, [(usize, f64)]> {
        match (self, tape) {
            (Self::Sparse(engine), None) => Cow::Borrowed(&engine.vertices),
            (Self::Sparse(engine), Some(tape)) => Cow::Borrowed(&engine.heads[layers.table.rows[tape]]),
            (Self::Dense(_, weights), tape) => {
                let row = match tape {
                    None => &weights[layers.vertex.index()].data[..],
                    Some(tape) => weights[layers.head.index()].row(layers.table.rows[tape]),
                };
                Cow::Owned(row.iter().copied().enumerate().filter(|w| w.1 != 0.0).collect())
            }
        }
    }

    /// Returns a cell; for a read-only tape, some number that is not a weight.
    pub(super) fn cell(&self, layers: &StreamLayers, tape: usize, column: usize) -> f64 {
        match self {
            Self::Sparse(engine) => engine.cell(tape, column),
            Self::Dense(_, weights) => {
                let (row, cells) = (layers.table.rows[tape], &weights[layers.cells.index()]);
                if row < layers.table.n_trained { cells.row(row)[column] } else { 0.0 }
            }
        }
    }

    /// Returns all cells that are weights, row by row.
    pub(super) fn cells(&self, layers: &StreamLayers) -> &[f64] {
        match self {
            Self::Sparse(engine) => &engine.cells,
            Self::Dense(_, weights) => &weights[layers.cells.index()].data,
        }
    }

    /// Returns the memory of a batch.
    pub(super) fn memory(&self, layers: &StreamLayers) -> &[f64] {
        match self {
            Self::Sparse(engine) => &engine.memory,
            Self::Dense(_, weights) => &weights[layers.memory.index()].data,
        }
    }

    /// Returns z.
    pub(super) fn labels(&self, layers: &StreamLayers) -> &[f64] {
        match self {
            Self::Sparse(engine) => &engine.labels,
            Self::Dense(_, weights) => &weights[layers.labels.index()].data,
        }
    }
}
