//! Model files: safetensors with the trained weights, and metadata from which everything else is derived again.

pub(crate) mod file;
mod program;
mod tensors;

use std::{path::Path, sync::Arc};

use luge_landscape::{DataLayout, Extended, ExtendedError, Learner, LearnerError, Primary, PrimaryError};
use luge_machine::{Diagnostic, formats::Format};
use luge_net::{SparseValues, Values};
use safetensors::SafeTensors;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    data::{Preparation, Table},
    files::{FileError, atomic_file, json::hexadecimal},
    job::{Data, Primaries, StandardPrimaries, TrainJob, source::Source},
    run::{
        lockstep::Window,
        memory::{self, CellStorage, TooMuch},
    },
    training::{
        Certificate, MAX_CELLS, PreparedTraining, TrainingError, TrainingOptions, TrainingReport,
        VariableWeights,
    },
};
use file::ModelKind;
pub use program::{Program, ProgramMismatch};

/// What files of such models have; one with another version is refused.
const KIND: ModelKind = ModelKind { key: "luge", version: 4 };

/// A trained extended network: what it was made from, its weights, and what was proved of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Model {
    /// What it was made from and what is claimed of it.
    pub card: Card,
    /// theta, the primary network's weights.
    pub theta: Vec<f64>,
    /// All trained weights, by the name of their block.
    pub weights: Vec<(String, SparseValues)>,
}

/// What a model says of itself.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Card {
    version: u32,
    /// The learner in the native format.
    pub machine: String,
    /// SHA-256 of that text, in hexadecimal.
    pub machine_sha256: String,
    /// The program that the learner was compiled from, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
    /// The primary network, as `--primary` takes it.
    pub primary: String,
    /// How it was trained, with every choice made: the engine that trained it, cells per tape, r.
    pub options: TrainingOptions,
    /// The machine's cell that the network's first cell stands for, per binary tape.
    pub first_cells: Vec<i64>,
    /// Number of training samples.
    pub n_samples: usize,
    /// SHA-256 of the training data as they were used: features, then labels, row by row, little endian.
    pub data_sha256: String,
    /// The features' column names.
    pub features: Vec<String>,
    /// The labels' column names.
    pub labels: Vec<String>,
    /// What was done to the columns of the data; `predict` does the same.
    pub preparation: Preparation,
    /// Gradient steps.
    pub steps: u64,
    /// Machine steps.
    pub machine_steps: u64,
    /// 1/2 |F(x) - y|^2 on the training data.
    pub train_loss: f64,
    /// B_stop.
    pub stop: f64,
    /// What was proved.
    pub certificate: Certificate,
}

/// Why a file is not a model, or a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] FileError),
    /// Not a safetensors file.
    #[error("{name} is not a safetensors file")]
    NotSafetensors {
        /// The file.
        name: String,
        /// The reader's reason.
        #[source]
        reason: safetensors::SafeTensorError,
    },
    /// A safetensors file that Luge did not write.
    #[error("{0} is a safetensors file, but not a model of luge: its metadata have no `luge` entry")]
    NotOurs(String),
    /// Metadata that do not parse.
    #[error("cannot read the metadata of {name}: {reason}")]
    Metadata {
        /// The file.
        name: String,
        /// Why not.
        reason: String,
    },
    /// Another version of the metadata.
    #[error("{name} has version {found}, this program reads version {expected}")]
    Version {
        /// The file.
        name: String,
        /// What it has.
        found: u32,
        /// What it should have.
        expected: u32,
    },
    /// A block of weights is missing or has another form.
    #[error(
        "{name} has no tensor `{tensor}` of two dimensions in f64, and none that is packed as its header says"
    )]
    Tensor {
        /// The file.
        name: String,
        /// The block.
        tensor: String,
    },
    /// A bit has changed since it was written.
    #[error("{0} is damaged: its checksum does not match its metadata and weights")]
    Damaged(String),
    /// The machine in the file is not the one that was trained.
    #[error("the machine in the model does not match the digest that the model states")]
    MachineChanged,
    /// The machine in the file does not read.
    #[error("cannot read the machine in the model: {}", first(.0))]
    Machine(Vec<Diagnostic>),
    /// The machine in the file is not a learner.
    #[error(transparent)]
    Learner(#[from] LearnerError),
    /// The primary network does not fit.
    #[error(transparent)]
    Primary(#[from] PrimaryError),
    /// The network cannot be built again.
    #[error(transparent)]
    Extended(#[from] ExtendedError),
    /// The run cannot be repeated.
    #[error("the run cannot be repeated: {0}")]
    Training(#[from] TrainingError),
    /// There is no room for it.
    #[error(transparent)]
    Memory(#[from] TooMuch),
    /// Sizes that no training run has.
    #[error(
        "the metadata claim {cells} cells, {first_cells} tapes and {n_samples} samples, which no training run of this machine has"
    )]
    Sizes {
        /// Cells per tape.
        cells: usize,
        /// Entries of `first_cells`.
        first_cells: usize,
        /// Samples it claims.
        n_samples: usize,
    },
    /// The primary network has another number of weights.
    #[error("theta has {n_theta} numbers, which do not fit {primary}")]
    Theta {
        /// Numbers of theta.
        n_theta: usize,
        /// The primary network.
        primary: String,
    },
}

fn first(findings: &[Diagnostic]) -> String {
    findings.first().map_or_else(String::new, |finding| finding.message.clone())
}

fn digest(text: &str) -> String {
    hexadecimal(&Sha256::digest(text.as_bytes()))
}

/// The digest of a table's numbers.
pub fn data_digest(table: &Table) -> String {
    let mut hash = Sha256::new();
    for number in table.features.data.iter().chain(&table.labels.data) {
        hash.update(number.to_le_bytes());
    }
    hexadecimal(&hash.finalize())
}

impl Model {
    /// Puts together what training left behind.
    pub fn new(lesson: &PreparedTraining, report: &TrainingReport) -> Self {
        let table = lesson.table();
        let machine = lesson.learner().native_text();
        let options = TrainingOptions {
            engine: report.chosen.engine,
            cells: Some(lesson.window().n_cells),
            label_offset: Some(lesson.extended().label_offset()),
            steps: report.machine_steps,
            ..lesson.options().clone()
        };
        let card = Card {
            version: KIND.version,
            machine_sha256: digest(&machine),
            machine,
            program: None,
            primary: lesson.primary().describe(),
            options,
            first_cells: lesson.window().first.clone(),
            n_samples: table.n_samples(),
            data_sha256: data_digest(table),
            features: table.feature_names.clone(),
            labels: table.label_names.clone(),
            preparation: table.preparation.clone(),
            steps: report.outcome.steps(),
            machine_steps: report.machine_steps,
            train_loss: report.train_loss,
            stop: lesson.extended().stop(),
            certificate: report.certificate.clone(),
        };
        let names = lesson.extended().network().parameters().iter().map(|p| p.name.clone());
        let weights = names.zip(report.parameters.iter().cloned()).collect();
        Self { card, theta: report.theta.clone(), weights }
    }

    /// With the program it was trained to run, so that anyone with the data can check for overflow again.
    #[must_use]
    pub fn with_program_of(mut self, job: &TrainJob) -> Self {
        self.card.program = Program::of(job);
        self
    }

    /// Writes the file: complete or not at all.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn save(&self, path: &Path) -> Result<(), ModelError> {
        let name = path.display().to_string();
        let bytes = self.to_bytes(&name)?;
        Ok(atomic_file::write(path, &[&bytes]).map_err(|reason| FileError {
            doing: "write",
            name,
            reason,
        })?)
    }

    /// The file's bytes; messages call it `name`.
    ///
    /// # Errors
    /// If a weight's name cannot stand in the file.
    pub fn to_bytes(&self, name: &str) -> Result<Vec<u8>, ModelError> {
        let theta = Values::column(self.theta.clone()).into();
        let weights = self.weights.iter().map(|(name, values)| (name.as_str(), values));
        KIND.write(name, &self.card, weights.chain([("theta", &theta)]))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it is not there, not a model, or of another version.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        Self::from_bytes(&file::read_bytes(path)?, path.display().to_string())
    }

    /// Reads a file's bytes; messages call it `name`.
    ///
    /// # Errors
    /// If they are not a model, or one of another version.
    pub fn from_bytes(bytes: &[u8], name: String) -> Result<Self, ModelError> {
        let Some((card, mut weights)) = KIND.read::<Card>(bytes, &name)? else {
            return Err(match SafeTensors::read_metadata(bytes) {
                Ok(_) => ModelError::NotOurs(name),
                Err(reason) => ModelError::NotSafetensors { name, reason },
            });
        };
        card.check_columns().map_err(|reason| ModelError::Metadata { name: name.clone(), reason })?;
        let theta = weights.iter().position(|(tensor, _)| tensor == "theta");
        let theta = theta.ok_or_else(|| ModelError::Tensor { name, tensor: "theta".to_owned() })?;
        let theta = weights.remove(theta).1.to_values().data;
        Ok(Self { card, theta, weights })
    }

    /// The primary network.
    ///
    /// # Errors
    /// If the metadata describe none that fits the columns and theta.
    pub fn primary(&self) -> Result<Arc<dyn Primary>, ModelError> {
        self.primary_among(&StandardPrimaries)
    }

    /// The same with your own primary networks.
    ///
    /// # Errors
    /// If the metadata describe none that fits the columns and theta.
    pub fn primary_among(&self, primaries: &dyn Primaries) -> Result<Arc<dyn Primary>, ModelError> {
        let Card { primary, features, labels, .. } = &self.card;
        let found = primaries.find(primary, features.len(), labels.len())?;
        if found.n_weights() != self.theta.len() {
            return Err(ModelError::Theta { n_theta: self.theta.len(), primary: primary.clone() });
        }
        Ok(found)
    }

    /// The learner, if it is the one that was trained.
    ///
    /// # Errors
    /// If the machine's text has changed, does not read or is not a learner.
    pub fn learner(&self) -> Result<Learner, ModelError> {
        if digest(&self.card.machine) != self.card.machine_sha256 {
            return Err(ModelError::MachineChanged);
        }
        let loaded = Format::Native.read(&self.card.machine).map_err(ModelError::Machine)?;
        Ok(Learner::new(&loaded.machine, loaded.input.as_ref())?)
    }

    /// The job that trained it, on these data.
    pub fn job(&self, data: Data) -> TrainJob {
        let Card { machine, primary, options, .. } = &self.card;
        let name = "the model's learner".to_owned();
        let extension = Some(Format::Native.slug().to_owned());
        let source = Source { name, text: machine.clone(), extension };
        let set = Vec::new();
        TrainJob { source, program: None, data, primary: primary.clone(), set, options: options.clone() }
    }

    /// The data that a CSV file holds, read and prepared as in training.
    pub fn data(&self, name: String, text: String, saturate: bool) -> Data {
        Data::like(&self.card.preparation, name, text, saturate)
    }

    /// Its training, prepared again on these data.
    ///
    /// # Errors
    /// If the metadata are inconsistent, or the run cannot be repeated.
    pub fn lesson(&self, table: Table, primaries: &dyn Primaries) -> Result<PreparedTraining, ModelError> {
        let (learner, primary) = (self.learner()?, self.primary_among(primaries)?);
        self.check_sizes(&learner, CellStorage::Symbols)?;
        let lesson = PreparedTraining::prepare(learner, primary, table, self.card.options.clone())?;
        let Some(program) = self.card.program.clone() else { return Ok(lesson) };
        let card = self.card.clone();
        Ok(lesson.of_program(Box::new(move |table, machine_steps| {
            // A program that is not the machine's says nothing here; the audit says so.
            program.interpret(&card, table, machine_steps).ok()
        })))
    }

    /// The trained weights in the order of a network's parameters; `None` if a block is missing or has another shape.
    pub fn parameters(&self, lesson: &PreparedTraining) -> Option<Vec<SparseValues>> {
        let find =
            |name: &str| self.weights.iter().find(|(own, _)| own == name).map(|(_, values)| values.clone());
        let blocks = lesson.extended().network().parameters().iter();
        blocks.map(|p| find(&p.name).filter(|values| values.shape == p.shape)).collect()
    }

    /// Which weights hold the variables of the model's program; none if its learner is a machine.
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

    /// The network as it was built, from the metadata alone.
    ///
    /// # Errors
    /// If the metadata are inconsistent.
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

    /// Refuses sizes that are out of bounds before anything is built from them.
    fn check_sizes(&self, learner: &Learner, keeping: CellStorage) -> Result<(), ModelError> {
        let Card { first_cells, n_samples, features, labels, .. } = &self.card;
        let cells = self.card.n_cells();
        let n_tapes = learner.lowered().normal.n_tapes();
        let n_numbers = n_samples.checked_mul(features.len() + labels.len());
        let cells_fit = cells <= MAX_CELLS;
        let starts_fit = first_cells.len() == n_tapes
            && first_cells
                .iter()
                .all(|first| usize::try_from(first.unsigned_abs()).is_ok_and(|f| f <= MAX_CELLS));
        if cells_fit && starts_fit && n_numbers.is_some_and(|n| n <= MAX_CELLS) {
            return Ok(memory::ask_network(cells, n_tapes, 0, keeping)?);
        }
        Err(ModelError::Sizes { cells, first_cells: first_cells.len(), n_samples: *n_samples })
    }

    /// Whether the model was trained on a table of this size and these columns.
    pub fn fits(&self, table: &Table) -> bool {
        table.n_samples() == self.card.n_samples
            && table.feature_names == self.card.features
            && table.label_names == self.card.labels
    }

    /// The cells the network's tapes held.
    pub fn window(&self) -> Window {
        Window { first: self.card.first_cells.clone(), n_cells: self.card.n_cells() }
    }
}

impl Card {
    /// The columns of the file must be prepared to the columns that were trained on.
    fn check_columns(&self) -> Result<(), String> {
        match self.preparation.names() == (self.features.clone(), self.labels.clone()) {
            true => Ok(()),
            false => Err("the preparation of the columns gives other features or labels".to_owned()),
        }
    }

    /// Cells per tape.
    pub fn n_cells(&self) -> usize {
        self.options.cells.unwrap_or(0)
    }
}
