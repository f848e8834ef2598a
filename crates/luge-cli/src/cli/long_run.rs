//! Long runs: checkpoints at intervals, a record to revisit, and a clean stop on Ctrl-C.

use std::{
    cell::OnceCell,
    io::{self, IsTerminal},
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use luge::{
    draw::LossCurve,
    files::{Checkpoint, Frame, Output, Outputs, Recorder, checkpoint::network_digest},
    job::Job,
    run::{ObservationRate, RunProgress, RunStats, memory::Bytes},
    stream::StreamMoment,
};
use luge_net::Network;
use luge_train::{Outcome, Snapshot};

use super::{Failure, PATIENCE, Progress, note, place};

/// Records that may become larger than this are announced, and again when that doubles.
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

/// Takes a time.
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

/// Steps between two looks at the clock and at Ctrl-C.
const LOOK: u64 = 1 << 10;

/// Whether the user has pressed Ctrl-C, from now on.
pub(super) fn interruptions() -> Arc<AtomicBool> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    // A second handler in one process is refused; then Ctrl-C ends the process as it would without us.
    let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
    interrupted
}

/// Keeps what a run leaves on disk.
pub(super) struct RunArchive {
    checkpoint: Option<PathBuf>,
    every: Duration,
    record: Option<(Output, Recorder)>,
    /// The size of the record that was announced last.
    announced: u64,
    job: Job,
    network: Option<Network>,
    /// The digest of the network, once it is needed.
    digest: OnceCell<String>,
    saved: Instant,
    /// Where an interrupted run is saved without --checkpoint, once the user has been told.
    unasked: Option<PathBuf>,
    /// Whether steps are so slow that the clock is read after each.
    slow: bool,
    /// Whether the run cannot be resumed, because its random numbers are not saved.
    noisy: bool,
    interrupted: Arc<AtomicBool>,
    seen: RunStats,
    failure: Option<Failure>,
}

/// How long a run has taken.
pub(super) struct Pace {
    pub(super) seconds: f64,
    /// The step it was resumed from.
    pub(super) from: u64,
}

impl Pace {
    /// Steps per second until a run's end.
    pub(super) fn per_second(&self, outcome: Outcome) -> f64 {
        outcome.steps().saturating_sub(self.from) as f64 / self.seconds.max(1e-9)
    }
}

impl LongRunArgs {
    /// Refuses to keep a run of which nothing is saved.
    pub(super) fn refuse(&self, why: &str) -> Result<(), Failure> {
        match self.checkpoint.is_some() || self.record.is_some() {
            true => Err(Failure::usage(
                why,
                "leave --checkpoint and --record out; the same command makes the same run again",
            )),
            false => Ok(()),
        }
    }

    /// Looks at the places where a run is to be kept. An earlier checkpoint of the same run is written over.
    pub(super) fn archive(
        &self,
        outputs: &mut Outputs,
        job: Job,
        noisy: bool,
    ) -> Result<RunArchive, Failure> {
        if noisy && (self.checkpoint.is_some() || self.record.is_some()) {
            return Err(Failure::usage(
                "a run with noise cannot be resumed or revisited: its random numbers are not saved",
                "leave --checkpoint and --record out, or --noise",
            ));
        }
        let of_this_run =
            |path: &Path| Checkpoint::load(path).is_ok_and(|earlier| !earlier.record && earlier.job == job);
        if let Some(path) = &self.checkpoint {
            outputs.place_over(path, of_this_run)?;
        }
        let record = place(outputs, self.record.as_deref())?.map(|output| (output, Recorder::default()));
        Ok(RunArchive { record, noisy, ..RunArchive::new(self.checkpoint.clone(), self.every, job) })
    }
}

impl RunArchive {
    /// Saves a run to this file.
    pub(super) fn new(checkpoint: Option<PathBuf>, every: Duration, job: Job) -> Self {
        Self {
            checkpoint,
            every,
            record: None,
            announced: 0,
            job,
            network: None,
            digest: OnceCell::new(),
            saved: Instant::now(),
            unasked: None,
            slow: false,
            noisy: false,
            interrupted: Arc::default(),
            seen: RunStats::default(),
            failure: None,
        }
    }

    /// Follows a run of this network, from its start or from a checkpoint; steps of the dense engine are slow.
    pub(super) fn follow<'a>(
        &'a mut self,
        (network, slow): (&Network, bool),
        progress: Progress,
        from: Option<&Checkpoint>,
        curve: Option<&'a mut LossCurve>,
    ) -> Follower<'a> {
        (self.saved, self.interrupted, self.slow) = (Instant::now(), interruptions(), slow);
        self.network = Some(network.clone());
        let start = from.and_then(|checkpoint| Some((checkpoint.last()?, checkpoint.seen.clone())));
        Follower { archive: self, progress, curve, start, no_stats: RunStats::default(), broken_off: None }
    }

    /// Looks at one moment; breaks off where the user wants to.
    fn see(
        &mut self,
        step: u64,
        snapshot: &dyn Fn() -> Option<Snapshot>,
        record: &RunStats,
    ) -> ControlFlow<()> {
        let interrupted = self.interrupted.load(Ordering::Relaxed);
        if let Some((_, recorder)) = self.record.as_mut().filter(|(_, recorder)| recorder.wants(step)) {
            snapshot().iter().for_each(|snapshot| recorder.keep(snapshot));
            let most = recorder.most_bytes();
            if most > LARGE_RECORD.max(2 * self.announced) {
                self.announced = most;
                note(&format!("the record may come to {}", Bytes(most)));
            }
        }
        let told = self.unasked.is_some() || self.checkpoint.is_some() || self.noisy;
        if !told && self.saved.elapsed() >= PATIENCE {
            let file = unasked();
            if io::stderr().is_terminal() {
                note(&format!("Ctrl-C saves the run in {}; `luge resume` goes on with it", file.display()));
            }
            self.unasked = Some(file);
        }
        let due = self.checkpoint.is_some() && self.saved.elapsed() >= self.every;
        if due || interrupted {
            self.seen = record.clone();
            if interrupted && self.checkpoint.is_none() && !self.noisy {
                self.checkpoint = Some(self.unasked.take().unwrap_or_else(unasked));
            }
            if let Err(failure) = self.save(snapshot()) {
                self.failure = Some(failure);
                return ControlFlow::Break(());
            }
        }
        if interrupted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn save(&mut self, snapshot: Option<Snapshot>) -> Result<(), Failure> {
        let Some(path) = self.checkpoint.clone() else { return Ok(()) };
        let snapshot = snapshot.ok_or_else(|| {
            Failure::unfit(
                "a network whose layers are not recognised cannot be saved",
                "leave --checkpoint out",
            )
        })?;
        self.checkpoint(vec![Frame::new(&snapshot)], None).save(&path)?;
        self.saved = Instant::now();
        Ok(())
    }

    fn checkpoint(&self, frames: Vec<Frame>, ended: Option<u64>) -> Checkpoint {
        let digest = || self.network.as_ref().map(network_digest).unwrap_or_default();
        let (job, network) = (self.job.clone(), self.digest.get_or_init(digest).clone());
        let (seen, record) = (self.seen.clone(), ended.is_some());
        Checkpoint { job, network, seen, record, ended, frames }
    }

    /// Writes the record of a run that has ended; fails if something could not be written before, or if the run was interrupted.
    pub(super) fn finish(&mut self, outcome: Outcome) -> Result<(), Failure> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if let Some((output, recorder)) = self.record.take() {
            let record = self.checkpoint(recorder.frames().to_vec(), Some(outcome.steps()));
            output.write(record.to_bytes().map_err(Failure::print)?)?;
        }
        let Outcome::Interrupted { steps } = outcome else { return Ok(()) };
        let ended = format!("interrupted after {steps} steps");
        Err(match self.checkpoint.as_ref().map(|path| path.display()) {
            None => Failure::unfit(ended, "runs with noise cannot be resumed, so nothing was saved"),
            Some(file) => Failure::unfit(
                format!("{ended}, saved in {file}"),
                format!("resume it with: luge resume {file}"),
            ),
        })
    }
}

/// Watches a run: shows how far it is, collects its losses, and saves what is to be saved.
pub(super) struct Follower<'a> {
    archive: &'a mut RunArchive,
    progress: Progress,
    curve: Option<&'a mut LossCurve>,
    /// Where the run is resumed.
    start: Option<(Snapshot, RunStats)>,
    no_stats: RunStats,
    broken_off: Option<u64>,
}

impl Follower<'_> {
    /// Makes a run of a trace or a training on a table.
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
        // What is drawn or recorded is looked at more often.
        let often = self.curve.is_some() || self.archive.record.is_some();
        let rate = if often { ObservationRate::Strides } else { ObservationRate::Moments };
        let made = run(start, rate, &mut |RunProgress { step, loss, since, engine, record }| {
            self.progress.reach_with_loss(step, loss);
            if let Some(curve) = &mut self.curve {
                (step - since.len() as u64..).zip(since).for_each(|(step, &loss)| curve.add(step, loss));
                curve.add(step, loss);
            }
            match step.is_multiple_of(LOOK) || self.archive.slow {
                true => self.archive.see(step, &|| Some(engine.snapshot()), record),
                false => ControlFlow::Continue(()),
            }
        });
        made.map_err(Into::into)
    }

    /// Makes a run on a stream of so many steps. One that is broken off is no result.
    pub(super) fn follow_stream<T, E: Into<Failure>>(
        mut self,
        steps: u64,
        run: impl FnOnce(Option<&Snapshot>, &mut dyn FnMut(StreamMoment<'_>) -> ControlFlow<()>) -> Result<T, E>,
    ) -> Result<T, Failure> {
        let start = self.start.take();
        let from = start.as_ref().map(|(snapshot, _)| snapshot);
        let made = run(from, &mut |StreamMoment { step, loss, snapshot }| {
            if let Some(curve) = &mut self.curve {
                curve.add(step, loss);
            }
            if step.is_multiple_of(1 << 12) {
                self.progress.reach(step);
            }
            // At the end only the steps before a checkpoint are still to be verified.
            if !step.is_multiple_of(LOOK) && !self.archive.slow && step != steps {
                return ControlFlow::Continue(());
            }
            let flow = self.archive.see(step, snapshot, &self.no_stats);
            self.broken_off = flow.is_break().then_some(step);
            flow
        });
        if let Some(steps) = self.broken_off {
            drop(self.progress);
            self.archive.finish(Outcome::Interrupted { steps })?;
        }
        made.map_err(Into::into)
    }
}

/// Where an interrupted run is saved without --checkpoint: a name that is not taken.
fn unasked() -> PathBuf {
    let numbered = (2..).map(|n| PathBuf::from(format!("luge-{n}.checkpoint")));
    let mut names = std::iter::once(PathBuf::from("luge.checkpoint")).chain(numbered);
    names.find(|path| !path.exists()).unwrap_or_else(|| PathBuf::from("luge.checkpoint"))
}
