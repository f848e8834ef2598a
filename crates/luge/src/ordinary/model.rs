//! Model files of landscape mlp: the circuit, how it was trained, and the memory that training left.
//!
//! All weights but the memory's biases follow from the circuit, so the file holds no others.

use std::{collections::HashMap, path::Path};

use luge_circuit::{Circuit, RegisterId};
use luge_landscape::mlp::{CircuitNetwork, Float, MEMORY_LAYER};
use luge_machine::Step;
use luge_net::{NumberFormat, Shape, Values};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::{Deserialize, Serialize};

use super::{
    CircuitProgram, LearnerCircuit, OrdinaryError, OrdinaryOptions, OrdinaryReport, PreparedOrdinary, Theta,
    coded, network_of,
};
use crate::{
    data::Preparation,
    files::{bounded, model::ModelError},
    job::{Data, Primaries, StandardPrimaries},
    stream::{SamplesMissing, StoredSamples, StreamEngineChoice},
    training::Claim,
};

/// The key of the version in the header; another version is refused.
const KEY: &str = "luge_mlp";
const VERSION: u32 = 1;

/// A circuit that was trained, and what was proved of the run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OrdinaryModel {
    /// The circuit.
    pub circuit: Circuit,
    /// Steps of SGD.
    pub steps: Step,
    /// Whether the circuit halted.
    pub halted: bool,
    /// What was proved, by name.
    pub certificate: Vec<(String, Claim)>,
    /// What was done to the columns of the data, or the columns that are expected.
    pub preparation: Preparation,
    /// The biases of the memory's layer.
    #[serde(skip)]
    pub memory: Vec<f64>,
    theta: Option<StoredTheta>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program: Option<CircuitProgram>,
    samples: StoredSamples,
    float: Float,
    engine: StreamEngineChoice,
    /// The steps that the constants were chosen for.
    planned: Step,
    options: (Step, u64, usize, u64),
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct StoredTheta {
    words: Vec<Vec<RegisterId>>,
    format: NumberFormat,
    primary: String,
}

/// Why a model's network or run cannot be reproduced.
#[derive(Debug, thiserror::Error)]
pub enum OrdinaryModelError {
    /// Its stream is missing.
    #[error(transparent)]
    Samples(#[from] SamplesMissing),
    /// What it says does not fit together.
    #[error("the model does not fit together: {0}")]
    Inconsistent(String),
    /// The network cannot be built.
    #[error(transparent)]
    Ordinary(#[from] OrdinaryError),
}

impl OrdinaryModel {
    /// Puts together what training left behind.
    #[must_use]
    pub fn new(prepared: &PreparedOrdinary, report: &OrdinaryReport) -> Self {
        let options = &prepared.options;
        let n_features = prepared.circuit.samples().map_or(0, |shape| shape.n_features);
        let (samples, preparation) = StoredSamples::of(prepared.samples.as_ref(), n_features);
        let theta = prepared.theta.as_ref().map(|theta| StoredTheta {
            words: theta.words.clone(),
            format: theta.format,
            primary: theta.primary.describe(),
        });
        Self {
            circuit: prepared.circuit.clone(),
            steps: report.steps,
            halted: report.halted,
            certificate: report
                .certificate
                .claims()
                .into_iter()
                .map(|(n, c)| (n.to_owned(), c.clone()))
                .collect(),
            preparation,
            memory: report.memory.clone(),
            theta,
            program: prepared.program.clone(),
            samples,
            float: options.float,
            engine: prepared.engine(),
            planned: prepared.network.constants.steps,
            options: (options.steps, options.after, options.n_new, options.seed),
        }
    }

    /// The file's bytes; messages call it `name`.
    ///
    /// # Errors
    /// If the format refuses.
    pub fn to_bytes(&self, name: &str) -> Result<Vec<u8>, ModelError> {
        let refused = |reason| ModelError::NotSafetensors { name: name.to_owned(), reason };
        let card = serde_json::to_vec(self)
            .map_err(|error| ModelError::Metadata { name: name.to_owned(), reason: error.to_string() })?;
        let memory: Vec<u8> = self.memory.iter().flat_map(|bias| bias.to_le_bytes()).collect();
        let card = TensorView::new(Dtype::U8, vec![card.len()], &card).map_err(refused)?;
        let memory = TensorView::new(Dtype::F64, vec![self.memory.len()], &memory).map_err(refused)?;
        let metadata = HashMap::from([(KEY.to_owned(), VERSION.to_string())]);
        safetensors::serialize([("card", card), ("memory", memory)], Some(metadata)).map_err(refused)
    }

    /// Reads a file; `None` if it is not a model of this kind.
    ///
    /// # Errors
    /// If it is one that is damaged, or of another version.
    pub fn load(path: &Path) -> Result<Option<Self>, ModelError> {
        let Ok(bytes) = bounded::read(path, 4) else { return Ok(None) };
        Self::from_bytes(&bytes, &path.display().to_string())
    }

    /// Reads a file's bytes; messages call it `name`.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Option<Self>, ModelError> {
        let name = name.to_owned();
        let Ok((_, header)) = SafeTensors::read_metadata(bytes) else { return Ok(None) };
        let Some(version) = header.metadata().as_ref().and_then(|metadata| metadata.get(KEY)) else {
            return Ok(None);
        };
        if version.parse() != Ok(VERSION) {
            return Err(ModelError::Version { name, found: version.parse().unwrap_or(0), expected: VERSION });
        }
        let tensor = |tensor: &str| ModelError::Tensor { name: name.clone(), tensor: tensor.to_owned() };
        let tensors = SafeTensors::deserialize(bytes)
            .map_err(|reason| ModelError::NotSafetensors { name: name.clone(), reason })?;
        let card = tensors.tensor("card").map_err(|_| tensor("card"))?;
        let memory = tensors.tensor("memory").map_err(|_| tensor("memory"))?;
        let mut model: Self = serde_json::from_slice(card.data())
            .map_err(|error| ModelError::Metadata { name: name.clone(), reason: error.to_string() })?;
        let number = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap_or_default());
        model.memory = memory.data().chunks_exact(8).map(number).collect();
        Ok(Some(model))
    }

    /// The network that training started from.
    ///
    /// # Errors
    /// If what the model says does not fit together.
    pub fn initial(&self) -> Result<CircuitNetwork, OrdinaryModelError> {
        let learner = self.learner()?;
        let network = network_of(&learner, self.planned, self.float).map_err(OrdinaryError::from)?.0;
        let n_memory = network.network.layers()[MEMORY_LAYER].n_units();
        if n_memory != self.memory.len() {
            let found = self.memory.len();
            return Err(OrdinaryModelError::Inconsistent(format!("{found} biases for {n_memory} units")));
        }
        Ok(network)
    }

    /// The network as training left it: weights that the engine did not store have moved by less than the certificate says.
    ///
    /// # Errors
    /// As [`Self::initial`].
    pub fn trained(&self) -> Result<CircuitNetwork, OrdinaryModelError> {
        let mut network = self.initial()?;
        let layer = &mut network.network.layers_mut()[MEMORY_LAYER];
        self.memory.iter().enumerate().for_each(|(unit, &bias)| layer.set_bias(unit, bias));
        Ok(network)
    }

    /// What was learned, on new samples: the network's output, or that of a primary network which is not part of it.
    ///
    /// # Errors
    /// If there is no output, or as [`Self::initial`].
    pub fn predict(&self, features: &Values) -> Result<Values, OrdinaryModelError> {
        let inconsistent = |reason: &str| OrdinaryModelError::Inconsistent(reason.to_owned());
        let network = self.trained()?;
        let learner = self.learner()?;
        let shape = self.circuit.samples().filter(|shape| shape.n_features == features.shape.cols);
        let shape = shape.ok_or_else(|| inconsistent("its samples have another number of features"))?;
        let memory = network.decode(&self.memory).map_err(|error| inconsistent(&error.to_string()))?;
        let inside = !self.circuit.output().is_empty()
            || learner.theta.as_ref().is_some_and(|theta| theta.readout(Some(shape)).is_some());
        if !self.halted || !inside && learner.theta.is_none() {
            return Err(inconsistent("the circuit has not halted, or has no output"));
        }
        let mut row = |row: usize| {
            let mut x = features.row(row).to_vec();
            x.iter_mut().for_each(|x| drop(coded(shape.feature, x)));
            match &learner.theta {
                Some(theta) if !inside => theta.predict(&memory.registers, &x),
                _ => network.network.evaluate(&x),
            }
        };
        let n_rows = features.shape.rows;
        let data: Vec<f64> = (0..n_rows).flat_map(&mut row).collect();
        Ok(Values::new(Shape::new(n_rows, data.len() / n_rows.max(1)), data))
    }

    /// The run, prepared again; `data` if it was trained on a table.
    ///
    /// # Errors
    /// If the data are others, or what the model says does not fit together.
    pub fn prepare(&self, data: Option<&Data>) -> Result<PreparedOrdinary, OrdinaryModelError> {
        let inconsistent = |reason: String| OrdinaryModelError::Inconsistent(reason);
        let read = |data: &Data| {
            let shape = self.circuit.samples();
            let format = self.theta.as_ref().map(|theta| theta.format).or(shape.map(super::sample_format));
            let format = format.ok_or_else(|| inconsistent("a table for no samples".to_owned()))?;
            Ok::<_, OrdinaryModelError>(data.read(format).map_err(OrdinaryError::from)?)
        };
        let samples = self.samples.open(data.map(|data| || read(data)))?;
        let (steps, after, n_new, seed) = self.options;
        let engine = Some(self.engine);
        let options = OrdinaryOptions { engine, float: self.float, steps, after, n_new, seed };
        Ok(PreparedOrdinary::new(self.learner()?, samples, options)?)
    }

    /// The data at hand, with the columns of the training data.
    #[must_use]
    pub fn data(&self, name: String, text: String, saturate: bool) -> Data {
        Data::like(&self.preparation, name, text, saturate)
    }

    /// Whether a repeated run leaves the same memory, bit for bit, and proves the same claims.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> Claim {
        let differ = |(a, b): &(&f64, &f64)| a.to_bits() != b.to_bits();
        let n_differ = self.memory.iter().zip(&other.memory).filter(differ).count();
        let same = self.memory.len() == other.memory.len() && n_differ == 0 && self == other;
        let figures = match (same, n_differ) {
            (true, _) => {
                format!("{} biases and {} claims, all the same", self.memory.len(), self.certificate.len())
            }
            (false, 0) => "what the model says of itself differs".to_owned(),
            (false, n) => format!("{n} of {} biases differ", self.memory.len()),
        };
        Claim { holds: same, figures }
    }

    fn learner(&self) -> Result<LearnerCircuit, OrdinaryModelError> {
        let inconsistent = |reason: String| OrdinaryModelError::Inconsistent(reason);
        let Some(stored) = &self.theta else { return Ok(self.circuit.clone().into()) };
        let n_features = self.circuit.samples().map_or(0, |shape| shape.n_features);
        let primary = StandardPrimaries
            .find(&stored.primary, n_features, self.circuit.samples().map_or(1, |shape| shape.n_labels))
            .map_err(|error| inconsistent(error.to_string()))?;
        let n_registers = self.circuit.registers().len();
        let known = stored.words.iter().flatten().all(|register| register.index() < n_registers);
        if !known || stored.words.len() != primary.n_weights() {
            return Err(inconsistent("theta is not in the registers".to_owned()));
        }
        if self.program.as_ref().is_some_and(|program| !program.fits(&self.circuit)) {
            return Err(inconsistent("the circuit is not the program's".to_owned()));
        }
        let theta = Theta { words: stored.words.clone(), format: stored.format, primary };
        Ok(LearnerCircuit {
            circuit: self.circuit.clone(),
            theta: Some(theta),
            program: self.program.clone(),
        })
    }
}
