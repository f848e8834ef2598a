//! Jobs: complete descriptions of what to do, with the library's JSON.

use std::sync::Arc;

use luge::{
    StreamJob,
    data::{PrepareOptions, Range, Table, TableError},
    job::{Data, Job as Inner, JobError, TraceJob, TrainJob, classes_as_wanted, is_program},
    stream::{Draw, Order, Samples, StreamLandscape, StreamOptions},
};
use luge_experiments::compare::stream::{CompareError, StreamComparison};
use luge_net::{NumberFormat, Word};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    arrays,
    prepared::{Network, Prepared},
    refusal::Refusal,
    source::Source,
    watch::on_thread,
};

/// Features, labels, and the names of both.
type Arrays<'py> = (PyReadonlyArray2<'py, f64>, PyReadonlyArray2<'py, f64>, Vec<String>, Vec<String>);

/// What to do: trace a machine, or train a learner on data or on a stream.
#[pyclass(frozen, module = "luge._luge")]
pub(crate) struct Job {
    pub(crate) inner: Inner,
    /// How the number format was chosen, if it was not given.
    #[pyo3(get)]
    format_choice: Option<String>,
}

impl From<Inner> for Job {
    fn from(inner: Inner) -> Self {
        Self { inner, format_choice: None }
    }
}

#[pymethods]
impl Job {
    /// Trace a machine. `options`: JSON with what differs from the defaults.
    #[staticmethod]
    #[pyo3(signature = (source, *, input, start, line, options))]
    fn trace(
        source: &Source,
        input: Vec<String>,
        start: Option<String>,
        line: Option<usize>,
        options: &str,
    ) -> Result<Self, Refusal> {
        let mut job = TraceJob { input, start, line, ..TraceJob::new(source.inner.clone()) };
        job.options = changed(&job.options, options)?;
        Ok(Inner::Trace(job).into())
    }

    /// Train a learner on arrays; without them, on the data that ship with it. `prepare`: JSON that says how to prepare the columns.
    /// Without `saturate`, numbers are not rounded to the format yet: [`Job::choose_format`] does that.
    #[staticmethod]
    #[pyo3(signature = (source, data, *, program, primary, options, prepare, saturate))]
    fn train(
        source: &Source,
        data: Option<Arrays<'_>>,
        program: Option<&Source>,
        primary: Option<String>,
        options: &str,
        prepare: &str,
        saturate: Option<bool>,
    ) -> Result<Self, Refusal> {
        let source = source.inner.clone();
        let asked: PrepareOptions = serde_json::from_str(prepare)?;
        let mut job = match data {
            None => TrainJob::of(source)?,
            Some(data) => {
                let table = table_of(&source, data, &asked)?;
                TrainJob::new(source, Data::Table(table))
            }
        };
        job.program = program.map(|program| program.inner.clone());
        job.primary = primary.unwrap_or(job.primary);
        job.options = changed(&job.options, options)?;
        if let Some(saturate) = saturate {
            fit_data(&mut job, saturate)?;
        }
        Ok(Inner::Train(job).into())
    }

    /// Train a learner on a stream: rows of arrays, samples that are drawn, or those that ship with it. `asked`: the options as JSON.
    #[staticmethod]
    fn stream(source: &Source, data: Option<Arrays<'_>>, asked: &str) -> Result<Self, Refusal> {
        Ok(Inner::Stream(stream_job(source, data, asked)?).into())
    }

    /// Reads a job back.
    #[staticmethod]
    fn from_json(text: &str) -> Result<Self, Refusal> {
        Ok(serde_json::from_str::<Inner>(text)?.into())
    }

    /// The job as JSON; the same job always has the same text.
    fn to_json(&self) -> Result<String, Refusal> {
        Ok(serde_json::to_string(&self.inner)?)
    }

    /// The same job in the smallest number format that works for its program; the format of a machine does not change. Rounds the data.
    fn choose_format(&self, py: Python<'_>, saturate: bool) -> Result<Self, Refusal> {
        let mut inner = self.inner.clone();
        let chosen = py.detach(|| match &mut inner {
            Inner::Train(job) => {
                let chosen = is_program(&job.source).then(|| job.choose_format()).transpose()?;
                fit_data(job, saturate)?;
                Ok(chosen)
            }
            Inner::Stream(job) => {
                let chosen = is_program(&job.source).then(|| job.choose_format()).transpose()?;
                if let Samples::Table(table, _) = &mut job.samples {
                    fit(table, job.options.format, saturate)?;
                }
                Ok(chosen)
            }
            Inner::Trace(_) => Err(Refusal::new("a trace has no number format")),
        })?;
        Ok(Self { inner, format_choice: chosen.map(|chosen| chosen.to_string()) })
    }

    /// `trace`, `train` or `stream`.
    #[getter]
    fn kind(&self) -> &'static str {
        match &self.inner {
            Inner::Trace(_) => "trace",
            Inner::Train(_) => "train",
            Inner::Stream(_) => "stream",
        }
    }

    /// Reads everything and builds the network.
    fn prepare(&self, py: Python<'_>) -> Result<Prepared, Refusal> {
        let job = self.inner.clone();
        let network = on_thread(py, move || Network::new(job))??;
        Ok(Prepared { inner: Arc::new(network) })
    }
}

/// The options of a job on a stream, as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamSettings {
    draw: Option<Draw>,
    order: String,
    primary: Option<String>,
    set: Vec<String>,
    landscape: String,
    options: Value,
    prepare: PrepareOptions,
    /// Whether numbers outside the format are clamped to its range; if left out, they are not rounded yet.
    saturate: Option<bool>,
}

/// The job of a learner on a stream: rows of a table, samples that are drawn, or those that ship with it.
fn stream_job(source: &Source, data: Option<Arrays<'_>>, asked: &str) -> Result<StreamJob, Refusal> {
    let asked: StreamSettings = serde_json::from_str(asked)?;
    let source = source.inner.clone();
    let landscape = StreamLandscape::from_word(&asked.landscape)?;
    let usual = StreamOptions { format: StreamJob::format_for(&source), ..StreamOptions::on(landscape) };
    let options = changed(&usual, &asked.options.to_string())?;
    let job = match (data, asked.draw) {
        (Some(data), _) => {
            let mut table = table_of(&source, data, &asked.prepare)?;
            if let Some(saturate) = asked.saturate {
                fit(&mut table, options.format, saturate)?;
            }
            StreamJob::new(source, Samples::Table(table, Order::from_word(&asked.order)?))
        }
        (None, Some(draw)) => StreamJob::new(source, Samples::Draw(draw)),
        (None, None) => StreamJob::in_format(source, options.format)?,
    };
    let primary = asked.primary.unwrap_or_else(|| job.primary.clone());
    Ok(StreamJob { primary, set: asked.set, landscape, options, ..job })
}

/// Compares the learner of a job with ordinary networks, which see at most this many of the same samples.
#[pyfunction]
pub(crate) fn compare(py: Python<'_>, job: &Job, samples: u64) -> Result<String, Refusal> {
    let Inner::Stream(job) = &job.inner else {
        return Err(Refusal::new("only learners on a stream are compared"));
    };
    let compared =
        py.detach(|| StreamComparison::run(job, samples, |_| {})).map_err(|error| match error {
            CompareError::Job(error) => error.into(),
            error => Refusal::new(error.to_string()),
        })?;
    Ok(serde_json::to_string(&compared)?)
}

/// Rounds the numbers of a job's table to its format.
fn fit_data(job: &mut TrainJob, saturate: bool) -> Result<(), JobError> {
    let Data::Table(table) = &mut job.data else { return Ok(()) };
    fit(table, job.options.format, saturate)
}

/// Rounds the numbers of a table to a format; those outside its range are clamped or refused.
pub(crate) fn fit(table: &mut Table, format: NumberFormat, saturate: bool) -> Result<(), JobError> {
    let range = if saturate { Range::Saturate } else { Range::Refuse };
    table.fit(format, range).map_err(refused)
}

/// Arrays as a prepared table, with classes encoded as the learner expects.
fn table_of(
    source: &luge::Source,
    (x, y, features, labels): Arrays<'_>,
    asked: &PrepareOptions,
) -> Result<Table, Refusal> {
    let unlabelled = labels.is_empty();
    let table = arrays::table(&x, &y, features, labels, asked)?;
    let read = |asked: &PrepareOptions| table.clone().prepared(asked);
    let table = if unlabelled { read(asked) } else { classes_as_wanted(source, asked, read) };
    Ok(table.map_err(refused)?)
}

pub(crate) fn refused(error: TableError) -> JobError {
    JobError::Table { name: "the data".to_owned(), error: Box::new(error) }
}

/// Changes fields of options, by their names in JSON; unknown fields and wrong values are refused.
fn changed<T: Serialize + DeserializeOwned>(options: &T, changes: &str) -> Result<T, Refusal> {
    let mut fields = serde_json::to_value(options)?;
    merge(&mut fields, serde_json::from_str(changes)?);
    Ok(serde_json::from_value(fields)?)
}

fn merge(fields: &mut Value, changes: Value) {
    match (fields, changes) {
        (Value::Object(fields), Value::Object(changes)) => {
            for (name, change) in changes {
                merge(fields.entry(name).or_insert(Value::Null), change);
            }
        }
        (field, change) => *field = change,
    }
}
