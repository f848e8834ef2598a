//! One node's operation in candle, with its constants prepared once.

use candle_core::{DType, Device, Result, Tensor};
use luge_net::{
    LinearMap, Network, Node, NodeId, Op, Shape, Values,
    numbers::{from_signs, to_signs},
};

use super::to_tensor;

/// An operation ready to be applied.
pub(super) struct Kernel<'n> {
    node: &'n Node,
    prepared: Prepared,
}

/// What an operation needs beside the values of its operands.
enum Prepared {
    Nothing,
    Constant(Tensor),
    Diagonal {
        weight: f64,
        bias: f64,
    },
    Matrix {
        weights: Tensor,
        bias: Option<Tensor>,
    },
    Entries {
        rows: Tensor,
        cols: Tensor,
        weights: Tensor,
        bias: Tensor,
    },
    /// The constant terms are folded into one number.
    Sum {
        terms: Vec<(f64, NodeId)>,
        constant: f64,
    },
    Positions(Tensor),
}

/// Maps with more weights than this are kept as lists of entries if that is shorter by far.
const LARGEST_MATRIX: usize = 1024;

impl<'n> Kernel<'n> {
    pub(super) fn new(network: &Network, node: &'n Node, dtype: DType) -> Result<Self> {
        let prepared = match &node.op {
            Op::Constant(values) => Prepared::Constant(to_tensor(values, dtype)?),
            Op::Linear(map, _) => Prepared::linear(map, dtype)?,
            Op::Sum(terms) => Prepared::sum(network, terms, node.shape, dtype)?,
            Op::Gather(positions, _) => Prepared::Positions(indices(positions.iter().copied())?),
            _ => Prepared::Nothing,
        };
        Ok(Self { node, prepared })
    }

    pub(super) fn apply(&self, values: &[Tensor]) -> Result<Tensor> {
        let of = |node: &NodeId| &values[node.index()];
        match (&self.node.op, &self.prepared) {
            (_, Prepared::Constant(tensor)) => Ok(tensor.clone()),
            (Op::Linear(_, a), Prepared::Diagonal { weight, bias }) => of(a).affine(*weight, *bias),
            (Op::Linear(_, a), Prepared::Matrix { weights, bias }) => {
                let product = weights.broadcast_mul(&of(a).reshape((1, ()))?)?.sum_keepdim(1)?;
                bias.as_ref().map_or(Ok(product.clone()), |bias| &product + bias)
            }
            (Op::Linear(_, a), Prepared::Entries { rows, cols, weights, bias }) => {
                let picked = (of(a).flatten_all()?.index_select(cols, 0)? * weights)?;
                bias.index_add(rows, &picked, 0)?.reshape(((), 1))
            }
            (_, Prepared::Sum { terms, constant }) => sum(terms, *constant, values),
            (Op::Relu(a), _) => relu(of(a)),
            (Op::Product(a, b), _) if a == b => of(a).sqr(),
            (Op::Product(a, b), _) if of(a).shape() == of(b).shape() => of(a) * of(b),
            (Op::Product(a, b), _) => of(a).broadcast_mul(of(b)),
            (Op::Quotient(a, b), _) => of(a).broadcast_div(of(b)),
            (Op::MatMul(a, b), _) => matmul(of(a), of(b)),
            (Op::Reshape(a), _) => of(a).reshape((self.node.shape.rows, self.node.shape.cols)),
            (Op::Sqrt(a), _) => of(a).sqrt(),
            (Op::SumColumns(a), _) => of(a).sum_keepdim(1),
            (Op::SumAll(a), _) => of(a).sum_all()?.reshape((1, 1)),
            (Op::Shift(by, a), _) => shift(of(a), *by),
            (Op::Stack(a, b), _) => Tensor::cat(&[of(a), of(b)], 0),
            (Op::Gather(_, a), Prepared::Positions(positions)) => {
                of(a).flatten_all()?.index_select(positions, 0)?.reshape(((), 1))
            }
            (Op::Quantize(format, a), _) => convert(of(a), |numbers| to_signs(*format, numbers)),
            (Op::Dequantize(format, a), _) => convert(of(a), |bits| from_signs(*format, bits)),
            (Op::Switch { open, on, off }, _) => match numbers(of(open))?[0] {
                1.0 => Ok(of(on).clone()),
                0.0 => Ok(of(off).clone()),
                _ => of(open).broadcast_mul(of(on))? + of(open).affine(-1.0, 1.0)?.broadcast_mul(of(off))?,
            },
            (Op::Select { condition, positive, otherwise }, _) => {
                Ok(of(if numbers(of(condition))?[0] > 0.0 { positive } else { otherwise }).clone())
            }
            _ => unreachable!("supplied by the engine"),
        }
    }
}

impl Prepared {
    fn linear(map: &LinearMap, dtype: DType) -> Result<Self> {
        if let Some((weight, bias)) = map.as_diagonal() {
            return Ok(Self::Diagonal { weight, bias });
        }
        let (rows, cols) = (map.n_outputs(), map.n_inputs());
        let entries = map.entries();
        let bias = Tensor::from_slice(&map.bias(), rows, &Device::Cpu)?.to_dtype(dtype)?;
        if rows * cols > LARGEST_MATRIX && entries.len() * 4 < rows * cols {
            let weights: Vec<f64> = entries.iter().map(|e| e.2).collect();
            return Ok(Self::Entries {
                rows: indices(entries.iter().map(|e| e.0 as usize))?,
                cols: indices(entries.iter().map(|e| e.1 as usize))?,
                weights: Tensor::from_vec(weights, entries.len(), &Device::Cpu)?.to_dtype(dtype)?,
                bias,
            });
        }
        let mut matrix = vec![0.0; rows * cols];
        for &(row, col, weight) in entries.iter() {
            matrix[row as usize * cols + col as usize] = weight;
        }
        let has_bias = map.bias().iter().any(|&b| b != 0.0);
        Ok(Self::Matrix {
            weights: Tensor::from_vec(matrix, (rows, cols), &Device::Cpu)?.to_dtype(dtype)?,
            bias: if has_bias { Some(bias.reshape((rows, 1))?) } else { None },
        })
    }

    fn sum(network: &Network, terms: &[(f64, NodeId)], shape: Shape, dtype: DType) -> Result<Self> {
        let mut variable = Vec::new();
        let mut constant = 0.0;
        for &(weight, node) in terms {
            match &network.node(node).op {
                Op::Constant(values) if values.shape == Shape::SCALAR => constant += weight * values.data[0],
                _ => variable.push((weight, node)),
            }
        }
        if variable.is_empty() {
            return Ok(Self::Constant(to_tensor(&Values::filled(shape, constant), dtype)?));
        }
        Ok(Self::Sum { terms: variable, constant })
    }
}

#[expect(clippy::float_cmp, reason = "weights 1 and -1 save a multiplication")]
fn sum(terms: &[(f64, NodeId)], constant: f64, values: &[Tensor]) -> Result<Tensor> {
    let mut total: Option<Tensor> = None;
    for &(weight, of) in terms {
        let value = &values[of.index()];
        total = Some(match total {
            None if weight == 1.0 => value.clone(),
            None => value.affine(weight, 0.0)?,
            Some(total) if weight == 1.0 => total.broadcast_add(value)?,
            Some(total) if weight == -1.0 => total.broadcast_sub(value)?,
            Some(total) => total.broadcast_add(&value.affine(weight, 0.0)?)?,
        });
    }
    let total = total.expect("a sum of constants is a constant");
    if constant == 0.0 { Ok(total) } else { total.affine(1.0, constant) }
}

/// Column by column and entry by entry, so that the additions come in the order of a plain loop.
fn matmul(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let (_, inner) = a.dims2()?;
    let mut total: Option<Tensor> = None;
    for k in 0..inner {
        let product = a.narrow(1, k, 1)?.broadcast_mul(&b.narrow(0, k, 1)?)?;
        total = Some(match total {
            None => product,
            Some(total) => (total + product)?,
        });
    }
    total.map_or_else(|| a.matmul(b), Ok)
}

fn numbers(value: &Tensor) -> Result<Vec<f64>> {
    value.to_dtype(DType::F64)?.flatten_all()?.to_vec1()
}

/// A conversion between numbers and bits, outside differentiation.
fn convert(value: &Tensor, conversion: impl Fn(&[f64]) -> Vec<f64>) -> Result<Tensor> {
    let converted = conversion(&numbers(value)?);
    let len = converted.len();
    Tensor::from_vec(converted, (len, 1), &Device::Cpu)?.to_dtype(value.dtype())
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

fn indices(of: impl Iterator<Item = usize>) -> Result<Tensor> {
    let list: Vec<u32> = of.map(|i| u32::try_from(i).unwrap_or(u32::MAX)).collect();
    let len = list.len();
    Tensor::from_vec(list, len, &Device::Cpu)
}
