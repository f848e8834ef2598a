//! Macrosteps: many stored steps of several heads at once.
//!
//! The steps after entering a block follow from the cells around the heads. So a block that is entered often gets
//! windows: a few cells of a few tracks. For each content of its windows the steps are followed as long as all they
//! depend on lies within. Where they lead, what they change, their vertices and their number are stored as one
//! macrostep. Every step of a macrostep is a stored one, whose column was differentiated in all its cases.

mod entry_points;
mod walk;

use luge_net::VertexTable;

use super::{
    columns::Columns,
    tapes::{MAX_ROWS, Tapes},
};
use crate::{MULTIPLIER, MacrostepId, MacrostepSteps, StepDelta, TrainError, sparse::Sparse};
use entry_points::{EntryPoint, Kind, Replaced, Roots};
use walk::{Stepped, Walk, Windows};

/// The most cells that a first step may depend on.
const MAX_FIRST_BITS: u32 = 32;
/// The most cells of one track that are shown together.
const MAX_WIDTH: i32 = 24;
/// Cells that a window has: more are shown by several.
const WIDTH: i32 = 8;
/// The most steps of a macrostep.
const MAX_STEPS: u32 = 63;
/// How far a head may come within a macrostep.
const REACH: i32 = 32;
/// The most macrosteps that are remembered.
const MAX_STRETCHES: usize = 1 << 20;

/// Powers of the digest's multiplier.
const POWERS: [u64; MAX_STEPS as usize + 1] = {
    let mut powers = [1; MAX_STEPS as usize + 1];
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
struct Macrostep {
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

/// How a macrostep leaves one track.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Effect {
    track: u8,
    /// How far the head has come.
    moved: i8,
    /// Cells that became the other symbol, from `offset` on, counted from where the head was.
    offset: i8,
    flipped: u8,
}

/// All macrosteps that are remembered.
#[derive(Clone, Debug)]
pub(super) struct Macrosteps {
    roots: Roots,
    windows: Vec<Window>,
    known: Vec<Macrostep>,
    /// Where to find a macrostep in `known`, plus one; 0: nowhere. A macrostep stands at its hash, or in the next free place.
    places: Vec<u32>,
    effects: Vec<Effect>,
}

/// Where a run by macrosteps is.
pub(super) struct Position<'a> {
    pub(super) tapes: &'a mut Tapes,
    pub(super) block: &'a mut usize,
    /// The digest of all vertices before the current one.
    pub(super) path: &'a mut u64,
    pub(super) remaining: &'a mut u64,
    /// The lowest and highest landscape loss so far.
    pub(super) range: &'a mut Option<(f64, f64)>,
}

impl Macrosteps {
    pub(super) fn new(table: &VertexTable) -> Self {
        Self {
            roots: Roots::new(table.n_blocks()),
            windows: Vec::new(),
            known: Vec::new(),
            places: vec![0; 1 << 10],
            effects: Vec::new(),
        }
    }

    /// Macrosteps, until the next step belongs to none or steps run out; `note` hears of each.
    pub(super) fn run(
        &mut self,
        table: &VertexTable,
        columns: &mut Columns,
        probe: &mut Sparse<'_>,
        position: &mut Position<'_>,
        mut note: impl FnMut(MacrostepId),
    ) -> Result<(), TrainError> {
        let mut root = self.roots.of(*position.block);
        loop {
            root = self.run_cached(root, position, &mut note);
            for Replaced { old, new } in self.roots.look_again() {
                self.known.iter_mut().filter(|macrostep| macrostep.root == old).for_each(|to| to.root = new);
            }
            *position.block = self.roots.all[root].block as usize;
            position.tapes.make_room();
            if self.roots.all[root].kind == Kind::Replaced {
                root = self.roots.of(*position.block);
            }
            if self.roots.all[root].kind == Kind::New {
                self.shape(root, table, columns, probe, position)?;
            }
            if self.roots.all[root].kind == Kind::Wide {
                return Ok(());
            }
            let Some(begins) = self.begins(root, &position.tapes.cells, &position.tapes.heads) else {
                return Ok(());
            };
            let steps = match self.find(begins) {
                Some(macrostep) => self.known[macrostep].steps,
                None => self.follow(begins, table, columns, probe, position)?,
            };
            if steps == 0 || u64::from(steps) > *position.remaining {
                return Ok(());
            }
        }
    }

    /// Macrostep by macrostep, until one is not known, takes too many steps or comes near the end of the kept cells, or for a while.
    fn run_cached(
        &mut self,
        mut root: usize,
        position: &mut Position<'_>,
        note: &mut impl FnMut(MacrostepId),
    ) -> usize {
        let Tapes { cells, heads, inner, .. } = &mut *position.tapes;
        let (mut left, mut path) = (*position.remaining, *position.path);
        while let Some(at) = self.begins(root, cells, heads).and_then(|begins| self.find(begins)) {
            let macrostep = self.known[at];
            let steps = u64::from(macrostep.steps);
            if steps.wrapping_sub(1) >= left {
                break;
            }
            let mut inside = true;
            let effects =
                macrostep.first_effect as usize..(macrostep.first_effect + macrostep.n_effects) as usize;
            for effect in self.effects.get(effects).unwrap_or_default() {
                let head = &mut heads[effect.track as usize % MAX_ROWS];
                if effect.flipped != 0 {
                    let first = head.wrapping_add_signed(isize::from(effect.offset));
                    if let Some(window) = cells.get_mut(first..).and_then(<[u8]>::first_chunk_mut) {
                        *window =
                            (u64::from_le_bytes(*window) ^ SPREAD[effect.flipped as usize]).to_le_bytes();
                    }
                }
                *head = head.wrapping_add_signed(isize::from(effect.moved));
                inside &= inner[effect.track as usize % MAX_ROWS].holds(*head);
            }
            path = path.wrapping_mul(POWERS[macrostep.steps as usize & 63]).wrapping_add(macrostep.digest);
            left -= steps;
            let time_to_look = self.roots.used(root);
            root = macrostep.root as usize;
            note(MacrostepId(at as u32));
            if !inside || time_to_look {
                break;
            }
        }
        (*position.remaining, *position.path) = (left, path);
        root
    }

    /// The content of a root's windows; `None` if it has none.
    #[inline]
    fn begins(&self, root: usize, cells: &[u8], heads: &[usize; MAX_ROWS]) -> Option<Begins> {
        let EntryPoint { first_window, n_windows, .. } = *self.roots.all.get(root)?;
        let windows = first_window as usize..(first_window + n_windows) as usize;
        let mut content = 0;
        for window in self.windows.get(windows).filter(|windows| !windows.is_empty())? {
            let first =
                heads[window.track as usize % MAX_ROWS].wrapping_add_signed(isize::from(window.offset));
            let found = u64::from_le_bytes(*cells.get(first..)?.first_chunk()?);
            content |= u32::from(gather(found) & window.mask) << window.shift;
        }
        Some(Begins { root: root as u32, content })
    }

    /// The macrostep that begins so, if it is known.
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

    fn add(&mut self, macrostep: Macrostep) {
        self.known.push(macrostep);
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
        let block = self.roots.all[root].block as usize;
        let mut windows = Windows::growing(position.tapes, self.roots.all[root].most_bits);
        if self.known.len() >= MAX_STRETCHES || !windows.first_step(table, block) {
            self.roots.all[root].kind = Kind::Wide;
            return Ok(());
        }
        let mut walk = Walk::new(block);
        while walk.steps < MAX_STEPS && walk.step(table, columns, probe, &mut windows)?.is_some() {}
        let packed = windows.packed();
        let (first_window, n_windows) = (self.windows.len() as u32, packed.len() as u32);
        let shaped = &mut self.roots.all[root];
        (shaped.first_window, shaped.n_windows, shaped.kind) = (first_window, n_windows, Kind::Shaped);
        self.windows.extend(packed);
        Ok(())
    }

    fn windows(&self, begins: Begins) -> (Windows<'static>, Walk) {
        let EntryPoint { block, first_window, n_windows, .. } = self.roots.all[begins.root as usize];
        let packed = &self.windows[first_window as usize..(first_window + n_windows) as usize];
        (Windows::fixed(packed, begins.content), Walk::new(block as usize))
    }

    /// The steps of a macrostep, one by one. Where the last one leads, symbols that its windows do not show are taken to be -1.
    pub(super) fn steps(
        &self,
        id: MacrostepId,
        table: &VertexTable,
        columns: &mut Columns,
        probe: &mut Sparse<'_>,
        mut loss: impl FnMut(&Sparse<'_>, f64) -> f64,
    ) -> Result<MacrostepSteps, TrainError> {
        let Some(macrostep) = self.known.get(id.index()) else { return Ok(MacrostepSteps::default()) };
        let (mut windows, mut walk) = self.windows(macrostep.begins);
        let mut steps = MacrostepSteps::default();
        while walk.steps < macrostep.steps {
            let Some(stepped) = walk.step(table, columns, probe, &mut windows)? else { break };
            let Stepped { from, landscape, left, right, flipped } = stepped;
            match steps.changes.last_mut() {
                Some(last) => last.vertex = from,
                None => steps.from = from,
            }
            let vertex = table.vertex(walk.block, 0);
            steps.changes.push(StepDelta { loss: loss(probe, landscape), vertex, left, right, flipped });
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
        if self.known.len() >= MAX_STRETCHES {
            return Ok(0);
        }
        let (mut windows, mut walk) = self.windows(begins);
        let most = u64::from(MAX_STEPS).min(*position.remaining) as u32;
        while walk.steps < most && walk.step(table, columns, probe, &mut windows)?.is_some() {}
        if walk.steps == most && most < MAX_STEPS {
            // Another time it may be longer.
            return Ok(0);
        }
        let first_effect = self.effects.len() as u32;
        self.effects.extend(walk.effects(&windows, position.tapes.n_rows()));
        let n_effects = self.effects.len() as u32 - first_effect;
        let (digest, steps) = (walk.digest, walk.steps);
        let root = self.roots.of(walk.block) as u32;
        self.add(Macrostep { digest, begins, steps, root, first_effect, n_effects });
        self.roots.all[begins.root as usize].n_known += 1;
        if steps > 0 {
            // It is made at once, so its losses are the run's.
            let (low, high) = position.range.unwrap_or(walk.range);
            *position.range = Some((low.min(walk.range.0), high.max(walk.range.1)));
        }
        Ok(steps)
    }
}

#[cfg(feature = "faults")]
impl Macrosteps {
    /// Gives blocks wide windows soon, and takes them away soon.
    pub(super) fn widen_soon(&mut self) {
        self.roots.widen_soon();
    }

    /// Whether windows were widened, and whether they were narrowed again.
    pub(super) fn have_tried(&self) -> (bool, bool) {
        self.roots.have_tried()
    }

    /// Lets every remembered macrostep leave its heads a cell further on.
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
