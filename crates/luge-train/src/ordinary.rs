//! Ordinary networks, trained as everybody trains them: what learning from a stream is compared with.
//!
//! No machine, no landscape: layers of ReLUs, logistic loss, gradients by automatic differentiation, SGD or Adam.

use candle_core::{DType, Device, Tensor, Var};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use rand_distr::{Distribution, Normal};

use crate::TrainError;

/// How weights follow their gradient.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Optimiser {
    /// Against the gradient.
    Sgd,
    /// Adam, with decay 0.9 and 0.999.
    Adam,
}

impl Optimiser {
    /// Both optimisers.
    pub const ALL: [Self; 2] = [Self::Sgd, Self::Adam];

    /// The optimiser's name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Sgd => "SGD",
            Self::Adam => "Adam",
        }
    }
}

/// A network with ReLU layers and one logistic output, in f32.
pub struct Ordinary {
    layers: Vec<(Var, Var)>,
    /// Of Adam: the mean of the gradients and of their squares, for each weight.
    moments: Vec<(Tensor, Tensor)>,
    optimiser: Optimiser,
    rate: f64,
    /// Of Adam: the decays to the power of the steps made.
    powers: (f64, f64),
}

const DECAY: (f64, f64) = (0.9, 0.999);
const TINY: f64 = 1e-8;

impl Ordinary {
    /// A network with these widths, from the features to the one output; weights are drawn by He's rule, biases are 0.
    ///
    /// # Errors
    /// If tensors cannot be made.
    pub fn new(widths: &[usize], optimiser: Optimiser, rate: f64, seed: u64) -> Result<Self, TrainError> {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let mut layers = Vec::new();
        for pair in widths.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let spread = (2.0 / from as f64).sqrt();
            let normal = Normal::new(0.0, spread).map_err(|_| TrainError::Shapes { what: "widths" })?;
            let weights: Vec<f32> = (0..from * to).map(|_| normal.sample(&mut generator) as f32).collect();
            let weights = Var::from_tensor(&Tensor::from_vec(weights, (from, to), &Device::Cpu)?)?;
            layers.push((weights, Var::zeros((1, to), DType::F32, &Device::Cpu)?));
        }
        let zeros = |var: &Var| Ok::<_, candle_core::Error>((var.zeros_like()?, var.zeros_like()?));
        let vars = layers.iter().flat_map(|(weights, bias)| [weights, bias]);
        let moments = vars.map(zeros).collect::<Result<_, _>>()?;
        Ok(Self { layers, moments, optimiser, rate, powers: (1.0, 1.0) })
    }

    /// The logits of samples, row by row.
    fn logits(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        let mut value = x.clone();
        for (layer, (weights, bias)) in self.layers.iter().enumerate() {
            value = value.matmul(weights)?.broadcast_add(bias)?;
            if layer + 1 < self.layers.len() {
                value = value.relu()?;
            }
        }
        Ok(value)
    }

    /// One step on a batch; labels are 0 and 1. The mean of `log(1 + e^z) - y z`.
    ///
    /// # Errors
    /// If automatic differentiation fails.
    pub fn step(&mut self, x: &[f32], y: &[f32]) -> Result<(), TrainError> {
        let rows = y.len();
        let x = Tensor::from_slice(x, (rows, x.len() / rows.max(1)), &Device::Cpu)?;
        let y = Tensor::from_slice(y, (rows, 1), &Device::Cpu)?;
        let z = self.logits(&x)?;
        let softplus = (z.relu()? + (z.abs()?.neg()?.exp()? + 1.0)?.log()?)?;
        let loss = (softplus - (z * y)?)?.mean_all()?;
        let gradients = loss.backward()?;
        self.powers = (self.powers.0 * DECAY.0, self.powers.1 * DECAY.1);
        let vars = self.layers.iter().flat_map(|(weights, bias)| [weights, bias]);
        for (var, (mean, square)) in vars.zip(&mut self.moments) {
            let Some(gradient) = gradients.get(var) else { continue };
            let update = match self.optimiser {
                Optimiser::Sgd => gradient.affine(self.rate, 0.0)?,
                Optimiser::Adam => {
                    *mean = (mean.affine(DECAY.0, 0.0)? + gradient.affine(1.0 - DECAY.0, 0.0)?)?.detach();
                    *square = (square.affine(DECAY.1, 0.0)? + gradient.sqr()?.affine(1.0 - DECAY.1, 0.0)?)?
                        .detach();
                    let root = square.affine(1.0 / (1.0 - self.powers.1), 0.0)?.sqrt()?.affine(1.0, TINY)?;
                    (mean.affine(self.rate / (1.0 - self.powers.0), 0.0)? / root)?
                }
            };
            var.set(&(var.as_tensor() - update)?.detach())?;
        }
        Ok(())
    }

    /// How many labels of these samples the network gets right.
    ///
    /// # Errors
    /// If tensors cannot be made.
    pub fn n_right(&self, x: &[f32], y: &[f32]) -> Result<usize, TrainError> {
        let rows = y.len();
        let x = Tensor::from_slice(x, (rows, x.len() / rows.max(1)), &Device::Cpu)?;
        let z = self.logits(&x)?.detach().flatten_all()?.to_vec1::<f32>()?;
        Ok(z.iter().zip(y).filter(|(z, y)| (**z > 0.0) == (**y > 0.5)).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first of two bits is learned by both optimisers, and a network that is not trained does not know it.
    #[test]
    fn what_is_easy_is_learned() {
        let (x, y) = ([1.0, 1.0, 1.0, -1.0, -1.0, 1.0, -1.0, -1.0], [1.0, 1.0, 0.0, 0.0]);
        for (optimiser, rate) in [(Optimiser::Sgd, 0.1), (Optimiser::Adam, 0.01)] {
            let mut network = Ordinary::new(&[2, 16, 16, 1], optimiser, rate, 1).unwrap();
            for _ in 0..200 {
                network.step(&x, &y).unwrap();
            }
            assert_eq!(network.n_right(&x, &y).unwrap(), 4, "{}", optimiser.word());
            let mut unmoved = Ordinary::new(&[2, 16, 16, 1], optimiser, 0.0, 1).unwrap();
            let before = unmoved.n_right(&x, &y).unwrap();
            unmoved.step(&x, &y).unwrap();
            assert_eq!(unmoved.n_right(&x, &y).unwrap(), before);
        }
    }
}
