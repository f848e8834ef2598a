//! Linear layers with ReLUs between them, as `nn.Sequential` has them, stored as the weights that are not zero.

/// A linear layer `W x + b`, row by row: one row for every unit.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LinearLayer {
    n_inputs: usize,
    /// Where each unit's weights begin, and the end of the last.
    starts: Vec<usize>,
    columns: Vec<u32>,
    weights: Vec<f64>,
    biases: Vec<f64>,
}

impl LinearLayer {
    /// A layer without units.
    pub fn new(n_inputs: usize) -> Self {
        Self { n_inputs, starts: vec![0], ..Self::default() }
    }

    /// Adds a unit and returns its index. Terms with the same column are added up, zeros left out.
    ///
    /// # Panics
    /// If a column is not an input of the layer.
    pub fn push(&mut self, terms: impl IntoIterator<Item = (usize, f64)>, bias: f64) -> usize {
        let mut terms: Vec<(usize, f64)> = terms.into_iter().collect();
        terms.sort_unstable_by_key(|&(column, _)| column);
        let first = self.columns.len();
        for (column, weight) in terms {
            assert!(column < self.n_inputs, "column {column} of {}", self.n_inputs);
            let column = u32::try_from(column).expect("fewer than 2^32 units");
            if self.columns.len() > first && self.columns.last() == Some(&column) {
                *self.weights.last_mut().expect("a weight for every column") += weight;
            } else {
                self.columns.push(column);
                self.weights.push(weight);
            }
            if self.weights.last() == Some(&0.0) {
                self.columns.pop();
                self.weights.pop();
            }
        }
        self.starts.push(self.columns.len());
        self.biases.push(bias);
        self.biases.len() - 1
    }

    /// Number of inputs.
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// Number of units.
    pub fn n_units(&self) -> usize {
        self.biases.len()
    }

    /// The number of weights that are not zero.
    pub fn n_nonzero(&self) -> usize {
        self.weights.len()
    }

    /// The columns and weights of a unit, in ascending order of columns.
    pub fn row(&self, unit: usize) -> (&[u32], &[f64]) {
        let range = self.starts[unit]..self.starts[unit + 1];
        (&self.columns[range.clone()], &self.weights[range])
    }

    /// The weights of a unit with their columns.
    pub fn terms(&self, unit: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (columns, weights) = self.row(unit);
        columns.iter().zip(weights).map(|(&column, &weight)| (column as usize, weight))
    }

    /// All weights, zeros included, row by row.
    pub fn dense(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.n_units() * self.n_inputs];
        for unit in 0..self.n_units() {
            self.terms(unit).for_each(|(at, weight)| weights[unit * self.n_inputs + at] = weight);
        }
        weights
    }

    /// Every unit's bias.
    pub fn biases(&self) -> &[f64] {
        &self.biases
    }

    /// The number of weights and biases of the dense layer, zeros included.
    pub fn n_weights(&self) -> u64 {
        (self.n_inputs as u64 + 1) * self.n_units() as u64
    }
}

/// Linear layers with a ReLU after each but the last.
#[derive(Clone, PartialEq, Debug)]
pub struct Sequential {
    layers: Vec<LinearLayer>,
}

impl Sequential {
    /// A network of layers.
    ///
    /// # Panics
    /// If there is none, or the sizes of two neighbours do not fit.
    pub fn new(layers: Vec<LinearLayer>) -> Self {
        assert!(!layers.is_empty(), "a network has a layer");
        for pair in layers.windows(2) {
            assert_eq!(pair[0].n_units(), pair[1].n_inputs(), "layers fit together");
        }
        Self { layers }
    }

    /// The layers, in the order they are computed.
    pub fn layers(&self) -> &[LinearLayer] {
        &self.layers
    }

    /// Sets the bias of a unit.
    pub fn set_bias(&mut self, layer: usize, unit: usize, bias: f64) {
        self.layers[layer].biases[unit] = bias;
    }

    /// The number of inputs, then the number of units of every layer.
    pub fn widths(&self) -> Vec<usize> {
        let first = self.layers[0].n_inputs;
        std::iter::once(first).chain(self.layers.iter().map(LinearLayer::n_units)).collect()
    }

    /// The number of weights and biases of the dense network, zeros included.
    pub fn n_weights(&self) -> u64 {
        self.layers.iter().map(LinearLayer::n_weights).sum()
    }

    /// The number of weights that are not zero, without biases.
    pub fn n_nonzero(&self) -> usize {
        self.layers.iter().map(LinearLayer::n_nonzero).sum()
    }

    /// Computes the outputs.
    pub fn evaluate(&self, x: &[f64]) -> Vec<f64> {
        let mut values = x.to_vec();
        for (place, layer) in self.layers.iter().enumerate() {
            let last = place + 1 == self.layers.len();
            let unit = |unit: usize| {
                let sum = layer.terms(unit).fold(layer.biases[unit], |sum, (at, w)| sum + w * values[at]);
                if last { sum } else { sum.max(0.0) }
            };
            values = (0..layer.n_units()).map(unit).collect();
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_sorted_and_added_up() {
        let mut layer = LinearLayer::new(3);
        layer.push([(2, 1.0), (0, 2.0), (2, 3.0), (1, 1.0), (1, -1.0)], 0.5);
        assert_eq!(layer.terms(0).collect::<Vec<_>>(), [(0, 2.0), (2, 4.0)]);
        assert_eq!((layer.n_nonzero(), layer.n_weights()), (2, 4));
    }

    #[test]
    fn a_network_is_evaluated() {
        let (mut first, mut second) = (LinearLayer::new(2), LinearLayer::new(2));
        first.push([(0, 1.0), (1, -1.0)], 0.0);
        first.push([(0, -1.0), (1, 1.0)], 0.0);
        second.push([(0, 1.0), (1, 1.0)], -1.0);
        let network = Sequential::new(vec![first, second]);
        assert_eq!(network.evaluate(&[2.0, 5.0]), [2.0]);
        assert_eq!((network.widths(), network.n_weights()), (vec![2, 2, 1], 9));
    }
}
