//! Model files: safetensors with the trained weights, and a card from which everything else is derived.
//!
//! Every model is a [`ModelOf`] its card: [`Model`] for a training on a table, [`StreamModel`] for one on a stream, and
//! [`MlpModel`] for a circuit on landscape mlp. [`AnyModel`] is a model of any kind.

mod error;
mod file;
mod program;
mod tensors;
mod training;

use std::{path::Path, sync::Arc};

use luge_landscape::Primary;
use luge_machine::Step;
use luge_net::{SparseValues, Values};
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

use crate::{
    certificate::Claim,
    data::{Preparation, Table},
    files::{atomic_file, bounded, json::hexadecimal, predictor::Predictor},
    job::{Data, Primaries},
    mlp::{MlpCard, MlpModel},
    stream::{StreamCard, StreamModel},
};
pub use error::ModelError;
pub use program::{Program, ProgramMismatch};
pub use training::{Model, TrainingCard};

/// A trained network: its metadata and its weights.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelOf<C> {
    /// The metadata: what it was made from, and its certificate.
    pub card: C,
    /// theta, the primary network's weights; empty if the run has not found any.
    pub theta: Vec<f64>,
    /// All weights that do not follow from the card, by the names of their blocks.
    pub weights: Vec<(String, SparseValues)>,
}

/// The metadata of one kind of model.
pub trait Card: Clone + PartialEq + Serialize + DeserializeOwned {
    /// The entry of the file's header that holds the card.
    const KEY: &'static str;
    /// The version of the card, its field `version`; other versions are refused.
    const VERSION: u32;

    /// How the columns of the data were prepared.
    fn preparation(&self) -> &Preparation;

    /// The claims of the certificate.
    fn claims(&self) -> Vec<(&str, &Claim)>;

    /// Checks that the card is consistent.
    ///
    /// # Errors
    /// The reason if it is not.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Copies from the card of another model what repeated training cannot derive.
    fn adopt(&mut self, _claimed: &Self) {}
}

impl<C: Card> ModelOf<C> {
    /// Writes the file: complete or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), ModelError> {
        let bytes = self.to_bytes(&path.display().to_string())?;
        Ok(atomic_file::write(path, &bytes)?)
    }

    /// Returns the file's bytes; messages call it `name`.
    ///
    /// # Errors
    /// If the format does not allow the name of a weight.
    pub fn to_bytes(&self, name: &str) -> Result<Vec<u8>, ModelError> {
        let theta = Values::column(self.theta.clone()).into();
        let weights = self.weights.iter().map(|(name, values)| (name.as_str(), values));
        file::write(name, &self.card, weights.chain([("theta", &theta)]))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it is not there, not a model of this kind, or of another version.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        Self::from_bytes(&bounded::read(path, 4)?, path.display().to_string())
    }

    /// Reads a file's bytes; messages call it `name`.
    ///
    /// # Errors
    /// If they are not a model of this kind, or one of another version.
    pub fn from_bytes(bytes: &[u8], name: String) -> Result<Self, ModelError> {
        let (card, mut weights): (C, _) = file::read(bytes, &name)?;
        card.check().map_err(|reason| ModelError::Metadata { name: name.clone(), reason })?;
        let theta = weights.iter().position(|(tensor, _)| tensor == "theta");
        let theta = theta.ok_or_else(|| ModelError::tensor(&name, "theta"))?;
        let theta = weights.remove(theta).1.to_values().data;
        Ok(Self { card, theta, weights })
    }

    /// Returns the data of a CSV file, to be prepared as in training.
    pub fn data(&self, name: String, text: String, saturate: bool) -> Data {
        Data::like(self.card.preparation(), name, text, saturate)
    }

    /// The claim that training again gives the same model: every weight bit for bit, every figure and every claim.
    pub fn is_same(&self, again: &Self) -> Claim {
        let mut card = again.card.clone();
        card.adopt(&self.card);
        let mut differing: Vec<&str> = Vec::new();
        let mut differ = |name, differs: bool| differing.extend(differs.then_some(name));
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        differ("theta", bits(&self.theta) != bits(&again.theta));
        differ("a block of weights that is not there", self.weights.len() != again.weights.len());
        for (name, values) in &again.weights {
            let same = self.weights.iter().any(|(own, v)| own == name && v.same_bits(values));
            differ(name, !same);
        }
        differ("certificate", self.card.claims() != card.claims());
        differ("metadata", self.card != card);
        match &differing[..] {
            [] => Claim::new(true, "every weight, figure and claim again, bit for bit"),
            names => Claim::new(false, format!("training again gives another: {}", names.join(", "))),
        }
    }

    /// Finds the primary network of a description for the columns of the data; theta must fit its weights.
    pub(crate) fn find_primary(
        &self,
        described: &str,
        primaries: &dyn Primaries,
    ) -> Result<Arc<dyn Primary>, ModelError> {
        let (features, labels) = self.card.preparation().names();
        let found = primaries.find(described, features.len(), labels.len())?;
        match found.n_weights() == self.theta.len() {
            true => Ok(found),
            false => Err(ModelError::Theta { n_theta: self.theta.len(), primary: described.to_owned() }),
        }
    }
}

/// A model of any kind.
///
/// ```
/// use luge::{AnyModel, Model, Source, TrainJob, Values};
///
/// let (prepared, report) = TrainJob::of(Source::open("mean")?)?.train()?;
/// let bytes = Model::new(&prepared, &report).to_bytes("mean")?;
/// // `AnyModel::load` does the same with a path, for models of streams and of landscape mlp as well.
/// let model = AnyModel::from_bytes(&bytes, "mean".to_owned())?;
/// assert_eq!(model.predict(&Values::column(vec![0.5]))?.data, [2.5625]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub enum AnyModel {
    /// A training on a table.
    Training(Box<Model>),
    /// A training on a stream.
    Stream(Box<StreamModel>),
    /// A circuit on landscape mlp.
    Mlp(Box<MlpModel>),
}

impl AnyModel {
    /// Reads a file.
    ///
    /// # Errors
    /// If it is not there, not a model, or of another version.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        Self::from_bytes(&bounded::read(path, 4)?, path.display().to_string())
    }

    /// Reads a file's bytes; messages call it `name`.
    ///
    /// # Errors
    /// If they are not a model, or one of another version.
    pub fn from_bytes(bytes: &[u8], name: String) -> Result<Self, ModelError> {
        Ok(if file::holds::<StreamCard>(bytes) {
            Self::Stream(Box::new(StreamModel::from_bytes(bytes, name)?))
        } else if file::holds::<MlpCard>(bytes) {
            Self::Mlp(Box::new(MlpModel::from_bytes(bytes, name)?))
        } else {
            Self::Training(Box::new(Model::from_bytes(bytes, name)?))
        })
    }

    /// Returns the file's bytes; messages call it `name`.
    ///
    /// # Errors
    /// If the format does not allow the name of a weight.
    pub fn to_bytes(&self, name: &str) -> Result<Vec<u8>, ModelError> {
        match self {
            Self::Training(model) => model.to_bytes(name),
            Self::Stream(model) => model.to_bytes(name),
            Self::Mlp(model) => model.to_bytes(name),
        }
    }

    /// The gradient steps of the training.
    pub fn steps(&self) -> Step {
        match self {
            Self::Training(model) => model.card.steps,
            Self::Stream(model) => model.card.steps,
            Self::Mlp(model) => model.card.steps,
        }
    }

    /// How the columns of the data were prepared.
    pub fn preparation(&self) -> &Preparation {
        match self {
            Self::Training(model) => model.card.preparation(),
            Self::Stream(model) => model.card.preparation(),
            Self::Mlp(model) => model.card.preparation(),
        }
    }

    /// Predicts new samples, which must be prepared as in training.
    ///
    /// # Errors
    /// If the model is inconsistent, or has learned nothing.
    pub fn predict(&self, features: &Values) -> Result<Values, ModelError> {
        let (primary, theta) = match self {
            Self::Training(model) => (model.primary()?, &model.theta),
            Self::Stream(model) => (model.primary()?, &model.theta),
            Self::Mlp(model) => return model.predict(features),
        };
        Ok(Predictor::new(&*primary, theta.clone()).predict(features))
    }
}

/// Returns the SHA-256 of a table's numbers in hexadecimal.
pub fn data_digest(table: &Table) -> String {
    let mut hash = Sha256::new();
    for number in table.features.data.iter().chain(&table.labels.data) {
        hash.update(number.to_le_bytes());
    }
    hexadecimal(&hash.finalize())
}
