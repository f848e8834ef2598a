//! Matches the nodes of a network with equations, and reads numbers from them.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use super::{
    Unrecognised,
    formula::{self, Formula, Weight},
};
use crate::{
    Arcs, InputId, LinearMap, Network, Node, NodeId, Op, ParameterId, Shape, StepRule, Values, VertexTable,
    faults,
};

/// The nodes and numbers found so far, by their names in the equations.
pub(super) struct Walk<'n> {
    network: &'n Network,
    nodes: BTreeMap<String, NodeId>,
    numbers: BTreeMap<String, f64>,
}

pub(super) type Found<T> = Result<T, Unrecognised>;

/// Whether two numbers are equal; 0 and -0 are.
pub(super) fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 0.0
}

/// Whether two maps have the same weights and biases.
pub(super) fn same_map(a: &LinearMap, b: &LinearMap) -> bool {
    (a.n_outputs(), a.n_inputs()) == (b.n_outputs(), b.n_inputs())
        && a.entries() == b.entries()
        && a.bias() == b.bias()
}

/// The name of a map over vertices in formulas, and its numbers.
fn named(arcs: Arcs) -> (&'static str, Vec<f64>) {
    match arcs {
        Arcs::Now => ("Now", vec![]),
        Arcs::Next { at_rest: true } => ("Next", vec![]),
        Arcs::Keep { at_rest: true } => ("Keep", vec![]),
        Arcs::Moving { by: -1, at_rest: true } => ("Left", vec![]),
        Arcs::Moving { by: 0, at_rest: true } => ("Stay", vec![]),
        Arcs::Moving { by: 1, at_rest: true } => ("Right", vec![]),
        Arcs::Marginals => ("Marginals", vec![]),
        Arcs::Successors { block, symbol } => ("Successors", vec![block, symbol]),
        Arcs::SelfEdges { block, symbol } => ("SelfEdges", vec![block, symbol]),
        Arcs::Levels { at_rest, block, symbol } => ("Levels", vec![at_rest, block, symbol]),
        Arcs::Dips { weight } => ("Dips", vec![weight]),
        Arcs::DipLevels { block, symbol } => ("DipLevels", vec![block, symbol]),
        Arcs::NextBlock => ("NextBlock", vec![]),
        Arcs::OfBlock => ("OfBlock", vec![]),
        Arcs::OfSymbols => ("OfSymbols", vec![]),
        Arcs::Alike | Arcs::Next { .. } | Arcs::Keep { .. } | Arcs::Moving { .. } => ("", vec![]),
    }
}

impl<'n> Walk<'n> {
    /// Begins at the loss.
    pub(super) fn new(network: &'n Network) -> Self {
        let nodes = BTreeMap::from([("loss".to_owned(), network.loss())]);
        Self { network, nodes, numbers: BTreeMap::new() }
    }

    /// The table of the first map over vertices; all other maps must have the same table.
    pub(super) fn table(&self) -> Found<&'n Arc<VertexTable>> {
        let tables = self.network.nodes().iter().find_map(|node| match &node.op {
            Op::Linear(map, _) => map.as_arcs(),
            _ => None,
        });
        tables.map_or_else(|| self.refuse("loss", "made of maps over vertices"), |(table, _)| Ok(table))
    }

    /// Gives a node a name.
    pub(super) fn name(&mut self, name: &str, node: NodeId) {
        self.nodes.insert(name.to_owned(), node);
    }

    pub(super) fn node(&self, name: &str) -> NodeId {
        self.nodes[name]
    }

    pub(super) fn op(&self, name: &str) -> &'n Op {
        &self.network.node(self.node(name)).op
    }

    pub(super) fn shape(&self, name: &str) -> Shape {
        self.network.node(self.node(name)).shape
    }

    /// A number that was read.
    pub(super) fn number(&self, name: &str) -> f64 {
        self.numbers[name]
    }

    /// Matches nodes with equations, one on each line. The node on the left must be known; nodes on the right become known.
    pub(super) fn hold(&mut self, equations: &str) -> Found<()> {
        for equation in equations.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (name, text) = equation.split_once(" = ").expect("an equation");
            let held = self.matches(self.node(name), &formula::read(text));
            held.map_err(|node| self.refusal(node, format!("as in `{equation}`")))?;
        }
        Ok(())
    }

    /// Matches a node with a formula; the error is the node that does not match.
    fn matches(&mut self, node: NodeId, formula: &Formula<'_>) -> Result<(), NodeId> {
        let network = self.network;
        let require = |holds: bool| if holds { Ok(()) } else { Err(node) };
        match (formula, &network.node(node).op) {
            (Formula::Node(name), _) => {
                require(*self.nodes.entry((*name).to_owned()).or_insert(node) == node)
            }
            (Formula::Sum(terms), Op::Sum(found)) => {
                require(found.len() == terms.len())?;
                for ((weight, term), &(number, of)) in terms.iter().zip(found) {
                    match (term, &network.node(of).op) {
                        (Some(term), _) => {
                            require(self.weighs(*weight, number))?;
                            self.matches(of, term)?;
                        }
                        (None, Op::Constant(Values { shape: Shape::SCALAR, data })) => {
                            require(self.weighs(*weight, number * data[0]))?;
                        }
                        (None, _) => return Err(of),
                    }
                }
                Ok(())
            }
            (Formula::Sum(terms), Op::Linear(map, of)) => match &terms[..] {
                [(Weight::Is(1.0), Some(Formula::Apply(name, numbers, operands))), (bias, None)] => {
                    require(self.is_map(map, name, numbers, *bias))?;
                    self.matches(*of, &operands[0])
                }
                [(weight, Some(term)), (bias, None)] => {
                    let Some((found, found_bias)) = map.as_diagonal() else { return Err(node) };
                    let biased = self.weighs(*bias, found_bias) || faults::planted("gate not looked at");
                    require(self.weighs(*weight, found) && biased)?;
                    self.matches(*of, term)
                }
                _ => Err(node),
            },
            (Formula::Sum(_), _) => Err(node),
            (Formula::Apply("squares", _, of), op) => {
                let Op::SumAll(squares) = *op else { return Err(node) };
                let Op::Product(a, b) = network.node(squares).op else { return Err(squares) };
                require(a == b)?;
                self.matches(a, &of[0])?;
                // The nodes of a difference have the same shape; only constants are broadcast.
                let fits = |of: &NodeId| match network.node(*of) {
                    Node { op: Op::Constant(_), .. } => true,
                    Node { shape, .. } => *shape == network.node(a).shape,
                };
                require(!matches!(of[0], Formula::Sum(_)) || network.node(a).op.operands().iter().all(fits))
            }
            (Formula::Apply("left", _, of), Op::Shift(-1, from))
            | (Formula::Apply("right", _, of), Op::Shift(1, from)) => self.matches(*from, &of[0]),
            (Formula::Apply("stop_gradient", _, of), op)
                if !matches!(op, Op::StopGradient(_)) && faults::planted("stop not looked for") =>
            {
                self.matches(node, &of[0])
            }
            (Formula::Apply(name, numbers, of), op) => {
                let is_named = match op {
                    Op::Linear(map, _) if *name != "linear" => {
                        self.is_map(map, name, numbers, Weight::Is(0.0))
                    }
                    op => op.word() == name.replace('_', "-"),
                };
                let operands = op.operands();
                require(is_named && operands.len() == of.len())?;
                operands.into_iter().zip(of).try_for_each(|(operand, of)| self.matches(operand, of))
            }
        }
    }

    /// Whether a map consists of the named arcs of the network's table, with these numbers and this bias.
    fn is_map(&mut self, map: &LinearMap, name: &str, numbers: &[Weight<'_>], bias: Weight<'_>) -> bool {
        let (Some((table, arcs)), Some(found_bias), Ok(known)) =
            (map.as_arcs(), map.same_bias(), self.table())
        else {
            return false;
        };
        let (found, found_numbers) = named(arcs);
        let is_named = table == known && found == name && found_numbers.len() == numbers.len();
        let mut both = numbers.iter().chain([&bias]).zip(found_numbers.into_iter().chain([found_bias]));
        is_named && both.all(|(&weight, number)| self.weighs(weight, number))
    }

    /// Whether a number equals a weight. A free weight gets its value when it is first compared.
    fn weighs(&mut self, weight: Weight<'_>, number: f64) -> bool {
        match weight {
            Weight::Is(expected) => same(number, expected),
            Weight::Free(sign, name) => {
                let known = *self.numbers.entry(name.to_owned()).or_insert(sign * number);
                number.is_finite() && same(known, sign * number)
            }
        }
    }

    fn refusal(&self, node: NodeId, expected: impl Into<Cow<'static, str>>) -> Unrecognised {
        Unrecognised::at(self.network, node, expected)
    }

    /// The error that a node is something else.
    pub(super) fn refuse<T>(&self, name: &str, expected: &'static str) -> Found<T> {
        Err(self.refusal(self.node(name), expected))
    }

    pub(super) fn require(&self, holds: bool, name: &str, expected: &'static str) -> Found<()> {
        if holds { Ok(()) } else { self.refuse(name, expected) }
    }

    /// Unwraps what was found at a node; if nothing was found, the node is an error.
    pub(super) fn found<T>(&self, found: Option<T>, name: &str, expected: &'static str) -> Found<T> {
        found.map_or_else(|| self.refuse(name, expected), Ok)
    }

    /// The result of `pick` on a node's operation.
    pub(super) fn pick<T>(
        &self,
        name: &str,
        expected: &'static str,
        pick: impl FnOnce(&'n Op) -> Option<T>,
    ) -> Found<T> {
        self.found(pick(self.op(name)), name, expected)
    }

    /// The map of a node that matched a linear operation.
    pub(super) fn map(&self, name: &str) -> &'n LinearMap {
        match self.op(name) {
            Op::Linear(map, _) => map,
            _ => unreachable!("held to be linear"),
        }
    }

    pub(super) fn input(&self, name: &str) -> Found<InputId> {
        self.pick(name, "an input", |op| if let Op::Input(id) = op { Some(*id) } else { None })
    }

    pub(super) fn constant(&self, name: &str) -> Found<&'n [f64]> {
        let numbers = |op: &'n Op| if let Op::Constant(values) = op { Some(&values.data[..]) } else { None };
        self.pick(name, "a constant", numbers)
    }

    /// The unit matrix whose first entry is 1.
    pub(super) fn check_first_axis(&self, name: &str) -> Found<()> {
        let mut entries = self.constant(name)?.iter().enumerate();
        let first = entries.all(|(i, &entry)| same(entry, if i == 0 { 1.0 } else { 0.0 }));
        self.require(first, name, "the first axis")
    }

    pub(super) fn parameter(&self, name: &str) -> Found<(ParameterId, StepRule)> {
        let id =
            self.pick(name, "a weight", |op| if let Op::Parameter(id) = op { Some(*id) } else { None })?;
        Ok((id, self.network.parameters()[id.index()].step_rule))
    }

    /// A parameter trained by gradient descent, and its rate.
    pub(super) fn descending(&self, name: &str) -> Found<(ParameterId, f64)> {
        match self.parameter(name)? {
            (id, StepRule::Gradient { rate }) if rate.is_finite() => Ok((id, rate)),
            _ => self.refuse(name, "a weight that moves against its gradient"),
        }
    }

    /// A parameter trained by gradient descent with rate 1.
    pub(super) fn unit_rate(&self, name: &str) -> Found<ParameterId> {
        let (id, rate) = self.descending(name)?;
        self.require(same(rate, 1.0), name, "a weight that moves with rate 1")?;
        Ok(id)
    }

    /// Checks that there are no other parameters.
    pub(super) fn check_known(&self, known: &[Option<ParameterId>], expected: &'static str) -> Found<()> {
        let mut nodes = self.network.numbered_nodes();
        match nodes.find(|(_, node)| matches!(node.op, Op::Parameter(id) if !known.contains(&Some(id)))) {
            Some((node, _)) => Err(self.refusal(node, expected)),
            None => Ok(()),
        }
    }

    /// Checks that the node's value depends on no other parameters, and has no gradient at all.
    pub(super) fn check_fixed(
        &self,
        node: NodeId,
        allowed: &[Option<ParameterId>],
        expected: &'static str,
    ) -> Found<()> {
        let stops = |op: &Op| matches!(op, Op::StopGradient(_) | Op::Quantize(..) | Op::Dequantize(..));
        let fixed = self.influences(node, stops).is_empty();
        let known = self.influences(node, |_| false).iter().all(|&id| allowed.contains(&Some(id)));
        if fixed && known { Ok(()) } else { Err(self.refusal(node, expected)) }
    }

    /// The parameters that a node depends on. Dependencies are not followed beyond operations for which `stops` is true.
    fn influences(&self, node: NodeId, stops: impl Fn(&Op) -> bool) -> Vec<ParameterId> {
        let reached = self.network.needed_up_to(&[node], |_, node| stops(&node.op));
        let parameter = |(node, reached): (&Node, bool)| match node.op {
            Op::Parameter(id) if reached => Some(id),
            _ => None,
        };
        self.network.nodes().iter().zip(reached).filter_map(parameter).collect()
    }

    /// Checks that the output does not depend on the input `targets`, and on other inputs only through these nodes.
    pub(super) fn check_inputs(&self, out: NodeId, targets: usize, through: &[NodeId]) -> Found<()> {
        let everything = self.network.needed_up_to(&[out], |_, _| false);
        let elsewhere = self.network.needed_up_to(&[out], |id, _| through.contains(&id));
        for (id, node) in self.network.numbered_nodes() {
            let expected = match node.op {
                Op::Input(input) if input.index() == targets && everything[id.index()] => {
                    "an input that the loss's residual alone sees"
                }
                Op::Input(input) if input.index() != targets && elsewhere[id.index()] => {
                    "an input that hidden cells and the primary network alone see"
                }
                _ => continue,
            };
            return Err(self.refusal(id, expected));
        }
        Ok(())
    }
}
