//! Implements the engine interface for the sparse engine.

use std::ops::Range;

use luge_net::Network;

use super::{NextStep, Sparse};
use crate::{
    Engine, LossRange, Outcome, ROUNDING, Snapshot, StopRule, TapeSnapshot, TrainError, exact::legality,
};

impl Engine for Sparse<'_> {
    fn name(&self) -> &'static str {
        "sparse"
    }

    fn network(&self) -> &Network {
        self.network
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn path(&self) -> u64 {
        self.path
    }

    fn loss(&mut self) -> Result<f64, TrainError> {
        Ok(self.look()?.loss)
    }

    fn step(&mut self) -> Result<(), TrainError> {
        let here = self.look()?;
        self.go(here.next_step);
        Ok(())
    }

    fn run(&mut self, stop: &StopRule) -> Result<Outcome, TrainError> {
        let mut here = self.look()?;
        let mut losses = self.losses.unwrap_or(LossRange::of(here.loss));
        let outcome = loop {
            let (loss, steps) = (here.loss, self.steps);
            losses.add(loss);
            if let Some(outcome) = stop.verdict(steps, loss) {
                break outcome;
            }
            self.go(here.next_step);
            if let NextStep::Vertex { .. } = here.next_step {
                match self.tapes.rows.len() {
                    1 => self.run_cached::<true>(stop, &mut losses),
                    _ => self.run_cached::<false>(stop, &mut losses),
                }
            }
            here = self.differentiate()?;
        };
        (self.losses, self.here) = (Some(losses), Some(here));
        Ok(outcome)
    }

    fn losses(&self) -> Option<LossRange> {
        self.losses
    }

    fn vertex(&self) -> Option<usize> {
        self.place.clear().then_some(self.place.vertex)
    }

    fn head(&self, track: usize) -> Option<i64> {
        self.tapes.rows[track].head.clear()
    }

    fn cell(&self, track: usize, cell: i64) -> f64 {
        self.tapes.rows[track].cells.at(cell)
    }

    fn stored_cells(&self, track: usize) -> Range<i64> {
        let cells = &self.tapes.rows[track].cells;
        cells.first()..cells.first() + cells.len() as i64
    }

    fn labels(&self) -> &[f64] {
        self.output_stage.as_ref().map_or(&[], |output_stage| &output_stage.labels.data)
    }

    fn snapshot(&self) -> Snapshot {
        let mut vertices = vec![(self.place.vertex, self.place.weight)];
        vertices.extend(&self.place.others);
        let tapes = self.tapes.rows.iter().map(|tape| TapeSnapshot {
            first: tape.cells.first(),
            cells: tape.cells.packed(),
            head_first: tape.head.first(),
            head: tape.head.weights().collect(),
        });
        Snapshot {
            step: self.steps,
            path: self.path,
            vertices,
            labels: self.labels().to_vec(),
            tapes: tapes.collect(),
        }
    }

    fn heads(&self) -> Vec<(i64, Vec<f64>)> {
        self.tapes.rows.iter().map(|tape| (tape.head.first(), tape.head.weights().collect())).collect()
    }

    fn rounding(&self) -> f64 {
        if legality::is_exact(self) { 0.0 } else { ROUNDING }
    }

    fn cell_bytes(&self) -> usize {
        self.tapes.rows.iter().map(|tape| tape.cells.n_bytes()).sum()
    }
}
