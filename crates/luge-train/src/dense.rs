//! Gradient descent, dense: every unit evaluated, every gradient from candle's automatic differentiation, no shortcuts.
//!
//! This is the reference that faster engines are compared with. It knows a network's nodes, parameters and step rules, and nothing of
//! what they stand for; [`Dense`] beside it reads vertices, heads and cells off the weights.

mod engine;
mod kernel;

use candle_core::{DType, Device, Tensor, Var};
use luge_net::{Network, Op, StepRule, Values};

use crate::{Noise, Precision, Rate, TrainError, best_vertex, line_search};
pub use engine::Dense;
use kernel::Kernel;

/// The most arcs of linear layers that are listed one by one.
const MAX_ARCS: usize = 1 << 27;

/// A network at its current parameters, and gradient steps from there.
struct Descent<'n> {
    network: &'n Network,
    kernels: Vec<Kernel<'n>>,
    differentiated: Vec<bool>,
    parameters: Vec<Var>,
    inputs: Vec<Tensor>,
    dtype: DType,
    rate: Rate,
    noise: Option<Noise>,
    here: Option<Here>,
}

/// Loss and gradient at the current parameters.
struct Here {
    loss: f64,
    gradient: Vec<Tensor>,
}

impl<'n> Descent<'n> {
    /// Starts from the given parameters.
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
        let kernels = network.nodes().iter().map(|node| Kernel::new(network, node, dtype));
        let zeros = network
            .parameters()
            .iter()
            .map(|p| Var::zeros((p.shape.rows, p.shape.cols), dtype, &Device::Cpu));
        let mut descent = Self {
            network,
            kernels: kernels.collect::<Result<_, _>>()?,
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

    /// Goes to other parameters.
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

    /// Puts other numbers at the inputs.
    fn feed(&mut self, inputs: &[Values]) -> Result<(), TrainError> {
        if !self.network.fits_inputs(inputs) {
            return Err(TrainError::Shapes { what: "inputs" });
        }
        self.inputs = inputs.iter().map(|values| to_tensor(values, self.dtype)).collect::<Result<_, _>>()?;
        self.here = None;
        Ok(())
    }

    /// The parameters as numbers.
    fn values(&self) -> Result<Vec<Values>, TrainError> {
        self.parameters.iter().map(|var| to_values(var.as_tensor())).collect()
    }

    /// The inputs as numbers, rounded to the precision.
    fn fed(&self) -> Result<Vec<Values>, TrainError> {
        self.inputs.iter().map(to_values).collect()
    }

    /// The loss as a tensor that remembers how it was made from the parameters.
    fn forward(&self) -> candle_core::Result<Tensor> {
        let mut live: Vec<Tensor> = Vec::with_capacity(self.kernels.len());
        // What stands only under stop-gradients is computed from values that carry no gradient.
        let mut fixed: Vec<Tensor> = Vec::with_capacity(self.kernels.len());
        for (i, (node, kernel)) in self.network.nodes().iter().zip(&self.kernels).enumerate() {
            let value = match &node.op {
                Op::Parameter(id) => self.parameters[id.index()].as_tensor().clone(),
                Op::Input(id) => self.inputs[id.index()].clone(),
                Op::StopGradient(of) => fixed[of.index()].clone(),
                _ if self.differentiated[i] => kernel.apply(&live)?,
                _ => kernel.apply(&fixed)?,
            };
            fixed.push(if value.track_op() { value.detach() } else { value.clone() });
            live.push(value);
        }
        Ok(live.swap_remove(self.network.loss().index()))
    }

    /// Loss and gradient here, computed once.
    fn differentiate(&mut self) -> candle_core::Result<&Here> {
        if self.here.is_none() {
            let loss = self.forward()?;
            let store = loss.backward()?;
            let of = |var: &Var| match store.get(var) {
                Some(gradient) => Ok(gradient.clone()),
                None => var.zeros_like(),
            };
            let gradient = self.parameters.iter().map(of).collect::<Result<_, _>>()?;
            let loss = loss.to_dtype(DType::F64)?.flatten_all()?.to_vec1::<f64>()?[0];
            self.here = Some(Here { loss, gradient });
        }
        Ok(self.here.as_ref().expect("just computed"))
    }

    /// One gradient step: every block of parameters by its own rule.
    fn step(&mut self) -> Result<(), TrainError> {
        let gradient = self.differentiate()?.gradient.clone();
        let network = self.network;
        for (block, (parameter, gradient)) in network.parameters().iter().zip(&gradient).enumerate() {
            match parameter.step_rule {
                StepRule::Simplex => self.step_on_simplex(block, gradient)?,
                StepRule::Gradient { rate } => self.update(block, gradient, -rate)?,
            }
        }
        self.here = None;
        Ok(())
    }

    /// Adds `rate * noise * direction` to a block.
    fn update(&mut self, block: usize, direction: &Tensor, rate: f64) -> Result<(), TrainError> {
        let mut update = direction.affine(rate, 0.0)?;
        if let Some(noise) = &mut self.noise {
            let factors =
                Tensor::from_vec(noise.factors(direction.elem_count()), direction.shape(), &Device::Cpu)?;
            update = (update * factors.to_dtype(self.dtype)?)?;
        }
        let moved = (self.parameters[block].as_tensor() + update)?;
        Ok(self.parameters[block].set(&moved.detach())?)
    }

    /// The Frank-Wolfe step of one simplex block.
    fn step_on_simplex(&mut self, block: usize, gradient: &Tensor) -> Result<(), TrainError> {
        let point = to_values(self.parameters[block].as_tensor())?;
        let Some(to) = best_vertex(&to_values(gradient)?.data, &point.data) else { return Ok(()) };
        let target = Values::unit(point.data.len(), to);
        let rate = match self.rate {
            Rate::One => 1.0,
            Rate::LineSearch => line_search::search(self.network, &point, &target, &self.fed()?),
        };
        let direction = (to_tensor(&target, self.dtype)? - self.parameters[block].as_tensor())?.detach();
        self.update(block, &direction, rate)
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
    let shape = (values.shape.rows, values.shape.cols);
    Tensor::from_slice(&values.data, shape, &Device::Cpu)?.to_dtype(dtype)
}

fn to_values(tensor: &Tensor) -> Result<Values, TrainError> {
    let (rows, cols) = tensor.dims2()?;
    let data = tensor.to_dtype(DType::F64)?.flatten_all()?.to_vec1::<f64>()?;
    Ok(Values::new(luge_net::Shape::new(rows, cols), data))
}
