//! Which columns are alike, refined one matrix at a time.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

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

/// New marks for an old mark and something that tells columns apart.
pub(super) type Splits = HashMap<(u32, u64), u32, BuildHasherDefault<Mixer>>;

/// Mixes two numbers into a hash: keys are marks, not somebody's input.
#[derive(Clone, Copy, Default)]
pub(super) struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = u128::from(self.0 ^ number ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
        self.0 = (mixed >> 64) as u64 ^ mixed as u64;
    }
}

impl Partition {
    /// All columns alike.
    pub(super) fn new(n_columns: usize) -> Self {
        Self { marks: vec![0; n_columns], next: 1 }
    }

    /// Gives columns another mark: the same one for the same mark before and the same reason.
    fn split(&mut self, splits: &mut Splits, column: usize, reason: u64) {
        let next = &mut self.next;
        let mark = &mut self.marks[column];
        *mark = *splits.entry((*mark, reason)).or_insert_with(|| {
            *next += 1;
            *next - 1
        });
    }

    /// Columns that differ in a row of a matrix.
    pub(super) fn tell_apart_by_rows(&mut self, block: &SparseValues) {
        for row in 0..block.shape.rows {
            let mut splits = Splits::default();
            block
                .others_in(row)
                .for_each(|(column, number)| self.split(&mut splits, column, number.to_bits()));
        }
    }

    /// Columns that will differ in a row of a matrix, of which two states are given: weights that change.
    pub(super) fn tell_apart_by_changes(&mut self, before: &SparseValues, after: &SparseValues) {
        let cols = before.shape.cols;
        let mut splits: HashMap<usize, Splits> = HashMap::new();
        let mut changed = |partition: &mut Self, at: usize| {
            let (old, new) = (before.entry(at), after.entry(at));
            if old.to_bits() != new.to_bits() {
                partition.split(splits.entry(at / cols).or_default(), at % cols, new.to_bits());
            }
        };
        if before.common().to_bits() != after.common().to_bits() {
            (0..before.shape.len()).for_each(|at| changed(self, at));
            return;
        }
        after.others().iter().for_each(|&(at, _)| changed(self, at));
        // Places that were different before and no longer are.
        let gone = |at: &usize| after.others().binary_search_by_key(at, |other| other.0).is_err();
        before.others().iter().map(|other| other.0).filter(gone).for_each(|at| changed(self, at));
    }

    /// Columns that differ in a row, of which the entries from column `first` on are given; `splits` is empty when a row begins.
    pub(super) fn tell_apart_by_numbers(&mut self, splits: &mut Splits, first: usize, numbers: &[f64]) {
        for (column, number) in (first..).zip(numbers) {
            self.split(splits, column, number.to_bits());
        }
    }

    /// Columns that have different columns this far away, to the left or to the right.
    pub(super) fn tell_apart_by_neighbours(&mut self, of: &Self, away: usize) {
        let mark = |column: Option<usize>| column.and_then(|c| of.marks.get(c)).map_or(BEYOND, |&m| m.into());
        let mut splits = Splits::default();
        (0..self.marks.len())
            .for_each(|column| self.split(&mut splits, column, mark(column.checked_sub(away))));
        splits.clear();
        (0..self.marks.len()).for_each(|column| self.split(&mut splits, column, mark(Some(column + away))));
    }

    /// Makes a column different from all others.
    pub(super) fn single_out(&mut self, column: usize) {
        self.marks[column] = self.next;
        self.next += 1;
    }

    /// The kinds of columns, the first of each and how many there are, and the kind of every column.
    pub(super) fn kinds(self) -> (Vec<ColumnKind>, Vec<u32>) {
        let mut kinds: Vec<ColumnKind> = Vec::new();
        let mut kind_of_mark = vec![u32::MAX; self.next as usize];
        let mut kind_of = self.marks;
        for (column, mark) in kind_of.iter_mut().enumerate() {
            let kind = &mut kind_of_mark[*mark as usize];
            if *kind == u32::MAX {
                *kind = kinds.len() as u32;
                kinds.push(ColumnKind { column, count: 0, place: 0 });
            }
            kinds[*kind as usize].count += 1;
            *mark = *kind;
        }
        (kinds, kind_of)
    }
}
