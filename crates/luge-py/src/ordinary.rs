//! Landscape mlp: linear layers and ReLUs that plain SGD trains.

use std::{ops::ControlFlow, path::Path};

use luge::{
    StreamJob,
    data::{PrepareOptions, Table},
    files::bounded,
    job::{Source, catalogue, program},
    mlp::{LearnerCircuit, MlpModel, MlpOptions, PreparedMlp},
    stream::{Concept, Draw, Order, Samples},
};
use luge_circuit::{Circuit, Shipped, aiger};
use luge_landscape::mlp::Float;
use luge_net::Word;
use luge_train::sequential::MAX_DENSE_WEIGHTS;
use numpy::{PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::json;

use crate::{arrays, refusal::Refusal};

type Layer<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// The options, as JSON.
#[derive(Deserialize)]
struct MlpSettings {
    draw: Option<String>,
    format: Option<String>,
    precision: String,
    seed: u64,
    train: bool,
}

/// A learner or circuit that ships, a program, or an AIGER file as layers of weights and biases, for drawn samples or a table whose
/// rows repeat in cycles. Also returns what is known about it as JSON. The weights are the initial ones, or trained if asked.
#[pyfunction]
pub(crate) fn ordinary<'py>(
    py: Python<'py>,
    learner: &str,
    table: Option<(PyReadonlyArray2<'py, f64>, PyReadonlyArray2<'py, f64>)>,
    asked: &str,
) -> Result<(Vec<Layer<'py>>, String), Refusal> {
    let names = |what: &str, n: usize| (1..=n).map(|i| format!("{what}{i}")).collect::<Vec<_>>();
    let table = table.map(|(x, y)| {
        let columns = (names("x", x.shape()[1]), names("y", y.shape()[1]));
        arrays::table(&x, &y, columns.0, columns.1, &PrepareOptions::default())
    });
    let table = table.transpose()?;
    let (network, known) = py.detach(|| {
        let asked: MlpSettings = serde_json::from_str(asked)?;
        let float = Float::from_word(&asked.precision)?;
        let options = MlpOptions { float, seed: asked.seed, ..MlpOptions::default() };
        let (circuit, samples) = open(learner, table, &asked)?;
        let prepared = PreparedMlp::new(circuit, Some(samples), options)?;
        let n_weights = prepared.network.network.n_weights();
        if n_weights > MAX_DENSE_WEIGHTS {
            return Err(Refusal::new(format!(
                "the network has {n_weights} weights, and at most {MAX_DENSE_WEIGHTS} become arrays"
            )));
        }
        let mut known = json!({
            "lr": prepared.network.constants.rate, "steps": prepared.rehearsal.steps, "halts": prepared.rehearsal.halted,
            "nonzero": prepared.network.network.n_nonzero(),
            "hold": prepared.program.as_ref().and_then(|program| program.hold).unwrap_or(1),
        });
        if !asked.train {
            return Ok((prepared.network, known));
        }
        let report = prepared.train(|_| ControlFlow::Continue(()))?;
        known["certified"] = report.certificate.proves_the_run().into();
        known["report"] = serde_json::to_value(&report)?;
        Ok((MlpModel::new(&prepared, &report).trained()?, known))
    })?;
    let layer = |layer: &luge_net::LinearLayer| {
        let weights = arrays::rows(py, layer.n_units(), layer.n_inputs(), layer.dense());
        (weights, arrays::vector(py, layer.biases().to_vec()))
    };
    Ok((network.network.layers().iter().map(layer).collect(), known.to_string()))
}

/// The circuit and its samples.
fn open(
    place: &str,
    table: Option<Table>,
    asked: &MlpSettings,
) -> Result<(LearnerCircuit, Samples), Refusal> {
    let draw = asked.draw.as_deref().map(str::parse::<Draw>).transpose()?;
    let program = Source::open(place).ok().filter(program::is_program);
    let Some(source) = program else {
        let parity = Draw { concept: Concept::Parity { n_hidden: 4 }, n_features: 8, noise: 0.0 };
        let drawn = Samples::Draw(draw.unwrap_or(parity));
        let samples = table.map_or(drawn, |table| Samples::Table(table, Order::Cycle));
        let n_features = samples.sizes().0;
        return Ok((open_circuit(place, n_features)?.into(), samples));
    };
    let format = asked.format.as_deref().map_or(Ok(StreamJob::format_for(&source)), str::parse)?;
    let samples = match (table, draw) {
        (Some(table), _) => Samples::Table(table, Order::Cycle),
        (None, Some(draw)) => Samples::Draw(draw),
        (None, None) => match catalogue::lesson(&source) {
            Some(lesson) => lesson.samples(format)?,
            None => {
                let problem = format!("{place} has no data of its own: give draw, or x and y as data");
                return Err(Refusal::new(problem));
            }
        },
    };
    let mut job = StreamJob::new(source, samples.clone());
    job.options.format = format;
    Ok((job.circuit()?, samples))
}

fn open_circuit(place: &str, n_bits: usize) -> Result<Circuit, Refusal> {
    if let Some(shipped) = Shipped::ALL.into_iter().find(|shipped| shipped.name() == place) {
        return Ok(shipped.circuit(n_bits));
    }
    let bytes = bounded::read(Path::new(place), 4).map_err(|reason| {
        let problem = "is not a learner or circuit that ships, and no such file can be read";
        Refusal::new(format!("`{place}` {problem}: {reason}"))
    })?;
    match aiger::read(&bytes, "circuit") {
        Ok(loaded) => Ok(loaded.circuit),
        Err(findings) => {
            let first = findings.first().map_or("", |finding| &finding.message);
            Err(Refusal::new(format!("{place} does not read as an AIGER circuit: {first}")))
        }
    }
}
