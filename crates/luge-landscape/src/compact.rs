//! `compact`: product units, no tripled states. Also the code that it shares with `relu`.
//!
//! Paper: §4.4, (15), with the slopes of its ReLU units. Departs from the paper: the units themselves.

use luge_net::{Arcs, GraphBuilder, LinearMap, NodeId, StepRule, faults};

use crate::{
    Control, ExternalConstants,
    constants::cube,
    relu::relu_of,
    tapes::{Tapes, Weights, read, squared_distance},
};

/// l(x, T, H) of docs/construction.md, section 4, for `compact` and `relu`, which differ only in l_S (`vertex_loss`).
pub(crate) fn build(
    g: &mut GraphBuilder,
    tapes: Tapes<'_>,
    constants: &ExternalConstants,
    vertex_loss: impl FnOnce(&mut GraphBuilder, NodeId) -> Vec<(f64, NodeId)>,
) -> (NodeId, Weights) {
    let ExternalConstants { base: b, scale: gamma, offset: c } = *constants;
    let weights = tapes.weights(g, StepRule::Simplex, 1.0 / gamma);
    let (x, tape, head) = (weights.vertex.1, weights.tape, weights.head.1);

    let now = g.linear("now", tapes.control.arcs(Arcs::Now), x);
    let moved = tapes.shift(g, x, head);
    let fixed_head = g.stop_gradient("[head]", head);
    let read_now = read(g, "read", tape, fixed_head);
    let next = tapes.write(g, x, read_now);
    let ahead = tapes.read_ahead(g, (tape, head), (read_now, next), moved);

    let fixed_next = g.stop_gradient("[next]", next);
    let fixed_ahead = g.stop_gradient("[read ahead]", ahead);
    let fixed_moved = g.stop_gradient("[moved head]", moved);
    let one = g.scalar("one", 1.0);
    let mut terms = vec![(c, one)];
    terms.extend(vertex_loss(g, x));
    terms.push(squared_distance(g, "write residual", gamma / 2.0, read_now, fixed_next));
    terms.push(squared_distance(g, "read residual", 2.0 * b * b * gamma, fixed_ahead, now));
    terms.push(squared_distance(g, "move residual", gamma / 2.0, fixed_moved, head));
    (g.sum("landscape", terms), weights)
}

/// `sum omega_v gate_v + 4 sum_v gate_v (W x)_v + sum_v omega_vv dip_v`.
pub(crate) fn vertex_loss(
    g: &mut GraphBuilder,
    control: &Control,
    constants: &ExternalConstants,
    x: NodeId,
) -> Vec<(f64, NodeId)> {
    let (block, symbol) = (edge_weight(constants, 0), symbol_weight(constants));
    let dips = control.arcs(Arcs::Dips { weight: 4.0 });
    let has_dips = dips.n_outputs() > 0;

    let gate = relu_of(g, "gate", LinearMap::diagonal(control.n_vertices(), 4.0, -3.0), x);
    let marginals = g.linear("marginals", control.arcs(Arcs::Marginals), x);
    // (W x)_v = -b^3 g X_q' - b g sum_i Y_{q',i,t_i}, through the marginals of x, and without its diagonal.
    let mut rows = g.linear("successors", control.arcs(Arcs::Successors { block, symbol }), marginals);
    if has_dips {
        let diagonal = Arcs::SelfEdges { block, symbol: faults::number("kept symbols", symbol, 0.0) };
        let diagonal = g.linear("self-edges", control.arcs(diagonal), x);
        rows = g.sum("successors", [(1.0, rows), (-1.0, diagonal)]);
    }
    let slides = g.product("slides", gate, rows);

    // dip_v = 2 ReLU(4 x_v - 7/2) - gate_v: the second term is added to the levels.
    let levels = Arcs::Levels { at_rest: halting_weight(constants), block: -block, symbol: -symbol };
    let levels = g.linear("levels", control.arcs(levels), gate);
    let slides = g.sum_all("slides", slides);
    let mut terms = vec![(1.0, levels), (4.0, slides)];
    if has_dips {
        let dip = relu_of(g, "dip", dips.with_same_bias(-3.5), x);
        terms.push((2.0, g.linear("dip", control.arcs(Arcs::DipLevels { block, symbol }), dip)));
    }
    terms
}

/// The number that every symbol that stays the same adds to the weight of an edge: -b gamma.
fn symbol_weight(constants: &ExternalConstants) -> f64 {
    -constants.base * constants.scale
}

/// omega_v of a halting vertex: -b^3 gamma.
pub(crate) fn halting_weight(constants: &ExternalConstants) -> f64 {
    -cube(constants.base) * faults::number("halting level", constants.scale, constants.scale / 1024.0)
}

/// omega_vw of an edge along which `n_kept` of the symbols stay the same: -(b^3 + b n_kept) gamma.
///
/// Paper: §4.4, (12).
pub(crate) fn edge_weight(constants: &ExternalConstants, n_kept: u32) -> f64 {
    let kept = faults::number("kept symbols", f64::from(n_kept), 0.0);
    -(cube(constants.base) + constants.base * kept) * constants.scale
}
