//! Prepared jobs, and the results of training.

use std::sync::{Arc, OnceLock};

use luge::{
    PreparedStream, PreparedTrace, PreparedTraining, StreamJob, TrainJob,
    certificate::no_overflow,
    draw::LossCurve,
    files::{AnyModel, export, model, summary},
    job::{self, program::Variable},
    mlp::{MlpModel, PreparedMlp},
    object,
    run::{Comparisons, ObservationRate},
    stream::{StreamLandscape, StreamModel, StreamReport},
};
use luge_landscape::LandscapeKind;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use serde::Serialize;

use crate::{
    arrays,
    model::Model,
    refusal::Refusal,
    steps::Steps,
    watch::{PerStep, Watch},
};

/// A network that is ready to be trained, and its job.
#[expect(clippy::large_enum_variant, reason = "every one lies behind an Arc")]
pub(crate) enum Network {
    Trace(PreparedTrace),
    Training(PreparedTraining, TrainJob),
    Stream(PreparedStream, StreamJob),
    Mlp(PreparedMlp, StreamJob),
}

/// The result of training, without the losses.
struct Trained {
    summary: String,
    certified: bool,
    model: Option<AnyModel>,
    first_mismatch: Option<u64>,
    /// The number of iterates, if the losses of all of them can be observed.
    n_losses: Option<u64>,
}

impl Trained {
    fn new(summary: &impl Serialize, certified: bool, model: Option<AnyModel>) -> Result<Self, Refusal> {
        let summary = serde_json::to_string(summary)?;
        Ok(Self { summary, certified, model, first_mismatch: None, n_losses: None })
    }
}

impl Network {
    pub(crate) fn new(job: job::Job) -> Result<Self, Refusal> {
        Ok(match job {
            job::Job::Trace(job) => Self::Trace(job.prepare()?),
            job::Job::Train(job) => Self::Training(job.prepare()?, job),
            job::Job::Stream(job) => match job.landscape {
                StreamLandscape::Plain => Self::Stream(job.prepare()?, job),
                StreamLandscape::Mlp => Self::Mlp(job.prepare_mlp()?, job),
            },
        })
    }

    /// Trains, compares every step with the simulator, and certifies the run.
    fn train(&self, watch: &mut Watch) -> Result<Trained, Refusal> {
        let rate = watch.rate;
        match self {
            Self::Trace(plan) => {
                let trace = plan.follow(None, rate, |moment| watch.observe(&moment))?;
                let summary = summary::of_trace(plan, &trace);
                // If only the end is compared, not every loss is observed.
                let whole = plan.options.compare != Comparisons::End;
                Ok(Trained {
                    first_mismatch: trace.first_mismatch.as_ref().map(|mismatch| mismatch.step),
                    n_losses: whole.then_some(trace.outcome.steps() + 1),
                    ..Trained::new(&summary, trace.decodes_to_machine(), None)?
                })
            }
            Self::Training(lesson, job) => {
                let report = lesson.follow(None, rate, |moment| watch.observe(&moment))?;
                let model = model::Model::new(lesson, &report).with_program_of(job);
                let model = Some(AnyModel::Training(Box::new(model)));
                let (summary, proved) =
                    (summary::of_training(lesson, &report), report.certificate.proves_the_run());
                let n_losses = Some(report.outcome.steps() + 1);
                Ok(Trained { n_losses, ..Trained::new(&summary, proved, model)? })
            }
            Self::Stream(stream, job) => {
                let report = stream.train(|moment| watch.observe_step(moment.step, moment.loss))?;
                let model = AnyModel::Stream(Box::new(StreamModel::new(job, stream, &report)));
                streamed(job, &report, model)
            }
            Self::Mlp(mlp, job) => {
                let report = mlp.train(|moment| watch.observe_step(moment.step, moment.loss))?;
                let model = AnyModel::Mlp(Box::new(MlpModel::new(mlp, &report)));
                streamed(job, &report, model)
            }
        }
    }
}

/// The result of a run on a stream.
fn streamed(job: &StreamJob, report: &StreamReport, model: AnyModel) -> Result<Trained, Refusal> {
    let certified = report.certificate.proves_the_run();
    let summary = object! {
        learner: &job.source.name,
        landscape: job.landscape.word(),
        format: job.options.format.to_string(),
        primary: &job.primary,
        batch: job.options.batch,
        #[serde(flatten)]
        report: report,
        certified: certified,
        overflow: no_overflow(&report.wraps).map(|claim| claim.figures),
    };
    Trained::new(&summary, certified, Some(model))
}

/// A network that is ready to be trained.
#[pyclass(frozen, module = "luge._luge")]
pub(crate) struct Prepared {
    pub(crate) inner: Arc<Network>,
}

impl Prepared {
    fn training(&self) -> Result<&PreparedTraining, Refusal> {
        match &*self.inner {
            Network::Training(lesson, _) => Ok(lesson),
            _ => Err(Refusal::new("this is not a training on a table")),
        }
    }
}

#[pymethods]
impl Prepared {
    /// Of training on a table: theta, as the simulator computes it.
    #[getter]
    fn expected_theta(&self, py: Python<'_>) -> Result<Vec<f64>, Refusal> {
        let lesson = self.training()?;
        Ok(py.detach(|| lesson.simulated())?.theta.clone())
    }

    /// Of a stream: the number of steps, the number of samples taken, and whether the learner halts.
    #[getter]
    fn rehearsal(&self) -> Result<(u64, u64, bool), Refusal> {
        match &*self.inner {
            Network::Stream(PreparedStream { rehearsal, .. }, _)
            | Network::Mlp(PreparedMlp { rehearsal, .. }, _) => {
                Ok((rehearsal.steps, rehearsal.n_taken, rehearsal.halted))
            }
            _ => Err(Refusal::new("this is not a run on a stream")),
        }
    }

    /// Of training on a table: the network before training as JSON, on as many cells as the run needs: docs/graph-format.md.
    fn graph(&self, py: Python<'_>) -> Result<String, Refusal> {
        let lesson = self.training()?;
        py.detach(|| {
            lesson.simulated()?;
            Ok(serde_json::to_string(&export::graph(lesson.extended()))?)
        })
    }

    /// The run of a trace or a training on a table, step by step.
    fn steps(&self) -> Steps {
        Steps::of(Arc::clone(&self.inner))
    }

    /// Trains, and compares every step with the simulator. With `arrays`, records the loss, vertex and heads of every step of a trace.
    #[pyo3(signature = (*, arrays, callback, every))]
    fn train(
        &self,
        py: Python<'_>,
        arrays: bool,
        callback: Option<Py<PyAny>>,
        every: u64,
    ) -> Result<Finished, Refusal> {
        let mut watch = Watch::new(callback, every);
        if let (Network::Trace(plan), true) = (&*self.inner, arrays) {
            if plan.options.compare == Comparisons::End && !plan.dense() {
                return Err(Refusal::new(
                    "there are no arrays of every step if only the end is compared: give arrays=False, or compare=\"every\"",
                ));
            }
            watch = watch.recording(plan.first_cells());
        }
        let Trained { summary, certified, model, first_mismatch, n_losses } =
            py.detach(|| self.inner.train(&mut watch))?;
        let (seen, record) = watch.finish()?;
        // If some losses were not observed, the run is repeated when they are to be plotted.
        let whole = n_losses.is_none_or(|n_losses| seen.n_seen == n_losses);
        let curve = if whole { OnceLock::from(seen) } else { OnceLock::new() };
        let arrays = record.map(|record| handed_over(py, record));
        let network = Arc::clone(&self.inner);
        Ok(Finished { network, summary, certified, arrays, model, first_mismatch, curve })
    }
}

/// Losses, vertices and heads of every step.
type Arrays = (Py<PyArray1<f64>>, Py<PyArray1<i64>>, Py<PyArray2<i64>>);

fn handed_over(py: Python<'_>, PerStep { first_cells, losses, vertices, heads }: PerStep) -> Arrays {
    let heads = arrays::rows(py, losses.len(), first_cells.len(), heads).unbind();
    (arrays::vector(py, losses).unbind(), arrays::vector(py, vertices).unbind(), heads)
}

/// A variable: its name, the number of elements if it is an array, the lines in which the name means it, and its values.
type Values<'py> = (String, Option<usize>, (u32, u32), Bound<'py, PyArray2<f64>>);

/// The result of training.
#[pyclass(frozen, module = "luge._luge")]
pub(crate) struct Finished {
    network: Arc<Network>,
    /// The result as JSON.
    #[pyo3(get)]
    summary: String,
    /// Whether the certificate proves the run; of a trace, whether every iterate is the machine's configuration, wherever the losses
    /// lie.
    #[pyo3(get)]
    certified: bool,
    /// Of a trace: the loss, the vertex and the cell of each binary tape's head, before each step and at the end.
    #[pyo3(get)]
    arrays: Option<Arrays>,
    model: Option<AnyModel>,
    first_mismatch: Option<u64>,
    curve: OnceLock<LossCurve>,
}

#[pymethods]
impl Finished {
    /// The trained network, unless this is a trace.
    #[getter]
    fn model(&self) -> Option<Model> {
        self.model.clone().map(|inner| Model { inner })
    }

    /// The program's variables after each of these numbers of steps, which must not fall: name, elements of an array, the lines in which
    /// the name means it, and the values, one row per step.
    fn variables<'py>(&self, py: Python<'py>, steps: Vec<u64>) -> Result<Vec<Values<'py>>, Refusal> {
        let Network::Training(lesson, job) = &*self.network else { return Ok(Vec::new()) };
        let at = || {
            let loaded = job.load(lesson.table())?;
            let variables = loaded.compiled.map_or_else(Vec::new, |compiled| compiled.variables);
            let values = lesson.variables_at(&variables, &steps)?;
            Ok::<_, Refusal>((variables, values))
        };
        let (variables, values) = py.detach(at)?;
        let of = |(i, variable): (usize, Variable)| {
            let n = variable.length.unwrap_or(1);
            let rows = values.iter().flat_map(|step| step[i].iter().copied()).collect();
            let array = arrays::rows(py, steps.len(), n, rows);
            (variable.name, variable.length, variable.lines, array)
        };
        Ok(variables.into_iter().enumerate().map(of).collect())
    }

    /// The loss over the steps, drawn as SVG. On landscape mlp the losses are not known.
    fn plot(&self, py: Python<'_>, title: &str, subtitle: &str) -> Result<String, Refusal> {
        let (kind, levels) = match &*self.network {
            Network::Trace(plan) => (plan.options.landscape, plan.landscape.bounds()),
            Network::Training(lesson, _) => (lesson.options().landscape, lesson.loss_levels()),
            Network::Stream(stream, _) => (LandscapeKind::Plain, stream.loss_levels()),
            Network::Mlp(..) => {
                return Err(Refusal::new("the loss is drawn for landscape plain alone"));
            }
        };
        if self.curve.get().is_none() {
            let mut watch = Watch::new(None, 1);
            watch.rate = ObservationRate::Strides;
            py.detach(|| self.network.train(&mut watch))?;
            // Another thread may have computed the same curve first.
            let _ = self.curve.set(watch.finish()?.0);
        }
        let curve = self.curve.get_or_init(LossCurve::default);
        Ok(curve.draw(title, subtitle, kind, &levels, self.first_mismatch))
    }
}
