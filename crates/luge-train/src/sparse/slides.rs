//! The conditional gradient step over all vertices, without looking at all of them.
//!
//! At a vertex v the slope towards w is a sum over symbols, and beside that depends on w's block alone: a gate has one row,
//! and a row leads to one block. So the lowest slope of a block is found track by track.

use luge_net::{Form, VertexTable, faults::planted, tracks};

/// The slopes at one vertex: for each track that matters, how much lower the slope is where its symbol flips than where it stays.
pub(super) struct Slopes<'t> {
    pub(super) table: &'t VertexTable,
    pub(super) vertex: usize,
    /// The block its row leads to; `None` at rest.
    pub(super) next: Option<usize>,
    /// Tracks that the vertex looks at and whose read residual is not zero, with u = 2 read (1 - ahead t): the slope is u where the
    /// symbol stays, -u where it flips.
    pub(super) pulls: &'t [(usize, f64)],
    /// What every track will read. Where the vertex does not look, a symbol t' adds -2 read ahead t' to the slope.
    pub(super) ahead: &'t [f64],
    /// The weight of the read residual.
    pub(super) read: f64,
}

/// The weights of slides and levels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights {
    at_rest: f64,
    edge: f64,
    symbol: f64,
    edge_units: bool,
}

impl Weights {
    pub(super) fn new(form: &Form) -> Option<Self> {
        match *form {
            Form::Slides { at_rest, edge, symbol, edge_units, .. } => {
                Some(Self { at_rest, edge, symbol, edge_units })
            }
            Form::Targets { .. } => None,
        }
    }

    /// What an edge weighs along which `n` symbols stay.
    fn edge_along(&self, n: u32) -> f64 {
        self.edge + f64::from(n) * self.symbol
    }
}

/// The lowest slope among some vertices, and the first vertex that has it.
type Lowest = (f64, usize);

impl Slopes<'_> {
    /// The vertex with the lowest slope if it lies strictly below the one we are at, else that one: stay.
    #[inline]
    pub(super) fn best(&self, weights: &Weights) -> usize {
        let block = self.table.block(self.vertex);
        let looks_at = self.table.looks_at(block);
        let pull: f64 = self.pulls.iter().map(|&(_, u)| u).sum();
        let own = match self.next {
            None => 4.0 * weights.at_rest,
            // An edge of its own unit never leads back to where it comes from.
            Some(next) if next == block && !weights.edge_units && !planted("no self-edges") => {
                4.0 * weights.edge_along(looks_at.count_ones())
            }
            Some(_) => 0.0,
        };
        let here = pull + own;
        let mut best = (here, self.vertex);
        if let Some(next) = self.next {
            let candidate = self.along(looks_at, next, 4.0 * weights.edge, 4.0 * weights.symbol);
            best = lower(best, candidate, here);
        }
        let unseen = (0..self.ahead.len()).filter(|i| looks_at >> i & 1 == 0);
        let most = self.pulls.iter().map(|&(_, u)| u.abs()).sum::<f64>()
            + unseen.map(|i| self.force(i).abs()).sum::<f64>();
        if -most <= best.0 && !planted("no slopes elsewhere") {
            best = self.elsewhere(looks_at, best, here);
        }
        if weights.edge_units
            && !planted("no slopes backwards")
            && 2.0 * weights.edge_along(looks_at.count_ones()) - most <= best.0
        {
            best = self.backwards(looks_at, weights, best, here);
        }
        best.1
    }

    /// How strongly a track that the vertex does not look at pulls towards +1.
    #[inline]
    fn force(&self, track: usize) -> f64 {
        2.0 * self.read * self.ahead[track]
    }

    /// The lowest slope in a block to which an edge leads: `edge`, and `symbol` more for every symbol that stays.
    fn along(&self, looks_at: u32, block: usize, edge: f64, symbol: f64) -> Lowest {
        let theirs = self.table.looks_at(block);
        let mut symbols = self.table.symbols(self.vertex);
        let pulls = || self.pulls.iter().filter(|&&(i, _)| theirs >> i & 1 == 1);
        let settled = (looks_at & theirs).count_ones() as usize - pulls().count();
        let mut slope = edge + settled as f64 * symbol;
        for &(i, u) in pulls() {
            let (stays, flips) = (symbol + u, -u);
            let is_plus = symbols >> i & 1 == 1;
            // Of two equal slopes the first vertex counts: the one with -1.
            let first = is_plus != planted("last of equal slopes");
            if flips < stays || (flips <= stays && first) {
                symbols ^= 1 << i;
            }
            slope += stays.min(flips);
        }
        self.follow(theirs & !looks_at, &mut symbols, &mut slope);
        (slope, self.table.vertex(block, symbols))
    }

    /// On tracks that the vertex does not look at, the symbol that will be read.
    #[inline]
    fn follow(&self, unseen: u32, symbols: &mut u32, slope: &mut f64) {
        for i in tracks(unseen) {
            let force = self.force(i);
            *symbols |= u32::from(force > 0.0) << i;
            *slope -= force.abs();
        }
    }

    /// The lowest slope in the blocks to which no edge leads.
    fn elsewhere(&self, looks_at: u32, mut best: Lowest, here: f64) -> Lowest {
        let own = self.table.symbols(self.vertex);
        for block in (0..self.table.n_blocks()).filter(|&block| Some(block) != self.next) {
            let theirs = self.table.looks_at(block);
            let (mut symbols, mut slope) = (0, 0.0);
            for &(i, u) in self.pulls.iter().filter(|&&(i, _)| theirs >> i & 1 == 1) {
                let plus = if own >> i & 1 == 1 { u < 0.0 } else { u > 0.0 };
                symbols |= u32::from(plus) << i;
                slope -= u.abs();
            }
            self.follow(theirs & !looks_at, &mut symbols, &mut slope);
            let vertex = self.table.vertex(block, symbols);
            if vertex != self.vertex {
                best = lower(best, (slope, vertex), here);
            }
        }
        best
    }

    /// The lowest slope towards vertices whose edges lead here: such an edge slopes half as much at its far end.
    fn backwards(&self, looks_at: u32, weights: &Weights, mut best: Lowest, here: f64) -> Lowest {
        let (block, own) = (self.table.block(self.vertex), self.table.symbols(self.vertex));
        for (from, depends_on, values, column) in self.table.all_columns() {
            if column.is_none_or(|column| column.next as usize != block) {
                continue;
            }
            let (mut symbols, mut slope) = (0, 2.0 * weights.edge);
            for i in tracks(self.table.looks_at(from)) {
                let (minus, plus) = if looks_at >> i & 1 == 1 {
                    let u = self.pulls.iter().find(|&&(at, _)| at == i).map_or(0.0, |&(_, u)| u);
                    let (stays, flips) = (2.0 * weights.symbol + u, -u);
                    if own >> i & 1 == 1 { (flips, stays) } else { (stays, flips) }
                } else {
                    (self.force(i), -self.force(i))
                };
                let fixed = (depends_on >> i & 1 == 1).then_some(values >> i & 1 == 1);
                let is_plus = fixed.unwrap_or(plus < minus);
                symbols |= u32::from(is_plus) << i;
                slope += if is_plus { plus } else { minus };
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
