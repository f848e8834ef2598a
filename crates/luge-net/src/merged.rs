//! Evaluates equal columns once.
//!
//! The matrices of a landscape have a column for every cell of a tape, and nearly all columns are equal, because nothing
//! happens far from every head. A unit depends on its own column and, through shifts, on neighbouring ones. If columns and
//! their neighbours have equal entries, their units and the gradients of their weights are equal too. A merged network has
//! one column of each kind, whose weight in sums is the number of such columns. Its loss and its gradients are those of the
//! whole network, entry for entry.
//!
//! Nothing is assumed about the meaning of columns: [`Columns::of`] follows the graph node by node, and returns an error if
//! columns interact in any other way.

mod partition;
mod rebuild;

use crate::{
    Network, Node, NodeId, Op, ParameterId, SparseValues, StepRule, Values, bias_rows, changing_rows,
    evaluate, evaluate_rows,
};
use partition::{Kinds, Partition, Splits};

/// How the columns of a network's widest matrices depend on each other.
#[derive(Clone, Debug)]
pub struct Columns<'n> {
    network: &'n Network,
    n_columns: usize,
    /// The nodes that have a column for every cell.
    wide: Vec<bool>,
    /// The wide nodes that are reshaped vectors.
    spread: Vec<NodeId>,
    /// A column can depend on columns up to this far away.
    reach: usize,
    /// Columns from which entries with a gradient are gathered. Each of them is a kind of its own.
    single: Vec<usize>,
}

/// Why columns cannot be merged.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum NotByColumns {
    /// There is nothing to merge.
    #[error("no block of weights has several columns")]
    NoColumns,
    /// A node mixes columns.
    #[error("node {index}, {word} `{name}`, mixes columns")]
    Mixes {
        /// The node's position.
        index: usize,
        /// Its operation.
        word: &'static str,
        /// Its name.
        name: String,
    },
    /// Too many columns differ for merging to save anything.
    #[error("{kinds} of {columns} columns differ")]
    TooManyKinds {
        /// Number of different columns.
        kinds: usize,
        /// Number of columns.
        columns: usize,
    },
}

impl NotByColumns {
    /// The error that a node mixes columns.
    pub(crate) fn mixes(network: &Network, id: NodeId) -> Self {
        let node = network.node(id);
        Self::Mixes { index: id.index(), word: node.op.word(), name: node.name.clone() }
    }
}

/// A network with one column of each kind.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The network.
    pub network: Network,
    /// For every node, the node of the merged network, if there is one.
    ids: Vec<Option<NodeId>>,
    n_columns: usize,
    /// For each column, the original column that it copies; `None` for zeros beyond the border.
    picked: Vec<Option<usize>>,
    /// The kinds of columns, by the first of each.
    pub kinds: Vec<ColumnKind>,
}

/// A set of equal columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColumnKind {
    /// The first of them.
    pub column: usize,
    /// Number of columns.
    pub count: usize,
    /// The column of the merged network that represents them.
    pub place: usize,
}

impl<'n> Columns<'n> {
    /// Follows the columns of the widest block of weights through the graph.
    ///
    /// # Errors
    /// If a node mixes columns other than by sums over all columns, shifts of weights, and gathered entries.
    pub fn of(network: &'n Network) -> Result<Self, NotByColumns> {
        let n_columns = network.parameters().iter().map(|p| p.shape.cols).max().unwrap_or(0);
        if n_columns < 2 {
            return Err(NotByColumns::NoColumns);
        }
        let mut columns = Self {
            network,
            n_columns,
            wide: Vec::with_capacity(network.nodes().len()),
            spread: Vec::new(),
            reach: 0,
            single: Vec::new(),
        };
        // For every node: whether it depends on a wide node, possibly through a sum; and whether on columns other than its own.
        let mut depends = Vec::with_capacity(network.nodes().len());
        let mut shifted: Vec<bool> = Vec::with_capacity(network.nodes().len());
        let differentiated = network.differentiated();
        for (id, node) in network.numbered_nodes() {
            let operand_depends = node.op.operands().iter().any(|of| depends[of.index()]);
            let mixes = || NotByColumns::mixes(network, id);
            let wide = columns.is_wide(id, node, operand_depends).ok_or_else(mixes)?;
            if let Op::Gather(positions, of) = &node.op
                && columns.wide[of.index()]
                && differentiated[id.index()]
            {
                // Weights of other columns would get a gradient from the gathered entry.
                if shifted[of.index()] {
                    return Err(mixes());
                }
                columns.single.extend(positions.iter().map(|at| at % n_columns));
            }
            let from_shifted = node.op.operands().iter().any(|of| shifted[of.index()]);
            shifted.push(wide && (from_shifted || matches!(node.op, Op::Shift(..))));
            columns.wide.push(wide);
            depends.push(wide || operand_depends);
        }
        Ok(columns)
    }

    /// Whether a node has a column for every cell; `None` if it mixes columns.
    fn is_wide(&mut self, id: NodeId, node: &Node, operand_depends: bool) -> Option<bool> {
        let wide = |of: &NodeId| self.wide[of.index()];
        match &node.op {
            Op::Parameter(of) if node.shape.cols == self.n_columns => {
                let rule = self.network.parameters()[of.index()].step_rule;
                matches!(rule, StepRule::Gradient { .. }).then_some(true)
            }
            Op::Reshape(of) if node.shape.cols == self.n_columns && !wide(of) => {
                self.spread.push(id);
                (!operand_depends).then_some(true)
            }
            op if !op.operands().iter().any(wide) => Some(false),
            Op::SumColumns(_) | Op::SumAll(_) | Op::Gather(..) => Some(false),
            op @ (Op::Sum(_) | Op::Product(..) | Op::Relu(_) | Op::StopGradient(_)) => {
                let fits = |of: &NodeId| wide(of) || self.network.node(*of).shape.cols == 1;
                op.operands().iter().all(fits).then_some(true)
            }
            Op::Stack(upper, lower) => (wide(upper) && wide(lower)).then_some(true),
            Op::Shift(by, of) => {
                let by = usize::try_from(by.unsigned_abs()).ok()?;
                self.reach = self.reach.max(by);
                (self.is_weights(*of) && by < self.n_columns / 4).then_some(true)
            }
            _ => None,
        }
    }

    /// Whether a node is a block of weights; beyond its border there are zeros.
    fn is_weights(&self, node: NodeId) -> bool {
        match self.network.node(node).op {
            Op::Parameter(_) => true,
            Op::StopGradient(of) => self.is_weights(of),
            _ => false,
        }
    }

    fn wide_parameters(&self) -> impl Iterator<Item = ParameterId> + '_ {
        let cols = |id: &ParameterId| self.network.parameters()[id.index()].shape.cols;
        self.network.parameter_ids().filter(move |id| cols(id) == self.n_columns)
    }

    /// Merges the columns that are equal for these weights and inputs. Columns whose weights differ `after` a step are of
    /// different kinds. Only nodes that the loss or `also` depend on are kept.
    ///
    /// # Errors
    /// If too many columns differ.
    pub fn merge(
        &self,
        weights: &[SparseValues],
        after: Option<&[SparseValues]>,
        inputs: &[Values],
        also: &[NodeId],
    ) -> Result<Merged, NotByColumns> {
        let kinds = self.kinds(weights, after, inputs);
        let n_kinds = kinds.kinds.len();
        if n_kinds * (6 * self.reach + 2) * 2 > self.n_columns {
            return Err(NotByColumns::TooManyKinds { kinds: n_kinds, columns: self.n_columns });
        }
        Ok(rebuild::rebuild(self, kinds, also))
    }

    /// The kinds of columns, distinguished by reshaped vectors and by weights.
    fn kinds(&self, weights: &[SparseValues], after: Option<&[SparseValues]>, inputs: &[Values]) -> Kinds {
        let mut marks = Partition::new(self.n_columns);
        for &node in &self.spread {
            for (_, biases) in bias_rows(self.network, node) {
                marks.distinguish_by_weights(&biases);
            }
            let mut splits = Splits::new();
            let changes = (node, changing_rows(self.network, node));
            evaluate_rows(self.network, weights, inputs, changes, |_, first, numbers| {
                if first == 0 {
                    splits = Splits::new();
                }
                marks.distinguish_by_numbers(&mut splits, first, numbers);
            });
        }
        self.single.iter().for_each(|&column| marks.single_out(column));
        for weights in [Some(weights), after].into_iter().flatten() {
            self.wide_parameters().for_each(|id| marks.distinguish_by_weights(&weights[id.index()]));
        }
        marks.with_neighbours(self.reach)
    }
}

/// Evaluates some nodes; equal columns are evaluated once.
///
/// # Panics
/// If the values do not fit the network's parameters or inputs, or a node has a column for every cell.
pub fn evaluate_some(
    network: &Network,
    weights: &[SparseValues],
    inputs: &[Values],
    nodes: &[NodeId],
) -> Vec<Values> {
    let merged = Columns::of(network).and_then(|columns| columns.merge(weights, None, inputs, nodes));
    match merged {
        Ok(merged) => {
            let all = evaluate(&merged.network, &merged.parameters(weights), inputs);
            let id = |&node| merged.id(node).expect("a node without columns");
            nodes.iter().map(|node| all.value(id(node)).clone()).collect()
        }
        Err(_) => {
            let all = evaluate(network, &SparseValues::all_values(weights), inputs);
            nodes.iter().map(|&node| all.value(node).clone()).collect()
        }
    }
}

impl Merged {
    /// The merged network's node for a node without columns; `None` for nodes with columns and for nodes that were dropped.
    pub fn id(&self, node: NodeId) -> Option<NodeId> {
        self.ids[node.index()]
    }

    /// Whether a block of weights of this shape has a column for every cell.
    pub fn is_wide(&self, block: &SparseValues) -> bool {
        block.shape.cols == self.n_columns
    }

    /// The merged network's weights for weights of the whole network.
    pub fn parameters(&self, weights: &[SparseValues]) -> Vec<Values> {
        let blocks = weights.iter().zip(self.network.parameters());
        let picked = |block: &SparseValues, row: usize| {
            let entry = |column: &Option<usize>| column.map_or(0.0, |column| block.at(row, column));
            self.picked.iter().map(entry).collect::<Vec<_>>()
        };
        let merged = blocks.map(|(block, parameter)| {
            if !self.is_wide(block) {
                return block.to_values();
            }
            let entries = (0..block.shape.rows).flat_map(|row| picked(block, row));
            Values::new(parameter.shape, entries.collect())
        });
        merged.collect()
    }
}
