//! A network around its heads: the parts that one gradient step depends on, cut out of the graph.
//!
//! A landscape has a column for every cell of a tape, and where no head is near, a column adds exactly 0 to every sum. So what a step does
//! can be seen on a few columns around the heads. That no node mixes columns or rows in another way is followed here, node by node; that
//! the columns far from every head add 0 is for whoever evaluates the cut to see, at the nodes that are listed for it.

use crate::{
    Input, InputId, Network, Node, NodeId, NotByColumns, Op, OutputWiring, Parameter, ParameterId, Shape,
    SparseLayers, StepRule, Values,
};

/// How many columns are kept.
pub const LOCAL_COLUMNS: usize = 7;

/// The landscape of a network on a few columns, and what is built around it as a function of the landscape's loss alone.
#[derive(Clone, Debug)]
pub struct Local {
    /// The landscape. Its loss is the landscape's.
    pub landscape: Part,
    /// Nodes of the landscape that are summed over columns or shifted: far from every head they must be 0.
    pub summed: Vec<NodeId>,
    /// How many columns away another column can matter.
    pub reach: usize,
    /// From the landscape's loss, here a weight, to the network's; `None` where the landscape is the network.
    pub output: Option<Part>,
}

/// A part of a network that stands alone.
#[derive(Clone, Debug)]
pub struct Part {
    /// The part as a network.
    pub network: Network,
    /// Which blocks of weights of the whole it has, in its order; `None` for a node of the whole that has become one.
    pub parameters: Vec<Option<ParameterId>>,
    /// What its inputs stand for, in order.
    pub inputs: Vec<PartInput>,
    /// For every node of the whole, the node of the part.
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
    /// The node of the part that stands for one of the whole.
    pub fn id(&self, node: NodeId) -> Option<NodeId> {
        self.ids[node.index()]
    }

    /// The nodes that `root` is computed from, with `cuts` as inputs and `moved` as a weight; wide shapes become narrow.
    fn cut(
        network: &Network,
        root: NodeId,
        (cuts, moved): (&[NodeId], Option<NodeId>),
        narrow: impl Fn(NodeId, Shape) -> Shape,
    ) -> Self {
        let needed = network.needed_by(&[root], |id, node| match cuts.contains(&id) || moved == Some(id) {
            true => Vec::new(),
            false => node.op.operands(),
        });
        let (mut nodes, mut parameters, mut inputs) = (Vec::new(), Vec::new(), Vec::new());
        let (mut of_parameters, mut of_inputs) = (Vec::new(), Vec::new());
        let mut ids: Vec<Option<NodeId>> = Vec::with_capacity(network.nodes().len());
        // What is cut comes first, in the order asked for, whether it is needed or not.
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
    /// If a node of the landscape mixes columns or rows, or a weight of the landscape reaches the loss on another way.
    pub fn of(network: &Network, layers: &SparseLayers) -> Result<Self, NotByColumns> {
        let root = layers.joint.map_or(network.loss(), |joint| joint.landscape);
        let cuts: Vec<NodeId> = layers.fixed_cells.into_iter().collect();
        let Followed { wide, summed, reach } = follow(network, layers, root)?;
        let narrow = |id: NodeId, shape: Shape| match wide[id.index()] {
            true => Shape::new(shape.rows, LOCAL_COLUMNS),
            false => shape,
        };
        let landscape = Part::cut(network, root, (&cuts, None), narrow);
        let summed = summed.into_iter().filter_map(|id| landscape.id(id)).collect();
        let output = layers.joint.map(|joint| Self::around(network, joint)).transpose()?;
        Ok(Self { landscape, summed, reach, output })
    }

    /// What is built around a landscape: a function of the landscape's loss, the labels and what is fed, once the primary network does not
    /// count.
    fn around(network: &Network, joint: OutputWiring) -> Result<Part, NotByColumns> {
        let cuts = (&[joint.primary][..], Some(joint.landscape));
        let part = Part::cut(network, network.loss(), cuts, |_, shape| shape);
        match part.parameters.iter().flatten().any(|&id| id != joint.labels) {
            true => Err(NotByColumns::mixes(network, network.loss())),
            false => Ok(part),
        }
    }
}

/// What following the columns has shown.
struct Followed {
    wide: Vec<bool>,
    summed: Vec<NodeId>,
    reach: usize,
}

/// Follows the columns of cells and heads to the landscape. An entry may depend on its own row and on columns near its own, and on nodes
/// without columns; sums over columns have none.
fn follow(network: &Network, layers: &SparseLayers, root: NodeId) -> Result<Followed, NotByColumns> {
    let needed = network.needed_by(&[root], |id, node| match layers.fixed_cells == Some(id) {
        true => Vec::new(),
        false => node.op.operands(),
    });
    let mut wide = vec![false; network.nodes().len()];
    let mut shifted = vec![0_usize; network.nodes().len()];
    let mut summed = Vec::new();
    for (id, node) in network.numbered_nodes().filter(|(id, _)| needed[id.index()]) {
        let operands = node.op.operands();
        let is_wide = |of: &NodeId| wide[of.index()];
        let has_wide = operands.iter().any(is_wide);
        // A sum has no columns of its own: beyond it counting begins anew.
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
    // A head in the middle must see as far as it reaches, and a column beyond that must be there.
    if reach > LOCAL_COLUMNS / 2 - 1 {
        return Err(NotByColumns::mixes(network, root));
    }
    summed.sort_unstable();
    summed.dedup();
    Ok(Followed { wide, summed, reach })
}

impl Part {
    /// The inputs of the part, where the whole is fed these; those that are cut are not numbers.
    pub fn fed(&self, inputs: &[Values]) -> Vec<Values> {
        let shapes = self.network.inputs().iter().map(|input| input.shape);
        let value = |(shape, of): (Shape, &PartInput)| match *of {
            PartInput::Fed(id) => inputs[id.index()].clone(),
            PartInput::Cut(_) => Values::filled(shape, f64::NAN),
        };
        shapes.zip(&self.inputs).map(value).collect()
    }
}
