//! A reverse pass of our own for the gradient of a network, in f64.
//!
//! It uses the same nodes, maps and stop-gradients as the dense engine, and is compared with it. It stores the values and
//! adjoints of the last point and recomputes only those whose operands have changed, so that a network can be
//! differentiated at thousands of points that differ in few weights. Dependencies are read from the graph.

mod back;
mod listed;

use luge_net::{Network, NodeId, Op, Values, apply, entry, stretched};

use listed::{Listed, Marked};

/// Evaluates and differentiates one network at many points.
#[derive(Debug)]
pub struct ReversePass<'n> {
    network: &'n Network,
    differentiated: Vec<bool>,
    operands: Vec<Vec<usize>>,
    /// For every node, the differentiated nodes that it is an operand of, the last first.
    used_by: Vec<Vec<usize>>,
    /// The arcs of linear maps, listed once.
    maps: Vec<Option<Listed>>,
    /// For operands that are broadcast, the entry that is used for each entry of the node.
    spread: Vec<Vec<Option<Vec<u32>>>>,
    values: Vec<Values>,
    adjoints: Vec<Vec<f64>>,
    /// The entries of values that changed at the last point.
    changed: Vec<Vec<u32>>,
    /// The values that have changed since the last gradient.
    since: Vec<bool>,
    /// The adjoints that changed at the last gradient.
    pulled: Vec<bool>,
    /// The entries that are not zero, for operands of linear maps.
    nonzero: Vec<Option<Vec<u32>>>,
    marked: Marked,
    seed: f64,
    is_new: bool,
}

impl<'n> ReversePass<'n> {
    /// A pass over this network.
    pub fn new(network: &'n Network) -> Self {
        let nodes = network.nodes();
        let spread = |i: usize| {
            let shape = nodes[i].shape;
            let of = |id: &NodeId| {
                let operand = nodes[id.index()].shape;
                let entries = || (0..shape.len()).map(|i| stretched(operand, shape, i) as u32).collect();
                (operand != shape).then(entries)
            };
            match &nodes[i].op {
                op @ (Op::Sum(_) | Op::Product(..) | Op::Quotient(..)) => {
                    op.operands().iter().map(of).collect()
                }
                _ => Vec::new(),
            }
        };
        let differentiated = network.differentiated();
        let mut operands: Vec<Vec<usize>> = Vec::with_capacity(nodes.len());
        let (mut used_by, mut nonzero) = (vec![Vec::new(); nodes.len()], vec![None; nodes.len()]);
        for (i, node) in nodes.iter().enumerate() {
            operands.push(node.op.operands().iter().map(|of| of.index()).collect());
            for &of in operands[i].iter().filter(|_| differentiated[i]) {
                if used_by[of].first() != Some(&i) {
                    used_by[of].insert(0, i);
                }
            }
            if let Op::Linear(_, of) = node.op {
                nonzero[of.index()] = Some(Vec::new());
            }
        }
        let map = |op: &Op| if let Op::Linear(map, _) = op { Some(Listed::of(map)) } else { None };
        let adjoint = |(node, carries): (&luge_net::Node, &bool)| {
            vec![0.0; if *carries { node.shape.len() } else { 0 }]
        };
        let none = vec![false; nodes.len()];
        Self {
            network,
            operands,
            used_by,
            maps: nodes.iter().map(|node| map(&node.op)).collect(),
            spread: (0..nodes.len()).map(spread).collect(),
            values: nodes.iter().map(|node| Values::filled(node.shape, 0.0)).collect(),
            adjoints: nodes.iter().zip(&differentiated).map(adjoint).collect(),
            differentiated,
            changed: vec![Vec::new(); nodes.len()],
            since: none.clone(),
            pulled: none,
            nonzero,
            marked: Marked::new(nodes.iter().map(|node| node.shape.len()).max().unwrap_or(0)),
            seed: 0.0,
            is_new: true,
        }
    }

    /// The value of a node at the last point.
    pub fn value(&self, node: NodeId) -> &[f64] {
        &self.values[node.index()].data
    }

    /// Evaluates all nodes and returns the loss.
    ///
    /// # Panics
    /// If the values do not fit the network's parameters or inputs.
    pub fn evaluate(&mut self, parameters: &[Values], inputs: &[Values]) -> f64 {
        assert!(self.network.fits_parameters(parameters), "values of other shapes than the parameters");
        assert!(self.network.fits_inputs(inputs), "values of other shapes than the inputs");
        let mut marked = std::mem::take(&mut self.marked);
        for i in 0..self.values.len() {
            let mut value = std::mem::take(&mut self.values[i].data);
            let mut changed = std::mem::take(&mut self.changed[i]);
            changed.clear();
            match &self.network.nodes()[i].op {
                Op::Parameter(id) => replace(&mut value, &parameters[id.index()].data, &mut changed),
                Op::Input(id) => replace(&mut value, &inputs[id.index()].data, &mut changed),
                op => self.update(i, op, &mut value, (&mut marked, &mut changed)),
            }
            if self.is_new {
                changed = (0..value.len() as u32).collect();
            }
            if let Some(nonzero) = &mut self.nonzero[i] {
                listed::keep_nonzero(nonzero, &value, &changed);
            }
            self.since[i] |= !changed.is_empty();
            (self.values[i].data, self.changed[i]) = (value, changed);
        }
        self.marked = marked;
        self.is_new = false;
        self.values[self.network.loss().index()].data[0]
    }

    /// Computes again the entries of a value that may have changed.
    fn update(&self, i: usize, op: &Op, value: &mut [f64], (marked, changed): (&mut Marked, &mut Vec<u32>)) {
        let operands = self.operands[i].iter().enumerate();
        let mut operands = operands.filter(|&(_, &of)| !self.changed[of].is_empty()).peekable();
        if operands.peek().is_none() && !self.is_new {
            return;
        }
        if let (Op::Linear(_, of), Some(map)) = (op, &self.maps[i]) {
            let of = of.index();
            let nonzero = self.nonzero[of].as_deref().unwrap_or_default();
            map.update((&self.values[of].data, &self.changed[of], nonzero), value, (marked, changed));
            return;
        }
        let spread = |slot: usize| self.spread[i].get(slot).and_then(Option::as_deref);
        let entry = |at: u32| {
            entry(op, |slot| {
                let at = spread(slot).map_or(at, |spread| spread[at as usize]);
                self.values[self.operands[i][slot]].data[at as usize]
            })
        };
        if value.is_empty() || entry(0).is_none() {
            replace(value, &apply(op, self.network.nodes()[i].shape, &self.values).data, changed);
            return;
        }
        let mut put = |at: u32| {
            entry(at).iter().for_each(|&now| listed::put(&mut value[at as usize], now, at, changed));
        };
        let mut all = self.is_new;
        for (slot, &of) in operands {
            all |= spread(slot).is_some() || 2 * self.changed[of].len() > self.values[of].data.len();
            if !all {
                marked.extend(&self.changed[of]);
            }
        }
        if all {
            (0..self.network.nodes()[i].shape.len() as u32).for_each(put);
        } else {
            marked.entries().iter().for_each(|&at| put(at));
        }
        marked.clear();
    }

    /// The gradient at the point of the last [`evaluate`](Self::evaluate), times `seed`: one block per parameter.
    pub fn gradient(&mut self, seed: f64) -> Vec<Values> {
        let loss = self.network.loss().index();
        for i in (0..self.values.len()).rev() {
            let new_seed = i == loss && seed.to_bits() != self.seed.to_bits();
            let stale = new_seed || self.used_by[i].iter().any(|&user| self.gives_otherwise(user));
            self.pulled[i] = false;
            if !self.differentiated[i] || !stale {
                continue;
            }
            let before = std::mem::take(&mut self.adjoints[i]);
            let mut adjoint = vec![if i == loss { seed } else { 0.0 }; before.len()];
            for &user in &self.used_by[i] {
                let slots = self.operands[user].iter().enumerate().filter(|(_, of)| **of == i);
                slots.for_each(|(slot, _)| self.pull(user, slot, &mut adjoint));
            }
            self.pulled[i] = (0..).zip(before.iter().zip(&adjoint)).any(|pair| is_other(&pair));
            self.adjoints[i] = adjoint;
        }
        self.since.fill(false);
        self.seed = seed;
        let mut gradient: Vec<Values> =
            self.network.parameters().iter().map(|p| Values::filled(p.shape, 0.0)).collect();
        for (node, adjoint) in self.network.nodes().iter().zip(&self.adjoints) {
            if let (Op::Parameter(id), false) = (&node.op, adjoint.is_empty()) {
                gradient[id.index()].data.iter_mut().zip(adjoint).for_each(|(sum, adjoint)| *sum += adjoint);
            }
        }
        gradient
    }

    /// Whether what a node adds to the adjoints of its operands may have changed since the last gradient.
    fn gives_otherwise(&self, i: usize) -> bool {
        let is_linear = matches!(
            self.network.nodes()[i].op,
            Op::Linear(..) | Op::Sum(_) | Op::SumAll(_) | Op::SumColumns(_) | Op::Reshape(_)
        );
        self.pulled[i] || !is_linear && self.operands[i].iter().any(|&of| self.since[of])
    }
}

/// Whether the two numbers of an entry differ in a bit.
fn is_other((_, (before, now)): &(u32, (&f64, &f64))) -> bool {
    before.to_bits() != now.to_bits()
}

/// Replaces a value, and records the entries that differ.
fn replace(value: &mut [f64], by: &[f64], changed: &mut Vec<u32>) {
    changed.extend((0..).zip(value.iter().zip(by)).filter(is_other).map(|(entry, _)| entry));
    value.copy_from_slice(by);
}
