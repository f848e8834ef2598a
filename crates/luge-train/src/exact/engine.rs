//! Implements the engine interface for the exact engine.

use std::ops::Range;

use luge_net::Network;

use super::{Body, Exact, LoopExit, legality::differentiate, low_level};
use crate::{
    Engine, LossRange, MacrostepId, MacrostepSteps, Outcome, PackedCells, Snapshot, StepDelta, StopRule,
    TapeSnapshot, TrainError, sparse::BLANK,
};

impl Engine for Exact<'_> {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn network(&self) -> &Network {
        self.probe.network()
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn path(&self) -> u64 {
        match &self.body {
            Body::Waiting(sparse) => sparse.path(),
            Body::MultiHead(many) => many.path(&self.layers().table),
        }
        .wrapping_add(u64::from(luge_net::faults::planted("a digest that adds v + 2")))
    }

    fn loss(&mut self) -> Result<f64, TrainError> {
        let landscape = match &mut self.body {
            Body::Waiting(sparse) => return sparse.loss(),
            Body::MultiHead(many) => many.level(&self.probe.layers().table, &mut self.probe)?,
        };
        let Some(stage) = self.probe.output_stage() else {
            let wrong = luge_net::faults::planted("loss at rest") && landscape <= low_level(self.layers());
            return Ok(if wrong { landscape / 2.0 } else { landscape });
        };
        if !stage.finished(landscape)? {
            return Ok(stage.carry(landscape).loss);
        }
        Ok(stage.primary_loss_of(self.layers(), &|track, cell| self.cell(track, cell)))
    }

    fn step(&mut self) -> Result<(), TrainError> {
        let before = self.steps;
        if self.advance(1)? == LoopExit::Low && self.steps == before {
            self.rest()?;
        }
        Ok(())
    }

    fn run(&mut self, stop: &StopRule) -> Result<Outcome, TrainError> {
        if self.earlier.is_none() {
            self.earlier = Some(LossRange::of(self.loss()?));
        }
        // Where running losses may end the run, every step is looked at.
        let careful = stop.loss_at_most > low_level(self.layers());
        loop {
            let left = stop.most_steps.saturating_sub(self.steps);
            let pause = if careful { LoopExit::Low } else { self.advance(left)? };
            let loss = self.loss()?;
            self.last = Some(loss);
            if let Some(outcome) = stop.verdict(self.steps, loss) {
                return Ok(outcome);
            }
            if careful {
                self.earlier = self.earlier.map(|range| range.and(loss));
                self.step()?;
            } else if pause == LoopExit::Low {
                self.rest()?;
            }
        }
    }

    fn run_with_deltas(&mut self, stop: &StopRule, changes: &mut Vec<StepDelta>) -> Result<bool, TrainError> {
        // Where running losses may end the run, every step is looked at; and labels are read one by one.
        let Body::MultiHead(many) = &mut self.body else { return Ok(false) };
        if stop.loss_at_most > low_level(self.probe.layers()) {
            return Ok(false);
        }
        let (most, before) = (stop.most_steps.saturating_sub(self.steps), changes.len());
        let (probe, losses) = (&mut self.probe, &mut self.carried);
        many.run_with_deltas(&probe.layers().table, probe, most, changes, losses)?;
        self.steps += (changes.len() - before) as u64;
        Ok(changes.len() > before)
    }

    fn run_by_macrosteps(
        &mut self,
        stop: &StopRule,
        most: usize,
        made: &mut Vec<MacrostepId>,
    ) -> Result<bool, TrainError> {
        // Where running losses may end the run, every step is looked at.
        let Body::MultiHead(many) = &mut self.body else { return Ok(false) };
        if stop.loss_at_most > low_level(self.probe.layers()) {
            return Ok(false);
        }
        let (most_steps, before) = (stop.most_steps.saturating_sub(self.steps), made.len());
        let mut remaining = most_steps;
        let note = |macrostep| {
            made.push(macrostep);
            made.len() < most
        };
        many.run_by_macrosteps(&self.probe.layers().table, &mut self.probe, &mut remaining, note)?;
        self.steps += most_steps - remaining;
        #[cfg(feature = "faults")]
        self.flip_for_a_while();
        Ok(made.len() > before)
    }

    fn macrostep(&mut self, macrostep: MacrostepId) -> Result<MacrostepSteps, TrainError> {
        #[cfg(feature = "faults")]
        if luge_net::faults::planted("losses shifted by one") {
            return self.shifted(macrostep);
        }
        match &mut self.body {
            Body::MultiHead(many) => {
                many.macrostep(macrostep, &self.probe.layers().table, &mut self.probe, &mut self.carried)
            }
            _ => Ok(MacrostepSteps::default()),
        }
    }

    fn losses(&self) -> Option<LossRange> {
        let last = self.last.or(self.earlier.map(|range| range.last))?;
        let range = self.range().unwrap_or((last, last));
        let first = self.earlier.map_or(last, |earlier| earlier.first);
        let (low, high) = self.earlier.map_or(range, |e| (e.min.min(range.0), e.max.max(range.1)));
        Some(LossRange { first, min: low.min(last), max: high.max(last), last })
    }

    fn vertex(&self) -> Option<usize> {
        Some(self.at())
    }

    fn head(&self, track: usize) -> Option<i64> {
        match &self.body {
            Body::Waiting(sparse) => sparse.head(track),
            Body::MultiHead(many) => Some(many.tapes.head(track)),
        }
    }

    fn cell(&self, track: usize, cell: i64) -> f64 {
        match &self.body {
            Body::Waiting(sparse) => sparse.cell(track, cell),
            Body::MultiHead(many) if many.tapes.cell(track, cell) == 1 => 1.0,
            Body::MultiHead(_) => BLANK,
        }
    }

    fn stored_cells(&self, track: usize) -> Range<i64> {
        match &self.body {
            Body::Waiting(sparse) => sparse.stored_cells(track),
            Body::MultiHead(many) => {
                let (first, cells) = many.tapes.row(track);
                first..first + 8 * cells.len() as i64
            }
        }
    }

    fn packed_cells(&self, track: usize) -> Option<(i64, &[u8])> {
        match &self.body {
            Body::MultiHead(many) => Some(many.tapes.row(track)),
            _ => None,
        }
    }

    fn labels(&self) -> &[f64] {
        match &self.body {
            Body::Waiting(sparse) => sparse.labels(),
            _ => self.probe.labels(),
        }
    }

    fn snapshot(&self) -> Snapshot {
        let many = match &self.body {
            Body::Waiting(sparse) => return sparse.snapshot(),
            Body::MultiHead(many) => many,
        };
        let tape = |track: usize| {
            let (first, cells) = many.tapes.row(track);
            let cells = PackedCells::of_bytes(cells, 8 * cells.len());
            TapeSnapshot { first, cells, head_first: many.tapes.head(track), head: vec![1.0] }
        };
        let n_tracks = self.layers().table.n_tracks;
        Snapshot {
            step: self.steps,
            path: self.path(),
            vertices: vec![(self.at(), 1.0)],
            labels: self.labels().to_vec(),
            tapes: (0..n_tracks).map(tape).collect(),
        }
    }

    fn left_out(&self) -> (f64, f64) {
        // What one step can leave behind; see `MAX_GAIN_ERROR`.
        let most = self.gain_error / (1.0 - self.gain_error);
        (2.0 * most, most)
    }

    fn rounding(&self) -> f64 {
        // The weights are kept as the symbols they stand for.
        let (cells, heads) = self.left_out();
        cells.max(heads)
    }

    fn cell_bytes(&self) -> usize {
        match &self.body {
            Body::Waiting(sparse) => sparse.cell_bytes(),
            Body::MultiHead(many) => many.tapes.n_bytes(),
        }
    }
}

impl Exact<'_> {
    /// A step where the loss is low: at rest nothing changes.
    fn rest(&mut self) -> Result<(), TrainError> {
        let Body::MultiHead(many) = &mut self.body else { return Ok(()) };
        let (vertex, here) = (self.probe.layers().table.vertex(many.block, many.symbols), many.symbols);
        // Heads that stay will find what they have found.
        let probed = differentiate(&mut self.probe, vertex, here, here)?;
        let still = probed.to == vertex && probed.left | probed.right == 0;
        if !still || probed.written != here {
            let why = "the loss is low, but the step does not stay where it is".to_owned();
            return Err(TrainError::NotExact { why });
        }
        self.steps += 1;
        many.stay(&self.probe.layers().table);
        Ok(())
    }
}
