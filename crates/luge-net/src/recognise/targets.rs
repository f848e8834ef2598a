//! Landscapes of targets, computed from saturated copies: a step of rate 1 moves every weight to its target.

use std::sync::Arc;

use super::{
    Form, SparseLayers,
    tapes::{self, Rows, StepNodes},
    walk::{Found, Walk, same, same_table},
};
use crate::{Arcs, NodeId, ParameterId, VertexTable};

/// Reads `offset - drop [at rest] + 1/2 |x - [x+]|^2 + 1/2 |read(T, [h]) - [write]|^2 + 1/2 |H - [move]|^2`.
pub(super) fn read(walk: &Walk<'_>, landscape: NodeId) -> Found<SparseLayers> {
    let expected = "a sum of a constant, a level of rest and three halved residuals";
    let [(constant, one), (level, rest), vertex, write, shift] = *walk.sum(landscape, expected)? else {
        return walk.refuse(landscape, expected);
    };
    let halved = [vertex, write, shift].iter().all(|&(weight, _)| same(weight, 0.5));
    walk.require(halved, landscape, "a landscape whose residuals weigh 1/2")?;
    let offset = walk.finite(constant * walk.scalar(one, "a constant")?, one)?;

    let (x, fixed_successor) =
        walk.squared_distance(vertex.1, "the squared distance of vertices from the next")?;
    let (under, fixed_write) =
        walk.squared_distance(write.1, "the squared distance of cells from the next")?;
    let (raw_head, fixed_moved) =
        walk.squared_distance(shift.1, "the squared distance of heads from moved ones")?;
    let stop = "under a stop-gradient";
    let successor = walk.stopped(fixed_successor, stop)?;
    let next = walk.stopped(fixed_write, stop)?;
    let moved = walk.stopped(fixed_moved, stop)?;
    let (table, at_rest, saturated) = level_of_rest(walk, walk.stopped(rest, stop)?)?;
    walk.require(saturated_01(walk, saturated)? == x, saturated, "a saturated copy of the vertices")?;

    let (raw_cells, head) = raw_cells(walk, under, raw_head)?;
    let (ahead, symbols_of) = successor_nodes(walk, successor, table)?;
    walk.require(symbols_of == saturated, successor, "the vertex that follows")?;
    // Through copies it is found what will be read.
    let (cells, read) = tapes::read_ahead(walk, ahead)?;
    walk.require(saturated_11(walk, cells)? == raw_cells, cells, "a saturated copy of the cells")?;
    tapes::read(walk, read, (cells, head))?;
    tapes::check_table(walk, landscape, table, [raw_cells, raw_head])?;
    let rows = Rows { vertex: saturated, cells, head };
    tapes::step(walk, table, &rows, &StepNodes { read, next, moved, ahead })?;

    let all = tapes::cells(walk, raw_cells, table)?;
    let vertex = walk.unit_rate(x, "weights on vertices")?;
    let head_id = walk.unit_rate(raw_head, "heads that are weights")?;
    let unit = |(id, rate): (ParameterId, f64)| {
        walk.require(same(rate, 1.0), raw_cells, "weights that move with rate 1")?;
        Ok(id)
    };
    let cells = all.trained.map(unit).transpose()?;
    let drop = walk.finite(-level * at_rest, rest)?;
    let form = Form::Targets { offset, drop };
    let table = Arc::clone(table);
    Ok(SparseLayers { table, vertex, cells, fixed_cells: all.fixed, head: head_id, form, joint: None })
}

/// How much of the weight is on vertices at rest: the table, the weight of these vertices, and the copy of the vertices.
pub(super) fn level_of_rest<'n>(walk: &Walk<'n>, node: NodeId) -> Found<(&'n Arc<VertexTable>, f64, NodeId)> {
    let expected = "the weight on vertices at rest";
    match walk.arcs(node, expected)? {
        (table, Arcs::Levels { at_rest, block, symbol }, of) if same(block, 0.0) && same(symbol, 0.0) => {
            Ok((table, at_rest, of))
        }
        _ => walk.refuse(node, expected),
    }
}

/// `read(T, [h])`: the weights T and the copy h of the heads.
pub(super) fn raw_cells(walk: &Walk<'_>, node: NodeId, raw_head: NodeId) -> Found<(NodeId, NodeId)> {
    let (cells, head) = tapes::read_fixed(walk, node)?;
    walk.require(saturated_01(walk, head)? == raw_head, head, "a saturated copy of the heads")?;
    Ok((cells, head))
}

/// `(P s') outer M`: what will be read, and the copy of the vertices.
pub(super) fn successor_nodes(
    walk: &Walk<'_>,
    node: NodeId,
    table: &Arc<VertexTable>,
) -> Found<(NodeId, NodeId)> {
    let (blocks, symbols) = walk.product(node, "the vertex that follows")?;
    let next = walk.arcs_of(blocks, (table, Arcs::OfBlock), "vertices of the block that follows")?;
    let vertex = walk.arcs_of(next, (table, Arcs::NextBlock), "the block that follows")?;
    let alike =
        walk.arcs_of(symbols, (table, Arcs::OfSymbols), "vertices with the symbols that will be read")?;
    let expected = "ReLU(t.r - (n - 1)) of all n symbols t that vertices look at";
    let inside = walk.relu(alike, expected)?;
    let (map, ahead) = walk.linear(inside, expected)?;
    let is_alike = map.as_arcs().is_some_and(|(found, arcs)| same_table(found, table) && arcs == Arcs::Alike);
    let thresholds = table.combination_biases();
    let biased = map.bias().iter().zip(&thresholds).all(|(&found, &threshold)| same(found, threshold));
    walk.require(is_alike && biased, inside, expected)?;
    Ok((ahead, vertex))
}

/// `ReLU(2v - 1/2) - ReLU(2v - 3/2)`: v.
pub(super) fn saturated_01(walk: &Walk<'_>, node: NodeId) -> Found<NodeId> {
    let expected = "ReLU(2v - 1/2) - ReLU(2v - 3/2)";
    let (low, high) = walk.pair(node, (1.0, -1.0), expected)?;
    ramps(walk, (low, -0.5), (high, -1.5), expected)
}

/// `ReLU(2v + 1) - ReLU(2v - 1) - 1`: v.
pub(super) fn saturated_11(walk: &Walk<'_>, node: NodeId) -> Found<NodeId> {
    let expected = "ReLU(2v + 1) - ReLU(2v - 1) - 1";
    match *walk.sum(node, expected)? {
        [(u, low), (v, high), (weight, one)] if same(u, 1.0) && same(v, -1.0) => {
            walk.require(same(weight * walk.scalar(one, expected)?, -1.0), node, expected)?;
            ramps(walk, (low, 1.0), (high, -1.0), expected)
        }
        _ => walk.refuse(node, expected),
    }
}

/// `ReLU(2v + a)` and `ReLU(2v + b)` of the same v.
fn ramps(
    walk: &Walk<'_>,
    (low, a): (NodeId, f64),
    (high, b): (NodeId, f64),
    expected: &'static str,
) -> Found<NodeId> {
    let first = walk.affine_of(walk.relu(low, expected)?, (2.0, a), expected)?;
    let second = walk.affine_of(walk.relu(high, expected)?, (2.0, b), expected)?;
    walk.require(first == second, high, expected)?;
    Ok(first)
}
