//! SGD through the weights that are not zero at the start.

use luge_net::{LinearLayer, Sequential};

use super::{LayerMoves, Perturbation, Real, SequentialEngine, errors, near, relu, through_relus, wide};

/// Propagates forwards and backwards through the weights that are not zero, and trains the biases of units without weights.
///
/// A unit keeps its sum while its inputs do not change, so a forward pass computes only the others: the same numbers, bit for
/// bit, in a fraction of the time.
#[derive(Clone, Debug)]
pub struct SparseSgd<T> {
    network: Sequential,
    layers: Vec<Layer<T>>,
    rate: T,
    steps: u64,
    /// Whether every unit has been computed.
    begun: bool,
}

#[derive(Clone, Debug)]
struct Layer<T> {
    /// The weights of each unit, with the inputs that they belong to.
    terms: Vec<Vec<(u32, T)>>,
    biases: Vec<T>,
    /// The units without weights, which have only a bias.
    free: Vec<usize>,
    /// The units that read each input.
    readers: Vec<Vec<usize>>,
    /// The inputs, and the outputs before the ReLU.
    inputs: Vec<T>,
    sums: Vec<T>,
    /// Units to be computed, and whether each is among them.
    waiting: Vec<usize>,
    waits: Vec<bool>,
    moves: LayerMoves,
}

impl<T: Real> Layer<T> {
    fn new(layer: &LinearLayer) -> Self {
        let (n_units, n_inputs) = (layer.n_units(), layer.n_inputs());
        let mut readers = vec![Vec::new(); n_inputs];
        for unit in 0..n_units {
            layer.terms(unit).for_each(|(input, _)| readers[input].push(unit));
        }
        let terms =
            |unit: usize| layer.terms(unit).map(|(input, weight)| (input as u32, near(weight))).collect();
        Self {
            terms: (0..n_units).map(terms).collect(),
            biases: layer.biases().iter().map(|&bias| near(bias)).collect(),
            free: (0..n_units).filter(|&unit| layer.row(unit).0.is_empty()).collect(),
            readers,
            inputs: vec![T::zero(); n_inputs],
            sums: vec![T::zero(); n_units],
            waiting: Vec::new(),
            waits: vec![false; n_units],
            moves: LayerMoves::new(layer),
        }
    }

    /// Marks a unit whose sum must be computed.
    fn expect(&mut self, unit: usize) {
        if !std::mem::replace(&mut self.waits[unit], true) {
            self.waiting.push(unit);
        }
    }

    /// Sets an input, and marks the units that read it.
    fn set_input(&mut self, input: usize, value: T) {
        self.inputs[input] = value;
        self.moves.note_input(input, value);
        for at in 0..self.readers[input].len() {
            self.expect(self.readers[input][at]);
        }
    }
}

impl<T: Real> SparseSgd<T> {
    /// An engine that starts from a network's weights.
    pub fn new(network: &Sequential, rate: f64) -> Self {
        let layers = network.layers().iter().map(Layer::new).collect();
        Self { layers, rate: near(rate), steps: 0, begun: false, network: network.clone() }
    }

    /// What training all other weights would have changed so far.
    pub fn perturbation(&self) -> Perturbation {
        let moves: Vec<&LayerMoves> = self.layers.iter().map(|layer| &layer.moves).collect();
        Perturbation::compute(&self.network, &moves, wide(self.rate), self.steps)
    }

    fn forward(&mut self, x: &[f64]) -> &[T] {
        let begins = !std::mem::replace(&mut self.begun, true);
        for (input, &x) in x.iter().enumerate() {
            let x = near(x);
            if begins || x != self.layers[0].inputs[input] {
                self.layers[0].set_input(input, x);
            }
        }
        for at in 0..self.layers.len() {
            let (layer, above) = self.layers[at..].split_first_mut().expect("a layer");
            let mut above = above.first_mut();
            if begins {
                (0..layer.sums.len()).for_each(|unit| layer.expect(unit));
            }
            let waiting = std::mem::take(&mut layer.waiting);
            for &unit in &waiting {
                layer.waits[unit] = false;
                let terms = layer.terms[unit].iter();
                let sum = terms
                    .fold(layer.biases[unit], |sum, &(at, weight)| sum + weight * layer.inputs[at as usize]);
                layer.sums[unit] = sum;
                let value = relu(sum);
                if let Some(above) = above.as_deref_mut()
                    && (begins || value != above.inputs[unit])
                {
                    above.set_input(unit, value);
                }
            }
            waiting.into_iter().for_each(|unit| layer.moves.note_sum(unit, &layer.sums));
        }
        self.layers.last().map_or(&[], |layer| &layer.sums)
    }
}

impl<T: Real> SequentialEngine for SparseSgd<T> {
    fn name(&self) -> &'static str {
        "sparse"
    }

    fn step(&mut self, x: &[f64], y: &[f64]) -> f64 {
        let (mut gradient, loss) = errors(self.forward(x), y);
        for at in (0..self.layers.len()).rev() {
            let (below, layer) = self.layers.split_at_mut(at);
            let layer = &mut layer[0];
            let mut to_input = vec![T::zero(); layer.inputs.len()];
            for (unit, &slope) in gradient.iter().enumerate().filter(|(_, slope)| **slope != T::zero()) {
                layer.moves.note_slope(unit, slope);
                layer.terms[unit]
                    .iter()
                    .for_each(|&(input, weight)| to_input[input as usize] += slope * weight);
            }
            for at in 0..layer.free.len() {
                let unit = layer.free[at];
                if gradient[unit] != T::zero() {
                    layer.biases[unit] -= self.rate * gradient[unit];
                    layer.expect(unit);
                }
            }
            if let Some(below) = below.last() {
                through_relus(&mut to_input, &below.sums);
            }
            gradient = to_input;
        }
        self.steps += 1;
        loss
    }

    fn output(&mut self, x: &[f64]) -> Vec<f64> {
        self.forward(x).iter().map(|&output| wide(output)).collect()
    }

    fn biases(&self, layer: usize) -> Vec<f64> {
        self.layers[layer].biases.iter().map(|&bias| wide(bias)).collect()
    }
}
