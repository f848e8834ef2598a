//! `luge compare`: compares ordinary gradient descent with a learner that gradient descent runs.

mod stream;

use luge::stream::Draw;
use luge_experiments::compare::{Comparison, Descent, DescentOptions, Ending, GRID};

use crate::cli::command_prelude::*;

/// Compare a learner that gradient descent runs with ordinary training
///
/// xor: backpropagation on a 2-2-1 ReLU network from random starts, and an exhaustive search (docs/xor.md).
/// parity: Gaussian elimination run by SGD on a stream, and ordinary networks trained on the same stream (docs/parity.md).
/// stream: the same with a --learner of your own on what you --draw.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The problem
    #[arg(value_name = "PROBLEM", value_parser = ["xor", "parity", "stream"])]
    problem: String,
    /// Number of seeds, counted from 0: random starts for xor, streams for the others [default: 100 for xor, otherwise 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: Option<u64>,
    /// xor: the learning rate of gradient descent [default: 0.1]
    #[arg(long, value_name = "RATE", value_parser = positive)]
    rate: Option<f64>,
    /// xor: the steps of gradient descent [default: 10000]
    #[arg(long, value_name = "N", value_parser = step_count)]
    steps: Option<u64>,
    /// parity: number of bits of a sample [default: 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    bits: Option<u16>,
    /// parity: number of bits that the parity depends on [default: half]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=256))]
    hidden: Option<u16>,
    /// parity, stream: maximum number of samples for an ordinary network [default: 1000000]
    #[arg(long, value_name = "M", value_parser = step_count)]
    samples: Option<u64>,
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
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Draw the final losses, or how many new inputs are right (with several streams, on the first)
    #[arg(long, value_name = "OUT.svg")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    args.refuse_others()?;
    if args.problem != "xor" {
        return stream::run(args);
    }
    let plot = place(&mut args.force.outputs(), args.plot.as_deref())?;
    let seeds = args.seeds.unwrap_or(100);
    let mut progress = Progress::new("training", seeds).in_units("seeds");
    let mut n_done = 0;
    let options = args.descent();
    let comparison = Comparison::run(seeds, options, || {
        n_done += 1;
        progress.reach(n_done);
    });
    drop(progress);
    if let Some(plot) = plot {
        plot.write(comparison.draw())?;
    }
    show_rows(args.json, &summary(args, &comparison), |rows| describe(rows, args, &comparison))
}

impl Args {
    /// The options of gradient descent on xor.
    fn descent(&self) -> DescentOptions {
        let default = DescentOptions::default();
        DescentOptions { rate: self.rate.unwrap_or(default.rate), steps: self.steps.unwrap_or(default.steps) }
    }

    /// Refuses flags that are for other problems.
    fn refuse_others(&self) -> Result<(), Failure> {
        let flags = [
            ("--rate", self.rate.is_some(), "xor"),
            ("--steps", self.steps.is_some(), "xor"),
            ("--bits", self.bits.is_some(), "parity"),
            ("--hidden", self.hidden.is_some(), "parity"),
            ("--samples", self.samples.is_some() && self.problem == "xor", "parity"),
            ("--learner", self.learner.is_some(), "stream"),
            ("--draw", !self.draw.is_empty(), "stream"),
            ("--data", self.data.is_some(), "stream"),
            ("--format", self.format.is_some(), "stream"),
            ("--primary", self.primary.is_some(), "stream"),
        ];
        let foreign = flags.into_iter().find(|(_, given, problem)| *given && *problem != self.problem);
        foreign.map_or(Ok(()), |(flag, _, problem)| {
            Err(Failure::usage(
                format!("{flag} is for `luge compare {problem}`"),
                format!("leave {flag} out"),
            ))
        })
    }
}

/// Parses a learning rate.
fn positive(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| "expected a positive number such as 0.1".to_owned())
}

/// The result as JSON.
fn summary(args: &Args, comparison: &Comparison) -> impl Serialize {
    // A loss that is not finite is `null`.
    let descent = |descent: &Descent| {
        object! {
            ending: descent.ending().word(),
            #[serde(flatten)]
            descent: descent.clone(),
        }
    };
    object! {
        problem: &args.problem,
        rate: args.descent().rate,
        steps: args.descent().steps,
        seeds: comparison.descents.len(),
        solved: comparison.count(Ending::Solved),
        stuck: comparison.count(Ending::Stuck),
        unfinished: comparison.count(Ending::Unfinished),
        search: &comparison.search,
        descents: comparison.descents.iter().map(descent).collect::<Vec<_>>(),
    }
}

fn describe(rows: &mut Rows, args: &Args, comparison: &Comparison) {
    rows.row(
        "gradient descent",
        format!(
            "{} random starts, {} steps of rate {} each",
            count(comparison.descents.len()),
            count(args.descent().steps),
            args.descent().rate
        ),
    );
    rows.row("  solved", count(comparison.count(Ending::Solved)));
    rows.row("  stuck", count(comparison.count(Ending::Stuck)));
    for (level, n) in comparison.levels() {
        rows.row("", format!("{} at loss {}", count(n), numeral(level)));
    }
    if comparison.count(Ending::Unfinished) > 0 {
        rows.row("  unfinished", count(comparison.count(Ending::Unfinished)));
    }
    let search = &comparison.search;
    let grid = GRID.map(|value| value.to_string()).join(", ");
    rows.row("exhaustive search", format!("{} candidates, weights {grid}", count(search.n_tried)));
    rows.row("  loss", numeral(search.loss));
    rows.row("  theta", numbers(&search.theta));
    rows.row("  place", format!("{} in order, {} as good in all", count(search.index), count(search.n_best)));
}
