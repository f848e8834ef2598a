//! What a step does at each vertex, prepared for speed.

use luge_net::{Form, VertexTable, faults};

/// The numbers of [`Form::Slides`], and numbers derived from them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slides {
    pub(super) offset: f64,
    pub(super) at_rest: f64,
    pub(super) write: f64,
    pub(super) read: f64,
    pub(super) twice_read: f64,
    pub(super) shift: f64,
    /// Rates times twice the weights of the write and of the move residual.
    rates: (f64, f64),
    /// The weight of an edge, and what is added for every symbol that stays.
    pub(super) edge: f64,
    pub(super) symbol: f64,
    /// Whether edges are units of their own.
    pub(super) edge_units: bool,
}

impl Slides {
    pub(super) fn new(form: &Form) -> Option<Self> {
        let Form::Slides { offset, at_rest, edge, symbol, write, read, shift, edge_units, .. } = *form else {
            return None;
        };
        let Form::Slides { cell_rate, head_rate, .. } = *form else { return None };
        let rates = (
            2.0 * write * faults::number("cell rate", cell_rate, cell_rate * 0.999),
            2.0 * shift * faults::number("head rate", head_rate, head_rate * 0.999),
        );
        let at_rest = faults::number("level of rest", at_rest, at_rest / 2.0);
        let read = faults::number("read weight", read, read / 2.0);
        let offset = faults::number("offset", offset, offset * (1.0 + 1e-9));
        let twice_read = 2.0 * read;
        Some(Self { offset, at_rest, write, read, twice_read, shift, rates, edge, symbol, edge_units })
    }

    /// The fractions of their residuals by which cells and heads move at this gain.
    #[inline]
    pub(super) fn rates(&self, gain: f64) -> (f64, f64) {
        (self.rates.0 * gain, self.rates.1 * gain)
    }
}

/// A vertex and the step that is made there.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Action {
    pub(super) next: u32,
    /// The tracks that it looks at, and its symbols there.
    pub(super) looks_at: u32,
    pub(super) symbols: u32,
    /// The tracks on which the symbol after the step is known, and these symbols. On all others the symbol is kept unseen.
    pub(super) known: u32,
    pub(super) written: u32,
    pub(super) left: u32,
    pub(super) right: u32,
    /// The tracks that the next block looks at, the number of them that this block looks at too, and the next block's first
    /// vertex.
    pub(super) theirs: u32,
    pub(super) n_shared: u32,
    pub(super) first: u32,
    /// What the vertex's level, or its edge to itself, adds to the slope at the vertex.
    pub(super) own: f64,
    /// The lowest slope of a vertex to which no edge leads, apart from what symbols add.
    pub(super) floor: f64,
}

impl Action {
    /// The value of `next` where the machine halts.
    pub(super) const REST: u32 = u32::MAX;

    pub(super) fn of(table: &VertexTable, slides: Option<&Slides>, vertex: usize) -> Self {
        let (block, symbols) = (table.block(vertex), table.symbols(vertex));
        let looks_at = table.looks_at(block);
        let own = |next: Option<usize>| slides.map_or(0.0, |slides| slides.own(block, looks_at, next));
        let rest = Self {
            next: Self::REST,
            looks_at,
            symbols,
            known: looks_at,
            written: symbols,
            own: own(None),
            floor: slides.map_or(0.0, |slides| slides.floor(looks_at)),
            ..Self::default()
        };
        let Some(c) = table.column(vertex) else { return rest };
        let next = c.next as usize;
        let theirs = table.looks_at(next);
        Self {
            next: c.next,
            known: looks_at | c.put,
            written: c.written(symbols),
            left: c.left,
            right: c.right,
            theirs,
            n_shared: (looks_at & theirs).count_ones(),
            first: table.vertices_of(next).start as u32,
            own: own(Some(next)),
            ..rest
        }
    }

    /// The symbol on a track after the step; `None` if it is kept unseen.
    #[inline]
    pub(super) fn left_behind(&self, track: usize) -> Option<f64> {
        (self.known >> track & 1 == 1).then(|| super::symbol(self.written, track))
    }

    /// How the head of a track moves.
    #[inline]
    pub(super) fn offset(&self, track: usize) -> i64 {
        i64::from(self.right >> track & 1) - i64::from(self.left >> track & 1)
    }

    /// The busy tracks, if these symbols are under settled heads.
    #[inline]
    pub(super) fn busy(&self, under: u32) -> u32 {
        let unlike = if faults::planted("unlike not looked for") { 0 } else { self.symbols ^ under };
        self.left | self.right | self.known & (self.written ^ under) | self.looks_at & unlike
    }
}

/// The most vertices whose actions are stored.
const MAX_ACTIONS: usize = 1 << 16;

/// The actions of all vertices if there are few enough to be stored; otherwise they are computed on demand.
pub(super) fn stored_actions(table: &VertexTable, slides: Option<&Slides>) -> Vec<Action> {
    let n = if table.n_vertices <= MAX_ACTIONS { table.n_vertices } else { 0 };
    (0..n).map(|vertex| Action::of(table, slides, vertex)).collect()
}
