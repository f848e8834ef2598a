//! Networks with one change, for tests that must detect it. Only in builds with the feature `faults`.

use crate::{Network, NodeId, Op, ParameterId, StepRule};

impl Network {
    /// The same network with another operation at one node.
    ///
    /// # Panics
    /// If an operand does not come before the node.
    pub fn with_op(&self, node: NodeId, op: Op) -> Self {
        assert!(op.operands().iter().all(|&operand| operand < node), "operands come before their node");
        let mut graph = self.graph();
        graph.nodes[node.index()].op = op;
        Self::new(graph, self.loss())
    }

    /// The same network with another step rule for one block of weights.
    pub fn with_step_rule(&self, parameter: ParameterId, step_rule: StepRule) -> Self {
        let mut graph = self.graph();
        graph.parameters[parameter.index()].step_rule = step_rule;
        Self::new(graph, self.loss())
    }

    /// The same network with a stop-gradient inserted between a node and one of its operands.
    pub fn with_stop_before(&self, node: NodeId, operand: usize) -> Self {
        let mut graph = self.graph();
        let moved = |id: NodeId| if id >= node { NodeId::new(id.index() + 1) } else { id };
        for (i, mut found) in std::mem::take(&mut graph.nodes).into_iter().enumerate() {
            let stop = NodeId::new(graph.nodes.len());
            if i == node.index() {
                graph.stop_gradient("planted", found.op.operands()[operand]);
            }
            let operands = found.op.operands_mut().into_iter().enumerate();
            for (position, id) in operands {
                *id = if i == node.index() && position == operand { stop } else { moved(*id) };
            }
            graph.nodes.push(found);
        }
        Self::new(graph, moved(self.loss()))
    }
}
