//! `plain`: stock gradient descent. Every weight is unconstrained and trained with rate 1.
//!
//! Departs from the paper: there is no simplex, and there are no slopes along edges and no barriers. x+, write and move
//! are under stop-gradient, so that a step reaches the next configuration. Saturation removes the error of the last step.

use luge_net::{Arcs, GraphBuilder, NodeId, StepRule};

use crate::{
    Control, PlainConstants,
    relu::relu_of,
    tapes::{Tapes, Weights, read, squared_distance},
};

/// `l = c - Omega [halt.s'] + 1/2 |x - [x+]|^2 + 1/2 |read(T, [h]) - [write]|^2 + 1/2 |H - [move]|^2`.
pub(crate) fn build(g: &mut GraphBuilder, tapes: Tapes<'_>, constants: &PlainConstants) -> (NodeId, Weights) {
    let weights = tapes.weights(g, StepRule::Gradient { rate: 1.0 }, 1.0);
    let vertex = saturate_01(g, "vertex", weights.vertex.1);
    let next = Next::new(g, tapes, &weights, vertex, |_, cells| cells);
    let halted = halted(g, tapes.control, vertex);
    let residuals = next.residuals(g, &weights);
    let one = g.scalar("one", 1.0);
    let mut terms = vec![(constants.offset, one), (-constants.drop, halted)];
    terms.extend(residuals.map(|(name, a, b)| squared_distance(g, name, 0.5, a, b)));
    (g.sum("landscape", terms), weights)
}

/// `[halt.s']`.
pub(crate) fn halted(g: &mut GraphBuilder, control: &Control, vertex: NodeId) -> NodeId {
    let at_rest = Arcs::Levels { at_rest: 1.0, block: 0.0, symbol: 0.0 };
    let halted = g.linear("halted", control.arcs(at_rest), vertex);
    g.stop_gradient("[halted]", halted)
}

/// The targets of a step, computed from saturated copies of the weights.
pub(crate) struct Next {
    h: NodeId,
    moved: NodeId,
    write: NodeId,
    successor: NodeId,
}

impl Next {
    /// Adds the targets to a graph. The next symbols are read from the result of `renew` for the saturated cells.
    pub(crate) fn new(
        g: &mut GraphBuilder,
        tapes: Tapes<'_>,
        weights: &Weights,
        vertex: NodeId,
        renew: impl FnOnce(&mut GraphBuilder, NodeId) -> NodeId,
    ) -> Self {
        let h = saturate_01(g, "head", weights.head.1);
        let t = saturate_11(g, "tape", weights.tape);
        let moved = tapes.shift(g, vertex, h);
        let read_now = read(g, "read", t, h);
        let write = tapes.write(g, vertex, read_now);
        let renewed = renew(g, t);
        let ahead = tapes.read_ahead(g, (renewed, h), (read_now, write), moved);
        Self { h, moved, write, successor: successor(g, tapes.control, vertex, ahead) }
    }

    /// `x - [x+]`, `read(T, [h]) - [write]` and `H - [move]`: their names and both sides.
    pub(crate) fn residuals(&self, g: &mut GraphBuilder, weights: &Weights) -> [(&str, NodeId, NodeId); 3] {
        let fixed_successor = g.stop_gradient("[successor]", self.successor);
        let fixed_write = g.stop_gradient("[write]", self.write);
        let fixed_moved = g.stop_gradient("[moved head]", self.moved);
        let fixed_head = g.stop_gradient("[head]", self.h);
        let read_raw = read(g, "read weights", weights.tape, fixed_head);
        [
            ("vertex residual", weights.vertex.1, fixed_successor),
            ("write residual", read_raw, fixed_write),
            ("move residual", weights.head.1, fixed_moved),
        ]
    }
}

/// `x+_(q',t') = (P s')_q' M_t'`, with `P e_(q,t) = delta_1(q,t)` and `M_t' = ReLU(t'.r - (|S(q')| - 1))` over the tapes
/// S(q') that q' looks at; states that look at the same tapes share M.
fn successor(g: &mut GraphBuilder, control: &Control, vertex: NodeId, ahead: NodeId) -> NodeId {
    let next_state = g.linear("next state", control.arcs(Arcs::NextBlock), vertex);
    let alike = control.arcs(Arcs::Alike).with_bias(control.table().combination_biases());
    let symbols = relu_of(g, "symbols read", alike, ahead);
    let of_state = g.linear("next state", control.arcs(Arcs::OfBlock), next_state);
    let of_symbols = g.linear("symbols read", control.arcs(Arcs::OfSymbols), symbols);
    g.product("successor", of_state, of_symbols)
}

/// `ReLU(2v - 1/2) - ReLU(2v - 3/2)`: exactly 0 up to 1/4, exactly 1 from 3/4 on.
pub(crate) fn saturate_01(g: &mut GraphBuilder, name: &str, of: NodeId) -> NodeId {
    let [low, high] = relus(g, name, of, [-0.5, -1.5]);
    g.sum(&format!("saturated {name}"), [(1.0, low), (-1.0, high)])
}

/// `ReLU(2v + 1) - ReLU(2v - 1) - 1`: exactly -1 up to -1/2, exactly 1 from 1/2 on.
pub(crate) fn saturate_11(g: &mut GraphBuilder, name: &str, of: NodeId) -> NodeId {
    let [low, high] = relus(g, name, of, [1.0, -1.0]);
    let one = g.scalar("one", 1.0);
    g.sum(&format!("saturated {name}"), [(1.0, low), (-1.0, high), (-1.0, one)])
}

/// `ReLU(2v + bias)` for both biases.
fn relus(g: &mut GraphBuilder, name: &str, of: NodeId, biases: [f64; 2]) -> [NodeId; 2] {
    let sums = biases.map(|bias| g.affine(name, 2.0, of, bias));
    sums.map(|sum| g.relu(&format!("saturate {name}"), sum))
}
