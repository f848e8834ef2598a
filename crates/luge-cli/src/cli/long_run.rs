//! A run that trains a network: its progress, checkpoints at intervals, a record to revisit, a clean stop on Ctrl-C, and
//! the files of its result.

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
    files::{Checkpoint, Frame, ModelError, Recorder, checkpoint::network_digest},
    run::{ObservationRate, RunProgress, RunStats, memory::Bytes},
    stream::StreamMoment,
    training::Certificate,
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

/// A run, and where its result goes.
pub(super) struct LongRun {
    job: Job,
    /// The checkpoint from which the run is resumed.
    pub(super) from: Option<Checkpoint>,
    checkpoint: Option<PathBuf>,
    every: Duration,
    record: Option<(Output, Recorder)>,
    /// The size of the record that was announced last.
    announced: u64,
    /// The digest of the network, once it is needed.
    digest: OnceLock<String>,
    saved: Instant,
    /// Where an interrupted run is saved without --checkpoint, once that has been announced.
    fallback: Option<PathBuf>,
    /// Whether the run cannot be saved.
    unsaved: bool,
    interrupted: Arc<AtomicBool>,
    failure: Option<Failure>,
    /// How long training took.
    pub(super) seconds: f64,
    /// Whether the result is printed as JSON.
    pub(super) json: bool,
    /// The file of the trained model.
    pub(super) out: Option<Output>,
    /// The file of the plot, and the losses for it.
    plot: Option<(Output, LossCurve)>,
}

impl LongRunArgs {
    /// A run with this result: whether it is printed as JSON, the model, and the plot. Checks the places where the run is to be saved.
    /// One that cannot be saved is refused, with the reason and a remedy. An earlier checkpoint of the same run is overwritten.
    pub(super) fn open(
        &self,
        outputs: &mut Outputs,
        (json, out, plot): (bool, Option<Output>, Option<Output>),
        job: Job,
        unsaved: Option<(&str, &str)>,
    ) -> Result<LongRun, Failure> {
        if let Some((why, remedy)) = unsaved.filter(|_| self.checkpoint.is_some() || self.record.is_some()) {
            return Err(Failure::usage(why, remedy));
        }
        let of_this_run =
            |path: &Path| Checkpoint::load(path).is_ok_and(|earlier| !earlier.record && earlier.job == job);
        if let Some(path) = &self.checkpoint {
            outputs.place_over(path, of_this_run)?;
        }
        let record = place(outputs, self.record.as_deref())?.map(|output| (output, Recorder::default()));
        let (unsaved, plot) = (unsaved.is_some(), plot.map(|plot| (plot, LossCurve::default())));
        let run = LongRun::new(self.checkpoint.clone(), self.every, job);
        Ok(LongRun { json, out, plot, record, unsaved, ..run })
    }
}

impl LongRun {
    /// A run that is saved to this checkpoint.
    pub(super) fn new(checkpoint: Option<PathBuf>, every: Duration, job: Job) -> Self {
        Self {
            job,
            from: None,
            checkpoint,
            every,
            record: None,
            announced: 0,
            digest: OnceLock::new(),
            saved: Instant::now(),
            fallback: None,
            unsaved: false,
            interrupted: Arc::default(),
            failure: None,
            seconds: 0.0,
            json: false,
            out: None,
            plot: None,
        }
    }

    /// Begins to train a network. Returns where the run is resumed.
    fn begin(&mut self, network: Option<&Network>) -> Result<Option<(Snapshot, RunStats)>, Failure> {
        if let (Some(from), Some(network), Some(file)) = (&self.from, network, &self.checkpoint) {
            from.belongs_to(network, &file.display().to_string())?;
        }
        (self.saved, self.interrupted) = (Instant::now(), interruptions());
        Ok(self.from.as_ref().and_then(|from| Some((from.last()?, from.seen.clone()))))
    }

    /// Follows a trace or a training on a table. If steps are slow, the clock is read after each.
    pub(super) fn follow<T, E: Into<Failure>>(
        &mut self,
        (network, slow): (&Network, bool),
        mut progress: Progress,
        run: impl FnOnce(
            Option<(&Snapshot, RunStats)>,
            ObservationRate,
            &mut dyn FnMut(RunProgress<'_>) -> ControlFlow<()>,
        ) -> Result<T, E>,
    ) -> Result<T, Failure> {
        let (started, start) = (Instant::now(), self.begin(Some(network))?);
        let start = start.as_ref().map(|(snapshot, stats)| (snapshot, stats.clone()));
        // A plot or a record needs more steps.
        let often = self.plot.is_some() || self.record.is_some();
        let rate = if often { ObservationRate::Strides } else { ObservationRate::Moments };
        let finished = run(start, rate, &mut |RunProgress { step, loss, since, engine, record }| {
            progress.reach_with_loss(step, loss);
            if let Some((_, curve)) = &mut self.plot {
                (step - since.len() as u64..).zip(since).for_each(|(step, &loss)| curve.add(step, loss));
                curve.add(step, loss);
            }
            match step.is_multiple_of(CHECK_INTERVAL) || slow {
                true => self.observe(Some(network), step, &|| Some(engine.snapshot()), record),
                false => ControlFlow::Continue(()),
            }
        });
        self.seconds = started.elapsed().as_secs_f64();
        finished.map_err(Into::into)
    }

    /// Follows a run of this many steps on a stream; one without a network cannot be saved. A run that was stopped has no result.
    pub(super) fn follow_stream<T, E: Into<Failure>>(
        &mut self,
        (network, slow): (Option<&Network>, bool),
        steps: u64,
        run: impl FnOnce(Option<&Snapshot>, &mut dyn FnMut(StreamMoment<'_>) -> ControlFlow<()>) -> Result<T, E>,
    ) -> Result<T, Failure> {
        let (started, start) = (Instant::now(), self.begin(network)?);
        let mut progress = Progress::new("training", steps).certainly();
        if let Some((_, curve)) = &mut self.plot {
            *curve = LossCurve::for_run(steps);
        }
        let mut stopped_at = None;
        let from = start.as_ref().map(|(snapshot, _)| snapshot);
        let finished = run(from, &mut |StreamMoment { step, loss, snapshot }| {
            if let Some((_, curve)) = &mut self.plot {
                curve.add(step, loss);
            }
            if step.is_multiple_of(1 << 12) || slow {
                progress.reach(step);
            }
            // At the end, only the steps before a checkpoint are still to be verified.
            if !step.is_multiple_of(CHECK_INTERVAL) && !slow && step != steps {
                return ControlFlow::Continue(());
            }
            let flow = self.observe(network, step, snapshot, &RunStats::default());
            stopped_at = flow.is_break().then_some(step);
            flow
        });
        drop(progress);
        self.seconds = started.elapsed().as_secs_f64();
        if let Some(steps) = stopped_at {
            self.close(network, Outcome::Interrupted { steps })?;
        }
        finished.map_err(Into::into)
    }

    /// Saves what is due at a step. Stops the run if the user interrupts it or it cannot be saved.
    fn observe(
        &mut self,
        network: Option<&Network>,
        step: u64,
        snapshot: &dyn Fn() -> Option<Snapshot>,
        stats: &RunStats,
    ) -> ControlFlow<()> {
        let interrupted = self.interrupted.load(Ordering::Relaxed);
        if let Some((_, recorder)) = self.record.as_mut().filter(|(_, recorder)| recorder.wants(step)) {
            snapshot().iter().for_each(|snapshot| recorder.keep(snapshot));
            let most = recorder.most_bytes();
            if most > LARGE_RECORD.max(2 * self.announced) {
                self.announced = most;
                note(&format!("the record may grow to {}", Bytes(most)));
            }
        }
        let announced = self.fallback.is_some() || self.checkpoint.is_some() || self.unsaved;
        if !announced && self.saved.elapsed() >= PATIENCE {
            let file = fallback_file();
            if io::stderr().is_terminal() {
                note(&format!("Ctrl-C saves the run in {}; `luge resume` continues it", file.display()));
            }
            self.fallback = Some(file);
        }
        let due = self.checkpoint.is_some() && self.saved.elapsed() >= self.every;
        if interrupted && self.checkpoint.is_none() && !self.unsaved {
            self.checkpoint = Some(self.fallback.take().unwrap_or_else(fallback_file));
        }
        if (due || interrupted)
            && let Err(failure) = self.save(network, snapshot(), stats)
        {
            self.failure = Some(failure);
            return ControlFlow::Break(());
        }
        if interrupted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn save(
        &mut self,
        network: Option<&Network>,
        snapshot: Option<Snapshot>,
        stats: &RunStats,
    ) -> Result<(), Failure> {
        let Some(path) = &self.checkpoint else { return Ok(()) };
        let (Some(network), Some(snapshot)) = (network, snapshot) else {
            return Err(Failure::error(
                "a network whose layers are not recognised cannot be saved",
                "leave --checkpoint out",
            ));
        };
        self.file(network, stats.clone(), vec![Frame::new(&snapshot)], None).save(path)?;
        self.saved = Instant::now();
        Ok(())
    }

    /// A checkpoint, or the record of a run that has ended.
    fn file(&self, network: &Network, seen: RunStats, frames: Vec<Frame>, ended: Option<u64>) -> Checkpoint {
        let (job, record) = (self.job.clone(), ended.is_some());
        let network = self.digest.get_or_init(|| network_digest(network)).clone();
        Checkpoint { job, network, seen, record, ended, frames }
    }

    /// The speed until the run's end, as text.
    pub(super) fn steps_per_second(&self, outcome: Outcome) -> String {
        let from = self.from.as_ref().and_then(|from| from.frames.last()).map_or(0, |frame| frame.step);
        let steps = outcome.steps().saturating_sub(from);
        format!("{} steps/s", count((steps as f64 / self.seconds.max(1e-9)) as u64))
    }

    /// The time and the speed, as text.
    pub(super) fn time(&self, outcome: Outcome) -> String {
        format!("{:.2} s, {}", self.seconds, self.steps_per_second(outcome))
    }

    /// Writes the trained model, if the run is certified.
    pub(super) fn save_model(
        &self,
        certificate: &Certificate,
        model: impl FnOnce(&str) -> Result<Vec<u8>, ModelError>,
    ) -> Result<(), Failure> {
        if let Some(out) = self.out.as_ref().filter(|_| certificate.proves_the_run()) {
            out.write(model(&out.path().display().to_string())?)?;
        }
        Ok(())
    }

    /// Writes the record and the plot of a run that has ended. Fails if something could not be saved before, or if the run was
    /// interrupted.
    pub(super) fn finish(
        &mut self,
        network: Option<&Network>,
        outcome: Outcome,
        draw: impl FnOnce(&LossCurve) -> String,
    ) -> Result<(), Failure> {
        self.close(network, outcome)?;
        self.plot.as_ref().map_or(Ok(()), |(plot, curve)| Ok(plot.write(draw(curve))?))
    }

    fn close(&mut self, network: Option<&Network>, outcome: Outcome) -> Result<(), Failure> {
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

/// A new file for a run that is interrupted without --checkpoint.
fn fallback_file() -> PathBuf {
    let numbered = (2..).map(|n| PathBuf::from(format!("luge-{n}.checkpoint")));
    let mut names = std::iter::once(PathBuf::from("luge.checkpoint")).chain(numbered);
    names.find(|path| !path.exists()).unwrap_or_else(|| PathBuf::from("luge.checkpoint"))
}
