//! `luge compare stream`: one's own learner beside ordinary networks.

use luge::stream::{Draw, Samples, StreamJob};
use luge_experiments::compare::parity::{OwnComparison, ParityComparison};

use super::super::{
    data_args::FormatArg,
    failure::Failure,
    output::{Rows, note, place, show},
    progress::Progress,
    stream::open,
};
use super::{Args, parity::add_runs, refuse};

#[derive(clap::Args)]
pub(super) struct StreamArgs {
    /// stream: the learner, a file or the name of one that ships
    #[arg(long, value_name = "LEARNER")]
    learner: Option<String>,
    /// stream: what to draw, as in luge stream; repeat for several sizes
    #[arg(long, value_name = "WHAT")]
    draw: Vec<Draw>,
    /// stream: number format, or auto for the smallest fix:I.F in which no number of a program wraps around on the first stream [default: fix:4.4, or that of a learner that ships]
    #[arg(long, value_name = "FORMAT")]
    format: Option<FormatArg>,
    /// stream: the network whose weights the learner finds [default: linear, or that of a learner that ships]
    #[arg(long, value_name = "NETWORK")]
    primary: Option<String>,
}

impl StreamArgs {
    /// Refuses what the other problems have no use for.
    pub(super) fn refuse(&self) -> Result<(), Failure> {
        refuse(self.learner.is_some(), "--learner", "stream")?;
        refuse(!self.draw.is_empty(), "--draw", "stream")?;
        refuse(self.format.is_some(), "--format", "stream")?;
        refuse(self.primary.is_some(), "--primary", "stream")
    }
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let StreamArgs { learner, draw: draws, format, primary } = &args.stream;
    refuse(args.rate.is_some() || args.steps.is_some(), "--rate and --steps", "xor")?;
    refuse(args.bits.is_some() || args.hidden.is_some(), "--bits and --hidden", "parity")?;
    let (Some(learner), Some(&first)) = (learner, draws.first()) else {
        return Err(Failure::usage(
            "a learner or what it learns from is missing",
            "give --learner and --draw, for example --draw halfspace:features=4",
        ));
    };
    let source = open(learner)?;
    let mut job = StreamJob::new(source, Samples::Draw(first));
    job.primary = primary.clone().unwrap_or(job.primary);
    match format {
        Some(FormatArg::Given(format)) => job.options.format = *format,
        Some(FormatArg::Auto) => note(&format!("format {}", job.choose_format()?)),
        None => {}
    }
    let plot = place(&mut args.force.outputs().reading(learner), args.plot.as_deref())?;
    let n_seeds = args.seeds.unwrap_or(1);
    let per_run = ParityComparison::n_ordinary();
    let mut progress = Progress::new("training", draws.len() as u64 * n_seeds * per_run).in_units("networks");
    let mut all = Vec::new();
    for &draw in draws {
        for seed in 0..n_seeds {
            job.options.seed = seed;
            let before = all.len() as u64 * per_run;
            let most = args.samples.unwrap_or(1_000_000);
            let compared = OwnComparison::run(&job, draw, most, |done| progress.reach(before + done));
            all.push(compared?);
        }
    }
    drop(progress);
    if let (Some(plot), Some(first)) = (plot, all.first()) {
        plot.write(first.chart())?;
    }
    show(args.json, &all, || {
        let mut rows = Rows::default();
        for compared in &all {
            rows.row("stream", format!("{}, seed {}", compared.draw, compared.seed));
            add_runs(&mut rows, &job.source.name, &compared.learner, &compared.ordinary);
        }
        rows.text()
    })
}
