//! Partitions columns into kinds of equal columns, one matrix at a time.

use rustc_hash::FxHashMap;

use crate::SparseValues;

use super::ColumnKind;

/// A mark for every column. Columns with the same mark have been equal so far.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    marks: Vec<u32>,
    /// The first unused mark.
    next: u32,
}

/// The mark of what lies beyond the border. No column has it.
const BEYOND: u32 = u32::MAX;

/// New marks, by an old mark and the bits that distinguish columns with this mark. There are few of them, but one lookup
/// for every column.
#[derive(Clone, Debug)]
pub(super) struct Splits {
    marks: FxHashMap<(u32, u64), u32>,
    /// A cache of them, indexed by a hash of the key, which answers nearly all lookups.
    recent: [((u32, u64), u32); Self::N_RECENT],
}

impl Splits {
    const N_RECENT: usize = 256;

    pub(super) fn new() -> Self {
        Self { marks: FxHashMap::default(), recent: [((u32::MAX, 0), 0); Self::N_RECENT] }
    }

    /// The new mark for a key; `next` is the first unused mark.
    #[inline]
    fn mark(&mut self, key: (u32, u64), next: &mut u32) -> u32 {
        let mixed = (u64::from(key.0) << 1 ^ key.1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let recent = &mut self.recent[(mixed >> 56) as usize % Self::N_RECENT];
        if recent.0 != key {
            let new = *self.marks.entry(key).or_insert(*next);
            *next = (*next).max(new + 1);
            *recent = (key, new);
        }
        recent.1
    }
}

impl Partition {
    /// All columns equal.
    pub(super) fn new(n_columns: usize) -> Self {
        // Not `vec![0; n]`: the system would map pages of zeros when they are read, and replace each when it is written.
        Self { marks: std::iter::repeat_n(0, n_columns).collect(), next: 1 }
    }

    /// Distinguishes columns by a piece of a row, which begins at column `first`.
    pub(super) fn distinguish_by_numbers(&mut self, splits: &mut Splits, first: usize, numbers: &[f64]) {
        for (mark, number) in self.marks[first..].iter_mut().zip(numbers) {
            *mark = splits.mark((*mark, number.to_bits()), &mut self.next);
        }
    }

    /// Distinguishes a column from all others.
    pub(super) fn single_out(&mut self, column: usize) {
        self.marks[column] = self.next;
        self.next += 1;
    }

    /// Distinguishes columns by the weights of a block. Most columns hold the common number and keep their marks.
    pub(super) fn distinguish_by_weights(&mut self, block: &SparseValues) {
        let n_columns = self.marks.len();
        let (mut row, mut splits) = (0, Splits::new());
        for &(at, weight) in block.others() {
            if row != at / n_columns {
                row = at / n_columns;
                splits = Splits::new();
            }
            let mark = &mut self.marks[at % n_columns];
            *mark = splits.mark((*mark, weight.to_bits()), &mut self.next);
        }
    }

    /// The kinds of columns, if columns are equal only if their neighbours up to `reach` away are equal too. Kinds are ordered
    /// by their first columns.
    pub(super) fn with_neighbours(self, reach: usize) -> Kinds {
        let Self { marks: mut of_column, mut next } = self;
        let mut splits: Vec<Splits> = vec![Splits::new(); reach];
        // The marks of the columns before, which `of_column` no longer has; the nearest one comes first.
        let mut before = vec![BEYOND; reach];
        let (mut kinds, mut kind_of_mark): (Vec<ColumnKind>, Vec<u32>) = (Vec::new(), Vec::new());
        // The number of columns before the last one within reach that have the same mark as it.
        let (mut last, mut n_alike, mut kind) = (BEYOND, 0, u32::MAX);
        for ahead in 0..of_column.len() + reach {
            let newest = of_column.get(ahead).copied().unwrap_or(BEYOND);
            n_alike = if newest == last { n_alike + 1 } else { 0 };
            last = newest;
            let Some(column) = ahead.checked_sub(reach) else { continue };
            // If all columns within reach of this column and of the one before it are equal, so are these two.
            if n_alike <= 2 * reach {
                let own = of_column[column];
                let mut mark = own;
                for (away, (splits, &left)) in splits.iter_mut().zip(&before).enumerate() {
                    let right = of_column.get(column + away + 1).copied().unwrap_or(BEYOND);
                    mark = splits.mark((mark, u64::from(left) << 32 | u64::from(right)), &mut next);
                }
                if reach > 1 {
                    before.rotate_right(1);
                }
                before.iter_mut().take(1).for_each(|nearest| *nearest = own);
                if kind_of_mark.len() < next as usize {
                    kind_of_mark.resize(next as usize, u32::MAX);
                }
                kind = kind_of_mark[mark as usize];
                if kind == u32::MAX {
                    kind = kinds.len() as u32;
                    kind_of_mark[mark as usize] = kind;
                    kinds.push(ColumnKind { column, count: 0, place: 0 });
                }
            }
            kinds[kind as usize].count += 1;
            of_column[column] = kind;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Columns have the same mark if they had the same one before and hold the same number, bit for bit.
        #[test]
        fn marks_tell_numbers_apart(
            columns in proptest::collection::vec((0_u32..3, 0_usize..5), 1..60),
            few in 1_usize..5,
            piece in 1_usize..20,
        ) {
            let marks: Vec<u32> = columns.iter().map(|column| column.0).collect();
            let numbers: Vec<f64> = columns.iter().map(|column| [1.0, -1.0, 0.0, -0.0, 0.5][column.1 % few]).collect();
            let mut partition = Partition { marks: marks.clone(), next: 3 };
            let mut splits = Splits::new();
            for (number, piece_of) in numbers.chunks(piece).enumerate() {
                partition.distinguish_by_numbers(&mut splits, number * piece, piece_of);
            }
            for (a, b) in (0..marks.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
                let alike = marks[a] == marks[b] && numbers[a].to_bits() == numbers[b].to_bits();
                prop_assert_eq!(partition.marks[a] == partition.marks[b], alike);
            }
            prop_assert!(partition.marks.iter().all(|mark| *mark < partition.next));
        }

        /// Columns are of one kind if they and all columns within reach have the same marks, and the borders are equally far.
        #[test]
        fn kinds_are_columns_with_the_same_neighbours(
            runs in proptest::collection::vec((0_u32..3, 1_usize..12), 1..30),
            reach in 0_usize..4,
        ) {
            let marks: Vec<u32> = runs.iter().flat_map(|&(mark, n)| std::iter::repeat_n(mark, n)).collect();
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
