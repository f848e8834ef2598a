//! The cells of a tape: one bit each if all are symbols, otherwise numbers.

use crate::sparse::BLANK;

/// Consecutive cells: one bit each if all are -1 or 1, otherwise numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct PackedCells(Kept);

#[derive(Clone, PartialEq, Debug)]
enum Kept {
    /// Eight cells in a byte, the first in its lowest bit, and the number of cells.
    Signs(Vec<u8>, usize),
    Numbers(Vec<f64>),
}

impl PackedCells {
    /// Cells that are all symbols: 1 where `true`, else -1.
    pub fn of_symbols(symbols: impl Iterator<Item = bool>) -> Self {
        let (mut bytes, mut n_cells) = (Vec::with_capacity(symbols.size_hint().0.div_ceil(8)), 0_usize);
        let mut byte = 0;
        for symbol in symbols {
            byte |= u8::from(symbol) << (n_cells % 8);
            n_cells += 1;
            if n_cells.is_multiple_of(8) {
                bytes.push(std::mem::take(&mut byte));
            }
        }
        if !n_cells.is_multiple_of(8) {
            bytes.push(byte);
        }
        Self(Kept::Signs(bytes, n_cells))
    }

    /// Cells that are all `common`, except for some others, given by their positions.
    pub(crate) fn mostly(
        common: f64,
        n_cells: usize,
        others: impl Iterator<Item = (usize, f64)> + Clone,
    ) -> Self {
        if !are_symbols(&[common]) || !others.clone().all(|(_, number)| are_symbols(&[number])) {
            let mut numbers = vec![common; n_cells];
            others.for_each(|(at, number)| numbers[at] = number);
            return Self(Kept::Numbers(numbers));
        }
        let mut cells =
            Self::of_bytes(&vec![if common > 0.0 { 0xff } else { 0 }; n_cells.div_ceil(8)], n_cells);
        if let Kept::Signs(bytes, _) = &mut cells.0 {
            for (at, number) in others {
                let bit = 1 << (at % 8);
                bytes[at / 8] = bytes[at / 8] & !bit | if number > 0.0 { bit } else { 0 };
            }
        }
        cells
    }

    /// Cells that are packed already, eight to a byte; bits beyond the last cell are ignored.
    pub(crate) fn of_bytes(bytes: &[u8], n_cells: usize) -> Self {
        let mut bytes = bytes.to_vec();
        if let (Some(last), 1..) = (bytes.last_mut(), n_cells % 8) {
            *last &= (1 << (n_cells % 8)) - 1;
        }
        Self(Kept::Signs(bytes, n_cells))
    }

    /// The packed bytes, if all cells are symbols.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match &self.0 {
            Kept::Signs(bytes, _) => Some(bytes),
            Kept::Numbers(_) => None,
        }
    }

    /// Whether all cells are symbols.
    pub fn are_symbols(&self) -> bool {
        matches!(self.0, Kept::Signs(..))
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        match &self.0 {
            Kept::Signs(_, n_cells) => *n_cells,
            Kept::Numbers(numbers) => numbers.len(),
        }
    }

    /// Size in bytes.
    pub(crate) fn n_bytes(&self) -> usize {
        match &self.0 {
            Kept::Signs(bytes, _) => bytes.len(),
            Kept::Numbers(numbers) => size_of_val(&numbers[..]),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a cell; `None` beyond the last.
    pub fn get(&self, at: usize) -> Option<f64> {
        match &self.0 {
            Kept::Signs(bytes, n_cells) => {
                (at < *n_cells).then(|| if bytes[at / 8] >> (at % 8) & 1 == 1 { 1.0 } else { -1.0 })
            }
            Kept::Numbers(numbers) => numbers.get(at).copied(),
        }
    }

    /// All values in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = f64> + ExactSizeIterator + '_ {
        (0..self.len()).map(|at| self.get(at).unwrap_or(f64::NAN))
    }

    /// Adds cells at the end.
    pub fn extend(&mut self, numbers: &[f64]) {
        match &mut self.0 {
            Kept::Numbers(kept) => kept.extend(numbers),
            Kept::Signs(..) if !are_symbols(numbers) => {
                let kept = self.iter().chain(numbers.iter().copied()).collect();
                self.0 = Kept::Numbers(kept);
            }
            Kept::Signs(bytes, n_cells) => {
                let started = (8 - *n_cells % 8) % 8;
                let (rest, fresh) = numbers.split_at(started.min(numbers.len()));
                for (at, &number) in (*n_cells..).zip(rest) {
                    bytes[at / 8] |= u8::from(number > 0.0) << (at % 8);
                }
                let (eights, rest) = fresh.as_chunks::<8>();
                bytes.extend(eights.iter().map(packed_eight));
                bytes.extend((!rest.is_empty()).then(|| packed(rest)));
                *n_cells += numbers.len();
            }
        }
    }

    /// The same cells without the blank ones at the end.
    pub fn without_blank_end(&self) -> Self {
        self.part(0..self.written().end)
    }

    /// The cells from the first to the last that is not blank.
    pub(crate) fn written(&self) -> std::ops::Range<usize> {
        // Skip whole bytes of blanks first.
        let (from, to) = match &self.0 {
            Kept::Signs(bytes, n_cells) => {
                let last = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                let first = bytes[..last].iter().position(|&byte| byte != 0).unwrap_or(0);
                (8 * first, (8 * last).min(*n_cells))
            }
            Kept::Numbers(numbers) => (0, numbers.len()),
        };
        let written = |&at: &usize| self.get(at).is_some_and(|cell| cell.total_cmp(&BLANK).is_ne());
        let end = (from..to).rev().find(written).map_or(0, |last| last + 1);
        (from..end).find(written).unwrap_or(0)..end
    }

    /// A range of the cells, cut off at the last cell.
    pub fn part(&self, cells: std::ops::Range<usize>) -> Self {
        let end = cells.end.min(self.len());
        let start = cells.start.min(end);
        match &self.0 {
            Kept::Signs(bytes, _) if start.is_multiple_of(8) => {
                Self::of_bytes(&bytes[start / 8..end.div_ceil(8)], end - start)
            }
            Kept::Signs(bytes, _) => {
                let byte = |at: usize| u16::from(bytes.get(at).copied().unwrap_or(0));
                let eight = |at: usize| ((byte(at / 8) | byte(at / 8 + 1) << 8) >> (at % 8)) as u8;
                let packed: Vec<u8> = (start..end).step_by(8).map(eight).collect();
                Self::of_bytes(&packed, end - start)
            }
            Kept::Numbers(numbers) => numbers[start..end].to_vec().into(),
        }
    }
}

impl From<Vec<f64>> for PackedCells {
    fn from(numbers: Vec<f64>) -> Self {
        let mut cells = Self::default();
        cells.extend(&numbers);
        cells
    }
}

/// Whether every number is -1 or 1. Written without a branch per number, so that it can be vectorised.
fn are_symbols(numbers: &[f64]) -> bool {
    let differs = |number: &f64| number.to_bits() ^ 1.0_f64.to_bits();
    numbers.iter().fold(0, |bits, number| bits | differs(number)) << 1 == 0
}

/// Up to eight symbols as a byte.
#[inline]
fn packed(symbols: &[f64]) -> u8 {
    symbols.iter().zip(0..).fold(0, |byte, (symbol, at)| byte | ((!symbol.to_bits() >> 63) as u8) << at)
}

/// The same for eight symbols: the sum of 2^i times the i-th symbol is twice the byte less 255. Added to a number of this size,
/// it is in the lowest bits.
#[inline]
fn packed_eight(symbols: &[f64; 8]) -> u8 {
    const SIZE: f64 = (1_u64 << 52) as f64;
    let mut halves = [0.0; 2];
    for (pair, weight) in symbols.as_chunks::<2>().0.iter().zip([1.0, 4.0, 16.0, 64.0]) {
        halves = [halves[0] + weight * pair[0], halves[1] + weight * pair[1]];
    }
    ((halves[0] + 2.0 * halves[1] + (SIZE + 255.0)).to_bits() >> 1) as u8
}

impl Default for PackedCells {
    fn default() -> Self {
        Self(Kept::Signs(Vec::new(), 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(numbers: &[f64]) {
        let cells = PackedCells::from(numbers.to_vec());
        assert_eq!(cells.iter().collect::<Vec<_>>(), numbers);
        for start in 0..=numbers.len() {
            for end in start..=numbers.len() {
                let part = cells.part(start..end);
                assert_eq!(part, PackedCells::from(numbers[start..end].to_vec()), "{start}..{end}");
                assert_eq!(part.len(), end - start);
            }
        }
        assert_eq!(cells.get(numbers.len()), None);
        for middle in 0..=numbers.len() {
            let mut grown = PackedCells::from(numbers[..middle].to_vec());
            grown.extend(&numbers[middle..]);
            assert_eq!(grown, cells, "{middle}");
        }
    }

    #[test]
    fn cells_are_what_was_put_in() {
        check(&[]);
        check(&[1.0, -1.0, -1.0, 1.0, 1.0, 1.0, -1.0, 1.0, -1.0, 1.0, 1.0]);
        check(&[1.0, -1.0, 0.5, f64::INFINITY]);
    }

    #[test]
    fn a_few_cells_differ_from_all_others() {
        for common in [-1.0, 1.0, 0.25] {
            for others in [&[][..], &[(0, 1.0), (7, -1.0), (8, 1.0), (20, -1.0)], &[(3, 1.0), (4, 0.5)]] {
                let mut numbers = vec![common; 21];
                others.iter().for_each(|&(at, number)| numbers[at] = number);
                let cells = PackedCells::mostly(common, 21, others.iter().copied());
                assert_eq!(cells, PackedCells::from(numbers), "{common}, {others:?}");
            }
        }
        assert_eq!(PackedCells::mostly(-1.0, 0, [].into_iter()), PackedCells::default());
    }

    #[test]
    fn written_cells_are_those_between_blanks() {
        let cells: Vec<u8> = (0..21_u8).map(|i| i.wrapping_mul(37)).collect();
        for n in 0..=cells.len() {
            for track in 0..8 {
                let expected = PackedCells::of_symbols(cells[..n].iter().map(|c| c >> track & 1 == 1));
                let numbers: Vec<f64> = expected.iter().collect();
                let first = numbers.iter().position(|&v| v > 0.0).unwrap_or(0);
                let end = numbers.iter().rposition(|&v| v > 0.0).map_or(0, |last| last + 1);
                assert_eq!(expected.written(), first..end);
            }
        }
        assert_eq!(PackedCells::from(vec![-1.0, 0.5, -1.0]).written(), 1..2);
    }

    #[test]
    fn blanks_at_the_end_go() {
        let kept = |numbers: &[f64]| PackedCells::from(numbers.to_vec()).without_blank_end().len();
        assert_eq!((kept(&[]), kept(&[-1.0; 9]), kept(&[-1.0, 1.0, -1.0]), kept(&[-1.0, 0.5])), (0, 0, 2, 2));
    }

    #[test]
    fn symbols_take_a_bit_each() {
        let cells = PackedCells::of_symbols((0..80_000).map(|i| i % 3 == 0));
        assert_eq!(cells.bytes().map(<[u8]>::len), Some(10_000));
        assert_eq!(PackedCells::of_bytes(&[0xff], 3), PackedCells::from(vec![1.0; 3]));
    }
}
