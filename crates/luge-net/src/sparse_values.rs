//! Matrices in which nearly all entries are the same number: tapes and heads, before and after training.

use crate::{ParameterId, Shape, Values};

/// A matrix whose entries are one common number, with exceptions.
#[derive(Clone, PartialEq, Debug)]
pub struct SparseValues {
    /// Rows and columns.
    pub shape: Shape,
    common: f64,
    /// The exceptions: positions, counted row by row, in ascending order, and values.
    others: Vec<(usize, f64)>,
}

impl SparseValues {
    /// A matrix without exceptions.
    pub fn filled(shape: Shape, common: f64) -> Self {
        Self { shape, common, others: Vec::new() }
    }

    /// A matrix with these exceptions: positions, counted row by row, in ascending order, and values.
    ///
    /// # Panics
    /// If the positions are not in order or do not fit the shape.
    pub fn new(shape: Shape, common: f64, others: impl IntoIterator<Item = (usize, f64)>) -> Self {
        let others: Vec<_> =
            others.into_iter().filter(|(_, value)| value.to_bits() != common.to_bits()).collect();
        assert!(others.is_sorted_by(|a, b| a.0 < b.0), "positions come in order");
        assert!(others.last().is_none_or(|&(last, _)| last < shape.len()), "positions fit the shape");
        Self { shape, common, others }
    }

    /// The common number.
    pub fn common(&self) -> f64 {
        self.common
    }

    /// The exceptions: positions, counted row by row, in ascending order, and values.
    pub fn others(&self) -> &[(usize, f64)] {
        &self.others
    }

    /// The exceptions in one row: columns, in ascending order, and values.
    pub fn others_in(&self, row: usize) -> impl DoubleEndedIterator<Item = (usize, f64)> + Clone + '_ {
        let (start, end) = (row * self.shape.cols, (row + 1) * self.shape.cols);
        let from = self.others.partition_point(|&(at, _)| at < start);
        let to = self.others.partition_point(|&(at, _)| at < end);
        self.others[from..to].iter().map(move |&(at, value)| (at - start, value))
    }

    /// The entry at a position, counted row by row.
    pub fn entry(&self, position: usize) -> f64 {
        let found = self.others.binary_search_by_key(&position, |&(at, _)| at);
        found.map_or(self.common, |place| self.others[place].1)
    }

    /// One entry.
    pub fn at(&self, row: usize, col: usize) -> f64 {
        self.entry(row * self.shape.cols + col)
    }

    /// Whether both matrices are equal bit for bit.
    pub fn same_bits(&self, other: &Self) -> bool {
        let bits = |&(at, number): &(usize, f64)| (at, number.to_bits());
        if self.common.to_bits() == other.common.to_bits() {
            return self.shape == other.shape
                && self.others.iter().map(bits).eq(other.others.iter().map(bits));
        }
        self.shape == other.shape
            && (0..self.shape.len()).all(|at| self.entry(at).to_bits() == other.entry(at).to_bits())
    }

    /// The dense matrices of all blocks.
    pub fn all_values(blocks: &[Self]) -> Vec<Values> {
        blocks.iter().map(Self::to_values).collect()
    }

    /// The dense matrix.
    pub fn to_values(&self) -> Values {
        let mut values = Values::filled(self.shape, self.common);
        for &(at, value) in &self.others {
            values.data[at] = value;
        }
        values
    }
}

impl From<&Values> for SparseValues {
    /// The common number is the first or the last entry, whichever occurs more often.
    fn from(values: &Values) -> Self {
        let first = values.data.first().copied().unwrap_or(0.0);
        let last = values.data.last().copied().unwrap_or(0.0);
        let count = |number: f64| values.data.iter().filter(|v| v.to_bits() == number.to_bits()).count();
        let common = if count(first) > count(last) { first } else { last };
        Self::new(values.shape, common, values.data.iter().copied().enumerate())
    }
}

impl From<Values> for SparseValues {
    fn from(values: Values) -> Self {
        Self::from(&values)
    }
}

impl From<&Self> for SparseValues {
    fn from(values: &Self) -> Self {
        values.clone()
    }
}

impl From<&SparseValues> for Values {
    fn from(values: &SparseValues) -> Self {
        values.to_values()
    }
}

impl From<&Self> for Values {
    fn from(values: &Self) -> Self {
        values.clone()
    }
}

/// The weights of a network, however they are stored.
pub trait Weights {
    /// The weight at a position of a block, counted row by row.
    fn entry(&self, id: ParameterId, position: usize) -> f64;
}

impl Weights for [Values] {
    fn entry(&self, id: ParameterId, position: usize) -> f64 {
        self[id.index()].data[position]
    }
}

impl Weights for [SparseValues] {
    fn entry(&self, id: ParameterId, position: usize) -> f64 {
        self[id.index()].entry(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_kept() {
        let values = Values::new(Shape::new(2, 3), vec![-1.0, -1.0, 1.0, 0.5, -1.0, -1.0]);
        let sparse = SparseValues::from(&values);
        assert_eq!((sparse.common(), sparse.others()), (-1.0, &[(2, 1.0), (3, 0.5)][..]));
        assert_eq!(sparse.to_values(), values);
        assert_eq!(sparse.others_in(0).collect::<Vec<_>>(), [(2, 1.0)]);
        assert_eq!(sparse.others_in(1).collect::<Vec<_>>(), [(0, 0.5)]);
        assert_eq!((sparse.at(1, 0), sparse.at(1, 1), sparse.entry(2)), (0.5, -1.0, 1.0));
        let swapped = SparseValues {
            common: 1.0,
            others: vec![(0, -1.0), (1, -1.0), (3, 0.5), (4, -1.0), (5, -1.0)],
            ..sparse
        };
        assert!(swapped.same_bits(&sparse) && sparse.same_bits(&swapped));
        assert!(!swapped.same_bits(&SparseValues::filled(Shape::new(2, 3), -1.0)));
        // Zeros of both signs are different numbers.
        let zeros = Values::column(vec![0.0, -0.0, 0.0]);
        assert_eq!(SparseValues::from(&zeros).others().len(), 1);
        assert_eq!(SparseValues::from(Values::column(Vec::new())).to_values(), Values::column(Vec::new()));
    }

    #[test]
    #[should_panic(expected = "positions come in order")]
    fn refuses_positions_out_of_order() {
        let _ = SparseValues::new(Shape::column(3), 0.0, [(2, 1.0), (1, 1.0)]);
    }

    #[test]
    #[should_panic(expected = "positions fit the shape")]
    fn refuses_positions_outside() {
        let _ = SparseValues::new(Shape::column(3), 0.0, [(3, 1.0)]);
    }
}
