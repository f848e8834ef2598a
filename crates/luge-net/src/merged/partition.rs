//! Partitions columns into kinds, one matrix at a time.

use std::collections::{BTreeMap, HashMap};

use rustc_hash::FxHashMap;

use crate::SparseValues;

use super::ColumnKind;

/// A mark for every column; columns with the same mark are alike so far.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    marks: Vec<u32>,
    next: u32,
}

/// A mark that no column has: what lies beyond the border.
const BEYOND: u64 = u64::MAX;

/// New marks for an old mark and something that tells columns apart. There are few, and a lookup for every column.
#[derive(Debug)]
pub(super) struct Splits {
    marks: FxHashMap<(u32, u64), u32>,
    /// Some of them, each where its key says: nearly all lookups end here. No column has the mark `u32::MAX`.
    recent: [((u32, u64), u32); Self::N_RECENT],
}

impl Splits {
    /// A power of two.
    const N_RECENT: usize = 256;

    pub(super) fn new() -> Self {
        Self { marks: FxHashMap::default(), recent: [((u32::MAX, 0), 0); Self::N_RECENT] }
    }

    /// Where a key is looked for first.
    #[inline]
    fn place((mark, reason): (u32, u64)) -> usize {
        let mixed = (u64::from(mark) << 1 ^ reason).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 56) as usize % Self::N_RECENT
    }
}

impl Partition {
    /// All columns alike.
    pub(super) fn new(n_columns: usize) -> Self {
        Self { marks: vec![0; n_columns], next: 1 }
    }

    /// Gives columns from one on other marks: the same ones for the same mark before and the same reason.
    fn split(&mut self, splits: &mut Splits, first: usize, reasons: impl Iterator<Item = u64>) {
        for (mark, reason) in self.marks[first..].iter_mut().zip(reasons) {
            let key = (*mark, reason);
            let recent = &mut splits.recent[Splits::place(key)];
            if recent.0 != key {
                let new = *splits.marks.entry(key).or_insert(self.next);
                self.next = self.next.max(new + 1);
                *recent = (key, new);
            }
            *mark = recent.1;
        }
    }

    /// Columns that differ in a row, of which the entries from column `first` on are given; `splits` is new when a row begins.
    pub(super) fn tell_apart_by_numbers(&mut self, splits: &mut Splits, first: usize, numbers: &[f64]) {
        self.split(splits, first, numbers.iter().map(|number| number.to_bits()));
    }

    /// Makes a column different from all others.
    pub(super) fn single_out(&mut self, column: usize) {
        self.marks[column] = self.next;
        self.next += 1;
    }

    /// Columns that also have the same columns beside them, up to this many away.
    pub(super) fn with_neighbours(self, reach: usize) -> Ground {
        let own = self.marks;
        let mut around = Self { marks: own.clone(), next: self.next };
        for away in 1..=reach {
            let beyond = || std::iter::repeat_n(BEYOND, away);
            let marks = || own.iter().map(|&mark| u64::from(mark));
            around.split(&mut Splits::new(), 0, beyond().chain(marks()));
            around.split(&mut Splits::new(), 0, marks().skip(away).chain(beyond()));
        }
        let mut ground = Ground { kind_of: around.marks, own: Vec::new(), kinds: Vec::new() };
        let mut kind_of_mark = vec![u32::MAX; around.next as usize];
        for (column, mark) in ground.kind_of.iter_mut().enumerate() {
            let kind = &mut kind_of_mark[*mark as usize];
            if *kind == u32::MAX {
                *kind = ground.kinds.len() as u32;
                ground.kinds.push(ColumnKind { column, count: 0, place: 0 });
                ground.own.push(own[column]);
            }
            ground.kinds[*kind as usize].count += 1;
            *mark = *kind;
        }
        ground
    }
}

/// The kinds of columns before weights are compared.
#[derive(Clone, Debug)]
pub(super) struct Ground {
    /// The kind of every column.
    kind_of: Vec<u32>,
    /// For every kind, the mark that its columns have whatever lies beside them.
    own: Vec<u32>,
    kinds: Vec<ColumnKind>,
}

/// The kinds of columns at some weights.
#[derive(Debug)]
pub(super) struct Kinds<'g> {
    pub(super) kinds: Vec<ColumnKind>,
    ground: &'g Ground,
    /// For the kinds of the ground, which ones they are now.
    renumbered: Vec<u32>,
    /// The columns whose kind is another one.
    others: HashMap<usize, u32>,
}

impl Kinds<'_> {
    /// The kind of a column.
    pub(super) fn of(&self, column: usize) -> usize {
        let own = || self.renumbered[self.ground.kind_of[column] as usize];
        self.others.get(&column).copied().unwrap_or_else(own) as usize
    }
}

/// What tells a column with weights of its own, or beside such a one, from others: in this order what it is without weights, its weights
/// before and after a step, and the same of the columns beside it.
type Reasons = Vec<u64>;

impl Ground {
    /// Tells columns apart by blocks of weights as well, and by what they will be after a step. Only columns near an entry that differs
    /// from all others in its block are compared; elsewhere nothing has changed.
    pub(super) fn with_weights(
        &self,
        blocks: &[(&SparseValues, Option<&SparseValues>)],
        reach: usize,
    ) -> Kinds<'_> {
        let n_columns = self.kind_of.len();
        let mut weights: BTreeMap<usize, Reasons> = BTreeMap::new();
        for (block, (before, after)) in blocks.iter().enumerate() {
            for at in places(before, *after) {
                let (row, column) = (at / n_columns, at % n_columns);
                let after = after.map_or(0, |after| after.entry(at).to_bits());
                let reasons = weights.entry(column).or_default();
                reasons.extend([block as u64, row as u64, before.entry(at).to_bits(), after]);
            }
        }
        let mut near: Vec<usize> = weights
            .keys()
            .flat_map(|&column| column.saturating_sub(reach)..(column + reach + 1).min(n_columns))
            .collect();
        near.sort_unstable();
        near.dedup();
        // What a column is without looking beside it, as a number.
        let mut numbers: HashMap<(u32, &[u64]), u64> = HashMap::new();
        let own: BTreeMap<usize, u64> = weights
            .iter()
            .map(|(&column, reasons)| {
                let next = numbers.len() as u64;
                let key = (self.own[self.kind_of[column] as usize], &reasons[..]);
                (column, u64::from(u32::MAX) + 1 + *numbers.entry(key).or_insert(next))
            })
            .collect();
        let mark = |column: Option<usize>| match column.filter(|&column| column < n_columns) {
            Some(column) => {
                own.get(&column).copied().unwrap_or_else(|| self.own[self.kind_of[column] as usize].into())
            }
            None => BEYOND,
        };
        let (mut kinds, mut others) = (self.kinds.clone(), HashMap::with_capacity(near.len()));
        let mut found: HashMap<Reasons, u32> = HashMap::new();
        for &column in &near {
            let beside = (1..=reach).flat_map(|away| [column.checked_sub(away), Some(column + away)]);
            let reasons = [Some(column)].into_iter().chain(beside).map(mark).collect();
            let kind = *found.entry(reasons).or_insert_with(|| {
                kinds.push(ColumnKind { column, count: 0, place: 0 });
                kinds.len() as u32 - 1
            });
            kinds[kind as usize].count += 1;
            kinds[self.kind_of[column] as usize].count -= 1;
            others.insert(column, kind);
        }
        self.numbered(kinds, others)
    }

    /// Leaves out kinds without columns, and names the first column of each of the others.
    fn numbered(&self, kinds: Vec<ColumnKind>, mut others: HashMap<usize, u32>) -> Kinds<'_> {
        let mut left: Vec<(usize, ColumnKind)> =
            kinds.into_iter().enumerate().filter(|(_, kind)| kind.count > 0).collect();
        let n_kinds = left.iter().map(|&(old, _)| old + 1).max().unwrap_or(0).max(self.kinds.len());
        for (old, kind) in left.iter_mut().filter(|(old, _)| *old < self.kinds.len()) {
            let still =
                |&column: &usize| self.kind_of[column] as usize == *old && !others.contains_key(&column);
            kind.column = (kind.column..self.kind_of.len()).find(still).unwrap_or(kind.column);
        }
        left.sort_unstable_by_key(|(_, kind)| kind.column);
        let mut renumbered = vec![u32::MAX; n_kinds];
        (0..).zip(&left).for_each(|(new, &(old, _))| renumbered[old] = new);
        others.values_mut().for_each(|kind| *kind = renumbered[*kind as usize]);
        Kinds { kinds: left.into_iter().map(|(_, kind)| kind).collect(), ground: self, renumbered, others }
    }
}

/// The places at which a block of weights differs from what it is elsewhere, before or after a step.
fn places(before: &SparseValues, after: Option<&SparseValues>) -> Vec<usize> {
    let others = |block: &SparseValues| block.others().iter().map(|other| other.0).collect::<Vec<_>>();
    let mut places = match after {
        Some(after) if after.common().to_bits() != before.common().to_bits() => {
            (0..before.shape.len()).collect()
        }
        Some(after) => [others(before), others(after)].concat(),
        None => others(before),
    };
    places.sort_unstable();
    places.dedup();
    places
}
