//! Goes over a run behind its front, and keeps the loss and the tapes over time.

use luge_train::TrainError;

use super::{Curve, End, Film, Row, Runner, SpaceTime, Tapes};

/// Consecutive losses that are looked at in each bucket of the curve.
const BURST: u64 = 32;

/// The loss and the tapes over time, as far as the survey has come.
pub struct Survey<'n> {
    runner: Runner<'n>,
    curve: Curve,
    spacetime: SpaceTime,
    done: bool,
}

impl<'n> Survey<'n> {
    /// A survey that is still at the start.
    ///
    /// # Errors
    /// If no engine can run it.
    pub fn new(film: &Film<'n>) -> Result<Self, TrainError> {
        let (curve, spacetime) = (Curve::default(), SpaceTime::default());
        Ok(Self { runner: film.again()?, curve, spacetime, done: false })
    }

    /// The loss so far. In long runs not every step is looked at.
    #[must_use]
    pub fn curve(&self) -> &Curve {
        &self.curve
    }

    /// The tapes so far.
    #[must_use]
    pub fn spacetime(&self) -> &SpaceTime {
        &self.spacetime
    }

    /// How far it has come.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.runner.steps()
    }

    /// Whether the run is over and all of it seen.
    #[must_use]
    pub fn done(&self) -> bool {
        self.done
    }

    /// Goes on towards the film's front while `go_on` says so. Whether it has caught up.
    ///
    /// # Errors
    /// If a gradient cannot be had.
    pub fn follow(
        &mut self,
        film: &Film<'n>,
        tapes: &Tapes<'_>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<bool, TrainError> {
        while self.runner.steps() < film.front() {
            let step = self.runner.steps();
            if step == self.spacetime.due() {
                let row = Row::of(step, tapes, &self.runner.look(film.reel(), None)?);
                self.spacetime.add(row);
            }
            let width = self.curve.width();
            if step % width < BURST {
                self.curve.add(step, self.runner.loss()?);
                self.runner.step()?;
            } else {
                let bucket = (step / width + 1) * width;
                let next = bucket.min(self.spacetime.due()).min(film.front()).min(step + film.chunk());
                self.runner.run_to(next)?;
            }
            if !go_on() {
                return Ok(false);
            }
        }
        if film.end().map(End::steps) == Some(self.runner.steps()) && !self.done {
            let step = self.runner.steps();
            self.curve.add(step, self.runner.loss()?);
            self.spacetime.close(Row::of(step, tapes, &self.runner.look(film.reel(), None)?));
            self.done = true;
        }
        Ok(true)
    }
}
