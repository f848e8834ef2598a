//! The machine's tapes in the network's binary tapes.

use luge_machine::{Cell, Machine, SymbolId, TapeId, lowering::Lowered};
use luge_train::TapeSnapshot;

use luge::draw::picture::{self, Rgb};

/// The weight of a track's cell; `None` if it is not stored.
pub(crate) fn cell_weight(track: &TapeSnapshot, cell: i64) -> Option<f64> {
    track.cells.get(usize::try_from(cell - track.first).ok()?)
}

/// The track's cell that has most of the head's weight.
pub(super) fn head_cell(track: &TapeSnapshot) -> Option<i64> {
    let (at, _) = track.head.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
    Some(track.head_first + at as i64)
}

/// Which binary tapes (tracks) hold a tape, and the colours of its symbols.
#[derive(Debug)]
pub struct Tapes<'m> {
    /// The machine.
    pub machine: &'m Machine,
    lowered: &'m Lowered,
    /// For every track, the machine's cell that its cell 0 represents.
    first: Vec<Cell>,
    colours: Vec<Vec<Rgb>>,
}

impl<'m> Tapes<'m> {
    /// The tapes of a machine whose tracks begin at these cells.
    pub fn new(machine: &'m Machine, lowered: &'m Lowered, first: Vec<Cell>) -> Self {
        let colours = machine.tapes().iter().map(|tape| picture::colours(&tape.alphabet)).collect();
        Self { machine, lowered, first, colours }
    }

    /// The tracks of a tape, the lowest bit first.
    pub fn tracks(&self, tape: TapeId) -> impl ExactSizeIterator<Item = usize> + use<> {
        self.lowered.tracks(tape).map(TapeId::index)
    }

    /// The machine's cell that a track's cell represents.
    pub fn outside(&self, track: usize, cell: i64) -> Cell {
        cell + self.first[track]
    }

    /// The track's cell that represents a cell of the machine.
    pub fn inside(&self, track: usize, cell: Cell) -> i64 {
        cell - self.first[track]
    }

    /// The symbol in a cell of the machine, if the bits encode one.
    pub fn symbol(&self, kept: &[TapeSnapshot], tape: TapeId, cell: Cell) -> Option<SymbolId> {
        let bit = |track: TapeId, cell: Cell| {
            let weight = cell_weight(&kept[track.index()], self.inside(track.index(), cell));
            SymbolId(u8::from(weight.is_some_and(|weight| weight > 0.0)))
        };
        self.lowered.decode_cell(tape, cell, bit)
    }

    /// The machine's cell that a tape's head is on.
    pub fn head(&self, kept: &[TapeSnapshot], tape: TapeId) -> Option<Cell> {
        let track = self.tracks(tape).next()?;
        Some(self.outside(track, head_cell(kept.get(track)?)?))
    }

    /// The first and the last cell of a tape that is not blank, or under the head.
    pub fn extent(&self, kept: &[TapeSnapshot], tape: TapeId) -> Option<(Cell, Cell)> {
        let head = self.head(kept, tape)?;
        let (mut low, mut high) = (head, head);
        for track in self.tracks(tape) {
            let TapeSnapshot { first, cells, .. } = &kept[track];
            let inked = |value: f64| value > 0.0;
            if let (Some(a), Some(b)) = (cells.iter().position(inked), cells.iter().rposition(inked)) {
                low = low.min(self.outside(track, first + a as i64));
                high = high.max(self.outside(track, first + b as i64));
            }
        }
        Some((low, high))
    }

    /// The colour of a cell.
    pub(super) fn colour(&self, kept: &[TapeSnapshot], tape: TapeId, cell: Cell) -> Rgb {
        let symbol = self.symbol(kept, tape, cell);
        symbol.map_or(picture::MARGIN, |symbol| self.colours[tape.index()][symbol.index()])
    }

    /// The colours of a tape's symbols.
    pub fn colours(&self, tape: TapeId) -> &[Rgb] {
        &self.colours[tape.index()]
    }
}
