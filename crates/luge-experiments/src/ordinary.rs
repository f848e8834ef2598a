//! Ordinary networks with ordinary training, for comparison on streams.
//!
//! There is no machine and no landscape: layers of ReLUs, logistic loss, gradients by automatic differentiation,
//! SGD or Adam.

use candle_core::{DType, Device, Tensor, Var};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use rand_distr::{Distribution, Normal};

use luge_train::TrainError;

/// How weights follow their gradient.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Optimiser {
    /// Against the gradient.
    Sgd,
    /// Adam, with decay 0.9 and 0.999.
    Adam,
}

luge_net::names!(Optimiser, "optimiser", Sgd "SGD", Adam "Adam");

/// A network with ReLU layers and one logistic output, in f32.
pub struct Ordinary {
    layers: Vec<(Var, Var)>,
    /// The same weights as plain numbers, which the optimiser moves.
    blocks: Vec<Block>,
    optimiser: Optimiser,
    rate: f64,
    /// Of Adam: the decays to the power of the steps made.
    powers: (f64, f64),
}

/// The weights or biases of a layer; of Adam also the mean of their gradients and of the squares.
struct Block {
    weights: Vec<f32>,
    mean: Vec<f32>,
    square: Vec<f32>,
}

impl Block {
    fn new(weights: Vec<f32>) -> Self {
        let (mean, square) = (vec![0.0; weights.len()], vec![0.0; weights.len()]);
        Self { weights, mean, square }
    }

    fn sgd(&mut self, gradient: &[f32], rate: f32) {
        for (weight, slope) in self.weights.iter_mut().zip(gradient) {
            *weight -= rate * slope;
        }
    }

    /// `powers`: the decays to the power of the steps made, this one included.
    fn adam(&mut self, gradient: &[f32], rate: f64, powers: (f64, f64)) {
        let (keep, keep_square) = (DECAY.0 as f32, DECAY.1 as f32);
        let rate = (rate / (1.0 - powers.0)) as f32;
        let scale = (1.0 / (1.0 - powers.1)) as f32;
        let moments = self.mean.iter_mut().zip(&mut self.square);
        for ((weight, (mean, square)), &slope) in self.weights.iter_mut().zip(moments).zip(gradient) {
            *mean = keep * *mean + (1.0 - keep) * slope;
            *square = keep_square * *square + (1.0 - keep_square) * slope * slope;
            *weight -= rate * *mean / ((scale * *square).sqrt() + TINY);
        }
    }
}

const DECAY: (f64, f64) = (0.9, 0.999);
const TINY: f32 = 1e-8;

impl Ordinary {
    /// A network with these widths, from the features to the one output; weights are drawn by He's rule, biases are 0.
    ///
    /// # Errors
    /// If tensors cannot be made.
    pub fn new(widths: &[usize], optimiser: Optimiser, rate: f64, seed: u64) -> Result<Self, TrainError> {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let (mut layers, mut blocks) = (Vec::new(), Vec::new());
        for pair in widths.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let spread = (2.0 / from as f64).sqrt();
            let normal = Normal::new(0.0, spread).map_err(|_| TrainError::Shapes { what: "widths" })?;
            let weights: Vec<f32> = (0..from * to).map(|_| normal.sample(&mut generator) as f32).collect();
            let drawn = Tensor::from_slice(&weights, (from, to), &Device::Cpu)?;
            layers.push((Var::from_tensor(&drawn)?, Var::zeros((1, to), DType::F32, &Device::Cpu)?));
            blocks.extend([Block::new(weights), Block::new(vec![0.0; to])]);
        }
        Ok(Self { layers, blocks, optimiser, rate, powers: (1.0, 1.0) })
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
        for (var, block) in vars.zip(&mut self.blocks) {
            let Some(gradient) = gradients.get(var) else { continue };
            let gradient = gradient.flatten_all()?.to_vec1::<f32>()?;
            match self.optimiser {
                Optimiser::Sgd => block.sgd(&gradient, self.rate as f32),
                Optimiser::Adam => block.adam(&gradient, self.rate, self.powers),
            }
            var.set(&Tensor::from_slice(&block.weights, var.dims(), &Device::Cpu)?)?;
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
