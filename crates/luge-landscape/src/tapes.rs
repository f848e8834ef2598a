//! Tapes and heads as weights: reading, writing and moving in `compact`, `relu` and `plain`.

use luge_net::{Arcs, GraphBuilder, NodeId, ParameterId, Shape, StepRule};

use crate::{Control, Corrections};

/// The tapes of a machine, as a landscape is built around them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tapes<'a> {
    pub(crate) control: &'a Control,
    pub(crate) corrections: &'a Corrections,
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

impl Tapes<'_> {
    /// Adds the weights to a graph. Tapes and heads are trained with this rate.
    pub(crate) fn weights(self, g: &mut GraphBuilder, vertex_rule: StepRule, rate: f64) -> Weights {
        let Self { control, n_cells, read_only, .. } = self;
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
        Weights { vertex, writable: writable.map(|w| w.0), tape, head }
    }

    /// `val x + (keep x) read(T, H)`: the symbols under the heads after the write.
    ///
    /// Departs from the paper: a tape that the vertex does not look at keeps its symbol. If every vertex looks at all tapes,
    /// this is the printed `next x`.
    pub(crate) fn write(self, g: &mut GraphBuilder, vertex: NodeId, read_now: NodeId) -> NodeId {
        let at_rest = self.corrections.halting_stays;
        let known = g.linear("next", self.control.arcs(Arcs::Next { at_rest }), vertex);
        let keep = self.control.arcs(Arcs::Keep { at_rest });
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
    pub(crate) fn shift(self, g: &mut GraphBuilder, vertex: NodeId, head: NodeId) -> NodeId {
        let mut terms = Vec::new();
        for (by, name, moved_name) in [(-1, "move left", "left"), (0, "stay", ""), (1, "move right", "right")]
        {
            let moving = self.control.arcs(Arcs::Moving { by, at_rest: self.corrections.halting_stays });
            if moving.is_empty() {
                continue;
            }
            let moving = g.linear("moving", moving, vertex);
            let by = if self.corrections.forward_shift { by } else { -by };
            let moved = if by == 0 { head } else { g.shift(moved_name, by, head) };
            terms.push((1.0, g.product(name, moving, moved)));
        }
        g.sum("moved head", terms)
    }

    /// `read(T + H (next x - read(T, H)), shift(x) H)`: the symbols under the heads after this step.
    ///
    /// Departs from the paper: printed without the write, which is wrong for heads that stay.
    pub(crate) fn read_ahead(
        self,
        g: &mut GraphBuilder,
        (tape, head): (NodeId, NodeId),
        (read_now, next): (NodeId, NodeId),
        moved: NodeId,
    ) -> NodeId {
        let written = if self.corrections.write_through_read {
            let change = g.sum("change", [(1.0, next), (-1.0, read_now)]);
            let change = g.product("write", head, change);
            g.sum("written tape", [(1.0, tape), (1.0, change)])
        } else {
            tape
        };
        read(g, "read ahead", written, moved)
    }
}

/// `read(T, H)_j = sum_i T_ij H_ij`.
pub(crate) fn read(g: &mut GraphBuilder, name: &str, tape: NodeId, head: NodeId) -> NodeId {
    let under_head = g.product(name, tape, head);
    g.sum_columns(name, under_head)
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
    (weight, g.sum_of_squares(name, residual))
}
