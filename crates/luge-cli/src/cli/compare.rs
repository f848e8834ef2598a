//! `luge compare`: how often plain gradient descent sticks where a search does not.

use std::path::PathBuf;

use indicatif::HumanCount;
use luge::{
    compare::{Comparison, Descent, DescentOptions, Ending, GRID, Search},
    plot::numeral,
};
use serde::Serialize;

use super::{
    failure::Failure,
    machine_args::step_count,
    output::{create, fill, print, print_json, table},
    progress::Progress,
};

/// Count how often plain gradient descent sticks, beside an exhaustive search over small weights
///
/// XOR with a 2-2-1 ReLU network: backpropagation on the four samples from random starts, no machine and no landscape.
/// docs/xor.md says what exactly is run.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The problem
    #[arg(value_name = "PROBLEM", value_parser = ["xor"])]
    problem: String,
    /// Random starts, with seeds counted from 0
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: u64,
    /// The learning rate of gradient descent
    #[arg(long, value_name = "RATE", default_value_t = DescentOptions::default().rate, value_parser = positive)]
    rate: f64,
    /// The steps of gradient descent
    #[arg(long, value_name = "N", default_value_t = DescentOptions::default().steps, value_parser = step_count)]
    steps: u64,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Draw the final losses
    #[arg(long, value_name = "OUT.svg")]
    plot: Option<PathBuf>,
}

/// The result as JSON.
#[derive(Serialize)]
struct Summary<'a> {
    problem: &'a str,
    rate: f64,
    steps: u64,
    seeds: usize,
    solved: usize,
    stuck: usize,
    unfinished: usize,
    search: &'a Search,
    descents: Vec<DescentSummary<'a>>,
}

#[derive(Serialize)]
struct DescentSummary<'a> {
    ending: &'static str,
    /// A loss that is not finite is `null`.
    #[serde(flatten)]
    descent: &'a Descent,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let plot = create(args.plot.as_deref())?;
    let mut progress = Progress::new("training", args.seeds).in_units("seeds");
    let mut n_done = 0;
    let options = DescentOptions { rate: args.rate, steps: args.steps };
    let comparison = Comparison::run(args.seeds, options, || {
        n_done += 1;
        progress.reach(n_done);
    });
    drop(progress);
    if let Some(file) = plot {
        fill(file, &comparison.draw())?;
    }
    if args.json { print_json(&summary(args, &comparison)) } else { print(&table(&rows(args, &comparison))) }
}

/// Takes a learning rate.
fn positive(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| "expected a positive number such as 0.1".to_owned())
}

fn summary<'a>(args: &'a Args, comparison: &'a Comparison) -> Summary<'a> {
    let descent = |descent: &'a Descent| DescentSummary { ending: descent.ending().word(), descent };
    Summary {
        problem: &args.problem,
        rate: args.rate,
        steps: args.steps,
        seeds: comparison.descents.len(),
        solved: comparison.count(Ending::Solved),
        stuck: comparison.count(Ending::Stuck),
        unfinished: comparison.count(Ending::Unfinished),
        search: &comparison.search,
        descents: comparison.descents.iter().map(descent).collect(),
    }
}

fn rows(args: &Args, comparison: &Comparison) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut row = |name: &str, value: String| rows.push((name.to_owned(), value));
    let count = |n: usize| HumanCount(n as u64).to_string();
    row(
        "gradient descent",
        format!(
            "{} random starts, {} steps of rate {} each",
            count(comparison.descents.len()),
            HumanCount(args.steps),
            args.rate
        ),
    );
    row("  solved", count(comparison.count(Ending::Solved)));
    row("  stuck", count(comparison.count(Ending::Stuck)));
    for (level, n) in comparison.levels() {
        row("", format!("{} at loss {}", count(n), numeral(level)));
    }
    if comparison.count(Ending::Unfinished) > 0 {
        row("  unfinished", count(comparison.count(Ending::Unfinished)));
    }
    let search = &comparison.search;
    let grid = GRID.map(|value| value.to_string()).join(", ");
    row("exhaustive search", format!("{} candidates, weights {grid}", count(search.n_tried)));
    row("  loss", numeral(search.loss));
    let theta: Vec<String> = search.theta.iter().map(f64::to_string).collect();
    row("  theta", theta.join(" "));
    row("  place", format!("{} in order, {} as good in all", count(search.index), count(search.n_best)));
    rows
}
