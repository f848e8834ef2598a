//! Landscape mlp of `luge trace` and `luge stream`: SGD on an ordinary MLP runs a circuit.

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Instant,
};

use indicatif::HumanCount;
use luge::{
    certificate::answer::verdict_on,
    files::Outputs,
    job::program::overflow,
    mlp::{LearnerCircuit, MlpModel, MlpOptions, PreparedMlp, TorchError, TorchExport},
    object,
    stream::{Samples, StreamReport},
};
use luge_landscape::mlp::Float;
use luge_train::Precision;

use super::{Failure, Progress, Rows, count, failures, numbers, place, print, show_rows, show_warnings};

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

failures! {
    for TorchError(error, problem) {
        error TooLarge "choose --torch with --sparse, or a smaller network";
        error Format "give another folder";
        error Write "give another folder";
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
        .map_err(|reason| TorchError::Write { path: folder.display().to_string(), reason })?;
    for name in export.files() {
        outputs.place(&folder.join(name))?;
    }
    export.write(folder)?;
    let network = &prepared.network.network;
    print(&format!(
        "{}: {}; {} layers, {} weights\n",
        folder.display(),
        export.files().join(", "),
        network.layers().len(),
        HumanCount(network.n_weights())
    ))
}

/// Trains a circuit's network and shows the result, or writes it for PyTorch.
pub(super) fn run(
    circuit: impl Into<LearnerCircuit>,
    samples: Option<Samples>,
    options: MlpOptions,
    args: &TorchArgs,
    (mut outputs, json): (Outputs, bool),
) -> Result<(), Failure> {
    let started = Instant::now();
    let file = place(&mut outputs, args.out.as_deref())?;
    let prepared = PreparedMlp::new(circuit, samples, options)?;
    if let Some(folder) = &args.torch {
        return export_torch(&prepared, (folder, args.sparse), &mut outputs);
    }
    let mut progress = Progress::new("training", prepared.rehearsal.steps).certainly();
    let trained = prepared.train(|step| {
        progress.reach(step);
        ControlFlow::Continue(())
    });
    drop(progress);
    let report = trained?;
    if let Some(file) = file.filter(|_| report.certificate.proves_the_run()) {
        let name = file.path().display().to_string();
        file.write(MlpModel::new(&prepared, &report).to_bytes(&name)?)?;
    }
    if let Some(program) = &prepared.program {
        show_warnings(&overflow(&program.source, None, &report.wraps), &program.source);
    }
    let seconds = started.elapsed().as_secs_f64();
    let network = &prepared.network;
    let summary = object! {
        circuit: prepared.circuit.name(),
        #[serde(flatten)]
        report: &report,
        certified: report.certificate.proves_the_run(),
        precision: network.constants.float.word(),
        rate: network.constants.rate,
        widths: network.network.widths(),
        weights: network.network.n_weights(),
        nonzero: network.network.n_nonzero(),
        wall_s: seconds,
    };
    show_rows(json, &summary, |rows| describe(rows, &prepared, &report, seconds))?;
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
    rows.row(end, format!("after {} {steps}", HumanCount(report.steps)));
}

fn describe(rows: &mut Rows, prepared: &PreparedMlp, report: &StreamReport, seconds: f64) {
    let (network, constants) = (&prepared.network.network, &prepared.network.constants);
    let taken = match prepared.circuit.samples() {
        Some(_) => format!("; {} samples taken", HumanCount(report.taken)),
        None => String::new(),
    };
    describe_report(rows, report, &format!("steps of SGD{taken}"));
    let registers = prepared.circuit.registers().len();
    let of_program = prepared.program.as_ref().map(|program| {
        let states = match program.n_states {
            Some(n_states) => format!(", compiled from Sled with {} states", count(n_states)),
            None => ", the machine that Sled compiles to".to_owned(),
        };
        let pass = program.hold.map(|hold| format!("; each row passes for {hold} steps"));
        states + &pass.unwrap_or_default()
    });
    let of_program = of_program.unwrap_or_default();
    let made = format!("{}, {} registers{of_program}", prepared.circuit.name(), count(registers));
    rows.row("circuit", made);
    rows.row(
        "network",
        format!(
            "{} layers of Linear and ReLU, {} weights, all trained; {} are not 0 at the start",
            network.layers().len(),
            HumanCount(network.n_weights()),
            count(network.n_nonzero())
        ),
    );
    rows.row(
        "optimiser",
        format!(
            "SGD, rate {:e}, batch size 1, {}; A = {:e}, kappa = {:e}, eps = {:e}",
            constants.rate,
            constants.float.word(),
            constants.carrier,
            constants.slope,
            constants.memory_scale
        ),
    );
    rows.row("engine", report.engine);
    rows.row("time", format!("{seconds:.2} s"));
    rows.certificate(report.certificate.claims());
}
