//! SGD on every weight and every bias, with a short reverse pass.

use luge_net::Sequential;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use rand_distr::{Distribution, Uniform};

use super::{Real, SequentialEngine, errors, near, relu, through_relus, wide};
use crate::TrainError;

/// The most weights that a dense network may have: 2 GiB of f64.
pub const MAX_DENSE_WEIGHTS: u64 = 1 << 28;

/// A linear layer with all its weights, row by row.
#[derive(Clone, Debug)]
struct Layer<T> {
    weights: Vec<T>,
    biases: Vec<T>,
    /// The inputs of the last forward pass, and the outputs before the ReLU.
    input: Vec<T>,
    sums: Vec<T>,
}

/// Trains every weight and bias of every layer.
#[derive(Clone, Debug)]
pub struct DenseSgd<T> {
    layers: Vec<Layer<T>>,
    rate: T,
}

impl<T: Real> DenseSgd<T> {
    /// An engine that starts from a network's weights, zeros included.
    ///
    /// # Errors
    /// If it has more weights than fit.
    pub fn new(network: &Sequential, rate: f64) -> Result<Self, TrainError> {
        if network.n_weights() > MAX_DENSE_WEIGHTS {
            return Err(TrainError::TooManyWeights {
                n_weights: network.n_weights(),
                max: MAX_DENSE_WEIGHTS,
            });
        }
        let dense = |layer: &luge_net::LinearLayer| {
            let weights: Vec<T> = layer.dense().into_iter().map(near).collect();
            let biases: Vec<T> = layer.biases().iter().map(|&b| near(b)).collect();
            let (input, sums) = (vec![T::zero(); layer.n_inputs()], vec![T::zero(); layer.n_units()]);
            Layer { weights, biases, input, sums }
        };
        Ok(Self { layers: network.layers().iter().map(dense).collect(), rate: near(rate) })
    }

    /// A layer's weights, row by row.
    pub fn weights(&self, layer: usize) -> &[T] {
        &self.layers[layer].weights
    }

    fn forward(&mut self, x: &[f64]) -> &[T] {
        let mut values: Vec<T> = x.iter().map(|&x| near(x)).collect();
        for layer in &mut self.layers {
            layer.input = values;
            let rows = layer.weights.chunks_exact(layer.input.len());
            for ((sum, row), &bias) in layer.sums.iter_mut().zip(rows).zip(&layer.biases) {
                *sum = bias + dot(row, &layer.input);
            }
            values = layer.sums.iter().map(|&sum| relu(sum)).collect();
        }
        self.layers.last().map_or(&[], |layer| &layer.sums)
    }
}

impl<T: Real> SequentialEngine for DenseSgd<T> {
    fn name(&self) -> &'static str {
        "dense"
    }

    fn step(&mut self, x: &[f64], y: &[f64]) -> f64 {
        // The gradient by the sums of the current layer.
        let (mut gradient, loss) = errors(self.forward(x), y);
        for at in (0..self.layers.len()).rev() {
            let (below, layer) = self.layers.split_at_mut(at);
            let layer = &mut layer[0];
            let mut to_input = vec![T::zero(); layer.input.len()];
            let rows = layer.weights.chunks_exact_mut(layer.input.len());
            for ((row, bias), &slope) in rows.zip(&mut layer.biases).zip(&gradient) {
                if slope == T::zero() {
                    continue;
                }
                for ((weight, to), &input) in row.iter_mut().zip(&mut to_input).zip(&layer.input) {
                    *to += slope * *weight;
                    *weight -= self.rate * (slope * input);
                }
                *bias -= self.rate * slope;
            }
            if let Some(below) = below.last() {
                through_relus(&mut to_input, &below.sums);
            }
            gradient = to_input;
        }
        loss
    }

    fn output(&mut self, x: &[f64]) -> Vec<f64> {
        self.forward(x).iter().map(|&output| wide(output)).collect()
    }

    fn biases(&self, layer: usize) -> Vec<f64> {
        self.layers[layer].biases.iter().map(|&bias| wide(bias)).collect()
    }
}

/// A sum of products in eight interleaved parts.
fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let mut parts = [T::zero(); 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let (rest_a, rest_b) = (a.remainder(), b.remainder());
    for (a, b) in a.zip(b) {
        parts.iter_mut().zip(a.iter().zip(b)).for_each(|(part, (&a, &b))| *part += a * b);
    }
    parts.iter_mut().zip(rest_a.iter().zip(rest_b)).for_each(|(part, (&a, &b))| *part += a * b);
    parts.into_iter().fold(T::zero(), |sum, part| sum + part)
}

/// A network of these widths with the weights and biases that PyTorch gives `nn.Linear`: uniform in +-1/sqrt(inputs).
pub fn default_weights(widths: &[usize], seed: u64) -> Sequential {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let layer = |pair: &[usize]| {
        let bound = 1.0 / (pair[0] as f64).sqrt();
        let range = Uniform::new(-bound, bound).expect("a range that is not empty");
        let mut layer = luge_net::LinearLayer::new(pair[0]);
        for _ in 0..pair[1] {
            let terms: Vec<(usize, f64)> =
                (0..pair[0]).map(|at| (at, range.sample(&mut generator))).collect();
            layer.push(terms, range.sample(&mut generator));
        }
        layer
    };
    Sequential::new(widths.windows(2).map(layer).collect())
}
