//! The dense engine: every unit evaluated, every gradient from candle's automatic differentiation, no shortcuts.
//!
//! This is the reference for the faster engines, so it is meant to be read in one sitting.

mod kernel;

use std::ops::{ControlFlow, Range};

use candle_core::{DType, Device, Tensor, Var};
use luge_net::{Network, Op, SparseValues, StepRule, Values, evaluate_node};

use crate::{
    Engine, LossRange, Noise, Outcome, Rate, Snapshot, StopRule, TrainError, best_vertex, line_search,
    snapshot::{label_parameter, vertex_parameter},
    sparse::BLANK,
    train, visit,
};
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
const MAX_ARCS: usize = 1 << 27;

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
    steps: u64,
    path: u64,
    losses: Option<LossRange>,
    /// The parameters as numbers.
    values: Vec<Values>,
    /// Cells that are hidden units, as they are at the current parameters.
    fixed_cells: Option<Values>,
    /// The labels those cells are for.
    read_labels: Vec<f64>,
    /// The largest distance of a cell from -1 and 1, and of a head's weight from 0 and 1, so far.
    drift: (f64, f64),
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
        parameters: impl IntoIterator<Item = impl Into<Values>>,
        inputs: &[Values],
        precision: Precision,
        rate: Rate,
        noise: Option<Noise>,
    ) -> Result<Self, TrainError> {
        let parameters: Vec<Values> = parameters.into_iter().map(Into::into).collect();
        if !network.fits_parameters(&parameters) {
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
        if n_arcs > MAX_ARCS {
            return Err(TrainError::TooWide { n_arcs, most: MAX_ARCS });
        }
        let dtype = precision.dtype();
        let tensor = |values: &Values| to_tensor(values, dtype);
        let vars = parameters.iter().map(|p| Var::from_tensor(&tensor(p)?));
        let mut engine = Self {
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
            steps: 0,
            path: 0,
            losses: None,
            values: Vec::new(),
            fixed_cells: None,
            read_labels: Vec::new(),
            drift: (0.0, 0.0),
        };
        engine.read_back()?;
        engine.path = visit(0, engine.heaviest());
        Ok(engine)
    }

    /// The vertex with the most weight, the first of several; 0 without vertices.
    fn heaviest(&self) -> usize {
        let weights = vertex_parameter(self.network).map_or(&[][..], |id| &self.values[id.index()].data);
        (0..weights.len()).reduce(|a, b| if weights[b] > weights[a] { b } else { a }).unwrap_or(0)
    }

    /// The same engine, at a snapshot.
    ///
    /// # Errors
    /// If the snapshot's weights do not fit the network.
    pub fn at(mut self, snapshot: &Snapshot, losses: Option<LossRange>) -> Result<Self, TrainError> {
        let parameters = snapshot.parameters(self.network);
        self.go_to(&parameters.ok_or(TrainError::Shapes { what: "parameters" })?)?;
        (self.steps, self.path, self.losses) = (snapshot.step, snapshot.path, losses);
        Ok(self)
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
        self.read_back()?;
        self.path = visit(0, self.heaviest());
        Ok(())
    }

    /// Puts other numbers at the inputs, as a stream does: the next step sees these.
    ///
    /// # Errors
    /// If the values do not fit the network.
    pub fn feed(&mut self, inputs: &[Values]) -> Result<(), TrainError> {
        if !self.network.fits_inputs(inputs) {
            return Err(TrainError::Shapes { what: "inputs" });
        }
        self.inputs = inputs.iter().map(|values| to_tensor(values, self.dtype)).collect::<Result<_, _>>()?;
        self.here = None;
        Ok(())
    }

    /// Notes the parameters as they are now.
    fn read_back(&mut self) -> Result<(), TrainError> {
        self.here = None;
        self.values =
            self.parameters.iter().map(|var| to_values(var.as_tensor())).collect::<Result<_, _>>()?;
        let Ok(layers) = self.network.sparse_layers() else { return Ok(()) };
        // The hidden cells are bits of the data and the labels: they change with the labels alone.
        let labels =
            label_parameter(self.network).map_or_else(Vec::new, |id| self.values[id.index()].data.clone());
        if self.fixed_cells.is_none() || labels != self.read_labels {
            let inputs = self.inputs.iter().map(to_values).collect::<Result<Vec<_>, _>>()?;
            let fixed = |node| evaluate_node(self.network, &self.values[..], &inputs, node);
            self.fixed_cells = layers.fixed_cells.map(fixed);
            self.read_labels = labels;
        }
        let farthest = |values: &[f64], distance: fn(f64) -> f64| {
            values.iter().map(|&v| distance(v)).fold(0.0, f64::max)
        };
        let cells =
            layers.cells.map_or(0.0, |id| farthest(&self.values[id.index()].data, |v| (v.abs() - 1.0).abs()));
        let heads = farthest(&self.values[layers.head.index()].data, |v| v.abs().min((v - 1.0).abs()));
        self.drift = (self.drift.0.max(cells), self.drift.1.max(heads));
        Ok(())
    }

    /// The gradient at the current parameters, one block per parameter.
    ///
    /// # Errors
    /// If automatic differentiation fails.
    pub fn gradient(&mut self) -> Result<Vec<Values>, TrainError> {
        self.differentiate()?.gradient.iter().map(to_values).collect()
    }

    /// The Euclidean length of the gradient at the current parameters, one number per parameter.
    ///
    /// # Errors
    /// If automatic differentiation fails.
    pub fn gradient_norms(&mut self) -> Result<Vec<f64>, TrainError> {
        let length = |block: &Values| block.data.iter().map(|g| g * g).sum::<f64>().sqrt();
        Ok(self.gradient()?.iter().map(length).collect())
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
    fn step_on_simplex(&mut self, block: usize, gradient: &Tensor) -> Result<(), TrainError> {
        let point = to_values(self.parameters[block].as_tensor())?;
        let Some(to) = best_vertex(&to_values(gradient)?.data, &point.data) else { return Ok(()) };
        let target = Values::unit(point.data.len(), to);
        let rate = match self.rate {
            Rate::One => 1.0,
            Rate::LineSearch => {
                let inputs = self.inputs.iter().map(to_values).collect::<Result<Vec<_>, _>>()?;
                line_search::search(self.network, &point, &target, &inputs)
            }
        };
        let direction = (to_tensor(&target, self.dtype)? - self.parameters[block].as_tensor())?.detach();
        self.update(block, &direction, rate)
    }
}

impl Engine for Dense<'_> {
    fn name(&self) -> &'static str {
        "dense"
    }

    fn network(&self) -> &Network {
        self.network
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    /// Also differentiates, so that the step that follows need not.
    fn loss(&mut self) -> Result<f64, TrainError> {
        Ok(self.differentiate()?.loss)
    }

    fn whole_gradient(&mut self) -> Result<Option<Vec<Values>>, TrainError> {
        self.gradient().map(Some)
    }

    fn step(&mut self) -> Result<(), TrainError> {
        let gradient = self.differentiate()?.gradient.clone();
        let network = self.network;
        for (block, (parameter, gradient)) in network.parameters().iter().zip(&gradient).enumerate() {
            match parameter.step_rule {
                StepRule::Simplex => self.step_on_simplex(block, gradient)?,
                StepRule::Gradient { rate } => self.update(block, gradient, -rate)?,
            }
        }
        self.steps += 1;
        self.read_back()?;
        self.path = visit(self.path, self.heaviest());
        Ok(())
    }

    fn path(&self) -> u64 {
        self.path
    }

    fn run(&mut self, stop: &StopRule) -> Result<Outcome, TrainError> {
        let mut losses = self.losses;
        let outcome = train(self, stop, |iterate| {
            losses = Some(losses.map_or(LossRange::of(iterate.loss), |range| range.and(iterate.loss)));
            ControlFlow::Continue(())
        });
        self.losses = losses;
        outcome
    }

    fn losses(&self) -> Option<LossRange> {
        self.losses
    }

    fn vertex(&self) -> Option<usize> {
        let weights = &self.values[vertex_parameter(self.network)?.index()].data;
        weights.iter().position(|&weight| weight > 0.5)
    }

    fn head(&self, track: usize) -> Option<i64> {
        let layers = self.network.sparse_layers().ok()?;
        let weights = self.values[layers.head.index()].row(layers.table.rows()[track]);
        weights.iter().position(|&weight| weight > 0.5).map(|cell| cell as i64)
    }

    fn cell(&self, track: usize, cell: i64) -> f64 {
        let Some(cells) = self.row(track) else { return f64::NAN };
        usize::try_from(cell).ok().and_then(|i| cells.get(i)).copied().unwrap_or(BLANK)
    }

    fn stored_cells(&self, track: usize) -> Range<i64> {
        0..self.row(track).map_or(0, |cells| cells.len() as i64)
    }

    fn labels(&self) -> &[f64] {
        label_parameter(self.network).map_or(&[], |id| &self.values[id.index()].data)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::of(self.network, (self.steps, self.path), &self.values, self.fixed_cells.as_ref())
    }

    fn sparse_parameters(&self) -> Option<Vec<SparseValues>> {
        Some(self.values.iter().map(Into::into).collect())
    }

    fn parameters(&self) -> Option<Vec<Values>> {
        Some(self.values.clone())
    }

    fn drift(&self) -> (f64, f64) {
        self.drift
    }

    fn rounding(&self) -> f64 {
        0.0
    }

    fn cell_bytes(&self) -> usize {
        let layers = self.network.sparse_layers().ok();
        layers.and_then(|layers| layers.cells).map_or(0, |id| 8 * self.values[id.index()].data.len())
    }
}

impl Dense<'_> {
    /// The cells of a track, weights or hidden units.
    fn row(&self, track: usize) -> Option<&[f64]> {
        let layers = self.network.sparse_layers().ok()?;
        let row = layers.table.rows()[track];
        match row.checked_sub(layers.table.n_trained()) {
            None => layers.cells.map(|id| self.values[id.index()].row(row)),
            Some(at) => self.fixed_cells.as_ref().map(|fixed| fixed.row(at)),
        }
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
