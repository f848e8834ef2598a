//! Differentiates the network in every distinct situation of a run on a stream, with the weights that it has there.

use luge_net::{Shape, Values};
use luge_train::{ROUNDING, ReversePass, StreamEngine};

use super::{
    super::{JobError, certificate::inputs, engine::AnyEngine, near::Part},
    StreamChecker, widened,
};
use crate::certificate::{
    gradient::{GradientCheck, Seen},
    same_bits,
};

/// The weights before a step.
pub(in crate::stream) enum WeightsBefore<'a> {
    /// Those around the heads, the first of these columns in every row, and the network on them.
    Near(Vec<Values>, Vec<usize>, Part<'a>),
    /// All of them, and whether candle is to make the step as well.
    All(Vec<Values>, bool),
}

impl<'a> StreamChecker<'a> {
    /// The weights before a step in a new situation: those around the heads, and sometimes all.
    pub(in crate::stream) fn weights_before(&self, engine: &AnyEngine<'_>) -> WeightsBefore<'a> {
        let n = self.n_looked_at + 1;
        let by_candle = n.is_power_of_two() && n.trailing_zeros().is_multiple_of(3);
        let near = self.near.filter(|_| !by_candle).and_then(|near| {
            let starts = near.starts(&self.place.columns)?;
            let part = near.part(&starts)?;
            Some(WeightsBefore::Near(self.narrow(near.n_cells, &starts)?, starts, part))
        });
        match near {
            Some(before) => before,
            None => WeightsBefore::All(engine.weights(), by_candle),
        }
    }

    /// The weights as the last step left them, in these columns; `None` if a head has weight elsewhere.
    fn narrow(&self, n_cells: usize, starts: &[usize]) -> Option<Vec<Values>> {
        let layers = self.layers?;
        let parameters = self.lesson.network.network.parameters();
        let mut all: Vec<Values> = parameters.iter().map(|p| Values::filled(p.shape, 0.0)).collect();
        for &(vertex, weight) in &self.before.rows[0] {
            all[layers.vertex.index()].data[vertex] = weight;
        }
        let rows = parameters[layers.head.index()].shape.rows;
        let mut heads = Values::filled(Shape::new(rows, n_cells), 0.0);
        for (&row, head) in layers.table.rows().iter().zip(&self.before.rows[1..]) {
            for &(at, weight) in head {
                let column = at.checked_sub(starts[row]).filter(|&column| column < n_cells)?;
                *heads.at_mut(row, column) = weight;
            }
        }
        all[layers.head.index()] = heads;
        let wide = self.lesson.window.n_cells;
        let cells = (0..layers.table.n_trained()).flat_map(|row| {
            let first = row * wide + starts[row];
            &self.cells[first..first + n_cells]
        });
        all[layers.cells.index()] =
            Values::new(Shape::new(layers.table.n_trained(), n_cells), cells.copied().collect());
        all[layers.memory.index()].data.clone_from(&self.before.memory);
        all[layers.labels.index()].data.clone_from(&self.before.labels);
        Some(all)
    }

    /// Differentiates the network with the weights before a step and compares all weights after it: on the columns around the heads, because
    /// the step leaves all others alone, and sometimes on the whole network, also by candle.
    pub(in crate::stream) fn differentiate(
        &mut self,
        before: WeightsBefore<'a>,
        engine: &AnyEngine<'_>,
        (x, y): (&[f64], &[f64]),
    ) -> Result<(), JobError> {
        if self.differs.is_some() {
            return Ok(());
        }
        self.n_looked_at += 1;
        let inputs = inputs(self.lesson, x, y);
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
            WeightsBefore::Near(before, starts, part) => {
                let kept = self.layers.is_some_and(|layers| same_bits(engine.cells(layers), &self.cells));
                let after = self.near.and_then(|near| self.narrow(near.n_cells, &starts));
                let Some(after) = after.filter(|_| kept) else {
                    self.differs = Some("a step moves a weight far from every head".to_owned());
                    return Ok(());
                };
                (before, after, Some(part))
            }
        };
        let (loss, stepped) = match part {
            Some(Part::Kept(number, network)) => {
                let pass = self.passes.entry(number);
                stepped(pass.or_insert_with(|| ReversePass::new(&network.network)), &before, &inputs)
            }
            Some(Part::Temporary(network)) => {
                stepped(&mut ReversePass::new(&network.network), &before, &inputs)
            }
            None => stepped(&mut self.pass, &before, &inputs),
        };
        let expected = self.lesson.running_loss(y);
        if !near(loss, expected) {
            self.differs = Some(format!("the network's loss is {loss}, not {expected}"));
        }
        self.losses = widened(self.losses, loss);
        self.compare(&stepped, &after);
        Ok(())
    }

    /// Compares all weights after a step with those that the network's gradient leads to.
    fn compare(&mut self, stepped: &[Values], found: &[Values]) {
        let parameters = self.lesson.network.network.parameters();
        for (parameter, (stepped, found)) in parameters.iter().zip(stepped.iter().zip(found)) {
            let differs = stepped.data.iter().zip(&found.data).position(|(&a, &b)| !near(a, b));
            if let (Some(at), None) = (differs, &self.differs) {
                let (name, expected, found) = (&parameter.name, stepped.data[at], found.data[at]);
                let why =
                    format!("the run moves {name}[{at}] to {found}, the network's gradient to {expected}");
                self.differs = Some(why);
            }
        }
    }

    /// The result for a run of this many steps.
    pub(in crate::stream) fn gradient(&self, n_steps: u64, engine: &AnyEngine<'_>) -> GradientCheck {
        if let (AnyEngine::Dense(..), None) = (engine, &self.differs) {
            return GradientCheck::of_dense();
        }
        let seen = Seen {
            n_steps,
            n_situations: self.known.len(),
            n_looked_at: self.n_looked_at,
            n_as_they_were: self.n_looked_at,
            exact: false,
        };
        GradientCheck { seen: Some(seen), differs: self.differs.clone(), ..GradientCheck::default() }
    }
}

/// The loss of a network, and its weights after one step of rate 1.
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
