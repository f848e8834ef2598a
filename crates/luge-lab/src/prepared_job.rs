//! Prepares a job so that its run can be replayed.

use std::sync::OnceLock;

use luge::{
    data::{Range, Table},
    job::{
        Data, Job, JobError, Loaded, StandardPrimaries, TraceJob, TrainJob, catalogue,
        program::{Variable, is_program},
        source::Source,
    },
    run::engine::{EngineError, Task},
    trace::PreparedTrace,
    training::PreparedTraining,
};
use luge_landscape::{Bounds, ConstantOptions, Control, Landscape, LandscapeKind, LandscapeOptions};
use luge_machine::{Machine, NormalForm, Step, lowering::Lowered};
use luge_net::{Form, SparseLayers};
use serde_json::Value;

use super::refusal::{RunError, located};
use crate::replay::{Replay, Tapes};

/// The longest run that is followed, in steps.
pub const MAX_STEPS: Step = 1_000_000_000_000;

/// The longest run by the dense engine.
pub const MAX_DENSE_STEPS: Step = 20_000;

/// The longest run with noise.
pub const MAX_NOISY_STEPS: Step = 2_000;

/// The most steps of a learner.
const MAX_LESSON_STEPS: Step = 100_000_000;

/// Cells per tape of a small landscape that only shows the surroundings of the heads, and the cell of every head in it.
pub(super) const NEAR_CELLS: usize = 5;
pub(super) const NEAR_HEAD: usize = 2;

/// The most vertices of a machine whose small landscape is built once for all of them.
const MAX_SMALL: usize = 1 << 13;

/// The most cells of an input.
pub(super) const MAX_INPUT: usize = 1 << 16;

/// A prepared job, and what is known about its program.
pub struct PreparedJob {
    /// The job as requested.
    pub(super) job: Job,
    /// The name of the run.
    pub(super) name: String,
    /// For every state, the line of the program that it belongs to, if known.
    pub(super) lines: Vec<Option<usize>>,
    /// Where the variables lie on the tapes, if the learner is a program.
    pub(super) variables: Vec<Variable>,
    /// Warnings about the program.
    pub(super) warnings: Vec<Value>,
    pub(super) run: Prepared,
    /// Rows that the learner does not see.
    pub(super) held_out: Option<Table>,
    /// Options for small landscapes with the constants of the whole, and the one of the whole machine if it is not too
    /// large.
    small: OnceLock<(LandscapeOptions, Option<Landscape>)>,
}

pub(super) enum Prepared {
    Trace(Box<PreparedTrace>),
    Training(Box<PreparedTraining>),
}

/// A network ready to be replayed, and what its parts mean.
pub struct Scene<'a> {
    /// What is known about the job and its program.
    pub(super) prepared: &'a PreparedJob,
    /// The machine as given.
    pub machine: &'a Machine,
    /// The machine in normal form.
    pub lowered: &'a Lowered,
    /// Which landscape.
    pub kind: LandscapeKind,
    /// The network, its start, and when training is done.
    pub task: Task<'a>,
    /// The machine's tapes in the network's.
    pub tapes: Tapes<'a>,
    /// The vertices, unless they are configurations.
    pub control: Option<&'a Control>,
    /// A small landscape with the same constants, to draw the loss around a vertex. `None` if it would be too large, or if the
    /// vertices are configurations of an extended network.
    pub near: Option<&'a Landscape>,
    /// The bounds that the loss must keep.
    pub bounds: Bounds,
    /// The lesson, if the machine learns.
    pub lesson: Option<&'a PreparedTraining>,
}

impl PreparedJob {
    /// Prepares a job, within the lab's limits.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn open(job: &Job) -> Result<Self, RunError> {
        Self::open_with(job, None, &mut || true)
    }

    /// Prepares a job within the lab's limits, while `go_on` returns true. `held_out` has rows with the columns of its data that the
    /// learner does not see.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn open_with(
        job: &Job,
        held_out: Option<&str>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Self, RunError> {
        let (source, (loaded, run)) = match job {
            Job::Trace(trace) => (&trace.source, prepare_trace(trace.clone())?),
            Job::Train(train) => (&train.source, prepare_lesson(train.clone(), go_on)?),
            Job::Stream(stream) => return Err(JobError::OnStream(stream.source.name.clone()).into()),
        };
        let held_out = match (job, &run, held_out) {
            (Job::Train(train), Prepared::Training(lesson), Some(rows)) => {
                held_out_rows(train, lesson, rows)?
            }
            _ => None,
        };
        let (lines, variables) = match &loaded.compiled {
            Some(compiled) => {
                let lines = compiled.lines.iter().map(|line| line.map(|line| line as usize));
                (lines.collect(), compiled.variables.clone())
            }
            None => (state_lines(&loaded.machine, &source.text), Vec::new()),
        };
        Ok(Self {
            job: job.clone(),
            name: name(source, &loaded.machine),
            lines,
            variables,
            warnings: located(&loaded.warnings, &source.text),
            run,
            held_out,
            small: OnceLock::new(),
        })
    }

    /// The network, and what its parts mean.
    ///
    /// # Errors
    /// If its start is no configuration of the landscape.
    pub fn scene(&self) -> Result<Scene<'_>, RunError> {
        let mut scene = match &self.run {
            Prepared::Trace(plan) => Scene {
                prepared: self,
                machine: &plan.machine,
                lowered: &plan.lowered,
                kind: plan.options.landscape,
                task: plan.task()?,
                tapes: Tapes::new(&plan.machine, &plan.lowered, plan.window.first.clone()),
                control: plan.landscape.control(),
                near: plan.landscape.control().is_none().then_some(&plan.landscape),
                bounds: plan.landscape.bounds(),
                lesson: None,
            },
            Prepared::Training(lesson) => {
                let (learner, extended) = (lesson.learner(), lesson.extended());
                Scene {
                    prepared: self,
                    machine: learner.machine(),
                    lowered: learner.lowered(),
                    kind: lesson.options().landscape,
                    task: lesson.task(),
                    tapes: Tapes::new(learner.machine(), learner.lowered(), lesson.window().first.clone()),
                    control: extended.control(),
                    near: None,
                    bounds: lesson.loss_levels(),
                    lesson: Some(lesson),
                }
            }
        };
        let (_, near) = self.small.get_or_init(|| scene.small_landscape());
        scene.near = scene.near.or(near.as_ref());
        Ok(scene)
    }
}

impl Scene<'_> {
    /// The run before its first step.
    ///
    /// # Errors
    /// If the requested engine cannot run it.
    pub fn replay(&self) -> Result<Replay<'_>, EngineError> {
        Replay::new(self)
    }

    /// The options for small landscapes, and the small landscape of the whole machine if that is not too large.
    fn small_landscape(&self) -> (LandscapeOptions, Option<Landscape>) {
        let constants = self.task.network.sparse_layers().ok().map(constants_of);
        let options = LandscapeOptions {
            constants: constants.unwrap_or_default(),
            ..LandscapeOptions::new(self.kind, NEAR_CELLS)
        };
        let wanted = constants.is_some() && self.n_vertices() <= MAX_SMALL;
        let landscape = || Landscape::build(&self.lowered.normal, &options).ok();
        let landscape = if wanted { landscape() } else { None };
        (options, landscape)
    }

    /// The landscape of a machine with few states, if one can be built with the constants of the whole.
    pub(super) fn landscape_of(&self, normal: &NormalForm) -> Option<Landscape> {
        let (options, _) = self.prepared.small.get()?;
        Landscape::build(normal, options).ok()
    }
}

/// The name of a run: a machine file may name its machine, and what ships has a title.
fn name(source: &Source, machine: &Machine) -> String {
    let own = || machine.name().map(str::to_owned);
    let title = || catalogue::with_text(&source.text).map(catalogue::Shipped::title);
    let named = if is_program(source) { title().or_else(own) } else { own().or_else(title) };
    named.unwrap_or_else(|| source.name.clone())
}

/// A trace within the lab's limits.
fn prepare_trace(mut job: TraceJob) -> Result<(Loaded, Prepared), RunError> {
    let loaded = job.load()?;
    if job.initial_tapes(&loaded)?.tapes.iter().any(|tape| tape.symbols.len() > MAX_INPUT) {
        return Err(RunError::InputTooLong);
    }
    // For the dense engine, preparing simulates the run; where vertices are configurations, all of it.
    let asked = job.options.steps.unwrap_or(Step::MAX);
    let ahead = asked.min(MAX_DENSE_STEPS);
    job.options.steps = (job.options.landscape != LandscapeKind::Internal).then_some(ahead);
    let mut plan = job.plan(&loaded)?;
    // Going back in a run with noise repeats it from the start; like every dense run it ends when the machine does.
    let noisy = job.options.manner.noise.is_some();
    plan.most_steps = match plan.dense() {
        true if noisy => plan.most_steps.min(MAX_NOISY_STEPS),
        true => plan.most_steps,
        false => asked.min(MAX_STEPS),
    };
    Ok((loaded, Prepared::Trace(Box::new(plan))))
}

/// A lesson within the lab's limits.
fn prepare_lesson(
    mut job: TrainJob,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<(Loaded, Prepared), RunError> {
    job.options.steps = job.options.steps.min(MAX_LESSON_STEPS);
    let table = job.table()?;
    let loaded = job.load(&table)?;
    let lesson = job.assemble(table, &loaded, &StandardPrimaries)?;
    // The page shows the network with the cells that the run needs, and the length of the run.
    lesson.simulated_while(go_on)?;
    Ok((loaded, Prepared::Training(Box::new(lesson))))
}

/// Held-out rows, prepared like the training rows.
fn held_out_rows(job: &TrainJob, lesson: &PreparedTraining, rows: &str) -> Result<Option<Table>, RunError> {
    let Data::Csv { name, .. } = &job.data else { return Ok(None) };
    let read = || {
        let mut table = lesson.table().other_rows(rows)?;
        table.fit(job.options.format, Range::Saturate)?;
        Ok(table)
    };
    Ok(Some(read().map_err(|error| JobError::Table { name: name.clone(), error: Box::new(error) })?))
}

/// The constants that a network was built with.
fn constants_of(layers: &SparseLayers) -> ConstantOptions {
    match layers.form {
        Form::Slides { offset, symbol, head_rate, .. } => ConstantOptions {
            base: Some((symbol * head_rate).abs()),
            scale: Some(1.0 / head_rate),
            offset: Some(offset),
            drop: None,
        },
        Form::Targets { offset, drop } => {
            ConstantOptions { offset: Some(offset), drop: Some(drop), ..ConstantOptions::default() }
        }
    }
}

/// The line in which the rules of each state begin, for formats that start a line for every state.
fn state_lines(machine: &Machine, text: &str) -> Vec<Option<usize>> {
    let line_of = |name: &str| {
        let begins = |line: &str| {
            let line = line.trim_start();
            line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(':'))
        };
        text.lines().position(begins).map(|line| line + 1)
    };
    machine.states().iter().map(|state| line_of(&state.name)).collect()
}
