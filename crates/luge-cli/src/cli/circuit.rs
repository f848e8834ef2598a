//! Circuits in place of machines, for `luge run`, `luge inspect` and `luge convert`.

use luge::{
    JobError,
    job::is_circuit,
    mlp::{SampleStream, machine_circuit, until_halted},
    stream::{Draw, Samples},
};
use luge_circuit::{
    Circuit, Simulator,
    aiger::{self, Encoding},
};
use luge_landscape::mlp::{CircuitNetwork, Float, MlpConstants};
use luge_machine::{Input, Machine};

use crate::cli::command_prelude::*;

/// The seed of the samples.
const SEED: u64 = 0;

/// New inputs on which the output is tested.
const N_NEW: usize = 200;

/// Reads the circuit of a source, and prints its warnings; `None` if the source is no circuit. A circuit that ships takes as many bits
/// as its name says, otherwise `n_bits`.
pub(super) fn read(source: &Source, n_bits: Option<usize>) -> Result<Option<Circuit>, Failure> {
    if !is_circuit(source) {
        return Ok(None);
    }
    let loaded = source.read_circuit(n_bits)?;
    show_warnings(&loaded.warnings, source);
    Ok(Some(loaded.circuit))
}

/// Runs a circuit on a stream until it halts.
pub(super) fn run(circuit: &Circuit, draw: Option<Draw>, limit: Step, json: bool) -> Result<(), Failure> {
    let samples = samples(circuit, draw)?;
    let mut source = SampleStream::open(circuit.samples(), samples.as_ref(), SEED);
    let mut simulator = Simulator::new(circuit);
    let mut progress = Progress::new("running", limit);
    let halted = until_halted(&mut simulator, limit, |simulator| {
        progress.reach(simulator.steps());
        simulator.step(&source.next_sample().bits)
    })?;
    drop(progress);
    let mut right = None;
    if halted && samples.is_some() && !circuit.output().is_empty() {
        let mut n_right = 0;
        for _ in 0..N_NEW {
            let sample = source.next_sample().bits;
            let output = simulator.output(&sample.features);
            let output =
                output.map_err(|reason| JobError::NotExclusive { step: simulator.steps(), reason })?;
            n_right += usize::from(output == sample.label);
        }
        right = Some((n_right, N_NEW));
    }
    let registers = simulator.registers().iter().map(|&bit| if bit { '1' } else { '0' });
    let outcome = if halted { "halted" } else { "step limit" };
    let (cycles, samples) = (simulator.steps(), simulator.n_taken());
    let summary = object! {
        circuit: circuit.name(),
        outcome: outcome,
        cycles: cycles,
        samples: samples,
        right "if there are new inputs: those whose output is their label, of this many": right,
        registers: registers.collect::<String>(),
    };
    show_rows(json, &summary, |rows| {
        rows.row("outcome", outcome);
        let taken = circuit.samples().map(|_| format!(", {} samples taken", count(samples)));
        rows.row("cycles", format!("{}{}", count(cycles), taken.unwrap_or_default()));
        let ones = simulator.registers().iter().filter(|&&bit| bit).count();
        rows.row("registers", format!("{} of {} are 1", count(ones), count(circuit.registers().len())));
        if let Some((right, all)) = right {
            rows.row("new inputs", format!("{} of {} right", count(right), count(all)));
        }
    })
}

/// The samples of a circuit; `None` if it takes none.
fn samples(circuit: &Circuit, draw: Option<Draw>) -> Result<Option<Samples>, Failure> {
    let Some(shape) = circuit.samples() else { return Ok(None) };
    let draw = draw.ok_or_else(|| {
        let example = format!("give --draw, such as parity:bits={},hidden=2", shape.n_features);
        Failure::usage(format!("the circuit {} learns from samples", circuit.name()), example)
    })?;
    if draw.n_features != shape.n_features {
        let problem = format!(
            "the circuit's samples have {} features, those drawn {}",
            shape.n_features, draw.n_features
        );
        return Err(Failure::error(problem, "give another --draw, or a circuit for as many bits"));
    }
    Ok(Some(Samples::Draw(draw)))
}

/// The most operands, and the most registers and bits of a sample, of a circuit whose network is built to count its weights.
const MAX_COUNTED: (usize, usize) = (1 << 22, 1 << 16);

/// Shows the sizes of a circuit.
pub(super) fn inspect(circuit: &Circuit, json: bool) -> Result<(), Failure> {
    let size = circuit.size();
    let n_kept = size.n_registers + circuit.samples().map_or(0, |shape| shape.n_feature_bits());
    let counted = size.n_operands <= MAX_COUNTED.0 && n_kept <= MAX_COUNTED.1;
    // The number of steps changes the weights, but not their count.
    let network = || {
        let constants = MlpConstants::choose(circuit.samples(), 64, Float::F64).ok()?;
        let network = CircuitNetwork::build(circuit, constants).network;
        Some(object! {
            layers: network.layers().len(),
            widest: network.widths().into_iter().max().unwrap_or(0),
            weights: network.n_weights(),
            nonzero: network.n_nonzero(),
        })
    };
    let profile = object! {
        circuit: circuit.name(),
        samples: circuit.samples().map(|shape| shape.to_string()),
        registers: size.n_registers,
        ands: size.n_ands,
        sums: size.n_sums,
        parities: size.n_parities,
        // Bits of numbers.
        bits: size.n_bits,
        operands: size.n_operands,
        // Layers of logic.
        depth: size.depth,
        network "if it is not too large to be counted": counted.then(network).flatten(),
    };
    show_rows(json, &profile, |rows| {
        rows.row("circuit", profile.circuit);
        rows.row("samples", profile.samples.as_deref().unwrap_or("none"));
        rows.row("registers", count(profile.registers));
        let gates = [
            (profile.ands, "ands"),
            (profile.sums, "sums"),
            (profile.parities, "parities"),
            (profile.bits, "bits of numbers"),
        ];
        let there = gates.iter().filter(|gate| gate.0 > 0 || gate.1 != "bits of numbers");
        let gates: Vec<String> = there.map(|&(n, what)| format!("{} {what}", count(n))).collect();
        rows.row("gates", format!("{}, {} operands", gates.join(", "), count(profile.operands)));
        rows.row("logic", format!("{} layers of ands and parities", profile.depth));
        if let Some(network) = &profile.network {
            let (layers, widest) = (network.layers, count(network.widest));
            let widest = format!("{layers} layers of Linear and ReLU, the widest with {widest} units");
            let (weights, nonzero) = (count(network.weights), count(network.nonzero));
            rows.row("network", format!("{widest}; {weights} weights, {nonzero} are not 0"));
        }
    })
}

/// The AIGER encoding for a file of this name; `None` for a listing.
pub(super) fn encoding(out: &str) -> Option<Encoding> {
    match Path::new(out).extension()?.to_str()? {
        "aag" => Some(Encoding::Ascii),
        "aig" => Some(Encoding::Binary),
        _ => None,
    }
}

/// The bytes of a circuit's file.
pub(super) fn written(circuit: &Circuit, out: &str) -> Vec<u8> {
    encoding(out).map_or_else(|| circuit.to_string().into_bytes(), |encoding| aiger::write(circuit, encoding))
}

/// The circuit of a machine that halts, with the cells that its run visits.
pub(super) fn of_machine(machine: &Machine, input: Option<&Input>) -> Result<Circuit, Failure> {
    machine_circuit(machine, input.unwrap_or(&Input::blank()), None).map_err(|error| match error {
        JobError::DoesNotHalt(_) => Failure::error(
            error.to_string(),
            "a circuit has a register for each cell: give an input on which it halts",
        ),
        error => error.into(),
    })
}
