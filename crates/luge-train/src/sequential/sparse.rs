//! The same gradient through the weights that are not zero at the start.

use luge_net::{LinearLayer, Sequential};

use super::{LayerMoves, Perturbation, Real, SequentialEngine, relu};
use crate::TrainError;

/// Goes forwards and backwards through the weights that are not zero, and moves the biases of units that have no weights.
#[derive(Clone, Debug)]
pub struct SparseSgd<T> {
    network: Sequential,
    /// Each layer's weights, in the order of the network's.
    weights: Vec<Vec<T>>,
    biases: Vec<Vec<T>>,
    /// The units of each layer that have a bias alone.
    free: Vec<Vec<usize>>,
    rate: T,
    /// What came into each layer, and what came out before the ReLU.
    inputs: Vec<Vec<T>>,
    sums: Vec<Vec<T>>,
    moves: Vec<LayerMoves>,
    steps: u64,
}

impl<T: Real> SparseSgd<T> {
    /// An engine that starts from a network's weights.
    ///
    /// # Errors
    /// If the network has not one output.
    pub fn new(network: &Sequential, rate: f64) -> Result<Self, TrainError> {
        if network.widths().last() != Some(&1) {
            return Err(TrainError::Shapes { what: "outputs" });
        }
        let near = |values: &[f64]| values.iter().map(|&value| T::near(value)).collect::<Vec<T>>();
        let layers = network.layers();
        let rows = |layer: &LinearLayer| -> Vec<T> {
            (0..layer.n_units()).flat_map(|unit| near(layer.row(unit).1)).collect()
        };
        let free = |layer: &LinearLayer| -> Vec<usize> {
            (0..layer.n_units()).filter(|&unit| layer.row(unit).0.is_empty()).collect()
        };
        Ok(Self {
            weights: layers.iter().map(rows).collect(),
            biases: layers.iter().map(|layer| near(layer.biases())).collect(),
            free: layers.iter().map(free).collect(),
            rate: T::near(rate),
            inputs: layers.iter().map(|layer| vec![T::ZERO; layer.n_inputs()]).collect(),
            sums: layers.iter().map(|layer| vec![T::ZERO; layer.n_units()]).collect(),
            moves: layers.iter().map(LayerMoves::new).collect(),
            steps: 0,
            network: network.clone(),
        })
    }

    /// What training all other weights would have changed so far.
    pub fn perturbation(&self) -> Perturbation {
        Perturbation::compute(&self.network, &self.moves, self.rate.wide(), self.steps)
    }

    fn forward(&mut self, x: &[f64]) -> T {
        let mut values: Vec<T> = x.iter().map(|&x| T::near(x)).collect();
        for (at, layer) in self.network.layers().iter().enumerate() {
            let mut weights = self.weights[at].iter();
            for unit in 0..layer.n_units() {
                let mut sum = self.biases[at][unit];
                for (&column, &weight) in layer.row(unit).0.iter().zip(&mut weights) {
                    sum += weight * values[column as usize];
                }
                self.sums[at][unit] = sum;
            }
            let next = self.sums[at].iter().map(|&sum| relu(sum)).collect();
            self.inputs[at] = std::mem::replace(&mut values, next);
        }
        self.sums.last().map_or(T::ZERO, |sums| sums[0])
    }
}

impl<T: Real> SequentialEngine for SparseSgd<T> {
    fn name(&self) -> &'static str {
        "sparse"
    }

    fn step(&mut self, x: &[f64], y: f64) -> f64 {
        let error = self.forward(x) - T::near(y);
        let mut gradient = vec![error];
        for (at, layer) in self.network.layers().iter().enumerate().rev() {
            self.moves[at].note(&self.inputs[at], &self.sums[at], &gradient);
            let mut to_input = vec![T::ZERO; layer.n_inputs()];
            let mut first = 0;
            for (unit, &slope) in gradient.iter().enumerate() {
                let columns = layer.row(unit).0;
                let last = first + columns.len();
                if slope != T::ZERO {
                    for (&column, &weight) in columns.iter().zip(&self.weights[at][first..last]) {
                        to_input[column as usize] += slope * weight;
                    }
                }
                first = last;
            }
            for &unit in &self.free[at] {
                self.biases[at][unit] -= self.rate * gradient[unit];
            }
            if let Some(below) = at.checked_sub(1) {
                for (slope, &sum) in to_input.iter_mut().zip(&self.sums[below]) {
                    *slope = if sum > T::ZERO { *slope } else { T::ZERO };
                }
            }
            gradient = to_input;
        }
        self.steps += 1;
        0.5 * error.wide() * error.wide()
    }

    fn output(&mut self, x: &[f64]) -> f64 {
        self.forward(x).wide()
    }

    fn biases(&self, layer: usize) -> Vec<f64> {
        self.biases[layer].iter().map(|bias| bias.wide()).collect()
    }
}
