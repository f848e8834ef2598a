//! Layers that are built unit by unit; a signal can be read in its own layer and in every later one.

use luge_circuit::Total;
use luge_net::{LinearLayer, Sequential};

use super::constants::power;

/// A value as weights on the units of one layer, plus a constant.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Form {
    pub(super) terms: Vec<(usize, f64)>,
    pub(super) constant: f64,
}

impl Form {
    /// One unit.
    pub(super) fn unit(unit: usize) -> Self {
        Self { terms: vec![(unit, 1.0)], constant: 0.0 }
    }

    /// `factor` times this.
    pub(super) fn times(mut self, factor: f64) -> Self {
        self.terms.iter_mut().for_each(|(_, weight)| *weight *= factor);
        self.constant *= factor;
        self
    }

    /// This and another of the same layer.
    pub(super) fn plus(mut self, other: Self) -> Self {
        self.add(other);
        self
    }

    /// Adds another of the same layer.
    pub(super) fn add(&mut self, other: Self) {
        self.terms.extend(other.terms);
        self.constant += other.constant;
    }

    /// This and a constant.
    pub(super) fn shifted(mut self, by: f64) -> Self {
        self.constant += by;
        self
    }
}

/// A computed value, by its index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Signal(usize);

/// A signal of value 0 or 1, or its negation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Operand {
    pub(super) signal: Signal,
    pub(super) negated: bool,
}

impl From<Signal> for Operand {
    fn from(signal: Signal) -> Self {
        Self { signal, negated: false }
    }
}

impl std::ops::Not for Operand {
    type Output = Self;

    fn not(self) -> Self {
        Self { negated: !self.negated, ..self }
    }
}

struct Known {
    layer: usize,
    form: Form,
    /// The units that hold it in the layers after its own.
    passes: Vec<usize>,
}

/// Bits per digit of a label: more bits mean fewer layers before the logic. The slot's error is below 1/4 of its unit, which
/// all thresholds tolerate, and does not grow from digit to digit.
const LABEL_DIGIT: u32 = 3;

/// Bits per digit of an input: only the output needs them, and single bits take the fewest units.
const INPUT_DIGIT: u32 = 1;

/// A whole number that is read digit by digit, the highest first.
pub(super) struct Digits {
    /// The rest below the digits that are known.
    rest: Signal,
    /// The largest value that may be left.
    most: u64,
    n_bits: u32,
    /// Whether thresholds are saturated once more.
    twice: bool,
    /// The lowest bit of each digit, the highest digit first.
    lowest: Vec<u32>,
    /// Digits that are known.
    n_read: usize,
    /// The bits that are known, the highest first.
    bits: Vec<Signal>,
}

impl Digits {
    /// The number that a total is.
    pub(super) fn new(number: Signal, total: &Total) -> Self {
        Self::read(number, total.most(), total.digits(), false)
    }

    fn read(rest: Signal, most: u64, lowest: Vec<u32>, twice: bool) -> Self {
        let n_bits = u64::BITS - most.leading_zeros();
        Self { rest, most, n_bits, twice, lowest, n_read: 0, bits: Vec::new() }
    }

    /// A bit; digits are read until it is known.
    pub(super) fn bit(&mut self, stack: &mut Stack, bit: u32) -> Signal {
        let from_top = (self.n_bits - 1 - bit) as usize;
        while self.bits.len() <= from_top {
            let lowest = self.lowest[self.n_read];
            self.n_read += 1;
            self.digit(stack, lowest);
        }
        self.bits[from_top]
    }

    /// Thresholds at the multiples of a power of two; bits are alternating sums of them.
    fn digit(&mut self, stack: &mut Stack, lowest: u32) {
        let (layer, unit) = (stack.layer(self.rest), power(lowest.cast_signed()));
        let (form, n_thresholds) = (stack.at(self.rest, layer).times(2.0), self.most >> lowest);
        let mut steps = Vec::new();
        for at in 1..=n_thresholds {
            let step = stack.step(layer + 1, form.clone().shifted(0.5 - 2.0 * unit * at as f64));
            let step = stack.signal(layer + 1, step);
            steps.push(if self.twice { stack.saturated(step) } else { step });
        }
        let layer = steps.first().map_or(layer, |&step| stack.layer(step));
        let mut rest = stack.at(self.rest, layer);
        for bit in (0..u64::BITS - n_thresholds.leading_zeros()).rev() {
            let mut form = Form::default();
            for (below, &step) in steps.iter().enumerate() {
                match (below >> bit & 1, (below + 1) >> bit & 1) {
                    (0, 1) => form = form.plus(stack.at(step, layer)),
                    (1, 0) => form = form.plus(stack.at(step, layer).times(-1.0)),
                    _ => {}
                }
            }
            self.bits.push(stack.signal(layer, form));
        }
        for &step in &steps {
            rest = rest.plus(stack.at(step, layer).times(-unit));
        }
        self.rest = stack.signal(layer, rest);
        self.most = self.most.min((1 << lowest) - 1);
    }
}

/// The layers so far.
pub(super) struct Stack {
    n_inputs: usize,
    layers: Vec<Vec<Form>>,
    signals: Vec<Known>,
}

impl Stack {
    pub(super) fn new(n_inputs: usize) -> Self {
        Self { n_inputs, layers: Vec::new(), signals: Vec::new() }
    }

    /// Adds a unit that is the ReLU of a form over the layer below.
    pub(super) fn unit(&mut self, layer: usize, form: Form) -> usize {
        if self.layers.len() <= layer {
            self.layers.resize(layer + 1, Vec::new());
        }
        self.layers[layer].push(form);
        self.layers[layer].len() - 1
    }

    /// Makes a signal of a form over a layer's units.
    pub(super) fn signal(&mut self, layer: usize, form: Form) -> Signal {
        self.signals.push(Known { layer, form, passes: Vec::new() });
        Signal(self.signals.len() - 1)
    }

    /// The signal's own layer.
    pub(super) fn layer(&self, signal: Signal) -> usize {
        self.signals[signal.0].layer
    }

    /// A signal as a form over the units of a layer. Units `ReLU(v + 1)` pass it on; v is above -1, so they are never near
    /// their kinks.
    pub(super) fn at(&mut self, signal: Signal, layer: usize) -> Form {
        let Known { layer: own, form, passes } = &self.signals[signal.0];
        if layer == *own || form.terms.is_empty() {
            return form.clone();
        }
        let (own, n_passes) = (*own, passes.len());
        let mut last = match passes.last() {
            Some(&unit) => Form::unit(unit).shifted(-1.0),
            None => form.clone(),
        };
        for next in own + 1 + n_passes..=layer {
            let unit = self.unit(next, last.shifted(1.0));
            self.signals[signal.0].passes.push(unit);
            last = Form::unit(unit).shifted(-1.0);
        }
        Form::unit(self.signals[signal.0].passes[layer - own - 1]).shifted(-1.0)
    }

    /// An operand as a form over the units of a layer.
    pub(super) fn operand(&mut self, operand: Operand, layer: usize) -> Form {
        let form = self.at(operand.signal, layer);
        if operand.negated { form.times(-1.0).shifted(1.0) } else { form }
    }

    /// The last of the operands' layers.
    pub(super) fn last_layer(&self, operands: &[Operand]) -> usize {
        operands.iter().map(|operand| self.layer(operand.signal)).max().unwrap_or(0)
    }

    /// The sum of operands in a layer.
    fn total(&mut self, operands: &[Operand], layer: usize) -> Form {
        operands.iter().fold(Form::default(), |sum, &operand| sum.plus(self.operand(operand, layer)))
    }

    /// 1 if all operands are 1, in a given layer: `ReLU(2 sum a - 2r + 1)`.
    pub(super) fn and_in(&mut self, layer: usize, operands: &[Operand]) -> Signal {
        let off = 1.0 - 2.0 * operands.len() as f64;
        let form = self.total(operands, layer - 1).times(2.0).shifted(off);
        let unit = self.unit(layer, form);
        self.signal(layer, Form::unit(unit))
    }

    /// 1 if all operands are 1, in the first possible layer.
    pub(super) fn and(&mut self, operands: &[Operand]) -> Signal {
        self.and_in(self.last_layer(operands) + 1, operands)
    }

    /// The sum of operands of which at most one is 1: no units.
    pub(super) fn sum(&mut self, operands: &[Operand]) -> Signal {
        let layer = self.last_layer(operands);
        let form = self.total(operands, layer);
        self.signal(layer, form)
    }

    /// 1 if an odd number of operands is 1: two units each, flat at whole numbers.
    pub(super) fn parity(&mut self, operands: &[Operand]) -> Signal {
        let layer = self.last_layer(operands);
        let sum = self.total(operands, layer).times(2.0);
        let mut form = Form::default();
        for k in 1..=operands.len() {
            let step = self.step(layer + 1, sum.clone().shifted(0.5 - 2.0 * k as f64));
            form = form.plus(step.times(if k % 2 == 1 { 1.0 } else { -1.0 }));
        }
        self.signal(layer + 1, form)
    }

    /// `ReLU(v + 1) - ReLU(v)`: 0 for v below -1, 1 for v above 0.
    pub(super) fn step(&mut self, layer: usize, v: Form) -> Form {
        let upper = self.unit(layer, v.clone().shifted(1.0));
        let lower = self.unit(layer, v);
        Form { terms: vec![(upper, 1.0), (lower, -1.0)], constant: 0.0 }
    }

    /// A clean copy of a value that is near 0 or near 1.
    pub(super) fn saturated(&mut self, signal: Signal) -> Signal {
        let layer = self.layer(signal);
        let doubled = self.at(signal, layer).times(2.0).shifted(-1.5);
        let step = self.step(layer + 1, doubled);
        self.signal(layer + 1, step)
    }

    /// A constant plus a weight for each operand that is 1.
    pub(super) fn weighted(&mut self, constant: u64, operands: &[Operand], weights: &[u64]) -> Signal {
        let layer = self.last_layer(operands);
        let mut form = Form { terms: Vec::new(), constant: constant as f64 };
        for (&operand, &weight) in operands.iter().zip(weights) {
            form = form.plus(self.operand(operand, layer).times(weight as f64));
        }
        self.signal(layer, form)
    }

    /// The bits of a whole number below `2^n_bits`, the lowest first: of an input, or of a label, whose thresholds are not exact
    /// and are saturated twice.
    pub(super) fn bits(&mut self, number: Signal, n_bits: u32, twice: bool) -> Vec<Signal> {
        let n_digits = n_bits.div_ceil(if twice { LABEL_DIGIT } else { INPUT_DIGIT });
        let lowest = (0..n_digits).rev().map(|digit| digit * n_bits / n_digits);
        let mut digits = Digits::read(number, (1 << n_bits) - 1, lowest.collect(), twice);
        let mut bits: Vec<Signal> = (0..n_bits).rev().map(|bit| digits.bit(self, bit)).collect();
        bits.reverse();
        bits
    }

    /// The network.
    pub(super) fn finish(mut self, outputs: Vec<Form>) -> Sequential {
        self.layers.push(outputs);
        let mut n_inputs = self.n_inputs;
        let mut layers = Vec::with_capacity(self.layers.len());
        for forms in self.layers {
            let mut layer = LinearLayer::new(n_inputs);
            for form in forms {
                layer.push(form.terms, form.constant);
            }
            n_inputs = layer.n_units();
            layers.push(layer);
        }
        Sequential::new(layers)
    }
}
