//! Several heads, each on a row of its own: a step costs what it moves and writes, however many symbols a vertex has.
//!
//! Vertices with the same column of arcs do the same, and the slopes of a gate are a sum over symbols, each of which
//! depends on what the symbol is and what will be read. So a step is remembered per column, and for every track and each of its four
//! cases it is differentiated before it is relied on.

use luge_net::{VertexTable, faults::planted};

use super::{CarriedLosses, single_head::LoopExit};
use crate::{
    Change, TrainError,
    room::{room, widen},
    sparse::Sparse,
    visit,
};

/// Rows of cells, one byte each, with their heads.
#[derive(Clone, Debug)]
pub(super) struct MultiHead {
    pub(super) block: usize,
    /// All symbols under the heads, whether looked at or not.
    pub(super) symbols: u32,
    /// The digest of all vertices visited.
    pub(super) path: u64,
    rows: Vec<Row>,
    remembered: Vec<Option<Remembered>>,
    levels: Levels,
    /// Levels at or below this one are looked at closely.
    pub(super) low: f64,
    /// The lowest and highest landscape loss so far.
    pub(super) range: Option<(f64, f64)>,
}

#[derive(Clone, Debug)]
struct Row {
    first: i64,
    cells: Vec<u8>,
    at: usize,
}

/// What a column does, as it turned out by differentiating.
#[derive(Clone, Debug)]
struct Remembered {
    next: u32,
    put: u32,
    plus: u32,
    left: u32,
    right: u32,
    /// The landscape's loss if no cell changes and every symbol stays.
    level: f64,
    /// The tracks whose symbols tell the block's vertices apart.
    looks_at: u32,
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

impl MultiHead {
    pub(super) fn new(
        table: &VertexTable,
        (block, symbols, path): (usize, u32, u64),
        levels: Levels,
        low: f64,
    ) -> Self {
        Self {
            block,
            symbols,
            path,
            rows: Vec::new(),
            remembered: vec![None; table.n_columns()],
            levels,
            low,
            range: None,
        }
    }

    pub(super) fn add_row(&mut self, first: i64, cells: Vec<u8>, head: i64) {
        let mut row = Row { first, cells, at: 0 };
        row.go_to(head);
        self.rows.push(row);
    }

    pub(super) fn head(&self, track: usize) -> i64 {
        self.rows[track].head()
    }

    pub(super) fn cell(&self, track: usize, cell: i64) -> u8 {
        let row = &self.rows[track];
        usize::try_from(cell - row.first).ok().and_then(|i| row.cells.get(i)).copied().unwrap_or(0)
    }

    pub(super) fn cells(&self, track: usize) -> (i64, &[u8]) {
        (self.rows[track].first, &self.rows[track].cells)
    }

    pub(super) fn n_bytes(&self) -> usize {
        self.rows.iter().map(|row| row.cells.len()).sum()
    }

    /// Makes up to `remaining` steps, and counts them down.
    pub(super) fn run(
        &mut self,
        table: &VertexTable,
        probe: &mut Sparse<'_>,
        remaining: &mut u64,
    ) -> Result<LoopExit, TrainError> {
        while *remaining > 0 {
            let look = self.look(table, probe)?;
            if look.landscape <= self.low {
                return Ok(LoopExit::Low);
            }
            self.note(look.landscape);
            self.step(&look);
            self.path = visit(self.path, table.vertex(self.block, self.symbols));
            *remaining -= 1;
        }
        Ok(LoopExit::Done)
    }

    /// As [`run`](Self::run), noting what every step changes; `loss` is the network's for a loss of the landscape.
    pub(super) fn run_noting(
        &mut self,
        table: &VertexTable,
        probe: &mut Sparse<'_>,
        most: u64,
        changes: &mut Vec<Change>,
        loss: &mut CarriedLosses,
    ) -> Result<LoopExit, TrainError> {
        for _ in 0..most {
            let look = self.look(table, probe)?;
            if look.landscape <= self.low {
                return Ok(LoopExit::Low);
            }
            self.note(look.landscape);
            let flipped = look.written ^ self.symbols;
            self.step(&look);
            let vertex = table.vertex(self.block, self.symbols);
            self.path = visit(self.path, vertex);
            let loss = loss.of(probe, look.landscape);
            changes.push(Change { loss, vertex, left: look.left, right: look.right, flipped });
        }
        Ok(LoopExit::Done)
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
        let (block, symbols) = (self.block, self.symbols);
        let place = table.place(block, symbols);
        let action = match &mut self.remembered[place] {
            Some(action) => action,
            nothing => nothing.insert(learn(table, probe, (block, symbols), &self.levels)?),
        };
        let written = symbols & !action.put | action.plus;
        let mut ahead = written;
        let mut moves = action.left | action.right;
        while moves != 0 {
            let i = moves.trailing_zeros() as usize;
            moves &= moves - 1;
            let found = self.rows[i].beside((action.left >> i & 1) == 1);
            ahead = ahead & !(1 << i) | u32::from(found) << i;
        }
        let all = (1_u32 << self.rows.len()) - 1;
        let cases = [!symbols & !ahead & all, !symbols & ahead, symbols & !ahead, symbols & ahead];
        let fresh = cases.iter().zip(action.seen).fold(0, |fresh, (case, seen)| fresh | case & !seen);
        if fresh != 0 {
            action.confirm(table, probe, (block, symbols), ahead, &self.levels)?;
            cases.iter().zip(&mut action.seen).for_each(|(case, seen)| *seen |= case);
        }
        let landscape = action.landscape(&self.levels, (block, symbols), ahead);
        Ok(Look { landscape, next: action.next, written, ahead, left: action.left, right: action.right })
    }

    #[inline]
    fn step(&mut self, look: &Look) {
        let mut changed = look.written ^ self.symbols;
        while changed != 0 {
            let i = changed.trailing_zeros() as usize;
            changed &= changed - 1;
            let row = &mut self.rows[i];
            let kept = planted("remembered write skipped");
            row.cells[row.at] = if kept { row.cells[row.at] } else { (look.written >> i & 1) as u8 };
        }
        let mut moves = look.left | look.right;
        while moves != 0 {
            let i = moves.trailing_zeros() as usize;
            moves &= moves - 1;
            let row = &mut self.rows[i];
            row.at = if look.left >> i & 1 == 1 { row.at - 1 } else { row.at + 1 };
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

/// Differentiates in a block on these symbols to see what its column does.
fn learn(
    table: &VertexTable,
    probe: &mut Sparse<'_>,
    (block, symbols): (usize, u32),
    levels: &Levels,
) -> Result<Remembered, TrainError> {
    let vertex = table.vertex(block, symbols);
    let probed = super::legality::differentiate(probe, vertex, symbols, symbols)?;
    // Which symbols are put whatever they were is said by the column; that they are is seen by differentiating.
    let put = table.column(vertex).map_or(0, |column| column.put);
    let mut action = Remembered {
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
    let ahead = probed.written & !(probed.left | probed.right) | symbols & (probed.left | probed.right);
    action.level = probed.landscape - action.landscape(levels, (block, symbols), ahead);
    Ok(action)
}

impl Remembered {
    /// The landscape's loss where these symbols are found and those will be.
    #[inline]
    fn landscape(&self, levels: &Levels, (block, symbols): (usize, u32), ahead: u32) -> f64 {
        let changed = (symbols & !self.put | self.plus) ^ symbols;
        let flipped = (symbols ^ ahead) & self.looks_at;
        let stays = flipped == 0 && self.next as usize == block;
        let other = if stays { 0.0 } else { levels.other };
        self.level
            + levels.write * f64::from(changed.count_ones())
            + levels.flip * f64::from(flipped.count_ones())
            + other
    }

    /// Differentiates the step that is about to be relied on.
    fn confirm(
        &self,
        table: &VertexTable,
        probe: &mut Sparse<'_>,
        (block, symbols): (usize, u32),
        ahead: u32,
        levels: &Levels,
    ) -> Result<(), TrainError> {
        let vertex = table.vertex(block, symbols);
        let probed = super::legality::differentiate(probe, vertex, symbols, ahead)?;
        let alike = probed.to == table.vertex(self.next as usize, ahead)
            && probed.written == symbols & !self.put | self.plus
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

impl Row {
    fn head(&self) -> i64 {
        self.first + self.at as i64
    }

    /// The cell to the left or to the right of the head; makes room where the kept cells end.
    #[inline]
    fn beside(&mut self, left: bool) -> u8 {
        if self.at == 0 || self.at + 1 >= self.cells.len() {
            self.go_to(self.head());
        }
        self.cells[if left { self.at - 1 } else { self.at + 1 }]
    }

    /// Puts the head on a cell and keeps its neighbours.
    #[cold]
    fn go_to(&mut self, head: i64) {
        let grown = room(self.first, self.cells.len(), head - 1, head + 1);
        widen(&mut self.cells, grown, 0);
        self.first -= grown.0 as i64;
        self.at = (head - self.first) as usize;
    }
}

#[cfg(feature = "faults")]
impl MultiHead {
    /// Spoils what is remembered of the current column.
    pub(super) fn spoil(&mut self, table: &VertexTable, fault: super::Fault) -> bool {
        let n_blocks = table.n_blocks() as u32;
        let Some(action) = &mut self.remembered[table.place(self.block, self.symbols)] else { return false };
        match fault {
            super::Fault::WrongEntry => action.next = (action.next + 1) % n_blocks,
            super::Fault::SkippedWrite => {
                let changes = (self.symbols & !action.put | action.plus) != self.symbols;
                (action.put, action.plus) = (0, 0);
                return changes;
            }
            super::Fault::StaleRead => {
                let moves = action.left | action.right;
                (action.left, action.right) = (0, 0);
                return moves != 0;
            }
        }
        true
    }
}
