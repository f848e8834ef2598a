//! `luge check`: checks a program without data.

use luge::job::program;
use luge_net::NumberFormat;

use crate::cli::command_prelude::*;

/// Check a Sled program without data, and show the size of its machine
///
/// The program is checked for small data: 2 features, 1 or 2 labels, fix:8.8. --features, --labels and --format set other
/// sizes.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A Sled program, or `-` for standard input
    #[arg(value_name = "FILE.sled")]
    file: String,
    /// Number of features of a sample
    #[arg(long, value_name = "M")]
    features: Option<usize>,
    /// Number of labels of a sample
    #[arg(long, value_name = "K")]
    labels: Option<usize>,
    /// How numbers become bits: fix:I.F
    #[arg(long, value_name = "FORMAT")]
    format: Option<NumberFormat>,
    /// Set a constant of the program, as NAME=VALUE; may be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Print the sizes as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let source = Source::open(&args.file)?;
    let mut sizes = luge_sled::usual_sizes(&source.text);
    sizes.n_features = args.features.unwrap_or(sizes.n_features);
    sizes.n_labels = args.labels.unwrap_or(sizes.n_labels);
    if let Some(format) = args.format {
        sizes = program::sizes(format, sizes.n_features, sizes.n_labels)
            .map_err(|error| Failure::of_program(error, &source))?;
    }
    let compiled = program::compile(&source.text, &source.name, &sizes, &args.set)
        .map_err(|error| Failure::of_program(error, &source))?;
    let size = lower(&compiled.machine, Moves::Keep)?.after;
    let summary = object! {
        features: sizes.n_features,
        labels: sizes.n_labels,
        format: format!("fix:{}.{}", sizes.integer, sizes.fraction),
        weights: compiled.n_theta,
        tapes: size.tapes,
        states: size.states,
        vertices: size.vertices,
    };
    show_rows(args.json, &summary, |rows| {
        rows.row("program", "no errors");
        rows.row("data", sample_sizes(summary.features, summary.labels, &summary.format));
        rows.row("weights", count(summary.weights));
        rows.row("tapes", format!("{} binary ones", summary.tapes));
        rows.row("states", count(summary.states));
        rows.row("vertices", count(summary.vertices));
    })
}
