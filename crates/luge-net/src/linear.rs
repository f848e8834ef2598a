//! Sparse affine maps: the arcs between layers.

use std::{borrow::Cow, ops::Range, sync::Arc};

use crate::{Arcs, Shape, SparseValues, Values, VertexTable};

/// An entry of a matrix: (row, column, weight).
pub type Entry = (usize, usize, f64);

/// `y = A x + b` on vectors, stored as the entries of `A` that are not zero.
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
    /// Each input goes to one output of its own, in ascending order, all with the same weight.
    Placed(f64, Vec<u32>),
    /// The arcs of a table of vertices, listed on demand.
    Vertices(Arc<VertexTable>, Arcs),
}

/// The constant term of a map.
#[derive(Clone, PartialEq, Debug)]
enum Bias {
    Same(f64),
    Each(Vec<f64>),
    /// One common number, and other numbers, each with its rows in ascending order.
    Except(f64, Vec<(f64, Vec<u32>)>),
}

impl LinearMap {
    /// A map from its entries; entries at the same place add up, zeros are dropped.
    ///
    /// # Panics
    /// If an entry lies outside the matrix.
    pub fn new(n_outputs: usize, n_inputs: usize, entries: impl IntoIterator<Item = Entry>) -> Self {
        let entries = Entries::Listed(listed(n_outputs, n_inputs, entries));
        Self { n_outputs, n_inputs, entries, bias: Bias::Same(0.0) }
    }

    /// `weight` on the diagonal, `bias` added everywhere.
    pub fn diagonal(n: usize, weight: f64, bias: f64) -> Self {
        Self { n_outputs: n, n_inputs: n, entries: Entries::Diagonal(weight), bias: Bias::Same(bias) }
    }

    /// Each input goes to one output, all with the same weight; the outputs are in ascending order.
    ///
    /// # Panics
    /// If an output lies outside, or they are not in order.
    pub fn placing(n_outputs: usize, weight: f64, outputs: Vec<u32>) -> Self {
        check_rows(&outputs, n_outputs);
        let n_inputs = outputs.len();
        Self { n_outputs, n_inputs, entries: Entries::Placed(weight, outputs), bias: Bias::Same(0.0) }
    }

    /// The arcs of a table of vertices.
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

    /// The same map with the constant term `common`, except for some outputs: other numbers, each with its outputs in
    /// ascending order.
    ///
    /// # Panics
    /// If an output lies outside, or outputs of a number are not in order.
    #[must_use]
    pub fn with_bias_except(self, common: f64, others: Vec<(f64, Vec<u32>)>) -> Self {
        others.iter().for_each(|(_, rows)| check_rows(rows, self.n_outputs));
        Self { bias: Bias::Except(common, others), ..self }
    }

    /// The same map with this constant added to every output.
    #[must_use]
    pub fn with_same_bias(self, bias: f64) -> Self {
        Self { bias: Bias::Same(bias), ..self }
    }

    /// Number of outputs, rows of `A`.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// Number of inputs, columns of `A`.
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// The weights that are not zero: (row, column, weight), sorted by row, then column.
    pub fn entries(&self) -> Cow<'_, [(u32, u32, f64)]> {
        match &self.entries {
            Entries::Listed(entries) => Cow::Borrowed(entries),
            Entries::Diagonal(0.0) => Cow::Owned(Vec::new()),
            Entries::Diagonal(weight) => (0..narrow(self.n_outputs)).map(|i| (i, i, *weight)).collect(),
            Entries::Placed(weight, rows) => {
                rows.iter().zip(0..).map(|(&row, col)| (row, col, *weight)).collect()
            }
            Entries::Vertices(table, arcs) => {
                Cow::Owned(listed(self.n_outputs, self.n_inputs, arcs.list(table)))
            }
        }
    }

    /// An upper bound on the number of entries, known without listing them.
    pub fn most_entries(&self) -> usize {
        match &self.entries {
            Entries::Listed(entries) => entries.len(),
            Entries::Diagonal(_) => self.n_outputs,
            Entries::Placed(_, rows) => rows.len(),
            Entries::Vertices(table, arcs) => arcs.most_entries(table),
        }
    }

    /// Whether there is no weight.
    pub fn is_empty(&self) -> bool {
        match &self.entries {
            Entries::Listed(entries) => entries.is_empty(),
            Entries::Diagonal(weight) => *weight == 0.0 || self.n_outputs == 0,
            Entries::Placed(weight, rows) => *weight == 0.0 || rows.is_empty(),
            Entries::Vertices(table, arcs) => arcs.is_empty(table),
        }
    }

    /// The constant term.
    pub fn bias(&self) -> Cow<'_, [f64]> {
        match &self.bias {
            Bias::Each(bias) => Cow::Borrowed(bias),
            Bias::Same(_) | Bias::Except(..) => Cow::Owned(self.bias_in(0..self.n_outputs)),
        }
    }

    /// The constant term of some outputs.
    fn bias_in(&self, rows: Range<usize>) -> Vec<f64> {
        match &self.bias {
            Bias::Same(bias) => vec![*bias; rows.len()],
            Bias::Each(bias) => bias[rows].to_vec(),
            Bias::Except(common, others) => {
                let mut bias = vec![*common; rows.len()];
                for (other, places) in others {
                    places[places_in(places, &rows)]
                        .iter()
                        .for_each(|&place| bias[place as usize - rows.start] = *other);
                }
                bias
            }
        }
    }

    /// The constant term of some outputs as a row.
    pub(crate) fn biases_in(&self, rows: &Range<usize>) -> SparseValues {
        let shape = Shape::new(1, rows.len());
        let Bias::Except(common, others) = &self.bias else {
            return Values::new(shape, self.bias_in(rows.clone())).into();
        };
        let mut apart = Vec::new();
        for (other, places) in others {
            let within = &places[places_in(places, rows)];
            apart.extend(within.iter().map(|&place| (place as usize - rows.start, *other)));
        }
        // Of several numbers in one place the last counts.
        apart.reverse();
        apart.sort_by_key(|&(place, _)| place);
        apart.dedup_by_key(|(place, _)| *place);
        SparseValues::new(shape, *common, apart)
    }

    /// The inputs that the outputs in these rows depend on; `None` unless every input goes to an output of its own, in order.
    pub(crate) fn inputs_placed_in(&self, rows: &Range<usize>) -> Option<Range<usize>> {
        let Entries::Placed(_, places) = &self.entries else { return None };
        Some(places_in(places, rows))
    }

    /// The outputs in these rows of a map whose inputs go to outputs of their own, computed from the inputs that they depend
    /// on.
    pub(crate) fn apply_placed(&self, rows: Range<usize>, inputs: Range<usize>, x: &[f64]) -> Vec<f64> {
        let mut y = self.bias_in(rows.clone());
        if let Entries::Placed(weight, places) = &self.entries {
            places[inputs].iter().zip(x).for_each(|(&place, x)| y[place as usize - rows.start] += weight * x);
        }
        y
    }

    /// The outputs in these rows. No others are computed, unless the entries are arcs of vertices.
    pub fn apply_to(&self, rows: Range<usize>, x: &[f64]) -> Vec<f64> {
        let mut y = self.bias_in(rows.clone());
        match &self.entries {
            Entries::Vertices(..) => return self.apply(x)[rows].to_vec(),
            Entries::Diagonal(weight) => y.iter_mut().zip(&x[rows]).for_each(|(y, x)| *y += weight * x),
            Entries::Placed(_, places) => {
                let inputs = places_in(places, &rows);
                return self.apply_placed(rows, inputs.clone(), &x[inputs]);
            }
            Entries::Listed(entries) => {
                for &(row, col, weight) in rows_in(entries, &rows) {
                    y[row as usize - rows.start] += weight * x[col as usize];
                }
            }
        }
        y
    }

    /// The map to some of the outputs, in this order; `None` stands for an output that is always 0.
    pub fn to_outputs(&self, rows: &[Option<usize>]) -> Self {
        // Inputs that are placed may be very many: they are not listed.
        let listed = match &self.entries {
            Entries::Placed(..) => Cow::Borrowed(&[][..]),
            _ => self.entries(),
        };
        let mut entries = Vec::new();
        let mut bias = Vec::with_capacity(rows.len());
        for (to, row) in rows.iter().enumerate() {
            match *row {
                None => bias.push(0.0),
                Some(row) => {
                    bias.extend(self.bias_in(row..row + 1));
                    let this = row..row + 1;
                    if let Entries::Placed(weight, places) = &self.entries {
                        entries.extend(places_in(places, &this).map(|col| (to, col, *weight)));
                    }
                    let of_row = rows_in(&listed, &this).iter();
                    entries.extend(of_row.map(|&(_, col, weight)| (to, col as usize, weight)));
                }
            }
        }
        Self::new(rows.len(), self.n_inputs, entries).with_bias(bias)
    }

    /// The constant term if it is the same for all outputs.
    #[expect(clippy::float_cmp, reason = "asks whether the stored numbers are the same")]
    pub fn same_bias(&self) -> Option<f64> {
        match &self.bias {
            Bias::Same(bias) => Some(*bias),
            Bias::Each(each) => each.first().filter(|first| each.iter().all(|b| b == *first)).copied(),
            Bias::Except(common, others) => others.iter().all(|(_, rows)| rows.is_empty()).then_some(*common),
        }
    }

    /// The table and the arcs, if the map consists of arcs of vertices.
    pub fn as_arcs(&self) -> Option<(&Arc<VertexTable>, Arcs)> {
        match &self.entries {
            Entries::Vertices(table, arcs) => Some((table, *arcs)),
            Entries::Listed(_) | Entries::Diagonal(_) | Entries::Placed(..) => None,
        }
    }

    /// `Some((weight, bias))` if the map is `weight * x + bias` entry by entry.
    #[expect(clippy::float_cmp, reason = "asks whether the stored numbers are the same")]
    pub fn as_diagonal(&self) -> Option<(f64, f64)> {
        let bias = self.same_bias()?;
        let weight = match &self.entries {
            Entries::Diagonal(weight) => *weight,
            Entries::Vertices(..) => return None,
            Entries::Listed(_) | Entries::Placed(..) => {
                let entries = self.entries();
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
    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        let Entries::Vertices(table, arcs) = &self.entries else {
            return self.apply_to(0..self.n_outputs, x);
        };
        let mut y = self.bias().into_owned();
        arcs.add(table, x, &mut y);
        y
    }
}

fn narrow(row: usize) -> u32 {
    u32::try_from(row).expect("a layer of at most 2^32 units")
}

fn check_rows(rows: &[u32], n_outputs: usize) {
    assert!(rows.is_sorted_by(|a, b| a < b), "outputs come in order");
    assert!(rows.last().is_none_or(|&last| (last as usize) < n_outputs), "an output outside the matrix");
}

/// The indices of the places within a range; places are in ascending order.
fn places_in(places: &[u32], range: &Range<usize>) -> Range<usize> {
    let [start, end] =
        [range.start, range.end].map(|at| places.partition_point(|&place| (place as usize) < at));
    start..end
}

/// The entries in a range of rows; entries are sorted by row.
fn rows_in<'e>(entries: &'e [(u32, u32, f64)], range: &Range<usize>) -> &'e [(u32, u32, f64)] {
    let [start, end] = [range.start, range.end].map(|at| entries.partition_point(|e| (e.0 as usize) < at));
    &entries[start..end]
}

fn listed(
    n_outputs: usize,
    n_inputs: usize,
    entries: impl IntoIterator<Item = Entry>,
) -> Vec<(u32, u32, f64)> {
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
    fn some_outputs_are_those_of_the_whole_map() {
        let map = LinearMap::new(6, 3, [(1, 0, 2.0), (1, 2, -1.0), (4, 1, 3.0), (5, 0, 0.5)]);
        let maps =
            [map.clone().with_bias(vec![-1.0, 0.0, 1.0, -1.0, -1.0, 2.0]), map.clone().with_same_bias(0.5)];
        let except = map.with_bias_except(-1.0, vec![(0.0, vec![1]), (1.0, vec![2]), (2.0, vec![5])]);
        let x = [1.0, 10.0, 100.0];
        assert_eq!((except.apply(&x), except.bias()), (maps[0].apply(&x), maps[0].bias()));
        let placed = LinearMap::placing(6, 2.0, vec![1, 2, 4]).with_same_bias(-1.0);
        let same = LinearMap::new(6, 3, [(1, 0, 2.0), (2, 1, 2.0), (4, 2, 2.0)]).with_same_bias(-1.0);
        assert_eq!((placed.apply(&x), placed.entries()), (same.apply(&x), same.entries()));
        for map in maps.iter().chain([&except, &placed]) {
            let all = map.apply(&x);
            for from in 0..=6 {
                for to in from..=6 {
                    assert_eq!(map.apply_to(from..to, &x), all[from..to]);
                }
            }
            let some = map.to_outputs(&[Some(4), None, Some(1), Some(1), Some(0)]);
            assert_eq!(some.apply(&x), [all[4], 0.0, all[1], all[1], all[0]]);
        }
        assert_eq!(LinearMap::diagonal(3, 2.0, 1.0).apply_to(1..3, &x), [21.0, 201.0]);
    }

    #[test]
    #[should_panic(expected = "outside the matrix")]
    fn refuses_an_entry_outside() {
        let _ = LinearMap::new(2, 3, [(2, 0, 1.0)]);
    }
}
