//! The conditional gradient step over all vertices, without looking at all of them.
//!
//! At a vertex v the slope towards w is a sum over symbols, and beside that depends on w's block alone: a gate has one row,
//! and a row leads to one block. So the lowest slope of a block is found track by track.

use luge_net::{Form, VertexTable, faults::planted};

/// The slopes at one vertex: for each track that matters, how much lower the slope is where its symbol flips than where it stays.
pub(super) struct Slopes<'t> {
    pub(super) table: &'t VertexTable,
    pub(super) vertex: usize,
    /// The block its row leads to; `None` at rest.
    pub(super) next: Option<usize>,
    /// Tracks whose read residual is not zero, with u = 2 read (1 - ahead t): the slope is u where the symbol stays, -u where it flips.
    pub(super) pulls: &'t [(usize, f64)],
}

/// The weights of slides and levels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights {
    at_rest: f64,
    edge: f64,
    symbol: f64,
    self_edge: f64,
    edge_units: bool,
}

impl Weights {
    pub(super) fn new(form: &Form) -> Option<Self> {
        match *form {
            Form::Slides { at_rest, edge, symbol, self_edge, edge_units, .. } => {
                Some(Self { at_rest, edge, symbol, self_edge, edge_units })
            }
            Form::Targets { .. } => None,
        }
    }
}

/// The lowest slope among some vertices, and the first vertex that has it.
type Lowest = (f64, usize);

impl Slopes<'_> {
    /// The vertex with the lowest slope if it lies strictly below the one we are at, else that one: stay.
    #[inline]
    pub(super) fn best(&self, weights: &Weights) -> usize {
        let block = self.table.block(self.vertex);
        let pull: f64 = self.pulls.iter().map(|&(_, u)| u).sum();
        let own = match self.next {
            None => 4.0 * weights.at_rest,
            // An edge of its own unit never leads back to where it comes from.
            Some(next) if next == block && !weights.edge_units && !planted("no self-edges") => {
                4.0 * weights.self_edge
            }
            Some(_) => 0.0,
        };
        let here = pull + own;
        let mut best = (here, self.vertex);
        if let Some(next) = self.next {
            let candidate = self.along(next, 4.0 * weights.edge, 4.0 * weights.symbol);
            best = lower(best, candidate, here);
        }
        let most = self.pulls.iter().map(|&(_, u)| u.abs()).sum::<f64>();
        if -most <= best.0 && !planted("no slopes elsewhere") {
            best = self.elsewhere(best, here);
        }
        if weights.edge_units
            && !planted("no slopes backwards")
            && 2.0 * (weights.edge + self.n_tracks() * weights.symbol) - most <= best.0
        {
            best = self.backwards(weights, best, here);
        }
        best.1
    }

    fn n_tracks(&self) -> f64 {
        self.table.n_tracks() as f64
    }

    /// The lowest slope in a block to which an edge leads: `edge`, and `symbol` more for every symbol that stays.
    fn along(&self, block: usize, edge: f64, symbol: f64) -> Lowest {
        let mut symbols = self.table.symbols(self.vertex);
        let settled = self.table.n_tracks() - self.pulls.len();
        let mut slope = edge + settled as f64 * symbol;
        for &(i, u) in self.pulls {
            let (stays, flips) = (symbol + u, -u);
            let is_plus = symbols >> i & 1 == 1;
            // Of two equal slopes the first vertex counts: the one with -1.
            let first = is_plus != planted("last of equal slopes");
            if flips < stays || (flips <= stays && first) {
                symbols ^= 1 << i;
            }
            slope += stays.min(flips);
        }
        (slope, self.table.vertex(block, symbols))
    }

    /// The lowest slope in the blocks to which no edge leads.
    fn elsewhere(&self, best: Lowest, here: f64) -> Lowest {
        let mut symbols = 0;
        let own = self.table.symbols(self.vertex);
        let mut slope = 0.0;
        for &(i, u) in self.pulls {
            let plus = if own >> i & 1 == 1 { u < 0.0 } else { u > 0.0 };
            symbols |= u32::from(plus) << i;
            slope -= u.abs();
        }
        let vertices = (0..self.table.n_blocks()).filter(|&b| Some(b) != self.next);
        let mut vertices =
            vertices.map(|block| self.table.vertex(block, symbols)).filter(|&v| v != self.vertex);
        vertices.next().map_or(best, |vertex| lower(best, (slope, vertex), here))
    }

    /// The lowest slope towards vertices whose edges lead here: such an edge slopes half as much at its far end.
    fn backwards(&self, weights: &Weights, mut best: Lowest, here: f64) -> Lowest {
        let (block, own) = (self.table.block(self.vertex), self.table.symbols(self.vertex));
        for (from, depends_on, values, column) in self.table.all_columns() {
            if column.is_none_or(|column| column.next as usize != block) {
                continue;
            }
            let mut symbols = values;
            let mut slope = 2.0 * weights.edge;
            for i in 0..self.table.n_tracks() {
                let u = self.pulls.iter().find(|&&(at, _)| at == i).map_or(0.0, |&(_, u)| u);
                let (stays, flips) = (2.0 * weights.symbol + u, -u);
                let is_plus = own >> i & 1 == 1;
                let flip = if depends_on >> i & 1 == 1 {
                    (values ^ own) >> i & 1 == 1
                } else {
                    flips < stays || (flips <= stays && is_plus)
                };
                symbols |= u32::from(is_plus != flip) << i;
                slope += if flip { flips } else { stays };
            }
            best = lower(best, (slope, self.table.vertex(from, symbols)), here);
        }
        best
    }
}

/// The lower of two slopes, the first vertex of two equal ones; whatever does not lie below `here` does not count.
fn lower(best: Lowest, candidate: Lowest, here: f64) -> Lowest {
    let counts = candidate.0 < here || planted("ties move in sparse") && candidate.0 <= here;
    let better = candidate.0 < best.0 || (candidate.0 <= best.0 && candidate.1 < best.1);
    if counts && better { candidate } else { best }
}
