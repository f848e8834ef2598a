//! Counts the units of a network, their depth and the width of layers, in the graph and not by a formula.

use crate::{Network, NodeId, Op, Shape};

/// What a layer's units compute.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LayerKind {
    /// max(0, v).
    Relu,
    /// Products of two units.
    Product,
    /// Quotients of two units.
    Quotient,
    /// Square roots.
    Sqrt,
    /// Two products, one for each branch, whose weights add up to 1.
    Switch,
    /// Units that select one of two others.
    Select,
}

crate::names! {
    LayerKind, "kind of layer",
    Relu "relu", Product "product", Quotient "quotient", Sqrt "sqrt", Switch "switch", Select "select",
}

/// A named group of units of one kind. Linear maps and sums are the arcs between units, not units.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layer {
    /// The node.
    pub node: NodeId,
    /// Its name.
    pub name: String,
    /// What the units compute.
    pub kind: LayerKind,
    /// Number of units.
    pub n_units: usize,
    /// 1 for units computed from parameters and inputs alone, else one more than the deepest unit they need.
    pub depth: usize,
    before: Vec<usize>,
}

/// All units of a network that one of its nodes depends on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layers {
    /// The groups in order of computation.
    pub groups: Vec<Layer>,
}

impl Layers {
    /// Counts the units that a network's loss depends on.
    pub fn of(network: &Network) -> Self {
        Self::up_to(network, network.loss(), |_| false)
    }

    /// Counts the units that a node depends on, without the units of some nodes, as if their values were inputs.
    pub fn up_to(network: &Network, node: NodeId, leave_out: impl Fn(NodeId) -> bool) -> Self {
        let needed = network.needed_up_to(&[node], |_, _| false);
        let mut groups: Vec<Layer> = Vec::new();
        // For every node, the groups its value is made from without another unit in between.
        let mut sources: Vec<Vec<usize>> = Vec::with_capacity(network.nodes().len());
        for (id, node) in network.numbered_nodes() {
            let mut before: Vec<usize> =
                node.op.operands().iter().flat_map(|o| sources[o.index()].iter().copied()).collect();
            before.sort_unstable();
            before.dedup();
            match kind(network, &node.op).filter(|_| needed[id.index()]) {
                Some(_) if leave_out(id) => sources.push(Vec::new()),
                Some(kind) => {
                    let depth = before.iter().map(|&b| groups[b].depth).max().unwrap_or(0) + 1;
                    let (name, n_units) = (node.name.clone(), n_units(network, &node.op, node.shape));
                    groups.push(Layer { node: id, name, kind, n_units, depth, before });
                    sources.push(vec![groups.len() - 1]);
                }
                None => sources.push(before),
            }
        }
        Self { groups }
    }

    /// Number of units in all.
    pub fn n_units(&self) -> usize {
        self.groups.iter().map(|g| g.n_units).sum()
    }

    /// Number of layers: the most units on a path to the loss.
    pub fn depth(&self) -> usize {
        self.groups.iter().map(|g| g.depth).max().unwrap_or(0)
    }

    /// Arranges the groups in at most `most_layers` layers, as narrow as a greedy search can make them, and returns the
    /// number of units in each layer. A group may be in any layer after those it needs, and is never split.
    /// `None` if the network is deeper than that.
    pub fn arrange(&self, most_layers: usize) -> Option<Vec<usize>> {
        let latest = self.latest(most_layers)?;
        let widest_group = self.groups.iter().map(|g| g.n_units).max().unwrap_or(0);
        let (mut low, mut high) = (widest_group, self.n_units());
        let mut best = self.place(&latest, most_layers, high)?;
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.place(&latest, most_layers, middle) {
                Some(widths) => (best, high) = (widths, middle),
                None => low = middle + 1,
            }
        }
        while best.last() == Some(&0) {
            best.pop();
        }
        Some(best)
    }

    /// The last layer that each group may be in.
    fn latest(&self, most_layers: usize) -> Option<Vec<usize>> {
        let mut latest = vec![most_layers; self.groups.len()];
        for (i, group) in self.groups.iter().enumerate().rev() {
            for &b in &group.before {
                latest[b] = latest[b].min(latest[i].checked_sub(1)?);
            }
        }
        latest.iter().zip(&self.groups).all(|(&last, g)| g.depth <= last).then_some(latest)
    }

    /// Fills layer after layer up to `capacity`, the most urgent groups first.
    fn place(&self, latest: &[usize], most_layers: usize, capacity: usize) -> Option<Vec<usize>> {
        let mut placed = vec![0_usize; self.groups.len()];
        let mut widths = Vec::with_capacity(most_layers);
        for layer in 1..=most_layers {
            let ready = |i: usize| {
                placed[i] == 0 && self.groups[i].before.iter().all(|&b| (1..layer).contains(&placed[b]))
            };
            let mut candidates: Vec<usize> = (0..self.groups.len()).filter(|&i| ready(i)).collect();
            candidates.sort_by_key(|&i| (latest[i], std::cmp::Reverse(self.groups[i].n_units)));
            let mut width = 0;
            for i in candidates {
                if width + self.groups[i].n_units <= capacity {
                    width += self.groups[i].n_units;
                    placed[i] = layer;
                } else if latest[i] <= layer {
                    return None;
                }
            }
            widths.push(width);
        }
        placed.iter().all(|&layer| layer > 0).then_some(widths)
    }
}

/// One unit per entry; a product of matrices has one per product of two entries.
fn n_units(network: &Network, op: &Op, shape: Shape) -> usize {
    match op {
        Op::MatMul(a, _) => shape.len() * network.node(*a).shape.cols,
        Op::Switch { .. } => 2 * shape.len(),
        _ => shape.len(),
    }
}

/// The kind of unit an operation is, if it is one: a product with a constant is an arc.
fn kind(network: &Network, op: &Op) -> Option<LayerKind> {
    let constant = |node: &NodeId| matches!(network.node(*node).op, Op::Constant(_));
    match op {
        Op::Relu(_) => Some(LayerKind::Relu),
        Op::Product(a, b) | Op::MatMul(a, b) if !constant(a) && !constant(b) => Some(LayerKind::Product),
        Op::Quotient(_, b) if !constant(b) => Some(LayerKind::Quotient),
        Op::Sqrt(_) => Some(LayerKind::Sqrt),
        Op::Switch { .. } => Some(LayerKind::Switch),
        Op::Select { .. } => Some(LayerKind::Select),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GraphBuilder, LinearMap, Shape, StepRule};

    /// A parameter of `n` entries and what `build` makes of it.
    fn layers(n: usize, build: impl FnOnce(&mut GraphBuilder, NodeId) -> NodeId) -> Layers {
        let mut g = GraphBuilder::new();
        let (_, x) = g.parameter("x", Shape::column(n), StepRule::Simplex);
        let last = build(&mut g, x);
        let loss = g.sum_all("loss", last);
        Layers::of(&g.finish(loss))
    }

    fn listing(layers: &Layers) -> Vec<(&str, &str, usize, usize)> {
        layers.groups.iter().map(|g| (g.name.as_str(), g.kind.word(), g.n_units, g.depth)).collect()
    }

    #[test]
    fn units_are_counted_and_arcs_are_not() {
        let layers = layers(4, |g, x| {
            let half = g.scalar("half", 0.5);
            let scaled = g.product("an arc", x, half);
            let relu = g.relu("first", scaled);
            let narrowed = g.linear("arcs", LinearMap::new(3, 4, [(0, 0, 1.0), (2, 3, 1.0)]), relu);
            let root = g.sqrt("second", narrowed);
            let _ = g.relu("unused", root);
            let own = g.gather("own", vec![0, 1, 2], x);
            let product = g.product("third", root, own);
            let condition = g.sum_all("condition", relu);
            g.select("fourth", condition, product, own)
        });
        assert_eq!(
            listing(&layers),
            [
                ("first", "relu", 4, 1),
                ("second", "sqrt", 3, 2),
                ("third", "product", 3, 3),
                ("fourth", "select", 3, 4),
            ]
        );
        assert_eq!((layers.n_units(), layers.depth()), (13, 4));
        assert_eq!(layers.arrange(4), Some(vec![4, 3, 3, 3]));
        assert_eq!(layers.arrange(3), None);
    }

    #[test]
    fn a_network_without_units_has_no_layers() {
        let layers = layers(2, |_, x| x);
        assert_eq!((layers.n_units(), layers.depth(), layers.arrange(3)), (0, 0, Some(Vec::new())));
    }

    /// Two groups that could be in any layer, and a chain of two.
    #[test]
    fn groups_that_can_wait_fill_later_layers() {
        let layers = layers(3, |g, x| {
            let first = g.relu("chain", x);
            let second = g.relu("chain", first);
            let free: Vec<NodeId> = (0..2).map(|_| g.relu("free", x)).collect();
            g.sum("sum", [(1.0, second), (1.0, free[0]), (1.0, free[1])])
        });
        assert_eq!(layers.depth(), 2);
        assert_eq!(layers.arrange(2), Some(vec![6, 6]));
        assert_eq!(layers.arrange(4), Some(vec![3, 3, 3, 3]));
        assert_eq!(layers.arrange(9), Some(vec![3, 3, 3, 3]));
    }
}
