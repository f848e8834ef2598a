//! Exports a network as JSON for other programs: every node, every weight, and how to train them.
//!
//! `docs/graph-format.md` describes the JSON. Deliberately absent are the machine, its states, the data, and the
//! expected number of steps: a program that trains the graph has only the network and its gradient.

use luge_landscape::{Extended, StreamNetwork};
use luge_net::{
    Network, NodeId, NumberFormat, Op, ParameterId, Shape, SparseValues, StepRule,
    numbers::{FixedPoint, Negatives, SmallFloat},
};
use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::object;

/// The version of the format for networks that are trained on a table.
pub const VERSION: u32 = 1;

/// The version for networks that are trained on a stream. It differs so that readers of the other version refuse them.
pub const STREAM_VERSION: u32 = 2;

/// A number that may be infinite or NaN, which JSON writes as strings.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            number if number.is_finite() => serializer.serialize_f64(number),
            number if number.is_nan() => serializer.serialize_str("nan"),
            number if number > 0.0 => serializer.serialize_str("inf"),
            _ => serializer.serialize_str("-inf"),
        }
    }
}

/// Exports an extended network, with the parameters that training starts from.
pub fn graph(extended: &Extended) -> impl Serialize {
    let (nodes, vertex) = (extended.nodes, extended.vertex());
    object! {
        #[serde(flatten)]
        graph: whole(extended.network(), VERSION, extended.initial(), (nodes.theta, nodes.out), vertex),
        stop: object! { loss_at_most: Number(extended.bounds().stop), not_before: Extended::FIRST_STOP },
    }
}

/// Exports a network that learns from a stream: every step has new inputs, and nothing stops training.
pub fn stream_graph(stream: &StreamNetwork) -> impl Serialize {
    let (network, nodes) = (&stream.network, &stream.nodes);
    let initial: Vec<SparseValues> = stream.initial.iter().map(Into::into).collect();
    object! {
        #[serde(flatten)]
        graph: whole(network, STREAM_VERSION, &initial, (nodes.theta, nodes.out), stream.vertex()),
        per_step: network.inputs().iter().map(|input| &input.name).collect::<Vec<_>>(),
    }
}

fn whole<'n>(
    network: &'n Network,
    version: u32,
    initial: &[SparseValues],
    (theta, out): (NodeId, NodeId),
    vertex: ParameterId,
) -> impl Serialize + use<'n> {
    let inputs =
        network.inputs().iter().map(|input| object! { name: &input.name, shape: sides(input.shape) });
    let parameters = network.parameters().iter().zip(initial).map(|(parameter, initial)| {
        let (rule, rate) = match parameter.step_rule {
            StepRule::Simplex => ("simplex", None),
            StepRule::Gradient { rate } => ("gradient", Some(rate)),
        };
        object! {
            name: &parameter.name,
            shape: sides(parameter.shape),
            step: object! { rule: rule, rate "of gradient steps": rate.map(Number) },
            initial: numbers(&initial.to_values().data),
        }
    });
    let nodes = network.nodes().iter().map(|node| {
        object! {
            name: &node.name,
            op: node.op.word(),
            shape: sides(node.shape),
            operands: node.op.operands().iter().map(|operand| operand.index()).collect::<Vec<_>>(),
            #[serde(flatten)]
            attributes: Attributes(network, &node.op),
        }
    });
    object! {
        format: "luge-graph",
        version: version,
        inputs: inputs.collect::<Vec<_>>(),
        parameters: parameters.collect::<Vec<_>>(),
        nodes: nodes.collect::<Vec<_>>(),
        loss: network.loss().index(),
        theta: theta.index(),
        out: out.index(),
        vertex: &network.parameters()[vertex.index()].name,
    }
}

/// What an operation needs in addition to its operands.
struct Attributes<'n>(&'n Network, &'n Op);

impl Serialize for Attributes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(network, op) = *self;
        let mut map = serializer.serialize_map(None)?;
        match op {
            Op::Parameter(id) => map.serialize_entry("parameter", &network.parameters()[id.index()].name)?,
            Op::Input(id) => map.serialize_entry("input", &network.inputs()[id.index()].name)?,
            Op::Constant(values) => map.serialize_entry("values", &numbers(&values.data))?,
            Op::Linear(linear, _) => {
                let entry = |(row, col, weight)| (row, col, Number(weight));
                let entries: Vec<_> = linear.entries().iter().copied().map(entry).collect();
                map.serialize_entry("entries", &entries)?;
                map.serialize_entry("bias", &numbers(&linear.bias()))?;
            }
            Op::Sum(terms) => {
                let weights: Vec<Number> = terms.iter().map(|&(weight, _)| Number(weight)).collect();
                map.serialize_entry("weights", &weights)?;
            }
            Op::Shift(by, _) => map.serialize_entry("by", by)?,
            Op::Gather(positions, _) => map.serialize_entry("positions", positions)?,
            Op::Quantize(format, _) | Op::Dequantize(format, _) => match format {
                NumberFormat::Fixed(fixed) => map.serialize_entry("format", &fixed_format(*fixed))?,
                NumberFormat::Float(float) => map.serialize_entry("format", &float_format(*float))?,
            },
            _ => {}
        }
        map.end()
    }
}

fn fixed_format(format: FixedPoint) -> impl Serialize {
    object! {
        text: NumberFormat::Fixed(format).to_string(),
        kind: "fixed",
        integer_bits: format.n_integer,
        fraction_bits: format.n_fraction,
        negatives: match format.negatives {
            Negatives::TwosComplement => "twos-complement",
            Negatives::SignMagnitude => "sign-magnitude",
        },
    }
}

fn float_format(format: SmallFloat) -> impl Serialize {
    object! {
        text: NumberFormat::Float(format).to_string(),
        kind: "float",
        exponent_bits: format.n_exponent,
        mantissa_bits: format.n_mantissa,
        bias: format.bias(),
    }
}

fn sides(shape: Shape) -> [usize; 2] {
    [shape.rows, shape.cols]
}

fn numbers(data: &[f64]) -> Vec<Number> {
    data.iter().copied().map(Number).collect()
}
