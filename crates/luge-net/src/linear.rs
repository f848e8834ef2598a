//! Affine maps kept sparse: the arcs between layers.

/// `y = A x + b` on vectors, with only the entries of `A` that are not zero.
#[derive(Clone, PartialEq, Debug)]
pub struct LinearMap {
    n_outputs: usize,
    n_inputs: usize,
    /// (row, column, weight), sorted by row, then column.
    entries: Vec<(u32, u32, f64)>,
    bias: Vec<f64>,
}

impl LinearMap {
    /// A map from its entries (row, column, weight); entries at the same place add up, zeros are dropped.
    ///
    /// # Panics
    /// If an entry lies outside the matrix.
    #[must_use]
    pub fn new(
        n_outputs: usize,
        n_inputs: usize,
        entries: impl IntoIterator<Item = (usize, usize, f64)>,
    ) -> Self {
        let narrow = |i: usize| u32::try_from(i).expect("a layer of at most 2^32 units");
        let mut sorted: Vec<(u32, u32, f64)> = entries
            .into_iter()
            .inspect(|&(row, col, _)| assert!(row < n_outputs && col < n_inputs, "entry outside the matrix"))
            .map(|(row, col, weight)| (narrow(row), narrow(col), weight))
            .collect();
        sorted.sort_by_key(|&(row, col, _)| (row, col));
        sorted.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        sorted.retain(|&(_, _, weight)| weight != 0.0);
        Self { n_outputs, n_inputs, entries: sorted, bias: vec![0.0; n_outputs] }
    }

    /// `weight` on the diagonal, `bias` added everywhere.
    #[must_use]
    pub fn diagonal(n: usize, weight: f64, bias: f64) -> Self {
        Self::new(n, n, (0..n).map(|i| (i, i, weight))).with_bias(vec![bias; n])
    }

    /// The same map with another constant term.
    ///
    /// # Panics
    /// If there is not one entry per output.
    #[must_use]
    pub fn with_bias(self, bias: Vec<f64>) -> Self {
        assert_eq!(bias.len(), self.n_outputs, "one bias per output");
        Self { bias, ..self }
    }

    /// Number of outputs, rows of `A`.
    #[must_use]
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// Number of inputs, columns of `A`.
    #[must_use]
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// The weights that are not zero: (row, column, weight), sorted by row, then column.
    #[must_use]
    pub fn entries(&self) -> &[(u32, u32, f64)] {
        &self.entries
    }

    /// The constant term.
    #[must_use]
    pub fn bias(&self) -> &[f64] {
        &self.bias
    }

    /// `Some((weight, bias))` if the map is `weight * x + bias` entry by entry.
    #[must_use]
    #[expect(clippy::float_cmp, reason = "asks whether the stored numbers are the same")]
    pub fn as_diagonal(&self) -> Option<(f64, f64)> {
        let &(_, _, weight) = self.entries.first()?;
        let &bias = self.bias.first()?;
        let diagonal = self.n_outputs == self.n_inputs
            && self.entries.len() == self.n_outputs
            && self
                .entries
                .iter()
                .enumerate()
                .all(|(i, &(r, c, w))| (r as usize, c as usize) == (i, i) && w == weight)
            && self.bias.iter().all(|&b| b == bias);
        diagonal.then_some((weight, bias))
    }

    /// Applies the map.
    #[must_use]
    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        let mut y = self.bias.clone();
        for &(row, col, weight) in &self.entries {
            y[row as usize] += weight * x[col as usize];
        }
        y
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_sorted_added_up_and_freed_of_zeros() {
        let entries = [(1, 0, 2.0), (0, 2, 1.0), (1, 0, 3.0), (0, 1, 0.0), (1, 2, 4.0), (1, 2, -4.0)];
        let map = LinearMap::new(2, 3, entries);
        assert_eq!(map.entries(), [(0, 2, 1.0), (1, 0, 5.0)]);
        assert_eq!(map.apply(&[10.0, 100.0, 1000.0]), [1000.0, 50.0]);
        assert_eq!((map.n_outputs(), map.n_inputs(), map.bias()), (2, 3, &[0.0, 0.0][..]));
    }

    #[test]
    fn only_one_weight_and_one_bias_make_a_diagonal() {
        assert_eq!(LinearMap::diagonal(3, 4.0, -3.0).as_diagonal(), Some((4.0, -3.0)));
        let diagonal = |weights: [f64; 2]| LinearMap::new(2, 2, [(0, 0, weights[0]), (1, 1, weights[1])]);
        assert_eq!(diagonal([2.0, 2.0]).as_diagonal(), Some((2.0, 0.0)));
        assert_eq!(diagonal([2.0, 3.0]).as_diagonal(), None);
        assert_eq!(diagonal([2.0, 0.0]).as_diagonal(), None);
        assert_eq!(diagonal([2.0, 2.0]).with_bias(vec![1.0, 2.0]).as_diagonal(), None);
        assert_eq!(LinearMap::new(2, 2, [(0, 1, 2.0), (1, 0, 2.0)]).as_diagonal(), None);
        assert_eq!(LinearMap::new(2, 3, [(0, 0, 2.0), (1, 1, 2.0)]).as_diagonal(), None);
        assert_eq!(LinearMap::new(2, 2, []).as_diagonal(), None);
        assert_eq!(LinearMap::new(0, 0, []).as_diagonal(), None);
    }

    #[test]
    #[should_panic(expected = "outside the matrix")]
    fn refuses_an_entry_outside() {
        let _ = LinearMap::new(2, 3, [(2, 0, 1.0)]);
    }
}
