//! A finished network.

use std::{fmt, sync::OnceLock};

use crate::{
    GraphBuilder, Input, Node, NodeId, Op, Parameter, ParameterId, SparseLayers, Unrecognised, Values,
    recognise::{check_arcs, recognise},
};

/// Nodes in the order they are computed, the weights to train, and the loss.
#[derive(Clone, PartialEq, Debug)]
pub struct Network {
    nodes: Vec<Node>,
    parameters: Vec<Parameter>,
    inputs: Vec<Input>,
    loss: NodeId,
    recognised: Recognised,
}

/// The results of recognition. They are determined by the graph, so comparisons ignore them. `Debug` omits them, because
/// digests are made of that text.
#[derive(Clone, Default)]
struct Recognised {
    layers: OnceLock<Result<SparseLayers, Unrecognised>>,
    arcs: OnceLock<Result<(), Unrecognised>>,
}

impl fmt::Debug for Recognised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_")
    }
}

impl PartialEq for Recognised {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Network {
    pub(crate) fn new(graph: GraphBuilder, loss: NodeId) -> Self {
        let GraphBuilder { nodes, parameters, inputs } = graph;
        Self { nodes, parameters, inputs, loss, recognised: Recognised::default() }
    }

    /// The sparse layers in the graph, recognised when they are first needed.
    ///
    /// # Errors
    /// The first node that does not fit.
    pub fn sparse_layers(&self) -> Result<&SparseLayers, &Unrecognised> {
        self.recognised.layers.get_or_init(|| recognise(self)).as_ref()
    }

    /// Checks, once, that every map over vertices lists the arcs that engines read from its table.
    ///
    /// # Errors
    /// The first map that lists other arcs, and the vertex at which it does.
    pub fn check_arcs(&self) -> Result<(), &Unrecognised> {
        let checked = self.recognised.arcs.get_or_init(|| check_arcs(self));
        checked.as_ref().copied()
    }

    /// The graph of a network, to build another one from.
    #[cfg(feature = "faults")]
    pub(crate) fn graph(&self) -> GraphBuilder {
        let Self { nodes, parameters, inputs, .. } = self.clone();
        GraphBuilder { nodes, parameters, inputs }
    }

    /// All nodes; every node comes after the nodes it is computed from.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// One node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// All nodes with their ids.
    pub fn numbered_nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.nodes.iter().enumerate().map(|(i, node)| (NodeId::new(i), node))
    }

    /// The first node with this name.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().position(|n| n.name == name).map(NodeId::new)
    }

    /// The trainable weights.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The ids of the trainable weights.
    pub fn parameter_ids(&self) -> impl ExactSizeIterator<Item = ParameterId> + use<> {
        (0..self.parameters.len()).map(ParameterId::new)
    }

    /// The units fed from outside.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The node that training minimises.
    pub fn loss(&self) -> NodeId {
        self.loss
    }

    /// Whether these values have the shapes of the network's parameters.
    pub fn fits_parameters(&self, values: &[Values]) -> bool {
        values.iter().map(|v| v.shape).eq(self.parameters.iter().map(|p| p.shape))
    }

    /// Whether these values have the shapes of the network's inputs.
    pub fn fits_inputs(&self, values: &[Values]) -> bool {
        values.iter().map(|v| v.shape).eq(self.inputs.iter().map(|i| i.shape))
    }

    /// For every node, whether a gradient flows through it: it depends on a parameter, and the loss depends on it, in both
    /// cases not only through a stop-gradient.
    pub fn differentiated(&self) -> Vec<bool> {
        let mut from_parameter = vec![false; self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            from_parameter[i] = match &node.op {
                Op::Parameter(_) => true,
                Op::StopGradient(_) | Op::Quantize(..) | Op::Dequantize(..) => false,
                op => op.operands().iter().any(|o| from_parameter[o.index()]),
            };
        }
        let to_loss = self.needed_up_to(&[self.loss], |id, _| !from_parameter[id.index()]);
        from_parameter.iter().zip(to_loss).map(|(&a, b)| a && b).collect()
    }

    /// For every node, whether one of these nodes depends on it. Dependencies are not followed beyond nodes at which
    /// `stops` is true.
    pub(crate) fn needed_up_to(&self, nodes: &[NodeId], stops: impl Fn(NodeId, &Node) -> bool) -> Vec<bool> {
        self.needed_by(nodes, |id, node| if stops(id, node) { Vec::new() } else { node.op.operands() })
    }

    /// The same if the dependencies of a node are those that `operands` returns.
    pub(crate) fn needed_by(
        &self,
        nodes: &[NodeId],
        operands: impl Fn(NodeId, &Node) -> Vec<NodeId>,
    ) -> Vec<bool> {
        let mut needed = vec![false; self.nodes.len()];
        nodes.iter().for_each(|id| needed[id.index()] = true);
        for (i, node) in self.nodes.iter().enumerate().rev() {
            if needed[i] {
                operands(NodeId::new(i), node).iter().for_each(|of| needed[of.index()] = true);
            }
        }
        needed
    }

    /// Whether the loss is piecewise linear in the parameters, with kinks only where an affine function of them changes
    /// sign. On such networks an exact line search finds every kink.
    pub fn is_piecewise_linear(&self) -> bool {
        // 0: constant, 1: affine in the parameters, 2: piecewise linear, 3: anything else.
        let mut degree = vec![0_u8; self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            let highest = node.op.operands().iter().map(|o| degree[o.index()]).max().unwrap_or(0);
            degree[i] = match &node.op {
                Op::Parameter(_) => 1,
                Op::Relu(_) if highest == 1 => 2,
                Op::Relu(_)
                | Op::Sqrt(_)
                | Op::Product(..)
                | Op::Quotient(..)
                | Op::MatMul(..)
                | Op::Quantize(..)
                | Op::Dequantize(..)
                | Op::Switch { .. }
                | Op::Select { .. }
                    if highest > 0 =>
                {
                    3
                }
                _ => highest,
            };
        }
        degree[self.loss.index()] < 3
    }
}

#[cfg(test)]
mod tests {
    use crate::{GraphBuilder, Network, NodeId, Shape, StepRule};

    fn one_parameter(build: impl FnOnce(&mut GraphBuilder, NodeId) -> NodeId) -> Network {
        let mut g = GraphBuilder::new();
        let (_, x) = g.parameter("x", Shape::SCALAR, StepRule::Simplex);
        let loss = build(&mut g, x);
        g.finish(loss)
    }

    #[test]
    fn differentiated_lies_between_parameters_and_loss() {
        let network = one_parameter(|g, x| {
            let doubled = g.affine("doubled", 2.0, x, 0.0);
            let fixed = g.stop_gradient("fixed", doubled);
            let behind = g.relu("behind the stop", fixed);
            let _ = g.relu("unused", x);
            let product = g.product("product", x, behind);
            g.sum_all("loss", product)
        });
        let yes: Vec<&str> = network
            .nodes()
            .iter()
            .zip(network.differentiated())
            .filter(|(_, yes)| *yes)
            .map(|(node, _)| node.name.as_str())
            .collect();
        assert_eq!(yes, ["x", "product", "loss"]);
    }

    #[test]
    fn piecewise_linear_means_one_layer_of_relus_on_the_parameters() {
        let linear =
            |build: fn(&mut GraphBuilder, NodeId) -> NodeId| one_parameter(build).is_piecewise_linear();
        assert!(linear(|_, x| x));
        assert!(linear(|g, x| {
            let inside = g.affine("inside", 2.0, x, -1.0);
            let relu = g.relu("relu", inside);
            g.sum("sum", [(1.0, relu), (3.0, x)])
        }));
        assert!(linear(|g, x| {
            let half = g.scalar("half", 0.5);
            let root = g.sqrt("of a constant", half);
            g.sum("sum", [(1.0, x), (1.0, root)])
        }));
        assert!(!linear(|g, x| g.square("square", x)));
        assert!(!linear(|g, x| g.sqrt("root", x)));
        assert!(!linear(|g, x| {
            let once = g.relu("once", x);
            g.relu("twice", once)
        }));
        assert!(!linear(|g, x| {
            let one = g.scalar("one", 1.0);
            g.select("select", x, one, x)
        }));
    }

    #[test]
    fn asking_for_layers_does_not_change_a_network() {
        let network = one_parameter(|g, x| g.relu("relu", x));
        let before = format!("{network:?}");
        let other = network.clone();
        let why = network.sparse_layers().expect_err("a single unit is no landscape");
        assert_eq!(why.to_string(), "node 1, relu `relu`, is not made of maps over vertices");
        assert_eq!((format!("{network:?}"), &network), (before, &other));
    }

    #[test]
    fn nodes_are_found_by_name() {
        let network = one_parameter(|g, x| g.relu("relu", x));
        assert_eq!(network.find("relu"), Some(network.loss()));
        assert_eq!(network.find("nothing"), None);
        assert_eq!(network.node(network.loss()).op.word(), "relu");
    }
}
