//! Matches one node at a time with what it must be.

use std::sync::Arc;

use super::Unrecognised;
use crate::{
    Arcs, InputId, LinearMap, Network, Node, NodeId, Op, ParameterId, Shape, StepRule, Values, VertexTable,
};

/// Looks at the nodes of a network. Every question names what is expected, for the answer that it is not.
pub(super) struct Walk<'n> {
    network: &'n Network,
}

pub(super) type Found<T> = Result<T, Unrecognised>;

/// Whether two numbers are the same; 0 and -0 are.
pub(super) fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 0.0
}

impl<'n> Walk<'n> {
    pub(super) fn new(network: &'n Network) -> Self {
        Self { network }
    }

    pub(super) fn network(&self) -> &'n Network {
        self.network
    }

    pub(super) fn op(&self, node: NodeId) -> &'n Op {
        &self.network.node(node).op
    }

    pub(super) fn shape(&self, node: NodeId) -> Shape {
        self.network.node(node).shape
    }

    /// The node is something else.
    pub(super) fn refuse<T>(&self, node: NodeId, expected: &'static str) -> Found<T> {
        let found = self.network.node(node);
        Err(Unrecognised {
            node: node.index(),
            name: found.name.clone(),
            found: found.op.word(),
            expected: expected.into(),
        })
    }

    /// The node of a parameter is something else.
    pub(super) fn refuse_parameter<T>(&self, parameter: ParameterId, expected: &'static str) -> Found<T> {
        let mut nodes = self.network.numbered_nodes();
        let node = nodes.find(|(_, node)| matches!(node.op, Op::Parameter(id) if id == parameter));
        self.refuse(node.map_or(self.network.loss(), |(id, _)| id), expected)
    }

    pub(super) fn require(&self, holds: bool, node: NodeId, expected: &'static str) -> Found<()> {
        if holds { Ok(()) } else { self.refuse(node, expected) }
    }

    /// A number that was read must be one.
    pub(super) fn finite(&self, number: f64, node: NodeId) -> Found<f64> {
        self.require(number.is_finite(), node, "made of finite numbers")?;
        Ok(number)
    }

    /// What `pick` finds in a node's operation.
    pub(super) fn pick<T>(
        &self,
        node: NodeId,
        expected: &'static str,
        pick: impl FnOnce(&'n Op) -> Option<T>,
    ) -> Found<T> {
        pick(self.op(node)).map_or_else(|| self.refuse(node, expected), Ok)
    }

    pub(super) fn constant(&self, node: NodeId, expected: &'static str) -> Found<&'n Values> {
        self.pick(node, expected, |op| if let Op::Constant(values) = op { Some(values) } else { None })
    }

    pub(super) fn input(&self, node: NodeId, expected: &'static str) -> Found<InputId> {
        self.pick(node, expected, |op| if let Op::Input(id) = op { Some(*id) } else { None })
    }

    pub(super) fn reshaped(&self, node: NodeId, expected: &'static str) -> Found<NodeId> {
        self.pick(node, expected, |op| if let Op::Reshape(of) = op { Some(*of) } else { None })
    }

    pub(super) fn sum(&self, node: NodeId, expected: &'static str) -> Found<&'n [(f64, NodeId)]> {
        self.pick(node, expected, |op| if let Op::Sum(terms) = op { Some(&terms[..]) } else { None })
    }

    /// The value of a constant scalar.
    pub(super) fn scalar(&self, node: NodeId, expected: &'static str) -> Found<f64> {
        match self.op(node) {
            Op::Constant(Values { shape: Shape::SCALAR, data }) => self.finite(data[0], node),
            _ => self.refuse(node, expected),
        }
    }

    /// `weight * of + bias`: (weight, of, bias).
    pub(super) fn affine(&self, node: NodeId, expected: &'static str) -> Found<(f64, NodeId, f64)> {
        let [(weight, of), (bias, one)] = *self.sum(node, expected)? else {
            return self.refuse(node, expected);
        };
        let bias = bias * self.scalar(one, expected)?;
        Ok((self.finite(weight, node)?, of, self.finite(bias, node)?))
    }

    /// `weight * of + bias` with these very numbers: of.
    pub(super) fn affine_of(
        &self,
        node: NodeId,
        (weight, bias): (f64, f64),
        expected: &'static str,
    ) -> Found<NodeId> {
        let (found, of, constant) = self.affine(node, expected)?;
        self.require(same(found, weight) && same(constant, bias), node, expected)?;
        Ok(of)
    }

    /// `first * a + second * b` with these very weights: (a, b).
    pub(super) fn pair(
        &self,
        node: NodeId,
        (first, second): (f64, f64),
        expected: &'static str,
    ) -> Found<(NodeId, NodeId)> {
        match *self.sum(node, expected)? {
            [(u, a), (v, b)] if same(u, first) && same(v, second) => Ok((a, b)),
            _ => self.refuse(node, expected),
        }
    }

    pub(super) fn product(&self, node: NodeId, expected: &'static str) -> Found<(NodeId, NodeId)> {
        self.pick(node, expected, |op| if let Op::Product(a, b) = op { Some((*a, *b)) } else { None })
    }

    pub(super) fn relu(&self, node: NodeId, expected: &'static str) -> Found<NodeId> {
        self.pick(node, expected, |op| if let Op::Relu(of) = op { Some(*of) } else { None })
    }

    pub(super) fn sum_all(&self, node: NodeId, expected: &'static str) -> Found<NodeId> {
        self.pick(node, expected, |op| if let Op::SumAll(of) = op { Some(*of) } else { None })
    }

    pub(super) fn sum_columns(&self, node: NodeId, expected: &'static str) -> Found<NodeId> {
        self.pick(node, expected, |op| if let Op::SumColumns(of) = op { Some(*of) } else { None })
    }

    pub(super) fn stopped(&self, node: NodeId, expected: &'static str) -> Found<NodeId> {
        self.pick(node, expected, |op| if let Op::StopGradient(of) = op { Some(*of) } else { None })
    }

    /// The sum of all squares of a node: that node.
    pub(super) fn squares(&self, node: NodeId, expected: &'static str) -> Found<NodeId> {
        let (a, b) = self.product(self.sum_all(node, expected)?, expected)?;
        self.require(a == b, node, expected)?;
        Ok(a)
    }

    /// The squared distance of two nodes: these nodes.
    pub(super) fn squared_distance(&self, node: NodeId, expected: &'static str) -> Found<(NodeId, NodeId)> {
        let (a, b) = self.pair(self.squares(node, expected)?, (1.0, -1.0), expected)?;
        self.require(self.shape(a) == self.shape(b), node, expected)?;
        Ok((a, b))
    }

    pub(super) fn parameter(&self, node: NodeId, expected: &'static str) -> Found<ParameterId> {
        self.pick(node, expected, |op| if let Op::Parameter(id) = op { Some(*id) } else { None })
    }

    /// A parameter that moves against its gradient: it, and its rate.
    pub(super) fn descending(&self, node: NodeId, expected: &'static str) -> Found<(ParameterId, f64)> {
        let id = self.parameter(node, expected)?;
        match self.network.parameters()[id.index()].step_rule {
            StepRule::Gradient { rate } => Ok((id, self.finite(rate, node)?)),
            StepRule::Simplex => self.refuse(node, expected),
        }
    }

    /// A parameter that moves against its gradient with rate 1.
    pub(super) fn unit_rate(&self, node: NodeId, expected: &'static str) -> Found<ParameterId> {
        let (id, rate) = self.descending(node, expected)?;
        self.require(same(rate, 1.0), node, "weights that move with rate 1")?;
        Ok(id)
    }

    pub(super) fn linear(&self, node: NodeId, expected: &'static str) -> Found<(&'n LinearMap, NodeId)> {
        self.pick(node, expected, |op| if let Op::Linear(map, of) = op { Some((map, *of)) } else { None })
    }

    /// Arcs of a table of vertices, with the constant that is added to every output.
    pub(super) fn biased_arcs(
        &self,
        node: NodeId,
        expected: &'static str,
    ) -> Found<(&'n Arc<VertexTable>, Arcs, f64, NodeId)> {
        let (map, of) = self.linear(node, expected)?;
        match (map.as_arcs(), map.same_bias()) {
            (Some((table, arcs)), Some(bias)) => Ok((table, arcs, bias, of)),
            _ => self.refuse(node, expected),
        }
    }

    /// Arcs of a table of vertices, nothing added.
    pub(super) fn arcs(
        &self,
        node: NodeId,
        expected: &'static str,
    ) -> Found<(&'n Arc<VertexTable>, Arcs, NodeId)> {
        let (table, arcs, bias, of) = self.biased_arcs(node, expected)?;
        self.require(same(bias, 0.0), node, expected)?;
        Ok((table, arcs, of))
    }

    /// These very arcs of this very table: what they are applied to.
    pub(super) fn arcs_of(
        &self,
        node: NodeId,
        (table, arcs): (&Arc<VertexTable>, Arcs),
        expected: &'static str,
    ) -> Found<NodeId> {
        let (found, which, of) = self.arcs(node, expected)?;
        self.require(same_table(found, table) && which == arcs, node, expected)?;
        Ok(of)
    }

    /// No parameters but these have an influence on the node's value.
    pub(super) fn depends_only_on(
        &self,
        node: NodeId,
        allowed: &[Option<ParameterId>],
        expected: &'static str,
    ) -> Found<()> {
        let mut influences = self.influences(node, |_| false).into_iter();
        self.require(influences.all(|id| allowed.contains(&Some(id))), node, expected)
    }

    /// The node has no derivative with respect to any parameter.
    pub(super) fn has_no_gradient(&self, node: NodeId, expected: &'static str) -> Found<()> {
        let stops = |op: &Op| matches!(op, Op::StopGradient(_) | Op::Quantize(..) | Op::Dequantize(..));
        self.require(self.influences(node, stops).is_empty(), node, expected)
    }

    /// The parameters from which a node is reached, not through operations that stop.
    fn influences(&self, node: NodeId, stops: impl Fn(&Op) -> bool) -> Vec<ParameterId> {
        let reached = self.network.needed_by(&[node], |_, node| match stops(&node.op) {
            true => Vec::new(),
            false => node.op.operands(),
        });
        let parameter = |(node, reached): (&Node, bool)| match node.op {
            Op::Parameter(id) if reached => Some(id),
            _ => None,
        };
        self.network.nodes().iter().zip(reached).filter_map(parameter).collect()
    }
}

/// Whether two tables have the same arcs.
pub(super) fn same_table(a: &Arc<VertexTable>, b: &Arc<VertexTable>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}
