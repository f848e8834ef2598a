//! Compares a learner on a stream, such as that of parities, with ordinary networks.
//!
//! Both see the same stream. The learner takes few samples. The ordinary networks are trained on all of them, in
//! batches, for as many samples as the learner's run took, up to a limit. `docs/parity.md` says what this shows and
//! what it does not.

use std::ops::ControlFlow;

use luge_circuit::Shipped;
use luge_train::{
    TrainError,
    sequential::{DenseSgd, SequentialEngine, default_weights},
};
use serde::Serialize;

use crate::{Optimiser, Ordinary};
use luge::{
    draw::{Axis, Chart, Stroke, grouped},
    job::JobError,
    mlp::{Passing, PreparedMlp, SampleStream},
    stream::{Concept, Draw, Order, Samples, Stream, StreamJob, StreamLandscape, StreamOptions},
};

/// The rates that ordinary networks are trained with.
pub const RATES: [(Optimiser, [f64; 3]); 2] =
    [(Optimiser::Sgd, [0.01, 0.1, 0.5]), (Optimiser::Adam, [1e-4, 1e-3, 1e-2])];
/// The width of their hidden layers.
pub const WIDTH: usize = 512;
/// Their numbers of hidden layers.
pub const DEPTHS: [usize; 2] = [1, 2];
/// Samples per batch of theirs.
pub const BATCH: usize = 64;
/// New inputs on which all networks are tested.
pub const N_NEW: usize = 10_000;

/// The learner's run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LearnerRun {
    /// The number of gradient steps, each on a fresh sample.
    pub passed: u64,
    /// Samples that it took.
    pub taken: u64,
    /// New inputs whose label it gets right.
    pub right: usize,
    /// The same before it halts, when its network outputs the carrier for every input, which counts as 1.
    pub right_before: usize,
    /// Whether every claim of the certificate holds.
    pub certified: bool,
}

/// One ordinary network.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OrdinaryRun {
    /// SGD or Adam.
    pub optimiser: &'static str,
    /// Hidden layers.
    pub depth: usize,
    /// The learning rate.
    pub rate: f64,
    /// Samples seen, and new inputs then right.
    pub curve: Vec<(u64, usize)>,
}

impl OrdinaryRun {
    /// New inputs right at the end.
    #[must_use]
    pub fn right(&self) -> usize {
        self.curve.last().map_or(0, |&(_, right)| right)
    }
}

/// A learner and ordinary networks on one stream.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StreamComparison {
    /// What is drawn; `None` for rows of a table.
    pub draw: Option<Draw>,
    /// What the stream is drawn from.
    pub seed: u64,
    /// The learner.
    pub learner: LearnerRun,
    /// All ordinary networks.
    pub ordinary: Vec<OrdinaryRun>,
}

/// Why a learner cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// The learner cannot be run, or a network cannot be trained.
    #[error(transparent)]
    Job(#[from] JobError),
    /// A table without two classes.
    #[error("ordinary networks tell two classes apart, and the labels are not two numbers of one column")]
    Classes,
    /// A table whose rows do not pass at random.
    #[error("rows that pass in turn leave no new samples to judge by")]
    InTurn,
}

impl From<TrainError> for CompareError {
    fn from(error: TrainError) -> Self {
        Self::Job(error.into())
    }
}

/// One architecture, one optimiser, one stream, two kinds of initial weights.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SameArchitecture {
    /// Linear layers.
    pub n_layers: usize,
    /// Weights and biases, all trained.
    pub n_weights: u64,
    /// Steps of SGD until the learner's MLP halted.
    pub steps: u64,
    /// The number of new inputs that it gets right, and of all new inputs.
    pub right: (usize, usize),
    /// Whether every claim of its certificate holds.
    pub certified: bool,
    /// Steps of SGD from PyTorch's default initialisation.
    pub control_steps: u64,
    /// For each rate, the number of right answers on [`N_CONTROL_NEW`] new inputs after that.
    pub controls: Vec<(f64, usize)>,
}

/// New inputs on which the MLP with default initialisation is tested.
pub const N_CONTROL_NEW: usize = 500;
/// The rates that it is trained with.
pub const CONTROL_RATES: [f64; 3] = [0.001, 0.01, 0.1];
/// Weights times steps of each control.
const MAX_CONTROL_WORK: u64 = 1 << 31;
/// The most weights of an MLP that is compared.
const MAX_CONTROL_WEIGHTS: u64 = 1 << 25;

impl SameArchitecture {
    /// Trains the MLP that holds the learner of parities on a job's samples, and others of the same layers; `None` if it is too large.
    ///
    /// # Errors
    /// If the MLP cannot be built or trained.
    pub fn run(job: &StreamJob, most_samples: u64) -> Result<Option<Self>, CompareError> {
        let classes = Classes::open(job)?;
        let options = StreamOptions { seed: classes.seed, ..StreamOptions::on(StreamLandscape::Mlp) };
        let circuit = Shipped::Parity.circuit(classes.n_features);
        let prepared = PreparedMlp::new(circuit, Some(job.samples.clone()), options)?;
        let network = &prepared.network.network;
        let n_weights = network.n_weights();
        if n_weights > MAX_CONTROL_WEIGHTS {
            return Ok(None);
        }
        let report = prepared.train(|_| ControlFlow::Continue(()))?;
        let control_steps =
            (MAX_CONTROL_WORK / n_weights).clamp(report.steps, most_samples.max(report.steps));
        let initial = default_weights(&network.widths(), classes.seed);
        let mut controls = Vec::new();
        for rate in CONTROL_RATES {
            let mut engine = DenseSgd::<f32>::new(&initial, rate)?;
            let mut stream = SampleStream::open(prepared.circuit.samples(), Some(&job.samples), classes.seed);
            for _ in 0..control_steps {
                let Passing { x, y, .. } = stream.next_sample();
                engine.step(&x, &y);
            }
            stream.reseed(classes.seed.wrapping_add(1));
            let new = (0..N_CONTROL_NEW).map(|_| stream.next_sample());
            let right = new.filter(|Passing { x, y, .. }| engine.output(x)[0] * y[0] > 0.0);
            controls.push((rate, right.count()));
        }
        Ok(Some(Self {
            n_layers: network.layers().len(),
            n_weights,
            steps: report.steps,
            right: report.judged.unwrap_or_default(),
            certified: report.certificate.proves_the_run(),
            control_steps,
            controls,
        }))
    }
}

/// The number of ordinary networks.
#[must_use]
pub fn n_ordinary() -> u64 {
    kinds().len() as u64
}

impl StreamComparison {
    /// Runs the learner of a job, then trains the ordinary networks on the same samples; `watch` gets the number of finished networks.
    ///
    /// # Errors
    /// If the learner cannot be run, a network not be trained, or the samples are not of two classes.
    pub fn run(job: &StreamJob, most_samples: u64, mut watch: impl FnMut(u64)) -> Result<Self, CompareError> {
        let classes = Classes::open(job)?;
        let mut job = job.clone();
        job.options.n_judged = N_NEW;
        let report = job.prepare()?.train(|_| ControlFlow::Continue(()))?;
        let learner = LearnerRun {
            passed: report.steps,
            taken: report.taken,
            right: report.judged.map_or(0, |(right, _)| right),
            right_before: classes.new_inputs().1.iter().filter(|&&label| label > 0.5).count(),
            certified: report.certificate.proves_the_run(),
        };
        let n_samples = learner.passed.min(most_samples).max(BATCH as u64);
        let mut ordinary = Vec::new();
        for together in kinds().chunks(n_at_once()) {
            let run = &|&kind: &Kind| train(classes.clone(), kind, n_samples);
            let runs: Vec<Result<OrdinaryRun, TrainError>> = std::thread::scope(|scope| {
                let threads: Vec<_> = together.iter().map(|kind| scope.spawn(move || run(kind))).collect();
                let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                };
                threads.into_iter().map(join).collect()
            });
            for run in runs {
                ordinary.push(run?);
            }
            watch(ordinary.len() as u64);
        }
        let draw = match job.samples {
            Samples::Draw(draw) => Some(draw),
            Samples::Table(..) => None,
        };
        Ok(Self { draw, seed: job.options.seed, learner, ordinary })
    }

    /// Accuracy on new inputs against samples seen, in thousands; the learner has this name.
    #[must_use]
    pub fn chart(&self, name: &str) -> String {
        let title = match self.draw {
            Some(Draw { concept: Concept::Parity { n_hidden }, n_features, .. }) => {
                format!("The parity of {n_hidden} of {n_features} bits")
            }
            Some(draw) => draw.to_string(),
            None => "Rows of a table, drawn at random".to_owned(),
        };
        let Self { learner, ordinary, .. } = self;
        let share = |right: usize| right as f64 / N_NEW as f64;
        let thousands = |samples: u64| samples as f64 / 1000.0;
        let seen = ordinary.iter().flat_map(|run| &run.curve).map(|&(samples, _)| samples).max().unwrap_or(1);
        let last = thousands(seen.max(learner.passed));
        let subtitle = if seen < learner.passed {
            format!("one stream; the ordinary networks see the first {} samples", grouped(seen))
        } else {
            format!("one stream and one budget: {} samples pass before everybody", grouped(learner.passed))
        };
        let beyond = 1.04 * last;
        let x = Axis::over("thousands of samples that passed", [0.0, beyond]);
        let y = Axis::over("share of 10,000 new inputs right", [0.4, 1.0]).with_room();
        let mut chart = Chart::new(&title, &subtitle, x, y);
        for run in ordinary {
            let colour = if run.optimiser == "SGD" { "#4477aa" } else { "#cc6677" };
            let points = run.curve.iter().map(|&(samples, right)| (thousands(samples), share(right)));
            chart.line(points, Stroke::solid(colour, 1.0));
        }
        chart.explain(Stroke::solid("#4477aa", 1.0), "ordinary networks, SGD");
        chart.explain(Stroke::solid("#cc6677", 1.0), "ordinary networks, Adam");
        let (end, before, right) =
            (thousands(learner.passed), share(learner.right_before), share(learner.right));
        chart.line(
            [(0.0, before), (end, before), (end, right), (beyond, right)],
            Stroke::solid("#228833", 2.0),
        );
        chart.explain(Stroke::solid("#228833", 2.0), name);
        chart.finish()
    }
}

/// An ordinary network: optimiser, hidden layers, rate.
type Kind = (Optimiser, usize, f64);

/// All of them, those that take equally long side by side.
fn kinds() -> Vec<Kind> {
    let of_depth = |depth: usize| {
        RATES.into_iter().flat_map(move |(optimiser, rates)| rates.map(|rate| (optimiser, depth, rate)))
    };
    DEPTHS.into_iter().flat_map(of_depth).collect()
}

/// The number of networks trained at the same time.
fn n_at_once() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(6)
}

/// Trains one ordinary network on every sample of the stream, bits as -1 and 1.
fn train(
    mut stream: Classes,
    (optimiser, depth, rate): Kind,
    n_samples: u64,
) -> Result<OrdinaryRun, TrainError> {
    let widths: Vec<usize> =
        [stream.n_features].into_iter().chain(std::iter::repeat_n(WIDTH, depth)).chain([1]).collect();
    let mut network = Ordinary::new(&widths, optimiser, rate, stream.seed)?;
    let (new_x, new_y) = stream.new_inputs();
    let mut curve = vec![(0, network.n_right(&new_x, &new_y)?)];
    let (mut seen, mut next_look) = (0, 1_000);
    while seen < n_samples {
        let (x, y) = stream.batch(BATCH);
        network.step(&x, &y)?;
        seen += BATCH as u64;
        if seen >= next_look || seen >= n_samples {
            curve.push((seen, network.n_right(&new_x, &new_y)?));
            next_look = seen * 2;
        }
    }
    Ok(OrdinaryRun { optimiser: optimiser.word(), depth, rate, curve })
}

/// A stream of two classes, as ordinary networks see it.
#[derive(Clone)]
struct Classes {
    stream: Stream,
    n_features: usize,
    /// Whether features are 0 or 1.
    bits: bool,
    threshold: f64,
    seed: u64,
}

impl Classes {
    /// The samples of a job from their beginning; a label above half of a drawn one, or between the two of a table, is 1.
    fn open(job: &StreamJob) -> Result<Self, CompareError> {
        let threshold = match &job.samples {
            Samples::Draw(_) => 0.5,
            Samples::Table(_, Order::Cycle | Order::Shuffle) => return Err(CompareError::InTurn),
            Samples::Table(table, Order::Draw) => {
                let labels = &table.labels.data;
                let (low, high) = labels.iter().fold((f64::MAX, f64::MIN), |(a, b), &y| (a.min(y), b.max(y)));
                let two = labels.iter().all(|y| y.total_cmp(&low).is_eq() || y.total_cmp(&high).is_eq());
                if !two || table.label_names.len() != 1 || low >= high {
                    return Err(CompareError::Classes);
                }
                f64::midpoint(low, high)
            }
        };
        let bits = matches!(&job.samples, Samples::Draw(draw) if draw.concept != Concept::Halfspace);
        let (n_features, seed) = (job.samples.sizes().0, job.options.seed);
        let stream = Stream::open(job.samples.clone(), job.options.format, seed);
        Ok(Self { stream, n_features, bits, threshold, seed })
    }

    /// Continues with new samples.
    fn reseed(&mut self) {
        self.stream.reseed(self.seed.wrapping_add(1));
    }

    /// The samples on which all networks are tested.
    fn new_inputs(&self) -> (Vec<f32>, Vec<f32>) {
        let mut unseen = self.clone();
        unseen.reseed();
        unseen.batch(N_NEW)
    }

    /// The next samples: features around 0, labels 0 and 1.
    fn batch(&mut self, n: usize) -> (Vec<f32>, Vec<f32>) {
        let (mut x, mut y) = (vec![0.0; n * self.n_features], vec![0.0; n]);
        self.stream.next_batch(&mut x, &mut y);
        let feature = |&x: &f64| if self.bits { 2.0 * x as f32 - 1.0 } else { x as f32 };
        let label = |&y: &f64| f32::from(u8::from(y > self.threshold));
        (x.iter().map(feature).collect(), y.iter().map(label).collect())
    }
}
