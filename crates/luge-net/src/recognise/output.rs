//! The parts around a landscape: labels, switches, carrier and least squares.

use super::{
    Carrier, OutputWiring, Ramp,
    walk::{Found, Walk, same},
};
use crate::{NodeId, Op, Shape, Values, faults};

/// Reads `1/2 |out - y|^2` down to the landscape's loss.
pub(super) fn read(walk: &Walk<'_>, loss: NodeId) -> Found<(NodeId, OutputWiring)> {
    let squares = walk.affine_of(loss, (0.5, 0.0), "half a sum of squares")?;
    let (out, targets) =
        walk.squared_distance(squares, "the squared distance of the output from the targets")?;
    let targets_input = walk.input(targets, "targets that are fed")?.index();
    let (initial, copied, net) = switch(walk, out)?;
    let (running, carrier, primary) = switch(walk, net)?;

    let (weight, z, label_offset) = walk.affine(copied, "labels and an offset")?;
    walk.require(same(weight, 1.0), copied, "labels and an offset")?;
    let (labels, rate) = walk.descending(z, "labels that are weights")?;
    walk.require(same(rate, 1.0), z, "labels that move with rate 1")?;
    let (size, initial) = ramp(walk, initial)?;
    walk.require(walk.squares(size, "the size of the labels")? == z, size, "the size of the labels")?;

    let (landscape, running) = ramp(walk, running)?;
    let running =
        Ramp { zero: faults::number("running zero", running.zero, running.zero * 0.999), ..running };
    let carrier = carried(walk, carrier, (landscape, copied))?;
    let wiring = OutputWiring {
        labels,
        label_offset,
        targets,
        targets_input,
        out,
        landscape,
        initial,
        running,
        carrier,
        primary,
    };
    Ok((landscape, wiring))
}

fn switch(walk: &Walk<'_>, node: NodeId) -> Found<(NodeId, NodeId, NodeId)> {
    match *walk.op(node) {
        Op::Switch { open, on, off } => Ok((open, on, off)),
        _ => walk.refuse(node, "a switch that does not look at its closed branch"),
    }
}

/// `ReLU(a) - ReLU(a - 1)` with `a = slope (t - zero)` rounded once: t and the ramp.
fn ramp(walk: &Walk<'_>, node: NodeId) -> Found<(NodeId, Ramp)> {
    let expected = "a ramp ReLU(a) - ReLU(a - 1)";
    let (rising, falling) = walk.pair(node, (1.0, -1.0), expected)?;
    let a = walk.relu(rising, expected)?;
    let less = walk.affine_of(walk.relu(falling, expected)?, (1.0, -1.0), expected)?;
    walk.require(less == a, falling, expected)?;
    let (slope, raised, none) = walk.affine(a, expected)?;
    walk.require(same(none, 0.0), a, expected)?;
    let (weight, t, zero) = walk.affine(raised, expected)?;
    walk.require(same(weight, 1.0), raised, expected)?;
    Ok((t, Ramp { zero: -zero, slope }))
}

/// `[labels] + sqrt(2 l) e_1` or `sqrt(2 l)` times a direction.
fn carried(walk: &Walk<'_>, node: NodeId, (landscape, copied): (NodeId, NodeId)) -> Found<Carrier> {
    let expected = "a carrier: sqrt(2 l) along an axis or a direction";
    if let Op::Product(root, direction) = *walk.op(node) {
        check_root(walk, root, landscape)?;
        return Ok(Carrier::Direction(direction));
    }
    let (base, along) = walk.pair(node, (1.0, 1.0), expected)?;
    let fixed = walk.stopped(base, "labels under a stop-gradient")?;
    walk.require(fixed == copied, base, "labels under a stop-gradient")?;
    let (root, axis) = walk.product(along, expected)?;
    check_root(walk, root, landscape)?;
    let first = is_first_axis(walk.constant(axis, "the first axis")?);
    walk.require(first && walk.shape(axis) == walk.shape(base), axis, "the first axis")?;
    Ok(Carrier::Offset)
}

fn is_first_axis(values: &Values) -> bool {
    let mut entries = values.data.iter().enumerate();
    entries.all(|(i, &entry)| same(entry, if i == 0 { 1.0 } else { 0.0 }))
}

/// `sqrt(2 l)` of the landscape.
fn check_root(walk: &Walk<'_>, node: NodeId, landscape: NodeId) -> Found<()> {
    let expected = "sqrt(2 l) of the landscape's loss";
    let Op::Sqrt(twice) = *walk.op(node) else { return walk.refuse(node, expected) };
    walk.require(walk.shape(node) == Shape::SCALAR, node, expected)?;
    walk.require(walk.affine_of(twice, (2.0, 0.0), expected)? == landscape, twice, expected)
}
