//! The blocks at which macrosteps begin, and which cells their windows show: few at first, more where a block is
//! entered often with the same contents.

use super::{
    Window,
    shape::{Shape, Trace},
    walk::Source,
};
use crate::{TrainError, exact::tapes::Tapes};

/// How many cells the windows of an entry point may show together, from the narrowest to the widest.
const BUDGETS: [u32; 5] = [16, 24, 40, 60, 96];

/// An entry point that keeps its windows is reviewed again when it has been used so many times as often.
const REVIEW_FACTOR: u64 = 4;

/// An entry point that gets its narrower windows back is reviewed again when it has been used so many times as often.
const RESTORED_FACTOR: u64 = 8;

/// How many times as many steps other windows must determine to replace the present ones.
const GAIN: f64 = 1.2;

/// When entry points get other windows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    /// The number of uses before the first review.
    pub(super) first_review: u64,
    /// A review changes nothing unless each content was met so many times on average.
    pub(super) uses_per_content: u64,
    /// The number of traces that a review follows, and of uses between two of them.
    pub(super) n_traces: usize,
    pub(super) spacing: u64,
    /// New windows are withdrawn when their macrosteps have more steps in all than this and one for every `uses_per_trial_step` uses of the
    /// windows before them, and each content was met fewer than `min_uses` times on average.
    pub(super) trial_steps: u64,
    pub(super) uses_per_trial_step: u64,
    pub(super) min_uses: u64,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            first_review: 256,
            uses_per_content: 48,
            n_traces: 5,
            spacing: 41,
            trial_steps: 512,
            uses_per_trial_step: 16,
            min_uses: 4,
        }
    }
}

/// A block from which macrosteps begin, with its windows.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryPoint {
    pub(super) block: u32,
    /// Identifies these windows in the key of a record; 0 if there are none yet.
    pub(super) tag: u32,
    /// The range of its windows. The first `n_changing` of them show cells that some macrostep changes.
    pub(super) first: u32,
    pub(super) end: u32,
    pub(super) n_changing: u32,
    /// How many macrosteps have begun with these windows, and the number at which they are reviewed.
    pub(super) uses: u64,
    pub(super) review: u64,
    /// How many contents the windows have shown, and how many steps their macrosteps have in all.
    n_contents: u64,
    n_steps: u64,
    /// An index into [`BUDGETS`], and how many larger budgets the next review tries.
    budget: u8,
    reach: u8,
    /// Whether all cells are in the first word of the key.
    pub(super) in_one_word: bool,
    /// Whether the windows show every cell that the first step can depend on.
    complete: bool,
    /// Whether the first step can depend on more cells than windows hold.
    pub(super) too_wide: bool,
}

impl EntryPoint {
    fn new(block: u32, complete: bool, budget: usize) -> Self {
        Self {
            block,
            tag: 0,
            first: 0,
            end: 0,
            n_changing: 0,
            uses: 0,
            review: u64::MAX,
            n_contents: 0,
            n_steps: 0,
            budget: budget as u8,
            reach: 1,
            in_one_word: false,
            complete,
            too_wide: false,
        }
    }
}

/// All entry points, their windows, and the windows that were replaced.
#[derive(Clone, Debug)]
pub(super) struct EntryPoints {
    /// One for each block in turn, then those that only some contents of a block lead to.
    pub(super) points: Vec<EntryPoint>,
    /// What each point was before its windows were replaced.
    replaced: Vec<Option<EntryPoint>>,
    /// The traces of the review that is under way at each point.
    traces: Vec<Vec<Trace>>,
    pub(super) windows: Vec<Window>,
    /// The tag of the first windows of each block; 0 if it has had none.
    pub(super) first_tags: Vec<u32>,
    /// The block and the windows of every tag.
    pub(super) tags: Vec<(u32, std::ops::Range<u32>)>,
    pub(super) policy: Policy,
    /// How often windows were replaced, and how often that was undone.
    pub(super) n_replaced: u32,
    pub(super) n_restored: u32,
}

impl EntryPoints {
    /// More entry points cannot be numbered in a record.
    pub(super) const MAX: usize = 1 << 24;

    pub(super) fn new(n_blocks: usize) -> Self {
        Self {
            points: (0..n_blocks).map(|block| EntryPoint::new(block as u32, false, 0)).collect(),
            replaced: vec![None; n_blocks],
            traces: vec![Vec::new(); n_blocks],
            windows: Vec::new(),
            first_tags: vec![0; n_blocks],
            tags: vec![(0, 0..0)],
            policy: Policy::default(),
            n_replaced: 0,
            n_restored: 0,
        }
    }

    /// The windows of a point.
    pub(super) fn windows_of(&self, point: usize) -> &[Window] {
        let EntryPoint { first, end, .. } = self.points[point];
        &self.windows[first as usize..end as usize]
    }

    /// Adds an entry point of the same block whose windows show every cell that the first step can depend on. Returns the point itself if
    /// its own windows do.
    pub(super) fn complete(&mut self, point: usize) -> usize {
        let EntryPoint { block, complete, .. } = self.points[point];
        if complete || self.points.len() >= Self::MAX {
            return point;
        }
        self.points.push(EntryPoint::new(block, true, 0));
        self.replaced.push(None);
        self.traces.push(Vec::new());
        self.points.len() - 1
    }

    /// Gives a point its first windows.
    pub(super) fn open(
        &mut self,
        point: usize,
        source: &mut Source<'_, '_>,
        tapes: &Tapes,
    ) -> Result<(), TrainError> {
        let shape = self.trace(point, BUDGETS[0], source, tapes)?.shape(BUDGETS[0]);
        match shape.n_cells() <= Window::ROOM {
            true => self.show(point, &shape),
            false => self.points[point].too_wide = true,
        }
        Ok(())
    }

    fn trace(
        &self,
        point: usize,
        max_cells: u32,
        source: &mut Source<'_, '_>,
        tapes: &Tapes,
    ) -> Result<Trace, TrainError> {
        let EntryPoint { block, complete, .. } = self.points[point];
        let base = match complete {
            true => Shape::of_first_step(source.table, block as usize),
            false => Shape::of_vertex(source.table, block as usize),
        };
        Trace::ahead(base, block as usize, max_cells, source, tapes)
    }

    fn show(&mut self, point: usize, shape: &Shape) {
        let windows = shape.windows();
        let entry = &mut self.points[point];
        (entry.first, entry.end) = (self.windows.len() as u32, (self.windows.len() + windows.len()) as u32);
        (entry.tag, entry.review) = (self.tags.len() as u32, self.policy.first_review);
        entry.in_one_word = windows.iter().all(|window| window.masks[1] == 0);
        let first_tag = &mut self.first_tags[entry.block as usize];
        if *first_tag == 0 {
            *first_tag = entry.tag;
        }
        self.tags.push((entry.block, entry.first..entry.end));
        self.windows.extend(windows);
    }

    /// Reviews the windows of a point: one call follows one trace. After the last trace, the windows are replaced if others of the same
    /// budget or the next one determine more of the traces' steps. If they do not, the next review tries one more budget.
    #[cold]
    pub(super) fn review(
        &mut self,
        point: usize,
        source: &mut Source<'_, '_>,
        tapes: &Tapes,
    ) -> Result<(), TrainError> {
        let entry = self.points[point];
        if entry.uses / self.policy.uses_per_content < entry.n_contents {
            self.points[point].review = 2 * entry.uses;
            return Ok(());
        }
        let widest = usize::from(entry.budget + entry.reach).min(BUDGETS.len() - 1);
        let trace = self.trace(point, BUDGETS[widest], source, tapes)?;
        self.traces[point].push(trace);
        if self.traces[point].len() < self.policy.n_traces {
            self.points[point].review = entry.uses + self.policy.spacing;
            return Ok(());
        }
        let traces = std::mem::take(&mut self.traces[point]);
        let present = Trace::steps_within(&traces, &Shape::of(self.windows_of(point)));
        let better = (usize::from(entry.budget)..=widest).find_map(|budget| {
            let (steps, shape) = Trace::best(&traces, BUDGETS[budget])?;
            (f64::from(steps) >= GAIN * f64::from(present)).then_some((budget, shape))
        });
        match better.filter(|(_, shape)| shape.n_cells() <= Window::ROOM) {
            None => {
                let (review, reach) = (REVIEW_FACTOR * entry.uses, entry.reach + 1);
                self.points[point] = EntryPoint { review, reach: reach.min(BUDGETS.len() as u8), ..entry };
            }
            Some((budget, shape)) => {
                self.replaced[point] = Some(entry);
                self.points[point] = EntryPoint::new(entry.block, entry.complete, budget);
                self.show(point, &shape);
                self.n_replaced += 1;
            }
        }
        Ok(())
    }

    /// Counts a new content of a point's windows, and withdraws wide windows that show too many.
    pub(super) fn count_content(&mut self, point: usize, n_steps: u32) {
        let entry = &mut self.points[point];
        entry.n_contents += 1;
        entry.n_steps += u64::from(n_steps);
        let Policy { trial_steps, uses_per_trial_step, min_uses, .. } = self.policy;
        let costly =
            |replaced: &mut EntryPoint| entry.n_steps > trial_steps + replaced.uses / uses_per_trial_step;
        if entry.uses / min_uses < entry.n_contents
            && let Some(replaced) = self.replaced[point].take_if(costly)
        {
            let review = RESTORED_FACTOR * replaced.uses;
            self.points[point] = EntryPoint { review, ..replaced };
            self.traces[point].clear();
            self.n_restored += 1;
        }
    }
}
