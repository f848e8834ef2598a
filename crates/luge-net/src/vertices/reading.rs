//! Arcs held to the table that engines read, vertex by vertex.
//!
//! A network's maps list arcs; an engine that evaluates only what is not zero asks the table for blocks, symbols and columns instead.
//! Both must say the same of every vertex, and here what the listed arcs say is read back and compared.

use super::{Arcs, Column, VertexTable, tracks};

/// The arcs of one vertex: (output, input, weight).
type Listed = [(usize, usize, f64)];

/// The first vertex whose listed arcs are not what the table says of it, if there is one.
pub(crate) fn first_difference(table: &VertexTable, arcs: Arcs) -> Option<usize> {
    let mut track_of = vec![usize::MAX; table.n_tracks()];
    table.rows.iter().enumerate().for_each(|(track, &row)| track_of[row] = track);
    if arcs == Arcs::Alike {
        return (!combinations_are_alike(table, &track_of)).then_some(0);
    }
    let (mut listed, mut n_dips) = (Vec::new(), 0);
    (0..table.n_vertices()).find(|&v| {
        listed.clear();
        arcs.visit_one(table, v, n_dips, |row, col, weight| listed.push((row, col, weight)));
        let own = table.column(v).is_some_and(|column| column.next as usize == table.block(v));
        let alike = Vertex { table, v, track_of: &track_of, own, n_dips }.says(arcs, &listed);
        n_dips += usize::from(own);
        !alike
    })
}

/// A vertex as engines know it.
struct Vertex<'t> {
    table: &'t VertexTable,
    v: usize,
    track_of: &'t [usize],
    /// Whether its column leads back to its block.
    own: bool,
    n_dips: usize,
}

impl Vertex<'_> {
    fn says(&self, arcs: Arcs, listed: &Listed) -> bool {
        let &Self { table, v, own, n_dips, .. } = self;
        let (block, symbols, column) = (table.block(v), table.symbols(v), table.column(v));
        let seen = table.looks_at(block);
        let all = table.all_tracks();
        let only =
            |row: usize, col: usize, weight: f64| matches!(*listed, [arc] if same(arc, (row, col, weight)));
        let if_own = |is: bool| if own { is } else { listed.is_empty() };
        let of_all = |weight: f64, symbol: f64| weight + f64::from(seen.count_ones()) * symbol;
        match arcs {
            Arcs::Now => self.signs(listed) == Some((seen, symbols)),
            Arcs::Next { at_rest } => {
                let left = match column {
                    Some(&Column { put, plus, .. }) => (seen | put, symbols & !put | plus),
                    None if at_rest => (seen, symbols),
                    None => (0, 0),
                };
                self.signs(listed) == Some(left)
            }
            Arcs::Keep { at_rest } => {
                let kept =
                    if column.is_some() || at_rest { all & !(seen | column.map_or(0, |c| c.put)) } else { 0 };
                self.signs(listed) == Some((kept, kept))
            }
            Arcs::Moving { by, at_rest } => {
                let (left, right) = column.map_or((0, 0), |c| (c.left, c.right));
                let moved = match by {
                    -1 => left,
                    1 => right,
                    _ if column.is_none() && !at_rest => 0,
                    _ => all & !(left | right),
                };
                self.signs(listed) == Some((moved, moved))
            }
            Arcs::Marginals => {
                self.marginals(listed, (block, seen), |(row, col, weight)| (row, col == v, weight, 1.0))
            }
            Arcs::Successors { block: weight, symbol } => match column {
                None => listed.is_empty(),
                Some(column) => {
                    let next = column.next as usize;
                    let both = seen & table.looks_at(next);
                    let expected = |col: usize| if col < table.n_blocks() { weight } else { symbol };
                    self.marginals(listed, (next, both), |(row, col, found)| {
                        (col, row == v, found, expected(col))
                    })
                }
            },
            Arcs::SelfEdges { block, symbol } => if_own(only(v, v, of_all(block, symbol))),
            Arcs::Levels { at_rest, .. } if column.is_none() => only(0, v, at_rest),
            Arcs::Levels { block, symbol, .. } => if_own(only(0, v, of_all(block, symbol))),
            Arcs::Dips { weight } => if_own(only(n_dips, v, weight)),
            Arcs::DipLevels { block, symbol } => if_own(only(0, n_dips, of_all(block, symbol))),
            Arcs::NextBlock => only(column.map_or(block, |c| c.next as usize), v, 1.0),
            Arcs::OfBlock => only(v, block, 1.0),
            Arcs::OfSymbols => matches!(*listed, [(row, col, weight)] if row == v && is(weight, 1.0)
                && combination(table, col) == Some((seen, symbols))),
            Arcs::Alike => false,
        }
    }

    /// Arcs to rows with weights -1 and 1: the tracks that have one, and those where it is 1.
    fn signs(&self, listed: &Listed) -> Option<(u32, u32)> {
        let (mut some, mut plus) = (0_u32, 0_u32);
        for &(row, col, weight) in listed {
            let track = 1 << self.track_of.get(row)?;
            if col != self.v || some & track != 0 || !is(weight.abs(), 1.0) {
                return None;
            }
            some |= track;
            plus |= if weight > 0.0 { track } else { 0 };
        }
        Some((some, plus))
    }

    /// One arc of a block, and one for the symbol of this vertex on each of these tracks. `arc` says which marginal an arc belongs to,
    /// whether its other end is right, its weight and what that must be.
    fn marginals(
        &self,
        listed: &Listed,
        (block, on): (usize, u32),
        arc: impl Fn((usize, usize, f64)) -> (usize, bool, f64, f64),
    ) -> bool {
        let symbols = self.table.symbols(self.v);
        let mut expected: Vec<usize> =
            tracks(on).map(|i| self.table.marginal(block, i, symbols >> i & 1)).chain([block]).collect();
        listed.len() == expected.len()
            && listed.iter().all(|&found| {
                let (marginal, end, weight, must_be) = arc(found);
                let place = expected.iter().position(|&other| other == marginal);
                place.map(|place| expected.swap_remove(place)).is_some() && end && is(weight, must_be)
            })
    }
}

fn is(a: f64, b: f64) -> bool {
    a.total_cmp(&b).is_eq()
}

fn same(a: (usize, usize, f64), b: (usize, usize, f64)) -> bool {
    (a.0, a.1) == (b.0, b.1) && is(a.2, b.2)
}

/// The tracks and symbols of a combination, counted over all patterns.
fn combination(table: &VertexTable, at: usize) -> Option<(u32, u32)> {
    let (mask, first) = *table.patterns.iter().rev().find(|&&(_, first)| first as usize <= at)?;
    let packed = at as u32 - first;
    (packed >> mask.count_ones() == 0).then(|| (mask, super::deposit(packed, mask)))
}

/// Whether every combination of symbols has exactly its own symbols.
fn combinations_are_alike(table: &VertexTable, track_of: &[usize]) -> bool {
    let mut found = vec![(0_u32, 0_u32); table.n_combinations()];
    for (row, col, weight) in Arcs::Alike.list(table) {
        let (Some((some, plus)), Some(&track)) = (found.get_mut(row), track_of.get(col)) else {
            return false;
        };
        if *some >> track & 1 == 1 || !is(weight.abs(), 1.0) {
            return false;
        }
        *some |= 1 << track;
        *plus |= u32::from(weight > 0.0) << track;
    }
    (0..found.len()).all(|at| combination(table, at) == Some(found[at]))
}
