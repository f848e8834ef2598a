//! Landscape mlp of `luge trace` and `luge stream`: SGD on an ordinary MLP runs a circuit.

use luge::{
    certificate::answer::verdict_on,
    files::FileError,
    job::program::overflow,
    mlp::{MlpModel, PreparedMlp, TorchError, TorchExport},
    stream::StreamReport,
};
use luge_landscape::mlp::{Float, MlpConstants};
use luge_train::Precision;

use super::stream::outcome;
use crate::cli::command_prelude::*;

#[derive(clap::Args)]
pub(super) struct TorchArgs {
    /// Train nothing: write landscape mlp for PyTorch into this folder, with the script that trains it
    #[arg(long, value_name = "FOLDER")]
    torch: Option<PathBuf>,
    /// With --torch, write only the weights that are not zero
    #[arg(long, requires = "torch")]
    sparse: bool,
    /// Write the trained model to this file, if the run is certified
    #[arg(long, value_name = "MODEL", conflicts_with = "torch")]
    pub(super) out: Option<PathBuf>,
}

impl TorchArgs {
    /// Refuses options that only landscape mlp has; a trace of another landscape has no model.
    pub(super) fn refuse(&self, leaves_a_model: bool) -> Result<(), Failure> {
        if self.torch.is_none() && (leaves_a_model || self.out.is_none()) {
            return Ok(());
        }
        let what = if leaves_a_model { "--torch is" } else { "--torch and --out are" };
        Err(Failure::usage(format!("{what} for landscape mlp"), "add --landscape mlp, or leave them out"))
    }
}

/// The arithmetic of landscape mlp.
pub(super) fn float_of(precision: Precision) -> Result<Float, Failure> {
    match precision {
        Precision::F64 => Ok(Float::F64),
        Precision::F32 => Ok(Float::F32),
        Precision::F16 | Precision::Bf16 => Err(Failure::usage(
            format!("landscape mlp cannot be trained in {}", precision.word()),
            "choose --precision f64 or f32",
        )),
    }
}

/// Writes a network for PyTorch, and prints the files.
pub(super) fn export_torch(
    prepared: &PreparedMlp,
    (folder, sparse): (&Path, bool),
    outputs: &mut Outputs,
) -> Result<(), Failure> {
    let export = TorchExport::new(prepared, sparse)?;
    std::fs::create_dir_all(folder)
        .map_err(|reason| TorchError::from(FileError::new("write", folder, reason)))?;
    for name in export.files() {
        outputs.place(&folder.join(name))?;
    }
    export.write(folder)?;
    let (network, files) = (&prepared.network.network, export.files().join(", "));
    let (layers, weights) = (network.layers().len(), count(network.n_weights()));
    print(&format!("{}: {files}; {layers} layers, {weights} weights\n", folder.display()))
}

/// Why a run is not saved, and the remedy.
pub(super) const UNSAVED: (&str, &str) = (
    "a run on landscape mlp is neither saved nor recorded",
    "leave --checkpoint and --record out; the same command repeats the run",
);

/// Refuses options that have no effect on landscape mlp: flags, and whether they are given.
pub(super) fn refuse(flags: &[(&str, bool)]) -> Result<(), Failure> {
    match flags.iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(Failure::usage(
            format!("{flag} has no effect on landscape mlp"),
            format!("leave {flag} out, or choose another --landscape"),
        )),
        None => Ok(()),
    }
}

/// Trains a network and shows the result, or writes it for PyTorch.
pub(super) fn run(
    prepared: &PreparedMlp,
    (args, mut outputs): (&TorchArgs, Outputs),
    mut run: LongRun,
) -> Result<(), Failure> {
    if let Some(folder) = &args.torch {
        return export_torch(prepared, (folder, args.sparse), &mut outputs);
    }
    let report =
        &run.follow_stream((None, true), prepared.rehearsal.steps, |_, watch| prepared.train(watch))?;
    run.save_model(&report.certificate, |name| MlpModel::new(prepared, report).to_bytes(name))?;
    if let Some(program) = &prepared.program {
        show_warnings(&overflow(&program.source, None, &report.wraps), &program.source);
    }
    let network = &prepared.network;
    let summary = object! {
        circuit: prepared.circuit.name(),
        #[serde(flatten)]
        report: report,
        certified: report.certificate.proves_the_run(),
        precision: network.constants.float.word(),
        rate: network.constants.rate,
        widths: network.network.widths(),
        weights: network.network.n_weights(),
        nonzero: network.network.n_nonzero(),
        wall_s: run.seconds,
    };
    show_rows(run.json, &summary, |rows| describe(rows, prepared, report, run.seconds))?;
    run.finish(None, outcome(report), |_| unreachable!("--plot is refused"))?;
    Failure::of_certificate(&report.certificate)
}

/// What was learned on a stream, and how the run ended: after a number of these steps.
pub(super) fn describe_report(rows: &mut Rows, report: &StreamReport, steps: &str) {
    if !report.theta.is_empty() {
        rows.row("learned", format!("theta {}", numbers(&report.theta)));
    }
    if let Some((right, all)) = report.judged {
        rows.row("new samples", format!("{} of {} right", count(right), count(all)));
    }
    let claims = report.certificate.claims();
    rows.row("certified", verdict_on(&claims, report.certificate.proves_the_run()));
    let end = if report.halted { "halted" } else { "not halted" };
    rows.row(end, format!("after {} {steps}", count(report.steps)));
}

fn describe(rows: &mut Rows, prepared: &PreparedMlp, report: &StreamReport, seconds: f64) {
    let (network, circuit) = (&prepared.network.network, &prepared.circuit);
    let taken = circuit.samples().map(|_| format!("; {} samples taken", count(report.taken)));
    describe_report(rows, report, &format!("steps of SGD{}", taken.unwrap_or_default()));
    let mut made = format!("{}, {} registers", circuit.name(), count(circuit.registers().len()));
    if let Some(program) = &prepared.program {
        match program.n_states {
            Some(n_states) => made += &format!(", compiled from Sled with {} states", count(n_states)),
            None => made += ", the machine that Sled compiles to",
        }
        made.extend(program.hold.map(|hold| format!("; each row passes for {hold} steps")));
    }
    rows.row("circuit", made);
    let (layers, weights) = (network.layers().len(), count(network.n_weights()));
    let nonzero = format!("{} are not 0 at the start", count(network.n_nonzero()));
    rows.row(
        "network",
        format!("{layers} layers of Linear and ReLU, {weights} weights, all trained; {nonzero}"),
    );
    let MlpConstants { rate, float, carrier, slope, memory_scale, .. } = &prepared.network.constants;
    let constants = format!("A = {carrier:e}, kappa = {slope:e}, eps = {memory_scale:e}");
    rows.row("optimiser", format!("SGD, rate {rate:e}, batch size 1, {}; {constants}", float.word()));
    rows.row("engine", report.engine);
    rows.row("time", format!("{seconds:.2} s"));
    rows.certificate(report.certificate.claims());
}
