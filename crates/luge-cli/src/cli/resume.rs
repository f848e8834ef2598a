//! `luge resume`: resumes a run from its checkpoint.

use std::time::Duration;

use luge::files::{Checkpoint, CheckpointError, atomic_file};

use super::{stream, trace, train};
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
    let job = checkpoint.job.clone();
    let mut run = LongRun::new(Some(args.file.clone()), args.every, job.clone());
    (run.from, run.json, run.out) = (Some(checkpoint), args.json, out);
    match &job {
        Job::Trace(_) if args.out.is_some() => Err(Failure::usage(
            format!("{name} is of a trace, which ends with no model to write"),
            "leave --out out",
        )),
        Job::Trace(job) => trace::train(&job.prepare()?, "", run),
        Job::Stream(job) => stream::train(job, &job.prepare()?, run),
        Job::Train(job) => train::train(job, job.prepare()?, run),
    }
}
