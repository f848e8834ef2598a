//! `luge export`: writes a network for other programs.

use luge::{
    files::{
        export::{graph, stream_graph},
        rocq::{self, ProofExport, Theorem},
    },
    mlp::onnx,
    trace::{MAX_CELLS, TraceOptions},
};

use super::{mlp::export_torch, prover};
use crate::cli::command_prelude::*;

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
    #[arg(long, value_name = "N", value_parser = up_to(MAX_CELLS, "cells"))]
    cells: Option<usize>,
    #[command(flatten)]
    force: ForceArg,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let mut outputs = args.force.outputs().reading(&args.file.file);
    let graph_file = place(&mut outputs, args.graph.as_deref())?;
    let rocq_file = place(&mut outputs, args.rocq.as_deref())?;
    let onnx_file = place(&mut outputs, args.onnx.as_deref())?;
    let model = args.file.model().map(AnyModel::load).transpose()?;
    let misplaced = match model {
        Some(AnyModel::Mlp(_)) => args.graph.is_some(),
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
        Some(AnyModel::Mlp(model)) => {
            let initial = rocq_file.is_some().then(|| model.initial()).transpose()?;
            let only = "MLPs of circuits whose samples are bits and whose gates are ands, sums and parities";
            let remedy = "train which_bit or parity_circuit";
            prove(args, rocq_file, || rocq::mlp(&model.card.circuit, initial.as_ref()?), (only, remedy))?;
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
            let only = ("streams of fixed-point numbers", "train with --format fix:8.4");
            prove(args, rocq_file, || rocq::stream(&network), only)?;
            graph_file.map_or(Ok(()), |file| Ok(file.write(json_line(&stream_graph(&network))?)?))
        }
        Some(AnyModel::Training(model)) => {
            let extended = model.extended()?;
            let only = "the landscapes plain and compact with the offset carrier";
            let remedy = "train with --landscape plain or compact, and --carrier offset";
            prove(args, rocq_file, || rocq::extended(&extended), (only, remedy))?;
            graph_file.map_or(Ok(()), |file| Ok(file.write(json_line(&graph(&extended))?)?))
        }
    }
}

/// Exports the landscape of a machine.
fn machine(args: &Args, file: Option<Output>) -> Result<(), Failure> {
    if args.graph.is_some() {
        return Err(Failure::usage(
            "only a model has a graph to train; a machine's landscape is written with --rocq",
            "leave --graph out, or give a model that luge train --out wrote",
        ));
    }
    let mut job = args.file.job(&InputArgs::default())?;
    let steps = args.cells.map(|_| 0);
    job.options = TraceOptions { cells: args.cells, steps, ..TraceOptions::dense(args.landscape) };
    let plan = job.plan(&args.file.load(&job)?)?;
    let only = ("the landscapes plain and compact", "choose --landscape plain or --landscape compact");
    prove(args, file, || rocq::landscape(&plan.landscape), only)
}

/// Writes a network for Rocq, and with --proofs has it checked. Networks that no theorem covers are refused.
fn prove(
    args: &Args,
    file: Option<Output>,
    written: impl FnOnce() -> Option<ProofExport>,
    (only, remedy): (&str, &str),
) -> Result<(), Failure> {
    let Some(file) = file else { return Ok(()) };
    let written =
        &written().ok_or_else(|| Failure::usage(format!("only {only} are proved in Rocq"), remedy))?;
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
