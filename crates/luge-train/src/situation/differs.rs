//! What is wrong with a step, found by differentiating the network.

/// In what a step differs from what the network's own gradient makes of its situation.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Differs {
    /// Another vertex is the best, or could be.
    #[error("the gradient at vertex {vertex} leads to vertex {found}, not to {expected}")]
    Vertex {
        /// The vertex before the step.
        vertex: u32,
        /// Where the gradient leads.
        found: usize,
        /// Where the step is said to lead.
        expected: u32,
    },
    /// A weight is moved elsewhere.
    #[error("the gradient at vertex {vertex} moves {parameter}[{index}] to {found}, not to {expected}")]
    Weight {
        /// The vertex before the step.
        vertex: u32,
        /// The block of weights.
        parameter: String,
        /// The position in it, row by row.
        index: usize,
        /// Where the gradient leads.
        found: f64,
        /// Where the step is said to lead.
        expected: f64,
    },
    /// A column without a head near adds something.
    #[error("at vertex {vertex} a column far from every head adds to `{node}`")]
    FarColumn {
        /// The vertex before the step.
        vertex: u32,
        /// The node that is summed.
        node: String,
    },
    /// The labels have a gradient, or the primary network is seen, or the gain is out of bounds.
    #[error("at a landscape loss of {landscape} {what}")]
    Output {
        /// The landscape's loss.
        landscape: f64,
        /// What is wrong.
        what: &'static str,
    },
    /// The two ways to differentiate do not agree.
    #[error("at vertex {vertex} candle differentiates `{parameter}` otherwise")]
    Candle {
        /// The vertex.
        vertex: u32,
        /// The block of weights.
        parameter: String,
    },
}
