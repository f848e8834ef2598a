//! The interface of all engines.

use std::ops::Range;

use luge_net::{Network, SparseValues, Values};

use crate::{LossRange, Outcome, Snapshot, StopRule, TrainError};

/// What one step changed. Masks have a bit for each track.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct StepDelta {
    /// The loss before the step.
    pub loss: f64,
    /// The vertex after the step.
    pub vertex: usize,
    /// The heads that moved one cell to the left.
    pub left: u32,
    /// The heads that moved one cell to the right.
    pub right: u32,
    /// The cells under the heads, before they moved, that became the other symbol.
    pub flipped: u32,
}

/// One of the macrosteps that an engine has stored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MacrostepId(pub u32);

impl MacrostepId {
    /// The macrostep's index in a table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The steps of a macrostep, which are the same whenever it is made.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MacrostepSteps {
    /// The vertex the first step is made from.
    pub from: usize,
    /// The change of each step. Of the last step only the vertex's block counts; the next macrostep begins at a vertex of
    /// that block.
    pub changes: Vec<StepDelta>,
}

/// Makes gradient steps on one network.
///
/// A track is one binary tape: a row of cells and a head, both weights. Networks without tracks have heads on no cell.
pub trait Engine {
    /// The engine's name in reports.
    fn name(&self) -> &'static str;

    /// The network that is trained.
    fn network(&self) -> &Network;

    /// Gradient steps made.
    fn steps(&self) -> u64;

    /// The digest of all vertices visited since training began, the first included; see [`visit`](crate::visit).
    fn path(&self) -> u64;

    /// The loss at the current parameters.
    ///
    /// # Errors
    /// If the engine cannot compute it.
    fn loss(&mut self) -> Result<f64, TrainError>;

    /// The gradient at the current parameters, one block per parameter; `None` if the engine computes only the part that a
    /// step needs.
    ///
    /// # Errors
    /// If the engine cannot compute it.
    fn whole_gradient(&mut self) -> Result<Option<Vec<Values>>, TrainError> {
        Ok(None)
    }

    /// One gradient step.
    ///
    /// # Errors
    /// If the engine cannot compute the gradient.
    fn step(&mut self) -> Result<(), TrainError>;

    /// Steps until the stop rule holds; `most_steps` counts from the beginning of training.
    ///
    /// # Errors
    /// As for [`step`](Self::step).
    fn run(&mut self, stop: &StopRule) -> Result<Outcome, TrainError>;

    /// Steps as [`run`](Self::run) does and appends what every step changed, if all cells and heads have exactly one of their
    /// ideal values. Returns `false`, and makes no step, if the engine does not report changes. It may stop before a step
    /// that only [`step`](Self::step) can make.
    ///
    /// # Errors
    /// As for [`step`](Self::step).
    fn run_with_deltas(&mut self, stop: &StopRule, changes: &mut Vec<StepDelta>) -> Result<bool, TrainError> {
        let _ = (stop, changes);
        Ok(false)
    }

    /// Steps as [`run`](Self::run) does, until `made` has `most` macrosteps, and appends the macrosteps that it made;
    /// [`macrostep`](Self::macrostep) gives their steps. Returns `false`, and makes no step, if the next step is not part of
    /// a macrostep.
    ///
    /// # Errors
    /// As for [`step`](Self::step).
    fn run_by_macrosteps(
        &mut self,
        stop: &StopRule,
        most: usize,
        made: &mut Vec<MacrostepId>,
    ) -> Result<bool, TrainError> {
        let _ = (stop, most, made);
        Ok(false)
    }

    /// The steps of a macrostep that was made.
    ///
    /// # Errors
    /// As for [`step`](Self::step).
    fn macrostep(&mut self, macrostep: MacrostepId) -> Result<MacrostepSteps, TrainError> {
        let _ = macrostep;
        Ok(MacrostepSteps::default())
    }

    /// The range of the loss over all steps of [`run`](Self::run).
    fn losses(&self) -> Option<LossRange>;

    /// The vertex, if one clearly has all the weight.
    fn vertex(&self) -> Option<usize>;

    /// The cell that a head is on, if it is clearly on one.
    fn head(&self, track: usize) -> Option<i64>;

    /// The value of a cell.
    fn cell(&self, track: usize, cell: i64) -> f64;

    /// The first stored cell of a track, and the stored cells, eight to a byte, with a bit set where the symbol is +1; `None`
    /// if they are stored in another way.
    fn packed_cells(&self, _track: usize) -> Option<(i64, &[u8])> {
        None
    }

    /// The stored cells; all others are blank.
    fn stored_cells(&self, track: usize) -> Range<i64>;

    /// The labels the network holds, z.
    fn labels(&self) -> &[f64];

    /// All weights that are not zero.
    fn snapshot(&self) -> Snapshot;

    /// All weights, as sparse matrices; `None` if a tape has outgrown the network's matrices.
    fn sparse_parameters(&self) -> Option<Vec<SparseValues>> {
        self.snapshot().weights_of(self.network(), &[])
    }

    /// All weights, zeros included; `None` if a tape has outgrown the network's matrices.
    fn parameters(&self) -> Option<Vec<Values>> {
        self.snapshot().parameters_of(self.network(), &[])
    }

    /// For every track, the first cell on which its head has weight, and the head's weights from there on.
    fn heads(&self) -> Vec<(i64, Vec<f64>)> {
        self.snapshot().tapes.into_iter().map(|tape| (tape.head_first, tape.head)).collect()
    }

    /// For an engine that stores symbols instead of weights: the largest distance of cells from -1 and 1, and of heads from 0
    /// and 1.
    fn left_out(&self) -> (f64, f64) {
        (0.0, 0.0)
    }

    /// The largest difference of a weight after a step from that of the dense engine: 0 if the arithmetic is exact. Relative
    /// for weights larger than 1.
    fn rounding(&self) -> f64;

    /// Bytes used for cells.
    fn cell_bytes(&self) -> usize;
}
