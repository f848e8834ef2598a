//! The sparse engine: computes loss and gradient in f64 from the units and weights that are not zero.
//!
//! At a vertex one gate is open, its edges lead to one block, and each head is on a few cells. This structure is
//! recognised in the network's graph ([`luge_net::Network::sparse_layers`]). Loss, slopes and steps are computed from the
//! current weights, including their drift. Tests compare this engine with the dense engine, which does not use the layers.

mod columns;
mod engine;
mod output_stage;
mod place;
mod probe;
mod slides;
mod tape;
mod tapes;

use luge_net::{Form, Network, SparseLayers, SparseValues, Values};

use crate::{LossRange, Snapshot, StopRule, TrainError, visit};
use columns::{Action, Slides, stored_actions};
use output_stage::fixed_rows;
pub(crate) use output_stage::{Carried, OutputStage};
use place::{Place, placed};
pub(crate) use probe::Probed;
use slides::Slopes;
pub(crate) use tape::BLANK;
use tape::{Cells, Head, Tape};
use tapes::Tapes;

/// Trains a network whose sparse layers are recognised.
#[derive(Clone, Debug)]
pub struct Sparse<'n> {
    network: &'n Network,
    layers: &'n SparseLayers,
    /// The numbers of [`Form::Slides`], prepared for steps.
    slides: Option<Slides>,
    /// What happens at each vertex, if it is stored.
    actions: Vec<Action>,
    /// The network outside the landscape; `None` if the landscape is the whole network.
    output_stage: Option<OutputStage<'n>>,
    place: Place,
    tapes: Tapes,
    steps: u64,
    path: u64,
    losses: Option<LossRange>,
    here: Option<Here>,
}

/// Loss and next step at the current weights.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Here {
    loss: f64,
    next_step: NextStep,
}

/// The next step.
#[derive(Clone, Copy, PartialEq, Debug)]
enum NextStep {
    /// The step copies the labels; no other weight has a gradient.
    Labels,
    /// The step leads to the vertex `to`. Cells and heads move with this gain, on the tracks in `busy`.
    Vertex { to: usize, gain: f64, busy: u32 },
    /// No weight has a gradient.
    Rest,
}

impl<'n> Sparse<'n> {
    /// An engine that starts from the given parameters.
    ///
    /// # Errors
    /// If no sparse layers are recognised in the network, or the parameters are not those of a vertex and heads.
    pub fn new(
        network: &'n Network,
        parameters: impl IntoIterator<Item = impl Into<SparseValues>>,
        inputs: &[Values],
    ) -> Result<Self, TrainError> {
        let layers = network.sparse_layers().map_err(Clone::clone)?;
        let parameters: Vec<SparseValues> = parameters.into_iter().map(Into::into).collect();
        if !network.parameters().iter().map(|p| p.shape).eq(parameters.iter().map(|p| p.shape)) {
            return Err(TrainError::Shapes { what: "parameters" });
        }
        if !network.fits_inputs(inputs) {
            return Err(TrainError::Shapes { what: "inputs" });
        }
        let fixed = layers.fixed_cells.map(|node| fixed_rows(network, &parameters[..], inputs, node));
        let start = Snapshot::of(network, (0, 0), &parameters, &fixed.unwrap_or_default());
        if start.tapes.iter().any(|tape| tape.head == [0.0]) {
            return Err(TrainError::NotSparse { why: "a head is on no cell" });
        }
        let engine = Self::resume(network, &start, None, inputs)?;
        Ok(Self { path: visit(0, engine.place.vertex), ..engine })
    }

    /// An engine resumed from a snapshot.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn resume(
        network: &'n Network,
        snapshot: &Snapshot,
        losses: Option<LossRange>,
        inputs: &[Values],
    ) -> Result<Self, TrainError> {
        let layers = network.sparse_layers().map_err(Clone::clone)?;
        if !network.fits_inputs(inputs) {
            return Err(TrainError::Shapes { what: "inputs" });
        }
        if snapshot.tapes.len() != layers.table.n_tracks
            || snapshot.vertices.iter().any(|&(vertex, _)| vertex >= layers.table.n_vertices)
            || snapshot.tapes.iter().any(|tape| tape.head.is_empty())
        {
            return Err(TrainError::Shapes { what: "parameters" });
        }
        let mut output_stage = None;
        if let Some(wiring) = layers.output {
            let shape = network.parameters()[wiring.labels.index()].shape;
            if shape.len() != snapshot.labels.len() {
                return Err(TrainError::Shapes { what: "labels" });
            }
            let labels = Values::new(shape, snapshot.labels.clone());
            output_stage = Some(OutputStage::new(network, wiring, labels, inputs));
        }
        let tapes = snapshot.tapes.iter().zip(&layers.table.rows).map(|(tape, &row)| {
            let trained = row < layers.table.n_trained;
            let cells = if trained {
                Cells::new(tape.first, tape.cells.iter().collect())
            } else {
                Cells::fixed(tape.first, &tape.cells)
            };
            Tape::new(cells, Head::new(tape.head_first, &tape.head), trained)
        });
        let place = placed(snapshot.vertices.clone(), &layers.form)
            .ok_or(TrainError::NotSparse { why: "the weights are not at a vertex" })?;
        let slides = Slides::new(&layers.form);
        Ok(Self {
            network,
            layers,
            slides,
            actions: stored_actions(&layers.table, slides.as_ref()),
            output_stage,
            place,
            tapes: Tapes::new(tapes.collect()),
            steps: snapshot.step,
            path: snapshot.path,
            losses,
            here: None,
        })
    }

    /// A copy that makes single steps on tapes of its own, after the labels are copied.
    pub(crate) fn for_probing(&self) -> Result<Self, TrainError> {
        let bare = |tape: &Tape| Tape::new(Cells::new(0, Vec::new()), tape.head.clone(), tape.is_trained());
        let mut probe = Self {
            actions: self.actions.clone(),
            output_stage: self.output_stage.clone(),
            place: self.place.clone(),
            tapes: Tapes::new(self.tapes.rows.iter().map(bare).collect()),
            losses: None,
            here: None,
            ..*self
        };
        if let Some(stage) = &mut probe.output_stage
            && stage.waiting()?
        {
            stage.read_labels();
        }
        Ok(probe)
    }

    pub(crate) fn layers(&self) -> &'n SparseLayers {
        self.layers
    }

    pub(crate) fn output_stage(&self) -> Option<&OutputStage<'n>> {
        self.output_stage.as_ref()
    }

    pub(crate) fn losses_so_far(&self) -> Option<LossRange> {
        self.losses
    }

    /// Whether the labels have not been copied yet.
    pub(crate) fn waiting(&self) -> Result<bool, TrainError> {
        self.output_stage.as_ref().map_or(Ok(false), OutputStage::waiting)
    }

    #[inline]
    fn look(&mut self) -> Result<Here, TrainError> {
        if let Some(here) = self.here {
            return Ok(here);
        }
        let here = self.differentiate()?;
        self.here = Some(here);
        Ok(here)
    }

    fn differentiate(&mut self) -> Result<Here, TrainError> {
        if let Some(stage) = &self.output_stage
            && stage.waiting()?
        {
            return Ok(Here { loss: stage.waiting_loss(), next_step: NextStep::Labels });
        }
        let (landscape, to, busy) = self.look_at_landscape::<false>()?;
        let Some(stage) = &self.output_stage else {
            return Ok(Here { loss: landscape, next_step: NextStep::Vertex { to, gain: 1.0, busy } });
        };
        if stage.finished(landscape)? {
            let loss =
                stage.primary_loss_of(self.layers, &|track, cell| self.tapes.rows[track].cells.at(cell));
            return Ok(Here { loss, next_step: NextStep::Rest });
        }
        let Carried { loss, gain } = stage.carry(landscape);
        Ok(Here { loss, next_step: NextStep::Vertex { to, gain, busy } })
    }

    /// The landscape's loss, the next vertex, and the busy tracks.
    #[inline(always)]
    fn look_at_landscape<const ONE: bool>(&mut self) -> Result<(f64, usize, u32), TrainError> {
        let (table, vertex) = (&*self.layers.table, self.place.vertex);
        let known = self.actions.get(vertex).copied();
        let action = known.unwrap_or_else(|| Action::of(table, self.slides.as_ref(), vertex));
        if let Some(slides) = &self.slides {
            let seen = self.tapes.survey::<ONE>(&action, slides);
            let at = || Slopes { table, slides, vertex, action: &action, tapes: &self.tapes, seen };
            return Ok((seen.landscape, Slopes::best::<ONE>(at), seen.busy));
        }
        let Form::Targets { offset, drop } = self.layers.form else { unreachable!("slides or targets") };
        let clear = self.tapes.survey_saturated::<ONE>(&action).filter(|_| self.place.clear());
        let (squares, ahead, busy) = clear.ok_or(TrainError::Blurred { step: self.steps })?;
        let at_rest = action.next == Action::REST;
        let next = if at_rest { table.block(vertex) } else { action.next as usize };
        let to = table.vertex(next, ahead);
        let level = if at_rest { -drop } else { 0.0 };
        Ok((offset + level + 0.5 * (squares + self.place.distance(to)), to, busy))
    }

    /// Steps from vertex to vertex until another kind of step may follow: labels are copied, a switch moves, or the stop rule
    /// holds. [`differentiate`](Self::differentiate) then determines which.
    fn run_cached<const ONE: bool>(&mut self, stop: &StopRule, range: &mut LossRange) {
        let (mut losses, mut steps, mut path) = (*range, self.steps, self.path);
        while steps < stop.most_steps {
            let Ok((landscape, to, busy)) = self.look_at_landscape::<ONE>() else { break };
            let Some(Carried { loss, gain }) = self.goes_on(landscape, stop) else { break };
            losses.add(loss);
            self.go_to::<ONE>(to, gain, busy);
            steps += 1;
            path = visit(path, to);
        }
        (self.steps, self.path, *range) = (steps, path, losses);
    }

    /// The network's loss and gain for a loss of the landscape; `None` if another kind of step than to a vertex may follow.
    #[inline(always)]
    fn goes_on(&self, landscape: f64, stop: &StopRule) -> Option<Carried> {
        let carried = match &self.output_stage {
            None => Carried { loss: landscape, gain: 1.0 },
            Some(stage) => stage.running(landscape).then(|| stage.carry(landscape))?,
        };
        // False for NaN as well.
        (carried.loss > stop.loss_at_most && carried.loss < f64::INFINITY).then_some(carried)
    }

    /// Makes the next step.
    #[inline]
    fn go(&mut self, next_step: NextStep) {
        self.here = None;
        self.steps += 1;
        match next_step {
            NextStep::Labels => self.read_labels(),
            NextStep::Vertex { to, gain, busy } => self.go_to::<false>(to, gain, busy),
            NextStep::Rest => {}
        }
        self.path = visit(self.path, self.place.vertex);
    }

    #[inline(always)]
    fn go_to<const ONE: bool>(&mut self, to: usize, gain: f64, busy: u32) {
        if let Some(slides) = &self.slides {
            self.tapes.step::<ONE>(busy, slides.rates(gain));
            self.place.vertex = to;
        } else {
            self.tapes.step_saturated::<ONE>(busy, gain);
            self.place.step(to, gain);
        }
    }

    fn read_labels(&mut self) {
        let Some(stage) = &mut self.output_stage else { return };
        stage.read_labels();
        let changed = stage.changed_cells(self.layers);
        let n_trained = self.layers.table.n_trained;
        for (tape, &row) in self.tapes.rows.iter_mut().zip(&self.layers.table.rows) {
            if let Some(cells) = row.checked_sub(n_trained).and_then(|row| changed.get(row)?.as_ref()) {
                tape.cells = Cells::fixed(0, cells);
            }
        }
        self.tapes.unsettle();
    }
}

fn symbol(symbols: u32, i: usize) -> f64 {
    if symbols >> i & 1 == 1 { 1.0 } else { BLANK }
}
