//! The network's own numbers, laid out as the steps need them.

use luge_net::{Form, SparseLayers, VertexTable, faults};

use super::slides::Weights;

/// The numbers of [`Form::Slides`], and what follows from them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slides {
    pub(super) offset: f64,
    pub(super) at_rest: f64,
    pub(super) write: f64,
    pub(super) read: f64,
    pub(super) shift: f64,
    /// Rates times twice the weights of the write and of the move residual.
    pub(super) rates: (f64, f64),
    pub(super) weights: Weights,
}

impl Slides {
    pub(super) fn new(form: &Form) -> Option<Self> {
        let Form::Slides { offset, at_rest, write, read, shift, cell_rate, head_rate, .. } = *form else {
            return None;
        };
        let rates = (
            2.0 * write * faults::number("cell rate", cell_rate, cell_rate * 0.999),
            2.0 * shift * faults::number("head rate", head_rate, head_rate * 0.999),
        );
        let at_rest = faults::number("level of rest", at_rest, at_rest / 2.0);
        let read = faults::number("read weight", read, read / 2.0);
        let offset = faults::number("offset", offset, offset * (1.0 + 1e-9));
        Some(Self { offset, at_rest, write, read, shift, rates, weights: Weights::new(form)? })
    }

    /// All of `n` symbols.
    #[inline]
    pub(super) fn all(&self, n: usize) -> u32 {
        (1 << n) - 1
    }
}

/// A vertex and its column, spread out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Action {
    pub(super) next: u32,
    /// The tracks it looks at, and its symbols there.
    pub(super) looks_at: u32,
    pub(super) symbols: u32,
    /// The tracks on which it is known what is left behind, and the symbols left there. The others are kept unseen.
    pub(super) known: u32,
    pub(super) written: u32,
    pub(super) left: u32,
    pub(super) right: u32,
}

/// The most vertices whose columns are kept spread out.
const MOST_ACTIONS: usize = 1 << 16;

impl Action {
    /// No block follows.
    pub(super) const REST: u32 = u32::MAX;

    pub(super) fn of(table: &VertexTable, vertex: usize) -> Self {
        let symbols = table.symbols(vertex);
        let looks_at = table.looks_at(table.block(vertex));
        let rest = Self {
            next: Self::REST,
            looks_at,
            symbols,
            known: looks_at,
            written: symbols,
            left: 0,
            right: 0,
        };
        let Some(c) = table.column(vertex) else { return rest };
        let (known, written) = (looks_at | c.put, c.written(symbols));
        Self { next: c.next, known, written, left: c.left, right: c.right, ..rest }
    }

    /// What is left on a track; `None` where it is kept unseen.
    #[inline]
    pub(super) fn left_behind(&self, track: usize) -> Option<f64> {
        (self.known >> track & 1 == 1).then(|| super::symbol(self.written, track))
    }

    /// How the head of a track moves.
    #[inline]
    pub(super) fn offset(&self, track: usize) -> i64 {
        i64::from(self.right >> track & 1) - i64::from(self.left >> track & 1)
    }

    /// The tracks on which something happens where these symbols lie under heads that are settled.
    #[inline]
    pub(super) fn busy(&self, under: u32) -> u32 {
        let unlike = if faults::planted("unlike not looked for") { 0 } else { self.symbols ^ under };
        self.left | self.right | self.known & (self.written ^ under) | self.looks_at & unlike
    }
}

pub(super) fn actions(layers: &SparseLayers) -> Vec<Action> {
    let table = &layers.table;
    let few = table.n_vertices() <= MOST_ACTIONS;
    if few { (0..table.n_vertices()).map(|v| Action::of(table, v)).collect() } else { Vec::new() }
}
