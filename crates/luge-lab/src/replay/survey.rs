//! Repeats a run in the background, and records the loss and the tapes over time.

use luge::{draw::loss_curve::LossCurve, run::engine::EngineError};
use luge_train::{Engine, Snapshot};

use super::{Replay, Row, SpaceTime, run_to};

/// Consecutive losses that are recorded in each column of the curve.
const BURST: u64 = 32;

/// The loss and the tapes over time, up to the survey's step.
pub struct Survey<'a> {
    engine: Box<dyn Engine + 'a>,
    /// The loss so far. In long runs, not that of every step.
    pub curve: LossCurve,
    /// The tapes so far.
    pub spacetime: SpaceTime,
    /// Whether the survey has reached the end of the run.
    pub done: bool,
    /// The next column of which every loss is to be recorded.
    column: usize,
    /// The weights at the beginning of that column.
    between: Option<Snapshot>,
}

impl<'a> Survey<'a> {
    /// A survey at the start.
    ///
    /// # Errors
    /// If no engine can run it.
    pub fn new(replay: &Replay<'a>) -> Result<Self, EngineError> {
        let steps = replay.end.map_or(0, |end| end.steps);
        let (curve, spacetime) = (LossCurve::for_run(steps), SpaceTime::for_run(steps));
        Ok(Self { engine: replay.again()?, curve, spacetime, done: false, column: 0, between: None })
    }

    /// The survey's step.
    pub fn steps(&self) -> u64 {
        self.engine.steps()
    }

    /// Whether the curve holds every loss of the run.
    pub fn complete(&self) -> bool {
        self.done && (self.curve.width() <= BURST || self.column >= self.curve.columns().len())
    }

    /// Records every loss of a run whose end was reached, column by column, while `go_on` returns true. Returns whether all are
    /// recorded.
    ///
    /// # Errors
    /// If a gradient cannot be computed.
    pub fn complete_curve(
        &mut self,
        replay: &Replay<'a>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<bool, EngineError> {
        let Some(end) = replay.end.map(|end| end.steps).filter(|_| self.done) else { return Ok(false) };
        while !self.complete() {
            let from = self.column as u64 * self.curve.width();
            let to = (from + self.curve.width()).min(end);
            // A new engine for each column, because an engine knows the lowest and the highest loss since it was opened.
            let mut engine = replay.engine_from(self.between.take().as_ref())?;
            run_to(&mut *engine, to.saturating_sub(1))?;
            if let Some(range) = engine.losses() {
                self.curve.include(from, range.min, range.max);
            }
            run_to(&mut *engine, to)?;
            self.between = Some(engine.snapshot());
            self.column += 1;
            if !go_on() {
                break;
            }
        }
        if self.complete() {
            self.curve.n_seen = end + 1;
        }
        Ok(self.complete())
    }

    /// Advances towards the last known step of the replay while `go_on` returns true. Returns whether it was reached.
    ///
    /// # Errors
    /// If a gradient cannot be computed.
    pub fn follow(
        &mut self,
        replay: &Replay<'a>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<bool, EngineError> {
        while self.engine.steps() < replay.front() {
            let step = self.engine.steps();
            if step == self.spacetime.due() {
                let row = self.row(replay);
                self.spacetime.add(row);
            }
            let width = self.curve.width();
            if step % width < BURST {
                self.curve.add(step, self.engine.loss()?);
                self.engine.step()?;
            } else {
                let column = (step / width + 1) * width;
                let next = column.min(self.spacetime.due()).min(replay.front()).min(step + replay.pace.0);
                run_to(&mut *self.engine, next)?;
            }
            if !go_on() {
                return Ok(false);
            }
        }
        if replay.end.map(|end| end.steps) == Some(self.engine.steps()) && !self.done {
            self.curve.add(self.engine.steps(), self.engine.loss()?);
            let row = self.row(replay);
            self.spacetime.close(row);
            self.done = true;
        }
        Ok(true)
    }

    /// The tapes at the survey's step.
    fn row(&self, replay: &Replay<'_>) -> Row {
        let scene = replay.scene;
        Row::of(self.engine.steps(), &scene.tapes, &scene.look(&*self.engine, None))
    }
}
