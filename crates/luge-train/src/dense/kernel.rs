//! One node's operation in candle, with its constants prepared once.

use candle_core::{DType, Device, Result, Tensor};
use luge_net::{
    LinearMap, Network, Node, NodeId, NumberFormat, Op, Shape, Values,
    numbers::{from_signs, to_signs},
};

use super::to_tensor;

/// An operation ready to be applied.
pub(super) enum Kernel {
    /// Parameters, inputs and stop-gradients: the engine itself supplies these.
    Supplied,
    Constant(Tensor),
    Diagonal {
        weight: f64,
        bias: f64,
        of: usize,
    },
    Matrix {
        weights: Tensor,
        bias: Option<Tensor>,
        of: usize,
    },
    Entries {
        rows: Tensor,
        cols: Tensor,
        weights: Tensor,
        bias: Tensor,
        of: usize,
    },
    /// The constant terms are folded into one number.
    Sum {
        terms: Vec<(f64, usize)>,
        constant: f64,
    },
    Relu(usize),
    Square(usize),
    Product(usize, usize),
    Quotient(usize, usize),
    MatMul(usize, usize),
    Reshape(Shape, usize),
    Sqrt(usize),
    SumColumns(usize),
    SumAll(usize),
    Shift(i64, usize),
    Stack(usize, usize),
    Gather(Tensor, usize),
    Quantize(NumberFormat, usize),
    Dequantize(NumberFormat, usize),
    Switch {
        open: usize,
        on: usize,
        off: usize,
    },
    Select {
        condition: usize,
        positive: usize,
        otherwise: usize,
    },
}

/// Maps with more weights than this are kept as lists of entries if that is shorter by far.
const LARGEST_MATRIX: usize = 1024;

impl Kernel {
    pub(super) fn new(network: &Network, node: &Node, dtype: DType) -> Result<Self> {
        Ok(match &node.op {
            Op::Parameter(_) | Op::Input(_) | Op::StopGradient(_) => Self::Supplied,
            Op::Constant(values) => Self::Constant(to_tensor(values, dtype)?),
            Op::Linear(map, of) => Self::linear(map, of.index(), dtype)?,
            Op::Sum(terms) => Self::sum(network, terms, node.shape, dtype)?,
            Op::Relu(of) => Self::Relu(of.index()),
            Op::Product(a, b) if a == b => Self::Square(a.index()),
            Op::Product(a, b) => Self::Product(a.index(), b.index()),
            Op::Quotient(a, b) => Self::Quotient(a.index(), b.index()),
            Op::MatMul(a, b) => Self::MatMul(a.index(), b.index()),
            Op::Reshape(of) => Self::Reshape(node.shape, of.index()),
            Op::Sqrt(of) => Self::Sqrt(of.index()),
            Op::SumColumns(of) => Self::SumColumns(of.index()),
            Op::SumAll(of) => Self::SumAll(of.index()),
            Op::Shift(by, of) => Self::Shift(*by, of.index()),
            Op::Stack(a, b) => Self::Stack(a.index(), b.index()),
            Op::Gather(positions, of) => Self::Gather(indices(positions.iter().copied())?, of.index()),
            Op::Quantize(format, of) => Self::Quantize(*format, of.index()),
            Op::Dequantize(format, of) => Self::Dequantize(*format, of.index()),
            Op::Switch { open, on, off } => {
                Self::Switch { open: open.index(), on: on.index(), off: off.index() }
            }
            Op::Select { condition, positive, otherwise } => Self::Select {
                condition: condition.index(),
                positive: positive.index(),
                otherwise: otherwise.index(),
            },
        })
    }

    fn linear(map: &LinearMap, of: usize, dtype: DType) -> Result<Self> {
        if let Some((weight, bias)) = map.as_diagonal() {
            return Ok(Self::Diagonal { weight, bias, of });
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
                of,
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
            of,
        })
    }

    fn sum(network: &Network, terms: &[(f64, NodeId)], shape: Shape, dtype: DType) -> Result<Self> {
        let mut variable = Vec::new();
        let mut constant = 0.0;
        for &(weight, node) in terms {
            match &network.node(node).op {
                Op::Constant(values) if values.shape == Shape::SCALAR => constant += weight * values.data[0],
                _ => variable.push((weight, node.index())),
            }
        }
        if variable.is_empty() {
            return Ok(Self::Constant(to_tensor(&Values::filled(shape, constant), dtype)?));
        }
        Ok(Self::Sum { terms: variable, constant })
    }

    pub(super) fn apply(&self, values: &[Tensor]) -> Result<Tensor> {
        match self {
            Self::Supplied => unreachable!("supplied by the engine"),
            Self::Constant(tensor) => Ok(tensor.clone()),
            Self::Diagonal { weight, bias, of } => values[*of].affine(*weight, *bias),
            Self::Matrix { weights, bias, of } => {
                let product = weights.broadcast_mul(&values[*of].reshape((1, ()))?)?.sum_keepdim(1)?;
                bias.as_ref().map_or(Ok(product.clone()), |bias| &product + bias)
            }
            Self::Entries { rows, cols, weights, bias, of } => {
                let picked = (values[*of].flatten_all()?.index_select(cols, 0)? * weights)?;
                bias.index_add(rows, &picked, 0)?.reshape(((), 1))
            }
            Self::Sum { terms, constant } => sum(terms, *constant, values),
            Self::Relu(of) => relu(&values[*of]),
            Self::Square(of) => values[*of].sqr(),
            Self::Product(a, b) if values[*a].shape() == values[*b].shape() => &values[*a] * &values[*b],
            Self::Product(a, b) => values[*a].broadcast_mul(&values[*b]),
            Self::Quotient(a, b) => values[*a].broadcast_div(&values[*b]),
            Self::MatMul(a, b) => matmul(&values[*a], &values[*b]),
            Self::Reshape(shape, of) => values[*of].reshape((shape.rows, shape.cols)),
            Self::Sqrt(of) => values[*of].sqrt(),
            Self::SumColumns(of) => values[*of].sum_keepdim(1),
            Self::SumAll(of) => values[*of].sum_all()?.reshape((1, 1)),
            Self::Shift(by, of) => shift(&values[*of], *by),
            Self::Stack(a, b) => Tensor::cat(&[&values[*a], &values[*b]], 0),
            Self::Gather(positions, of) => {
                values[*of].flatten_all()?.index_select(positions, 0)?.reshape(((), 1))
            }
            Self::Quantize(format, of) => convert(&values[*of], |numbers| to_signs(*format, numbers)),
            Self::Dequantize(format, of) => convert(&values[*of], |bits| from_signs(*format, bits)),
            Self::Switch { open, on, off } => match numbers(&values[*open])?[0] {
                1.0 => Ok(values[*on].clone()),
                0.0 => Ok(values[*off].clone()),
                _ => {
                    let open = &values[*open];
                    open.broadcast_mul(&values[*on])?
                        + open.affine(-1.0, 1.0)?.broadcast_mul(&values[*off])?
                }
            },
            Self::Select { condition, positive, otherwise } => {
                let condition = numbers(&values[*condition])?[0];
                Ok(values[if condition > 0.0 { *positive } else { *otherwise }].clone())
            }
        }
    }
}

#[expect(clippy::float_cmp, reason = "weights 1 and -1 save a multiplication")]
fn sum(terms: &[(f64, usize)], constant: f64, values: &[Tensor]) -> Result<Tensor> {
    let mut total: Option<Tensor> = None;
    for &(weight, of) in terms {
        let value = &values[of];
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
