//! Models of streams: the learner, its stream, the options, and the trained weights.

use std::sync::Arc;

use luge_landscape::{Learner, Primary, StreamNetwork};
use luge_machine::Step;
use serde::{Deserialize, Serialize};

use super::{Draw, Order, PreparedStream, Samples, StreamJob, StreamLandscape, StreamOptions, StreamReport};
use crate::{
    certificate::{Certificate, Claim},
    data::{Preparation, Table},
    files::model::{Card, ModelError, ModelOf, data_digest},
    job::{Data, StandardPrimaries, program::SizedSource, source::Source},
    run::lockstep::Window,
};

/// A network that was trained on a stream, and the certificate of the run.
pub type StreamModel = ModelOf<StreamCard>;

/// Where the samples of a model came from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) enum StoredSamples {
    /// The learner takes no samples.
    None,
    /// A distribution.
    Draw(Draw),
    /// A table with these numbers.
    Table { order: Order, sha256: String },
}

impl StoredSamples {
    /// Returns samples with this many features as they are stored, and how their columns were prepared.
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

    /// Restores the samples; `table` is called if they are rows of a table.
    pub(crate) fn open(
        &self,
        table: Option<impl FnOnce() -> Result<Table, ModelError>>,
    ) -> Result<Option<Samples>, ModelError> {
        match (self, table) {
            (Self::None, _) => Ok(None),
            (Self::Draw(draw), _) => Ok(Some(Samples::Draw(*draw))),
            (Self::Table { .. }, None) => Err(ModelError::NoData),
            (Self::Table { order, sha256 }, Some(table)) => {
                let table = table()?;
                match data_digest(&table) == *sha256 {
                    true => Ok(Some(Samples::Table(table, *order))),
                    false => Err(ModelError::OtherData),
                }
            }
        }
    }
}

/// The metadata of a model of a stream.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StreamCard {
    version: u32,
    /// The learner.
    pub source: Source,
    /// Constants of its program that were set.
    pub set: Vec<String>,
    /// The primary network, as `--primary` takes it.
    pub primary: String,
    /// How it was trained, with every choice made.
    pub options: StreamOptions,
    samples: StoredSamples,
    /// For each binary tape the machine's cell in the network's first column.
    pub first_cells: Vec<i64>,
    /// What was done to the columns of the data, or the columns that are expected.
    pub preparation: Preparation,
    /// Gradient steps.
    pub steps: Step,
    /// Batches that the learner took.
    pub taken: u64,
    /// What was proved.
    pub certificate: Certificate,
}

impl Card for StreamCard {
    const KEY: &'static str = "luge_stream";
    const VERSION: u32 = 3;

    fn preparation(&self) -> &Preparation {
        &self.preparation
    }

    fn claims(&self) -> Vec<(&str, &Claim)> {
        self.certificate.claims()
    }
}

impl StreamModel {
    /// Creates the model of a finished training.
    pub fn new(job: &StreamJob, prepared: &PreparedStream, report: &StreamReport) -> Self {
        let (cells, engine) = (Some(prepared.window.n_cells), Some(job.options.engine()));
        let options = StreamOptions { cells, engine, ..prepared.chosen_options() };
        let (samples, preparation) = StoredSamples::of(Some(&job.samples), job.samples.sizes().0);
        let names = prepared.network.network.parameters().iter().map(|p| p.name.clone());
        let card = StreamCard {
            version: StreamCard::VERSION,
            source: job.source.clone(),
            set: job.set.clone(),
            primary: prepared.primary.describe(),
            options,
            samples,
            first_cells: prepared.window.first.clone(),
            preparation,
            steps: report.steps,
            taken: report.taken,
            certificate: report.certificate.clone(),
        };
        let weights = names.zip(report.weights.iter().map(Into::into)).collect();
        Self { card, theta: report.theta.clone(), weights }
    }

    /// Returns the primary network.
    ///
    /// # Errors
    /// If the card describes none that fits the columns and theta.
    pub fn primary(&self) -> Result<Arc<dyn Primary>, ModelError> {
        self.find_primary(&self.card.primary, &StandardPrimaries)
    }

    /// Builds the network that training started from.
    ///
    /// # Errors
    /// If the card is inconsistent.
    pub fn network(&self) -> Result<StreamNetwork, ModelError> {
        let StreamCard { source, set, options, first_cells, preparation, .. } = &self.card;
        let (features, labels) = preparation.names();
        let sizes = (features.len(), labels.len());
        let (source, set) = (source.clone(), set.clone());
        let loaded = SizedSource { source, set, format: options.format, sizes }.load()?;
        let learner = Learner::new(&loaded.machine, loaded.input.as_ref())?;
        let window = Window { first: first_cells.clone(), n_cells: options.cells.unwrap_or(0) };
        Ok(super::network(&learner, &*self.primary()?, options, (&options.layout(sizes), &window), None)?)
    }

    /// Returns the job that trained the model; it needs `data` if the samples are rows of a table.
    ///
    /// # Errors
    /// If the data are missing, or are not those of the training.
    pub fn job(&self, data: Option<&Data>) -> Result<StreamJob, ModelError> {
        let StreamCard { source, set, primary, options, samples, .. } = self.card.clone();
        let read = data.map(|data| || Ok(data.read(options.format)?));
        let samples = samples.open(read)?.ok_or(ModelError::NoData)?;
        Ok(StreamJob { source, samples, primary, set, landscape: StreamLandscape::Plain, options })
    }
}
