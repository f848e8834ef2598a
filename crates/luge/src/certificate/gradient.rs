//! Recomputes steps of a run by automatic differentiation, for the certificate's claim `gradient`.
//!
//! After a run, its engine repeats some of the steps, from the start or from a snapshot of the run. The dense engine makes each
//! of these steps from the same weights: it evaluates every unit (equal columns once) and differentiates automatically. Every
//! weight must agree. The repeated run must end like the first, with the same digest of visited vertices and the same weights.

use luge_net::{Network, Op};
use luge_train::{CacheLevel, Snapshot, SpotCheck, SpotError, StopRule, TrainError};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use serde::{Deserialize, Serialize};

use crate::draw::plot::grouped;
use crate::run::{
    decimated::Decimated,
    engine::{EngineError, Task},
    run_stats::RunStats,
};

/// The fewest steps that are recomputed.
pub const MIN_CHECKED: usize = 5;

/// The most steps that are recomputed by default.
pub const MAX_CHECKED: usize = 50;

/// The most bytes for the weights around the recomputed steps, by default.
const MAX_BYTES: u64 = 1 << 24;

/// The cost of an arc or a written cell in a recomputed step, relative to the cost of a tape in a compared step of a run.
/// Measured as the time of `luge train --autodiff-checks 50` minus that of `--autodiff-checks 5`, on the perceptron and on ten
/// thousand rows of `sgd_linear`.
const COST: u64 = 3;

/// The result of recomputing steps of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GradientCheck {
    /// The recomputed steps; empty if the dense engine made all steps of the run.
    pub steps: Vec<u64>,
    /// Whether every step of the run was made by automatic differentiation.
    pub every: bool,
    /// The situations of the run, if every step was observed.
    #[serde(default)]
    pub seen: Option<Seen>,
    /// The first difference, if there is one.
    pub differs: Option<String>,
}

/// The distinct situations of a run, and how many of them were differentiated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Seen {
    /// Gradient steps of the run.
    pub n_steps: u64,
    /// Distinct situations of these steps.
    pub n_situations: usize,
    /// Situations in which the network was differentiated and every weight was compared.
    pub n_looked_at: usize,
    /// Situations that were differentiated at the weights of a step of the run.
    #[serde(default)]
    pub n_as_they_were: usize,
    /// Whether weights are exactly the values that they represent, up to errors that the next step removes. Then one check covers
    /// all steps of a situation.
    pub exact: bool,
}

impl GradientCheck {
    /// The result for the dense engine, which makes every step by automatic differentiation.
    pub(crate) fn of_dense() -> Self {
        Self { every: true, ..Self::default() }
    }

    /// Whether every recomputed step is the network's own gradient step, and every situation was differentiated.
    pub fn holds(&self) -> bool {
        self.differs.is_none() && self.seen.is_none_or(|seen| seen.n_looked_at == seen.n_situations)
    }

    /// Summarises the check in a line.
    pub fn figures(&self) -> String {
        let sampled = match self.steps.len() {
            0 => String::new(),
            n => format!("{n} steps recomputed by automatic differentiation with the weights they had; "),
        };
        match (&self.differs, self.every, self.seen) {
            (Some(why), _, _) => why.clone(),
            (None, true, _) => "every step was made by automatic differentiation".to_owned(),
            (None, false, None) => format!("{sampled}all weights match; other steps were not differentiated"),
            (None, false, Some(seen)) => {
                let Seen { n_steps, n_situations, n_looked_at, n_as_they_were, exact } = seen;
                let missing = match n_situations - n_looked_at {
                    0 => String::new(),
                    n => format!("; {} not looked at", grouped(n as u64)),
                };
                let (steps, situations) = (grouped(n_steps), grouped(n_situations as u64));
                let how = match (exact, n_situations - n_as_they_were) {
                    (true, _) => "each differentiated, every weight as the machine says".to_owned(),
                    (false, 0) => {
                        "each differentiated with the weights of its first step, all weights match".to_owned()
                    }
                    (false, _) => format!(
                        "each differentiated at exact weights, {} of them also with the weights of a step, all weights match",
                        grouped(n_as_they_were as u64)
                    ),
                };
                format!("{sampled}all {steps} steps; {situations} distinct situations, {how}{missing}")
            }
        }
    }
}

/// Repeats a run and passes some of its steps to `check`, which recomputes them by automatic differentiation.
pub(crate) fn recheck<E: From<EngineError>>(
    task: &Task<'_>,
    (end, record): (&Snapshot, &RunStats),
    kept: &Decimated<Snapshot>,
    requested: Option<usize>,
    check: impl FnOnce(&[CheckedStep]) -> Result<GradientCheck, E>,
) -> Result<GradientCheck, E> {
    let steps = choose((end, record), task.network, requested);
    match collect(task, &steps, end, kept)? {
        Ok(checked) => check(&checked),
        Err(why) => Ok(GradientCheck { steps, differs: Some(why), ..GradientCheck::default() }),
    }
}

/// Chooses the steps to recompute: the first two, the last, those with the lowest and the highest loss, and random ones.
///
/// Their number depends on sizes alone, so that the same run always has the same certificate. If none is requested, it is the
/// number that takes about as long as comparing the run and fits in memory, from [`MIN_CHECKED`] to [`MAX_CHECKED`].
fn choose((end, record): (&Snapshot, &RunStats), network: &Network, requested: Option<usize>) -> Vec<u64> {
    let n_steps = end.step;
    if n_steps == 0 {
        return Vec::new();
    }
    let n_cells: usize = end.trimmed().tapes.iter().map(|tape| tape.cells.len()).sum();
    let run = n_steps.saturating_mul(end.tapes.len().max(1) as u64);
    let in_time = run / (COST * (n_arcs(network) + n_cells as u64)).max(1);
    // Weights before and after each step, one bit per cell.
    let affordable = in_time.min(MAX_BYTES / (n_cells as u64 / 4).max(1));
    let count = requested
        .unwrap_or(usize::try_from(affordable).unwrap_or(MAX_CHECKED).clamp(MIN_CHECKED, MAX_CHECKED))
        .max(1);
    let mut steps = vec![0, 1.min(n_steps - 1), n_steps - 1];
    steps.extend([record.lowest_at, record.highest_at].into_iter().flatten().filter(|&s| s < n_steps));
    steps.sort_unstable();
    steps.dedup();
    let mut generator = ChaCha8Rng::seed_from_u64(n_steps);
    let room = usize::try_from(n_steps).unwrap_or(usize::MAX);
    while steps.len() < count.min(room) {
        let step = generator.next_u64() % n_steps;
        if let Err(place) = steps.binary_search(&step) {
            steps.insert(place, step);
        }
    }
    steps
}

/// Counts the arcs of linear layers, which determine the cost of evaluating every unit.
fn n_arcs(network: &Network) -> u64 {
    let arcs = |op: &Op| if let Op::Linear(map, _) = op { map.most_entries() as u64 } else { 0 };
    network.nodes().iter().map(|node| arcs(&node.op)).sum()
}

/// A step of the repeated run: the loss, the weights before and after it, and the largest rounding difference from the dense
/// engine's.
pub(crate) struct CheckedStep {
    loss: f64,
    before: Snapshot,
    after: Snapshot,
    rounding: f64,
}

/// Repeats the run up to these steps, from its own snapshots, and returns the weights before and after them; the inner error says
/// how the repeated run ends differently.
fn collect(
    task: &Task<'_>,
    steps: &[u64],
    end: &Snapshot,
    kept: &Decimated<Snapshot>,
) -> Result<Result<Vec<CheckedStep>, String>, EngineError> {
    let (mut engine, _) = task.open(CacheLevel::Macrosteps, None)?;
    let to = |most_steps| StopRule { loss_at_most: f64::NEG_INFINITY, not_before: 0, most_steps };
    let mut checked = Vec::with_capacity(steps.len());
    for &step in steps {
        if let Some(snapshot) = kept.before(step).filter(|snapshot| snapshot.step > engine.steps()) {
            (engine, _) = task.open(CacheLevel::Macrosteps, Some((snapshot, None)))?;
        }
        engine.run(&to(step))?;
        let (loss, before) = (engine.loss()?, engine.snapshot().trimmed());
        engine.step()?;
        let after = engine.snapshot().trimmed();
        checked.push(CheckedStep { loss, before, after, rounding: engine.rounding() });
    }
    engine.run(&to(end.step))?;
    if engine.snapshot().trimmed() != end.trimmed() {
        return Ok(Err("the run made again visits other vertices or ends with other weights".to_owned()));
    }
    Ok(Ok(checked))
}

/// Returns the first and last cell that the tapes and heads of all these steps use, with one more on each side.
pub(crate) fn extent(checked: &[CheckedStep]) -> Option<(i64, i64)> {
    let tapes =
        checked.iter().flat_map(|step| [&step.before, &step.after]).flat_map(|snapshot| &snapshot.tapes);
    let reach = |tape: &luge_train::TapeSnapshot| {
        let head_end = tape.head_first + tape.head.len() as i64;
        let end = tape.first + tape.cells.len() as i64;
        (tape.first.min(tape.head_first) - 1, end.max(head_end))
    };
    tapes.map(reach).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// Recomputes the steps by automatic differentiation and compares every weight.
pub(crate) fn check(
    mut checker: SpotCheck<'_>,
    checked: &[CheckedStep],
) -> Result<GradientCheck, TrainError> {
    let steps = checked.iter().map(|step| step.before.step).collect();
    let mut found = GradientCheck { steps, ..GradientCheck::default() };
    for CheckedStep { loss, before, after, rounding } in checked {
        let step = before.step;
        let differs = match checker.check(before, after, *rounding) {
            Ok(agreement) if !agreement.has_loss(*loss) => {
                Some(format!("at step {step} every unit evaluated gives the loss {}, the run had {loss}", agreement.loss))
            }
            Ok(agreement) => agreement.differs.map(|weight| {
                format!(
                    "step {step} is not the network's own: automatic differentiation moves {}[{}] to {}, the run to {}",
                    weight.parameter, weight.index, weight.dense, weight.found
                )
            }),
            Err(SpotError::Train(error)) => return Err(error),
            Err(error) => Some(error.to_string()),
        };
        if differs.is_some() {
            found.differs = differs;
            break;
        }
    }
    Ok(found)
}
