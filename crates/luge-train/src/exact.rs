//! The exact engine: where arithmetic is exact, a gradient step depends only on the vertex and the symbols to be
//! read, so it is differentiated once and then looked up.
//!
//! Every stored step was made by [`Sparse`] from the network's gradient when it first occurred. Nothing is stored
//! where a weight could drift: constants must be powers of two and the carrier's gain exactly 1. In landscapes of
//! targets, which remove the last error, the gain may differ from 1 by [`MAX_GAIN_ERROR`].

mod carried;
mod columns;
mod engine;
#[cfg(feature = "faults")]
mod faults;
pub(crate) mod legality;
mod macrosteps;
mod multi_head;
mod tapes;

use luge_net::{
    Form, Network, SparseLayers, SparseValues, Values,
    faults::{number, planted},
};

use crate::{Engine, LossRange, PackedCells, Snapshot, Sparse, TrainError};
use carried::CarriedLosses;
use columns::Levels;
#[cfg(feature = "faults")]
pub use faults::Fault;
pub use legality::MAX_GAIN_ERROR;
use legality::{check_constants, check_gain, check_switch};
use multi_head::MultiHead;
use tapes::Tapes;

/// Whether more than single steps is remembered at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CacheLevel {
    /// Single steps and macrosteps, which can be told step by step.
    #[default]
    Macrosteps,
    /// Single steps only.
    Steps,
}

/// Why a loop of remembered steps was left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LoopExit {
    /// All steps are made.
    Done,
    /// The loss is low here: look at it closely.
    Low,
}

/// Trains by remembered steps.
#[derive(Clone, Debug)]
pub struct Exact<'n> {
    /// Differentiates single steps, and reads the labels.
    probe: Sparse<'n>,
    cache_level: CacheLevel,
    body: Body<'n>,
    steps: u64,
    /// Losses from before the body was made.
    earlier: Option<LossRange>,
    last: Option<f64>,
    /// How far the gain can lie from 1.
    gain_error: f64,
    carried: CarriedLosses,
}

/// The weights, as symbols.
#[derive(Clone, Debug)]
enum Body<'n> {
    /// The labels are still to be read.
    Waiting(Box<Sparse<'n>>),
    MultiHead(Box<MultiHead>),
}

impl<'n> Exact<'n> {
    /// An engine that starts from the given parameters.
    ///
    /// # Errors
    /// If arithmetic would not be exact, with the reason, or no sparse layers are recognised in the network.
    pub fn new(
        network: &'n Network,
        parameters: impl IntoIterator<Item = impl Into<SparseValues>>,
        inputs: &[Values],
        cache_level: CacheLevel,
    ) -> Result<Self, TrainError> {
        Self::from_sparse(Sparse::new(network, parameters, inputs)?, cache_level)
    }

    /// An engine resumed from a snapshot.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn resume(
        network: &'n Network,
        snapshot: &Snapshot,
        losses: Option<LossRange>,
        inputs: &[Values],
        cache_level: CacheLevel,
    ) -> Result<Self, TrainError> {
        Self::from_sparse(Sparse::resume(network, snapshot, losses, inputs)?, cache_level)
    }

    fn from_sparse(sparse: Sparse<'n>, cache_level: CacheLevel) -> Result<Self, TrainError> {
        check_constants(&sparse.layers().form)?;
        check_switch(sparse.layers())?;
        let probe = sparse.for_probing()?;
        let gain_error = check_gain(&probe)?;
        let (steps, earlier) = (sparse.steps(), sparse.losses_so_far());
        let waiting = sparse.waiting()?;
        let body = Body::Waiting(Box::new(sparse));
        let carried = CarriedLosses::new();
        let mut exact = Self { probe, cache_level, body, steps, earlier, last: None, gain_error, carried };
        if !waiting {
            exact.settle()?;
        }
        Ok(exact)
    }

    /// From weights to symbols: everything must be one of the values it can have.
    fn settle(&mut self) -> Result<(), TrainError> {
        let Body::Waiting(sparse) = &self.body else { return Ok(()) };
        let layers = sparse.layers();
        let table = &layers.table;
        let between = |why: &str| TrainError::NotExact { why: why.to_owned() };
        let vertex = sparse.vertex().ok_or_else(|| between("the start is not at a vertex"))?;
        let mut tapes = Tapes::default();
        for (i, tape) in sparse.snapshot().tapes.into_iter().enumerate() {
            let only = matches!(tape.head[..], [1.0]);
            let head = sparse.head(i).filter(|_| only || self.forgives());
            let head = head.ok_or_else(|| between("a head is not on one cell"))?;
            let trained = table.rows[i] < table.n_trained;
            // Errors that a step leaves behind are forgotten; what no step moves has none.
            let forgives = self.forgives() && trained;
            let symbols = if forgives && tape.cells.iter().all(|cell| cell.abs() >= 0.5) {
                PackedCells::of_symbols(tape.cells.iter().map(|cell| cell > 0.0))
            } else {
                tape.cells
            };
            if !symbols.are_symbols() {
                return Err(between("a cell is neither -1 nor 1"));
            }
            tapes.add_row(tape.first, &symbols, head);
        }
        let (block, symbols) = (table.block(vertex), tapes.symbols());
        if table.vertex(block, symbols) != vertex {
            return Err(between("the vertex has other symbols than lie under the heads"));
        }
        let levels = (levels(&layers.form), low_level(layers));
        let start = (block, symbols, sparse.path());
        self.body = Body::MultiHead(Box::new(MultiHead::new(table, start, tapes, levels, self.cache_level)));
        Ok(())
    }

    fn forgives(&self) -> bool {
        matches!(self.probe.layers().form, Form::Targets { .. })
    }

    fn layers(&self) -> &'n SparseLayers {
        self.probe.layers()
    }

    /// Makes up to `most` steps, short of the one that a low loss may make unnecessary.
    fn advance(&mut self, most: u64) -> Result<LoopExit, TrainError> {
        if let Body::Waiting(sparse) = &mut self.body {
            if most == 0 {
                return Ok(LoopExit::Done);
            }
            sparse.step()?;
            self.steps += 1;
            self.settle()?;
            return self.advance(most - 1);
        }
        let mut remaining = most;
        let pause = match &mut self.body {
            Body::Waiting(_) => LoopExit::Done,
            Body::MultiHead(many) => many.run(&self.probe.layers().table, &mut self.probe, &mut remaining)?,
        };
        self.steps += most - remaining;
        Ok(pause)
    }

    /// The current vertex.
    fn at(&self) -> usize {
        match &self.body {
            Body::Waiting(sparse) => sparse.vertex().unwrap_or(0),
            Body::MultiHead(many) => self.layers().table.vertex(many.block, many.symbols),
        }
    }

    /// The landscape's range as a range of losses.
    fn range(&self) -> Option<(f64, f64)> {
        let (low, high) = match &self.body {
            Body::Waiting(_) => None,
            Body::MultiHead(many) => many.range,
        }?;
        let carry =
            |landscape: f64| self.probe.output_stage().map_or(landscape, |stage| stage.carry(landscape).loss);
        Some((carry(low), carry(high)))
    }
}

/// A level between those of rest and those of running.
fn low_level(layers: &SparseLayers) -> f64 {
    if planted("level of rest too high") {
        return f64::INFINITY;
    }
    match (layers.output, layers.form) {
        (Some(output), _) => output.running.zero,
        (None, Form::Slides { offset, at_rest, .. }) => offset + at_rest / 64.0,
        (None, Form::Targets { offset, drop }) => offset - drop / 64.0,
    }
}

fn levels(form: &Form) -> Levels {
    match *form {
        Form::Slides { write, read, .. } => {
            let flip = number("level of a flip", 4.0 * read, 2.0 * read);
            Levels { write: 4.0 * write, flip, other: 0.0 }
        }
        Form::Targets { .. } => Levels { write: 2.0, flip: 0.0, other: 1.0 },
    }
}
