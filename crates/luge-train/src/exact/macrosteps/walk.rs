//! Follows stored steps from a block, over the cells inside the windows.

use luge_net::{VertexTable, tracks};

use super::{Effect, MAX_FIRST_BITS, MAX_WIDTH, REACH, WIDTH, Window};
use crate::{
    TrainError,
    exact::{columns::Columns, tapes::Tapes},
    sparse::Sparse,
    visit,
};

/// The cells of one track that are shown, counted from where its head was.
#[derive(Clone, Copy, Debug)]
struct Shown {
    track: usize,
    first: i32,
    end: i32,
}

impl Shown {
    fn width(self) -> i32 {
        self.end - self.first
    }
}

/// Cells beside the heads.
pub(super) struct Windows<'a> {
    shown: Vec<Shown>,
    source: Source<'a>,
    /// How many cells they may have together after the first step.
    most_bits: u32,
}

/// Where symbols are found.
enum Source<'a> {
    /// On tapes: windows grow with what is looked for, up to so many cells.
    Tapes(&'a Tapes, u32),
    /// In the content of windows, which are what they are.
    Content(u32),
}

impl<'a> Windows<'a> {
    /// No windows at first; they grow with what is looked for, after the first step to so many cells.
    pub(super) fn growing(tapes: &'a Tapes, most_bits: u32) -> Self {
        Self { shown: Vec::new(), source: Source::Tapes(tapes, MAX_FIRST_BITS), most_bits }
    }

    /// These windows and nothing else, with their content.
    pub(super) fn fixed(packed: &[Window], content: u32) -> Self {
        let mut shown: Vec<Shown> = Vec::new();
        for window in packed {
            let (track, first) = (usize::from(window.track), i32::from(window.offset));
            let end = first + window.mask.count_ones() as i32;
            match shown.last_mut().filter(|last| last.track == track && last.end == first) {
                Some(last) => last.end = end,
                None => shown.push(Shown { track, first, end }),
            }
        }
        Self { shown, source: Source::Content(content), most_bits: 0 }
    }

    /// Shows what the first step from a block on can depend on, whatever is found; `false` if that is too much.
    pub(super) fn first_step(&mut self, table: &VertexTable, block: usize) -> bool {
        let looks_at = table.looks_at(block);
        let mut places: Vec<usize> =
            table.vertices_of(block).map(|v| table.place(block, table.symbols(v))).collect();
        places.dedup();
        let columns = places.into_iter().filter_map(|place| table.column_at(place));
        let (put, left, right) =
            columns.fold((0, 0, 0), |all, c| (all.0 | c.put, all.1 | c.left, all.2 | c.right));
        let shows = |windows: &mut Self, mask: u32, offset: i32| {
            tracks(mask).all(|track| windows.symbol(track, offset).is_some())
        };
        let shown = shows(self, looks_at | put, 0)
            && shows(self, looks_at & left, -1)
            && shows(self, looks_at & right, 1);
        if let Source::Tapes(_, most_bits) = &mut self.source {
            *most_bits = self.most_bits;
        }
        shown
    }

    pub(super) fn n_bits(&self) -> u32 {
        self.shown.iter().map(|shown| shown.width() as u32).sum()
    }

    pub(super) fn packed(&self) -> Vec<Window> {
        let mut shift = 0;
        let mut packed = Vec::new();
        for shown in &self.shown {
            for first in (shown.first..shown.end).step_by(WIDTH as usize) {
                let width = (shown.end - first).min(WIDTH) as u8;
                let mask = ((1_u32 << width) - 1) as u8;
                packed.push(Window { track: shown.track as u8, offset: first as i8, mask, shift });
                shift += width;
            }
        }
        packed
    }

    /// The symbol of a cell, if it is shown or can be.
    fn symbol(&mut self, track: usize, offset: i32) -> Option<bool> {
        match self.source {
            Source::Tapes(tapes, most_bits) => {
                self.grow(track, offset, most_bits).then_some(())?;
                let at = tapes.heads[track].wrapping_add_signed(offset as isize);
                tapes.cells.get(at).map(|&symbol| symbol == 1)
            }
            Source::Content(content) => {
                let mut before = 0;
                for shown in &self.shown {
                    if shown.track == track && (shown.first..shown.end).contains(&offset) {
                        return Some(content >> (before + offset - shown.first) & 1 == 1);
                    }
                    before += shown.width();
                }
                None
            }
        }
    }

    /// Shows a cell as well; `false` if that is too much.
    fn grow(&mut self, track: usize, offset: i32, most_bits: u32) -> bool {
        let n_bits = self.n_bits();
        let Some(shown) = self.shown.iter_mut().find(|shown| shown.track == track) else {
            if n_bits < most_bits {
                self.shown.push(Shown { track, first: offset, end: offset + 1 });
            }
            return n_bits < most_bits;
        };
        let wider = Shown { first: shown.first.min(offset), end: shown.end.max(offset + 1), ..*shown };
        let more = (wider.width() - shown.width()) as u32;
        let fits = more == 0 || wider.width() <= MAX_WIDTH && n_bits + more <= most_bits;
        if fits {
            *shown = wider;
        }
        fits
    }

    /// The first cell of a track that is shown, and the end of those that are.
    fn extent(&self, track: usize) -> (i32, i32) {
        let shown = self.shown.iter().find(|shown| shown.track == track);
        shown.map_or((0, 0), |shown| (shown.first, shown.end))
    }
}

/// One step that has been followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stepped {
    pub(super) from: usize,
    pub(super) landscape: f64,
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) flipped: u32,
}

/// Steps that have been followed.
pub(super) struct Walk {
    pub(super) block: usize,
    pub(super) steps: u32,
    /// The digest of the vertices from which steps were made.
    pub(super) digest: u64,
    /// The lowest and highest landscape loss.
    pub(super) range: (f64, f64),
    /// How far each head has come.
    moved: [i32; 32],
    /// Cells that are the other symbol now, by track and offset.
    flipped: Vec<(usize, i32)>,
}

impl Walk {
    pub(super) fn new(block: usize) -> Self {
        let range = (f64::INFINITY, f64::NEG_INFINITY);
        Self { block, steps: 0, digest: 0, range, moved: [0; 32], flipped: Vec::new() }
    }

    /// One more step, and the landscape's loss before it; `None`, and no step, if it depends on what is not shown or must be looked
    /// at closely.
    pub(super) fn step(
        &mut self,
        table: &VertexTable,
        columns: &mut Columns,
        probe: &mut Sparse<'_>,
        windows: &mut Windows<'_>,
    ) -> Result<Option<Stepped>, TrainError> {
        let block = self.block;
        let Some(looked_at) = self.symbols(windows, table.looks_at(block), |_| 0) else { return Ok(None) };
        let (low, levels) = (columns.low, columns.levels);
        let action = columns.at(table, probe, block, looked_at)?;
        if !action.is_complete() {
            return Ok(None);
        }
        let unseen = action.put & !action.looks_at;
        let Some(written_over) = self.symbols(windows, unseen, |_| 0) else { return Ok(None) };
        let symbols = looked_at | written_over;
        let way = |track: usize| (action.right >> track & 1) as i32 - (action.left >> track & 1) as i32;
        let Some(found) = self.symbols(windows, action.looks_at & action.moves(), way) else {
            return Ok(None);
        };
        let ahead = action.written(symbols) & !action.moves() | found;
        let landscape = action.landscape(&levels, (block, symbols), ahead);
        let far = |track: usize| (self.moved[track] + way(track)).abs() > REACH;
        if landscape <= low || tracks(action.moves()).any(far) {
            return Ok(None);
        }
        for track in tracks(action.written(symbols) ^ symbols) {
            let cell = (track, self.moved[track]);
            match self.flipped.iter().position(|&flipped| flipped == cell) {
                Some(again) => _ = self.flipped.swap_remove(again),
                None => self.flipped.push(cell),
            }
        }
        tracks(action.moves()).for_each(|track| self.moved[track] += way(track));
        let from = table.vertex(block, symbols);
        self.digest = visit(self.digest, from);
        self.range = (self.range.0.min(landscape), self.range.1.max(landscape));
        self.block = action.next as usize;
        self.steps += 1;
        let flipped = action.written(symbols) ^ symbols;
        Ok(Some(Stepped { from, landscape, left: action.left, right: action.right, flipped }))
    }

    /// The symbols of some tracks, each so far from where its head is now; `None` if one is not shown.
    fn symbols(&self, windows: &mut Windows<'_>, mask: u32, beside: impl Fn(usize) -> i32) -> Option<u32> {
        tracks(mask).try_fold(0, |symbols, track| {
            let offset = self.moved[track] + beside(track);
            let symbol = windows.symbol(track, offset)? != self.flipped.contains(&(track, offset));
            Some(symbols | u32::from(symbol) << track)
        })
    }

    /// How the steps leave each track that they change.
    pub(super) fn effects(&self, windows: &Windows<'_>, n_tracks: usize) -> Vec<Effect> {
        let mut effects = Vec::new();
        for track in 0..n_tracks {
            let (first, end) = windows.extent(track);
            for offset in (first..end).step_by(WIDTH as usize) {
                let cells = self
                    .flipped
                    .iter()
                    .filter(|cell| cell.0 == track && (offset..offset + WIDTH).contains(&cell.1));
                let flipped = cells.fold(0, |bits, cell| bits | 1 << (cell.1 - offset));
                if flipped != 0 {
                    effects.push(Effect { track: track as u8, moved: 0, offset: offset as i8, flipped });
                }
            }
            // The head moves when all cells are as they are left.
            let moved = self.moved[track] as i8;
            match effects.last_mut().filter(|last| usize::from(last.track) == track) {
                Some(last) => last.moved = moved,
                None if moved != 0 => {
                    effects.push(Effect { track: track as u8, moved, offset: 0, flipped: 0 });
                }
                None => {}
            }
        }
        effects
    }
}
