//! `luge compile`: compiles a program to a machine or a circuit.

use luge::{
    StreamJob, TrainJob,
    data::Table,
    files::summary,
    stream::{Order, Samples, StreamLandscape},
};
use luge_machine::formats::Format;

use super::circuit;
use crate::cli::command_prelude::*;

/// Compile a Sled program to a Turing machine, and show its size
///
/// The machine depends on the number of features and labels and on the number format, but not on the data themselves. With --circuit
/// the program becomes a circuit, which may loop over the rows of the table: then it depends on their number, too (docs/ordinary.md).
#[derive(clap::Args)]
pub(super) struct Args {
    /// A Sled program, or `-` for standard input
    #[arg(value_name = "FILE.sled")]
    file: String,
    #[command(flatten)]
    data: DataArgs,
    /// Make a circuit instead: an AIGER file or a listing
    #[arg(long)]
    circuit: bool,
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
    /// The output file, if one is named.
    fn output(&self) -> Result<Option<Output>, Failure> {
        let machine = self.out.as_ref().filter(|_| !self.circuit);
        if let Some(out) = machine.filter(|out| out.extension().is_none_or(|e| e != "tm")) {
            return Err(Failure::usage(
                format!("{} does not end in .tm", out.display()),
                "machines are written in the native format; luge convert writes other formats",
            ));
        }
        let outputs = self.force.outputs().reading(&self.file);
        place(&mut self.data.csv.protect(outputs), self.out.as_deref())
    }
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let source = Source::open(&args.file)?;
    let out = args.output()?;
    let job = args.data.job(source)?;
    let table = job.table()?;
    show_notes(&job.data, &table.notes);
    if args.circuit {
        return circuit(job, table, out, args.json);
    }
    let compiled = job.for_table(&table).compile()?;
    let machine = &compiled.machine;
    let size = lower(machine, Moves::Keep)?.after;
    if let Some(out) = out {
        out.write(Format::Native.write(machine, Some(&compiled.input)).map_err(Failure::of)?)?;
    }
    let (features, labels, format) = (table.feature_names.len(), table.label_names.len(), job.options.format);
    show_rows(args.json, &summary::of_compiled(&compiled, (features, labels, format), &size), |rows| {
        let tapes: Vec<&str> = machine.tapes().iter().map(|tape| tape.name.as_str()).collect();
        rows.row("learner", machine.name().unwrap_or_default());
        rows.row("data", sample_sizes(features, labels, format));
        rows.row("weights", count(compiled.n_theta));
        rows.row("tapes", tapes.join(", "));
        rows.row("tracks", format!("{} binary tapes", size.tapes));
        rows.row("states", count(machine.states().len()));
        rows.row("rules", count(machine.n_rules()));
        let vertices = count(size.vertices);
        rows.row("vertices", format!("{vertices}, for the symbols that states look at"));
    })
}

/// Compiles a program to a circuit that takes the table's rows in cycles.
fn circuit(job: TrainJob, table: Table, out: Option<Output>, json: bool) -> Result<(), Failure> {
    let mut stream = StreamJob::new(job.source, Samples::Table(table, Order::Cycle)).on(StreamLandscape::Mlp);
    (stream.options.format, stream.primary, stream.set) = (job.options.format, job.primary, job.set);
    let made = stream.circuit()?.circuit;
    if let Some(out) = out {
        let name = out.path().display().to_string();
        out.write(circuit::written(&made, &name))?;
    }
    circuit::inspect(&made, json)
}
