//! The exact engine: where arithmetic is exact, a gradient step depends only on the vertex and the symbols to be
//! read, so it is differentiated once and then looked up.
//!
//! Every stored step was made by [`Sparse`] from the network's gradient when it first occurred. Nothing is stored
//! where a weight could drift: constants must be powers of two and the carrier's gain exactly 1. In landscapes of
//! targets, which remove the last error, the gain may differ from 1 by [`MAX_GAIN_ERROR`].

mod blocks;
mod carried;
mod columns;
mod engine;
#[cfg(feature = "faults")]
mod faults;
pub(crate) mod legality;
mod macrosteps;
mod memory;
mod multi_head;
mod single_head;
mod tapes;

use luge_net::{
    Form, Network, SparseLayers, SparseValues, Values,
    faults::{number, planted},
};

use crate::{Engine, LossRange, PackedCells, Snapshot, Sparse, TrainError};
use blocks::Blocks;
use carried::CarriedLosses;
use columns::Levels;
#[cfg(feature = "faults")]
pub use faults::Fault;
pub use legality::MAX_GAIN_ERROR;
use legality::{check_constants, check_gain, check_switch, differentiate};
use memory::Memory;
use multi_head::MultiHead;
use single_head::{LoopExit, SingleHead};
use tapes::Tapes;

/// Whether more than single steps is remembered at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CacheLevel {
    /// Single steps and, where all heads move together, blocks of cells; where they do not, macrosteps of steps.
    #[default]
    Blocks,
    /// Single steps and, where heads do not move together, macrosteps of steps, which can be told one by one.
    Macrosteps,
    /// Single steps only.
    Steps,
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
    SingleHead(SingleHead, Memory),
    Blocks(Blocks, Memory),
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
        let snapshot = sparse.snapshot();
        let mut heads = Vec::new();
        let mut rows: Vec<(i64, PackedCells)> = Vec::new();
        for (i, tape) in snapshot.tapes.into_iter().enumerate() {
            let only = matches!(tape.head[..], [1.0]);
            let head = sparse.head(i).filter(|_| only || self.forgives());
            heads.push(head.ok_or_else(|| between("a head is not on one cell"))?);
            let trained = table.rows()[i] < table.n_trained();
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
            rows.push((tape.first, symbols));
        }
        let under = |i: usize| if sparse.cell(i, heads[i]) > 0.0 { 1_u32 << i } else { 0 };
        let symbols: u32 = (0..heads.len()).map(under).sum();
        let block = table.block(vertex);
        if table.vertex(block, symbols) != vertex {
            return Err(between("the vertex has other symbols than lie under the heads"));
        }
        let (low, path) = (low_level(layers), sparse.path());
        let together = moves_together(layers) && heads.windows(2).all(|pair| pair[0] == pair[1]);
        let memory = together.then(|| Memory::new(table, low)).flatten();
        self.body = match (memory, self.cache_level) {
            (Some(memory), cache_level) => {
                let (first, cells) = merged(&rows);
                let start = (memory.situation(block, symbols), path);
                match cache_level {
                    CacheLevel::Steps | CacheLevel::Macrosteps => {
                        Body::SingleHead(SingleHead::new(start, first, cells, heads[0]), memory)
                    }
                    CacheLevel::Blocks => {
                        Body::Blocks(Blocks::new(start, table.n_tracks(), first, &cells, heads[0]), memory)
                    }
                }
            }
            (None, _) => {
                let mut tapes = Tapes::default();
                for ((first, cells), head) in rows.iter().zip(heads) {
                    tapes.add_row(*first, cells, head);
                }
                let levels = (levels(&layers.form), low);
                let many = MultiHead::new(table, (block, symbols, path), tapes, levels, self.cache_level);
                Body::MultiHead(Box::new(many))
            }
        };
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
            Body::SingleHead(one, memory) => one.run(memory, &mut self.probe, &mut remaining)?,
            Body::Blocks(blocks, memory) => blocks.run(memory, &mut self.probe, &mut remaining)?,
            Body::MultiHead(many) => many.run(&self.probe.layers().table, &mut self.probe, &mut remaining)?,
        };
        self.steps += most - remaining;
        Ok(pause)
    }

    /// The current vertex.
    fn at(&self) -> usize {
        match &self.body {
            Body::Waiting(sparse) => sparse.vertex().unwrap_or(0),
            Body::SingleHead(SingleHead { situation, .. }, memory)
            | Body::Blocks(Blocks { situation, .. }, memory) => {
                let (block, symbols) = memory.block_and_symbols(*situation);
                self.layers().table.vertex(block, symbols)
            }
            Body::MultiHead(many) => self.layers().table.vertex(many.block, many.symbols),
        }
    }

    /// All symbols under the heads.
    fn here(&self) -> u32 {
        let under = |i: usize| self.cell(i, self.head(i).unwrap_or(0)) > 0.0;
        (0..self.layers().table.n_tracks()).fold(0, |symbols, i| symbols | u32::from(under(i)) << i)
    }

    /// The symbols that the step at the current vertex will read.
    fn ahead(&mut self) -> Result<u32, TrainError> {
        let (vertex, here) = (self.at(), self.here());
        let probed = differentiate(&mut self.probe, vertex, here, 0)?;
        let mut ahead = probed.written;
        for i in 0..self.layers().table.n_tracks() {
            let offset = i64::from(probed.right >> i & 1) - i64::from(probed.left >> i & 1);
            if offset != 0 {
                let cell = self.head(i).unwrap_or(0) + offset;
                ahead = ahead & !(1 << i) | u32::from(self.cell(i, cell) > 0.0) << i;
            }
        }
        Ok(ahead)
    }

    /// The landscape's range as a range of losses.
    fn range(&self) -> Option<(f64, f64)> {
        let (low, high) = match &self.body {
            Body::Waiting(_) => None,
            Body::SingleHead(_, memory) | Body::Blocks(_, memory) => memory.range,
            Body::MultiHead(many) => many.range,
        }?;
        let carry =
            |landscape: f64| self.probe.around().map_or(landscape, |around| around.carry(landscape).loss);
        Some((carry(low), carry(high)))
    }
}

/// A level between those of rest and those of running.
fn low_level(layers: &SparseLayers) -> f64 {
    if planted("level of rest too high") {
        return f64::INFINITY;
    }
    match (layers.joint, layers.form) {
        (Some(joint), _) => joint.running.zero,
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

/// Whether in every column either all heads move the same way or none does.
fn moves_together(layers: &SparseLayers) -> bool {
    let all = (1_u32 << layers.table.n_tracks()) - 1;
    let one = |mask: u32| mask == 0 || mask == all;
    layers.table.all_columns().all(|(_, _, _, column)| column.is_none_or(|c| one(c.left) && one(c.right)))
}

/// Rows of one track each as one row of cells with all symbols.
fn merged(rows: &[(i64, PackedCells)]) -> (i64, Vec<u8>) {
    let first = rows.iter().map(|row| row.0).min().unwrap_or(0);
    let last = rows.iter().map(|row| row.0 + row.1.len() as i64).max().unwrap_or(0);
    let mut cells = vec![0; (last - first) as usize];
    for (i, (start, symbols)) in rows.iter().enumerate() {
        for (cell, symbol) in symbols.iter().enumerate() {
            cells[(start - first) as usize + cell] |= u8::from(symbol > 0.0) << i;
        }
    }
    (first, cells)
}
