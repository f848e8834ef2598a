//! Stretches: many remembered steps of several heads at once.
//!
//! From a block on, what the next steps do follows from the cells around the heads. So a block that is often come to is given
//! windows: a few cells of a few tracks. For each content of its windows the steps are followed, as long as all they depend on lies
//! within; where they lead, what they change, their vertices and their number are then remembered as one stretch. Every
//! step of a stretch is a remembered one, whose column was differentiated in all its cases.

mod walk;

use luge_net::VertexTable;

use super::{
    columns::Columns,
    tapes::{MOST_ROWS, Tapes},
};
use crate::{Change, MULTIPLIER, StretchId, StretchSteps, TrainError, sparse::Sparse};
use walk::{Stepped, Walk, Windows};

/// The most cells that the windows of a block have together, unless its first step depends on more.
const FEW_BITS: u32 = 12;
/// The same for a block that is come to again and again and has shown few contents: longer stretches are then worth learning.
const MANY_BITS: u32 = 28;
/// The most cells that a first step may depend on.
const MOST_FIRST_BITS: u32 = 32;
/// The most cells of one track that are shown together.
const MOST_WIDTH: i32 = 24;
/// Cells that a window has: more are shown by several.
const WIDTH: i32 = 8;
/// The most steps of a stretch.
const MOST_STEPS: u32 = 63;
/// How far a head may come within a stretch.
const REACH: i32 = 32;
/// The most stretches that are remembered.
const MOST_STRETCHES: usize = 1 << 20;

/// When blocks are given wide windows.
#[derive(Clone, Copy, Debug)]
struct Habits {
    /// Stretches that are made before blocks are looked at again.
    a_while: u32,
    /// How often a block is come to before its windows are worth widening.
    often: u32,
    /// How few contents it has shown by then.
    few_contents: u32,
    /// So many contents of wide windows that they are not worth it.
    many_contents: u32,
}

impl Default for Habits {
    fn default() -> Self {
        Self { a_while: 1 << 16, often: 1 << 15, few_contents: 128, many_contents: 1 << 11 }
    }
}

/// Powers of the digest's multiplier.
const POWERS: [u64; MOST_STEPS as usize + 1] = {
    let mut powers = [1; MOST_STEPS as usize + 1];
    let mut i = 1;
    while i < powers.len() {
        powers[i] = MULTIPLIER.wrapping_mul(powers[i - 1]);
        i += 1;
    }
    powers
};

/// Eight bits as eight bytes.
const SPREAD: [u64; 256] = {
    let mut spread = [0; 256];
    let mut i = 0;
    while i < 2048 {
        let bit = (i as u64 / 8) >> (i % 8) & 1;
        spread[i / 8] |= bit << (8 * (i % 8));
        i += 1;
    }
    spread
};

/// Eight bytes, each 0 or 1, as eight bits: byte i times 2^(56 - 7 i) is bit 56 + i, and no other product lies there.
#[inline]
fn gather(window: u64) -> u8 {
    (window.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// A block from which stretches begin.
#[derive(Clone, Copy, Debug)]
struct Root {
    block: u32,
    /// Its windows among all.
    first_window: u32,
    n_windows: u32,
    /// How many stretches begin there.
    n_known: u32,
    most_bits: u32,
    /// Whether windows of another size have been tried.
    settled: bool,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// It has no windows yet.
    New,
    Shaped,
    /// Another root, with windows of another size, has taken its place.
    Replaced,
    /// Its first step depends on too many cells.
    Wide,
}

/// A few cells beside a head, and where their bits stand in the windows' content.
#[derive(Clone, Copy, Debug)]
struct Window {
    track: u8,
    /// The first cell, counted from the head.
    offset: i8,
    mask: u8,
    shift: u8,
}

/// What the steps from one content of a root's windows on come to.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// The digest of the vertices from the first on, without the one it leads to.
    digest: u64,
    /// The root from which it begins, and the content of its windows.
    begins: Begins,
    /// No step at all: the first one depends on what the windows do not show.
    steps: u32,
    /// Where it leads.
    root: u32,
    first_effect: u32,
    n_effects: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Begins {
    root: u32,
    content: u32,
}

impl Begins {
    #[inline]
    fn hash(self) -> u64 {
        (u64::from(self.root) << 32 | u64::from(self.content)).wrapping_mul(MULTIPLIER)
    }
}

/// How a stretch leaves one track.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Effect {
    track: u8,
    /// How far the head has come.
    moved: i8,
    /// Cells that became the other symbol, from `offset` on, counted from where the head was.
    offset: i8,
    flipped: u8,
}

/// All stretches that are remembered.
#[derive(Clone, Debug)]
pub(super) struct Stretches {
    roots: Vec<Root>,
    /// The root of each block that has one.
    root_of: Vec<Option<u32>>,
    windows: Vec<Window>,
    known: Vec<Stretch>,
    /// Where to find a stretch in `known`, plus one; 0: nowhere. A stretch stands at its hash, or in the next free place.
    places: Vec<u32>,
    effects: Vec<Effect>,
    /// How many stretches have begun at each root, and how many in all since roots were looked at.
    uses: Vec<u32>,
    made: u32,
    habits: Habits,
}

/// Where a run by stretches is.
pub(super) struct Position<'a> {
    pub(super) tapes: &'a mut Tapes,
    pub(super) block: &'a mut usize,
    /// The digest of all vertices before the current one.
    pub(super) path: &'a mut u64,
    pub(super) remaining: &'a mut u64,
    /// The lowest and highest landscape loss so far.
    pub(super) range: &'a mut Option<(f64, f64)>,
}

impl Stretches {
    pub(super) fn new(table: &VertexTable) -> Self {
        Self {
            roots: Vec::new(),
            root_of: vec![None; table.n_blocks()],
            windows: Vec::new(),
            known: Vec::new(),
            places: vec![0; 1 << 10],
            effects: Vec::new(),
            uses: Vec::new(),
            made: 0,
            habits: Habits::default(),
        }
    }

    /// Stretches, until the next step belongs to none or steps run out; `note` hears of each.
    pub(super) fn run(
        &mut self,
        table: &VertexTable,
        columns: &mut Columns,
        probe: &mut Sparse<'_>,
        position: &mut Position<'_>,
        mut note: impl FnMut(StretchId),
    ) -> Result<(), TrainError> {
        let mut root = self.root(*position.block);
        loop {
            root = self.race(root, position, &mut note);
            self.look_at_roots();
            *position.block = self.roots[root].block as usize;
            position.tapes.make_room();
            if self.roots[root].kind == Kind::Replaced {
                root = self.root(*position.block);
            }
            if self.roots[root].kind == Kind::New {
                self.shape(root, table, columns, probe, position)?;
            }
            if self.roots[root].kind == Kind::Wide {
                return Ok(());
            }
            let Some(begins) = self.begins(root, &position.tapes.cells, &position.tapes.heads) else {
                return Ok(());
            };
            let steps = match self.find(begins) {
                Some(stretch) => self.known[stretch].steps,
                None => self.follow(begins, table, columns, probe, position)?,
            };
            if steps == 0 || u64::from(steps) > *position.remaining {
                return Ok(());
            }
        }
    }

    /// The root of a block; a new one has no windows yet.
    fn root(&mut self, block: usize) -> usize {
        let new = self.roots.len() as u32;
        let root = *self.root_of[block].get_or_insert(new);
        if root == new {
            self.add_root(block, FEW_BITS, false);
        }
        root as usize
    }

    fn add_root(&mut self, block: usize, most_bits: u32, settled: bool) {
        let (block, kind) = (block as u32, Kind::New);
        self.roots.push(Root { block, first_window: 0, n_windows: 0, n_known: 0, most_bits, settled, kind });
        self.uses.push(0);
    }

    /// Gives wide windows to blocks that are worth it, and takes them away from those that are not.
    fn look_at_roots(&mut self) {
        let Habits { a_while, often, few_contents, many_contents } = self.habits;
        if self.made < a_while {
            return;
        }
        self.made = 0;
        for root in 0..self.roots.len() {
            let Root { n_known, most_bits, settled, kind, .. } = self.roots[root];
            if kind != Kind::Shaped {
                continue;
            }
            let worth_it = self.uses[root] >= often && n_known <= few_contents;
            if most_bits == FEW_BITS && !settled && worth_it {
                self.replace(root, MANY_BITS);
            } else if most_bits == MANY_BITS && n_known >= many_contents {
                self.replace(root, FEW_BITS);
            }
        }
    }

    /// Lets a root with windows of another size take the place of one.
    fn replace(&mut self, root: usize, most_bits: u32) {
        let (block, new) = (self.roots[root].block as usize, self.roots.len() as u32);
        self.roots[root].kind = Kind::Replaced;
        self.root_of[block] = Some(new);
        self.add_root(block, most_bits, true);
        self.known.iter_mut().filter(|stretch| stretch.root == root as u32).for_each(|to| to.root = new);
    }

    /// Stretch by stretch, until one is not known, takes too many steps or comes near the end of the kept cells, or for a while.
    fn race(
        &mut self,
        mut root: usize,
        position: &mut Position<'_>,
        note: &mut impl FnMut(StretchId),
    ) -> usize {
        let Tapes { cells, heads, inner, .. } = &mut *position.tapes;
        let (mut left, mut path) = (*position.remaining, *position.path);
        while let Some(at) = self.begins(root, cells, heads).and_then(|begins| self.find(begins)) {
            let stretch = self.known[at];
            let steps = u64::from(stretch.steps);
            if steps.wrapping_sub(1) >= left {
                break;
            }
            let mut inside = true;
            let effects = stretch.first_effect as usize..(stretch.first_effect + stretch.n_effects) as usize;
            for effect in self.effects.get(effects).unwrap_or_default() {
                let head = &mut heads[effect.track as usize % MOST_ROWS];
                if effect.flipped != 0 {
                    let first = head.wrapping_add_signed(isize::from(effect.offset));
                    if let Some(window) = cells.get_mut(first..).and_then(<[u8]>::first_chunk_mut) {
                        *window =
                            (u64::from_le_bytes(*window) ^ SPREAD[effect.flipped as usize]).to_le_bytes();
                    }
                }
                *head = head.wrapping_add_signed(isize::from(effect.moved));
                inside &= inner[effect.track as usize % MOST_ROWS].holds(*head);
            }
            path = path.wrapping_mul(POWERS[stretch.steps as usize & 63]).wrapping_add(stretch.digest);
            left -= steps;
            self.uses[root] = self.uses[root].saturating_add(1);
            self.made += 1;
            root = stretch.root as usize;
            note(StretchId(at as u32));
            if !inside || self.made >= self.habits.a_while {
                break;
            }
        }
        (*position.remaining, *position.path) = (left, path);
        root
    }

    /// The content of a root's windows; `None` if it has none.
    #[inline]
    fn begins(&self, root: usize, cells: &[u8], heads: &[usize; MOST_ROWS]) -> Option<Begins> {
        let Root { first_window, n_windows, .. } = *self.roots.get(root)?;
        let windows = first_window as usize..(first_window + n_windows) as usize;
        let mut content = 0;
        for window in self.windows.get(windows).filter(|windows| !windows.is_empty())? {
            let first =
                heads[window.track as usize % MOST_ROWS].wrapping_add_signed(isize::from(window.offset));
            let found = u64::from_le_bytes(*cells.get(first..)?.first_chunk()?);
            content |= u32::from(gather(found) & window.mask) << window.shift;
        }
        Some(Begins { root: root as u32, content })
    }

    /// The stretch that begins so, if it is known.
    #[inline]
    fn find(&self, begins: Begins) -> Option<usize> {
        let mut place = self.place(begins);
        loop {
            let known = (*self.places.get(place)? as usize).checked_sub(1)?;
            if self.known.get(known)?.begins == begins {
                return Some(known);
            }
            place = (place + 1) & (self.places.len() - 1);
        }
    }

    #[inline]
    fn place(&self, begins: Begins) -> usize {
        (begins.hash() >> (64 - self.places.len().trailing_zeros())) as usize
    }

    fn add(&mut self, stretch: Stretch) {
        self.known.push(stretch);
        let fresh = if 2 * self.known.len() > self.places.len() {
            self.places = vec![0; 2 * self.places.len()];
            0
        } else {
            self.known.len() - 1
        };
        for number in fresh..self.known.len() {
            let mut place = self.place(self.known[number].begins);
            while self.places[place] != 0 {
                place = (place + 1) & (self.places.len() - 1);
            }
            self.places[place] = number as u32 + 1;
        }
    }

    /// Gives a root its windows: the cells that the coming steps depend on, if they are not too many.
    fn shape(
        &mut self,
        root: usize,
        table: &VertexTable,
        columns: &mut Columns,
        probe: &mut Sparse<'_>,
        position: &Position<'_>,
    ) -> Result<(), TrainError> {
        let block = self.roots[root].block as usize;
        let mut windows = Windows::growing(position.tapes, self.roots[root].most_bits);
        if self.known.len() >= MOST_STRETCHES || !windows.first_step(table, block) {
            self.roots[root].kind = Kind::Wide;
            return Ok(());
        }
        let mut walk = Walk::new(block);
        while walk.steps < MOST_STEPS && walk.step(table, columns, probe, &mut windows)?.is_some() {}
        let packed = windows.packed();
        self.roots[root] = Root {
            first_window: self.windows.len() as u32,
            n_windows: packed.len() as u32,
            kind: Kind::Shaped,
            ..self.roots[root]
        };
        self.windows.extend(packed);
        Ok(())
    }

    fn windows(&self, begins: Begins) -> (Windows<'static>, Walk) {
        let Root { block, first_window, n_windows, .. } = self.roots[begins.root as usize];
        let packed = &self.windows[first_window as usize..(first_window + n_windows) as usize];
        (Windows::fixed(packed, begins.content), Walk::new(block as usize))
    }

    /// The steps of a stretch, one by one. Where the last one leads, symbols that its windows do not show are taken to be -1.
    pub(super) fn steps(
        &self,
        id: StretchId,
        table: &VertexTable,
        columns: &mut Columns,
        probe: &mut Sparse<'_>,
        mut loss: impl FnMut(&Sparse<'_>, f64) -> f64,
    ) -> Result<StretchSteps, TrainError> {
        let Some(stretch) = self.known.get(id.index()) else { return Ok(StretchSteps::default()) };
        let (mut windows, mut walk) = self.windows(stretch.begins);
        let mut steps = StretchSteps::default();
        while walk.steps < stretch.steps {
            let Some(stepped) = walk.step(table, columns, probe, &mut windows)? else { break };
            let Stepped { from, landscape, left, right, flipped } = stepped;
            match steps.changes.last_mut() {
                Some(last) => last.vertex = from,
                None => steps.from = from,
            }
            let vertex = table.vertex(walk.block, 0);
            steps.changes.push(Change { loss: loss(probe, landscape), vertex, left, right, flipped });
        }
        Ok(steps)
    }

    /// Follows the steps from here on, as far as the windows show what they depend on, and remembers them; returns their number.
    fn follow(
        &mut self,
        begins: Begins,
        table: &VertexTable,
        columns: &mut Columns,
        probe: &mut Sparse<'_>,
        position: &mut Position<'_>,
    ) -> Result<u32, TrainError> {
        if self.known.len() >= MOST_STRETCHES {
            return Ok(0);
        }
        let (mut windows, mut walk) = self.windows(begins);
        let most = u64::from(MOST_STEPS).min(*position.remaining) as u32;
        while walk.steps < most && walk.step(table, columns, probe, &mut windows)?.is_some() {}
        if walk.steps == most && most < MOST_STEPS {
            // Another time it may be longer.
            return Ok(0);
        }
        let first_effect = self.effects.len() as u32;
        self.effects.extend(walk.effects(&windows, position.tapes.n_rows()));
        let n_effects = self.effects.len() as u32 - first_effect;
        let (digest, steps) = (walk.digest, walk.steps);
        let root = self.root(walk.block) as u32;
        self.add(Stretch { digest, begins, steps, root, first_effect, n_effects });
        self.roots[begins.root as usize].n_known += 1;
        if steps > 0 {
            // It is made at once, so its losses are the run's.
            let (low, high) = position.range.unwrap_or(walk.range);
            *position.range = Some((low.min(walk.range.0), high.max(walk.range.1)));
        }
        Ok(steps)
    }
}

#[cfg(feature = "faults")]
impl Stretches {
    /// Gives blocks wide windows soon, and takes them away soon.
    pub(super) fn widen_soon(&mut self) {
        self.habits = Habits { a_while: 8, often: 4, few_contents: 64, many_contents: 4 };
    }

    /// Whether windows were widened and narrowed again.
    pub(super) fn has_tried(&self) -> (bool, bool) {
        let any = |bits| self.roots.iter().any(|root| root.settled && root.most_bits == bits);
        (any(MANY_BITS), any(FEW_BITS))
    }

    /// Lets every remembered stretch leave its heads a cell further on.
    pub(super) fn spoil(&mut self) -> bool {
        self.effects.iter_mut().map(|effect| effect.moved += 1).count() > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_bits_are_the_same() {
        for bits in 0..=255_u8 {
            assert_eq!(gather(SPREAD[bits as usize]), bits);
            for i in 0..8 {
                assert_eq!(SPREAD[bits as usize].to_le_bytes()[i], bits >> i & 1);
            }
        }
    }
}
