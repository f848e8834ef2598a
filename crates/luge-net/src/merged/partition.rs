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

/// New marks, by an old mark and the bits that distinguish columns with this mark.
#[derive(Debug, Default)]
pub(super) struct Splits {
    marks: FxHashMap<(u32, u64), u32>,
    /// The last of them: most columns are like the one before.
    last: Option<((u32, u64), u32)>,
}

impl Partition {
    /// All columns equal.
    pub(super) fn new(n_columns: usize) -> Self {
        Self { marks: vec![0; n_columns], next: 1 }
    }

    /// Distinguishes a column from those with the same mark and other bits.
    #[inline]
    fn split(&mut self, splits: &mut Splits, column: usize, bits: u64) {
        let mark = &mut self.marks[column];
        let key = (*mark, bits);
        *mark = match splits.last {
            Some((last, new)) if last == key => new,
            _ => {
                let new = *splits.marks.entry(key).or_insert(self.next);
                self.next = self.next.max(new + 1);
                splits.last = Some((key, new));
                new
            }
        };
    }

    /// Distinguishes columns by a piece of a row, which begins at column `first`.
    pub(super) fn distinguish_by_numbers(&mut self, splits: &mut Splits, first: usize, numbers: &[f64]) {
        (first..).zip(numbers).for_each(|(column, number)| self.split(splits, column, number.to_bits()));
    }

    /// Distinguishes a column from all others.
    pub(super) fn single_out(&mut self, column: usize) {
        self.marks[column] = self.next;
        self.next += 1;
    }

    /// Distinguishes columns by the weights of a block. Most columns hold the common number and keep their marks.
    pub(super) fn distinguish_by_weights(&mut self, block: &SparseValues) {
        let (mut row, mut splits) = (0, Splits::default());
        for &(at, weight) in block.others() {
            if row != at / self.marks.len() {
                row = at / self.marks.len();
                splits = Splits::default();
            }
            self.split(&mut splits, at % self.marks.len(), weight.to_bits());
        }
    }

    /// The kinds of columns, if columns are equal only if their neighbours up to `reach` away are equal too. Kinds are ordered
    /// by their first columns.
    pub(super) fn with_neighbours(mut self, reach: usize) -> Kinds {
        let own = self.marks.clone();
        let of = |column: Option<usize>| column.and_then(|at| own.get(at)).copied().unwrap_or(BEYOND);
        for away in 1..=reach {
            let mut splits = Splits::default();
            for column in 0..own.len() {
                let (left, right) = (of(column.checked_sub(away)), of(Some(column + away)));
                self.split(&mut splits, column, u64::from(left) << 32 | u64::from(right));
            }
        }
        let (mut kinds, mut kind_of_mark) = (Vec::new(), vec![u32::MAX; self.next as usize]);
        for (column, mark) in self.marks.iter_mut().enumerate() {
            let kind = &mut kind_of_mark[*mark as usize];
            if *kind == u32::MAX {
                *kind = kinds.len() as u32;
                kinds.push(ColumnKind { column, count: 0, place: 0 });
            }
            kinds[*kind as usize].count += 1;
            *mark = *kind;
        }
        Kinds { of_column: self.marks, kinds }
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
            let mut splits = Splits::default();
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
