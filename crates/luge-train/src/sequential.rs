//! Plain SGD on linear layers and ReLUs: squared loss, one constant rate, one sample a step.
//!
//! This is what `torch.optim.SGD(net.parameters(), lr=rate)` does with an `nn.Sequential`: no weight is frozen and no
//! gradient is stopped. [`DenseSgd`] trains every weight and bias. [`SparseSgd`] uses only the weights that are not zero at
//! the start, and trains the biases of units without weights; [`Perturbation`] bounds the effect of training all others.

mod dense;
mod perturbation;
mod sparse;

pub use dense::{DenseSgd, MAX_DENSE_WEIGHTS, default_weights};
use num_traits::{Float, NumAssign};
pub use perturbation::{LayerMoves, Perturbation};
pub use sparse::SparseSgd;

/// f64 or f32.
pub trait Real: Float + NumAssign {}

impl<T: Float + NumAssign> Real for T {}

/// The nearest number of this type.
fn near<T: Real>(value: f64) -> T {
    T::from(value).expect("both types have numbers near all others")
}

/// The number as f64.
fn wide<T: Real>(value: T) -> f64 {
    value.to_f64().expect("f64 has all numbers of both types")
}

/// Makes steps of SGD on 1/2 |F(x) - y|^2.
pub trait SequentialEngine {
    /// The engine's name in reports.
    fn name(&self) -> &'static str;

    /// One step on one sample; returns the loss before it.
    fn step(&mut self, x: &[f64], y: &[f64]) -> f64;

    /// The output of the network with its current weights.
    fn output(&mut self, x: &[f64]) -> Vec<f64>;

    /// The biases of a layer.
    fn biases(&self, layer: usize) -> Vec<f64>;
}

/// The errors of all outputs, and their loss.
fn errors<T: Real>(outputs: &[T], y: &[f64]) -> (Vec<T>, f64) {
    assert_eq!(outputs.len(), y.len(), "a label for each output");
    let errors: Vec<T> = outputs.iter().zip(y).map(|(&output, &y)| output - near(y)).collect();
    let loss = errors.iter().map(|error| 0.5 * wide(*error) * wide(*error)).sum();
    (errors, loss)
}

fn relu<T: Real>(value: T) -> T {
    if value > T::zero() { value } else { T::zero() }
}

/// Propagates slopes backwards through the ReLUs of these sums.
fn through_relus<T: Real>(slopes: &mut [T], sums: &[T]) {
    for (slope, &sum) in slopes.iter_mut().zip(sums) {
        *slope = if sum > T::zero() { *slope } else { T::zero() };
    }
}
