//! Model files.

use std::path::PathBuf;

use luge::{
    data::{Preparation, PrepareOptions, Table},
    files::{AnyModel, audit::Verdict, export, model},
    job::Data,
};
use numpy::{PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};

use crate::{
    arrays, files,
    job::{fit, refused},
    refusal::Refusal,
    watch::Watch,
};

/// A trained network, with its weights, its origin, and its certificate.
#[pyclass(frozen, module = "luge._luge")]
pub(crate) struct Model {
    pub(crate) inner: AnyModel,
}

impl Model {
    fn training(&self) -> Result<&model::Model, Refusal> {
        match &self.inner {
            AnyModel::Training(model) => Ok(model),
            _ => Err(Refusal::new("this is a model of a stream: read it as luge.StreamModel")),
        }
    }

    /// Arrays as a table that is prepared as in training.
    fn table(&self, x: &PyReadonlyArray2<'_, f64>, y: &PyReadonlyArray2<'_, f64>) -> Result<Table, Refusal> {
        let preparation = self.inner.preparation();
        // Arrays cannot hold words, so they hold the numbers that encode them.
        let words = preparation.has_words();
        let asked = if words { PrepareOptions::default() } else { preparation.options.clone() };
        let (features, labels) = if words { preparation.names() } else { self.columns() };
        let table = arrays::table(x, y, features, labels, &asked)?.prepared(&asked).map_err(refused)?;
        let preparation = if words { preparation.clone() } else { table.preparation.clone() };
        Ok(Table { preparation, ..table })
    }
}

#[pymethods]
impl Model {
    /// Reads a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> Result<Self, Refusal> {
        Ok(Self { inner: py.detach(|| AnyModel::load(&path))? })
    }

    /// Reads the bytes of a file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> Result<Self, Refusal> {
        Ok(Self { inner: AnyModel::from_bytes(bytes, "the model".to_owned())? })
    }

    /// Writes the file, completely or not at all; with `force`, over an existing one.
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> Result<(), Refusal> {
        py.detach(|| files::write(&[(path, self.inner.to_bytes("the model")?)], force))
    }

    /// The bytes of the file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>, Refusal> {
        Ok(PyBytes::new(py, &py.detach(|| self.inner.to_bytes("the model"))?))
    }

    /// Whether it was trained on a stream.
    #[getter]
    fn of_stream(&self) -> bool {
        !matches!(self.inner, AnyModel::Training(_))
    }

    /// The columns of the features and of the labels.
    #[getter]
    fn columns(&self) -> (Vec<String>, Vec<String>) {
        let Preparation { features, targets, .. } = self.inner.preparation();
        let columns = features.iter().map(|feature| feature.column.clone()).collect();
        (columns, targets.iter().map(|target| target.column.clone()).collect())
    }

    /// Of training on a table: the model card, as JSON.
    #[getter]
    fn card(&self) -> Result<String, Refusal> {
        Ok(serde_json::to_string(&self.training()?.card)?)
    }

    /// Of training on a table: the primary network's weights.
    #[getter]
    fn theta<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<f64>>, Refusal> {
        Ok(PyArray1::from_slice(py, &self.training()?.theta))
    }

    /// Of training on a table: all trained weights by the name of their block.
    fn weights<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, Refusal> {
        let blocks = PyDict::new(py);
        for (name, values) in &self.training()?.weights {
            blocks.set_item(name, arrays::matrix(py, values.to_values()))?;
        }
        Ok(blocks)
    }

    /// Of training on a table: which weights hold the variables of the program, as JSON.
    fn variables(&self) -> Result<String, Refusal> {
        let variables = self.training()?.variables().map_err(|error| {
            Refusal::new(format!("the model's program is not what it was trained to run: {error}"))
        })?;
        Ok(serde_json::to_string(&variables)?)
    }

    /// Predicts the labels of any number of samples.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
    ) -> Result<Bound<'py, PyArray2<f64>>, Refusal> {
        let x = arrays::values(&x);
        let preparation = self.inner.preparation();
        let (found, expected) = (x.shape.cols, preparation.features.len());
        if found != expected {
            return Err(Refusal::new(format!("x has {found} features, the model {expected}")));
        }
        let x = preparation.new_numbers(&x).map_err(refused)?;
        Ok(arrays::matrix(py, py.detach(|| self.inner.predict(&x))?))
    }

    /// Of training on a table: the network before training as JSON: docs/graph-format.md.
    fn graph(&self, py: Python<'_>) -> Result<String, Refusal> {
        let model = self.training()?;
        py.detach(|| Ok(serde_json::to_string(&export::graph(&model.extended()?))?))
    }

    /// Verifies the model from its machine and its data, and with `retrain` by training again; a model of a stream is always trained
    /// again, and needs data only if its samples are rows of a table. Returns JSON. If the data are not those of the training on a
    /// table, the claim `data` does not hold.
    #[pyo3(signature = (data, *, retrain, saturate))]
    fn certify(
        &self,
        py: Python<'_>,
        data: Option<(PyReadonlyArray2<'_, f64>, PyReadonlyArray2<'_, f64>)>,
        retrain: bool,
        saturate: bool,
    ) -> Result<String, Refusal> {
        let mut table = data.map(|(x, y)| self.table(&x, &y)).transpose()?;
        let mut watch = Watch::new(None, 1);
        let verdict = py.detach(|| {
            let format = match &self.inner {
                AnyModel::Training(model) => model.card.options.format,
                AnyModel::Stream(model) => model.card.options.format,
                AnyModel::Mlp(model) => model.card.options.format,
            };
            if let Some(table) = &mut table
                && let Err(error) = fit(table, format, saturate)
            {
                return Ok(Verdict::other_data(error));
            }
            let data = table.map(Data::Table);
            self.inner.verify(data.as_ref(), retrain, &mut |step, loss| watch.observe_step(step, loss))
        });
        watch.finish()?;
        Ok(serde_json::to_string(&verdict?)?)
    }
}
