//! Several heads, each on its own row: the cost of a step depends on what it moves and writes, not on the number of
//! symbols of a vertex.

use luge_net::{VertexTable, faults::planted, tracks};

use super::{
    CacheLevel, CarriedLosses, LoopExit,
    columns::{Columns, Levels},
    macrosteps::{Macrosteps, Position},
    tapes::Tapes,
};
use crate::{
    MacrostepId, MacrostepSteps, StepDelta, TrainError,
    path::{unvisit, visit},
    sparse::Sparse,
};

/// Rows of cells with their heads, and what is remembered of steps.
#[derive(Clone, Debug)]
pub(super) struct MultiHead {
    pub(super) block: usize,
    /// All symbols under the heads, whether looked at or not.
    pub(super) symbols: u32,
    /// The digest of all vertices visited before the current one.
    before: u64,
    pub(super) tapes: Tapes,
    columns: Columns,
    macrosteps: Option<Box<Macrosteps>>,
    /// The lowest and highest landscape loss so far.
    pub(super) range: Option<(f64, f64)>,
}

impl MultiHead {
    pub(super) fn new(
        table: &VertexTable,
        (block, symbols, path): (usize, u32, u64),
        tapes: Tapes,
        (levels, low): (Levels, f64),
        cache_level: CacheLevel,
    ) -> Self {
        let before = unvisit(path, table.vertex(block, symbols));
        let columns = Columns::new(table, levels, low);
        let macrosteps =
            (cache_level != CacheLevel::Steps).then(|| Macrosteps::new(table)).flatten().map(Box::new);
        Self { block, symbols, before, tapes, columns, macrosteps, range: None }
    }

    /// The digest of all vertices visited.
    pub(super) fn path(&self, table: &VertexTable) -> u64 {
        visit(self.before, table.vertex(self.block, self.symbols))
    }

    /// Stays at its vertex for a step.
    pub(super) fn stay(&mut self, table: &VertexTable) {
        self.before = self.path(table);
    }

    /// Makes up to `remaining` steps, and counts them down.
    pub(super) fn run(
        &mut self,
        table: &VertexTable,
        probe: &mut Sparse<'_>,
        remaining: &mut u64,
    ) -> Result<LoopExit, TrainError> {
        while *remaining > 0 {
            if let Some(macrosteps) = &mut self.macrosteps {
                let Self { tapes, block, before: path, range, .. } = self;
                let mut position = Position { tapes, block, path, remaining, range };
                macrosteps.run(table, &mut self.columns, probe, &mut position, |_| true)?;
                self.symbols = self.tapes.symbols();
                if *remaining == 0 {
                    break;
                }
            }
            let look = self.look(table, probe)?;
            if look.landscape <= self.columns.low {
                return Ok(LoopExit::Low);
            }
            self.note(look.landscape);
            self.step(table, &look);
            *remaining -= 1;
        }
        Ok(LoopExit::Done)
    }

    /// As [`run`](Self::run), noting what every step changes; `loss` is the network's for a loss of the landscape.
    pub(super) fn run_with_deltas(
        &mut self,
        table: &VertexTable,
        probe: &mut Sparse<'_>,
        most: u64,
        changes: &mut Vec<StepDelta>,
        loss: &mut CarriedLosses,
    ) -> Result<LoopExit, TrainError> {
        for _ in 0..most {
            let look = self.look(table, probe)?;
            if look.landscape <= self.columns.low {
                return Ok(LoopExit::Low);
            }
            self.note(look.landscape);
            let flipped = look.written ^ self.symbols;
            self.step(table, &look);
            let vertex = table.vertex(self.block, self.symbols);
            let loss = loss.of(probe, look.landscape);
            changes.push(StepDelta { loss, vertex, left: look.left, right: look.right, flipped });
        }
        Ok(LoopExit::Done)
    }

    /// Makes up to `remaining` steps by macrosteps alone, and counts them down; `note` hears of each and says whether to go on.
    pub(super) fn run_by_macrosteps(
        &mut self,
        table: &VertexTable,
        probe: &mut Sparse<'_>,
        remaining: &mut u64,
        note: impl FnMut(MacrostepId) -> bool,
    ) -> Result<(), TrainError> {
        let Some(macrosteps) = &mut self.macrosteps else { return Ok(()) };
        let Self { tapes, block, before: path, range, .. } = self;
        let mut position = Position { tapes, block, path, remaining, range };
        macrosteps.run(table, &mut self.columns, probe, &mut position, note)?;
        self.symbols = self.tapes.symbols();
        Ok(())
    }

    /// The steps of a macrostep, one by one.
    pub(super) fn macrostep(
        &mut self,
        id: MacrostepId,
        table: &VertexTable,
        probe: &mut Sparse<'_>,
        loss: &mut CarriedLosses,
    ) -> Result<MacrostepSteps, TrainError> {
        match &self.macrosteps {
            Some(macrosteps) => {
                macrosteps.steps(id, table, &mut self.columns, probe, |probe, level| loss.of(probe, level))
            }
            None => Ok(MacrostepSteps::default()),
        }
    }

    /// The landscape's loss here.
    pub(super) fn level(&mut self, table: &VertexTable, probe: &mut Sparse<'_>) -> Result<f64, TrainError> {
        Ok(self.look(table, probe)?.landscape)
    }

    #[inline]
    fn note(&mut self, landscape: f64) {
        let (lowest, highest) = self.range.unwrap_or((landscape, landscape));
        self.range = Some((lowest.min(landscape), highest.max(landscape)));
    }

    /// What the step here will do, remembered or differentiated.
    #[inline]
    fn look(&mut self, table: &VertexTable, probe: &mut Sparse<'_>) -> Result<Look, TrainError> {
        self.tapes.check()?;
        let (block, symbols, levels) = (self.block, self.symbols, self.columns.levels);
        let action = self.columns.at(table, probe, block, symbols)?;
        let written = action.written(symbols);
        let mut ahead = written;
        for track in tracks(action.moves()) {
            let found = self.tapes.beside(track, action.left >> track & 1 == 1);
            ahead = ahead & !(1 << track) | u32::from(found) << track;
        }
        action.meet(table, probe, (block, symbols), ahead, &levels)?;
        let landscape = action.landscape(&levels, (block, symbols), ahead);
        Ok(Look { landscape, next: action.next, written, ahead, left: action.left, right: action.right })
    }

    #[inline]
    fn step(&mut self, table: &VertexTable, look: &Look) {
        self.before = self.path(table);
        for track in tracks(look.written ^ self.symbols) {
            if !planted("remembered write skipped") {
                self.tapes.flip(track);
            }
        }
        for track in tracks(look.left | look.right) {
            self.tapes.move_head(track, look.left >> track & 1 == 1);
        }
        (self.block, self.symbols) = (look.next as usize, look.ahead);
    }
}

/// What a step will do.
#[derive(Clone, Copy, Debug)]
struct Look {
    landscape: f64,
    next: u32,
    written: u32,
    ahead: u32,
    left: u32,
    right: u32,
}

#[cfg(feature = "faults")]
impl MultiHead {
    /// Spoils what is remembered of the current column.
    pub(super) fn spoil(&mut self, table: &VertexTable, fault: super::Fault) -> bool {
        self.columns.spoil(table, self.block, self.symbols, fault)
    }

    /// What is remembered of macrosteps.
    pub(super) fn stretches_mut(&mut self) -> Option<&mut super::macrosteps::Macrosteps> {
        self.macrosteps.as_deref_mut()
    }

    /// Lets every remembered macrostep leave its heads elsewhere.
    pub(super) fn spoil_stretches(&mut self) -> bool {
        self.macrosteps.as_mut().is_some_and(|macrosteps| macrosteps.spoil())
    }
}
