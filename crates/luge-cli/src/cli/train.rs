//! `luge train`: trains a learner on a table, and certifies the run.

use std::sync::Arc;

use luge::{
    certificate::answer::{Answer, Learned},
    data::Score,
    files::{Model, summary},
    job::{
        StandardPrimaries, TrainJob,
        catalogue::{self, FIRST_LEARNER},
        program,
    },
    run::{EngineChoice, estimate},
    training::{MAX_CELLS, PreparedTraining, TrainingReport},
};
use luge_landscape::{BitConversion, Carrier, VertexSet};
use luge_machine::formats::Format;
use luge_train::Outcome;

use crate::cli::command_prelude::*;

/// Train a network that runs the learner, by gradient descent on data, and certify the run
///
/// Without arguments, the learner is the perceptron and the data are Iris. The exit status is 1 if a claim of the certificate
/// does not hold; the paper's claims about the network's size are reported, but do not fail a run.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The learner: a Sled program, a machine file with the tapes `data`, `marks` and `theta` or with a single tape, or
    /// the name of one that `luge learners` lists
    #[arg(value_name = "LEARNER")]
    learner: Option<String>,
    /// With the universal learner: the machine file of the learner to run, loaded as initial weights
    #[arg(long, value_name = "MACHINE", requires = "learner")]
    program: Option<String>,
    /// The machine file's format [default: from its extension and content]
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    from: Option<Format>,
    #[command(flatten)]
    data: DataArgs,
    /// The network whose weights the learner finds, such as linear or mlp:2-3-1 [default: linear, or that of a learner that ships]
    #[arg(long, value_name = "NETWORK")]
    primary: Option<String>,
    /// The landscape to build [default: compact, or that of a learner that ships]
    #[arg(long, value_name = "KIND", value_parser = word::<LandscapeKind>())]
    landscape: Option<LandscapeKind>,
    /// A vertex for each combination of the symbols that a state looks at, or of all symbols as in the paper
    #[arg(long, value_name = "SET", default_value = VertexSet::default().word(), value_parser = word::<VertexSet>())]
    vertices: VertexSet,
    /// How the landscape's loss reaches the output
    #[arg(long, value_name = "CARRIER", default_value = Carrier::default().word(), value_parser = word::<Carrier>())]
    carrier: Carrier,
    /// How numbers are converted to bits and back: by native nodes, or by a network of ReLU and product units
    #[arg(long, value_name = "BITS", default_value = BitConversion::default().word(), value_parser = word::<BitConversion>())]
    bits: BitConversion,
    /// The engine that makes gradient steps
    #[arg(long, value_name = "ENGINE", default_value = EngineChoice::default().word(), value_parser = word::<EngineChoice>())]
    engine: EngineChoice,
    /// Cells per tape [default: the smallest power of two that holds the run]
    #[arg(long, value_name = "N", value_parser = up_to(MAX_CELLS, "cells"))]
    cells: Option<usize>,
    /// The network's output before it has seen the labels [default: 0; for internal, large enough for a loss that never rises]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    label_offset: Option<f64>,
    /// A bound on the final loss [default: from the number format and the network]
    #[arg(long, value_name = "LOSS")]
    final_loss: Option<f64>,
    /// Maximum number of machine steps
    #[arg(long, value_name = "N", default_value = "100_000_000_000", value_parser = step_count)]
    steps: Step,
    /// Steps to recompute by automatic differentiation, in addition to the distinct situations of the run
    #[arg(long, value_name = "N")]
    autodiff_checks: Option<usize>,
    /// Write the trained model to this file, if the run is certified
    #[arg(long, value_name = "MODEL.safetensors")]
    out: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Draw the loss over the steps, with its bounds
    #[arg(long, value_name = "OUT.svg")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    long_run: LongRunArgs,
    #[command(flatten)]
    force: ForceArg,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let job = args.job()?;
    let mut outputs = args.outputs();
    let out = place(&mut outputs, args.out.as_deref())?;
    let results = (args.json, out, place(&mut outputs, args.plot.as_deref())?);
    let run = args.long_run.open(&mut outputs, results, Job::Train(job.clone()), None)?;
    let table = job.table()?;
    show_notes(&job.data, &table.notes);
    let loaded = job.load(&table)?;
    show_warnings(&loaded.warnings, &job.source);
    let lesson = job.assemble(table, &loaded, &StandardPrimaries)?;
    train(&job, lesson, run)
}

/// Trains on a table, and writes and shows the result.
pub(super) fn train(job: &TrainJob, lesson: PreparedTraining, mut run: LongRun) -> Result<(), Failure> {
    let lesson = Arc::new(lesson);
    let (network, options) = (lesson.extended().network(), lesson.options());
    let slow = lesson.task().manner.engine == EngineChoice::Dense;
    let most_steps = options.steps.saturating_add(lesson.extended().extra_steps());
    let (known, aside) = (job.clone(), Arc::clone(&lesson));
    let progress = Progress::new("training", most_steps).estimated_by(move || estimated(&known, &aside));
    let report =
        run.follow((network, slow), progress, |start, rate, watch| lesson.follow(start, rate, watch))?;
    let model = |name: &str| Model::new(&lesson, &report).with_program_of(job).to_bytes(name);
    run.save_model(&report.certificate, model)?;
    // A number that wrapped around probably makes the answer wrong.
    let overflow = program::overflow(&job.source, Some(lesson.table()), lesson.wraps());
    show_warnings(&overflow, &job.source);
    if !matches!(report.outcome, Outcome::Interrupted { .. }) {
        let timed = object! {
            #[serde(flatten)]
            summary: summary::of_training(&lesson, &report),
            wall_s: run.seconds,
        };
        show_rows(run.json, &timed, |rows| describe(rows, &lesson, &report, &run))?;
    }
    run.finish(Some(network), report.outcome, |curve| {
        let title = lesson.learner().machine().name().unwrap_or("a learner");
        let kind = options.landscape;
        let subtitle = format!("{} gradient steps on {}", count(report.outcome.steps()), kind.word());
        curve.draw(title, &subtitle, kind, &lesson.loss_levels(), None)
    })?;
    Failure::of_certificate(&report.certificate)
}

/// Estimates the length of a run by running the program for more and more statements; `None` if that finds no end.
fn estimated(job: &TrainJob, lesson: &PreparedTraining) -> Option<Step> {
    let limits = std::iter::successors(Some(FIRST_STATEMENTS), |limit| limit.checked_mul(4));
    for limit in limits.take_while(|&limit| limit <= lesson.options().steps) {
        if let Some(steps) = estimate::machine_steps(job, lesson, limit) {
            return Some(steps + lesson.extended().extra_steps());
        }
        let ran = job.interpret(lesson.table(), limit).ok()??;
        if ran.verdict == luge_sled::Verdict::Repeats {
            note("the program repeats itself on these data and never ends: stop it with Ctrl-C");
            return None;
        }
    }
    None
}

/// Statements of the first attempt.
const FIRST_STATEMENTS: u64 = 1 << 22;

impl Args {
    /// The output files, which must not be read by this command.
    fn outputs(&self) -> Outputs {
        let named = [self.learner.as_deref(), self.program.as_deref()];
        let outputs = named.into_iter().flatten().fold(self.force.outputs(), Outputs::reading);
        self.data.csv.protect(outputs)
    }

    /// The job.
    fn job(&self) -> Result<TrainJob, Failure> {
        let named = self.learner.as_deref().unwrap_or(FIRST_LEARNER);
        let source = open(named, self.from)?;
        let mut job = self.data.job(source)?;
        job.program = self.program.as_deref().map(|place| open(place, self.from)).transpose()?;
        job.primary = self.primary.clone().unwrap_or(job.primary);
        let options = &mut job.options;
        options.landscape = self.landscape.unwrap_or(options.landscape);
        options.vertices = self.vertices;
        (options.engine, options.carrier, options.cells) = (self.engine, self.carrier, self.cells);
        (options.label_offset, options.final_loss, options.steps) =
            (self.label_offset, self.final_loss, self.steps);
        (options.bits, options.autodiff_checks) = (self.bits, self.autodiff_checks);
        Ok(job)
    }
}

/// A learner's text; --from names the format of a machine.
fn open(place: &str, from: Option<Format>) -> Result<Source, Failure> {
    let mut source = open_learner(place, catalogue::learners())?;
    if let Some(format) = from {
        source.extension = Some(format.slug().to_owned());
    }
    Ok(source)
}

/// A score as text.
pub(super) fn scored(score: &Score) -> String {
    match *score {
        Score::Classified { right, of } => {
            let percent = 100.0 * right as f64 / of as f64;
            format!("{} of {} rows right ({percent:.1} %)", count(right), count(of))
        }
        Score::Error { rms_error, of } => {
            format!("root mean square error {rms_error:.6} on {} rows", count(of))
        }
    }
}

fn describe(rows: &mut Rows, lesson: &PreparedTraining, report: &TrainingReport, run: &LongRun) {
    let extended = lesson.extended();
    let answer = Answer::of_training(lesson, report);
    if let Some(learned) = &answer.learned {
        rows.row("learned", &learned.formula);
        let Learned { before, after, .. } = learned;
        if !lesson.table().is_labelled() {
            rows.row("labels", "none: the learner takes features alone");
        } else if let Some(right) = after.right {
            rows.row("classified", format!("{} of {} rows right", count(right), count(learned.rows)));
        } else {
            rows.row("error", format!("{}, {} before", numeral(after.error), numeral(before.error)));
        }
    }
    if let Some(score) = &report.tested {
        rows.row("tested", format!("{}, held out of training", scored(score)));
    }
    rows.row("certified", answer.verdict);
    rows.row("labels read", format!("step 1: {} labels in z", count(lesson.table().labels.data.len())));
    let (machine_steps, kind) = (count(report.machine_steps), extended.kind().word());
    let (vertices, cells) = (count(extended.n_vertices()), count(lesson.window().n_cells));
    let network = format!("landscape {kind}, {vertices} vertices, {cells} cells per tape");
    rows.row("running", format!("{machine_steps} machine steps on {network}"));
    let (loss, stop) = (numeral(report.train_loss), numeral(extended.bounds().stop));
    let end = if matches!(report.outcome, Outcome::Converged { .. }) { "halted" } else { "not halted" };
    let steps = count(report.outcome.steps());
    rows.row(end, format!("after {steps} gradient steps (loss {loss}; stop threshold {stop})"));
    if let Some(drift) = &report.drift {
        rows.row("drift", format!("tape {:.1e}, head {:.1e}", drift.tape, drift.head));
    }
    rows.row("engine", format!("{}: {}", report.chosen.engine.word(), report.chosen.why));
    rows.row("time", run.time(report.outcome));
    rows.certificate(report.certificate.claims());
}
