//! Reaches any step of a recorded run by training on from the snapshot before it.

use std::{ops::RangeInclusive, path::Path};

use luge_landscape::Control;
use luge_machine::{Cell, Machine};
use luge_train::{CacheLevel, Snapshot, StopRule};
use serde::Serialize;

use crate::{
    files::checkpoint::{Checkpoint, CheckpointError, snapshot_digest},
    job::{Job, JobError},
    run::engine::{EngineChoice, EngineError, Task},
};

/// One step of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Visit {
    /// Gradient steps made.
    pub step: u64,
    /// The loss.
    pub loss: f64,
    /// The engine that went there.
    pub engine: EngineChoice,
    /// The step of the snapshot it started from.
    pub from: u64,
    /// The machine's state that the vertex stands for.
    pub state: String,
    /// SHA-256 of the weights.
    pub weights: String,
    /// The tapes around their heads.
    pub tapes: Vec<VisitedTape>,
    /// All weights that are not zero.
    #[serde(skip)]
    pub snapshot: Snapshot,
}

/// A binary tape around its head.
#[derive(Clone, Debug, Serialize)]
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

impl VisitedTape {
    /// A tape within reach of its head, as far as there are cells.
    pub(crate) fn around(
        name: &str,
        head: Cell,
        (reach, cells): (usize, RangeInclusive<Cell>),
        weight: impl Fn(Cell) -> f64,
    ) -> Self {
        let reach = Cell::try_from(reach).unwrap_or(Cell::MAX / 4);
        let first = head.saturating_sub(reach).max(*cells.start());
        let last = head.saturating_add(reach).min(*cells.end());
        Self { name: name.to_owned(), head, first, cells: (first..=last).map(weight).collect() }
    }
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
    Job(#[from] JobError),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// What is needed to step from a snapshot.
struct Scene<'n> {
    task: Task<'n>,
    control: Option<&'n Control>,
    first_cells: &'n [Cell],
    machine: &'n Machine,
}

/// Goes to a step of a recorded run.
///
/// # Errors
/// If the file cannot be used.
pub fn revisit(path: &Path, step: u64, around: usize) -> Result<Visit, RevisitError> {
    let record = Checkpoint::load(path)?;
    let name = path.display().to_string();
    let first = record.frames.first().map_or(0, |frame| frame.step);
    if let Some(last) = record.ended.filter(|&last| step > last) {
        return Err(RevisitError::TooLate { step, last });
    }
    let snapshot = &record.before(step).ok_or(RevisitError::TooEarly { step, first })?;
    match &record.job {
        Job::Trace(job) => {
            let plan = job.prepare()?;
            record.belongs_to(plan.landscape.network(), &name)?;
            let scene = Scene {
                task: plan.task()?,
                control: plan.landscape.control(),
                first_cells: plan.first_cells(),
                machine: plan.lowered.normal.machine(),
            };
            scene.visit(step, snapshot, around)
        }
        Job::Train(job) => {
            let lesson = job.prepare()?;
            record.belongs_to(lesson.extended().network(), &name)?;
            let scene = Scene {
                task: lesson.task(),
                control: lesson.extended().control(),
                first_cells: &lesson.window().first,
                machine: lesson.learner().lowered().normal.machine(),
            };
            scene.visit(step, snapshot, around)
        }
        Job::Stream(job) => {
            let lesson = job.prepare()?;
            record.belongs_to(&lesson.network.network, &name)?;
            Ok(lesson.visit(snapshot, step, around)?)
        }
    }
}

impl Scene<'_> {
    fn visit(&self, step: u64, snapshot: &Snapshot, around: usize) -> Result<Visit, RevisitError> {
        // Nobody watches the steps in between.
        let (mut engine, chosen) = self.task.open(CacheLevel::Macrosteps, Some((snapshot, None)))?;
        engine.run(&StopRule { most_steps: step, ..self.task.stop }).map_err(EngineError::from)?;
        if engine.steps() < step {
            return Err(RevisitError::TooLate { step, last: engine.steps() });
        }
        let loss = engine.loss().map_err(EngineError::from)?;
        let state = match (self.control, engine.vertex()) {
            (Some(control), Some(vertex)) => self.machine.state(control.state(vertex)).name.clone(),
            _ => "none".to_owned(),
        };
        let tape = |(sign, &first): (usize, &Cell)| {
            let head = first + engine.head(sign).unwrap_or(0);
            let all = (around, Cell::MIN..=Cell::MAX);
            let name = &self.machine.tapes()[sign].name;
            VisitedTape::around(name, head, all, |cell| engine.cell(sign, cell - first))
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
