//! `luge bench`: engines and simulators side by side.

use luge_experiments::bench::{Comparison, Effort, Growth, Report, run as measure};

use super::{Failure, note, show};

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
    let mut text = String::new();
    report.comparisons.iter().for_each(|comparison| add_comparison(&mut text, comparison));
    report.growths.iter().for_each(|growth| add_growth(&mut text, growth));
    text.push_str(&format!("peak memory: {:.0} MB", report.peak_memory as f64 / 1e6));
    text
}

fn add_comparison(text: &mut String, comparison: &Comparison) {
    text.push_str(&format!("{}\n", comparison.title));
    let header = format!("1 = {}", comparison.reference);
    text.push_str(&format!(
        "  {:<32} {:>14} {:>16}  {:>11}  {header}\n",
        "", "steps", "million steps/s", "bytes/cell"
    ));
    for figure in &comparison.figures {
        let per_cell = match (figure.cell_bytes, figure.cells) {
            (Some(bytes), Some(cells)) if cells > 0 => format!("{:.3}", bytes as f64 / cells as f64),
            _ => String::new(),
        };
        let millions = figure.per_second / 1e6;
        text.push_str(&format!(
            "  {:<32} {:>14} {millions:>16.3}  {per_cell:>11}  {:.4}\n",
            figure.name, figure.steps, figure.ratio
        ));
    }
    text.push('\n');
}

fn add_growth(text: &mut String, growth: &Growth) {
    text.push_str(&format!("nanoseconds per step, by {}\n", growth.what));
    text.push_str(&format!("  {:>12}", ""));
    growth.engines.iter().for_each(|engine| text.push_str(&format!(" {engine:>22}")));
    text.push('\n');
    for (size, times) in &growth.rows {
        text.push_str(&format!("  {size:>12}"));
        times.iter().for_each(|time| text.push_str(&format!(" {time:>22.2}")));
        text.push('\n');
    }
    text.push('\n');
}
