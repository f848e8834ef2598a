//! Tapes and heads as weights: reading, writing and moving, as `compact`, `relu` and `plain` share them.

use luge_machine::Move;
use luge_net::{Arcs, GraphBuilder, NodeId, ParameterId, Shape, StepRule};

use crate::{Control, Corrections};

/// The tapes that a landscape is built around.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tapes {
    /// tau: cells per tape.
    pub(crate) n_cells: usize,
    /// The read-only tapes, one row each, if there are any.
    pub(crate) read_only: Option<NodeId>,
}

/// The nodes that hold the vertex, the tapes and the heads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights {
    /// x or s: the vertex.
    pub(crate) vertex: (ParameterId, NodeId),
    /// T: the writable tapes, one row each, if there are any.
    pub(crate) writable: Option<ParameterId>,
    /// All tapes, writable ones first.
    pub(crate) tape: NodeId,
    /// H: the heads, rows as in `tape`.
    pub(crate) head: (ParameterId, NodeId),
}

impl Weights {
    pub(crate) fn new(
        g: &mut GraphBuilder,
        control: &Control,
        Tapes { n_cells, read_only }: Tapes,
        vertex_rule: StepRule,
        rate: f64,
    ) -> Self {
        let rule = StepRule::Gradient { rate };
        let vertex = g.parameter("vertex", Shape::column(control.n_vertices()), vertex_rule);
        let (n_tapes, n_writable) = (control.n_tapes(), control.n_writable());
        let writable = (n_writable > 0).then(|| g.parameter("tape", Shape::new(n_writable, n_cells), rule));
        let tape = match (writable, read_only) {
            (Some((_, upper)), Some(lower)) => g.stack("tapes", upper, lower),
            (Some((_, only)), None) | (None, Some(only)) => only,
            (None, None) => unreachable!("a machine has a tape"),
        };
        let head = g.parameter("head", Shape::new(n_tapes, n_cells), rule);
        Self { vertex, writable: writable.map(|w| w.0), tape, head }
    }
}

/// `read(T, H)_j = sum_i T_ij H_ij`.
pub(crate) fn read(g: &mut GraphBuilder, name: &str, tape: NodeId, head: NodeId) -> NodeId {
    let under_head = g.product(name, tape, head);
    g.sum_columns(name, under_head)
}

/// `val x + (keep x) read(T, H)`: the symbols that the step leaves under the heads.
///
/// Departs from the paper: a tape that the vertex does not look at keeps its symbol. If every vertex knows all symbols,
/// this is the printed `next x`.
pub(crate) fn write(
    g: &mut GraphBuilder,
    control: &Control,
    corrections: &Corrections,
    vertex: NodeId,
    read_now: NodeId,
) -> NodeId {
    let at_rest = corrections.halting_stays;
    let known = g.linear("next", control.arcs(Arcs::Next { at_rest }), vertex);
    let keep = control.arcs(Arcs::Keep { at_rest });
    if keep.is_empty() {
        return known;
    }
    let keep = g.linear("keep", keep, vertex);
    let kept = g.product("kept", keep, read_now);
    g.sum("next", [(1.0, known), (1.0, kept)])
}

/// `[shift(x) H]_{i,j} = sum_v x_v H_{i - delta_3(v)_j, j}`.
///
/// Departs from the paper: printed `i + delta_3`, which mirrors every move.
pub(crate) fn shift(
    g: &mut GraphBuilder,
    control: &Control,
    corrections: &Corrections,
    vertex: NodeId,
    head: NodeId,
) -> NodeId {
    let mut terms = Vec::new();
    for way in [Move::Left, Move::Stay, Move::Right] {
        let moving = Arcs::Moving { by: way.offset(), at_rest: corrections.halting_stays };
        let moving = control.arcs(moving);
        if moving.is_empty() {
            continue;
        }
        let moving = g.linear("moving", moving, vertex);
        let by = if corrections.forward_shift { way.offset() } else { -way.offset() };
        let (name, moved) = match way {
            Move::Left => ("move left", g.shift("left", by, head)),
            Move::Stay => ("stay", head),
            Move::Right => ("move right", g.shift("right", by, head)),
        };
        terms.push((1.0, g.product(name, moving, moved)));
    }
    g.sum("moved head", terms)
}

/// `read(T + H (next x - read(T, H)), shift(x) H)`: the symbols under the heads after this step.
///
/// Departs from the paper: printed without the write, which is wrong for heads that stay.
pub(crate) fn read_ahead(
    g: &mut GraphBuilder,
    corrections: &Corrections,
    (tape, head): (NodeId, NodeId),
    (read_now, next): (NodeId, NodeId),
    moved: NodeId,
) -> NodeId {
    let written = if corrections.write_through_read {
        let change = g.sum("change", [(1.0, next), (-1.0, read_now)]);
        let change = g.product("write", head, change);
        g.sum("written tape", [(1.0, tape), (1.0, change)])
    } else {
        tape
    };
    read(g, "read ahead", written, moved)
}

/// `weight * |a - b|^2`, as a term for the loss.
pub(crate) fn squared_distance(
    g: &mut GraphBuilder,
    name: &str,
    weight: f64,
    a: NodeId,
    b: NodeId,
) -> (f64, NodeId) {
    let residual = g.sum(name, [(1.0, a), (-1.0, b)]);
    let squares = g.square(name, residual);
    (weight, g.sum_all(name, squares))
}
