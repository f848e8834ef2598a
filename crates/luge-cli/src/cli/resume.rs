//! `luge resume`: resumes a run from its checkpoint.

use std::time::Duration;

use luge::files::{Checkpoint, CheckpointError, atomic_file};

use super::{stream::Streamed, trace::Traced, train::Lesson};
use crate::cli::command_prelude::*;

/// Resume a run from a checkpoint
///
/// The result is bit for bit that of an uninterrupted run. Further checkpoints go to the same file.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The checkpoint
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// How often to save: seconds, or a time with a unit such as 500ms, 10s or 2m
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    every: Duration,
    /// Write the trained model to this file, if a learner was trained and the run is certified
    #[arg(long, value_name = "MODEL.safetensors")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let checkpoint = Checkpoint::load(&args.file)?;
    let name = args.file.display().to_string();
    if checkpoint.record {
        return Err(CheckpointError::IsRecord(name).into());
    }
    atomic_file::sweep(&args.file);
    let mut outputs = args.force.outputs().reading(&args.file);
    let out = place(&mut outputs, args.out.as_deref())?;
    let archive = RunArchive::new(Some(args.file.clone()), args.every, checkpoint.job.clone());
    let results = Results { json: args.json, out, plot: None };
    match &checkpoint.job {
        Job::Trace(_) if results.out.is_some() => Err(Failure::usage(
            format!("{name} is of a trace, which ends with no model to write"),
            "leave --out out",
        )),
        Job::Trace(job) => resume(&Traced::prepare(job)?, &checkpoint, &name, archive, results),
        Job::Stream(job) => resume(&Streamed::prepare(job)?, &checkpoint, &name, archive, results),
        Job::Train(job) => resume(&Lesson::prepare(job)?, &checkpoint, &name, archive, results),
    }
}

fn resume(
    job: &impl Trainable,
    checkpoint: &Checkpoint,
    name: &str,
    archive: RunArchive,
    results: Results,
) -> Result<(), Failure> {
    if let Some(network) = job.network() {
        checkpoint.belongs_to(network, name)?;
    }
    train_and_show(job, archive, Some(checkpoint), results)
}
