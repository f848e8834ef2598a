//! Steps remembered for landscapes whose heads all move together: one head over cells of several symbols.

use luge_net::faults::planted;

use crate::{TrainError, sparse::Sparse};

/// A vertex and what its step writes and where it goes, in one word:
/// bits 0..8 the symbols written, 8..10 the way, 10 whether the table must be left, 11.. the vertex.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Action(u32);

const SPECIAL: u32 = 1 << 10;
const VERTEX: u32 = 11;
const UNFILLED: Action = Action(u32::MAX);
const LOW: Action = Action(SPECIAL);

/// The most vertices a table of remembered steps can name.
const MOST_VERTICES: usize = (1 << (32 - VERTEX)) - 1;
/// The most entries of a table.
const MOST_ENTRIES: usize = 1 << 22;
/// The most symbols of a cell.
pub(super) const MOST_TRACKS: usize = 8;

impl Action {
    fn new(vertex: usize, written: u32, offset: i64) -> Self {
        let way = match offset {
            0 => 0,
            1 => 1,
            _ => 2,
        };
        Self((vertex as u32) << VERTEX | way << 8 | written)
    }

    #[inline]
    pub(super) fn vertex(self) -> usize {
        (self.0 >> VERTEX) as usize
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
        let all = self.0 & 0xff | u32::from(right) << 8 | u32::from(left) << 16;
        (all >> (self.0 >> 5 & 24)) as u8
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

/// One entry per vertex and symbols to be read, filled by differentiating when it is first met.
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
    pub(super) fn new(n_vertices: usize, n_tracks: usize, low: f64) -> Option<Self> {
        let n_entries = n_vertices.checked_shl(n_tracks as u32)?;
        let fits = n_vertices <= MOST_VERTICES && n_entries <= MOST_ENTRIES && n_tracks <= MOST_TRACKS;
        fits.then(|| Self {
            n_tracks,
            entries: vec![UNFILLED; n_entries],
            actions: vec![UNFILLED; n_vertices],
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
    pub(super) fn index(&self, vertex: usize, ahead: u8) -> usize {
        vertex << self.n_tracks | ahead as usize
    }

    /// What the step at a vertex writes and where its head goes: the same whatever the head will find.
    pub(super) fn action(&mut self, probe: &mut Sparse<'_>, vertex: usize) -> Result<Action, TrainError> {
        if self.actions[vertex] == UNFILLED {
            let probed = super::legality::differentiate(probe, vertex, 0)?;
            let offset = if probed.left != 0 { -1 } else { i64::from(probed.right != 0) };
            self.actions[vertex] = Action::new(vertex, probed.written, offset);
        }
        Ok(self.actions[vertex])
    }

    /// The step at a vertex whose head will find `ahead`.
    pub(super) fn meet(
        &mut self,
        probe: &mut Sparse<'_>,
        vertex: usize,
        ahead: u8,
    ) -> Result<Found, TrainError> {
        let index = self.index(vertex, ahead);
        if self.entries[index] == UNFILLED {
            let probed = super::legality::differentiate(probe, vertex, u32::from(ahead))?;
            self.levels[index] = probed.landscape;
            let (low, high) = self.range.unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
            if probed.landscape <= self.low {
                self.entries[index] = LOW;
            } else {
                let mask = (1_usize << self.n_tracks) - 1;
                if probed.to & mask != ahead as usize {
                    let why = format!("the step at vertex {vertex} leads to other symbols than will be read");
                    return Err(TrainError::NotExact { why });
                }
                self.range = Some((low.min(probed.landscape), high.max(probed.landscape)));
                let to = if planted("another vertex remembered") { vertex } else { probed.to };
                self.entries[index] = self.action(probe, to)?;
            }
        }
        Ok(match self.entries[index] {
            entry if entry.is_special() => Found::Low,
            entry => Found::Step(entry),
        })
    }

    /// The landscape's loss at a vertex whose head will find `ahead`.
    pub(super) fn level(
        &mut self,
        probe: &mut Sparse<'_>,
        vertex: usize,
        ahead: u8,
    ) -> Result<f64, TrainError> {
        self.meet(probe, vertex, ahead)?;
        Ok(self.levels[self.index(vertex, ahead)])
    }
}

#[cfg(feature = "faults")]
impl Memory {
    /// Spoils the remembered step at a vertex.
    pub(super) fn spoil(
        &mut self,
        probe: &mut Sparse<'_>,
        vertex: usize,
        ahead: u8,
        fault: super::Fault,
    ) -> Result<bool, TrainError> {
        let index = self.index(vertex, ahead);
        let entry = self.entries[index];
        if entry.is_special() {
            return Ok(false);
        }
        match fault {
            super::Fault::WrongEntry => {
                let wrong = (entry.vertex() + (1 << self.n_tracks)) % self.actions.len();
                self.entries[index] = self.action(probe, wrong)?;
                Ok(self.entries[index] != entry)
            }
            super::Fault::SkippedWrite => {
                let action = self.action(probe, vertex)?;
                let mask = (1_u32 << self.n_tracks) - 1;
                let skipped = Action(action.0 & !0xff | vertex as u32 & mask);
                let spoilt = |known: &mut Action| {
                    if *known == action {
                        *known = skipped;
                    }
                };
                self.entries.iter_mut().chain(&mut self.actions).for_each(spoilt);
                Ok(skipped != action)
            }
            super::Fault::StaleRead => {
                let mask = (1_usize << self.n_tracks) - 1;
                let stale = (vertex & mask) as u8;
                self.meet(probe, vertex, stale)?;
                let wrong = self.entries[self.index(vertex, stale)];
                self.entries[index] = wrong;
                Ok(wrong != entry)
            }
        }
    }
}
