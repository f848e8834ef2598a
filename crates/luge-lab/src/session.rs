//! One tab: its commands come in, its run goes on in a thread of its own, and what it shows goes out.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, TryRecvError},
    },
    time::{Duration, Instant},
};

use luge::{engine::EngineError, job::Job};
use luge_machine::{StateId, TapeId};
use luge_train::Engine;

use super::{
    Around, Boundary, Command, LineProfile, Moment, Opening, Overview, PictureView, Refusal, RunError, Scene,
    Stage, command::ServerMessage,
};
use crate::film::{Film, MOST_PROFILED, MOST_ROWS, Part, Profile, Survey};

/// Runs that may be open at a time, over all tabs.
pub const MOST_RUNS: usize = 32;

/// Between two moments on the screen.
const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);
/// Between two pictures of the whole run.
const SURVEY: Duration = Duration::from_millis(250);
/// How long a page may take to draw before it is told more all the same.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long part of a picture may take.
const ZOOM: Duration = Duration::from_secs(5);
/// Cells on each side of a head.
const MOST_RADIUS: usize = 200;
/// How long a run is looked for its end before anybody asks.
const SCOUT: Duration = Duration::from_secs(1);
/// Up to this many steps per second, everything is drawn at every step.
const SLOW: f64 = 8.0;

/// Takes what is said to the page; `false` once nobody listens.
pub trait Client {
    /// Says something.
    fn tell(&mut self, text: String) -> bool;
}

impl<F: FnMut(String) -> bool> Client for F {
    fn tell(&mut self, text: String) -> bool {
        self(text)
    }
}

/// Why a run is left.
enum Left {
    Gone,
    Opens(Box<Job>, u64),
}

/// Counts an open run while it lives.
struct Permit(Arc<AtomicUsize>);

impl Permit {
    fn new(runs: &Arc<AtomicUsize>) -> Option<Self> {
        let more = |n: usize| (n < MOST_RUNS).then_some(n + 1);
        runs.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).ok()?;
        Some(Self(Arc::clone(runs)))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Serves one tab until its commands end. `runs` counts the runs that are open in all.
pub fn attend(commands: &Receiver<Command>, ear: &mut dyn Client, runs: &Arc<AtomicUsize>) {
    let mut opens: Option<(Box<Job>, u64)> = None;
    loop {
        let (job, step) = match opens.take() {
            Some(opens) => opens,
            None => match commands.recv() {
                Ok(Command::Open { job, step }) => (job, step),
                Ok(_) => continue,
                Err(_) => return,
            },
        };
        let Some(_permit) = Permit::new(runs) else {
            let message = format!("{MOST_RUNS} runs are open already: close a tab");
            if !ear.tell(ServerMessage::Refused { refusal: Refusal::new("options", message) }.text()) {
                return;
            }
            continue;
        };
        match show(&job, step, commands, ear) {
            Ok(Left::Gone) => return,
            Ok(Left::Opens(job, step)) => opens = Some((job, step)),
            Err(error) => {
                if !ear.tell(ServerMessage::Refused { refusal: Refusal::from(&error) }.text()) {
                    return;
                }
            }
        }
    }
}

/// Shows one run until it is left.
fn show(job: &Job, step: u64, commands: &Receiver<Command>, ear: &mut dyn Client) -> Result<Left, RunError> {
    let stage = Stage::open(job)?;
    let scene = stage.scene()?;
    Ok(Run::new(&scene, step)?.attend(commands, ear)?)
}

/// Where the run is going.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Going {
    Nowhere,
    /// To a step, as fast as it goes.
    To(u64),
    /// On and on.
    On {
        speed: Option<f64>,
        since: Instant,
        from: u64,
    },
}

struct Run<'s, 'n> {
    scene: &'s Scene<'n>,
    film: Film<'n>,
    survey: Survey<'n>,
    profile: Option<Profile<'n>>,
    going: Going,
    radius: usize,
    tape: usize,
    zoom: Option<((u64, u64), (i64, i64))>,
    states: Vec<bool>,
    loss: Option<f64>,
    hit: Option<&'static str>,
    shown: Shown,
}

/// What the page has been told.
struct Shown {
    /// Step and front of the last moment.
    moment: Option<(u64, u64)>,
    at: Instant,
    drawn: bool,
    around: Option<u64>,
    /// How far the survey was, and how many losses it had seen.
    overview: Option<(u64, u64)>,
    overview_at: Instant,
    again: bool,
    profile: bool,
    /// For the speed: where the run was when.
    speed_from: (u64, Instant),
    per_second: f64,
}

impl Shown {
    fn new() -> Self {
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
            speed_from: (0, now),
            per_second: 0.0,
        }
    }
}

impl<'s, 'n> Run<'s, 'n> {
    fn new(scene: &'s Scene<'n>, step: u64) -> Result<Self, EngineError> {
        let film = scene.film()?;
        let survey = Survey::new(&film)?;
        Ok(Self {
            scene,
            film,
            survey,
            profile: None,
            going: if step > 0 { Going::To(step) } else { Going::Nowhere },
            radius: 12,
            tape: 0,
            zoom: None,
            states: vec![false; scene.machine.states().len()],
            loss: None,
            hit: None,
            shown: Shown::new(),
        })
    }

    fn attend(&mut self, commands: &Receiver<Command>, ear: &mut dyn Client) -> Result<Left, EngineError> {
        let opening = Box::new(Opening::of(self.scene, self.film.chosen()));
        if !ear.tell(ServerMessage::Opened { opening }.text()) {
            return Ok(Left::Gone);
        }
        let started = Instant::now();
        if let Err(error) = self.film.scout(&mut || started.elapsed() < SCOUT) {
            ear.tell(ServerMessage::Failed { message: error.to_string() }.text());
        }
        // If the end is known now, the survey needs no rows that it would drop again.
        self.survey = Survey::new(&self.film)?;
        loop {
            while let Some(command) = match self.wait(commands) {
                Ok(command) => command,
                Err(()) => return Ok(Left::Gone),
            } {
                if let Command::Open { job, step } = command {
                    return Ok(Left::Opens(job, step));
                }
                if let Err(error) = self.obey(command, ear) {
                    ear.tell(ServerMessage::Failed { message: error.to_string() }.text());
                }
            }
            if let Err(error) = self.work() {
                self.going = Going::Nowhere;
                ear.tell(ServerMessage::Failed { message: error.to_string() }.text());
            }
            if !self.show(ear)? {
                return Ok(Left::Gone);
            }
        }
    }

    /// The next command, waiting for it as long as there is nothing else to do.
    fn wait(&self, commands: &Receiver<Command>) -> Result<Option<Command>, ()> {
        let idle = self.idle_for();
        if idle.is_zero() {
            return match commands.try_recv() {
                Ok(command) => Ok(Some(command)),
                Err(TryRecvError::Empty) => Ok(None),
                Err(TryRecvError::Disconnected) => Err(()),
            };
        }
        match commands.recv_timeout(idle) {
            Ok(command) => Ok(Some(command)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(()),
        }
    }

    /// How long nothing will happen.
    fn idle_for(&self) -> Duration {
        let surveyed =
            self.survey.steps() == self.film.front() && (self.survey.complete() || self.film.end().is_none());
        if !surveyed || (self.going == Going::Nowhere && self.to_profile()) {
            return Duration::ZERO;
        }
        match self.going {
            Going::To(_) | Going::On { speed: None, .. } => Duration::ZERO,
            Going::On { speed: Some(speed), since, from } => {
                let next = (self.film.step() + 1 - from) as f64 / speed;
                let left = next - since.elapsed().as_secs_f64();
                Duration::from_secs_f64(left.clamp(0.0, 0.1))
            }
            Going::Nowhere if self.stale() => Duration::from_millis(2),
            Going::Nowhere => Duration::from_secs(3600),
        }
    }

    /// Whether the steps of each line are still to be counted.
    fn to_profile(&self) -> bool {
        match &self.profile {
            Some(profile) => !profile.done(),
            None => {
                let over = self.film.end().is_some_and(|end| end.steps() <= MOST_PROFILED);
                over && self.scene.lines.iter().any(Option::is_some)
            }
        }
    }

    /// Counts the steps of each line for a while.
    fn count_lines(&mut self, go_on: &mut dyn FnMut() -> bool) -> Result<(), EngineError> {
        if self.profile.is_none() {
            self.profile = Profile::new(&self.film, self.states.len())?;
        }
        let scene = self.scene;
        let state = |vertex: usize| scene.state_at(vertex).map(StateId::index);
        match &mut self.profile {
            Some(profile) => profile.follow(&self.film, &state, go_on),
            None => Ok(()),
        }
    }

    /// Whether something is still to be shown.
    fn stale(&self) -> bool {
        self.shown.again
            || self.shown.moment != Some((self.film.step(), self.film.front()))
            || self.shown.overview != Some(self.surveyed())
            || (!self.shown.profile && self.profile.as_ref().is_some_and(Profile::done))
    }

    fn obey(&mut self, command: Command, ear: &mut dyn Client) -> Result<(), EngineError> {
        let most = self.film.task().stop.most_steps;
        let mut go = |going: Going| {
            (self.going, self.hit, self.shown.again) = (going, None, true);
            self.shown.speed_from = (self.film.front(), Instant::now());
        };
        match command {
            Command::Open { .. } => {}
            Command::Seek { step } => go(Going::To(step.min(most))),
            Command::Step { by } => go(Going::To(self.film.step().saturating_add_signed(by).min(most))),
            Command::Play { speed } => {
                let speed = speed.filter(|speed| speed.is_finite()).map(|speed| speed.clamp(0.1, 1e9));
                go(Going::On { speed, since: Instant::now(), from: self.film.step() });
            }
            Command::Pause {} => go(Going::Nowhere),
            Command::Break { states, lines, loss } => {
                self.loss = loss;
                let line = |state: usize| self.scene.lines.get(state).copied().flatten();
                let wanted = |state: usize| {
                    states.contains(&state) || line(state).is_some_and(|line| lines.contains(&line))
                };
                self.states = (0..self.states.len()).map(wanted).collect();
            }
            Command::Look { radius, tape } => {
                self.radius = radius.min(MOST_RADIUS);
                if tape < self.scene.machine.n_tapes() {
                    self.tape = tape;
                }
                (self.shown.again, self.shown.overview, self.zoom) = (true, None, None);
            }
            Command::Zoom { steps, cells } => {
                self.zoom = steps.zip(cells);
                self.shown.overview = None;
                return self.draw_zoom(ear);
            }
            Command::Drawn {} => self.shown.drawn = true,
        }
        Ok(())
    }

    fn draw_zoom(&mut self, ear: &mut dyn Client) -> Result<(), EngineError> {
        let Some(((from, to), (first, last))) = self.zoom else { return Ok(()) };
        let part = Part {
            tape: TapeId::new(self.tape),
            from,
            to: to.max(from),
            cells: first..last.clamp(first, first.saturating_add(1 << 24)) + 1,
            n_rows: MOST_ROWS,
        };
        let started = Instant::now();
        let strip = self.film.strip(&self.scene.tapes, &part, &mut || started.elapsed() < ZOOM)?;
        match strip {
            Some(strip) => {
                let picture = Box::new(PictureView::of(&strip, self.tape, true));
                ear.tell(ServerMessage::Picture { picture }.text());
            }
            None => {
                let message = "this part of the picture takes too long: choose fewer steps".to_owned();
                ear.tell(ServerMessage::Failed { message }.text());
            }
        }
        Ok(())
    }

    /// Goes on until the next moment is due, the last twentieth of the time with the survey.
    fn work(&mut self) -> Result<(), EngineError> {
        let (started, busy) = (Instant::now(), self.going != Going::Nowhere);
        let left = FRAME.saturating_sub(self.shown.at.elapsed()).max(FRAME / 4);
        let share = left - FRAME / 20;
        let mut go_on = || started.elapsed() < share;
        let goal = match self.going {
            Going::Nowhere => None,
            Going::To(step) => Some(step),
            Going::On { speed: None, .. } => Some(u64::MAX),
            Going::On { speed: Some(speed), since, from } => {
                Some(from.saturating_add((since.elapsed().as_secs_f64() * speed) as u64))
            }
        };
        if let Some(goal) = goal.filter(|&goal| goal != self.film.step()) {
            let playing = matches!(self.going, Going::On { .. });
            if playing && (self.loss.is_some() || self.states.contains(&true)) {
                self.watch(goal, &mut go_on)?;
            } else if playing && goal == u64::MAX {
                self.film.roll(&mut go_on)?;
            } else {
                self.film.seek(goal, &mut go_on)?;
            }
        }
        let ended = self.film.end().is_some_and(|end| end.steps() == self.film.step());
        match self.going {
            Going::To(step) if self.film.step() == step || ended => self.going = Going::Nowhere,
            Going::On { .. } if ended => self.going = Going::Nowhere,
            Going::On { speed: Some(speed), .. } if goal.is_some_and(|goal| goal > self.film.step()) => {
                // It cannot keep up: what is behind is not made up for later.
                self.going = Going::On { speed: Some(speed), since: Instant::now(), from: self.film.step() };
            }
            _ => {}
        }
        let share = if busy { left } else { FRAME };
        let mut go_on = || started.elapsed() < share;
        if self.survey.follow(&self.film, &self.scene.tapes, &mut go_on)? && !self.survey.complete() {
            self.survey.complete_curve(&self.film, &mut go_on)?;
        }
        if self.survey.complete() && !busy && self.to_profile() {
            self.count_lines(&mut go_on)?;
        }
        Ok(())
    }

    /// Goes on until a breakpoint.
    fn watch(&mut self, goal: u64, go_on: &mut dyn FnMut() -> bool) -> Result<(), EngineError> {
        let (states, level, scene) = (&self.states, self.loss, self.scene);
        let mut hit = None;
        let mut above = match level {
            Some(level) => self.film.now().loss()? > level,
            None => false,
        };
        let mut here = |engine: &mut dyn Engine| {
            let state = engine.vertex().and_then(|vertex| scene.state_at(vertex)).map(StateId::index);
            if state.is_some_and(|state| states[state]) {
                hit = Some("state");
            }
            if let Some(level) = level {
                let was_above = std::mem::replace(&mut above, engine.loss()? > level);
                if was_above && !above {
                    hit = Some("loss");
                }
            }
            Ok(hit.is_some())
        };
        if self.film.watch(goal, &mut here, go_on)? {
            self.hit = hit;
            self.going = Going::Nowhere;
            self.shown.again = true;
        }
        Ok(())
    }

    /// Tells the page what is new, as often as it can draw. `false` once nobody listens.
    fn show(&mut self, ear: &mut dyn Client) -> Result<bool, EngineError> {
        let since = self.shown.at.elapsed();
        if since < FRAME || !(self.shown.drawn || since > PATIENCE) {
            return Ok(true);
        }
        let (step, front) = (self.film.step(), self.film.front());
        if self.shown.again || self.shown.moment != Some((step, front)) {
            self.measure(front);
            let moment = Box::new(Moment::of(self.scene, &mut self.film, self.radius)?);
            let playing = matches!(self.going, Going::On { .. });
            let busy = matches!(self.going, Going::To(_));
            let (per_second, hit) = (self.shown.per_second, self.hit);
            self.shown.moment = Some((step, front));
            // The next moment is due a frame after this one was, unless that has long been missed.
            let due = self.shown.at + FRAME;
            let at = if due.elapsed() > FRAME { Instant::now() } else { due };
            (self.shown.again, self.shown.at, self.shown.drawn) = (false, at, false);
            if !ear.tell(ServerMessage::Moment { moment, playing, busy, per_second, hit }.text()) {
                return Ok(false);
            }
        }
        let slow = match self.going {
            Going::Nowhere => true,
            Going::On { speed: Some(speed), .. } => speed <= SLOW,
            _ => false,
        };
        if slow && self.shown.around != Some(step) {
            self.shown.around = Some(step);
            let around = Around::of(self.scene, &mut self.film)?.map(Box::new);
            if !ear.tell(ServerMessage::Around { around }.text()) {
                return Ok(false);
            }
            if let Some(boundary) = Boundary::of(self.scene, &self.film).map(Box::new) {
                ear.tell(ServerMessage::Boundary { boundary }.text());
            }
        }
        if let Some(profile) = self.profile.as_ref().filter(|profile| profile.done() && !self.shown.profile) {
            self.shown.profile = true;
            let profile = LineProfile::of(self.scene, profile.visits());
            if !ear.tell(ServerMessage::Profile { profile }.text()) {
                return Ok(false);
            }
        }
        Ok(self.show_overview(ear))
    }

    fn surveyed(&self) -> (u64, u64) {
        (self.survey.steps(), self.survey.curve().n_seen())
    }

    fn show_overview(&mut self, ear: &mut dyn Client) -> bool {
        let due = self.shown.overview_at.elapsed() >= SURVEY || self.survey.complete();
        if self.shown.overview == Some(self.surveyed()) || !due {
            return true;
        }
        (self.shown.overview, self.shown.overview_at) = (Some(self.surveyed()), Instant::now());
        let overview = Box::new(Overview::of(&self.survey));
        if !ear.tell(ServerMessage::Overview { overview }.text()) {
            return false;
        }
        if self.zoom.is_some() {
            return true;
        }
        let strip = self.survey.spacetime().strip(TapeId::new(self.tape));
        let picture = Box::new(PictureView::of(&strip, self.tape, false));
        ear.tell(ServerMessage::Picture { picture }.text())
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
