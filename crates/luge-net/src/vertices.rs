//! Tables of vertices: each block has one vertex for every combination of the symbols that it distinguishes.
//!
//! The arcs of a vertex depend on its block and on a few of its symbols. So they are stored once per block and combination
//! of these symbols, and listed one by one only for code that evaluates every unit.

mod arcs;
mod reading;

pub use arcs::Arcs;
pub(crate) use arcs::n_self_edges;
pub(crate) use reading::first_difference;

/// The step at a vertex: the next block, the symbols written, and the moves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Column {
    /// The next block.
    pub next: u32,
    /// The tracks on which a symbol is written.
    pub put: u32,
    /// The symbols written: a bit is set for +1. A subset of `put`.
    pub plus: u32,
    /// The tracks whose head moves one cell to the left.
    pub left: u32,
    /// The tracks whose head moves one cell to the right.
    pub right: u32,
}

impl Column {
    /// The symbols after the step, given those before it.
    pub fn written(&self, symbols: u32) -> u32 {
        symbols & !self.put | self.plus
    }

    /// How the head of a track moves: -1, 0 or 1.
    pub fn offset(&self, track: usize) -> i64 {
        i64::from(self.right >> track & 1) - i64::from(self.left >> track & 1)
    }
}

/// A block: one column for every combination of the symbols that it depends on; `None` where its vertices halt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The tracks whose symbols distinguish the block's vertices.
    pub looks_at: u32,
    /// The tracks that its columns depend on, a subset of `looks_at`.
    pub depends_on: u32,
    /// One column per combination, the lowest track in `depends_on` varying fastest.
    pub columns: Vec<Option<Column>>,
}

/// All vertices and their arcs. The vertices of a block are consecutive, one for each combination of the symbols it looks
/// at, the lowest track varying fastest. Symbols are bits, set where the symbol of a track is +1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VertexTable {
    /// Number of tracks.
    pub n_tracks: usize,
    /// The row of each track in the matrices of cells.
    pub rows: Vec<usize>,
    /// Number of rows of cells that are weights; the rest are hidden units.
    pub n_trained: usize,
    blocks: Vec<Place>,
    columns: Vec<Option<Column>>,
    /// The block of each vertex.
    block_of: Vec<u32>,
    /// Number of vertices.
    pub n_vertices: usize,
    n_marginals: usize,
    /// The different sets of tracks that blocks look at, each with the number of combinations before its first.
    patterns: Vec<(u32, u32)>,
}

/// The first vertex, column, marginal and combination of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    looks_at: u32,
    depends_on: u32,
    first_vertex: u32,
    first_column: u32,
    /// Among the marginals of all blocks.
    first_marginal: u32,
    /// Among the combinations of symbols of all patterns.
    first_combination: u32,
}

impl VertexTable {
    /// A table of blocks; track `i` has row `rows[i]` in the matrices of cells, of which the first `n_trained` are weights.
    ///
    /// # Panics
    /// If a block does not have one column per combination of its symbols, depends on a track that it does not look at, or
    /// leads to a block that does not exist.
    pub fn new(rows: Vec<usize>, n_trained: usize, blocks: Vec<Block>) -> Self {
        let n_blocks = u32::try_from(blocks.len()).expect("at most 2^32 blocks");
        let small = |n: usize| u32::try_from(n).expect("at most 2^32 vertices, columns and marginals");
        let mut all = Self {
            n_tracks: rows.len(),
            rows,
            n_trained,
            blocks: Vec::with_capacity(blocks.len()),
            columns: Vec::new(),
            block_of: Vec::new(),
            n_vertices: 0,
            n_marginals: blocks.len(),
            patterns: Vec::new(),
        };
        for block in blocks {
            let Block { looks_at, depends_on, columns } = block;
            assert_eq!(columns.len(), 1 << depends_on.count_ones(), "one column per combination");
            assert_eq!(depends_on & !looks_at, 0, "a block looks at what it depends on");
            assert_eq!(looks_at & !all.all_tracks(), 0, "a block looks at tracks");
            assert!(columns.iter().flatten().all(|c| c.next < n_blocks), "a column leads to a block");
            let first_combination = all.first_combination(looks_at);
            all.blocks.push(Place {
                looks_at,
                depends_on,
                first_vertex: small(all.n_vertices),
                first_column: small(all.columns.len()),
                first_marginal: small(all.n_marginals),
                first_combination,
            });
            all.columns.extend(columns);
            all.n_vertices += 1 << looks_at.count_ones();
            all.n_marginals += 2 * looks_at.count_ones() as usize;
        }
        let of_block = |(i, block): (usize, &Place)| vec![small(i); 1 << block.looks_at.count_ones()];
        all.block_of = all.blocks.iter().enumerate().flat_map(of_block).collect();
        all
    }

    /// Where the combinations of the symbols on these tracks begin, among those of all patterns.
    fn first_combination(&mut self, looks_at: u32) -> u32 {
        if let Some(&(_, first)) = self.patterns.iter().find(|&&(mask, _)| mask == looks_at) {
            return first;
        }
        let first = self.n_combinations() as u32;
        self.patterns.push((looks_at, first));
        first
    }

    /// A bit for every track.
    pub fn all_tracks(&self) -> u32 {
        ((1_u64 << self.n_tracks) - 1) as u32
    }

    /// Number of blocks.
    pub fn n_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.columns.len()
    }

    /// Number of combinations of symbols that some block distinguishes; blocks that look at the same tracks share them.
    pub(crate) fn n_combinations(&self) -> usize {
        self.patterns.last().map_or(0, |&(mask, first)| first as usize + (1 << mask.count_ones()))
    }

    /// `1 - n` for each combination of n symbols: the bias of a unit that is 1 if all n symbols are found, else 0.
    pub fn combination_biases(&self) -> Vec<f64> {
        let bias = |&(mask, _): &(u32, u32)| vec![1.0 - f64::from(mask.count_ones()); 1 << mask.count_ones()];
        self.patterns.iter().flat_map(bias).collect()
    }

    /// A bit for every track whose cells are weights.
    pub fn trained_tracks(&self) -> u32 {
        let bit = |(track, &row): (usize, &usize)| u32::from(row < self.n_trained) << track;
        self.rows.iter().enumerate().map(bit).sum()
    }

    /// The block of a vertex.
    pub fn block(&self, vertex: usize) -> usize {
        self.block_of[vertex] as usize
    }

    /// The tracks whose symbols distinguish a block's vertices.
    pub fn looks_at(&self, block: usize) -> u32 {
        self.blocks[block].looks_at
    }

    /// The vertices of a block.
    pub fn vertices_of(&self, block: usize) -> std::ops::Range<usize> {
        let Place { looks_at, first_vertex, .. } = self.blocks[block];
        first_vertex as usize..first_vertex as usize + (1 << looks_at.count_ones())
    }

    /// The symbols of a vertex on the tracks that its block looks at; no bit is set elsewhere.
    pub fn symbols(&self, vertex: usize) -> u32 {
        let Place { looks_at, first_vertex, .. } = self.blocks[self.block(vertex)];
        deposit(vertex as u32 - first_vertex, looks_at)
    }

    /// The vertex of a block for these symbols; symbols on tracks that the block does not look at are ignored.
    pub fn vertex(&self, block: usize, symbols: u32) -> usize {
        let Place { looks_at, first_vertex, .. } = self.blocks[block];
        (first_vertex + extract(symbols, looks_at)) as usize
    }

    /// The index of the column for these symbols; several vertices can share it.
    pub fn place(&self, block: usize, symbols: u32) -> usize {
        let Place { first_column, depends_on, .. } = self.blocks[block];
        first_column as usize + extract(symbols, depends_on) as usize
    }

    /// The column with this index; `None` if its vertices halt.
    pub fn column_at(&self, place: usize) -> Option<&Column> {
        self.columns[place].as_ref()
    }

    /// The column of a vertex; `None` if it halts.
    pub fn column(&self, vertex: usize) -> Option<&Column> {
        self.column_at(self.place(self.block(vertex), self.symbols(vertex)))
    }

    /// Whether the vertex can follow itself.
    pub fn has_self_edge(&self, vertex: usize) -> bool {
        self.column(vertex).is_some_and(|column| column.next as usize == self.block(vertex))
    }

    /// All columns, each with its block, the tracks it depends on and their symbols.
    pub fn all_columns(&self) -> impl Iterator<Item = (usize, u32, u32, Option<&Column>)> {
        self.blocks.iter().enumerate().flat_map(move |(block, &Place { first_column, depends_on, .. })| {
            (0..1_u32 << depends_on.count_ones()).map(move |i| {
                let column = self.columns[(first_column + i) as usize].as_ref();
                (block, depends_on, deposit(i, depends_on), column)
            })
        })
    }

    /// The index of the marginal that sums over the vertices of a block with a given symbol on a track.
    fn marginal(&self, block: usize, track: usize, plus: u32) -> usize {
        let Place { looks_at, first_marginal, .. } = self.blocks[block];
        let before = (looks_at & ((1 << track) - 1)).count_ones();
        (first_marginal + 2 * before + plus) as usize
    }
}

/// The tracks of a mask, the lowest first.
#[inline]
pub fn tracks(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let track = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(track)
    })
}

/// The bits of `from` under `mask`, packed together.
#[inline]
pub fn extract(from: u32, mask: u32) -> u32 {
    if mask & mask.wrapping_add(1) == 0 {
        // The mask has no gaps, so the bits are packed already.
        return from & mask;
    }
    tracks(mask).enumerate().fold(0, |packed, (at, track)| packed | (from >> track & 1) << at)
}

/// The inverse of [`extract`]: packed bits moved to the places of `mask`, the lowest first.
pub fn deposit(packed: u32, mask: u32) -> u32 {
    if mask & mask.wrapping_add(1) == 0 {
        return packed & mask;
    }
    tracks(mask).enumerate().fold(0, |spread, (at, track)| spread | (packed >> at & 1) << track)
}

#[cfg(test)]
mod tests;
