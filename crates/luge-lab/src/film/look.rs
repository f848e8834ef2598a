//! One engine at one step, whichever engine it is.

use luge_landscape::{Configuration, Extended, Landscape};
use luge_net::{Network, ParameterId, Structure, Values, evaluate_node};
use luge_train::{
    Dense, Engine, Exact, LossRange, Memories, Outcome, Precision, Snapshot, Sparse, StopRule, TapeSnapshot,
    Tracer, TrainError,
};

use super::{Task, frames::Frame};

/// What parameters of a network without tapes of its own stand for.
#[derive(Clone, Copy, Debug)]
pub enum Inside<'n> {
    /// A landscape whose vertices are whole configurations.
    Landscape(&'n Landscape),
    /// The same inside an extended network.
    Extended(&'n Extended),
}

impl Inside<'_> {
    /// The tapes of the vertex; none between vertices and before the first.
    fn tapes(self, parameters: &[Values], inputs: &[Values]) -> Vec<TapeSnapshot> {
        let configuration = match self {
            Self::Landscape(landscape) => landscape.decode(parameters, inputs),
            Self::Extended(extended) => extended.decode(parameters, None),
        };
        let Ok(Configuration { tapes, heads, .. }) = configuration else { return Vec::new() };
        let value = |&bit: &bool| if bit { 1.0 } else { -1.0 };
        let tape = |(cells, head): (Vec<bool>, usize)| TapeSnapshot {
            first: 0,
            cells: cells.iter().map(value).collect(),
            head_first: head as i64,
            head: vec![1.0],
        };
        tapes.into_iter().zip(heads).map(tape).collect()
    }
}

/// Which engine to take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Choice {
    /// The fastest that can.
    #[default]
    Auto,
    /// Remembered steps.
    Exact,
    /// What is not zero.
    Sparse,
    /// Everything, by automatic differentiation.
    Dense,
}

impl Choice {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Exact, Self::Sparse, Self::Dense];

    /// The choice's name in requests.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Exact => "exact",
            Self::Sparse => "sparse",
            Self::Dense => "dense",
        }
    }
}

/// An engine at a step.
pub enum Runner<'n> {
    /// Remembered steps.
    Exact(Box<Exact<'n>>),
    /// What is not zero.
    Sparse(Box<Sparse<'n>>),
    /// Everything.
    Dense(Box<Counted<'n>>),
}

/// The dense engine and how many steps it has made.
pub struct Counted<'n> {
    network: &'n Network,
    engine: Dense<'n>,
    steps: u64,
}

impl<'n> Runner<'n> {
    /// An engine at the start.
    pub(super) fn start(task: &Task<'n>) -> Result<Self, TrainError> {
        let Task { network, parameters, inputs, .. } = task;
        let exact = || {
            let exact = Exact::new(network, parameters, inputs, None, Memories::Blocks)?;
            Ok(Self::Exact(Box::new(exact)))
        };
        let sparse = || Ok(Self::Sparse(Box::new(Sparse::new(network, parameters, inputs, None)?)));
        let choice = if task.precision == Precision::F64 { task.choice } else { Choice::Dense };
        match choice {
            Choice::Exact => exact(),
            Choice::Sparse => sparse(),
            Choice::Dense => Self::dense(task, parameters, 0),
            Choice::Auto => exact()
                .or_else(|_: TrainError| sparse())
                .or_else(|_: TrainError| Self::dense(task, parameters, 0)),
        }
    }

    fn dense(task: &Task<'n>, parameters: &[Values], steps: u64) -> Result<Self, TrainError> {
        let engine = Dense::new(task.network, parameters, &task.inputs, task.precision, task.rate, None)?;
        Ok(Self::Dense(Box::new(Counted { network: task.network, engine, steps })))
    }

    /// An engine that goes on from a frame, of the kind that made the frame.
    pub(super) fn resume(task: &Task<'n>, frame: &Frame) -> Result<Self, TrainError> {
        let bytes = match frame {
            Frame::Whole(steps, parameters) => return Self::dense(task, parameters, *steps),
            Frame::Packed(bytes) => bytes,
        };
        let snapshot = Snapshot::from_bytes(bytes).map_err(|_| TrainError::Shapes { what: "frames" })?;
        Self::from_snapshot(task, &snapshot)
    }

    pub(super) fn from_snapshot(task: &Task<'n>, snapshot: &Snapshot) -> Result<Self, TrainError> {
        let sparse = || {
            let sparse = Sparse::resume(task.network, snapshot, None, &task.inputs, None)?;
            Ok(Self::Sparse(Box::new(sparse)))
        };
        if task.choice == Choice::Sparse {
            return sparse();
        }
        match Exact::resume(task.network, snapshot, None, &task.inputs, None, Memories::Blocks) {
            Ok(exact) => Ok(Self::Exact(Box::new(exact))),
            Err(_) if task.choice == Choice::Auto => sparse(),
            Err(error) => Err(error),
        }
    }

    /// The engine's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Exact(exact) => exact.name(),
            Self::Sparse(sparse) => sparse.name(),
            Self::Dense(dense) => dense.engine.name(),
        }
    }

    /// Steps that take no time one would notice: the first spacing of frames.
    pub(super) fn pace(&self) -> u64 {
        match self {
            Self::Exact(_) => 1 << 22,
            Self::Sparse(_) => 1 << 14,
            Self::Dense(_) => 1 << 4,
        }
    }

    /// Gradient steps made.
    #[must_use]
    pub fn steps(&self) -> u64 {
        match self {
            Self::Exact(exact) => exact.steps(),
            Self::Sparse(sparse) => sparse.steps(),
            Self::Dense(dense) => dense.steps,
        }
    }

    /// The loss here.
    ///
    /// # Errors
    /// If it cannot be had.
    pub fn loss(&mut self) -> Result<f64, TrainError> {
        match self {
            Self::Exact(exact) => exact.loss(),
            Self::Sparse(sparse) => sparse.loss(),
            Self::Dense(dense) => dense.engine.loss(),
        }
    }

    /// One gradient step.
    ///
    /// # Errors
    /// If the gradient cannot be had.
    pub fn step(&mut self) -> Result<(), TrainError> {
        match self {
            Self::Exact(exact) => exact.step().map(|_| ()),
            Self::Sparse(sparse) => sparse.step().map(|_| ()),
            Self::Dense(dense) => {
                dense.engine.step()?;
                dense.steps += 1;
                Ok(())
            }
        }
    }

    /// Steps until the stop rule holds.
    ///
    /// # Errors
    /// If a gradient cannot be had.
    pub fn run(&mut self, stop: &StopRule) -> Result<(), TrainError> {
        match self {
            Self::Exact(exact) => exact.run(stop).map(|_| ()),
            Self::Sparse(sparse) => sparse.run(stop).map(|_| ()),
            Self::Dense(_) => {
                while self.over(stop)?.is_none() {
                    self.step()?;
                }
                Ok(())
            }
        }
    }

    /// Goes on to a step that comes before the end.
    pub(super) fn run_to(&mut self, step: u64) -> Result<(), TrainError> {
        self.run(&StopRule { loss_at_most: f64::NEG_INFINITY, not_before: 0, most_steps: step })
    }

    /// Goes on to a step, and says where the loss was on the way; only for an engine that has just been made.
    pub(super) fn losses_until(&mut self, step: u64) -> Result<Option<LossRange>, TrainError> {
        if let Self::Dense(_) = self {
            let mut range = LossRange::of(self.loss()?);
            while self.steps() < step {
                self.step()?;
                range = range.and(self.loss()?);
            }
            return Ok(Some(range));
        }
        self.run_to(step)?;
        Ok(match self {
            Self::Exact(exact) => exact.losses(),
            Self::Sparse(sparse) => sparse.losses(),
            Self::Dense(_) => None,
        })
    }

    /// How training is over here, if it is.
    pub(super) fn over(&mut self, stop: &StopRule) -> Result<Option<Outcome>, TrainError> {
        let (steps, loss) = (self.steps(), self.loss()?);
        Ok(if !loss.is_finite() {
            Some(Outcome::Diverged { steps })
        } else if steps >= stop.not_before && loss <= stop.loss_at_most {
            Some(Outcome::Converged { steps })
        } else if steps >= stop.most_steps {
            Some(Outcome::StepLimit { steps })
        } else {
            None
        })
    }

    /// The vertex, if one clearly has all the weight.
    #[must_use]
    pub fn vertex(&self) -> Option<usize> {
        match self {
            Self::Exact(exact) => exact.vertex(),
            Self::Sparse(sparse) => sparse.vertex(),
            Self::Dense(dense) => {
                let parameters = dense.engine.parameters().ok()?;
                let id = vertex_parameter(dense.network)?;
                let clear = |&(_, weight): &(usize, &f64)| *weight > 0.5;
                parameters[id.index()].data.iter().enumerate().find(clear).map(|(vertex, _)| vertex)
            }
        }
    }

    /// Bytes held for cells.
    #[must_use]
    pub fn cell_bytes(&self) -> usize {
        match self {
            Self::Exact(exact) => exact.cell_bytes(),
            Self::Sparse(sparse) => sparse.cell_bytes(),
            Self::Dense(_) => 0,
        }
    }

    pub(super) fn frame(&self) -> Result<Frame, TrainError> {
        Ok(match self {
            Self::Exact(exact) => Frame::Packed(exact.snapshot().to_bytes()),
            Self::Sparse(sparse) => Frame::Packed(sparse.snapshot().to_bytes()),
            Self::Dense(dense) => Frame::Whole(dense.steps, dense.engine.parameters()?),
        })
    }

    /// Weights that are not zero; with a radius, only cells that near to their heads. Where the tape lies inside the
    /// vertex there are no tapes.
    pub(super) fn look(&self, task: &Task<'_>, radius: Option<usize>) -> Result<Snapshot, TrainError> {
        let mut snapshot = match (self, radius) {
            (Self::Exact(exact), Some(radius)) => {
                let n_signs = task.network.structure().map_or(0, |layers| layers.table.n_signs());
                return Ok(near(exact, n_signs, radius));
            }
            (Self::Exact(exact), None) => exact.snapshot(),
            (Self::Sparse(sparse), _) => sparse.snapshot(),
            (Self::Dense(dense), _) => dense.snapshot(task)?,
        };
        if let Some(radius) = radius {
            snapshot.tapes.iter_mut().for_each(|tape| cut(tape, radius));
        }
        Ok(snapshot)
    }
}

impl Counted<'_> {
    /// All weights as a snapshot; tapes only if the network names them.
    pub(super) fn snapshot(&self, task: &Task<'_>) -> Result<Snapshot, TrainError> {
        let parameters = self.engine.parameters()?;
        let id = vertex_parameter(self.network).ok_or(TrainError::Shapes { what: "vertices" })?;
        let weights = parameters[id.index()].data.iter().copied().enumerate();
        let mut snapshot = Snapshot {
            step: self.steps,
            vertices: weights.filter(|&(_, weight)| weight != 0.0).collect(),
            labels: Vec::new(),
            tapes: Vec::new(),
        };
        let labels = self.network.parameters().iter().position(|p| p.name == "labels");
        if let Some(labels) = labels {
            snapshot.labels.clone_from(&parameters[labels].data);
        }
        match (self.network.structure(), task.inside) {
            (Some(layers), _) => snapshot.tapes = tapes(self.network, layers, &parameters, &task.inputs),
            (None, Some(inside)) => snapshot.tapes = inside.tapes(&parameters, &task.inputs),
            (None, None) => {}
        }
        Ok(snapshot)
    }

    pub(super) fn parameters(&self) -> Result<Vec<Values>, TrainError> {
        self.engine.parameters()
    }

    /// The gradient here, one block per parameter.
    pub(super) fn gradient(&mut self) -> Result<Vec<Values>, TrainError> {
        self.engine.gradient()
    }
}

/// The parameter with the weights on vertices.
pub(super) fn vertex_parameter(network: &Network) -> Option<ParameterId> {
    match network.structure() {
        Some(layers) => Some(layers.vertex),
        None => {
            let simplex =
                |id: &ParameterId| network.parameters()[id.index()].step_rule == luge_net::StepRule::Simplex;
            network.parameter_ids().find(simplex)
        }
    }
}

fn tapes(
    network: &Network,
    layers: &Structure,
    parameters: &[Values],
    inputs: &[Values],
) -> Vec<TapeSnapshot> {
    let fixed = layers.fixed_cells.map(|node| evaluate_node(network, parameters, inputs, node));
    let n_trained = layers.table.n_trained();
    let tape = |&row: &usize| {
        let cells = match row.checked_sub(n_trained) {
            None => layers.cells.map(|id| parameters[id.index()].row(row).to_vec()),
            Some(at) => fixed.as_ref().map(|fixed| fixed.row(at).to_vec()),
        };
        let head = parameters[layers.head.index()].row(row);
        let first = head.iter().position(|&w| w != 0.0).unwrap_or(0);
        let end = head.iter().rposition(|&w| w != 0.0).map_or(first + 1, |last| last + 1);
        let head = head.get(first..end).unwrap_or_default().to_vec();
        TapeSnapshot { first: 0, cells: cells.unwrap_or_default(), head_first: first as i64, head }
    };
    layers.table.rows().iter().map(tape).collect()
}

/// The cells near the heads, without a look at all the others.
fn near(exact: &Exact<'_>, n_signs: usize, radius: usize) -> Snapshot {
    let mut snapshot = Snapshot {
        step: exact.steps(),
        vertices: Vec::new(),
        labels: exact.labels().to_vec(),
        tapes: Vec::new(),
    };
    snapshot.vertices.extend(exact.vertex().map(|vertex| (vertex, 1.0)));
    for sign in 0..n_signs {
        let head = exact.head(sign).unwrap_or(0);
        let first = head - radius as i64;
        let cells = (first..=head + radius as i64).map(|cell| exact.cell(sign, cell)).collect();
        snapshot.tapes.push(TapeSnapshot { first, cells, head_first: head, head: vec![1.0] });
    }
    snapshot
}

/// Leaves the cells near the head, blanks where none are kept.
fn cut(tape: &mut TapeSnapshot, radius: usize) {
    let weights = tape.head.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    let head = tape.head_first + weights.map_or(0, |(i, _)| i as i64);
    let first = head - radius as i64;
    let at = |cell: i64| {
        let kept = usize::try_from(cell - tape.first).ok().and_then(|i| tape.cells.get(i));
        kept.copied().unwrap_or(-1.0)
    };
    let cells = (first..=head + radius as i64).map(at).collect();
    (tape.first, tape.cells) = (first, cells);
}
