//! Stores blocks of weights as tensors: as they are, or one bit for each weight if there are only two values.

use luge_net::{Shape, SparseValues, Values};
use safetensors::{Dtype, tensor::TensorView};
use serde::{Deserialize, Serialize};

/// Blocks with fewer numbers are never packed, so that other programs can read them.
const SMALL: usize = 4096;

/// The shape and the values of a packed block, in which number k is bit k % 8 of byte k / 8.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Packed {
    /// Rows and columns.
    shape: [usize; 2],
    /// The values of bit 0 and of bit 1, as Rust prints numbers.
    numbers: [String; 2],
}

/// A block as it is written.
pub(super) struct Block {
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<usize>,
    pub(super) bytes: Vec<u8>,
    pub(super) packed: Option<Packed>,
}

impl Block {
    pub(super) fn of(values: &SparseValues) -> Self {
        let shape = [values.shape.rows, values.shape.cols];
        let n = values.shape.len();
        if let Some(two) = two_numbers(values).filter(|_| n >= SMALL) {
            let is_one = |number: f64| number.to_bits() == two[1].to_bits();
            let bytes =
                bits(n, is_one(values.common()), values.others().iter().map(|&(k, v)| (k, is_one(v))));
            let packed = Packed { shape, numbers: two.map(|number| format!("{number:?}")) };
            return Self { dtype: Dtype::U8, shape: vec![bytes.len()], bytes, packed: Some(packed) };
        }
        let bytes = values.to_values().data.iter().flat_map(|v| v.to_le_bytes()).collect();
        Self { dtype: Dtype::F64, shape: shape.to_vec(), bytes, packed: None }
    }
}

/// Packs this many bits, which are `common` except for `others`, eight to a byte, the first the lowest.
fn bits(n: usize, common: bool, others: impl Iterator<Item = (usize, bool)>) -> Vec<u8> {
    let mut bytes = vec![if common { u8::MAX } else { 0 }; n.div_ceil(8)];
    if let (Some(last), 1..) = (bytes.last_mut(), n % 8) {
        *last &= (1 << (n % 8)) - 1;
    }
    for (k, other) in others {
        let bit = 1 << (k % 8);
        bytes[k / 8] = bytes[k / 8] & !bit | if other { bit } else { 0 };
    }
    bytes
}

/// Returns the values of a block that has at most two, compared bit by bit; the value of the first entry comes first.
fn two_numbers(values: &SparseValues) -> Option<[f64; 2]> {
    let n = values.shape.len();
    let common = (values.others().len() < n).then_some(values.common());
    let first = (n > 0).then(|| values.entry(0))?;
    let numbers = || common.into_iter().chain(values.others().iter().map(|other| other.1));
    let second = numbers().find(|v| v.to_bits() != first.to_bits()).unwrap_or(first);
    let known = |v: f64| v.to_bits() == first.to_bits() || v.to_bits() == second.to_bits();
    numbers().all(known).then_some([first, second])
}

/// Reads the block of a tensor; `None` if it has another form.
pub(super) fn read(view: &TensorView<'_>, packed: Option<&Packed>) -> Option<SparseValues> {
    if let Some(Packed { shape: [rows, cols], numbers }) = packed {
        let n = rows.checked_mul(*cols)?;
        if view.dtype() != Dtype::U8 || view.data().len() != n.div_ceil(8) {
            return None;
        }
        let [zero, one]: [f64; 2] = [numbers[0].parse().ok()?, numbers[1].parse().ok()?];
        let is_one = |k: usize| view.data()[k / 8] >> (k % 8) & 1 == 1;
        let n_ones: usize = view.data().iter().map(|byte| byte.count_ones() as usize).sum();
        let mostly_ones = 2 * n_ones > n;
        let (common, other) = if mostly_ones { (one, zero) } else { (zero, one) };
        let others = (0..n).filter(|&k| is_one(k) != mostly_ones).map(|k| (k, other));
        return Some(SparseValues::new(Shape::new(*rows, *cols), common, others));
    }
    let &[rows, cols] = view.shape() else { return None };
    if view.dtype() != Dtype::F64 {
        return None;
    }
    let numbers = view.data().chunks_exact(8).map(|b| b.try_into().map(f64::from_le_bytes));
    Some(Values::new(Shape::new(rows, cols), numbers.collect::<Result<_, _>>().ok()?).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(data: Vec<f64>, n_bytes: usize) {
        let values = Values::new(Shape::new(2, data.len() / 2), data);
        let block = Block::of(&(&values).into());
        assert_eq!(block.bytes.len(), n_bytes);
        let view = TensorView::new(block.dtype, block.shape.clone(), &block.bytes).expect("a tensor");
        let again = read(&view, block.packed.as_ref()).expect("a block");
        assert_eq!(again.shape, values.shape);
        assert!(again.to_values().data.iter().zip(&values.data).all(|(a, b)| a.to_bits() == b.to_bits()));
    }

    #[test]
    fn blocks_come_back_bit_for_bit() {
        let every_third = |n: usize, a: f64, b: f64| (0..n).map(|k| if k % 3 == 0 { a } else { b }).collect();
        check(every_third(4094, -1.0, 1.0), 8 * 4094);
        check(every_third(4098, -1.0, 1.0), 513);
        check(every_third(4098, 0.0, -0.0), 513);
        check(every_third(4098, 0.1, 1e300), 513);
        check(vec![7.5; 5000], 625);
        let mut three: Vec<f64> = every_third(5000, 0.0, 1.0);
        three[4999] = 0.5;
        check(three, 40_000);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let block = Block::of(&SparseValues::filled(Shape::new(64, 64), 1.0));
        let view = TensorView::new(block.dtype, block.shape.clone(), &block.bytes).expect("a tensor");
        let mut packed = block.packed.expect("two numbers at most");
        assert!(read(&view, None).is_none());
        packed.shape = [64, 65];
        assert!(read(&view, Some(&packed)).is_none());
        packed.shape = [usize::MAX, 2];
        assert!(read(&view, Some(&packed)).is_none());
        packed = Packed { shape: [64, 64], numbers: ["1".to_owned(), "one".to_owned()] };
        assert!(read(&view, Some(&packed)).is_none());
    }
}
