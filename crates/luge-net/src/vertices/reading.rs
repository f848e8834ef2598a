//! Compares listed arcs with the table, vertex by vertex.
//!
//! Dense evaluation uses the arcs that maps list; sparse engines read blocks, symbols and columns from the table instead.
//! Both must agree on every vertex. So this module derives the arcs from the table independently, and compares them with
//! the listed ones.

use super::{Arcs, VertexTable, deposit, extract, tracks};
use crate::Entry;

/// The first vertex whose listed arcs differ from those that the table implies.
pub(crate) fn first_difference(table: &VertexTable, arcs: Arcs) -> Option<usize> {
    if arcs == Arcs::Alike {
        let combinations = table.patterns.iter().flat_map(|&(mask, first)| {
            (0..1_u32 << mask.count_ones()).map(move |at| ((first + at) as usize, mask, deposit(at, mask)))
        });
        let implied = combinations.flat_map(|(at, mask, symbols)| {
            rows(table, mask, symbols).map(move |(row, weight)| (at, row, weight))
        });
        return (!same(&mut arcs.list(table), &mut implied.collect::<Vec<Entry>>())).then_some(0);
    }
    let (mut listed, mut n_dips) = (Vec::new(), 0);
    (0..table.n_vertices).find(|&vertex| {
        listed.clear();
        arcs.visit_one(table, vertex, n_dips, |row, col, weight| listed.push((row, col, weight)));
        let mut implied = implied_arcs(table, arcs, vertex, n_dips);
        n_dips += usize::from(table.has_self_edge(vertex));
        !same(&mut listed, &mut implied)
    })
}

/// Whether both lists have the same arcs, in any order.
fn same(listed: &mut [Entry], implied: &mut [Entry]) -> bool {
    let place = |&(row, col, _): &Entry| (row, col);
    listed.sort_by_key(place);
    implied.sort_by_key(place);
    let is = |(a, b): (&Entry, &Entry)| place(a) == place(b) && a.2.total_cmp(&b.2).is_eq();
    listed.len() == implied.len() && listed.iter().zip(&*implied).all(is)
}

/// A row for each of these tracks, with weight 1 for those in `plus` and -1 for the others.
fn rows(table: &VertexTable, mask: u32, plus: u32) -> impl Iterator<Item = (usize, f64)> + '_ {
    tracks(mask).map(move |track| (table.rows[track], if plus >> track & 1 == 1 { 1.0 } else { -1.0 }))
}

/// The arcs of a vertex that the table implies; `n_dips` vertices before it can follow themselves.
fn implied_arcs(table: &VertexTable, arcs: Arcs, vertex: usize, n_dips: usize) -> Vec<Entry> {
    let (block, symbols, column) = (table.block(vertex), table.symbols(vertex), table.column(vertex));
    let (seen, all) = (table.looks_at(block), table.all_tracks());
    let own = table.has_self_edge(vertex);
    let (put, plus, left, right) = column.map_or((0, 0, 0, 0), |c| (c.put, c.plus, c.left, c.right));
    let to_rows = |mask: u32, plus: u32| {
        rows(table, mask, plus).map(|(row, weight)| (row, vertex, weight)).collect::<Vec<Entry>>()
    };
    // A halting vertex that counts changes nothing.
    let counts = |at_rest: bool| column.is_some() || at_rest;
    let only = |exists: bool, arc: Entry| if exists { vec![arc] } else { Vec::new() };
    let of_all = |weight: f64, symbol: f64| weight + f64::from(seen.count_ones()) * symbol;
    let marginals = |of: usize, mask: u32| {
        tracks(mask).map(move |track| table.marginal(of, track, symbols >> track & 1)).chain([of])
    };
    match arcs {
        Arcs::Now => to_rows(seen, symbols),
        Arcs::Next { at_rest } if counts(at_rest) => to_rows(seen | put, symbols & !put | plus),
        Arcs::Keep { at_rest } if counts(at_rest) => to_rows(all & !seen & !put, all),
        Arcs::Moving { by: 0, at_rest } if counts(at_rest) => to_rows(all & !left & !right, all),
        Arcs::Moving { by: -1, .. } => to_rows(left, all),
        Arcs::Moving { by: 1, .. } => to_rows(right, all),
        Arcs::Next { .. } | Arcs::Keep { .. } | Arcs::Moving { .. } | Arcs::Alike => Vec::new(),
        Arcs::Marginals => marginals(block, seen).map(|marginal| (marginal, vertex, 1.0)).collect(),
        Arcs::Successors { block, symbol } => column.map_or_else(Vec::new, |column| {
            let next = column.next as usize;
            let weight = |marginal: usize| if marginal < table.n_blocks() { block } else { symbol };
            let both = marginals(next, seen & table.looks_at(next));
            both.map(|marginal| (vertex, marginal, weight(marginal))).collect()
        }),
        Arcs::SelfEdges { block, symbol } => only(own, (vertex, vertex, of_all(block, symbol))),
        Arcs::Levels { at_rest, .. } if column.is_none() => vec![(0, vertex, at_rest)],
        Arcs::Levels { block, symbol, .. } => only(own, (0, vertex, of_all(block, symbol))),
        Arcs::Dips { weight } => only(own, (n_dips, vertex, weight)),
        Arcs::DipLevels { block, symbol } => only(own, (0, n_dips, of_all(block, symbol))),
        Arcs::NextBlock => vec![(column.map_or(block, |c| c.next as usize), vertex, 1.0)],
        Arcs::OfBlock => vec![(vertex, block, 1.0)],
        Arcs::OfSymbols => {
            let pattern = table.patterns.iter().find(|&&(mask, _)| mask == seen);
            let &(_, first) = pattern.expect("a pattern for every block");
            vec![(vertex, (first + extract(symbols, seen)) as usize, 1.0)]
        }
    }
}
