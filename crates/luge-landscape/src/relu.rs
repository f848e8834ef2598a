//! `relu`, the paper's landscape with external tapes: ReLU units on the edges of a simplex, with tripled states.
//!
//! Paper: §4.4, (15), and Appendix A.

use luge_net::{GraphBuilder, LinearMap, NodeId};

use crate::{
    Control, Corrections, ExternalConstants,
    compact::{edge_weight, halting_weight},
    tapes::Tapes,
};

/// A legal step v -> w and its weight omega_vw.
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) weight: f64,
}

/// A unit for every edge, with these weights on its ends.
pub(crate) fn on_edges(edges: &[Edge], n_vertices: usize, from: f64, to: f64) -> LinearMap {
    let entries = edges.iter().enumerate().flat_map(|(i, e)| [(i, e.from, from), (i, e.to, to)]);
    LinearMap::new(edges.len(), n_vertices, entries)
}

/// The sum over the units of all edges, with weights `weigh(omega_vw)`.
pub(crate) fn weighed(edges: &[Edge], weigh: impl Fn(f64) -> f64) -> LinearMap {
    LinearMap::new(1, edges.len(), edges.iter().enumerate().map(|(i, e)| (0, i, weigh(e.weight))))
}

/// `sum_v omega_v ReLU(4 x_v - 3) + sum_E omega_vw lbar_vw(x)`, where
/// `lbar_vw = ReLU(2 (x_v + x_w) - 1) - ReLU(2 x_w - 1) - ReLU(2 x_v - 2 x_w - 1)`.
pub(crate) fn vertex_loss(
    g: &mut GraphBuilder,
    tapes: Tapes<'_>,
    constants: &ExternalConstants,
    x: NodeId,
) -> Vec<(f64, NodeId)> {
    let Tapes { control, corrections, .. } = tapes;
    let n_vertices = control.n_vertices();
    let edges = edges(control, constants, corrections);
    let halting: Vec<usize> = (0..n_vertices).filter(|&v| control.at(v).step.is_none()).collect();
    let mut terms = Vec::new();
    if !halting.is_empty() {
        let corner = halting.iter().enumerate().map(|(i, &v)| (i, v, 4.0));
        let corner = LinearMap::new(halting.len(), n_vertices, corner).with_bias(vec![-3.0; halting.len()]);
        let corner = relu_of(g, "halting corners", corner, x);
        terms.push((halting_weight(constants), g.sum_all("halting corners", corner)));
    }
    if edges.is_empty() {
        return terms;
    }
    let on_edge = |to: f64| on_edges(&edges, n_vertices, 2.0, to).with_bias(vec![-1.0; edges.len()]);
    let ridges = relu_of(g, "edges", on_edge(2.0), x);
    terms.push((1.0, g.linear("edges", weighed(&edges, |weight| weight), ridges)));
    let slopes = relu_of(g, "directed edges", on_edge(-2.0), x);
    terms.push((1.0, g.linear("directed edges", weighed(&edges, |weight| -weight), slopes)));
    // ReLU(2 x_w - 1) is one unit per vertex, shared by all edges that end there.
    let corners = relu_of(g, "corners", LinearMap::diagonal(n_vertices, 2.0, -1.0), x);
    let incoming = LinearMap::new(1, n_vertices, edges.iter().map(|e| (0, e.to, -e.weight)));
    terms.push((1.0, g.linear("corners", incoming, corners)));
    terms
}

/// A ReLU unit for each output of a map.
pub(crate) fn relu_of(g: &mut GraphBuilder, name: &str, map: LinearMap, x: NodeId) -> NodeId {
    let affine = g.linear(name, map, x);
    g.relu(name, affine)
}

/// E: from (q, t) to (delta_1(q, t), t') for every t'.
fn edges(control: &Control, constants: &ExternalConstants, corrections: &Corrections) -> Vec<Edge> {
    let mut edges = Vec::new();
    for (from, vertex) in control.vertices().enumerate() {
        let Some(step) = vertex.step else { continue };
        for to in control.table().vertices_of(step.next) {
            if corrections.no_self_edges && from == to {
                continue;
            }
            let other = control.at(to);
            let both = vertex.looks_at.0 & other.looks_at.0;
            let n_kept = both.count_ones() - ((vertex.reads.0 ^ other.reads.0) & both).count_ones();
            edges.push(Edge { from, to, weight: edge_weight(constants, n_kept) });
        }
    }
    edges
}

/// The number of edges, including those from a vertex to itself.
pub(crate) fn n_edges(control: &Control) -> u64 {
    let next = control.vertices().filter_map(|vertex| vertex.step).map(|step| step.next);
    next.map(|state| control.table().vertices_of(state).len() as u64).sum()
}
