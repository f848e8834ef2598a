//! The nearest of a few stored samples, as a network.

use luge_net::{GraphBuilder, NodeId, Shape, Values};

use crate::{
    Primary, PrimaryError,
    primary::{count, indicator, matrix},
};

/// The most prototypes that a description may have; every two of them are compared.
const MAX_PROTOTYPES: usize = 256;

/// The labels of the nearest of K stored samples, the first of equally near ones.
///
/// Theta has sample after sample, each with its features and then its labels, like the data on a learner's tape.
/// `|p|^2 - 2 p . x` is smallest for the nearest p. Every two prototypes are compared, so the network is shallow: a prototype
/// wins unless another one is nearer, or is equally near and comes before it. The output is the winner's labels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Prototypes {
    n_prototypes: usize,
    n_features: usize,
    n_outputs: usize,
}

impl Prototypes {
    /// A network of stored samples with these sizes.
    ///
    /// # Panics
    /// If there is none.
    pub fn new(n_prototypes: usize, n_features: usize, n_outputs: usize) -> Self {
        assert!(n_prototypes > 0, "at least one prototype");
        Self { n_prototypes, n_features, n_outputs }
    }

    /// Parses `prototypes:24` for data with these numbers of features and labels per sample; `None` if the text is not of this
    /// form.
    ///
    /// # Errors
    /// If the number is not one, or is out of range.
    pub fn parse(text: &str, n_features: usize, n_labels: usize) -> Option<Result<Self, PrimaryError>> {
        let found = text.strip_prefix("prototypes:")?;
        Some(count(text, found, MAX_PROTOTYPES).map(|k| Self::new(k, n_features, n_labels)))
    }

    fn width(&self) -> usize {
        self.n_features + self.n_outputs
    }

    /// One row per sample, one column per prototype: the squared distance, except for a term that all prototypes share.
    fn distances(&self, g: &mut GraphBuilder, theta: NodeId, x: NodeId) -> NodeId {
        let (k, m) = (self.n_prototypes, self.n_features);
        let positions = (0..m).flat_map(|i| (0..k).map(move |p| (i, p)));
        let positions = positions.map(|(i, p)| p * self.width() + i);
        let stored = matrix(g, "primary prototypes", theta, Shape::new(m, k), positions);
        let squares = g.square("primary squares", stored);
        let ones = g.constant("primary ones", Values::filled(Shape::new(1, m), 1.0));
        let squares = g.matmul("primary squares", ones, squares);
        let products = g.matmul("primary", x, stored);
        g.sum("primary distances", [(1.0, squares), (-2.0, products)])
    }

    /// 1 for the nearest prototype of each row, 0 for the others.
    fn winners(&self, g: &mut GraphBuilder, distances: NodeId) -> NodeId {
        let k = self.n_prototypes;
        let pairs: Vec<(usize, usize)> = (0..k).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
        let all = Values::filled(Shape::new(1, k), 1.0);
        if pairs.is_empty() {
            let nothing = g.sum("primary", [(0.0, distances)]);
            let one = g.constant("primary ones", all);
            return g.sum("primary winners", [(1.0, nothing), (1.0, one)]);
        }
        // For a < b: 1 if b is nearer than a, else 0.
        let mut difference = Values::filled(Shape::new(k, pairs.len()), 0.0);
        let mut lost = Values::filled(Shape::new(pairs.len(), k), 0.0);
        let mut at_first = Values::filled(Shape::new(1, k), 1.0);
        for (pair, &(a, b)) in pairs.iter().enumerate() {
            difference.data[a * pairs.len() + pair] = 1.0;
            difference.data[b * pairs.len() + pair] = -1.0;
            // b loses unless it is nearer, a loses if b is.
            lost.data[pair * k + a] = -1.0;
            lost.data[pair * k + b] = 1.0;
            at_first.data[b] -= 1.0;
        }
        let difference = g.constant("primary pairs", difference);
        let nearer_by = g.matmul("primary", distances, difference);
        let nearer = indicator(g, nearer_by);
        let lost = g.constant("primary pairs", lost);
        let lost = g.matmul("primary", nearer, lost);
        let at_first = g.constant("primary bias", at_first);
        let left = g.sum("primary", [(1.0, lost), (1.0, at_first)]);
        g.relu("primary winners", left)
    }
}

impl Primary for Prototypes {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    fn n_weights(&self) -> usize {
        self.n_prototypes * self.width()
    }

    fn build(&self, g: &mut GraphBuilder, theta: NodeId, x: NodeId) -> NodeId {
        let distances = self.distances(g, theta, x);
        let winners = self.winners(g, distances);
        let (k, m) = (self.n_prototypes, self.n_outputs);
        let positions = (0..k).flat_map(|p| (0..m).map(move |j| (p, j)));
        let positions = positions.map(|(p, j)| p * self.width() + self.n_features + j);
        let labels = matrix(g, "primary labels", theta, Shape::new(k, m), positions);
        g.matmul("primary", winners, labels)
    }

    /// Near a tie, closer than numbers of a format can be, several prototypes may win in part.
    fn largest_output(&self, weight: f64, _: f64) -> f64 {
        self.n_prototypes as f64 * weight
    }

    fn describe(&self) -> String {
        format!("prototypes:{}", self.n_prototypes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::primary::output;

    #[test]
    fn by_hand() {
        let primary = Prototypes::new(3, 1, 2);
        #[rustfmt::skip]
        let theta = [
            0.0, 1.0, 0.0,
            4.0, 0.0, 1.0,
            6.0, 0.5, -7.0,
        ];
        assert_eq!((primary.n_weights(), primary.describe()), (9, "prototypes:3".to_owned()));
        // Half way between two the first wins.
        let expected = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.5, -7.0];
        assert_eq!(output(&primary, &theta, &[-3.0, 2.0, 2.0625, 5.0, 5.0625]), expected);
        let parsed = |text| Prototypes::parse(text, 1, 2);
        assert_eq!(parsed("prototypes:3"), Some(Ok(primary.clone())));
        assert_eq!(parsed("tree:3"), None);
        let refused = parsed("prototypes:0").and_then(Result::err).expect("none at all");
        assert_eq!(
            refused.to_string(),
            "`0` in `prototypes:0` is not a valid number; expected one from 1 to 256"
        );
        assert_eq!(output(&Prototypes::new(1, 1, 1), &[3.0, -2.0], &[7.0, 3.0]), [-2.0, -2.0]);
    }

    proptest! {
        /// Numbers of a format, many of them equal: the first of the nearest always wins.
        #[test]
        fn as_a_loop_finds_it(
            k in 1_usize..6,
            numbers in prop::collection::vec(-6_i32..6, 48),
        ) {
            let primary = Prototypes::new(k, 3, 2);
            let numbers: Vec<f64> = numbers.iter().map(|&n| f64::from(n) / 2.0).collect();
            let (theta, x) = numbers.split_at(primary.n_weights());
            let x = &x[..3];
            let distance = |p: &[f64]| p.iter().zip(x).map(|(p, x)| (p - x) * (p - x)).sum::<f64>();
            let mut best = &theta[..5];
            for stored in theta.chunks(5) {
                if distance(&stored[..3]) < distance(&best[..3]) {
                    best = stored;
                }
            }
            let found = output(&primary, theta, x);
            prop_assert_eq!(&found[..], &best[3..]);
            prop_assert!(found.iter().all(|v| v.abs() <= primary.largest_output(3.0, 3.0)));
        }
    }
}
