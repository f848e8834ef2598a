//! Trains on a stream in lockstep with the simulator, and certifies the run.

use std::{collections::BTreeSet, ops::ControlFlow};

use luge_machine::{Step, stream::StreamSimulator};
use luge_net::{Shape, Values, evaluate_node};
use luge_train::{Dense, Engine, Precision, ROUNDING, Rate, SparseStream, StreamEngine};
use serde::Serialize;

use super::{
    PreparedStream, PreparedStreamError, Stream, StreamEngineChoice, batch_of,
    lockstep::{AnyEngine, Lockstep, TrainErrorOr},
};
use crate::{files::predictor::Predictor, training::Claim};

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
}

impl Certificate {
    /// All claims with their names.
    #[must_use]
    pub fn claims(&self) -> [(&'static str, &Claim); 7] {
        [
            ("trace", &self.trace),
            ("labels", &self.labels),
            ("gain", &self.gain),
            ("gradient", &self.gradient),
            ("output_equals_primary", &self.output_equals_primary),
            ("no_gradient_through_primary", &self.no_gradient_through_primary),
            ("at_rest", &self.at_rest),
        ]
    }

    /// Whether all claims hold.
    #[must_use]
    pub fn proves_the_run(&self) -> bool {
        self.claims().iter().all(|(_, claim)| claim.holds)
    }
}

/// What came of learning from a stream.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StreamReport {
    /// Whether the machine halted; else the steps were used up, or the run broke off.
    pub halted: bool,
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

pub(super) fn train(
    lesson: &PreparedStream,
    mut watch: impl FnMut(Step) -> ControlFlow<()>,
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
        if both.step(&x, &y).is_err() {
            break;
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
        gradient: spots.claim(),
        output_equals_primary: end.output(&theta, &mut stream),
        no_gradient_through_primary: no_gradient(lesson),
        at_rest,
    };
    let judged = end.halted.then(|| judge(lesson, &theta, &mut stream)).flatten();
    let taken = both.simulator.n_taken();
    Ok(StreamReport { halted: end.halted, steps: n_steps, taken, theta, judged, certificate })
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

    fn claim(&self) -> Claim {
        let figures = match &self.differs {
            None => format!(
                "{} steps made again by automatic differentiation, {} weights alike to {:.1e}",
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
    let figures = format!(
        "{taken} batches taken; z within half of {} of -y after each, and of -A = -{} before it",
        constants.label_unit, constants.carrier
    );
    Claim { holds: trace && taken > 0, figures }
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
    let is = |values: [f64; 2]| y.iter().all(|y| values.iter().any(|v| v.to_bits() == y.to_bits()));
    let threshold = match () {
        () if is([0.0, 1.0]) => 0.5,
        () if is([-1.0, 1.0]) => 0.0,
        () => return None,
    };
    let x = Values::new(Shape::new(n, n_features), x);
    let predicted = Predictor::new(&*lesson.primary, theta.to_vec()).predict(&x);
    let right = predicted.data.iter().zip(&y).filter(|(f, y)| (**f > threshold) == (**y > threshold));
    Some((right.count(), n))
}
