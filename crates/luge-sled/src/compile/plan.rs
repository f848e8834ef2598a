//! What lies on the read-only tapes: where the rulers have their marks, and the constants.

use std::collections::{BTreeMap, BTreeSet};

/// What a program needs, found out by generating it once.
#[derive(Clone, Debug, Default)]
pub(super) struct Demand {
    /// Lengths on the ruler, and how often each is walked.
    pub(super) lengths: BTreeMap<u32, u64>,
    /// Lengths that are walked in one go and so must lie on the same side.
    pub(super) links: BTreeSet<(u32, u32)>,
    /// Lengths on the second ruler.
    pub(super) outer: BTreeSet<u32>,
    /// Constants, in order of first use: bits and width.
    pub(super) constants: Vec<(i64, u32)>,
}

/// Where a length ends on a ruler: which way to go, and how many marks lie between.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reach {
    pub(super) direction: i8,
    pub(super) between: u8,
}

/// A ruler: marks on both sides of its home cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Ruler {
    left: BTreeSet<u32>,
    right: BTreeSet<u32>,
}

impl Ruler {
    /// Puts lengths on either side so that the often used ones have few marks before them.
    fn new(demand: &Demand) -> Self {
        let mut groups: Vec<(u64, BTreeSet<u32>)> = Vec::new();
        for (&length, &uses) in &demand.lengths {
            groups.push((uses, BTreeSet::from([length])));
        }
        for &(a, b) in &demand.links {
            let (joined, apart): (Vec<_>, Vec<_>) =
                groups.into_iter().partition(|(_, group)| group.contains(&a) || group.contains(&b));
            groups = apart;
            let uses = joined.iter().map(|(uses, _)| uses).sum();
            groups.push((uses, joined.into_iter().flat_map(|(_, group)| group).collect()));
        }
        groups.sort_by(|a, b| b.cmp(a));
        let mut ruler = Self::default();
        let cost = |side: &BTreeSet<u32>| -> u64 {
            let uses = side.iter().enumerate().map(|(before, w)| demand.lengths[w] * (before as u64 + 1));
            uses.sum()
        };
        for (_, group) in groups {
            let with = |side: &BTreeSet<u32>| side.union(&group).copied().collect::<BTreeSet<u32>>();
            let (left, right) = (with(&ruler.left), with(&ruler.right));
            if cost(&right) + cost(&ruler.left) <= cost(&left) + cost(&ruler.right) {
                ruler.right = right;
            } else {
                ruler.left = left;
            }
        }
        ruler
    }

    pub(super) fn reach(&self, length: u32) -> Reach {
        let (direction, side) = if self.left.contains(&length) { (-1, &self.left) } else { (1, &self.right) };
        let between = side.iter().filter(|&&mark| mark < length).count();
        Reach { direction, between: u8::try_from(between).unwrap_or(u8::MAX) }
    }

    /// Marks between cell 0 and home, cell 0 included.
    pub(super) fn n_left(&self) -> usize {
        self.left.len()
    }

    pub(super) fn n_right(&self) -> usize {
        self.right.len()
    }

    /// The tape from its leftmost mark on.
    pub(super) fn cells(&self) -> Vec<bool> {
        let home = self.left.last().copied().unwrap_or(0);
        let end = home + self.right.last().copied().unwrap_or(0);
        let marked = |cell: u32| match cell.checked_sub(home) {
            Some(0) => true,
            Some(right) => self.right.contains(&right),
            None => self.left.contains(&(home - cell)),
        };
        (0..=end).map(marked).collect()
    }
}

/// The contents of the read-only tapes.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) ruler: Ruler,
    /// The second ruler, on the table; home is cell 0.
    pub(super) outer: Ruler,
    pub(super) constants: Vec<(i64, u32)>,
}

impl Plan {
    pub(super) fn new(demand: &Demand) -> Self {
        let outer = Ruler { left: BTreeSet::new(), right: demand.outer.clone() };
        Self { ruler: Ruler::new(demand), outer, constants: demand.constants.clone() }
    }

    /// The second ruler, if there is one, and the constants.
    pub(super) fn table_cells(&self) -> Vec<bool> {
        let mut cells = if self.outer.right.is_empty() { Vec::new() } else { self.outer.cells() };
        for &(raw, width) in &self.constants {
            cells.extend((0..width).map(|bit| raw >> bit.min(63) & 1 == 1));
        }
        cells
    }
}
