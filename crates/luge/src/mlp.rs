//! Runs circuits by plain SGD on an ordinary MLP: linear layers and ReLUs, every weight trained, one constant rate.
//!
//! [`PreparedMlp::new`] simulates the circuit on the stream, chooses constants for that many steps, and builds the network.
//! [`PreparedMlp::train`] trains it in lockstep with the simulator and certifies the run. docs/ordinary.md states the theorem.

mod certificate;
mod learner;
mod model;
mod onnx;
mod program;
mod torch;

use luge_circuit::{Circuit, Code, Cycle, NotExclusive, Sample, SampleShape, Simulator, machine};
use luge_landscape::mlp::{CircuitNetwork, Float, MlpConstants, Readout};
use luge_machine::{Input, Machine, Outcome, Step, lowering};
use luge_net::{NumberFormat, numbers::Overflow};
use luge_train::sequential::MAX_DENSE_WEIGHTS;

use crate::{
    job::{JobError, program::number_bits},
    run::{lockstep::Window, memory},
    stream::{Rehearsal, Samples, Stream, StreamEngineChoice, StreamOptions},
    trace::LONGEST_SEARCH,
};
pub use learner::{LearnerCircuit, Theta};
pub use model::{MlpCard, MlpModel};
pub use onnx::{MAX_ONNX_BYTES, onnx};
pub use program::CircuitProgram;
pub use torch::{MAX_EXPORTED_BYTES, TorchError, TorchExport};

/// A circuit's network, ready to be trained.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use luge::{
///     mlp::PreparedMlp,
///     stream::{Samples, StreamLandscape, StreamOptions},
/// };
///
/// // Which bits of four a parity counts, by a circuit that ships.
/// let samples = Samples::Draw("parity:bits=4,hidden=2".parse()?);
/// let circuit = luge_circuit::Shipped::Parity.circuit(4);
/// let options = StreamOptions::on(StreamLandscape::Mlp);
/// let prepared = PreparedMlp::new(circuit, Some(samples), options)?;
/// let report = prepared.train(|_| ControlFlow::Continue(()))?;
/// assert!(report.halted && report.certificate.proves_the_run());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PreparedMlp {
    /// The circuit.
    pub circuit: Circuit,
    /// Its network.
    pub network: CircuitNetwork,
    /// How to train.
    pub options: StreamOptions,
    /// The simulator's run on the same stream.
    pub rehearsal: Rehearsal,
    /// Which registers hold the learned numbers.
    pub theta: Option<Theta>,
    /// The program that the circuit was compiled from.
    pub program: Option<CircuitProgram>,
    readout: Option<Readout>,
    samples: Option<Samples>,
}

/// Weights times steps up to which dense training takes seconds.
const MAX_DENSE_WORK: u64 = 1 << 32;

impl PreparedMlp {
    /// Runs the simulator, chooses constants for that many steps, and builds the network.
    ///
    /// # Errors
    /// If circuit and stream do not fit together, or there are no constants for that many steps.
    pub fn new(
        learner: impl Into<LearnerCircuit>,
        samples: Option<Samples>,
        options: StreamOptions,
    ) -> Result<Self, JobError> {
        let learner = learner.into();
        let circuit = &learner.circuit;
        match (circuit.samples(), samples.as_ref().map(Samples::sizes)) {
            (None, None) => {}
            (Some(shape), Some(found)) => {
                let expected = (shape.n_features, shape.n_labels);
                if found != expected {
                    return Err(JobError::SampleShape { expected, found });
                }
            }
            (shape, _) => return Err(JobError::NeedsStream { takes: shape.is_some() }),
        }
        let hold = learner.program.as_ref().and_then(|program| program.hold);
        let mut stream = SampleStream::open(circuit.samples(), samples.as_ref(), options.seed).held(hold);
        let mut simulator = Simulator::new(circuit);
        let halted = until_halted(&mut simulator, options.steps, |simulator| {
            simulator.step(&stream.next_sample().bits)
        })?;
        let (steps, n_taken) = (simulator.steps(), simulator.n_taken());
        if learner.program.as_ref().is_some_and(|program| program.has_rejected(simulator.registers())) {
            return Err(JobError::SamplesRejected { steps, taken: n_taken });
        }
        let planned = (steps + options.after).next_power_of_two().max(64);
        let (network, readout) = network_of(&learner, planned, options.precision)?;
        let LearnerCircuit { circuit, theta, program } = learner;
        let rehearsal = Rehearsal { steps, n_taken, halted };
        Ok(Self { circuit, network, options, rehearsal, theta, program, readout, samples })
    }

    /// The engine that trains.
    pub fn engine(&self) -> StreamEngineChoice {
        let work = self.network.network.n_weights().saturating_mul(self.rehearsal.steps + self.options.after);
        let fits = self.network.network.n_weights() <= MAX_DENSE_WEIGHTS && work <= MAX_DENSE_WORK;
        self.options.engine.unwrap_or(if fits {
            StreamEngineChoice::Dense
        } else {
            StreamEngineChoice::Sparse
        })
    }

    /// The stream from its beginning.
    fn stream(&self) -> SampleStream {
        self.new_samples().held(self.program.as_ref().and_then(|program| program.hold))
    }

    /// The same with another sample at every step.
    fn new_samples(&self) -> SampleStream {
        SampleStream::open(self.circuit.samples(), self.samples.as_ref(), self.options.seed)
    }
}

/// Steps a circuit until it halts or reaches the limit, and returns whether it has halted.
///
/// # Errors
/// If a sum of the circuit has two operands that are 1.
pub fn until_halted<'c>(
    simulator: &mut Simulator<'c>,
    limit: Step,
    mut step: impl FnMut(&mut Simulator<'c>) -> Result<Cycle, NotExclusive>,
) -> Result<bool, JobError> {
    while simulator.steps() < limit {
        let at = simulator.steps();
        let cycle = step(simulator).map_err(|reason| JobError::NotExclusive { step: at, reason })?;
        if cycle == Cycle::Halted {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The network of a circuit, and the readout that it adds to the circuit's own output.
fn network_of(
    learner: &LearnerCircuit,
    planned: Step,
    float: Float,
) -> Result<(CircuitNetwork, Option<Readout>), JobError> {
    let circuit = &learner.circuit;
    let constants = MlpConstants::choose(circuit.samples(), planned, float)?;
    let readout = learner.theta.as_ref().and_then(|theta| theta.readout(circuit.samples()));
    let more = readout.clone().unwrap_or_default();
    let network = CircuitNetwork::build_with(circuit, &more, constants);
    Ok((network, readout))
}

/// Converts a machine with its input to a circuit that has the cells that the run needs.
///
/// # Errors
/// If the machine does not halt soon, or cannot be a circuit.
pub fn machine_circuit(machine: &Machine, input: &Input, steps: Option<Step>) -> Result<Circuit, JobError> {
    let lowered = lowering::lower(machine, lowering::Moves::Keep)?;
    let input = lowered.encode(input);
    let mut simulator = luge_machine::Simulator::new(lowered.normal.machine(), &input);
    let limit = steps.unwrap_or(LONGEST_SEARCH);
    let outcome = memory::run(&mut simulator, limit)?;
    if steps.is_none() && matches!(outcome, Outcome::StepLimit) {
        return Err(JobError::DoesNotHalt(limit));
    }
    let window = Window::around(&simulator, &input, |needed| needed)
        .map_err(|needed| JobError::TooFewCells { needed, given: 0 })?;
    let tapes = machine::Tapes { input: &input, cells: window.cells(), samples: None };
    Ok(machine::circuit_of(&lowered.normal, &tapes)?.0)
}

/// A sample, as numbers for the network and as bits for the simulator.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Passing {
    /// The features.
    pub x: Vec<f64>,
    /// The labels.
    pub y: Vec<f64>,
    /// Both as bits.
    pub bits: Sample,
}

/// A stream of samples in the code of a circuit.
#[derive(Clone, Debug)]
pub struct SampleStream {
    shape: Option<SampleShape>,
    stream: Option<Stream>,
    n_passed: u64,
    /// For how many steps each sample passes.
    hold: u64,
    now: Passing,
}

impl SampleStream {
    /// Opens the stream of a circuit with samples of this shape.
    pub fn open(shape: Option<SampleShape>, samples: Option<&Samples>, seed: u64) -> Self {
        let format = shape.map_or_else(|| format_of(Code::Bit), sample_format);
        let stream = samples.map(|samples| Stream::open(samples.clone(), format, seed));
        Self { shape, stream, n_passed: 0, hold: 1, now: Passing::default() }
    }

    /// Repeats each sample of the stream for this many steps.
    #[must_use]
    pub fn held(mut self, hold: Option<usize>) -> Self {
        self.hold = hold.map_or(1, |hold| hold.max(1) as u64);
        self
    }

    /// Continues with other samples of the same distribution.
    pub fn reseed(&mut self, seed: u64) {
        self.stream.iter_mut().for_each(|stream| stream.reseed(seed));
    }

    /// Returns the next sample.
    pub fn next_sample(&mut self) -> Passing {
        self.n_passed += 1;
        if self.hold > 1 && self.n_passed % self.hold != 1 {
            return self.now.clone();
        }
        let (Some(shape), Some(stream)) = (self.shape, &mut self.stream) else {
            // The circuit takes no samples, so input and labels have no meaning.
            let y = if self.n_passed.is_multiple_of(2) { 1.0 } else { -1.0 };
            return Passing { x: vec![1.0], y: vec![y], bits: Sample::default() };
        };
        let (mut x, mut y) = (vec![0.0; shape.n_features], vec![0.0; shape.n_labels]);
        stream.next_batch(&mut x, &mut y);
        let features = x.iter_mut().flat_map(|x| coded(shape.feature, x)).collect();
        let label = y.iter_mut().flat_map(|y| coded(shape.label, y)).collect();
        let passing = Passing { x, y, bits: Sample { features, label } };
        if self.hold > 1 {
            self.now.clone_from(&passing);
        }
        passing
    }
}

/// Rounds a number to one that the code can represent, and returns its bits.
fn coded(code: Code, value: &mut f64) -> Vec<bool> {
    if code == Code::Bit {
        *value = if *value > 0.0 { 1.0 } else { -1.0 };
        return vec![*value > 0.0];
    }
    let format = format_of(code);
    *value = format.round(*value, Overflow::Saturate).unwrap_or(0.0);
    number_bits(*value, format).collect()
}

/// Returns a format that holds features and labels of samples.
pub fn sample_format(shape: SampleShape) -> NumberFormat {
    let sizes = |code: Code| match code {
        Code::Bit => (2, 0),
        Code::Fixed { n_integer, n_fraction } => (n_integer, n_fraction),
    };
    let (a, b) = (sizes(shape.feature), sizes(shape.label));
    format_of(Code::Fixed { n_integer: a.0.max(b.0), n_fraction: a.1.max(b.1) })
}

/// Returns the number format of a code.
fn format_of(code: Code) -> NumberFormat {
    let text = match code {
        Code::Bit => "fix:2.0".to_owned(),
        Code::Fixed { .. } => code.to_string(),
    };
    text.parse().unwrap_or_else(|_| unreachable!("{text} is a format"))
}
