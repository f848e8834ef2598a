//! Rows of cells with their heads, one after the other in one vector, so that a window of cells is one load away.

use crate::room::{room, widen};

/// Cells that are kept on either side of a head, so that a macrostep of steps stays among them.
pub(super) const MARGIN: usize = 64;
/// The most rows: heads stand in an array of this length.
pub(super) const MAX_ROWS: usize = 32;

/// All rows of cells, one byte each.
#[derive(Clone, Debug, Default)]
pub(super) struct Tapes {
    pub(super) cells: Vec<u8>,
    /// Where the head of each row is, among all cells.
    pub(super) heads: [usize; MAX_ROWS],
    pub(super) inner: [Inner; MAX_ROWS],
    rows: Vec<Row>,
}

/// The cells of a row that are further from its ends than [`MARGIN`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Inner {
    start: usize,
    len: usize,
}

impl Inner {
    #[inline]
    pub(super) fn holds(self, at: usize) -> bool {
        at.wrapping_sub(self.start) < self.len
    }
}

#[derive(Clone, Copy, Debug)]
struct Row {
    /// The number of its first cell, counted as the columns of the network's matrices.
    first: i64,
    /// Where it begins among all cells.
    start: usize,
    len: usize,
}

impl Tapes {
    pub(super) fn add_row(&mut self, first: i64, symbols: &[u8], head: i64) {
        let track = self.rows.len();
        // A blank row begins where its head is.
        let first = if symbols.is_empty() { head } else { first };
        self.rows.push(Row { first, start: self.cells.len(), len: symbols.len() });
        self.cells.extend_from_slice(symbols);
        self.heads[track] = (self.rows[track].start as i64 + head - first) as usize;
        self.make_room_at(track, head);
    }

    /// Sets the last cell of the last row, which is blank, or makes it blank again.
    #[cfg(feature = "faults")]
    pub(super) fn set_last(&mut self, set: bool) {
        self.cells.last_mut().into_iter().for_each(|cell| *cell = u8::from(set));
    }

    pub(super) fn n_rows(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn n_bytes(&self) -> usize {
        self.cells.len()
    }

    /// The number of the cell that a head is on.
    pub(super) fn head(&self, track: usize) -> i64 {
        let row = self.rows[track];
        row.first + (self.heads[track] as i64 - row.start as i64)
    }

    pub(super) fn cell(&self, track: usize, cell: i64) -> u8 {
        let (first, cells) = self.row(track);
        usize::try_from(cell - first).ok().and_then(|i| cells.get(i)).copied().unwrap_or(0)
    }

    /// The number of a row's first cell, and its cells.
    pub(super) fn row(&self, track: usize) -> (i64, &[u8]) {
        let Row { first, start, len } = self.rows[track];
        (first, &self.cells[start..start + len])
    }

    /// The symbols under all heads.
    pub(super) fn symbols(&self) -> u32 {
        let under = |track: usize| u32::from(self.cells[self.heads[track]]) << track;
        (0..self.n_rows()).fold(0, |symbols, track| symbols | under(track))
    }

    /// The cell to the left or to the right of a head.
    #[inline]
    pub(super) fn beside(&self, track: usize, left: bool) -> u8 {
        let at = self.heads[track];
        self.cells[if left { at - 1 } else { at + 1 }]
    }

    #[inline]
    pub(super) fn put(&mut self, track: usize, symbol: u8) {
        self.cells[self.heads[track]] = symbol;
    }

    #[inline]
    pub(super) fn move_head(&mut self, track: usize, left: bool) {
        let at = self.heads[track];
        let to = if left { at - 1 } else { at + 1 };
        self.heads[track] = to;
        if !self.inner[track].holds(to) {
            self.make_room();
        }
    }

    /// Keeps enough cells on either side of every head.
    #[cold]
    pub(super) fn make_room(&mut self) {
        for track in 0..self.n_rows() {
            if !self.inner[track].holds(self.heads[track]) {
                self.make_room_at(track, self.head(track));
            }
        }
    }

    fn make_room_at(&mut self, track: usize, head: i64) {
        let Row { first, start, len } = self.rows[track];
        let margin = MARGIN as i64;
        let (before, after) = room(first, len, head - margin, head + margin);
        let mut row = self.cells[start..start + len].to_vec();
        widen(&mut row, (before, after), 0);
        self.cells.splice(start..start + len, row);
        self.rows[track] = Row { first: first - before as i64, start, len: len + before + after };
        self.heads[track] = (start as i64 + head - (first - before as i64)) as usize;
        for other in track + 1..self.n_rows() {
            self.rows[other].start += before + after;
            self.heads[other] += before + after;
        }
        for (inner, row) in self.inner.iter_mut().zip(&self.rows).skip(track) {
            *inner = Inner { start: row.start + MARGIN, len: (row.len + 1).saturating_sub(2 * MARGIN) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_grow_around_their_heads_and_keep_their_cells() {
        let mut tapes = Tapes::default();
        tapes.add_row(-2, &[1, 0, 1], 0);
        tapes.add_row(5, &[], 1000);
        tapes.add_row(0, &[0, 1], 1);
        assert_eq!(tapes.symbols(), 0b101);
        for step in 1..=500 {
            tapes.move_head(0, true);
            tapes.move_head(1, false);
            tapes.put(1, 1);
            assert_eq!((tapes.head(0), tapes.head(1), tapes.head(2)), (-step, 1000 + step, 1));
        }
        for (cell, expected) in [(-3, 0), (-2, 1), (-1, 0), (0, 1), (1, 0)] {
            assert_eq!(tapes.cell(0, cell), expected, "cell {cell}");
        }
        assert!((1001..=1500).all(|cell| tapes.cell(1, cell) == 1));
        assert_eq!((tapes.cell(1, 1000), tapes.cell(1, 1501), tapes.cell(2, 1)), (0, 0, 1));
    }
}
