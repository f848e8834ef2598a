//! Matrices of numbers: what nodes, parameters and inputs hold.

/// Rows and columns. A vector is one column; a scalar is one by one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
}

impl Shape {
    /// One by one.
    pub const SCALAR: Self = Self { rows: 1, cols: 1 };

    /// A matrix.
    pub fn new(rows: usize, cols: usize) -> Self {
        Self { rows, cols }
    }

    /// One column.
    pub fn column(rows: usize) -> Self {
        Self { rows, cols: 1 }
    }

    /// Number of entries.
    pub fn len(self) -> usize {
        self.rows * self.cols
    }

    /// Whether there is no entry.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The shape of an entrywise operation on both: equal, or 1 where one of them is 1.
    pub fn broadcast(self, other: Self) -> Option<Self> {
        let side = |a: usize, b: usize| match (a, b) {
            (a, b) if a == b => Some(a),
            (1, b) => Some(b),
            (a, 1) => Some(a),
            _ => None,
        };
        Some(Self { rows: side(self.rows, other.rows)?, cols: side(self.cols, other.cols)? })
    }
}

/// A matrix of numbers, row by row.
#[derive(Clone, PartialEq, Debug)]
pub struct Values {
    /// Rows and columns.
    pub shape: Shape,
    /// The entries, row by row.
    pub data: Vec<f64>,
}

impl Values {
    /// The same number everywhere.
    pub fn filled(shape: Shape, value: f64) -> Self {
        Self { shape, data: vec![value; shape.len()] }
    }

    /// A matrix given row by row.
    ///
    /// # Panics
    /// If the number of entries does not fit the shape.
    pub fn new(shape: Shape, data: Vec<f64>) -> Self {
        assert_eq!(shape.len(), data.len(), "entries do not fit the shape");
        Self { shape, data }
    }

    /// A vector.
    pub fn column(data: Vec<f64>) -> Self {
        Self { shape: Shape::column(data.len()), data }
    }

    /// The unit vector with a 1 at `index`.
    ///
    /// # Panics
    /// If `index` is not below `len`.
    pub fn unit(len: usize, index: usize) -> Self {
        let mut values = Self::filled(Shape::column(len), 0.0);
        values.data[index] = 1.0;
        values
    }

    /// One entry.
    pub fn at(&self, row: usize, col: usize) -> f64 {
        self.data[row * self.shape.cols + col]
    }

    /// One entry, mutable.
    pub fn at_mut(&mut self, row: usize, col: usize) -> &mut f64 {
        &mut self.data[row * self.shape.cols + col]
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.data[row * self.shape.cols..(row + 1) * self.shape.cols]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_of_length_one_stretch() {
        let broadcast = |a: (usize, usize), b: (usize, usize)| {
            let both = Shape::new(a.0, a.1).broadcast(Shape::new(b.0, b.1));
            both.map(|shape| (shape.rows, shape.cols))
        };
        assert_eq!(broadcast((2, 3), (2, 3)), Some((2, 3)));
        assert_eq!(broadcast((2, 1), (2, 3)), Some((2, 3)));
        assert_eq!(broadcast((1, 3), (2, 1)), Some((2, 3)));
        assert_eq!(broadcast((1, 1), (4, 5)), Some((4, 5)));
        assert_eq!(broadcast((2, 3), (3, 3)), None);
        assert_eq!(broadcast((2, 3), (2, 2)), None);
        assert_eq!(broadcast((2, 3), (3, 2)), None);
    }

    #[test]
    fn entries_lie_row_by_row() {
        let mut values = Values::new(Shape::new(2, 3), vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!((values.at(0, 2), values.at(1, 0)), (2.0, 3.0));
        assert_eq!(values.row(1), [3.0, 4.0, 5.0]);
        *values.at_mut(1, 1) = 9.0;
        assert_eq!(values.data, [0.0, 1.0, 2.0, 3.0, 9.0, 5.0]);
        assert_eq!(Values::unit(3, 1), Values::column(vec![0.0, 1.0, 0.0]));
    }

    #[test]
    #[should_panic(expected = "do not fit the shape")]
    fn refuses_too_few_entries() {
        let _ = Values::new(Shape::new(2, 3), vec![0.0; 5]);
    }
}
