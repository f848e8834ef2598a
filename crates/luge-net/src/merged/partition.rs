//! Partitions columns into kinds, one matrix at a time.

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

    /// The new mark for an old one and a reason; `next` is the first mark that none has yet.
    #[inline]
    fn mark(&mut self, key: (u32, u64), next: &mut u32) -> u32 {
        let recent = &mut self.recent[Self::place(key)];
        if recent.0 != key {
            let new = *self.marks.entry(key).or_insert(*next);
            *next = (*next).max(new + 1);
            *recent = (key, new);
        }
        recent.1
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
            *mark = splits.mark((*mark, reason), &mut self.next);
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

    /// Columns in which a block of weights differs, or will differ after a step. Most columns hold the same number, and keep their marks.
    pub(super) fn tell_apart_by_weights(&mut self, before: &SparseValues, after: Option<&SparseValues>) {
        let (mut row, mut marks) = (0, FxHashMap::default());
        for at in places(before, after) {
            if row != at / self.marks.len() {
                row = at / self.marks.len();
                marks.clear();
            }
            let column = at % self.marks.len();
            let after = after.map_or(0, |after| after.entry(at).to_bits());
            let key = (self.marks[column], before.entry(at).to_bits(), after);
            let new = *marks.entry(key).or_insert(self.next);
            self.next = self.next.max(new + 1);
            self.marks[column] = new;
        }
    }

    /// Columns that also have the same columns beside them, up to this many away: the kinds, by the first column of each.
    pub(super) fn with_neighbours(self, reach: usize) -> Kinds {
        let Self { marks: mut of_column, mut next } = self;
        let mut splits: Vec<[Splits; 2]> = (0..reach).map(|_| [Splits::new(), Splits::new()]).collect();
        // The marks of the columns before, which are overwritten by their kinds: the nearest one comes first.
        let mut before = vec![BEYOND; reach];
        let (mut kinds, mut kind_of_mark) = (Vec::new(), Vec::new());
        for column in 0..of_column.len() {
            let own = of_column[column];
            let mut mark = own;
            for (away, (splits, &left)) in (1..).zip(splits.iter_mut().zip(&before)) {
                let right = of_column.get(column + away).map_or(BEYOND, |&mark| u64::from(mark));
                mark = splits[0].mark((mark, left), &mut next);
                mark = splits[1].mark((mark, right), &mut next);
            }
            if reach > 1 {
                before.rotate_right(1);
            }
            before.iter_mut().take(1).for_each(|nearest| *nearest = u64::from(own));
            if kind_of_mark.len() < next as usize {
                kind_of_mark.resize(next as usize, u32::MAX);
            }
            let kind = &mut kind_of_mark[mark as usize];
            if *kind == u32::MAX {
                *kind = kinds.len() as u32;
                kinds.push(ColumnKind { column, count: 0, place: 0 });
            }
            kinds[*kind as usize].count += 1;
            of_column[column] = *kind;
        }
        Kinds { of_column, kinds }
    }
}

/// The kinds of columns.
#[derive(Debug)]
pub(super) struct Kinds {
    of_column: Vec<u32>,
    pub(super) kinds: Vec<ColumnKind>,
}

impl Kinds {
    /// The kind of a column.
    pub(super) fn of(&self, column: usize) -> usize {
        self.of_column[column] as usize
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Columns are of one kind if they and all columns within reach have the same marks, and the borders are equally far.
        #[test]
        fn kinds_are_columns_with_the_same_neighbours(
            marks in proptest::collection::vec(0_u32..3, 1..60),
            reach in 0_usize..4,
        ) {
            let around = |column: usize| -> Vec<Option<u32>> {
                let places = column as isize - reach as isize..=(column + reach) as isize;
                places.map(|at| usize::try_from(at).ok().and_then(|at| marks.get(at).copied())).collect()
            };
            let all = Partition { marks: marks.clone(), next: 3 }.with_neighbours(reach);
            for column in 0..marks.len() {
                let alike: Vec<usize> = (0..marks.len()).filter(|&other| around(other) == around(column)).collect();
                let ColumnKind { column: first, count, .. } = all.kinds[all.of(column)];
                prop_assert_eq!((first, count), (alike[0], alike.len()));
                prop_assert!((0..marks.len()).all(|other| (all.of(other) == all.of(column)) == alike.contains(&other)));
            }
        }
    }
}
