//! Trains on a stream in lockstep with the simulator, and certifies the run.

use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use luge_landscape::Bounds;
use luge_machine::{Step, stream::StreamSimulator};
use luge_net::{Shape, Values};
use luge_sled::OverflowSite;
use luge_train::{Dense, Precision, ROUNDING, Rate, ReversePass, Snapshot};
use serde::Serialize;

use super::{
    JobError, PreparedStream, Stream, StreamMoment, batch_of, bits,
    engine::AnyEngine,
    narrow::NarrowNetworks,
    run::{StreamRun, repeat},
};
use crate::{
    certificate::{Certificate, Claim, no_gradient, no_overflow, same_bits, translation},
    data::right_rows,
    files::predictor::Predictor,
    job::{
        STATEMENTS_PER_STEP,
        program::{self, SizedSource},
    },
    run::two_cores::Aside,
};

/// The result of training on a stream, on tapes or as a circuit.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct StreamReport {
    /// Whether the learner halted; otherwise the steps were used up, or the run was interrupted.
    pub halted: bool,
    /// Whether the learner accepted; otherwise it rejected the data and has no answer.
    #[serde(skip)]
    pub accepted: bool,
    /// Gradient steps made, each on a batch of its own.
    pub steps: Step,
    /// Batches that the learner took.
    pub taken: u64,
    /// The learned weights; empty if the registers of a circuit hold no numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub theta: Vec<f64>,
    /// How many of how many new samples are classified correctly; `None` if labels are not classes.
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
/// Batches after the end on which the gradient of the whole network is computed.
const N_DIFFERENTIATED: usize = 20;
/// How many of these gradients candle computes.
const N_BY_CANDLE: usize = 4;

pub(super) fn train(
    prepared: &PreparedStream,
    from: Option<&Snapshot>,
    mut watch: impl FnMut(StreamMoment<'_>) -> ControlFlow<()>,
) -> Result<StreamReport, JobError> {
    let narrow = NarrowNetworks::of(prepared);
    let mut run = StreamRun::new(prepared, narrow.as_ref())?;
    let interrupted = &AtomicBool::new(false);
    thread::scope(|scope| {
        let program = prepared.program.as_ref();
        let interpreted = program.map(|program| Aside::start(scope, move || interpret(prepared, program)));
        let earlier = from.map(|from| Aside::start(scope, move || repeat(prepared, from, interrupted)));
        let there = from.map_or(Ok(()), |from| run.go_to(from));
        let ran = there.and_then(|()| run.train(prepared.rehearsal.steps, &mut watch));
        // A run that is interrupted is resumed later, and its beginning is checked then.
        interrupted.store(!matches!(ran, Ok(ControlFlow::Continue(()))), Ordering::Relaxed);
        let _ = ran?;
        if let Some(earlier) = earlier {
            while !earlier.is_finished() {
                thread::sleep(Duration::from_millis(20));
                let ended =
                    StreamMoment { step: run.n_steps, loss: f64::NAN, snapshot: &|| Some(run.snapshot()) };
                if watch(ended).is_break() {
                    interrupted.store(true, Ordering::Relaxed);
                }
            }
            let (wrong, observed) = earlier.finish()?;
            run.wrong = wrong.or(run.wrong.take());
            run.checker.observed.add_earlier(observed);
        }
        let mut report = certify(prepared, run)?;
        let interpreted = interpreted.map(Aside::finish);
        let wraps = interpreted.as_ref().and_then(|outcome| Some(outcome.as_ref()?.wraps.clone()));
        report.wraps = wraps.unwrap_or_default();
        let program = interpreted.filter(|_| report.halted).map(|outcome| {
            let answer = report.accepted.then_some(&report.theta[..]);
            translation::claim(outcome.as_ref(), answer, prepared.options.format)
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

/// Runs the program in the interpreter, on the samples that the machine takes.
fn interpret(prepared: &PreparedStream, program: &SizedSource) -> Option<luge_sled::Outcome> {
    let (mut simulator, mut stream) = (prepared.simulator(), prepared.stream());
    let (mut x, mut y) = batch_of(&prepared.layout);
    let mut batch = Vec::new().into_iter();
    let mut next = || {
        loop {
            if let Some(sample) = batch.next() {
                return Some(sample);
            }
            if simulator.steps() >= prepared.rehearsal.steps {
                return None;
            }
            stream.next_batch(&mut x, &mut y);
            let n_taken = simulator.n_taken();
            simulator.step(|| bits(prepared.options.format, &x, &y)).ok()?;
            if simulator.n_taken() > n_taken {
                batch = samples(prepared, &x, &y).into_iter();
            }
        }
    };
    let limit = prepared.rehearsal.steps.saturating_mul(STATEMENTS_PER_STEP);
    program.interpret_stream(&mut next, limit).ok()
}

/// Certifies a run that has ended.
fn certify(prepared: &PreparedStream, run: StreamRun<'_>) -> Result<StreamReport, JobError> {
    let network = &prepared.network;
    let StreamRun { mut engine, mut checker, mut stream, n_steps, mut wrong, .. } = run;
    let weights = engine.weights();
    if wrong.is_none() {
        wrong = checker.compare_all(&weights).err();
    }
    let end =
        End { prepared, weights, halted: prepared.rehearsal.halted && n_steps == prepared.rehearsal.steps };
    let theta = prepared.theta(checker.simulator.simulator());
    let gradient = checker.gradient(n_steps, &engine);
    let at_rest = end.at_rest(&mut engine, (&mut checker.dense, &mut checker.pass), &mut stream)?;
    let claims = [
        ("trace", trace(wrong.as_deref(), n_steps, checker.path)),
        ("gradient", Claim::new(gradient.holds(), gradient.figures())),
        ("gain", gain(prepared, checker.observed.gains)),
        ("step_count", step_count(n_steps, checker.simulator.steps(), end.halted)),
        ("labels_copied", labels(&checker.simulator, wrong.is_none(), prepared)),
        ("loss_bounds", loss_bounds(prepared, checker.observed.losses)),
        ("output_equals_primary", end.output(&mut checker.pass, &theta, &mut stream)),
        (
            "no_gradient_through_primary",
            no_gradient(&network.network, |id| network.is_primary(id), "f_theta"),
        ),
        ("at_rest", at_rest),
    ];
    let judged = end.halted.then(|| classified(prepared, &theta, &mut stream)).flatten();
    let stopped = checker.simulator.simulator().stopped();
    let accepted = matches!(stopped, Some(luge_machine::Outcome::Halted { accepting: true, .. }));
    Ok(StreamReport {
        halted: end.halted,
        accepted,
        steps: n_steps,
        taken: checker.simulator.n_taken(),
        theta,
        judged,
        engine: prepared.options.engine().word(),
        certificate: claims.into_iter().collect(),
        weights: end.weights,
        wraps: Vec::new(),
    })
}

/// The claim that every iterate was the machine's configuration.
fn trace(wrong: Option<&str>, n_steps: u64, path: u64) -> Claim {
    let figures = match wrong {
        None => format!("{} iterates, 0 mismatches; path {path:016x}", n_steps + 1),
        Some(why) => format!("after {n_steps} steps {why}"),
    };
    Claim { holds: wrong.is_none(), figures }
}

/// The samples of a batch as the interpreter takes them.
fn samples(prepared: &PreparedStream, x: &[f64], y: &[f64]) -> Vec<Vec<i64>> {
    let rows = x.chunks(prepared.layout.n_features).zip(y.chunks(prepared.layout.n_labels));
    let raw = |&number: &f64| program::raw(number, prepared.options.format);
    rows.map(|(x, y)| x.iter().chain(y).map(raw).collect()).collect()
}

pub(super) fn dense<'a>(prepared: &'a PreparedStream, weights: &[Values]) -> Result<Dense<'a>, JobError> {
    let network = &prepared.network.network;
    let inputs: Vec<Values> = network.inputs().iter().map(|i| Values::filled(i.shape, 0.0)).collect();
    Ok(Dense::new(network, weights, &inputs, Precision::F64, Rate::One, None)?)
}

fn labels(simulator: &StreamSimulator<'_>, trace: bool, prepared: &PreparedStream) -> Claim {
    let taken = simulator.n_taken();
    let constants = prepared.network.constants;
    // The layers of the network are recognised only where inputs go nowhere else.
    let figures = format!(
        "{taken} batches taken; z within half of {} of -y after each, and of -A = -{} before it; \
         y reaches the loss's residual alone, x the memory's bits and f_theta alone",
        constants.label_unit, constants.carrier
    );
    Claim { holds: trace && taken > 0, figures }
}

fn gain(prepared: &PreparedStream, gains: Option<(f64, f64)>) -> Claim {
    let constants = prepared.network.constants;
    let bound = constants.label_bound / constants.carrier;
    let Some((low, high)) = gains else {
        return Claim::new(false, "no weight was seen to move");
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

/// The claim that the loss stays within its bounds. While the machine runs the output is A, so the loss is half the squared
/// distance of A from the labels.
fn loss_bounds(prepared: &PreparedStream, losses: Option<(f64, f64)>) -> Claim {
    let Bounds { running_low: low, running_high: high, .. } = prepared.loss_levels();
    let Some((lowest, highest)) = losses else {
        return Claim::new(false, "no loss was evaluated");
    };
    let figures = format!("running {lowest:.4e} to {highest:.4e}, claimed {low:.4e} to {high:.4e}");
    Claim { holds: lowest >= low && highest <= high, figures }
}

/// Returns the network's inputs for a batch.
pub(super) fn inputs(prepared: &PreparedStream, x: &[f64], y: &[f64]) -> Vec<Values> {
    let inputs = prepared.network.network.inputs();
    let [of_x, of_y] = inputs else { return Vec::new() };
    vec![Values::new(of_x.shape, x.to_vec()), Values::new(of_y.shape, y.to_vec())]
}

/// The end of a run, and its weights.
struct End<'a> {
    prepared: &'a PreparedStream,
    weights: Vec<Values>,
    halted: bool,
}

impl End<'_> {
    /// The claim that further batches move no weight, and that automatic differentiation finds no gradient.
    fn at_rest(
        &self,
        engine: &mut AnyEngine<'_>,
        (dense, pass): (&mut Dense<'_>, &mut ReversePass<'_>),
        stream: &mut Stream,
    ) -> Result<Claim, JobError> {
        if !self.halted {
            return Ok(Claim::new(false, "the machine has not halted"));
        }
        let (mut x, mut y) = batch_of(&self.prepared.layout);
        for _ in 0..self.prepared.options.after {
            stream.next_batch(&mut x, &mut y);
            engine.step(&x, &y)?;
        }
        let alike = |(a, b): (&Values, &Values)| same_bits(&a.data, &b.data);
        let unmoved = engine.weights().iter().zip(&self.weights).all(alike);
        dense.go_to(&self.weights)?;
        let mut n_zero = 0;
        for batch in 0..N_DIFFERENTIATED {
            stream.next_batch(&mut x, &mut y);
            let inputs = inputs(self.prepared, &x, &y);
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
            self.prepared.options.after
        );
        Ok(Claim { holds: unmoved && n_zero == N_DIFFERENTIATED, figures })
    }

    /// The claim that theta in the network is the simulator's, and that F(x) is f_theta(x).
    fn output(&self, pass: &mut ReversePass<'_>, theta: &[f64], stream: &mut Stream) -> Claim {
        if !self.halted {
            return Claim::new(false, "the machine has not halted");
        }
        let prepared = self.prepared;
        let nodes = &prepared.network.nodes;
        let predictor = Predictor::new(&*prepared.primary, theta.to_vec());
        let (mut x, mut y) = batch_of(&prepared.layout);
        let (mut n_alike, mut theta_alike) = (0, true);
        for _ in 0..N_COMPARED {
            stream.next_batch(&mut x, &mut y);
            let inputs = inputs(self.prepared, &x, &y);
            pass.evaluate(&self.weights, &inputs);
            theta_alike &= same_bits(pass.value(nodes.theta), theta);
            n_alike += usize::from(same_bits(pass.value(nodes.out), &predictor.predict(&inputs[0]).data));
        }
        let bits = if theta_alike { "theta bit for bit" } else { "another theta" };
        let figures = format!("{bits}, {n_alike} of {N_COMPARED} new batches");
        Claim { holds: theta_alike && n_alike == N_COMPARED, figures }
    }
}

/// Counts the new samples that are classified correctly; `None` if labels are not classes.
fn classified(prepared: &PreparedStream, theta: &[f64], stream: &mut Stream) -> Option<(usize, usize)> {
    let (n_features, n_labels) = prepared.samples.sizes();
    let n = prepared.options.n_judged;
    if n == 0 {
        return None;
    }
    let (mut x, mut y) = (vec![0.0; n * n_features], vec![0.0; n * n_labels]);
    stream.next_batch(&mut x, &mut y);
    let rows = |values, n_columns| Values::new(Shape::new(n, n_columns), values);
    let predicted = Predictor::new(&*prepared.primary, theta.to_vec()).predict(&rows(x, n_features));
    Some((right_rows(&predicted, &rows(y, n_labels), 0..n)?, n))
}
