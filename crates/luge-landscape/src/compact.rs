//! Landscape B, compact form: product units, no tripled states. Also the part that both forms of B share.
//!
//! Paper: §4.4, (15), with the slopes of its ReLU units; Departs from the paper: the units themselves.

use luge_net::{GraphBuilder, LinearMap, NodeId, StepRule};

use crate::{
    Control, Corrections, ExternalConstants,
    tapes::{self, Tapes, Weights},
};

/// l(x, T, H) of CONSTRUCTION, section 4, with the compact l_S.
pub(crate) fn build(
    g: &mut GraphBuilder,
    control: &Control,
    tapes: Tapes,
    constants: &ExternalConstants,
    corrections: &Corrections,
) -> (NodeId, Weights) {
    external(g, control, tapes, constants, corrections, |g, vertex| {
        vertex_loss(g, control, constants, vertex)
    })
}

/// Landscape B around any form of l_S.
pub(crate) fn external(
    g: &mut GraphBuilder,
    control: &Control,
    tapes: Tapes,
    constants: &ExternalConstants,
    corrections: &Corrections,
    vertex_loss: impl FnOnce(&mut GraphBuilder, NodeId) -> Vec<(f64, NodeId)>,
) -> (NodeId, Weights) {
    let ExternalConstants { base: b, scale: gamma, offset: c } = *constants;
    let weights = Weights::new(g, control, tapes, StepRule::Simplex, 1.0 / gamma);
    let (x, tape, head) = (weights.vertex.1, weights.tape, weights.head.1);

    let now = g.linear("now", control.now(), x);
    let next = g.linear("next", control.next(corrections.halting_stays), x);
    let moved = tapes::shift(g, control, corrections, x, head);
    let fixed_head = g.stop_gradient("[head]", head);
    let read_now = tapes::read(g, "read", tape, fixed_head);
    let ahead = tapes::read_ahead(g, corrections, (tape, head), (read_now, next), moved);

    let fixed_next = g.stop_gradient("[next]", next);
    let fixed_ahead = g.stop_gradient("[read ahead]", ahead);
    let fixed_moved = g.stop_gradient("[moved head]", moved);
    let one = g.scalar("one", 1.0);
    let mut terms = vec![(c, one)];
    terms.extend(vertex_loss(g, x));
    terms.push(tapes::squared_distance(g, "write residual", gamma / 2.0, read_now, fixed_next));
    terms.push(tapes::squared_distance(g, "read residual", 2.0 * b * b * gamma, fixed_ahead, now));
    terms.push(tapes::squared_distance(g, "move residual", gamma / 2.0, fixed_moved, head));
    (g.sum("landscape", terms), weights)
}

/// `sum omega_v gate_v + 4 sum_v gate_v (W x)_v + sum_v omega_vv dip_v`.
fn vertex_loss(
    g: &mut GraphBuilder,
    control: &Control,
    constants: &ExternalConstants,
    x: NodeId,
) -> Vec<(f64, NodeId)> {
    let n_vertices = control.vertices().len();
    let halting = halting_weight(constants);
    let self_edge = edge_weight(constants, control.n_tapes(), control.n_tapes());
    let with_self_edge: Vec<usize> = (0..n_vertices).filter(|&v| control.has_self_edge(v)).collect();

    let gate = g.linear("gate", LinearMap::diagonal(n_vertices, 4.0, -3.0), x);
    let gate = g.relu("gate", gate);
    let successors = successor_weights(g, control, constants, &with_self_edge, self_edge, x);
    let slides = g.product("slides", gate, successors);

    // dip_v = 2 ReLU(4 x_v - 7/2) - gate_v, so omega_vv dip_v splits into a part of each.
    let halting_vertices = control.vertices().iter().enumerate().filter(|(_, v)| v.step.is_none());
    let on_gate = halting_vertices.map(|(v, _)| (0, v, halting));
    let on_gate = on_gate.chain(with_self_edge.iter().map(|&v| (0, v, -self_edge)));
    let levels = g.linear("levels", LinearMap::new(1, n_vertices, on_gate), gate);
    let slides = g.sum_all("slides", slides);
    let mut terms = vec![(1.0, levels), (4.0, slides)];
    if !with_self_edge.is_empty() {
        let n = with_self_edge.len();
        let map = LinearMap::new(n, n_vertices, with_self_edge.iter().enumerate().map(|(i, &v)| (i, v, 4.0)));
        let dip = g.linear("dip", map.with_bias(vec![-3.5; n]), x);
        let dip = g.relu("dip", dip);
        terms.push((2.0 * self_edge, g.sum_all("dip", dip)));
    }
    terms
}

/// `(W x)_v = -b^3 g X_q' - b g sum_i Y_{q',i,t_i}` off the diagonal, through the marginals of x.
fn successor_weights(
    g: &mut GraphBuilder,
    control: &Control,
    constants: &ExternalConstants,
    with_self_edge: &[usize],
    self_edge: f64,
    x: NodeId,
) -> NodeId {
    let (n_vertices, n_states, d) = (control.vertices().len(), control.n_copied_states(), control.n_tapes());
    let symbol = |state: usize, tape: usize, one: bool| n_states + (state * d + tape) * 2 + usize::from(one);
    let n_marginals = n_states * (1 + 2 * d);

    let marginals = control.vertices().iter().enumerate().flat_map(|(v, vertex)| {
        let state = control.copied_state(v);
        let symbols = (0..d).map(move |i| (symbol(state, i, vertex.reads.get(i)), v, 1.0));
        symbols.chain([(state, v, 1.0)])
    });
    let marginals = g.linear("marginals", LinearMap::new(n_marginals, n_vertices, marginals), x);

    let cubic = edge_weight(constants, d, 0);
    let linear = -constants.base * constants.scale;
    let rows = control.vertices().iter().enumerate().filter_map(|(v, vertex)| {
        let next = vertex.step.as_ref()?.next;
        let symbols = (0..d).map(move |i| (v, symbol(next, i, vertex.reads.get(i)), linear));
        Some(symbols.chain([(v, next, cubic)]))
    });
    let rows = LinearMap::new(n_vertices, n_marginals, rows.flatten());
    let rows = g.linear("successors", rows, marginals);
    if with_self_edge.is_empty() {
        return rows;
    }
    let diagonal = LinearMap::new(n_vertices, n_vertices, with_self_edge.iter().map(|&v| (v, v, self_edge)));
    let diagonal = g.linear("self-edges", diagonal, x);
    g.sum("successors", [(1.0, rows), (-1.0, diagonal)])
}

/// omega_v of a halting vertex: -b^3 gamma.
pub(crate) fn halting_weight(constants: &ExternalConstants) -> f64 {
    -constants.base.powi(3) * constants.scale
}

/// omega_vw of an edge along which `n_kept` of the symbols stay the same: -(b^3 + b n_kept) gamma.
///
/// Paper: §4.4, (12).
pub(crate) fn edge_weight(constants: &ExternalConstants, n_tapes: usize, n_kept: usize) -> f64 {
    debug_assert!(n_kept <= n_tapes);
    let kept = f64::from(u32::try_from(n_kept).unwrap_or(u32::MAX));
    -(constants.base.powi(3) + constants.base * kept) * constants.scale
}
