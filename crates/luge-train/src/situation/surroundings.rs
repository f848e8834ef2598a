//! The weights around the heads during a run, and the network differentiated with them.

use luge_net::{LOCAL_COLUMNS, StepRule, Values};

use super::{Differs, SituationCheck};
use crate::{
    ROUNDING, Snapshot, best_vertex,
    sparse::{self, Carried},
};

/// The weights around the heads, as an engine holds them.
#[derive(Clone, PartialEq, Debug)]
pub struct Surroundings {
    pub(super) vertices: Vec<(usize, f64)>,
    /// Per track, the cells and the head's weights in as many columns as the cut network has.
    pub(super) tracks: Vec<[[f64; LOCAL_COLUMNS]; 2]>,
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
    /// Differentiates the network at the weights before a step and compares those around the heads after it; returns the loss.
    ///
    /// # Errors
    /// The first difference.
    pub fn look_at_weights(&mut self, before: &Surroundings, after: &Surroundings) -> Result<f64, Differs> {
        self.show(before, after);
        let landscape = self.landscape.evaluate(&self.weights, &self.inputs);
        let Carried { loss, gain } = self.carry(landscape)?;
        let gradient = self.landscape.gradient(gain);
        let vertex = before.vertices.first().map_or(0, |&(vertex, _)| vertex as u32);
        for (block, gradient) in gradient.iter().enumerate() {
            self.compare(vertex, block, gradient, |found| ROUNDING * found.abs().max(1.0))?;
        }
        Ok(loss)
    }

    /// Compares the weights of a block after a step with the expected ones; returns the largest distance.
    pub(super) fn compare(
        &self,
        vertex: u32,
        block: usize,
        gradient: &Values,
        allowed: impl Fn(f64) -> f64,
    ) -> Result<f64, Differs> {
        let parameter = &self.local.landscape.network.parameters()[block];
        let (weights, expected) = (&self.weights[block].data, &self.after[block].data);
        let (rate, best) = match parameter.step_rule {
            StepRule::Simplex => (0.0, Some(best_vertex(&gradient.data, weights).unwrap_or(vertex as usize))),
            StepRule::Gradient { rate } => (rate, None),
        };
        let mut farthest = 0.0_f64;
        for (index, (before, (slope, &expected))) in
            weights.iter().zip(gradient.data.iter().zip(expected)).enumerate()
        {
            let found = best.map_or(before - rate * slope, |best| f64::from(u8::from(index == best)));
            let away = (found - expected).abs();
            if away.is_nan() || away > allowed(found) {
                let parameter = parameter.name.clone();
                return Err(Differs::Weight { vertex, parameter, index, found, expected });
            }
            farthest = farthest.max(away);
        }
        Ok(farthest)
    }

    /// Sets the weights and hidden cells before a step, and the weights expected after it.
    pub(super) fn show(&mut self, before: &Surroundings, after: &Surroundings) {
        let table = &self.layers.table;
        let vertex = self.block(self.layers.vertex);
        let blocks = [self.layers.cells.and_then(|id| self.block(id)), self.block(self.layers.head)];
        for (around, weights) in [(before, &mut self.weights), (after, &mut self.after)] {
            if let Some(weights) = vertex.map(|block| &mut weights[block].data) {
                weights.fill(0.0);
                around.vertices.iter().for_each(|&(vertex, weight)| weights[vertex] = weight);
            }
            for (&row, track) in table.rows.iter().zip(&around.tracks) {
                for (block, numbers) in blocks.iter().zip(track) {
                    let of_row = row * LOCAL_COLUMNS..(row + 1) * LOCAL_COLUMNS;
                    if let Some(shown) = block.and_then(|block| weights[block].data.get_mut(of_row)) {
                        shown.copy_from_slice(numbers);
                    }
                }
            }
        }
        for (&row, [cells, _]) in table.rows.iter().zip(&before.tracks) {
            if let (Some(at), Some(input)) = (row.checked_sub(table.n_trained), self.inputs.first_mut()) {
                input.data[at * LOCAL_COLUMNS..(at + 1) * LOCAL_COLUMNS].copy_from_slice(cells);
            }
        }
    }
}
