//! The weights at one step, without those that are zero.

use luge_net::{Network, ParameterId, Shape, SparseValues, StepRule, Values};

use crate::{PackedCells, sparse};

/// The weights that are not zero, with their positions.
#[derive(Clone, PartialEq, Debug)]
pub struct Snapshot {
    /// Gradient steps made.
    pub step: u64,
    /// The digest of all vertices visited; see [`visit`](crate::visit).
    pub path: u64,
    /// Weights on vertices.
    pub vertices: Vec<(usize, f64)>,
    /// z, if the network has labels; on a stream, followed by the memory of a batch.
    pub labels: Vec<f64>,
    /// One per track, in the order of a vertex's symbols.
    pub tapes: Vec<TapeSnapshot>,
}

/// One row of cells and its head.
#[derive(Clone, PartialEq, Debug)]
pub struct TapeSnapshot {
    /// The cell of the first value, counted as the columns of the network's matrices.
    pub first: i64,
    /// The stored cells; all others are blank.
    pub cells: PackedCells,
    /// The cell of the head's first weight.
    pub head_first: i64,
    /// The head's weights; all others are 0.
    pub head: Vec<f64>,
}

impl Snapshot {
    /// The same weights, without the blank cells at both ends.
    pub fn trimmed(&self) -> Self {
        let mut trimmed = self.clone();
        for tape in &mut trimmed.tapes {
            let written = tape.cells.written();
            tape.first = if written.is_empty() { 0 } else { tape.first + written.start as i64 };
            tape.cells = tape.cells.part(written);
        }
        trimmed
    }

    /// The weights of a network as dense matrices; see [`weights_of`](Self::weights_of).
    pub fn parameters_of(&self, network: &Network, shift: &[i64]) -> Option<Vec<Values>> {
        Some(SparseValues::all_values(&self.weights_of(network, shift)?))
    }

    /// The weights of a network whose column `c` is cell `c - shift` of each tape; an empty `shift` stands for zeros.
    /// `None` if they do not fit into its matrices.
    pub fn weights_of(&self, network: &Network, shift: &[i64]) -> Option<Vec<SparseValues>> {
        let mut weights: Vec<SparseValues> =
            network.parameters().iter().map(|p| SparseValues::filled(p.shape, 0.0)).collect();
        let block = &mut weights[vertex_parameter(network)?.index()];
        let mut vertices = self.vertices.clone();
        vertices.sort_by_key(|&(vertex, _)| vertex);
        if vertices.last().is_some_and(|&(last, _)| last >= block.shape.len())
            || !vertices.is_sorted_by(|a, b| a.0 < b.0)
        {
            return None;
        }
        *block = SparseValues::new(block.shape, 0.0, vertices);
        if let Some(labels) = label_parameter(network) {
            let block = &mut weights[labels.index()];
            if block.shape.len() != self.labels.len() {
                return None;
            }
            *block = Values::new(block.shape, self.labels.clone()).into();
        }
        let Ok(layers) = network.sparse_layers() else { return Some(weights) };
        let zeros = vec![0; self.tapes.len()];
        let shift = if shift.is_empty() { &zeros } else { shift };
        if self.tapes.len() != layers.table.rows.len() || shift.len() != self.tapes.len() {
            return None;
        }
        let tapes = || layers.table.rows.iter().copied().zip(self.tapes.iter().zip(shift.iter().copied()));
        let heads = tapes().map(|(row, (tape, shift))| {
            (row, placed(tape.head_first + shift, tape.head.iter().copied(), 0.0))
        });
        let head = &mut weights[layers.head.index()];
        *head = by_rows(head.shape, 0.0, heads.collect())?;
        if let Some(cells) = layers.cells {
            let trained = tapes().filter(|&(row, _)| row < layers.table.n_trained);
            let rows = trained.map(|(row, (tape, shift))| {
                (row, placed(tape.first + shift, tape.cells.iter(), sparse::BLANK))
            });
            let block = &mut weights[cells.index()];
            *block = by_rows(block.shape, sparse::BLANK, rows.collect())?;
        }
        Some(weights)
    }

    /// The snapshot of these weights; `fixed` are the rows of cells that are hidden units. It has tapes only if the network's
    /// sparse layers are recognised.
    pub(crate) fn of(
        network: &Network,
        (step, path): (u64, u64),
        weights: &[SparseValues],
        fixed: &[PackedCells],
    ) -> Self {
        let vertices = vertex_parameter(network).map_or_else(Vec::new, |id| nonzero(&weights[id.index()]));
        let labels =
            label_parameter(network).map_or_else(Vec::new, |id| weights[id.index()].to_values().data);
        let mut snapshot = Self { step, path, vertices, labels, tapes: Vec::new() };
        let Ok(layers) = network.sparse_layers() else { return snapshot };
        let heads = &weights[layers.head.index()];
        let on_cells = nonzero(heads);
        for &row in &layers.table.rows {
            let cells = match row.checked_sub(layers.table.n_trained) {
                None => layers.cells.map(|id| written_cells(&weights[id.index()], row)),
                Some(at) => fixed.get(at).cloned(),
            };
            let mut columns = on_cells.iter().map(|&(at, _)| (at / heads.shape.cols, at % heads.shape.cols));
            let first = columns.clone().find(|at| at.0 == row).map_or(0, |at| at.1);
            let last = columns.rfind(|at| at.0 == row).map_or(first, |at| at.1);
            snapshot.tapes.push(TapeSnapshot {
                first: 0,
                cells: cells.unwrap_or_default(),
                head_first: first as i64,
                head: (first..=last).map(|column| heads.at(row, column)).collect(),
            });
        }
        snapshot
    }
}

/// The entries that are not zero, and their places.
fn nonzero(block: &SparseValues) -> Vec<(usize, f64)> {
    let is_nonzero = |entry: &(usize, f64)| entry.1 != 0.0;
    match block.common() {
        0.0 => block.others().iter().copied().filter(is_nonzero).collect(),
        _ => block.to_values().data.into_iter().enumerate().filter(is_nonzero).collect(),
    }
}

/// The cells of a row up to the last that is not blank.
pub(crate) fn written_cells(block: &SparseValues, row: usize) -> PackedCells {
    let is_blank = block.common().to_bits() == sparse::BLANK.to_bits();
    let last = block.others_in(row).next_back().map_or(0, |(last, _)| last + 1);
    let n_cells = if is_blank { last } else { block.shape.cols };
    PackedCells::mostly(block.common(), n_cells, block.others_in(row))
}

/// The columns of a row, counted from `first` on, with a number other than `common`.
fn placed(first: i64, numbers: impl Iterator<Item = f64>, common: f64) -> Vec<(i64, f64)> {
    (first..).zip(numbers).filter(|(_, number)| number.total_cmp(&common).is_ne()).collect()
}

/// A matrix from the exceptions in its rows; `None` if a column is outside.
fn by_rows(shape: Shape, common: f64, mut rows: Vec<(usize, Vec<(i64, f64)>)>) -> Option<SparseValues> {
    rows.sort_by_key(|(row, _)| *row);
    let mut others = Vec::with_capacity(rows.iter().map(|(_, numbers)| numbers.len()).sum());
    for (row, numbers) in rows {
        for (column, number) in numbers {
            let column =
                usize::try_from(column).ok().filter(|&column| column < shape.cols && row < shape.rows)?;
            others.push((row * shape.cols + column, number));
        }
    }
    Some(SparseValues::new(shape, common, others))
}

/// The parameter with the weights on vertices.
pub fn vertex_parameter(network: &Network) -> Option<ParameterId> {
    let of = |id: &ParameterId| &network.parameters()[id.index()];
    let simplex = || network.parameter_ids().find(|id| of(id).step_rule == StepRule::Simplex);
    // A landscape of targets that is not recognised has no simplex either, so the name decides.
    let named = || network.parameter_ids().find(|id| of(id).name == "vertex");
    network.sparse_layers().ok().map(|layers| layers.vertex).or_else(simplex).or_else(named)
}

/// The parameter with the labels.
pub(crate) fn label_parameter(network: &Network) -> Option<ParameterId> {
    network.parameter_ids().find(|id| network.parameters()[id.index()].name == "labels")
}
