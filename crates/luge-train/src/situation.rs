//! The network differentiated in one situation: the basis of the certificate's `gradient` line.
//!
//! A gradient step depends only on the vertex, the symbols under the heads and the symbols that will be read. So the
//! network is cut down to what such a step depends on ([`Local`]). For each situation all units of the cut are evaluated,
//! all its weights differentiated, and all weights after the step compared with the expected ones.

mod differs;
mod surroundings;

use std::collections::HashMap;

use luge_net::{Arcs, Form, LOCAL_COLUMNS, Local, NodeId, Op, ParameterId, SparseLayers, StepRule, Values};

use crate::{
    Dense, MAX_GAIN_ERROR, Precision, ROUNDING, Rate, ReversePass, TrainError, best_vertex, sparse::Carried,
};
pub use differs::Differs;
pub use surroundings::Surroundings;

/// A situation and the expected step. Masks have a bit for each track. Symbols that are not known are free: the step must be
/// the same for all their values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Situation {
    /// The vertex before the step.
    pub vertex: u32,
    /// The vertex after it.
    pub to: u32,
    /// The tracks whose symbol under the head is known, and those where it is +1.
    pub here: (u32, u32),
    /// The tracks whose symbol that will be read is known, and those where it is +1.
    pub ahead: (u32, u32),
    /// The heads that move one cell to the left.
    pub left: u32,
    /// The heads that move one cell to the right.
    pub right: u32,
    /// The cells under the heads, before they move, that become the other symbol.
    pub flipped: u32,
}

/// The columns in which the heads are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeadColumn {
    /// Far from both ends of the tapes.
    Inside,
    /// In the first column.
    First,
    /// In the last column.
    Last,
}

/// The result of differentiating the network in a situation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Look {
    /// The network's loss before the step.
    pub loss: f64,
    /// The largest distances of cells and of heads from their ideal values after the step.
    pub drift: (f64, f64),
}

/// Differentiates a network in many situations.
pub struct SituationCheck<'l> {
    local: &'l Local,
    layers: &'l SparseLayers,
    landscape: ReversePass<'l>,
    output: Option<(ReversePass<'l>, Vec<Values>, Vec<Values>)>,
    weights: Vec<Values>,
    /// The expected weights after the step.
    after: Vec<Values>,
    inputs: Vec<Values>,
    carried: HashMap<u64, Carried>,
    /// The nodes that are 1 for every vertex of the next block, and 0 for all others.
    of_blocks: Vec<NodeId>,
    /// The largest allowed distances of cells and of heads from their ideal values, before and after a step.
    allowed: (f64, f64),
}

impl<'l> SituationCheck<'l> {
    /// Checks a cut network with these inputs and labels; `allowed` are the largest distances of cells and heads from their
    /// ideal values: 0 if the arithmetic is exact.
    pub fn new(
        local: &'l Local,
        layers: &'l SparseLayers,
        (inputs, labels): (&[Values], &[f64]),
        allowed: (f64, f64),
    ) -> Self {
        let blank = |shape| Values::filled(shape, 0.0);
        let output = local.output.as_ref().map(|part| {
            let parameters = part.network.parameters().iter().zip(&part.parameters);
            let values = parameters.map(|(parameter, of)| match of {
                Some(_) => Values::new(parameter.shape, labels.to_vec()),
                None => blank(parameter.shape),
            });
            (ReversePass::new(&part.network), values.collect(), part.fed(inputs))
        });
        let part = &local.landscape.network;
        let of_blocks = part.numbered_nodes().filter(|(_, node)| match &node.op {
            Op::Linear(map, _) => map.as_arcs().is_some_and(|(_, arcs)| arcs == Arcs::OfBlock),
            _ => false,
        });
        Self {
            local,
            layers,
            landscape: ReversePass::new(part),
            output,
            after: part.parameters().iter().map(|p| blank(p.shape)).collect(),
            weights: part.parameters().iter().map(|p| blank(p.shape)).collect(),
            inputs: part.inputs().iter().map(|i| blank(i.shape)).collect(),
            carried: HashMap::new(),
            of_blocks: of_blocks.map(|(id, _)| id).collect(),
            allowed,
        }
    }

    /// The sparse layers of the network.
    pub fn layers(&self) -> &'l SparseLayers {
        self.layers
    }

    /// The index of a block of weights in the cut.
    fn block(&self, id: ParameterId) -> Option<usize> {
        self.local.landscape.parameters.iter().position(|&of| of == Some(id))
    }

    /// Differentiates the network in a situation and compares every weight after the step. Free symbols are `fill`; if
    /// `blurred`, weights are as far from their ideal values as they may be.
    ///
    /// # Errors
    /// The first difference from the expected step.
    pub fn look(
        &mut self,
        situation: &Situation,
        fill: bool,
        at: HeadColumn,
        blurred: bool,
    ) -> Result<Look, Differs> {
        let (before, after, heads) = self.around(situation, fill, at, blurred);
        self.show(&before, &after);
        let landscape = self.landscape.evaluate(&self.weights, &self.inputs);
        self.check_far_columns(situation, &heads)?;
        self.check_other_blocks(situation)?;
        let Carried { loss, gain } = self.carry(landscape)?;
        let gradient = self.landscape.gradient(gain);
        let mut drift = (0.0, 0.0);
        for (block, gradient) in gradient.iter().enumerate() {
            let id = self.local.landscape.parameters[block];
            if self.local.landscape.network.parameters()[block].step_rule == StepRule::Simplex {
                self.compare_best(situation, &gradient.data, block, gain)?;
                continue;
            }
            let of_head = id == Some(self.layers.head);
            let of_vertex = id == Some(self.layers.vertex);
            let allowed = if of_head || of_vertex { self.allowed.1 } else { self.allowed.0 };
            // If weights are not exact, the step itself is rounded as well.
            let allowed = if allowed > 0.0 { allowed + 8.0 * f64::EPSILON } else { 0.0 };
            let farthest = self.compare(situation.vertex, block, gradient, |_| allowed)?;
            if of_head {
                drift.1 = f64::max(drift.1, farthest);
            } else if !of_vertex {
                drift.0 = f64::max(drift.0, farthest);
            }
        }
        Ok(Look { loss, drift })
    }

    /// The weights and cells in a situation, those expected after its step, and the column of each head, by row.
    fn around(
        &self,
        situation: &Situation,
        fill: bool,
        at: HeadColumn,
        blurred: bool,
    ) -> (Surroundings, Surroundings, Vec<usize>) {
        let table = &self.layers.table;
        let (middle, last) = (LOCAL_COLUMNS / 2, LOCAL_COLUMNS - 1);
        let (by_cell, by_head) = if blurred { self.allowed } else { (0.0, 0.0) };
        let away = if matches!(self.layers.form, Form::Slides { .. }) { 0.0 } else { by_head };
        let vertex = situation.vertex as usize;
        let other = (vertex + 1) % table.n_vertices;
        let mut before = Surroundings { vertices: vec![(other, away), (vertex, 1.0 - away)], tracks: vec![] };
        let mut after = Surroundings { vertices: vec![(situation.to as usize, 1.0)], tracks: vec![] };
        let mut heads = vec![middle; table.n_tracks];
        for (track, &row) in table.rows.iter().enumerate() {
            let bit = |mask: u32| mask >> track & 1 == 1;
            let moved = isize::from(bit(situation.right)) - isize::from(bit(situation.left));
            let column = match at {
                HeadColumn::First if moved >= 0 => 0,
                HeadColumn::Last if moved <= 0 => last,
                _ => middle,
            };
            heads[row] = column;
            let symbol = |(known, plus): (u32, u32)| if bit(known) { bit(plus) } else { fill };
            let sign = |plus: bool| if plus { 1.0 } else { -1.0 };
            let mut symbols = [sign(fill); LOCAL_COLUMNS];
            symbols[column] = sign(symbol(situation.here));
            let next = column.checked_add_signed(moved).unwrap_or(column);
            if next != column {
                symbols[next] = sign(symbol(situation.ahead));
            }
            let is_trained = row < table.n_trained;
            let by_cell = if is_trained { sign(fill) * by_cell } else { 0.0 };
            let mut head = [0.0; LOCAL_COLUMNS];
            head[column] = 1.0 - by_head;
            head.get_mut(column + 1).into_iter().for_each(|beside| *beside = by_head);
            before.tracks.push([symbols.map(|symbol| symbol * (1.0 - by_cell)), head]);
            if bit(situation.flipped) {
                symbols[column] = -symbols[column];
            }
            let moved_head = std::array::from_fn(|column| f64::from(u8::from(column == next)));
            after.tracks.push([symbols, moved_head]);
        }
        // A read-only cell cannot change: no weights match such an expectation.
        if situation.flipped & table.all_tracks() & !table.trained_tracks() != 0 {
            after.tracks.iter_mut().for_each(|[cells, _]| cells.fill(f64::NAN));
        }
        (before, after, heads)
    }

    /// Compares the vertex that a step on the simplex leads to, for all values of the free symbols: each of them changes the
    /// slope of vertices that look at it by at most four times the weight of the read residual.
    fn compare_best(
        &self,
        situation: &Situation,
        slopes: &[f64],
        block: usize,
        gain: f64,
    ) -> Result<(), Differs> {
        let Situation { vertex, to, ahead, .. } = *situation;
        let table = &self.layers.table;
        let found = best_vertex(slopes, &self.weights[block].data).unwrap_or(vertex as usize);
        let differs = |found| Err(Differs::Vertex { vertex, found, expected: to });
        if found != to as usize {
            return differs(found);
        }
        let Form::Slides { read, .. } = self.layers.form else { return differs(found) };
        let tilt = 4.0 * read.abs() * gain.abs();
        for other in (0..table.n_blocks()).filter(|&other| other != table.block(found)) {
            let free = (table.looks_at(other) & !ahead.0).count_ones();
            let least = slopes[table.vertices_of(other)].iter().copied().fold(f64::INFINITY, f64::min);
            if free > 0 && least - tilt * f64::from(free) <= slopes[found] {
                return differs(table.vertices_of(other).start);
            }
        }
        let own = table.looks_at(table.block(found)) | table.looks_at(table.block(vertex as usize));
        if own & !ahead.0 != 0 { differs(found) } else { Ok(()) }
    }

    /// Where the next vertex is the product of a factor for its block and a factor for its symbols, the first factor must be 0
    /// for all blocks but the next, and the next block must look at no free symbol. Then no free symbol can lead elsewhere.
    fn check_other_blocks(&self, situation: &Situation) -> Result<(), Differs> {
        let Situation { vertex, to, ahead, .. } = *situation;
        let table = &self.layers.table;
        let next = table.block(to as usize);
        let differs = |found| Err(Differs::Vertex { vertex, found, expected: to });
        for &node in &self.of_blocks {
            let mut factors = self.landscape.value(node).iter().enumerate();
            let other = factors.find(|&(at, &factor)| factor != 0.0 && table.block(at) != next);
            if let Some((found, _)) = other {
                return differs(found);
            }
        }
        let free = table.looks_at(next) & !ahead.0;
        if !self.of_blocks.is_empty() && free != 0 { differs(to as usize) } else { Ok(()) }
    }

    /// The loss of a landscape without extended network at a halting vertex, with all free symbols -1 and with all of them +1.
    pub fn losses_at_rest(&mut self, vertex: u32) -> [f64; 2] {
        let table = &self.layers.table;
        let known = (table.looks_at(table.block(vertex as usize)), table.symbols(vertex as usize));
        let situation = Situation { vertex, to: vertex, here: known, ahead: known, ..Situation::default() };
        [false, true].map(|fill| {
            let (before, after, _) = self.around(&situation, fill, HeadColumn::Inside, false);
            self.show(&before, &after);
            self.landscape.evaluate(&self.weights, &self.inputs)
        })
    }

    /// Checks that columns far from every head add exactly 0 to every sum.
    fn check_far_columns(&self, situation: &Situation, heads: &[usize]) -> Result<(), Differs> {
        let reach = self.local.reach;
        let differs = |node: NodeId| {
            let node = self.local.landscape.network.node(node).name.clone();
            Err(Differs::FarColumn { vertex: situation.vertex, node })
        };
        for &node in &self.local.summed {
            for (entry, &value) in self.landscape.value(node).iter().enumerate() {
                let (row, column) = (entry / LOCAL_COLUMNS, entry % LOCAL_COLUMNS);
                // A head that is not exactly on its cell is on the next one as well.
                let far =
                    column.abs_diff(heads[row % heads.len()]) > reach + usize::from(self.allowed.1 > 0.0);
                if far && value != 0.0 {
                    return differs(node);
                }
            }
        }
        Ok(())
    }

    /// The network's loss and gain for a loss of the landscape. The labels must have no gradient there, and the primary
    /// network, whose value is NaN here, must not matter.
    fn carry(&mut self, landscape: f64) -> Result<Carried, Differs> {
        let Some((pass, parameters, inputs)) = &mut self.output else {
            return Ok(Carried { loss: landscape, gain: 1.0 });
        };
        if let Some(known) = self.carried.get(&landscape.to_bits()) {
            return Ok(*known);
        }
        let part = self.local.output.as_ref().map_or(&[][..], |part| &part.parameters);
        let differs = |what| Err(Differs::Output { landscape, what });
        let own = part.iter().position(Option::is_none).unwrap_or(0);
        parameters[own].data[0] = landscape;
        let loss = pass.evaluate(parameters, inputs);
        let gradient = pass.gradient(1.0);
        let gain = gradient[own].data[0];
        // A slope that is NaN is not 0 either.
        let moves = |(i, block): (usize, &Values)| i != own && block.data.iter().any(|&slope| slope != 0.0);
        let most =
            if matches!(self.layers.form, Form::Slides { .. }) { self.allowed.1 } else { MAX_GAIN_ERROR };
        if loss.is_nan() {
            return differs("the output depends on the primary network");
        }
        if gradient.iter().enumerate().any(moves) {
            return differs("the labels have a gradient");
        }
        if gain.is_nan() || (gain - 1.0).abs() > most {
            return differs("the carrier scales the gradient by another number than 1");
        }
        let carried = Carried { loss, gain };
        self.carried.insert(landscape.to_bits(), carried);
        Ok(carried)
    }

    /// Compares the reverse pass with candle's automatic differentiation, at the weights of the last look.
    ///
    /// # Errors
    /// If candle fails; the inner error names the block of weights whose gradients differ.
    pub fn hold_to_candle(&mut self, situation: &Situation) -> Result<Result<(), Differs>, TrainError> {
        let landscape = self.landscape.evaluate(&self.weights, &self.inputs);
        let mut alike =
            same_gradient(&mut self.landscape, &self.local.landscape.network, (&self.weights, &self.inputs))?;
        if let (Some((pass, parameters, inputs)), Some(part)) = (&mut self.output, &self.local.output) {
            let own = part.parameters.iter().position(Option::is_none).unwrap_or(0);
            parameters[own].data[0] = landscape;
            pass.evaluate(parameters, inputs);
            alike = alike.or(same_gradient(pass, &part.network, (parameters, inputs))?);
        }
        let vertex = situation.vertex;
        Ok(alike.map_or(Ok(()), |parameter| Err(Differs::Candle { vertex, parameter })))
    }
}

/// The first block of weights whose gradient differs from candle's, or `loss`; `None` if all agree.
fn same_gradient(
    pass: &mut ReversePass<'_>,
    network: &luge_net::Network,
    (weights, inputs): (&[Values], &[Values]),
) -> Result<Option<String>, TrainError> {
    let mut dense = Dense::new(network, weights, inputs, Precision::F64, Rate::One, None)?;
    let near = |a: f64, b: f64| (a - b).abs() <= ROUNDING * a.abs().max(b.abs()).max(1.0);
    let theirs = dense.gradient()?;
    let loss = crate::Engine::loss(&mut dense)?;
    if !near(loss, pass.value(network.loss())[0]) {
        return Ok(Some("loss".to_owned()));
    }
    let ours = pass.gradient(1.0);
    let alike = |(a, b): &(&Values, &Values)| a.data.iter().zip(&b.data).all(|(&a, &b)| near(a, b));
    let differs = ours.iter().zip(&theirs).position(|pair| !alike(&pair));
    Ok(differs.map(|block| network.parameters()[block].name.clone()))
}
