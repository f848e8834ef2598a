//! Landscapes with slopes on a simplex: `compact`, with one gate for each vertex, and `relu`, with units for each edge.

use super::{
    Form,
    tapes::{self, AllCells},
    walk::{Found, Walk, same, same_map},
};
use crate::{LinearMap, Op, StepRule, VertexTable, vertices::n_self_edges};

/// The halting level, the weight of an edge, the number added for every symbol that stays, and whether the weights of all
/// edges are exact sums of these.
type EdgeWeights = (f64, f64, f64, bool);

/// The largest relative difference between weights that are equal on paper but rounded differently.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

pub(super) fn read(walk: &mut Walk<'_>, table: &VertexTable) -> Found<(Form, AllCells)> {
    let (_, second) = walk.pick("landscape", "a sum of a constant, levels and residuals", |op| match op {
        Op::Sum(terms) => terms.get(1).copied(),
        _ => None,
    })?;
    walk.name("levels", second);
    let has_gates = matches!(walk.op("levels"), Op::Linear(map, _) if map.as_arcs().is_some());
    let (levels, equations) = if has_gates { of_gates(table) } else { of_edge_units(table) };
    walk.hold(&format!(
        "landscape = $offset {levels} + $write squares(r - [next]) + $read squares([ahead] - now) + $shift squares([moved] - H)
        now = Now(x)
        r = sum_columns(T * [H])
        {}
        {equations}",
        tapes::step(table, ["x", "T", "H"])
    ))?;
    let cells = tapes::cells(walk, table)?;
    let (at_rest, edge, symbol, unrounded) = if has_gates {
        (walk.number("at_rest"), walk.number("edge"), walk.number("symbol"), true)
    } else {
        edge_unit_weights(walk, table)?
    };
    let finite = [at_rest, edge, symbol].iter().all(|weight| weight.is_finite());
    walk.require(finite, "landscape", "made of finite numbers")?;
    // Of two vertices that differ only in a symbol that no term depends on, the one where it stays must be lower.
    walk.require(symbol < 0.0, "landscape", "a landscape whose edges are lower where symbols stay")?;
    // If the sum were rounded differently term by term, self-edges would not cancel exactly.
    let whole = |n: usize| {
        let parts = (0..n).fold(edge, |sum, _| sum + symbol);
        same(parts, edge + n as f64 * symbol) && same(parts - edge, n as f64 * symbol)
    };
    let (_, rule) = walk.parameter("x")?;
    walk.require(rule == StepRule::Simplex, "x", "weights on a simplex")?;
    let (_, head_rate) = walk.descending("H")?;
    let form = Form::Slides {
        offset: walk.number("offset"),
        at_rest,
        edge,
        symbol,
        write: walk.number("write"),
        read: walk.number("read"),
        shift: walk.number("shift"),
        cell_rate: cells.trained.map_or(head_rate, |(_, rate)| rate),
        head_rate,
        edge_units: !has_gates,
        unrounded: unrounded && (0..=table.n_tracks).all(whole),
    };
    Ok((form, cells))
}

/// The form of `compact`: a gate for each vertex, with a level and a row of edges. Rows leave out the edges from a vertex
/// to itself, which are dips of the gates.
fn of_gates(table: &VertexTable) -> (String, String) {
    let gate = "gate = relu(4 x - 3)\nrows = Successors<$edge, $symbol>(Marginals(x))";
    if n_self_edges(table) == 0 {
        let levels = "levels = Levels<$at_rest, $own_edge, $own_symbol>(gate)";
        return ("+ levels + 4 sum_all(gate * rows)".to_owned(), format!("{levels}\n{gate}"));
    }
    let levels = "levels = Levels<$at_rest, -$edge, -$symbol>(gate)
        self_edges = SelfEdges<$edge, $symbol>(x)
        dips = DipLevels<$edge, $symbol>(relu(Dips<4>(x) - 3.5))";
    let terms = "+ levels + 4 sum_all(gate * (rows - self_edges)) + 2 dips";
    (terms.to_owned(), format!("{levels}\n{gate}"))
}

/// The halting vertices, and the edges: from every other vertex to each vertex of the next block.
fn rest_and_edges(table: &VertexTable) -> (Vec<usize>, Vec<(usize, usize)>) {
    let mut edges = Vec::new();
    let mut resting = Vec::new();
    for from in 0..table.n_vertices {
        match table.column(from) {
            Some(column) => edges.extend(table.vertices_of(column.next as usize).map(|to| (from, to))),
            None => resting.push(from),
        }
    }
    (resting, edges)
}

/// `sum at rest level ReLU(4 x_v - 3) + sum_E w_vw (ReLU(2 (x_v + x_w) - 1) - ReLU(2 x_v - 2 x_w - 1) - ReLU(2 x_w - 1))`.
fn of_edge_units(table: &VertexTable) -> (String, String) {
    let (resting, edges) = rest_and_edges(table);
    let (mut levels, mut equations) = (String::new(), String::new());
    if !resting.is_empty() {
        levels += " + $at_rest sum_all(relu(resting))";
        equations += "resting = linear(x)\n";
    }
    if !edges.is_empty() {
        levels += " + ridges + slopes + corners";
        equations += "ridges = linear(relu(undirected))
            undirected = linear(x)
            slopes = linear(relu(directed))
            directed = linear(x)
            corners = linear(relu(2 x - 1))";
    }
    (levels, equations)
}

fn edge_unit_weights(walk: &Walk<'_>, table: &VertexTable) -> Found<EdgeWeights> {
    let ((resting, edges), n_vertices) = (rest_and_edges(table), table.n_vertices);
    let is =
        |name: &str, map: LinearMap, expected| walk.require(same_map(walk.map(name), &map), name, expected);
    if !resting.is_empty() {
        let corners = resting.iter().enumerate().map(|(i, &v)| (i, v, 4.0));
        let map = LinearMap::new(resting.len(), n_vertices, corners).with_same_bias(-3.0);
        is("resting", map, "4 x - 3 of every vertex at rest")?;
    }
    if edges.is_empty() {
        // If all vertices halt, the weight of an edge does not matter.
        let at_rest = walk.number("at_rest");
        return Ok((at_rest, at_rest, at_rest, true));
    }
    let on_edges = |to: f64| {
        let both = edges.iter().enumerate().flat_map(|(i, &(v, w))| [(i, v, 2.0), (i, w, to)]);
        LinearMap::new(edges.len(), n_vertices, both).with_same_bias(-1.0)
    };
    is("undirected", on_edges(2.0), "2 (x_v + x_w) - 1 on edges")?;
    is("directed", on_edges(-2.0), "2 x_v - 2 x_w - 1 on edges")?;
    let mut weights = vec![0.0; edges.len()];
    walk.map("ridges").entries().iter().for_each(|&(_, edge, weight)| weights[edge as usize] = weight);
    let weighed = |sign: f64| {
        LinearMap::new(
            1,
            edges.len(),
            weights.iter().enumerate().map(|(edge, weight)| (0, edge, sign * weight)),
        )
    };
    is("ridges", weighed(1.0), "a weighted sum of units on edges")?;
    is("slopes", weighed(-1.0), "as heavy as the edges")?;
    let incoming = edges.iter().zip(&weights).map(|(&(_, to), weight)| (0, to, -weight));
    is("corners", LinearMap::new(1, n_vertices, incoming), "weighed by the edges that end there")?;
    let steps: std::collections::BTreeSet<(usize, usize)> = table
        .all_columns()
        .filter_map(|(block, _, _, column)| column.map(|column| (block, column.next as usize)))
        .collect();
    let no_way_back = steps.iter().all(|&(from, to)| !steps.contains(&(to, from)));
    walk.require(no_way_back, "landscape", "a landscape without a way back in one step or two")?;
    edge_and_symbol(walk, table, &edges, &weights)
}

/// The weight of an edge, what is added for every symbol that stays, and whether all weights follow without rounding.
fn edge_and_symbol(
    walk: &Walk<'_>,
    table: &VertexTable,
    edges: &[(usize, usize)],
    weights: &[f64],
) -> Found<EdgeWeights> {
    let expected = "a landscape whose edges weigh one number, and one more for every symbol that stays";
    let looks_at = |vertex: usize| table.looks_at(table.block(vertex));
    let kept = |&(from, to): &(usize, usize)| {
        let both = looks_at(from) & looks_at(to);
        (both & !(table.symbols(from) ^ table.symbols(to))).count_ones()
    };
    let of = |n: u32| edges.iter().zip(weights).find(|(ends, _)| kept(ends) == n).map(|(_, &weight)| weight);
    let edge = walk.found(of(0), "landscape", expected)?;
    // If no symbol can stay, what it would add does not matter.
    let symbol = of(1).map_or(edge, |one| one - edge);
    let expect = |ends| edge + f64::from(kept(ends)) * symbol;
    let close = |a: f64, b: f64| (a - b).abs() <= ROUNDING * a.abs().max(b.abs());
    let all = |alike: fn(f64, f64) -> bool| {
        edges.iter().zip(weights).all(|(ends, &weight)| alike(weight, expect(ends)))
    };
    walk.require(all(close), "landscape", expected)?;
    walk.require(edge < 0.0, "landscape", "a landscape whose edges lie below 0")?;
    // If no vertex halts, the halting level does not matter.
    let at_rest = if rest_and_edges(table).0.is_empty() { edge } else { walk.number("at_rest") };
    Ok((at_rest, edge, symbol, all(same)))
}
