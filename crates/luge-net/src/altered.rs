//! Networks with one change, for tests that must detect it. Only in builds with the feature `faults`.

use crate::{Network, Node, NodeId, Op, ParameterId, StepRule};

impl Network {
    /// The same network with another operation at one node.
    ///
    /// # Panics
    /// If an operand does not come before the node.
    pub fn with_op(&self, node: NodeId, op: Op) -> Self {
        assert!(op.operands().iter().all(|&operand| operand < node), "operands come before their node");
        let (mut nodes, parameters, inputs, loss) = self.parts();
        nodes[node.index()].op = op;
        Self::new(nodes, parameters, inputs, loss)
    }

    /// The same network with another step rule for one block of weights.
    pub fn with_step_rule(&self, parameter: ParameterId, step_rule: StepRule) -> Self {
        let (nodes, mut parameters, inputs, loss) = self.parts();
        parameters[parameter.index()].step_rule = step_rule;
        Self::new(nodes, parameters, inputs, loss)
    }

    /// The same network with a stop-gradient inserted between a node and one of its operands.
    pub fn with_stop_before(&self, node: NodeId, operand: usize) -> Self {
        let (nodes, parameters, inputs, loss) = self.parts();
        let moved = |id: NodeId| if id >= node { NodeId::new(id.index() + 1) } else { id };
        let mut altered = Vec::with_capacity(nodes.len() + 1);
        for (i, mut found) in nodes.into_iter().enumerate() {
            let stop = NodeId::new(altered.len());
            if i == node.index() {
                let of = found.op.operands()[operand];
                let shape = self.node(of).shape;
                altered.push(Node { name: "planted".to_owned(), op: Op::StopGradient(of), shape });
            }
            let operands = found.op.operands_mut().into_iter().enumerate();
            for (position, id) in operands {
                *id = if i == node.index() && position == operand { stop } else { moved(*id) };
            }
            altered.push(found);
        }
        Self::new(altered, parameters, inputs, moved(loss))
    }
}
