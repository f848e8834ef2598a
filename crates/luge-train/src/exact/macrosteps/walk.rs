//! Follows stored steps from a block, on copies of the cells that windows show.

use luge_net::{VertexTable, tracks};

use super::{POWERS, Record, Window};
use crate::{
    TrainError,
    exact::{
        columns::Columns,
        tapes::{MAX_ROWS, N_HEADS, REACH, Tapes},
    },
    sparse::Sparse,
    visit,
};

/// What remembers single steps, and what differentiates those that are new.
pub(super) struct Source<'a, 'n> {
    pub(super) table: &'a VertexTable,
    pub(super) columns: &'a mut Columns,
    pub(super) probe: &'a mut Sparse<'n>,
}

/// One step that has been followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stepped {
    pub(super) from: usize,
    pub(super) landscape: f64,
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) flipped: u32,
    /// The tracks on which it depends on the cell under the head, and on the cell to which the head moves.
    pub(super) under: u32,
    pub(super) ahead: u32,
}

/// Steps that have been followed.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) block: usize,
    pub(super) steps: u32,
    /// The digest of the vertices from which steps were made.
    pub(super) digest: u64,
    /// The lowest and highest landscape loss.
    pub(super) range: (f64, f64),
    /// The cells of each track that are shown, the first in the lowest bit, and how many are.
    cells: [u64; N_HEADS],
    width: [u32; N_HEADS],
    /// The cell that each head is on, counted from the first one shown, and the cell it was on.
    heads: [i32; N_HEADS],
    start: [i32; N_HEADS],
}

impl Walk {
    fn new(block: usize) -> Self {
        Self {
            block,
            steps: 0,
            digest: 0,
            range: (f64::INFINITY, f64::NEG_INFINITY),
            cells: [0; N_HEADS],
            width: [0; N_HEADS],
            heads: [0; N_HEADS],
            start: [0; N_HEADS],
        }
    }

    fn show(&mut self, window: &Window, cells: u64) {
        let track = window.track();
        (self.cells[track], self.width[track]) = (cells, window.width);
        (self.heads[track], self.start[track]) = (-window.offset, -window.offset);
    }

    /// On what these windows show, one for each of a few tracks.
    pub(super) fn through(block: usize, windows: &[Window], content: [u64; 2]) -> Self {
        let mut walk = Self::new(block);
        for window in windows {
            walk.show(window, window.part(content).rotate_right(u32::from(window.shift)));
        }
        walk
    }

    /// A window's part of the content as it is now.
    pub(super) fn left(&self, window: &Window) -> u64 {
        self.cells[window.track()].rotate_left(u32::from(window.shift))
    }

    /// How far the head of a track has come.
    pub(super) fn offset(&self, track: usize) -> i32 {
        self.heads[track] - self.start[track]
    }

    /// How far each head has come.
    pub(super) fn moved(&self) -> [i8; MAX_ROWS] {
        std::array::from_fn(|track| self.offset(track) as i8)
    }

    /// On the cells of each track from one on, counted from its head.
    pub(super) fn around(block: usize, tapes: &Tapes, first: &[i32; MAX_ROWS]) -> Self {
        let mut walk = Self::new(block);
        for (track, &first) in first.iter().enumerate().take(tapes.n_rows()) {
            let mut content = [0; 2];
            let window = Window::new(track, first, Window::WIDEST, 0);
            window.show(&tapes.cells, &tapes.heads, &mut content);
            walk.show(&window, content[0]);
        }
        walk
    }

    /// The symbol so many cells from the head of a track; `None` if it is not shown.
    #[inline]
    fn symbol(&self, track: usize, beside: i32) -> Option<u32> {
        let at = (self.heads[track % N_HEADS] + beside) as u32;
        (at < self.width[track % N_HEADS]).then(|| (self.cells[track % N_HEADS] >> (at & 63)) as u32 & 1)
    }

    /// The content of windows, but for their tag; `None` if not all of their cells are shown.
    #[inline]
    pub(super) fn content(&self, windows: &[Window]) -> Option<[u64; 2]> {
        let mut content = [0; 2];
        for window in windows {
            let (track, first) = (window.track(), self.heads[window.track()] + window.offset);
            if first < 0 || first as u32 + window.width > self.width[track] {
                return None;
            }
            let turned = (self.cells[track] >> (first & 63)).rotate_left(u32::from(window.shift));
            content[0] |= turned & window.masks[0];
            content[1] |= turned & window.masks[1];
        }
        Some(content)
    }

    /// Makes the steps of a record that begins here, whose windows these are, if no head can come too far on the way; whether it does.
    #[inline]
    pub(super) fn make(&mut self, record: &Record, windows: &[Window]) -> bool {
        let offsets = self.heads.iter().zip(&self.start).map(|(head, start)| (head - start).abs());
        if offsets.fold(0, i32::max) + record.steps() as i32 > REACH {
            return false;
        }
        for window in windows {
            let part = window.part(record.changed).rotate_right(u32::from(window.shift));
            let track = window.track();
            self.cells[track] ^= part << ((self.heads[track] + window.offset) & 63);
        }
        self.heads.iter_mut().zip(record.moved).for_each(|(head, moved)| *head += i32::from(moved));
        self.digest =
            self.digest.wrapping_mul(POWERS[record.steps() as usize & 255]).wrapping_add(record.digest);
        self.block = record.next();
        self.steps += record.steps();
        true
    }

    /// The symbols of some tracks, each under its head or where its head will be; `None` if one is not shown.
    #[inline]
    fn symbols(&self, mask: u32, (left, right): (u32, u32)) -> Option<u32> {
        let mut symbols = 0;
        for track in tracks(mask) {
            symbols |= self.symbol(track, direction(track, left, right))? << track;
        }
        Some(symbols)
    }

    /// The symbols under the heads of a block's tracks, and its vertex with these symbols; `None` if one is not shown.
    #[inline]
    fn vertex(&self, table: &VertexTable) -> Option<(u32, usize)> {
        let (mut symbols, mut combination) = (0, 0);
        for (i, track) in tracks(table.looks_at(self.block)).enumerate() {
            let symbol = self.symbol(track, 0)?;
            symbols |= symbol << track;
            combination |= symbol << i;
        }
        Some((symbols, table.vertices_of(self.block).start + combination as usize))
    }

    /// One more step; `None`, and no step, if it depends on what is not shown or must be looked at closely.
    #[inline]
    pub(super) fn step(&mut self, source: &mut Source<'_, '_>) -> Result<Option<Stepped>, TrainError> {
        let Source { table, columns, probe } = source;
        let block = self.block;
        let Some((looked_at, from)) = self.vertex(table) else { return Ok(None) };
        let (low, levels) = (columns.low, columns.levels);
        let action = columns.at_vertex(table, probe, from, (block, looked_at))?;
        if !action.is_complete() {
            return Ok(None);
        }
        let unseen = action.put & !action.looks_at;
        let (left, right, moves) = (action.left, action.right, action.moves());
        let seen_next = action.looks_at & moves;
        let Some(written_over) = self.symbols(unseen, (0, 0)) else { return Ok(None) };
        let Some(found) = self.symbols(seen_next, (left, right)) else { return Ok(None) };
        let symbols = looked_at | written_over;
        let written = action.written(symbols);
        let landscape = action.landscape(&levels, (block, symbols), written & !moves | found);
        if landscape <= low || self.goes_far(moves, (left, right)) {
            return Ok(None);
        }
        let flipped = written ^ symbols;
        for track in tracks(flipped) {
            self.cells[track % N_HEADS] ^= 1 << (self.heads[track % N_HEADS] & 63);
        }
        tracks(moves).for_each(|track| self.heads[track % N_HEADS] += direction(track, left, right));
        self.digest = visit(self.digest, from);
        if landscape < self.range.0 {
            self.range.0 = landscape;
        }
        if landscape > self.range.1 {
            self.range.1 = landscape;
        }
        let (under, ahead) = (action.looks_at | unseen, seen_next);
        self.block = action.next as usize;
        self.steps += 1;
        Ok(Some(Stepped { from, landscape, left, right, flipped, under, ahead }))
    }

    /// Whether a head would come further than a macrostep may bring it.
    #[inline]
    fn goes_far(&self, moves: u32, (left, right): (u32, u32)) -> bool {
        let far = |track: usize| (self.offset(track) + direction(track, left, right)).abs() > REACH;
        self.steps >= REACH as u32 && tracks(moves).any(far)
    }
}

/// How the head of a track moves.
#[inline]
pub(super) fn direction(track: usize, left: u32, right: u32) -> i32 {
    (right >> track & 1) as i32 - (left >> track & 1) as i32
}
