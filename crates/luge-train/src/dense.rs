//! Gradient descent as in the paper: evaluate every node, let candle differentiate the loss, and update every block of
//! weights by its own rule.
//!
//! This is the reference that all faster engines are compared with. [`Descent`] knows a network's nodes, weights and step
//! rules, but not their meaning; `operations.rs` has each operation in candle. [`Dense`] is the engine, which also finds
//! vertices, heads and cells in the weights.

mod engine;
mod operations;

use candle_core::{DType, Device, Tensor, Var};
use luge_net::{Network, Op, Shape, StepRule, Values};

use crate::{Noise, Precision, Rate, TrainError, best_vertex, line_search};
pub use engine::Dense;
use operations::MapTensors;

/// The largest number of weights of linear maps.
const MAX_ARCS: usize = 1 << 27;

/// A network at its current weights, and gradient steps from there.
struct Descent<'n> {
    network: &'n Network,
    /// The weights of every linear map, made into tensors once.
    maps: Vec<Option<MapTensors>>,
    /// For every node, whether the loss has a gradient through it.
    differentiated: Vec<bool>,
    parameters: Vec<Var>,
    inputs: Vec<Tensor>,
    dtype: DType,
    rate: Rate,
    noise: Option<Noise>,
    here: Option<Here>,
}

/// Loss and gradient at the current weights.
struct Here {
    loss: f64,
    gradient: Vec<Tensor>,
}

impl<'n> Descent<'n> {
    fn new(
        network: &'n Network,
        parameters: &[Values],
        inputs: &[Values],
        precision: Precision,
        rate: Rate,
        noise: Option<Noise>,
    ) -> Result<Self, TrainError> {
        if rate == Rate::LineSearch {
            check_line_search(network)?;
        }
        let arcs = |op: &Op| if let Op::Linear(map, _) = op { map.most_entries() } else { 0 };
        let n_arcs = network.nodes().iter().map(|node| arcs(&node.op)).sum();
        if n_arcs > MAX_ARCS {
            return Err(TrainError::TooWide { n_arcs, most: MAX_ARCS });
        }
        let dtype = precision.dtype();
        let maps = network.nodes().iter().map(|node| match &node.op {
            Op::Linear(map, _) => MapTensors::new(map, dtype).map(Some),
            _ => Ok(None),
        });
        let zeros = network.parameters().iter().map(|parameter| {
            let Shape { rows, cols } = parameter.shape;
            Var::zeros((rows, cols), dtype, &Device::Cpu)
        });
        let mut descent = Self {
            network,
            maps: maps.collect::<Result<_, _>>()?,
            differentiated: network.differentiated(),
            parameters: zeros.collect::<Result<_, _>>()?,
            inputs: Vec::new(),
            dtype,
            rate,
            noise,
            here: None,
        };
        descent.go_to(parameters)?;
        descent.feed(inputs)?;
        Ok(descent)
    }

    /// Sets all weights.
    fn go_to(&mut self, parameters: &[Values]) -> Result<(), TrainError> {
        if !self.network.fits_parameters(parameters) {
            return Err(TrainError::Shapes { what: "parameters" });
        }
        for (var, values) in self.parameters.iter().zip(parameters) {
            var.set(&to_tensor(values, self.dtype)?)?;
        }
        self.here = None;
        Ok(())
    }

    /// Sets all inputs.
    fn feed(&mut self, inputs: &[Values]) -> Result<(), TrainError> {
        if !self.network.fits_inputs(inputs) {
            return Err(TrainError::Shapes { what: "inputs" });
        }
        self.inputs = inputs.iter().map(|values| to_tensor(values, self.dtype)).collect::<Result<_, _>>()?;
        self.here = None;
        Ok(())
    }

    /// The loss, as a tensor that remembers how it was computed from the weights.
    fn forward(&self) -> candle_core::Result<Tensor> {
        let mut live: Vec<Tensor> = Vec::with_capacity(self.maps.len());
        // The same values without their history: nodes that only stop-gradients use are computed from these.
        let mut fixed: Vec<Tensor> = Vec::with_capacity(self.maps.len());
        for (id, node) in self.network.numbered_nodes() {
            let value = match &node.op {
                Op::Parameter(id) => self.parameters[id.index()].as_tensor().clone(),
                Op::Input(id) => self.inputs[id.index()].clone(),
                Op::StopGradient(of) => fixed[of.index()].clone(),
                _ => self.apply(id, node, if self.differentiated[id.index()] { &live } else { &fixed })?,
            };
            fixed.push(if value.track_op() { value.detach() } else { value.clone() });
            live.push(value);
        }
        Ok(live.swap_remove(self.network.loss().index()))
    }

    /// Loss and gradient at the current weights, computed once.
    fn differentiate(&mut self) -> candle_core::Result<&Here> {
        if self.here.is_none() {
            let loss = self.forward()?;
            let gradients = loss.backward()?;
            let of =
                |var: &Var| gradients.get(var).map_or_else(|| var.zeros_like(), |found| Ok(found.clone()));
            let gradient = self.parameters.iter().map(of).collect::<Result<_, _>>()?;
            self.here = Some(Here { loss: to_numbers(&loss)?[0], gradient });
        }
        Ok(self.here.as_ref().expect("just computed"))
    }

    /// One gradient step: every block of weights by its own rule.
    fn step(&mut self) -> Result<(), TrainError> {
        let gradient = self.differentiate()?.gradient.clone();
        for (block, (parameter, gradient)) in self.network.parameters().iter().zip(&gradient).enumerate() {
            match parameter.step_rule {
                StepRule::Gradient { rate } => self.update(block, gradient, -rate)?,
                StepRule::Simplex => self.step_on_simplex(block, gradient)?,
            }
        }
        self.here = None;
        Ok(())
    }

    /// Frank-Wolfe: `x + rate (y - x)`, where y is the vertex with the lowest gradient.
    fn step_on_simplex(&mut self, block: usize, gradient: &Tensor) -> Result<(), TrainError> {
        let point = to_values(self.parameters[block].as_tensor())?;
        let Some(to) = best_vertex(&to_numbers(gradient)?, &point.data) else { return Ok(()) };
        let target = Values::unit(point.data.len(), to);
        let rate = match self.rate {
            Rate::One => 1.0,
            Rate::LineSearch => {
                line_search::search(self.network, &point, &target, &to_all_values(&self.inputs)?)
            }
        };
        let direction = (to_tensor(&target, self.dtype)? - self.parameters[block].as_tensor())?.detach();
        self.update(block, &direction, rate)
    }

    /// Adds `rate * direction` to a block of weights, each entry times its own factor if there is noise.
    fn update(&mut self, block: usize, direction: &Tensor, rate: f64) -> Result<(), TrainError> {
        let mut update = direction.affine(rate, 0.0)?;
        if let Some(noise) = &mut self.noise {
            let factors = noise.factors(direction.elem_count());
            let factors = Tensor::from_vec(factors, direction.shape(), &Device::Cpu)?;
            update = (update * factors.to_dtype(self.dtype)?)?;
        }
        let moved = (self.parameters[block].as_tensor() + update)?;
        Ok(self.parameters[block].set(&moved.detach())?)
    }
}

/// Refuses a network on which the line search is not exact.
fn check_line_search(network: &Network) -> Result<(), TrainError> {
    if !network.is_piecewise_linear() {
        return Err(TrainError::NotPiecewiseLinear);
    }
    match network.parameters() {
        [only] if only.step_rule == StepRule::Simplex => Ok(()),
        _ => Err(TrainError::NotOneSimplex),
    }
}

fn to_tensor(values: &Values, dtype: DType) -> candle_core::Result<Tensor> {
    let Shape { rows, cols } = values.shape;
    Tensor::from_slice(&values.data, (rows, cols), &Device::Cpu)?.to_dtype(dtype)
}

fn to_numbers(tensor: &Tensor) -> candle_core::Result<Vec<f64>> {
    tensor.to_dtype(DType::F64)?.flatten_all()?.to_vec1()
}

fn to_values(tensor: &Tensor) -> candle_core::Result<Values> {
    let (rows, cols) = tensor.dims2()?;
    Ok(Values::new(Shape::new(rows, cols), to_numbers(tensor)?))
}

fn to_all_values<'t>(tensors: impl IntoIterator<Item = &'t Tensor>) -> candle_core::Result<Vec<Values>> {
    tensors.into_iter().map(to_values).collect()
}
