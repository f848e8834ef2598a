//! What a network says about its own layers, so that an engine need not evaluate units that are zero.
//!
//! A structure names parameters and nodes and repeats the weights on their arcs: gates with their rows, the columns of
//! now, next and shift, switches and carrier. It adds nothing to the network, and an engine that relies on it is held to
//! one that does not.

use std::sync::Arc;

use crate::{NodeId, ParameterId, VertexTable};

/// The typed sparse layers of a network: vertices with their gates and columns, cells and heads as weights.
#[derive(Clone, PartialEq, Debug)]
pub struct Structure {
    /// The arcs of the vertices.
    pub table: Arc<VertexTable>,
    /// The weights on the vertices.
    pub vertex: ParameterId,
    /// The cells that are weights, if there are any.
    pub cells: Option<ParameterId>,
    /// The cells that are hidden units, if there are any.
    pub fixed_cells: Option<NodeId>,
    /// The heads.
    pub head: ParameterId,
    /// What the landscape is made of.
    pub form: Form,
    /// What is built around the landscape; `None` if it is the loss itself.
    pub joint: Option<OutputWiring>,
}

/// How the loss depends on vertex, cells and heads.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Form {
    /// Slides on a simplex: `offset + levels and slides + write |read - [next]|^2 + read |[ahead] - now|^2 + shift |[moved] - head|^2`.
    Slides {
        /// The constant.
        offset: f64,
        /// The level of vertices at rest.
        at_rest: f64,
        /// The weight of an edge.
        edge: f64,
        /// What is added to it for every sign that stays.
        sign: f64,
        /// The weight of the write residual.
        write: f64,
        /// The weight of the read residual.
        read: f64,
        /// The weight of the move residual.
        shift: f64,
        /// The rate at which cells and heads are moved.
        rate: f64,
        /// Whether edges are units of their own, so that an edge also slopes at its far end; else gates with rows.
        edge_units: bool,
    },
    /// Targets for stock gradient descent of rate 1, computed from saturated copies.
    Targets {
        /// The constant.
        offset: f64,
        /// How much lower vertices at rest lie.
        drop: f64,
    },
}

/// A ramp of two ReLUs: 0 at `zero` and beyond, 1 at `one` and beyond.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ramp {
    /// Where it is 0.
    pub zero: f64,
    /// Where it is 1.
    pub one: f64,
}

impl Ramp {
    /// `ReLU(a) - ReLU(a - 1)` with `a = (t - zero) / (one - zero)`, rounded as the network rounds it.
    #[must_use]
    pub fn at(self, t: f64) -> f64 {
        let a = 1.0 / (self.one - self.zero) * (t - self.zero);
        a.max(0.0) - (a - 1.0).max(0.0)
    }
}

/// How the landscape's loss reaches the output.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Carrier {
    /// `labels + sqrt(2 l) e_1`.
    Offset,
    /// `sqrt(2 l)` times the value of this node, which depends on the labels alone.
    Direction(NodeId),
}

/// What stands between the landscape and the least-squares loss.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OutputWiring {
    /// z, moved with rate 1.
    pub labels: ParameterId,
    /// What is added to z.
    pub label_offset: f64,
    /// y.
    pub targets: NodeId,
    /// 1 while z is too small to be labels: then the output is z.
    pub initial: Ramp,
    /// 1 while the landscape's loss is high: then the output is the carrier.
    pub running: Ramp,
    /// The carrier.
    pub carrier: Carrier,
    /// The output once both switches are closed.
    pub primary: NodeId,
}
