//! The Frank-Wolfe step over all vertices, without enumerating them.
//!
//! At a vertex v the slope towards w is a sum over w's symbols plus a term that depends only on w's block, because all
//! edges from v lead to one block. So the lowest slope of a block is found track by track.

use luge_net::{VertexTable, extract, faults::planted};

use super::{
    columns::{Action, Slides},
    symbol,
    tapes::{Survey, Tapes, n_of, tracks},
};

/// The slopes at one vertex.
#[derive(Clone, Copy)]
pub(super) struct Slopes<'t> {
    pub(super) table: &'t VertexTable,
    pub(super) slides: &'t Slides,
    pub(super) vertex: usize,
    pub(super) action: &'t Action,
    pub(super) tapes: &'t Tapes,
    pub(super) seen: Survey,
}

impl Slides {
    /// The weight of an edge along which `n` symbols stay.
    fn edge_along(&self, n: u32) -> f64 {
        self.edge + f64::from(n) * self.symbol
    }

    /// What the level of a vertex, or its edge to itself, adds to the slope there.
    pub(super) fn own(&self, block: usize, looks_at: u32, next: Option<usize>) -> f64 {
        match next {
            None => 4.0 * self.at_rest,
            // Where edges are units there is no edge from a vertex to itself.
            Some(next) if next == block && !self.edge_units && !planted("no self-edges") => {
                4.0 * self.edge_along(looks_at.count_ones())
            }
            Some(_) => 0.0,
        }
    }

    /// The lowest slope of a vertex to which no edge leads, apart from what symbols add. Where edges are units, an edge that
    /// leads here slopes backwards as well.
    pub(super) fn floor(&self, looks_at: u32) -> f64 {
        if self.edge_units { (2.0 * self.edge_along(looks_at.count_ones())).min(0.0) } else { 0.0 }
    }
}

/// The lowest slope among some vertices, and the first vertex that has it.
type Lowest = (f64, usize);

impl Slopes<'_> {
    /// The vertex with the lowest slope, if that is strictly below the slope at the current vertex; else the current vertex.
    #[inline(always)]
    pub(super) fn best<const ONE: bool>(at: impl Fn() -> Self) -> usize {
        at().along_edges::<ONE>().unwrap_or_else(|| at().among_all())
    }

    /// The best vertex, if no vertex to which no edge leads can have as low a slope.
    #[inline(always)]
    fn along_edges<const ONE: bool>(self) -> Option<usize> {
        let here = self.seen.pull + self.action.own;
        let mut best = (here, self.vertex);
        if self.action.next != Action::REST {
            best = lower(best, self.along::<ONE>(), here);
        }
        (self.action.floor - self.seen.most > best.0).then_some(best.1)
    }

    /// The best vertex of all.
    #[inline(never)]
    fn among_all(self) -> usize {
        let here = self.seen.pull + self.action.own;
        let mut best = (here, self.vertex);
        if self.action.next != Action::REST {
            best = lower(best, self.along::<false>(), here);
        }
        if !planted("no slopes elsewhere") {
            best = self.elsewhere(best, here);
        }
        if self.slides.edge_units && !planted("no slopes backwards") {
            best = self.backwards(best, here);
        }
        best.1
    }

    /// The lowest slope in the next block: 4 times the weight of an edge, and what symbols add.
    #[inline(always)]
    fn along<const ONE: bool>(self) -> Lowest {
        let Action { theirs, looks_at, n_shared, first, mut symbols, .. } = *self.action;
        let pulling = self.seen.pulling & theirs;
        let (edge, symbol) = (4.0 * self.slides.edge, 4.0 * self.slides.symbol);
        let mut slope = edge + f64::from(n_shared - n_of::<ONE>(pulling)) * symbol;
        for i in tracks::<ONE>(pulling) {
            // A symbol that stays adds to the weight of the edge.
            let (minus, plus) = self.sides(i, self.tapes.rows[i].lean, symbol);
            let is_plus = plus_counts(plus, minus);
            symbols = symbols & !(1 << i) | u32::from(is_plus) << i;
            slope += if is_plus { plus } else { minus };
        }
        let unseen = theirs & !looks_at;
        if unseen != 0 {
            self.follow::<ONE>(unseen, &mut symbols, &mut slope);
        }
        (slope, (first + extract(symbols, theirs)) as usize)
    }

    /// What the symbols -1 and +1 add on a track; the vertex's own symbol adds `stays` besides.
    #[inline(always)]
    fn sides(self, track: usize, lean: f64, stays: f64) -> (f64, f64) {
        match self.action.symbols >> track & 1 {
            1 => (-lean, stays + lean),
            _ => (stays - lean, lean),
        }
    }

    /// On tracks that the vertex does not look at, the symbol that will be read has the lowest slope.
    #[inline(always)]
    fn follow<const ONE: bool>(self, unseen: u32, symbols: &mut u32, slope: &mut f64) {
        let settled = unseen & !self.seen.busy;
        *symbols |= self.tapes.under & settled;
        *slope -= f64::from(n_of::<ONE>(settled)) * self.slides.twice_read;
        for i in tracks::<ONE>(unseen & self.seen.busy) {
            let lean = self.tapes.rows[i].lean;
            *symbols |= u32::from(lean < 0.0) << i;
            *slope -= lean.abs();
        }
    }

    /// The lowest slope in the blocks to which no edge leads.
    fn elsewhere(self, mut best: Lowest, here: f64) -> Lowest {
        let next = self.action.next as usize;
        for block in (0..self.table.n_blocks()).filter(|&block| block != next) {
            let theirs = self.table.looks_at(block);
            let (mut symbols, mut slope) = (0, 0.0);
            for i in tracks::<false>(self.seen.pulling & theirs) {
                let lean = self.tapes.rows[i].lean;
                symbols |= u32::from(lean < 0.0) << i;
                slope -= lean.abs();
            }
            self.follow::<false>(theirs & !self.action.looks_at, &mut symbols, &mut slope);
            let vertex = self.table.vertex(block, symbols);
            if vertex != self.vertex {
                best = lower(best, (slope, vertex), here);
            }
        }
        best
    }

    /// The lowest slope towards vertices whose edges lead here: an edge slopes half as much at its far end.
    fn backwards(self, mut best: Lowest, here: f64) -> Lowest {
        let slides = self.slides;
        let block = self.table.block(self.vertex);
        for (from, depends_on, values, column) in self.table.all_columns() {
            if column.is_none_or(|column| column.next as usize != block) {
                continue;
            }
            let (mut symbols, mut slope) = (0, 2.0 * slides.edge);
            for i in tracks::<false>(self.table.looks_at(from)) {
                let stays = if self.looks_at(i) { 2.0 * slides.symbol } else { 0.0 };
                let (minus, plus) = self.sides(i, self.lean(i), stays);
                let fixed = (depends_on >> i & 1 == 1).then_some(values >> i & 1 == 1);
                let is_plus = fixed.unwrap_or(plus < minus);
                symbols |= u32::from(is_plus) << i;
                slope += if is_plus { plus } else { minus };
            }
            best = lower(best, (slope, self.table.vertex(from, symbols)), here);
        }
        best
    }

    fn looks_at(self, track: usize) -> bool {
        self.action.looks_at >> track & 1 == 1
    }

    /// The lean of a track, surveyed or settled; under a settled head is the symbol of the vertex, if it looks there.
    fn lean(self, track: usize) -> f64 {
        if self.seen.busy >> track & 1 == 1 {
            self.tapes.rows[track].lean
        } else if self.looks_at(track) {
            0.0
        } else {
            -self.slides.twice_read * symbol(self.tapes.under, track)
        }
    }
}

/// Whether +1 has the lower slope; of equal slopes that of -1 counts, whose vertex comes first.
#[inline(always)]
fn plus_counts(plus: f64, minus: f64) -> bool {
    plus < minus || planted("last of equal slopes") && plus <= minus
}

/// The lower of two slopes, or the first vertex if they are equal; a candidate that is not below `here` does not count.
#[inline(always)]
fn lower(best: Lowest, candidate: Lowest, here: f64) -> Lowest {
    let counts = candidate.0 < here || planted("ties move in sparse") && candidate.0 <= here;
    let better = candidate.0 < best.0 || (candidate.0 <= best.0 && candidate.1 < best.1);
    if counts && better { candidate } else { best }
}

#[cfg(test)]
mod tests;
