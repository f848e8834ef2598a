//! An ordinary network of linear layers and ReLUs: its biases as registers, and the same network with other weights.

use luge::{
    ordinary::{OrdinaryOptions, PreparedOrdinary, SampleStream},
    stream::Samples,
};
use luge_circuit::Shipped;
use luge_landscape::mlp::{Float, MEMORY_LAYER};
use luge_train::sequential::{DenseSgd, SequentialEngine, default_weights};
use serde::Serialize;

/// Bits of a sample, and how many of them count.
const DRAW: &str = "parity:bits=6,hidden=3";
const N_BITS: usize = 6;

/// New inputs on which a network is judged: of six bits, each comes about eight times.
const N_NEW: usize = 512;

/// Weights times steps of the network with other weights.
const MAX_WORK: u64 = 1 << 29;

/// Its rate; with the others that `luge compare parity` tries, it ends alike.
const RATE: f64 = 0.01;

/// Two trainings of one architecture on one stream.
#[derive(Debug, Serialize)]
pub(super) struct Ordinary {
    widths: Vec<usize>,
    n_weights: u64,
    /// Registers of the circuit by name, and how many biases of a layer hold each.
    registers: Vec<String>,
    /// The network with the learner in its initial weights, step by step.
    learner: Vec<Clock>,
    /// New inputs right, of [`N_NEW`], at the end.
    learner_right: usize,
    n_new: usize,
    hidden: Vec<f64>,
    /// The same layers with PyTorch's initial weights: steps, and new inputs right then.
    other: Vec<(u64, usize)>,
    other_rate: f64,
}

/// The network after a step of SGD.
#[derive(Debug, Serialize)]
struct Clock {
    /// The sample of the step that led here.
    x: Vec<f64>,
    y: f64,
    loss: f64,
    /// The biases of the memory's layer, one for each register.
    biases: Vec<f64>,
    /// What they stand for.
    registers: Vec<bool>,
}

impl Ordinary {
    pub(super) fn new(seed: u64) -> Result<Self, String> {
        let samples = Samples::Draw(DRAW.parse().map_err(|_| "no such stream")?);
        let options = OrdinaryOptions { seed, float: Float::F32, ..OrdinaryOptions::default() };
        let prepared = PreparedOrdinary::new(Shipped::Parity.circuit(N_BITS), Some(samples.clone()), options)
            .map_err(|error| error.to_string())?;
        let (network, shape) = (&prepared.network.network, prepared.circuit.samples());
        let open = || SampleStream::open(shape, Some(&samples), seed);
        let judge = |engine: &mut DenseSgd<f32>| {
            let mut stream = SampleStream::open(shape, Some(&samples), seed);
            stream.reseed(seed.wrapping_add(1));
            let right = |passing: luge::ordinary::Passing| engine.output(&passing.x)[0] * passing.y[0] > 0.0;
            (0..N_NEW).map(|_| stream.next_sample()).map(right).filter(|&right| right).count()
        };
        let rate = prepared.network.constants.rate;
        let mut engine = DenseSgd::<f32>::new(network, rate).map_err(|error| error.to_string())?;
        let (mut stream, mut learner) = (open(), Vec::new());
        for _ in 0..prepared.steps {
            let passing = stream.next_sample();
            let loss = engine.step(&passing.x, &passing.y);
            let biases = engine.biases(MEMORY_LAYER);
            let memory = prepared.network.decode(&biases).map_err(|error| error.to_string())?;
            learner.push(Clock { x: passing.x, y: passing.y[0], loss, biases, registers: memory.registers });
        }
        let learner_right = judge(&mut engine);
        let initial = default_weights(&network.widths(), seed);
        let mut control = DenseSgd::<f32>::new(&initial, RATE).map_err(|error| error.to_string())?;
        let steps = (MAX_WORK / network.n_weights()).clamp(prepared.steps, 4_000);
        let (mut stream, mut other) = (open(), vec![(0, judge(&mut control))]);
        for step in 1..=steps {
            let passing = stream.next_sample();
            control.step(&passing.x, &passing.y);
            if step == prepared.steps || step.is_multiple_of((steps / 8).max(1)) {
                other.push((step, judge(&mut control)));
            }
        }
        Ok(Self {
            widths: network.widths(),
            n_weights: network.n_weights(),
            registers: prepared.circuit.registers().iter().map(|register| register.name.clone()).collect(),
            learner,
            learner_right,
            n_new: N_NEW,
            hidden: luge::stream::Stream::open(
                samples.clone(),
                luge::ordinary::sample_format(shape.ok_or("no samples")?),
                seed,
            )
            .hidden()
            .to_vec(),
            other,
            other_rate: RATE,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_learner_finds_the_parity_and_other_weights_stay_near_chance() {
        let figure = Ordinary::new(0).expect("a figure");
        assert_eq!(figure.learner_right, N_NEW, "every new input is right");
        let (steps, right) = *figure.other.last().expect("a control");
        assert!(steps > figure.learner.len() as u64 && right < N_NEW * 7 / 10, "{right} after {steps}");
        assert_eq!(figure.registers.len(), figure.learner[0].registers.len());
    }
}
