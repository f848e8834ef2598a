//! The steps of all tapes together.
//!
//! A step only reads *busy* tapes: the head moves, a symbol is overwritten, or vertex and tape disagree. All other tapes are
//! *settled*: their residuals are known without reading them.

use super::{
    columns::{Action, Slides},
    symbol,
    tape::{Look, Tape},
};

/// One tape for every track, and the symbols of settled ones.
#[derive(Clone, Debug)]
pub(super) struct Tapes {
    pub(super) rows: Vec<Tape>,
    all: u32,
    /// Tracks whose head is on one cell that is -1 or 1, exactly: nothing changes there while head and symbol stay.
    settled: u32,
    /// The symbols under their heads.
    pub(super) under: u32,
}

/// The residuals of all tapes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Survey {
    /// The landscape's loss.
    pub(super) landscape: f64,
    /// The busy tracks.
    pub(super) busy: u32,
    /// The busy tracks that the vertex looks at and whose read residual is not zero.
    pub(super) pulling: u32,
    /// What the symbols add to the slope at the vertex itself.
    pub(super) pull: f64,
    /// No vertex has symbols that subtract more than this from its slope.
    pub(super) most: f64,
}

impl Tapes {
    pub(super) fn new(rows: Vec<Tape>) -> Self {
        let all = ((1_u64 << rows.len()) - 1) as u32;
        Self { rows, all, settled: 0, under: 0 }
    }

    /// Treats all tapes as busy.
    pub(super) fn unsettle(&mut self) {
        self.settled = 0;
    }

    /// The busy tracks.
    #[inline(always)]
    fn busy(&self, action: &Action) -> u32 {
        (!self.settled | action.busy(self.under)) & self.all
    }

    /// Reads the busy tapes.
    #[inline(always)]
    pub(super) fn survey<const ONE: bool>(&mut self, action: &Action, slides: &Slides) -> Survey {
        let busy = self.busy(action);
        // A vertex has symbol 0 where it does not look, so the read residual there is the symbol that will be read.
        let unseen = f64::from(n_of::<ONE>(self.all & !busy & !action.looks_at));
        let (mut writes, mut reads, mut moves) = (0.0, unseen, 0.0);
        let (mut pulling, mut pull, mut most) = (0, 0.0, slides.twice_read * unseen);
        for i in tracks::<ONE>(busy) {
            let tape = &mut self.rows[i];
            let look = tape.look::<false>(action.left_behind(i), action.offset(i));
            let Some(Look { residual, ahead, moved }) = look else { unreachable!("weights are no copies") };
            writes += residual * residual;
            moves += moved;
            let seen = action.looks_at >> i & 1 == 1;
            let now = if seen { symbol(action.symbols, i) } else { 0.0 };
            let residual = ahead - now;
            reads += residual * residual;
            tape.lean = -slides.twice_read * residual;
            most += tape.lean.abs();
            if seen && residual != 0.0 {
                pulling |= 1 << i;
                pull += tape.lean * now;
            }
        }
        let level = if action.next == Action::REST { slides.at_rest } else { 0.0 };
        let landscape =
            slides.offset + level + slides.write * writes + slides.read * reads + slides.shift * moves;
        Survey { landscape, busy, pulling, pull, most }
    }

    /// The same with saturated copies: the squares of all residuals, the symbols that will be read, and the busy tracks;
    /// `None` if a copy is not saturated.
    #[inline(always)]
    pub(super) fn survey_saturated<const ONE: bool>(&mut self, action: &Action) -> Option<(f64, u32, u32)> {
        let busy = self.busy(action);
        // A settled tape reads the same symbol again.
        let (mut squares, mut ahead) = (0.0, self.under);
        for i in tracks::<ONE>(busy) {
            let look = self.rows[i].look::<true>(action.left_behind(i), action.offset(i))?;
            squares += look.residual * look.residual + look.moved;
            ahead = ahead & !(1 << i) | u32::from(look.ahead > 0.0) << i;
        }
        Some((squares, ahead, busy))
    }

    /// Makes the step of the busy tapes, with these rates of cells and heads.
    #[inline(always)]
    pub(super) fn step<const ONE: bool>(&mut self, busy: u32, (write, shift): (f64, f64)) {
        for i in tracks::<ONE>(busy) {
            let settled = self.rows[i].step(write, shift);
            self.note(i, settled);
        }
    }

    /// The same after [`survey_saturated`](Self::survey_saturated).
    #[inline(always)]
    pub(super) fn step_saturated<const ONE: bool>(&mut self, busy: u32, gain: f64) {
        for i in tracks::<ONE>(busy) {
            let settled = self.rows[i].step_saturated(gain);
            self.note(i, settled);
        }
    }

    /// Stores whether a tape is settled after a step, and its symbol.
    #[inline(always)]
    fn note(&mut self, track: usize, settled: Option<f64>) {
        let others = !(1 << track);
        let is_plus = settled.is_some_and(|symbol| symbol > 0.0);
        self.settled = self.settled & others | u32::from(settled.is_some()) << track;
        self.under = self.under & others | u32::from(is_plus) << track;
    }
}

/// The tracks of a mask, the lowest first. If the machine has only `ONE` track, there is no loop.
#[inline(always)]
pub(super) fn tracks<const ONE: bool>(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let track = if ONE { 0 } else { mask.trailing_zeros() as usize };
        mask = if ONE { 0 } else { mask & (mask - 1) };
        Some(track)
    })
}

/// Number of tracks of a mask. Faster than counting bits if there are few.
#[inline(always)]
pub(super) fn n_of<const ONE: bool>(mask: u32) -> u32 {
    tracks::<ONE>(mask).fold(0, |n, _| n + 1)
}
