//! The parity of a chosen set of bits, as a network.

use luge_net::{GraphBuilder, NodeId, Shape, Values};

use crate::Primary;

/// `theta . x` modulo 2, for bits x and theta: a linear unit, then a zigzag of ReLUs.
///
/// The zigzag `s - 2 ReLU(s - 1) + 2 ReLU(s - 2) - ...` is 0 at even and 1 at odd whole numbers from 0 to the number of features.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parity {
    n_features: usize,
}

impl Parity {
    /// The parity of a subset of this many bits.
    pub fn new(n_features: usize) -> Self {
        Self { n_features }
    }
}

impl Primary for Parity {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn n_outputs(&self) -> usize {
        1
    }

    fn n_weights(&self) -> usize {
        self.n_features
    }

    fn build(&self, g: &mut GraphBuilder, theta: NodeId, x: NodeId) -> NodeId {
        let total = g.matmul("primary", x, theta);
        let n_kinks = self.n_features + 1;
        let steps: Vec<f64> = (0..n_kinks).map(|k| -(k as f64)).collect();
        let turns = (0..n_kinks).map(|k| match k {
            0 => 1.0,
            k if k % 2 == 0 => 2.0,
            _ => -2.0,
        });
        let steps = g.constant("primary bias", Values::new(Shape::new(1, n_kinks), steps));
        let turns = g.constant("primary turns", Values::column(turns.collect()));
        let beyond = g.sum("primary", [(1.0, total), (1.0, steps)]);
        let beyond = g.relu("primary relu", beyond);
        g.matmul("primary", beyond, turns)
    }

    fn largest_output(&self, weight: f64, feature: f64) -> f64 {
        self.n_features as f64 * weight * feature
    }

    fn describe(&self) -> String {
        "parity".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use luge_net::evaluate;

    use super::*;

    #[test]
    fn parity_of_every_subset_of_every_input() {
        let primary = Parity::new(5);
        for theta in 0..32_u32 {
            for x in 0..32_u32 {
                let bits = |word: u32| (0..5).map(|i| f64::from(word >> i & 1)).collect::<Vec<f64>>();
                let mut g = GraphBuilder::new();
                let weights = g.constant("theta", Values::column(bits(theta)));
                let input = g.constant("x", Values::new(Shape::new(1, 5), bits(x)));
                let out = primary.build(&mut g, weights, input);
                let network = g.finish(out);
                let expected = f64::from((theta & x).count_ones() % 2);
                assert_eq!(evaluate(&network, &[], &[]).loss().to_bits(), expected.to_bits(), "{theta} {x}");
            }
        }
    }
}
