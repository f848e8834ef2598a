//! Recognises sparse layers in a graph, so that an engine need not evaluate units that are zero.
//!
//! The graph is the only source of information. Starting from the loss, every node must match an equation, with its
//! operands, maps, weights, biases and stop-gradients (`formula` describes the notation of equations). Every number that an
//! engine uses is read from its node; a number that can have only one value is compared with that value. If an equation
//! does not match, the network is not recognised. The error then names the node and the equation, and the network must be
//! trained by an engine that evaluates every unit.

mod formula;
mod output;
mod slides;
mod stream;
mod tapes;
mod targets;
mod walk;

use std::{borrow::Cow, sync::Arc};

use crate::{Arcs, Network, NodeId, Op, ParameterId, VertexTable, vertices::first_difference};
pub use stream::{BitUse, StreamLayers};
use walk::Walk;

/// The sparse layers of a network: the vertices and their arcs, and the cells and heads, which are weights.
#[derive(Clone, PartialEq, Debug)]
pub struct SparseLayers {
    /// The arcs of the vertices.
    pub table: Arc<VertexTable>,
    /// The weights on the vertices.
    pub vertex: ParameterId,
    /// The cells that are weights, if any.
    pub cells: Option<ParameterId>,
    /// The cells that are hidden units, if any. Of the weights, they depend on the labels alone.
    pub fixed_cells: Option<NodeId>,
    /// The heads.
    pub head: ParameterId,
    /// The form of the landscape with its numbers.
    pub form: Form,
    /// The part of an extended network outside the landscape; `None` if the landscape is the loss itself.
    pub output: Option<OutputWiring>,
}

/// How the loss depends on vertex, cells and heads.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Form {
    /// Slopes on a simplex: `offset + levels and slides + write |read - [next]|^2 + read |[ahead] - now|^2 + shift |[moved] - head|^2`.
    Slides {
        /// The constant.
        offset: f64,
        /// The level of halting vertices.
        at_rest: f64,
        /// The weight of an edge.
        edge: f64,
        /// The number that every symbol that stays the same adds to it; negative.
        symbol: f64,
        /// The weight of the write residual.
        write: f64,
        /// The weight of the read residual.
        read: f64,
        /// The weight of the move residual.
        shift: f64,
        /// The rate at which cells are moved.
        cell_rate: f64,
        /// The rate at which heads are moved.
        head_rate: f64,
        /// Whether every edge has its own units, so that it also has a slope at its far end. Otherwise each vertex has a gate.
        edge_units: bool,
        /// Whether the weight of every edge is exactly the sum of `edge` and multiples of `symbol`, in any order of addition.
        unrounded: bool,
    },
    /// Targets for stock gradient descent of rate 1, computed from saturated copies.
    Targets {
        /// The constant.
        offset: f64,
        /// The amount by which the loss is lower at halting vertices.
        drop: f64,
    },
}

/// A ramp of two ReLUs, `ReLU(a) - ReLU(a - 1)` with `a = slope (t - zero)`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ramp {
    /// The number at which it begins to rise from 0.
    pub zero: f64,
    /// The slope.
    pub slope: f64,
}

impl Ramp {
    /// The value at `t`, rounded as in the network.
    pub fn at(self, t: f64) -> f64 {
        let a = self.slope * (t - self.zero);
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

/// The part of an extended network between the landscape and the squared error.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OutputWiring {
    /// z, trained with rate 1.
    pub labels: ParameterId,
    /// The number that is added to z.
    pub label_offset: f64,
    /// y.
    pub targets: NodeId,
    /// The input that is y.
    pub targets_input: usize,
    /// The output.
    pub out: NodeId,
    /// The landscape's loss.
    pub landscape: NodeId,
    /// psi: 1 while z is too small to be labels; the output is then z.
    pub initial: Ramp,
    /// phi: 1 while the landscape's loss is high; the output is then the carrier.
    pub running: Ramp,
    /// The carrier.
    pub carrier: Carrier,
    /// The output once both switches are closed. Of the weights, it depends on cells and labels alone; it has no gradient.
    pub primary: NodeId,
}

/// The first node of a network that does not match.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("node {node}, {found} `{name}`, is not {expected}")]
pub struct Unrecognised {
    /// The node that does not match.
    pub node: usize,
    /// Its name.
    pub name: String,
    /// Its operation.
    pub found: &'static str,
    /// What it should be.
    pub expected: Cow<'static, str>,
}

impl Unrecognised {
    fn at(network: &Network, id: NodeId, expected: impl Into<Cow<'static, str>>) -> Self {
        let node = network.node(id);
        Self { node: id.index(), name: node.name.clone(), found: node.op.word(), expected: expected.into() }
    }
}

/// Compares every map over vertices with its table, arc by arc.
///
/// # Errors
/// The first map that lists other arcs.
pub(crate) fn check_arcs(network: &Network) -> Result<(), Unrecognised> {
    let mut checked: Vec<(&Arc<VertexTable>, Arcs)> = Vec::new();
    for (id, node) in network.numbered_nodes() {
        let Op::Linear(map, _) = &node.op else { continue };
        let Some((table, arcs)) = map.as_arcs() else { continue };
        if checked.iter().any(|&(other, which)| which == arcs && Arc::ptr_eq(other, table)) {
            continue;
        }
        if let Some(vertex) = first_difference(table, arcs) {
            let expected =
                format!("the map that its table of vertices says: the arcs of vertex {vertex} are others");
            return Err(Unrecognised::at(network, id, expected));
        }
        checked.push((table, arcs));
    }
    Ok(())
}

/// Recognises the sparse layers of a network. [`Network::sparse_layers`] does so once and stores the result.
///
/// # Errors
/// The first node that does not match.
pub(crate) fn recognise(network: &Network) -> Result<SparseLayers, Unrecognised> {
    network.check_arcs().map_err(Clone::clone)?;
    let mut walk = Walk::new(network);
    let output = match walk.op("loss") {
        Op::Sum(terms) if terms.len() == 2 => Some(output::read(&mut walk)?),
        _ => None,
    };
    walk.name("landscape", output.map_or(network.loss(), |output| output.landscape));
    let second = if let Op::Sum(terms) = walk.op("landscape") { terms.get(1) } else { None };
    let has_targets = second.is_some_and(|&(_, id)| matches!(network.node(id).op, Op::StopGradient(_)));
    let table = walk.table()?;
    let read = if has_targets { targets::read } else { slides::read };
    let (form, cells) = read(&mut walk, table)?;
    let layers = SparseLayers {
        table: Arc::clone(table),
        vertex: walk.parameter("x")?.0,
        cells: cells.trained.map(|(id, _)| id),
        fixed_cells: cells.fixed,
        head: walk.parameter("H")?.0,
        form,
        output,
    };
    check_dependence(&walk, &layers)?;
    Ok(layers)
}

/// Recognises the layers of a network that learns from a stream.
///
/// # Errors
/// The first node that does not match.
pub fn stream_layers(network: &Network) -> Result<StreamLayers, Unrecognised> {
    network.check_arcs().map_err(Clone::clone)?;
    stream::read(&mut Walk::new(network))
}

/// Checks which inputs the output of a network depends on. The loss must be half the squared distance of the output from the
/// input `targets`. The output must not depend on that input, and on other inputs only through the nodes in `through`.
///
/// # Errors
/// The first input that goes elsewhere.
pub fn check_inputs(network: &Network, targets: usize, through: &[NodeId]) -> Result<(), Unrecognised> {
    let mut walk = Walk::new(network);
    walk.hold("loss = 0.5 squares(out - y) + 0")?;
    walk.require(walk.input("y")?.index() == targets, "y", "the labels that are fed")?;
    walk.check_inputs(walk.node("out"), targets, through)
}

/// Checks that the nodes that an engine evaluates depend only on weights that it knows, and have no gradient.
fn check_dependence(walk: &Walk<'_>, layers: &SparseLayers) -> Result<(), Unrecognised> {
    let labels = layers.output.map(|output| output.labels);
    if let Some(fixed) = layers.fixed_cells {
        walk.check_fixed(fixed, &[labels], "cells without a gradient that depend on the labels alone")?;
    }
    if let Some(output) = layers.output {
        let through: Vec<NodeId> = layers.fixed_cells.into_iter().chain([output.primary]).collect();
        walk.check_inputs(output.out, output.targets_input, &through)?;
        let expected = "an output without a gradient that depends on cells and labels alone";
        walk.check_fixed(output.primary, &[labels, layers.cells], expected)?;
        if let Carrier::Direction(direction) = output.carrier {
            let expected = "a direction without a gradient that depends on the labels alone";
            walk.check_fixed(direction, &[labels], expected)?;
        }
    }
    let known = [Some(layers.vertex), layers.cells, Some(layers.head), labels];
    walk.check_known(&known, "vertex, cells, heads or labels")
}
