//! An ordinary network of linear layers and ReLUs: its biases as registers, and the same layers with random weights.

use luge::{
    mlp::{Passing, PreparedMlp, SampleStream, sample_format},
    stream::{Stream, StreamLandscape, StreamOptions},
};
use luge_circuit::Shipped;
use luge_landscape::mlp::{Float, MEMORY_LAYER};
use luge_train::sequential::{DenseSgd, SequentialEngine, default_weights};

use super::*;

/// The samples: six bits, of which three count.
const DRAW: &str = "parity:bits=6,hidden=3";
const N_BITS: usize = 6;

/// New inputs on which a network is tested. With six bits, each occurs about eight times.
const N_NEW: usize = 512;

/// The most weights times steps of the network with random weights.
const MAX_WORK: u64 = 1 << 29;

/// Its rate; the other rates of `luge compare parity` give the same result.
const RATE: f64 = 0.01;

/// Trains an ordinary network with a learner in its initial weights, and the same layers with random ones.
pub(super) fn ordinary(seed: u64) -> FigureResult {
    let samples = Samples::Draw(DRAW.parse::<Draw>()?);
    let options = StreamOptions { seed, precision: Float::F32, ..StreamOptions::on(StreamLandscape::Mlp) };
    let prepared = PreparedMlp::new(Shipped::Parity.circuit(N_BITS), Some(samples.clone()), options)?;
    let (network, shape) = (&prepared.network.network, prepared.circuit.samples());
    let open = || SampleStream::open(shape, Some(&samples), seed);
    let judge = |engine: &mut DenseSgd<f32>| {
        let mut stream = SampleStream::open(shape, Some(&samples), seed);
        stream.reseed(seed.wrapping_add(1));
        let right = |passing: Passing| engine.output(&passing.x)[0] * passing.y[0] > 0.0;
        (0..N_NEW).map(|_| stream.next_sample()).map(right).filter(|&right| right).count()
    };
    let rate = prepared.network.constants.rate;
    let mut engine = DenseSgd::<f32>::new(network, rate)?;
    let (mut stream, mut learner) = (open(), Vec::new());
    for _ in 0..prepared.rehearsal.steps {
        let passing = stream.next_sample();
        let loss = engine.step(&passing.x, &passing.y);
        let biases = engine.biases(MEMORY_LAYER);
        let memory = prepared.network.decode(&biases)?;
        learner.push(json!({
            // The sample of the step that led here.
            "x": passing.x,
            "y": passing.y[0],
            "loss": loss,
            // The biases of the memory's layer, one for each register, and the registers that they encode.
            "biases": biases,
            "registers": memory.registers,
        }));
    }
    let learner_right = judge(&mut engine);
    let initial = default_weights(&network.widths(), seed);
    let mut control = DenseSgd::<f32>::new(&initial, RATE)?;
    let steps = (MAX_WORK / network.n_weights()).clamp(prepared.rehearsal.steps, 4_000);
    let (mut stream, mut other) = (open(), vec![(0, judge(&mut control))]);
    for step in 1..=steps {
        let passing = stream.next_sample();
        control.step(&passing.x, &passing.y);
        if step == prepared.rehearsal.steps || step.is_multiple_of((steps / 8).max(1)) {
            other.push((step, judge(&mut control)));
        }
    }
    let format = sample_format(shape.ok_or("no samples")?);
    let names = prepared.circuit.registers().iter().map(|register| &register.name);
    Ok(json!({
        "widths": network.widths(),
        "n_weights": network.n_weights(),
        "registers": names.collect::<Vec<_>>(),
        // The network with the learner in its initial weights, step by step, and new inputs right at the end.
        "learner": learner,
        "learner_right": learner_right,
        "n_new": N_NEW,
        "hidden": Stream::open(samples.clone(), format, seed).hidden(),
        // The same layers with PyTorch's initial weights: steps, and new inputs right then.
        "other": other,
        "other_rate": RATE,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_learner_finds_the_parity_and_other_weights_stay_near_chance() {
        let figure = ordinary(0).expect("a figure");
        assert_eq!(figure["learner_right"], N_NEW, "every new input is right");
        let [learner, other, registers] =
            ["learner", "other", "registers"].map(|list| figure[list].as_array().expect("a list"));
        let last = other.last().expect("a control");
        let (steps, right) = (last[0].as_u64().expect("steps"), last[1].as_u64().expect("a count"));
        assert!(steps > learner.len() as u64 && right < N_NEW as u64 * 7 / 10, "{right} after {steps}");
        assert_eq!(Some(registers.len()), learner[0]["registers"].as_array().map(Vec::len));
    }
}
