//! Differentiates the network in every distinct situation of a run on a stream, at the weights of that step.

use luge_net::{Shape, Values};
use luge_train::{ROUNDING, ReversePass, StreamEngine};

use super::{
    super::{JobError, certificate::inputs, engine::AnyEngine, narrow::NarrowNetwork},
    StreamChecker, widened,
};
use crate::certificate::{
    gradient::{GradientCheck, Seen},
    same_bits,
};

/// The weights before a step.
pub(in crate::stream) enum WeightsBefore<'a> {
    /// The weights near the heads, the first of these columns in every row, and the network on these columns.
    Narrow(Vec<Values>, Vec<usize>, NarrowNetwork<'a>),
    /// All weights, and whether candle also makes the step.
    All(Vec<Values>, bool),
}

impl<'a> StreamChecker<'a> {
    /// Returns the weights before a step in a new situation: those near the heads, or sometimes all.
    pub(in crate::stream) fn weights_before(&self, engine: &AnyEngine<'_>) -> WeightsBefore<'a> {
        let n = self.n_looked_at + 1;
        let by_candle = n.is_power_of_two() && n.trailing_zeros().is_multiple_of(3);
        let narrow = self.narrow.filter(|_| !by_candle).and_then(|narrow| {
            let starts = narrow.starts(&self.place.columns)?;
            let part = narrow.part(&starts)?;
            Some(WeightsBefore::Narrow(self.weights_in(narrow.n_cells, &starts)?, starts, part))
        });
        match narrow {
            Some(before) => before,
            None => WeightsBefore::All(engine.weights(), by_candle),
        }
    }

    /// Returns the weights after the last step in these columns; `None` if a head has weight elsewhere.
    fn weights_in(&self, n_cells: usize, starts: &[usize]) -> Option<Vec<Values>> {
        let layers = &self.prepared.layers;
        let parameters = self.prepared.network.network.parameters();
        let mut all: Vec<Values> = parameters.iter().map(|p| Values::filled(p.shape, 0.0)).collect();
        for &(vertex, weight) in &self.before.rows[0] {
            all[layers.vertex.index()].data[vertex] = weight;
        }
        let rows = parameters[layers.head.index()].shape.rows;
        let mut heads = Values::filled(Shape::new(rows, n_cells), 0.0);
        for (&row, head) in layers.table.rows.iter().zip(&self.before.rows[1..]) {
            for &(at, weight) in head {
                let column = at.checked_sub(starts[row]).filter(|&column| column < n_cells)?;
                *heads.at_mut(row, column) = weight;
            }
        }
        all[layers.head.index()] = heads;
        let wide = self.prepared.window.n_cells;
        let cells = (0..layers.table.n_trained).flat_map(|row| {
            let first = row * wide + starts[row];
            &self.cells[first..first + n_cells]
        });
        all[layers.cells.index()] =
            Values::new(Shape::new(layers.table.n_trained, n_cells), cells.copied().collect());
        all[layers.memory.index()].data.clone_from(&self.before.memory);
        all[layers.labels.index()].data.clone_from(&self.before.labels);
        Some(all)
    }

    /// Differentiates the network at the weights before a step and compares the result with all weights after it. Usually
    /// it uses the network on the columns near the heads, because the step changes no others; sometimes it uses the whole
    /// network, and candle as well.
    pub(in crate::stream) fn differentiate(
        &mut self,
        before: WeightsBefore<'a>,
        engine: &AnyEngine<'_>,
        (x, y): (&[f64], &[f64]),
    ) -> Result<(), JobError> {
        if self.observed.differs.is_some() {
            return Ok(());
        }
        self.n_looked_at += 1;
        let inputs = inputs(self.prepared, x, y);
        let (before, after, part) = match before {
            WeightsBefore::All(before, by_candle) => {
                let after = engine.weights();
                if by_candle {
                    self.dense.go_to(&before)?;
                    self.dense.step_on(x, y)?;
                    self.compare(&self.dense.weights(), &after);
                }
                (before, after, None)
            }
            WeightsBefore::Narrow(before, starts, part) => {
                let kept = same_bits(engine.cells(), &self.cells);
                let after = self.narrow.and_then(|narrow| self.weights_in(narrow.n_cells, &starts));
                let Some(after) = after.filter(|_| kept) else {
                    self.observed.differs = Some("a step moves a weight far from every head".to_owned());
                    return Ok(());
                };
                (before, after, Some(part))
            }
        };
        let (loss, stepped) = match part {
            Some(NarrowNetwork::Cached(slot, network)) => {
                let pass = self.passes.entry(slot);
                stepped(pass.or_insert_with(|| ReversePass::new(&network.network)), &before, &inputs)
            }
            Some(NarrowNetwork::Temporary(network)) => {
                stepped(&mut ReversePass::new(&network.network), &before, &inputs)
            }
            None => stepped(&mut self.pass, &before, &inputs),
        };
        let expected = self.prepared.running_loss(y);
        if !near(loss, expected) {
            self.observed.differs = Some(format!("the network's loss is {loss}, not {expected}"));
        }
        self.observed.losses = widened(self.observed.losses, loss);
        self.compare(&stepped, &after);
        Ok(())
    }

    /// Compares the weights after a step with those that the network's gradient leads to.
    fn compare(&mut self, stepped: &[Values], found: &[Values]) {
        let parameters = self.prepared.network.network.parameters();
        for (parameter, (stepped, found)) in parameters.iter().zip(stepped.iter().zip(found)) {
            let differs = stepped.data.iter().zip(&found.data).position(|(&a, &b)| !near(a, b));
            if let (Some(at), None) = (differs, &self.observed.differs) {
                let (name, expected, found) = (&parameter.name, stepped.data[at], found.data[at]);
                let why =
                    format!("the run moves {name}[{at}] to {found}, the network's gradient to {expected}");
                self.observed.differs = Some(why);
            }
        }
    }

    /// Returns the result for a run of this many steps.
    pub(in crate::stream) fn gradient(&self, n_steps: u64, engine: &AnyEngine<'_>) -> GradientCheck {
        if let (AnyEngine::Dense(..), None) = (engine, &self.observed.differs) {
            return GradientCheck::of_dense();
        }
        let seen = Seen {
            n_steps,
            n_situations: self.known.len(),
            n_looked_at: self.n_looked_at,
            n_as_they_were: self.n_looked_at,
            exact: false,
        };
        GradientCheck { seen: Some(seen), differs: self.observed.differs.clone(), ..GradientCheck::default() }
    }
}

/// Returns the loss of a network, and its weights after one step of rate 1.
fn stepped(pass: &mut ReversePass<'_>, before: &[Values], inputs: &[Values]) -> (f64, Vec<Values>) {
    let loss = pass.evaluate(before, inputs);
    let mut stepped = pass.gradient(1.0);
    for (stepped, before) in stepped.iter_mut().zip(before) {
        stepped.data.iter_mut().zip(&before.data).for_each(|(slope, before)| *slope = before - *slope);
    }
    (loss, stepped)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDING * a.abs().max(b.abs()).max(1.0)
}
