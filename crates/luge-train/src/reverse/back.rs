//! What a node adds to the adjoint of an operand.

use luge_net::{Op, faults, shifted};

use super::ReversePass;

impl ReversePass<'_> {
    /// Adds what node `user` contributes to the adjoint of its operand number `slot`.
    pub(super) fn pull(&self, user: usize, slot: usize, sum: &mut [f64]) {
        let node = &self.network.nodes()[user];
        let adjoint = &self.adjoints[user][..];
        let of = |slot: usize| &self.values[self.operands[user][slot]];
        let add = |sum: &mut [f64], by: f64, adjoint: &[f64]| {
            sum.iter_mut().zip(adjoint).for_each(|(x, g)| *x += by * g);
        };
        match &node.op {
            Op::Linear(..) => self.maps[user].iter().for_each(|map| map.pull(adjoint, sum)),
            Op::MatMul(..) => {
                let (left, right, inner, cols) = (of(0), of(1), of(0).shape.cols, node.shape.cols);
                for (e, g) in adjoint.iter().enumerate() {
                    let (row, col) = (e / cols, e % cols);
                    (0..inner).for_each(|k| match slot {
                        0 => sum[row * inner + k] += g * right.at(k, col),
                        _ => sum[k * cols + col] += g * left.at(row, k),
                    });
                }
            }
            Op::SumColumns(_) => {
                let cols = of(0).shape.cols;
                sum.iter_mut().enumerate().for_each(|(e, x)| *x += adjoint[e / cols]);
            }
            Op::SumAll(_) => sum.iter_mut().for_each(|x| *x += adjoint[0]),
            Op::Shift(by, _) => {
                for (to, g) in adjoint.iter().enumerate() {
                    shifted(node.shape, *by, to).into_iter().for_each(|from| sum[from] += g);
                }
            }
            Op::Reshape(_) => add(sum, 1.0, adjoint),
            Op::Stack(..) if slot == 0 => add(sum, 1.0, adjoint),
            Op::Stack(..) => add(sum, 1.0, &adjoint[of(0).data.len()..]),
            Op::Gather(positions, _) => positions.iter().zip(adjoint).for_each(|(&at, g)| sum[at] += g),
            Op::Switch { .. } => {
                let (open, both) = (of(0).data[0], of(1).data.iter().zip(&of(2).data));
                match (slot, open) {
                    (0, 0.0 | 1.0) | (1, 0.0) | (2, 1.0) => {}
                    (0, _) => sum[0] += both.zip(adjoint).map(|((on, off), g)| g * (on - off)).sum::<f64>(),
                    (1, _) => add(sum, open, adjoint),
                    _ => add(sum, 1.0 - open, adjoint),
                }
            }
            Op::Select { .. } => {
                let chosen = if of(0).data[0] > 0.0 { 1 } else { 2 };
                add(sum, 1.0, if slot == chosen { adjoint } else { &[] });
            }
            _ => self.pull_entries(user, slot, sum),
        }
    }

    /// The same for entrywise operations.
    fn pull_entries(&self, user: usize, slot: usize, sum: &mut [f64]) {
        let spread = |slot: usize| self.spread[user].get(slot).and_then(Option::as_deref);
        let unseen = faults::planted("units without a threshold");
        for (e, &g) in self.adjoints[user].iter().enumerate() {
            let at = |slot: usize| spread(slot).map_or(e, |spread| spread[e] as usize);
            let of = |slot: usize| self.values[self.operands[user][slot]].data[at(slot)];
            sum[at(slot)] += match &self.network.nodes()[user].op {
                Op::Sum(terms) => terms[slot].0 * g,
                Op::Product(..) => g * of(1 - slot),
                Op::Quotient(..) if slot == 0 => g / of(1),
                Op::Quotient(..) => -(g * of(0) / (of(1) * of(1))),
                Op::Relu(_) if of(0) > 0.0 || unseen => g,
                Op::Sqrt(_) => g / (2.0 * self.values[user].data[e]),
                _ => 0.0,
            };
        }
    }
}
