//! One head over blocks of cells: everything between entering a block and leaving it is stored as one entry.
//!
//! A stored crossing begins with the step that enters a block and ends with the head about to leave it. It is
//! composed of stored steps, each of which was differentiated.

use super::{
    memory::{Action, Found, Memory},
    single_head::LoopExit,
};
use crate::{
    TrainError,
    path::Piece,
    room::{room, widen},
    sparse::Sparse,
    visit,
};

/// Bits per block: symbols, over all tracks and cells.
const BLOCK_BITS: usize = 8;
/// The most vertices and sides from which crossings are remembered.
const MAX_PAGES: usize = 1 << 12;
/// The most steps a remembered crossing takes.
const MAX_STEPS: u32 = 1 << 20;

/// A crossing: in one word, bits 0..16 the content left behind, 16..18 the way the head leaves as a signed number,
/// 18..40 the steps (0: unknown), 40.. where the page begins on which it goes on; and the vertices visited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Crossing(u64, Piece);

impl Crossing {
    const UNKNOWN: Self = Self(0, Piece::EMPTY);

    fn new(content: u16, right: bool, steps: u32, first: usize, visited: Piece) -> Self {
        let way = if right { 1 } else { 3 };
        let word = u64::from(content) | way << 16 | u64::from(steps) << 18 | (first as u64) << 40;
        Self(word, visited)
    }

    #[inline]
    fn content(self) -> u16 {
        self.0 as u16
    }

    #[inline]
    fn offset(self) -> isize {
        ((self.0 as i64) << 46 >> 62) as isize
    }

    #[inline]
    fn steps(self) -> u64 {
        self.0 >> 18 & 0x3f_ffff
    }

    #[inline]
    fn first(self) -> usize {
        (self.0 >> 40) as usize
    }
}

/// A tape of blocks with a head on it.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    /// The state's block, and all symbols under the head.
    pub(super) situation: usize,
    /// The digest of all vertices visited.
    pub(super) path: u64,
    n_tracks: usize,
    /// Cells per block.
    n_cells: usize,
    /// The number of the first block; block 0 begins with cell 0.
    first: i64,
    contents: Vec<u16>,
    block: usize,
    /// The cell within the block.
    within: usize,
    crossings: Vec<Crossing>,
    /// The situation of each page, and whether it enters moving right.
    pages: Vec<(usize, bool)>,
    page_of: std::collections::BTreeMap<(usize, bool), usize>,
}

impl Blocks {
    pub(super) fn new(
        (situation, path): (usize, u64),
        n_tracks: usize,
        first: i64,
        cells: &[u8],
        head: i64,
    ) -> Self {
        let n_cells = (BLOCK_BITS / n_tracks).max(1);
        let mut blocks = Self {
            situation,
            path,
            n_tracks,
            n_cells,
            first: first.div_euclid(n_cells as i64),
            contents: Vec::new(),
            block: 0,
            within: head.rem_euclid(n_cells as i64) as usize,
            crossings: Vec::new(),
            pages: Vec::new(),
            page_of: std::collections::BTreeMap::new(),
        };
        blocks.hold(head.div_euclid(n_cells as i64));
        blocks.block = (head.div_euclid(n_cells as i64) - blocks.first) as usize;
        for (cell, &symbols) in (first..).zip(cells) {
            if symbols != 0 {
                blocks.hold(cell.div_euclid(n_cells as i64));
                blocks.set(cell, symbols);
            }
        }
        blocks
    }

    pub(super) fn head(&self) -> i64 {
        (self.first + self.block as i64) * self.n_cells as i64 + self.within as i64
    }

    pub(super) fn cell(&self, cell: i64) -> u8 {
        let block = cell.div_euclid(self.n_cells as i64) - self.first;
        let content = usize::try_from(block).ok().and_then(|block| self.contents.get(block)).copied();
        content.map_or(0, |content| self.get(content, cell.rem_euclid(self.n_cells as i64) as usize))
    }

    /// All cells that are kept.
    pub(super) fn cells(&self) -> (i64, Vec<u8>) {
        let cells = self.contents.iter().flat_map(|&c| (0..self.n_cells).map(move |i| self.get(c, i)));
        (self.first * self.n_cells as i64, cells.collect())
    }

    /// The first cell that is kept, and how many there are.
    pub(super) fn kept(&self) -> (i64, usize) {
        (self.first * self.n_cells as i64, self.contents.len() * self.n_cells)
    }

    pub(super) fn n_bytes(&self) -> usize {
        self.contents.len() * size_of::<u16>()
    }

    fn get(&self, content: u16, within: usize) -> u8 {
        (content >> (within * self.n_tracks)) as u8 & ((1_u16 << self.n_tracks) - 1) as u8
    }

    fn with(&self, content: u16, within: usize, symbols: u8) -> u16 {
        let shift = within * self.n_tracks;
        content & !(((1_u16 << self.n_tracks) - 1) << shift) | u16::from(symbols) << shift
    }

    fn set(&mut self, cell: i64, symbols: u8) {
        let block = (cell.div_euclid(self.n_cells as i64) - self.first) as usize;
        self.contents[block] =
            self.with(self.contents[block], cell.rem_euclid(self.n_cells as i64) as usize, symbols);
    }

    /// Makes sure that a block and its neighbours are kept.
    fn hold(&mut self, block: i64) {
        let grown = room(self.first, self.contents.len(), block - 1, block + 1);
        widen(&mut self.contents, grown, 0);
        self.first -= grown.0 as i64;
        self.block = self.block.wrapping_add(grown.0);
    }

    /// Makes up to `remaining` steps, and counts them down.
    pub(super) fn run(
        &mut self,
        memory: &mut Memory,
        probe: &mut Sparse<'_>,
        remaining: &mut u64,
    ) -> Result<LoopExit, TrainError> {
        while *remaining > 0 {
            let here = memory.action(probe, self.situation)?;
            if self.leaves(here) {
                self.run_cached(memory, probe, here, remaining)?;
                if *remaining == 0 {
                    break;
                }
            }
            let here = memory.action(probe, self.situation)?;
            match memory.meet(probe, self.situation, self.ahead(here))? {
                Found::Low => return Ok(LoopExit::Low),
                Found::Step(next) => self.step(here, next),
            }
            *remaining -= 1;
        }
        Ok(LoopExit::Done)
    }

    /// The landscape's loss here.
    pub(super) fn level(&mut self, memory: &mut Memory, probe: &mut Sparse<'_>) -> Result<f64, TrainError> {
        let here = memory.action(probe, self.situation)?;
        let ahead = self.ahead(here);
        memory.level(probe, self.situation, ahead)
    }

    /// Whether the step leaves the block.
    fn leaves(&self, here: Action) -> bool {
        self.within.wrapping_add_signed(here.offset()) >= self.n_cells
    }

    fn ahead(&mut self, here: Action) -> u8 {
        self.hold(self.first + self.block as i64);
        let at = self.head();
        here.ahead(self.cell(at - 1), self.cell(at + 1))
    }

    /// One remembered step.
    fn step(&mut self, here: Action, next: Action) {
        let at = self.head();
        self.set(at, here.written());
        let to = at + here.offset() as i64;
        self.block = (to.div_euclid(self.n_cells as i64) - self.first) as usize;
        self.within = to.rem_euclid(self.n_cells as i64) as usize;
        self.situation = next.situation();
        self.path = visit(self.path, next.vertex());
    }

    /// Crossings from block to block, until one is not remembered and cannot be.
    fn run_cached(
        &mut self,
        memory: &mut Memory,
        probe: &mut Sparse<'_>,
        here: Action,
        remaining: &mut u64,
    ) -> Result<(), TrainError> {
        let bits = self.n_cells * self.n_tracks;
        let Some(page) = self.page(here.situation(), here.offset() > 0) else { return Ok(()) };
        // Where the page of the current crossing begins.
        let mut first = page << bits;
        // The step that leaves has written already; it is made when the next block is entered.
        self.contents[self.block] = self.with(self.contents[self.block], self.within, here.written());
        let mut block = self.block.wrapping_add_signed(here.offset());
        loop {
            let (contents, crossings) = (&mut self.contents[..], &self.crossings[..]);
            let (mut left, mut path) = (*remaining, self.path);
            while let Some(content) = contents.get_mut(block) {
                let Some(&crossing) = crossings.get(first | *content as usize) else { break };
                let steps = crossing.steps();
                if steps.wrapping_sub(1) >= left {
                    break;
                }
                *content = crossing.content();
                block = block.wrapping_add_signed(crossing.offset());
                first = crossing.first();
                path = crossing.1.after(path);
                left -= steps;
            }
            (*remaining, self.path) = (left, path);
            let number = self.first + block as i64;
            self.block = block;
            self.hold(number);
            block = (number - self.first) as usize;
            let known = self.crossings[first | self.contents[block] as usize];
            if known != Crossing::UNKNOWN && known.steps() <= *remaining {
                continue;
            }
            let crossing = self.cross(memory, probe, first >> bits, self.contents[block], *remaining)?;
            match crossing {
                Some(crossing) => self.crossings[first | self.contents[block] as usize] = crossing,
                None => break,
            }
        }
        // Back to the block that is about to be left: its step is not made yet.
        let (situation, right) = self.pages[first >> bits];
        let symbols = (situation & ((1 << self.n_tracks) - 1)) as u8;
        self.block = block.wrapping_add_signed(if right { -1 } else { 1 });
        self.within = if right { self.n_cells - 1 } else { 0 };
        self.situation = situation;
        self.contents[self.block] = self.with(self.contents[self.block], self.within, symbols);
        Ok(())
    }

    /// The page of crossings that begin with the step in a situation.
    fn page(&mut self, situation: usize, right: bool) -> Option<usize> {
        if let Some(&page) = self.page_of.get(&(situation, right)) {
            return Some(page);
        }
        let page = self.pages.len();
        if page == MAX_PAGES {
            return None;
        }
        self.pages.push((situation, right));
        self.page_of.insert((situation, right), page);
        let bits = self.n_cells * self.n_tracks;
        self.crossings.resize((page + 1) << bits, Crossing::UNKNOWN);
        Some(page)
    }

    /// Follows a crossing step by step; `None` if it does not end within `remaining` steps, or cannot be remembered.
    fn cross(
        &mut self,
        memory: &mut Memory,
        probe: &mut Sparse<'_>,
        page: usize,
        mut content: u16,
        remaining: u64,
    ) -> Result<Option<Crossing>, TrainError> {
        let (situation, right) = self.pages[page];
        let mut at = if right { 0 } else { self.n_cells - 1 };
        let Found::Step(mut here) = memory.meet(probe, situation, self.get(content, at))? else {
            return Ok(None);
        };
        let mut steps = 1_u32;
        let mut visited = Piece::EMPTY.and(here.vertex());
        loop {
            if u64::from(steps) > remaining || steps == MAX_STEPS {
                return Ok(None);
            }
            let to = at.wrapping_add_signed(here.offset());
            let written = self.with(content, at, here.written());
            if to >= self.n_cells {
                let right = here.offset() > 0;
                let page = self.page(here.situation(), right);
                let bits = self.n_cells * self.n_tracks;
                return Ok(page.map(|page| Crossing::new(written, right, steps, page << bits, visited)));
            }
            if u64::from(steps) == remaining {
                return Ok(None);
            }
            let Found::Step(next) = memory.meet(probe, here.situation(), self.get(written, to))? else {
                return Ok(None);
            };
            (content, at, here) = (written, to, next);
            visited = visited.and(here.vertex());
            steps += 1;
        }
    }
}

#[cfg(feature = "faults")]
impl Blocks {
    /// Changes what every remembered crossing leaves behind.
    pub(super) fn spoil(&mut self) -> bool {
        let known = self.crossings.iter_mut().filter(|crossing| **crossing != Crossing::UNKNOWN);
        known.map(|crossing| crossing.0 ^= 1 << 4).count() > 0
    }
}
