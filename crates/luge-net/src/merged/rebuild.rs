//! Rebuilds a graph with the selected columns.

use super::{Columns, Merged, partition::Kinds};
use crate::{GraphBuilder, LinearMap, Network, Node, NodeId, NumberFormat, Op, Parameter, Shape, Values};

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
    let (network, n_columns, width) = (columns.network, columns.n_columns, picked.columns.len());
    let narrowed = |shape: Shape| if shape.cols == n_columns { Shape::new(shape.rows, width) } else { shape };
    let parameters =
        network.parameters().iter().map(|p| Parameter { shape: narrowed(p.shape), ..p.clone() }).collect();
    let mut g = GraphBuilder { nodes: Vec::new(), parameters, inputs: network.inputs().to_vec() };
    let needed = needed(columns, also);
    let mut ids: Vec<Option<NodeId>> = vec![None; network.nodes().len()];
    // The factor of each column in sums.
    let mut shares = None;
    for (id, node) in network.numbered_nodes().filter(|(id, _)| needed[id.index()]) {
        let new = |of: &NodeId| ids[of.index()].expect("operands come first");
        let wide = |of: &NodeId| columns.wide[of.index()];
        let shape = if wide(&id) { Shape::new(node.shape.rows, width) } else { node.shape };
        let mut counted = |g: &mut GraphBuilder, of: &NodeId| {
            let factors = || Values::new(Shape::new(1, width), picked.shares.clone());
            let shares = *shares.get_or_insert_with(|| g.constant("shares", factors()));
            g.product("counted", new(of), shares)
        };
        let op = match &node.op {
            Op::Reshape(of) if wide(&id) => {
                let rows = 0..node.shape.rows;
                let in_row = |row: usize| picked.columns.iter().map(move |c| c.map(|c| row * n_columns + c));
                let places: Vec<Option<usize>> = rows.flat_map(in_row).collect();
                Op::Reshape(match &network.node(*of).op {
                    Op::Linear(map, from) => {
                        let map = map.to_outputs(&places);
                        match &network.node(*from).op {
                            Op::Quantize(format, numbers) => {
                                linear_of_bits(&mut g, &node.name, &map, *format, new(numbers))
                            }
                            _ => g.linear(&node.name, map, new(from)),
                        }
                    }
                    // Columns beyond the border have the factor 0, so any entry will do there.
                    _ => g.gather(
                        &node.name,
                        places.into_iter().map(Option::unwrap_or_default).collect(),
                        new(of),
                    ),
                })
            }
            Op::SumColumns(of) if wide(of) => Op::SumColumns(counted(&mut g, of)),
            Op::SumAll(of) if wide(of) => Op::SumAll(counted(&mut g, of)),
            Op::Gather(positions, of) if wide(of) => {
                let column = |at: usize| kinds.kinds[kinds.of(at % n_columns)].place;
                let positions = positions.iter().map(|&at| at / n_columns * width + column(at));
                Op::Gather(positions.collect(), new(of))
            }
            op => op.with_operands(|of| new(&of)),
        };
        ids[id.index()] = Some(g.push(&node.name, op, shape));
    }
    let loss = ids[network.loss().index()].expect("the loss is needed");
    let ids = ids.into_iter().zip(&columns.wide).map(|(id, wide)| id.filter(|_| !wide)).collect();
    let network = Network::new(g, loss);
    Merged { network, ids, n_columns, picked: picked.columns, kinds: kinds.kinds }
}

/// A linear map of the bits of numbers. All bits together are many times as large as the numbers, so only those of
/// numbers that the map depends on are computed.
fn linear_of_bits(
    g: &mut GraphBuilder,
    name: &str,
    map: &LinearMap,
    format: NumberFormat,
    numbers: NodeId,
) -> NodeId {
    let (width, entries) = (format.n_bits() as usize, map.entries());
    let mut used: Vec<usize> = entries.iter().map(|&(_, bit, _)| bit as usize / width).collect();
    used.sort_unstable();
    used.dedup();
    if used.is_empty() {
        used.push(0);
    }
    let place = |bit: usize| used.partition_point(|&number| number < bit / width) * width + bit % width;
    let entries = entries.iter().map(|&(row, bit, weight)| (row as usize, place(bit as usize), weight));
    let map = LinearMap::new(map.n_outputs(), used.len() * width, entries).with_bias(map.bias().into_owned());
    let numbers = g.gather(name, used, numbers);
    let bits = g.quantize(name, format, numbers);
    g.linear(name, map, bits)
}

/// The nodes that the loss and others depend on. Of a reshaped linear map only the operand is needed, and of bits only
/// the numbers.
fn needed(columns: &Columns<'_>, also: &[NodeId]) -> Vec<bool> {
    let network = columns.network;
    let operands = |id: NodeId, node: &Node| match (&node.op, columns.wide[id.index()]) {
        (Op::Reshape(of), true) => match &network.node(*of).op {
            Op::Linear(_, from) => match &network.node(*from).op {
                Op::Quantize(_, numbers) => vec![*numbers],
                _ => vec![*from],
            },
            _ => vec![*of],
        },
        (op, _) => op.operands(),
    };
    network.needed_by(&[also, &[network.loss()]].concat(), operands)
}
