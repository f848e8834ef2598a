//! Rebuilds a graph with the selected columns.

use super::{Columns, Merged, partition::Kinds};
use crate::{GraphBuilder, Network, Node, NodeId, Op, Parameter, Shape, Values};

/// The columns of a merged network, and the factor of each in sums.
#[derive(Debug, Default)]
struct Picked {
    columns: Vec<Option<usize>>,
    shares: Vec<f64>,
}

impl Picked {
    /// Adds `column` and `around` columns on either side. Those at most `counted` away have the factor `share`.
    fn add(
        &mut self,
        column: usize,
        n_columns: usize,
        (around, counted): (usize, usize),
        share: f64,
    ) -> usize {
        let from = column.saturating_sub(around);
        let to = (column + around + 1).min(n_columns);
        // Beyond the border there are zeros.
        let beyond = |at_border: bool| if at_border { around } else { 0 };
        let zeros = |picked: &mut Self, count: usize| {
            picked.columns.extend(std::iter::repeat_n(None, count));
            picked.shares.extend(std::iter::repeat_n(0.0, count));
        };
        zeros(self, beyond(from == 0));
        let place = self.columns.len() + column - from;
        for at in from..to {
            self.columns.push(Some(at));
            self.shares.push(if at.abs_diff(column) <= counted { share } else { 0.0 });
        }
        zeros(self, beyond(to == n_columns));
        place
    }
}

/// Picks columns: one of each kind, together with the columns that its weights reach, which count once, and the columns that
/// these depend on; then one more of each kind, which counts for all that are left.
fn pick(columns: &Columns<'_>, all: &mut Kinds) -> Picked {
    let (n, reach) = (columns.n_columns, columns.reach);
    let mut picked = Picked::default();
    let mut counted = vec![0_usize; all.kinds.len()];
    for at in 0..all.kinds.len() {
        let column = all.kinds[at].column;
        all.kinds[at].place = picked.add(column, n, (2 * reach, reach), 1.0);
        let near = column.saturating_sub(reach)..(column + reach + 1).min(n);
        near.for_each(|other| counted[all.of(other)] += 1);
    }
    for (kind, counted) in all.kinds.iter().zip(counted).filter(|(kind, counted)| kind.count != *counted) {
        let left = kind.count as f64 - counted as f64;
        picked.add(kind.column, n, (reach, 0), left);
    }
    picked
}

pub(super) fn rebuild(columns: &Columns<'_>, mut kinds: Kinds, also: &[NodeId]) -> Merged {
    let picked = pick(columns, &mut kinds);
    let network = columns.network;
    let width = picked.columns.len();
    let narrowed =
        |shape: Shape| if shape.cols == columns.n_columns { Shape::new(shape.rows, width) } else { shape };
    let parameters: Vec<Parameter> =
        network.parameters().iter().map(|p| Parameter { shape: narrowed(p.shape), ..p.clone() }).collect();
    let needed = needed(columns, also);
    let graph = GraphBuilder { nodes: Vec::new(), parameters, inputs: network.inputs().to_vec() };
    let mut builder =
        Rebuilder { columns, picked: &picked, kinds: &kinds, graph, ids: Vec::new(), shares: None };
    for (id, node) in network.numbered_nodes() {
        let new = needed[id.index()].then(|| builder.add(id, node));
        builder.ids.push(new);
    }
    let Rebuilder { graph, ids, .. } = builder;
    let loss = ids[network.loss().index()].expect("the loss is needed");
    let network = Network::new(graph, loss);
    let ids = ids.into_iter().zip(&columns.wide).map(|(id, wide)| id.filter(|_| !wide)).collect();
    Merged { network, ids, n_columns: columns.n_columns, picked: picked.columns, kinds: kinds.kinds }
}

/// The nodes that the loss and others depend on. Of a reshaped linear map only the operand is needed.
fn needed(columns: &Columns<'_>, also: &[NodeId]) -> Vec<bool> {
    let network = columns.network;
    let operands = |id: NodeId, node: &Node| match (&node.op, columns.wide[id.index()]) {
        (Op::Reshape(of), true) => match &network.node(*of).op {
            Op::Linear(_, from) => vec![*from],
            _ => vec![*of],
        },
        (op, _) => op.operands(),
    };
    network.needed_by(&[also, &[network.loss()]].concat(), operands)
}

struct Rebuilder<'a> {
    columns: &'a Columns<'a>,
    picked: &'a Picked,
    kinds: &'a Kinds,
    graph: GraphBuilder,
    ids: Vec<Option<NodeId>>,
    /// The factor of each column in sums.
    shares: Option<NodeId>,
}

impl Rebuilder<'_> {
    fn new_id(&self, id: NodeId) -> NodeId {
        self.ids[id.index()].expect("operands come first")
    }

    fn add(&mut self, id: NodeId, node: &Node) -> NodeId {
        let wide = |of: &NodeId| self.columns.wide[of.index()];
        let cols = if wide(&id) { self.picked.columns.len() } else { node.shape.cols };
        let shape = Shape::new(node.shape.rows, cols);
        let op = match &node.op {
            Op::Reshape(of) if wide(&id) => return self.spread(node, *of, shape),
            Op::SumColumns(of) if wide(of) => Op::SumColumns(self.counted(*of)),
            Op::SumAll(of) if wide(of) => Op::SumAll(self.counted(*of)),
            Op::Gather(positions, of) if wide(of) => {
                let positions = positions.iter().map(|&at| self.place(at)).collect();
                Op::Gather(positions, self.new_id(*of))
            }
            op => op.with_operands(|of| self.new_id(of)),
        };
        self.graph.push(&node.name, op, shape)
    }

    /// The new position of an entry of a wide node.
    fn place(&self, at: usize) -> usize {
        let (row, column) = (at / self.columns.n_columns, at % self.columns.n_columns);
        let kind = self.kinds.kinds[self.kinds.of(column)];
        row * self.picked.columns.len() + kind.place
    }

    /// A reshaped vector: only its entries in the picked columns.
    fn spread(&mut self, node: &Node, of: NodeId, shape: Shape) -> NodeId {
        let n = self.columns.n_columns;
        let rows = 0..node.shape.rows;
        let places = rows.flat_map(|row| self.picked.columns.iter().map(move |c| c.map(|c| row * n + c)));
        let entries = match &self.columns.network.node(of).op {
            Op::Linear(map, from) => {
                let map = map.to_outputs(&places.collect::<Vec<_>>());
                let from = self.new_id(*from);
                self.graph.linear(&node.name, map, from)
            }
            // Columns beyond the border have the factor 0, so any entry will do there.
            _ => {
                let places = places.map(Option::unwrap_or_default).collect();
                let from = self.new_id(of);
                self.graph.gather(&node.name, places, from)
            }
        };
        self.graph.reshape(&node.name, shape, entries)
    }

    /// A wide node with each column multiplied by its factor.
    fn counted(&mut self, of: NodeId) -> NodeId {
        let shares = self.shares.unwrap_or_else(|| {
            let shape = Shape::new(1, self.picked.shares.len());
            self.graph.constant("shares", Values::new(shape, self.picked.shares.clone()))
        });
        self.shares = Some(shares);
        let of = self.new_id(of);
        self.graph.product("counted", of, shares)
    }
}
