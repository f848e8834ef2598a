//! Where the inputs of a network go: labels to the loss's residual alone, features to hidden cells and the primary network alone.

use super::{
    Unrecognised,
    walk::{Found, Walk},
};
use crate::{Network, NodeId, Op};

/// Follows the inputs of a network whose loss is half a squared distance from what is fed at `targets`. The output must not depend on
/// that input in any way, and on no other input but through the nodes in `through`.
///
/// # Errors
/// The first node at which an input turns out to go elsewhere.
pub fn check_inputs(network: &Network, targets: usize, through: &[NodeId]) -> Result<(), Unrecognised> {
    let walk = Walk::new(network);
    let squares = walk.affine_of(network.loss(), (0.5, 0.0), "half a sum of squares")?;
    let (out, fed) = walk.squared_distance(squares, "the squared distance of the output from the targets")?;
    let is_targets = matches!(walk.op(fed), Op::Input(id) if id.index() == targets);
    walk.require(is_targets, fed, "the labels that are fed")?;
    confined(&walk, out, targets, through)
}

/// As [`check_inputs`], from the output on.
pub(super) fn confined(walk: &Walk<'_>, out: NodeId, targets: usize, through: &[NodeId]) -> Found<()> {
    let network = walk.network();
    let everything = network.needed_by(&[out], |_, node| node.op.operands());
    let elsewhere = network.needed_by(&[out], |id, node| match through.contains(&id) {
        true => Vec::new(),
        false => node.op.operands(),
    });
    for (id, node) in network.numbered_nodes() {
        let Op::Input(input) = node.op else { continue };
        let is_targets = input.index() == targets;
        walk.require(
            !is_targets || !everything[id.index()],
            id,
            "an input that the loss's residual alone sees",
        )?;
        let expected = "an input that hidden cells and the primary network alone see";
        walk.require(is_targets || !elsewhere[id.index()], id, expected)?;
    }
    Ok(())
}
