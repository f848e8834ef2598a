//! What the adjoint of one node gives to that of an operand.

use luge_net::{NodeId, Op, faults};

use super::{ReversePass, for_shifted};

/// What one node gives to the adjoint of an operand.
pub(super) struct Back<'a, 'n> {
    pub(super) pass: &'a ReversePass<'n>,
    /// The operand.
    pub(super) target: usize,
    /// The node, and its adjoint.
    pub(super) i: usize,
    pub(super) adjoint: &'a [f64],
    pub(super) sum: &'a mut [f64],
}

impl<'a> Back<'a, '_> {
    fn to(&mut self, node: &NodeId, add: &mut dyn FnMut(&mut [f64])) {
        if self.target == node.index() {
            add(self.sum);
        }
    }

    /// The value of an operand.
    fn of(&self, node: &NodeId) -> &'a [f64] {
        &self.pass.values[node.index()]
    }

    /// Adds what the node gives.
    pub(super) fn pull(&mut self) {
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
                let (inputs, all) = (self.of(a), faults::planted("units without a threshold"));
                self.to(a, &mut |x| {
                    let pairs = x.iter_mut().zip(adjoint).zip(inputs);
                    pairs.for_each(|((x, g), input)| *x += if *input > 0.0 || all { *g } else { 0.0 });
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
