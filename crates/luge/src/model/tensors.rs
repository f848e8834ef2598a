//! Blocks of weights as tensors of a file: as they are, or a bit each where they hold two numbers only.

use luge_net::{Shape, Values};
use safetensors::{Dtype, tensor::TensorView};
use serde::{Deserialize, Serialize};

/// Blocks with fewer numbers than this are never packed: other programs read them as they are.
const SMALL: usize = 4096;

/// What a packed block was: number k is bit k % 8 of byte k / 8.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Packed {
    /// Rows and columns.
    shape: [usize; 2],
    /// What a 0 and what a 1 stands for, as Rust prints numbers.
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
    pub(super) fn of(values: &Values) -> Self {
        let Values { shape, data } = values;
        let shape = [shape.rows, shape.cols];
        if let Some(two) = two_numbers(data).filter(|_| data.len() >= SMALL) {
            let bits = |chunk: &[f64]| {
                let bit = |(k, v): (usize, &f64)| u8::from(v.to_bits() == two[1].to_bits()) << k;
                chunk.iter().enumerate().map(bit).sum::<u8>()
            };
            let bytes: Vec<u8> = data.chunks(8).map(bits).collect();
            let packed = Packed { shape, numbers: two.map(|number| format!("{number:?}")) };
            return Self { dtype: Dtype::U8, shape: vec![bytes.len()], bytes, packed: Some(packed) };
        }
        let bytes = data.iter().flat_map(|v| v.to_le_bytes()).collect();
        Self { dtype: Dtype::F64, shape: shape.to_vec(), bytes, packed: None }
    }
}

/// The two numbers of a block that has no third one; told apart by their bits.
fn two_numbers(data: &[f64]) -> Option<[f64; 2]> {
    let first = *data.first()?;
    let second = data.iter().copied().find(|v| v.to_bits() != first.to_bits()).unwrap_or(first);
    let known = |v: &f64| v.to_bits() == first.to_bits() || v.to_bits() == second.to_bits();
    data.iter().all(known).then_some([first, second])
}

/// The block that a tensor holds; `None` if it has another form.
pub(super) fn read(view: &TensorView<'_>, packed: Option<&Packed>) -> Option<Values> {
    if let Some(Packed { shape: [rows, cols], numbers }) = packed {
        let n = rows.checked_mul(*cols)?;
        if view.dtype() != Dtype::U8 || view.data().len() != n.div_ceil(8) {
            return None;
        }
        let [zero, one]: [f64; 2] = [numbers[0].parse().ok()?, numbers[1].parse().ok()?];
        let number = |k: usize| if view.data()[k / 8] >> (k % 8) & 1 == 1 { one } else { zero };
        return Some(Values::new(Shape::new(*rows, *cols), (0..n).map(number).collect()));
    }
    let &[rows, cols] = view.shape() else { return None };
    if view.dtype() != Dtype::F64 {
        return None;
    }
    let numbers = view.data().chunks_exact(8).map(|b| b.try_into().map(f64::from_le_bytes));
    Some(Values::new(Shape::new(rows, cols), numbers.collect::<Result<_, _>>().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(data: Vec<f64>, n_bytes: usize) {
        let values = Values::new(Shape::new(2, data.len() / 2), data);
        let block = Block::of(&values);
        assert_eq!(block.bytes.len(), n_bytes);
        let view = TensorView::new(block.dtype, block.shape.clone(), &block.bytes).expect("a tensor");
        let again = read(&view, block.packed.as_ref()).expect("a block");
        assert_eq!(again.shape, values.shape);
        assert!(again.data.iter().zip(&values.data).all(|(a, b)| a.to_bits() == b.to_bits()));
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
        let block = Block::of(&Values::filled(Shape::new(64, 64), 1.0));
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
