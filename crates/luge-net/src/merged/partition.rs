//! Partitions columns into kinds of equal columns, one matrix at a time.

use rustc_hash::FxHashMap;

use crate::SparseValues;

use super::ColumnKind;

/// A mark for every column. Columns with the same mark have been equal so far.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    marks: Vec<u32>,
    next: u32,
}

/// The mark of what lies beyond the border. No column has it.
const BEYOND: u32 = u32::MAX;

/// New marks, by an old mark and the marks of two neighbours. There are few of them, but one lookup for every column.
#[derive(Debug)]
struct Splits {
    marks: FxHashMap<(u32, u64), u32>,
    /// A cache of them, indexed by a hash of the key, which answers nearly all lookups.
    recent: [((u32, u64), u32); Self::N_RECENT],
}

impl Splits {
    /// A power of two.
    const N_RECENT: usize = 256;

    fn new() -> Self {
        Self { marks: FxHashMap::default(), recent: [((u32::MAX, 0), 0); Self::N_RECENT] }
    }

    /// The new mark for a key; `next` is the first unused mark.
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

    /// The index of a key in the cache.
    #[inline]
    fn place((mark, neighbours): (u32, u64)) -> usize {
        let mixed = (u64::from(mark) << 1 ^ neighbours).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 56) as usize % Self::N_RECENT
    }
}

/// The new marks that columns get from one row of numbers.
#[derive(Debug)]
pub(super) struct Row {
    /// The first two different numbers of the row. Nearly all rows have no others.
    numbers: [u64; 2],
    n_numbers: usize,
    /// For every old mark, the new marks of columns that hold these two numbers.
    marks: Vec<[u32; 2]>,
    /// The new marks of columns that hold other numbers.
    others: FxHashMap<(u32, u64), u32>,
}

impl Row {
    /// Sets new marks, up to the first column whose old mark and number have not occurred together. Returns that column.
    fn mark<'c>(&self, mut columns: impl Iterator<Item = (&'c mut u32, u64)>) -> Option<(&'c mut u32, u64)> {
        let ([first, second], marks) = (self.numbers, &self.marks[..]);
        columns.find_map(|(mark, number)| {
            let new = marks[*mark as usize][usize::from(number != first)];
            if new == BEYOND || (number != first && number != second) {
                return Some((mark, number));
            }
            *mark = new;
            None
        })
    }

    /// The new mark for an old one and a number; `next` is the first unused mark.
    fn mark_of(&mut self, mark: u32, number: u64, next: &mut u32) -> u32 {
        let mut place = self.numbers[..self.n_numbers].iter().position(|&known| known == number);
        if place.is_none() && self.n_numbers < 2 {
            place = Some(self.n_numbers);
            self.numbers[self.n_numbers] = number;
            self.n_numbers += 1;
        }
        let new = match place {
            Some(place) => &mut self.marks[mark as usize][place],
            None => self.others.entry((mark, number)).or_insert(BEYOND),
        };
        if *new == BEYOND {
            *new = *next;
            *next += 1;
        }
        *new
    }
}

impl Partition {
    /// All columns equal.
    pub(super) fn new(n_columns: usize) -> Self {
        Self { marks: vec![0; n_columns], next: 1 }
    }

    /// The state before the first number of a row.
    pub(super) fn row(&self) -> Row {
        let marks = vec![[BEYOND; 2]; self.next as usize];
        Row { numbers: [0; 2], n_numbers: 0, marks, others: FxHashMap::default() }
    }

    /// Distinguishes columns by a piece of a row, which begins at column `first`.
    pub(super) fn distinguish_by_numbers(&mut self, row: &mut Row, first: usize, numbers: &[f64]) {
        let mut columns = self.marks[first..].iter_mut().zip(numbers.iter().map(|number| number.to_bits()));
        while let Some((mark, number)) = row.mark(&mut columns) {
            *mark = row.mark_of(*mark, number, &mut self.next);
        }
    }

    /// Distinguishes a column from all others.
    pub(super) fn single_out(&mut self, column: usize) {
        self.marks[column] = self.next;
        self.next += 1;
    }

    /// Distinguishes columns by the weights of a block, and by those after a step. Most columns hold the common number and keep
    /// their marks.
    pub(super) fn distinguish_by_weights(&mut self, before: &SparseValues, after: Option<&SparseValues>) {
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

    /// The kinds of columns, if columns are equal only if their neighbours up to `reach` away are equal too. Kinds are ordered
    /// by their first columns.
    pub(super) fn with_neighbours(self, reach: usize) -> Kinds {
        let Self { marks: mut of_column, mut next } = self;
        let mut splits: Vec<Splits> = (0..reach).map(|_| Splits::new()).collect();
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

/// The positions at which a block of weights differs from its common number, before or after a step.
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
            let mut row = partition.row();
            for (number, piece_of) in numbers.chunks(piece).enumerate() {
                partition.distinguish_by_numbers(&mut row, number * piece, piece_of);
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
