//! `luge export`: a network for other programs.

use std::path::PathBuf;

use luge::{
    files::{
        export::{graph, stream_graph},
        model::AnyModel,
        outputs::Output,
        rocq::{self, ProofExport, Theorem},
    },
    ordinary::onnx,
    trace::TraceOptions,
};
use luge_landscape::LandscapeKind;

use super::ordinary::export_torch;
use super::{Failure, ForceArg, MachineArgs, cell_count, json_line, place, print, prover, read_text, word};

/// Write a model's network as a graph in JSON, with its initial weights
///
/// A model of landscape mlp is written for PyTorch (--torch, the initial weights and a script that trains them) or as ONNX (--onnx,
/// the trained function): docs/ordinary.md.
///
/// The graph contains neither the machine nor the data. docs/graph-format.md describes it, and
/// tests/independent/check.py trains it with JAX. --rocq writes the network together with its machine for the
/// checker in proofs/; then FILE may also be a machine, and only its landscape is written.
#[derive(clap::Args)]
#[group(id = "to", required = true, multiple = true, args = ["graph", "rocq", "torch", "onnx"])]
pub(super) struct Args {
    #[command(flatten)]
    file: MachineArgs,
    /// Write the graph to this file
    #[arg(long, value_name = "OUT.json")]
    graph: Option<PathBuf>,
    /// Write the network and its machine for Rocq: landscapes plain and compact with the offset carrier, streams, and mlp
    #[arg(long, value_name = "OUT.v")]
    rocq: Option<PathBuf>,
    /// Write a model of landscape mlp for PyTorch into this folder, with the script that trains it
    #[arg(long, value_name = "FOLDER")]
    torch: Option<PathBuf>,
    /// With --torch, write only the weights that are not zero
    #[arg(long, requires = "torch")]
    sparse: bool,
    /// With --torch, the table that the model was trained on
    #[arg(long, value_name = "FILE.csv", requires = "torch")]
    data: Option<PathBuf>,
    /// Write what a model of landscape mlp has learned as an ONNX file
    #[arg(long, value_name = "OUT.onnx")]
    onnx: Option<PathBuf>,
    /// The landscape of a machine: plain or compact
    #[arg(long, value_name = "KIND", default_value = LandscapeKind::Plain.word(), value_parser = word::<LandscapeKind>())]
    landscape: LandscapeKind,
    /// Have Rocq check the network, with the proofs built in this folder; exit with 1 if it is rejected
    #[arg(long, value_name = "FOLDER", requires = "rocq")]
    proofs: Option<PathBuf>,
    /// Cells per tape of a machine's landscape [default: as many as its run on a blank tape needs]
    #[arg(long, value_name = "N", value_parser = cell_count)]
    cells: Option<usize>,
    #[command(flatten)]
    force: ForceArg,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let mut outputs = args.force.outputs().reading(args.file.place());
    let graph_file = place(&mut outputs, args.graph.as_deref())?;
    let rocq_file = place(&mut outputs, args.rocq.as_deref())?;
    let onnx_file = place(&mut outputs, args.onnx.as_deref())?;
    let model = args.file.model().map(AnyModel::load).transpose()?;
    let misplaced = match model {
        Some(AnyModel::Ordinary(_)) => args.graph.is_some(),
        _ => args.torch.is_some() || args.onnx.is_some(),
    };
    if misplaced {
        return Err(Failure::usage(
            "--torch and --onnx are for models of landscape mlp, --graph for others",
            "write a model with luge stream --landscape mlp --out, or with luge train --out",
        ));
    }
    match model {
        None => machine(args, rocq_file),
        Some(AnyModel::Ordinary(model)) => {
            if let Some(file) = rocq_file {
                let written = rocq::mlp(&model.card.circuit, &model.initial()?).ok_or_else(not_bits)?;
                write_and_ask(args, &file, &written)?;
            }
            if let Some(file) = onnx_file {
                file.write(onnx(&model.trained()?)?)?;
            }
            let Some(folder) = &args.torch else { return Ok(()) };
            let read = args.data.as_deref().map(read_text).transpose()?;
            let data = read.map(|(name, text)| model.data(name, text, false));
            export_torch(&model.prepare(data.as_ref())?, (folder, args.sparse), &mut outputs)
        }
        Some(AnyModel::Stream(model)) => {
            let network = model.network()?;
            if let Some(file) = rocq_file {
                write_and_ask(args, &file, &rocq::stream(&network).ok_or_else(not_fixed)?)?;
            }
            graph_file.map_or(Ok(()), |file| Ok(file.write(json_line(&stream_graph(&network))?)?))
        }
        Some(AnyModel::Training(model)) => {
            let extended = model.extended()?;
            if let Some(file) = rocq_file {
                write_and_ask(args, &file, &rocq::extended(&extended).ok_or_else(not_joined)?)?;
            }
            graph_file.map_or(Ok(()), |file| Ok(file.write(json_line(&graph(&extended))?)?))
        }
    }
}

/// The landscape of a machine, alone.
fn machine(args: &Args, file: Option<Output>) -> Result<(), Failure> {
    if args.graph.is_some() {
        return Err(Failure::usage(
            "only a model has a graph to train; a machine's landscape is written with --rocq",
            "leave --graph out, or give a model that luge train --out wrote",
        ));
    }
    let mut job = args.file.job_alone()?;
    let steps = args.cells.map(|_| 0);
    job.options = TraceOptions { cells: args.cells, steps, ..TraceOptions::dense(args.landscape) };
    let plan = job.plan(&args.file.load(&job)?)?;
    let written = rocq::landscape(&plan.landscape).ok_or_else(not_proved)?;
    file.map_or(Ok(()), |file| write_and_ask(args, &file, &written))
}

/// Writes the network for Rocq. Prints what is proved only if Rocq ran and accepted it.
fn write_and_ask(args: &Args, file: &Output, written: &ProofExport) -> Result<(), Failure> {
    file.write(&written.text)?;
    let Some(proofs) = &args.proofs else { return Ok(()) };
    let claim = prover::ask(proofs, written)?;
    if !claim.holds {
        return Err(Failure::not_certified(claim.figures));
    }
    let what = match written.theorem {
        Theorem::Mlp | Theorem::MlpPromised => "stream",
        _ => "input",
    };
    print(&format!("proved for every {what}: {}\n", claim.figures))
}

fn not_proved() -> Failure {
    Failure::usage(
        "only the landscapes plain and compact are proved in Rocq",
        "choose --landscape plain or --landscape compact",
    )
}

fn not_fixed() -> Failure {
    Failure::usage("only streams of fixed-point numbers are proved in Rocq", "train with --format fix:8.4")
}

fn not_bits() -> Failure {
    Failure::usage(
        "only MLPs of circuits whose samples are bits and whose gates are ands, sums and parities are proved in Rocq",
        "train which_bit or parity_circuit",
    )
}

fn not_joined() -> Failure {
    Failure::usage(
        "only the landscapes plain and compact with the offset carrier are proved in Rocq",
        "train with --landscape plain or compact, and --carrier offset",
    )
}
