//! The paper's construction: from a machine to a landscape, and from a landscape to an extended network.
//!
//! A landscape is a network whose loss is designed so that one step of gradient descent is one step of the machine.
//! It is built from the machine alone; an input only sets the initial parameters. There are four landscapes:
//!
//! - [`internal`](LandscapeKind::Internal) (A): every configuration is a vertex; no stop-gradient, strictly falling loss.
//! - [`relu`](LandscapeKind::Relu) (B): a vertex per state and symbols read, tapes outside; the paper's ReLU units.
//! - [`compact`](LandscapeKind::Compact) (B): the same slopes from product units, without tripled states.
//! - [`plain`](LandscapeKind::Plain) (C): no simplex, rate 1 for every weight, tolerates noise; its targets are under
//!   stop-gradient.
//!
//! Paper: §4; the corrections are listed in [`Corrections`].

mod carved;
mod compact;
mod configuration;
mod constants;
mod control;
mod corrections;
mod extended;
mod internal;
mod landscape;
pub mod mlp;
mod parity;
mod plain;
mod primary;
mod prototypes;
mod relu;
mod stream;
mod tapes;
mod tree;
mod units;

pub use configuration::{Configuration, Undecodable};
pub use constants::{
    Bounds, ConstantOptions, ConstantsError, ExternalConstants, PlainConstants, power_of_two_from,
};
pub use control::{Control, Vertex, VertexSet, VertexStep};
pub use corrections::Corrections;
pub use extended::{
    BitConversion, Carrier, DataLayout, Extended, ExtendedError, ExtendedOptions, Learner, LearnerError,
    MAX_BITS, Mark, Nodes, OutsideCells, final_loss,
};
pub use internal::{InternalError, MAX_VERTICES, carve};
pub use landscape::{
    BuildError, Landscape, LandscapeKind, LandscapeOptions, MAX_COLUMNS, MAX_EDGES, MAX_GATES,
};
pub use parity::Parity;
pub use primary::{Mlp, Primary, PrimaryError};
pub use prototypes::Prototypes;
pub use stream::{
    StreamConstants, StreamConstantsError, StreamError, StreamNetwork, StreamNodes, StreamOptions,
};
pub use tree::Tree;
pub use units::Units;
