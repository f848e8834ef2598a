//! What a circuit learns: numbers in its registers, which are the weights of a primary network.

use std::sync::Arc;

use luge_circuit::{Circuit, RegisterId, SampleShape};
use luge_landscape::{Primary, mlp::Readout};
use luge_net::{NumberFormat, Shape, Values, numbers::from_signs};

use super::CircuitProgram;
use crate::files::predictor::Predictor;

/// A circuit, and which of its registers hold the learned numbers.
#[derive(Clone)]
pub struct LearnerCircuit {
    /// The circuit.
    pub circuit: Circuit,
    /// Which registers hold the learned numbers; `None` for a circuit that only has an output.
    pub theta: Option<Theta>,
    /// The program that it was compiled from.
    pub program: Option<CircuitProgram>,
}

impl From<Circuit> for LearnerCircuit {
    fn from(circuit: Circuit) -> Self {
        Self { circuit, theta: None, program: None }
    }
}

/// The learned numbers in the registers of a circuit.
#[derive(Clone)]
pub struct Theta {
    /// The registers of each number, the lowest bit first.
    pub words: Vec<Vec<RegisterId>>,
    /// The numbers' format.
    pub format: NumberFormat,
    /// The primary network whose weights they are.
    pub primary: Arc<dyn Primary>,
}

impl Theta {
    /// Reads the numbers from the registers.
    pub fn decode(&self, registers: &[bool]) -> Vec<f64> {
        let sign = |register: &RegisterId| if registers[register.index()] { 1.0 } else { -1.0 };
        from_signs(self.format, &self.words.iter().flatten().map(sign).collect::<Vec<f64>>())
    }

    /// Returns the primary network's outputs for one sample.
    pub fn predict(&self, registers: &[bool], x: &[f64]) -> Vec<f64> {
        let x = Values::new(Shape::new(1, x.len()), x.to_vec());
        Predictor::new(&*self.primary, self.decode(registers)).predict(&x).data
    }

    /// Converts a linear primary network to products of bits, which the MLP itself computes. Returns `None` for all other
    /// primary networks, which are not part of the MLP.
    pub(super) fn readout(&self, shape: Option<SampleShape>) -> Option<Readout> {
        let n_fraction = match self.format {
            NumberFormat::Fixed(fixed) => fixed.n_fraction,
            _ => return None,
        };
        let shape = shape.filter(|shape| shape.n_labels == self.primary.n_outputs())?;
        let linear = self.primary.describe() == "linear";
        linear.then(|| Readout::linear(&self.words, shape.n_labels, n_fraction, shape.feature))
    }
}
