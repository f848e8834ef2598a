//! SGD on linear layers and ReLUs, held to candle's automatic differentiation.

use candle_core::{DType, Device, Tensor, Var};
use luge_net::Sequential;
use luge_train::sequential::{DenseSgd, SequentialEngine, SparseSgd, default_weights};

const WIDTHS: [usize; 5] = [3, 7, 9, 5, 2];
const RATE: f64 = 0.05;

fn samples() -> Vec<([f64; 3], [f64; 2])> {
    let features = |i: i32| [f64::from(i) - 2.5, f64::from(i * i % 5) - 1.0, 0.5];
    (0..6).map(|i| (features(i), [f64::from(i % 2), f64::from(i % 3) - 1.0])).collect()
}

/// The same steps with candle: the weights and biases of every layer at the end.
fn with_candle(network: &Sequential) -> Vec<(Vec<f64>, Vec<f64>)> {
    let var =
        |data: Vec<f64>, shape: (usize, usize)| Var::from_vec(data, shape, &Device::Cpu).expect("valid");
    let layers: Vec<(Var, Var)> = network
        .layers()
        .iter()
        .map(|layer| {
            let mut weights = vec![0.0; layer.n_units() * layer.n_inputs()];
            for unit in 0..layer.n_units() {
                layer.terms(unit).for_each(|(at, w)| weights[unit * layer.n_inputs() + at] = w);
            }
            let biases = var(layer.biases().to_vec(), (layer.n_units(), 1));
            (var(weights, (layer.n_units(), layer.n_inputs())), biases)
        })
        .collect();
    for (x, y) in samples() {
        let mut value = Tensor::from_vec(x.to_vec(), (3, 1), &Device::Cpu).expect("valid");
        for (at, (weights, biases)) in layers.iter().enumerate() {
            value = (weights.matmul(&value).expect("valid") + biases.as_tensor()).expect("valid");
            value = if at + 1 < layers.len() { value.relu().expect("valid") } else { value };
        }
        let y = Tensor::from_vec(y.to_vec(), (2, 1), &Device::Cpu).expect("valid");
        let loss = ((value - y).expect("valid").sqr().expect("valid").sum_all().expect("valid") * 0.5)
            .expect("valid");
        let gradients = loss.backward().expect("valid");
        for var in layers.iter().flat_map(|(weights, biases)| [weights, biases]) {
            let Some(gradient) = gradients.get(var.as_tensor()) else { continue };
            var.set(&(var.as_tensor() - (gradient * RATE).expect("valid")).expect("valid")).expect("valid");
        }
    }
    let flat = |var: &Var| -> Vec<f64> {
        var.to_dtype(DType::F64).expect("valid").flatten_all().expect("valid").to_vec1().expect("valid")
    };
    layers.iter().map(|(weights, biases)| (flat(weights), flat(biases))).collect()
}

#[test]
fn the_reverse_pass_is_candles() {
    for seed in 0..20 {
        let network = default_weights(&WIDTHS, seed);
        let mut engine = DenseSgd::<f64>::new(&network, RATE).expect("valid");
        for (x, y) in samples() {
            engine.step(&x, &y);
        }
        for (at, (weights, biases)) in with_candle(&network).into_iter().enumerate() {
            let pairs = engine.weights(at).iter().zip(&weights).map(|(&a, &b)| (a, b));
            for (a, b) in pairs.chain(engine.biases(at).into_iter().zip(biases)) {
                assert!((a - b).abs() < 1e-12, "seed {seed}, layer {at}: {a} and {b}");
            }
        }
    }
}

#[test]
fn sparse_and_dense_see_the_same_loss() {
    let network = default_weights(&WIDTHS, 3);
    let mut dense = DenseSgd::<f64>::new(&network, 0.0).expect("valid");
    let mut sparse = SparseSgd::<f64>::new(&network, 0.0);
    for (x, y) in samples() {
        assert!((dense.step(&x, &y) - sparse.step(&x, &y)).abs() < 1e-14);
        let expected = network.evaluate(&x);
        for (a, b) in dense.output(&x).iter().chain(&sparse.output(&x)).zip(expected.iter().chain(&expected))
        {
            assert!((a - b).abs() < 1e-14);
        }
    }
}
