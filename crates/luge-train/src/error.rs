//! Errors of training. How training ends is an [`Outcome`](crate::Outcome), not an error.

use luge_net::Unrecognised;

/// Why an engine cannot be made or cannot step.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// Values that are not of the network's shapes.
    #[error("the {what} do not have the shapes of the network")]
    Shapes {
        /// "parameters" or "inputs".
        what: &'static str,
    },
    /// An exact line search needs to know every kink.
    #[error("line search needs a loss that is piecewise linear in its parameters; this network's is not")]
    NotPiecewiseLinear,
    /// Line search is defined for one simplex.
    #[error("line search moves a single simplex block, but the network also has gradient-step parameters")]
    NotOneSimplex,
    /// Automatic differentiation failed.
    #[error("automatic differentiation failed: {0}")]
    Autodiff(#[from] candle_core::Error),
    /// The dense engine evaluates every arc.
    #[error(
        "the dense engine evaluates every arc, and there are {n_arcs}; at most {most} fit into memory, so use another engine"
    )]
    TooWide {
        /// Arcs of the network.
        n_arcs: usize,
        /// The largest number that is evaluated.
        most: usize,
    },
    /// A dense network must fit into memory.
    #[error(
        "the dense form has {n_weights} weights, and at most {max} are trained here; use the sparse engine"
    )]
    TooManyWeights {
        /// Weights and biases.
        n_weights: u64,
        /// The largest number that is trained.
        max: u64,
    },
    /// The sparse engines need layers that they recognise in the graph.
    #[error("the network has no sparse layers: {0}")]
    Unrecognised(#[from] Unrecognised),
    /// The initial weights are not those of a vertex and heads.
    #[error("the sparse layers cannot be used: {why}")]
    NotSparse {
        /// What is missing.
        why: &'static str,
    },
    /// A switch of the extended network is half open.
    #[error(
        "the {switch} switch is half open ({open}), where the sparse layers do not suffice; use the dense engine"
    )]
    Between {
        /// The name of the switch.
        switch: &'static str,
        /// The value of the switch.
        open: f64,
    },
    /// A weight is not near one of its values.
    #[error("at step {step} a weight lies between the values it can have; use the dense engine")]
    Blurred {
        /// The step.
        step: u64,
    },
    /// A head would leave the network's tape.
    #[error("at step {step} a head leaves the network's cells; give it more")]
    OutOfCells {
        /// The step.
        step: u64,
    },
    /// Stored steps need exact arithmetic.
    #[error("the exact engine cannot be used: {why}")]
    NotExact {
        /// The reason, with its numbers.
        why: String,
    },
}
