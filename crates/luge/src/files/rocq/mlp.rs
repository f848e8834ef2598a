//! Exports a circuit and its ordinary MLP, with the constants of theorem 5 of `proofs/`.
//!
//! Rocq computes the theorem's bounds from the sizes that are claimed here and traverses the network once, for all states and
//! inputs together; it rejects sizes that are too small.

use luge_circuit::{Circuit, Code, Gate, Input, Literal};
use luge_landscape::mlp::{CircuitNetwork, MEMORY_LAYER, MlpConstants};
use luge_landscape::power_of_two_from;
use luge_net::{LinearLayer, Sequential};

use super::{Lists, ProofExport, Theorem, lines, list, number};

/// The states of a circuit that takes samples are listed if its registers and features have no more bits.
const LISTED_BITS: usize = 10;
/// A bound on the activations of networks that are checked.
const LARGEST_ACTIVATION: f64 = 65_536.0;
/// How far inputs of the memory's layer may move from their initial values.
const INPUT_RADIUS: f64 = f64::from_bits((1023 - 120) << 52);
/// The largest error of a bit of the input.
const QUERY_SLACK: f64 = f64::from_bits((1023 - 80) << 52);
/// The largest error of a bit of the logic.
const LOGIC_SLACK: f64 = f64::from_bits((1023 - 40) << 52);
/// The smallest distance to a kink.
const MARGIN: f64 = 1.0 / 16.0;
/// The largest error of the output while the circuit runs.
const OUTPUT_ERROR: f64 = 1.0 / (1_u64 << 21) as f64;
/// The largest error of the output once the circuit has halted.
const ANSWER_ERROR: f64 = 1.0 / (1_u64 << 20) as f64;

/// Exports a circuit's network; `None` unless its samples, if any, are bits with one label, and its gates are ands, sums and
/// parities.
pub fn mlp(circuit: &Circuit, network: &CircuitNetwork) -> Option<ProofExport> {
    let mut lists = Lists::default();
    let samples = circuit.samples();
    if samples.is_some_and(|shape| (shape.feature, shape.n_labels, shape.label) != (Code::Bit, 1, Code::Bit))
    {
        return None;
    }
    let gates = circuit.gates().iter().map(gate).collect::<Option<Vec<_>>>()?;
    let gates = lists.long("gate", gates);
    let registers = circuit
        .registers()
        .iter()
        .map(|register| format!("({}, {})", register.initial, literal(register.target)));
    let registers = lists.long("(bool * literal)", registers.collect());
    let answer = match circuit.output() {
        [] => "None".to_owned(),
        [bit] => format!("(Some ({}))", literal(*bit)),
        _ => return None,
    };
    let n_features = samples.map_or(1, |shape| shape.n_features);
    let circuit_text = format!(
        "Circuit {n_features} {} {gates}\n  {registers}\n  ({}) ({}) {answer}",
        samples.is_some(),
        literal(circuit.next()),
        literal(circuit.halted())
    );
    let n_slots = samples.map_or(0, |shape| shape.n_features + 1);
    let sizes = sizes(&network.network, &network.constants, circuit.registers().len() + n_slots, n_slots);
    // If the list of all states is short, it proves that sums are exclusive.
    let sums = circuit.gates().iter().any(|gate| matches!(gate, Gate::Sum(_)));
    let listed = samples.is_none_or(|shape| circuit.registers().len() + shape.n_features <= LISTED_BITS);
    let theorem = if !sums || listed { Theorem::Mlp } else { Theorem::MlpPromised };
    let layers: Vec<String> = network.network.layers().iter().map(|layer| units(&mut lists, layer)).collect();
    let claim = format!("MlpClaim\n  ({circuit_text})\n  {}\n  {sizes}", logic(&network.constants));
    Some(lists.export(theorem, &claim, &format!("seq layer :=\n  {}", lines(&layers))))
}

/// Writes the constants of the construction, and the scale of the inputs.
fn logic(constants: &MlpConstants) -> String {
    let MlpConstants { carrier, slope, input_scale, .. } = *constants;
    let fields = [carrier, slope, 2.0 / input_scale, QUERY_SLACK, LOGIC_SLACK].map(number);
    format!("(LogicConstants {}) {}", fields.join(" "), number(input_scale))
}

fn gate(gate: &Gate) -> Option<String> {
    let operands = |kind: &str, operands: &[Literal]| {
        Some(format!("{kind} {}", list(operands.iter().copied().map(literal))))
    };
    match gate {
        Gate::False => Some("Never".to_owned()),
        Gate::Register(register) => Some(format!("OfRegister {}", register.index())),
        Gate::Input(Input::Feature(bit)) => Some(format!("OfFeature {bit}")),
        Gate::Input(Input::Label(_)) => Some("OfLabel".to_owned()),
        Gate::Input(Input::Query(bit)) => Some(format!("OfQuery {bit}")),
        Gate::And(of) => operands("AllOf", of),
        Gate::Sum(of) => operands("AnyOf", of),
        Gate::Parity(of) => operands("OddOf", of),
        Gate::Bit(..) => None,
    }
}

fn literal(literal: Literal) -> String {
    format!("{} {}", if literal.negated { "no" } else { "yes" }, literal.wire.index())
}

fn units(lists: &mut Lists, layer: &LinearLayer) -> String {
    let unit = |(unit, bias): (usize, &f64)| {
        let weights = layer.terms(unit).map(|(from, weight)| format!("({from}, {})", number(weight)));
        format!("({}, {})", number(*bias), list(weights))
    };
    lists.long("neuron", layer.biases().iter().enumerate().map(unit).collect())
}

/// Writes the sizes of theorem 5 as the fields of `MlpClaim`, with generous bounds where the network does not determine them.
fn sizes(network: &Sequential, constants: &MlpConstants, n_memory: usize, n_slots: usize) -> String {
    let MlpConstants { carrier, slope, memory_scale: scale, rate, steps, .. } = *constants;
    let widest = network.widths().into_iter().max().unwrap_or(1) as f64;
    let layers = network.layers();
    let column = |layer: usize, from: &dyn Fn(usize) -> bool, to: &dyn Fn(usize) -> bool| {
        let mut columns = vec![0.0; layers[layer].n_inputs()];
        for unit in (0..layers[layer].n_units()).filter(|&unit| to(unit)) {
            layers[layer].terms(unit).filter(|term| from(term.0)).for_each(|(at, w)| columns[at] += w.abs());
        }
        power_of_two_from(columns.into_iter().fold(0.0, f64::max) + 1.0)
    };
    let any = |_: usize| true;
    let not_memory = |unit: usize| unit >= n_memory;
    let after = |layer: usize| {
        if layer == MEMORY_LAYER + 1 { column(layer, &not_memory, &any) } else { column(layer, &any, &any) }
    };
    let columns: Vec<f64> = [1.0].into_iter().chain((MEMORY_LAYER + 1..layers.len()).map(after)).collect();
    let first_column = column(MEMORY_LAYER, &any, &not_memory);
    let largest_input = layers[0].biases().iter().enumerate().fold(0.0, |most: f64, (unit, bias)| {
        most.max(bias.abs() + layers[0].terms(unit).map(|term| term.1.abs()).sum::<f64>())
    });
    let (input, residual) = (2.0 * largest_input, 2.0 * carrier);
    let (memory_slope, tangent) =
        (4.0 * (carrier * slope) / scale, power_of_two_from(widest) * (1_u64 << 40) as f64 / scale);
    let frozen_error =
        2.0 * scale * (8.0 / carrier).max(power_of_two_from(n_slots.max(1) as f64) * carrier * slope);
    // How far the weights from the inputs into the memory move, and all others.
    let drift = steps as f64 * rate * residual * columns.iter().product::<f64>() * 2.0 * LARGEST_ACTIVATION;
    let drift = (4.0 * steps as f64 * scale * input).max(power_of_two_from(4.0 * first_column * drift));
    let fields = [
        first_column,
        input,
        LARGEST_ACTIVATION,
        residual,
        memory_slope,
        tangent,
        2.0 * scale,
        frozen_error,
        scale / 8.0,
        MARGIN,
        INPUT_RADIUS,
        OUTPUT_ERROR,
        drift,
        ANSWER_ERROR,
    ];
    let rates = [scale, rate, rate / scale].map(number).join(" ");
    format!(
        "{rates} {steps}\n  {}\n  {}",
        list(columns.into_iter().map(number)),
        fields.map(number).join(" ")
    )
}
