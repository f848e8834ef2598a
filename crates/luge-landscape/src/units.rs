//! Primary networks that are described unit by unit: the `predict` functions of programs, and theta itself.

use luge_net::{GraphBuilder, NodeId, Shape, Values};

use crate::{
    Primary, PrimaryError,
    primary::{count, indicator},
};

/// The most weights that a description may have.
const MAX_WEIGHTS: usize = 1 << 16;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Atom {
    Feature(usize),
    Weight(usize),
    Unit(usize),
}

/// A number, and multiples of features, weights and earlier units.
#[derive(Clone, PartialEq, Debug, Default)]
struct Sum {
    constant: f64,
    terms: Vec<(f64, Atom)>,
}

#[derive(Clone, PartialEq, Debug)]
enum Unit {
    Product(Sum, Sum),
    Relu(Sum),
    /// 1 where the sum is above 0, else 0.
    Above(Sum),
}

/// Products, ReLUs and thresholds of sums, each after those that it uses.
///
/// Written as `units:2,3;0 1w1 * 0 1x0;0 1w2 * 0 1x1;= 0 1w0 1u0 1u1`: the numbers of features and weights, the units, and one
/// `=` for each output. A sum is a number followed by multiples of features `x`, weights `w` and units `u`. A unit is `relu` or
/// `above` and a sum, or two sums with `*` between them. `raw:P` has P weights, and its outputs are the first of them.
#[derive(Clone, PartialEq, Debug)]
pub struct Units {
    n_features: usize,
    n_weights: usize,
    units: Vec<Unit>,
    outputs: Vec<Sum>,
    text: String,
}

impl Units {
    /// Parses `raw:P` or `units:...` for data with these numbers of features and labels; `None` if the text is neither.
    pub fn parse(text: &str, n_features: usize, n_labels: usize) -> Option<Result<Self, PrimaryError>> {
        if let Some(found) = text.strip_prefix("raw:") {
            let raw = |n_weights| Self::raw(n_weights, n_features, n_labels);
            return Some(count(text, found, MAX_WEIGHTS).map(raw));
        }
        let described = text.strip_prefix("units:")?;
        let unknown = || PrimaryError::Unknown(text.chars().take(60).collect());
        let Some(units) = Self::read(described, text) else { return Some(Err(unknown())) };
        if (units.n_features, units.outputs.len()) != (n_features, n_labels) {
            return Some(Err(PrimaryError::Ends {
                whole: "predict".to_owned(),
                n_features: units.n_features,
                n_outputs: units.outputs.len(),
                features: n_features,
                labels: n_labels,
            }));
        }
        Some(Ok(units))
    }

    /// The weights themselves: the first of them, one for each output.
    fn raw(n_weights: usize, n_features: usize, n_outputs: usize) -> Self {
        let output = |k: usize| Sum {
            constant: 0.0,
            terms: if k < n_weights { vec![(1.0, Atom::Weight(k))] } else { Vec::new() },
        };
        let outputs = (0..n_outputs).map(output).collect();
        Self { n_features, n_weights, units: Vec::new(), outputs, text: format!("raw:{n_weights}") }
    }

    fn read(described: &str, text: &str) -> Option<Self> {
        let mut parts = described.split(';');
        let (n_features, n_weights) = parts.next()?.split_once(',')?;
        let (n_features, n_weights) = (n_features.parse().ok()?, n_weights.parse().ok()?);
        let known = 1..=MAX_WEIGHTS;
        if !known.contains(&n_features) || !known.contains(&n_weights) {
            return None;
        }
        let mut units =
            Self { n_features, n_weights, units: Vec::new(), outputs: Vec::new(), text: text.to_owned() };
        for part in parts {
            if let Some(output) = part.strip_prefix("= ") {
                let output = units.sum(output)?;
                units.outputs.push(output);
                continue;
            }
            let unit = if let Some(of) = part.strip_prefix("relu ") {
                Unit::Relu(units.sum(of)?)
            } else if let Some(of) = part.strip_prefix("above ") {
                Unit::Above(units.sum(of)?)
            } else {
                let (a, b) = part.split_once(" * ")?;
                Unit::Product(units.sum(a)?, units.sum(b)?)
            };
            units.units.push(unit);
        }
        (!units.outputs.is_empty()).then_some(units)
    }

    fn sum(&self, text: &str) -> Option<Sum> {
        let mut parts = text.split(' ');
        let number = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite());
        let mut sum = Sum { constant: number(parts.next()?)?, terms: Vec::new() };
        for part in parts {
            let (factor, of) = part.split_at(part.find(|c: char| c.is_ascii_alphabetic())?);
            let at: usize = of[1..].parse().ok()?;
            let (atom, n_known) = match &of[..1] {
                "x" => (Atom::Feature(at), self.n_features),
                "w" => (Atom::Weight(at), self.n_weights),
                "u" => (Atom::Unit(at), self.units.len()),
                _ => return None,
            };
            sum.terms.push((number(factor)?, (at < n_known).then_some(atom)?));
        }
        Some(sum)
    }
}

/// The nodes built so far.
struct Nodes {
    theta: NodeId,
    x: NodeId,
    units: Vec<NodeId>,
}

impl Nodes {
    fn atom(&self, g: &mut GraphBuilder, atom: Atom) -> NodeId {
        match atom {
            Atom::Feature(at) => self.feature(g, at),
            Atom::Weight(at) => g.gather("primary weight", vec![at], self.theta),
            Atom::Unit(at) => self.units[at],
        }
    }

    /// One column of the samples.
    fn feature(&self, g: &mut GraphBuilder, at: usize) -> NodeId {
        let chosen = Values::unit(g.shape(self.x).cols, at);
        let chosen = g.constant("primary feature", chosen);
        g.matmul("primary feature", self.x, chosen)
    }

    fn sum(&self, g: &mut GraphBuilder, sum: &Sum) -> NodeId {
        let mut terms: Vec<(f64, NodeId)> =
            sum.terms.iter().map(|&(factor, atom)| (factor, self.atom(g, atom))).collect();
        if terms.is_empty() || sum.constant != 0.0 {
            terms.push((sum.constant, g.scalar("one", 1.0)));
        }
        g.sum("primary", terms)
    }
}

impl Primary for Units {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn n_outputs(&self) -> usize {
        self.outputs.len()
    }

    fn n_weights(&self) -> usize {
        self.n_weights
    }

    fn build(&self, g: &mut GraphBuilder, theta: NodeId, x: NodeId) -> NodeId {
        let mut nodes = Nodes { theta, x, units: Vec::new() };
        for unit in &self.units {
            let node = match unit {
                Unit::Product(a, b) => {
                    let (a, b) = (nodes.sum(g, a), nodes.sum(g, b));
                    g.product("primary product", a, b)
                }
                Unit::Relu(of) => {
                    let of = nodes.sum(g, of);
                    g.relu("primary relu", of)
                }
                Unit::Above(of) => {
                    let of = nodes.sum(g, of);
                    indicator(g, of)
                }
            };
            nodes.units.push(node);
        }
        // One column for each output, even if it is the same for all samples.
        let n_outputs = self.outputs.len();
        let row = |at: usize| Values::new(Shape::new(1, n_outputs), Values::unit(n_outputs, at).data);
        let nothing = nodes.feature(g, 0);
        let mut columns = Vec::new();
        for (at, output) in self.outputs.iter().enumerate() {
            let value = nodes.sum(g, output);
            let column = g.sum("primary", [(1.0, value), (0.0, nothing)]);
            let row = g.constant("primary output", row(at));
            columns.push((1.0, g.matmul("primary output", column, row)));
        }
        g.sum("primary", columns)
    }

    fn largest_output(&self, weight: f64, feature: f64) -> f64 {
        let mut largest: Vec<f64> = Vec::new();
        let bound = |sum: &Sum, largest: &[f64]| {
            let of = |atom: Atom| match atom {
                Atom::Feature(_) => feature,
                Atom::Weight(_) => weight,
                Atom::Unit(at) => largest[at],
            };
            sum.terms.iter().map(|&(factor, atom)| factor.abs() * of(atom)).sum::<f64>() + sum.constant.abs()
        };
        for unit in &self.units {
            largest.push(match unit {
                Unit::Product(a, b) => bound(a, &largest) * bound(b, &largest),
                Unit::Relu(of) => bound(of, &largest),
                Unit::Above(_) => 1.0,
            });
        }
        self.outputs.iter().map(|output| bound(output, &largest)).fold(0.0, f64::max)
    }

    fn describe(&self) -> String {
        self.text.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primary::output;

    fn units(text: &str) -> Units {
        Units::parse(text, 2, 1).expect("units").expect("right ones")
    }

    #[test]
    fn units_compute_what_is_written() {
        // theta_0 + x_0 x_1 where it is above 1, else -2.
        let text = "units:2,1;0 1x0 * 0 1x1;above -1 1w0 1u0;0 1u1 * 2 1w0 1u0;= -2 1u2";
        let network = units(text);
        assert_eq!((network.n_features(), network.n_outputs(), network.n_weights()), (2, 1, 1));
        assert_eq!(network.describe(), text);
        assert_eq!(output(&network, &[0.5], &[2.0, 3.0, 1.0, 0.5, -1.0, 1.0]), [6.5, -2.0, -2.0]);
        assert_eq!(network.largest_output(0.5, 3.0).to_bits(), 13.5_f64.to_bits());
        let network = Units::parse("raw:3", 2, 2).expect("raw").expect("right");
        assert_eq!(output(&network, &[1.0, -2.0, 4.0], &[7.0, 7.0, 7.0, 7.0]), [1.0, -2.0, 1.0, -2.0]);
        let network = Units::parse("raw:1", 1, 2).expect("raw").expect("right");
        assert_eq!(output(&network, &[3.0], &[7.0]), [3.0, 0.0]);
    }

    #[test]
    fn what_is_no_list_of_units_is_refused() {
        assert!(Units::parse("linear", 2, 1).is_none());
        for text in [
            "units:2,1",
            "units:2,1;= 0 1x2",
            "units:2,1;= 0 1u0",
            "units:0,1;= 0",
            "units:2,1;= nan",
            "units:2,1;soft 0;= 0",
            "raw:0",
        ] {
            assert!(Units::parse(text, 2, 1).expect("units").is_err(), "{text}");
        }
        let refused = Units::parse("units:2,1;= 0 1x1", 3, 1).expect("units").expect_err("other data");
        assert_eq!(
            refused.to_string(),
            "`predict` takes 2 features to 1 outputs, but the data have 3 features and 1 labels"
        );
    }
}
