//! `luge compare stream`: one's own learner beside ordinary networks.

use std::path::PathBuf;

use luge::{
    data::PrepareOptions,
    files::outputs::Outputs,
    stream::{Draw, Order, Samples, StreamJob},
};
use luge_experiments::compare::parity::{CompareError, OwnComparison, ParityComparison};

use super::super::{
    data_args::{FormatArg, named_table},
    failure::{Failure, failures},
    output::{place, show_rows},
    progress::Progress,
    stream::{first_draw, fit, open},
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
    /// stream: a CSV file whose rows are drawn at random, with two classes
    #[arg(long, value_name = "FILE.csv", conflicts_with = "draw")]
    data: Option<PathBuf>,
    /// stream: the column of the classes
    #[arg(long, value_name = "COLUMN", requires = "data")]
    target: Option<String>,
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
        refuse(self.data.is_some(), "--data", "stream")?;
        refuse(self.format.is_some(), "--format", "stream")?;
        refuse(self.primary.is_some(), "--primary", "stream")
    }
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let StreamArgs { learner, draw: draws, data, target, format, primary } = &args.stream;
    refuse(args.rate.is_some() || args.steps.is_some(), "--rate and --steps", "xor")?;
    refuse(args.bits.is_some() || args.hidden.is_some(), "--bits and --hidden", "parity")?;
    let columns: Vec<String> = target.iter().cloned().collect();
    let read = |place: &PathBuf| named_table(place, (&columns, None), false, PrepareOptions::default());
    let table = data.as_ref().map(read).transpose()?;
    let draws: Vec<Option<Draw>> = match &table {
        Some(_) => vec![None],
        None => draws.iter().copied().map(Some).collect(),
    };
    let (Some(learner), false) = (learner, draws.is_empty()) else {
        return Err(Failure::usage(
            "a learner or what it learns from is missing",
            "give --learner and --draw, for example --draw halfspace:features=4, or --data and --target",
        ));
    };
    let mut outputs = data.iter().fold(args.force.outputs().reading(learner), Outputs::reading);
    let plot = place(&mut outputs, args.plot.as_deref())?;
    let source = open(learner)?;
    let n_seeds = args.seeds.unwrap_or(1);
    let per_run = ParityComparison::n_ordinary();
    let mut progress = Progress::new("training", draws.len() as u64 * n_seeds * per_run).in_units("networks");
    let mut all = Vec::new();
    for draw in draws {
        let mut job = StreamJob::new(source.clone(), Samples::Draw(draw.unwrap_or_else(first_draw)));
        job.primary = primary.clone().unwrap_or(job.primary);
        fit(&mut job, *format, table.clone().map(|data| (data, Order::Draw)))?;
        for seed in 0..n_seeds {
            job.options.seed = seed;
            let before = all.len() as u64 * per_run;
            let most = args.samples.unwrap_or(1_000_000);
            all.push(OwnComparison::run(&job, most, |done| progress.reach(before + done))?);
        }
    }
    drop(progress);
    if let (Some(plot), Some(first)) = (plot, all.first()) {
        plot.write(first.chart())?;
    }
    show_rows(args.json, &all, |rows| {
        for compared in &all {
            let drawn = compared.draw.map_or_else(|| "rows of the table".to_owned(), |draw| draw.to_string());
            rows.row("stream", format!("{drawn}, seed {}", compared.seed));
            add_runs(rows, &source.name, &compared.learner, &compared.ordinary);
        }
    })
}

failures! {
    for CompareError(error, problem) passing Stream {
        unfit Classes "name one column of two classes with --target";
        unfit InTurn "draw the rows at random";
    } else {}
}
