//! A tape that grows in both directions.

use crate::{Cell, SymbolId, TapeInput};

/// The touched part of one tape; every other cell is blank.
#[derive(Clone, Debug)]
pub struct TapeCells {
    cells: Vec<u8>,
    /// The tape's cell that `cells[0]` stands for.
    first: Cell,
    blank: SymbolId,
}

impl TapeCells {
    /// Lays the input and makes sure the head's cell is held.
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

    /// Puts a symbol into a cell.
    pub fn write(&mut self, cell: Cell, symbol: SymbolId) {
        self.replace(cell, symbol);
    }

    /// Puts a symbol into a cell, and says what was there.
    pub fn replace(&mut self, cell: Cell, symbol: SymbolId) -> SymbolId {
        let index = self.hold(cell);
        SymbolId(std::mem::replace(&mut self.cells[index], symbol.0))
    }

    /// The symbols from a cell on that are held, if that cell is.
    pub fn held_from(&self, cell: Cell) -> &[u8] {
        let index = usize::try_from(cell - self.first).ok();
        index.and_then(|index| self.cells.get(index..)).unwrap_or_default()
    }

    /// The held cells, `first..end`: all that were ever touched lie inside.
    pub fn extent(&self) -> std::ops::Range<Cell> {
        self.first..self.first + cell_count(self.cells.len())
    }

    /// The first held cell.
    pub(crate) fn first(&self) -> Cell {
        self.first
    }

    /// The symbols between the outermost cells that are not blank, and the cell of the first of them.
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

    /// The held cells as bytes, for loops that keep their own index.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.cells
    }

    /// Makes sure a cell is held, growing by half when it is not, and says at which index.
    pub(crate) fn hold(&mut self, cell: Cell) -> usize {
        // Long tapes grow by an eighth.
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
