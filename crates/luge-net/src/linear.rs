//! Affine maps kept sparse: the arcs between layers.

use std::{borrow::Cow, sync::Arc};

use crate::{Arcs, VertexTable};

/// `y = A x + b` on vectors, with only the entries of `A` that are not zero.
#[derive(Clone, PartialEq, Debug)]
pub struct LinearMap {
    n_outputs: usize,
    n_inputs: usize,
    entries: Entries,
    bias: Bias,
}

/// The entries of a map.
#[derive(Clone, PartialEq, Debug)]
enum Entries {
    /// (row, column, weight), sorted by row, then column.
    Listed(Vec<(u32, u32, f64)>),
    /// The same weight everywhere on the diagonal.
    Diagonal(f64),
    /// Arcs of a table of vertices, listed when asked for.
    Vertices(Arc<VertexTable>, Arcs),
}

/// The constant term of a map.
#[derive(Clone, PartialEq, Debug)]
enum Bias {
    Same(f64),
    Each(Vec<f64>),
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
        let entries = Entries::Listed(listed(n_outputs, n_inputs, entries));
        Self { n_outputs, n_inputs, entries, bias: Bias::Same(0.0) }
    }

    /// `weight` on the diagonal, `bias` added everywhere.
    #[must_use]
    pub fn diagonal(n: usize, weight: f64, bias: f64) -> Self {
        Self { n_outputs: n, n_inputs: n, entries: Entries::Diagonal(weight), bias: Bias::Same(bias) }
    }

    /// The arcs of a table of vertices.
    #[must_use]
    pub fn of_vertices(table: &Arc<VertexTable>, arcs: Arcs) -> Self {
        let (n_outputs, n_inputs) = arcs.size(table);
        let entries = Entries::Vertices(Arc::clone(table), arcs);
        Self { n_outputs, n_inputs, entries, bias: Bias::Same(0.0) }
    }

    /// The same map with another constant term.
    ///
    /// # Panics
    /// If there is not one entry per output.
    #[must_use]
    pub fn with_bias(self, bias: Vec<f64>) -> Self {
        assert_eq!(bias.len(), self.n_outputs, "one bias per output");
        Self { bias: Bias::Each(bias), ..self }
    }

    /// The same map with this constant added to every output.
    #[must_use]
    pub fn with_same_bias(self, bias: f64) -> Self {
        Self { bias: Bias::Same(bias), ..self }
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
    pub fn entries(&self) -> Cow<'_, [(u32, u32, f64)]> {
        match &self.entries {
            Entries::Listed(entries) => Cow::Borrowed(entries),
            Entries::Diagonal(0.0) => Cow::Owned(Vec::new()),
            Entries::Diagonal(weight) => {
                let n = u32::try_from(self.n_outputs).expect("a layer of at most 2^32 units");
                (0..n).map(|i| (i, i, *weight)).collect()
            }
            Entries::Vertices(table, arcs) => {
                Cow::Owned(listed(self.n_outputs, self.n_inputs, arcs.list(table)))
            }
        }
    }

    /// No more than this many entries, known without listing them.
    #[must_use]
    pub fn most_entries(&self) -> usize {
        match &self.entries {
            Entries::Listed(entries) => entries.len(),
            Entries::Diagonal(_) => self.n_outputs,
            Entries::Vertices(table, arcs) => arcs.most_entries(table),
        }
    }

    /// Whether no weight is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match &self.entries {
            Entries::Listed(entries) => entries.is_empty(),
            Entries::Diagonal(weight) => *weight == 0.0 || self.n_outputs == 0,
            Entries::Vertices(table, arcs) => arcs.is_empty(table),
        }
    }

    /// The constant term.
    #[must_use]
    pub fn bias(&self) -> Cow<'_, [f64]> {
        match &self.bias {
            Bias::Same(bias) => Cow::Owned(vec![*bias; self.n_outputs]),
            Bias::Each(bias) => Cow::Borrowed(bias),
        }
    }

    /// The constant term if it is the same for all outputs.
    #[must_use]
    #[expect(clippy::float_cmp, reason = "asks whether the stored numbers are the same")]
    pub fn same_bias(&self) -> Option<f64> {
        match &self.bias {
            Bias::Same(bias) => Some(*bias),
            Bias::Each(each) => each.first().filter(|first| each.iter().all(|b| b == *first)).copied(),
        }
    }

    /// The table and the arcs the map consists of, if it is made of those.
    #[must_use]
    pub fn as_arcs(&self) -> Option<(&Arc<VertexTable>, Arcs)> {
        match &self.entries {
            Entries::Vertices(table, arcs) => Some((table, *arcs)),
            Entries::Listed(_) | Entries::Diagonal(_) => None,
        }
    }

    /// `Some((weight, bias))` if the map is `weight * x + bias` entry by entry.
    #[must_use]
    #[expect(clippy::float_cmp, reason = "asks whether the stored numbers are the same")]
    pub fn as_diagonal(&self) -> Option<(f64, f64)> {
        let bias = self.same_bias()?;
        let weight = match &self.entries {
            Entries::Diagonal(weight) => *weight,
            Entries::Vertices(..) => return None,
            Entries::Listed(entries) => {
                let &(_, _, weight) = entries.first()?;
                let mut numbered = entries.iter().enumerate();
                let equal = numbered.all(|(i, &(r, c, w))| (r as usize, c as usize) == (i, i) && w == weight);
                let square = self.n_outputs == self.n_inputs && entries.len() == self.n_outputs;
                (equal && square).then_some(weight)?
            }
        };
        (self.n_outputs > 0).then_some((weight, bias))
    }

    /// Applies the map.
    #[must_use]
    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        let mut y = self.bias().into_owned();
        if let Entries::Vertices(table, arcs) = &self.entries {
            arcs.add(table, x, &mut y);
            return y;
        }
        for &(row, col, weight) in self.entries().iter() {
            y[row as usize] += weight * x[col as usize];
        }
        y
    }
}

fn listed(
    n_outputs: usize,
    n_inputs: usize,
    entries: impl IntoIterator<Item = (usize, usize, f64)>,
) -> Vec<(u32, u32, f64)> {
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
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_sorted_added_up_and_freed_of_zeros() {
        let entries = [(1, 0, 2.0), (0, 2, 1.0), (1, 0, 3.0), (0, 1, 0.0), (1, 2, 4.0), (1, 2, -4.0)];
        let map = LinearMap::new(2, 3, entries);
        assert_eq!(*map.entries(), [(0, 2, 1.0), (1, 0, 5.0)]);
        assert_eq!(map.apply(&[10.0, 100.0, 1000.0]), [1000.0, 50.0]);
        assert_eq!((map.n_outputs(), map.n_inputs(), &*map.bias()), (2, 3, &[0.0, 0.0][..]));
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
