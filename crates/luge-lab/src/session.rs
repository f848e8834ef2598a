//! One tab: receives commands, runs its job, and sends views.

mod driven;
mod outbound;
mod stepping;

use std::{
    collections::VecDeque,
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use luge::run::engine::EngineError;
use serde_json::{Value, json};
use web_time::Instant;

use super::{
    Breakpoints, Command, Look, PreparedJob, Proof, Refusal, RunError, RunRequest, Scene, command, views,
};
use crate::replay::{Profile, Replay, Survey};
pub use driven::{DrivenRun, figure, greeting};
use outbound::Shown;

/// Runs that may be open at a time, over all tabs.
pub const MAX_RUNS: usize = 32;

/// The time between two frames.
const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);
/// The most cells on each side of a head.
const MAX_RADIUS: usize = 200;
/// How long to look for the end of a run before it is shown.
const FIND_END: Duration = Duration::from_secs(1);

/// The page has been closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Disconnected;

/// The connection to a page: a socket of the server, or the messages of a worker in the page itself.
pub trait Transport {
    /// Sends a message; `false` once the page is closed.
    fn send(&mut self, text: String) -> bool;

    /// Waits for the next command, at most this long; `None` if none arrives.
    ///
    /// # Errors
    /// Once the page is closed.
    fn receive(&mut self, wait: Duration) -> Result<Option<Command>, Disconnected>;
}

/// A transport that receives commands from a channel and passes messages to a closure.
pub struct Channel<F> {
    /// The page's commands.
    pub commands: Receiver<Command>,
    /// Takes a message; returns `false` once the page is closed.
    pub send: F,
}

impl<F: FnMut(String) -> bool> Transport for Channel<F> {
    fn send(&mut self, text: String) -> bool {
        (self.send)(text)
    }

    fn receive(&mut self, wait: Duration) -> Result<Option<Command>, Disconnected> {
        match self.commands.recv_timeout(wait) {
            Ok(command) => Ok(Some(command)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Disconnected),
        }
    }
}

/// A page, and its commands that have not been carried out yet.
pub(crate) struct Page<'t> {
    transport: &'t mut dyn Transport,
    waiting: VecDeque<Command>,
    disconnected: bool,
}

impl<'t> Page<'t> {
    pub(crate) fn new(transport: &'t mut dyn Transport) -> Self {
        Self { transport, waiting: VecDeque::new(), disconnected: false }
    }

    /// Sends a message, unless the page is closed.
    fn send(&mut self, message: Value) {
        self.disconnected = self.disconnected || !self.transport.send(message.to_string());
    }

    /// The next command.
    fn next(&mut self, wait: Duration) -> Result<Option<Command>, Disconnected> {
        if let Some(command) = self.waiting.pop_front() {
            return Ok(Some(command));
        }
        if self.disconnected { Err(Disconnected) } else { self.transport.receive(wait) }
    }

    /// Whether the page still wants the current run: it is open, and has not requested another one.
    fn still_wanted(&mut self) -> bool {
        loop {
            match self.transport.receive(Duration::ZERO) {
                Ok(Some(command)) => self.waiting.push_back(command),
                Ok(None) => break,
                Err(Disconnected) => {
                    self.disconnected = true;
                    break;
                }
            }
        }
        !self.disconnected && !self.waiting.iter().any(|command| matches!(command, Command::Open(_)))
    }

    /// Waits for the run that the page requests: the last one, if there are several requests.
    fn next_request(&mut self) -> Result<RunRequest, Disconnected> {
        loop {
            let command = self.next(Duration::from_secs(3600))?;
            if let Some(Command::Figure { figure, ticket }) = &command {
                self.send(figure.answer(*ticket));
            }
            if let Some(Command::Open(request)) = command
                && self.still_wanted()
            {
                return Ok(request);
            }
        }
    }
}

/// Counts a tab or an open run until it is dropped.
pub(crate) struct Permit(Arc<AtomicUsize>);

impl Permit {
    /// `None` if the limit is reached.
    pub(crate) fn new(count: &Arc<AtomicUsize>, most: usize) -> Option<Self> {
        let more = |n: usize| (n < most).then_some(n + 1);
        count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).ok()?;
        Some(Self(Arc::clone(count)))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Serves one tab until it is closed. `runs` counts the open runs of all tabs.
pub fn run_session(transport: &mut dyn Transport, runs: &Arc<AtomicUsize>) {
    let mut page = Page::new(transport);
    while let Ok(request) = page.next_request() {
        let refusal = match Permit::new(runs, MAX_RUNS) {
            None => Refusal::new("options", format!("{MAX_RUNS} runs are open already: close a tab")),
            Some(_permit) => match show_alone(&request, &mut page) {
                Ok(()) => continue,
                // A request that is no longer wanted needs no answer.
                Err(_) if !page.still_wanted() => continue,
                Err(error) => Refusal::from(&error),
            },
        };
        page.send(command::refused(Some(request.ticket), &refusal));
    }
}

/// Shows one run. A panic ends this run and nothing else.
fn show_alone(request: &RunRequest, page: &mut Page<'_>) -> Result<(), RunError> {
    let shown = panic::catch_unwind(AssertUnwindSafe(|| show(request, page)));
    shown.unwrap_or_else(|cause| {
        let words = cause.downcast_ref::<String>().cloned();
        let words = words.or_else(|| cause.downcast_ref::<&str>().map(|&words| words.to_owned()));
        Err(RunError::Panicked(words.unwrap_or_else(|| "for a reason unknown".to_owned())))
    })
}

/// Shows one run until the page wants another one or is closed.
fn show(request: &RunRequest, page: &mut Page<'_>) -> Result<(), RunError> {
    let prepared = Arc::new(request.prepare(&mut || page.still_wanted())?);
    let (scene, prover) = (prepared.scene()?, Prover::start(&prepared));
    let mut run = Run::new(&scene, request.step, Some(prover))?;
    run.begin(request.ticket, page)?;
    while let Some(idle) = run.turn(page)? {
        match page.next(idle) {
            Ok(command) => page.waiting.extend(command),
            Err(Disconnected) => break,
        }
    }
    Ok(())
}

/// Certifies a run in its own thread while the user watches; dropping it stops the thread.
struct Prover {
    left: Arc<AtomicBool>,
    /// `None` if the system provides no thread: then the page says that there is no proof.
    thread: Option<JoinHandle<Option<Proof>>>,
}

impl Prover {
    fn start(prepared: &Arc<PreparedJob>) -> Self {
        let left = Arc::new(AtomicBool::new(false));
        let (prepared, nobody) = (Arc::clone(prepared), Arc::clone(&left));
        let prove = move || prepared.prove(&|| !nobody.load(Ordering::Relaxed));
        Self { left, thread: thread::Builder::new().name("proof".to_owned()).spawn(prove).ok() }
    }

    /// Whether there is nothing to wait for.
    fn is_done(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for Prover {
    fn drop(&mut self) {
        self.left.store(true, Ordering::Relaxed);
    }
}

/// How the run moves.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Motion {
    Stopped,
    /// To a step, at full speed.
    To(u64),
    /// Forwards, at a number of steps per second or at full speed.
    Playing {
        speed: Option<f64>,
        since: Instant,
        from: u64,
    },
}

struct Run<'a> {
    replay: Replay<'a>,
    survey: Survey<'a>,
    profile: Option<Profile<'a>>,
    motion: Motion,
    look: Look,
    prover: Option<Prover>,
    zoom: Option<((u64, u64), (i64, i64))>,
    breakpoints: Breakpoints,
    hit: Option<&'static str>,
    shown: Shown,
}

impl<'a> Run<'a> {
    fn new(scene: &'a Scene<'a>, step: u64, prover: Option<Prover>) -> Result<Self, EngineError> {
        let replay = scene.replay()?;
        let (survey, shown) = (Survey::new(&replay)?, Shown { proof: prover.is_none(), ..Shown::default() });
        Ok(Self {
            replay,
            survey,
            profile: None,
            motion: if step > 0 { Motion::To(step) } else { Motion::Stopped },
            look: Look { radius: 12, tape: 0, features: None, surface: false },
            prover,
            zoom: None,
            breakpoints: Breakpoints::default(),
            hit: None,
            shown,
        })
    }

    /// Sends what is known before the first step, and looks for the end of the run for a while.
    fn begin(&mut self, ticket: u64, page: &mut Page<'_>) -> Result<(), EngineError> {
        let opening = views::opening(&self.replay);
        page.send(json!({ "kind": "opened", "ticket": ticket, "opening": opening }));
        let started = Instant::now();
        if let Err(error) = self.replay.find_end(&mut || started.elapsed() < FIND_END && page.still_wanted())
        {
            page.send(command::failed(error));
        }
        // Once the end is known, the survey can space its rows at once.
        self.survey = Survey::new(&self.replay)?;
        Ok(())
    }

    /// Carries out the page's commands, advances the run for a frame, and sends what is new. Returns how long to wait for commands
    /// after that; `None` once the page wants another run or is closed.
    fn turn(&mut self, page: &mut Page<'_>) -> Result<Option<Duration>, EngineError> {
        if !page.still_wanted() {
            return Ok(None);
        }
        while let Ok(Some(command)) = page.next(Duration::ZERO) {
            if let Err(error) = self.apply(command, page) {
                page.send(command::failed(error));
            }
        }
        if let Err(error) = self.work() {
            self.motion = Motion::Stopped;
            page.send(command::failed(error));
        }
        self.show(page)?;
        Ok((!page.disconnected).then(|| self.idle_for()))
    }

    fn apply(&mut self, command: Command, page: &mut Page<'_>) -> Result<(), EngineError> {
        let most = self.replay.scene.task.stop.most_steps;
        let mut go = |motion: Motion| {
            (self.motion, self.hit, self.shown.again) = (motion, None, true);
            self.shown.speed_from = Some((self.replay.front(), Instant::now()));
        };
        match command {
            Command::Open(_) | Command::Figure { .. } => {}
            Command::Seek { step } => go(Motion::To(step.min(most))),
            Command::Step { by } => go(Motion::To(self.replay.step().saturating_add_signed(by).min(most))),
            Command::Play { speed } => {
                let speed = speed.filter(|speed| speed.is_finite()).map(|speed| speed.clamp(0.1, 1e9));
                go(Motion::Playing { speed, since: Instant::now(), from: self.replay.step() });
            }
            Command::Pause {} => go(Motion::Stopped),
            Command::Break(breakpoints) => self.breakpoints = breakpoints,
            Command::Look(look) => {
                let tape = look.tape.min(self.replay.scene.machine.n_tapes() - 1);
                self.look = Look { radius: look.radius.min(MAX_RADIUS), tape, ..look };
                (self.shown.again, self.shown.around) = (true, None);
                (self.shown.overview, self.zoom) = (None, None);
            }
            Command::Zoom { steps, cells } => {
                self.zoom = steps.zip(cells);
                self.shown.overview = None;
                return self.draw_zoom(page);
            }
            Command::Drawn {} => self.shown.drawing = false,
        }
        Ok(())
    }
}
