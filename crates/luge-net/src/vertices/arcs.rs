//! The maps over vertices.

use super::{Column, VertexTable, tracks};
use crate::Entry;

/// The arcs of a table that a map consists of. Vertices are *at rest* where the machine halts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Arcs {
    /// From each vertex to the rows that its block looks at: the vertex's symbol there.
    Now,
    /// From each vertex to the rows on which the symbol after the step is known: that symbol.
    Next {
        /// Whether vertices at rest count.
        at_rest: bool,
    },
    /// From each vertex to the rows that it neither looks at nor writes: 1.
    Keep {
        /// Whether vertices at rest count.
        at_rest: bool,
    },
    /// From each vertex to the rows whose head moves by this much: 1. Vertices at rest stay, or have no arc.
    Moving {
        /// -1, 0 or 1.
        by: i64,
        /// Whether vertices at rest count.
        at_rest: bool,
    },
    /// Sums over all vertices of a block, then over those of a block with a given symbol on a track.
    Marginals,
    /// From the marginals to each vertex: `block` from that of the next block, and `symbol` from those of symbols that stay,
    /// on the tracks that both blocks look at.
    Successors {
        /// The weight of the block.
        block: f64,
        /// The weight of a symbol.
        symbol: f64,
    },
    /// From each vertex that can follow itself to itself: `block`, plus `symbol` for each of its symbols.
    SelfEdges {
        /// The weight of the block.
        block: f64,
        /// The weight of a symbol.
        symbol: f64,
    },
    /// From all vertices to one unit: `at_rest`, or for vertices that can follow themselves the weight of that edge.
    Levels {
        /// The weight of vertices at rest.
        at_rest: f64,
        /// The weight of the block of a vertex that may follow itself.
        block: f64,
        /// The weight of each of its symbols.
        symbol: f64,
    },
    /// From each vertex that can follow itself to a unit of its own.
    Dips {
        /// The weight.
        weight: f64,
    },
    /// From the units of [`Dips`](Self::Dips) to one unit: the weight of the edge from the vertex to itself.
    DipLevels {
        /// The weight of the block.
        block: f64,
        /// The weight of a symbol.
        symbol: f64,
    },
    /// From each vertex to the next block; at rest, to its own.
    NextBlock,
    /// From each block to its vertices.
    OfBlock,
    /// From each combination of symbols to the vertices that have it.
    OfSymbols,
    /// From the rows to each combination of symbols: its symbols.
    Alike,
}

impl Arcs {
    /// Outputs and inputs of the map.
    pub(crate) fn size(self, table: &VertexTable) -> (usize, usize) {
        let (vertices, blocks, tracks) = (table.n_vertices, table.n_blocks(), table.n_tracks);
        match self {
            Self::Now | Self::Next { .. } | Self::Keep { .. } | Self::Moving { .. } => (tracks, vertices),
            Self::Marginals => (table.n_marginals, vertices),
            Self::Successors { .. } => (vertices, table.n_marginals),
            Self::SelfEdges { .. } => (vertices, vertices),
            Self::Levels { .. } => (1, vertices),
            Self::Dips { .. } => (n_self_edges(table), vertices),
            Self::DipLevels { .. } => (1, n_self_edges(table)),
            Self::NextBlock => (blocks, vertices),
            Self::OfBlock => (vertices, blocks),
            Self::OfSymbols => (vertices, table.n_combinations()),
            Self::Alike => (table.n_combinations(), tracks),
        }
    }

    /// An upper bound on the number of entries.
    pub(crate) fn most_entries(self, table: &VertexTable) -> usize {
        let (vertices, tracks) = (table.n_vertices, table.n_tracks);
        match self {
            Self::Now | Self::Next { .. } | Self::Keep { .. } | Self::Moving { .. } => vertices * tracks,
            Self::Marginals | Self::Successors { .. } => vertices * (1 + tracks),
            Self::Alike => tracks * table.n_combinations(),
            _ => vertices,
        }
    }

    /// Whether there is no arc at all.
    pub(crate) fn is_empty(self, table: &VertexTable) -> bool {
        let all = table.all_tracks();
        match self {
            Self::Moving { by, at_rest } => {
                !table.all_columns().any(|(_, _, _, column)| match (column, by) {
                    (None, by) => at_rest && by == 0,
                    (Some(column), 0) => column.left | column.right != all,
                    (Some(column), -1) => column.left != 0,
                    (Some(column), _) => column.right != 0,
                })
            }
            Self::Keep { at_rest } => !table
                .all_columns()
                .any(|(block, _, _, column)| kept_unseen(table, block, column, at_rest) != 0),
            _ => false,
        }
    }

    /// Whether the arcs start at vertices, so that vertices of weight 0 can be skipped.
    fn starts_at_vertices(self) -> bool {
        use Arcs::{Alike, DipLevels, OfBlock, OfSymbols, Successors};
        !matches!(self, Successors { .. } | DipLevels { .. } | OfBlock | OfSymbols | Alike)
    }

    /// Adds the map of `x` to `y`, skipping vertices of weight 0 where possible.
    pub(crate) fn add(self, table: &VertexTable, x: &[f64], y: &mut [f64]) {
        let seen = |v: usize| !self.starts_at_vertices() || x[v] != 0.0;
        self.visit(table, seen, |row, col, weight| y[row] += weight * x[col]);
    }

    /// The arcs one by one: (output, input, weight).
    pub(crate) fn list(self, table: &VertexTable) -> Vec<Entry> {
        let mut arcs = Vec::new();
        self.visit(table, |_| true, |row, col, weight| arcs.push((row, col, weight)));
        arcs
    }

    /// Visits the arcs of the vertices for which `seen` is true.
    fn visit(
        self,
        table: &VertexTable,
        seen: impl Fn(usize) -> bool,
        mut arc: impl FnMut(usize, usize, f64),
    ) {
        if self == Self::Alike {
            for &(looks_at, first) in &table.patterns {
                for i in 0..1_u32 << looks_at.count_ones() {
                    let symbols = super::deposit(i, looks_at);
                    tracks(looks_at)
                        .for_each(|t| arc((first + i) as usize, table.rows[t], value(symbols, t)));
                }
            }
            return;
        }
        let counts_dips = matches!(self, Self::Dips { .. } | Self::DipLevels { .. });
        let mut n_dips = 0;
        for v in 0..table.n_vertices {
            if seen(v) {
                self.visit_one(table, v, n_dips, &mut arc);
            }
            n_dips += usize::from(counts_dips && table.has_self_edge(v));
        }
    }

    /// The arcs from or to one vertex: (output, input, weight). `n_dips` vertices before it may follow themselves.
    pub(super) fn visit_one(
        self,
        table: &VertexTable,
        v: usize,
        n_dips: usize,
        mut arc: impl FnMut(usize, usize, f64),
    ) {
        #[cfg(feature = "faults")]
        let mut arc =
            |row, col, weight| crate::faults::alter_arc(self, table, v, (row, col, weight), &mut arc);
        let (block, symbols, column) = (table.block(v), table.symbols(v), table.column(v));
        let looks_at = table.looks_at(block);
        let follows_itself = table.has_self_edge(v);
        match self {
            Self::Now => tracks(looks_at).for_each(|i| arc(table.rows[i], v, value(symbols, i))),
            Self::Next { at_rest } => {
                let known = match column {
                    Some(column) => Some((looks_at | column.put, column.written(symbols))),
                    None => at_rest.then_some((looks_at, symbols)),
                };
                let Some((known, left)) = known else { return };
                tracks(known).for_each(|i| arc(table.rows[i], v, value(left, i)));
            }
            Self::Keep { at_rest } => {
                tracks(kept_unseen(table, block, column, at_rest)).for_each(|i| arc(table.rows[i], v, 1.0));
            }
            Self::Moving { by, at_rest } => {
                let moves = |i: &usize| column.map_or(at_rest && by == 0, |c| c.offset(*i) == by);
                (0..table.n_tracks).filter(moves).for_each(|i| arc(table.rows[i], v, 1.0));
            }
            Self::Marginals => {
                arc(block, v, 1.0);
                tracks(looks_at).for_each(|i| arc(table.marginal(block, i, symbols >> i & 1), v, 1.0));
            }
            Self::SelfEdges { block: weight, symbol } if follows_itself => {
                arc(v, v, self_edge(table, block, weight, symbol));
            }
            Self::Levels { at_rest, .. } if column.is_none() => arc(0, v, at_rest),
            Self::Levels { block: weight, symbol, .. } if follows_itself => {
                arc(0, v, self_edge(table, block, weight, symbol));
            }
            Self::Dips { weight } if follows_itself => arc(n_dips, v, weight),
            Self::NextBlock => arc(column.map_or(block, |c| c.next as usize), v, 1.0),
            Self::Successors { block: weight, symbol } => {
                let Some(next) = column.map(|c| c.next as usize) else { return };
                arc(v, next, weight);
                marginals_that_stay(table, v, next).for_each(|marginal| arc(v, marginal, symbol));
            }
            Self::DipLevels { block: weight, symbol } if follows_itself => {
                arc(0, n_dips, self_edge(table, block, weight, symbol));
            }
            Self::OfBlock => arc(v, block, 1.0),
            Self::OfSymbols => arc(v, combination(table, v), 1.0),
            _ => {}
        }
    }
}

fn value(symbols: u32, i: usize) -> f64 {
    if symbols >> i & 1 == 1 { 1.0 } else { -1.0 }
}

/// The weight of an edge from a vertex of a block to itself.
fn self_edge(table: &VertexTable, block: usize, weight: f64, symbol: f64) -> f64 {
    weight + f64::from(table.looks_at(block).count_ones()) * symbol
}

/// The tracks that a column neither looks at nor writes.
fn kept_unseen(table: &VertexTable, block: usize, column: Option<&Column>, at_rest: bool) -> u32 {
    let put = match column {
        Some(column) => column.put,
        None if at_rest => 0,
        None => return 0,
    };
    table.all_tracks() & !table.looks_at(block) & !put
}

/// The marginals of the next block for symbols of a vertex that stay, on the tracks that both blocks look at.
fn marginals_that_stay(table: &VertexTable, v: usize, next: usize) -> impl Iterator<Item = usize> {
    let symbols = table.symbols(v);
    let both = table.looks_at(table.block(v)) & table.looks_at(next);
    tracks(both).map(move |i| table.marginal(next, i, symbols >> i & 1))
}

/// The combination of symbols that a vertex has, among those of all patterns.
fn combination(table: &VertexTable, v: usize) -> usize {
    let place = table.blocks[table.block(v)];
    (place.first_combination + v as u32 - place.first_vertex) as usize
}

/// Number of vertices that can follow themselves.
pub(crate) fn n_self_edges(table: &VertexTable) -> usize {
    let own = table.all_columns().filter(|&(block, _, _, c)| c.is_some_and(|c| c.next as usize == block));
    let alike = |block: usize, depends_on: u32| 1 << (table.looks_at(block) & !depends_on).count_ones();
    own.map(|(block, depends_on, _, _)| alike(block, depends_on)).sum::<usize>()
}
