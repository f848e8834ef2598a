//! The adjoint of one node from those of the nodes that it is an operand of.

use luge_net::{NodeId, Op, faults};

use super::{
    ReversePass, for_shifted, is_other,
    listed::{Marked, put},
};

/// How the adjoint of a node follows.
pub(super) struct Back<'a, 'n> {
    pub(super) pass: &'a ReversePass<'n>,
    /// The node.
    pub(super) target: usize,
    /// What its adjoint has of its own.
    pub(super) own: f64,
}

impl Back<'_, '_> {
    /// Computes the entries of the adjoint again that may have changed.
    pub(super) fn update(
        &self,
        mut all: bool,
        adjoint: &mut [f64],
        (marked, changed): (&mut Marked, &mut Vec<u32>),
    ) {
        let Self { pass, target, own } = *self;
        for &i in &pass.used_by[target] {
            all = all || self.mark(i, marked);
        }
        all |= !marked.entries().is_empty() && !pass.used_by[target].iter().all(|&i| self.is_by_entry(i));
        if all || 2 * marked.entries().len() > adjoint.len() {
            marked.clear();
            let before = adjoint.to_vec();
            adjoint.fill(own);
            for &i in &pass.used_by[target] {
                From { pass, target, i, adjoint: &pass.adjoints[i], sum: adjoint }.pull();
            }
            changed.extend((0..).zip(before.iter().zip(&*adjoint)).filter(is_other).map(|(entry, _)| entry));
            return;
        }
        for &entry in marked.entries() {
            let sum = pass.used_by[target].iter().fold(own, |sum, &i| self.add(i, entry, sum));
            put(&mut adjoint[entry as usize], sum, entry, changed);
        }
        marked.clear();
    }

    /// Whether what a node gives to one entry can be computed alone.
    fn is_by_entry(&self, i: usize) -> bool {
        let op = &self.pass.network.nodes()[i].op;
        matches!(
            op,
            Op::Linear(..)
                | Op::Sum(_)
                | Op::Product(..)
                | Op::Relu(_)
                | Op::Reshape(_)
                | Op::SumAll(_)
                | Op::SumColumns(_)
        ) && self.pass.spread[i].iter().all(Option::is_none)
    }

    /// Notes the entries that a node may give something else to than it did; whether those are all, or too many to go through one by one.
    fn mark(&self, i: usize, marked: &mut Marked) -> bool {
        let ReversePass { pulled, since, operands, maps, .. } = self.pass;
        let unchanged = pulled[i].is_empty() && operands[i].iter().all(|&of| since[of].is_empty());
        match &self.pass.network.nodes()[i].op {
            _ if unchanged => false,
            _ if !self.is_by_entry(i) => true,
            Op::Linear(..) => maps[i].as_ref().is_none_or(|map| map.mark_inputs(&pulled[i], marked)),
            Op::SumAll(_) | Op::SumColumns(_) => !pulled[i].is_empty(),
            op => {
                marked.extend(&pulled[i]);
                if matches!(op, Op::Product(..) | Op::Relu(_)) {
                    operands[i].iter().for_each(|&of| marked.extend(&since[of]));
                }
                false
            }
        }
    }

    /// Adds what a node gives to one entry.
    fn add(&self, i: usize, entry: u32, mut sum: f64) -> f64 {
        let (pass, at, target) = (self.pass, entry as usize, self.target);
        let slopes = &pass.adjoints[i];
        match &pass.network.nodes()[i].op {
            Op::Linear(..) => pass.maps[i].iter().for_each(|map| map.pull_one(slopes, entry, &mut sum)),
            Op::Sum(terms) => {
                let own = terms.iter().filter(|(_, of)| of.index() == target);
                own.for_each(|(weight, _)| sum += weight * slopes[at]);
            }
            Op::Product(a, b) => {
                for (_, other) in [(a, b), (b, a)].iter().filter(|(of, _)| of.index() == target) {
                    sum += slopes[at] * pass.values[other.index()][at];
                }
            }
            Op::Relu(of) => sum += if is_open(pass.values[of.index()][at]) { slopes[at] } else { 0.0 },
            Op::Reshape(_) => sum += slopes[at],
            Op::SumAll(_) => sum += slopes[0],
            Op::SumColumns(of) => sum += slopes[at / pass.network.node(*of).shape.cols],
            _ => unreachable!("whoever gives to all entries at once is not asked for one"),
        }
        sum
    }
}

/// Whether a unit with this input passes a slope on.
fn is_open(input: f64) -> bool {
    input > 0.0 || faults::planted("units without a threshold")
}

/// What one node gives to the adjoint of an operand.
struct From<'a, 'n> {
    pass: &'a ReversePass<'n>,
    target: usize,
    i: usize,
    adjoint: &'a [f64],
    sum: &'a mut [f64],
}

impl<'a> From<'a, '_> {
    fn to(&mut self, node: &NodeId, add: &mut dyn FnMut(&mut [f64])) {
        if self.target == node.index() {
            add(self.sum);
        }
    }

    /// The value of an operand.
    fn of(&self, node: &NodeId) -> &'a [f64] {
        &self.pass.values[node.index()]
    }

    /// Operations on whole matrices.
    fn pull(&mut self) {
        let (network, adjoint) = (self.pass.network, self.adjoint);
        match &network.nodes()[self.i].op {
            Op::Linear(_, a) => {
                let map = self.pass.maps[self.i].as_ref();
                self.to(a, &mut |x| map.iter().for_each(|map| map.pull(adjoint, x)));
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
        let (values, spread, adjoint) = (&self.pass.values, &self.pass.spread[self.i], self.adjoint);
        let at =
            |term: usize, entry: usize| spread[term].as_ref().map_or(entry, |spread| spread[entry] as usize);
        match &self.pass.network.nodes()[self.i].op {
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
                let inputs = self.of(a);
                self.to(a, &mut |x| {
                    let open = x.iter_mut().zip(adjoint).zip(inputs).filter(|(_, input)| is_open(**input));
                    open.for_each(|((x, g), _)| *x += g);
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
