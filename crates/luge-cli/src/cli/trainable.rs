//! Trains prepared jobs with a progress bar, saves the run, writes its files, and prints its result.

use std::time::Instant;

use luge::{draw::LossCurve, files::Checkpoint};
use luge_train::Outcome;

use crate::cli::command_prelude::*;

/// A prepared job, and how its run is shown.
pub(super) trait Trainable {
    /// The result of training.
    type Report;

    /// The network that is saved; `None` if the run cannot be saved.
    fn network(&self) -> Option<&Network>;

    /// Whether steps are as slow as those of the dense engine.
    fn is_slow(&self) -> bool;

    /// The progress bar.
    fn progress(&self) -> Progress;

    /// An empty loss curve.
    fn curve(&self) -> LossCurve {
        LossCurve::default()
    }

    /// Trains, from the start or from the follower's checkpoint.
    fn train(&self, follower: Follower<'_>) -> Result<Self::Report, Failure>;

    /// How training ended.
    fn outcome(&self, report: &Self::Report) -> Outcome;

    /// The file of the trained model; `None` if the run is not certified.
    fn model(&self, report: &Self::Report, name: &str) -> Result<Option<Vec<u8>>, Failure>;

    /// Prints the result.
    fn show(&self, report: &Self::Report, json: bool, timing: &Timing) -> Result<(), Failure>;

    /// Draws the loss over the steps.
    fn draw(&self, report: &Self::Report, curve: &LossCurve) -> String;

    /// Fails if the run is not certified.
    fn verdict(&self, report: &Self::Report) -> Result<(), Failure>;
}

/// Where the result goes.
#[derive(Default)]
pub(super) struct Results {
    pub(super) json: bool,
    /// The trained model.
    pub(super) out: Option<Output>,
    /// The loss over the steps.
    pub(super) plot: Option<Output>,
}

/// Trains, from the start or from a checkpoint, and writes and shows the result.
pub(super) fn train_and_show(
    job: &impl Trainable,
    mut archive: RunArchive,
    from: Option<&Checkpoint>,
    results: Results,
) -> Result<(), Failure> {
    let started = Instant::now();
    let mut curve = results.plot.is_some().then(|| job.curve());
    let network = (job.network(), job.is_slow());
    let report = job.train(archive.follow(network, job.progress(), from, curve.as_mut()))?;
    let from = from.and_then(|checkpoint| checkpoint.frames.last()).map_or(0, |frame| frame.step);
    let timing = Timing { seconds: started.elapsed().as_secs_f64(), from };
    if let Some(out) = results.out
        && let Some(model) = job.model(&report, &out.path().display().to_string())?
    {
        out.write(model)?;
    }
    job.show(&report, results.json, &timing)?;
    archive.finish(job.network(), job.outcome(&report))?;
    if let (Some(plot), Some(curve)) = (results.plot, curve) {
        plot.write(job.draw(&report, &curve))?;
    }
    job.verdict(&report)
}
