//! Prediction with the primary network alone, once its weights are known. The training branches are not needed.

use luge_landscape::Primary;
use luge_net::{GraphBuilder, Shape, Values, evaluate};

/// A primary network with its weights.
pub struct Predictor<'a> {
    primary: &'a dyn Primary,
    theta: Vec<f64>,
}

impl<'a> Predictor<'a> {
    /// # Panics
    /// If there is not one number per weight.
    pub fn new(primary: &'a dyn Primary, theta: Vec<f64>) -> Self {
        assert_eq!(theta.len(), primary.n_weights(), "one number per weight");
        Self { primary, theta }
    }

    /// f_theta(x) for any number of samples, from the graph that the extended network contains.
    ///
    /// # Panics
    /// If the samples have another number of features.
    pub fn predict(&self, x: &Values) -> Values {
        let mut g = GraphBuilder::new();
        let theta = g.constant("theta", Values::column(self.theta.clone()));
        let features = g.constant("x", x.clone());
        assert_eq!(
            x.shape,
            Shape::new(x.shape.rows, self.primary.n_features()),
            "another number of features"
        );
        let out = self.primary.build(&mut g, theta, features);
        let sum = g.sum_all("sum", out);
        evaluate(&g.finish(sum), &[], &[]).value(out).clone()
    }
}
