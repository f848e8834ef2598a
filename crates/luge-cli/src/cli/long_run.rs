//! Long runs: checkpoints at intervals, a record to revisit, and a clean stop on Ctrl-C.

use std::{
    io::{self, IsTerminal},
    ops::ControlFlow,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use luge::{
    draw::LossCurve,
    files::{Checkpoint, Frame, Recorder, checkpoint::network_digest},
    run::{ObservationRate, RunProgress, RunStats, memory::Bytes},
    stream::StreamMoment,
};
use luge_train::{Outcome, Snapshot};

use crate::cli::command_prelude::*;

/// A record that may become larger than this is announced, and again whenever its size doubles.
const LARGE_RECORD: u64 = 64 << 20;

#[derive(clap::Args)]
pub(super) struct LongRunArgs {
    /// Save the run to this file at intervals and when it is interrupted, for `luge resume`
    #[arg(long, value_name = "FILE", help_heading = "Long runs")]
    checkpoint: Option<PathBuf>,
    /// How often to save: seconds, or a time with a unit such as 500ms, 10s or 2m
    #[arg(long, value_name = "TIME", default_value = "10s", requires = "checkpoint", value_parser = duration, help_heading = "Long runs")]
    every: Duration,
    /// Record snapshots to this file, for `luge revisit`
    #[arg(long, value_name = "FILE", help_heading = "Long runs")]
    record: Option<PathBuf>,
}

/// Parses a time.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds = match &text[digits.len()..] {
        "ms" => 1e-3,
        "s" | "" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a time such as 500ms, 10s, 2m or 1h".to_owned()),
    };
    let number = digits.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
    let number = number.ok_or("expected a time such as 500ms, 10s, 2m or 1h")?;
    Duration::try_from_secs_f64(number * seconds).map_err(|error| error.to_string())
}

/// Steps between two checks of the clock and of Ctrl-C.
const CHECK_INTERVAL: u64 = 1 << 10;

/// A flag that is set when the user presses Ctrl-C.
fn interruptions() -> Arc<AtomicBool> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    // A second handler in one process is refused; then Ctrl-C ends the process as usual.
    let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
    interrupted
}

/// Saves checkpoints and the record of a run.
pub(super) struct RunArchive {
    checkpoint: Option<PathBuf>,
    every: Duration,
    record: Option<(Output, Recorder)>,
    /// The size of the record that was announced last.
    announced: u64,
    job: Job,
    /// The digest of the network, once it is needed.
    digest: OnceLock<String>,
    saved: Instant,
    /// Where an interrupted run is saved without --checkpoint, once that has been announced.
    fallback: Option<PathBuf>,
    /// Whether the run cannot be saved.
    unsaved: bool,
    failure: Option<Failure>,
}

/// How long a run took.
pub(super) struct Timing {
    pub(super) seconds: f64,
    /// The step it was resumed from.
    pub(super) from: u64,
}

impl Timing {
    /// The speed until the run's end, as text.
    pub(super) fn steps_per_second(&self, outcome: Outcome) -> String {
        let steps = outcome.steps().saturating_sub(self.from);
        format!("{} steps/s", count((steps as f64 / self.seconds.max(1e-9)) as u64))
    }

    /// The time and the speed, as text.
    pub(super) fn text(&self, outcome: Outcome) -> String {
        format!("{:.2} s, {}", self.seconds, self.steps_per_second(outcome))
    }
}

impl LongRunArgs {
    /// Checks the places where the run is to be saved. A run that cannot be saved is refused, with the reason and a remedy. An earlier
    /// checkpoint of the same run is overwritten.
    pub(super) fn archive(
        &self,
        outputs: &mut Outputs,
        job: Job,
        unsaved: Option<(&str, &str)>,
    ) -> Result<RunArchive, Failure> {
        if let Some((why, remedy)) = unsaved.filter(|_| self.checkpoint.is_some() || self.record.is_some()) {
            return Err(Failure::usage(why, remedy));
        }
        let of_this_run =
            |path: &Path| Checkpoint::load(path).is_ok_and(|earlier| !earlier.record && earlier.job == job);
        if let Some(path) = &self.checkpoint {
            outputs.place_over(path, of_this_run)?;
        }
        let record = place(outputs, self.record.as_deref())?.map(|output| (output, Recorder::default()));
        let unsaved = unsaved.is_some();
        Ok(RunArchive { record, unsaved, ..RunArchive::new(self.checkpoint.clone(), self.every, job) })
    }
}

impl RunArchive {
    /// Saves a run to this checkpoint.
    pub(super) fn new(checkpoint: Option<PathBuf>, every: Duration, job: Job) -> Self {
        Self {
            checkpoint,
            every,
            record: None,
            announced: 0,
            job,
            digest: OnceLock::new(),
            saved: Instant::now(),
            fallback: None,
            unsaved: false,
            failure: None,
        }
    }

    /// Follows a run of this network, from its start or from a checkpoint; steps of the dense engine are slow.
    pub(super) fn follow<'a>(
        &'a mut self,
        (network, slow): (Option<&'a Network>, bool),
        progress: Progress,
        from: Option<&Checkpoint>,
        curve: Option<&'a mut LossCurve>,
    ) -> Follower<'a> {
        self.saved = Instant::now();
        let start = from.and_then(|checkpoint| Some((checkpoint.last()?, checkpoint.seen.clone())));
        let interrupted = interruptions();
        Follower { archive: self, network, slow, progress, curve, start, interrupted, stopped_at: None }
    }

    fn save(
        &mut self,
        network: Option<&Network>,
        snapshot: Option<Snapshot>,
        stats: &RunStats,
    ) -> Result<(), Failure> {
        let Some(path) = self.checkpoint.clone() else { return Ok(()) };
        let (Some(network), Some(snapshot)) = (network, snapshot) else {
            return Err(Failure::error(
                "a network whose layers are not recognised cannot be saved",
                "leave --checkpoint out",
            ));
        };
        self.file(network, stats.clone(), vec![Frame::new(&snapshot)], None).save(&path)?;
        self.saved = Instant::now();
        Ok(())
    }

    /// A checkpoint, or the record of a run that has ended.
    fn file(&self, network: &Network, seen: RunStats, frames: Vec<Frame>, ended: Option<u64>) -> Checkpoint {
        let (job, record) = (self.job.clone(), ended.is_some());
        let network = self.digest.get_or_init(|| network_digest(network)).clone();
        Checkpoint { job, network, seen, record, ended, frames }
    }

    /// Writes the record of a run that has ended. Fails if something could not be saved before, or if the run was interrupted.
    pub(super) fn finish(&mut self, network: Option<&Network>, outcome: Outcome) -> Result<(), Failure> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if let (Some((output, recorder)), Some(network)) = (self.record.take(), network) {
            let frames = recorder.frames().to_vec();
            let record = self.file(network, RunStats::default(), frames, Some(outcome.steps()));
            output.write(record.to_bytes().map_err(Failure::print)?)?;
        }
        let Outcome::Interrupted { steps } = outcome else { return Ok(()) };
        let ended = format!("interrupted after {steps} steps");
        Err(match self.checkpoint.as_ref().map(|path| path.display()) {
            None => Failure::error(ended, "such a run cannot be resumed, so nothing was saved"),
            Some(file) => Failure::error(
                format!("{ended}, saved in {file}"),
                format!("resume it with: luge resume {file}"),
            ),
        })
    }
}

/// Watches a run: shows its progress, collects its losses, and saves what is due.
pub(super) struct Follower<'a> {
    archive: &'a mut RunArchive,
    /// The network whose run is saved; `None` if the run cannot be saved.
    network: Option<&'a Network>,
    /// Whether steps are so slow that the clock is read after each.
    slow: bool,
    progress: Progress,
    curve: Option<&'a mut LossCurve>,
    /// Where the run is resumed.
    start: Option<(Snapshot, RunStats)>,
    interrupted: Arc<AtomicBool>,
    /// The step at which a run on a stream was stopped.
    stopped_at: Option<u64>,
}

impl Follower<'_> {
    /// Follows a trace or a training on a table.
    pub(super) fn follow<T, E: Into<Failure>>(
        mut self,
        run: impl FnOnce(
            Option<(&Snapshot, RunStats)>,
            ObservationRate,
            &mut dyn FnMut(RunProgress<'_>) -> ControlFlow<()>,
        ) -> Result<T, E>,
    ) -> Result<T, Failure> {
        let start = self.start.take();
        let start = start.as_ref().map(|(snapshot, stats)| (snapshot, stats.clone()));
        // A plot or a record needs more steps.
        let often = self.curve.is_some() || self.archive.record.is_some();
        let rate = if often { ObservationRate::Strides } else { ObservationRate::Moments };
        let finished = run(start, rate, &mut |RunProgress { step, loss, since, engine, record }| {
            self.progress.reach_with_loss(step, loss);
            if let Some(curve) = &mut self.curve {
                (step - since.len() as u64..).zip(since).for_each(|(step, &loss)| curve.add(step, loss));
                curve.add(step, loss);
            }
            match step.is_multiple_of(CHECK_INTERVAL) || self.slow {
                true => self.observe(step, &|| Some(engine.snapshot()), record),
                false => ControlFlow::Continue(()),
            }
        });
        finished.map_err(Into::into)
    }

    /// Follows a run of this many steps on a stream. A run that was stopped has no result.
    pub(super) fn follow_stream<T, E: Into<Failure>>(
        mut self,
        steps: u64,
        run: impl FnOnce(Option<&Snapshot>, &mut dyn FnMut(StreamMoment<'_>) -> ControlFlow<()>) -> Result<T, E>,
    ) -> Result<T, Failure> {
        let start = self.start.take();
        let from = start.as_ref().map(|(snapshot, _)| snapshot);
        let finished = run(from, &mut |StreamMoment { step, loss, snapshot }| {
            if let Some(curve) = &mut self.curve {
                curve.add(step, loss);
            }
            if step.is_multiple_of(1 << 12) || self.slow {
                self.progress.reach(step);
            }
            // At the end, only the steps before a checkpoint are still to be verified.
            if !step.is_multiple_of(CHECK_INTERVAL) && !self.slow && step != steps {
                return ControlFlow::Continue(());
            }
            let flow = self.observe(step, snapshot, &RunStats::default());
            self.stopped_at = flow.is_break().then_some(step);
            flow
        });
        if let Some(steps) = self.stopped_at {
            drop(self.progress);
            self.archive.finish(self.network, Outcome::Interrupted { steps })?;
        }
        finished.map_err(Into::into)
    }

    /// Saves what is due at a step. Stops the run if the user interrupts it or it cannot be saved.
    fn observe(
        &mut self,
        step: u64,
        snapshot: &dyn Fn() -> Option<Snapshot>,
        stats: &RunStats,
    ) -> ControlFlow<()> {
        let (archive, interrupted) = (&mut *self.archive, self.interrupted.load(Ordering::Relaxed));
        if let Some((_, recorder)) = archive.record.as_mut().filter(|(_, recorder)| recorder.wants(step)) {
            snapshot().iter().for_each(|snapshot| recorder.keep(snapshot));
            let most = recorder.most_bytes();
            if most > LARGE_RECORD.max(2 * archive.announced) {
                archive.announced = most;
                note(&format!("the record may grow to {}", Bytes(most)));
            }
        }
        let announced = archive.fallback.is_some() || archive.checkpoint.is_some() || archive.unsaved;
        if !announced && archive.saved.elapsed() >= PATIENCE {
            let file = fallback_file();
            if io::stderr().is_terminal() {
                note(&format!("Ctrl-C saves the run in {}; `luge resume` continues it", file.display()));
            }
            archive.fallback = Some(file);
        }
        let due = archive.checkpoint.is_some() && archive.saved.elapsed() >= archive.every;
        if interrupted && archive.checkpoint.is_none() && !archive.unsaved {
            archive.checkpoint = Some(archive.fallback.take().unwrap_or_else(fallback_file));
        }
        if (due || interrupted)
            && let Err(failure) = archive.save(self.network, snapshot(), stats)
        {
            archive.failure = Some(failure);
            return ControlFlow::Break(());
        }
        if interrupted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// A new file for a run that is interrupted without --checkpoint.
fn fallback_file() -> PathBuf {
    let numbered = (2..).map(|n| PathBuf::from(format!("luge-{n}.checkpoint")));
    let mut names = std::iter::once(PathBuf::from("luge.checkpoint")).chain(numbered);
    names.find(|path| !path.exists()).unwrap_or_else(|| PathBuf::from("luge.checkpoint"))
}
