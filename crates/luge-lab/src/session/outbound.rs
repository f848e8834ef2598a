//! What is sent to a tab, and when.

use std::time::Duration;

use luge::run::engine::EngineError;
use luge_machine::TapeId;
use serde_json::Value;
use web_time::Instant;

use super::{FRAME, Going, Page, Run};
use crate::{
    command::ServerMessage,
    replay::{MAX_ROWS, Part},
    views,
};

/// Between two pictures of the whole run.
const SURVEY: Duration = Duration::from_millis(250);
/// Between two maps of what the network says.
const MAP: Duration = Duration::from_millis(120);
/// How long a page may take to draw before it is told more all the same.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long part of a picture may take.
const ZOOM: Duration = Duration::from_secs(5);
/// Up to this many steps per second, everything is drawn at every step.
const SLOW: f64 = 8.0;

/// What the page has been told.
pub(super) struct Shown {
    /// Step and front of the last moment.
    pub(super) moment: Option<(u64, u64)>,
    pub(super) at: Instant,
    pub(super) drawn: bool,
    pub(super) around: Option<u64>,
    /// How far the survey was, and how many losses it had seen.
    pub(super) overview: Option<(u64, u64)>,
    pub(super) overview_at: Instant,
    pub(super) again: bool,
    pub(super) profile: bool,
    pub(super) proof: bool,
    /// What the network says in the last map.
    pub(super) boundary: Option<Value>,
    pub(super) boundary_at: Instant,
    /// For the speed: where the run was when.
    pub(super) speed_from: (u64, Instant),
    pub(super) per_second: f64,
}

impl Shown {
    pub(super) fn new(proof: bool) -> Self {
        let now = Instant::now();
        let long_ago = now.checked_sub(PATIENCE).unwrap_or(now);
        Self {
            moment: None,
            at: long_ago,
            drawn: true,
            around: None,
            overview: None,
            overview_at: long_ago,
            again: true,
            profile: false,
            proof,
            boundary: None,
            boundary_at: long_ago,
            speed_from: (0, now),
            per_second: 0.0,
        }
    }
}

impl Run<'_> {
    /// Whether something is still to be shown.
    pub(super) fn stale(&self) -> bool {
        self.shown.again
            || self.shown.moment != Some(self.reached())
            || self.shown.overview != Some(self.surveyed())
            || (!self.shown.profile && self.profile.as_ref().is_some_and(|profile| profile.done))
    }

    /// The step one looks at, and the last one that is known.
    pub(super) fn reached(&self) -> (u64, u64) {
        (self.replay.step(), self.replay.front())
    }

    fn surveyed(&self) -> (u64, u64) {
        (self.survey.steps(), self.survey.curve.n_seen)
    }

    pub(super) fn draw_zoom(&mut self, page: &mut Page<'_>) -> Result<(), EngineError> {
        let Some(((from, to), (first, last))) = self.zoom else { return Ok(()) };
        let part = Part {
            tape: TapeId::new(self.tape),
            from,
            to: to.max(from),
            cells: first..last.clamp(first, first.saturating_add(1 << 24)) + 1,
            n_rows: MAX_ROWS,
        };
        let started = Instant::now();
        page.tell(&match self.replay.strip(&part, &mut || started.elapsed() < ZOOM)? {
            Some(strip) => ServerMessage::Picture { picture: views::picture(&strip, self.tape, true) },
            None => ServerMessage::failed("this part of the picture takes too long: choose fewer steps"),
        });
        Ok(())
    }

    /// Tells the page what is new, as often as it can draw.
    pub(super) fn show(&mut self, page: &mut Page<'_>) -> Result<(), EngineError> {
        let since = self.shown.at.elapsed();
        if since < FRAME || !(self.shown.drawn || since > PATIENCE) {
            return Ok(());
        }
        let (step, front) = self.reached();
        if self.shown.again || self.shown.moment != Some((step, front)) {
            self.measure(front);
            let moment = views::moment(&mut self.replay, self.radius)?;
            let playing = matches!(self.going, Going::On { .. });
            let busy = matches!(self.going, Going::To(_));
            let (per_second, hit) = (self.shown.per_second, self.hit);
            self.shown.moment = Some((step, front));
            // The next moment is due a frame after this one was, unless that has long been missed.
            let due = self.shown.at + FRAME;
            let at = if due.elapsed() > FRAME { Instant::now() } else { due };
            (self.shown.again, self.shown.at, self.shown.drawn) = (false, at, false);
            page.tell(&ServerMessage::Moment { moment, playing, busy, per_second, hit });
        }
        let slow = match self.going {
            Going::Nowhere => true,
            Going::On { speed: Some(speed), .. } => speed <= SLOW,
            _ => false,
        };
        if slow && self.shown.around != Some(step) {
            self.show_surroundings(page)?;
        } else if !slow {
            self.show_boundary(page);
        }
        self.show_proof(page);
        if let Some(profile) = self.profile.as_ref().filter(|profile| profile.done && !self.shown.profile) {
            self.shown.profile = true;
            page.tell(&ServerMessage::Profile {
                profile: views::line_profile(self.replay.scene, &profile.visits),
            });
        }
        self.show_overview(page);
        Ok(())
    }

    /// What takes too long to be drawn at every step of a fast run.
    fn show_surroundings(&mut self, page: &mut Page<'_>) -> Result<(), EngineError> {
        self.shown.around = Some(self.replay.step());
        page.tell(&ServerMessage::Around { around: views::around(&mut self.replay)? });
        page.tell(&ServerMessage::Nearby { nearby: views::nearby(&self.replay)? });
        if self.surface && self.going == Going::Nowhere {
            page.tell(&ServerMessage::Surface { surface: views::surface(&mut self.replay)? });
        }
        self.shown.boundary = None;
        self.show_boundary(page);
        Ok(())
    }

    /// The map of what the network says, when the weights on the tape have changed, a few times a second.
    fn show_boundary(&mut self, page: &mut Page<'_>) {
        if self.shown.boundary_at.elapsed() < MAP && self.shown.boundary.is_some() {
            return;
        }
        self.shown.boundary_at = Instant::now();
        let Some(boundary) = views::boundary(&self.replay, self.features) else { return };
        if self.shown.boundary.as_ref() != Some(&boundary["now"]) {
            self.shown.boundary = Some(boundary["now"].clone());
            page.tell(&ServerMessage::Boundary { boundary });
        }
    }

    /// What came out of the run, once that is proved; nothing if the thread that proves it has ended without an answer.
    fn show_proof(&mut self, page: &mut Page<'_>) {
        if let Some(mut prover) = self.prover.take_if(|prover| prover.is_done()) {
            self.shown.proof = true;
            let proof = prover.thread.take().and_then(|thread| thread.join().ok()).flatten();
            page.tell(&ServerMessage::Proof { proof: proof.map(Box::new) });
        }
    }

    fn show_overview(&mut self, page: &mut Page<'_>) {
        let due = self.shown.overview_at.elapsed() >= SURVEY || self.survey.complete();
        if self.shown.overview == Some(self.surveyed()) || !due {
            return;
        }
        (self.shown.overview, self.shown.overview_at) = (Some(self.surveyed()), Instant::now());
        page.tell(&ServerMessage::Overview { overview: views::overview(&self.survey) });
        if self.zoom.is_none() {
            let strip = self.survey.spacetime.strip(TapeId::new(self.tape));
            page.tell(&ServerMessage::Picture { picture: views::picture(&strip, self.tape, false) });
        }
    }

    /// Steps per second, over the last quarter of a second or more.
    fn measure(&mut self, front: u64) {
        let (from, since) = self.shown.speed_from;
        let seconds = since.elapsed().as_secs_f64();
        if seconds > 0.25 {
            self.shown.per_second = front.saturating_sub(from) as f64 / seconds;
            self.shown.speed_from = (front, Instant::now());
        }
    }
}
