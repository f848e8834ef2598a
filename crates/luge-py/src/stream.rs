//! Learners from streams.

use std::{path::PathBuf, sync::Arc};

use luge::{
    StreamJob,
    certificate::no_overflow,
    data::{Preparation, PrepareOptions},
    draw::loss_curve::LossCurve,
    files::model::{AnyModel, ModelError},
    job::{Data, Job as Inner, JobError, program::is_program},
    ordinary::{OrdinaryModel, PreparedOrdinary},
    stream::{self, Draw, Order, Samples, StreamLandscape, StreamOptions},
    training::Claim,
};
use luge_experiments::compare::stream::{CompareError, StreamComparison};
use luge_landscape::LandscapeKind;
use luge_net::Word;
use luge_sled::OverflowSite;
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::{prelude::*, types::PyBytes};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    arrays, files,
    job::{Arrays, Job, changed, fitted, table_of},
    refusal::Refusal,
    source::Source,
    watch::Watch,
};

/// What is asked for, as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    draw: Option<Draw>,
    order: String,
    primary: Option<String>,
    set: Vec<String>,
    landscape: String,
    options: Value,
    prepare: PrepareOptions,
    /// Whether numbers outside the format become its ends; left out: they are not held to it yet, [`choose_format`] does that.
    saturate: Option<bool>,
}

/// The job of a learner on a stream: rows of a table, samples that are drawn, or those that ship with it.
pub(crate) fn job(source: &Source, data: Option<Arrays<'_>>, asked: &str) -> Result<StreamJob, Refusal> {
    let asked: Asked = serde_json::from_str(asked)?;
    let source = source.inner.clone();
    let usual = StreamOptions::new(StreamJob::format_for(&source));
    let options = changed(&usual, &asked.options.to_string())?;
    let unknown = |error| Refusal::unfit(format!("{error}"));
    let samples = match (data, asked.draw) {
        (Some(data), _) => {
            let mut table = table_of(&source, data, &asked.prepare)?;
            if let Some(saturate) = asked.saturate {
                table = fitted(table, options.format, saturate)?;
            }
            Samples::Table(table, Order::from_word(&asked.order).map_err(unknown)?)
        }
        (None, Some(draw)) => Samples::Draw(draw),
        (None, None) => stream::own_samples(&source, options.format)?
            .ok_or_else(|| JobError::NoData(source.name.clone()))?,
    };
    let mut job = StreamJob::new(source, samples);
    (job.options, job.set) = (options, asked.set);
    job.landscape = StreamLandscape::from_word(&asked.landscape).map_err(unknown)?;
    job.primary = asked.primary.unwrap_or(job.primary);
    Ok(job)
}

/// Takes the smallest number format that does for a program, and holds the table to it: the words that say so.
pub(crate) fn choose_format(job: &mut StreamJob, saturate: bool) -> Result<Option<String>, Refusal> {
    let choice = is_program(&job.source).then(|| job.choose_format()).transpose()?;
    if let Samples::Table(table, _) = &mut job.samples {
        *table = fitted(table.clone(), job.options.format, saturate)?;
    }
    Ok(choice.map(|choice| choice.to_string()))
}

/// Compares the learner of a job with ordinary networks on the same samples, of which these see at most so many.
#[pyfunction]
pub(crate) fn compare(py: Python<'_>, job: &Job, samples: u64) -> PyResult<String> {
    let Inner::Stream(job) = &job.inner else {
        return Err(Refusal::unfit("only learners on a stream are compared").into());
    };
    let compared =
        py.detach(|| StreamComparison::run(job, samples, |_| {})).map_err(|error| match error {
            CompareError::Stream(error) => error.into(),
            error => Refusal::unfit(error.to_string()),
        })?;
    Ok(serde_json::to_string(&compared).map_err(Refusal::from)?)
}

/// The result as JSON.
#[derive(Serialize)]
struct Summary<'a, R: Serialize> {
    learner: &'a str,
    landscape: &'static str,
    format: String,
    primary: &'a str,
    batch: usize,
    #[serde(flatten)]
    report: &'a R,
    certified: bool,
    overflow: Option<String>,
}

impl<'a, R: Serialize> Summary<'a, R> {
    fn of(
        job: &'a StreamJob,
        report: &'a R,
        certified: bool,
        wraps: &[OverflowSite],
    ) -> Result<String, Refusal> {
        Ok(serde_json::to_string(&Self {
            learner: &job.source.name,
            landscape: job.landscape.word(),
            format: job.options.format.to_string(),
            primary: &job.primary,
            batch: job.options.batch,
            report,
            certified,
            overflow: no_overflow(wraps).map(|claim| claim.figures),
        })?)
    }
}

enum Network {
    Plain(Box<stream::PreparedStream>),
    Mlp(Box<PreparedOrdinary>),
}

/// A network for a stream, ready to be trained.
#[pyclass(frozen, module = "luge._luge")]
pub(crate) struct PreparedStream {
    inner: Arc<(StreamJob, Network)>,
}

impl PreparedStream {
    pub(crate) fn new(job: StreamJob) -> Result<Self, Refusal> {
        let network = match job.landscape {
            StreamLandscape::Plain => Network::Plain(Box::new(job.prepare()?)),
            StreamLandscape::Mlp if !is_program(&job.source) => {
                let problem = format!("{} is a machine, and landscape mlp runs programs", job.source.name);
                return Err(Refusal::unfit(problem));
            }
            StreamLandscape::Mlp => Network::Mlp(Box::new(job.ordinary()?)),
        };
        Ok(Self { inner: Arc::new((job, network)) })
    }
}

#[pymethods]
impl PreparedStream {
    /// Steps that the learner makes, samples that it takes, and whether it halts.
    #[getter]
    fn rehearsal(&self) -> (u64, u64, bool) {
        match &self.inner.1 {
            Network::Plain(plain) => (plain.rehearsal.steps, plain.rehearsal.n_taken, plain.rehearsal.halted),
            Network::Mlp(mlp) => (mlp.steps, mlp.n_taken, mlp.halts),
        }
    }

    /// Trains, every step held to the simulator, and certifies the run.
    #[pyo3(signature = (*, callback, every))]
    fn train(&self, py: Python<'_>, callback: Option<Py<PyAny>>, every: u64) -> PyResult<Stream> {
        Ok(py.detach(|| self.follow(callback, every))?)
    }
}

impl PreparedStream {
    fn follow(&self, callback: Option<Py<PyAny>>, every: u64) -> Result<Stream, Refusal> {
        let (job, network) = &*self.inner;
        let mut watch = Watch::new(callback, every);
        let (summary, model) = match network {
            Network::Plain(plain) => {
                let report = plain.train(|moment| watch.see(moment.step, moment.loss))?;
                let certified = report.certificate.proves_the_run();
                let model = stream::StreamModel::new(job, plain, &report);
                (Summary::of(job, &report, certified, &report.wraps)?, AnyModel::Stream(Box::new(model)))
            }
            Network::Mlp(mlp) => {
                let report = mlp.train(|step| watch.see(step, f64::NAN))?;
                let model = OrdinaryModel::new(mlp, &report);
                let known = Summary::of(job, &report, report.proves_the_run(), &report.wraps)?;
                (known, AnyModel::Ordinary(Box::new(model)))
            }
        };
        let curve = watch.finish()?;
        Ok(Stream { prepared: Arc::clone(&self.inner), summary, model, curve })
    }
}

/// What training on a stream left behind.
#[pyclass(frozen, module = "luge._luge")]
pub(crate) struct Stream {
    prepared: Arc<(StreamJob, Network)>,
    /// The result as JSON.
    #[pyo3(get)]
    summary: String,
    model: AnyModel,
    curve: LossCurve,
}

#[pymethods]
impl Stream {
    /// The trained network.
    #[getter]
    fn model(&self) -> StreamModel {
        StreamModel { inner: self.model.clone() }
    }

    /// The loss over the steps, drawn as SVG; on landscape mlp it is not known beside the run.
    fn plot(&self, title: &str, subtitle: &str) -> Result<String, Refusal> {
        match &self.prepared.1 {
            Network::Plain(plain) => {
                Ok(self.curve.draw(title, subtitle, LandscapeKind::Plain, &plain.loss_levels(), None))
            }
            Network::Mlp(_) => Err(Refusal::unfit("the loss is drawn for landscape plain alone")),
        }
    }
}

/// A network that was trained on a stream.
#[pyclass(frozen, module = "luge._luge")]
pub(crate) struct StreamModel {
    inner: AnyModel,
}

impl StreamModel {
    fn bytes(&self) -> Result<Vec<u8>, ModelError> {
        match &self.inner {
            AnyModel::Training(model) => model.to_bytes("the model"),
            AnyModel::Stream(model) => model.to_bytes("the model"),
            AnyModel::Ordinary(model) => model.to_bytes("the model"),
        }
    }

    /// Trains again, and says of every claim whether it holds.
    fn again(&self, data: Option<&Data>) -> Result<Vec<(String, Claim)>, Refusal> {
        let mut watch = Watch::new(None, 1);
        let (certificate, same) = match &self.inner {
            AnyModel::Training(_) => return Err(Refusal::unfit("the model is not of a stream")),
            AnyModel::Stream(model) => model.certify(data, |moment| watch.see(moment.step, moment.loss))?,
            AnyModel::Ordinary(model) => model.certify(data, |step| watch.see(step, f64::NAN))?,
        };
        watch.finish()?;
        let claims = certificate.claims().into_iter().chain([("trained again", &same)]);
        Ok(claims.map(|(name, claim)| (name.to_owned(), claim.clone())).collect())
    }
}

#[pymethods]
impl StreamModel {
    /// Reads the bytes of a file; `None` if it is a model of another kind.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> Result<Option<Self>, Refusal> {
        match AnyModel::from_bytes(bytes, "the model".to_owned())? {
            AnyModel::Training(_) => Ok(None),
            inner => Ok(Some(Self { inner })),
        }
    }

    /// Writes the file: complete or not at all, and over another one only if asked to.
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        let bytes = self.bytes().map_err(Refusal::from)?;
        Ok(py.detach(|| files::write(&[(path, bytes)], force))?)
    }

    /// The bytes of the file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.bytes().map_err(Refusal::from)?))
    }

    /// The columns of the features and of the labels.
    #[getter]
    fn columns(&self) -> (Vec<String>, Vec<String>) {
        let Preparation { features, targets, .. } = self.inner.preparation();
        let columns = features.iter().map(|feature| feature.column.clone()).collect();
        (columns, targets.iter().map(|target| target.column.clone()).collect())
    }

    /// The primary network on any number of samples.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let x = arrays::values(&x);
        let (found, expected) = (x.shape.cols, self.inner.preparation().features.len());
        if found != expected {
            return Err(Refusal::unfit(format!("x has {found} features, the model {expected}")).into());
        }
        let x =
            self.inner.preparation().new_numbers(&x).map_err(crate::job::refused).map_err(Refusal::from)?;
        let predicted = py.detach(|| Ok::<_, Refusal>(self.inner.predict(&x)?))?;
        Ok(arrays::matrix(py, predicted))
    }

    /// Trains again on the same samples, and says of every claim whether it holds: JSON. Data, if its samples are rows of a table.
    #[pyo3(signature = (data, *, saturate))]
    fn certify(&self, py: Python<'_>, data: Option<Arrays<'_>>, saturate: bool) -> PyResult<String> {
        let table = data.map(|(x, y, features, labels)| {
            let asked = &self.inner.preparation().asked;
            let table = arrays::table(&x, &y, features, labels, asked)?.prepared(asked);
            let table = table.map_err(crate::job::refused)?;
            match &self.inner {
                AnyModel::Stream(model) => fitted(table, model.card.options.format, saturate),
                _ => Ok(table),
            }
        });
        let data = table.transpose()?.map(Data::Table);
        let claims = py.detach(|| self.again(data.as_ref()))?;
        Ok(serde_json::to_string(&claims).map_err(Refusal::from)?)
    }
}
