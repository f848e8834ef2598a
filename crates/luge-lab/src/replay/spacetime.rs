//! The tapes over time: evenly spaced rows of a run whose length need not be known.

use std::ops::Range;

use luge::{
    draw::picture::{self, Rgb},
    run::decimated::{Decimated, Thin},
};
use luge_machine::{Cell, TapeId};
use luge_train::Snapshot;

use super::Tapes;

/// The most rows.
pub const MAX_ROWS: usize = 400;

/// The most columns of a row.
const MAX_COLUMNS: usize = 640;

/// Part of a picture, to be drawn in full resolution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// The tape.
    pub tape: TapeId,
    /// The first step.
    pub from: u64,
    /// The last step.
    pub to: u64,
    /// The cells.
    pub cells: Range<Cell>,
}

/// The tapes at one step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    step: u64,
    lines: Vec<Line>,
}

/// One tape at one step: the mean colours of groups of cells.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Line {
    first: Cell,
    /// Cells per colour.
    stride: Cell,
    colours: Vec<Rgb>,
    head: Option<Cell>,
}

impl Row {
    /// All tapes, from the first cell that is not blank to the last.
    pub fn of(step: u64, tapes: &Tapes<'_>, snapshot: &Snapshot) -> Self {
        let line = |tape: TapeId| {
            let (low, high) = tapes.extent(&snapshot.tapes, tape).unwrap_or((0, -1));
            Line::new(tapes, snapshot, tape, low..high + 1)
        };
        Self { step, lines: tapes.machine.tape_ids().map(line).collect() }
    }

    /// The cells of one tape that belong to a part of the picture.
    pub fn of_part(step: u64, tapes: &Tapes<'_>, snapshot: &Snapshot, part: &Part) -> Self {
        Self { step, lines: vec![Line::new(tapes, snapshot, part.tape, part.cells.clone())] }
    }
}

impl Line {
    fn new(tapes: &Tapes<'_>, snapshot: &Snapshot, tape: TapeId, cells: Range<Cell>) -> Self {
        let kept = &snapshot.tapes;
        if kept.is_empty() {
            return Self { first: 0, stride: 1, colours: Vec::new(), head: None };
        }
        let n_cells = cells.end.saturating_sub(cells.start).max(0);
        let stride = n_cells.unsigned_abs().div_ceil(MAX_COLUMNS as u64).max(1) as Cell;
        let colour = |cell: Cell| tapes.colour(kept, tape, cell);
        let column = |start: Cell| {
            // A sample of evenly spaced cells.
            let sample = stride.min(16);
            picture::mean((0..sample).map(|i| colour(start + i * stride / sample)))
        };
        let colours = (0..n_cells / stride + Cell::from(n_cells % stride != 0))
            .map(|i| column(cells.start + i * stride))
            .collect();
        Self { first: cells.start, stride, colours, head: tapes.head(kept, tape) }
    }

    fn end(&self) -> Cell {
        self.first + self.stride * self.colours.len() as Cell
    }

    /// The mean colour of some cells.
    fn colour(&self, cells: &Range<Cell>) -> Rgb {
        let (from, to) = (cells.start.max(self.first), cells.end.min(self.end()));
        if from >= to {
            return picture::BLANK;
        }
        let index = |cell: Cell| ((cell - self.first) / self.stride) as usize;
        let inside = &self.colours[index(from)..=index(to - 1)];
        let n_blank = (cells.end - cells.start - (to - from)) / self.stride;
        picture::mean(inside.iter().copied().chain((0..n_blank).map(|_| picture::BLANK)))
    }
}

impl Thin for Row {}

/// Evenly spaced rows.
#[derive(Clone, PartialEq, Debug)]
pub struct SpaceTime {
    rows: Decimated<Row>,
    /// The end of the run.
    last: Option<Row>,
}

impl SpaceTime {
    /// An empty picture of a run with this many steps; 0 if that is not known yet.
    pub(super) fn for_run(steps: u64) -> Self {
        Self { rows: Decimated::for_run(MAX_ROWS, steps), last: None }
    }

    /// The step of the next row.
    pub fn due(&self) -> u64 {
        self.rows.due()
    }

    /// Adds the next row.
    pub fn add(&mut self, row: Row) {
        self.rows.keep(row.step, row);
    }

    /// Adds the last row of the run.
    pub fn close(&mut self, row: Row) {
        self.last = Some(row);
    }

    /// The whole picture of a tape.
    pub fn strip(&self, tape: TapeId) -> Strip {
        let rows: Vec<Row> = self.rows.iter().chain(&self.last).cloned().collect();
        Strip::of(&rows, tape.index(), None)
    }
}

/// A picture: one line of pixels per row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Strip {
    /// Pixels from left to right.
    pub width: usize,
    /// The step of each line.
    pub steps: Vec<u64>,
    /// The cells from left to right.
    pub cells: Range<Cell>,
    /// Line by line, without the heads.
    pub pixels: Vec<Rgb>,
    /// The head's cell in each line.
    pub heads: Vec<Option<Cell>>,
}

impl Strip {
    pub(super) fn of(rows: &[Row], line: usize, cells: Option<Range<Cell>>) -> Self {
        let lines: Vec<&Line> = rows.iter().filter_map(|row| row.lines.get(line)).collect();
        let cells = cells.unwrap_or_else(|| {
            let drawn = || lines.iter().filter(|line| !line.colours.is_empty());
            let low = drawn().map(|line| line.first).min().unwrap_or(0);
            low..drawn().map(|line| line.end()).max().unwrap_or(0).max(low + 1)
        });
        let n_cells = cells.end.saturating_sub(cells.start).max(1);
        let width = usize::try_from(n_cells).unwrap_or(usize::MAX).min(MAX_COLUMNS);
        let edge =
            |column: usize| cells.start + (column as i128 * i128::from(n_cells) / width as i128) as Cell;
        let mut pixels = Vec::with_capacity(width * lines.len());
        for line in &lines {
            for column in 0..width {
                pixels.push(line.colour(&(edge(column)..edge(column + 1))));
            }
        }
        let heads = lines.iter().map(|line| line.head).collect();
        Self { width, steps: rows.iter().map(|row| row.step).collect(), cells, pixels, heads }
    }
}
