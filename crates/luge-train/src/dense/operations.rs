//! The operations of a network in candle, which differentiates them.

use candle_core::{DType, Device, Result, Tensor};
use luge_net::{
    LinearMap, Node, NodeId, Op, Shape, Values,
    numbers::{from_signs, to_signs},
};

use super::{Descent, to_numbers, to_tensor};

/// The weights of a linear map that are not zero, with their rows and columns, and the bias.
pub(super) struct MapTensors {
    rows: Tensor,
    cols: Tensor,
    weights: Tensor,
    bias: Tensor,
}

impl Descent<'_> {
    /// A node's value from the values of the nodes before it.
    pub(super) fn apply(&self, id: NodeId, node: &Node, values: &[Tensor]) -> Result<Tensor> {
        let dtype = self.dtype;
        let of = |node: &NodeId| &values[node.index()];
        match &node.op {
            Op::Parameter(_) | Op::Input(_) | Op::StopGradient(_) => unreachable!("supplied by the caller"),
            Op::Constant(constant) => to_tensor(constant, dtype),
            Op::Linear(_, a) => {
                self.maps[id.index()].as_ref().expect("made of every linear map").apply(of(a))
            }
            Op::Sum(terms) => self.sum(node.shape, terms, values),
            Op::Relu(a) => relu(of(a)),
            Op::Product(a, b) => of(a).broadcast_mul(of(b)),
            Op::Quotient(a, b) => of(a).broadcast_div(of(b)),
            Op::MatMul(a, b) => matmul(of(a), of(b)),
            Op::Sqrt(a) => of(a).sqrt(),
            Op::SumColumns(a) => of(a).sum_keepdim(1),
            Op::SumAll(a) => of(a).sum_all()?.reshape((1, 1)),
            Op::Shift(by, a) => shift(of(a), *by),
            Op::Reshape(a) => of(a).reshape((node.shape.rows, node.shape.cols)),
            Op::Stack(a, b) => Tensor::cat(&[of(a), of(b)], 0),
            Op::Gather(positions, a) => {
                of(a).flatten_all()?.index_select(&indices(positions.iter().copied())?, 0)?.reshape(((), 1))
            }
            Op::Quantize(format, a) => to_column(to_signs(*format, &to_numbers(of(a))?), dtype),
            Op::Dequantize(format, a) => to_column(from_signs(*format, &to_numbers(of(a))?), dtype),
            Op::Switch { open, on, off } => match to_numbers(of(open))?[0] {
                1.0 => Ok(of(on).clone()),
                0.0 => Ok(of(off).clone()),
                _ => of(open).broadcast_mul(of(on))? + of(open).affine(-1.0, 1.0)?.broadcast_mul(of(off))?,
            },
            Op::Select { condition, positive, otherwise } => {
                let branch = if to_numbers(of(condition))?[0] > 0.0 { positive } else { otherwise };
                Ok(of(branch).clone())
            }
        }
    }

    /// A weighted sum; terms that are fixed numbers are added up first, and added last.
    fn sum(&self, shape: Shape, terms: &[(f64, NodeId)], values: &[Tensor]) -> Result<Tensor> {
        let (mut total, mut constant): (Option<Tensor>, f64) = (None, 0.0);
        for &(weight, of) in terms {
            match &self.network.node(of).op {
                Op::Constant(number) if number.shape == Shape::SCALAR => constant += weight * number.data[0],
                _ => {
                    let term = match weight {
                        1.0 => values[of.index()].clone(),
                        _ => values[of.index()].affine(weight, 0.0)?,
                    };
                    total = Some(total.map_or(Ok(term.clone()), |total| total.broadcast_add(&term))?);
                }
            }
        }
        match total {
            Some(total) if constant == 0.0 => Ok(total),
            Some(total) => total.affine(1.0, constant),
            None => to_tensor(&Values::filled(shape, constant), self.dtype),
        }
    }
}

impl MapTensors {
    pub(super) fn new(map: &LinearMap, dtype: DType) -> Result<Self> {
        let entries = map.entries();
        let weights: Vec<f64> = entries.iter().map(|entry| entry.2).collect();
        Ok(Self {
            rows: indices(entries.iter().map(|entry| entry.0 as usize))?,
            cols: indices(entries.iter().map(|entry| entry.1 as usize))?,
            weights: Tensor::from_vec(weights, entries.len(), &Device::Cpu)?.to_dtype(dtype)?,
            bias: Tensor::from_slice(&map.bias(), map.n_outputs(), &Device::Cpu)?.to_dtype(dtype)?,
        })
    }

    fn apply(&self, x: &Tensor) -> Result<Tensor> {
        let products = (x.flatten_all()?.index_select(&self.cols, 0)? * &self.weights)?;
        self.bias.index_add(&self.rows, &products, 0)?.reshape(((), 1))
    }
}

/// Column by column and entry by entry, so that the additions come in the order of a plain loop.
fn matmul(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let mut total: Option<Tensor> = None;
    for k in 0..a.dims2()?.1 {
        let product = a.narrow(1, k, 1)?.broadcast_mul(&b.narrow(0, k, 1)?)?;
        total = Some(total.map_or(Ok(product.clone()), |total| total + product)?);
    }
    total.map_or_else(|| a.matmul(b), Ok)
}

/// max(0, v) with derivative 0 at 0; candle's own has derivative 1 there.
fn relu(value: &Tensor) -> Result<Tensor> {
    if !value.track_op() {
        return value.relu();
    }
    let zeros = value.zeros_like()?;
    value.gt(&zeros)?.where_cond(value, &zeros)
}

fn shift(value: &Tensor, by: i64) -> Result<Tensor> {
    let (_, cols) = value.dims2()?;
    let distance = usize::try_from(by.unsigned_abs()).unwrap_or(usize::MAX).min(cols);
    match by {
        0 => Ok(value.clone()),
        1.. => value.narrow(1, 0, cols - distance)?.pad_with_zeros(1, distance, 0),
        _ => value.narrow(1, distance, cols - distance)?.pad_with_zeros(1, 0, distance),
    }
}

fn to_column(numbers: Vec<f64>, dtype: DType) -> Result<Tensor> {
    let len = numbers.len();
    Tensor::from_vec(numbers, (len, 1), &Device::Cpu)?.to_dtype(dtype)
}

fn indices(of: impl Iterator<Item = usize>) -> Result<Tensor> {
    let list: Vec<u32> = of.map(|i| u32::try_from(i).unwrap_or(u32::MAX)).collect();
    let len = list.len();
    Tensor::from_vec(list, len, &Device::Cpu)
}
