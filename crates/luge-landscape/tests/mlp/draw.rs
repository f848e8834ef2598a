//! Random circuits and samples.

use luge_circuit::{Affine, Builder, Circuit, Code, Literal, Sample, SampleShape};

/// A small generator of random numbers (xorshift64*).
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }

    pub(crate) fn bit(&mut self) -> bool {
        self.below(2) == 1
    }

    fn bits(&mut self, n: usize) -> Vec<bool> {
        (0..n).map(|_| self.bit()).collect()
    }

    pub(crate) fn sample(&mut self, shape: Option<SampleShape>) -> Sample {
        let Some(shape) = shape else { return Sample::default() };
        Sample { features: self.bits(shape.n_feature_bits()), label: self.bits(shape.n_label_bits()) }
    }

    fn some(&mut self, known: &[Literal]) -> Literal {
        let found = known[self.below(known.len())];
        if self.bit() { !found } else { found }
    }

    fn gates(&mut self, b: &mut Builder, known: &mut Vec<Literal>, n: usize) {
        for _ in 0..n {
            let operands: Vec<Literal> = (0..2 + self.below(3)).map(|_| self.some(known)).collect();
            let found = match self.below(4) {
                0 => b.and(operands),
                1 => b.parity(operands),
                2 => {
                    let mut sum = Affine::default();
                    operands.iter().for_each(|&operand| sum.add(operand, self.below(40) as i128 - 20));
                    let bits = b.total(&sum, 7);
                    bits[self.below(7)]
                }
                // A choice between two is a sum of which at most one is 1.
                _ => {
                    let [first, second] = [(operands[0], operands[1]), (!operands[0], self.some(known))]
                        .map(|(a, c)| b.and([a, c]));
                    b.sum([first, second])
                }
            };
            known.push(found);
        }
    }

    /// A circuit with up to six registers and up to ten gates.
    pub(crate) fn circuit(&mut self, shape: Option<SampleShape>) -> Circuit {
        let mut b = Builder::new("random");
        if let Some(shape) = shape {
            b.samples(shape);
        }
        let registers: Vec<_> =
            (0..2 + self.below(5)).map(|at| b.register(format!("r{at}"), self.bit())).collect();
        let values: Vec<Literal> = registers.iter().map(|&register| b.value(register)).collect();
        let mut known = values.clone();
        if let Some(shape) = shape {
            known.extend((0..shape.n_feature_bits()).map(|bit| b.feature(bit)));
            known.extend((0..shape.n_label_bits()).map(|bit| b.label(bit)));
        }
        let n_gates = self.below(10);
        self.gates(&mut b, &mut known, n_gates);
        for &register in &registers {
            let target = if self.below(8) == 0 { Literal::constant(self.bit()) } else { self.some(&known) };
            b.set(register, target);
        }
        let (next, rare) = (self.some(&known), [self.some(&values), self.some(&values)]);
        b.next(next);
        let halted = b.and([rare[0], rare[1], values[0]]);
        b.halted(halted);
        let mut asked = values;
        if let Some(shape) = shape {
            asked.extend((0..shape.n_feature_bits()).map(|bit| b.query(bit)));
        }
        let n_gates = self.below(4);
        self.gates(&mut b, &mut asked, n_gates);
        let n_output = shape.map_or(1, |shape| shape.n_label_bits());
        let output: Vec<Literal> = (0..n_output).map(|_| self.some(&asked)).collect();
        b.output(output);
        b.build().expect("a circuit")
    }

    /// What samples may look like: none, bits, or numbers; mostly with one label, else with two or three.
    pub(crate) fn shape(&mut self) -> Option<SampleShape> {
        let code = |draw: &mut Self| match draw.below(3) {
            0 => Code::Fixed { n_integer: 2, n_fraction: draw.below(5) as u32 },
            _ => Code::Bit,
        };
        let (n_features, feature, label) = (1 + self.below(3), code(self), code(self));
        let n_labels = [1, 1, 2, 3][self.below(4)];
        (self.below(4) > 0).then_some(SampleShape { n_features, feature, n_labels, label })
    }
}
