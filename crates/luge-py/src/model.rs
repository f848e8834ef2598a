//! Model files.

use std::path::PathBuf;

use luge::{
    data::{Preparation, PrepareOptions, Table, TableError},
    files::{
        audit, export,
        model::{self, ModelError},
        predictor::Predictor,
    },
    job::{JobError, StandardPrimaries},
    training::{Certificate, Claim},
};
use numpy::{PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};
use serde::Serialize;

use crate::{
    arrays, files,
    refusal::{Refusal, with_reasons},
    watch::Watch,
};

/// A trained extended network: what it was made from, its weights, and what was proved of it.
#[pyclass(frozen, module = "luge._luge")]
pub(crate) struct Model {
    pub(crate) inner: model::Model,
}

#[pymethods]
impl Model {
    /// Reads a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let inner = py.detach(|| model::Model::load(&path)).map_err(Refusal::from)?;
        Ok(Self { inner })
    }

    /// Reads the bytes of a file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> Result<Self, Refusal> {
        Ok(Self { inner: model::Model::from_bytes(bytes, "the model".to_owned())? })
    }

    /// Writes the file: complete or not at all, and over another one only if asked to.
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        let bytes = py.detach(|| self.inner.to_bytes("the model")).map_err(Refusal::from)?;
        Ok(py.detach(|| files::write(&[(path, bytes)], force))?)
    }

    /// The bytes of the file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.inner.to_bytes("the model")).map_err(Refusal::from)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What the model says of itself, as JSON.
    #[getter]
    fn card(&self) -> Result<String, Refusal> {
        Ok(serde_json::to_string(&self.inner.card)?)
    }

    /// The primary network's weights.
    #[getter]
    fn theta<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.inner.theta)
    }

    /// All trained weights by the name of their block.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let blocks = PyDict::new(py);
        for (name, values) in &self.inner.weights {
            blocks.set_item(name, arrays::matrix(py, values.to_values()))?;
        }
        Ok(blocks)
    }

    /// Which weights hold the variables of the program, as JSON.
    fn variables(&self) -> Result<String, Refusal> {
        let variables = self.inner.variables().map_err(|error| {
            Refusal::unfit(format!("the model's program is not what it was trained to run: {error}"))
        })?;
        Ok(serde_json::to_string(&variables)?)
    }

    /// The primary network on any number of samples.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let x = arrays::values(&x);
        let preparation = &self.inner.card.preparation;
        let (found, expected) = (x.shape.cols, preparation.features.len());
        if found != expected {
            return Err(Refusal::unfit(format!("x has {found} features, the model {expected}")).into());
        }
        let predicted = py.detach(|| {
            let primary = self.inner.primary()?;
            let x = preparation.new_numbers(&x).map_err(refused)?;
            Ok::<_, Refusal>(Predictor::new(&*primary, self.inner.theta.clone()).predict(&x))
        })?;
        Ok(arrays::matrix(py, predicted))
    }

    /// The network before training as JSON: docs/graph-format.md.
    fn graph(&self, py: Python<'_>) -> PyResult<String> {
        let text =
            py.detach(|| Ok::<_, Refusal>(serde_json::to_string(&export::graph(&self.inner.extended()?))?))?;
        Ok(text)
    }

    /// Derives everything again from the model's machine and its data, and with `retrain` trains again. Gives JSON, also where the
    /// data are others: then the claim about them does not hold.
    #[pyo3(signature = (x, y, *, retrain, saturate))]
    fn certify(
        &self,
        py: Python<'_>,
        x: PyReadonlyArray2<'_, f64>,
        y: PyReadonlyArray2<'_, f64>,
        retrain: bool,
        saturate: bool,
    ) -> PyResult<String> {
        let card = &self.inner.card;
        // Words cannot stand in arrays of numbers: then these are the numbers that the words became.
        let words = card.preparation.has_words();
        let asked = if words { PrepareOptions::default() } else { card.preparation.asked.clone() };
        let (features, labels) = match words {
            true => (card.features.clone(), card.labels.clone()),
            false => {
                let Preparation { features, targets, .. } = &card.preparation;
                let columns = features.iter().map(|feature| feature.column.clone()).collect();
                (columns, targets.iter().map(|target| target.column.clone()).collect())
            }
        };
        let table = arrays::table(&x, &y, features, labels, &asked)?;
        let table = table.prepared(&asked).map_err(refused).map_err(Refusal::from)?;
        let preparation = if words { card.preparation.clone() } else { table.preparation.clone() };
        let table = Table { preparation, ..table };
        Ok(py.detach(|| self.audited(table, retrain, saturate))?)
    }
}

/// A verdict as JSON; its claims stay in order.
#[derive(Serialize)]
struct Verdict {
    holds: bool,
    audit: Certificate,
    retrained: Option<Claim>,
    /// What is taken from the model's word.
    not_checked: Vec<String>,
}

/// The verdict on other data than those of the training, of which nothing else can be said.
fn other_data(figures: String) -> Result<String, Refusal> {
    let audit = [("data", Claim { holds: false, figures })].into_iter().collect();
    Ok(serde_json::to_string(&Verdict { holds: false, audit, retrained: None, not_checked: Vec::new() })?)
}

fn refused(error: TableError) -> JobError {
    JobError::Table { name: "the data".to_owned(), error: Box::new(error) }
}

impl Model {
    fn audited(&self, mut table: Table, retrain: bool, saturate: bool) -> Result<String, Refusal> {
        let model = &self.inner;
        if let Some(why) = audit::other_data(model, &table) {
            return other_data(why);
        }
        let range = if saturate { luge::data::Range::Saturate } else { luge::data::Range::Refuse };
        if let Err(error) = table.fit(model.card.options.format, range) {
            return other_data(refused(error).to_string());
        }
        let lesson = match model.lesson(table, &StandardPrimaries) {
            Err(error @ ModelError::Training(_)) => return other_data(with_reasons(&error)),
            lesson => lesson?,
        };
        let retrained = if retrain {
            let mut watch = Watch::new(None, 1);
            let report = lesson.follow(None, watch.observation_rate(), |moment| watch.observe(&moment));
            watch.finish()?;
            let report = match report {
                Ok(report) => report,
                Err(error) => return other_data(with_reasons(&error)),
            };
            Some(model.is_same(&model::Model::new(&lesson, &report)))
        } else {
            None
        };
        let audit = match audit::audit(model, &lesson) {
            Ok(audit) => audit,
            Err(error) => return other_data(with_reasons(&error)),
        };
        let holds = audit.proves_the_run() && retrained.as_ref().is_none_or(|claim| claim.holds);
        let not_checked = audit::not_checked(&audit, model, retrain);
        Ok(serde_json::to_string(&Verdict { holds, audit, retrained, not_checked })?)
    }
}
