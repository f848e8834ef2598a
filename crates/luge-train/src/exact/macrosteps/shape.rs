//! Finds the cells that windows should show: those that the coming steps depend on.

use luge_net::{VertexTable, tracks};

use super::{
    MAX_STEPS, Window,
    walk::{Source, Stepped, Walk, direction},
};
use crate::{
    TrainError,
    exact::tapes::{MAX_ROWS, Tapes},
};

/// A span of cells on each track, relative to its head.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// The first and the last cell; empty if the first comes after the last.
    spans: [(i32, i32); MAX_ROWS],
}

impl Shape {
    const EMPTY: Self = Self { spans: [(i32::MAX, i32::MIN); MAX_ROWS] };

    /// The cells that windows show.
    pub(super) fn of(windows: &[Window]) -> Self {
        let mut shape = Self::EMPTY;
        for window in windows {
            shape.add(window.track(), window.offset);
            shape.add(window.track(), window.offset + window.width as i32 - 1);
        }
        shape
    }

    /// The cells that distinguish a block's vertices.
    pub(super) fn of_vertex(table: &VertexTable, block: usize) -> Self {
        let mut shape = Self::EMPTY;
        tracks(table.looks_at(block)).for_each(|track| shape.add(track, 0));
        shape
    }

    /// The cells that the first step from a block can depend on, whatever their symbols are.
    pub(super) fn of_first_step(table: &VertexTable, block: usize) -> Self {
        let looks_at = table.looks_at(block);
        let mut places: Vec<usize> =
            table.vertices_of(block).map(|v| table.place(block, table.symbols(v))).collect();
        places.dedup();
        let columns = places.into_iter().filter_map(|place| table.column_at(place));
        let (put, left, right) =
            columns.fold((0, 0, 0), |all, c| (all.0 | c.put, all.1 | c.left, all.2 | c.right));
        let mut shape = Self::EMPTY;
        tracks(looks_at | put).for_each(|track| shape.add(track, 0));
        tracks(looks_at & left).for_each(|track| shape.add(track, -1));
        tracks(looks_at & right).for_each(|track| shape.add(track, 1));
        shape
    }

    fn add(&mut self, track: usize, offset: i32) {
        let (first, last) = &mut self.spans[track];
        (*first, *last) = ((*first).min(offset), (*last).max(offset));
    }

    fn contains(&self, track: usize, offset: i32) -> bool {
        let (first, last) = self.spans[track];
        first <= offset && offset <= last
    }

    pub(super) fn n_cells(&self) -> u32 {
        let width = |&(first, last): &(i32, i32)| if first <= last { (last - first + 1) as u32 } else { 0 };
        self.spans.iter().map(width).sum()
    }

    /// Windows that show these cells, side by side in the content.
    pub(super) fn windows(&self) -> Vec<Window> {
        let (mut windows, mut used) = (Vec::new(), 0);
        let spans = self.spans.iter().enumerate().filter(|(_, (first, last))| first <= last);
        for (track, &(first, last)) in spans {
            let width = (last - first + 1) as u32;
            windows.push(Window::new(track, first, width, used));
            used += width;
        }
        windows
    }
}

/// The cells that the steps from one configuration depend on.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    /// The cells that windows show in any case.
    base: Shape,
    /// All other cells, in the order in which they are needed.
    needs: Vec<Need>,
    n_steps: u32,
}

/// A cell beyond the spans of those before it.
#[derive(Clone, Copy, Debug)]
struct Need {
    /// The number of steps before the first one that depends on the cell.
    after: u32,
    track: usize,
    offset: i32,
}

impl Trace {
    /// Follows the steps from here until they depend on more than `max_cells` cells.
    pub(super) fn ahead(
        base: Shape,
        block: usize,
        max_cells: u32,
        source: &mut Source<'_, '_>,
        tapes: &Tapes,
    ) -> Result<Self, TrainError> {
        let widest = Window::WIDEST as i32;
        let mut from = [-widest / 2; MAX_ROWS];
        let (trace, reached) = Self::follow(&base, Walk::around(block, tapes, &from), max_cells, source)?;
        // A walk knows the cells around each head. Where it has reached their end, begin again with more of them on that side.
        let mut again = false;
        for (from, &(low, high)) in from.iter_mut().zip(&reached.spans) {
            if low == *from && high <= 1 {
                (*from, again) = (2 - widest, true);
            } else if high == *from + widest - 1 && low >= -1 {
                (*from, again) = (-1, true);
            }
        }
        match again {
            false => Ok(trace),
            true => Ok(Self::follow(&base, Walk::around(block, tapes, &from), max_cells, source)?.0),
        }
    }

    /// The trace of a walk, and all cells that it depends on.
    fn follow(
        base: &Shape,
        mut walk: Walk,
        max_cells: u32,
        source: &mut Source<'_, '_>,
    ) -> Result<(Self, Shape), TrainError> {
        let (mut reached, mut needs) = (base.clone(), Vec::new());
        while walk.steps < MAX_STEPS && reached.n_cells() <= max_cells {
            let after = walk.steps;
            let Some(Stepped { left, right, under, ahead, .. }) = walk.step(source)? else { break };
            let mut need = |track: usize, offset: i32| {
                if !reached.contains(track, offset) {
                    reached.add(track, offset);
                    needs.push(Need { after, track, offset });
                }
            };
            tracks(under).for_each(|track| need(track, walk.offset(track) - direction(track, left, right)));
            tracks(ahead).for_each(|track| need(track, walk.offset(track)));
        }
        Ok((Self { base: base.clone(), needs, n_steps: walk.steps }, reached))
    }

    /// The cells of as many steps as depend on at most `max_cells`; in any case those of the first step.
    pub(super) fn shape(&self, max_cells: u32) -> Shape {
        let mut shape = self.base.clone();
        for step in self.needs.chunk_by(|a, b| a.after == b.after) {
            let mut wider = shape.clone();
            step.iter().for_each(|need| wider.add(need.track, need.offset));
            if wider.n_cells() > max_cells && step[0].after > 0 {
                break;
            }
            shape = wider;
        }
        shape
    }

    /// How many of the traces' steps a shape determines: in each trace those before the first one that needs another cell.
    pub(super) fn steps_within(traces: &[Self], shape: &Shape) -> u32 {
        let within = |trace: &Self| {
            let missing = trace.needs.iter().find(|need| !shape.contains(need.track, need.offset));
            missing.map_or(trace.n_steps, |need| need.after)
        };
        traces.iter().map(within).sum()
    }

    /// Among the traces' shapes of at most `max_cells`, the one that determines most steps of all traces, with their number.
    pub(super) fn best(traces: &[Self], max_cells: u32) -> Option<(u32, Shape)> {
        let shapes = traces.iter().map(|trace| trace.shape(max_cells));
        let rated = shapes.map(|shape| (Self::steps_within(traces, &shape), shape));
        rated.max_by_key(|(steps, shape)| (*steps, std::cmp::Reverse(shape.n_cells())))
    }
}
