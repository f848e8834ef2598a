//! The loss along the edges that leave a vertex, which shows why training takes one of them.
//!
//! Along an edge everything under a stop-gradient keeps its value at the vertex, because that is the function that
//! training differentiates. Tapes and heads keep their values as well.

mod names;
mod picture;

use luge_landscape::{Configuration, Control, Landscape, LandscapeKind};
use luge_machine::{Machine, Simulator, Step, lowering::Lowered};
use luge_net::{Evaluation, Values, evaluate, evaluate_frozen};
use luge_train::{Dense, Precision, Rate, TrainError, best_vertex};
use serde::Serialize;

use crate::trace::PreparedTrace;
use names::Names;

/// The most edges that are examined; if there are more, those with the lowest slopes.
pub const MAX_EDGES: usize = 1024;

/// One edge.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Edge {
    /// The vertex it leads to.
    #[serde(skip)]
    pub to: usize,
    /// That vertex's state and symbols.
    #[serde(rename = "to")]
    pub name: String,
    /// The derivative of the loss at the near end, by automatic differentiation.
    pub slope: f64,
    /// The loss at the far end.
    pub end_loss: f64,
    /// Whether the gradient step goes there.
    pub successor: bool,
    /// Whether the machine's rule here can lead there, depending on the symbols read next.
    pub candidate: bool,
    /// Whether a rule there leads here; on `internal`, whether the run came from there.
    pub predecessor: bool,
}

impl Edge {
    /// Its role in a picture: `successor`, `rival`, `predecessor` or `other`.
    pub fn role(&self) -> &'static str {
        match self {
            Self { successor: true, .. } => "successor",
            Self { candidate: true, .. } => "rival",
            Self { predecessor: true, .. } => "predecessor",
            _ => "other",
        }
    }
}

/// All edges that leave one vertex.
#[derive(Debug)]
pub struct OutgoingEdges<'p> {
    /// The landscape.
    pub landscape: &'p Landscape,
    parameters: Vec<Values>,
    inputs: Vec<Values>,
    here: Evaluation,
    /// Steps made so far.
    pub step: Step,
    /// The vertex.
    pub from: usize,
    /// Its state and symbols.
    pub name: String,
    /// Whether the machine has stopped here.
    pub stopped: bool,
    /// The number of all edges; [`edges`](Self::edges) may hold fewer.
    pub n_edges: usize,
    /// How many edges have a negative slope.
    pub n_falling: usize,
    /// How many edges have a positive slope.
    pub n_rising: usize,
    /// The edges in order of slope, the lowest first: at most [`MAX_EDGES`], plus those to where the step goes, where it came
    /// from, and where the machine halts.
    pub edges: Vec<Edge>,
}

/// The point at which edges are examined.
#[derive(Clone, Copy, Debug)]
pub enum Place<'s> {
    /// At the vertex of a configuration.
    Configuration(&'s Configuration),
    /// At these parameters and inputs, for instance after steps with noise.
    Weights(&'s [Values], &'s [Values]),
}

/// A vertex, and the configuration or the weights there.
#[derive(Clone, Copy, Debug)]
pub struct VertexPlace<'s, 'p> {
    /// The machine before lowering, whose names are shown.
    pub machine: &'s Machine,
    /// The machine in normal form.
    pub lowered: &'s Lowered,
    /// The landscape.
    pub landscape: &'p Landscape,
    /// The configuration, or the weights.
    pub place: Place<'s>,
    /// Steps made so far.
    pub step: Step,
    /// The vertex; if its state has copies, the copy of this step.
    pub vertex: usize,
    /// The vertex before, if it is known.
    pub came_from: Option<usize>,
    /// Whether the machine has stopped here.
    pub stopped: bool,
}

/// Returns the name of a vertex: its state, and the symbols under the heads or the whole tapes.
pub fn vertex_name(machine: &Machine, lowered: &Lowered, landscape: &Landscape, vertex: usize) -> String {
    Names { machine, lowered, landscape }.of(vertex)
}

/// Returns the name of a vertex of a landscape with external tapes.
pub fn control_name(machine: &Machine, lowered: &Lowered, control: &Control, vertex: usize) -> String {
    names::of_control(machine, lowered, control, vertex)
}

/// Why the edges cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum EdgesError {
    /// The run is shorter.
    #[error("the machine stops after {steps} steps, before step {requested}")]
    Stopped {
        /// Steps it makes.
        steps: Step,
        /// The requested step.
        requested: Step,
    },
    /// The landscape has no parameters for what the machine does there.
    #[error("the landscape holds no configuration for step {0}")]
    Outside(Step),
    /// The gradient cannot be computed.
    #[error(transparent)]
    Train(#[from] TrainError),
}

impl<'p> OutgoingEdges<'p> {
    /// Finds the edges that leave the vertex of a run's step. `machine` is the machine of the trace before lowering.
    ///
    /// # Errors
    /// If the run ends before, or the gradient cannot be computed.
    pub fn at(machine: &Machine, plan: &'p PreparedTrace, step: Step) -> Result<Self, EdgesError> {
        if let Some(steps) = plan.machine_steps.filter(|&steps| steps < step) {
            return Err(EdgesError::Stopped { steps, requested: step });
        }
        let outside = || EdgesError::Outside(step);
        let normal = &plan.lowered.normal;
        let mut simulator = Simulator::new(normal.machine(), &plan.input);
        let _ = simulator.run(step.saturating_sub(1));
        let before = plan.window.configuration(&simulator).filter(|_| step > 0);
        let _ = simulator.run(step);
        let here = plan.window.configuration(&simulator).ok_or_else(outside)?;
        let landscape = &plan.landscape;
        let vertex = |configuration: &Configuration, step: Step| {
            let Some(control) = landscape.control() else {
                let (parameters, _) = landscape.encode(configuration)?;
                return parameters[0].data.iter().position(|&weight| weight > 0.5);
            };
            // The copies of a state are visited in turn, one per step.
            let copies = control.n_copied_states() / normal.n_states();
            let copy = usize::try_from(step % copies as u64).ok()?;
            Some(control.vertex_at(configuration.state.index() * copies + copy, configuration.reads()))
        };
        let at = VertexPlace {
            machine,
            lowered: &plan.lowered,
            landscape,
            place: Place::Configuration(&here),
            step,
            vertex: vertex(&here, step).ok_or_else(outside)?,
            came_from: before.and_then(|before| vertex(&before, step - 1)),
            stopped: simulator.stopped().is_some(),
        };
        Self::from_place(&at, MAX_EDGES)
    }

    /// Finds the edges that leave a vertex, and examines at most `most` of them.
    ///
    /// # Errors
    /// If the landscape holds no such configuration, or the gradient cannot be computed.
    pub fn from_place(at: &VertexPlace<'_, 'p>, most: usize) -> Result<Self, EdgesError> {
        let VertexPlace { machine, lowered, landscape, step, vertex, .. } = *at;
        let (parameters, inputs) = match at.place {
            Place::Weights(parameters, inputs) => (parameters.to_vec(), inputs.to_vec()),
            Place::Configuration(configuration) => {
                let encoded = landscape.encode(configuration).ok_or(EdgesError::Outside(step))?;
                let (mut parameters, inputs) = encoded;
                parameters[0] = Values::unit(landscape.n_vertices(), vertex);
                (parameters, inputs)
            }
        };
        let network = landscape.network();
        let mut engine = Dense::new(network, &parameters, &inputs, Precision::F64, Rate::One, None)?;
        let gradient = engine.gradient()?.swap_remove(0).data;
        let here = evaluate(network, &parameters, &inputs);
        let names = Names { machine, lowered, landscape };
        let mut leaving = Self {
            landscape,
            parameters,
            inputs,
            here,
            step,
            from: vertex,
            name: names.of(vertex),
            stopped: at.stopped,
            n_edges: landscape.n_vertices() - 1,
            n_falling: 0,
            n_rising: 0,
            edges: Vec::new(),
        };
        leaving.look(&gradient, at.came_from, &names, most);
        Ok(leaving)
    }

    fn look(&mut self, gradient: &[f64], came_from: Option<usize>, names: &Names<'_>, most: usize) {
        let goes_to = self.goes_to(gradient);
        let others = (0..gradient.len()).filter(|&to| to != self.from);
        // On a vertex this is the derivative by its own weight.
        let here: f64 = self.parameters[0].data.iter().zip(gradient).map(|(x, slope)| x * slope).sum();
        let mut slopes: Vec<(usize, f64)> = others.map(|to| (to, gradient[to] - here)).collect();
        slopes.sort_by(|a, b| a.1.total_cmp(&b.1));
        self.n_falling = slopes.iter().filter(|s| s.1 < 0.0).count();
        self.n_rising = slopes.iter().filter(|s| s.1 > 0.0).count();
        for (rank, (to, slope)) in slopes.into_iter().enumerate() {
            let successor = goes_to == Some(to);
            let (candidate, predecessor) = match self.landscape.control() {
                Some(_) => (self.rule_leads(self.from, to), self.rule_leads(to, self.from)),
                None => (successor, came_from == Some(to)),
            };
            if rank < most || successor || came_from == Some(to) || self.halts(to) {
                let end_loss = self.loss_towards(to, 1.0);
                let name = names.of(to);
                self.edges.push(Edge { to, name, slope, end_loss, successor, candidate, predecessor });
            }
        }
    }

    /// Whether the machine halts in a vertex, where the loss is lowest; false on `internal`.
    fn halts(&self, vertex: usize) -> bool {
        self.landscape.control().is_some_and(|control| control.at(vertex).step.is_none())
    }

    /// Whether a rule leads from one vertex to the other's state; false on `internal`.
    fn rule_leads(&self, from: usize, to: usize) -> bool {
        self.landscape.control().is_some_and(|control| {
            let step = control.at(from).step;
            step.is_some_and(|step| step.next == control.table().block(to))
        })
    }

    /// Returns the vertex that a training step goes to; `None` if it stays.
    fn goes_to(&self, gradient: &[f64]) -> Option<usize> {
        let point = &self.parameters[0].data;
        match self.landscape.kind() {
            LandscapeKind::Plain => {
                let after = point.iter().zip(gradient).map(|(x, slope)| x - slope);
                let best = after.enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?.0;
                (best != self.from).then_some(best)
            }
            LandscapeKind::Compact | LandscapeKind::Relu | LandscapeKind::Internal => {
                best_vertex(gradient, point)
            }
        }
    }

    /// The loss at the vertex.
    pub fn loss(&self) -> f64 {
        self.here.loss()
    }

    /// The edge that training takes; `None` if it stays.
    pub fn successor(&self) -> Option<&Edge> {
        self.edges.iter().find(|edge| edge.successor)
    }

    /// Returns the loss a fraction of the way to another vertex, with stop-gradients fixed at this one.
    pub fn loss_towards(&self, to: usize, fraction: f64) -> f64 {
        self.loss_at(&[(self.from, 1.0 - fraction), (to, fraction)])
    }

    /// Returns the loss where these vertices have these weights and all others 0, with stop-gradients fixed at this vertex. The
    /// weight of this vertex scales the current point.
    pub fn loss_at(&self, weights: &[(usize, f64)]) -> f64 {
        let mut parameters = self.parameters.clone();
        let kept: f64 =
            weights.iter().filter(|(vertex, _)| *vertex == self.from).map(|(_, weight)| weight).sum();
        parameters[0].data.iter_mut().for_each(|weight| *weight *= kept);
        let others = weights.iter().filter(|(vertex, _)| *vertex != self.from);
        others.for_each(|&(vertex, weight)| parameters[0].data[vertex] += weight);
        evaluate_frozen(self.landscape.network(), &parameters, &self.inputs, Some(&self.here)).loss()
    }
}
