//! Exports a network and its machine for the checker in `proofs/`.
//!
//! The file ends with a theorem: the graph is the landscape `plain` or `compact` of the machine, or its network for streams, or the
//! frozen steps of an MLP are its circuit's. Rocq proves it by computation or rejects the file. What follows from the theorem, for
//! every input, is proved in `proofs/theories/Checker.v`, `CompactChecker.v`, `ModelChecker.v`, `Stopping.v`, `StreamChecker.v`
//! and `MlpSound.v`.

mod mlp;

use std::{collections::BTreeSet, fmt::Write};

use luge_landscape::{Control, Extended, Landscape, StreamNetwork};
use luge_machine::{Bits, Move};
use luge_net::{Carrier, Form, Network, Node, NodeId, NumberFormat, Op, OutputWiring, Ramp, Shape, StepRule};

pub use mlp::mlp;

/// The most items of a list in one definition: a longer list overflows the prover's parser.
const MAX_ITEMS: usize = 400;

/// A network as a file for Rocq, and the theorem that is proved if Rocq accepts the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProofExport {
    /// The file.
    pub text: String,
    /// The theorem about the network.
    pub theorem: Theorem,
}

/// A theorem of `proofs/` about networks that the checker accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Theorem {
    /// For a landscape `plain` alone.
    Plain,
    /// For a landscape `compact` alone.
    Compact,
    /// For an extended network whose own units convert the bits; these units are not checked.
    Extended,
    /// For an extended network, from the data to the output.
    Model,
    /// The same with the stop rule, for a primary network of affine layers.
    Stopping,
    /// For a network for streams.
    Stream,
    /// For an ordinary MLP.
    Mlp,
    /// For an ordinary MLP whose circuit promises that its sums are exclusive.
    MlpPromised,
}

impl Theorem {
    /// Its name in `proofs/theories`.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// Its name, the type of its claim about the network, and the check that proves the claim.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Plain => ("certified_trace", "claim", "certified"),
            Self::Compact => ("certified_compact_trace", "compact_claim", "certified_compact"),
            Self::Extended => ("certified_extended_run", "joint_claim", "certified_extended"),
            Self::Model => ("certified_model_run", "model_claim", "certified_model"),
            Self::Stopping => ("certified_stopping_run", "stop_claim", "certified_stopping"),
            Self::Stream => ("certified_stream_run", "stream_claim", "certified_stream"),
            Self::Mlp => ("certified_mlp_run", "mlp_claim", "certified_mlp"),
            Self::MlpPromised => ("fitting_mlp_run", "mlp_claim", "fitting_mlp"),
        }
    }

    /// What it says, in exact arithmetic.
    pub fn says(self) -> &'static str {
        match self {
            Self::Plain | Self::Compact => {
                "training runs this machine from every input, as long as it stays in its cells"
            }
            Self::Extended => {
                "if the labels are not too small (not all zero, without a label offset), training runs this machine on whatever tapes the units show, and ends with the primary network"
            }
            Self::Model => {
                "for all x and y of this shape whose labels are not too small (not all zero, without a label offset) and on which this machine halts in its cells, training runs it, and the network then outputs f_theta(x); when training stops is not proved"
            }
            Self::Stopping => {
                "for all x and y of this shape in the format's range whose labels are not too small (not all zero, without a label offset) and on which this machine halts in its cells, after k steps, training runs it, stops after k + 1 steps, and the network outputs f_theta(x)"
            }
            Self::Stream => {
                "for every stream of batches whose labels are in the format and no larger than the bound, SGD runs this machine as long as it stays in its cells; once it has halted, no batch moves a weight and the output is f_theta(x)"
            }
            Self::Mlp => {
                "for every stream of samples and every step up to the horizon, SGD on all weights keeps every register and slot within 1/8 of a bit of the circuit's and every other weight within the claimed bound of its start; once the circuit has halted the output is within the claimed error of f(x), if the circuit has an answer"
            }
            Self::MlpPromised => {
                "for every stream of samples on which no sum of the circuit has two operands that are 1, and every step up to the horizon, SGD on all weights keeps every register and slot within 1/8 of a bit of the circuit's and every other weight within the claimed bound of its start; once the circuit has halted the output is within the claimed error of f(x), if the circuit has an answer and its sums keep their promise on x"
            }
        }
    }
}

/// Exports a landscape alone, as `luge trace` trains it; `None` unless it is `plain` or `compact`.
pub fn landscape(landscape: &Landscape) -> Option<ProofExport> {
    let network = landscape.network();
    let form = network.sparse_layers().ok()?.form;
    let mut file = File::new(network, landscape.control()?, landscape.n_cells());
    let (theorem, claim) = match form {
        Form::Targets { offset, drop } => (Theorem::Plain, file.plain_claim(offset, drop)),
        Form::Slides { .. } => (Theorem::Compact, file.compact_claim(&form)?),
    };
    Some(file.finish(theorem, &claim))
}

/// Exports an extended network, as `luge train` trains it; `None` unless its landscape is `plain` or `compact` and its carrier
/// `offset`.
pub fn extended(extended: &Extended) -> Option<ProofExport> {
    let network = extended.network();
    let layers = network.sparse_layers().ok()?;
    let OutputWiring { label_offset, targets, initial, running, carrier: Carrier::Offset, primary, .. } =
        layers.output?
    else {
        return None;
    };
    let sides = shape(network.node(targets).shape);
    let n_cells = network.parameters()[layers.head.index()].shape.cols;
    let mut file = File::new(network, extended.control()?, n_cells);
    let claim = match layers.form {
        Form::Targets { offset, drop } => format!("(PlainTerrain {})", file.plain_claim(offset, drop)),
        Form::Slides { .. } => format!("(CompactTerrain {})", file.compact_claim(&layers.form)?),
    };
    let joint = [number(label_offset), ramp(running), ramp(initial), id(layers.fixed_cells?), id(primary)];
    let joint = format!("JointClaim {claim} {sides} {}", joint.join(" "));
    let read_only = layers.fixed_cells?;
    let wires = quantized(network, read_only)
        .and_then(|(format, x)| wires(network, (read_only, extended.nodes.theta), format, x));
    let (theorem, claim) = match wires {
        Some(wires) => {
            let model = format!("ModelClaim ({joint})\n  {wires}");
            if affine_layers(extended) {
                (Theorem::Stopping, format!("StopClaim ({model})\n  {}", number(extended.bounds().stop)))
            } else {
                (Theorem::Model, model)
            }
        }
        None => (Theorem::Extended, joint),
    };
    Some(file.finish(theorem, &claim))
}

/// Exports a network for streams; `None` unless its numbers are in fixed point.
pub fn stream(stream: &StreamNetwork) -> Option<ProofExport> {
    let (network, nodes, constants) = (&stream.network, &stream.nodes, &stream.constants);
    let &Op::Dequantize(format @ NumberFormat::Fixed(_), _) = &network.node(nodes.theta).op else {
        return None;
    };
    let control = stream.control();
    let wires = wires(network, (nodes.read_only, nodes.theta), format, nodes.features)?;
    let Op::Linear(uses, _) = &network.node(nodes.uses).op else { return None };
    let states = |row: u32| {
        let uses = uses.entries();
        let vertices = uses.iter().filter(|entry| entry.0 == row).map(|entry| entry.1 as usize);
        let states: BTreeSet<usize> = vertices.map(|vertex| control.state(vertex).index()).collect();
        list(states.iter().map(usize::to_string))
    };
    let mut file = File::new(network, control, network.node(nodes.read_only).shape.cols);
    let claim = [
        format!("StreamClaim {} {} {} {}", file.machine(), file.n_cells, states(0), states(1)),
        format!("  {} {wires}", shape(network.node(nodes.targets).shape)),
        format!(
            "  {} {} {} {}",
            number(constants.carrier),
            number(1.0 / constants.carrier),
            number(constants.label_bound),
            id(nodes.primary)
        ),
    ];
    Some(file.finish(Theorem::Stream, &claim.join("\n")))
}

/// Whether the primary network consists of affine layers and ReLUs, for which the checker finds the largest output.
fn affine_layers(extended: &Extended) -> bool {
    let mut nodes = extended.network().numbered_nodes().filter(|(id, _)| extended.is_primary(*id));
    nodes.all(|(_, node)| {
        matches!(node.op, Op::Gather(..) | Op::Reshape(_) | Op::MatMul(..) | Op::Sum(_) | Op::Relu(_))
    })
}

/// Finds the number format and the node of x; `None` if units of the network convert numbers.
fn quantized(network: &Network, read_only: NodeId) -> Option<(NumberFormat, NodeId)> {
    let op = |node: NodeId| &network.node(node).op;
    let &Op::Reshape(cells) = op(read_only) else { return None };
    let Op::Linear(_, bits) = op(cells) else { return None };
    let &Op::Quantize(format, numbers) = op(*bits) else { return None };
    let &Op::Gather(_, numbers) = op(numbers) else { return None };
    let &Op::Stack(features, _) = op(numbers) else { return None };
    let &Op::Reshape(x) = op(features) else { return None };
    Some((format, x))
}

/// Describes where the bits of the data lie, the other content of the read-only tapes, and where theta is read.
fn wires(
    network: &Network,
    (read_only, theta): (NodeId, NodeId),
    format: NumberFormat,
    x: NodeId,
) -> Option<String> {
    let op = |node: NodeId| &network.node(node).op;
    let n_cells = network.node(read_only).shape.cols;
    let &Op::Reshape(cells) = op(read_only) else { return None };
    let Op::Linear(map, _) = op(cells) else { return None };
    let &Op::Dequantize(_, theta_bits) = op(theta) else { return None };
    let &Op::StopGradient(theta_bits) = op(theta_bits) else { return None };
    let Op::Gather(positions, _) = op(theta_bits) else { return None };

    let first_bit = usize::try_from(map.entries().first()?.0).ok()?;
    let place = |at: usize| format!("{} {}", at / n_cells, at % n_cells);
    let bias = map.bias();
    let ones = |row: &[f64]| {
        let ones = row.iter().enumerate().filter(|&(_, &bias)| bias > 0.0);
        format!("ones {n_cells} {}", list(ones.map(|(cell, _)| cell.to_string())))
    };
    let blank: Vec<String> = bias.chunks(n_cells).map(ones).collect();
    Some(format!(
        "(Wires {} {} {} {} {} {})",
        number_format(format),
        shape(network.node(x).shape),
        place(first_bit),
        lines(&blank),
        place(*positions.first()?),
        network.node(theta).shape.rows
    ))
}

struct File<'a> {
    network: &'a Network,
    control: &'a Control,
    n_cells: usize,
    lists: Lists,
}

/// Definitions of parts of long lists.
#[derive(Default)]
struct Lists {
    text: String,
    n_lists: usize,
}

impl<'a> File<'a> {
    fn new(network: &'a Network, control: &'a Control, n_cells: usize) -> Self {
        Self { network, control, n_cells, lists: Lists::default() }
    }

    /// Machine, cells, c and Omega.
    fn plain_claim(&mut self, offset: f64, drop: f64) -> String {
        format!("(Claim {} {} {} {})", self.machine(), self.n_cells, number(offset), number(drop))
    }

    /// Machine, cells, the order of the sums over symbols, b, g, c and 1/g; `None` if edges are units of their own.
    fn compact_claim(&mut self, form: &Form) -> Option<String> {
        let &Form::Slides { offset, symbol, write, cell_rate, edge_units: false, .. } = form else {
            return None;
        };
        // The write residual weighs g/2, a symbol that stays -b g.
        let scale = 2.0 * write;
        let order = list((0..self.control.n_tapes()).map(|tape| self.control.row(tape).to_string()));
        let constants = [-symbol / scale, scale, offset, cell_rate].map(number).join(" ");
        Some(format!("(CompactClaim {} {} {order} {constants})", self.machine(), self.n_cells))
    }

    /// Every parameter, input and node.
    fn network(&mut self) -> String {
        let parameters = self.network.parameters().iter().map(|parameter| {
            let rule = match parameter.step_rule {
                StepRule::Simplex => "Simplex".to_owned(),
                StepRule::Gradient { rate } => format!("(Descent {})", number(rate)),
            };
            format!("ParameterOf {} {rule}", shape(parameter.shape))
        });
        let parameters = list(parameters);
        let inputs = list(self.network.inputs().iter().map(|input| shape(input.shape)));
        let network = self.network;
        let node = |node: &Node| format!("Node {} {}", shape(node.shape), self.operation(&node.op));
        let nodes: Vec<String> = network.nodes().iter().map(node).collect();
        format!(
            "network := Network\n  {parameters}\n  {inputs}\n  {}\n  {}",
            lines(&nodes),
            network.loss().index()
        )
    }

    fn finish(mut self, theorem: Theorem, claim: &str) -> ProofExport {
        let network = self.network();
        self.lists.export(theorem, claim, &network)
    }

    /// Defines the machine as a table of situations, with its tapes in the order of the network's rows.
    fn machine(&mut self) -> String {
        let n_tapes = self.control.n_tapes();
        let mut tapes: Vec<usize> = (0..n_tapes).collect();
        tapes.sort_by_key(|&tape| self.control.row(tape));
        let situations: Vec<String> = self
            .control
            .vertices()
            .map(|vertex| {
                let looked_at = |&tape: &usize| symbol(vertex.looks_at, vertex.reads, tape);
                let looks = list(tapes.iter().map(looked_at));
                let what = vertex.step.map_or("None".to_owned(), |step| {
                    let writes = list(tapes.iter().map(|&tape| symbol(step.known, step.write, tape)));
                    let moves = list(tapes.iter().map(|&tape| way(step.moves[tape])));
                    format!("(Some (Action {} {writes} {moves}))", step.next)
                });
                format!("Situation {} {looks} {what}", vertex.state.index())
            })
            .collect();
        let (states, writable) = (self.control.n_copied_states(), self.control.n_writable());
        let table = self.lists.long("situation", situations);
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.lists.text,
            "Definition claimed_machine : machine := Machine {states} {n_tapes} {writable} {table}.\n"
        );
        "claimed_machine".to_owned()
    }

    /// Writes an operation: its constructor, what it needs beside its operands, and the operands.
    fn operation(&mut self, op: &Op) -> String {
        let mut arguments = match op {
            Op::Parameter(p) => vec![p.index().to_string()],
            Op::Input(p) => vec![p.index().to_string()],
            Op::Constant(values) => vec![self.numbers(&values.data)],
            Op::Linear(map, _) => {
                let entries =
                    map.entries().iter().map(|&(r, c, w)| format!("arc {r} {c} {}", number(w))).collect();
                vec![self.lists.long("entry", entries), self.numbers(&map.bias())]
            }
            Op::Sum(terms) => {
                let terms = terms.iter().map(|&(w, a)| format!("({}, {})", number(w), id(a)));
                return format!("(OpSum {})", list(terms));
            }
            Op::Shift(by, _) => vec![format!("({by})")],
            Op::Gather(positions, _) => {
                vec![self.lists.long("nat", positions.iter().map(usize::to_string).collect())]
            }
            Op::Quantize(format, _) | Op::Dequantize(format, _) => vec![number_format(*format)],
            _ => Vec::new(),
        };
        arguments.extend(op.operands().into_iter().map(id));
        format!("(Op{} {})", constructor(op), arguments.join(" "))
    }

    fn numbers(&mut self, numbers: &[f64]) -> String {
        match numbers {
            [first, .., last] if numbers.iter().all(|n| n.to_bits() == first.to_bits()) => {
                format!("(nseq {} {})", numbers.len(), number(*last))
            }
            _ => self.lists.long("number", numbers.iter().map(|&n| number(n)).collect()),
        }
    }
}

impl Lists {
    /// Returns the whole file: the claim, the network with its type, and the theorem.
    fn export(&self, theorem: Theorem, claim: &str, network: &str) -> ProofExport {
        let (_, kind, check) = theorem.words();
        let text = format!(
            "Set Warnings \"-notation-overridden\".\nFrom Luge Require Import Export.\n\n{}\
             Definition claimed : {kind} := {claim}.\n\nDefinition exported : {network}.\n\n\
             Theorem checked : {check} claimed exported.\nProof. by vm_compute. Qed.\n",
            self.text
        );
        ProofExport { text, theorem }
    }

    /// Writes a list, in several definitions if it is long.
    fn long(&mut self, kind: &str, items: Vec<String>) -> String {
        if items.len() <= MAX_ITEMS {
            return if matches!(kind, "situation" | "neuron") { lines(&items) } else { list(items) };
        }
        let mut names = Vec::new();
        for part in items.chunks(MAX_ITEMS) {
            let name = format!("part_{}", self.n_lists);
            self.n_lists += 1;
            let part = list(part.iter().cloned());
            // Writing to a string cannot fail.
            let _ = writeln!(self.text, "Definition {name} : seq {kind} := {part}.\n");
            names.push(name);
        }
        format!("({})", names.join(" ++ "))
    }
}

/// The name of an operation in `proofs/`, without `Op`.
fn constructor(op: &Op) -> String {
    match op {
        Op::Sqrt(_) => "Root".to_owned(),
        Op::StopGradient(_) => "Stop".to_owned(),
        _ => op.word().split('-').map(|part| part[..1].to_uppercase() + &part[1..]).collect(),
    }
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<String> = items.into_iter().collect();
    format!("[:: {}]", items.join("; "))
}

/// A list with one item per line.
fn lines(items: &[String]) -> String {
    format!("[:: {}]", items.join(";\n     "))
}

/// The symbol on a tape, if it is known.
fn symbol(known: Bits, symbols: Bits, tape: usize) -> String {
    if known.get(tape) { format!("Some {}", symbols.get(tape)) } else { "None".to_owned() }
}

fn way(way: Move) -> String {
    match way {
        Move::Left => "Left",
        Move::Stay => "Stay",
        Move::Right => "Right",
    }
    .to_owned()
}

fn id(node: NodeId) -> String {
    node.index().to_string()
}

fn shape(shape: Shape) -> String {
    format!("({}, {})", shape.rows, shape.cols)
}

/// The start of a ramp, and its slope as stored in the network.
fn ramp(ramp: Ramp) -> String {
    format!("{} {}", number(ramp.zero), number(ramp.slope))
}

fn number_format(format: NumberFormat) -> String {
    use luge_net::numbers::Negatives;
    match format {
        NumberFormat::Fixed(fixed) => format!(
            "(Fixed {} {} {})",
            fixed.n_integer,
            fixed.n_fraction,
            fixed.negatives == Negatives::SignMagnitude
        ),
        NumberFormat::Float(float) => {
            format!("(Float {} {} ({}))", float.n_exponent, float.n_mantissa, float.bias())
        }
    }
}

/// Writes a finite f64 exactly: an integer that is halved as often as necessary.
fn number(value: f64) -> String {
    let (mantissa, power) = halves(value);
    match power {
        _ if mantissa == 0 => "zero".to_owned(),
        0 if mantissa.abs() == 1 => if mantissa < 0 { "minus_one" } else { "one" }.to_owned(),
        ..0 => format!("(Number ({mantissa}) {})", -power),
        0..=10 => format!("(Number ({}) 0)", mantissa << power),
        _ => format!("(Number ({mantissa} * 2 ^ {power}) 0)"),
    }
}

/// Splits a finite f64 into an odd number, or 0, and the exponent of a power of two.
fn halves(value: f64) -> (i64, i32) {
    if value == 0.0 {
        return (0, 0);
    }
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)).cast_signed();
    let (mantissa, power) =
        if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    let trailing = mantissa.trailing_zeros();
    let mantissa = mantissa >> trailing;
    (if value < 0.0 { -mantissa } else { mantissa }, power + trailing.cast_signed())
}
