//! Reading, writing and moving, which all landscapes share.

use super::walk::{Found, Walk};
use crate::{Arcs, NodeId, Op, ParameterId, VertexTable};

/// The equations of a step at vertices `s`, with cells `t` and heads `h` that read `r`: the symbols left behind, the moved
/// heads, and the symbols that will be read. Maps without arcs are left out.
pub(super) fn step(table: &VertexTable, [s, t, h]: [&str; 3]) -> String {
    let keeps = !Arcs::Keep { at_rest: true }.is_empty(table);
    let kept = if keeps { format!(" + Keep({s}) * r") } else { String::new() };
    let moves = [
        (-1, format!("1 Left({s}) * left({h})")),
        (0, format!("1 Stay({s}) * {h}")),
        (1, format!("1 Right({s}) * right({h})")),
    ];
    let some = |&(by, _): &(i64, String)| !Arcs::Moving { by, at_rest: true }.is_empty(table);
    let moved: Vec<String> = moves.into_iter().filter(some).map(|(_, term)| term).collect();
    format!(
        "next = Next({s}){kept}
        moved = {}
        ahead = sum_columns(({t} + {h} * (next - r)) * moved)",
        moved.join(" + ")
    )
}

/// The cells that are weights, with their rate, and those that are not.
pub(super) struct AllCells {
    pub(super) trained: Option<(ParameterId, f64)>,
    pub(super) fixed: Option<NodeId>,
}

/// Matches the matrix `T` of all cells: first weights, then others. Every track of the table has a row in it and in the
/// heads `H`.
pub(super) fn cells(walk: &mut Walk<'_>, table: &VertexTable) -> Found<AllCells> {
    let (n, n_trained) = (table.n_tracks, table.n_trained);
    let mut rows = table.rows.to_vec();
    rows.sort_unstable();
    let complete = rows.iter().copied().eq(0..n) && n_trained <= n && (1..u32::BITS as usize).contains(&n);
    walk.require(complete, "T", "made of vertices with a row of cells for every track")?;
    let fits = walk.shape("T") == walk.shape("H") && walk.shape("H").rows == n;
    walk.require(fits, "T", "made of as many rows of cells as there are tracks")?;
    let expected = "cells, first those that are weights";
    match *walk.op("T") {
        Op::Parameter(_) => {
            walk.require(n_trained == n, "T", expected)?;
            Ok(AllCells { trained: Some(walk.descending("T")?), fixed: None })
        }
        Op::Stack(upper, lower) => {
            walk.name("cells", upper);
            walk.require(walk.shape("cells").rows == n_trained, "T", expected)?;
            Ok(AllCells { trained: Some(walk.descending("cells")?), fixed: Some(lower) })
        }
        _ => {
            walk.require(n_trained == 0, "T", expected)?;
            Ok(AllCells { trained: None, fixed: Some(walk.node("T")) })
        }
    }
}
