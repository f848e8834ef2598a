//! Follows stored steps from a block, on copies of the cells that windows show.

use luge_net::{VertexTable, tracks};

use super::{MAX_STEPS, Window};
use crate::{
    TrainError,
    exact::{
        columns::Columns,
        tapes::{MAX_ROWS, REACH, Tapes},
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
    /// How far each head has come.
    pub(super) moved: [i32; MAX_ROWS],
    /// The cells of each track that are shown, the first in the lowest bit.
    pub(super) cells: [u64; MAX_ROWS],
    /// The first cell of each track that is shown, counted from where its head was, and how many are.
    first: [i32; MAX_ROWS],
    width: [u32; MAX_ROWS],
}

impl Walk {
    fn new(block: usize) -> Self {
        Self {
            block,
            steps: 0,
            digest: 0,
            range: (f64::INFINITY, f64::NEG_INFINITY),
            moved: [0; MAX_ROWS],
            cells: [0; MAX_ROWS],
            first: [0; MAX_ROWS],
            width: [0; MAX_ROWS],
        }
    }

    /// On what these windows show, one for each of a few tracks.
    pub(super) fn shown(block: usize, windows: &[Window], content: [u64; 2]) -> Self {
        let mut walk = Self::new(block);
        for window in windows {
            let track = window.track();
            walk.first[track] = window.offset;
            walk.width[track] = window.width();
            walk.cells[track] = window.part(content).rotate_right(u32::from(window.shift));
        }
        walk
    }

    /// A window's part of the content as it is now.
    pub(super) fn left(&self, window: &Window) -> u64 {
        self.cells[window.track()].rotate_left(u32::from(window.shift))
    }

    /// On the cells of each track from one on, counted from its head.
    fn around(block: usize, tapes: &Tapes, first: &[i32; MAX_ROWS]) -> Self {
        let mut walk = Self { first: *first, ..Self::new(block) };
        for (track, &first) in first.iter().enumerate().take(tapes.n_rows()) {
            let mut content = [0; 2];
            let window = Window::new(track, first, Window::WIDEST, 0);
            window.show(&tapes.cells, &tapes.heads, &mut content);
            (walk.width[track], walk.cells[track]) = (Window::WIDEST, content[0]);
        }
        walk
    }

    /// The symbols of some tracks, each so far from where its head is now; `None` if one is not shown.
    #[inline]
    fn symbols(&self, mask: u32, beside: impl Fn(usize) -> i32) -> Option<u32> {
        let mut symbols = 0;
        for track in tracks(mask) {
            let at = (self.moved[track] + beside(track) - self.first[track]) as u32;
            if at >= self.width[track] {
                return None;
            }
            symbols |= ((self.cells[track] >> at & 1) as u32) << track;
        }
        Some(symbols)
    }

    /// One more step; `None`, and no step, if it depends on what is not shown or must be looked at closely. `note` hears of every
    /// cell that it depends on.
    #[inline]
    pub(super) fn step(
        &mut self,
        source: &mut Source<'_, '_>,
        mut note: impl FnMut(usize, i32),
    ) -> Result<Option<Stepped>, TrainError> {
        let Source { table, columns, probe } = source;
        let block = self.block;
        let Some(looked_at) = self.symbols(table.looks_at(block), |_| 0) else { return Ok(None) };
        let (low, levels) = (columns.low, columns.levels);
        let action = columns.at(table, probe, block, looked_at)?;
        if !action.is_complete() {
            return Ok(None);
        }
        let unseen = action.put & !action.looks_at;
        let way = |track: usize| (action.right >> track & 1) as i32 - (action.left >> track & 1) as i32;
        let (seen_next, moves) = (action.looks_at & action.moves(), action.moves());
        let Some(written_over) = self.symbols(unseen, |_| 0) else { return Ok(None) };
        let Some(found) = self.symbols(seen_next, way) else { return Ok(None) };
        let symbols = looked_at | written_over;
        let written = action.written(symbols);
        let landscape = action.landscape(&levels, (block, symbols), written & !moves | found);
        let far = |track: usize| (self.moved[track] + way(track)).abs() > REACH;
        if landscape <= low || tracks(moves).any(far) {
            return Ok(None);
        }
        tracks(action.looks_at | unseen).for_each(|track| note(track, self.moved[track]));
        tracks(seen_next).for_each(|track| note(track, self.moved[track] + way(track)));
        let flipped = written ^ symbols;
        for track in tracks(flipped) {
            self.cells[track] ^= 1 << (self.moved[track] - self.first[track]);
        }
        tracks(moves).for_each(|track| self.moved[track] += way(track));
        let from = table.vertex(block, symbols);
        self.digest = visit(self.digest, from);
        self.range = (self.range.0.min(landscape), self.range.1.max(landscape));
        self.block = action.next as usize;
        self.steps += 1;
        Ok(Some(Stepped { from, landscape, left: action.left, right: action.right, flipped }))
    }

    /// Goes on for so many steps at most, as far as the windows show what steps depend on.
    pub(super) fn follow(&mut self, source: &mut Source<'_, '_>, most: u32) -> Result<(), TrainError> {
        while self.steps < most && self.step(source, |_, _| {})?.is_some() {}
        Ok(())
    }
}

/// The cells of each track that steps depend on, counted from where its head was.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// The first and the last; none where the first comes after the last.
    spans: [(i32, i32); MAX_ROWS],
}

impl Shape {
    const EMPTY: Self = Self { spans: [(i32::MAX, i32::MIN); MAX_ROWS] };

    fn add(&mut self, track: usize, offset: i32) {
        let (first, last) = &mut self.spans[track];
        (*first, *last) = ((*first).min(offset), (*last).max(offset));
    }

    fn n_bits(&self) -> u32 {
        self.spans
            .iter()
            .map(|&(first, last)| if first <= last { (last - first + 1) as u32 } else { 0 })
            .sum()
    }

    /// The windows, whose cells stand side by side in the content.
    fn windows(&self) -> Vec<Window> {
        let (mut windows, mut used) = (Vec::new(), 0);
        for (track, &(first, last)) in
            self.spans.iter().enumerate().filter(|(_, (first, last))| first <= last)
        {
            let width = (last - first + 1) as u32;
            windows.push(Window::new(track, first, width, used));
            used += width;
        }
        windows
    }

    /// What the first step from a block on can depend on, whatever is found.
    fn first_step(table: &VertexTable, block: usize) -> Self {
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

    /// The cells that the coming steps depend on, up to the last change of the block before they are more than so many. `None` if the first
    /// step depends on too many.
    pub(super) fn ahead(
        block: usize,
        most_bits: u32,
        source: &mut Source<'_, '_>,
        tapes: &Tapes,
    ) -> Result<Option<Vec<Window>>, TrainError> {
        let first = Self::first_step(source.table, block);
        if first.n_bits() > Window::ROOM {
            return Ok(None);
        }
        let widest = Window::WIDEST as i32;
        let mut from = [-widest / 2; MAX_ROWS];
        let mut shape = first.grown(Walk::around(block, tapes, &from), most_bits, source)?;
        // Where steps have come to the end of what is shown, more is shown on that side.
        let mut left = false;
        for (from, &(low, high)) in from.iter_mut().zip(&shape.spans) {
            if low == *from && high <= 1 {
                (*from, left) = (2 - widest, true);
            } else if high == *from + widest - 1 && low >= -1 {
                (*from, left) = (-1, true);
            }
        }
        if left {
            shape = first.grown(Walk::around(block, tapes, &from), most_bits, source)?;
        }
        Ok(Some(shape.windows()))
    }

    /// With the cells that the steps of a walk depend on.
    fn grown(&self, mut walk: Walk, most_bits: u32, source: &mut Source<'_, '_>) -> Result<Self, TrainError> {
        let (mut shape, mut grown, mut entered) = (self.clone(), self.clone(), None);
        while walk.steps < MAX_STEPS {
            let block = walk.block;
            let stepped = walk.step(source, |track, offset| shape.add(track, offset))?;
            if stepped.is_none() || shape.n_bits() > most_bits {
                break;
            }
            grown = shape.clone();
            if walk.block != block {
                entered = Some(grown.clone());
            }
        }
        Ok(entered.unwrap_or(grown))
    }
}
