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
    /// The weights and the biases of each layer, in turn.
    weights: Vec<Var>,
    /// For Adam, the running means of each gradient and of its square.
    moments: Vec<(Tensor, Tensor)>,
    optimiser: Optimiser,
    rate: f64,
    /// For Adam, the decays to the power of the number of steps.
    powers: (f64, f64),
}

/// Adam's decays, and what keeps its divisor from being 0.
const DECAY: (f64, f64) = (0.9, 0.999);
const TINY: f64 = 1e-8;

impl Ordinary {
    /// A network with these widths, from the features to the one output. Weights are drawn by He's rule; biases are 0.
    ///
    /// # Errors
    /// If tensors cannot be made.
    pub fn new(widths: &[usize], optimiser: Optimiser, rate: f64, seed: u64) -> Result<Self, TrainError> {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let mut weights = Vec::new();
        for pair in widths.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let spread = (2.0 / from as f64).sqrt();
            let normal = Normal::new(0.0, spread).map_err(|_| TrainError::Shapes { what: "widths" })?;
            let drawn: Vec<f32> = (0..from * to).map(|_| normal.sample(&mut generator) as f32).collect();
            weights.push(Var::from_tensor(&Tensor::from_slice(&drawn, (from, to), &Device::Cpu)?)?);
            weights.push(Var::zeros((1, to), DType::F32, &Device::Cpu)?);
        }
        let zeros = |var: &Var| Ok((var.zeros_like()?, var.zeros_like()?));
        let moments = weights.iter().map(zeros).collect::<Result<_, TrainError>>()?;
        Ok(Self { weights, moments, optimiser, rate, powers: (1.0, 1.0) })
    }

    /// The logits of samples, row by row.
    fn logits(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        let mut value = x.clone();
        for (layer, pair) in self.weights.chunks_exact(2).enumerate() {
            value = if layer > 0 { value.relu()? } else { value };
            value = value.matmul(&pair[0])?.broadcast_add(&pair[1])?;
        }
        Ok(value)
    }

    /// One step on a batch; labels are 0 and 1. The loss is the mean of `log(1 + e^z) - y z`.
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
        for (var, moments) in self.weights.iter().zip(&mut self.moments) {
            let Some(gradient) = gradients.get(var) else { continue };
            let change = match self.optimiser {
                Optimiser::Sgd => (gradient * self.rate)?,
                Optimiser::Adam => adam(moments, gradient, self.rate, self.powers)?,
            };
            var.set(&(var.as_tensor() - change)?)?;
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

/// What Adam subtracts from weights; it moves their moments. `powers` are the decays to the power of the number of steps,
/// this one included.
fn adam(
    (mean, square): &mut (Tensor, Tensor),
    gradient: &Tensor,
    rate: f64,
    powers: (f64, f64),
) -> candle_core::Result<Tensor> {
    // The complements of the decays in f32.
    let rest = (f64::from(1.0 - DECAY.0 as f32), f64::from(1.0 - DECAY.1 as f32));
    *mean = ((&*mean * DECAY.0)? + (gradient * rest.0)?)?;
    *square = ((&*square * DECAY.1)? + ((gradient * rest.1)? * gradient)?)?;
    let (rate, scale) = (rate / (1.0 - powers.0), 1.0 / (1.0 - powers.1));
    (&*mean * rate)? / ((&*square * scale)?.sqrt()? + TINY)?
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
