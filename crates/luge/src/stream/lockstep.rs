//! An engine and the simulator on the same stream, compared after every step.

use std::borrow::Cow;

use luge_landscape::{Configuration, DataLayout, StreamNetwork, Undecodable};
use luge_machine::{
    Effect, SampleUse, SymbolId, TapeId,
    stream::{Slot, StreamOutcome, StreamSimulator},
};
use luge_net::{StreamLayers, Values};
use luge_train::{Dense, SparseStream, StreamEngine, TrainError};

use super::bits;
use crate::run::lockstep::Window;

/// What is not as it should be after a step.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum StreamMismatch {
    /// The weights stand for nothing.
    #[error(transparent)]
    Undecodable(#[from] Undecodable),
    /// The weights stand for another configuration.
    #[error("the network's {what} differs from the machine's")]
    Differs {
        /// State, head, cell or memory.
        what: &'static str,
    },
    /// A step moved a weight elsewhere.
    #[error("a step leads {what}[{index}] to {found}, not to {expected}")]
    Weight {
        /// Vertex, head, cell, memory or z.
        what: &'static str,
        /// Which one.
        index: usize,
        /// Where it is.
        found: f64,
        /// Where the machine's step and the label lead it.
        expected: f64,
    },
    /// z does not hold what it should.
    #[error("z is {found} where it should be {expected}")]
    Slot {
        /// What z holds.
        found: f64,
        /// What it should hold.
        expected: f64,
    },
}

/// An engine for streams, whose weights can be looked at.
pub(super) enum AnyEngine<'n> {
    Sparse(Box<SparseStream<'n>>),
    /// With all its weights.
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

    /// Whether the next step may look at the features of the batch that passes.
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

    /// The weights that are not zero: of the vertices, or of a head.
    pub(super) fn row(&self, layers: &StreamLayers, tape: Option<usize>) -> Cow<'_, [(usize, f64)]> {
        match (self, tape) {
            (Self::Sparse(engine), None) => Cow::Borrowed(engine.vertices()),
            (Self::Sparse(engine), Some(tape)) => Cow::Borrowed(engine.head_weights(tape)),
            (Self::Dense(_, weights), tape) => {
                let row = match tape {
                    None => &weights[layers.vertex.index()].data[..],
                    Some(tape) => weights[layers.head.index()].row(layers.table.rows()[tape]),
                };
                Cow::Owned(row.iter().copied().enumerate().filter(|w| w.1 != 0.0).collect())
            }
        }
    }

    /// A cell; of a read-only tape, something that is no weight.
    pub(super) fn cell(&self, layers: &StreamLayers, tape: usize, column: usize) -> f64 {
        match self {
            Self::Sparse(engine) => engine.cell(tape, column),
            Self::Dense(_, weights) => {
                let (row, cells) = (layers.table.rows()[tape], &weights[layers.cells.index()]);
                if row < layers.table.n_trained() { cells.row(row)[column] } else { 0.0 }
            }
        }
    }

    /// All cells that are weights, row by row.
    pub(super) fn cells(&self, layers: &StreamLayers) -> &[f64] {
        match self {
            Self::Sparse(engine) => engine.cells(),
            Self::Dense(_, weights) => &weights[layers.cells.index()].data,
        }
    }

    /// The memory of a batch.
    pub(super) fn memory(&self, layers: &StreamLayers) -> &[f64] {
        match self {
            Self::Sparse(engine) => engine.memory(),
            Self::Dense(_, weights) => &weights[layers.memory.index()].data,
        }
    }

    /// z.
    pub(super) fn labels(&self, layers: &StreamLayers) -> &[f64] {
        match self {
            Self::Sparse(engine) => engine.labels(),
            Self::Dense(_, weights) => &weights[layers.labels.index()].data,
        }
    }
}

/// Both sides of the comparison.
pub(super) struct Lockstep<'a> {
    pub(super) network: &'a StreamNetwork,
    pub(super) window: &'a Window,
    pub(super) layout: &'a DataLayout,
    pub(super) simulator: StreamSimulator<'a>,
    /// The labels that the slot holds.
    held_back: Vec<f64>,
}

impl<'a> Lockstep<'a> {
    pub(super) fn new(
        network: &'a StreamNetwork,
        window: &'a Window,
        layout: &'a DataLayout,
        simulator: StreamSimulator<'a>,
    ) -> Self {
        Self { network, window, layout, simulator, held_back: Vec::new() }
    }

    /// The judge's step on a batch.
    pub(super) fn step(&mut self, x: &[f64], y: &[f64]) -> Result<Effect, StreamOutcome> {
        let takes = self.simulator.next_use() == SampleUse::Take;
        let effect = self.simulator.step(|| bits(self.layout.format, x, y))?;
        if takes {
            y.clone_into(&mut self.held_back);
        }
        Ok(effect)
    }

    /// Everything: state, heads, all cells, the memory and the slot.
    pub(super) fn compare_all(&self, weights: &[Values]) -> Result<(), StreamMismatch> {
        let found = self.network.decode(weights)?;
        let expected = self.expected();
        let what = match () {
            () if found.state != expected.state => "state",
            () if found.heads != expected.heads => "head",
            () if found.tapes != expected.tapes => "cell",
            () => return self.compare_slot(&weights[self.network.labels.index()].data),
        };
        Err(StreamMismatch::Differs { what })
    }

    /// z is minus the labels where they wait, and minus A where the slot is ready.
    fn compare_slot(&self, z: &[f64]) -> Result<(), StreamMismatch> {
        let constants = self.network.constants;
        let near = constants.label_unit / 2.0;
        let wrong = |(found, expected): &(f64, f64)| {
            (found - expected).abs().partial_cmp(&near) != Some(std::cmp::Ordering::Less)
        };
        let expected: Vec<f64> = match self.simulator.slot() {
            Slot::Holds => self.held_back.iter().map(|y| -y).collect(),
            Slot::Ready => vec![-constants.carrier; z.len()],
            Slot::Returns => return Ok(()),
        };
        match z.iter().copied().zip(expected).find(wrong) {
            Some((found, expected)) => Err(StreamMismatch::Slot { found, expected }),
            None => Ok(()),
        }
    }

    /// The judge's configuration in the network's cells.
    fn expected(&self) -> Configuration {
        let judge = self.simulator.simulator();
        let tape_ids = || judge.machine().tape_ids();
        let cells = |tape: TapeId| {
            let first = self.window.first[tape.index()];
            let n_cells = i64::try_from(self.window.n_cells).unwrap_or(i64::MAX);
            (first..first + n_cells).map(|cell| judge.tape(tape).read(cell) == SymbolId(1)).collect()
        };
        Configuration {
            state: judge.state(),
            tapes: tape_ids().map(cells).collect(),
            heads: tape_ids()
                .map(|tape| self.window.index(tape, judge.head(tape)).unwrap_or(usize::MAX))
                .collect(),
        }
    }
}
