//! `luge compile`: a program to a machine.

use std::path::PathBuf;

use indicatif::HumanCount;
use luge::{
    files::{
        outputs::{Output, Outputs},
        summary::CompileSummary,
    },
    job::{self, source::Source},
};
use luge_machine::{
    formats::Format,
    lowering::{Moves, lower},
};

use super::{
    data_args::{DataArgs, show_notes},
    failure::Failure,
    output::{ForceArg, Rows, count, place, sample_sizes, show},
};

/// Compile a Sled program to a Turing machine, and show its size
///
/// The machine depends on the number of features and labels and on the number format, but not on the data themselves.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A Sled program, or `-` for standard input
    #[arg(value_name = "FILE.sled")]
    file: String,
    #[command(flatten)]
    data: DataArgs,
    /// Write the machine to this file, with the contents of its constant tapes
    #[arg(short, long, value_name = "OUT.tm")]
    out: Option<PathBuf>,
    /// Print the sizes as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    force: ForceArg,
}

impl Args {
    /// Where the machine goes, if it is to be written.
    fn output(&self) -> Result<Option<Output>, Failure> {
        if let Some(out) = self.out.as_ref().filter(|out| out.extension().is_none_or(|e| e != "tm")) {
            return Err(Failure::usage(
                format!("{} does not end in .tm", out.display()),
                "machines are written in the native format; luge convert writes other formats",
            ));
        }
        let outputs = self.force.outputs().reading(&self.file);
        place(&mut self.data.data.iter().fold(outputs, Outputs::reading), self.out.as_deref())
    }
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let source = Source::open(&args.file)?;
    let out = args.output()?;
    let job = args.data.job(source)?;
    let table = job.table()?;
    show_notes(&job.data, &table.notes);
    let compiled = job::compile(&job.source, &table, job.options.format, &job.set)?;
    let machine = &compiled.machine;
    let size = lower(machine, Moves::Keep)?.report().after;
    if let Some(out) = out {
        out.write(Format::Native.write(machine, Some(&compiled.input)).map_err(Failure::of)?)?;
    }
    let sizes = (table.feature_names.len(), table.label_names.len(), job.options.format);
    let summary = CompileSummary::of(&compiled, sizes, &size);
    show(args.json, &summary, || {
        let mut rows = Rows::default();
        rows.row("learner", summary.learner.unwrap_or_default());
        rows.row("data", sample_sizes(summary.features, summary.labels, &summary.format));
        rows.row("weights", count(summary.weights));
        rows.row("tapes", summary.tapes.join(", "));
        rows.row("tracks", format!("{} binary tapes", summary.tracks));
        rows.row("states", count(summary.states));
        rows.row("rules", count(summary.rules));
        rows.row(
            "vertices",
            format!("{}, for the symbols that states look at", HumanCount(summary.vertices)),
        );
        rows.text()
    })
}
