//! Model files of streams: the learner, its stream, how it was trained, and the weights that training left.

use std::{ops::ControlFlow, path::Path, sync::Arc};

use luge_landscape::{Primary, StreamNetwork};
use luge_machine::Step;
use luge_net::{SparseValues, Values};
use serde::{Deserialize, Serialize};

use super::{
    Draw, Order, PreparedStream, PreparedStreamError, Samples, StreamJob, StreamLandscape, StreamMoment,
    StreamOptions, StreamReport,
};
use crate::{
    certificate::{Certificate, Claim},
    data::Preparation,
    files::{
        bounded,
        model::{ModelError, data_digest, file::ModelKind},
        predictor::Predictor,
    },
    job::{Data, JobError, Primaries, StandardPrimaries, source::Source},
    run::lockstep::Window,
};

/// What files of such models have; one with another version is refused.
const KIND: ModelKind = ModelKind { key: "luge_stream", version: 2 };

/// Where the samples of a model came from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) enum StoredSamples {
    /// Nowhere: it takes none.
    None,
    /// A distribution.
    Draw(Draw),
    /// A table with these numbers.
    Table { order: Order, sha256: String },
}

/// Why a model cannot be made again.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SamplesMissing {
    /// It was trained on a table.
    #[error("the model was trained on a table, which is missing")]
    NoData,
    /// Another table.
    #[error("these are not the data that the model was trained on")]
    OtherData,
}

impl StoredSamples {
    /// What to write of a source of samples with so many features, and what its columns are.
    pub(crate) fn of(samples: Option<&Samples>, n_features: usize) -> (Self, Preparation) {
        let names: Vec<String> = (1..=n_features).map(|i| format!("x{i}")).collect();
        match samples {
            None => (Self::None, Preparation::plain(&names, &[])),
            Some(Samples::Draw(draw)) => (Self::Draw(*draw), Preparation::plain(&names, &["y".to_owned()])),
            Some(Samples::Table(table, order)) => {
                (Self::Table { order: *order, sha256: data_digest(table) }, table.preparation.clone())
            }
        }
    }

    /// The samples again; `table` if they are rows of one.
    pub(crate) fn open<E: From<SamplesMissing>>(
        &self,
        table: Option<impl FnOnce() -> Result<crate::data::Table, E>>,
    ) -> Result<Option<Samples>, E> {
        match (self, table) {
            (Self::None, _) => Ok(None),
            (Self::Draw(draw), _) => Ok(Some(Samples::Draw(*draw))),
            (Self::Table { .. }, None) => Err(SamplesMissing::NoData.into()),
            (Self::Table { order, sha256 }, Some(table)) => {
                let table = table()?;
                match data_digest(&table) == *sha256 {
                    true => Ok(Some(Samples::Table(table, *order))),
                    false => Err(SamplesMissing::OtherData.into()),
                }
            }
        }
    }
}

/// A network that was trained on a stream, and what was proved of the run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StreamModel {
    version: u32,
    /// The learner.
    pub source: Source,
    /// Constants of its program that were set.
    pub set: Vec<String>,
    /// The network whose weights it found.
    pub primary: String,
    /// How it was trained, with every choice made.
    pub options: StreamOptions,
    samples: StoredSamples,
    /// The machine's cell that the network's first cell stands for, per binary tape.
    pub first_cells: Vec<i64>,
    /// What was done to the columns of the data, or the columns that are expected.
    pub preparation: Preparation,
    /// Gradient steps.
    pub steps: Step,
    /// Batches that the learner took.
    pub taken: u64,
    /// What was learned.
    pub theta: Vec<f64>,
    /// What was proved.
    pub certificate: Certificate,
    /// All weights, by the name of their block.
    #[serde(skip)]
    pub weights: Vec<(String, Values)>,
}

/// Why a model of a stream cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StreamModelError {
    /// The stream is missing.
    #[error(transparent)]
    Samples(#[from] SamplesMissing),
    /// The file.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The run cannot be made again.
    #[error(transparent)]
    Prepared(#[from] PreparedStreamError),
}

impl From<JobError> for StreamModelError {
    fn from(error: JobError) -> Self {
        Self::Prepared(error.into())
    }
}

impl StreamModel {
    /// Puts together what training left behind.
    #[must_use]
    pub fn new(job: &StreamJob, lesson: &PreparedStream, report: &StreamReport) -> Self {
        let constants = lesson.network.constants;
        let options = StreamOptions {
            label_bound: Some(constants.label_bound),
            carrier: Some(constants.carrier),
            cells: Some(lesson.window.n_cells),
            ..job.options.clone()
        };
        let (samples, preparation) = StoredSamples::of(Some(&job.samples), job.samples.sizes().0);
        let names = lesson.network.network.parameters().iter().map(|p| p.name.clone());
        Self {
            version: KIND.version,
            source: job.source.clone(),
            set: job.set.clone(),
            primary: lesson.primary.describe(),
            options,
            samples,
            first_cells: lesson.window.first.clone(),
            preparation,
            steps: report.steps,
            taken: report.taken,
            theta: report.theta.clone(),
            certificate: report.certificate.clone(),
            weights: names.zip(report.weights.iter().cloned()).collect(),
        }
    }

    /// The file's bytes; messages call it `name`.
    ///
    /// # Errors
    /// If the format refuses.
    pub fn to_bytes(&self, name: &str) -> Result<Vec<u8>, ModelError> {
        let weights: Vec<(&str, SparseValues)> =
            self.weights.iter().map(|(name, values)| (name.as_str(), values.into())).collect();
        KIND.write(name, self, weights.iter().map(|(name, values)| (*name, values)))
    }

    /// Reads a file; `None` if it is not a model of this kind.
    ///
    /// # Errors
    /// If it is one that is damaged, or of another version.
    pub fn load(path: &Path) -> Result<Option<Self>, ModelError> {
        let name = path.display().to_string();
        match bounded::read(path, 4) {
            Ok(bytes) => Self::from_bytes(&bytes, &name),
            Err(_) => Ok(None),
        }
    }

    /// Reads a file's bytes; messages call it `name`.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Option<Self>, ModelError> {
        let Some((mut model, weights)) = KIND.read::<Self>(bytes, name)? else { return Ok(None) };
        model.weights = weights.into_iter().map(|(name, values)| (name, values.to_values())).collect();
        if model.primary()?.n_weights() != model.theta.len() {
            return Err(ModelError::Theta { n_theta: model.theta.len(), primary: model.primary });
        }
        Ok(Some(model))
    }

    fn sizes(&self) -> (usize, usize) {
        let (features, labels) = self.preparation.names();
        (features.len(), labels.len())
    }

    /// The primary network.
    ///
    /// # Errors
    /// If there is none of that name for these columns.
    pub fn primary(&self) -> Result<Arc<dyn Primary>, ModelError> {
        let (n_features, n_labels) = self.sizes();
        Ok(StandardPrimaries.find(&self.primary, n_features, n_labels)?)
    }

    /// What was learned, on new samples.
    ///
    /// # Errors
    /// As for [`primary`](Self::primary).
    pub fn predict(&self, features: &Values) -> Result<Values, ModelError> {
        Ok(Predictor::new(&*self.primary()?, self.theta.clone()).predict(features))
    }

    /// The data at hand, with the columns of the training data.
    #[must_use]
    pub fn data(&self, name: String, text: String, saturate: bool) -> Data {
        Data::like(&self.preparation, name, text, saturate)
    }

    /// The network that training started from.
    ///
    /// # Errors
    /// If what the model says does not fit together.
    pub fn network(&self) -> Result<StreamNetwork, StreamModelError> {
        let (learner, _) = super::learner(&self.source, self.sizes(), self.options.format, &self.set)?;
        let layout = self.options.layout(self.sizes());
        let n_cells = self.options.cells.unwrap_or(0);
        let window = Window { first: self.first_cells.clone(), n_cells };
        Ok(super::network(&learner, &*self.primary()?, &self.options, (&layout, &window), None)?)
    }

    /// The job that trained it; `data` if its samples are rows of a table.
    ///
    /// # Errors
    /// If the data are others.
    pub fn job(&self, data: Option<&Data>) -> Result<StreamJob, StreamModelError> {
        let read = data.map(|data| || data.read(self.options.format).map_err(StreamModelError::from));
        let samples = self.samples.open(read)?.ok_or(SamplesMissing::NoData)?;
        let (source, set, primary) = (self.source.clone(), self.set.clone(), self.primary.clone());
        let landscape = StreamLandscape::Plain;
        Ok(StreamJob { source, samples, primary, set, landscape, options: self.options.clone() })
    }

    /// Trains again, and says whether the same came of it, bit for bit.
    ///
    /// # Errors
    /// If the data are others, or the run cannot be made.
    pub fn certify(
        &self,
        data: Option<&Data>,
        watch: impl FnMut(StreamMoment<'_>) -> ControlFlow<()>,
    ) -> Result<(StreamReport, Claim), StreamModelError> {
        let job = self.job(data)?;
        let lesson = job.prepare()?;
        let report = lesson.train(watch)?;
        let again = Self::new(&job, &lesson, &report);
        Ok((report, self.is_same(again)))
    }

    fn is_same(&self, mut again: Self) -> Claim {
        again.weights.sort_by(|a, b| a.0.cmp(&b.0));
        let mut own = self.clone();
        own.weights.sort_by(|a, b| a.0.cmp(&b.0));
        let shapes = |model: &Self| -> Vec<_> {
            model.weights.iter().map(|(name, values)| (name.clone(), values.shape)).collect()
        };
        let numbers = |model: &Self| -> Vec<u64> {
            model.weights.iter().flat_map(|(_, values)| values.data.iter().map(|v| v.to_bits())).collect()
        };
        let (found, expected) = (numbers(&own), numbers(&again));
        let n_differ = found.iter().zip(&expected).filter(|(a, b)| a != b).count();
        let alike = shapes(&own) == shapes(&again) && n_differ == 0;
        (own.weights, again.weights) = (Vec::new(), Vec::new());
        let holds = alike && own == again;
        let n = found.len();
        let figures = match (alike, holds) {
            (false, _) => format!("{n_differ} of {n} weights differ"),
            (true, false) => "what the model says of itself differs".to_owned(),
            (true, true) => format!("{n} weights, theta and all claims are the same"),
        };
        Claim { holds, figures }
    }
}
