//! What every engine can do.

use luge_net::Values;

use crate::TrainError;

/// Where a simplex block went in a step: from the vertex nearest to the old point to the chosen one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moved {
    /// The vertex with the most weight before.
    pub from: usize,
    /// The vertex the step went towards; `from` if it stayed.
    pub to: usize,
}

/// Makes gradient steps on one network.
pub trait Engine {
    /// The engine's name in reports.
    fn name(&self) -> &'static str;

    /// The loss at the current parameters. Also differentiates, so that the step that follows need not.
    ///
    /// # Errors
    /// If the gradient cannot be computed.
    fn loss(&mut self) -> Result<f64, TrainError>;

    /// One step from the current parameters; says where each simplex block went.
    ///
    /// # Errors
    /// If the gradient cannot be computed.
    fn step(&mut self) -> Result<Vec<Moved>, TrainError>;

    /// The digest of all vertices visited since the first parameters, these included; see [`visit`](crate::visit). 0 if the
    /// network has no parameter named `vertex`.
    fn path(&self) -> u64;

    /// The current parameters.
    ///
    /// # Errors
    /// If they cannot be read back.
    fn parameters(&self) -> Result<Vec<Values>, TrainError>;

    /// The gradient at the current parameters, one block per parameter.
    ///
    /// # Errors
    /// If the gradient cannot be computed.
    fn gradient(&mut self) -> Result<Vec<Values>, TrainError>;

    /// The Euclidean length of the gradient at the current parameters, one number per parameter.
    ///
    /// # Errors
    /// If the gradient cannot be computed.
    fn gradient_norms(&mut self) -> Result<Vec<f64>, TrainError> {
        let length = |block: &Values| block.data.iter().map(|g| g * g).sum::<f64>().sqrt();
        Ok(self.gradient()?.iter().map(length).collect())
    }
}
