//! Goes over a run behind its front, and keeps the loss and the tapes over time.

use luge_train::{Snapshot, TrainError};

use super::{Curve, End, Film, Row, Runner, SpaceTime, Tapes};

/// Consecutive losses that are looked at in each bucket of the curve.
const BURST: u64 = 32;

/// The loss and the tapes over time, as far as the survey has come.
pub struct Survey<'n> {
    runner: Runner<'n>,
    curve: Curve,
    spacetime: SpaceTime,
    done: bool,
    /// The bucket whose every loss is to be looked at next.
    bucket: usize,
    between: Option<Snapshot>,
}

impl<'n> Survey<'n> {
    /// A survey that is still at the start.
    ///
    /// # Errors
    /// If no engine can run it.
    pub fn new(film: &Film<'n>) -> Result<Self, TrainError> {
        let steps = film.end().map_or(0, End::steps);
        let (curve, spacetime) = (Curve::for_run(steps), SpaceTime::for_run(steps));
        Ok(Self { runner: film.again()?, curve, spacetime, done: false, bucket: 0, between: None })
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

    /// Whether the curve holds every loss of the run.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.done && (self.curve.width() <= BURST || self.bucket >= self.curve.buckets().len())
    }

    /// Looks at every loss of a run that is over, bucket by bucket, while `go_on` says so. Whether all are seen.
    ///
    /// # Errors
    /// If a gradient cannot be had.
    pub fn complete_curve(
        &mut self,
        film: &Film<'n>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<bool, TrainError> {
        let Some(end) = film.end().map(End::steps).filter(|_| self.done) else { return Ok(false) };
        while !self.complete() {
            let from = self.bucket as u64 * self.curve.width();
            let to = (from + self.curve.width()).min(end);
            // An engine that has seen nothing else knows the lowest and the highest loss of what it has seen.
            let mut runner = match self.between.take() {
                Some(start) => Runner::from_snapshot(film.task(), &start)?,
                None => film.again()?,
            };
            if let Some(range) = runner.losses_until(to.saturating_sub(1))? {
                self.curve.include(self.bucket, range.min, range.max);
            }
            runner.run_to(to)?;
            self.between = Some(runner.look(film.task(), None)?);
            self.bucket += 1;
            if !go_on() {
                break;
            }
        }
        if self.complete() {
            self.curve.all_seen(end + 1);
        }
        Ok(self.complete())
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
                let row = Row::of(step, tapes, &self.runner.look(film.task(), None)?);
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
            self.spacetime.close(Row::of(step, tapes, &self.runner.look(film.task(), None)?));
            self.done = true;
        }
        Ok(true)
    }
}
