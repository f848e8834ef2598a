//! Learning from a stream: every gradient step sees a new batch, and depends only on that batch and the weights.
//!
//! A [`StreamJob`] works like every job: it reads the learner, opens the stream and builds the network
//! ([`StreamJob::prepare`]), then trains it in lockstep with the simulator on the same stream and certifies the run
//! ([`PreparedStream::train`]).

pub(crate) mod certificate;
mod checker;
mod engine;
mod job;
mod model;
mod narrow;
mod options;
mod rule;
mod run;
mod samples;
mod snapshot;

use std::{ops::ControlFlow, sync::Arc};

use luge_circuit::{Code, Literal, RegisterId, SampleShape, machine};
use luge_landscape::{
    Bounds, Corrections, DataLayout, Learner, Primary, StreamConstants, StreamError, StreamNetwork,
};
use luge_machine::{
    Input, Outcome, Simulator, Step, SymbolId,
    stream::{Batch, StreamOutcome, StreamSimulator},
};
use luge_net::{
    NumberFormat, StreamLayers,
    numbers::{Negatives, Overflow},
    stream_layers,
};
use luge_train::{Snapshot, TrainError};

use crate::{
    job::{JobError, program::SizedSource},
    mlp::{CircuitProgram, LearnerCircuit, Theta},
    run::lockstep::Window,
    training::read_theta,
};
pub use certificate::StreamReport;
pub use job::StreamJob;
pub(crate) use model::StoredSamples;
pub use model::{StreamCard, StreamModel};
pub use options::{StreamEngineChoice, StreamLandscape, StreamOptions, Via};
pub use samples::{Concept, Draw, NotDrawable, Order, Samples, Stream};

/// A network for a stream, ready to be trained.
pub struct PreparedStream {
    /// The learner.
    pub learner: Learner,
    /// The primary network.
    pub primary: Arc<dyn Primary>,
    /// How to train.
    pub options: StreamOptions,
    /// Which cells the network holds.
    pub window: Window,
    /// The network.
    pub network: StreamNetwork,
    /// The simulator's run on the stream.
    pub rehearsal: Rehearsal,
    /// The layers of the network.
    layers: StreamLayers,
    /// The program that the learner was compiled from.
    program: Option<SizedSource>,
    samples: Samples,
    layout: DataLayout,
    input: Input,
}

/// The state of a run just before one of its steps.
#[derive(Clone, Copy)]
pub struct StreamMoment<'a> {
    /// Steps made so far.
    pub step: Step,
    /// The network's loss on the current batch: half the squared distance of A from its labels. NaN on landscape mlp.
    pub loss: f64,
    /// The weights, to resume from; `None` on landscape mlp.
    pub snapshot: &'a dyn Fn() -> Option<Snapshot>,
}

/// The simulator's run on the stream before training.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rehearsal {
    /// Steps until the learner halted, or the step limit.
    pub steps: Step,
    /// Batches taken.
    pub n_taken: u64,
    /// Whether the learner halted.
    pub halted: bool,
}

/// Builds the network of a learner on a window of cells.
fn network(
    learner: &Learner,
    primary: &dyn Primary,
    options: &StreamOptions,
    (layout, window): (&DataLayout, &Window),
    label_bound: Option<f64>,
) -> Result<StreamNetwork, JobError> {
    let options = luge_landscape::StreamOptions {
        vertices: options.vertices,
        n_cells: window.n_cells,
        first_cells: window.first.clone(),
        layout: layout.clone(),
        label_bound: options.label_bound.or(label_bound),
        carrier: options.carrier,
        corrections: Corrections::default(),
    };
    let network = StreamNetwork::build(learner, primary, &options)?;
    network.constants.check_rounding(53).map_err(StreamError::from)?;
    Ok(network)
}

impl PreparedStream {
    /// Prepares a learner, a primary network and samples.
    ///
    /// # Errors
    /// If the parts do not fit together, or the machine does not learn from this stream.
    pub fn prepare(
        learner: Learner,
        primary: Arc<dyn Primary>,
        samples: Samples,
        options: StreamOptions,
    ) -> Result<Self, JobError> {
        let layout = options.layout(samples.sizes());
        let label_bound = options.label_bound.or_else(|| samples.label_bound());
        check_labels(&samples, label_bound)?;
        if !learner.machine().takes_samples() {
            return Err(StreamError::TakesNothing.into());
        }
        luge_machine::stream::check(learner.machine()).map_err(StreamError::from)?;
        let input = learner.input(&layout, &vec![false; layout.n_bits()]);
        let (rehearsal, window) = rehearse(&learner, &layout, &input, &samples, &options, &*primary)?;
        let network = network(&learner, &*primary, &options, (&layout, &window), label_bound)?;
        let layers = stream_layers(&network.network).map_err(TrainError::from)?;
        Ok(Self {
            learner,
            primary,
            options,
            window,
            network,
            rehearsal,
            layers,
            program: None,
            samples,
            layout,
            input,
        })
    }

    /// The stream from its beginning.
    pub fn stream(&self) -> Stream {
        Stream::open(self.samples.clone(), self.options.format, self.options.seed)
    }

    /// The simulator at the start of its run.
    fn simulator(&self) -> StreamSimulator<'_> {
        let machine = self.learner.lowered().normal.machine();
        StreamSimulator::new(machine, &self.input, self.learner.memory(&self.layout))
    }

    /// Trains, compares every step with the simulator, and certifies the run. `watch` sees every step.
    ///
    /// # Errors
    /// If an engine fails. A run that goes wrong gives a certificate that does not hold.
    pub fn train(
        &self,
        watch: impl FnMut(StreamMoment<'_>) -> ControlFlow<()>,
    ) -> Result<StreamReport, JobError> {
        certificate::train(self, None, watch)
    }

    /// Resumes a run from the weights of one of its steps. A checkpoint is not trusted: the steps before it are repeated and
    /// checked in parallel, and must lead to the same weights, bit for bit. If the resumed run ends before that, `watch`
    /// sees its last step repeatedly.
    ///
    /// # Errors
    /// If the snapshot does not fit the run, or an engine fails.
    pub fn resume(
        &self,
        from: &Snapshot,
        watch: impl FnMut(StreamMoment<'_>) -> ControlFlow<()>,
    ) -> Result<StreamReport, JobError> {
        certificate::train(self, Some(from), watch)
    }

    /// The options, with the constants that were chosen.
    fn chosen_options(&self) -> StreamOptions {
        let StreamConstants { label_bound, carrier, .. } = self.network.constants;
        let (label_bound, carrier) = (Some(label_bound), Some(carrier));
        StreamOptions { label_bound, carrier, ..self.options.clone() }
    }

    /// Returns the network's loss while the machine runs: half the squared distance of A from the labels.
    fn running_loss(&self, y: &[f64]) -> f64 {
        let carrier = self.network.constants.carrier;
        y.iter().map(|y| (carrier - y) * (carrier - y)).sum::<f64>() / 2.0
    }

    /// Returns the bounds of the loss while the machine runs; after the halt it is the loss of the primary network.
    pub fn loss_levels(&self) -> Bounds {
        let constants = self.network.constants;
        let n = (self.layout.n_samples * self.layout.n_labels) as f64;
        let level = |output: f64| n * output * output / 2.0;
        Bounds {
            running_low: level(constants.carrier - constants.label_bound),
            running_high: level(constants.carrier + constants.label_bound),
            halted_high: 0.0,
            stop: f64::NAN,
            switch: f64::NAN,
        }
    }

    /// Converts the learner to a circuit that takes one sample at a time, with the registers that hold theta.
    ///
    /// # Errors
    /// If samples are not one label in two's complement, or the machine is not a circuit.
    pub fn circuit(&self) -> Result<LearnerCircuit, JobError> {
        let layout = &self.layout;
        let NumberFormat::Fixed(fixed) = layout.format else {
            return Err(JobError::MlpFormat(layout.format));
        };
        if fixed.negatives != Negatives::TwosComplement {
            return Err(JobError::MlpFormat(layout.format));
        }
        if layout.n_samples != 1 {
            return Err(JobError::OneSample(layout.n_samples));
        }
        let code = Code::Fixed { n_integer: fixed.n_integer, n_fraction: fixed.n_fraction };
        let (n_features, n_labels) = (layout.n_features, layout.n_labels);
        let shape = SampleShape { n_features, feature: code, n_labels, label: code };
        let memory = self.learner.memory(layout);
        let cells = self.window.cells();
        let (track, first) = self.learner.theta_track();
        let first = usize::try_from(-cells.start).unwrap_or(0) + first;
        let tapes = machine::Tapes { input: &self.input, cells, samples: Some((&memory, shape)) };
        let normal = &self.learner.lowered().normal;
        let (mut builder, registers) = machine::builder(normal, &tapes)?;
        // A tape that is never written has no registers; then theta is 0.
        let words = registers.symbols[track.index()].get(first..).unwrap_or_default();
        let words = words.chunks_exact(layout.width()).take(self.primary.n_weights()).map(<[_]>::to_vec);
        let words: Vec<Vec<RegisterId>> = words.collect();
        if self.primary.describe() == "parity" && words.len() == layout.n_features {
            let unit = fixed.n_fraction as usize;
            let counted: Vec<Literal> = (0..layout.n_features)
                .map(|i| {
                    let (bit, chosen) =
                        (builder.query(i * layout.width() + unit), builder.value(words[i][unit]));
                    builder.and([bit, chosen])
                })
                .collect();
            let odd = builder.parity(counted);
            builder.output((0..layout.width()).map(|bit| if bit == unit { odd } else { Literal::FALSE }));
        }
        let circuit = builder.build().map_err(machine::MachineError::from)?;
        let complete = words.len() == self.primary.n_weights();
        let theta = Theta { words, format: layout.format, primary: Arc::clone(&self.primary) };
        let program = self.program.as_ref().map(CircuitProgram::on_tapes);
        Ok(LearnerCircuit { circuit, theta: complete.then_some(theta), program })
    }

    /// Reads theta from the machine's tape.
    fn theta(&self, simulator: &Simulator<'_>) -> Vec<f64> {
        read_theta(&self.learner, &self.layout, self.primary.n_weights(), simulator)
    }
}

/// Converts a batch to the bits of the simulator's memory.
fn bits(format: NumberFormat, x: &[f64], y: &[f64]) -> Batch {
    let symbols = |numbers: &[f64]| {
        let word = |&number: &f64| format.encode(number, Overflow::Saturate).ok();
        let bits = numbers.iter().filter_map(word).flat_map(|word| format.bits(word));
        bits.map(|bit| SymbolId(u8::from(bit))).collect()
    };
    Batch { features: symbols(x), labels: symbols(y) }
}

fn check_labels(samples: &Samples, bound: Option<f64>) -> Result<(), JobError> {
    let (Samples::Table(table, _), Some(bound)) = (samples, bound) else { return Ok(()) };
    match table.labels.data.iter().find(|label| label.abs() > bound) {
        Some(&label) => Err(JobError::LabelBound { label, bound }),
        None => Ok(()),
    }
}

/// Runs the simulator alone to find how long the run is and how many cells it needs.
fn rehearse(
    learner: &Learner,
    layout: &DataLayout,
    input: &Input,
    samples: &Samples,
    options: &StreamOptions,
    primary: &dyn Primary,
) -> Result<(Rehearsal, Window), JobError> {
    let machine = learner.lowered().normal.machine();
    let mut simulator = StreamSimulator::new(machine, input, learner.memory(layout));
    let mut stream = Stream::open(samples.clone(), options.format, options.seed);
    let (mut x, mut y) = batch_of(layout);
    let mut halted = false;
    while simulator.steps() < options.steps {
        stream.next_batch(&mut x, &mut y);
        let (step, taken) = (simulator.steps(), simulator.n_taken());
        let stopped = |why: String| JobError::Stopped { step, taken, why };
        match simulator.step(|| bits(options.format, &x, &y)) {
            Ok(_) => {}
            Err(StreamOutcome::Stopped(Outcome::Halted { .. })) => {
                halted = true;
                break;
            }
            Err(StreamOutcome::Stopped(_)) => {
                let state = &machine.state(simulator.simulator().state()).name;
                return Err(stopped(format!("state `{state}` has no rule for what it finds")));
            }
            Err(StreamOutcome::Breach { state, kind }) => {
                return Err(stopped(format!("state `{}` {}", machine.state(state).name, kind.describe())));
            }
        }
    }
    let known = (layout.end() + 1).max(primary.n_weights() * layout.width() + 1);
    let window = Window::common(simulator.simulator(), input, known, options.cells)
        .map_err(|needed| JobError::TooFewCells { needed, given: options.cells.unwrap_or(0) })?;
    let (steps, n_taken) = (simulator.steps(), simulator.n_taken());
    Ok((Rehearsal { steps, n_taken, halted }, window))
}

/// Allocates the features and labels of one batch.
fn batch_of(layout: &DataLayout) -> (Vec<f64>, Vec<f64>) {
    (vec![0.0; layout.n_samples * layout.n_features], vec![0.0; layout.n_samples * layout.n_labels])
}
