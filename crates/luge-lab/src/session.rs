//! One tab: receives commands, runs its job, and sends what to show.

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
use web_time::Instant;

use super::{
    Breakpoints, Command, Look, PreparedJob, Proof, Refusal, RunError, Scene, Wish, command::Message, views,
};
use crate::replay::{Profile, Replay, Survey};
pub use driven::{DrivenRun, figure, greeting};
use outbound::Shown;

/// Runs that may be open at a time, over all tabs.
pub const MAX_RUNS: usize = 32;

/// Between two moments on the screen.
const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);
/// Cells on each side of a head.
const MAX_RADIUS: usize = 200;
/// How long a run is looked for its end before anybody asks.
const SCOUT: Duration = Duration::from_secs(1);

/// Nobody listens any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gone;

/// The way to a page and back: a socket of the server, or the messages of a worker in the page itself.
pub trait Transport {
    /// Sends a message; `false` once nobody listens.
    fn tell(&mut self, text: String) -> bool;

    /// The next command, waiting for it at most so long; `None` if none has come.
    ///
    /// # Errors
    /// Once the page is gone.
    fn hear(&mut self, wait: Duration) -> Result<Option<Command>, Gone>;
}

/// A transport made of channels: commands come from one, and a closure takes what is told.
pub struct Channel<F> {
    /// What the page says.
    pub commands: Receiver<Command>,
    /// What takes the messages; `false` once nobody listens.
    pub told: F,
}

impl<F: FnMut(String) -> bool> Transport for Channel<F> {
    fn tell(&mut self, text: String) -> bool {
        (self.told)(text)
    }

    fn hear(&mut self, wait: Duration) -> Result<Option<Command>, Gone> {
        match self.commands.recv_timeout(wait) {
            Ok(command) => Ok(Some(command)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Gone),
        }
    }
}

/// A page, and the commands that have arrived from it but are not obeyed yet.
pub(crate) struct Page<'t> {
    transport: &'t mut dyn Transport,
    waiting: VecDeque<Command>,
    gone: bool,
}

impl<'t> Page<'t> {
    pub(crate) fn new(transport: &'t mut dyn Transport) -> Self {
        Self { transport, waiting: VecDeque::new(), gone: false }
    }

    /// Sends a message, unless nobody listens any more.
    fn tell(&mut self, message: Message) {
        self.gone = self.gone || !self.transport.tell(message.text());
    }

    /// The next command.
    fn next(&mut self, wait: Duration) -> Result<Option<Command>, Gone> {
        if let Some(command) = self.waiting.pop_front() {
            return Ok(Some(command));
        }
        if self.gone { Err(Gone) } else { self.transport.hear(wait) }
    }

    /// Waits for the next command, and leaves it to be obeyed.
    fn wait(&mut self, wait: Duration) -> Result<(), Gone> {
        let command = self.next(wait)?;
        self.waiting.extend(command);
        Ok(())
    }

    /// Whether the page still waits for the run that is prepared: not if it is gone, or wants to see another one.
    fn wants_this(&mut self) -> bool {
        loop {
            match self.transport.hear(Duration::ZERO) {
                Ok(Some(command)) => self.waiting.push_back(command),
                Ok(None) => break,
                Err(Gone) => {
                    self.gone = true;
                    break;
                }
            }
        }
        !self.gone && !self.waiting.iter().any(|command| matches!(command, Command::Open(_)))
    }

    /// The run that the page wants to see: of several wishes the last one.
    fn wish(&mut self) -> Result<Wish, Gone> {
        loop {
            let command = self.next(Duration::from_secs(3600))?;
            if let Some(Command::Figure { figure, ticket }) = &command {
                self.tell(figure.answer(*ticket));
            }
            if let Some(Command::Open(wish)) = command
                && self.wants_this()
            {
                return Ok(wish);
            }
        }
    }
}

/// Counts a tab or an open run while it lives.
pub(crate) struct Permit(Arc<AtomicUsize>);

impl Permit {
    /// `None` if there are as many as may be already.
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

/// Serves one tab until its commands end. `runs` counts the runs that are open in all.
pub fn attend(transport: &mut dyn Transport, runs: &Arc<AtomicUsize>) {
    let mut page = Page::new(transport);
    while let Ok(wish) = page.wish() {
        let refusal = match Permit::new(runs, MAX_RUNS) {
            None => Refusal::new("options", format!("{MAX_RUNS} runs are open already: close a tab")),
            Some(_permit) => match show_alone(&wish, &mut page) {
                Ok(()) => continue,
                // What is no longer wanted needs no answer.
                Err(_) if !page.wants_this() => continue,
                Err(error) => Refusal::from(&error),
            },
        };
        page.tell(Message::refused(Some(wish.ticket), &refusal));
    }
}

/// Shows one run until it is left; whatever goes wrong in it ends it and nothing else.
fn show_alone(wish: &Wish, page: &mut Page<'_>) -> Result<(), RunError> {
    let shown = panic::catch_unwind(AssertUnwindSafe(|| show(wish, page)));
    shown.unwrap_or_else(|cause| {
        let words = cause.downcast_ref::<String>().cloned();
        let words = words.or_else(|| cause.downcast_ref::<&str>().map(|&words| words.to_owned()));
        Err(RunError::Panicked(words.unwrap_or_else(|| "for a reason unknown".to_owned())))
    })
}

/// Shows one run until it is left.
fn show(wish: &Wish, page: &mut Page<'_>) -> Result<(), RunError> {
    let prepared = Arc::new(wish.prepare(&mut || page.wants_this())?);
    let (scene, prover) = (prepared.scene()?, Prover::start(&prepared));
    let mut run = Run::new(&scene, wish.step, Some(prover))?;
    run.begin(wish.ticket, page)?;
    while let Some(idle) = run.turn(page)? {
        if page.wait(idle).is_err() {
            break;
        }
    }
    Ok(())
}

/// Proves a run in its own thread while the user watches; it stops when nobody waits for the proof.
struct Prover {
    left: Arc<AtomicBool>,
    /// Without a thread there is no proof, and the page says so.
    thread: Option<JoinHandle<Option<Proof>>>,
}

impl Prover {
    fn start(prepared: &Arc<PreparedJob>) -> Self {
        let left = Arc::new(AtomicBool::new(false));
        let (prepared, nobody) = (Arc::clone(prepared), Arc::clone(&left));
        let prove = move || prepared.prove(&|| !nobody.load(Ordering::Relaxed));
        Self { left, thread: thread::Builder::new().name("proof".to_owned()).spawn(prove).ok() }
    }

    /// Whether nothing is left to wait for.
    fn is_done(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for Prover {
    fn drop(&mut self) {
        self.left.store(true, Ordering::Relaxed);
    }
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

struct Run<'a> {
    replay: Replay<'a>,
    survey: Survey<'a>,
    profile: Option<Profile<'a>>,
    going: Going,
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
            going: if step > 0 { Going::To(step) } else { Going::Nowhere },
            look: Look { radius: 12, tape: 0, features: None, surface: false },
            prover,
            zoom: None,
            breakpoints: Breakpoints::default(),
            hit: None,
            shown,
        })
    }

    /// Says what there is to see, and looks for the end of the run for a while.
    fn begin(&mut self, ticket: u64, page: &mut Page<'_>) -> Result<(), EngineError> {
        page.tell(Message::of("opened").with("ticket", ticket).with("opening", views::opening(&self.replay)));
        let started = Instant::now();
        if let Err(error) = self.replay.scout(&mut || started.elapsed() < SCOUT && page.wants_this()) {
            page.tell(Message::failed(error));
        }
        // If the end is known now, the survey needs no rows that it would drop again.
        self.survey = Survey::new(&self.replay)?;
        Ok(())
    }

    /// Obeys what the page has said, goes on for a frame, and shows what is new. How long nothing will happen then; `None`
    /// once the page wants another run, or nobody listens.
    fn turn(&mut self, page: &mut Page<'_>) -> Result<Option<Duration>, EngineError> {
        if !page.wants_this() {
            return Ok(None);
        }
        while let Ok(Some(command)) = page.next(Duration::ZERO) {
            if let Err(error) = self.obey(command, page) {
                page.tell(Message::failed(error));
            }
        }
        if let Err(error) = self.work() {
            self.going = Going::Nowhere;
            page.tell(Message::failed(error));
        }
        self.show(page)?;
        Ok((!page.gone).then(|| self.idle_for()))
    }

    fn obey(&mut self, command: Command, page: &mut Page<'_>) -> Result<(), EngineError> {
        let most = self.replay.scene.task.stop.most_steps;
        let mut go = |going: Going| {
            (self.going, self.hit, self.shown.again) = (going, None, true);
            self.shown.speed_from = Some((self.replay.front(), Instant::now()));
        };
        match command {
            Command::Open(_) | Command::Figure { .. } => {}
            Command::Seek { step } => go(Going::To(step.min(most))),
            Command::Step { by } => go(Going::To(self.replay.step().saturating_add_signed(by).min(most))),
            Command::Play { speed } => {
                let speed = speed.filter(|speed| speed.is_finite()).map(|speed| speed.clamp(0.1, 1e9));
                go(Going::On { speed, since: Instant::now(), from: self.replay.step() });
            }
            Command::Pause {} => go(Going::Nowhere),
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
