//! Primary networks: the f_theta whose weights the learner computes.

use luge_net::{GraphBuilder, NodeId, Shape};

/// A network f_theta : R^M -> R^m whose weights come as one list of numbers.
///
/// The graph it builds is used both inside the extended network and for prediction, so the two cannot differ. It must be
/// usable from any thread: training may run in another thread than preparation.
pub trait Primary: Send + Sync {
    /// M: numbers per sample.
    fn n_features(&self) -> usize;

    /// m: numbers predicted per sample.
    fn n_outputs(&self) -> usize;

    /// p: numbers in theta.
    fn n_weights(&self) -> usize;

    /// Adds f_theta(x) to a graph: `theta` is a vector of `n_weights`, `x` has one row per sample and one column per
    /// feature; the result has one row per sample and one column per output.
    fn build(&self, g: &mut GraphBuilder, theta: NodeId, x: NodeId) -> NodeId;

    /// A bound on every output, given bounds on the absolute values of weights and features.
    fn largest_output(&self, weight: f64, feature: f64) -> f64;

    /// The network as text, as for `--primary`.
    fn describe(&self) -> String;
}

/// The slope of the indicator's ramp: numbers of a format, and sums of their products, differ by at least 2^-64.
const STEEP: f64 = 18_446_744_073_709_551_616.0;

/// 1 where a number is above 0, else 0, entry by entry: two ReLU units, `1 - ReLU(1 - ReLU(2^64 v))`.
///
/// It rises between 0 and 2^-64, where there is no difference of fixed-point numbers with at most 32 bits, or of their
/// products.
pub(crate) fn indicator(g: &mut GraphBuilder, of: NodeId) -> NodeId {
    let steep = g.sum("primary steep", [(STEEP, of)]);
    let above = g.relu("primary relu", steep);
    let lacking = g.affine("primary", -1.0, above, 1.0);
    let lacking = g.relu("primary relu", lacking);
    g.affine("primary indicator", -1.0, lacking, 1.0)
}

/// Entries of theta as a matrix, row by row.
pub(crate) fn matrix(
    g: &mut GraphBuilder,
    name: &str,
    theta: NodeId,
    shape: Shape,
    entries: impl IntoIterator<Item = usize>,
) -> NodeId {
    let gathered = g.gather(name, entries.into_iter().collect(), theta);
    g.reshape(name, shape, gathered)
}

/// Units `b + w . x`. Their numbers are in theta from `first` on, unit by unit, each bias before its weights.
pub(crate) fn affine_units(
    g: &mut GraphBuilder,
    theta: NodeId,
    (first, n_units): (usize, usize),
    x: NodeId,
) -> NodeId {
    let n_inputs = g.shape(x).cols;
    let unit = |unit: usize| first + unit * (n_inputs + 1);
    let biases = matrix(g, "primary bias", theta, Shape::new(1, n_units), (0..n_units).map(unit));
    let transposed = (0..n_inputs).flat_map(|input| (0..n_units).map(move |u| unit(u) + 1 + input));
    let weights = matrix(g, "primary weights", theta, Shape::new(n_inputs, n_units), transposed);
    let product = g.matmul("primary", x, weights);
    g.sum("primary", [(1.0, product), (1.0, biases)])
}

/// Layers of affine maps with ReLU between them; with a single layer, a linear model.
///
/// Theta is read layer by layer, in each layer unit by unit, in each unit the bias first and then one weight per
/// input: `b, w_1, ..., w_k`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mlp {
    widths: Vec<usize>,
}

/// Why a text does not describe a primary network.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PrimaryError {
    /// The text names no network.
    #[error(
        "`{0}` is not a primary network; expected `linear`, `mlp:` and widths such as 2-3-1, `prototypes:` or `tree:` and a number, or `parity`"
    )]
    Unknown(String),
    /// A width is not a number, or is out of range.
    #[error("`{found}` in `{whole}` is not a width; expected a number from 1 to {MAX_UNITS}")]
    Width {
        /// The part in question.
        found: String,
        /// The whole text.
        whole: String,
    },
    /// A number of prototypes or a depth is out of range.
    #[error("`{found}` in `{whole}` is not a valid number; expected one from 1 to {most}")]
    Count {
        /// The part in question.
        found: String,
        /// The whole text.
        whole: String,
        /// The largest allowed.
        most: usize,
    },
    /// The first width is not the number of features, or the last not the number of labels.
    #[error(
        "`{whole}` takes {n_features} features to {n_outputs} outputs, but the data have {features} features and {labels} labels"
    )]
    Ends {
        /// The whole text.
        whole: String,
        /// First width.
        n_features: usize,
        /// Last width.
        n_outputs: usize,
        /// Features in the data.
        features: usize,
        /// Labels in the data.
        labels: usize,
    },
}

/// The largest width that a description may have.
const MAX_UNITS: usize = 4096;

/// Reads the number in `prototypes:24` or `tree:2`.
pub(crate) fn count(whole: &str, found: &str, most: usize) -> Result<usize, PrimaryError> {
    match found.parse() {
        Ok(count) if (1..=most).contains(&count) => Ok(count),
        _ => Err(PrimaryError::Count { found: found.to_owned(), whole: whole.to_owned(), most }),
    }
}

impl Mlp {
    /// One affine map, no ReLU.
    pub fn linear(n_features: usize, n_outputs: usize) -> Self {
        Self { widths: vec![n_features, n_outputs] }
    }

    /// A network with these widths, from the features to the outputs.
    ///
    /// # Panics
    /// If there are not at least two widths.
    pub fn new(widths: Vec<usize>) -> Self {
        assert!(widths.len() >= 2, "features and outputs at least");
        Self { widths }
    }

    /// Reads `linear` or `mlp:2-3-1` for data with this many features and labels per sample.
    ///
    /// # Errors
    /// If the text is neither, or its ends do not fit the data.
    pub fn parse(text: &str, n_features: usize, n_labels: usize) -> Result<Self, PrimaryError> {
        if text == "linear" {
            return Ok(Self::linear(n_features, n_labels));
        }
        let unknown = || PrimaryError::Unknown(text.to_owned());
        let widths = text.strip_prefix("mlp:").ok_or_else(unknown)?;
        let width = |part: &str| match part.parse() {
            Ok(width @ 1..=MAX_UNITS) => Ok(width),
            _ => Err(PrimaryError::Width { found: part.to_owned(), whole: text.to_owned() }),
        };
        let widths = widths.split('-').map(width).collect::<Result<Vec<usize>, _>>()?;
        let [first, .., last] = widths[..] else { return Err(unknown()) };
        if (first, last) != (n_features, n_labels) {
            return Err(PrimaryError::Ends {
                whole: text.to_owned(),
                n_features: first,
                n_outputs: last,
                features: n_features,
                labels: n_labels,
            });
        }
        Ok(Self { widths })
    }

    fn layers(&self) -> impl ExactSizeIterator<Item = (usize, usize)> + '_ {
        self.widths.windows(2).map(|pair| (pair[0], pair[1]))
    }
}

impl Primary for Mlp {
    fn n_features(&self) -> usize {
        self.widths[0]
    }

    fn n_outputs(&self) -> usize {
        self.widths[self.widths.len() - 1]
    }

    fn n_weights(&self) -> usize {
        self.layers().map(|(from, to)| to * (from + 1)).sum()
    }

    fn build(&self, g: &mut GraphBuilder, theta: NodeId, x: NodeId) -> NodeId {
        let mut value = x;
        let mut first = 0;
        let last_layer = self.layers().len() - 1;
        for (layer, (from, to)) in self.layers().enumerate() {
            value = affine_units(g, theta, (first, to), value);
            if layer < last_layer {
                value = g.relu("primary relu", value);
            }
            first += to * (from + 1);
        }
        value
    }

    fn largest_output(&self, weight: f64, feature: f64) -> f64 {
        self.layers().fold(feature, |largest, (from, _)| weight * (1.0 + from as f64 * largest))
    }

    fn describe(&self) -> String {
        if let [_, _] = self.widths[..] {
            return "linear".to_owned();
        }
        let widths: Vec<String> = self.widths.iter().map(ToString::to_string).collect();
        format!("mlp:{}", widths.join("-"))
    }
}

/// Evaluates a primary network for rows of features, one after the other.
#[cfg(test)]
pub(crate) fn output(primary: &dyn Primary, theta: &[f64], x: &[f64]) -> Vec<f64> {
    use luge_net::{Values, evaluate};

    let mut g = GraphBuilder::new();
    let theta = g.constant("theta", Values::column(theta.to_vec()));
    let n_features = primary.n_features();
    let x = g.constant("x", Values::new(Shape::new(x.len() / n_features, n_features), x.to_vec()));
    let out = primary.build(&mut g, theta, x);
    let sum = g.sum_all("sum", out);
    evaluate(&g.finish(sum), &[], &[]).value(out).data.clone()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(text: &str) -> String {
        Mlp::parse(text, 2, 1).unwrap_err().to_string()
    }

    #[test]
    fn descriptions() {
        assert_eq!(Mlp::parse("linear", 2, 1), Ok(Mlp::linear(2, 1)));
        assert_eq!(Mlp::parse("mlp:2-1", 2, 1), Ok(Mlp::linear(2, 1)));
        assert_eq!(Mlp::parse("mlp:2-3-1", 2, 1), Ok(Mlp::new(vec![2, 3, 1])));
        assert_eq!(Mlp::parse("mlp:2-4096-1", 2, 1), Ok(Mlp::new(vec![2, 4096, 1])));
        for text in ["linear", "mlp:2-3-1", "mlp:2-3-4-1"] {
            assert_eq!(Mlp::parse(text, 2, 1).unwrap().describe(), text);
        }
    }

    #[test]
    fn broken_descriptions() {
        let unknown = "is not a primary network; expected `linear`, `mlp:` and widths such as 2-3-1, `prototypes:` or `tree:` and a number, or `parity`";
        assert_eq!(message("cnn"), format!("`cnn` {unknown}"));
        assert_eq!(message("mlp:2"), format!("`mlp:2` {unknown}"));
        let width = "is not a width; expected a number from 1 to 4096";
        assert_eq!(
            message("mlp:2-x-1"),
            "`x` in `mlp:2-x-1` is not a width; expected a number from 1 to 4096"
        );
        assert_eq!(message("mlp:2-0-1"), format!("`0` in `mlp:2-0-1` {width}"));
        assert_eq!(message("mlp:2-4097-1"), format!("`4097` in `mlp:2-4097-1` {width}"));
        assert_eq!(message("mlp:2--1"), format!("`` in `mlp:2--1` {width}"));
        assert_eq!(message("mlp:"), format!("`` in `mlp:` {width}"));
        assert_eq!(
            message("mlp:3-1"),
            "`mlp:3-1` takes 3 features to 1 outputs, but the data have 2 features and 1 labels"
        );
        assert_eq!(
            message("mlp:2-3-2"),
            "`mlp:2-3-2` takes 2 features to 2 outputs, but the data have 2 features and 1 labels"
        );
    }

    #[test]
    fn theta_is_read_unit_by_unit_with_the_bias_first() {
        let primary = Mlp::new(vec![2, 3, 1]);
        assert_eq!((primary.n_features(), primary.n_outputs(), primary.n_weights()), (2, 1, 13));
        #[rustfmt::skip]
        let theta = [
            1.0, 2.0, 3.0,          // first hidden unit: 1 + 2 a + 3 b
            -4.0, 5.0, -6.0,        // second
            0.5, -1.0, 0.25,        // third
            7.0, 10.0, 100.0, 1000.0, // output
        ];
        // a = 1, b = 2: 9, -11 cut to 0, 0.
        assert_eq!(output(&primary, &theta, &[1.0, 2.0]), [97.0]);
        // a = 2, b = -1: 2, 12, -1.75 cut to 0.
        assert_eq!(output(&primary, &theta, &[2.0, -1.0]), [1227.0]);
        // a = -1, b = 0: -1 cut to 0, -9 cut to 0, 1.5.
        assert_eq!(output(&primary, &theta, &[-1.0, 0.0]), [1507.0]);
        // Every output has its own bias and weights.
        assert_eq!(output(&Mlp::linear(1, 2), &[1.0, 2.0, 3.0, 4.0], &[10.0]), [21.0, 43.0]);
    }

    #[test]
    fn largest_output_by_hand() {
        // Hidden units up to 2 (1 + 2 * 3) = 14, then 2 (1 + 3 * 14).
        assert_eq!(Mlp::new(vec![2, 3, 1]).largest_output(2.0, 3.0).to_bits(), 86.0_f64.to_bits());
    }

    proptest! {
        #[test]
        fn no_output_is_larger(
            widths in prop::collection::vec(1_usize..4, 2..5),
            numbers in prop::collection::vec(-1.0..1.0, 64),
            (weight, feature) in (0.0..8.0, 0.0..8.0),
        ) {
            let primary = Mlp::new(widths);
            let (theta, x) = numbers.split_at(primary.n_weights());
            let theta: Vec<f64> = theta.iter().map(|t: &f64| t * weight).collect();
            let x: Vec<f64> = x[..primary.n_features()].iter().map(|x| x * feature).collect();
            let bound = primary.largest_output(weight, feature) * (1.0 + 1e-12);
            prop_assert!(output(&primary, &theta, &x).iter().all(|v| v.abs() <= bound));
            // All weights and features at their largest: the bound is reached.
            let theta = vec![weight; primary.n_weights()];
            let reached = output(&primary, &theta, &vec![feature; primary.n_features()])[0];
            prop_assert!((reached - bound).abs() <= 1e-9 * bound);
        }
    }
}
