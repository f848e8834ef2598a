//! Slides made of gates: `sum_v level_v gate_v + 4 sum_v gate_v (W x)_v + self-edges`, with gates `ReLU(4 x - 3)`.

use super::{EdgeWeights, Vertices};
use crate::{
    Arcs, NodeId, faults,
    recognise::walk::{Found, Walk, same, same_table},
    vertices::n_self_edges,
};

pub(super) fn read(
    walk: &Walk<'_>,
    landscape: NodeId,
    terms: &[(f64, NodeId)],
    (table, vertex): Vertices<'_>,
) -> Found<EdgeWeights> {
    let expected = "a landscape of levels, slides and, where vertices follow themselves, dips";
    let (levels, slides, dips) = match *terms {
        [levels, slides] => (levels, slides, None),
        [levels, slides, dips] => (levels, slides, Some(dips)),
        _ => return walk.refuse(landscape, expected),
    };
    walk.require(same(levels.0, 1.0) && same(slides.0, 4.0), landscape, expected)?;
    walk.require(dips.is_some() == (n_self_edges(table) > 0), landscape, expected)?;

    let (found, arcs, gate) = walk.arcs(levels.1, "levels of gates")?;
    let Arcs::Levels { at_rest, block, symbol } = arcs else {
        return walk.refuse(levels.1, "levels of gates");
    };
    walk.require(same_table(found, table), levels.1, "levels of gates")?;
    gates(walk, gate, vertex)?;
    let (open, rows) = walk.product(walk.sum_all(slides.1, "a sum of slides")?, "gates times rows")?;
    walk.require(open == gate, slides.1, "gates times rows")?;
    let Some((weight, dips)) = dips else {
        let (edge, symbol) = successors(walk, rows, (table, vertex))?;
        return Ok(EdgeWeights { at_rest, edge, symbol, edge_units: false, unrounded: true });
    };
    let (off, on) = walk.pair(rows, (1.0, -1.0), "rows without their diagonal")?;
    let edges = successors(walk, off, (table, vertex))?;
    let alike = |(a, b): (f64, f64)| same(a, edges.0) && same(b, edges.1);
    walk.require(alike(self_edges(walk, on, (table, vertex))?), rows, "rows without their diagonal")?;
    walk.require(alike((-block, -symbol)), levels.1, "levels without those of self-edges")?;
    let dips_alike = same(weight, 2.0) && alike(dip(walk, dips, (table, vertex))?);
    walk.require(dips_alike, dips, "dips as deep as self-edges")?;
    Ok(EdgeWeights { at_rest, edge: edges.0, symbol: edges.1, edge_units: false, unrounded: true })
}

/// `ReLU(4 x - 3)` of every vertex.
fn gates(walk: &Walk<'_>, node: NodeId, vertex: NodeId) -> Found<()> {
    let expected = "ReLU(4 x - 3)";
    let inside = walk.relu(node, expected)?;
    let (map, of) = walk.linear(inside, expected)?;
    let is_gate = map.as_diagonal().is_some_and(|(weight, bias)| same(weight, 4.0) && same(bias, -3.0));
    let unseen = faults::planted("gate not looked at");
    walk.require(is_gate && of == vertex || unseen, inside, expected)
}

/// The rows of all edges, through the marginals: the weight of a block, and of a symbol that stays.
fn successors(walk: &Walk<'_>, node: NodeId, (table, vertex): Vertices<'_>) -> Found<(f64, f64)> {
    let expected = "edges to the blocks that follow";
    let (found, Arcs::Successors { block, symbol }, marginals) = walk.arcs(node, expected)? else {
        return walk.refuse(node, expected);
    };
    walk.require(same_table(found, table), node, expected)?;
    let of = walk.arcs_of(marginals, (table, Arcs::Marginals), "sums over blocks")?;
    walk.require(of == vertex, marginals, "sums over blocks")?;
    Ok((block, symbol))
}

/// The diagonal of the rows: the weight of a block, and of a symbol.
fn self_edges(walk: &Walk<'_>, node: NodeId, (table, vertex): Vertices<'_>) -> Found<(f64, f64)> {
    let expected = "edges from vertices to themselves";
    let (found, Arcs::SelfEdges { block, symbol }, of) = walk.arcs(node, expected)? else {
        return walk.refuse(node, expected);
    };
    walk.require(same_table(found, table) && of == vertex, node, expected)?;
    Ok((block, symbol))
}

/// `ReLU(4 x - 7/2)` of vertices that follow themselves, weighed: the weight of a block, and of a symbol.
fn dip(walk: &Walk<'_>, node: NodeId, (table, vertex): Vertices<'_>) -> Found<(f64, f64)> {
    let expected = "ReLU(4 x - 7/2) of vertices that follow themselves, weighed";
    let (found, Arcs::DipLevels { block, symbol }, dips) = walk.arcs(node, expected)? else {
        return walk.refuse(node, expected);
    };
    let inside = walk.relu(dips, expected)?;
    let (of_dips, arcs, bias, of) = walk.biased_arcs(inside, expected)?;
    let is_dip = arcs == (Arcs::Dips { weight: 4.0 }) && same(bias, -3.5) && same_table(of_dips, table);
    walk.require(same_table(found, table) && is_dip && of == vertex, inside, expected)?;
    Ok((block, symbol))
}
