//! Landscape mlp of `luge trace` and `luge stream`: a circuit run by SGD on an ordinary MLP.

use std::{ops::ControlFlow, path::PathBuf, time::Instant};

use indicatif::HumanCount;
use luge::{
    ordinary::{OrdinaryError, OrdinaryOptions, OrdinaryReport, PreparedOrdinary, TorchError},
    stream::Samples,
};
use luge_circuit::{Circuit, Shipped, aiger};
use luge_landscape::mlp::Float;
use luge_train::Precision;
use serde::Serialize;

use super::{
    failure::Failure,
    output::{Rows, count, print, show, verdict},
    progress::Progress,
};

#[derive(clap::Args)]
pub(super) struct TorchArgs {
    /// Train nothing: write landscape mlp for PyTorch into this folder, with the script that trains it
    #[arg(long, value_name = "FOLDER")]
    torch: Option<PathBuf>,
    /// With --torch, write only the weights that are not zero
    #[arg(long, requires = "torch")]
    sparse: bool,
}

/// The result as JSON.
#[derive(Serialize)]
struct Summary<'a> {
    circuit: &'a str,
    #[serde(flatten)]
    report: &'a OrdinaryReport,
    certified: bool,
    precision: &'static str,
    rate: f64,
    widths: Vec<usize>,
    weights: u64,
    nonzero: usize,
    wall_s: f64,
}

/// A circuit that ships, for samples of so many bits, or one from an AIGER file; `None` if it is neither.
pub(super) fn circuit(learner: &str, n_features: usize) -> Result<Option<Circuit>, Failure> {
    if let Some(shipped) = Shipped::ALL.into_iter().find(|shipped| shipped.name() == learner) {
        return Ok(Some(shipped.circuit(n_features)));
    }
    let Ok(bytes) = std::fs::read(learner) else { return Ok(None) };
    if !aiger::recognise(&bytes) {
        return Ok(None);
    }
    let name =
        std::path::Path::new(learner).file_stem().map_or_else(Default::default, |s| s.to_string_lossy());
    match aiger::read(&bytes, &name) {
        Ok(loaded) => Ok(Some(loaded.circuit)),
        Err(found) => {
            let first = found.into_iter().next().map_or_else(String::new, |diagnostic| diagnostic.message);
            Err(Failure::unfit(format!("{learner} is no circuit: {first}"), "see docs/ordinary.md"))
        }
    }
}

/// f64 or f32.
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

/// What cannot be trained, and the remedy.
pub(super) fn refusal(error: OrdinaryError) -> Failure {
    let problem = error.to_string();
    let remedy = match error {
        OrdinaryError::Job(error) => return error.into(),
        OrdinaryError::Shape { .. } => "give another --draw or --data",
        OrdinaryError::Stream { .. } => {
            "use luge trace for what takes no samples, and luge stream for what does"
        }
        OrdinaryError::Format { .. } => "choose a --format such as fix:4.4",
        OrdinaryError::OneLabel { .. } => "leave --batch out, and name one --target",
        OrdinaryError::NotExclusive { .. } => "see what the circuit sums up: docs/ordinary.md",
        OrdinaryError::Constants(_) => "choose --precision f64, or fewer --steps",
        OrdinaryError::Train(_) => "choose --engine sparse",
        OrdinaryError::Trace(_) => "give --steps",
        OrdinaryError::Machine(_) => "choose another --landscape",
    };
    Failure::unfit(problem, remedy)
}

/// Trains a circuit's network and shows what came of it, or writes it for PyTorch.
pub(super) fn run(
    circuit: Circuit,
    samples: Option<Samples>,
    options: OrdinaryOptions,
    torch: &TorchArgs,
    json: bool,
) -> Result<(), Failure> {
    let started = Instant::now();
    let prepared = PreparedOrdinary::new(circuit, samples, options).map_err(refusal)?;
    if let Some(folder) = &torch.torch {
        let failed = |error: TorchError| {
            let remedy = match error {
                TorchError::TooLarge { .. } => "choose --sparse, or a smaller network",
                _ => "give another folder",
            };
            Failure::unfit(error.to_string(), remedy)
        };
        prepared.torch(torch.sparse).and_then(|export| export.write(folder)).map_err(failed)?;
        let widths = prepared.network.network.widths();
        return print(&format!(
            "{}: net.safetensors, config.json, train.py; {} layers, {} weights\n",
            folder.display(),
            widths.len() - 1,
            HumanCount(prepared.network.network.n_weights())
        ));
    }
    let mut progress = Progress::new("training", prepared.steps).certainly();
    let trained = prepared.train(|step| {
        progress.reach(step);
        ControlFlow::Continue(())
    });
    drop(progress);
    let report = trained.map_err(refusal)?;
    let seconds = started.elapsed().as_secs_f64();
    let network = &prepared.network;
    let summary = Summary {
        circuit: prepared.circuit.name(),
        report: &report,
        certified: report.proves_the_run(),
        precision: network.constants.float.word(),
        rate: network.constants.rate,
        widths: network.network.widths(),
        weights: network.network.n_weights(),
        nonzero: network.network.n_nonzero(),
        wall_s: seconds,
    };
    show(json, &summary, || text(&prepared, &report, seconds))?;
    Failure::of_claims(report.certificate.iter().map(|(name, claim)| (*name, claim)))
}

fn text(prepared: &PreparedOrdinary, report: &OrdinaryReport, seconds: f64) -> String {
    let mut rows = Rows::default();
    let (network, constants) = (&prepared.network.network, &prepared.network.constants);
    if let Some((right, all)) = report.judged {
        rows.row("new samples", format!("{} of {} right", count(right), count(all)));
    }
    let claims = &report.certificate;
    let failed: Vec<&str> = claims.iter().filter(|(_, claim)| !claim.holds).map(|(name, _)| *name).collect();
    rows.row(
        "certified",
        match &failed[..] {
            [] => format!("yes: all {} claims hold", claims.len()),
            failed => format!("NO: {}", failed.join(", ")),
        },
    );
    let taken = match prepared.circuit.samples() {
        Some(_) => format!("; {} samples taken", HumanCount(report.taken)),
        None => String::new(),
    };
    let end = if report.halted { "halted" } else { "not halted" };
    rows.row(end, format!("after {} steps of SGD{taken}", HumanCount(report.steps)));
    let registers = prepared.circuit.registers().len();
    rows.row("circuit", format!("{}, {} registers", prepared.circuit.name(), count(registers)));
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
    rows.row("certificate", "");
    for (name, claim) in claims {
        rows.row(&format!("  {}", name.replace('_', " ")), verdict(claim));
    }
    rows.text()
}
