//! Models of landscape mlp: the circuit, how it was trained, and the memory after training.
//!
//! The file holds no weights but the memory's biases, because all others follow from the circuit.

use luge_circuit::{Circuit, RegisterId};
use luge_landscape::mlp::{CircuitNetwork, MEMORY_LAYER};
use luge_machine::Step;
use luge_net::{NumberFormat, Shape, Values};
use serde::{Deserialize, Serialize};

use super::{CircuitProgram, LearnerCircuit, PreparedMlp, Theta, coded, network_of};
use crate::{
    certificate::{Certificate, Claim},
    data::Preparation,
    files::model::{Card, ModelError, ModelOf},
    job::{Data, Primaries, StandardPrimaries},
    stream::{StoredSamples, StreamOptions, StreamReport},
};

/// A trained circuit, and the certificate of the run. Its only block of weights is `memory`, the biases of the memory's layer.
pub type MlpModel = ModelOf<MlpCard>;

/// The metadata of a model of landscape mlp.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MlpCard {
    version: u32,
    /// The circuit.
    pub circuit: Circuit,
    /// Steps of SGD.
    pub steps: Step,
    /// Whether the circuit halted.
    pub halted: bool,
    /// What was proved.
    pub certificate: Certificate,
    /// What was done to the columns of the data, or the columns that are expected.
    pub preparation: Preparation,
    theta: Option<StoredTheta>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program: Option<CircuitProgram>,
    samples: StoredSamples,
    /// The steps that the constants were chosen for.
    planned: Step,
    /// How it was trained, with every choice made.
    pub options: StreamOptions,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct StoredTheta {
    words: Vec<Vec<RegisterId>>,
    format: NumberFormat,
    primary: String,
}

impl Card for MlpCard {
    const KEY: &'static str = "luge_mlp";
    const VERSION: u32 = 3;

    fn preparation(&self) -> &Preparation {
        &self.preparation
    }

    fn claims(&self) -> Vec<(&str, &Claim)> {
        self.certificate.claims()
    }
}

fn inconsistent(reason: impl ToString) -> ModelError {
    ModelError::Inconsistent(reason.to_string())
}

impl MlpModel {
    /// Creates the model of a finished training.
    pub fn new(prepared: &PreparedMlp, report: &StreamReport) -> Self {
        let n_features = prepared.circuit.samples().map_or(0, |shape| shape.n_features);
        let (samples, preparation) = StoredSamples::of(prepared.samples.as_ref(), n_features);
        let theta = prepared.theta.as_ref().map(|theta| StoredTheta {
            words: theta.words.clone(),
            format: theta.format,
            primary: theta.primary.describe(),
        });
        let card = MlpCard {
            version: MlpCard::VERSION,
            circuit: prepared.circuit.clone(),
            steps: report.steps,
            halted: report.halted,
            certificate: report.certificate.clone(),
            preparation,
            theta,
            program: prepared.program.clone(),
            samples,
            planned: prepared.network.constants.steps,
            options: StreamOptions { engine: Some(prepared.engine()), ..prepared.options.clone() },
        };
        let memory = report.weights.iter().map(|memory| ("memory".to_owned(), memory.into()));
        Self { card, theta: report.theta.clone(), weights: memory.collect() }
    }

    /// Returns the biases of the memory's layer.
    fn memory(&self) -> Result<Vec<f64>, ModelError> {
        match &self.weights[..] {
            [(name, memory)] if name == "memory" => Ok(memory.to_values().data),
            _ => Err(inconsistent("it has other weights than the memory's biases")),
        }
    }

    /// Builds the network that training started from.
    ///
    /// # Errors
    /// If the model is inconsistent.
    pub fn initial(&self) -> Result<CircuitNetwork, ModelError> {
        let MlpCard { planned, options, .. } = &self.card;
        let network = network_of(&self.learner()?, *planned, options.precision)?.0;
        let (found, n_memory) = (self.memory()?.len(), network.network.layers()[MEMORY_LAYER].n_units());
        match found == n_memory {
            true => Ok(network),
            false => Err(inconsistent(format!("{found} biases for {n_memory} units"))),
        }
    }

    /// Builds the trained network. The certificate bounds how far the weights have moved that the file does not hold.
    ///
    /// # Errors
    /// As for [`Self::initial`].
    pub fn trained(&self) -> Result<CircuitNetwork, ModelError> {
        let mut network = self.initial()?;
        for (unit, &bias) in self.memory()?.iter().enumerate() {
            network.network.set_bias(MEMORY_LAYER, unit, bias);
        }
        Ok(network)
    }

    /// Predicts new samples: with the network's output, or with a primary network that is not part of the MLP.
    ///
    /// # Errors
    /// If there is no output, or as for [`Self::initial`].
    pub fn predict(&self, features: &Values) -> Result<Values, ModelError> {
        let (network, learner) = (self.trained()?, self.learner()?);
        let shape = learner.circuit.samples().filter(|shape| shape.n_features == features.shape.cols);
        let shape = shape.ok_or_else(|| inconsistent("its samples have another number of features"))?;
        let memory = network.decode(&self.memory()?).map_err(inconsistent)?;
        let inside = !learner.circuit.output().is_empty()
            || learner.theta.as_ref().is_some_and(|theta| theta.readout(Some(shape)).is_some());
        if !self.card.halted || !inside && learner.theta.is_none() {
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

    /// Prepares the run again; it needs `data` if it was trained on a table.
    ///
    /// # Errors
    /// If the data are not those of the training, or the model is inconsistent.
    pub fn prepare(&self, data: Option<&Data>) -> Result<PreparedMlp, ModelError> {
        let MlpCard { circuit, theta, samples, options, .. } = &self.card;
        let read = |data: &Data| {
            let format = theta.as_ref().map(|theta| theta.format);
            let format = format.or(circuit.samples().map(super::sample_format));
            Ok(data.read(format.ok_or_else(|| inconsistent("a table for no samples"))?)?)
        };
        let samples = samples.open(data.map(|data| || read(data)))?;
        Ok(PreparedMlp::new(self.learner()?, samples, options.clone())?)
    }

    fn learner(&self) -> Result<LearnerCircuit, ModelError> {
        let MlpCard { circuit, theta, program, .. } = self.card.clone();
        let Some(StoredTheta { words, format, primary }) = theta else { return Ok(circuit.into()) };
        let (n_features, n_labels) =
            circuit.samples().map_or((0, 1), |shape| (shape.n_features, shape.n_labels));
        let primary = StandardPrimaries.find(&primary, n_features, n_labels).map_err(inconsistent)?;
        let n_registers = circuit.registers().len();
        let known = words.iter().flatten().all(|register| register.index() < n_registers);
        if !known || words.len() != primary.n_weights() {
            return Err(inconsistent("theta is not in the registers"));
        }
        if program.as_ref().is_some_and(|program| !program.fits(&circuit)) {
            return Err(inconsistent("the circuit is not the program's"));
        }
        Ok(LearnerCircuit { circuit, theta: Some(Theta { words, format, primary }), program })
    }
}
