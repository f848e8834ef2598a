//! Plain evaluation in f64: what a network is worth at given parameters, node by node.

use crate::{
    Network, NodeId, Op, Shape, Values,
    numbers::{from_signs, to_signs},
};

/// The value of every node at one point.
#[derive(Clone, PartialEq, Debug)]
pub struct Evaluation {
    values: Vec<Values>,
    loss: NodeId,
}

impl Evaluation {
    /// The value of a node.
    #[must_use]
    pub fn value(&self, node: NodeId) -> &Values {
        &self.values[node.index()]
    }

    /// The loss.
    #[must_use]
    pub fn loss(&self) -> f64 {
        self.value(self.loss).data[0]
    }
}

/// Evaluates all nodes of a network.
///
/// # Panics
/// If the values do not fit the network's parameters or inputs.
#[must_use]
pub fn evaluate(network: &Network, parameters: &[Values], inputs: &[Values]) -> Evaluation {
    assert!(network.fits_parameters(parameters), "values of other shapes than the parameters");
    assert!(network.fits_inputs(inputs), "values of other shapes than the inputs");
    let mut values: Vec<Values> = Vec::with_capacity(network.nodes().len());
    for node in network.nodes() {
        let value = match &node.op {
            Op::Parameter(id) => parameters[id.index()].clone(),
            Op::Input(id) => inputs[id.index()].clone(),
            op => apply(op, node.shape, &values),
        };
        values.push(value);
    }
    Evaluation { values, loss: network.loss() }
}

fn apply(op: &Op, shape: Shape, values: &[Values]) -> Values {
    let of = |node: &NodeId| &values[node.index()];
    let map = |a: &NodeId, f: fn(f64) -> f64| of(a).data.iter().map(|&v| f(v)).collect();
    let data = match op {
        Op::Parameter(_) | Op::Input(_) => unreachable!("fed by the caller"),
        Op::Constant(constant) => constant.data.clone(),
        Op::Linear(linear, a) => linear.apply(&of(a).data),
        Op::Sum(terms) => {
            let mut sum = vec![0.0; shape.len()];
            for (weight, a) in terms {
                sum.iter_mut().enumerate().for_each(|(i, s)| *s += weight * broadcast(of(a), shape, i));
            }
            sum
        }
        Op::Relu(a) => map(a, |v| if v > 0.0 { v } else { 0.0 }),
        Op::Product(a, b) => {
            let product = |i| broadcast(of(a), shape, i) * broadcast(of(b), shape, i);
            (0..shape.len()).map(product).collect()
        }
        Op::Quotient(a, b) => {
            let quotient = |i| broadcast(of(a), shape, i) / broadcast(of(b), shape, i);
            (0..shape.len()).map(quotient).collect()
        }
        Op::MatMul(a, b) => {
            let (left, right) = (of(a), of(b));
            let dot = |row: usize, col: usize| {
                (0..left.shape.cols).map(|k| left.at(row, k) * right.at(k, col)).sum()
            };
            (0..shape.len()).map(|i| dot(i / shape.cols, i % shape.cols)).collect()
        }
        Op::Sqrt(a) => map(a, f64::sqrt),
        Op::SumColumns(a) => (0..shape.rows).map(|row| of(a).row(row).iter().sum()).collect(),
        Op::SumAll(a) => vec![of(a).data.iter().sum()],
        Op::Shift(by, a) => {
            let entry = |i: usize| {
                let col = i64::try_from(i % shape.cols).ok()?.checked_sub(*by)?;
                let col = usize::try_from(col).ok().filter(|&col| col < shape.cols)?;
                Some(of(a).at(i / shape.cols, col))
            };
            (0..shape.len()).map(|i| entry(i).unwrap_or(0.0)).collect()
        }
        Op::Stack(a, b) => of(a).data.iter().chain(&of(b).data).copied().collect(),
        Op::Gather(positions, a) => positions.iter().map(|&p| of(a).data[p]).collect(),
        Op::Quantize(format, a) => to_signs(*format, &of(a).data),
        Op::Dequantize(format, a) => from_signs(*format, &of(a).data),
        Op::Reshape(a) | Op::StopGradient(a) => of(a).data.clone(),
        Op::Switch { open, on, off } => {
            let (open, on, off) = (of(open).data[0], of(on), of(off));
            match open {
                1.0 => on.data.clone(),
                0.0 => off.data.clone(),
                _ => on.data.iter().zip(&off.data).map(|(on, off)| open * on + (1.0 - open) * off).collect(),
            }
        }
        Op::Select { condition, positive, otherwise } => {
            let branch = if of(condition).data[0] > 0.0 { positive } else { otherwise };
            of(branch).data.clone()
        }
    };
    Values::new(shape, data)
}

/// Entry `index` of `values` stretched to `shape`.
fn broadcast(values: &Values, shape: Shape, index: usize) -> f64 {
    let row = if values.shape.rows == 1 { 0 } else { index / shape.cols };
    let col = if values.shape.cols == 1 { 0 } else { index % shape.cols };
    values.at(row, col)
}
