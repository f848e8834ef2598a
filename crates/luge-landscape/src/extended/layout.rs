//! The layout of data on the read-only tapes: a marker, then sample by sample the bits of features and labels.

use luge_net::NumberFormat;

/// A mark: the kind of the data tape's cell at the same position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// Another bit of a number, or nothing.
    Inside,
    /// The lowest bit of a feature.
    Feature,
    /// The lowest bit of a label.
    Label,
    /// The marker before the data, and the cell after them.
    End,
}

impl Mark {
    /// The symbols of the marks tape in order, the blank first.
    pub const SYMBOLS: [&'static str; 4] = ["_", "x", "y", "e"];

    /// The mark's symbol.
    pub fn symbol(self) -> &'static str {
        Self::SYMBOLS[self as usize]
    }
}

/// The sizes of a learning task, which determine the cell of every bit.
///
/// Cell 0 is a marker: every head starts there, on a symbol that does not depend on the data. The numbers follow without
/// gaps, sample by sample, features before labels, each with its lowest bit first.
#[derive(Clone, PartialEq, Debug)]
pub struct DataLayout {
    /// n.
    pub n_samples: usize,
    /// M.
    pub n_features: usize,
    /// m.
    pub n_labels: usize,
    /// The number format.
    pub format: NumberFormat,
}

impl DataLayout {
    /// Bits per number.
    pub fn width(&self) -> usize {
        self.format.n_bits() as usize
    }

    /// Number of numbers: n (M + m).
    pub fn n_numbers(&self) -> usize {
        self.n_samples * (self.n_features + self.n_labels)
    }

    /// Number of bits of data, L.
    pub fn n_bits(&self) -> usize {
        self.n_numbers() * self.width()
    }

    /// The cell after the last bit.
    pub fn end(&self) -> usize {
        1 + self.n_bits()
    }

    /// The cell of the `bit`-th bit of all data.
    pub fn cell(&self, bit: usize) -> usize {
        1 + bit
    }

    /// Whether a bit belongs to a feature; else to a label.
    pub fn is_feature(&self, bit: usize) -> bool {
        bit / self.width() % (self.n_features + self.n_labels) < self.n_features
    }

    /// The marks of all cells from 0 to the one after the data.
    pub fn marks(&self) -> Vec<Mark> {
        let mut sample = vec![Mark::Inside; (self.n_features + self.n_labels) * self.width()];
        for (number, bits) in sample.chunks_mut(self.width()).enumerate() {
            bits[0] = if number < self.n_features { Mark::Feature } else { Mark::Label };
        }
        [vec![Mark::End], sample.repeat(self.n_samples), vec![Mark::End]].concat()
    }

    /// For every number on the tape, its position in the list of all features followed by all labels.
    pub fn order(&self) -> Vec<usize> {
        let (m, k) = (self.n_features, self.n_labels);
        let sample = |s: usize| {
            (0..m).map(move |i| s * m + i).chain((0..k).map(move |i| self.n_samples * m + s * k + i))
        };
        (0..self.n_samples).flat_map(sample).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(n_samples: usize, n_features: usize, n_labels: usize, format: &str) -> DataLayout {
        DataLayout { n_samples, n_features, n_labels, format: format.parse().unwrap() }
    }

    fn marks(layout: &DataLayout) -> String {
        layout.marks().into_iter().map(Mark::symbol).collect()
    }

    #[test]
    fn sizes() {
        let layout = layout(2, 2, 1, "fix:2.1");
        assert_eq!((layout.width(), layout.n_numbers(), layout.n_bits()), (3, 6, 18));
        assert_eq!((layout.cell(0), layout.cell(17), layout.end()), (1, 18, 19));
    }

    #[test]
    fn marks_stand_at_the_lowest_bit_of_every_number_and_at_both_ends() {
        assert_eq!(marks(&layout(2, 2, 1, "fix:2.1")), "ex__x__y__x__x__y__e");
        assert_eq!(marks(&layout(1, 1, 2, "fix:2.0")), "ex_y_y_e");
        assert_eq!(marks(&layout(1, 1, 1, "float:2.1")), "ex___y___e");
    }

    #[test]
    fn numbers_come_sample_by_sample() {
        // Features x00 x01 x10 x11 x20 x21 are numbers 0 to 5, labels y0 y1 y2 are 6 to 8.
        assert_eq!(layout(3, 2, 1, "fix:2.0").order(), [0, 1, 6, 2, 3, 7, 4, 5, 8]);
        assert_eq!(layout(2, 1, 2, "fix:2.0").order(), [0, 2, 3, 1, 4, 5]);
    }
}
