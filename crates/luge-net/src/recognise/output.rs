//! The part of an extended network outside its landscape: labels, switches, carrier and squared error.

use super::{
    Carrier, OutputWiring, Ramp,
    walk::{Found, Walk},
};
use crate::{Op, Shape, faults};

/// Matches the nodes from `1/2 |out - y|^2` to the landscape's loss.
pub(super) fn read(walk: &mut Walk<'_>) -> Found<OutputWiring> {
    walk.hold(
        "loss = 0.5 squares(out - y) + 0
        out = switch(initial, copied, net)
        net = switch(running, carried, primary)
        copied = z + $label_offset
        initial = relu(a) - relu(a - 1)
        a = $initial_slope (squares(z) - $initial_zero) + 0
        running = relu(b) - relu(b - 1)
        b = $running_slope (landscape - $running_zero) + 0",
    )?;
    // sqrt(2 l) along the first axis or a direction.
    let carrier = match *walk.op("carried") {
        Op::Product(_, direction) => {
            walk.hold("carried = root * direction")?;
            Carrier::Direction(direction)
        }
        _ => {
            walk.hold("carried = [copied] + root * axis")?;
            walk.check_first_axis("axis")?;
            walk.require(walk.shape("axis") == walk.shape("copied"), "axis", "the first axis")?;
            Carrier::Offset
        }
    };
    walk.hold("root = sqrt(2 landscape + 0)")?;
    walk.require(walk.shape("root") == Shape::SCALAR, "root", "sqrt(2 l) of the landscape's loss")?;
    let zero = walk.number("running_zero");
    let zero = faults::number("running zero", zero, zero * 0.999);
    Ok(OutputWiring {
        labels: walk.unit_rate("z")?,
        label_offset: walk.number("label_offset"),
        targets: walk.node("y"),
        targets_input: walk.input("y")?.index(),
        out: walk.node("out"),
        landscape: walk.node("landscape"),
        initial: Ramp { zero: walk.number("initial_zero"), slope: walk.number("initial_slope") },
        running: Ramp { zero, slope: walk.number("running_slope") },
        carrier,
        primary: walk.node("primary"),
    })
}
