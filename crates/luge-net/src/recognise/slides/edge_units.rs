//! Slides made of units of their own on every edge:
//! `sum at rest level ReLU(4 x_v - 3) + sum_E w_vw (ReLU(2 (x_v + x_w) - 1) - ReLU(2 x_v - 2 x_w - 1) - ReLU(2 x_w - 1))`.

use std::collections::BTreeSet;

use super::{EdgeWeights, Vertices, close};
use crate::{
    LinearMap, NodeId, Op, VertexTable,
    recognise::walk::{Found, Walk, same},
};

/// Where an edge begins and ends.
type Ends = (usize, usize);

pub(super) fn read(
    walk: &Walk<'_>,
    landscape: NodeId,
    terms: &[(f64, NodeId)],
    (table, vertex): Vertices<'_>,
) -> Found<EdgeWeights> {
    let expected = "a landscape of corners at rest, edges, directed edges and corners";
    let resting: Vec<usize> = (0..table.n_vertices()).filter(|&v| table.column(v).is_none()).collect();
    let (at_rest, units) = match *terms {
        [rest, ref units @ ..] if matches!(walk.op(rest.1), Op::SumAll(_)) => {
            corners_at_rest(walk, rest.1, &resting, vertex)?;
            (Some(rest.0), units)
        }
        ref units => (None, units),
    };
    walk.require(at_rest.is_some() != resting.is_empty(), landscape, expected)?;
    if let (Some(at_rest), [], true) = (at_rest, units, resting.len() == table.n_vertices()) {
        // Where all vertices are at rest there is no edge, and what one would weigh does not matter.
        let (edge, symbol) = (at_rest, at_rest);
        return Ok(EdgeWeights { at_rest, edge, symbol, edge_units: true, unrounded: true });
    }
    let [(u, ridges), (v, slopes), (w, corners)] = *units else { return walk.refuse(landscape, expected) };
    walk.require([u, v, w].iter().all(|&weight| same(weight, 1.0)), landscape, expected)?;

    let (directed, slope_weights) = weighed(walk, slopes, vertex)?;
    let ends = directed_ends(walk, slopes, directed)?;
    let (undirected, weights) = weighed(walk, ridges, vertex)?;
    check_ridges(walk, ridges, undirected, &ends)?;
    let opposite = |(&a, &b): (&f64, &f64)| same(a, -b);
    walk.require(weights.iter().zip(&slope_weights).all(opposite), slopes, "as heavy as the edges")?;
    check_corners(walk, corners, (&ends, &weights), vertex)?;
    check_legal(walk, landscape, table, &ends)?;
    let (edge, symbol, unrounded) = edge_and_symbol(walk, landscape, table, (&ends, &weights))?;
    // Where no vertex is at rest its level does not matter.
    let at_rest = at_rest.unwrap_or(edge);
    Ok(EdgeWeights { at_rest, edge, symbol, edge_units: true, unrounded })
}

/// The sum of `ReLU(4 x_v - 3)` over the vertices at rest.
fn corners_at_rest(walk: &Walk<'_>, node: NodeId, resting: &[usize], vertex: NodeId) -> Found<()> {
    let expected = "ReLU(4 x - 3) of every vertex at rest";
    let inside = walk.relu(walk.sum_all(node, expected)?, expected)?;
    let (map, of) = walk.linear(inside, expected)?;
    let entries = map.entries();
    let mut each = entries.iter().zip(resting).enumerate();
    let listed = entries.len() == resting.len()
        && map.n_outputs() == resting.len()
        && each.all(|(i, (&(row, col, weight), &v))| {
            (row as usize, col as usize) == (i, v) && same(weight, 4.0)
        });
    let biased = map.same_bias().is_some_and(|bias| same(bias, -3.0));
    walk.require(listed && biased && of == vertex, inside, expected)
}

/// A weighted sum of ReLU units with bias -1 on the vertices: their map, and one weight per unit.
fn weighed<'n>(walk: &Walk<'n>, node: NodeId, vertex: NodeId) -> Found<(&'n LinearMap, Vec<f64>)> {
    let expected = "a weighted sum of units on edges";
    let (sum, units) = walk.linear(node, expected)?;
    let inside = walk.relu(units, expected)?;
    let (map, of) = walk.linear(inside, expected)?;
    walk.require(of == vertex, inside, expected)?;
    walk.require(map.same_bias().is_some_and(|bias| same(bias, -1.0)), inside, "units with bias -1")?;
    walk.require(
        sum.n_outputs() == 1 && sum.same_bias().is_some_and(|bias| same(bias, 0.0)),
        node,
        expected,
    )?;
    let mut weights = vec![0.0; sum.n_inputs()];
    sum.entries().iter().for_each(|&(_, unit, weight)| weights[unit as usize] = weight);
    Ok((map, weights))
}

/// Units `2 x_v - 2 x_w - 1`: where they lead from and to.
fn directed_ends(walk: &Walk<'_>, node: NodeId, map: &LinearMap) -> Found<Vec<Ends>> {
    let expected = "ReLU(2 x_v - 2 x_w - 1) on edges";
    let entries = map.entries();
    let mut ends = Vec::with_capacity(map.n_outputs());
    for pair in entries.chunks(2) {
        let [(row, first, a), (other, second, b)] = *pair else { return walk.refuse(node, expected) };
        let unit = ends.len();
        walk.require((row as usize, other as usize) == (unit, unit), node, expected)?;
        let forwards = same(a, 2.0) && same(b, -2.0);
        let backwards = same(a, -2.0) && same(b, 2.0);
        walk.require(forwards || backwards, node, expected)?;
        let (from, to) = if forwards { (first, second) } else { (second, first) };
        ends.push((from as usize, to as usize));
    }
    walk.require(ends.len() == map.n_outputs(), node, expected)?;
    Ok(ends)
}

/// Units `2 (x_v + x_w) - 1` on the same edges.
fn check_ridges(walk: &Walk<'_>, node: NodeId, map: &LinearMap, ends: &[Ends]) -> Found<()> {
    let expected = "ReLU(2 (x_v + x_w) - 1) on the same edges";
    let entries = map.entries();
    let listed = entries.len() == 2 * ends.len() && map.n_outputs() == ends.len();
    let mut pairs = entries.chunks_exact(2).zip(ends).enumerate();
    let alike = pairs.all(|(unit, (pair, &(from, to)))| {
        let place = |i: usize| (pair[i].0 as usize, pair[i].1 as usize);
        let doubled = same(pair[0].2, 2.0) && same(pair[1].2, 2.0);
        doubled && (place(0), place(1)) == ((unit, from.min(to)), (unit, from.max(to)))
    });
    walk.require(listed && alike, node, expected)
}

/// `ReLU(2 x_w - 1)` of every vertex, less what the edges that end there weigh.
fn check_corners(
    walk: &Walk<'_>,
    node: NodeId,
    (ends, weights): (&[Ends], &[f64]),
    vertex: NodeId,
) -> Found<()> {
    let expected = "ReLU(2 x - 1) of every vertex, weighed by the edges that end there";
    let (map, found) = weighed(walk, node, vertex)?;
    let corner = map.as_diagonal().is_some_and(|(weight, _)| same(weight, 2.0));
    let mut incoming = vec![0.0; map.n_inputs()];
    ends.iter().zip(weights).for_each(|(&(_, to), weight)| incoming[to] -= weight);
    let alike = incoming.len() == found.len() && incoming.iter().zip(&found).all(|(&a, &b)| same(a, b));
    walk.require(corner && alike, node, expected)
}

/// From every vertex that is not at rest one edge to each vertex of the block that follows, and no way back: neither to
/// the vertex itself nor, in two steps, to its block.
fn check_legal(walk: &Walk<'_>, landscape: NodeId, table: &VertexTable, ends: &[Ends]) -> Found<()> {
    let expected = "a landscape with an edge from each vertex to each of the block that follows";
    let listed: BTreeSet<&Ends> = ends.iter().collect();
    let columns = (0..table.n_vertices()).filter_map(|v| table.column(v));
    let n_edges: usize = columns.map(|column| table.vertices_of(column.next as usize).len()).sum();
    let complete = listed.len() == ends.len() && ends.len() == n_edges;
    let follows =
        |&(from, to): &Ends| table.column(from).is_some_and(|column| column.next as usize == table.block(to));
    walk.require(complete && ends.iter().all(follows), landscape, expected)?;
    let steps: BTreeSet<Ends> = table
        .all_columns()
        .filter_map(|(block, _, _, column)| column.map(|column| (block, column.next as usize)))
        .collect();
    let no_way_back = steps.iter().all(|&(from, to)| !steps.contains(&(to, from)));
    walk.require(no_way_back, landscape, "a landscape without a way back in one step or two")
}

/// The weight of an edge, what a symbol that stays adds to it, and whether all weights are these without rounding.
fn edge_and_symbol(
    walk: &Walk<'_>,
    landscape: NodeId,
    table: &VertexTable,
    (ends, weights): (&[Ends], &[f64]),
) -> Found<(f64, f64, bool)> {
    let expected = "a landscape whose edges weigh one number, and one more for every symbol that stays";
    let looks_at = |vertex: usize| table.looks_at(table.block(vertex));
    let kept = |&(from, to): &Ends| {
        let both = looks_at(from) & looks_at(to);
        (both & !(table.symbols(from) ^ table.symbols(to))).count_ones()
    };
    let of = |n: u32| ends.iter().zip(weights).find(|(ends, _)| kept(ends) == n).map(|(_, &weight)| weight);
    let Some(edge) = of(0) else { return walk.refuse(landscape, expected) };
    // Where no symbol can stay, what one would add does not matter.
    let symbol = of(1).map_or(edge, |one| one - edge);
    let expect = |ends: &Ends| edge + f64::from(kept(ends)) * symbol;
    let mut pairs = ends.iter().zip(weights);
    walk.require(pairs.all(|(ends, &weight)| close(weight, expect(ends))), landscape, expected)?;
    walk.require(edge < 0.0, landscape, "a landscape whose edges lie below 0")?;
    let unrounded = ends.iter().zip(weights).all(|(ends, &weight)| same(weight, expect(ends)));
    Ok((edge, symbol, unrounded))
}
