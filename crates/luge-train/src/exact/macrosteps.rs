//! Macrosteps: many stored steps of several heads at once.
//!
//! The steps after entering a block follow from the cells around the heads. So a block gets windows: a few cells of
//! a few tracks, whose symbols are packed into two words. For each content of its windows the steps are followed as
//! long as all they depend on lies within. Where they lead, what they change, their vertices and their number are
//! stored in one record of 64 bytes. Every step of a macrostep is a stored one, whose column was differentiated in all
//! its cases.

mod entry_points;
mod shape;
mod walk;

use luge_net::VertexTable;

use super::{
    columns::Columns,
    tapes::{MAX_ROWS, N_HEADS, Tapes, UNCHECKED},
};
use crate::{MULTIPLIER, MacrostepId, MacrostepSteps, StepDelta, TrainError, sparse::Sparse};
use entry_points::{EntryPoint, EntryPoints};
use walk::{Source, Stepped, Walk};

/// The most steps of a macrostep.
const MAX_STEPS: u32 = 255;
/// Heads of so many rows are moved at once; more rows are rare.
const FEW_ROWS: usize = 16;
/// The most macrosteps that are remembered.
const MAX_RECORDS: usize = 1 << 20;

/// At first there are places for two to the power of so many records.
const LOG_PLACES: u32 = 10;

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

/// A few cells beside a head, and where their bits stand in the windows' content.
#[derive(Clone, Copy, Debug)]
struct Window {
    /// Their bits in each word. A window that does not fit into the first goes on in the second.
    masks: [u64; 2],
    /// The first cell, counted from the head.
    offset: i32,
    width: u32,
    track: u8,
    /// Where the first cell's bit stands in its word.
    shift: u8,
}

impl Window {
    /// The most cells of a window: eight bytes hold as many from any bit of the first on.
    const WIDEST: u32 = 56;
    /// How many bits windows may fill. The rest of the second word is the tag.
    const ROOM: u32 = 96;

    /// A window whose cells stand in the content from bit `at` on.
    fn new(track: usize, offset: i32, width: u32, at: u32) -> Self {
        let mask = ((1_u128 << width) - 1) << at;
        let masks = [mask as u64, (mask >> 64) as u64];
        Self { masks, offset, width, track: track as u8, shift: (at % 64) as u8 }
    }

    #[inline]
    fn track(&self) -> usize {
        usize::from(self.track) % N_HEADS
    }

    /// The byte that the first cell is in, and how far the bits from there on are turned to stand where they do in the content.
    #[inline]
    fn place(&self, heads: &[i32; N_HEADS]) -> (usize, u32) {
        let at = heads[self.track()].wrapping_add(self.offset) as u32;
        (at as usize >> 3, u32::from(self.shift).wrapping_sub(at & 7) & 63)
    }

    /// The cells that it shows and others beside them, turned.
    #[inline]
    fn turned(&self, cells: &[u8], heads: &[i32; N_HEADS]) -> u64 {
        let (byte, turn) = self.place(heads);
        let eight = cells.get(byte..byte + 8).and_then(<[u8]>::first_chunk);
        eight.map_or(0, |eight| u64::from_le_bytes(*eight)).rotate_left(turn)
    }

    /// Adds the cells that it shows to the content.
    #[inline]
    fn show(&self, cells: &[u8], heads: &[i32; N_HEADS], content: &mut [u64; 2]) {
        let turned = self.turned(cells, heads);
        content[0] |= turned & self.masks[0];
        content[1] |= turned & self.masks[1];
    }

    /// Its part of a content, not turned.
    #[inline]
    fn part(&self, content: [u64; 2]) -> u64 {
        content[0] & self.masks[0] | content[1] & self.masks[1]
    }

    /// Changes the cells whose bits are set in its part of a content.
    #[inline]
    fn flip(&self, part: u64, cells: &mut [u8], heads: &[i32; N_HEADS]) {
        let (byte, turn) = self.place(heads);
        if let Some(eight) = cells.get_mut(byte..byte + 8).and_then(<[u8]>::first_chunk_mut) {
            *eight = (u64::from_le_bytes(*eight) ^ part.rotate_right(turn)).to_le_bytes();
        }
    }
}

/// What the steps from one content of a block's windows on come to.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Record {
    /// The content, and in the upper half of the second word the tag of the windows.
    key: [u64; 2],
    /// The digest of the vertices from the first on, without the one it leads to.
    digest: u64,
    /// The cells that became the other symbol, as they stand in the content.
    changed: [u64; 2],
    /// How far each head has come.
    moved: [i8; MAX_ROWS],
}

impl Record {
    /// A place without a record.
    const NONE: Self = Self { key: [u64::MAX; 2], digest: 0, changed: [0; 2], moved: [0; MAX_ROWS] };

    /// Its number of steps; 0: the first one depends on what the windows do not show.
    #[inline]
    fn steps(&self) -> u32 {
        (self.changed[1] >> 56) as u32
    }

    /// The block that it leads to.
    #[inline]
    fn next(&self) -> usize {
        (self.changed[1] >> 32) as usize & 0xff_ffff
    }
}

/// A macrostep's beginning, to tell its steps one by one.
#[derive(Clone, Copy, Debug)]
struct Begins {
    key: [u64; 2],
    steps: u32,
}

/// All macrosteps that are remembered.
#[derive(Clone, Debug)]
pub(super) struct Macrosteps {
    entries: EntryPoints,
    /// Each at the place its key hashes to, or in the next free one.
    records: Vec<Record>,
    /// How many bits the number of a place has less than 64.
    spare: u32,
    /// The number of the record at each place.
    numbers: Vec<u32>,
    known: Vec<Begins>,
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

/// Why remembered macrosteps do not go on.
enum Pause {
    /// Nothing is remembered of what this entry point's windows show.
    Unknown(usize, [u64; 2]),
    /// This entry point may deserve other windows.
    Review(usize),
    /// Cells must be added.
    Room,
    /// A single step comes next, or none.
    Single,
}

impl Macrosteps {
    /// `None` where blocks are too many to be counted in a record.
    pub(super) fn new(table: &VertexTable) -> Option<Self> {
        (table.n_blocks() < EntryPoints::MAX).then(|| Self {
            entries: EntryPoints::new(table.n_blocks()),
            records: vec![Record::NONE; 1 << LOG_PLACES],
            spare: 64 - LOG_PLACES,
            numbers: vec![0; 1 << LOG_PLACES],
            known: Vec::new(),
        })
    }

    /// Macrosteps, until the next step belongs to none or steps run out; `note` hears of each and says whether to go on.
    pub(super) fn run(
        &mut self,
        table: &VertexTable,
        columns: &mut Columns,
        probe: &mut Sparse<'_>,
        position: &mut Position<'_>,
        mut note: impl FnMut(MacrostepId) -> bool,
    ) -> Result<(), TrainError> {
        let mut source = Source { table, columns, probe };
        loop {
            match self.run_cached(position, &mut note) {
                Pause::Room => {
                    position.tapes.make_room();
                    position.tapes.check()?;
                }
                Pause::Single => return Ok(()),
                Pause::Review(point) => self.entries.review(point, &mut source, position.tapes)?,
                Pause::Unknown(point, key) => {
                    let EntryPoint { tag, too_wide, .. } = self.entries.points[point];
                    if too_wide || self.known.len() >= MAX_RECORDS {
                        return Ok(());
                    }
                    if tag == 0 {
                        self.entries.open(point, &mut source, position.tapes)?;
                    } else if !self.learn(point, key, &mut source, position)? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Macrostep by macrostep, until something else must be done.
    fn run_cached(
        &mut self,
        position: &mut Position<'_>,
        note: &mut impl FnMut(MacrostepId) -> bool,
    ) -> Pause {
        let (mut left, mut path, mut point) = (*position.remaining, *position.path, *position.block);
        let tapes = &mut *position.tapes;
        let many_rows = tapes.n_rows() > FEW_ROWS;
        let pause = 'run: loop {
            if !tapes.has_room() {
                break Pause::Room;
            }
            for _ in 0..UNCHECKED {
                let Some(entry) = self.entries.points.get_mut(point) else { break 'run Pause::Single };
                if entry.uses >= entry.review {
                    break 'run Pause::Review(point);
                }
                let windows =
                    self.entries.windows.get(entry.first as usize..entry.end as usize).unwrap_or_default();
                let mut key = [0, u64::from(entry.tag) << 32];
                if entry.in_one_word {
                    let shown = |window: &Window| window.turned(&tapes.cells, &tapes.heads) & window.masks[0];
                    key[0] = windows.iter().fold(0, |key, window| key | shown(window));
                } else {
                    windows.iter().for_each(|window| window.show(&tapes.cells, &tapes.heads, &mut key));
                }
                let Some((place, record)) = find(&self.records, self.spare, key) else {
                    break 'run Pause::Unknown(point, key);
                };
                let steps = u64::from(record.steps());
                if steps == 0 && record.next() != point {
                    point = record.next();
                    continue;
                }
                if steps.wrapping_sub(1) >= left {
                    break 'run Pause::Single;
                }
                for window in windows.iter().take(entry.n_changing as usize) {
                    let part = window.part(record.changed);
                    if part != 0 {
                        window.flip(part, &mut tapes.cells, &tapes.heads);
                    }
                }
                move_heads::<0, FEW_ROWS>(&mut tapes.heads, &record.moved);
                if many_rows {
                    move_heads::<FEW_ROWS, { MAX_ROWS - FEW_ROWS }>(&mut tapes.heads, &record.moved);
                }
                path = path.wrapping_mul(POWERS[steps as usize & 255]).wrapping_add(record.digest);
                left -= steps;
                entry.uses += 1;
                point = record.next();
                let goes_on = note(MacrostepId(self.numbers[place]));
                if !goes_on {
                    break 'run Pause::Single;
                }
            }
        };
        (*position.remaining, *position.path) = (left, path);
        *position.block = self.entries.points.get(point).map_or(point, |entry| entry.block as usize);
        pause
    }

    /// Follows the steps from here on, as far as the windows show what they depend on, and remembers them; whether there are any.
    fn learn(
        &mut self,
        point: usize,
        key: [u64; 2],
        source: &mut Source<'_, '_>,
        position: &mut Position<'_>,
    ) -> Result<bool, TrainError> {
        let block = *position.block;
        let EntryPoint { first, end, .. } = self.entries.points[point];
        let mut walk = Walk::through(block, &self.entries.windows[first as usize..end as usize], key);
        let most = u64::from(MAX_STEPS).min(*position.remaining) as u32;
        while walk.steps < most && (self.compose(&mut walk, most) || walk.step(source)?.is_some()) {}
        if walk.steps == most && most < MAX_STEPS {
            // Another time it may be longer.
            return Ok(false);
        }
        let next = if walk.steps > 0 { walk.block } else { self.entries.complete(point) };
        let entry = &mut self.entries.points[point];
        let windows = &mut self.entries.windows[first as usize..end as usize];
        let mut changed = [0, (next as u64) << 32 | u64::from(walk.steps) << 56];
        for i in 0..windows.len() {
            let part = walk.left(&windows[i]) ^ windows[i].part(key);
            (0..2).for_each(|word| changed[word] |= part & windows[i].masks[word]);
            if part != 0 && i >= entry.n_changing as usize {
                windows.swap(i, entry.n_changing as usize);
                entry.n_changing += 1;
            }
        }
        self.add(Record { key, digest: walk.digest, changed, moved: walk.moved() });
        self.entries.count_content(point, walk.steps);
        if walk.steps > 0 {
            // They are made at once, so their losses are the run's.
            let (low, high) = position.range.unwrap_or(walk.range);
            *position.range = Some((low.min(walk.range.0), high.max(walk.range.1)));
        }
        Ok(next != point || walk.steps > 0)
    }

    /// Goes on by a record of the first windows that the walk's block had, if all they show is shown; whether there is one.
    #[inline]
    fn compose(&self, walk: &mut Walk, most: u32) -> bool {
        let tag = self.entries.first_tags[walk.block];
        let windows = &self.entries.tags[tag as usize].1;
        let windows =
            self.entries.windows.get(windows.start as usize..windows.end as usize).unwrap_or_default();
        if windows.is_empty() {
            return false;
        }
        let Some([low, high]) = walk.content(windows) else { return false };
        let found = find(&self.records, self.spare, [low, high | u64::from(tag) << 32]);
        let Some((_, record)) = found else { return false };
        record.steps() > 0 && walk.steps + record.steps() <= most && walk.make(record, windows)
    }

    fn add(&mut self, record: Record) {
        let number = self.known.len() as u32;
        self.known.push(Begins { key: record.key, steps: record.steps() });
        if 2 * self.known.len() > self.records.len() {
            let n_places = 2 * self.records.len();
            self.spare -= 1;
            let records = std::mem::replace(&mut self.records, vec![Record::NONE; n_places]);
            let numbers = std::mem::replace(&mut self.numbers, vec![0; n_places]);
            records.iter().zip(numbers).for_each(|(record, number)| self.put(record, number));
        }
        self.put(&record, number);
    }

    fn put(&mut self, record: &Record, number: u32) {
        if record.key != Record::NONE.key {
            let mut place = place(record.key, self.spare);
            while self.records[place].key != Record::NONE.key {
                place = (place + 1) & (self.records.len() - 1);
            }
            (self.records[place], self.numbers[place]) = (*record, number);
        }
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
        let mut steps = MacrostepSteps::default();
        let Some(&Begins { key, steps: n_steps }) = self.known.get(id.index()) else { return Ok(steps) };
        let (block, windows) = &self.entries.tags[(key[1] >> 32) as usize];
        let windows = &self.entries.windows[windows.start as usize..windows.end as usize];
        let mut walk = Walk::through(*block as usize, windows, key);
        let mut source = Source { table, columns, probe };
        while walk.steps < n_steps {
            let Some(stepped) = walk.step(&mut source)? else { break };
            let Stepped { from, landscape, left, right, flipped, .. } = stepped;
            match steps.changes.last_mut() {
                Some(last) => last.vertex = from,
                None => steps.from = from,
            }
            let vertex = table.vertex(walk.block, 0);
            steps.changes.push(StepDelta {
                loss: loss(source.probe, landscape),
                vertex,
                left,
                right,
                flipped,
            });
        }
        Ok(steps)
    }
}

/// Moves the heads of `N` rows from one on, several at once.
#[inline]
fn move_heads<const FROM: usize, const N: usize>(heads: &mut [i32; N_HEADS], moved: &[i8; MAX_ROWS]) {
    let moved: [i8; N] = std::array::from_fn(|i| moved[FROM + i]);
    let to: [i32; N] = std::array::from_fn(|i| heads[FROM + i] + i32::from(moved[i]));
    heads[FROM..FROM + N].copy_from_slice(&to);
}

/// Where a record with this key stands, or would if that place were free, among places whose number has so many bits less than 64.
#[inline]
fn place(key: [u64; 2], spare: u32) -> usize {
    let mixed = key[0].wrapping_mul(MULTIPLIER).wrapping_add(key[1].wrapping_mul(0xd6e8_feb8_6659_fd93));
    (mixed >> (spare & 63)) as usize
}

/// The record with this key, and its place.
#[inline]
fn find(records: &[Record], spare: u32, key: [u64; 2]) -> Option<(usize, &Record)> {
    let mut place = place(key, spare);
    loop {
        let record = records.get(place)?;
        if record.key == key {
            return Some((place, record));
        }
        if record.key == Record::NONE.key {
            return None;
        }
        place = (place + 1) & (records.len() - 1);
    }
}

#[cfg(feature = "faults")]
impl Macrosteps {
    /// Reviews windows after a few uses, and withdraws them after a few contents.
    pub(super) fn widen_soon(&mut self) {
        self.entries.policy = entry_points::Policy {
            first_review: 2,
            uses_per_content: 1,
            n_traces: 2,
            spacing: 1,
            trial_steps: 1,
            uses_per_trial_step: u64::MAX,
            min_uses: u64::MAX,
        };
    }

    /// Whether windows were replaced by others, and whether that was undone.
    pub(super) fn have_tried(&self) -> (bool, bool) {
        (self.entries.n_replaced > 0, self.entries.n_restored > 0)
    }

    /// Lets every remembered macrostep that changes something leave its first head a cell further on.
    pub(super) fn spoil(&mut self) -> bool {
        let changes = |record: &&mut Record| {
            record.steps() > 0
                && (record.moved != [0; MAX_ROWS] || record.changed[0] | record.changed[1] << 32 != 0)
        };
        self.records.iter_mut().filter(changes).map(|record| record.moved[0] += 1).count() > 0
    }
}
