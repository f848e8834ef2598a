//! Differences between a step and the network's gradient.

/// A difference between an expected step and the network's own gradient.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Differs {
    /// Another vertex has the lowest slope, or could have it.
    #[error("the gradient at vertex {vertex} leads to vertex {found}, not to {expected}")]
    Vertex {
        /// The vertex before the step.
        vertex: u32,
        /// The vertex to which the gradient leads.
        found: usize,
        /// The expected vertex.
        expected: u32,
    },
    /// A weight gets another value.
    #[error("the gradient at vertex {vertex} moves {parameter}[{index}] to {found}, not to {expected}")]
    Weight {
        /// The vertex before the step.
        vertex: u32,
        /// The block of weights.
        parameter: String,
        /// The position in it, row by row.
        index: usize,
        /// Its value by the gradient.
        found: f64,
        /// The expected value.
        expected: f64,
    },
    /// A column far from every head adds to a sum.
    #[error("at vertex {vertex} a column far from every head adds to `{node}`")]
    FarColumn {
        /// The vertex before the step.
        vertex: u32,
        /// The node that is summed.
        node: String,
    },
    /// The labels have a gradient, the output depends on the primary network, or the gain is out of bounds.
    #[error("at a landscape loss of {landscape} {what}")]
    Output {
        /// The landscape's loss.
        landscape: f64,
        /// What is wrong.
        what: &'static str,
    },
    /// The reverse pass and candle disagree.
    #[error("at vertex {vertex} candle differentiates `{parameter}` otherwise")]
    Candle {
        /// The vertex.
        vertex: u32,
        /// The block of weights.
        parameter: String,
    },
}
