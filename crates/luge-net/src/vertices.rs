//! Wide layers kept small: maps over vertices v = (block, symbols), of which there are `blocks * 2^symbols`.
//!
//! What a vertex is connected to depends on its block and on a few of its symbols, so the arcs are kept once per block and
//! combination of those symbols, and listed one by one only for whoever evaluates every unit.

/// Where the arcs of a vertex lead.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Column {
    /// The block of the vertices that may follow.
    pub next: u32,
    /// The tracks on which a symbol is put, whatever it was.
    pub put: u32,
    /// The symbols put: a bit is set for +1. A subset of `put`.
    pub plus: u32,
    /// The tracks whose head moves one cell to the left.
    pub left: u32,
    /// The tracks whose head moves one cell to the right.
    pub right: u32,
}

impl Column {
    /// The symbols left behind where `symbols` were found.
    #[must_use]
    pub fn written(&self, symbols: u32) -> u32 {
        symbols & !self.put | self.plus
    }

    /// How the head of a track moves: -1, 0 or 1.
    #[must_use]
    pub fn offset(&self, track: usize) -> i64 {
        i64::from(self.right >> track & 1) - i64::from(self.left >> track & 1)
    }
}

/// The columns of one block, one for every combination of the symbols it depends on; `None` where a vertex is at rest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The tracks it depends on.
    pub depends_on: u32,
    /// One column per combination, the lowest track in `depends_on` varying fastest.
    pub columns: Vec<Option<Column>>,
}

/// The arcs of all vertices. Vertex `(block << n_tracks) + symbols` has bit `i` set where the symbol of track `i` is +1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VertexTable {
    n_tracks: usize,
    rows: Vec<usize>,
    n_trained: usize,
    /// Where each block's columns begin, and the symbols it depends on.
    blocks: Vec<(u32, u32)>,
    columns: Vec<Option<Column>>,
}

impl VertexTable {
    /// A table of blocks; track `i` has row `rows[i]` in the matrices of cells, of which the first `n_trained` are weights.
    ///
    /// # Panics
    /// If a block has not one column per combination of its symbols, or leads nowhere.
    #[must_use]
    pub fn new(rows: Vec<usize>, n_trained: usize, blocks: Vec<Block>) -> Self {
        let n_blocks = u32::try_from(blocks.len()).expect("at most 2^32 blocks");
        let mut all = Self { n_tracks: rows.len(), rows, n_trained, blocks: Vec::new(), columns: Vec::new() };
        for block in blocks {
            assert_eq!(block.columns.len(), 1 << block.depends_on.count_ones(), "one column per combination");
            assert!(block.columns.iter().flatten().all(|c| c.next < n_blocks), "a column leads to a block");
            let first = u32::try_from(all.columns.len()).expect("at most 2^32 columns");
            all.blocks.push((first, block.depends_on));
            all.columns.extend(block.columns);
        }
        all
    }

    /// Number of tracks: symbols per vertex.
    #[must_use]
    pub fn n_tracks(&self) -> usize {
        self.n_tracks
    }

    /// Number of blocks.
    #[must_use]
    pub fn n_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Number of vertices.
    #[must_use]
    pub fn n_vertices(&self) -> usize {
        self.blocks.len() << self.n_tracks
    }

    /// Number of columns that are kept.
    #[must_use]
    pub fn n_columns(&self) -> usize {
        self.columns.len()
    }

    /// The row of each track in the matrices of cells.
    #[must_use]
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// How many rows of cells are weights; the rest are hidden units.
    #[must_use]
    pub fn n_trained(&self) -> usize {
        self.n_trained
    }

    /// The block of a vertex.
    #[must_use]
    pub fn block(&self, vertex: usize) -> usize {
        vertex >> self.n_tracks
    }

    /// The symbols of a vertex.
    #[must_use]
    pub fn symbols(&self, vertex: usize) -> u32 {
        // The low bits of a vertex are its symbols.
        (vertex & ((1 << self.n_tracks) - 1)) as u32
    }

    /// The vertex of a block and symbols.
    #[must_use]
    pub fn vertex(&self, block: usize, symbols: u32) -> usize {
        (block << self.n_tracks) + symbols as usize
    }

    /// The position of a vertex's column among those that are kept: the same for all vertices that share it.
    #[must_use]
    pub fn place(&self, block: usize, symbols: u32) -> usize {
        let (first, depends_on) = self.blocks[block];
        first as usize + extract(symbols, depends_on) as usize
    }

    /// The column kept at a place; `None` where its vertices are at rest.
    #[must_use]
    pub fn column_at(&self, place: usize) -> Option<&Column> {
        self.columns[place].as_ref()
    }

    /// The column of a vertex; `None` if it is at rest.
    #[must_use]
    pub fn column(&self, vertex: usize) -> Option<&Column> {
        self.column_at(self.place(self.block(vertex), self.symbols(vertex)))
    }

    /// Whether the vertex may be followed by itself.
    #[must_use]
    pub fn has_self_edge(&self, vertex: usize) -> bool {
        self.column(vertex).is_some_and(|column| column.next as usize == self.block(vertex))
    }

    /// Every column with its block, the symbols it depends on and their values.
    pub fn all_columns(&self) -> impl Iterator<Item = (usize, u32, u32, Option<&Column>)> {
        self.blocks.iter().enumerate().flat_map(move |(block, &(first, depends_on))| {
            (0..1_u32 << depends_on.count_ones()).map(move |i| {
                (block, depends_on, deposit(i, depends_on), self.columns[(first + i) as usize].as_ref())
            })
        })
    }
}

/// The bits of `from` under `mask`, packed together.
fn extract(from: u32, mask: u32) -> u32 {
    let (mut packed, mut left, mut at) = (0, mask, 0);
    while left != 0 {
        packed |= (from >> left.trailing_zeros() & 1) << at;
        left &= left - 1;
        at += 1;
    }
    packed
}

/// The opposite of [`extract`]: packed bits spread to the places of `mask`.
fn deposit(packed: u32, mask: u32) -> u32 {
    let (mut spread, mut left, mut at) = (0, mask, 0);
    while left != 0 {
        spread |= (packed >> at & 1) << left.trailing_zeros();
        left &= left - 1;
        at += 1;
    }
    spread
}

/// Which arcs of a table a map consists of.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Arcs {
    /// To each row, the symbol a vertex has there.
    Now,
    /// To each row, the symbol a vertex leaves behind; vertices at rest leave what they have, or nothing.
    Next {
        /// Whether vertices at rest count.
        at_rest: bool,
    },
    /// To each row, whether the head moves by this much; vertices at rest stay, or have no arc.
    Moving {
        /// -1, 0 or 1.
        by: i64,
        /// Whether vertices at rest count.
        at_rest: bool,
    },
    /// Sums over all vertices of a block, then over those of a block with a given symbol on a track.
    Marginals,
    /// From the marginals to each vertex: this for the block that follows, and this for every symbol that stays.
    Successors {
        /// The weight of the block.
        block: f64,
        /// The weight of a symbol.
        symbol: f64,
    },
    /// From each vertex that may follow itself to itself.
    SelfEdges {
        /// The weight.
        weight: f64,
    },
    /// From all vertices to one unit: this at rest, and this where a vertex may follow itself.
    Levels {
        /// The weight of vertices at rest.
        at_rest: f64,
        /// The weight of vertices that may follow themselves.
        self_edge: f64,
    },
    /// To one unit for each vertex that may follow itself.
    Dips {
        /// The weight.
        weight: f64,
    },
    /// To each block, the vertices it may follow; at rest, their own.
    NextBlock,
    /// From each block to its vertices.
    OfBlock,
    /// From each combination of symbols to the vertices that have it.
    OfSymbols,
    /// From each row to each combination of symbols: the symbols.
    Alike,
}

impl Arcs {
    /// Outputs and inputs of the map.
    pub(crate) fn size(self, table: &VertexTable) -> (usize, usize) {
        let (vertices, blocks, symbols) = (table.n_vertices(), table.n_blocks(), table.n_tracks());
        let marginals = blocks * (1 + 2 * symbols);
        match self {
            Self::Now | Self::Next { .. } | Self::Moving { .. } => (symbols, vertices),
            Self::Marginals => (marginals, vertices),
            Self::Successors { .. } => (vertices, marginals),
            Self::SelfEdges { .. } => (vertices, vertices),
            Self::Levels { .. } => (1, vertices),
            Self::Dips { .. } => (n_self_edges(table), vertices),
            Self::NextBlock => (blocks, vertices),
            Self::OfBlock => (vertices, blocks),
            Self::OfSymbols => (vertices, 1 << symbols),
            Self::Alike => (1 << symbols, symbols),
        }
    }

    /// No more entries than this.
    pub(crate) fn most_entries(self, table: &VertexTable) -> usize {
        let (vertices, symbols) = (table.n_vertices(), table.n_tracks());
        match self {
            Self::Now | Self::Next { .. } | Self::Moving { .. } => vertices * symbols,
            Self::Marginals | Self::Successors { .. } => vertices * (1 + symbols),
            Self::Alike => symbols << symbols,
            _ => vertices,
        }
    }

    /// Whether there is no arc at all.
    pub(crate) fn is_empty(self, table: &VertexTable) -> bool {
        let Self::Moving { by, at_rest } = self else { return false };
        let all = (1_u32 << table.n_tracks()) - 1;
        let moves = |column: Option<&Column>| match (column, by) {
            (None, by) => at_rest && by == 0,
            (Some(column), 0) => column.left | column.right != all,
            (Some(column), -1) => column.left != 0,
            (Some(column), _) => column.right != 0,
        };
        !table.all_columns().any(|(_, _, _, column)| moves(column))
    }

    /// Whether the arcs come from vertices, so that those of one vertex can be listed alone.
    fn starts_at_vertices(self) -> bool {
        !matches!(self, Self::Successors { .. } | Self::OfBlock | Self::OfSymbols | Self::Alike)
    }

    /// Adds the map of `x` to `y`, looking only at vertices whose weight is not zero.
    pub(crate) fn add(self, table: &VertexTable, x: &[f64], y: &mut [f64]) {
        let d = table.n_tracks();
        match self {
            Self::Successors { block, symbol } => {
                for (v, y) in y.iter_mut().enumerate() {
                    let (symbols, Some(column)) = (table.symbols(v), table.column(v)) else { continue };
                    let next = column.next as usize;
                    let kept = |i: usize| x[marginal(table, next, i, symbols >> i & 1)];
                    *y += block * x[next] + (0..d).map(|i| symbol * kept(i)).sum::<f64>();
                }
            }
            Self::OfBlock => y.iter_mut().enumerate().for_each(|(v, y)| *y += x[table.block(v)]),
            Self::OfSymbols => y.iter_mut().enumerate().for_each(|(v, y)| *y += x[table.symbols(v) as usize]),
            Self::Alike => {
                for (row, col, weight) in self.list(table) {
                    y[row] += weight * x[col];
                }
            }
            _ => {
                let mut n_dips = 0;
                for (v, &x) in x.iter().enumerate() {
                    if x != 0.0 {
                        self.each_of(table, v, n_dips, |row, weight| y[row] += weight * x);
                    }
                    n_dips += usize::from(matches!(self, Self::Dips { .. }) && table.has_self_edge(v));
                }
            }
        }
    }

    /// The arcs one by one: (output, input, weight).
    pub(crate) fn list(self, table: &VertexTable) -> Vec<(usize, usize, f64)> {
        let d = table.n_tracks();
        let mut arcs = Vec::new();
        if self == Self::Alike {
            for symbols in 0..1_u32 << d {
                arcs.extend((0..d).map(|i| (symbols as usize, table.rows[i], value(symbols, i))));
            }
            return arcs;
        }
        let mut n_dips = 0;
        for v in 0..table.n_vertices() {
            if self.starts_at_vertices() {
                self.each_of(table, v, n_dips, |row, weight| arcs.push((row, v, weight)));
                n_dips += usize::from(matches!(self, Self::Dips { .. }) && table.has_self_edge(v));
                continue;
            }
            let symbols = table.symbols(v);
            match self {
                Self::Successors { block, symbol } => {
                    let Some(next) = table.column(v).map(|c| c.next as usize) else { continue };
                    arcs.push((v, next, block));
                    arcs.extend((0..d).map(|i| (v, marginal(table, next, i, symbols >> i & 1), symbol)));
                }
                Self::OfBlock => arcs.push((v, table.block(v), 1.0)),
                _ => arcs.push((v, symbols as usize, 1.0)),
            }
        }
        arcs
    }

    /// The arcs from one vertex: (output, weight). `n_dips` vertices before it may follow themselves.
    fn each_of(self, table: &VertexTable, v: usize, n_dips: usize, mut arc: impl FnMut(usize, f64)) {
        let (block, symbols, column) = (table.block(v), table.symbols(v), table.column(v));
        let self_edge = table.has_self_edge(v);
        let d = table.n_tracks();
        match self {
            Self::Now => (0..d).for_each(|i| arc(table.rows[i], value(symbols, i))),
            Self::Next { at_rest } => {
                if let Some(left) = column.map(|c| c.written(symbols)).or(at_rest.then_some(symbols)) {
                    (0..d).for_each(|i| arc(table.rows[i], value(left, i)));
                }
            }
            Self::Moving { by, at_rest } => {
                let moves = |i: &usize| column.map_or(at_rest && by == 0, |c| c.offset(*i) == by);
                (0..d).filter(moves).for_each(|i| arc(table.rows[i], 1.0));
            }
            Self::Marginals => {
                arc(block, 1.0);
                (0..d).for_each(|i| arc(marginal(table, block, i, symbols >> i & 1), 1.0));
            }
            Self::SelfEdges { weight } if self_edge => arc(v, weight),
            Self::Levels { at_rest, .. } if column.is_none() => arc(0, at_rest),
            Self::Levels { self_edge: weight, .. } if self_edge => arc(0, weight),
            Self::Dips { weight } if self_edge => arc(n_dips, weight),
            Self::NextBlock => arc(column.map_or(block, |c| c.next as usize), 1.0),
            _ => {}
        }
    }
}

fn value(symbols: u32, i: usize) -> f64 {
    if symbols >> i & 1 == 1 { 1.0 } else { -1.0 }
}

/// The position of the sum over a block's vertices with a given symbol, among the marginals.
fn marginal(table: &VertexTable, block: usize, i: usize, plus: u32) -> usize {
    table.n_blocks() + (block * table.n_tracks() + i) * 2 + plus as usize
}

/// How many vertices may follow themselves.
pub(crate) fn n_self_edges(table: &VertexTable) -> usize {
    let own = table.all_columns().filter(|&(block, _, _, c)| c.is_some_and(|c| c.next as usize == block));
    own.map(|(_, depends_on, _, _)| 1 << (table.n_tracks - depends_on.count_ones() as usize)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAY: Column = Column { next: 0, put: 0, plus: 0, left: 0, right: 0 };

    fn table() -> VertexTable {
        let away = Column { next: 1, put: 0b10, plus: 0b10, left: 0b01, right: 0b10 };
        let blocks = vec![
            Block { depends_on: 0b10, columns: vec![Some(away), Some(STAY)] },
            Block { depends_on: 0, columns: vec![None] },
        ];
        VertexTable::new(vec![1, 0], 1, blocks)
    }

    #[test]
    fn a_vertex_has_the_column_of_the_signs_it_depends_on() {
        let table = table();
        assert_eq!((table.n_vertices(), table.n_columns()), (8, 3));
        assert_eq!(table.column(0b001).map(|c| c.next), Some(1));
        assert_eq!(table.column(0b010), Some(&STAY));
        assert_eq!(table.column(0b111), None);
        assert!(table.has_self_edge(0b011) && !table.has_self_edge(0b001));
        let places: Vec<usize> = (0..8).map(|v| table.place(table.block(v), table.symbols(v))).collect();
        assert_eq!(places, [0, 0, 1, 1, 2, 2, 2, 2]);
    }

    #[test]
    fn a_column_puts_and_moves() {
        let column = Column { next: 0, put: 0b110, plus: 0b010, left: 0b001, right: 0b100 };
        assert_eq!(column.written(0b101), 0b011);
        assert_eq!([0, 1, 2].map(|i| column.offset(i)), [-1, 0, 1]);
    }

    #[test]
    fn bits_are_packed_and_spread() {
        for packed in 0..8 {
            assert_eq!(extract(deposit(packed, 0b1011_0000), 0b1011_0000), packed);
        }
        assert_eq!(extract(0b1010, 0b1110), 0b101);
    }

    #[test]
    fn sizes_and_counts_are_those_of_the_listed_arcs() {
        let table = table();
        assert_eq!(n_self_edges(&table), 2);
        let all = [
            Arcs::Now,
            Arcs::Next { at_rest: true },
            Arcs::Moving { by: 1, at_rest: true },
            Arcs::Marginals,
            Arcs::Successors { block: -2.0, symbol: -1.0 },
            Arcs::SelfEdges { weight: 3.0 },
            Arcs::Levels { at_rest: 1.0, self_edge: 2.0 },
            Arcs::Dips { weight: 4.0 },
            Arcs::NextBlock,
            Arcs::OfBlock,
            Arcs::OfSymbols,
            Arcs::Alike,
        ];
        for arcs in all {
            let (outputs, inputs) = arcs.size(&table);
            let listed = arcs.list(&table);
            assert!(listed.iter().all(|&(row, col, _)| row < outputs && col < inputs), "{arcs:?}");
            assert!(!listed.is_empty() && listed.len() <= arcs.most_entries(&table), "{arcs:?}");
            let x: Vec<f64> = (0..inputs).map(|i| f64::from(i as u32 % 5) - 1.0).collect();
            let (mut one_by_one, mut at_once) = (vec![0.0; outputs], vec![0.0; outputs]);
            listed.iter().for_each(|&(row, col, weight)| one_by_one[row] += weight * x[col]);
            arcs.add(&table, &x, &mut at_once);
            assert_eq!(at_once, one_by_one, "{arcs:?}");
        }
        for (by, at_rest, empty) in [(-1, true, false), (0, false, false), (1, false, false)] {
            let arcs = Arcs::Moving { by, at_rest };
            assert_eq!((arcs.is_empty(&table), arcs.list(&table).is_empty()), (empty, empty));
        }
        let still = VertexTable::new(vec![0], 1, vec![Block { depends_on: 0, columns: vec![Some(STAY)] }]);
        assert!(Arcs::Moving { by: 1, at_rest: true }.is_empty(&still));
        assert!(!Arcs::Moving { by: 0, at_rest: false }.is_empty(&still));
    }
}
