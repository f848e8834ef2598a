//! The exact engine: where arithmetic is exact, a gradient step depends only on the vertex and the symbols to be read, so it is
//! differentiated once and remembered.
//!
//! Every remembered step was made by [`Sparse`] on cells of its own, from the network's gradient, when it was first met.
//! Nothing is remembered where a weight could drift: constants must be powers of two and the carrier's gain exactly 1. In
//! landscapes of targets, which forget the last error, the gain may differ from 1 by [`MOST_GAIN_ERROR`].

mod blocks;
#[cfg(feature = "faults")]
mod faults;
pub(crate) mod legality;
mod memory;
mod multi_head;
mod single_head;

use std::ops::Range;

use luge_net::{
    Form, Network, SparseLayers, Values,
    faults::{number, planted},
};

use crate::{
    Change, Engine, LossRange, Outcome, PackedCells, Snapshot, Sparse, StopRule, TapeSnapshot, TrainError,
    sparse::BLANK, visit,
};
use blocks::Blocks;
#[cfg(feature = "faults")]
pub use faults::Fault;
pub use legality::MOST_GAIN_ERROR;
use legality::{check_constants, check_gain, check_switch, differentiate};
use memory::Memory;
use multi_head::{Levels, MultiHead};
use single_head::{LoopExit, SingleHead};

/// Whether whole blocks of cells are remembered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Memories {
    /// Single steps and, where all heads move together, blocks of cells.
    #[default]
    Blocks,
    /// Single steps only.
    Steps,
}

/// Trains by remembered steps.
#[derive(Clone, Debug)]
pub struct Exact<'n> {
    /// Differentiates single steps, and reads the labels.
    probe: Sparse<'n>,
    memories: Memories,
    body: Body<'n>,
    steps: u64,
    /// Losses from before the body was made.
    earlier: Option<LossRange>,
    last: Option<f64>,
    /// How far the gain can lie from 1.
    gain_error: f64,
    carried: CarriedLosses,
}

/// The network's losses for losses of the landscape. There are few different ones, so the last ones are kept.
#[derive(Clone, Debug)]
struct CarriedLosses([(f64, f64); 64]);

impl CarriedLosses {
    fn new() -> Self {
        Self([(f64::NAN, f64::NAN); 64])
    }

    #[inline]
    fn of(&mut self, probe: &Sparse<'_>, landscape: f64) -> f64 {
        let bits = landscape.to_bits();
        let known = &mut self.0[(bits.wrapping_mul(crate::MULTIPLIER) >> 58) as usize];
        if known.0.to_bits() != bits {
            *known = (landscape, probe.around().map_or(landscape, |around| around.carry(landscape).loss));
        }
        known.1
    }
}

/// The weights, as symbols.
#[derive(Clone, Debug)]
enum Body<'n> {
    /// The labels are still to be read.
    Waiting(Box<Sparse<'n>>),
    SingleHead(SingleHead, Memory),
    Blocks(Blocks, Memory),
    MultiHead(MultiHead),
}

impl<'n> Exact<'n> {
    /// An engine that starts from the given parameters.
    ///
    /// # Errors
    /// If arithmetic would not be exact, with the reason, or no sparse layers are recognised in the network.
    pub fn new(
        network: &'n Network,
        parameters: &[Values],
        inputs: &[Values],
        memories: Memories,
    ) -> Result<Self, TrainError> {
        Self::from_sparse(Sparse::new(network, parameters, inputs)?, memories)
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
        memories: Memories,
    ) -> Result<Self, TrainError> {
        Self::from_sparse(Sparse::resume(network, snapshot, losses, inputs)?, memories)
    }

    fn from_sparse(sparse: Sparse<'n>, memories: Memories) -> Result<Self, TrainError> {
        check_constants(&sparse.layers().form)?;
        check_switch(sparse.layers())?;
        let mut probe = sparse.clone();
        if probe.waiting()? {
            probe.step()?;
        }
        let gain_error = check_gain(&probe)?;
        let (steps, earlier) = (sparse.steps(), sparse.losses_so_far());
        let waiting = sparse.waiting()?;
        let body = Body::Waiting(Box::new(sparse));
        let carried = CarriedLosses::new();
        let mut exact = Self { probe, memories, body, steps, earlier, last: None, gain_error, carried };
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
        let mut rows: Vec<(i64, Vec<u8>)> = Vec::new();
        for (i, tape) in snapshot.tapes.iter().enumerate() {
            let only = matches!(tape.head[..], [1.0]);
            let head = sparse.head(i).filter(|_| only || self.forgives());
            heads.push(head.ok_or_else(|| between("a head is not on one cell"))?);
            let trained = table.rows()[i] < table.n_trained();
            let symbol = |cell: f64| match cell {
                1.0 => Some(1),
                BLANK => Some(0),
                // Errors that a step leaves behind are forgotten; what no step moves has none.
                _ if self.forgives() && trained && cell.abs() >= 0.5 => Some(u8::from(cell > 0.0)),
                _ => None,
            };
            let symbols: Option<Vec<u8>> = tape.cells.iter().map(symbol).collect();
            rows.push((tape.first, symbols.ok_or_else(|| between("a cell is neither -1 nor 1"))?));
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
        self.body = match (memory, self.memories) {
            (Some(memory), memories) => {
                let (first, cells) = merged(&rows);
                let start = (memory.situation(block, symbols), path);
                match memories {
                    Memories::Steps => {
                        Body::SingleHead(SingleHead::new(start, first, cells, heads[0]), memory)
                    }
                    Memories::Blocks => {
                        Body::Blocks(Blocks::new(start, table.n_tracks(), first, &cells, heads[0]), memory)
                    }
                }
            }
            (None, _) => {
                let mut many = MultiHead::new(table, (block, symbols, path), levels(&layers.form), low);
                for ((first, cells), head) in rows.into_iter().zip(heads) {
                    many.add_row(first, cells, head);
                }
                Body::MultiHead(many)
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
fn merged(rows: &[(i64, Vec<u8>)]) -> (i64, Vec<u8>) {
    let first = rows.iter().map(|row| row.0).min().unwrap_or(0);
    let last = rows.iter().map(|row| row.0 + row.1.len() as i64).max().unwrap_or(0);
    let mut cells = vec![0; (last - first) as usize];
    for (i, (start, symbols)) in rows.iter().enumerate() {
        for (cell, symbol) in symbols.iter().enumerate() {
            cells[(start - first) as usize + cell] |= symbol << i;
        }
    }
    (first, cells)
}

impl Engine for Exact<'_> {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn network(&self) -> &Network {
        self.probe.network()
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn path(&self) -> u64 {
        match &self.body {
            Body::Waiting(sparse) => sparse.path(),
            Body::SingleHead(one, _) => one.path,
            Body::Blocks(blocks, _) => blocks.path,
            Body::MultiHead(many) => many.path,
        }
    }

    fn loss(&mut self) -> Result<f64, TrainError> {
        let landscape = match &mut self.body {
            Body::Waiting(sparse) => return sparse.loss(),
            Body::SingleHead(one, memory) => one.level(memory, &mut self.probe)?,
            Body::Blocks(blocks, memory) => blocks.level(memory, &mut self.probe)?,
            Body::MultiHead(many) => many.level(&self.probe.layers().table, &mut self.probe)?,
        };
        let Some(around) = self.probe.around() else { return Ok(landscape) };
        if !around.finished(landscape)? {
            return Ok(around.carry(landscape).loss);
        }
        Ok(around.primary_loss_of(self.layers(), &|track, cell| self.cell(track, cell)))
    }

    fn step(&mut self) -> Result<(), TrainError> {
        let before = self.steps;
        if self.advance(1)? == LoopExit::Low && self.steps == before {
            self.rest()?;
        }
        Ok(())
    }

    fn run(&mut self, stop: &StopRule) -> Result<Outcome, TrainError> {
        if self.earlier.is_none() {
            self.earlier = Some(LossRange::of(self.loss()?));
        }
        // Where running losses may end the run, every step is looked at.
        let careful = stop.loss_at_most > low_level(self.layers());
        loop {
            let left = stop.most_steps.saturating_sub(self.steps);
            let pause = if careful { LoopExit::Low } else { self.advance(left)? };
            let loss = self.loss()?;
            self.last = Some(loss);
            if let Some(outcome) = stop.verdict(self.steps, loss) {
                return Ok(outcome);
            }
            if careful {
                self.earlier = self.earlier.map(|range| range.and(loss));
                self.step()?;
            } else if pause == LoopExit::Low {
                self.rest()?;
            }
        }
    }

    fn run_noting(&mut self, stop: &StopRule, changes: &mut Vec<Change>) -> Result<bool, TrainError> {
        // Where running losses may end the run, every step is looked at; and labels are read one by one.
        if stop.loss_at_most > low_level(self.layers()) || matches!(self.body, Body::Waiting(_)) {
            return Ok(false);
        }
        let (most, before) = (stop.most_steps.saturating_sub(self.steps), changes.len());
        let (probe, losses) = (&mut self.probe, &mut self.carried);
        match &mut self.body {
            Body::Waiting(_) | Body::Blocks(..) => return Ok(false),
            Body::SingleHead(one, memory) => one.run_noting(memory, probe, most, changes, losses)?,
            Body::MultiHead(many) => many.run_noting(&probe.layers().table, probe, most, changes, losses)?,
        };
        self.steps += (changes.len() - before) as u64;
        Ok(changes.len() > before)
    }

    fn losses(&self) -> Option<LossRange> {
        let last = self.last.or(self.earlier.map(|range| range.last))?;
        let range = self.range().unwrap_or((last, last));
        let first = self.earlier.map_or(last, |earlier| earlier.first);
        let (low, high) = self.earlier.map_or(range, |e| (e.min.min(range.0), e.max.max(range.1)));
        Some(LossRange { first, min: low.min(last), max: high.max(last), last })
    }

    fn vertex(&self) -> Option<usize> {
        Some(self.at())
    }

    fn head(&self, track: usize) -> Option<i64> {
        match &self.body {
            Body::Waiting(sparse) => sparse.head(track),
            Body::SingleHead(one, _) => Some(one.head()),
            Body::Blocks(blocks, _) => Some(blocks.head()),
            Body::MultiHead(many) => Some(many.head(track)),
        }
    }

    fn cell(&self, track: usize, cell: i64) -> f64 {
        let symbols = match &self.body {
            Body::Waiting(sparse) => return sparse.cell(track, cell),
            Body::SingleHead(one, _) => one.cell(cell) >> track,
            Body::Blocks(blocks, _) => blocks.cell(cell) >> track,
            Body::MultiHead(many) => many.cell(track, cell),
        };
        if symbols & 1 == 1 { 1.0 } else { BLANK }
    }

    fn kept(&self, track: usize) -> Range<i64> {
        let (first, len) = match &self.body {
            Body::Waiting(sparse) => return sparse.kept(track),
            Body::SingleHead(one, _) => (one.cells().0, one.cells().1.len()),
            Body::Blocks(blocks, _) => blocks.kept(),
            Body::MultiHead(many) => (many.cells(track).0, many.cells(track).1.len()),
        };
        first..first + len as i64
    }

    fn labels(&self) -> &[f64] {
        match &self.body {
            Body::Waiting(sparse) => sparse.labels(),
            _ => self.probe.labels(),
        }
    }

    fn snapshot(&self) -> Snapshot {
        if let Body::Waiting(sparse) = &self.body {
            return sparse.snapshot();
        }
        let tape = |i: usize| {
            let (first, cells) = match &self.body {
                Body::Waiting(_) => (0, PackedCells::default()),
                Body::SingleHead(one, _) => {
                    let (first, cells) = one.cells();
                    (first, PackedCells::of_symbols(cells.iter().map(|&c| c >> i & 1 == 1)))
                }
                Body::Blocks(blocks, _) => {
                    let (first, cells) = blocks.cells();
                    (first, PackedCells::of_symbols(cells.iter().map(|&c| c >> i & 1 == 1)))
                }
                Body::MultiHead(many) => {
                    let (first, cells) = many.cells(i);
                    (first, PackedCells::of_symbols(cells.iter().map(|&c| c & 1 == 1)))
                }
            };
            TapeSnapshot { first, cells, head_first: self.head(i).unwrap_or(0), head: vec![1.0] }
        };
        let n_tracks = self.layers().table.n_tracks();
        Snapshot {
            step: self.steps,
            path: self.path(),
            vertices: vec![(self.at(), 1.0)],
            labels: self.labels().to_vec(),
            tapes: (0..n_tracks).map(tape).collect(),
        }
    }

    fn drift(&self) -> (f64, f64) {
        // What one step can leave behind; see `MOST_GAIN_ERROR`.
        let most = self.gain_error / (1.0 - self.gain_error);
        (2.0 * most, most)
    }

    fn rounding(&self) -> f64 {
        // The weights are kept as the symbols they stand for.
        let (cells, heads) = self.drift();
        cells.max(heads)
    }

    fn cell_bytes(&self) -> usize {
        match &self.body {
            Body::Waiting(sparse) => sparse.cell_bytes(),
            Body::SingleHead(one, _) => one.n_bytes(),
            Body::Blocks(blocks, _) => blocks.n_bytes(),
            Body::MultiHead(many) => many.n_bytes(),
        }
    }
}

impl Exact<'_> {
    /// A step where the loss is low: at rest nothing changes.
    fn rest(&mut self) -> Result<(), TrainError> {
        let (vertex, here, ahead) = (self.at(), self.here(), self.ahead()?);
        let probed = differentiate(&mut self.probe, vertex, here, ahead)?;
        let still = probed.to == vertex && probed.left | probed.right == 0;
        if !still || probed.written != here {
            let why = "the loss is low, but the step does not stay where it is".to_owned();
            return Err(TrainError::NotExact { why });
        }
        self.steps += 1;
        match &mut self.body {
            Body::Waiting(_) => {}
            Body::SingleHead(SingleHead { path, .. }, _)
            | Body::Blocks(Blocks { path, .. }, _)
            | Body::MultiHead(MultiHead { path, .. }) => *path = visit(*path, vertex),
        }
        Ok(())
    }
}
