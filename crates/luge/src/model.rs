//! Model files: safetensors with the trained weights, and metadata from which everything else is derived again.

use std::{
    collections::HashMap,
    fs,
    io::{self, Write},
    path::Path,
};

use luge_landscape::{
    AskedConstants, Carrier, DataLayout, Extended, ExtendedError, ExtendedOptions, LandscapeKind, Learner,
    LearnerError, Mlp, Primary, PrimaryError,
};
use luge_machine::{Diagnostic, Input, Machine, formats::Format};
use luge_net::{NumberFormat, Shape, Values};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    data::Table,
    engine::Engine,
    lesson::{Certificate, Lesson, LessonOptions, LessonReport},
    lockstep::Window,
    trace::MOST_CELLS,
};

/// The version of the metadata; a file with another one is refused.
const VERSION: u32 = 1;

/// The metadata's key in the safetensors header.
const KEY: &str = "luge";

/// A trained extended network: what it was made from, its weights, and what was proved of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Model {
    /// What it was made from and what is claimed of it.
    pub card: Card,
    /// theta, the primary network's weights.
    pub theta: Vec<f64>,
    /// All trained weights, by the name of their block.
    pub weights: Vec<(String, Values)>,
}

/// What a model says of itself.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Card {
    version: u32,
    /// The learner in the native format.
    pub machine: String,
    /// SHA-256 of that text, in hexadecimal.
    pub machine_sha256: String,
    /// The primary network, as `--primary` takes it.
    pub primary: String,
    /// The number format, as `--format` takes it.
    pub format: String,
    /// The landscape.
    pub landscape: String,
    /// The carrier.
    pub carrier: String,
    /// The engine that trained it.
    pub engine: String,
    /// Cells per tape.
    pub cells: usize,
    /// The machine's cell that the network's first cell stands for, per binary tape.
    pub first_cells: Vec<i64>,
    /// r.
    pub label_offset: f64,
    /// The bound on the final loss, where one was given.
    pub final_loss: Option<f64>,
    /// The constants that were given.
    pub constants: Constants,
    /// Number of training samples.
    pub n_samples: usize,
    /// SHA-256 of the training data as they were used: features, then labels, row by row, little endian.
    pub data_sha256: String,
    /// The features' column names.
    pub features: Vec<String>,
    /// The labels' column names.
    pub labels: Vec<String>,
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

/// The constants a user gave.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Constants {
    base: Option<f64>,
    scale: Option<f64>,
    offset: Option<f64>,
    drop: Option<f64>,
}

/// Why a file is no model, or a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The system refused.
    #[error("cannot {doing} {name}")]
    Io {
        /// "read" or "write".
        doing: &'static str,
        /// The file.
        name: String,
        /// The system's reason.
        #[source]
        reason: io::Error,
    },
    /// Not a safetensors file.
    #[error("{name} is no safetensors file")]
    NotSafetensors {
        /// The file.
        name: String,
        /// The reader's reason.
        #[source]
        reason: safetensors::SafeTensorError,
    },
    /// A safetensors file of somebody else's.
    #[error("{name} is a safetensors file, but no model of luge: its metadata have no `{KEY}` entry")]
    NotOurs {
        /// The file.
        name: String,
    },
    /// Metadata that do not parse.
    #[error("the metadata of {name} do not read: {reason}")]
    Metadata {
        /// The file.
        name: String,
        /// Why not.
        reason: String,
    },
    /// From another time.
    #[error("{name} has version {found}, this program reads version {VERSION}")]
    Version {
        /// The file.
        name: String,
        /// What it has.
        found: u32,
    },
    /// A block of weights is missing or has another form.
    #[error("{name} has no tensor `{tensor}` of two dimensions in f64")]
    Tensor {
        /// The file.
        name: String,
        /// The block.
        tensor: String,
    },
    /// The machine in the file is not the one that was trained.
    #[error("the machine in the model has another digest than the model claims")]
    MachineChanged,
    /// The machine in the file does not read.
    #[error("the machine in the model does not read: {}", first(.0))]
    Machine(Vec<Diagnostic>),
    /// The machine in the file is no learner.
    #[error(transparent)]
    Learner(#[from] LearnerError),
    /// The primary network does not fit.
    #[error(transparent)]
    Primary(#[from] PrimaryError),
    /// The network cannot be built again.
    #[error(transparent)]
    Extended(#[from] ExtendedError),
    /// Sizes that no training run has.
    #[error(
        "the metadata claim {cells} cells, {first_cells} tapes and {n_samples} samples, which no training run of this machine has"
    )]
    Sizes {
        /// Cells per tape.
        cells: usize,
        /// Entries of `first_cells`.
        first_cells: usize,
        /// Samples.
        n_samples: usize,
    },
    /// A word in the metadata that means nothing.
    #[error("`{found}` in the metadata is no {what}")]
    Word {
        /// "landscape", "carrier" or "number format".
        what: &'static str,
        /// What was found.
        found: String,
    },
}

fn first(findings: &[Diagnostic]) -> String {
    findings.first().map_or_else(String::new, |finding| finding.message.clone())
}

/// The learner's text in the native format, as a model keeps it.
#[must_use]
pub fn native_text(machine: &Machine, input: Option<&Input>) -> String {
    Format::Native.write(machine, input).unwrap_or_default()
}

fn digest(text: &str) -> String {
    hexadecimal(&Sha256::digest(text.as_bytes()))
}

/// The digest of a table's numbers.
#[must_use]
pub fn data_digest(table: &Table) -> String {
    let mut hash = Sha256::new();
    for number in table.features.data.iter().chain(&table.labels.data) {
        hash.update(number.to_le_bytes());
    }
    hexadecimal(&hash.finalize())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Model {
    /// Puts together what training left behind.
    #[must_use]
    pub fn new(
        machine: String,
        primary: &dyn Primary,
        lesson: &Lesson<'_>,
        options: &LessonOptions,
        lessons: &LessonReport,
    ) -> Self {
        let AskedConstants { base, scale, offset, drop } = options.constants;
        let table = lesson.table();
        let card = Card {
            version: VERSION,
            machine_sha256: digest(&machine),
            machine,
            primary: primary.describe(),
            format: options.format.to_string(),
            landscape: options.landscape.word().to_owned(),
            carrier: options.carrier.word().to_owned(),
            engine: lessons.chosen.engine.word().to_owned(),
            cells: lesson.window().n_cells,
            first_cells: lesson.window().first.clone(),
            label_offset: lesson.extended().label_offset(),
            final_loss: options.final_loss,
            constants: Constants { base, scale, offset, drop },
            n_samples: table.n_samples(),
            data_sha256: data_digest(table),
            features: table.feature_names.clone(),
            labels: table.label_names.clone(),
            steps: lessons.outcome.steps(),
            machine_steps: lessons.machine_steps,
            train_loss: lessons.train_loss,
            stop: lesson.extended().stop(),
            certificate: lessons.certificate.clone(),
        };
        let names = lesson.extended().network().parameters().iter().map(|p| p.name.clone());
        let weights = names.zip(lessons.parameters.iter().cloned()).collect();
        Self { card, theta: lessons.theta.clone(), weights }
    }

    /// Writes the file: complete or not at all.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn save(&self, path: &Path) -> Result<(), ModelError> {
        let name = path.display().to_string();
        let io_error = |reason: io::Error| ModelError::Io { doing: "write", name: name.clone(), reason };
        let bytes = self.to_bytes(&name)?;
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(io_error)?;
        file.write_all(&bytes).map_err(io_error)?;
        file.as_file().sync_all().map_err(io_error)?;
        file.persist(path).map_err(|error| io_error(error.error))?;
        Ok(())
    }

    /// Makes sure that a file can be written there, before anybody trains for it.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn reserve(path: &Path) -> Result<(), ModelError> {
        // Only the kind of the reason: its text would name a temporary file.
        let refused = |reason: io::Error| {
            let reason = reason.kind().into();
            ModelError::Io { doing: "write", name: path.display().to_string(), reason }
        };
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if path.is_dir() {
            return Err(refused(io::ErrorKind::IsADirectory.into()));
        }
        tempfile::NamedTempFile::new_in(folder).map(drop).map_err(refused)
    }

    fn to_bytes(&self, name: &str) -> Result<Vec<u8>, ModelError> {
        let theta = Values::column(self.theta.clone());
        let blocks =
            self.weights.iter().map(|(name, values)| (name.as_str(), values)).chain([("theta", &theta)]);
        let raw: Vec<(&str, [usize; 2], Vec<u8>)> = blocks
            .map(|(name, Values { shape, data })| {
                (name, [shape.rows, shape.cols], data.iter().flat_map(|v| v.to_le_bytes()).collect())
            })
            .collect();
        let refused = |reason| ModelError::NotSafetensors { name: name.to_owned(), reason };
        let views = raw
            .iter()
            .map(|(name, shape, bytes)| Ok((*name, TensorView::new(Dtype::F64, shape.to_vec(), bytes)?)))
            .collect::<Result<Vec<_>, _>>()
            .map_err(refused)?;
        let card = serde_json::to_string(&self.card)
            .map_err(|error| ModelError::Metadata { name: name.to_owned(), reason: error.to_string() })?;
        safetensors::serialize(views, Some(HashMap::from([(KEY.to_owned(), card)]))).map_err(refused)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it is not there, not a model, or of another version.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        let name = path.display().to_string();
        let bytes =
            fs::read(path).map_err(|reason| ModelError::Io { doing: "read", name: name.clone(), reason })?;
        let refused = |reason| ModelError::NotSafetensors { name: name.clone(), reason };
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(refused)?;
        let text = header.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
        let text = text.ok_or_else(|| ModelError::NotOurs { name: name.clone() })?;
        let unreadable =
            |error: serde_json::Error| ModelError::Metadata { name: name.clone(), reason: error.to_string() };
        let versioned: Versioned = serde_json::from_str(text).map_err(unreadable)?;
        if versioned.version != VERSION {
            return Err(ModelError::Version { name, found: versioned.version });
        }
        let card: Card = serde_json::from_str(text).map_err(unreadable)?;
        let tensors = SafeTensors::deserialize(&bytes).map_err(refused)?;
        let mut weights = Vec::new();
        for (tensor, view) in tensors.tensors() {
            let values = values(&view)
                .ok_or_else(|| ModelError::Tensor { name: name.clone(), tensor: tensor.clone() })?;
            weights.push((tensor, values));
        }
        weights.sort_by(|a, b| a.0.cmp(&b.0));
        let theta = weights.iter().position(|(tensor, _)| tensor == "theta");
        let theta = theta.ok_or_else(|| ModelError::Tensor { name, tensor: "theta".to_owned() })?;
        let theta = weights.remove(theta).1.data;
        Ok(Self { card, theta, weights })
    }

    /// The primary network.
    ///
    /// # Errors
    /// If the metadata describe none that fits the columns and theta.
    pub fn primary(&self) -> Result<Mlp, ModelError> {
        let primary = Mlp::parse(&self.card.primary, self.card.features.len(), self.card.labels.len())?;
        if primary.n_weights() != self.theta.len() {
            return Err(ModelError::Word {
                what: "primary network for this theta",
                found: self.card.primary.clone(),
            });
        }
        Ok(primary)
    }

    /// The learner, if it is the one that was trained.
    ///
    /// # Errors
    /// If the machine's text has changed, does not read or is no learner.
    pub fn learner(&self) -> Result<Learner, ModelError> {
        if digest(&self.card.machine) != self.card.machine_sha256 {
            return Err(ModelError::MachineChanged);
        }
        let loaded = Format::Native.read(&self.card.machine).map_err(ModelError::Machine)?;
        Ok(Learner::new(&loaded.machine, loaded.input.as_ref())?)
    }

    /// How it was trained.
    ///
    /// # Errors
    /// If a word in the metadata means nothing.
    pub fn options(&self) -> Result<LessonOptions, ModelError> {
        let word = |what, found: &String| ModelError::Word { what, found: found.clone() };
        let format: NumberFormat =
            self.card.format.parse().map_err(|_| word("number format", &self.card.format))?;
        let landscape = LandscapeKind::ALL.into_iter().find(|kind| kind.word() == self.card.landscape);
        let carrier = Carrier::ALL.into_iter().find(|carrier| carrier.word() == self.card.carrier);
        let engine = Engine::ALL.into_iter().find(|engine| engine.word() == self.card.engine);
        let Constants { base, scale, offset, drop } = self.card.constants;
        Ok(LessonOptions {
            engine: engine.ok_or_else(|| word("engine", &self.card.engine))?,
            landscape: landscape.ok_or_else(|| word("landscape", &self.card.landscape))?,
            carrier: carrier.ok_or_else(|| word("carrier", &self.card.carrier))?,
            cells: Some(self.card.cells),
            steps: self.card.machine_steps,
            label_offset: Some(self.card.label_offset),
            final_loss: self.card.final_loss,
            constants: AskedConstants { base, scale, offset, drop },
            ..LessonOptions::new(format)
        })
    }

    /// The trained weights in the order of a network's parameters; `None` if a block is missing or has another shape.
    #[must_use]
    pub fn parameters(&self, lesson: &Lesson<'_>) -> Option<Vec<Values>> {
        let find =
            |name: &str| self.weights.iter().find(|(own, _)| own == name).map(|(_, values)| values.clone());
        let blocks = lesson.extended().network().parameters().iter();
        blocks.map(|p| find(&p.name).filter(|values| values.shape == p.shape)).collect()
    }

    /// The network as it was built, from the metadata alone.
    ///
    /// # Errors
    /// If the metadata do not fit together.
    pub fn extended(&self) -> Result<Extended, ModelError> {
        let options = self.options()?;
        let learner = self.learner()?;
        self.check_sizes(&learner)?;
        let build = ExtendedOptions {
            kind: options.landscape,
            carrier: options.carrier,
            n_cells: self.card.cells,
            first_cells: self.card.first_cells.clone(),
            layout: DataLayout {
                n_samples: self.card.n_samples,
                n_features: self.card.features.len(),
                n_labels: self.card.labels.len(),
                format: options.format,
            },
            label_offset: self.card.label_offset,
            final_loss: options.final_loss,
            constants: options.constants,
            corrections: options.corrections,
            joints: options.joints,
        };
        Ok(Extended::build(&learner, &self.primary()?, &build)?)
    }

    /// Refuses sizes beyond all bounds before anything is built from them.
    fn check_sizes(&self, learner: &Learner) -> Result<(), ModelError> {
        let Card { cells, first_cells, n_samples, features, labels, .. } = &self.card;
        let n_tapes = learner.lowered().normal.n_tapes();
        let n_numbers = n_samples.checked_mul(features.len() + labels.len());
        let cells_fit = cells.checked_mul(n_tapes).is_some_and(|all| all <= MOST_CELLS);
        let starts_fit = first_cells.len() == n_tapes
            && first_cells
                .iter()
                .all(|first| usize::try_from(first.unsigned_abs()).is_ok_and(|f| f <= MOST_CELLS));
        if cells_fit && starts_fit && n_numbers.is_some_and(|n| n <= MOST_CELLS) {
            return Ok(());
        }
        Err(ModelError::Sizes { cells: *cells, first_cells: first_cells.len(), n_samples: *n_samples })
    }

    /// Whether the model was trained on a table of this size and these columns.
    #[must_use]
    pub fn fits(&self, table: &Table) -> bool {
        table.n_samples() == self.card.n_samples
            && table.feature_names == self.card.features
            && table.label_names == self.card.labels
    }

    /// The cells the network's tapes held.
    #[must_use]
    pub fn window(&self) -> Window {
        Window { first: self.card.first_cells.clone(), n_cells: self.card.cells }
    }
}

#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

fn values(view: &TensorView<'_>) -> Option<Values> {
    let &[rows, cols] = view.shape() else { return None };
    if view.dtype() != Dtype::F64 {
        return None;
    }
    let numbers = view.data().chunks_exact(8).map(|b| b.try_into().map(f64::from_le_bytes));
    Some(Values::new(Shape::new(rows, cols), numbers.collect::<Result<_, _>>().ok()?))
}
