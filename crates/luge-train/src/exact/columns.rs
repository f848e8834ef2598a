//! The stored steps of each column of arcs.
//!
//! Vertices with the same column of arcs behave alike, and the slopes of a gate are a sum over symbols, each term
//! of which depends on the symbol and on the one that will be read. So steps are stored per column, and for every
//! track each of the four cases is differentiated before it is used.

use luge_net::VertexTable;

use super::legality::differentiate;
use crate::{TrainError, sparse::Sparse};

/// The most vertices whose columns' places are kept.
const MAX_PLACES: usize = 1 << 16;

/// Everything that has been differentiated, column by column.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    remembered: Vec<Option<Remembered>>,
    /// The place of every vertex's column, counted from 1; 0: not known yet. Empty where vertices are many.
    places: Vec<u32>,
    pub(super) levels: Levels,
    /// Levels at or below this one are looked at closely.
    pub(super) low: f64,
}

/// What a column does, as it turned out by differentiating.
#[derive(Clone, Debug)]
pub(super) struct Remembered {
    pub(super) next: u32,
    /// The tracks whose symbols are put whatever they were, and those that are put to +1.
    pub(super) put: u32,
    pub(super) plus: u32,
    pub(super) left: u32,
    pub(super) right: u32,
    /// The landscape's loss if no cell changes and every symbol stays.
    level: f64,
    /// The tracks whose symbols tell the block's vertices apart.
    pub(super) looks_at: u32,
    /// For each case of (symbol, symbol to be read), the tracks for which it was differentiated.
    seen: [u32; 4],
}

/// What one changed cell and one flipped symbol add to the landscape's loss.
#[derive(Clone, Copy, Debug)]
pub(super) struct Levels {
    pub(super) write: f64,
    pub(super) flip: f64,
    /// What a step to another vertex adds.
    pub(super) other: f64,
}

/// How many tracks there are in a mask; there is often none.
#[inline]
fn count(tracks: u32) -> f64 {
    if tracks == 0 { 0.0 } else { f64::from(tracks.count_ones()) }
}

impl Columns {
    pub(super) fn new(table: &VertexTable, levels: Levels, low: f64) -> Self {
        let n_places = if table.n_vertices <= MAX_PLACES { table.n_vertices } else { 0 };
        Self { remembered: vec![None; table.n_columns()], places: vec![0; n_places], levels, low }
    }

    /// What the column of a vertex does, remembered or differentiated.
    #[inline]
    pub(super) fn at_vertex(
        &mut self,
        table: &VertexTable,
        probe: &mut Sparse<'_>,
        vertex: usize,
        (block, symbols): (usize, u32),
    ) -> Result<&mut Remembered, TrainError> {
        let place = match self.places.get_mut(vertex) {
            None => table.place(block, symbols),
            Some(place) => {
                if *place == 0 {
                    *place = table.place(block, symbols) as u32 + 1;
                }
                *place as usize - 1
            }
        };
        self.at_place(table, probe, place, (block, symbols))
    }

    /// What the column of a block does on these symbols, remembered or differentiated.
    #[inline]
    pub(super) fn at(
        &mut self,
        table: &VertexTable,
        probe: &mut Sparse<'_>,
        block: usize,
        symbols: u32,
    ) -> Result<&mut Remembered, TrainError> {
        self.at_place(table, probe, table.place(block, symbols), (block, symbols))
    }

    #[inline]
    fn at_place(
        &mut self,
        table: &VertexTable,
        probe: &mut Sparse<'_>,
        place: usize,
        (block, symbols): (usize, u32),
    ) -> Result<&mut Remembered, TrainError> {
        match &mut self.remembered[place] {
            Some(known) => Ok(known),
            nothing => Remembered::learn_all(table, probe, (block, symbols), &self.levels)
                .map(|learnt| nothing.insert(learnt)),
        }
    }
}

impl Remembered {
    /// Differentiates a column in all its cases.
    #[cold]
    fn learn_all(
        table: &VertexTable,
        probe: &mut Sparse<'_>,
        at: (usize, u32),
        levels: &Levels,
    ) -> Result<Self, TrainError> {
        let mut learnt = Self::learn(table, probe, at, levels)?;
        learnt.confirm_all(table, probe, at, levels);
        Ok(learnt)
    }

    /// Differentiates in a block on these symbols to see what its column does.
    fn learn(
        table: &VertexTable,
        probe: &mut Sparse<'_>,
        (block, symbols): (usize, u32),
        levels: &Levels,
    ) -> Result<Self, TrainError> {
        let vertex = table.vertex(block, symbols);
        let probed = differentiate(probe, vertex, symbols, symbols)?;
        // Which symbols are put whatever they were is said by the column; that they are is seen by differentiating.
        let put = table.column(vertex).map_or(0, |column| column.put);
        let mut action = Self {
            next: table.block(probed.to) as u32,
            put,
            plus: probed.written & put,
            left: probed.left,
            right: probed.right,
            level: 0.0,
            looks_at: table.looks_at(block),
            seen: [0; 4],
        };
        // With three cells alike but for the one in the middle, heads that move find what they left.
        let ahead = probed.written & !action.moves() | symbols & action.moves();
        action.level = probed.landscape - action.landscape(levels, (block, symbols), ahead);
        Ok(action)
    }

    pub(super) fn moves(&self) -> u32 {
        self.left | self.right
    }

    /// The symbols left behind where `symbols` were found.
    #[inline]
    pub(super) fn written(&self, symbols: u32) -> u32 {
        symbols & !self.put | self.plus
    }

    /// The landscape's loss where these symbols are found and those will be. Only symbols that are looked at or put matter.
    #[inline]
    pub(super) fn landscape(&self, levels: &Levels, (block, symbols): (usize, u32), ahead: u32) -> f64 {
        let changed = self.written(symbols) ^ symbols;
        let flipped = (symbols ^ ahead) & self.looks_at;
        let stays = flipped == 0 && self.next as usize == block;
        let other = if stays { 0.0 } else { levels.other };
        self.level + levels.write * count(changed) + levels.flip * count(flipped) + other
    }

    /// Whether every case that can occur was differentiated.
    #[inline]
    pub(super) fn is_complete(&self) -> bool {
        self.seen == [u32::MAX; 4]
    }

    /// Differentiates all cases of all tracks, in four steps that have the same case on every track where it can be. If one of them
    /// is not what is remembered, cases are left to be differentiated when they are met.
    fn confirm_all(
        &mut self,
        table: &VertexTable,
        probe: &mut Sparse<'_>,
        (block, symbols): (usize, u32),
        levels: &Levels,
    ) {
        let all = ((1_u64 << table.n_tracks) - 1) as u32;
        let fill = |plus: bool, tracks: u32| if plus { tracks & all } else { 0 };
        let alike =
            [(false, false), (false, true), (true, false), (true, true)].into_iter().all(|(here, ahead)| {
                let symbols = symbols & self.looks_at | fill(here, !self.looks_at);
                let ahead = self.written(symbols) & !self.moves() | fill(ahead, self.moves());
                self.confirm(table, probe, (block, symbols), ahead, levels).is_ok()
            });
        if alike {
            self.seen = [u32::MAX; 4];
        }
    }

    /// Makes sure that the step that is about to be relied on was differentiated, for every track.
    #[inline]
    pub(super) fn meet(
        &mut self,
        table: &VertexTable,
        probe: &mut Sparse<'_>,
        (block, symbols): (usize, u32),
        ahead: u32,
        levels: &Levels,
    ) -> Result<(), TrainError> {
        if self.is_complete() {
            return Ok(());
        }
        let all = ((1_u64 << table.n_tracks) - 1) as u32;
        let cases = [!symbols & !ahead & all, !symbols & ahead, symbols & !ahead, symbols & ahead];
        let fresh = cases.iter().zip(self.seen).fold(0, |fresh, (case, seen)| fresh | case & !seen);
        if fresh != 0 {
            self.confirm(table, probe, (block, symbols), ahead, levels)?;
            cases.iter().zip(&mut self.seen).for_each(|(case, seen)| *seen |= case);
        }
        Ok(())
    }

    /// Differentiates a step and holds what is remembered to it.
    fn confirm(
        &self,
        table: &VertexTable,
        probe: &mut Sparse<'_>,
        (block, symbols): (usize, u32),
        ahead: u32,
        levels: &Levels,
    ) -> Result<(), TrainError> {
        let vertex = table.vertex(block, symbols);
        let probed = differentiate(probe, vertex, symbols, ahead)?;
        let alike = probed.to == table.vertex(self.next as usize, ahead)
            && probed.written == self.written(symbols)
            && (probed.left, probed.right) == (self.left, self.right);
        let landscape = self.landscape(levels, (block, symbols), ahead);
        if !alike || probed.landscape.total_cmp(&landscape).is_ne() {
            let why =
                format!("the gradient at vertex {vertex} is not the sum over symbols that was remembered");
            return Err(TrainError::NotExact { why });
        }
        Ok(())
    }
}

#[cfg(feature = "faults")]
impl Columns {
    /// Spoils what is remembered of a block's column.
    pub(super) fn spoil(
        &mut self,
        table: &VertexTable,
        block: usize,
        symbols: u32,
        fault: super::Fault,
    ) -> bool {
        let n_blocks = table.n_blocks() as u32;
        let Some(action) = &mut self.remembered[table.place(block, symbols)] else { return false };
        match fault {
            super::Fault::WrongEntry => action.next = (action.next + 1) % n_blocks,
            super::Fault::SkippedWrite => {
                let changes = action.written(symbols) != symbols;
                (action.put, action.plus) = (0, 0);
                return changes;
            }
            super::Fault::StaleRead => {
                let moves = action.moves();
                (action.left, action.right) = (0, 0);
                return moves != 0;
            }
        }
        true
    }
}
