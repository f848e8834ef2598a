//! A decision tree, as a network.

use luge_net::{GraphBuilder, NodeId, Shape, Values};

use crate::{
    Primary, PrimaryError,
    primary::{affine_units, count, indicator, matrix},
};

/// The largest depth that a description may have.
const MAX_DEPTH: usize = 10;

/// A complete binary tree: every inner node tests whether `b + w . x > 0`, and goes right if so; every leaf has its labels.
///
/// Theta has the inner nodes level by level from the root, each level from left to right, each node with its bias and one
/// weight per feature; then the leaves from left to right, each with its labels. A node with one weight of 1 and all others 0
/// compares a feature with a threshold. All tests are evaluated; a leaf is reached if it fits the results on its path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    depth: u32,
    n_features: usize,
    n_outputs: usize,
}

impl Tree {
    /// A tree with `depth` tests on every path.
    ///
    /// # Panics
    /// If there is none.
    pub fn new(depth: u32, n_features: usize, n_outputs: usize) -> Self {
        assert!(depth > 0, "at least one test");
        Self { depth, n_features, n_outputs }
    }

    /// Parses `tree:2` for data with these numbers of features and labels per sample; `None` if the text is not of this form.
    ///
    /// # Errors
    /// If the depth is not a number, or is out of range.
    pub fn parse(text: &str, n_features: usize, n_labels: usize) -> Option<Result<Self, PrimaryError>> {
        let found = text.strip_prefix("tree:")?;
        let tree = |depth| Self::new(u32::try_from(depth).unwrap_or(1), n_features, n_labels);
        Some(count(text, found, MAX_DEPTH).map(tree))
    }

    fn n_leaves(&self) -> usize {
        1 << self.depth
    }

    fn n_nodes(&self) -> usize {
        self.n_leaves() - 1
    }

    /// 1 for the leaf that each row ends in, 0 for the others.
    fn leaves(&self, g: &mut GraphBuilder, results: NodeId) -> NodeId {
        let (nodes, leaves) = (self.n_nodes(), self.n_leaves());
        // The number of results that fit, less the number of tests on the path, plus one.
        let mut fit = Values::filled(Shape::new(nodes, leaves), 0.0);
        let mut bias = Values::filled(Shape::new(1, leaves), 1.0 - f64::from(self.depth));
        for leaf in 0..leaves {
            let mut node = 0;
            for level in (0..self.depth).rev() {
                let right = leaf >> level & 1;
                fit.data[node * leaves + leaf] = if right == 1 { 1.0 } else { -1.0 };
                if right == 0 {
                    bias.data[leaf] += 1.0;
                }
                node = 2 * node + 1 + right;
            }
        }
        let fit = g.constant("primary ways", fit);
        let fit = g.matmul("primary", results, fit);
        let bias = g.constant("primary bias", bias);
        let reached = g.sum("primary", [(1.0, fit), (1.0, bias)]);
        g.relu("primary leaves", reached)
    }
}

impl Primary for Tree {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    fn n_weights(&self) -> usize {
        self.n_nodes() * (self.n_features + 1) + self.n_leaves() * self.n_outputs
    }

    fn build(&self, g: &mut GraphBuilder, theta: NodeId, x: NodeId) -> NodeId {
        let sums = affine_units(g, theta, (0, self.n_nodes()), x);
        let results = indicator(g, sums);
        let leaves = self.leaves(g, results);
        let first = self.n_nodes() * (self.n_features + 1);
        let shape = Shape::new(self.n_leaves(), self.n_outputs);
        let labels = matrix(g, "primary labels", theta, shape, first..self.n_weights());
        g.matmul("primary", leaves, labels)
    }

    fn largest_output(&self, weight: f64, _: f64) -> f64 {
        weight
    }

    fn describe(&self) -> String {
        format!("tree:{}", self.depth)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::primary::output;

    #[test]
    fn a_stump_by_hand() {
        let primary = Tree::new(1, 2, 1);
        assert_eq!((primary.n_weights(), primary.describe()), (5, "tree:1".to_owned()));
        assert_eq!(Tree::parse("tree:1", 2, 1), Some(Ok(primary.clone())));
        assert_eq!(Tree::parse("trees:1", 2, 1), None);
        assert!(Tree::parse("tree:11", 2, 1).is_some_and(|refused| refused.is_err()));
        // The second feature, above 1.5 or not.
        let theta = [-1.5, 0.0, 1.0, 7.0, -3.0];
        assert_eq!(output(&primary, &theta, &[9.0, 1.0, 0.0, 1.5, -9.0, 1.5625]), [7.0, 7.0, -3.0]);
    }

    proptest! {
        #[test]
        fn as_one_walks_down(
            depth in 1_u32..4,
            numbers in prop::collection::vec(-6_i32..6, 64),
        ) {
            let primary = Tree::new(depth, 2, 2);
            let numbers: Vec<f64> = numbers.iter().map(|&n| f64::from(n) / 2.0).collect();
            let (theta, x) = numbers.split_at(primary.n_weights());
            let x = &x[..2];
            let mut node = 0;
            while node < primary.n_nodes() {
                let unit = &theta[3 * node..3 * node + 3];
                node = 2 * node + 1 + usize::from(unit[0] + unit[1] * x[0] + unit[2] * x[1] > 0.0);
            }
            let leaf = 3 * primary.n_nodes() + 2 * (node - primary.n_nodes());
            let found = output(&primary, theta, x);
            prop_assert_eq!(&found[..], &theta[leaf..leaf + 2]);
            prop_assert!(found.iter().all(|v| v.abs() <= primary.largest_output(3.0, 3.0)));
        }
    }
}
