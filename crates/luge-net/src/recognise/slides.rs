//! Landscapes of slides on a simplex.

mod edge_units;
mod gates;

use std::sync::Arc;

use super::{
    Form, SparseLayers,
    tapes::{self, Rows, StepNodes},
    walk::{Found, Walk, same},
};
use crate::{NodeId, Op, StepRule, VertexTable, faults};

/// What edges and levels weigh.
struct EdgeWeights {
    at_rest: f64,
    edge: f64,
    symbol: f64,
    edge_units: bool,
    unrounded: bool,
}

/// Weights that are equal on paper may differ by this much, relatively, where they were rounded in different ways.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDING * a.abs().max(b.abs())
}

/// Reads `offset + levels and slides + write |read - [next]|^2 + read |[ahead] - now|^2 + shift |[moved] - head|^2`.
pub(super) fn read(walk: &Walk<'_>, landscape: NodeId) -> Found<SparseLayers> {
    let expected = "a sum of a constant, levels, slides and three residuals";
    let [(constant, one), slides @ .., write, read, shift] = walk.sum(landscape, expected)? else {
        return walk.refuse(landscape, expected);
    };
    let offset = walk.finite(constant * walk.scalar(*one, "a constant")?, *one)?;

    let (fixed_moved, head) =
        walk.squared_distance(shift.1, "the squared distance of heads from moved ones")?;
    let (fixed_ahead, now) =
        walk.squared_distance(read.1, "the squared distance of symbols from those ahead")?;
    let (under, fixed_next) =
        walk.squared_distance(write.1, "the squared distance of cells from the next")?;
    let stop = "under a stop-gradient";
    let moved = walk.stopped(fixed_moved, stop)?;
    let ahead = if faults::planted("stop not looked for") && walk.stopped(fixed_ahead, stop).is_err() {
        fixed_ahead
    } else {
        walk.stopped(fixed_ahead, stop)?
    };
    let next = walk.stopped(fixed_next, stop)?;
    let (table, vertex) = tapes::now(walk, now)?;
    let (cells, fixed_head) = tapes::read_fixed(walk, under)?;
    walk.require(fixed_head == head, under, "what lies under the heads, fixed")?;
    tapes::check_table(walk, landscape, table, [cells, head])?;
    tapes::step(walk, table, &Rows { vertex, cells, head }, &StepNodes { read: under, next, moved, ahead })?;

    let weights = edges(walk, landscape, slides, (table, vertex))?;
    let on_simplex = walk.parameter(vertex, "weights on a simplex")?;
    let rule = walk.network().parameters()[on_simplex.index()].step_rule;
    walk.require(rule == StepRule::Simplex, vertex, "weights on a simplex")?;
    let (head_id, head_rate) = walk.descending(head, "heads that are weights")?;
    let all = tapes::cells(walk, cells, table)?;
    let number = |term: &(f64, NodeId)| walk.finite(term.0, landscape);
    let EdgeWeights { at_rest, edge, symbol, edge_units, unrounded } = weights;
    let form = Form::Slides {
        offset,
        at_rest,
        edge,
        symbol,
        write: number(write)?,
        read: number(read)?,
        shift: number(shift)?,
        cell_rate: all.trained.map_or(head_rate, |(_, rate)| rate),
        head_rate,
        edge_units,
        unrounded,
    };
    Ok(SparseLayers {
        table: Arc::clone(table),
        vertex: on_simplex,
        cells: all.trained.map(|(id, _)| id),
        fixed_cells: all.fixed,
        head: head_id,
        form,
        joint: None,
    })
}

/// The table of the vertices, and their weights.
type Vertices<'a> = (&'a Arc<VertexTable>, NodeId);

/// Levels and slides, in one of two forms.
fn edges(
    walk: &Walk<'_>,
    landscape: NodeId,
    terms: &[(f64, NodeId)],
    vertices: Vertices<'_>,
) -> Found<EdgeWeights> {
    let expected = "a landscape with levels and slides";
    let Some(&(_, first)) = terms.first() else { return walk.refuse(landscape, expected) };
    let has_gates = matches!(walk.op(first), Op::Linear(map, _) if map.as_arcs().is_some());
    let weights = if has_gates {
        gates::read(walk, landscape, terms, vertices)?
    } else {
        edge_units::read(walk, landscape, terms, vertices)?
    };
    let EdgeWeights { at_rest, edge, symbol, .. } = weights;
    walk.require([at_rest, edge, symbol].iter().all(|w| w.is_finite()), landscape, "finite")?;
    // Of two vertices that differ in a symbol nothing pulls at, the one where it stays must be the lower.
    walk.require(symbol < 0.0, landscape, "a landscape whose edges are lower where symbols stay")?;
    // A sum of the parts that rounds differently part by part would leave something of the self-edges behind.
    let whole = |n: usize| {
        let parts = (0..n).fold(edge, |sum, _| sum + symbol);
        same(parts, edge + n as f64 * symbol) && same(parts - edge, n as f64 * symbol)
    };
    let unrounded = weights.unrounded && (0..=vertices.0.n_tracks()).all(whole);
    Ok(EdgeWeights { unrounded, ..weights })
}
