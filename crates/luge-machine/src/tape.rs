//! A tape that grows in both directions.

use crate::{Cell, SymbolId, TapeInput};

/// The part of a tape that has been used; every other cell is blank.
#[derive(Clone, Debug)]
pub struct TapeCells {
    cells: Vec<u8>,
    /// The cell of `cells[0]`.
    first: Cell,
    blank: SymbolId,
}

impl TapeCells {
    /// A tape with this input, which holds the head's cell.
    pub fn new(input: &TapeInput, blank: SymbolId) -> Self {
        let mut tape = Self { cells: input.symbols.iter().map(|s| s.0).collect(), first: 0, blank };
        tape.hold(input.head);
        tape
    }

    /// The symbol in a cell.
    pub fn read(&self, cell: Cell) -> SymbolId {
        let index = usize::try_from(cell - self.first).ok();
        index.and_then(|i| self.cells.get(i)).map_or(self.blank, |&s| SymbolId(s))
    }

    /// Writes a symbol to a cell.
    pub fn write(&mut self, cell: Cell, symbol: SymbolId) {
        self.replace(cell, symbol);
    }

    /// Writes a symbol to a cell, and returns the previous one.
    pub fn replace(&mut self, cell: Cell, symbol: SymbolId) -> SymbolId {
        let index = self.hold(cell);
        SymbolId(std::mem::replace(&mut self.cells[index], symbol.0))
    }

    /// The held symbols from a cell on; empty if the cell is not held.
    pub fn held_from(&self, cell: Cell) -> &[u8] {
        let index = usize::try_from(cell - self.first).ok();
        index.and_then(|index| self.cells.get(index..)).unwrap_or_default()
    }

    /// The range of held cells, which includes all that were ever used.
    pub fn extent(&self) -> std::ops::Range<Cell> {
        self.first..self.first + cell_count(self.cells.len())
    }

    /// The first held cell.
    pub(crate) fn first(&self) -> Cell {
        self.first
    }

    /// The symbols from the first to the last cell that is not blank, and the cell of the first.
    pub fn trimmed(&self) -> (Cell, Vec<SymbolId>) {
        let filled = |&s: &u8| s != self.blank.0;
        let Some(from) = self.cells.iter().position(filled) else { return (0, Vec::new()) };
        let to = self.cells.iter().rposition(filled).map_or(from, |i| i + 1);
        (self.first + cell_count(from), self.cells[from..to].iter().map(|&s| SymbolId(s)).collect())
    }

    /// Number of cells that are not blank.
    pub fn n_nonblank(&self) -> u64 {
        self.cells.iter().filter(|&&s| s != self.blank.0).count() as u64
    }

    /// The held cells as bytes.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.cells
    }

    /// Makes sure that a cell is held, and returns its index. The tape grows by half.
    pub(crate) fn hold(&mut self, cell: Cell) -> usize {
        // Long tapes grow by an eighth instead.
        let len = self.cells.len();
        let room = (len / 2).min(1 << 16).max(len / 8) + 16;
        if cell < self.first {
            let extra = usize::try_from(self.first - cell).unwrap_or(usize::MAX).max(room);
            self.cells.splice(0..0, std::iter::repeat_n(self.blank.0, extra));
            self.first -= cell_count(extra);
        }
        let index = usize::try_from(cell - self.first).unwrap_or(usize::MAX);
        if index >= self.cells.len() {
            self.cells.resize((index + 1).max(self.cells.len() + room), self.blank.0);
        }
        index
    }
}

fn cell_count(n: usize) -> Cell {
    Cell::try_from(n).unwrap_or(Cell::MAX)
}
