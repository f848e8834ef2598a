//! Why training cannot go on. How it ends is an [`Outcome`](crate::Outcome), not an error.

/// Why an engine cannot be made or cannot step.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// Values that are not of the network's shapes.
    #[error("the {what} do not have the shapes of the network")]
    Shapes {
        /// "parameters" or "inputs".
        what: &'static str,
    },
    /// An exact line search must know every kink.
    #[error("line search needs a loss that is piecewise linear in its parameters; this network's is not")]
    NotPiecewiseLinear,
    /// Line search is defined for one simplex.
    #[error("line search moves a single simplex block, but the network also has gradient-step parameters")]
    NotOneSimplex,
    /// The automatic differentiator refused.
    #[error("automatic differentiation failed: {0}")]
    Autodiff(#[from] candle_core::Error),
}
