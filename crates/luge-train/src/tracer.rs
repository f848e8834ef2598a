//! What the fast engines can do: they keep only what is not zero, on tapes without ends.

use std::ops::Range;

use luge_net::{Network, Values};

use crate::{Outcome, StopRule, TrainError, sparse};

/// Where the loss has been.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LossRange {
    /// Before the first step.
    pub first: f64,
    /// The lowest.
    pub min: f64,
    /// The highest.
    pub max: f64,
    /// At the end.
    pub last: f64,
}

impl LossRange {
    /// The range of one loss.
    #[must_use]
    pub fn of(loss: f64) -> Self {
        Self { first: loss, min: loss, max: loss, last: loss }
    }

    /// The range with one more loss at its end.
    #[must_use]
    pub fn and(self, loss: f64) -> Self {
        let mut range = self;
        range.add(loss);
        range
    }

    /// Adds one more loss at the end.
    #[inline]
    pub fn add(&mut self, loss: f64) {
        if loss < self.min {
            self.min = loss;
        }
        if loss > self.max {
            self.max = loss;
        }
        self.last = loss;
    }
}

/// Weights that are not zero, where they are.
#[derive(Clone, PartialEq, Debug)]
pub struct Snapshot {
    /// Gradient steps made.
    pub step: u64,
    /// The digest of all vertices visited; see [`visit`](crate::visit).
    pub path: u64,
    /// Weights on vertices.
    pub vertices: Vec<(usize, f64)>,
    /// z, if the network has labels.
    pub labels: Vec<f64>,
    /// One per track, in the order of a vertex's symbols.
    pub tapes: Vec<TapeSnapshot>,
}

/// One row of cells and its head.
#[derive(Clone, PartialEq, Debug)]
pub struct TapeSnapshot {
    /// The cell of the first value, counted as the columns of the network's matrices.
    pub first: i64,
    /// The cells that are kept; all others are blank.
    pub cells: Vec<f64>,
    /// The cell of the head's first weight.
    pub head_first: i64,
    /// The head's weights; all others are 0.
    pub head: Vec<f64>,
}

impl Snapshot {
    /// The same weights, without the blank cells at both ends.
    #[must_use]
    pub fn trimmed(&self) -> Self {
        let written = |cell: &f64| cell.total_cmp(&sparse::BLANK).is_ne();
        let mut trimmed = self.clone();
        for tape in &mut trimmed.tapes {
            let end = tape.cells.iter().rposition(written).map_or(0, |last| last + 1);
            tape.cells.truncate(end);
            let start = tape.cells.iter().position(written).unwrap_or(0);
            tape.cells.drain(..start);
            tape.first = if tape.cells.is_empty() { 0 } else { tape.first + start as i64 };
        }
        trimmed
    }

    /// The parameters of a network that holds these weights, zeros and all, its column `c` being cell `c - shift` of each
    /// tape; `None` if they do not fit into its matrices.
    #[must_use]
    pub fn parameters(&self, network: &Network, shift: &[i64]) -> Option<Vec<Values>> {
        let layers = network.sparse_layers().ok()?;
        let mut parameters: Vec<Values> =
            network.parameters().iter().map(|p| Values::filled(p.shape, 0.0)).collect();
        for &(vertex, weight) in &self.vertices {
            *parameters[layers.vertex.index()].data.get_mut(vertex)? = weight;
        }
        if let Some(joint) = layers.joint {
            parameters[joint.labels.index()].data.clone_from(&self.labels);
        }
        let place = |first: i64, i: usize, tape: usize| {
            usize::try_from(first + i64::try_from(i).ok()? + shift.get(tape)?).ok()
        };
        if let Some(cells) = layers.cells {
            parameters[cells.index()].data.fill(sparse::BLANK);
        }
        for (tape, (kept, &row)) in self.tapes.iter().zip(layers.table.rows()).enumerate() {
            let head = &mut parameters[layers.head.index()];
            for (i, &weight) in kept.head.iter().enumerate() {
                let column = place(kept.head_first, i, tape).filter(|&c| c < head.shape.cols)?;
                *head.at_mut(row, column) = weight;
            }
            let Some(cells) = layers.cells.filter(|_| row < layers.table.n_trained()) else { continue };
            let cells = &mut parameters[cells.index()];
            for (i, &value) in kept.cells.iter().enumerate() {
                match place(kept.first, i, tape).filter(|&c| c < cells.shape.cols) {
                    Some(column) => *cells.at_mut(row, column) = value,
                    None if value.total_cmp(&sparse::BLANK).is_eq() => {}
                    None => return None,
                }
            }
        }
        Some(parameters)
    }
}

/// Makes gradient steps on a network with typed sparse layers.
pub trait Tracer {
    /// The engine's name in reports.
    fn name(&self) -> &'static str;

    /// Gradient steps made.
    fn steps(&self) -> u64;

    /// The digest of all vertices visited since training began, the first included; see [`visit`](crate::visit).
    fn path(&self) -> u64;

    /// The loss at the current parameters.
    ///
    /// # Errors
    /// If it cannot be computed from the layers that are not zero.
    fn loss(&mut self) -> Result<f64, TrainError>;

    /// One gradient step.
    ///
    /// # Errors
    /// If the gradient cannot be computed from the layers that are not zero.
    fn step(&mut self) -> Result<(), TrainError>;

    /// Steps until the stop rule holds; `most_steps` counts from the beginning of training.
    ///
    /// # Errors
    /// As for [`step`](Self::step).
    fn run(&mut self, stop: &StopRule) -> Result<Outcome, TrainError>;

    /// Where the loss has been, over every step of [`run`](Self::run).
    fn losses(&self) -> Option<LossRange>;

    /// The vertex, if one clearly has all the weight.
    fn vertex(&self) -> Option<usize>;

    /// The cell a head is on, if it is clearly on one.
    fn head(&self, track: usize) -> Option<i64>;

    /// What a cell holds.
    fn cell(&self, track: usize, cell: i64) -> f64;

    /// The cells that are kept; all others are blank.
    fn kept(&self, track: usize) -> Range<i64>;

    /// The labels the network holds, z.
    fn labels(&self) -> &[f64];

    /// All weights that are not zero.
    fn snapshot(&self) -> Snapshot;

    /// The largest distance of a cell's weight from -1 and 1, and of a head's from 0 and 1.
    fn drift(&self) -> (f64, f64);

    /// How far a weight that a step leaves behind may lie from the one that dense evaluation gives: 0 where arithmetic is
    /// exact. Relative for weights larger than 1.
    fn rounding(&self) -> f64;

    /// Bytes held for cells.
    fn cell_bytes(&self) -> usize;
}
