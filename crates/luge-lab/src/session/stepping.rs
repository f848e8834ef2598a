//! How a tab's run advances between two frames.

use luge_machine::StateId;
use luge_train::Engine;

use super::*;
use crate::replay::MAX_PROFILED;

impl Run<'_> {
    /// How long to wait for commands until the next turn.
    pub(super) fn idle_for(&self) -> Duration {
        let surveyed = self.survey.steps() == self.replay.front()
            && (self.survey.complete() || self.replay.end.is_none());
        if !surveyed || (self.motion == Motion::Stopped && self.to_profile()) {
            return Duration::ZERO;
        }
        match self.motion {
            Motion::To(_) | Motion::Playing { speed: None, .. } => Duration::ZERO,
            Motion::Playing { speed: Some(speed), since, from } => {
                let next = (self.replay.step() + 1 - from) as f64 / speed;
                let left = next - since.elapsed().as_secs_f64();
                let step = Duration::from_secs_f64(left.clamp(0.0, 0.1));
                // A page that has finished drawing is sent what it has missed at once, not only with the next step.
                let missed = !self.shown.drawing && self.shown.moment != Some(self.reached());
                if missed { step.min(self.until_next_frame()) } else { step }
            }
            Motion::Stopped if self.stale() => Duration::from_millis(2),
            Motion::Stopped if !self.shown.proof => Duration::from_millis(50),
            Motion::Stopped => Duration::from_secs(3600),
        }
    }

    /// How long it is until the next moment is due.
    fn until_next_frame(&self) -> Duration {
        self.shown.at.map_or(Duration::ZERO, |at| FRAME.saturating_sub(at.elapsed()))
    }

    /// Whether the steps of each line are still to be counted.
    fn to_profile(&self) -> bool {
        match &self.profile {
            Some(profile) => !profile.done,
            None => {
                let over = self.replay.end.is_some_and(|end| end.steps <= MAX_PROFILED);
                over && self.replay.scene.prepared.lines.iter().any(Option::is_some)
            }
        }
    }

    /// Counts the steps of each line while `go_on` returns true.
    fn count_lines(&mut self, go_on: &mut dyn FnMut() -> bool) -> Result<(), EngineError> {
        if self.profile.is_none() {
            self.profile = Profile::new(&self.replay)?;
        }
        self.profile.as_mut().map_or(Ok(()), |profile| profile.follow(&self.replay, go_on))
    }

    /// Advances the run until the next frame is due; the last twentieth of the time is for the survey.
    pub(super) fn work(&mut self) -> Result<(), EngineError> {
        let (started, busy) = (Instant::now(), self.motion != Motion::Stopped);
        let left = self.until_next_frame().max(FRAME / 4);
        let share = left - FRAME / 20;
        let mut go_on = || started.elapsed() < share;
        let goal = match self.motion {
            Motion::Stopped => None,
            Motion::To(step) => Some(step),
            Motion::Playing { speed: None, .. } => Some(u64::MAX),
            Motion::Playing { speed: Some(speed), since, from } => {
                Some(from.saturating_add((since.elapsed().as_secs_f64() * speed) as u64))
            }
        };
        if let Some(goal) = goal.filter(|&goal| goal != self.replay.step()) {
            let playing = matches!(self.motion, Motion::Playing { .. });
            if playing && self.breakpoints != Breakpoints::default() {
                self.watch(goal, &mut go_on)?;
            } else if playing && goal == u64::MAX {
                self.replay.play(&mut go_on)?;
            } else {
                self.replay.seek(goal, &mut go_on)?;
            }
        }
        let ended = self.replay.is_over();
        match self.motion {
            Motion::To(step) if self.replay.step() == step || ended => self.motion = Motion::Stopped,
            Motion::Playing { .. } if ended => self.motion = Motion::Stopped,
            Motion::Playing { speed: Some(speed), .. }
                if goal.is_some_and(|goal| goal > self.replay.step()) =>
            {
                // It cannot keep up with the requested speed, and does not catch up later.
                self.motion =
                    Motion::Playing { speed: Some(speed), since: Instant::now(), from: self.replay.step() };
            }
            _ => {}
        }
        let share = if busy { left } else { FRAME };
        let mut go_on = || started.elapsed() < share;
        if self.survey.follow(&self.replay, &mut go_on)? && !self.survey.complete() {
            self.survey.complete_curve(&self.replay, &mut go_on)?;
        }
        if self.survey.complete() && !busy && self.to_profile() {
            self.count_lines(&mut go_on)?;
        }
        Ok(())
    }

    /// Plays until a breakpoint.
    fn watch(&mut self, goal: u64, go_on: &mut dyn FnMut() -> bool) -> Result<(), EngineError> {
        let Breakpoints { states, lines, loss: level } = &self.breakpoints;
        let scene = self.replay.scene;
        let mut hit = None;
        let mut above = match level {
            Some(level) => self.replay.now().loss()? > *level,
            None => false,
        };
        let mut here = |engine: &mut dyn Engine| {
            let state = engine.vertex().and_then(|vertex| scene.state_at(vertex)).map(StateId::index);
            let in_line = |state: usize| scene.line(state).is_some_and(|line| lines.contains(&line));
            if state.is_some_and(|state| states.contains(&state) || in_line(state)) {
                hit = Some("state");
            }
            if let Some(level) = level {
                let was_above = std::mem::replace(&mut above, engine.loss()? > *level);
                if was_above && !above {
                    hit = Some("loss");
                }
            }
            Ok(hit.is_some())
        };
        if self.replay.watch(goal, &mut here, go_on)? {
            self.hit = hit;
            self.motion = Motion::Stopped;
            self.shown.again = true;
        }
        Ok(())
    }
}
