//! The weights around the heads as a run had them, and the network differentiated with those.

use luge_net::{LOCAL_COLUMNS, StepRule, Values};

use super::{Carried, Differs, SituationCheck};
use crate::{ROUNDING, Snapshot, best_vertex, sparse};

/// The weights around the heads, as an engine holds them.
#[derive(Clone, PartialEq, Debug)]
pub struct Surroundings {
    vertices: Vec<(usize, f64)>,
    /// Per track, the cells and the head's weights in as many columns as the cut network has.
    tracks: Vec<[[f64; LOCAL_COLUMNS]; 2]>,
}

impl Surroundings {
    /// The weights of a snapshot around these cells, one per track.
    pub fn of(snapshot: &Snapshot, centres: &[i64]) -> Self {
        let tracks = snapshot.tapes.iter().zip(centres).map(|(tape, centre)| {
            let at = |first: i64, column: usize| {
                usize::try_from(centre - (LOCAL_COLUMNS / 2) as i64 + column as i64 - first).ok()
            };
            let cell = |column| at(tape.first, column).and_then(|at| tape.cells.get(at));
            let head = |column| at(tape.head_first, column).and_then(|at| tape.head.get(at));
            [
                std::array::from_fn(|column| cell(column).unwrap_or(sparse::BLANK)),
                std::array::from_fn(|column| head(column).copied().unwrap_or(0.0)),
            ]
        });
        Self { vertices: snapshot.vertices.clone(), tracks: tracks.collect() }
    }
}

impl SituationCheck<'_> {
    /// Differentiates the network with the weights that a step was made from and compares those around the heads after it; the loss.
    ///
    /// # Errors
    /// In what the step differs.
    pub fn look_at_weights(&mut self, before: &Surroundings, after: &Surroundings) -> Result<f64, Differs> {
        let expected = self.shown(after);
        let mut inputs = std::mem::take(&mut self.inputs);
        self.weights = self.shown(before);
        self.show_fixed(before, &mut inputs);
        self.inputs = inputs;
        let landscape = self.landscape.evaluate(&self.weights, &self.inputs);
        let Carried { loss, gain } = self.carry(landscape)?;
        let gradient = self.landscape.gradient(gain);
        let vertex = before.vertices.first().map_or(0, |&(vertex, _)| vertex as u32);
        for (block, (parameter, gradient)) in
            self.local.landscape.network.parameters().iter().zip(&gradient).enumerate()
        {
            let (weights, expected) = (&self.weights[block].data, &expected[block].data);
            let found: Vec<f64> = match parameter.step_rule {
                StepRule::Simplex => {
                    let best = best_vertex(&gradient.data, weights).unwrap_or(vertex as usize);
                    Values::unit(weights.len(), best).data
                }
                StepRule::Gradient { rate } => {
                    weights.iter().zip(&gradient.data).map(|(weight, slope)| weight - rate * slope).collect()
                }
            };
            let far = |(a, b): (&f64, &f64)| {
                let away = (a - b).abs();
                away.is_nan() || away > ROUNDING * a.abs().max(1.0)
            };
            if let Some(index) = found.iter().zip(expected).position(far) {
                let (parameter, found, expected) = (parameter.name.clone(), found[index], expected[index]);
                return Err(Differs::Weight { vertex, parameter, index, found, expected });
            }
        }
        Ok(loss)
    }

    /// The weights of the cut network that stand for surroundings.
    fn shown(&self, around: &Surroundings) -> Vec<Values> {
        let mut weights = self.weights.clone();
        if let Some(block) = self.block(self.layers.vertex) {
            weights[block].data.fill(0.0);
            around.vertices.iter().for_each(|&(vertex, weight)| weights[block].data[vertex] = weight);
        }
        let blocks = [self.layers.cells.and_then(|id| self.block(id)), self.block(self.layers.head)];
        for (&row, track) in self.layers.table.rows().iter().zip(&around.tracks) {
            for (block, numbers) in blocks.iter().zip(track) {
                let of_row = row * LOCAL_COLUMNS..(row + 1) * LOCAL_COLUMNS;
                if let Some(shown) = block.and_then(|block| weights[block].data.get_mut(of_row)) {
                    shown.copy_from_slice(numbers);
                }
            }
        }
        weights
    }

    /// Shows the cells that are not weights.
    fn show_fixed(&self, around: &Surroundings, inputs: &mut [Values]) {
        let table = &self.layers.table;
        for (&row, [cells, _]) in table.rows().iter().zip(&around.tracks) {
            if let (Some(at), Some(input)) = (row.checked_sub(table.n_trained()), inputs.first_mut()) {
                input.data[at * LOCAL_COLUMNS..(at + 1) * LOCAL_COLUMNS].copy_from_slice(cells);
            }
        }
    }
}
