//! The interface of all engines.

use std::ops::Range;

use luge_net::{Network, SparseValues, Values};

use crate::{LossRange, Outcome, Snapshot, StopRule, TrainError};

/// What one step found and changed, track by track as bits.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct StepDelta {
    /// The loss before the step.
    pub loss: f64,
    /// The vertex it led to.
    pub vertex: usize,
    /// The heads that moved one cell to the left.
    pub left: u32,
    /// The heads that moved one cell to the right.
    pub right: u32,
    /// The cells under the heads, before they moved, that became the other symbol.
    pub flipped: u32,
}

/// One of the macrosteps of steps that an engine remembers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MacrostepId(pub u32);

impl MacrostepId {
    /// The number of the macrostep, for tables of them.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The steps of a macrostep: the same ones whenever it is made.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MacrostepSteps {
    /// The vertex the first step is made from.
    pub from: usize,
    /// What each step finds and changes. The last one leads to the block of its vertex; at which of the block's vertices the next
    /// macrostep begins is for that one to say.
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

    /// The gradient at the current parameters, one block per parameter; `None` if the engine computes no more of it than a
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

    /// Steps as [`run`](Self::run) does and adds what every step changed, cells and heads being exactly one of the values they
    /// can have; `false`, and no step, from an engine that does not report changes. May stop short of a step that needs a closer
    /// look, which [`step`](Self::step) then makes.
    ///
    /// # Errors
    /// As for [`step`](Self::step).
    fn run_with_deltas(&mut self, stop: &StopRule, changes: &mut Vec<StepDelta>) -> Result<bool, TrainError> {
        let _ = (stop, changes);
        Ok(false)
    }

    /// Steps as [`run`](Self::run) does, until `made` has so many macrosteps, and adds those it made, of which [`macrostep`](Self::macrostep)
    /// tells the steps; `false`, and no step, where the next step belongs to no macrostep.
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

    /// Where the loss has been, over every step of [`run`](Self::run).
    fn losses(&self) -> Option<LossRange>;

    /// The vertex, if one clearly has all the weight.
    fn vertex(&self) -> Option<usize>;

    /// The cell a head is on, if it is clearly on one.
    fn head(&self, track: usize) -> Option<i64>;

    /// What a cell holds.
    fn cell(&self, track: usize, cell: i64) -> f64;

    /// The stored cells of a track from a first one on, eight in a byte, a bit set where the symbol is +1, if they are kept so.
    fn packed_cells(&self, _track: usize) -> Option<(i64, &[u8])> {
        None
    }

    /// The cells that are kept; all others are blank.
    fn stored_cells(&self, track: usize) -> Range<i64>;

    /// The labels the network holds, z.
    fn labels(&self) -> &[f64];

    /// All weights that are not zero.
    fn snapshot(&self) -> Snapshot;

    /// All weights, of which only what is not blank and not zero is listed; `None` if a tape has outgrown the network's matrices.
    fn sparse_parameters(&self) -> Option<Vec<SparseValues>> {
        self.snapshot().weights_of(self.network(), &[])
    }

    /// All weights, zeros included; `None` if a tape has outgrown the network's matrices.
    fn parameters(&self) -> Option<Vec<Values>> {
        self.snapshot().parameters_of(self.network(), &[])
    }

    /// The first cell on which a head has weight and its weights from there on, for every track.
    fn heads(&self) -> Vec<(i64, Vec<f64>)> {
        self.snapshot().tapes.into_iter().map(|tape| (tape.head_first, tape.head)).collect()
    }

    /// The most that an engine which keeps symbols instead of weights leaves out: of a cell's distance from -1 and 1, and of a head's
    /// weight from 0 and 1.
    fn left_out(&self) -> (f64, f64) {
        (0.0, 0.0)
    }

    /// How far a weight that a step leaves behind may lie from the one that dense evaluation gives: 0 where arithmetic is
    /// exact. Relative for weights larger than 1.
    fn rounding(&self) -> f64;

    /// Bytes held for cells.
    fn cell_bytes(&self) -> usize;
}
