//! `luge stream`: trains on a stream, one gradient step per batch.

use luge::{
    StreamJob,
    files::export::stream_graph,
    job::{Data, JobError, catalogue::STREAM_LEARNERS, program},
    stream::{
        Concept, Draw, Order, PreparedStream, Samples, StreamEngineChoice, StreamLandscape, StreamModel,
        StreamReport, Via,
    },
    trace::MAX_CELLS,
};
use luge_landscape::{StreamConstants, mlp::Float};
use luge_train::Outcome;

use super::{
    circuit,
    mlp::{self, TorchArgs},
};
use crate::cli::command_prelude::*;

/// Train a network by SGD on a stream, with a fresh batch at every step, and certify the run
///
/// The learner is a Sled program with `take;` (docs/sled.md), or a machine whose states take samples and latch their labels
/// (docs/native-format.md). Training continues until it halts; after that, no further batch changes a weight. Without
/// arguments, the learner finds a parity of 32 bits. A learner that takes no labels needs no --target.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The learner: a file, or the name of one that ships, such as parity, stream_perceptron or stream_mean
    #[arg(value_name = "LEARNER", default_value = "parity")]
    learner: String,
    #[command(flatten)]
    csv: CsvArgs,
    /// The order in which the rows of the table pass, again and again
    #[arg(long, value_name = "ORDER", default_value = Order::default().word(), value_parser = word::<Order>(), requires = "data")]
    order: Order,
    /// Draw samples: parity:bits=N,hidden=K or junta:bits=N,hidden=K or halfspace:features=N, noise=P for wrong labels [default without --data: that of a learner that ships; for a circuit a parity of half of its bits; otherwise parity:bits=32,hidden=16]
    #[arg(long, value_name = "WHAT", conflicts_with = "data")]
    draw: Option<Draw>,
    /// Seed of the stream
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Samples per batch; one on landscape mlp
    #[arg(long, value_name = "B", default_value_t = 1, value_parser = up_to(1024, "samples"))]
    batch: usize,
    /// Maximum number of gradient steps [default: 1_000_000_000; on landscape mlp 10_000_000]
    #[arg(long, value_name = "N", value_parser = step_count)]
    steps: Option<Step>,
    /// The network whose weights the learner finds, such as linear, parity or mlp:2-3-1 [default: linear, or that of a learner that ships]
    #[arg(long, value_name = "NETWORK")]
    primary: Option<String>,
    /// Bound on the absolute value of labels [default: what the format can hold; 1 for drawn samples]
    #[arg(long, value_name = "Y")]
    label_bound: Option<f64>,
    /// The constant A, the network's output while it learns [default: the smallest power of two that is large enough]
    #[arg(long, value_name = "A")]
    carrier: Option<f64>,
    /// Cells per tape [default: the smallest power of two that holds the run]
    #[arg(long, value_name = "N", value_parser = up_to(MAX_CELLS, "cells"))]
    cells: Option<usize>,
    /// The engine that makes gradient steps [default: sparse; on landscape mlp dense where that takes seconds]
    #[arg(long, value_name = "ENGINE", value_parser = word::<StreamEngineChoice>())]
    engine: Option<StreamEngineChoice>,
    /// The network to train: `plain`, or `mlp`, an ordinary one of linear layers and ReLUs that runs the learner as a circuit
    #[arg(long, value_name = "KIND", default_value = StreamLandscape::default().word(), value_parser = word::<StreamLandscape>())]
    landscape: StreamLandscape,
    /// How a Sled program becomes a circuit for landscape mlp: directly, or through its machine's tapes [default: circuit]
    #[arg(long, value_name = "WAY", value_parser = word::<Via>())]
    via: Option<Via>,
    /// For a circuit that loops over a table: how many steps each row stays [default: the number with the shortest run]
    #[arg(long, value_name = "STEPS", value_parser = up_to(1_000_000, "steps"))]
    hold: Option<usize>,
    /// The arithmetic of landscape mlp
    #[arg(long, value_name = "FORMAT", default_value = Float::default().word(), value_parser = word::<Float>())]
    precision: Float,
    #[command(flatten)]
    torch: TorchArgs,
    /// Write the network as a graph in JSON, with the weights training starts from: docs/graph-format.md
    #[arg(long, value_name = "OUT.json")]
    graph: Option<PathBuf>,
    /// Draw the loss over the steps
    #[arg(long, value_name = "OUT.svg")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    long_run: LongRunArgs,
    #[command(flatten)]
    force: ForceArg,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let is_mlp = args.landscape == StreamLandscape::Mlp;
    match is_mlp {
        true => mlp::refuse(&[("--graph", args.graph.is_some()), ("--plot", args.plot.is_some())])?,
        false => args.torch.refuse(true)?,
    }
    let mut outputs = args.csv.protect(args.force.outputs().reading(&args.learner));
    let graph_file = place(&mut outputs, args.graph.as_deref())?;
    let out = place(&mut outputs, args.torch.out.as_deref())?;
    let results = (args.json, out, place(&mut outputs, args.plot.as_deref())?);
    let job = args.job()?;
    let unsaved = is_mlp.then_some(mlp::UNSAVED);
    let run = args.long_run.open(&mut outputs, results, Job::Stream(job.clone()), unsaved)?;
    if is_mlp {
        return mlp::run(&job.prepare_mlp()?, (&args.torch, outputs), run);
    }
    let lesson = job.prepare()?;
    if let Some(file) = graph_file {
        file.write(json_line(&stream_graph(&lesson.network))?)?;
    }
    train(&job, &lesson, run)
}

/// Trains on a stream, and writes and shows the result.
pub(super) fn train(job: &StreamJob, lesson: &PreparedStream, mut run: LongRun) -> Result<(), Failure> {
    let network = Some(&lesson.network.network);
    let slow = job.options.engine() == StreamEngineChoice::Dense;
    let report = run.follow_stream((network, slow), lesson.rehearsal.steps, |from, watch| match from {
        Some(from) => lesson.resume(from, watch),
        None => lesson.train(watch),
    })?;
    run.save_model(&report.certificate, |name| StreamModel::new(job, lesson, &report).to_bytes(name))?;
    show_warnings(&program::overflow(&job.source, None, &report.wraps), &job.source);
    show_rows(run.json, &summary(lesson, &report, run.seconds), |rows| {
        describe(rows, lesson, &report);
        rows.row("time", run.time(outcome(&report)));
        rows.certificate(report.certificate.claims());
    })?;
    run.finish(network, outcome(&report), |curve| {
        let title = lesson.learner.machine().name().unwrap_or("a learner");
        let subtitle = format!("{} gradient steps on a stream", count(report.steps));
        curve.draw(title, &subtitle, LandscapeKind::Plain, &lesson.loss_levels(), None)
    })?;
    Failure::of_certificate(&report.certificate)
}

impl Args {
    fn job(&self) -> Result<StreamJob, Failure> {
        let source = open_learner(&self.learner, STREAM_LEARNERS.iter())?;
        circuit::read(&source, None)?;
        let data = self.csv.read(None)?;
        let set = self.csv.constants(&source)?;
        let format = self.csv.format().unwrap_or_else(|| StreamJob::format_for(&source));
        let drawn = |draw| Ok(StreamJob::new(source.clone(), Samples::Draw(draw)));
        let job = match (&data, self.draw) {
            (None, None) => match StreamJob::in_format(source.clone(), format) {
                Err(JobError::NoData(_)) => drawn(default_draw()),
                job => job,
            },
            (_, draw) => drawn(draw.unwrap_or_else(default_draw)),
        };
        let mut job = job?.on(self.landscape);
        let options = &mut job.options;
        (options.batch, options.seed, options.steps) =
            (self.batch, self.seed, self.steps.unwrap_or(options.steps));
        (options.label_bound, options.carrier, options.cells) = (self.label_bound, self.carrier, self.cells);
        (options.engine, options.hold) = (self.engine, self.hold);
        (options.precision, options.via) = (self.precision, self.via);
        job.set = set;
        job.primary = self.primary.clone().unwrap_or(job.primary);
        fit(&mut job, self.csv.format, data.map(|data| (data, self.order)))?;
        Ok(job)
    }
}

/// How a run on a stream ended.
pub(super) fn outcome(report: &StreamReport) -> Outcome {
    let steps = report.steps;
    if report.halted { Outcome::Converged { steps } } else { Outcome::StepLimit { steps } }
}

/// Sets the number format, or chooses the smallest that works, and reads the rows of a table in it.
pub(super) fn fit(
    job: &mut StreamJob,
    format: Option<FormatArg>,
    table: Option<(Data, Order)>,
) -> Result<(), Failure> {
    match format {
        Some(FormatArg::Given(format)) => job.options.format = format,
        Some(FormatArg::Auto) => {
            if let Some((data, order)) = &table {
                job.samples = Samples::Table(StreamJob::as_given(&job.source, data.clone())?, *order);
            }
            note(&format!("format {}", job.choose_format()?));
        }
        None => {}
    }
    if let Some((data, order)) = table {
        let table = StreamJob::table(&job.source, data, job.options.format)?;
        table.notes.iter().for_each(|text| note(&format!("the data: {text}")));
        job.samples = Samples::Table(table, order);
    }
    Ok(())
}

/// The default of --draw.
pub(super) fn default_draw() -> Draw {
    Draw { concept: Concept::Parity { n_hidden: 16 }, n_features: 32, noise: 0.0 }
}

fn summary(lesson: &PreparedStream, report: &StreamReport, seconds: f64) -> impl Serialize {
    let (options, constants) = (&lesson.options, lesson.network.constants);
    object! {
        learner: lesson.learner.machine().name(),
        #[serde(flatten)]
        report: report,
        certified: report.certificate.proves_the_run(),
        batch: options.batch,
        format: options.format.to_string(),
        primary: lesson.primary.describe(),
        carrier: constants.carrier,
        label_bound: constants.label_bound,
        cells: lesson.window.n_cells,
        vertices: lesson.network.control().n_vertices(),
        wall_s: seconds,
    }
}

fn describe(rows: &mut Rows, lesson: &PreparedStream, report: &StreamReport) {
    let (batch, taken) = (lesson.options.batch, count(report.taken));
    let steps = format!("gradient steps, as many batches of {batch}; {taken} taken");
    mlp::describe_report(rows, report, &steps);
    let (vertices, cells) = (count(lesson.network.control().n_vertices()), count(lesson.window.n_cells));
    let StreamConstants { carrier, label_bound, label_unit } = lesson.network.constants;
    let labels = format!("labels up to {label_bound} in steps of {label_unit}");
    let network = format!("{vertices} vertices, {cells} cells per tape; carrier A = {carrier} for {labels}");
    rows.row("network", network);
    rows.row("engine", format!("{}, f64, rate 1", lesson.options.engine().word()));
}
