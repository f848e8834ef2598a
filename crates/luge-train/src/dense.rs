//! The dense engine: every unit evaluated, every gradient from candle's automatic differentiation, no shortcuts.
//!
//! This is the truth that faster engines are held to, so it is meant to be read in one sitting.

mod kernel;

use candle_core::{DType, Device, Tensor, Var};
use luge_net::{Network, Op, StepRule, Values};

use crate::{Engine, Moved, Noise, Rate, TrainError, best_vertex, line_search, visit};
use kernel::Kernel;

/// The arithmetic training runs in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Precision {
    /// 64-bit floating point.
    #[default]
    F64,
    /// 32-bit floating point.
    F32,
    /// 16-bit IEEE floating point.
    F16,
    /// 16-bit floating point with the exponent of f32.
    Bf16,
}

impl Precision {
    /// All precisions, the finest first.
    pub const ALL: [Self; 4] = [Self::F64, Self::F32, Self::F16, Self::Bf16];

    /// The precision's name on the command line and in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
        }
    }

    fn dtype(self) -> DType {
        match self {
            Self::F64 => DType::F64,
            Self::F32 => DType::F32,
            Self::F16 => DType::F16,
            Self::Bf16 => DType::BF16,
        }
    }
}

/// The most arcs of linear layers that are listed one by one.
const MOST_ARCS: usize = 1 << 27;

/// Trains a network by evaluating and differentiating all of it at every step.
pub struct Dense<'n> {
    network: &'n Network,
    kernels: Vec<Kernel>,
    differentiated: Vec<bool>,
    parameters: Vec<Var>,
    inputs: Vec<Tensor>,
    dtype: DType,
    rate: Rate,
    noise: Option<Noise>,
    here: Option<Here>,
    /// The parameter named `vertex`, and the digest of the vertices visited.
    vertex: Option<usize>,
    path: u64,
}

/// Loss and gradient at the current parameters.
struct Here {
    loss: f64,
    gradient: Vec<Tensor>,
}

impl<'n> Dense<'n> {
    /// An engine that starts from the given parameters.
    ///
    /// # Errors
    /// If the values do not fit the network, or the line search does not.
    pub fn new(
        network: &'n Network,
        parameters: &[Values],
        inputs: &[Values],
        precision: Precision,
        rate: Rate,
        noise: Option<Noise>,
    ) -> Result<Self, TrainError> {
        if !network.fits_parameters(parameters) {
            return Err(TrainError::Shapes { what: "parameters" });
        }
        if !network.fits_inputs(inputs) {
            return Err(TrainError::Shapes { what: "inputs" });
        }
        if rate == Rate::LineSearch {
            if !network.is_piecewise_linear() {
                return Err(TrainError::NotPiecewiseLinear);
            }
            if !matches!(network.parameters(), [only] if only.step_rule == StepRule::Simplex) {
                return Err(TrainError::NotOneSimplex);
            }
        }
        let arcs = |op: &Op| if let Op::Linear(map, _) = op { map.most_entries() } else { 0 };
        let n_arcs = network.nodes().iter().map(|node| arcs(&node.op)).sum();
        if n_arcs > MOST_ARCS {
            return Err(TrainError::TooWide { n_arcs, most: MOST_ARCS });
        }
        let dtype = precision.dtype();
        let tensor = |values: &Values| to_tensor(values, dtype);
        let vertex = network.parameters().iter().position(|p| p.name == "vertex");
        let vars = parameters.iter().map(|p| Var::from_tensor(&tensor(p)?));
        Ok(Self {
            network,
            kernels: network
                .nodes()
                .iter()
                .map(|n| Kernel::new(network, n, dtype))
                .collect::<Result<_, _>>()?,
            differentiated: network.differentiated(),
            parameters: vars.collect::<Result<_, _>>()?,
            inputs: inputs.iter().map(tensor).collect::<Result<_, _>>()?,
            dtype,
            rate,
            noise,
            here: None,
            vertex,
            path: vertex.map_or(0, |block| visit(0, heaviest(&parameters[block].data))),
        })
    }

    /// The same engine, after steps made elsewhere: this is the digest of the vertices visited until now, the current one
    /// included.
    #[must_use]
    pub fn with_path(self, path: u64) -> Self {
        Self { path, ..self }
    }

    /// Goes to other parameters, to see what training does there; the path begins anew.
    ///
    /// # Errors
    /// If the values do not fit the network.
    pub fn go_to(&mut self, parameters: &[Values]) -> Result<(), TrainError> {
        if !self.network.fits_parameters(parameters) {
            return Err(TrainError::Shapes { what: "parameters" });
        }
        for (var, values) in self.parameters.iter().zip(parameters) {
            var.set(&to_tensor(values, self.dtype)?)?;
        }
        self.here = None;
        self.path = self.vertex.map_or(0, |block| visit(0, heaviest(&parameters[block].data)));
        Ok(())
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
    fn step_on_simplex(&mut self, block: usize, gradient: &Tensor) -> Result<Moved, TrainError> {
        let point = to_values(self.parameters[block].as_tensor())?;
        let from = heaviest(&point.data);
        let Some(to) = best_vertex(&to_values(gradient)?.data, &point.data) else {
            return Ok(Moved { from, to: from });
        };
        let target = Values::unit(point.data.len(), to);
        let rate = match self.rate {
            Rate::One => 1.0,
            Rate::LineSearch => {
                let inputs = self.inputs.iter().map(to_values).collect::<Result<Vec<_>, _>>()?;
                line_search::search(self.network, &point, &target, &inputs)
            }
        };
        let direction = (to_tensor(&target, self.dtype)? - self.parameters[block].as_tensor())?.detach();
        self.update(block, &direction, rate)?;
        Ok(Moved { from, to })
    }
}

impl Engine for Dense<'_> {
    fn name(&self) -> &'static str {
        "dense"
    }

    fn loss(&mut self) -> Result<f64, TrainError> {
        Ok(self.differentiate()?.loss)
    }

    fn step(&mut self) -> Result<Vec<Moved>, TrainError> {
        let gradient = self.differentiate()?.gradient.clone();
        let network = self.network;
        let mut moved = Vec::new();
        for (block, (parameter, gradient)) in network.parameters().iter().zip(&gradient).enumerate() {
            match parameter.step_rule {
                StepRule::Simplex => moved.push(self.step_on_simplex(block, gradient)?),
                StepRule::Gradient { rate } => self.update(block, gradient, -rate)?,
            }
        }
        self.here = None;
        if let Some(block) = self.vertex {
            self.path = visit(self.path, heaviest(&to_values(self.parameters[block].as_tensor())?.data));
        }
        Ok(moved)
    }

    fn path(&self) -> u64 {
        self.path
    }

    fn parameters(&self) -> Result<Vec<Values>, TrainError> {
        self.parameters.iter().map(|var| to_values(var.as_tensor())).collect()
    }

    fn gradient(&mut self) -> Result<Vec<Values>, TrainError> {
        self.differentiate()?.gradient.iter().map(to_values).collect()
    }
}

fn heaviest(point: &[f64]) -> usize {
    let mut best = 0;
    for (index, &weight) in point.iter().enumerate() {
        if weight > point[best] {
            best = index;
        }
    }
    best
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
