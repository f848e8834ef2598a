//! Models of trainings on a table.

use std::sync::Arc;

use luge_landscape::{DataLayout, Extended, Learner, Primary};
use luge_machine::formats::Format;
use luge_net::SparseValues;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Card, ModelError, ModelOf, Program, ProgramMismatch, data_digest};
use crate::{
    data::{Preparation, Table},
    files::json::hexadecimal,
    job::{Data, JobError, Primaries, StandardPrimaries, TrainJob, program::SizedSource, source::Source},
    run::{
        lockstep::Window,
        memory::{self, CellStorage},
    },
    training::{
        Certificate, Claim, MAX_CELLS, PreparedTraining, TrainingOptions, TrainingReport, VariableWeights,
    },
};

/// A trained extended network: its metadata, its weights and its certificate.
pub type Model = ModelOf<TrainingCard>;

/// The metadata of a model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TrainingCard {
    version: u32,
    /// The learner in the native format.
    pub machine: String,
    /// SHA-256 of `machine` in hexadecimal.
    pub machine_sha256: String,
    /// The program that the learner was compiled from, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
    /// The primary network, as `--primary` takes it.
    pub primary: String,
    /// How it was trained, with every choice made: the engine that trained it, cells per tape, r.
    pub options: TrainingOptions,
    /// For each binary tape the machine's cell in the network's first column.
    pub first_cells: Vec<i64>,
    /// Number of training samples.
    pub n_samples: usize,
    /// SHA-256 of the prepared training data: features, then labels, row by row, little endian.
    pub data_sha256: String,
    /// The features' column names.
    pub features: Vec<String>,
    /// The labels' column names.
    pub labels: Vec<String>,
    /// How the columns of the data were prepared; `predict` does the same.
    pub preparation: Preparation,
    /// Gradient steps.
    pub steps: u64,
    /// Machine steps.
    pub machine_steps: u64,
    /// 1/2 |F(x) - y|^2 on the training data.
    pub train_loss: f64,
    /// B_stop.
    pub stop: f64,
    /// The claims about the run.
    pub certificate: Certificate,
}

fn digest(text: &str) -> String {
    hexadecimal(&Sha256::digest(text.as_bytes()))
}

impl Model {
    /// Creates the model of a finished training.
    pub fn new(prepared: &PreparedTraining, report: &TrainingReport) -> Self {
        let table = prepared.table();
        let machine = prepared.learner().native_text();
        let options = TrainingOptions {
            engine: report.chosen.engine,
            cells: Some(prepared.window().n_cells),
            label_offset: Some(prepared.extended().label_offset),
            steps: report.machine_steps,
            ..prepared.options().clone()
        };
        let card = TrainingCard {
            version: TrainingCard::VERSION,
            machine_sha256: digest(&machine),
            machine,
            program: None,
            primary: prepared.primary().describe(),
            options,
            first_cells: prepared.window().first.clone(),
            n_samples: table.n_samples(),
            data_sha256: data_digest(table),
            features: table.feature_names.clone(),
            labels: table.label_names.clone(),
            preparation: table.preparation.clone(),
            steps: report.outcome.steps(),
            machine_steps: report.machine_steps,
            train_loss: report.train_loss,
            stop: prepared.extended().bounds().stop,
            certificate: report.certificate.clone(),
        };
        let names = prepared.extended().network().parameters().iter().map(|p| p.name.clone());
        let weights = names.zip(report.parameters.iter().cloned()).collect();
        Self { card, theta: report.theta.clone(), weights }
    }

    /// Adds the program of the job, so that anyone with the data can check for overflow again.
    #[must_use]
    pub fn with_program_of(mut self, job: &TrainJob) -> Self {
        self.card.program = Program::of(job);
        self
    }

    /// Returns the primary network.
    ///
    /// # Errors
    /// If the card describes none that fits the columns and theta.
    pub fn primary(&self) -> Result<Arc<dyn Primary>, ModelError> {
        self.primary_among(&StandardPrimaries)
    }

    /// The same with your own primary networks.
    ///
    /// # Errors
    /// If the card describes none that fits the columns and theta.
    pub fn primary_among(&self, primaries: &dyn Primaries) -> Result<Arc<dyn Primary>, ModelError> {
        self.find_primary(&self.card.primary, primaries)
    }

    /// Reads the learner.
    ///
    /// # Errors
    /// If the machine's text has changed, is invalid, or is not a learner.
    pub fn learner(&self) -> Result<Learner, ModelError> {
        if digest(&self.card.machine) != self.card.machine_sha256 {
            return Err(ModelError::MachineChanged);
        }
        let loaded = Format::Native.read(&self.card.machine).map_err(ModelError::Machine)?;
        Ok(Learner::new(&loaded.machine, loaded.input.as_ref())?)
    }

    /// Returns the job that trained the model on these data. The learner is the program that the machine was compiled from, if the
    /// model has it.
    ///
    /// # Errors
    /// If the data cannot be read, or are not those that it was trained on.
    pub fn job(&self, data: &Data) -> Result<TrainJob, ModelError> {
        let TrainingCard { machine, primary, options, data_sha256, .. } = &self.card;
        let table = data.read(options.format)?;
        if data_digest(&table) != *data_sha256 {
            return Err(ModelError::OtherData);
        }
        let (source, set) = match self.program() {
            Some(SizedSource { source, set, .. }) => (source, set),
            None => (Source::new("the model's learner", machine, Format::Native.slug()), Vec::new()),
        };
        let (data, primary, options) = (Data::Table(table), primary.clone(), options.clone());
        Ok(TrainJob { source, program: None, data, primary, set, options })
    }

    /// Prepares the training again on these data.
    ///
    /// # Errors
    /// If the card is inconsistent, or the run cannot be repeated.
    pub fn prepare(&self, table: Table, primaries: &dyn Primaries) -> Result<PreparedTraining, ModelError> {
        let (learner, primary) = (self.learner()?, self.primary_among(primaries)?);
        self.check_sizes(&learner, CellStorage::Symbols)?;
        let options = self.card.options.clone();
        Ok(PreparedTraining::prepare_program(learner, primary, table, options, self.program())?)
    }

    /// The program; `None` if there is none, or if it does not compile to the machine, which the audit reports.
    fn program(&self) -> Option<SizedSource> {
        let program = self.card.program.as_ref().filter(|program| program.compiled(&self.card).is_ok())?;
        Some(program.sized(&self.card))
    }

    /// Returns the trained weights in the order of a network's parameters; `None` if a block is missing or has another shape.
    pub fn parameters(&self, prepared: &PreparedTraining) -> Option<Vec<SparseValues>> {
        let find =
            |name: &str| self.weights.iter().find(|(own, _)| own == name).map(|(_, values)| values.clone());
        let blocks = prepared.extended().network().parameters().iter();
        blocks.map(|p| find(&p.name).filter(|values| values.shape == p.shape)).collect()
    }

    /// Finds the weights that hold the variables of the model's program; empty if its learner is a machine.
    ///
    /// # Errors
    /// If the program does not compile to the model's machine.
    pub fn variables(&self) -> Result<Vec<VariableWeights>, ProgramMismatch> {
        let Some(program) = &self.card.program else { return Ok(Vec::new()) };
        let (compiled, learner) = program.compiled(&self.card)?;
        let mut found = VariableWeights::of(&compiled.variables, &learner, &self.card.first_cells);
        let n_lines = u32::try_from(program.text.lines().count()).unwrap_or(u32::MAX);
        found.iter_mut().for_each(|variable| variable.lines.1 = variable.lines.1.min(n_lines));
        Ok(found)
    }

    /// Builds the network from the card alone.
    ///
    /// # Errors
    /// If the card is inconsistent.
    pub fn extended(&self) -> Result<Extended, ModelError> {
        let options = &self.card.options;
        let learner = self.learner()?;
        self.check_sizes(&learner, CellStorage::Numbers)?;
        let layout = DataLayout {
            n_samples: self.card.n_samples,
            n_features: self.card.features.len(),
            n_labels: self.card.labels.len(),
            format: options.format,
        };
        let build = options.network(layout, self.window());
        Ok(Extended::build(&learner, &*self.primary()?, &build)?)
    }

    /// Checks the sizes before anything is built from them.
    fn check_sizes(&self, learner: &Learner, keeping: CellStorage) -> Result<(), ModelError> {
        let TrainingCard { first_cells, n_samples, features, labels, .. } = &self.card;
        let cells = self.card.n_cells();
        let n_tapes = learner.lowered().normal.n_tapes();
        let n_numbers = n_samples.checked_mul(features.len() + labels.len());
        let cells_fit = cells <= MAX_CELLS;
        let starts_fit = first_cells.len() == n_tapes
            && first_cells
                .iter()
                .all(|first| usize::try_from(first.unsigned_abs()).is_ok_and(|f| f <= MAX_CELLS));
        if cells_fit && starts_fit && n_numbers.is_some_and(|n| n <= MAX_CELLS) {
            return Ok(memory::ask_network(cells, n_tapes, 0, keeping).map_err(JobError::from)?);
        }
        Err(ModelError::Sizes { cells, first_cells: first_cells.len(), n_samples: *n_samples })
    }

    /// Whether the model was trained on a table of this size and these columns.
    pub fn fits(&self, table: &Table) -> bool {
        table.n_samples() == self.card.n_samples
            && table.feature_names == self.card.features
            && table.label_names == self.card.labels
    }

    /// The cells of the network's tapes.
    pub fn window(&self) -> Window {
        Window { first: self.card.first_cells.clone(), n_cells: self.card.n_cells() }
    }
}

impl TrainingCard {
    /// Cells per tape.
    pub fn n_cells(&self) -> usize {
        self.options.cells.unwrap_or(0)
    }
}

impl Card for TrainingCard {
    const KEY: &'static str = "luge";
    const VERSION: u32 = 4;

    fn preparation(&self) -> &Preparation {
        &self.preparation
    }

    fn claims(&self) -> Vec<(&str, &Claim)> {
        self.certificate.claims()
    }

    /// Checks that the preparation gives the columns of the training.
    fn check(&self) -> Result<(), String> {
        match self.preparation.names() == (self.features.clone(), self.labels.clone()) {
            true => Ok(()),
            false => Err("the preparation of the columns gives other features or labels".to_owned()),
        }
    }

    /// Copies the program, and without one the claims that only a program can give.
    fn adopt(&mut self, claimed: &Self) {
        self.program.clone_from(&claimed.program);
        if claimed.program.is_none() {
            for name in ["program", "no_overflow"] {
                self.certificate.set(name, claimed.certificate.get(name).cloned());
            }
        }
    }
}
