//! One head over bytes, one stored step at a time.

use super::{
    CarriedLosses,
    memory::{Found, Memory},
};
use crate::{
    StepDelta, TrainError,
    room::{room, widen},
    sparse::Sparse,
    visit,
};

/// A tape of cells with all their symbols in one byte, and a head on it.
#[derive(Clone, Debug)]
pub(super) struct SingleHead {
    /// The block, and all symbols under the head.
    pub(super) situation: usize,
    /// The digest of all vertices visited.
    pub(super) path: u64,
    /// The cell of the first byte.
    first: i64,
    cells: Vec<u8>,
    at: usize,
}

/// Why a loop of remembered steps was left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LoopExit {
    /// All steps are made.
    Done,
    /// The loss is low here: look at it closely.
    Low,
}

impl SingleHead {
    pub(super) fn new((situation, path): (usize, u64), first: i64, cells: Vec<u8>, head: i64) -> Self {
        let mut one = Self { situation, path, first, cells, at: 0 };
        one.hold(head);
        one.at = (head - one.first) as usize;
        one
    }

    pub(super) fn head(&self) -> i64 {
        self.first + self.at as i64
    }

    pub(super) fn cell(&self, cell: i64) -> u8 {
        usize::try_from(cell - self.first).ok().and_then(|i| self.cells.get(i)).copied().unwrap_or(0)
    }

    pub(super) fn cells(&self) -> (i64, &[u8]) {
        (self.first, &self.cells)
    }

    pub(super) fn n_bytes(&self) -> usize {
        self.cells.len()
    }

    /// Makes sure that a cell and its neighbours are kept.
    fn hold(&mut self, cell: i64) {
        let grown = room(self.first, self.cells.len(), cell - 1, cell + 1);
        widen(&mut self.cells, grown, 0);
        self.first -= grown.0 as i64;
        self.at += grown.0;
    }

    /// Makes up to `remaining` remembered steps, and counts them down.
    pub(super) fn run(
        &mut self,
        memory: &mut Memory,
        probe: &mut Sparse<'_>,
        remaining: &mut u64,
    ) -> Result<LoopExit, TrainError> {
        while *remaining > 0 {
            self.hold(self.head());
            self.run_cached(memory, probe, remaining)?;
            if *remaining == 0 {
                break;
            }
            let action = memory.action(probe, self.situation)?;
            self.hold(self.head());
            let ahead = action.ahead(self.cells[self.at - 1], self.cells[self.at + 1]);
            if let Found::Low = memory.meet(probe, self.situation, ahead)? {
                return Ok(LoopExit::Low);
            }
        }
        Ok(LoopExit::Done)
    }

    /// As [`run`](Self::run), noting what every step changes; `loss` is the network's for a loss of the landscape.
    pub(super) fn run_with_deltas(
        &mut self,
        memory: &mut Memory,
        probe: &mut Sparse<'_>,
        most: u64,
        changes: &mut Vec<StepDelta>,
        loss: &mut CarriedLosses,
    ) -> Result<LoopExit, TrainError> {
        let all = (1_u32 << memory.n_tracks()) - 1;
        for _ in 0..most {
            let here = memory.action(probe, self.situation)?;
            self.hold(self.head());
            let ahead = here.ahead(self.cells[self.at - 1], self.cells[self.at + 1]);
            let Found::Step(next) = memory.meet(probe, self.situation, ahead)? else {
                return Ok(LoopExit::Low);
            };
            let landscape = memory.level(probe, self.situation, ahead)?;
            let flipped = u32::from(here.written() ^ self.cells[self.at]);
            self.cells[self.at] = here.written();
            let offset = here.offset();
            self.at = self.at.wrapping_add_signed(offset);
            (self.situation, self.path) = (next.situation(), visit(self.path, next.vertex()));
            let (left, right) = (if offset < 0 { all } else { 0 }, if offset > 0 { all } else { 0 });
            let loss = loss.of(probe, landscape);
            changes.push(StepDelta { loss, vertex: next.vertex(), left, right, flipped });
        }
        Ok(LoopExit::Done)
    }

    /// The landscape's loss here.
    pub(super) fn level(&mut self, memory: &mut Memory, probe: &mut Sparse<'_>) -> Result<f64, TrainError> {
        let action = memory.action(probe, self.situation)?;
        self.hold(self.head());
        let ahead = action.ahead(self.cells[self.at - 1], self.cells[self.at + 1]);
        memory.level(probe, self.situation, ahead)
    }

    /// Remembered steps until there is one that is not, or the kept cells end.
    fn run_cached(
        &mut self,
        memory: &mut Memory,
        probe: &mut Sparse<'_>,
        remaining: &mut u64,
    ) -> Result<(), TrainError> {
        let mut here = memory.action(probe, self.situation)?;
        let n_tracks = memory.n_tracks();
        let entries = memory.entries();
        let cells = &mut self.cells[..];
        // The cell before the head's: the three cells that a step looks at begin there.
        let mut at = self.at.wrapping_sub(1);
        let (mut left, mut path, mut situation) = (*remaining, self.path, here.situation());
        while left > 0 {
            let Some([before, cell, after]) = cells.get_mut(at..).and_then(<[u8]>::first_chunk_mut) else {
                break;
            };
            let ahead = here.ahead(*before, *after);
            let Some(&entry) = entries.get(situation << n_tracks | ahead as usize) else { break };
            if entry.is_special() {
                break;
            }
            *cell = here.written();
            at = at.wrapping_add_signed(here.offset());
            (here, situation) = (entry, entry.situation());
            path = visit(path, entry.vertex());
            left -= 1;
        }
        (self.at, self.situation, self.path, *remaining) = (at.wrapping_add(1), situation, path, left);
        Ok(())
    }
}
