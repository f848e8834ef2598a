//! The dense engine: the gradient descent of `dense.rs` with the interface of all engines. It finds vertices, heads and
//! cells in the weights.

use std::ops::{ControlFlow, Range};

use luge_net::{Network, SparseValues, Values, evaluate_node, faults::planted};

use super::{Descent, to_all_values};
use crate::{
    Engine, LossRange, Noise, Outcome, PackedCells, Precision, Rate, Snapshot, StopRule, TrainError,
    snapshot::{label_parameter, vertex_parameter},
    sparse::BLANK,
    train, visit,
};

/// Trains a network by evaluating and differentiating all of it at every step.
pub struct Dense<'n> {
    descent: Descent<'n>,
    network: &'n Network,
    steps: u64,
    path: u64,
    losses: Option<LossRange>,
    /// The current weights.
    values: Vec<Values>,
    /// The cells that are hidden units.
    fixed_cells: Option<Values>,
    /// The labels for which these cells were computed.
    read_labels: Vec<f64>,
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
        let mut engine = Self {
            descent: Descent::new(network, &parameters, inputs, precision, rate, noise)?,
            network,
            steps: 0,
            path: 0,
            losses: None,
            values: Vec::new(),
            fixed_cells: None,
            read_labels: Vec::new(),
        };
        engine.read_back()?;
        engine.path = visit(0, engine.heaviest());
        Ok(engine)
    }

    /// The vertex with the largest weight, the first of equal ones; 0 if there are no vertices.
    fn heaviest(&self) -> usize {
        let weights = vertex_parameter(self.network).map_or(&[][..], |id| &self.values[id.index()].data);
        (0..weights.len()).reduce(|a, b| if weights[b] > weights[a] { b } else { a }).unwrap_or(0)
    }

    /// The same engine, at a snapshot.
    ///
    /// # Errors
    /// If the snapshot's weights do not fit the network.
    pub fn at(mut self, snapshot: &Snapshot, losses: Option<LossRange>) -> Result<Self, TrainError> {
        let parameters = snapshot.parameters_of(self.network, &[]);
        self.go_to(&parameters.ok_or(TrainError::Shapes { what: "parameters" })?)?;
        (self.steps, self.path, self.losses) = (snapshot.step, snapshot.path, losses);
        Ok(self)
    }

    /// Sets all weights; the path starts again.
    ///
    /// # Errors
    /// If the values do not fit the network.
    pub fn go_to(&mut self, parameters: &[Values]) -> Result<(), TrainError> {
        self.descent.go_to(parameters)?;
        self.read_back()?;
        self.path = visit(0, self.heaviest());
        Ok(())
    }

    /// Sets all inputs: the next step sees these, as on a stream.
    ///
    /// # Errors
    /// If the values do not fit the network.
    pub fn feed(&mut self, inputs: &[Values]) -> Result<(), TrainError> {
        self.descent.feed(inputs)
    }

    /// Copies the current weights, and computes the cells that follow from them.
    fn read_back(&mut self) -> Result<(), TrainError> {
        self.values = to_all_values(self.descent.parameters.iter().map(|var| var.as_tensor()))?;
        let Ok(layers) = self.network.sparse_layers() else { return Ok(()) };
        // Hidden cells are bits of the data and the labels, so they change only when the labels do.
        let labels =
            label_parameter(self.network).map_or_else(Vec::new, |id| self.values[id.index()].data.clone());
        if self.fixed_cells.is_none() || labels != self.read_labels {
            let inputs = to_all_values(&self.descent.inputs)?;
            let fixed = |node| evaluate_node(self.network, &self.values[..], &inputs, node);
            self.fixed_cells = layers.fixed_cells.map(fixed);
            self.read_labels = labels;
        }
        Ok(())
    }

    /// The gradient at the current parameters, one block per parameter.
    ///
    /// # Errors
    /// If automatic differentiation fails.
    pub fn gradient(&mut self) -> Result<Vec<Values>, TrainError> {
        Ok(to_all_values(&self.descent.differentiate()?.gradient)?)
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

    /// Also differentiates; the next step uses that gradient.
    fn loss(&mut self) -> Result<f64, TrainError> {
        Ok(self.descent.differentiate()?.loss)
    }

    fn whole_gradient(&mut self) -> Result<Option<Vec<Values>>, TrainError> {
        self.gradient().map(Some)
    }

    fn step(&mut self) -> Result<(), TrainError> {
        self.descent.step()?;
        self.steps += 1;
        self.read_back()?;
        self.path = visit(self.path, self.heaviest());
        Ok(())
    }

    fn path(&self) -> u64 {
        self.path.wrapping_add(u64::from(planted("a digest that adds v + 2")))
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
        let weights = self.values[layers.head.index()].row(layers.table.rows[track]);
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
        let weights: Vec<SparseValues> = self.values.iter().map(Into::into).collect();
        let rows = |fixed: &Values| (0..fixed.shape.rows).map(|row| fixed.row(row).to_vec().into()).collect();
        let fixed: Vec<PackedCells> = self.fixed_cells.as_ref().map_or_else(Vec::new, rows);
        Snapshot::of(self.network, (self.steps, self.path), &weights, &fixed)
    }

    fn sparse_parameters(&self) -> Option<Vec<SparseValues>> {
        Some(self.values.iter().map(Into::into).collect())
    }

    fn parameters(&self) -> Option<Vec<Values>> {
        Some(self.values.clone())
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
        let row = layers.table.rows[track];
        match row.checked_sub(layers.table.n_trained) {
            None => layers.cells.map(|id| self.values[id.index()].row(row)),
            Some(at) => self.fixed_cells.as_ref().map(|fixed| fixed.row(at)),
        }
    }
}
