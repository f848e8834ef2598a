//! Stored steps for landscapes whose heads all move together: one head over cells of several symbols.

use luge_net::{VertexTable, faults::planted};

use crate::{
    TrainError,
    sparse::{Probed, Sparse},
};

/// A situation, which is a block and all the symbols under the head, whether looked at or not; and what its step writes and
/// where it goes. In one word: bits 0..8 the symbols written, 8..10 the way, 10 whether the table must be left, 11..32 the
/// situation, 32.. its vertex.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Action(u64);

const SPECIAL: u64 = 1 << 10;
const SITUATION: u32 = 11;
const VERTEX: u32 = 32;
const UNFILLED: Action = Action(u64::MAX);
const LOW: Action = Action(SPECIAL);

/// The most situations a table of remembered steps can name.
const MAX_SITUATIONS: usize = (1 << (VERTEX - SITUATION)) - 1;
/// The most entries of a table.
const MAX_ENTRIES: usize = 1 << 22;
/// The most symbols of a cell.
pub(super) const MAX_TRACKS: usize = 8;

impl Action {
    fn new(situation: usize, vertex: usize, written: u32, offset: i64) -> Self {
        let way = match offset {
            0 => 0,
            1 => 1,
            _ => 2,
        };
        Self((vertex as u64) << VERTEX | (situation as u64) << SITUATION | way << 8 | u64::from(written))
    }

    #[inline]
    pub(super) fn vertex(self) -> usize {
        (self.0 >> VERTEX) as usize
    }

    #[inline]
    pub(super) fn situation(self) -> usize {
        (self.0 as u32 >> SITUATION) as usize
    }

    #[inline]
    pub(super) fn written(self) -> u8 {
        self.0 as u8
    }

    #[inline]
    pub(super) fn offset(self) -> isize {
        let way = (self.0 >> 8 & 3) as isize;
        (way & 1) - (way >> 1)
    }

    /// What the head will find: the written cell itself, the one to the right, or the one to the left.
    #[inline]
    pub(super) fn ahead(self, left: u8, right: u8) -> u8 {
        let word = self.0 as u32;
        let all = word & 0xff | u32::from(right) << 8 | u32::from(left) << 16;
        (all >> (word >> 5 & 24)) as u8
    }

    #[inline]
    pub(super) fn is_special(self) -> bool {
        self.0 & SPECIAL != 0
    }
}

/// What one more step found.
pub(super) enum Found {
    /// A remembered step.
    Step(Action),
    /// The landscape's loss lies below the level of running: look at it closely.
    Low,
}

/// One entry per situation and symbols to be read, filled by differentiating when it is first met.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    n_tracks: usize,
    entries: Vec<Action>,
    actions: Vec<Action>,
    /// The landscape's loss of every entry that was met.
    levels: Vec<f64>,
    /// Levels at or below this one are looked at closely.
    pub(super) low: f64,
    /// The lowest and highest landscape loss of all entries that were met.
    pub(super) range: Option<(f64, f64)>,
}

impl Memory {
    /// `None` where the table would be too large.
    pub(super) fn new(table: &VertexTable, low: f64) -> Option<Self> {
        let n_tracks = table.n_tracks();
        let n_situations = table.n_blocks().checked_shl(n_tracks as u32)?;
        let n_entries = n_situations.checked_shl(n_tracks as u32)?;
        let fits = n_situations <= MAX_SITUATIONS && n_entries <= MAX_ENTRIES && n_tracks <= MAX_TRACKS;
        fits.then(|| Self {
            n_tracks,
            entries: vec![UNFILLED; n_entries],
            actions: vec![UNFILLED; n_situations],
            levels: vec![f64::NAN; n_entries],
            low,
            range: None,
        })
    }

    pub(super) fn n_tracks(&self) -> usize {
        self.n_tracks
    }

    pub(super) fn entries(&self) -> &[Action] {
        &self.entries
    }

    #[inline]
    pub(super) fn index(&self, situation: usize, ahead: u8) -> usize {
        situation << self.n_tracks | ahead as usize
    }

    /// The situation of a block and all symbols under the head.
    pub(super) fn situation(&self, block: usize, symbols: u32) -> usize {
        block << self.n_tracks | symbols as usize
    }

    /// The block of a situation, and all symbols under the head.
    pub(super) fn block_and_symbols(&self, situation: usize) -> (usize, u32) {
        (situation >> self.n_tracks, (situation & ((1 << self.n_tracks) - 1)) as u32)
    }

    /// What the step in a situation writes and where its head goes: the same whatever the head will find.
    pub(super) fn action(&mut self, probe: &mut Sparse<'_>, situation: usize) -> Result<Action, TrainError> {
        if self.actions[situation] == UNFILLED {
            let (vertex, probed) = self.differentiate(probe, situation, 0)?;
            let offset = if probed.left != 0 { -1 } else { i64::from(probed.right != 0) };
            self.actions[situation] = Action::new(situation, vertex, probed.written, offset);
        }
        Ok(self.actions[situation])
    }

    fn differentiate(
        &self,
        probe: &mut Sparse<'_>,
        situation: usize,
        ahead: u8,
    ) -> Result<(usize, Probed), TrainError> {
        let (block, here) = self.block_and_symbols(situation);
        let vertex = probe.layers().table.vertex(block, here);
        Ok((vertex, super::legality::differentiate(probe, vertex, here, u32::from(ahead))?))
    }

    /// The step in a situation whose head will find `ahead`.
    pub(super) fn meet(
        &mut self,
        probe: &mut Sparse<'_>,
        situation: usize,
        ahead: u8,
    ) -> Result<Found, TrainError> {
        let index = self.index(situation, ahead);
        if self.entries[index] == UNFILLED {
            let (vertex, probed) = self.differentiate(probe, situation, ahead)?;
            self.levels[index] = probed.landscape;
            let (low, high) = self.range.unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
            if probed.landscape <= self.low {
                self.entries[index] = LOW;
            } else {
                let table = &probe.layers().table;
                let next = table.block(probed.to);
                if probed.to != table.vertex(next, u32::from(ahead)) {
                    let why = format!("the step at vertex {vertex} leads to other symbols than will be read");
                    return Err(TrainError::NotExact { why });
                }
                self.range = Some((low.min(probed.landscape), high.max(probed.landscape)));
                let next = self.situation(next, u32::from(ahead));
                let to = if planted("another vertex remembered") { situation } else { next };
                self.entries[index] = self.action(probe, to)?;
            }
        }
        Ok(match self.entries[index] {
            entry if entry.is_special() => Found::Low,
            entry => Found::Step(entry),
        })
    }

    /// The landscape's loss in a situation whose head will find `ahead`.
    pub(super) fn level(
        &mut self,
        probe: &mut Sparse<'_>,
        situation: usize,
        ahead: u8,
    ) -> Result<f64, TrainError> {
        self.meet(probe, situation, ahead)?;
        Ok(self.levels[self.index(situation, ahead)])
    }
}

#[cfg(feature = "faults")]
impl Memory {
    /// Spoils the remembered step in a situation.
    pub(super) fn spoil(
        &mut self,
        probe: &mut Sparse<'_>,
        situation: usize,
        ahead: u8,
        fault: super::Fault,
    ) -> Result<bool, TrainError> {
        let index = self.index(situation, ahead);
        let entry = self.entries[index];
        if entry.is_special() {
            return Ok(false);
        }
        match fault {
            super::Fault::WrongEntry => {
                let wrong = (entry.situation() + (1 << self.n_tracks)) % self.actions.len();
                self.entries[index] = self.action(probe, wrong)?;
                Ok(self.entries[index] != entry)
            }
            super::Fault::SkippedWrite => {
                let action = self.action(probe, situation)?;
                let (_, symbols) = self.block_and_symbols(situation);
                let skipped = Action(action.0 & !0xff | u64::from(symbols));
                let spoilt = |known: &mut Action| {
                    if *known == action {
                        *known = skipped;
                    }
                };
                self.entries.iter_mut().chain(&mut self.actions).for_each(spoilt);
                Ok(skipped != action)
            }
            super::Fault::StaleRead => {
                let stale = self.block_and_symbols(situation).1 as u8;
                self.meet(probe, situation, stale)?;
                let wrong = self.entries[self.index(situation, stale)];
                self.entries[index] = wrong;
                Ok(wrong != entry)
            }
        }
    }
}
