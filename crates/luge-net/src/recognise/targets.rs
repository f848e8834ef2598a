//! `plain`: targets computed from saturated copies. A step of rate 1 moves every weight to its target.

use super::{
    Form,
    tapes::{self, AllCells},
    walk::{Found, Walk, same},
};
use crate::{Arcs, VertexTable};

pub(super) fn read(walk: &mut Walk<'_>, table: &VertexTable) -> Found<(Form, AllCells)> {
    walk.hold(
        "landscape = $offset - $drop [rest] + 0.5 squares(x - [successor]) + 0.5 squares(under - [next]) + 0.5 squares(H - [moved])",
    )?;
    walk.hold(&successor(table, "t"))?;
    check_alike(walk)?;
    let cells = tapes::cells(walk, table)?;
    let unit_rate = cells.trained.is_none_or(|(_, rate)| same(rate, 1.0));
    walk.require(unit_rate, "T", "weights that move with rate 1")?;
    walk.unit_rate("x")?;
    walk.unit_rate("H")?;
    let drop = walk.number("drop") * walk.number("at_rest");
    Ok((Form::Targets { offset: walk.number("offset"), drop }, cells))
}

/// The equations of a step, computed from saturated copies s, h and t of the vertices x, the heads H and the cells T. The
/// next symbols are read from `cells`.
pub(super) fn successor(table: &VertexTable, cells: &str) -> String {
    format!(
        "rest = Levels<$at_rest, 0, 0>(s)
        {}
        under = sum_columns(T * [h])
        {}
        successor = OfBlock(NextBlock(s)) * OfSymbols(relu(alike))
        alike = linear(ahead)
        {}
        r = sum_columns(t * h)
        {}",
        saturated_01("s", "x"),
        saturated_01("h", "H"),
        tapes::step(table, ["s", cells, "h"]),
        saturated_11("t", "T"),
    )
}

/// Checks the units that compare symbols: each is 1 if all its symbols are found, else 0.
pub(super) fn check_alike(walk: &Walk<'_>) -> Found<()> {
    let (table, found) = (walk.table()?, walk.map("alike"));
    let is_alike = found.as_arcs().is_some_and(|(of, arcs)| of == table && arcs == Arcs::Alike);
    let biased = found.bias()[..] == table.combination_biases();
    walk.require(is_alike && biased, "alike", "t.r - (n - 1) of all n symbols t that vertices look at")
}

pub(super) fn saturated_01(copy: &str, of: &str) -> String {
    format!("{copy} = relu(2 {of} - 0.5) - relu(2 {of} - 1.5)")
}

pub(super) fn saturated_11(copy: &str, of: &str) -> String {
    format!("{copy} = relu(2 {of} + 1) - relu(2 {of} - 1) - 1")
}
