//! Networks of landscape mlp as arrays.

use luge::files::AnyModel;
use luge_landscape::mlp::CircuitNetwork;
use luge_train::sequential::MAX_DENSE_WEIGHTS;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::{
    arrays,
    model::Model,
    prepared::{Network, Prepared},
    refusal::Refusal,
};

/// The weights and biases of each layer.
type Layers<'py> = Vec<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>)>;

/// The layers of a prepared network or of a trained model, the rate, and the number of steps for which each sample passes.
#[pyfunction]
pub(crate) fn ordinary<'py>(
    py: Python<'py>,
    prepared: &Prepared,
    trained: Option<&Model>,
) -> Result<(Layers<'py>, f64, usize), Refusal> {
    let Network::Mlp(mlp, _) = &*prepared.inner else {
        return Err(Refusal::new("only networks of landscape mlp have layers"));
    };
    let n_weights = mlp.network.network.n_weights();
    if n_weights > MAX_DENSE_WEIGHTS {
        return Err(Refusal::new(format!(
            "the network has {n_weights} weights, and at most {MAX_DENSE_WEIGHTS} become arrays"
        )));
    }
    let hold = mlp.program.as_ref().and_then(|program| program.hold).unwrap_or(1);
    let layers = match trained.map(|model| &model.inner) {
        Some(AnyModel::Mlp(model)) => layers(py, &model.trained()?),
        _ => layers(py, &mlp.network),
    };
    Ok((layers, mlp.network.constants.rate, hold))
}

fn layers<'py>(py: Python<'py>, network: &CircuitNetwork) -> Layers<'py> {
    let layer = |layer: &luge_net::LinearLayer| {
        let weights = arrays::rows(py, layer.n_units(), layer.n_inputs(), layer.dense());
        (weights, arrays::vector(py, layer.biases().to_vec()))
    };
    network.network.layers().iter().map(layer).collect()
}
