//! Learners trained on data.

use std::sync::Arc;

use luge::{
    files::{export, model, summary},
    job::{TrainJob, program::Variable},
    run::follow::ObservationRate,
    training::{PreparedTraining as Inner, TrainingReport},
};
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::{
    arrays,
    model::Model,
    refusal::Refusal,
    watch::{Curve, Watch},
};

/// An extended network around a learner, ready to be trained.
#[pyclass(frozen, module = "luge._luge")]
pub(crate) struct PreparedTraining {
    pub(crate) inner: Arc<Inner>,
    pub(crate) job: Arc<TrainJob>,
}

/// A variable: its name, the elements of an array, the lines of its name, its values.
type Values<'py> = (String, Option<usize>, (u32, u32), Bound<'py, PyArray2<f64>>);

/// What training left behind.
#[pyclass(frozen, module = "luge._luge")]
pub(crate) struct Training {
    lesson: Arc<Inner>,
    job: Arc<TrainJob>,
    report: TrainingReport,
    curve: Curve,
}

#[pymethods]
impl PreparedTraining {
    /// Steps the machine makes.
    #[getter]
    fn machine_steps(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(py.detach(|| self.inner.simulated()).map_err(Refusal::from)?.machine_steps)
    }

    /// What the simulator says theta is.
    #[getter]
    fn expected_theta(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        Ok(py.detach(|| self.inner.simulated()).map_err(Refusal::from)?.theta.clone())
    }

    /// The features and the labels as they are trained on.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>) {
        let table = self.inner.table();
        (arrays::matrix(py, table.features.clone()), arrays::matrix(py, table.labels.clone()))
    }

    /// The names of the features and of the labels.
    #[getter]
    fn names(&self) -> (Vec<String>, Vec<String>) {
        let table = self.inner.table();
        (table.feature_names.clone(), table.label_names.clone())
    }

    /// The network before training as JSON, on as many cells as the run needs: docs/graph-format.md.
    fn graph(&self, py: Python<'_>) -> PyResult<String> {
        let graph = || {
            self.inner.simulated()?;
            Ok::<_, Refusal>(serde_json::to_string(&export::graph(self.inner.extended()))?)
        };
        Ok(py.detach(graph)?)
    }

    /// Trains, holding every iterate to the simulator, and certifies the run.
    #[pyo3(signature = (*, callback, every))]
    fn train(&self, py: Python<'_>, callback: Option<Py<PyAny>>, every: u64) -> PyResult<Training> {
        Ok(py.detach(|| self.follow(callback, every))?)
    }
}

impl PreparedTraining {
    fn follow(&self, callback: Option<Py<PyAny>>, every: u64) -> Result<Training, Refusal> {
        let lesson = Arc::clone(&self.inner);
        let mut watch = Watch::new(callback, every);
        let report = lesson.follow(None, watch.observation_rate(), |moment| watch.observe(&moment))?;
        let curve = Curve::new(watch.finish()?, report.outcome.steps(), false);
        Ok(Training { lesson, job: Arc::clone(&self.job), report, curve })
    }
}

#[pymethods]
impl Training {
    /// The result as JSON.
    #[getter]
    fn summary(&self) -> Result<String, Refusal> {
        Ok(serde_json::to_string(&summary::of_training(&self.lesson, &self.report))?)
    }

    /// Whether the certificate proves the run.
    #[getter]
    fn certified(&self) -> bool {
        self.report.certificate.proves_the_run()
    }

    /// The program's variables after each of these numbers of steps, which must not fall: name, elements of an array, the lines in which
    /// the name stands for it, and the values, one row per step.
    fn variables<'py>(&self, py: Python<'py>, steps: Vec<u64>) -> PyResult<Vec<Values<'py>>> {
        let at = || {
            let loaded = self.job.load(self.lesson.table())?;
            let variables = loaded.compiled.map_or_else(Vec::new, |compiled| compiled.variables);
            let values = self.lesson.variables_at(&variables, &steps)?;
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

    /// The trained network.
    #[getter]
    fn model(&self) -> Model {
        Model { inner: model::Model::new(&self.lesson, &self.report).with_program_of(&self.job) }
    }

    /// The loss over the steps, drawn as SVG.
    fn plot(&self, py: Python<'_>, title: &str, subtitle: &str) -> PyResult<String> {
        let kind = self.lesson.options().landscape;
        let curve = self.curve.whole(py, |watch| {
            self.lesson.follow(None, ObservationRate::Strides, watch)?;
            Ok(())
        })?;
        Ok(curve.draw(title, subtitle, kind, &self.lesson.loss_levels(), None))
    }
}
