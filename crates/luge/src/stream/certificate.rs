//! Trains on a stream in lockstep with the simulator, and certifies the run.

use std::{
    collections::BTreeSet,
    ops::ControlFlow,
    sync::mpsc::{self, SyncSender},
    thread,
};

use luge_machine::{Step, stream::StreamSimulator};
use luge_net::{Shape, Values, evaluate_node, stream_layers};
use luge_sled::OverflowSite;
use luge_train::{Dense, Engine, Precision, ROUNDING, Rate, SparseStream, StreamEngine};
use serde::Serialize;

use super::{
    PreparedStream, PreparedStreamError, Stream, StreamEngineChoice, batch_of,
    lockstep::{AnyEngine, Lockstep, TrainErrorOr},
};
use crate::{
    certificate::translation,
    files::predictor::Predictor,
    job::{STATEMENTS_PER_STEP, program},
    training::{Claim, no_overflow},
};

/// What a run on a stream must prove.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Certificate {
    /// Every iterate stands for the simulator's configuration on the same stream.
    pub trace: Claim,
    /// The labels latched are those of the samples taken.
    pub labels: Claim,
    /// No step erred by more than |y| / A.
    pub gain: Claim,
    /// Steps made again by automatic differentiation move every weight as the run did.
    pub gradient: Claim,
    /// theta is the machine's answer and F(x) = f_theta(x), bit for bit, on new samples.
    pub output_equals_primary: Claim,
    /// No gradient flows through f_theta.
    pub no_gradient_through_primary: Claim,
    /// After the end no batch moves a weight.
    pub at_rest: Claim,
    /// theta is what the interpreter computes from the samples taken, bit for bit; `None` if the learner is a machine or has not halted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<Claim>,
    /// Only where it does not hold: no number of the learner's program was too large for its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_overflow: Option<Claim>,
}

impl Certificate {
    /// All claims with their names.
    #[must_use]
    pub fn claims(&self) -> Vec<(&'static str, &Claim)> {
        let always = [
            ("trace", &self.trace),
            ("labels", &self.labels),
            ("gain", &self.gain),
            ("gradient", &self.gradient),
            ("output_equals_primary", &self.output_equals_primary),
            ("no_gradient_through_primary", &self.no_gradient_through_primary),
            ("at_rest", &self.at_rest),
        ];
        let sometimes = [("program", self.program.as_ref()), ("no_overflow", self.no_overflow.as_ref())];
        let sometimes = sometimes.into_iter().filter_map(|(name, claim)| Some((name, claim?)));
        always.into_iter().chain(sometimes).collect()
    }

    /// Whether all claims hold but the one about overflow: a program does what it does also where its numbers wrap around.
    #[must_use]
    pub fn proves_the_run(&self) -> bool {
        self.claims().iter().all(|(name, claim)| claim.holds || *name == "no_overflow")
    }
}

/// What came of learning from a stream.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StreamReport {
    /// Whether the machine halted; else the steps were used up, or the run broke off.
    pub halted: bool,
    /// Whether it has an answer; else it rejected the data.
    #[serde(skip)]
    pub accepted: bool,
    /// Gradient steps made, each on a batch of its own.
    pub steps: Step,
    /// Batches that the learner took.
    pub taken: u64,
    /// What was learned.
    pub theta: Vec<f64>,
    /// New samples whose label the answer predicts, of how many; of drawn samples or tables with two labels only.
    pub judged: Option<(usize, usize)>,
    /// What the run proved.
    pub certificate: Certificate,
    /// Where numbers of the learner's program wrapped around.
    #[serde(skip)]
    pub wraps: Vec<OverflowSite>,
}

/// Steps made again by automatic differentiation, beside those around the first and last take.
const N_SPOTS: u64 = 5;
/// New batches on which F and f_theta are compared bit for bit.
const N_COMPARED: usize = 50;
/// Batches after the end whose gradient is computed by automatic differentiation.
const N_DIFFERENTIATED: usize = 20;

struct Spots {
    n_made: usize,
    n_weights: usize,
    largest: f64,
    differs: Option<String>,
}

/// Samples on their way to the interpreter, which runs beside training and keeps none.
const N_WAITING: usize = 256;

/// The interpreter's stack: programs nest a few hundred levels deep.
const STACK: usize = 32 << 20;

pub(super) fn train(
    lesson: &PreparedStream,
    watch: impl FnMut(Step) -> ControlFlow<()>,
) -> Result<StreamReport, PreparedStreamError> {
    let (send, taken) = mpsc::sync_channel(N_WAITING);
    let (format, sizes) = (lesson.options.format, lesson.samples.sizes());
    let limit = lesson.rehearsal.steps.saturating_mul(STATEMENTS_PER_STEP);
    thread::scope(|scope| {
        let beside = lesson.program.as_ref().map(|source| {
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || {
                let mut next = || taken.recv().ok();
                program::interpret_stream(source, sizes, format, &mut next, limit).ok()
            })
        });
        let mut report = follow(lesson, watch, &send)?;
        drop(send);
        let interpreted = beside.map(|beside| beside.ok().and_then(|beside| beside.join().ok()).flatten());
        let wraps = interpreted.as_ref().and_then(|outcome| Some(outcome.as_ref()?.wraps.clone()));
        report.wraps = wraps.unwrap_or_default();
        report.certificate.no_overflow = no_overflow(&report.wraps);
        report.certificate.program = interpreted.filter(|_| report.halted).map(|outcome| {
            let answer = report.accepted.then_some(&report.theta[..]);
            translation::claim(outcome.as_ref(), answer, format)
        });
        Ok(report)
    })
}

/// Trains beside the simulator; the samples taken go to the interpreter.
fn follow(
    lesson: &PreparedStream,
    mut watch: impl FnMut(Step) -> ControlFlow<()>,
    interpreter: &SyncSender<Vec<i64>>,
) -> Result<StreamReport, PreparedStreamError> {
    let network = &lesson.network.network;
    let start = &lesson.network.initial;
    let mut engine = match lesson.options.engine {
        StreamEngineChoice::Sparse => AnyEngine::Sparse(Box::new(SparseStream::new(network, start)?)),
        StreamEngineChoice::Dense => AnyEngine::Dense(Box::new(dense(lesson, start)?)),
    };
    let mut checker = dense(lesson, start)?;
    let mut both = Lockstep::new(&lesson.network, &lesson.window, &lesson.layout, lesson.simulator());
    let mut stream = lesson.stream();
    let (mut x, mut y) = batch_of(&lesson.layout);
    let mut spots = Spots { n_made: 0, n_weights: 0, largest: 0.0, differs: None };
    let spot_steps = spot_steps(lesson);
    let (mut heads, mut wrong) = (Vec::new(), None);
    let mut gain_error: f64 = 0.0;
    let mut n_steps = 0;
    while n_steps < lesson.rehearsal.steps && wrong.is_none() && watch(n_steps).is_continue() {
        stream.next_batch(&mut x, &mut y);
        both.heads(&mut heads);
        let before = spot_steps.contains(&n_steps).then(|| engine.weights());
        let n_taken = both.simulator.n_taken();
        if both.step(&x, &y).is_err() {
            break;
        }
        if both.simulator.n_taken() > n_taken && lesson.program.is_some() {
            for sample in samples(lesson, &x, &y) {
                // One that has ended, or waits in vain, says so itself.
                let _ = interpreter.send(sample);
            }
        }
        engine.engine().step_on(&x, &y)?;
        n_steps += 1;
        gain_error = gain_error.max(y[0].abs() / lesson.network.constants.carrier);
        wrong = compare(&both, &engine, &heads, before.is_some())?;
        if let Some(before) = before {
            spots.look(&mut checker, &before, &engine.weights(), (&x, &y))?;
        }
    }
    let weights = engine.weights();
    if wrong.is_none() {
        wrong = both.compare_all(&weights).err().map(|mismatch| mismatch.to_string());
    }
    let end = End { lesson, weights, halted: lesson.rehearsal.halted && n_steps == lesson.rehearsal.steps };
    let theta = lesson.theta(&both.simulator);
    let at_rest = end.at_rest(&mut engine, &mut checker, &mut stream)?;
    let certificate = Certificate {
        trace: Claim {
            holds: wrong.is_none(),
            figures: match &wrong {
                None => format!("{} iterates, 0 mismatches", n_steps + 1),
                Some(why) => format!("after {n_steps} steps {why}"),
            },
        },
        labels: labels(&both.simulator, wrong.is_none(), lesson),
        gain: gain(lesson, gain_error),
        gradient: spots.claim(n_steps),
        output_equals_primary: end.output(&theta, &mut stream),
        no_gradient_through_primary: no_gradient(lesson),
        at_rest,
        program: None,
        no_overflow: None,
    };
    let judged = end.halted.then(|| judge(lesson, &theta, &mut stream)).flatten();
    let taken = both.simulator.n_taken();
    let wraps = Vec::new();
    let stopped = both.simulator.simulator().stopped();
    let accepted = matches!(stopped, Some(luge_machine::Outcome::Halted { accepting: true, .. }));
    Ok(StreamReport {
        halted: end.halted,
        accepted,
        steps: n_steps,
        taken,
        theta,
        judged,
        certificate,
        wraps,
    })
}

/// The samples of a batch as the interpreter counts them.
fn samples(lesson: &PreparedStream, x: &[f64], y: &[f64]) -> Vec<Vec<i64>> {
    let rows = x.chunks(lesson.layout.n_features).zip(y.chunks(lesson.layout.n_labels));
    let raw = |&number: &f64| program::raw(number, lesson.options.format);
    rows.map(|(x, y)| x.iter().chain(y).map(raw).collect()).collect()
}

fn dense<'a>(lesson: &'a PreparedStream, weights: &[Values]) -> Result<Dense<'a>, PreparedStreamError> {
    let network = &lesson.network.network;
    let inputs: Vec<Values> = network.inputs().iter().map(|i| Values::filled(i.shape, 0.0)).collect();
    Ok(Dense::new(network, weights, &inputs, Precision::F64, Rate::One, None)?)
}

/// What a step changed, or everything.
fn compare(
    both: &Lockstep<'_>,
    engine: &AnyEngine<'_>,
    heads: &[i64],
    all: bool,
) -> Result<Option<String>, PreparedStreamError> {
    let found = match engine {
        AnyEngine::Sparse(engine) if !all => both.compare_step(engine, heads),
        _ => both.compare_all(&engine.weights()).map_err(TrainErrorOr::Mismatch),
    };
    match found {
        Ok(()) => Ok(None),
        Err(TrainErrorOr::Mismatch(mismatch)) => Ok(Some(mismatch.to_string())),
        Err(TrainErrorOr::Train(error)) => Err(error.into()),
    }
}

/// The steps around the first and the last take, and some others.
fn spot_steps(lesson: &PreparedStream) -> BTreeSet<Step> {
    let rehearsal = lesson.rehearsal;
    let takes = [rehearsal.first_take, rehearsal.last_take];
    let around = takes.into_iter().flatten().flat_map(|take| [take, take + 1, take + 2]);
    let others = (0..N_SPOTS).map(|i| rehearsal.steps.saturating_sub(1) / N_SPOTS.max(1) * i);
    around.chain(others).chain([rehearsal.steps.saturating_sub(1)]).filter(|&s| s < rehearsal.steps).collect()
}

impl Spots {
    /// Makes a step again by automatic differentiation and compares every weight.
    fn look(
        &mut self,
        checker: &mut Dense<'_>,
        before: &[Values],
        after: &[Values],
        (x, y): (&[f64], &[f64]),
    ) -> Result<(), PreparedStreamError> {
        checker.go_to(before)?;
        checker.step_on(x, y)?;
        self.n_made += 1;
        for (block, (dense, found)) in checker.weights().iter().zip(after).enumerate() {
            for (&dense, &found) in dense.data.iter().zip(&found.data) {
                self.n_weights += 1;
                let difference = (dense - found).abs();
                self.largest = self.largest.max(difference);
                let near = difference <= ROUNDING * dense.abs().max(1.0);
                if !near && self.differs.is_none() {
                    let name = &Engine::network(checker).parameters()[block].name;
                    self.differs = Some(format!("{name} is {found}, by automatic differentiation {dense}"));
                }
            }
        }
        Ok(())
    }

    fn claim(&self, n_steps: Step) -> Claim {
        let figures = match &self.differs {
            None => format!(
                "{} of {n_steps} steps recomputed by automatic differentiation, {} weights alike to {:.1e}; other steps were not differentiated",
                self.n_made, self.n_weights, self.largest
            ),
            Some(why) => why.clone(),
        };
        Claim { holds: self.differs.is_none() && self.n_made > 0, figures }
    }
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

fn gain(lesson: &PreparedStream, largest: f64) -> Claim {
    let constants = lesson.network.constants;
    let bound = constants.label_bound / constants.carrier;
    let figures = format!("|y| / A at most {largest}, allowed {bound}; a sixteenth is forgiven");
    Claim { holds: largest <= bound && bound <= 1.0 / 16.0, figures }
}

fn no_gradient(lesson: &PreparedStream) -> Claim {
    let differentiated = lesson.network.network.differentiated();
    let primary = lesson.network.network.numbered_nodes().filter(|(id, _)| lesson.network.is_primary(*id));
    let nodes: Vec<bool> = primary.map(|(id, _)| differentiated[id.index()]).collect();
    let n = nodes.iter().filter(|&&carries| carries).count();
    Claim { holds: n == 0, figures: format!("{n} of {} nodes of f_theta carry a gradient", nodes.len()) }
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
        checker: &mut Dense<'_>,
        stream: &mut Stream,
    ) -> Result<Claim, PreparedStreamError> {
        if !self.halted {
            return Ok(Claim { holds: false, figures: "the machine has not halted".to_owned() });
        }
        let (mut x, mut y) = batch_of(&self.lesson.layout);
        for _ in 0..self.lesson.options.after {
            stream.next_batch(&mut x, &mut y);
            engine.engine().step_on(&x, &y)?;
        }
        let same_bits = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
        let alike = |(a, b): (&Values, &Values)| a.data.iter().zip(&b.data).all(same_bits);
        let unmoved = engine.weights().iter().zip(&self.weights).all(alike);
        checker.go_to(&self.weights)?;
        let mut n_zero = 0;
        for _ in 0..N_DIFFERENTIATED {
            stream.next_batch(&mut x, &mut y);
            checker.feed(&self.inputs(&x, &y))?;
            let zero = |values: &Values| values.data.iter().all(|g| g.abs() <= 0.0);
            n_zero += usize::from(checker.gradient()?.iter().all(zero));
        }
        let moved = if unmoved { "no weight moved" } else { "weights moved" };
        let figures = format!(
            "{moved} in {} further batches; {n_zero} of {N_DIFFERENTIATED} whole gradients are zero",
            self.lesson.options.after
        );
        Ok(Claim { holds: unmoved && n_zero == N_DIFFERENTIATED, figures })
    }

    fn inputs(&self, x: &[f64], y: &[f64]) -> Vec<Values> {
        let inputs = self.lesson.network.network.inputs();
        let [of_x, of_y] = inputs else { return Vec::new() };
        vec![Values::new(of_x.shape, x.to_vec()), Values::new(of_y.shape, y.to_vec())]
    }

    /// theta in the network is the judge's, and F(x) is f_theta(x).
    fn output(&self, theta: &[f64], stream: &mut Stream) -> Claim {
        if !self.halted {
            return Claim { holds: false, figures: "the machine has not halted".to_owned() };
        }
        let lesson = self.lesson;
        let (network, nodes) = (&lesson.network.network, &lesson.network.nodes);
        let predictor = Predictor::new(&*lesson.primary, theta.to_vec());
        let (mut x, mut y) = batch_of(&lesson.layout);
        let same = |a: &[f64], b: &[f64]| a.iter().map(|v| v.to_bits()).eq(b.iter().map(|v| v.to_bits()));
        let (mut n_alike, mut theta_alike) = (0, true);
        for _ in 0..N_COMPARED {
            stream.next_batch(&mut x, &mut y);
            let inputs = self.inputs(&x, &y);
            let out = evaluate_node(network, &self.weights, &inputs, nodes.out);
            theta_alike &= same(&evaluate_node(network, &self.weights, &inputs, nodes.theta).data, theta);
            n_alike += usize::from(same(&out.data, &predictor.predict(&inputs[0]).data));
        }
        let bits = if theta_alike { "theta bit for bit" } else { "another theta" };
        let figures = format!("{bits}, {n_alike} of {N_COMPARED} new batches");
        Claim { holds: theta_alike && n_alike == N_COMPARED, figures }
    }
}

/// How many of new samples the answer predicts: of labels 0 and 1, or -1 and 1.
fn judge(lesson: &PreparedStream, theta: &[f64], stream: &mut Stream) -> Option<(usize, usize)> {
    let (n_features, n_labels) = lesson.samples.sizes();
    let n = lesson.options.n_judged;
    if n_labels != 1 || n == 0 {
        return None;
    }
    let (mut x, mut y) = (vec![0.0; n * n_features], vec![0.0; n]);
    stream.next_batch(&mut x, &mut y);
    let x = Values::new(Shape::new(n, n_features), x);
    let predicted = Predictor::new(&*lesson.primary, theta.to_vec()).predict(&x);
    Some((count_right(&predicted.data, &y)?, n))
}

/// How many of two labels are predicted, 0 and 1 or -1 and 1; `None` if labels are something else.
pub(crate) fn count_right(predicted: &[f64], labels: &[f64]) -> Option<usize> {
    let is = |values: [f64; 2]| labels.iter().all(|y| values.iter().any(|v| v.to_bits() == y.to_bits()));
    let threshold = match () {
        () if is([0.0, 1.0]) => 0.5,
        () if is([-1.0, 1.0]) => 0.0,
        () => return None,
    };
    Some(predicted.iter().zip(labels).filter(|(f, y)| (**f > threshold) == (**y > threshold)).count())
}
