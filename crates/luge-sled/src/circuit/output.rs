//! The output of the halted circuit: a model with weights theta, applied to the query.

use luge_circuit::{Affine, Literal};

use super::{Compiler, Word};
use crate::core::{Op, THETA};

/// A model with weights theta.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CircuitOutput {
    /// A bias and one weight per feature. The sum is rounded down to the label's format and wraps like other numbers.
    Linear,
    /// 1 if the number of features above 0 whose weight is above 0 is odd, else 0.
    Parity,
}

impl Compiler<'_> {
    pub(super) fn output(&mut self) {
        let n_features = self.core.n_features;
        let format = self.core.format;
        let (n_bits, fraction) = (format.width() as usize, format.fraction as usize);
        let theta: Vec<Word> = self.arrays[THETA].iter().map(|word| self.b.word_value(word)).collect();
        let query = |c: &mut Self, at: usize| (0..n_bits).map(|bit| c.b.query(at * n_bits + bit)).collect();
        match self.options.output {
            Some(CircuitOutput::Linear) if theta.len() == n_features + 1 => {
                let mut sum = Affine::default();
                sum.add_word(&theta[0], 1 << fraction);
                for at in 0..n_features {
                    let x: Word = query(self, at);
                    let product = self.product(Op::Mul, fraction, n_bits, [&x, &theta[at + 1]]);
                    sum.add_sum(&product, 1);
                }
                let bits = self.b.total(&sum, n_bits + fraction);
                self.b.output(bits[fraction..].iter().copied());
            }
            Some(CircuitOutput::Parity) if theta.len() == n_features => {
                let mut counted = Vec::new();
                for (at, weight) in theta.iter().enumerate() {
                    let x: Word = query(self, at);
                    let positive = [&x, weight].map(|word| self.positive(word));
                    counted.push(self.b.and(positive));
                }
                let odd = self.b.parity(counted);
                let bit = |at: usize| if at == fraction { odd } else { Literal::FALSE };
                self.b.output((0..n_bits).map(bit));
            }
            _ => {}
        }
    }

    fn positive(&mut self, word: &[Literal]) -> Literal {
        let some = self.b.or(word.iter().copied());
        self.b.and([some, !word[word.len() - 1]])
    }
}
