//! Predicts with the primary network alone, without the branches of the network that are only for training.

use luge_landscape::Primary;
use luge_net::{GraphBuilder, Shape, Values, evaluate};

/// A primary network with its weights.
///
/// ```
/// use luge::{Model, Predictor, Source, TrainJob, Values};
///
/// let (prepared, report) = TrainJob::of(Source::open("mean")?)?.train()?;
/// // Models are files: `save` and `load` are `to_bytes` and `from_bytes` with a path.
/// let bytes = Model::new(&prepared, &report).to_bytes("mean")?;
/// let model = Model::from_bytes(&bytes, "mean".to_owned())?;
/// let primary = model.primary()?;
/// let predicted = Predictor::new(&*primary, model.theta).predict(&Values::column(vec![0.5, 2.0]));
/// assert_eq!(predicted.data, [2.5625, 2.5625]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Predictor<'a> {
    primary: &'a dyn Primary,
    theta: Vec<f64>,
}

impl<'a> Predictor<'a> {
    /// Combines a network with its weights.
    ///
    /// # Panics
    /// If there is not one number per weight.
    pub fn new(primary: &'a dyn Primary, theta: Vec<f64>) -> Self {
        assert_eq!(theta.len(), primary.n_weights(), "one number per weight");
        Self { primary, theta }
    }

    /// Returns f_theta(x) for any number of samples, from the same graph as in the extended network.
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
