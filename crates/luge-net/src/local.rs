//! The part of a network that one gradient step depends on: a few columns near the heads, cut out of the graph.
//!
//! A landscape has a column for every cell of a tape, and a column with no head near it adds exactly 0 to every sum. So a
//! few columns near the heads determine a step. This module checks node by node that columns and rows are not mixed in any
//! other way. Code that evaluates the cut must check that columns far from every head add 0, at the nodes in
//! [`Local::summed`].

use crate::{
    Input, InputId, Network, Node, NodeId, NotByColumns, Op, OutputWiring, Parameter, ParameterId, Shape,
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
    /// The origin of each input.
    pub inputs: Vec<PartInput>,
    /// For every node of the whole network, the node of the part.
    ids: Vec<Option<NodeId>>,
}

/// An input of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartInput {
    /// An input of the whole.
    Fed(InputId),
    /// A node of the whole that is no longer computed.
    Cut(NodeId),
}

impl Part {
    /// The node of the part for a node of the whole network.
    pub fn id(&self, node: NodeId) -> Option<NodeId> {
        self.ids[node.index()]
    }

    /// Cuts out the nodes that `root` depends on. The nodes in `cuts` become inputs and `moved` becomes a parameter; `narrow`
    /// returns the new shapes.
    fn cut(
        network: &Network,
        root: NodeId,
        (cuts, moved): (&[NodeId], Option<NodeId>),
        narrow: impl Fn(NodeId, Shape) -> Shape,
    ) -> Self {
        let needed = network.needed_up_to(&[root], |id, _| cuts.contains(&id) || moved == Some(id));
        let (mut nodes, mut parameters, mut inputs) = (Vec::new(), Vec::new(), Vec::new());
        let (mut of_parameters, mut of_inputs) = (Vec::new(), Vec::new());
        let mut ids: Vec<Option<NodeId>> = Vec::with_capacity(network.nodes().len());
        // Cut nodes come first, in the given order, whether they are needed or not.
        for &cut in cuts {
            let Node { name, shape, .. } = network.node(cut);
            inputs.push(Input { name: name.clone(), shape: narrow(cut, *shape) });
            of_inputs.push(PartInput::Cut(cut));
        }
        for (id, node) in network.numbered_nodes() {
            if !needed[id.index()] {
                ids.push(None);
                continue;
            }
            let shape = narrow(id, node.shape);
            let op = match &node.op {
                _ if cuts.contains(&id) => {
                    Op::Input(InputId::new(cuts.iter().position(|&cut| cut == id).unwrap_or(0)))
                }
                Op::Parameter(of) => {
                    let Parameter { name, step_rule, .. } = &network.parameters()[of.index()];
                    parameters.push(Parameter { name: name.clone(), shape, step_rule: *step_rule });
                    of_parameters.push(Some(*of));
                    Op::Parameter(ParameterId::new(parameters.len() - 1))
                }
                _ if moved == Some(id) => {
                    let step_rule = StepRule::Gradient { rate: 1.0 };
                    parameters.push(Parameter { name: node.name.clone(), shape, step_rule });
                    of_parameters.push(None);
                    Op::Parameter(ParameterId::new(parameters.len() - 1))
                }
                Op::Input(of) => {
                    inputs.push(Input { name: network.inputs()[of.index()].name.clone(), shape });
                    of_inputs.push(PartInput::Fed(*of));
                    Op::Input(InputId::new(inputs.len() - 1))
                }
                op => op.with_operands(|of| ids[of.index()].expect("operands come first")),
            };
            nodes.push(Node { name: node.name.clone(), op, shape });
            ids.push(Some(NodeId::new(nodes.len() - 1)));
        }
        let loss = ids[root.index()].expect("the root is needed");
        let network = Network::new(nodes, parameters, inputs, loss);
        Self { network, parameters: of_parameters, inputs: of_inputs, ids }
    }
}

impl Local {
    /// Cuts a recognised network.
    ///
    /// # Errors
    /// If a node of the landscape mixes columns or rows, or a weight of the landscape reaches the loss by another path.
    pub fn of(network: &Network, layers: &SparseLayers) -> Result<Self, NotByColumns> {
        let root = layers.output.map_or(network.loss(), |output| output.landscape);
        let Followed { wide, summed, reach } = follow(network, layers, root)?;
        let narrow = |id: NodeId, shape: Shape| {
            if wide[id.index()] { Shape::new(shape.rows, LOCAL_COLUMNS) } else { shape }
        };
        let landscape = Part::cut(network, root, (layers.fixed_cells.as_slice(), None), narrow);
        let summed = summed.into_iter().filter_map(|id| landscape.id(id)).collect();
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

/// The result of [`follow`].
struct Followed {
    wide: Vec<bool>,
    summed: Vec<NodeId>,
    reach: usize,
}

/// Follows the columns of cells and heads through the landscape. An entry may depend on its own row in nearby columns, and
/// on nodes without columns, such as sums over columns.
fn follow(network: &Network, layers: &SparseLayers, root: NodeId) -> Result<Followed, NotByColumns> {
    let needed = network.needed_up_to(&[root], |id, _| layers.fixed_cells == Some(id));
    let mut wide = vec![false; network.nodes().len()];
    let mut shifted = vec![0_usize; network.nodes().len()];
    let mut summed = Vec::new();
    for (id, node) in network.numbered_nodes().filter(|(id, _)| needed[id.index()]) {
        let operands = node.op.operands();
        let is_wide = |of: &NodeId| wide[of.index()];
        let has_wide = operands.iter().any(is_wide);
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
            Op::Sum(_) | Op::Product(..) | Op::Relu(_) | Op::StopGradient(_) => {
                let fits = |of: &NodeId| {
                    let Shape { rows, cols } = network.node(*of).shape;
                    let column = cols == 1 && (rows == node.shape.rows || rows == 1);
                    if is_wide(of) { rows == node.shape.rows } else { column }
                };
                if !operands.iter().all(fits) {
                    return Err(NotByColumns::mixes(network, id));
                }
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
    Ok(Followed { wide, summed, reach })
}

impl Part {
    /// The inputs of the part for inputs of the whole network. Inputs that replace cut nodes are NaN.
    pub fn fed(&self, inputs: &[Values]) -> Vec<Values> {
        let shapes = self.network.inputs().iter().map(|input| input.shape);
        let value = |(shape, of): (Shape, &PartInput)| match *of {
            PartInput::Fed(id) => inputs[id.index()].clone(),
            PartInput::Cut(_) => Values::filled(shape, f64::NAN),
        };
        shapes.zip(&self.inputs).map(value).collect()
    }
}
