//! The gradient of a network by a reverse pass written out by hand, in f64.
//!
//! It reads the same nodes, maps and stop-gradients as the dense engine, and is held to it; it only keeps its buffers, so that a small
//! network can be differentiated at thousands of points.

use luge_net::{
    LinearMap, Network, NodeId, Op, Shape, Values, faults,
    numbers::{from_signs, to_signs},
};

/// Evaluates and differentiates one network again and again.
#[derive(Debug)]
pub struct ReversePass<'n> {
    network: &'n Network,
    differentiated: Vec<bool>,
    /// The nodes that depend on inputs.
    fed: Vec<bool>,
    /// The arcs of linear maps, listed once.
    maps: Vec<Option<Listed>>,
    /// For operands of another shape than their node, which entry belongs to each of the node's.
    spread: Vec<Vec<Option<Vec<u32>>>>,
    values: Vec<Vec<f64>>,
    adjoints: Vec<Vec<f64>>,
}

#[derive(Debug)]
struct Listed {
    bias: Vec<f64>,
    entries: Vec<(u32, u32, f64)>,
}

impl Listed {
    fn of(map: &LinearMap) -> Self {
        Self { bias: map.bias().into_owned(), entries: map.entries().into_owned() }
    }
}

impl<'n> ReversePass<'n> {
    /// A network to be differentiated.
    pub fn new(network: &'n Network) -> Self {
        let nodes = network.nodes();
        let spread = |i: usize| {
            let shape = nodes[i].shape;
            let of = |id: &NodeId| {
                (nodes[id.index()].shape != shape).then(|| entries_of(nodes[id.index()].shape, shape))
            };
            match &nodes[i].op {
                op @ (Op::Sum(_) | Op::Product(..) | Op::Quotient(..)) => {
                    op.operands().iter().map(of).collect()
                }
                _ => Vec::new(),
            }
        };
        let map = |op: &Op| if let Op::Linear(map, _) = op { Some(Listed::of(map)) } else { None };
        let differentiated = network.differentiated();
        let mut fed: Vec<bool> = Vec::with_capacity(nodes.len());
        for node in nodes {
            let depends = node.op.operands().iter().any(|of| fed[of.index()]);
            fed.push(depends || matches!(node.op, Op::Input(_)));
        }
        let adjoint = |(node, carries): (&luge_net::Node, &bool)| {
            vec![0.0; if *carries { node.shape.len() } else { 0 }]
        };
        Self {
            network,
            fed,
            maps: nodes.iter().map(|node| map(&node.op)).collect(),
            spread: (0..nodes.len()).map(spread).collect(),
            values: nodes.iter().map(|node| vec![0.0; node.shape.len()]).collect(),
            adjoints: nodes.iter().zip(&differentiated).map(adjoint).collect(),
            differentiated,
        }
    }

    /// The value of a node at the last point.
    pub fn value(&self, node: NodeId) -> &[f64] {
        &self.values[node.index()]
    }

    /// Evaluates all nodes; the loss.
    ///
    /// # Panics
    /// If the values do not fit the network's parameters or inputs.
    pub fn evaluate(&mut self, parameters: &[Values], inputs: &[Values]) -> f64 {
        assert!(self.network.fits_parameters(parameters), "values of other shapes than the parameters");
        for (node, value) in self.network.nodes().iter().zip(&mut self.values) {
            if let Op::Parameter(id) = node.op {
                value.copy_from_slice(&parameters[id.index()].data);
            }
        }
        self.update(inputs, false)
    }

    /// Evaluates the same weights on other inputs: all nodes that depend on these; the loss.
    ///
    /// # Panics
    /// If the values do not fit the network's inputs.
    pub fn feed(&mut self, inputs: &[Values]) -> f64 {
        self.update(inputs, true)
    }

    fn update(&mut self, inputs: &[Values], fed_alone: bool) -> f64 {
        assert!(self.network.fits_inputs(inputs), "values of other shapes than the inputs");
        for i in (0..self.values.len()).filter(|&i| self.fed[i] || !fed_alone).collect::<Vec<_>>() {
            let mut value = std::mem::take(&mut self.values[i]);
            match &self.network.nodes()[i].op {
                Op::Input(id) => value.copy_from_slice(&inputs[id.index()].data),
                op => self.apply(i, op, &mut value),
            }
            self.values[i] = value;
        }
        self.values[self.network.loss().index()][0]
    }

    fn apply(&self, i: usize, op: &Op, value: &mut Vec<f64>) {
        let of = |node: &NodeId| &self.values[node.index()][..];
        let shape_of = |node: &NodeId| self.network.node(*node).shape;
        let shape = self.network.nodes()[i].shape;
        match op {
            Op::Parameter(_) | Op::Input(_) => {}
            Op::Constant(constant) => value.copy_from_slice(&constant.data),
            Op::Linear(_, a) => {
                let Some(Listed { bias, entries }) = &self.maps[i] else { return };
                let x = of(a);
                value.copy_from_slice(bias);
                entries
                    .iter()
                    .for_each(|&(row, col, weight)| value[row as usize] += weight * x[col as usize]);
            }
            Op::Sum(terms) => {
                value.fill(0.0);
                for ((weight, a), spread) in terms.iter().zip(&self.spread[i]) {
                    each(of(a), spread.as_deref(), value, |entry, sum| *sum += weight * entry);
                }
            }
            Op::Product(a, b) => {
                each(of(a), self.spread[i][0].as_deref(), value, |entry, product| *product = entry);
                each(of(b), self.spread[i][1].as_deref(), value, |entry, product| *product *= entry);
            }
            Op::Quotient(a, b) => {
                each(of(a), self.spread[i][0].as_deref(), value, |entry, quotient| *quotient = entry);
                each(of(b), self.spread[i][1].as_deref(), value, |entry, quotient| *quotient /= entry);
            }
            Op::Relu(a) => each(of(a), None, value, |entry, y| *y = if entry > 0.0 { entry } else { 0.0 }),
            Op::Sqrt(a) => each(of(a), None, value, |entry, y| *y = entry.sqrt()),
            Op::MatMul(a, b) => {
                let (left, right, inner) = (of(a), of(b), shape_of(a).cols);
                for (at, y) in value.iter_mut().enumerate() {
                    let (row, col) = (at / shape.cols, at % shape.cols);
                    *y = (0..inner).map(|k| left[row * inner + k] * right[k * shape.cols + col]).sum();
                }
            }
            Op::SumColumns(a) => {
                let rows = of(a).chunks_exact(shape_of(a).cols.max(1));
                value.iter_mut().zip(rows).for_each(|(y, row)| *y = row.iter().sum());
            }
            Op::SumAll(a) => value[0] = of(a).iter().sum(),
            Op::Shift(by, a) => {
                value.fill(0.0);
                for_shifted(shape, *by, |to, from| value[to] = of(a)[from]);
            }
            Op::Reshape(a) | Op::StopGradient(a) => value.copy_from_slice(of(a)),
            Op::Stack(a, b) => {
                let (upper, lower) = value.split_at_mut(of(a).len());
                upper.copy_from_slice(of(a));
                lower.copy_from_slice(of(b));
            }
            Op::Gather(positions, a) => {
                value.iter_mut().zip(positions).for_each(|(y, &at)| *y = of(a)[at]);
            }
            Op::Quantize(format, a) => *value = to_signs(*format, of(a)),
            Op::Dequantize(format, a) => *value = from_signs(*format, of(a)),
            Op::Switch { open, on, off } => match of(open)[0] {
                1.0 => value.copy_from_slice(of(on)),
                0.0 => value.copy_from_slice(of(off)),
                open => {
                    let both = of(on).iter().zip(of(off));
                    value.iter_mut().zip(both).for_each(|(y, (on, off))| *y = open * on + (1.0 - open) * off);
                }
            },
            Op::Select { condition, positive, otherwise } => {
                value.copy_from_slice(of(if of(condition)[0] > 0.0 { positive } else { otherwise }));
            }
        }
    }

    /// The gradient at the point of the last [`evaluate`](Self::evaluate), times `seed`: one block per parameter, zeros where there is none.
    pub fn gradient(&mut self, seed: f64) -> Vec<Values> {
        self.adjoints.iter_mut().for_each(|adjoint| adjoint.fill(0.0));
        if let Some(first) = self.adjoints[self.network.loss().index()].first_mut() {
            *first = seed;
        }
        for i in (0..self.values.len()).rev().filter(|&i| self.differentiated[i]).collect::<Vec<_>>() {
            let adjoint = std::mem::take(&mut self.adjoints[i]);
            let network = self.network;
            let Self { values, spread, maps, differentiated, adjoints, .. } = self;
            let (spread, map) = (&spread[i][..], maps[i].as_ref());
            Back { network, i, adjoint: &adjoint, values, spread, map, differentiated, adjoints }.pull();
            self.adjoints[i] = adjoint;
        }
        let mut gradient: Vec<Values> =
            self.network.parameters().iter().map(|p| Values::filled(p.shape, 0.0)).collect();
        for (node, adjoint) in self.network.nodes().iter().zip(&self.adjoints) {
            if let (Op::Parameter(id), false) = (&node.op, adjoint.is_empty()) {
                gradient[id.index()].data.iter_mut().zip(adjoint).for_each(|(sum, adjoint)| *sum += adjoint);
            }
        }
        gradient
    }
}

/// What the adjoint of one node gives to those of its operands.
struct Back<'a> {
    network: &'a Network,
    i: usize,
    adjoint: &'a [f64],
    values: &'a [Vec<f64>],
    spread: &'a [Option<Vec<u32>>],
    map: Option<&'a Listed>,
    differentiated: &'a [bool],
    adjoints: &'a mut [Vec<f64>],
}

impl<'a> Back<'a> {
    fn to(&mut self, node: &NodeId, add: &mut dyn FnMut(&mut [f64])) {
        if self.differentiated[node.index()] {
            add(&mut self.adjoints[node.index()]);
        }
    }

    /// The value of an operand.
    fn of(&self, node: &NodeId) -> &'a [f64] {
        &self.values[node.index()]
    }

    /// Operations on whole matrices.
    fn pull(&mut self) {
        let (network, adjoint) = (self.network, self.adjoint);
        match &network.nodes()[self.i].op {
            Op::Linear(_, a) => {
                let Some(Listed { entries, .. }) = self.map else { return };
                self.to(a, &mut |x| {
                    entries
                        .iter()
                        .for_each(|&(row, col, weight)| x[col as usize] += weight * adjoint[row as usize]);
                });
            }
            Op::MatMul(a, b) => {
                let (left, right) = (self.of(a), self.of(b));
                let (inner, cols) = (network.node(*a).shape.cols, network.nodes()[self.i].shape.cols);
                for (e, g) in adjoint.iter().enumerate() {
                    let (row, col) = (e / cols, e % cols);
                    self.to(a, &mut |x| {
                        (0..inner).for_each(|k| x[row * inner + k] += g * right[k * cols + col])
                    });
                    self.to(b, &mut |x| {
                        (0..inner).for_each(|k| x[k * cols + col] += g * left[row * inner + k])
                    });
                }
            }
            Op::SumColumns(a) => {
                let cols = network.node(*a).shape.cols;
                self.to(a, &mut |x| x.iter_mut().enumerate().for_each(|(e, x)| *x += adjoint[e / cols]));
            }
            Op::SumAll(a) => self.to(a, &mut |x| x.iter_mut().for_each(|x| *x += adjoint[0])),
            Op::Shift(by, a) => {
                let shape = network.nodes()[self.i].shape;
                self.to(a, &mut |x| for_shifted(shape, *by, |to, from| x[from] += adjoint[to]));
            }
            Op::Reshape(a) => self.to(a, &mut |x| x.iter_mut().zip(adjoint).for_each(|(x, g)| *x += g)),
            Op::Stack(a, b) => {
                let (upper, lower) = adjoint.split_at(self.of(a).len());
                self.to(a, &mut |x| x.iter_mut().zip(upper).for_each(|(x, g)| *x += g));
                self.to(b, &mut |x| x.iter_mut().zip(lower).for_each(|(x, g)| *x += g));
            }
            Op::Gather(positions, a) => {
                self.to(a, &mut |x| positions.iter().zip(adjoint).for_each(|(&at, g)| x[at] += g));
            }
            Op::Switch { open, on, off } => {
                let (share, on_value, off_value) = (self.of(open)[0], self.of(on), self.of(off));
                let scaled =
                    |by: f64| move |x: &mut [f64]| x.iter_mut().zip(adjoint).for_each(|(x, g)| *x += by * g);
                match share {
                    1.0 => self.to(on, &mut scaled(1.0)),
                    0.0 => self.to(off, &mut scaled(1.0)),
                    _ => {
                        self.to(on, &mut scaled(share));
                        self.to(off, &mut scaled(1.0 - share));
                        let between = on_value.iter().zip(off_value).zip(adjoint);
                        let slope: f64 = between.map(|((on, off), g)| g * (on - off)).sum();
                        self.to(open, &mut |x| x[0] += slope);
                    }
                }
            }
            Op::Select { condition, positive, otherwise } => {
                let chosen = if self.of(condition)[0] > 0.0 { positive } else { otherwise };
                self.to(chosen, &mut |x| x.iter_mut().zip(adjoint).for_each(|(x, g)| *x += g));
            }
            Op::Parameter(_)
            | Op::Input(_)
            | Op::Constant(_)
            | Op::Quantize(..)
            | Op::Dequantize(..)
            | Op::StopGradient(_) => {}
            Op::Sum(_) | Op::Product(..) | Op::Quotient(..) | Op::Relu(_) | Op::Sqrt(_) => {
                self.pull_entries()
            }
        }
    }

    /// Operations entry by entry.
    fn pull_entries(&mut self) {
        let (values, spread, adjoint) = (self.values, self.spread, self.adjoint);
        let at =
            |term: usize, entry: usize| spread[term].as_ref().map_or(entry, |spread| spread[entry] as usize);
        match &self.network.nodes()[self.i].op {
            Op::Sum(terms) => {
                for (term, (weight, a)) in terms.iter().enumerate() {
                    self.to(a, &mut |x| {
                        adjoint.iter().enumerate().for_each(|(e, g)| x[at(term, e)] += weight * g)
                    });
                }
            }
            Op::Product(a, b) => {
                for (term, (a, other, b)) in [(a, 1, b), (b, 0, a)].into_iter().enumerate() {
                    let factor = self.of(b);
                    self.to(a, &mut |x| {
                        adjoint
                            .iter()
                            .enumerate()
                            .for_each(|(e, g)| x[at(term, e)] += g * factor[at(other, e)]);
                    });
                }
            }
            Op::Quotient(a, b) => {
                let (over, under) = (self.of(a), self.of(b));
                self.to(a, &mut |x| {
                    adjoint.iter().enumerate().for_each(|(e, g)| x[at(0, e)] += g / under[at(1, e)])
                });
                self.to(b, &mut |x| {
                    for (e, g) in adjoint.iter().enumerate() {
                        let under = under[at(1, e)];
                        x[at(1, e)] -= g * over[at(0, e)] / (under * under);
                    }
                });
            }
            Op::Relu(a) => {
                let (kept, open) = (self.of(a), faults::planted("units without a threshold"));
                self.to(a, &mut |x| {
                    x.iter_mut()
                        .zip(adjoint)
                        .zip(kept)
                        .for_each(|((x, g), v)| *x += if *v > 0.0 || open { *g } else { 0.0 });
                });
            }
            Op::Sqrt(a) => {
                let root = &values[self.i];
                self.to(a, &mut |x| {
                    x.iter_mut().zip(adjoint).zip(root).for_each(|((x, g), root)| *x += g / (2.0 * root))
                });
            }
            _ => {}
        }
    }
}

/// Goes through the entries of a node with those of an operand.
fn each(of: &[f64], spread: Option<&[u32]>, value: &mut [f64], mut f: impl FnMut(f64, &mut f64)) {
    match spread {
        None => value.iter_mut().zip(of).for_each(|(y, &x)| f(x, y)),
        Some(spread) => value.iter_mut().zip(spread).for_each(|(y, &at)| f(of[at as usize], y)),
    }
}

/// For every entry of a shape, the entry of an operand that is stretched to it.
fn entries_of(operand: Shape, shape: Shape) -> Vec<u32> {
    let side = |at: usize, len: usize| if len == 1 { 0 } else { at };
    let entry =
        |i: usize| side(i / shape.cols, operand.rows) * operand.cols + side(i % shape.cols, operand.cols);
    (0..shape.len()).map(|i| entry(i) as u32).collect()
}

/// Which entries a shift to the right moves: (to, from).
fn for_shifted(shape: Shape, by: i64, mut f: impl FnMut(usize, usize)) {
    for to in 0..shape.len() {
        let (row, col) = (to / shape.cols, to % shape.cols);
        let from = i64::try_from(col).ok().and_then(|col| col.checked_sub(by));
        if let Some(from) = from.and_then(|from| usize::try_from(from).ok()).filter(|&from| from < shape.cols)
        {
            f(to, row * shape.cols + from);
        }
    }
}
