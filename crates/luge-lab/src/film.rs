//! A run one can move about in: any step is reached from a kept frame nearby, and what is kept has a bounded size.

mod curve;
mod frames;
mod profile;
mod pull;
mod runner;
mod spacetime;
mod survey;
mod tapes;

use std::time::{Duration, Instant};

use luge_net::{Network, Values};
use luge_train::{Outcome, Precision, Rate, Snapshot, StopRule, TrainError};

pub use curve::{Bucket, Curve};
pub use profile::{MOST_PROFILED, Profile};
pub use pull::StepGradient;
pub use runner::{Choice, Inside, Runner};
pub use spacetime::{MOST_ROWS, Part, Row, SpaceTime, Strip};
pub use survey::Survey;
pub use tapes::Tapes;

use frames::Frames;

/// Bytes of cells beyond which a run is not followed.
pub const MOST_CELL_BYTES: usize = 256 << 20;

/// Bytes that the kept frames may take.
pub const MOST_FRAME_BYTES: usize = 64 << 20;

/// Steps between two looks at the clock when every step is looked at.
const WATCHED: u64 = 256;

/// What is filmed: a network at its start.
#[derive(Clone, Debug)]
pub struct Task<'n> {
    /// The network.
    pub network: &'n Network,
    /// Its parameters before the first step.
    pub parameters: Vec<Values>,
    /// What it is fed.
    pub inputs: Vec<Values>,
    /// Which engine.
    pub choice: Choice,
    /// The arithmetic; anything but f64 needs the dense engine.
    pub precision: Precision,
    /// How far a Frank-Wolfe step goes.
    pub rate: Rate,
    /// When training is done.
    pub stop: StopRule,
    /// Where the tapes are, if the network has none of its own.
    pub inside: Option<Inside<'n>>,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum End {
    /// Training is done, or cannot go on.
    Trained(Outcome),
    /// The tapes have outgrown what is kept in memory.
    OutOfMemory {
        /// Gradient steps made.
        steps: u64,
    },
}

impl End {
    /// Gradient steps made.
    #[must_use]
    pub fn steps(self) -> u64 {
        match self {
            Self::Trained(outcome) => outcome.steps(),
            Self::OutOfMemory { steps } => steps,
        }
    }

    /// One word or two for it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Trained(Outcome::Converged { .. }) => "halted",
            Self::Trained(Outcome::StepLimit { .. } | Outcome::Interrupted { .. }) => "step limit",
            Self::Trained(Outcome::OutOfCells { .. }) => "out of cells",
            Self::Trained(Outcome::Diverged { .. }) => "diverged",
            Self::OutOfMemory { .. } => "out of memory",
        }
    }
}

/// A run, and where in it one looks.
pub struct Film<'n> {
    task: Task<'n>,
    frames: Frames,
    /// The engine that has come farthest.
    front: Runner<'n>,
    /// Another one, where one looks at an earlier step.
    behind: Option<Runner<'n>>,
    end: Option<End>,
    chunk: u64,
}

impl<'n> Film<'n> {
    /// The run before its first step.
    ///
    /// # Errors
    /// If no engine can run it.
    pub fn new(task: Task<'n>) -> Result<Self, TrainError> {
        let front = Runner::start(&task)?;
        let mut frames = Frames::new(front.pace());
        frames.add(0, front.frame()?);
        let chunk = front.pace().min(1 << 12);
        let mut film = Self { task, frames, front, behind: None, end: None, chunk };
        film.look_for_end()?;
        Ok(film)
    }

    /// The network and its start.
    #[must_use]
    pub fn task(&self) -> &Task<'n> {
        &self.task
    }

    /// The step one looks at.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.behind.as_ref().unwrap_or(&self.front).steps()
    }

    /// The last step that is known.
    #[must_use]
    pub fn front(&self) -> u64 {
        self.front.steps()
    }

    /// How the run ends, once that is known.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// The engine at the step one looks at.
    pub fn now(&mut self) -> &mut Runner<'n> {
        self.behind.as_mut().unwrap_or(&mut self.front)
    }

    /// Weights that are not zero at this step; with a radius, only cells that near to their heads.
    ///
    /// # Errors
    /// If the weights cannot be read.
    pub fn look(&self, radius: Option<usize>) -> Result<Snapshot, TrainError> {
        self.behind.as_ref().unwrap_or(&self.front).look(&self.task, radius)
    }

    /// All parameters at this step; `None` if a tape has outgrown the network's matrices.
    ///
    /// # Errors
    /// If the weights cannot be read.
    pub fn parameters(&self) -> Result<Option<Vec<Values>>, TrainError> {
        match self.behind.as_ref().unwrap_or(&self.front) {
            Runner::Dense(dense) => dense.parameters().map(Some),
            runner => {
                let snapshot = runner.look(&self.task, None)?;
                Ok(snapshot.parameters(self.task.network, &vec![0; snapshot.tapes.len()]))
            }
        }
    }

    /// Steps that take a few milliseconds at most.
    pub(crate) fn chunk(&self) -> u64 {
        self.chunk
    }

    /// Bytes held by kept frames.
    #[must_use]
    pub fn frame_bytes(&self) -> usize {
        self.frames.n_bytes()
    }

    /// Goes to a step, or to the end if that comes first, while `go_on` says so; it is asked every few milliseconds.
    /// Whether it got there.
    ///
    /// # Errors
    /// If a gradient cannot be had.
    pub fn seek(&mut self, step: u64, go_on: &mut dyn FnMut() -> bool) -> Result<bool, TrainError> {
        let step = self.end.map_or(step, |end| step.min(end.steps()));
        if step >= self.front.steps() {
            self.behind = None;
            return self.extend(step, go_on);
        }
        let here = self.behind.as_ref().map(Runner::steps);
        let kept = self.frames.before(step);
        let near = here.filter(|&here| here <= step && kept.is_none_or(|(at, _)| at <= here));
        if near.is_none() {
            let (_, frame) = kept.ok_or(TrainError::Shapes { what: "frames" })?;
            self.behind = Some(Runner::resume(&self.task, frame)?);
        }
        let stop = StopRule { most_steps: 0, ..self.task.stop };
        let Some(runner) = &mut self.behind else { return Ok(true) };
        while runner.steps() < step {
            let most_steps = (runner.steps() + self.chunk).min(step);
            runner.run(&StopRule { most_steps, ..stop })?;
            if runner.steps() < step && !go_on() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Goes on from here as fast as it goes, through what is known and beyond, while `go_on` says so.
    ///
    /// # Errors
    /// If a gradient cannot be had.
    pub fn roll(&mut self, go_on: &mut dyn FnMut() -> bool) -> Result<(), TrainError> {
        while let Some(runner) = &mut self.behind {
            let most_steps = (runner.steps() + self.chunk).min(self.front.steps());
            let (before, started) = (runner.steps(), Instant::now());
            runner.run_to(most_steps)?;
            let (now, took) = (runner.steps(), started.elapsed());
            self.adapt(now - before, took);
            if now == self.front.steps() {
                self.behind = None;
            }
            if !go_on() {
                return Ok(());
            }
        }
        self.extend(u64::MAX, go_on)?;
        Ok(())
    }

    /// Goes on one step at a time until `stop_here` says so or `step` is reached; asks `go_on` every so often.
    /// Whether `stop_here` did.
    ///
    /// # Errors
    /// If a gradient cannot be had.
    pub fn watch(
        &mut self,
        step: u64,
        stop_here: &mut dyn FnMut(&mut Runner<'n>) -> Result<bool, TrainError>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<bool, TrainError> {
        let mut since = 0;
        while self.step() < step && self.end.is_none_or(|end| self.step() < end.steps()) {
            let next = self.step() + 1;
            self.seek(next, &mut || true)?;
            if self.step() == next && stop_here(self.now())? {
                return Ok(true);
            }
            since += 1;
            if since == WATCHED {
                since = 0;
                if !go_on() {
                    break;
                }
            }
        }
        Ok(false)
    }

    /// Runs ahead for a while, and if the run ends there, moves the front to its end; one looks at the same step as before.
    /// Whether the end is known.
    ///
    /// # Errors
    /// If a gradient cannot be had.
    pub fn scout(&mut self, go_on: &mut dyn FnMut() -> bool) -> Result<bool, TrainError> {
        if self.end.is_some() {
            return Ok(true);
        }
        let mut scout = self.engine_at(self.front())?;
        while scout.over(&self.task.stop)?.is_none() {
            let most_steps = (scout.steps() + self.chunk).min(self.task.stop.most_steps);
            let (before, started) = (scout.steps(), Instant::now());
            scout.run(&StopRule { most_steps, ..self.task.stop })?;
            self.adapt(scout.steps() - before, started.elapsed());
            if !go_on() || scout.cell_bytes() > MOST_CELL_BYTES {
                return Ok(false);
            }
        }
        let here = self.step();
        self.extend(scout.steps(), &mut || true)?;
        self.seek(here, &mut || true)?;
        Ok(self.end.is_some())
    }

    /// Moves the front on.
    fn extend(&mut self, step: u64, go_on: &mut dyn FnMut() -> bool) -> Result<bool, TrainError> {
        let goal = step.min(self.task.stop.most_steps);
        while self.end.is_none() && self.front.steps() < goal {
            let most_steps = (self.front.steps() + self.chunk).min(self.frames.due()).min(goal);
            let (before, started) = (self.front.steps(), Instant::now());
            self.front.run(&StopRule { most_steps, ..self.task.stop })?;
            self.adapt(self.front.steps() - before, started.elapsed());
            if self.front.steps() == self.frames.due() {
                let frame = self.front.frame()?;
                self.frames.add(self.front.steps(), frame);
            }
            self.look_for_end()?;
            if self.front.steps() < goal && !go_on() {
                return Ok(false);
            }
        }
        Ok(self.front.steps() >= step || self.end.is_some())
    }

    /// Chunks are large enough that looking at the clock costs nothing, and small enough to be interrupted.
    fn adapt(&mut self, made: u64, took: Duration) {
        if took > Duration::from_millis(4) {
            self.chunk = (self.chunk / 2).max(1);
        } else if made == self.chunk && took < Duration::from_micros(500) {
            self.chunk = (self.chunk * 2).min(1 << 26);
        }
    }

    /// Notes whether the front has come to an end.
    fn look_for_end(&mut self) -> Result<(), TrainError> {
        let (steps, stop) = (self.front.steps(), &self.task.stop);
        if let Some(outcome) = self.front.over(stop)? {
            self.end = Some(End::Trained(outcome));
        } else if self.front.cell_bytes() > MOST_CELL_BYTES {
            self.end = Some(End::OutOfMemory { steps });
        }
        Ok(())
    }

    /// An engine at the start, for whoever goes over the run again.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn again(&self) -> Result<Runner<'n>, TrainError> {
        Runner::start(&self.task)
    }

    /// An engine at a step that is already known.
    ///
    /// # Errors
    /// If a gradient cannot be had.
    pub fn engine_at(&self, step: u64) -> Result<Runner<'n>, TrainError> {
        let step = step.min(self.front());
        let mut runner = match self.frames.before(step) {
            Some((_, frame)) => Runner::resume(&self.task, frame)?,
            None => Runner::start(&self.task)?,
        };
        runner.run_to(step)?;
        Ok(runner)
    }

    /// Rows of a part of the run, evenly spaced, of these cells of a tape; `None` if `go_on` broke it off.
    ///
    /// # Errors
    /// If a gradient cannot be had.
    pub fn strip(
        &self,
        tapes: &Tapes<'_>,
        part: &Part,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Strip>, TrainError> {
        let to = part.to.min(self.front());
        let from = part.from.min(to);
        let n_rows = part.n_rows.min(MOST_ROWS).min(usize::try_from(to - from).unwrap_or(usize::MAX) + 1);
        let mut runner = self.engine_at(from)?;
        let mut rows = Vec::with_capacity(n_rows);
        for row in 0..n_rows as u64 {
            let between = u128::from(to - from) * u128::from(row) / (n_rows as u128 - 1).max(1);
            let step = from + between as u64;
            while runner.steps() < step {
                runner.run_to(step.min(runner.steps() + self.chunk))?;
                if !go_on() {
                    return Ok(None);
                }
            }
            let snapshot = runner.look(&self.task, None)?;
            rows.push(Row::of_cells(step, tapes, &snapshot, part.tape, part.cells.clone()));
        }
        Ok(Some(Strip::of(&rows, 0, Some(part.cells.clone()))))
    }

    /// The gradient of this step, from the weights as they are.
    ///
    /// # Errors
    /// If a gradient cannot be had.
    pub fn pull(&mut self, radius: Option<usize>) -> Result<StepGradient, TrainError> {
        let task = &self.task;
        StepGradient::at(task, self.behind.as_mut().unwrap_or(&mut self.front), radius)
    }
}
