//! A tape that grows in both directions.

use std::borrow::Cow;

use crate::{Cell, SymbolId, TapeInput};

/// The part of a tape that has been used; every other cell is blank.
#[derive(Clone, Debug)]
pub struct TapeCells {
    /// A byte for each cell; where cells are packed, a bit, the first of eight in the lowest bit of a byte.
    pub(crate) cells: Vec<u8>,
    packed: bool,
    /// The cell that `cells` begins with.
    first: Cell,
    blank: SymbolId,
}

impl TapeCells {
    /// A tape with this input. The head's cell is stored.
    pub fn new(input: &TapeInput, blank: SymbolId) -> Self {
        let cells = input.symbols.iter().map(|s| s.0).collect();
        let mut tape = Self { cells, packed: false, first: 0, blank };
        tape.hold(input.head);
        tape
    }

    /// The symbol in a cell.
    pub fn read(&self, cell: Cell) -> SymbolId {
        let Ok(index) = usize::try_from(cell - self.first) else { return self.blank };
        let symbol = match self.packed {
            false => self.cells.get(index).copied(),
            true => self.cells.get(index / 8).map(|byte| byte >> (index % 8) & 1),
        };
        symbol.map_or(self.blank, SymbolId)
    }

    /// Writes a symbol to a cell.
    pub fn write(&mut self, cell: Cell, symbol: SymbolId) {
        self.replace(cell, symbol);
    }

    /// Writes a symbol to a cell, and returns the previous one.
    pub fn replace(&mut self, cell: Cell, symbol: SymbolId) -> SymbolId {
        let index = self.hold(cell);
        if !self.packed {
            return SymbolId(std::mem::replace(&mut self.cells[index], symbol.0));
        }
        let byte = &mut self.cells[index / 8];
        let before = *byte >> (index % 8) & 1;
        *byte ^= (before ^ symbol.0 & 1) << (index % 8);
        SymbolId(before)
    }

    /// The stored symbols from a cell on, a byte each; empty if the cell is not stored, or cells are packed.
    pub fn held_from(&self, cell: Cell) -> &[u8] {
        let index = usize::try_from(cell - self.first).ok().filter(|_| !self.packed);
        index.and_then(|index| self.cells.get(index..)).unwrap_or_default()
    }

    /// The packed bytes from the one that has a cell's bit on, and the position of that bit; no bytes if the cell is not stored,
    /// or cells are not packed.
    pub fn packed_from(&self, cell: Cell) -> (&[u8], u32) {
        let index = usize::try_from(cell - self.first).ok().filter(|_| self.packed);
        let bytes = index.and_then(|index| self.cells.get(index / 8..)).unwrap_or_default();
        (bytes, (cell - self.first) as u32 % 8)
    }

    /// Stores a bit for each cell from now on. There must be at most two symbols.
    pub(crate) fn pack(&mut self) {
        if !self.packed {
            let byte = |eight: &[u8]| (0..8).fold(0, |byte, i| byte | (eight[i] & 1) << i);
            self.cells.resize(self.cells.len().next_multiple_of(8), self.blank.0);
            self.cells = self.cells.chunks_exact(8).map(byte).collect();
            self.packed = true;
        }
    }

    /// Stores a byte for each cell from now on.
    pub(crate) fn unpack(&mut self) {
        self.cells = self.symbols().into_owned();
        self.packed = false;
    }

    /// A byte for each stored cell.
    fn symbols(&self) -> Cow<'_, [u8]> {
        if !self.packed {
            return Cow::Borrowed(&self.cells);
        }
        self.cells.iter().flat_map(|byte| (0..8).map(move |i| byte >> i & 1)).collect()
    }

    /// The range of stored cells, which includes all that were ever used.
    pub fn extent(&self) -> std::ops::Range<Cell> {
        self.first..self.first + cell_count(self.cells.len() * self.cells_per_byte())
    }

    /// The symbols from the first to the last cell that is not blank, and the cell of the first.
    pub fn trimmed(&self) -> (Cell, Vec<SymbolId>) {
        let (cells, filled) = (self.symbols(), |&s: &u8| s != self.blank.0);
        let Some(from) = cells.iter().position(filled) else { return (0, Vec::new()) };
        let to = cells.iter().rposition(filled).map_or(from, |i| i + 1);
        (self.first + cell_count(from), cells[from..to].iter().map(|&s| SymbolId(s)).collect())
    }

    /// Number of cells that are not blank.
    pub fn n_nonblank(&self) -> u64 {
        self.symbols().iter().filter(|&&s| s != self.blank.0).count() as u64
    }

    fn cells_per_byte(&self) -> usize {
        if self.packed { 8 } else { 1 }
    }

    /// Makes sure that a cell is stored, and returns its index.
    pub(crate) fn hold(&mut self, cell: Cell) -> usize {
        let index = cell.wrapping_sub(self.first) as usize;
        if index / self.cells_per_byte() < self.cells.len() {
            return index;
        }
        self.grow(cell);
        usize::try_from(cell - self.first).unwrap_or(usize::MAX)
    }

    /// Adds cells up to one that is not stored: at least half as many as there are, or an eighth on long tapes.
    #[cold]
    fn grow(&mut self, cell: Cell) {
        let per_byte = self.cells_per_byte();
        let len = self.cells.len() * per_byte;
        let room = (len / 2).min(1 << 16).max(len / 8) + 16;
        let blank = if self.packed { 0_u8.wrapping_sub(self.blank.0) } else { self.blank.0 };
        if cell < self.first {
            let extra = usize::try_from(self.first - cell).unwrap_or(usize::MAX).max(room);
            let extra = extra.div_ceil(per_byte);
            self.cells.splice(0..0, std::iter::repeat_n(blank, extra));
            self.first -= cell_count(extra * per_byte);
        } else {
            let index = usize::try_from(cell - self.first).unwrap_or(usize::MAX);
            self.cells.resize((index + 1).max(len + room).div_ceil(per_byte), blank);
        }
    }
}

fn cell_count(n: usize) -> Cell {
    Cell::try_from(n).unwrap_or(Cell::MAX)
}
