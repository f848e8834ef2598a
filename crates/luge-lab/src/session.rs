//! One tab: receives commands, runs its job in a thread of its own, and sends what to show.

mod outbound;
mod stepping;

use std::{
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use luge::{job::Job, run::engine::EngineError};

use super::{Command, Opening, PreparedJob, Proof, Refusal, RunError, Scene, command::ServerMessage};
use crate::replay::{Profile, Replay, Survey};
use outbound::Shown;

/// Runs that may be open at a time, over all tabs.
pub const MAX_RUNS: usize = 32;

/// Between two moments on the screen.
const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);
/// Cells on each side of a head.
const MAX_RADIUS: usize = 200;
/// How long a run is looked for its end before anybody asks.
const SCOUT: Duration = Duration::from_secs(1);

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
    Opens(Asked),
}

/// What a tab wants to see.
struct Asked {
    job: Box<Job>,
    step: u64,
    held_out: Option<String>,
}

/// Counts an open run while it lives.
struct Permit(Arc<AtomicUsize>);

impl Permit {
    fn new(runs: &Arc<AtomicUsize>) -> Option<Self> {
        let more = |n: usize| (n < MAX_RUNS).then_some(n + 1);
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
    let mut opens: Option<Asked> = None;
    loop {
        let asked = match opens.take() {
            Some(opens) => opens,
            None => match commands.recv() {
                Ok(Command::Open { job, step, held_out }) => Asked { job, step, held_out },
                Ok(_) => continue,
                Err(_) => return,
            },
        };
        let Some(_permit) = Permit::new(runs) else {
            let message = format!("{MAX_RUNS} runs are open already: close a tab");
            if !ear.tell(ServerMessage::Refused { refusal: Refusal::new("options", message) }.text()) {
                return;
            }
            continue;
        };
        match show_alone(&asked, commands, ear) {
            Ok(Left::Gone) => return,
            Ok(Left::Opens(asked)) => opens = Some(asked),
            Err(error) => {
                if !ear.tell(ServerMessage::Refused { refusal: Refusal::from(&error) }.text()) {
                    return;
                }
            }
        }
    }
}

/// Shows one run until it is left; whatever goes wrong in it ends it and nothing else.
fn show_alone(asked: &Asked, commands: &Receiver<Command>, ear: &mut dyn Client) -> Result<Left, RunError> {
    let shown = panic::catch_unwind(AssertUnwindSafe(|| show(asked, commands, ear)));
    shown.unwrap_or_else(|cause| {
        let words = cause.downcast_ref::<String>().cloned();
        let words = words.or_else(|| cause.downcast_ref::<&str>().map(|&words| words.to_owned()));
        Err(RunError::Panicked(words.unwrap_or_else(|| "for a reason unknown".to_owned())))
    })
}

/// Shows one run until it is left.
fn show(asked: &Asked, commands: &Receiver<Command>, ear: &mut dyn Client) -> Result<Left, RunError> {
    let stage = Arc::new(PreparedJob::open_with(&asked.job, asked.held_out.as_deref())?);
    let (scene, prover) = (stage.scene()?, Prover::start(&stage));
    Ok(Run::new(&scene, asked.step, prover)?.attend(commands, ear)?)
}

/// Proves a run in a thread of its own, beside the one that is watched; once nobody waits for it, it breaks off.
struct Prover {
    left: Arc<AtomicBool>,
    proofs: Receiver<Option<Proof>>,
}

impl Prover {
    fn start(stage: &Arc<PreparedJob>) -> Self {
        let left = Arc::new(AtomicBool::new(false));
        let (told, proofs) = mpsc::channel();
        let (stage, nobody) = (Arc::clone(stage), Arc::clone(&left));
        let prove = move || {
            let proof = stage.prove(&|| !nobody.load(Ordering::Relaxed));
            // Nobody may be left who waits for it.
            let _ = told.send(proof);
        };
        // Without a thread there is no proof, and the page says so.
        let _ = thread::Builder::new().name("proof".to_owned()).spawn(prove);
        Self { left, proofs }
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

struct Run<'s, 'n> {
    scene: &'s Scene<'n>,
    replay: Replay<'n>,
    survey: Survey<'n>,
    profile: Option<Profile<'n>>,
    going: Going,
    radius: usize,
    tape: usize,
    features: Option<(usize, usize)>,
    surface: bool,
    prover: Prover,
    zoom: Option<((u64, u64), (i64, i64))>,
    states: Vec<bool>,
    loss: Option<f64>,
    hit: Option<&'static str>,
    shown: Shown,
}

impl<'s, 'n> Run<'s, 'n> {
    fn new(scene: &'s Scene<'n>, step: u64, prover: Prover) -> Result<Self, EngineError> {
        let replay = scene.replay()?;
        let survey = Survey::new(&replay)?;
        Ok(Self {
            scene,
            replay,
            survey,
            profile: None,
            going: if step > 0 { Going::To(step) } else { Going::Nowhere },
            radius: 12,
            tape: 0,
            features: None,
            surface: false,
            prover,
            zoom: None,
            states: vec![false; scene.machine.states().len()],
            loss: None,
            hit: None,
            shown: Shown::new(),
        })
    }

    fn attend(&mut self, commands: &Receiver<Command>, ear: &mut dyn Client) -> Result<Left, EngineError> {
        let opening = Box::new(Opening::of(self.scene, &self.replay.chosen));
        if !ear.tell(ServerMessage::Opened { opening }.text()) {
            return Ok(Left::Gone);
        }
        let started = Instant::now();
        if let Err(error) = self.replay.scout(&mut || started.elapsed() < SCOUT) {
            ear.tell(ServerMessage::Failed { message: error.to_string() }.text());
        }
        // If the end is known now, the survey needs no rows that it would drop again.
        self.survey = Survey::new(&self.replay)?;
        loop {
            while let Some(command) = match self.wait(commands) {
                Ok(command) => command,
                Err(()) => return Ok(Left::Gone),
            } {
                if let Command::Open { job, step, held_out } = command {
                    return Ok(Left::Opens(Asked { job, step, held_out }));
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
        match commands.recv_timeout(self.idle_for()) {
            Ok(command) => Ok(Some(command)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(()),
        }
    }

    fn obey(&mut self, command: Command, ear: &mut dyn Client) -> Result<(), EngineError> {
        let most = self.replay.task.stop.most_steps;
        let mut go = |going: Going| {
            (self.going, self.hit, self.shown.again) = (going, None, true);
            self.shown.speed_from = (self.replay.front(), Instant::now());
        };
        match command {
            Command::Open { .. } => {}
            Command::Seek { step } => go(Going::To(step.min(most))),
            Command::Step { by } => go(Going::To(self.replay.step().saturating_add_signed(by).min(most))),
            Command::Play { speed } => {
                let speed = speed.filter(|speed| speed.is_finite()).map(|speed| speed.clamp(0.1, 1e9));
                go(Going::On { speed, since: Instant::now(), from: self.replay.step() });
            }
            Command::Pause {} => go(Going::Nowhere),
            Command::Break { states, lines, loss } => {
                self.loss = loss;
                let line = |state: usize| self.scene.stage.lines.get(state).copied().flatten();
                let wanted = |state: usize| {
                    states.contains(&state) || line(state).is_some_and(|line| lines.contains(&line))
                };
                self.states = (0..self.states.len()).map(wanted).collect();
            }
            Command::Look { radius, tape, features, surface } => {
                self.radius = radius.min(MAX_RADIUS);
                (self.features, self.surface, self.shown.around) = (features, surface, None);
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
}
