//! The weights of one moment, without those that are zero.

use luge_net::{Network, ParameterId, StepRule, Values};

use crate::{PackedCells, sparse};

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
    pub cells: PackedCells,
    /// The cell of the head's first weight.
    pub head_first: i64,
    /// The head's weights; all others are 0.
    pub head: Vec<f64>,
}

impl Snapshot {
    /// The same weights, without the blank cells at both ends.
    #[must_use]
    pub fn trimmed(&self) -> Self {
        let written = |cell: f64| cell.total_cmp(&sparse::BLANK).is_ne();
        let mut trimmed = self.clone();
        for tape in &mut trimmed.tapes {
            let end = tape.cells.iter().rposition(written).map_or(0, |last| last + 1);
            let start = tape.cells.iter().take(end).position(written).unwrap_or(0);
            tape.cells = tape.cells.part(start..end);
            tape.first = if tape.cells.is_empty() { 0 } else { tape.first + start as i64 };
        }
        trimmed
    }

    /// The parameters of a network that holds these weights, zeros and all; `None` if they do not fit into its matrices.
    #[must_use]
    pub fn parameters(&self, network: &Network) -> Option<Vec<Values>> {
        self.parameters_of(network, &vec![0; self.tapes.len()])
    }

    /// The same for a network whose column `c` is cell `c - shift` of each tape.
    #[must_use]
    pub fn parameters_of(&self, network: &Network, shift: &[i64]) -> Option<Vec<Values>> {
        let mut parameters: Vec<Values> =
            network.parameters().iter().map(|p| Values::filled(p.shape, 0.0)).collect();
        let vertices = &mut parameters[vertex_parameter(network)?.index()];
        for &(vertex, weight) in &self.vertices {
            *vertices.data.get_mut(vertex)? = weight;
        }
        if let Some(labels) = label_parameter(network) {
            let labels = &mut parameters[labels.index()].data;
            if labels.len() != self.labels.len() {
                return None;
            }
            labels.clone_from(&self.labels);
        }
        let Ok(layers) = network.sparse_layers() else { return Some(parameters) };
        if self.tapes.len() != layers.table.rows().len() || shift.len() != self.tapes.len() {
            return None;
        }
        let place =
            |first: i64, i: usize, shift: i64| usize::try_from(first + i64::try_from(i).ok()? + shift).ok();
        if let Some(cells) = layers.cells {
            parameters[cells.index()].data.fill(sparse::BLANK);
        }
        for ((tape, &row), &shift) in self.tapes.iter().zip(layers.table.rows()).zip(shift) {
            let head = &mut parameters[layers.head.index()];
            for (i, &weight) in tape.head.iter().enumerate() {
                let column = place(tape.head_first, i, shift).filter(|&c| c < head.shape.cols)?;
                *head.at_mut(row, column) = weight;
            }
            let Some(cells) = layers.cells.filter(|_| row < layers.table.n_trained()) else { continue };
            let cells = &mut parameters[cells.index()];
            for (i, value) in tape.cells.iter().enumerate() {
                match place(tape.first, i, shift).filter(|&c| c < cells.shape.cols) {
                    Some(column) => *cells.at_mut(row, column) = value,
                    None if value.total_cmp(&sparse::BLANK).is_eq() => {}
                    None => return None,
                }
            }
        }
        Some(parameters)
    }

    /// The snapshot of parameters after so many steps; `fixed_cells` are those that are hidden units. It has tapes only if
    /// the network's sparse layers are known.
    pub(crate) fn of(
        network: &Network,
        (step, path): (u64, u64),
        parameters: &[Values],
        fixed_cells: Option<&Values>,
    ) -> Self {
        let weights = vertex_parameter(network).map_or(&[][..], |id| &parameters[id.index()].data);
        let nonzero = weights.iter().copied().enumerate().filter(|&(_, weight)| weight != 0.0);
        let labels = label_parameter(network).map_or_else(Vec::new, |id| parameters[id.index()].data.clone());
        let mut snapshot = Self { step, path, vertices: nonzero.collect(), labels, tapes: Vec::new() };
        let Ok(layers) = network.sparse_layers() else { return snapshot };
        for &row in layers.table.rows() {
            let cells = match row.checked_sub(layers.table.n_trained()) {
                None => layers.cells.map(|id| parameters[id.index()].row(row).to_vec()),
                Some(at) => fixed_cells.map(|fixed| fixed.row(at).to_vec()),
            };
            let head = parameters[layers.head.index()].row(row);
            let first = head.iter().position(|&w| w != 0.0).unwrap_or(0);
            let end = head.iter().rposition(|&w| w != 0.0).map_or(first + 1, |last| last + 1);
            snapshot.tapes.push(TapeSnapshot {
                first: 0,
                cells: cells.unwrap_or_default().into(),
                head_first: first as i64,
                head: head.get(first..end).unwrap_or_default().to_vec(),
            });
        }
        snapshot
    }
}

/// The parameter with the weights on vertices.
#[must_use]
pub fn vertex_parameter(network: &Network) -> Option<ParameterId> {
    let simplex = |id: &ParameterId| network.parameters()[id.index()].step_rule == StepRule::Simplex;
    network.sparse_layers().ok().map(|layers| layers.vertex).or_else(|| network.parameter_ids().find(simplex))
}

/// The parameter with the labels.
pub(crate) fn label_parameter(network: &Network) -> Option<ParameterId> {
    network.parameter_ids().find(|id| network.parameters()[id.index()].name == "labels")
}
