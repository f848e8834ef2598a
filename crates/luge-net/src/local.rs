//! The part of a network that one gradient step depends on: a few columns near the heads, cut out of the graph.
//!
//! A landscape has a column for every cell of a tape, and a column with no head near it adds exactly 0 to every sum. So a
//! few columns near the heads determine a step. This module checks node by node that columns and rows are not mixed in any
//! other way. Code that evaluates the cut must check that columns far from every head add 0, at the nodes in
//! [`Local::summed`].

use crate::{
    GraphBuilder, Input, InputId, Network, Node, NodeId, NotByColumns, Op, OutputWiring, ParameterId, Shape,
    SparseLayers, StepRule, Values,
};

/// The number of columns that are kept.
pub const LOCAL_COLUMNS: usize = 7;

/// A network's landscape with few columns, and the rest of the network as a function of the landscape's loss.
#[derive(Clone, Debug)]
pub struct Local {
    /// The landscape. Its loss is the landscape's.
    pub landscape: Part,
    /// The nodes of the landscape that are summed over columns or shifted. They must be 0 far from every head.
    pub summed: Vec<NodeId>,
    /// A column can depend on columns up to this far away.
    pub reach: usize,
    /// The network's loss as a function of the landscape's, which is a weight here; `None` if the landscape is the network.
    pub output: Option<Part>,
}

/// A part of a network, as a network of its own.
#[derive(Clone, Debug)]
pub struct Part {
    /// The part as a network.
    pub network: Network,
    /// The parameters of the whole network that its parameters are; `None` for a node that became a parameter.
    pub parameters: Vec<Option<ParameterId>>,
    /// The inputs of the whole network that its inputs are; `None` for a node that is no longer computed.
    inputs: Vec<Option<InputId>>,
    /// For every node of the whole network, the node of the part.
    ids: Vec<Option<NodeId>>,
}

impl Part {
    /// Cuts out the nodes that `root` depends on. The nodes in `cuts` become inputs and `moved` becomes a parameter; `narrow`
    /// returns the new shapes.
    fn cut(
        network: &Network,
        root: NodeId,
        (cuts, moved): (&[NodeId], Option<NodeId>),
        narrow: impl Fn(NodeId, Shape) -> Shape,
    ) -> Self {
        let needed = network.needed_up_to(&[root], |id, _| cuts.contains(&id) || moved == Some(id));
        let (mut g, mut ids) = (GraphBuilder::new(), vec![None; network.nodes().len()]);
        let (mut parameters, mut inputs) = (Vec::new(), Vec::new());
        // Cut nodes come first, in the given order, whether they are needed or not.
        for &cut in cuts {
            let Node { name, shape, .. } = network.node(cut);
            ids[cut.index()] = Some(g.input(name, narrow(cut, *shape)).1);
            inputs.push(None);
        }
        for (id, node) in network.numbered_nodes().filter(|(id, _)| needed[id.index()]) {
            let (name, shape) = (&node.name, narrow(id, node.shape));
            let new = match &node.op {
                _ if cuts.contains(&id) => continue,
                Op::Parameter(of) => {
                    parameters.push(Some(*of));
                    g.parameter(name, shape, network.parameters()[of.index()].step_rule).1
                }
                _ if moved == Some(id) => {
                    parameters.push(None);
                    g.parameter(name, shape, StepRule::Gradient { rate: 1.0 }).1
                }
                Op::Input(of) => {
                    inputs.push(Some(*of));
                    g.input(name, shape).1
                }
                op => {
                    g.push(name, op.with_operands(|of| ids[of.index()].expect("operands come first")), shape)
                }
            };
            ids[id.index()] = Some(new);
        }
        let loss = ids[root.index()].expect("the root is needed");
        Self { network: Network::new(g, loss), parameters, inputs, ids }
    }

    /// The inputs of the part for inputs of the whole network. Inputs that replace cut nodes are NaN.
    pub fn fed(&self, inputs: &[Values]) -> Vec<Values> {
        let own = self.network.inputs().iter().zip(&self.inputs);
        let nothing = |input: &Input| Values::filled(input.shape, f64::NAN);
        own.map(|(input, of)| of.map_or_else(|| nothing(input), |id| inputs[id.index()].clone())).collect()
    }
}

impl Local {
    /// Cuts a recognised network.
    ///
    /// # Errors
    /// If a node of the landscape mixes columns or rows, or a weight of the landscape reaches the loss by another path.
    pub fn of(network: &Network, layers: &SparseLayers) -> Result<Self, NotByColumns> {
        let root = layers.output.map_or(network.loss(), |output| output.landscape);
        let (wide, summed, reach) = follow(network, layers, root)?;
        let narrow = |id: NodeId, shape: Shape| {
            if wide[id.index()] { Shape::new(shape.rows, LOCAL_COLUMNS) } else { shape }
        };
        let landscape = Part::cut(network, root, (layers.fixed_cells.as_slice(), None), narrow);
        let summed = summed.into_iter().filter_map(|id| landscape.ids[id.index()]).collect();
        let output = layers.output.map(|output| Self::around(network, output)).transpose()?;
        Ok(Self { landscape, summed, reach, output })
    }

    /// The network outside a landscape, as a function of the landscape's loss, the labels and the inputs. The primary network
    /// becomes an input.
    fn around(network: &Network, output: OutputWiring) -> Result<Part, NotByColumns> {
        let cuts = (&[output.primary][..], Some(output.landscape));
        let part = Part::cut(network, network.loss(), cuts, |_, shape| shape);
        let labels_only = part.parameters.iter().flatten().all(|&id| id == output.labels);
        if labels_only { Ok(part) } else { Err(NotByColumns::mixes(network, network.loss())) }
    }
}

/// Follows the columns of cells and heads through the landscape. An entry may depend on its own row in nearby columns, and
/// on nodes without columns, such as sums over columns. Returns which nodes have columns, which are summed or shifted, and
/// how far columns depend on others.
fn follow(
    network: &Network,
    layers: &SparseLayers,
    root: NodeId,
) -> Result<(Vec<bool>, Vec<NodeId>, usize), NotByColumns> {
    let needed = network.needed_up_to(&[root], |id, _| layers.fixed_cells == Some(id));
    let mut wide = vec![false; network.nodes().len()];
    let mut shifted = vec![0_usize; network.nodes().len()];
    let mut summed = Vec::new();
    for (id, node) in network.numbered_nodes().filter(|(id, _)| needed[id.index()]) {
        let operands = node.op.operands();
        let is_wide = |of: &NodeId| wide[of.index()];
        let has_wide = operands.iter().any(is_wide);
        let fits = |of: &NodeId| {
            let Shape { rows, cols } = network.node(*of).shape;
            let column = cols == 1 && (rows == node.shape.rows || rows == 1);
            if is_wide(of) { rows == node.shape.rows } else { column }
        };
        // A sum over columns has no columns of its own, so distances start from 0 again after it.
        let wide_operands = operands.iter().filter(|of| wide[of.index()]);
        shifted[id.index()] = wide_operands.map(|of| shifted[of.index()]).max().unwrap_or(0);
        let becomes_wide = match &node.op {
            _ if layers.fixed_cells == Some(id) => true,
            Op::Parameter(of) => *of == layers.head || Some(*of) == layers.cells,
            _ if !has_wide => false,
            Op::SumColumns(of) | Op::SumAll(of) => {
                summed.push(*of);
                false
            }
            Op::Sum(_) | Op::Product(..) | Op::Relu(_) | Op::StopGradient(_) if operands.iter().all(fits) => {
                true
            }
            Op::Stack(upper, lower) if is_wide(upper) && is_wide(lower) => true,
            Op::Shift(by, of) => {
                summed.push(*of);
                shifted[id.index()] += usize::try_from(by.unsigned_abs()).unwrap_or(usize::MAX);
                true
            }
            _ => return Err(NotByColumns::mixes(network, id)),
        };
        wide[id.index()] = becomes_wide;
    }
    let columns_away = shifted.iter().zip(&wide).filter(|(_, wide)| **wide).map(|(away, _)| *away);
    let reach = columns_away.max().unwrap_or(0);
    // There must be a column beyond the reach of a head in the middle.
    if reach > LOCAL_COLUMNS / 2 - 1 {
        return Err(NotByColumns::mixes(network, root));
    }
    summed.sort_unstable();
    summed.dedup();
    Ok((wide, summed, reach))
}
