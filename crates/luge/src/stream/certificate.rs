//! Trains on a stream in lockstep with the simulator, and certifies the run.

use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use luge_landscape::Bounds;
use luge_machine::{Step, stream::StreamSimulator};
use luge_net::{Shape, Values, stream_layers};
use luge_sled::OverflowSite;
use luge_train::{Dense, Precision, ROUNDING, Rate, ReversePass, Snapshot};
use serde::Serialize;

use super::{
    JobError, PreparedStream, Stream, StreamMoment, batch_of, bits,
    engine::AnyEngine,
    near::Near,
    run::{StreamRun, repeat},
};
use crate::{
    certificate::{Certificate, Claim, no_gradient, no_overflow, same_bits, translation},
    data::right_rows,
    files::predictor::Predictor,
    job::{
        STATEMENTS_PER_STEP,
        program::{self, SizedSource},
        source::Source,
    },
    run::two_cores::Aside,
};

/// The result of training on a stream, on tapes or as a circuit.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct StreamReport {
    /// Whether the learner halted; otherwise the steps were used up, or the run was interrupted.
    pub halted: bool,
    /// Whether it has an answer; otherwise it rejected the data.
    #[serde(skip)]
    pub accepted: bool,
    /// Gradient steps made, each on a batch of its own.
    pub steps: Step,
    /// Batches that the learner took.
    pub taken: u64,
    /// The learned weights; none if the registers of a circuit hold no numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub theta: Vec<f64>,
    /// How many new samples have the predicted class, of how many; `None` if labels are not classes.
    pub judged: Option<(usize, usize)>,
    /// The engine that computed the gradients.
    pub engine: &'static str,
    /// What the run proved.
    pub certificate: Certificate,
    /// The trained weights: all of them, or the biases of the memory's layer of an MLP.
    #[serde(skip)]
    pub weights: Vec<Values>,
    /// Where numbers of the learner's program wrapped around.
    #[serde(skip)]
    pub wraps: Vec<OverflowSite>,
}

/// New batches on which F and f_theta are compared bit for bit.
const N_COMPARED: usize = 50;
/// Batches after the end whose gradient is computed, on the whole network, and how many of them by candle.
const N_DIFFERENTIATED: usize = 20;
const N_BY_CANDLE: usize = 4;

pub(super) fn train(
    lesson: &PreparedStream,
    from: Option<&Snapshot>,
    mut watch: impl FnMut(StreamMoment<'_>) -> ControlFlow<()>,
) -> Result<StreamReport, JobError> {
    let layers = stream_layers(&lesson.network.network).ok();
    let near = layers.as_ref().and_then(|layers| Near::of(lesson, layers));
    let mut run = StreamRun::new(lesson, (layers.as_ref(), near.as_ref()))?;
    let interrupted = &AtomicBool::new(false);
    thread::scope(|scope| {
        let program = lesson.program.as_ref();
        let interpreted = program.map(|program| Aside::start(scope, move || interpret(lesson, program)));
        let earlier = from.map(|from| Aside::start(scope, move || repeat(lesson, from, interrupted)));
        let there = from.map_or(Ok(()), |from| run.go_to(from));
        let ran = there.and_then(|()| run.train(lesson.rehearsal.steps, &mut watch));
        // A run that is interrupted is resumed later, and its beginning is checked then.
        interrupted.store(!matches!(ran, Ok(ControlFlow::Continue(()))), Ordering::Relaxed);
        let _ = ran?;
        if let Some(earlier) = earlier {
            while !earlier.is_finished() {
                thread::sleep(Duration::from_millis(20));
                let ended = StreamMoment { step: run.n_steps, loss: f64::NAN, snapshot: &|| run.snapshot() };
                if watch(ended).is_break() {
                    interrupted.store(true, Ordering::Relaxed);
                }
            }
            let (wrong, observed) = earlier.finish()?;
            run.wrong = wrong.or(run.wrong.take());
            run.checker.add_earlier(observed);
        }
        let mut report = certify(lesson, run)?;
        let interpreted = interpreted.map(Aside::finish);
        let wraps = interpreted.as_ref().and_then(|outcome| Some(outcome.as_ref()?.wraps.clone()));
        report.wraps = wraps.unwrap_or_default();
        let program = interpreted.filter(|_| report.halted).map(|outcome| {
            let answer = report.accepted.then_some(&report.theta[..]);
            translation::claim(outcome.as_ref(), answer, lesson.options.format)
        });
        report.certificate.set("program", program);
        report.certificate.set("no_overflow", no_overflow(&report.wraps));
        Ok(report)
    })
}

impl PreparedStream {
    /// Whether a number of the learner's program wraps around on the samples that its machine takes.
    pub(crate) fn overflows(&self) -> bool {
        let ran = self.program.as_ref().and_then(|program| interpret(self, program));
        ran.is_some_and(|ran| !ran.wraps.is_empty())
    }
}

/// Interprets the program on the samples that the machine takes.
fn interpret(lesson: &PreparedStream, (source, set): &(Source, Vec<String>)) -> Option<luge_sled::Outcome> {
    let (mut simulator, mut stream) = (lesson.simulator(), lesson.stream());
    let (mut x, mut y) = batch_of(&lesson.layout);
    let mut batch = Vec::new().into_iter();
    let mut next = || {
        loop {
            if let Some(sample) = batch.next() {
                return Some(sample);
            }
            if simulator.steps() >= lesson.rehearsal.steps {
                return None;
            }
            stream.next_batch(&mut x, &mut y);
            let n_taken = simulator.n_taken();
            simulator.step(|| bits(lesson.options.format, &x, &y)).ok()?;
            if simulator.n_taken() > n_taken {
                batch = samples(lesson, &x, &y).into_iter();
            }
        }
    };
    let (sizes, format) = (lesson.samples.sizes(), lesson.options.format);
    let limit = lesson.rehearsal.steps.saturating_mul(STATEMENTS_PER_STEP);
    SizedSource { source, set, format, sizes }.interpret_stream(&mut next, limit).ok()
}

/// Certifies a run that has ended.
fn certify(lesson: &PreparedStream, run: StreamRun<'_>) -> Result<StreamReport, JobError> {
    let network = &lesson.network;
    let StreamRun { mut engine, mut checker, mut stream, n_steps, mut wrong, .. } = run;
    let weights = engine.weights();
    if wrong.is_none() {
        wrong = checker.compare_all(&weights).err().map(|mismatch| mismatch.to_string());
    }
    let end = End { lesson, weights, halted: lesson.rehearsal.halted && n_steps == lesson.rehearsal.steps };
    let theta = lesson.theta(checker.simulator.simulator());
    let gradient = checker.gradient(n_steps, &engine);
    let at_rest = end.at_rest(&mut engine, (&mut checker.dense, &mut checker.pass), &mut stream)?;
    let claims = [
        ("trace", trace(wrong.as_deref(), n_steps, checker.path)),
        ("gradient", Claim::new(gradient.holds(), gradient.figures())),
        ("gain", gain(lesson, checker.gains)),
        ("step_count", step_count(n_steps, checker.simulator.steps(), end.halted)),
        ("labels_copied", labels(&checker.simulator, wrong.is_none(), lesson)),
        ("loss_bounds", loss_bounds(lesson, checker.losses)),
        ("output_equals_primary", end.output(&mut checker.pass, &theta, &mut stream)),
        (
            "no_gradient_through_primary",
            no_gradient(&network.network, |id| network.is_primary(id), "f_theta"),
        ),
        ("at_rest", at_rest),
    ];
    let judged = end.halted.then(|| judge(lesson, &theta, &mut stream)).flatten();
    let stopped = checker.simulator.simulator().stopped();
    let accepted = matches!(stopped, Some(luge_machine::Outcome::Halted { accepting: true, .. }));
    Ok(StreamReport {
        halted: end.halted,
        accepted,
        steps: n_steps,
        taken: checker.simulator.n_taken(),
        theta,
        judged,
        engine: lesson.options.engine().word(),
        certificate: claims.into_iter().collect(),
        weights: end.weights,
        wraps: Vec::new(),
    })
}

/// Every iterate was the machine's configuration.
fn trace(wrong: Option<&str>, n_steps: u64, path: u64) -> Claim {
    let figures = match wrong {
        None => format!("{} iterates, 0 mismatches; path {path:016x}", n_steps + 1),
        Some(why) => format!("after {n_steps} steps {why}"),
    };
    Claim { holds: wrong.is_none(), figures }
}

/// The samples of a batch as the interpreter takes them.
fn samples(lesson: &PreparedStream, x: &[f64], y: &[f64]) -> Vec<Vec<i64>> {
    let rows = x.chunks(lesson.layout.n_features).zip(y.chunks(lesson.layout.n_labels));
    let raw = |&number: &f64| program::raw(number, lesson.options.format);
    rows.map(|(x, y)| x.iter().chain(y).map(raw).collect()).collect()
}

pub(super) fn dense<'a>(lesson: &'a PreparedStream, weights: &[Values]) -> Result<Dense<'a>, JobError> {
    let network = &lesson.network.network;
    let inputs: Vec<Values> = network.inputs().iter().map(|i| Values::filled(i.shape, 0.0)).collect();
    Ok(Dense::new(network, weights, &inputs, Precision::F64, Rate::One, None)?)
}

fn labels(simulator: &StreamSimulator<'_>, trace: bool, lesson: &PreparedStream) -> Claim {
    let taken = simulator.n_taken();
    let constants = lesson.network.constants;
    // Layers are recognised only where inputs go nowhere else.
    let confined = stream_layers(&lesson.network.network);
    let reach = match &confined {
        Ok(_) => "y reaches the loss's residual alone, x the memory's bits and f_theta alone".to_owned(),
        Err(why) => format!("where inputs go is not known: {why}"),
    };
    let figures = format!(
        "{taken} batches taken; z within half of {} of -y after each, and of -A = -{} before it; {reach}",
        constants.label_unit, constants.carrier
    );
    Claim { holds: trace && taken > 0 && confined.is_ok(), figures }
}

fn gain(lesson: &PreparedStream, gains: Option<(f64, f64)>) -> Claim {
    let constants = lesson.network.constants;
    let bound = constants.label_bound / constants.carrier;
    let Some((low, high)) = gains else {
        return Claim { holds: false, figures: "no weight was seen to move".to_owned() };
    };
    let error = (1.0 - low).max(high - 1.0);
    let figures = format!(
        "in every step every weight went 1 - y / A of its way, measured from {low} to {high}; allowed 1 +- {bound}, forgiven 1 +- 1/16"
    );
    Claim { holds: error <= bound + ROUNDING && bound <= 1.0 / 16.0, figures }
}

fn step_count(n_steps: Step, machine_steps: Step, halted: bool) -> Claim {
    let end = if halted { "" } else { ", the machine has not halted" };
    let figures = format!("{n_steps} gradient steps, {machine_steps} machine steps{end}");
    Claim { holds: halted && n_steps == machine_steps, figures }
}

/// While the machine runs the output is A, so that the loss is half the squared distance of A from the labels.
fn loss_bounds(lesson: &PreparedStream, losses: Option<(f64, f64)>) -> Claim {
    let Bounds { running_low: low, running_high: high, .. } = lesson.loss_levels();
    let Some((lowest, highest)) = losses else {
        return Claim { holds: false, figures: "no loss was evaluated".to_owned() };
    };
    let figures = format!("running {lowest:.4e} to {highest:.4e}, claimed {low:.4e} to {high:.4e}");
    Claim { holds: lowest >= low && highest <= high, figures }
}

/// The network's inputs for a batch.
pub(super) fn inputs(lesson: &PreparedStream, x: &[f64], y: &[f64]) -> Vec<Values> {
    let inputs = lesson.network.network.inputs();
    let [of_x, of_y] = inputs else { return Vec::new() };
    vec![Values::new(of_x.shape, x.to_vec()), Values::new(of_y.shape, y.to_vec())]
}

/// The weights a run ended with.
struct End<'a> {
    lesson: &'a PreparedStream,
    weights: Vec<Values>,
    halted: bool,
}

impl End<'_> {
    /// Further batches move no weight, and automatic differentiation finds no gradient.
    fn at_rest(
        &self,
        engine: &mut AnyEngine<'_>,
        (dense, pass): (&mut Dense<'_>, &mut ReversePass<'_>),
        stream: &mut Stream,
    ) -> Result<Claim, JobError> {
        if !self.halted {
            return Ok(Claim { holds: false, figures: "the machine has not halted".to_owned() });
        }
        let (mut x, mut y) = batch_of(&self.lesson.layout);
        for _ in 0..self.lesson.options.after {
            stream.next_batch(&mut x, &mut y);
            engine.step(&x, &y)?;
        }
        let alike = |(a, b): (&Values, &Values)| same_bits(&a.data, &b.data);
        let unmoved = engine.weights().iter().zip(&self.weights).all(alike);
        dense.go_to(&self.weights)?;
        let mut n_zero = 0;
        for batch in 0..N_DIFFERENTIATED {
            stream.next_batch(&mut x, &mut y);
            let inputs = inputs(self.lesson, &x, &y);
            let gradient = if batch < N_BY_CANDLE {
                dense.feed(&inputs)?;
                dense.gradient()?
            } else {
                pass.evaluate(&self.weights, &inputs);
                pass.gradient(1.0)
            };
            let zero = |values: &Values| values.data.iter().all(|g| g.abs() <= 0.0);
            n_zero += usize::from(gradient.iter().all(zero));
        }
        let moved = if unmoved { "no weight moved" } else { "weights moved" };
        let figures = format!(
            "{moved} in {} further batches; {n_zero} of {N_DIFFERENTIATED} whole gradients are zero",
            self.lesson.options.after
        );
        Ok(Claim { holds: unmoved && n_zero == N_DIFFERENTIATED, figures })
    }

    /// theta in the network is the simulator's, and F(x) is f_theta(x).
    fn output(&self, pass: &mut ReversePass<'_>, theta: &[f64], stream: &mut Stream) -> Claim {
        if !self.halted {
            return Claim { holds: false, figures: "the machine has not halted".to_owned() };
        }
        let lesson = self.lesson;
        let nodes = &lesson.network.nodes;
        let predictor = Predictor::new(&*lesson.primary, theta.to_vec());
        let (mut x, mut y) = batch_of(&lesson.layout);
        let (mut n_alike, mut theta_alike) = (0, true);
        for _ in 0..N_COMPARED {
            stream.next_batch(&mut x, &mut y);
            let inputs = inputs(self.lesson, &x, &y);
            pass.evaluate(&self.weights, &inputs);
            theta_alike &= same_bits(pass.value(nodes.theta), theta);
            n_alike += usize::from(same_bits(pass.value(nodes.out), &predictor.predict(&inputs[0]).data));
        }
        let bits = if theta_alike { "theta bit for bit" } else { "another theta" };
        let figures = format!("{bits}, {n_alike} of {N_COMPARED} new batches");
        Claim { holds: theta_alike && n_alike == N_COMPARED, figures }
    }
}

/// How many new samples have the predicted class; `None` if labels are not classes.
fn judge(lesson: &PreparedStream, theta: &[f64], stream: &mut Stream) -> Option<(usize, usize)> {
    let (n_features, n_labels) = lesson.samples.sizes();
    let n = lesson.options.n_judged;
    if n == 0 {
        return None;
    }
    let (mut x, mut y) = (vec![0.0; n * n_features], vec![0.0; n * n_labels]);
    stream.next_batch(&mut x, &mut y);
    let rows = |values, n_columns| Values::new(Shape::new(n, n_columns), values);
    let predicted = Predictor::new(&*lesson.primary, theta.to_vec()).predict(&rows(x, n_features));
    let all: Vec<usize> = (0..n).collect();
    Some((right_rows(&predicted, &rows(y, n_labels), &all)?, n))
}
