//! An ordinary MLP that runs a circuit when SGD trains it: only linear layers and ReLUs, and every weight is trained.
//!
//! Registers are biases of one layer; the layers after it are the circuit's logic. One step of SGD on 1/2 (F(x) - y)^2, with
//! a constant rate, is one clock cycle. docs/ordinary.md explains why.

mod constants;
mod gates;
mod stack;

use luge_circuit::{Circuit, Code, RegisterId, Sample, SampleShape};
use luge_net::Sequential;

use constants::power;
pub use constants::{Float, Inequality, MlpConstants, MlpConstantsError};

/// The layer whose biases are the memory.
pub const MEMORY_LAYER: usize = 1;

/// Added to a register, so that its unit is always open.
const REGISTER_LIFT: f64 = 1.0;
/// Added to a slot, which may be negative.
const SLOT_LIFT: f64 = 2.0;

/// A circuit as a network.
#[derive(Clone, PartialEq, Debug)]
pub struct CircuitNetwork {
    /// Linear layers and ReLUs, with the weights that training starts from.
    pub network: Sequential,
    /// Its constants.
    pub constants: MlpConstants,
    samples: Option<SampleShape>,
    n_registers: usize,
}

/// Products of registers and bits of the current input, which the network adds to the circuit's output once it has halted.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Readout {
    /// The terms of each output.
    pub terms: Vec<Vec<Product>>,
}

/// Registers, bits of the input, and the weight of their product.
pub type Product = (Vec<RegisterId>, Vec<usize>, f64);

impl Readout {
    /// `theta_0 + sum theta_i x_i` for each output. The numbers are words of registers in two's complement with `n_fraction`
    /// bits after the point, those of the first output first.
    pub fn linear(words: &[Vec<RegisterId>], n_outputs: usize, n_fraction: u32, feature: Code) -> Self {
        let of_output = words.chunks((words.len() / n_outputs.max(1)).max(1));
        Self { terms: of_output.map(|words| Self::linear_output(words, n_fraction, feature)).collect() }
    }

    fn linear_output(words: &[Vec<RegisterId>], n_fraction: u32, feature: Code) -> Vec<Product> {
        let mut terms = Vec::new();
        let (offset, weights) = bit_weights(feature);
        for (number, word) in words.iter().enumerate() {
            // theta_0 is multiplied by 1, and the others by the bits of a feature.
            let mut factors = vec![(Vec::new(), if number == 0 { 1.0 } else { offset })];
            if let Some(feature) = number.checked_sub(1) {
                let bits = feature * weights.len()..;
                factors.extend(bits.zip(&weights).map(|(bit, &weight)| (vec![bit], weight)));
            }
            for (at, &register) in word.iter().enumerate() {
                let sign = if at + 1 == word.len() { -1.0 } else { 1.0 };
                let value = sign * bit_weight(at, n_fraction);
                let product =
                    |(bits, factor): &(Vec<usize>, f64)| (vec![register], bits.clone(), value * factor);
                terms.extend(factors.iter().filter(|(_, factor)| *factor != 0.0).map(product));
            }
        }
        terms
    }
}

/// The contents of the memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Memory {
    /// The registers.
    pub registers: Vec<bool>,
    /// The sample that is held.
    pub held: Option<Sample>,
    /// The largest distance of a register or slot from its value.
    pub largest_error: f64,
}

/// A bias that does not represent a value.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
#[error("{} {index} is {value}, which is no value of its own", if *.slot { "slot" } else { "register" })]
pub struct NotInMemory {
    /// Whether it is a slot of the sample, and no register.
    pub slot: bool,
    /// Which one.
    pub index: usize,
    /// What it holds.
    pub value: f64,
}

impl CircuitNetwork {
    /// The network of a circuit.
    pub fn build(circuit: &Circuit, constants: MlpConstants) -> Self {
        Self::build_with(circuit, &Readout::default(), constants)
    }

    /// The network of a circuit, with a readout.
    pub fn build_with(circuit: &Circuit, readout: &Readout, constants: MlpConstants) -> Self {
        Self {
            network: gates::network(circuit, readout, &constants),
            constants,
            samples: circuit.samples(),
            n_registers: circuit.registers().len(),
        }
    }

    /// Number of inputs; a circuit without samples has one that nothing reads.
    pub fn n_inputs(&self) -> usize {
        self.samples.map_or(1, |shape| shape.n_features)
    }

    /// The network's inputs for the features of a sample.
    pub fn inputs(&self, features: &[bool]) -> Vec<f64> {
        match self.samples {
            None => vec![1.0],
            Some(shape) => {
                features.chunks(shape.feature.n_bits()).map(|bits| number(shape.feature, bits)).collect()
            }
        }
    }

    /// Number of outputs: one for each label.
    pub fn n_outputs(&self) -> usize {
        self.samples.map_or(1, |shape| shape.n_labels)
    }

    /// The labels of a sample, or outputs, as numbers; 0 where there are no bits.
    pub fn labels(&self, bits: &[bool]) -> Vec<f64> {
        let code = self.samples.map_or(Code::Bit, |shape| shape.label);
        match bits {
            [] => vec![0.0; self.n_outputs()],
            bits => bits.chunks(code.n_bits()).map(|bits| number(code, bits)).collect(),
        }
    }

    /// What the biases of the memory's layer represent.
    ///
    /// # Errors
    /// If one is further than a quarter of its unit from every value it may have.
    pub fn decode(&self, biases: &[f64]) -> Result<Memory, NotInMemory> {
        let mut largest_error: f64 = 0.0;
        let mut near = |slot: bool, index: usize, value: f64, unit: f64| {
            let whole = (value / unit).round();
            let error = (value / unit - whole).abs();
            largest_error = largest_error.max(error * unit);
            if error < 0.25 { Ok(whole as i64) } else { Err(NotInMemory { slot, index, value }) }
        };
        let mut registers = Vec::with_capacity(self.n_registers);
        for (index, bias) in biases[..self.n_registers].iter().enumerate() {
            let value = bias / self.constants.memory_scale - REGISTER_LIFT;
            registers.push(match near(false, index, value, 1.0)? {
                0 => false,
                1 => true,
                _ => return Err(NotInMemory { slot: false, index, value }),
            });
        }
        let Some(shape) = self.samples else { return Ok(Memory { registers, held: None, largest_error }) };
        let unit = match shape.label {
            Code::Bit => 1.0,
            Code::Fixed { n_integer, n_fraction } => power(-(n_integer + n_fraction).cast_signed()),
        };
        let n_slots = n_slots(shape);
        let mut slots = Vec::with_capacity(n_slots);
        for (index, bias) in biases[self.n_registers..][..n_slots].iter().enumerate() {
            slots.push(near(true, index, bias / self.constants.memory_scale - SLOT_LIFT, unit)?);
        }
        let held = held(shape, &slots).map_err(|index| NotInMemory {
            slot: true,
            index,
            value: slots[index] as f64 * unit,
        })?;
        Ok(Memory { registers, held, largest_error })
    }
}

/// The sample that slots hold, in units of the label; the error is a slot that fits no sample.
fn held(shape: SampleShape, slots: &[i64]) -> Result<Option<Sample>, usize> {
    let (features, labels) = slots.split_at(shape.n_feature_bits());
    let first = labels[0];
    if let Some(index) = features.iter().position(|slot| slot.abs() != first.abs()) {
        return Err(index);
    }
    let known = |label: i64| match shape.label {
        _ if first == 0 => label == 0,
        Code::Bit => label.abs() == 1,
        Code::Fixed { .. } => {
            // y + r in units of y: from a half to three halves of 2^bits.
            let half = 1 << (shape.label.n_bits() - 1);
            (half..3 * half).contains(&label)
        }
    };
    if let Some(index) = labels.iter().position(|&label| !known(label)) {
        return Err(features.len() + index);
    }
    if first == 0 {
        return Ok(None);
    }
    let labels = labels.iter();
    Ok(Some(match shape.label {
        Code::Bit => Sample {
            features: features.iter().map(|&slot| slot == first).collect(),
            label: labels.map(|&label| label > 0).collect(),
        },
        Code::Fixed { .. } => {
            let bits = |&label: &i64| (0..shape.label.n_bits()).map(move |bit| label >> bit & 1 == 1);
            Sample {
                features: features.iter().map(|&slot| slot > 0).collect(),
                label: labels.flat_map(bits).collect(),
            }
        }
    }))
}

/// Slots of a sample: one for each bit of its features, and one for each label.
fn n_slots(shape: SampleShape) -> usize {
    shape.n_feature_bits() + shape.n_labels
}

/// The number with these bits, the lowest first.
fn number(code: Code, bits: &[bool]) -> f64 {
    let (offset, weights) = bit_weights(code);
    bits.iter().zip(weights).fold(offset, |sum, (&bit, weight)| if bit { sum + weight } else { sum })
}

/// The number with no bit set, and what each bit adds to it, the lowest first.
fn bit_weights(code: Code) -> (f64, Vec<f64>) {
    match code {
        Code::Bit => (-1.0, vec![2.0]),
        Code::Fixed { n_fraction, .. } => {
            let sign = |at: usize| if at + 1 == code.n_bits() { -1.0 } else { 1.0 };
            (0.0, (0..code.n_bits()).map(|at| sign(at) * bit_weight(at, n_fraction)).collect())
        }
    }
}

/// The weight of a bit, with `n_fraction` bits after the point.
fn bit_weight(bit: usize, n_fraction: u32) -> f64 {
    power(i32::try_from(bit).unwrap_or(i32::MAX) - n_fraction.cast_signed())
}
