//! Exports a network as JSON for other programs: every node, every weight, and how to train them.
//!
//! `docs/graph-format.md` describes the JSON. Deliberately absent are the machine, its states, the data, and the
//! expected number of steps: a program that trains the graph has only the network and its gradient.

use luge_landscape::{Extended, StreamNetwork};
use luge_net::{
    Network, NodeId, NumberFormat, Op, ParameterId, Shape, SparseValues, StepRule, numbers::Negatives,
};
use serde::{Serialize, Serializer};

use crate::object;

/// The version of the format for networks that are trained on a table.
pub const VERSION: u32 = 1;

/// The version for networks that are trained on a stream. It differs so that readers of the other version refuse them.
pub const STREAM_VERSION: u32 = 2;

/// What an operation needs in addition to its operands.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
enum Attributes {
    Parameter { parameter: String },
    Input { input: String },
    Constant { values: Vec<Number> },
    Linear { entries: Vec<(u32, u32, Number)>, bias: Vec<Number> },
    Sum { weights: Vec<Number> },
    Shift { by: i64 },
    Gather { positions: Vec<usize> },
    Bits { format: Format },
}

#[derive(Clone, PartialEq, Debug, Serialize)]
struct Format {
    text: String,
    #[serde(flatten)]
    fields: FormatFields,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum FormatFields {
    Fixed { integer_bits: u32, fraction_bits: u32, negatives: &'static str },
    Float { exponent_bits: u32, mantissa_bits: u32, bias: i32 },
}

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
            attributes: attributes(network, &node.op),
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

fn attributes(network: &Network, op: &Op) -> Option<Attributes> {
    Some(match op {
        Op::Parameter(id) => {
            Attributes::Parameter { parameter: network.parameters()[id.index()].name.clone() }
        }
        Op::Input(id) => Attributes::Input { input: network.inputs()[id.index()].name.clone() },
        Op::Constant(values) => Attributes::Constant { values: numbers(&values.data) },
        Op::Linear(map, _) => Attributes::Linear {
            entries: map.entries().iter().map(|&(row, col, weight)| (row, col, Number(weight))).collect(),
            bias: numbers(&map.bias()),
        },
        Op::Sum(terms) => {
            Attributes::Sum { weights: terms.iter().map(|&(weight, _)| Number(weight)).collect() }
        }
        Op::Shift(by, _) => Attributes::Shift { by: *by },
        Op::Gather(positions, _) => Attributes::Gather { positions: positions.clone() },
        Op::Quantize(format, _) | Op::Dequantize(format, _) => {
            Attributes::Bits { format: Format { text: format.to_string(), fields: format_fields(*format) } }
        }
        Op::Relu(_)
        | Op::Product(..)
        | Op::Quotient(..)
        | Op::MatMul(..)
        | Op::Sqrt(_)
        | Op::SumColumns(_)
        | Op::SumAll(_)
        | Op::Reshape(_)
        | Op::Stack(..)
        | Op::StopGradient(_)
        | Op::Switch { .. }
        | Op::Select { .. } => return None,
    })
}

fn format_fields(format: NumberFormat) -> FormatFields {
    match format {
        NumberFormat::Fixed(fixed) => FormatFields::Fixed {
            integer_bits: fixed.n_integer,
            fraction_bits: fixed.n_fraction,
            negatives: match fixed.negatives {
                Negatives::TwosComplement => "twos-complement",
                Negatives::SignMagnitude => "sign-magnitude",
            },
        },
        NumberFormat::Float(float) => FormatFields::Float {
            exponent_bits: float.n_exponent,
            mantissa_bits: float.n_mantissa,
            bias: float.bias(),
        },
    }
}

fn sides(shape: Shape) -> [usize; 2] {
    [shape.rows, shape.cols]
}

fn numbers(data: &[f64]) -> Vec<Number> {
    data.iter().copied().map(Number).collect()
}
