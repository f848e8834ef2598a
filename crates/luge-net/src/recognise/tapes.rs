//! Reading, writing and moving: what all landscapes have in common.

use std::sync::Arc;

use super::walk::{Found, Walk, same};
use crate::{Arcs, NodeId, Op, ParameterId, VertexTable};

/// What the vertices, cells and heads of the terms are: weights themselves, or saturated copies of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rows {
    pub(super) vertex: NodeId,
    pub(super) cells: NodeId,
    pub(super) head: NodeId,
}

/// The nodes of the step that the terms compare with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct StepNodes {
    pub(super) read: NodeId,
    pub(super) next: NodeId,
    pub(super) moved: NodeId,
    pub(super) ahead: NodeId,
}

/// The cells that are weights, with their rate, and those that are not.
pub(super) struct AllCells {
    pub(super) trained: Option<(ParameterId, f64)>,
    pub(super) fixed: Option<NodeId>,
}

/// Reads the matrix of all cells: weights, then others.
pub(super) fn cells(walk: &Walk<'_>, node: NodeId, table: &VertexTable) -> Found<AllCells> {
    let expected = "cells, first those that are weights";
    let rows = |node: NodeId| walk.shape(node).rows;
    let n_fixed = table.n_tracks() - table.n_trained();
    match *walk.op(node) {
        Op::Parameter(_) => {
            walk.require(n_fixed == 0, node, expected)?;
            Ok(AllCells { trained: Some(walk.descending(node, expected)?), fixed: None })
        }
        Op::Stack(upper, lower) => {
            let fits = rows(upper) == table.n_trained() && rows(lower) == n_fixed;
            walk.require(fits, node, expected)?;
            Ok(AllCells { trained: Some(walk.descending(upper, expected)?), fixed: Some(lower) })
        }
        _ => {
            walk.require(table.n_trained() == 0, node, expected)?;
            Ok(AllCells { trained: None, fixed: Some(node) })
        }
    }
}

/// A table whose tracks each have a row of cells and a row of the heads.
pub(super) fn check_table(
    walk: &Walk<'_>,
    node: NodeId,
    table: &VertexTable,
    shapes: [NodeId; 2],
) -> Found<()> {
    let mut rows = table.rows().to_vec();
    rows.sort_unstable();
    let n = table.n_tracks();
    let complete =
        rows.iter().copied().eq(0..n) && table.n_trained() <= n && (1..u32::BITS as usize).contains(&n);
    walk.require(complete, node, "made of vertices with a row of cells for every track")?;
    let [cells, head] = shapes.map(|node| walk.shape(node));
    walk.require(cells == head && head.rows == n, node, "made of as many rows of cells as there are tracks")
}

/// `sum_i cells_ij head_ij`.
pub(super) fn read(walk: &Walk<'_>, node: NodeId, (cells, head): (NodeId, NodeId)) -> Found<()> {
    let expected = "what lies under the heads";
    let product = walk.sum_columns(node, expected)?;
    walk.require(walk.product(product, expected)? == (cells, head), product, expected)
}

/// `sum_i cells_ij [head_ij]`: the cells, and the heads.
pub(super) fn read_fixed(walk: &Walk<'_>, node: NodeId) -> Found<(NodeId, NodeId)> {
    let expected = "what lies under fixed heads";
    let (cells, fixed) = walk.product(walk.sum_columns(node, expected)?, expected)?;
    Ok((cells, walk.stopped(fixed, "heads under a stop-gradient")?))
}

/// `sum_i (cells_ij + change_ij) moved_ij`, with a change of what is read: the cells, and what is read.
pub(super) fn read_ahead(walk: &Walk<'_>, node: NodeId) -> Found<(NodeId, NodeId)> {
    let expected = "what will be read after the step";
    let (written, _) = walk.product(walk.sum_columns(node, expected)?, expected)?;
    let (cells, change) = walk.pair(written, (1.0, 1.0), "the cells after the write")?;
    let (_, difference) = walk.product(change, "the change under the heads")?;
    let (_, read) = walk.pair(difference, (1.0, -1.0), "what is written less what is read")?;
    Ok((cells, read))
}

/// The step that the terms compare with is the one the table says.
pub(super) fn step(walk: &Walk<'_>, table: &Arc<VertexTable>, rows: &Rows, step: &StepNodes) -> Found<()> {
    next(walk, table, rows, step)?;
    moved(walk, table, rows, step.moved)?;
    ahead(walk, rows, step)
}

/// `val x + (keep x) read`: what the vertices are known to leave behind, and what they keep without a look, if any do.
fn next(walk: &Walk<'_>, table: &Arc<VertexTable>, rows: &Rows, step: &StepNodes) -> Found<()> {
    let expected = "what the vertices leave behind";
    let keep = Arcs::Keep { at_rest: true };
    let mut known = step.next;
    if !keep.is_empty(table) {
        let (put, kept) = walk.pair(step.next, (1.0, 1.0), expected)?;
        let (keeping, read) = walk.product(kept, "what is kept unseen")?;
        let vertex = walk.arcs_of(keeping, (table, keep), "the rows that are kept unseen")?;
        walk.require((vertex, read) == (rows.vertex, step.read), kept, "what is kept unseen")?;
        known = put;
    }
    let vertex = walk.arcs_of(known, (table, Arcs::Next { at_rest: true }), expected)?;
    walk.require(vertex == rows.vertex, known, expected)
}

/// `sum_v x_v H_(i - move(v)_j, j)`: one term for each way in which some head moves.
fn moved(walk: &Walk<'_>, table: &Arc<VertexTable>, rows: &Rows, node: NodeId) -> Found<()> {
    let expected = "the heads, moved as the vertices say";
    let mut terms = walk.sum(node, expected)?.iter();
    for by in [-1, 0, 1] {
        let arcs = Arcs::Moving { by, at_rest: true };
        if arcs.is_empty(table) {
            continue;
        }
        let Some(&(weight, term)) = terms.next() else { return walk.refuse(node, expected) };
        walk.require(same(weight, 1.0), node, expected)?;
        let (moving, head) = walk.product(term, expected)?;
        let vertex = walk.arcs_of(moving, (table, arcs), "the heads that move this way")?;
        walk.require(vertex == rows.vertex, moving, "the heads that move this way")?;
        let shifted = match *walk.op(head) {
            Op::Shift(way, of) => way == by && by != 0 && of == rows.head,
            _ => by == 0 && head == rows.head,
        };
        walk.require(shifted, head, expected)?;
    }
    walk.require(terms.next().is_none(), node, expected)
}

/// `read(T + H (next - read), moved)`: what will be read once the step is made.
fn ahead(walk: &Walk<'_>, rows: &Rows, step: &StepNodes) -> Found<()> {
    let expected = "what will be read after the step";
    let product = walk.sum_columns(step.ahead, expected)?;
    let (written, moved) = walk.product(product, expected)?;
    walk.require(moved == step.moved, product, expected)?;
    let (cells, change) = walk.pair(written, (1.0, 1.0), "the cells after the write")?;
    walk.require(cells == rows.cells, written, "the cells after the write")?;
    let (head, difference) = walk.product(change, "the change under the heads")?;
    walk.require(head == rows.head, change, "the change under the heads")?;
    let (next, read) = walk.pair(difference, (1.0, -1.0), "what is written less what is read")?;
    walk.require((next, read) == (step.next, step.read), difference, "what is written less what is read")
}

/// The symbols of the vertices: the table and the node of the vertices.
pub(super) fn now<'n>(walk: &Walk<'n>, node: NodeId) -> Found<(&'n Arc<VertexTable>, NodeId)> {
    let expected = "the symbols of the vertices";
    let (table, arcs, vertex) = walk.arcs(node, expected)?;
    walk.require(arcs == Arcs::Now, node, expected)?;
    Ok((table, vertex))
}
