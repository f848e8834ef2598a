//! The blocks at which macrosteps begin, and how many cells their windows have: few at first, more where a block is
//! entered often with the same contents.

use super::Window;

/// How many cells the windows of a block may have together, one after the other.
const BUDGETS: [u32; 4] = [16, 32, 60, 96];

/// Wider windows that were not better are tried again when a block has been entered so many times as often.
const AGAIN: u32 = 8;

/// How much longer macrosteps must become for wider windows to be better.
const GAIN: f64 = 1.1;

/// When blocks are given other windows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habits {
    /// How often each content must have been met for wider windows to be worth it.
    pub(super) worth: u32,
    /// How often a block is entered at least before that is asked.
    pub(super) least: u32,
    /// So many contents of wider windows are allowed however seldom they are met.
    pub(super) few: u32,
    /// How often each of more contents must have been met, else wider windows are taken away.
    pub(super) rare: u32,
}

impl Default for Habits {
    fn default() -> Self {
        Self { worth: 32, least: 256, few: 128, rare: 4 }
    }
}

/// A block from which macrosteps begin, and its windows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EntryPoint {
    /// Tells the contents of these windows from those of all others; 0: it has no windows yet.
    pub(super) tag: u32,
    /// Its windows among all; the first so many of them show cells that some macrostep changes.
    pub(super) first: u32,
    pub(super) end: u32,
    pub(super) n_changing: u32,
    /// How many macrosteps have begun with these windows, and at how many it is asked whether others are better.
    pub(super) uses: u32,
    pub(super) review: u32,
    /// The steps of those macrosteps.
    pub(super) steps: u64,
    /// How many contents they have shown.
    pub(super) n_known: u32,
    /// Whether all their cells stand in the first word.
    pub(super) in_one_word: bool,
    budget: u8,
    /// Whether they were found to be better than narrower ones.
    accepted: bool,
    /// Whether its first step depends on too many cells for windows.
    pub(super) too_wide: bool,
}

/// All entry points, by block, and those that were replaced.
#[derive(Clone, Debug)]
pub(super) struct EntryPoints {
    pub(super) of_block: Vec<EntryPoint>,
    /// The narrower windows of blocks that have been given wider ones.
    before: Vec<Option<EntryPoint>>,
    /// The tag of the first windows that each block had; 0: it has had none.
    pub(super) first_tags: Vec<u32>,
    /// The block and the windows of every tag.
    pub(super) tags: Vec<(u32, std::ops::Range<u32>)>,
    pub(super) habits: Habits,
}

impl EntryPoints {
    pub(super) fn new(n_blocks: usize) -> Self {
        Self {
            of_block: vec![EntryPoint::default(); n_blocks],
            before: vec![None; n_blocks],
            first_tags: vec![0; n_blocks],
            tags: vec![(0, 0..0)],
            habits: Habits::default(),
        }
    }

    /// How many cells a block's windows may have.
    pub(super) fn budget(&self, block: usize) -> u32 {
        BUDGETS[usize::from(self.of_block[block].budget)]
    }

    /// Gives a block its windows, which begin at `first` among all.
    pub(super) fn shape(&mut self, block: usize, windows: Option<&[Window]>, first: usize) {
        let review = self.habits.least;
        let entry = &mut self.of_block[block];
        let Some(windows) = windows else {
            entry.too_wide = true;
            return;
        };
        (entry.first, entry.end) = (first as u32, (first + windows.len()) as u32);
        (entry.tag, entry.review) = (self.tags.len() as u32, review);
        entry.in_one_word = windows.iter().all(|window| window.masks[1] == 0);
        if self.first_tags[block] == 0 {
            self.first_tags[block] = entry.tag;
        }
        self.tags.push((block as u32, entry.first..entry.end));
    }

    /// Lets a block have wider windows if its contents are met again and again, and narrower ones again if they were better.
    #[cold]
    pub(super) fn review(&mut self, block: usize) {
        let entry = self.of_block[block];
        let rate = |entry: &EntryPoint| entry.steps as f64 / f64::from(entry.uses.max(1));
        let widest = usize::from(entry.budget) + 1 == BUDGETS.len();
        let wider = EntryPoint { budget: entry.budget + 1, ..EntryPoint::default() };
        if let Some(before) = self.before[block].filter(|_| !entry.accepted) {
            if rate(&entry) < GAIN * rate(&before) {
                // What is not wide enough for the next round of a loop is no better and shows no more contents; the next width may be
                // much better.
                match widest || entry.n_known > before.n_known {
                    true => self.restore(block, before),
                    false => self.of_block[block] = wider,
                }
                return;
            }
            self.of_block[block].accepted = true;
        }
        if widest {
            self.of_block[block].review = u32::MAX;
        } else if entry.uses / self.habits.worth < entry.n_known {
            self.of_block[block].review = entry.uses.saturating_mul(2);
        } else {
            self.before[block] = Some(self.of_block[block]);
            self.of_block[block] = wider;
        }
    }

    fn restore(&mut self, block: usize, before: EntryPoint) {
        self.of_block[block] =
            EntryPoint { review: before.uses.saturating_mul(AGAIN), accepted: true, ..before };
        self.before[block] = None;
    }

    /// Notes a content that was not met before, and takes wide windows away from a block that shows too many.
    pub(super) fn met(&mut self, block: usize) {
        let entry = &mut self.of_block[block];
        entry.n_known += 1;
        if entry.n_known > self.habits.few
            && entry.uses / self.habits.rare < entry.n_known
            && let Some(before) = self.before[block]
        {
            self.restore(block, before);
        }
    }
}
