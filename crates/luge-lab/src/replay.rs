//! A run with random access: any step is reached from a stored frame nearby, and the stored frames have a bounded
//! size.

mod figure;
mod gradient;
mod look;
mod profile;
mod spacetime;
mod survey;
mod tapes;

use std::{ops::Range, time::Duration};

use luge::{
    files::checkpoint::Frame,
    run::{
        decimated::Decimated,
        engine::{Chosen, EngineChoice, EngineError},
        memory,
    },
};
use luge_net::Values;
use luge_train::{CacheLevel, Engine, Outcome, Snapshot, StopRule, TrainError};
use web_time::Instant;

use super::Scene;
pub use gradient::StepGradient;
pub use profile::{MAX_PROFILED, Profile};
pub use spacetime::{MAX_ROWS, Part, Row, SpaceTime, Strip};
pub use survey::Survey;
pub use tapes::Tapes;
pub(crate) use tapes::cell_weight;

/// The most bytes of cells, at one number per cell, as an engine needs to resume from a stored frame. Longer runs are not followed.
pub const MAX_CELL_BYTES: usize = 512 << 20;

/// The most bytes of all stored frames.
pub const MAX_FRAME_BYTES: usize = 64 << 20;

/// The most stored frames.
const MAX_FRAMES: usize = 256;

/// The most steps between two checks of the clock and of the length of the tapes.
const MAX_CHUNK: u64 = 1 << 22;

/// Steps between two checks of the clock when every step is checked for breakpoints.
const WATCHED: u64 = 256;

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct End {
    /// Gradient steps made.
    pub steps: u64,
    /// The end in one or two words.
    pub how: &'static str,
}

impl From<Outcome> for End {
    fn from(outcome: Outcome) -> Self {
        let how = match outcome {
            Outcome::Converged { .. } => HALTED,
            Outcome::StepLimit { .. } | Outcome::Interrupted { .. } => "step limit",
            Outcome::OutOfCells { .. } => "out of cells",
            Outcome::Diverged { .. } => "diverged",
        };
        Self { steps: outcome.steps(), how }
    }
}

/// The end of a run whose machine has halted.
pub(crate) const HALTED: &str = "halted";

/// A run, and the current step in it.
pub struct Replay<'a> {
    /// The network, its start, and what its parts mean.
    pub scene: &'a Scene<'a>,
    /// The engine that trains, and why that one.
    pub chosen: Chosen,
    /// Stored weights, at equal distances.
    frames: Decimated<Frame>,
    /// The engine at the last known step.
    front: Box<dyn Engine + 'a>,
    /// Another engine at the current step, if that is an earlier one.
    behind: Option<Box<dyn Engine + 'a>>,
    /// How the run ends, if that is known.
    pub end: Option<End>,
    pace: Pace,
}

/// How many steps take a few milliseconds at most.
#[derive(Clone, Copy)]
struct Pace(u64);

impl Pace {
    /// Makes as many steps as take a few milliseconds, but stops at `step`.
    fn run(&mut self, engine: &mut dyn Engine, stop: StopRule, step: u64) -> Result<(), TrainError> {
        let (before, started) = (engine.steps(), Instant::now());
        let most_steps = step.min(before + self.0).min(stop.most_steps);
        engine.run(&StopRule { most_steps, ..stop })?;
        // Large enough that reading the clock costs nothing, small enough to be interrupted soon.
        let took = started.elapsed();
        if took > Duration::from_millis(4) {
            self.0 = (self.0 / 2).max(1);
        } else if engine.steps() - before == self.0 && took < Duration::from_micros(500) {
            self.0 = (self.0 * 2).min(MAX_CHUNK);
        }
        Ok(())
    }

    /// Advances to a step before the end while `go_on` returns true; it is called between chunks. Returns whether the step was reached.
    fn advance(
        &mut self,
        engine: &mut dyn Engine,
        step: u64,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<bool, TrainError> {
        while engine.steps() < step {
            self.run(engine, ENDLESS, step)?;
            if engine.steps() < step && !go_on() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl<'a> Replay<'a> {
    /// The run before its first step.
    pub(super) fn new(scene: &'a Scene<'a>) -> Result<Self, EngineError> {
        let (front, chosen) = scene.task.open(CacheLevel::Macrosteps, None)?;
        // Steps that take no noticeable time.
        let pace = match chosen.engine {
            EngineChoice::Exact => 1 << 22,
            EngineChoice::Sparse => 1 << 14,
            EngineChoice::Dense | EngineChoice::Auto => 1 << 4,
        };
        let frames = Decimated::new(MAX_FRAMES, pace);
        let pace = Pace(pace.min(1 << 12));
        let mut replay = Self { scene, chosen, frames, front, behind: None, end: None, pace };
        replay.reached()?;
        Ok(replay)
    }

    /// The current step.
    pub fn step(&self) -> u64 {
        self.here().steps()
    }

    /// The last known step.
    pub fn front(&self) -> u64 {
        self.front.steps()
    }

    /// Whether the current step is the last of the run.
    pub fn is_over(&self) -> bool {
        self.end.is_some_and(|end| end.steps == self.step())
    }

    /// The engine at the current step.
    pub fn now(&mut self) -> &mut (dyn Engine + 'a) {
        &mut **self.behind.as_mut().unwrap_or(&mut self.front)
    }

    fn here(&self) -> &(dyn Engine + 'a) {
        &**self.behind.as_ref().unwrap_or(&self.front)
    }

    /// The nonzero weights at this step; with a radius, only cells that close to a head.
    pub fn look(&self, radius: Option<usize>) -> Snapshot {
        self.scene.look(self.here(), radius)
    }

    /// Which cells of a binary tape hold a 1 at this step.
    pub fn bits(&self, track: usize, cells: Range<i64>) -> Vec<bool> {
        let engine = self.here();
        if engine.network().sparse_layers().is_ok() {
            return cells.map(|cell| engine.cell(track, cell) > 0.0).collect();
        }
        let snapshot = self.look(None);
        let weight = |cell: i64| cell_weight(snapshot.tapes.get(track)?, cell);
        cells.map(|cell| weight(cell).is_some_and(|weight| weight > 0.0)).collect()
    }

    /// All parameters at this step; `None` if a tape has outgrown the network's matrices.
    pub fn parameters(&self) -> Option<Vec<Values>> {
        self.here().parameters()
    }

    /// Bytes of all stored frames.
    pub fn frame_bytes(&self) -> usize {
        self.frames.iter().map(Frame::n_bytes).sum()
    }

    /// Goes to a step, or to the end if that comes first, while `go_on` returns true; it is called every few milliseconds.
    /// Returns whether the step was reached.
    ///
    /// # Errors
    /// If a gradient cannot be computed.
    pub fn seek(&mut self, step: u64, go_on: &mut dyn FnMut() -> bool) -> Result<bool, EngineError> {
        let step = self.end.map_or(step, |end| step.min(end.steps));
        if step >= self.front.steps() {
            self.behind = None;
            return self.extend(step, go_on);
        }
        let kept = self.frames.before(step).map_or(0, |frame| frame.step);
        let engine = match self.behind.take() {
            Some(behind) if (kept..=step).contains(&behind.steps()) => behind,
            _ => self.engine_before(step)?,
        };
        let engine = self.behind.insert(engine);
        Ok(self.pace.advance(&mut **engine, step, go_on)?)
    }

    /// Plays from the current step at full speed while `go_on` returns true.
    ///
    /// # Errors
    /// If a gradient cannot be computed.
    pub fn play(&mut self, go_on: &mut dyn FnMut() -> bool) -> Result<(), EngineError> {
        while let Some(engine) = &mut self.behind {
            self.pace.run(&mut **engine, ENDLESS, self.front.steps())?;
            if engine.steps() == self.front.steps() {
                self.behind = None;
            }
            if !go_on() {
                return Ok(());
            }
        }
        self.extend(u64::MAX, go_on)?;
        Ok(())
    }

    /// Advances one step at a time until `stop_here` returns true, `step` is reached, or `go_on` returns false. Returns whether
    /// `stop_here` did.
    ///
    /// # Errors
    /// If a gradient cannot be computed.
    pub fn watch(
        &mut self,
        step: u64,
        stop_here: &mut dyn FnMut(&mut dyn Engine) -> Result<bool, EngineError>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<bool, EngineError> {
        let from = self.step();
        while self.step() < step && self.end.is_none_or(|end| self.step() < end.steps) {
            let next = self.step() + 1;
            self.seek(next, &mut || true)?;
            if self.step() == next && stop_here(self.now())? {
                return Ok(true);
            }
            if (next - from).is_multiple_of(WATCHED) && !go_on() {
                break;
            }
        }
        Ok(false)
    }

    /// Runs ahead while `go_on` returns true. If the run ends there, its end becomes known; the current step stays the same. Returns
    /// whether the end is known.
    ///
    /// # Errors
    /// If a gradient cannot be computed.
    pub fn find_end(&mut self, go_on: &mut dyn FnMut() -> bool) -> Result<bool, EngineError> {
        if self.end.is_some() {
            return Ok(true);
        }
        let stop = self.scene.task.stop;
        let mut find_end = self.engine_at(self.front())?;
        while stop.verdict(find_end.steps(), find_end.loss()?).is_none() {
            self.pace.run(&mut *find_end, stop, u64::MAX)?;
            if !go_on() || outgrown(&*find_end) {
                return Ok(false);
            }
        }
        let here = self.step();
        self.extend(find_end.steps(), &mut || true)?;
        self.seek(here, &mut || true)?;
        Ok(self.end.is_some())
    }

    /// Advances the last known step.
    fn extend(&mut self, step: u64, go_on: &mut dyn FnMut() -> bool) -> Result<bool, EngineError> {
        let stop = self.scene.task.stop;
        let goal = step.min(stop.most_steps);
        while self.end.is_none() && self.front.steps() < goal {
            let due = self.due().min(goal);
            self.pace.run(&mut *self.front, stop, due)?;
            self.reached()?;
            if self.front.steps() < goal && !go_on() {
                return Ok(false);
            }
        }
        Ok(self.front.steps() >= step || self.end.is_some())
    }

    /// The next step whose weights are stored. A run with noise can only be repeated from its start, so no others are.
    fn due(&self) -> u64 {
        match self.frames.due() {
            step if step > 0 && self.scene.task.manner.noise.is_some() => u64::MAX,
            step => step,
        }
    }

    /// Stores the weights of the last known step, if a frame is due, and notes whether the run has ended.
    fn reached(&mut self) -> Result<(), EngineError> {
        let steps = self.front.steps();
        if steps == self.due() {
            self.frames.keep(steps, Frame::new(&self.front.snapshot()));
            while self.frames.slots().len() > 1 && self.frame_bytes() > MAX_FRAME_BYTES {
                self.frames.widen();
            }
        }
        if let Some(outcome) = self.scene.task.stop.verdict(steps, self.front.loss()?) {
            self.end = Some(outcome.into());
        } else if outgrown(&*self.front) {
            self.end = Some(End { steps, how: "out of memory" });
        }
        Ok(())
    }

    /// An engine at the start, to repeat the run.
    ///
    /// # Errors
    /// If no engine can run it.
    pub fn again(&self) -> Result<Box<dyn Engine + 'a>, EngineError> {
        self.engine_from(None)
    }

    /// An engine at a snapshot of the run, or at its start.
    fn engine_from(&self, from: Option<&Snapshot>) -> Result<Box<dyn Engine + 'a>, EngineError> {
        let from = from.map(|snapshot| (snapshot, None));
        Ok(self.scene.task.open(CacheLevel::Macrosteps, from)?.0)
    }

    /// An engine at the last frame at or before a step.
    fn engine_before(&self, step: u64) -> Result<Box<dyn Engine + 'a>, EngineError> {
        let snapshot = self.frames.before(step).and_then(Frame::snapshot);
        self.engine_from(Some(&snapshot.ok_or(TrainError::Shapes { what: "frames" })?))
    }

    /// An engine at a known step.
    ///
    /// # Errors
    /// If a gradient cannot be computed.
    pub fn engine_at(&self, step: u64) -> Result<Box<dyn Engine + 'a>, EngineError> {
        let step = step.min(self.front());
        let mut engine = self.engine_before(step)?;
        run_to(&mut *engine, step)?;
        Ok(engine)
    }

    /// A picture of part of the run, with evenly spaced rows; `None` if `go_on` returned false.
    ///
    /// # Errors
    /// If a gradient cannot be computed.
    pub fn strip(&self, part: &Part, go_on: &mut dyn FnMut() -> bool) -> Result<Option<Strip>, EngineError> {
        let to = part.to.min(self.front());
        let from = part.from.min(to);
        let n_rows = usize::try_from(to - from).map_or(MAX_ROWS, |steps| MAX_ROWS.min(steps + 1));
        let (mut engine, mut pace) = (self.engine_at(from)?, self.pace);
        let mut rows = Vec::with_capacity(n_rows);
        for step in evenly_spaced(to - from, n_rows).map(|step| from + step) {
            if !pace.advance(&mut *engine, step, go_on)? || !go_on() {
                return Ok(None);
            }
            let snapshot = self.scene.look(&*engine, None);
            rows.push(Row::of_part(step, &self.scene.tapes, &snapshot, part));
        }
        Ok(Some(Strip::of(&rows, 0, Some(part.cells.clone()))))
    }

    /// The gradient at the current step.
    ///
    /// # Errors
    /// If it cannot be computed.
    pub fn gradient(&mut self, radius: Option<usize>) -> Result<StepGradient, EngineError> {
        let (before, task) = (self.look(radius), &self.scene.task);
        StepGradient::at(task, self.now(), &before)
    }
}

/// `n` steps from 0 to `last`.
pub(crate) fn evenly_spaced(last: u64, n: usize) -> impl Iterator<Item = u64> {
    let share = move |i: usize| u128::from(last) * i as u128 / (n as u128 - 1).max(1);
    (0..n).map(move |i| share(i) as u64)
}

/// The stop rule for steps before the end of the run.
const ENDLESS: StopRule = StopRule { loss_at_most: f64::NEG_INFINITY, not_before: 0, most_steps: u64::MAX };

/// Advances to a step before the end.
fn run_to(engine: &mut dyn Engine, step: u64) -> Result<(), TrainError> {
    engine.run(&StopRule { most_steps: step, ..ENDLESS }).map(|_| ())
}

/// Whether the tapes have become too long to resume from a frame.
fn outgrown(engine: &dyn Engine) -> bool {
    let numbers = match engine.name() {
        "exact" => engine.cell_bytes().saturating_mul(size_of::<f64>()),
        _ => engine.cell_bytes(),
    };
    // Two engines, and the frame that one of them resumes from.
    numbers > MAX_CELL_BYTES || memory::check_budget("the tapes of a run", 3 * numbers as u64).is_err()
}
