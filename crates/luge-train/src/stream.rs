//! Training on a stream: every step sees another batch.
//!
//! For [`Dense`] this is a step like any other, with new inputs. [`SparseStream`] uses the layers recognised in the
//! network's graph, and touches only weights that are not zero: the vertex, the cells under the heads, the memory and
//! the slot.

use luge_net::{
    BitUse, Column, Network, Shape, StreamLayers, Values, faults, numbers::Overflow, stream_layers, tracks,
};

use crate::{Dense, Engine, TrainError};

/// Makes gradient steps on batches.
pub trait StreamEngine {
    /// The engine's name in reports.
    fn name(&self) -> &'static str;

    /// Gradient steps made.
    fn steps(&self) -> u64;

    /// One gradient step on a batch: its features and its labels, row by row.
    ///
    /// # Errors
    /// If the engine cannot compute the gradient, or the batch has another size.
    fn step_on(&mut self, features: &[f64], labels: &[f64]) -> Result<(), TrainError>;

    /// All weights, zeros included.
    fn weights(&self) -> Vec<Values>;
}

impl StreamEngine for Dense<'_> {
    fn name(&self) -> &'static str {
        Engine::name(self)
    }

    fn steps(&self) -> u64 {
        Engine::steps(self)
    }

    fn step_on(&mut self, features: &[f64], labels: &[f64]) -> Result<(), TrainError> {
        let (x, y) = batch_shapes(Engine::network(self), features, labels)?;
        self.feed(&[Values::new(x, features.to_vec()), Values::new(y, labels.to_vec())])?;
        self.step()
    }

    fn weights(&self) -> Vec<Values> {
        self.parameters().unwrap_or_default()
    }
}

/// The shapes of a network's inputs x and y, if a batch fits them.
fn batch_shapes(network: &Network, features: &[f64], labels: &[f64]) -> Result<(Shape, Shape), TrainError> {
    match network.inputs() {
        [x, y] if (x.shape.len(), y.shape.len()) == (features.len(), labels.len()) => Ok((x.shape, y.shape)),
        _ => Err(TrainError::Shapes { what: "inputs" }),
    }
}

/// Smaller weights are dropped: added to a weight of size 1 they change nothing.
const NEGLIGIBLE: f64 = 1.0 / (1_u64 << 60) as f64;

/// Trains a network on a stream from its sparse layers.
pub struct SparseStream<'n> {
    network: &'n Network,
    layers: StreamLayers,
    n_cells: usize,
    /// Weights on vertices that are not zero.
    pub vertices: Vec<(usize, f64)>,
    /// Weights of each head that are not zero, by row.
    heads: Vec<Vec<(usize, f64)>>,
    /// The cells that are weights, row by row.
    pub cells: Vec<f64>,
    /// The other cells: constants, and the saturated copy of the memory.
    fixed: Vec<f64>,
    /// The memory of one batch, bit by bit.
    pub memory: Vec<f64>,
    /// The memory's targets: its saturated copy after this step's change.
    held: Vec<f64>,
    /// Whether the memory equals its targets.
    settled: bool,
    /// z: the slot for labels.
    pub labels: Vec<f64>,
    /// The symbols under the heads, a bit for each track.
    under: u32,
    /// The tracks whose head, or the cell under it, does not equal its target: even a step that neither writes nor moves
    /// the head changes a weight there.
    loose: u32,
    /// The tracks whose cells are not weights.
    fixed_tracks: u32,
    steps: u64,
}

impl<'n> SparseStream<'n> {
    /// An engine that starts from the given parameters.
    ///
    /// # Errors
    /// If the network is not recognised, or the values do not fit it or do not represent a configuration.
    pub fn new(network: &'n Network, parameters: &[Values]) -> Result<Self, TrainError> {
        let layers = stream_layers(network)?;
        if !network.fits_parameters(parameters) {
            return Err(TrainError::Shapes { what: "parameters" });
        }
        let of = |id: luge_net::ParameterId| &parameters[id.index()];
        let nonzero = |row: &[f64]| row.iter().copied().enumerate().filter(|&(_, w)| w != 0.0).collect();
        let head = of(layers.head);
        let memory = of(layers.memory).data.clone();
        let mut engine = Self {
            network,
            n_cells: head.shape.cols,
            vertices: nonzero(&of(layers.vertex).data),
            heads: (0..head.shape.rows).map(|row| nonzero(head.row(row))).collect(),
            cells: of(layers.cells).data.clone(),
            fixed: layers.fixed_cells.data.clone(),
            held: memory.clone(),
            settled: false,
            memory,
            labels: of(layers.labels).data.clone(),
            under: 0,
            loose: layers.table.all_tracks(),
            fixed_tracks: layers.table.all_tracks() & !layers.table.trained_tracks(),
            steps: 0,
            layers,
        };
        for bit in 0..engine.memory.len() {
            engine.held[bit] = sign(engine.memory[bit]).ok_or(TrainError::Blurred { step: 0 })?;
            engine.fixed[engine.layers.places[bit]] = engine.held[bit];
        }
        Ok(engine)
    }

    /// The vertex that has all the weight.
    ///
    /// # Errors
    /// If no vertex clearly has it.
    pub fn vertex(&self) -> Result<usize, TrainError> {
        alone(&self.vertices).ok_or(TrainError::Blurred { step: self.steps })
    }

    /// The cell a head is on.
    ///
    /// # Errors
    /// If it is not clearly on one.
    pub fn head(&self, track: usize) -> Result<usize, TrainError> {
        let row = self.layers.table.rows[track];
        alone(&self.heads[row]).ok_or(TrainError::Blurred { step: self.steps })
    }

    /// Weights of a head that are not zero.
    #[must_use]
    pub fn head_weights(&self, track: usize) -> &[(usize, f64)] {
        &self.heads[self.layers.table.rows[track]]
    }

    /// The value of a cell: a weight, or the copy of a bit of the memory.
    #[must_use]
    pub fn cell(&self, track: usize, cell: usize) -> f64 {
        let row = self.layers.table.rows[track];
        match row.checked_sub(self.layers.table.n_trained) {
            None => self.cells[row * self.n_cells + cell],
            Some(at) => self.fixed[at * self.n_cells + cell],
        }
    }

    /// The gain of a step. If the fault of this name is planted it is 1, except in every hundredth step.
    fn gain_of(&self, what: &str, gain: f64) -> f64 {
        let often = faults::planted(what) && !self.steps.is_multiple_of(100);
        let rarely = faults::planted("gain 1 now and then") && self.steps % 100 == 50;
        if often || rarely { 1.0 } else { gain }
    }

    /// The symbol in a cell.
    fn symbol(&self, track: usize, cell: usize) -> Result<bool, TrainError> {
        let sign = sign(self.cell(track, cell)).ok_or(TrainError::Blurred { step: self.steps })?;
        Ok(sign > 0.0)
    }

    /// Overwrites the bits of the memory that this step renews, with bits of the features or of the labels in the slot.
    fn renew_memory(&mut self, what: BitUse, features: &[f64]) {
        let width = self.layers.format.n_bits() as usize;
        for (number, &at) in self.layers.order.iter().enumerate() {
            let first = number * width;
            let is_renewed = |bit: &usize| self.layers.renewed[first + bit] == what;
            let renewed: Vec<usize> = (0..width).filter(is_renewed).collect();
            if renewed.is_empty() {
                continue;
            }
            let value = match at.checked_sub(features.len()) {
                None => features[at],
                Some(label) => -self.labels[label],
            };
            // A saturating conversion refuses NaN alone, and no weight is one.
            let Ok(word) = self.layers.format.encode(value, Overflow::Saturate) else { continue };
            for bit in renewed {
                let one = word.bit(u32::try_from(bit).unwrap_or(u32::MAX));
                let value = if one { 1.0 } else { -1.0 };
                self.held[first + bit] = value;
                self.fixed[self.layers.places[first + bit]] = value;
            }
        }
        self.settled = false;
    }

    /// The step of one track: the cell under its head, then the head.
    fn move_track(
        &mut self,
        track: usize,
        column: &Column,
        (of_cells, of_heads): (f64, f64),
    ) -> Result<(), TrainError> {
        let (row, at) = (self.layers.table.rows[track], self.head(track)?);
        let trained = row < self.layers.table.n_trained;
        let mut written = None;
        if trained {
            let found = self.symbol(track, at)?;
            let one = if column.put >> track & 1 == 1 { column.plus >> track & 1 == 1 } else { found };
            let weight = &mut self.cells[row * self.n_cells + at];
            *weight -= of_cells * (*weight - if one { 1.0 } else { -1.0 });
            written = Some(one);
        }
        let next = at.checked_add_signed(column.offset(track) as isize).filter(|&cell| cell < self.n_cells);
        let next = next.ok_or(TrainError::OutOfCells { step: self.steps })?;
        let read = match written {
            Some(one) if next == at => one,
            _ => self.symbol(track, next)?,
        };
        pull(&mut self.heads[row], next, of_heads);
        let one = 1.0_f64.to_bits();
        let head = matches!(self.heads[row][..], [(_, weight)] if weight.to_bits() == one);
        let settled = head && (!trained || self.cell(track, next).abs().to_bits() == one);
        self.under = self.under & !(1 << track) | u32::from(read) << track;
        self.loose = self.loose & !(1 << track) | u32::from(!settled) << track;
        Ok(())
    }

    /// Whether the next step takes its batch; other steps do not look at the features.
    #[must_use]
    pub fn takes(&self) -> bool {
        alone(&self.vertices).is_some_and(|vertex| self.layers.uses[vertex] == BitUse::Take)
    }

    /// Moves the memory towards its targets.
    fn pull_memory(&mut self, gain: f64) {
        if self.settled {
            return;
        }
        self.settled = true;
        for (weight, &target) in self.memory.iter_mut().zip(&self.held) {
            *weight -= gain * (*weight - target);
            self.settled &= weight.to_bits() == target.to_bits();
        }
    }

    /// Moves the slot: by a step that takes to minus the batch's labels, by all others back towards minus the carrier.
    fn move_slot(&mut self, takes: bool, gain: f64, labels: &[f64]) {
        let carrier = self.layers.carrier;
        for (weight, &label) in self.labels.iter_mut().zip(labels) {
            *weight += if takes { carrier - label } else { -gain * (*weight + carrier) };
        }
    }
}

impl StreamEngine for SparseStream<'_> {
    fn name(&self) -> &'static str {
        "sparse"
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn step_on(&mut self, features: &[f64], labels: &[f64]) -> Result<(), TrainError> {
        batch_shapes(self.network, features, labels)?;
        let vertex = self.vertex()?;
        let Some(&column) = self.layers.table.column(vertex) else {
            self.steps += 1;
            return Ok(());
        };
        let gain = (self.layers.carrier - labels[0]) * self.layers.gain;
        let of_cells = self.gain_of("stream cells", gain);
        let of_heads = self.gain_of("stream heads", gain);
        let what = self.layers.uses[vertex];
        let mut moving = self.loose | column.left | column.right | column.put & (column.plus ^ self.under);
        if what != BitUse::Keep {
            self.renew_memory(what, features);
            moving |= self.fixed_tracks;
        }
        for track in tracks(moving) {
            self.move_track(track, &column, (of_cells, of_heads))?;
        }
        let of_vertices = self.gain_of("stream vertices", gain);
        let next = self.layers.table.vertex(column.next as usize, self.under);
        pull(&mut self.vertices, next, of_vertices);
        self.pull_memory(self.gain_of("stream memory", gain));
        self.move_slot(what == BitUse::Take, self.gain_of("stream slot", gain), labels);
        self.steps += 1;
        Ok(())
    }

    fn weights(&self) -> Vec<Values> {
        let mut all: Vec<Values> =
            self.network.parameters().iter().map(|p| Values::filled(p.shape, 0.0)).collect();
        for &(vertex, weight) in &self.vertices {
            all[self.layers.vertex.index()].data[vertex] = weight;
        }
        for (row, head) in self.heads.iter().enumerate() {
            for &(cell, weight) in head {
                *all[self.layers.head.index()].at_mut(row, cell) = weight;
            }
        }
        all[self.layers.cells.index()].data.clone_from(&self.cells);
        all[self.layers.memory.index()].data.clone_from(&self.memory);
        all[self.layers.labels.index()].data.clone_from(&self.labels);
        all
    }
}

/// Moves the weight at `target` towards 1 and all others towards 0.
fn pull(weights: &mut Vec<(usize, f64)>, target: usize, gain: f64) {
    let mut found = false;
    weights.retain_mut(|(at, weight)| {
        let aim = if *at == target { 1.0 } else { 0.0 };
        found |= *at == target;
        *weight -= gain * (*weight - aim);
        weight.abs() > NEGLIGIBLE
    });
    if !found {
        weights.push((target, gain));
    }
}

/// The position whose saturated copy is 1, if all other copies are 0.
fn alone(weights: &[(usize, f64)]) -> Option<usize> {
    let mut found = None;
    for &(at, weight) in weights {
        if weight >= 0.75 && found.is_none() {
            found = Some(at);
        } else if weight.is_nan() || weight > 0.25 {
            return None;
        }
    }
    found
}

/// The saturated copy of a weight, if it is -1 or 1.
fn sign(weight: f64) -> Option<f64> {
    (weight.abs() >= 0.5).then(|| weight.signum())
}
