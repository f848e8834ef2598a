//! Rows of cells with their heads, a bit for each cell, one row after the other in one vector, so that a window of
//! cells is one load away.

use crate::{PackedCells, TrainError, room::room};

/// The most rows: heads stand in an array of this length.
pub(super) const MAX_ROWS: usize = 24;
/// The length of the array of heads, a power of two.
pub(super) const N_HEADS: usize = 32;
/// How far a macrostep may bring a head, or look from where it was.
pub(super) const REACH: i32 = 60;
/// Macrosteps that are made before heads are held to the ends of their rows.
pub(super) const UNCHECKED: u32 = 16;
/// Cells that are kept on either side of a head, so that so many macrosteps stay among them.
const MARGIN: i64 = (REACH as i64) * (UNCHECKED as i64 + 2);
/// The most cells of all rows: places among them are signed 32-bit numbers.
const MAX_CELLS: usize = i32::MAX as usize;

/// All rows of cells.
#[derive(Clone, Debug, Default)]
pub(super) struct Tapes {
    /// Eight cells in a byte, the first in its lowest bit.
    pub(super) cells: Vec<u8>,
    /// Where the head of each row is, among all cells.
    pub(super) heads: [i32; N_HEADS],
    /// Between which places each head is far enough from the ends of its row.
    low: [i32; MAX_ROWS],
    high: [i32; MAX_ROWS],
    rows: Vec<Row>,
    /// Whether there are more cells than places have numbers.
    full: bool,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    /// The number of its first cell, counted as the columns of the network's matrices.
    first: i64,
    /// Where it begins among all bytes, and how many bytes it has.
    start: usize,
    len: usize,
}

impl Tapes {
    pub(super) fn add_row(&mut self, first: i64, symbols: &PackedCells, head: i64) {
        let track = self.rows.len();
        // A blank row begins where its head is.
        let first = if symbols.is_empty() { head } else { first };
        let start = self.cells.len();
        self.cells.extend(symbols.bytes().unwrap_or_default());
        self.rows.push(Row { first, start, len: self.cells.len() - start });
        self.make_room_at(track, head);
    }

    /// Sets the last cell of the last row, which is blank, or makes it blank again.
    #[cfg(feature = "faults")]
    pub(super) fn set_last(&mut self, set: bool) {
        self.cells.last_mut().into_iter().for_each(|byte| *byte = u8::from(set) << 7);
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
        row.first + i64::from(self.heads[track]) - 8 * row.start as i64
    }

    pub(super) fn cell(&self, track: usize, cell: i64) -> u8 {
        let (first, bytes) = self.row(track);
        let at = usize::try_from(cell - first).ok();
        at.and_then(|at| Some(bytes.get(at / 8)? >> (at % 8) & 1)).unwrap_or(0)
    }

    /// The number of a row's first cell, and its cells, eight in a byte.
    pub(super) fn row(&self, track: usize) -> (i64, &[u8]) {
        let Row { first, start, len } = self.rows[track];
        (first, &self.cells[start..start + len])
    }

    /// The symbols under all heads.
    pub(super) fn symbols(&self) -> u32 {
        (0..self.n_rows()).fold(0, |symbols, track| symbols | u32::from(self.at(self.heads[track])) << track)
    }

    #[inline]
    fn at(&self, place: i32) -> u8 {
        self.cells[place as usize / 8] >> (place % 8) & 1
    }

    /// The cell to the left or to the right of a head.
    #[inline]
    pub(super) fn beside(&self, track: usize, left: bool) -> u8 {
        let head = self.heads[track];
        self.at(if left { head - 1 } else { head + 1 })
    }

    /// Changes the symbol under a head.
    #[inline]
    pub(super) fn flip(&mut self, track: usize) {
        let head = self.heads[track];
        self.cells[head as usize / 8] ^= 1 << (head % 8);
    }

    #[inline]
    pub(super) fn move_head(&mut self, track: usize, left: bool) {
        let head = self.heads[track];
        let to = if left { head - 1 } else { head + 1 };
        self.heads[track] = to;
        if to < self.low[track] || to > self.high[track] {
            self.make_room();
        }
    }

    /// Whether every head is far enough from the ends of its row.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        let ends = self.low.iter().zip(&self.high);
        self.heads
            .iter()
            .zip(ends)
            .fold(true, |all, (head, (low, high))| all & (head >= low) & (head <= high))
    }

    /// Keeps enough cells on either side of every head.
    #[cold]
    pub(super) fn make_room(&mut self) {
        for track in 0..self.n_rows() {
            let head = self.heads[track];
            if head < self.low[track] || head > self.high[track] {
                self.make_room_at(track, self.head(track));
            }
        }
    }

    /// An error if there are more cells than places have numbers.
    pub(super) fn check(&self) -> Result<(), TrainError> {
        let why =
            || format!("the tapes need more than {MAX_CELLS} cells in all, more than this engine counts");
        if self.full { Err(TrainError::NotExact { why: why() }) } else { Ok(()) }
    }

    fn make_room_at(&mut self, track: usize, head: i64) {
        let Row { first, start, len } = self.rows[track];
        let (before, after) = room(first, 8 * len, head - MARGIN, head + MARGIN);
        let (before, after) = (before.div_ceil(8), after.div_ceil(8));
        if 8 * (self.cells.len() + before + after) > MAX_CELLS {
            self.full = true;
            return;
        }
        self.cells.splice(start + len..start + len, std::iter::repeat_n(0, after));
        self.cells.splice(start..start, std::iter::repeat_n(0, before));
        let first = first - 8 * before as i64;
        self.rows[track] = Row { first, start, len: len + before + after };
        self.heads[track] = (8 * start as i64 + head - first) as i32;
        for other in track + 1..self.n_rows() {
            self.rows[other].start += before + after;
            self.heads[other] += 8 * (before + after) as i32;
        }
        for (track, row) in self.rows.iter().enumerate().skip(track) {
            self.low[track] = 8 * row.start as i32 + MARGIN as i32;
            self.high[track] = 8 * (row.start + row.len) as i32 - 1 - MARGIN as i32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_grow_around_their_heads_and_keep_their_cells() {
        let mut tapes = Tapes::default();
        let row = |symbols: &[u8]| PackedCells::of_symbols(symbols.iter().map(|&symbol| symbol == 1));
        tapes.add_row(-2, &row(&[1, 0, 1]), 0);
        tapes.add_row(5, &row(&[]), 1000);
        tapes.add_row(0, &row(&[0, 1]), 1);
        assert_eq!(tapes.symbols(), 0b101);
        for step in 1..=3000 {
            tapes.move_head(0, true);
            tapes.move_head(1, false);
            tapes.flip(1);
            assert_eq!((tapes.head(0), tapes.head(1), tapes.head(2)), (-step, 1000 + step, 1));
            assert!(tapes.has_room());
        }
        for (cell, expected) in [(-3, 0), (-2, 1), (-1, 0), (0, 1), (1, 0)] {
            assert_eq!(tapes.cell(0, cell), expected, "cell {cell}");
        }
        assert!((1001..=4000).all(|cell| tapes.cell(1, cell) == 1));
        assert_eq!((tapes.cell(1, 1000), tapes.cell(1, 4001), tapes.cell(2, 1)), (0, 0, 1));
        assert!(tapes.check().is_ok());
    }
}
