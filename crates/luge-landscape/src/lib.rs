//! The paper: machine -> landscape.
//!
//! A landscape is a network whose loss is carved so that one step of gradient descent is one step of the machine.
//! It is built from the machine alone; an input only sets the initial parameters. Four of them, one idea each:
//!
//! - [`internal`](Kind::Internal) (A): every configuration is a vertex; no stop-gradient, strictly falling loss.
//! - [`relu`](Kind::Relu) (B): a vertex per state and symbols read, tapes outside; the paper's ReLU units.
//! - [`compact`](Kind::Compact) (B): the same slopes from product units, without tripled states.
//! - [`plain`](Kind::Plain) (C): no simplex, rate 1 everywhere, forgiving; stop-gradient carries everything.
//!
//! Data reach the machine, and its answer comes back, as the bits of [`numbers`]; [`quantizer`] is that conversion as a network.
//!
//! Paper: §4; the corrections are listed in [`Corrections`].

mod compact;
mod configuration;
mod constants;
mod control;
mod corrections;
mod internal;
mod landscape;
pub mod numbers;
mod plain;
pub mod quantizer;
mod relu;
mod tapes;

pub use configuration::{Configuration, Undecodable};
pub use constants::{AskedConstants, ConstantsError, ExternalConstants, PlainConstants};
pub use control::{Control, Vertex, VertexStep};
pub use corrections::Corrections;
pub use internal::{InternalError, MOST_VERTICES};
pub use landscape::{Bounds, BuildError, Kind, Landscape, LandscapeOptions};
pub use numbers::{
    EncodeError, FixedPoint, FormatError, Negatives, NumberFormat, Overflow, SmallFloat, Word, WrongLength,
};
pub use quantizer::{dequantize, quantize};
