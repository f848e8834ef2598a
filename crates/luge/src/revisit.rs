//! Any step of a recorded run: from the snapshot before it, by gradient descent again.

use std::path::Path;

use luge_landscape::{Control, Learner};
use luge_machine::{Cell, Machine};
use luge_net::{Network, Values};
use luge_train::{Snapshot, StopRule, TrainError};

use crate::{
    checkpoint::{Checkpoint, CheckpointError, Request, RequestError, snapshot_digest},
    engine::{self, Engine, Start},
    lesson::{Lesson, LessonError},
    trace::{Plan, TraceError},
};

/// One step of a run.
#[derive(Clone, Debug)]
pub struct Visit {
    /// Gradient steps made.
    pub step: u64,
    /// The loss.
    pub loss: f64,
    /// The engine that went there.
    pub engine: Engine,
    /// The step of the snapshot it started from.
    pub from: u64,
    /// The machine's state that the vertex stands for.
    pub state: String,
    /// SHA-256 of the weights.
    pub weights: String,
    /// The tapes around their heads.
    pub tapes: Vec<VisitedTape>,
    /// All weights that are not zero.
    pub snapshot: Snapshot,
}

/// A binary tape around its head.
#[derive(Clone, Debug)]
pub struct VisitedTape {
    /// Its name.
    pub name: String,
    /// The machine's cell under the head.
    pub head: Cell,
    /// The first cell shown.
    pub first: Cell,
    /// The weights.
    pub cells: Vec<f64>,
}

/// Why a step cannot be revisited.
#[derive(Debug, thiserror::Error)]
pub enum RevisitError {
    /// The file.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// No snapshot lies before the step.
    #[error("the file begins with step {first}, after step {step}")]
    TooEarly {
        /// The step asked for.
        step: u64,
        /// The first one there is.
        first: u64,
    },
    /// The run has ended before.
    #[error("the run ends with step {last}, before step {step}")]
    TooLate {
        /// The step asked for.
        step: u64,
        /// The last one there is.
        last: u64,
    },
    /// The network cannot be built again.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The network cannot be built again.
    #[error(transparent)]
    Lesson(#[from] LessonError),
    /// The learner cannot be built again.
    #[error(transparent)]
    Learner(#[from] luge_landscape::LearnerError),
    /// Training.
    #[error(transparent)]
    Train(#[from] TrainError),
}

/// What is needed to step from a snapshot.
struct Scene<'n> {
    network: &'n Network,
    inputs: Vec<Values>,
    control: Option<&'n Control>,
    first_cells: &'n [Cell],
    machine: &'n Machine,
    stop: StopRule,
    asked: Engine,
}

/// Goes to a step of a recorded run.
///
/// # Errors
/// If the file cannot be used.
pub fn revisit(path: &Path, step: u64, around: usize) -> Result<Visit, RevisitError> {
    let record = Checkpoint::load(path)?;
    let name = path.display().to_string();
    let first = record.snapshots.first().map_or(0, |snapshot| snapshot.step);
    let snapshot = record.before(step).ok_or(RevisitError::TooEarly { step, first })?;
    let unclear =
        |error: RequestError| CheckpointError::Content { name: name.clone(), why: error.to_string() };
    match &record.request {
        Request::Trace(request) => {
            let (machine, input, options) = request.read().map_err(unclear)?;
            let plan = Plan::new(&machine, &input, &options)?;
            let network = plan.landscape.network();
            record.belongs_to(network, &name)?;
            let inputs = plan.landscape.encode(&plan.start).map_or_else(Vec::new, |(_, inputs)| inputs);
            let scene = Scene {
                network,
                inputs,
                control: plan.landscape.control(),
                first_cells: plan.first_cells(),
                machine: plan.lowered.normal.machine(),
                stop: StopRule {
                    loss_at_most: plan.landscape.bounds().stop,
                    not_before: 0,
                    most_steps: step,
                },
                asked: options.engine,
            };
            scene.visit(snapshot, around)
        }
        Request::Train(request) => {
            let training = request.read().map_err(unclear)?;
            let learner = Learner::new(&training.machine, training.input.as_ref())?;
            let lesson = Lesson::prepare(&learner, &training.primary, &training.table, &training.options)?;
            let network = lesson.extended().network();
            record.belongs_to(network, &name)?;
            let scene = Scene {
                network,
                inputs: lesson.inputs(),
                control: lesson.extended().control(),
                first_cells: &lesson.window().first,
                machine: learner.lowered().normal.machine(),
                stop: StopRule { loss_at_most: lesson.extended().stop(), not_before: 1, most_steps: step },
                asked: training.options.engine,
            };
            scene.visit(snapshot, around)
        }
    }
}

impl Scene<'_> {
    fn visit(&self, snapshot: &Snapshot, around: usize) -> Result<Visit, RevisitError> {
        let start = Start::Snapshot(snapshot, None);
        let (mut engine, chosen) = engine::fast(self.asked, self.network, start, &self.inputs, None)?;
        engine.run(&self.stop)?;
        if engine.steps() < self.stop.most_steps {
            return Err(RevisitError::TooLate { step: self.stop.most_steps, last: engine.steps() });
        }
        let loss = engine.loss()?;
        let state = match (self.control, engine.vertex()) {
            (Some(control), Some(vertex)) => {
                self.machine.state(control.state_and_symbols(vertex).0).name.clone()
            }
            _ => "none".to_owned(),
        };
        let tape = |(sign, &first): (usize, &Cell)| {
            let head = engine.head(sign).unwrap_or(0);
            let reach = i64::try_from(around).unwrap_or(i64::MAX / 4);
            let shown = head.saturating_sub(reach)..=head.saturating_add(reach);
            VisitedTape {
                name: self.machine.tapes()[sign].name.clone(),
                head: head + first,
                first: shown.start() + first,
                cells: shown.map(|cell| engine.cell(sign, cell)).collect(),
            }
        };
        let tapes = self.first_cells.iter().enumerate().map(tape).collect();
        let snapshot_here = engine.snapshot();
        Ok(Visit {
            step: engine.steps(),
            loss,
            engine: chosen.engine,
            from: snapshot.step,
            state,
            weights: snapshot_digest(&snapshot_here),
            tapes,
            snapshot: snapshot_here,
        })
    }
}
