//! `luge bench`: engines and simulators side by side.

use luge_experiments::bench::{Comparison, Effort, Growth, Report, run as measure};

use crate::cli::command_prelude::*;

/// Measure engines and simulators side by side
///
/// Every figure is the best of several runs. Ratios are relative to a simulator without any checks, or to the machine as native code, which needs `rustc`. Run it on an idle machine.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Make only a few short runs, as a test
    #[arg(long)]
    quick: bool,
    /// Measure only what has this word in its title, such as perceptron
    #[arg(long, value_name = "WORD")]
    only: Option<String>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let effort = if args.quick { Effort::QUICK } else { Effort::FULL };
    let report = measure(effort, args.only.as_deref(), note)?;
    show(args.json, &report, || text(&report))
}

fn text(report: &Report) -> String {
    let comparisons = report.comparisons.iter().map(comparison);
    let tables: String = comparisons.chain(report.growths.iter().map(growth)).collect();
    format!("{tables}peak memory: {:.0} MB", report.peak_memory as f64 / 1e6)
}

fn comparison(Comparison { title, reference, figures }: &Comparison) -> String {
    let mut rows = vec![["", "steps", "million steps/s", "bytes/cell"].map(str::to_owned).to_vec()];
    rows[0].push(format!("1 = {reference}"));
    for figure in figures {
        let per_cell = match (figure.cell_bytes, figure.cells) {
            (Some(bytes), Some(cells)) if cells > 0 => format!("{:.3}", bytes as f64 / cells as f64),
            _ => String::new(),
        };
        let speed = format!("{:.3}", figure.per_second / 1e6);
        let (name, steps, ratio) =
            (figure.name.clone(), figure.steps.to_string(), format!("{:.4}", figure.ratio));
        rows.push(vec![name, steps, speed, per_cell, ratio]);
    }
    format!("{title}\n{}\n", columns(&rows, 1..5))
}

fn growth(Growth { what, engines, rows }: &Growth) -> String {
    let times = |times: &[f64]| times.iter().map(|time| format!("{time:.2}")).collect::<Vec<_>>();
    let header = [vec![String::new()], engines.iter().map(ToString::to_string).collect()].concat();
    let rows = rows.iter().map(|(size, row)| [vec![size.to_string()], times(row)].concat());
    let table = columns(&std::iter::once(header).chain(rows).collect::<Vec<_>>(), 0..engines.len() + 1);
    format!("nanoseconds per step, by {what}\n{table}\n")
}
