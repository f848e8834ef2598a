//! Decides what is sent to a tab, and when.

use luge_machine::TapeId;

use super::*;
use crate::replay::Part;

/// The least time between two pictures of the whole run.
const SURVEY: Duration = Duration::from_millis(250);
/// The least time between two maps of the network's output.
const MAP: Duration = Duration::from_millis(120);
/// How long a page may take to draw before it is sent more anyway.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a part of a picture may take.
const ZOOM: Duration = Duration::from_secs(5);
/// Up to this many steps per second, all views are sent at every step.
const SLOW: f64 = 8.0;

/// What the page has been sent.
#[derive(Default)]
pub(super) struct Shown {
    /// Step and front of the last moment, and when it was due.
    pub(super) moment: Option<(u64, u64)>,
    pub(super) at: Option<Instant>,
    /// Whether the page is still busy drawing it.
    pub(super) drawing: bool,
    /// Whether the moment is to be sent again although the run has not moved.
    pub(super) again: bool,
    pub(super) around: Option<u64>,
    /// The survey's step and its number of losses when the overview was sent, and the time.
    pub(super) overview: Option<(u64, u64)>,
    pub(super) overview_at: Option<Instant>,
    pub(super) profile: bool,
    pub(super) proof: bool,
    /// The network's output in the last map, and when it was looked at.
    pub(super) boundary: Option<Value>,
    pub(super) boundary_at: Option<Instant>,
    /// For the speed: where the run was when.
    pub(super) speed_from: Option<(u64, Instant)>,
    pub(super) per_second: f64,
}

/// Whether something was sent so recently that the next can wait.
fn within(sent: Option<Instant>, interval: Duration) -> bool {
    sent.is_some_and(|sent| sent.elapsed() < interval)
}

impl Run<'_> {
    /// Whether something is still to be sent.
    pub(super) fn stale(&self) -> bool {
        self.shown.again
            || self.shown.moment != Some(self.reached())
            || self.shown.overview != Some(self.surveyed())
            || (!self.shown.profile && self.profile.as_ref().is_some_and(|profile| profile.done))
    }

    /// The current step, and the last known one.
    pub(super) fn reached(&self) -> (u64, u64) {
        (self.replay.step(), self.replay.front())
    }

    fn surveyed(&self) -> (u64, u64) {
        (self.survey.steps(), self.survey.curve.n_seen)
    }

    pub(super) fn draw_zoom(&mut self, page: &mut Page<'_>) -> Result<(), EngineError> {
        let Some(((from, to), (first, last))) = self.zoom else { return Ok(()) };
        let part = Part {
            tape: TapeId::new(self.look.tape),
            from,
            to: to.max(from),
            cells: first..last.clamp(first, first.saturating_add(1 << 24)) + 1,
        };
        let started = Instant::now();
        page.send(match self.replay.strip(&part, &mut || started.elapsed() < ZOOM)? {
            Some(strip) => command::view("picture", views::picture(&strip, self.look.tape, true)),
            None => command::failed("this part of the picture takes too long: choose fewer steps"),
        });
        Ok(())
    }

    /// Sends what is new, as often as the page can draw.
    pub(super) fn show(&mut self, page: &mut Page<'_>) -> Result<(), EngineError> {
        if within(self.shown.at, if self.shown.drawing { PATIENCE } else { FRAME }) {
            return Ok(());
        }
        let (step, front) = self.reached();
        if self.shown.again || self.shown.moment != Some((step, front)) {
            self.measure(front);
            let moment = json!({
                "kind": "moment",
                "moment": views::moment(&mut self.replay, self.look.radius)?,
                "playing": matches!(self.motion, Motion::Playing { .. }),
                "busy": matches!(self.motion, Motion::To(_)),
                "per_second": self.shown.per_second,
                "hit": self.hit,
            });
            self.shown.moment = Some((step, front));
            // The next moment is due one frame after this one was due, unless that time is past.
            let due = self.shown.at.map(|at| at + FRAME).filter(|due| due.elapsed() <= FRAME);
            self.shown.at = Some(due.unwrap_or_else(Instant::now));
            (self.shown.again, self.shown.drawing) = (false, true);
            page.send(moment);
        }
        let slow = match self.motion {
            Motion::Stopped => true,
            Motion::Playing { speed: Some(speed), .. } => speed <= SLOW,
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
            page.send(command::view("profile", views::line_profile(self.replay.scene, &profile.visits)));
        }
        self.show_overview(page);
        Ok(())
    }

    /// Sends the views that take too long for every step of a fast run.
    fn show_surroundings(&mut self, page: &mut Page<'_>) -> Result<(), EngineError> {
        self.shown.around = Some(self.replay.step());
        page.send(command::view("around", views::around(&mut self.replay)?));
        page.send(command::view("nearby", views::nearby(&self.replay)?));
        if self.look.surface && self.motion == Motion::Stopped {
            page.send(command::view("surface", views::surface(&mut self.replay)?));
        }
        self.shown.boundary = None;
        self.show_boundary(page);
        Ok(())
    }

    /// Sends the map of the network's output if the weights on the tape have changed, a few times a second.
    fn show_boundary(&mut self, page: &mut Page<'_>) {
        if within(self.shown.boundary_at, MAP) && self.shown.boundary.is_some() {
            return;
        }
        self.shown.boundary_at = Some(Instant::now());
        let Some(boundary) = views::boundary(&self.replay, self.look.features) else { return };
        if self.shown.boundary.as_ref() != Some(&boundary["now"]) {
            self.shown.boundary = Some(boundary["now"].clone());
            page.send(command::view("boundary", boundary));
        }
    }

    /// Sends the proof once its thread has ended.
    fn show_proof(&mut self, page: &mut Page<'_>) {
        if let Some(mut prover) = self.prover.take_if(|prover| prover.is_done()) {
            self.shown.proof = true;
            let proof = prover.thread.take().and_then(|thread| thread.join().ok()).flatten();
            page.send(command::view("proof", proof));
        }
    }

    fn show_overview(&mut self, page: &mut Page<'_>) {
        let early = within(self.shown.overview_at, SURVEY) && !self.survey.complete();
        if early || self.shown.overview == Some(self.surveyed()) {
            return;
        }
        (self.shown.overview, self.shown.overview_at) = (Some(self.surveyed()), Some(Instant::now()));
        page.send(command::view("overview", views::overview(&self.survey)));
        if self.zoom.is_none() {
            let strip = self.survey.spacetime.strip(TapeId::new(self.look.tape));
            page.send(command::view("picture", views::picture(&strip, self.look.tape, false)));
        }
    }

    /// Measures the steps per second, over a quarter of a second or more.
    fn measure(&mut self, front: u64) {
        let (from, since) = *self.shown.speed_from.get_or_insert_with(|| (0, Instant::now()));
        let seconds = since.elapsed().as_secs_f64();
        if seconds > 0.25 {
            self.shown.per_second = front.saturating_sub(from) as f64 / seconds;
            self.shown.speed_from = Some((front, Instant::now()));
        }
    }
}
