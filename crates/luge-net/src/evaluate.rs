//! Evaluation in f64: the values of nodes for given parameters and inputs.

use std::ops::Range;

use crate::{
    LinearMap, Network, NodeId, Op, Shape, SparseValues, Values, Weights,
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
    pub fn value(&self, node: NodeId) -> &Values {
        &self.values[node.index()]
    }

    /// The loss.
    pub fn loss(&self) -> f64 {
        self.value(self.loss).data[0]
    }
}

/// Evaluates all nodes of a network.
///
/// # Panics
/// If the values do not fit the network's parameters or inputs.
pub fn evaluate(network: &Network, parameters: &[Values], inputs: &[Values]) -> Evaluation {
    evaluate_frozen(network, parameters, inputs, None)
}

/// Evaluates one node. Only nodes that it depends on are evaluated. Where entries of a parameter or a linear map are
/// gathered, only these entries are computed.
///
/// # Panics
/// If the values do not fit the network's parameters or inputs.
pub fn evaluate_node(
    network: &Network,
    weights: &(impl Weights + ?Sized),
    inputs: &[Values],
    node: NodeId,
) -> Values {
    assert!(network.fits_inputs(inputs), "values of other shapes than the inputs");
    let needed = network.needed_by(&[node], |_, node| match sources(network, &node.op) {
        Some(sources) => sources.iter().flat_map(|&(source, _)| network.node(source).op.operands()).collect(),
        None => node.op.operands(),
    });
    let mut values: Vec<Values> = Vec::with_capacity(node.index() + 1);
    for (node, needed) in network.nodes().iter().zip(needed).take(node.index() + 1) {
        let sources = if needed { sources(network, &node.op) } else { None };
        values.push(match (&node.op, sources) {
            _ if !needed => Values::new(Shape::new(0, 0), Vec::new()),
            (_, Some(sources)) => {
                let entries = sources.iter().map(|&(source, at)| match &network.node(source).op {
                    Op::Parameter(id) => weights.entry(*id, at),
                    Op::Linear(map, of) => map.apply_to(at..at + 1, &values[of.index()].data)[0],
                    _ => unreachable!("entries come from parameters and linear maps"),
                });
                Values::new(node.shape, entries.collect())
            }
            (Op::Parameter(id), None) => {
                let entries = (0..node.shape.len()).map(|at| weights.entry(*id, at));
                Values::new(node.shape, entries.collect())
            }
            (Op::Input(id), None) => inputs[id.index()].clone(),
            (op, None) => apply(op, node.shape, &values),
        });
    }
    values.swap_remove(node.index())
}

/// For each entry that is gathered, the parameter or linear map that it comes from and the entry there; `None` if they
/// cannot be computed one by one, and for other operations.
fn sources(network: &Network, op: &Op) -> Option<Vec<(NodeId, usize)>> {
    let Op::Gather(positions, of) = op else { return None };
    positions.iter().map(|&at| source(network, *of, at)).collect()
}

fn source(network: &Network, node: NodeId, at: usize) -> Option<(NodeId, usize)> {
    match &network.node(node).op {
        Op::Parameter(_) | Op::Linear(..) => Some((node, at)),
        Op::Reshape(of) | Op::StopGradient(of) => source(network, *of, at),
        Op::Stack(upper, lower) => match at.checked_sub(network.node(*upper).shape.len()) {
            None => source(network, *upper, at),
            Some(at) => source(network, *lower, at),
        },
        _ => None,
    }
}

/// The number of entries of a row that are computed at a time: few enough to stay in the CPU's caches.
const PIECE: usize = 1 << 12;

/// The rows of a node that depend on weights or inputs. All others are [`bias_rows`].
pub fn changing_rows(network: &Network, node: NodeId) -> impl Iterator<Item = usize> {
    (0..network.node(node).shape.rows).filter(move |&row| biases(network, node, row).is_none())
}

/// The rows of a node that are constant, because the linear map that computes the node places no input there.
pub fn bias_rows(network: &Network, node: NodeId) -> impl Iterator<Item = (usize, SparseValues)> {
    let rows = 0..network.node(node).shape.rows;
    rows.filter_map(move |row| Some((row, biases(network, node, row).map(|(map, at)| map.biases_in(&at))?)))
}

/// The map that computes a constant row, and the map's outputs in this row; `None` for other rows.
fn biases(network: &Network, node: NodeId, row: usize) -> Option<(&LinearMap, Range<usize>)> {
    let Op::Reshape(of) = &network.node(node).op else { return None };
    let Op::Linear(map, _) = &network.node(*of).op else { return None };
    let cols = network.node(node).shape.cols;
    let at = row * cols..(row + 1) * cols;
    map.inputs_placed_in(&at)?.is_empty().then_some((map, at))
}

/// Evaluates rows of a node, piece by piece: `see` is called with the row, the column of the first entry, and the
/// entries. The result of a linear map is never stored as a whole.
///
/// # Panics
/// If the values do not fit the network's parameters or inputs.
pub fn evaluate_rows(
    network: &Network,
    weights: &(impl Weights + ?Sized),
    inputs: &[Values],
    (node, rows): (NodeId, impl Iterator<Item = usize>),
    mut see: impl FnMut(usize, usize, &[f64]),
) {
    let cols = network.node(node).shape.cols;
    let pieces = |entries: &mut dyn FnMut(Range<usize>) -> Vec<f64>| {
        for row in rows {
            for first in (0..cols).step_by(PIECE) {
                let start = row * cols + first;
                see(row, first, &entries(start..start + PIECE.min(cols - first)));
            }
        }
    };
    if let Op::Reshape(of) = &network.node(node).op
        && let Op::Linear(map, from) = &network.node(*of).op
    {
        match &network.node(*from).op {
            // Bits are many times as large as the numbers that they stand for.
            Op::Quantize(format, numbers) if map.inputs_placed_in(&(0..0)).is_some() => {
                let (numbers, width) =
                    (evaluate_node(network, weights, inputs, *numbers), format.n_bits() as usize);
                pieces(&mut |range| {
                    let bits = map.inputs_placed_in(&range).unwrap_or_default();
                    let (first, end) = (bits.start / width, bits.end.div_ceil(width));
                    let signs = to_signs(*format, &numbers.data[first..end.max(first)]);
                    let skipped = (bits.start - first * width).min(signs.len());
                    map.apply_placed(range, bits, &signs[skipped..])
                });
            }
            _ => {
                let from = evaluate_node(network, weights, inputs, *from);
                pieces(&mut |range| map.apply_to(range, &from.data));
            }
        }
    } else {
        let all = evaluate_node(network, weights, inputs, node);
        pieces(&mut |range| all.data[range].to_vec());
    }
}

/// Evaluates all nodes, except that every stop-gradient keeps its value in `frozen`, if that is given.
///
/// Training follows the gradient of this function: automatic differentiation with stop-gradients must agree with finite
/// differences of it around the point of `frozen`.
///
/// # Panics
/// If the values do not fit the network's parameters or inputs, or `frozen` is of another network.
pub fn evaluate_frozen(
    network: &Network,
    parameters: &[Values],
    inputs: &[Values],
    frozen: Option<&Evaluation>,
) -> Evaluation {
    let alike = frozen.is_none_or(|frozen| frozen.values.len() == network.nodes().len());
    assert!(alike, "an evaluation of another network");
    assert!(network.fits_parameters(parameters), "values of other shapes than the parameters");
    assert!(network.fits_inputs(inputs), "values of other shapes than the inputs");
    let mut values: Vec<Values> = Vec::with_capacity(network.nodes().len());
    for (id, node) in network.numbered_nodes() {
        let value = match (&node.op, frozen) {
            (Op::Parameter(id), _) => parameters[id.index()].clone(),
            (Op::Input(id), _) => inputs[id.index()].clone(),
            (Op::StopGradient(_), Some(frozen)) => frozen.value(id).clone(),
            (op, _) => apply(op, node.shape, &values),
        };
        values.push(value);
    }
    Evaluation { values, loss: network.loss() }
}

/// Computes the value of a node from the values of all nodes before it.
///
/// # Panics
/// If the node is a parameter or an input.
pub fn apply(op: &Op, shape: Shape, values: &[Values]) -> Values {
    let of = |node: &NodeId| &values[node.index()];
    let data = match op {
        Op::Parameter(_) | Op::Input(_) => unreachable!("fed by the caller"),
        Op::Constant(constant) => constant.data.clone(),
        Op::Linear(linear, a) => linear.apply(&of(a).data),
        Op::MatMul(a, b) => {
            let (left, right) = (of(a), of(b));
            let dot = |row: usize, col: usize| {
                (0..left.shape.cols).map(|k| left.at(row, k) * right.at(k, col)).sum()
            };
            (0..shape.len()).map(|i| dot(i / shape.cols, i % shape.cols)).collect()
        }
        Op::SumColumns(a) => (0..shape.rows).map(|row| of(a).row(row).iter().sum()).collect(),
        Op::SumAll(a) => vec![of(a).data.iter().sum()],
        Op::Shift(by, a) => {
            let entry = |i: usize| shifted(shape, *by, i).map_or(0.0, |from| of(a).data[from]);
            (0..shape.len()).map(entry).collect()
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
        entrywise => {
            let operands = entrywise.operands();
            let value = |slot: usize, i: usize| {
                let of = of(&operands[slot]);
                of.data[stretched(of.shape, shape, i)]
            };
            let at = |i: usize| entry(op, |slot| value(slot, i));
            (0..shape.len()).map(|i| at(i).expect("an entrywise operation")).collect()
        }
    };
    Values::new(shape, data)
}

/// Computes one entry of an entrywise operation from that of each operand, which `of` returns; `None` for other
/// operations.
pub fn entry(op: &Op, of: impl Fn(usize) -> f64) -> Option<f64> {
    Some(match op {
        Op::Sum(terms) => terms.iter().enumerate().fold(0.0, |sum, (slot, term)| sum + term.0 * of(slot)),
        Op::Product(..) => of(0) * of(1),
        Op::Quotient(..) => of(0) / of(1),
        Op::Relu(_) if of(0) > 0.0 => of(0),
        Op::Relu(_) => 0.0,
        Op::Sqrt(_) => of(0).sqrt(),
        Op::Reshape(_) | Op::StopGradient(_) => of(0),
        _ => return None,
    })
}

/// The entry of an operand that entry `index` uses when the operand is broadcast to this shape.
pub fn stretched(operand: Shape, shape: Shape, index: usize) -> usize {
    if operand == shape {
        return index;
    }
    let row = if operand.rows == 1 { 0 } else { index / shape.cols };
    let col = if operand.cols == 1 { 0 } else { index % shape.cols };
    row * operand.cols + col
}

/// The entry that moves to entry `index` if every row is shifted by this many columns to the right; `None` where a zero
/// enters.
pub fn shifted(shape: Shape, by: i64, index: usize) -> Option<usize> {
    let col = i64::try_from(index % shape.cols).ok()?.checked_sub(by)?;
    let col = usize::try_from(col).ok().filter(|&col| col < shape.cols)?;
    Some(index - index % shape.cols + col)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GraphBuilder, StepRule};

    const RATE: StepRule = StepRule::Gradient { rate: 1.0 };

    /// The value of the node that `build` makes from a 2 x 3 parameter and a 2 x 1 input.
    fn check(
        build: impl FnOnce(&mut GraphBuilder, NodeId, NodeId) -> NodeId,
        shape: Shape,
        expected: &[f64],
    ) {
        let mut g = GraphBuilder::new();
        let (_, matrix) = g.parameter("matrix", Shape::new(2, 3), RATE);
        let (_, column) = g.input("column", Shape::column(2));
        let node = build(&mut g, matrix, column);
        let loss = g.sum_all("loss", node);
        let network = g.finish(loss);
        let matrix = Values::new(Shape::new(2, 3), vec![1.0, -2.0, 4.0, 0.0, 16.0, -0.5]);
        let column = Values::column(vec![3.0, -1.0]);
        let evaluation = evaluate(&network, &[matrix], &[column]);
        assert_eq!(evaluation.value(node), &Values::new(shape, expected.to_vec()));
        let sum: f64 = expected.iter().sum();
        assert!((evaluation.loss() - sum).abs() < 1e-12);
    }

    #[test]
    fn entrywise() {
        let wide = Shape::new(2, 3);
        check(|g, m, _| g.relu("relu", m), wide, &[1.0, 0.0, 4.0, 0.0, 16.0, 0.0]);
        check(|g, m, c| g.product("product", m, c), wide, &[3.0, -6.0, 12.0, 0.0, -16.0, 0.5]);
        check(|g, m, _| g.square("square", m), wide, &[1.0, 4.0, 16.0, 0.0, 256.0, 0.25]);
        check(
            |g, m, c| g.sum("sum", [(2.0, m), (-1.0, c), (0.5, m)]),
            wide,
            &[-0.5, -8.0, 7.0, 1.0, 41.0, -0.25],
        );
        check(|g, m, _| g.affine("affine", -1.0, m, 2.0), wide, &[1.0, 4.0, -2.0, 2.0, -14.0, 2.5]);
        check(
            |g, m, _| {
                let relu = g.relu("relu", m);
                g.sqrt("sqrt", relu)
            },
            wide,
            &[1.0, 0.0, 2.0, 0.0, 4.0, 0.0],
        );
        check(|g, m, _| g.stop_gradient("stop", m), wide, &[1.0, -2.0, 4.0, 0.0, 16.0, -0.5]);
    }

    /// Bits that are computed piece by piece are those of the whole node, wherever numbers and pieces begin.
    #[test]
    fn rows_of_bits() {
        let format = "fix:8.4".parse().expect("a format");
        let (n_numbers, cols) = (700, 2 * PIECE + 100);
        let mut g = GraphBuilder::new();
        let (_, numbers) = g.input("numbers", Shape::column(n_numbers));
        let bits = g.quantize("bits", format, numbers);
        let n_bits = g.shape(bits).len();
        // Some in a row, gaps of several pieces, and none in the last piece of a row or in the last row.
        let places = (0..n_bits).map(|bit| (bit + bit / 1000 * 400 + bit / 3001 * 2000) as u32).collect();
        let last = 2 * cols as u32;
        let biases = vec![(0.5, vec![1, 5000, last + 7, last + 9]), (2.0, vec![last + 3, last + 7])];
        let map = LinearMap::placing(3 * cols, 3.0, places).with_bias_except(-1.0, biases);
        let cells = g.linear("cells", map, bits);
        let node = g.reshape("rows", Shape::new(3, cols), cells);
        let loss = g.sum_all("loss", node);
        let network = g.finish(loss);
        let data = (0..n_numbers).map(|i| (i * 7919 % 2048) as f64 / 16.0 - 64.0).collect();
        let inputs = [Values::column(data)];
        let whole = evaluate(&network, &[], &inputs);
        let mut pieces = Vec::new();
        evaluate_rows(&network, &[] as &[Values], &inputs, (node, 0..3), |row, first, numbers| {
            assert_eq!(pieces.len(), row * cols + first);
            pieces.extend_from_slice(numbers);
        });
        assert_eq!(&pieces, &whole.value(node).data);
        // No bit is placed in the last row.
        let mut changing = Vec::new();
        let changes = (node, changing_rows(&network, node));
        evaluate_rows(&network, &[] as &[Values], &inputs, changes, |_, _, numbers| {
            changing.extend_from_slice(numbers);
        });
        assert_eq!(changing, pieces[..2 * cols]);
        let (row, biases) = bias_rows(&network, node).next().expect("a row of biases");
        assert_eq!((row, biases.others()), (2, &[(3, 2.0), (7, 2.0), (9, 0.5)][..]));
        assert_eq!(biases.to_values().data, pieces[2 * cols..]);
    }

    #[test]
    fn rows_and_columns() {
        check(|g, m, _| g.sum_columns("rows", m), Shape::column(2), &[3.0, 15.5]);
        check(|g, m, _| g.sum_all("all", m), Shape::SCALAR, &[18.5]);
        check(
            |g, m, _| g.stack("stack", m, m),
            Shape::new(4, 3),
            &[1.0, -2.0, 4.0, 0.0, 16.0, -0.5, 1.0, -2.0, 4.0, 0.0, 16.0, -0.5],
        );
        check(|g, m, _| g.gather("gather", vec![5, 1, 1], m), Shape::column(3), &[-0.5, -2.0, -2.0]);
        check(
            |g, _, _| g.constant("constant", Values::column(vec![7.0, 8.0])),
            Shape::column(2),
            &[7.0, 8.0],
        );
    }

    #[test]
    fn linear_maps_weigh_and_add_their_bias() {
        let map =
            LinearMap::new(3, 2, [(0, 0, 2.0), (2, 1, -4.0), (2, 0, 1.0)]).with_bias(vec![0.0, 5.0, 1.0]);
        check(|g, _, c| g.linear("linear", map, c), Shape::column(3), &[6.0, 5.0, 8.0]);
    }

    #[test]
    fn shift_moves_to_the_right_and_loses_what_leaves() {
        let wide = Shape::new(2, 3);
        check(|g, m, _| g.shift("right", 1, m), wide, &[0.0, 1.0, -2.0, 0.0, 0.0, 16.0]);
        check(|g, m, _| g.shift("left", -1, m), wide, &[-2.0, 4.0, 0.0, 16.0, -0.5, 0.0]);
        check(|g, m, _| g.shift("none", 0, m), wide, &[1.0, -2.0, 4.0, 0.0, 16.0, -0.5]);
        check(|g, m, _| g.shift("far", 2, m), wide, &[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        for by in [3, -3, 4, i64::MAX, i64::MIN] {
            check(|g, m, _| g.shift("away", by, m), wide, &[0.0; 6]);
        }
        check(|g, _, c| g.shift("single column", 1, c), Shape::column(2), &[0.0; 2]);
    }

    #[test]
    fn select_does_not_see_the_other_branch() {
        for (level, expected) in [(1.0, 3.0), (0.0, -1.0), (-2.0, -1.0)] {
            check(
                |g, _, c| {
                    let condition = g.scalar("condition", level);
                    let (first, second) = (g.gather("first", vec![0], c), g.gather("second", vec![1], c));
                    g.select("select", condition, first, second)
                },
                Shape::SCALAR,
                &[expected],
            );
        }
        check(
            |g, _, c| {
                let (zero, second) = (g.scalar("zero", 0.0), g.gather("second", vec![1], c));
                let root = g.sqrt("not a number", second);
                let first = g.gather("first", vec![0], c);
                g.select("select", zero, root, first)
            },
            Shape::SCALAR,
            &[3.0],
        );
    }

    #[test]
    fn frozen_stop_gradients_do_not_follow_the_parameters() {
        let mut g = GraphBuilder::new();
        let (_, x) = g.parameter("x", Shape::SCALAR, RATE);
        let fixed = g.stop_gradient("[x]", x);
        let loss = g.product("loss", x, fixed);
        let network = g.finish(loss);
        let at = |x: f64| [Values::column(vec![x])];
        let base = evaluate(&network, &at(3.0), &[]);
        let moved = evaluate(&network, &at(5.0), &[]);
        let frozen = evaluate_frozen(&network, &at(5.0), &[], Some(&base));
        assert_eq!((base.loss(), moved.loss(), frozen.loss()), (9.0, 25.0, 15.0));
    }

    #[test]
    #[should_panic(expected = "other shapes than the parameters")]
    fn refuses_parameters_of_another_shape() {
        let mut g = GraphBuilder::new();
        let (_, x) = g.parameter("x", Shape::SCALAR, RATE);
        let _ = evaluate(&g.finish(x), &[Values::column(vec![1.0, 2.0])], &[]);
    }
}
