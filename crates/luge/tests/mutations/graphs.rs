//! Plants faults in the graph alone: a node is changed after the network is built.

use luge::run::engine::EngineChoice as PrepareOptions;
use luge_landscape::{Carrier, LandscapeKind, VertexSet};
use luge_net::{Node, NodeId, Op, Parameter, StepRule};

use crate::Run;

/// A fault, the run in which it must be noticed, and on which sets of vertices.
type GraphFault = (&'static str, fn(&mut Vec<Node>, &mut Vec<Parameter>) -> bool, Run, &'static [VertexSet]);

const BOTH: &[VertexSet] = &VertexSet::ALL;
/// A fault so small that it makes no difference to this run where a vertex knows little: the loss stays within its bounds, no
/// cell is read that was written.
const ALL: &[VertexSet] = &[VertexSet::All];
/// A fault in what is there only where vertices do not know everything.
const LOOKED_AT: &[VertexSet] = &[VertexSet::LookedAt];

const COMPACT: Run = (LandscapeKind::Compact, Carrier::Offset, PrepareOptions::Auto);
const ORTHOGONAL: Run = (LandscapeKind::Compact, Carrier::Orthogonal, PrepareOptions::Auto);
const RELU: Run = (LandscapeKind::Relu, Carrier::Offset, PrepareOptions::Auto);
const PLAIN: Run = (LandscapeKind::Plain, Carrier::Offset, PrepareOptions::Auto);

pub(crate) const FAULTS: &[GraphFault] = &[
    ("a sign in the slides", |nodes, _| weight(nodes, "landscape", 2, -1.0), COMPACT, BOTH),
    ("the shift mirrored", mirrored, COMPACT, BOTH),
    ("the shift mirrored", mirrored, PLAIN, BOTH),
    ("what is read ahead not stopped", |nodes, _| unstopped(nodes, "[read ahead]"), COMPACT, BOTH),
    ("heads not stopped where they read", |nodes, _| unstopped(nodes, "[head]"), COMPACT, BOTH),
    ("the moved head not stopped", |nodes, _| unstopped(nodes, "[moved head]"), COMPACT, BOTH),
    ("a dip's bias", |nodes, _| bias(nodes, "dip", 0.4), COMPACT, BOTH),
    ("a gate's bias", |nodes, _| bias(nodes, "gate", -1.5), COMPACT, BOTH),
    ("the write residual doubled", |nodes, _| from_the_end(nodes, 3, 2.0), COMPACT, BOTH),
    ("the read residual gone", |nodes, _| from_the_end(nodes, 2, 0.0), COMPACT, BOTH),
    ("the move residual halved", |nodes, _| from_the_end(nodes, 1, 0.5), COMPACT, BOTH),
    ("the constant", |nodes, _| weight(nodes, "landscape", 0, 1.01), COMPACT, ALL),
    ("the constant much larger", |nodes, _| weight(nodes, "landscape", 0, 1.25), COMPACT, BOTH),
    ("corners without a level", |nodes, _| weight(nodes, "landscape", 1, 0.0), RELU, BOTH),
    ("edges that rise", |nodes, _| weight(nodes, "landscape", 2, -1.0), RELU, BOTH),
    ("directed edges left out", |nodes, _| weight(nodes, "landscape", 3, 0.0), RELU, BOTH),
    ("corners' bias", |nodes, _| bias(nodes, "corners", 0.5), RELU, BOTH),
    ("a saturated copy of heads", |nodes, _| weight(nodes, "saturated head", 1, 0.5), PLAIN, BOTH),
    ("a saturated copy of cells", |nodes, _| weight(nodes, "saturated tape", 2, 0.5), PLAIN, BOTH),
    ("symbols alike too early", |nodes, _| bias(nodes, "symbols read", 1.0), PLAIN, BOTH),
    ("the drop too small", |nodes, _| weight(nodes, "landscape", 1, 0.25), PLAIN, BOTH),
    ("the vertex residual", |nodes, _| weight(nodes, "landscape", 2, 0.25), PLAIN, BOTH),
    ("labels not stopped", |nodes, _| unstopped(nodes, "[labels]"), COMPACT, BOTH),
    ("labels not stopped", |nodes, _| unstopped(nodes, "[labels]"), ORTHOGONAL, BOTH),
    ("the root of l instead of 2 l", |nodes, _| weight(nodes, "2 l", 0, 0.5), COMPACT, BOTH),
    ("a direction of another length", |nodes, _| weight(nodes, "projection", 0, 2.0), ORTHOGONAL, BOTH),
    ("the running switch turned round", |nodes, _| turned(nodes, "s_net"), COMPACT, BOTH),
    ("the initial switch turned round", |nodes, _| turned(nodes, "s_init"), COMPACT, BOTH),
    ("the ramp of the running switch", |nodes, _| weight(nodes, "phi", 0, 0.5), COMPACT, BOTH),
    ("targets with the wrong sign", |nodes, _| weight(nodes, "residual", 1, -1.0), COMPACT, BOTH),
    ("the loss not halved", |nodes, _| weight(nodes, "loss", 0, 2.0), COMPACT, BOTH),
    ("cells too slow", |_, parameters| rate(parameters, "tape", 0.9), COMPACT, ALL),
    ("cells half as fast", |_, parameters| rate(parameters, "tape", 0.5), COMPACT, BOTH),
    ("what is kept unseen halved", |nodes, _| weight(nodes, "next", 1, 0.5), COMPACT, LOOKED_AT),
    ("what is kept unseen left out", |nodes, _| weight(nodes, "next", 1, 0.0), COMPACT, LOOKED_AT),
    ("what is kept unseen left out", |nodes, _| weight(nodes, "next", 1, 0.0), PLAIN, LOOKED_AT),
    ("what is kept unseen turned round", |nodes, _| weight(nodes, "next", 1, -1.0), PLAIN, LOOKED_AT),
    ("heads too fast", |_, parameters| rate(parameters, "head", 1.1), COMPACT, BOTH),
    ("labels too slow", |_, parameters| rate(parameters, "labels", 0.5), COMPACT, BOTH),
    ("cells too slow", |_, parameters| rate(parameters, "tape", 0.25), PLAIN, BOTH),
];

/// Multiplies a weight of the last sum of this name.
pub(crate) fn weight(nodes: &mut [Node], name: &str, term: usize, by: f64) -> bool {
    let sum = nodes.iter_mut().rev().find(|node| node.name == name && matches!(node.op, Op::Sum(_)));
    match sum {
        Some(Node { op: Op::Sum(terms), .. }) if term < terms.len() => {
            terms[term].0 *= by;
            true
        }
        _ => false,
    }
}

/// Multiplies a weight of the landscape, counted from the end.
fn from_the_end(nodes: &mut [Node], place: usize, by: f64) -> bool {
    let sum = nodes.iter().find(|node| node.name == "landscape").map(|node| node.op.operands().len());
    sum.is_some_and(|n| weight(nodes, "landscape", n - place, by))
}

/// Adds to the bias of the first map of this name.
fn bias(nodes: &mut [Node], name: &str, more: f64) -> bool {
    let map = nodes.iter_mut().find(|node| node.name == name && matches!(node.op, Op::Linear(..)));
    match map {
        Some(Node { op: Op::Linear(map, _), .. }) => {
            let bias = map.bias().iter().map(|bias| bias + more).collect();
            *map = map.clone().with_bias(bias);
            true
        }
        _ => false,
    }
}

/// Leaves out a stop-gradient.
pub(crate) fn unstopped(nodes: &mut [Node], name: &str) -> bool {
    let of = |node: &Node| match node.op {
        Op::StopGradient(of) if node.name == name => Some(of),
        _ => None,
    };
    let found: Vec<(usize, NodeId)> =
        nodes.iter().enumerate().filter_map(|(i, node)| of(node).map(|of| (i, of))).collect();
    found.iter().for_each(|&(i, of)| nodes[i].op = Op::Sum(vec![(1.0, of)]));
    !found.is_empty()
}

fn mirrored(nodes: &mut Vec<Node>, _: &mut Vec<Parameter>) -> bool {
    let mut found = false;
    for node in nodes {
        if let Op::Shift(by, _) = &mut node.op {
            *by = -*by;
            found = true;
        }
    }
    found
}

fn turned(nodes: &mut [Node], name: &str) -> bool {
    let switch = nodes.iter_mut().find(|node| node.name == name);
    match switch {
        Some(Node { op: Op::Switch { on, off, .. }, .. }) => {
            std::mem::swap(on, off);
            true
        }
        _ => false,
    }
}

fn rate(parameters: &mut [Parameter], name: &str, by: f64) -> bool {
    let found = parameters.iter_mut().find(|parameter| parameter.name == name);
    match found {
        Some(Parameter { step_rule: StepRule::Gradient { rate }, .. }) => {
            *rate *= by;
            true
        }
        _ => false,
    }
}
