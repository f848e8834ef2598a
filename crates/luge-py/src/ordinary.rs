//! Landscape mlp: linear layers and ReLUs that plain SGD trains.

use std::{ops::ControlFlow, path::Path};

use luge::{
    files::bounded,
    ordinary::{OrdinaryError, OrdinaryModel, OrdinaryOptions, PreparedOrdinary},
    stream::{Draw, Samples},
    words::Word,
};
use luge_circuit::{Circuit, Shipped, aiger};
use luge_landscape::mlp::Float;
use luge_train::sequential::MAX_DENSE_WEIGHTS;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use serde_json::json;

use crate::{
    arrays,
    refusal::{Refusal, with_reasons},
};

type Layer<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// A circuit that ships or an AIGER file as layers, weights and biases, for a stream that is drawn; and what is known of it as JSON.
/// Trained if asked, else as training starts.
#[pyfunction]
pub(crate) fn ordinary<'py>(
    py: Python<'py>,
    circuit: &str,
    draw: &str,
    precision: &str,
    seed: u64,
    train: bool,
) -> PyResult<(Vec<Layer<'py>>, String)> {
    let (network, known) = py
        .detach(|| {
            let unfit = |error: &dyn std::error::Error| Refusal::unfit(with_reasons(error));
            let draw: Draw = draw.parse().map_err(|error| unfit(&error))?;
            let float = Float::from_word(precision).map_err(|error| unfit(&error))?;
            let circuit = open(circuit, draw.n_features)?;
            let options = OrdinaryOptions { float, seed, ..OrdinaryOptions::default() };
            let refused = |error: OrdinaryError| unfit(&error);
            let prepared =
                PreparedOrdinary::new(circuit, Some(Samples::Draw(draw)), options).map_err(refused)?;
            let n_weights = prepared.network.network.n_weights();
            if n_weights > MAX_DENSE_WEIGHTS {
                let problem = format!(
                    "the network has {n_weights} weights, and at most {MAX_DENSE_WEIGHTS} become arrays"
                );
                return Err(Refusal::unfit(problem));
            }
            let mut known = json!({
                "lr": prepared.network.constants.rate, "steps": prepared.steps, "halts": prepared.halts,
                "nonzero": prepared.network.network.n_nonzero(),
            });
            if !train {
                return Ok((prepared.network, known));
            }
            let report = prepared.train(|_| ControlFlow::Continue(())).map_err(refused)?;
            known["certified"] = report.proves_the_run().into();
            known["report"] = serde_json::to_value(&report)?;
            let trained = OrdinaryModel::new(&prepared, &report).trained();
            Ok((trained.map_err(|error| unfit(&error))?, known))
        })
        .map_err(|refusal: Refusal| PyErr::from(refusal))?;
    let layer = |layer: &luge_net::LinearLayer| {
        let weights = arrays::rows(py, layer.n_units(), layer.n_inputs(), layer.dense());
        (weights, arrays::vector(py, layer.biases().to_vec()))
    };
    Ok((network.network.layers().iter().map(layer).collect(), known.to_string()))
}

fn open(place: &str, n_bits: usize) -> Result<Circuit, Refusal> {
    if let Some(shipped) = Shipped::ALL.into_iter().find(|shipped| shipped.name() == place) {
        return Ok(shipped.circuit(n_bits));
    }
    let bytes = bounded::read(Path::new(place), 4).map_err(|reason| {
        Refusal::unfit(format!("`{place}` is no circuit that ships, and no file can be read there: {reason}"))
    })?;
    match aiger::read(&bytes, "circuit") {
        Ok(loaded) => Ok(loaded.circuit),
        Err(findings) => {
            let first = findings.first().map_or("", |finding| &finding.message);
            Err(Refusal::unfit(format!("{place} does not read as an AIGER circuit: {first}")))
        }
    }
}
