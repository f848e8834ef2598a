//! `luge report`: writes a run as a single HTML file.

use std::fs;

use luge::{
    files::{Checkpoint, FileError, ModelError, OutputError, model::Program},
    job::{
        Data, TraceJob, TrainJob,
        catalogue::{self, ShippedLesson},
        is_program,
    },
    stream::{Draw, Samples, StreamJob},
};
use luge_lab::{MAX_MOMENTS, PreparedJob, Report, StreamRecording, stream_report};
use luge_landscape::Carrier;

use super::stream::default_draw;
use crate::cli::command_prelude::*;

/// Write a run as a single HTML file with all views of the lab, at up to 400 steps
///
/// The run is repeated from its options. A run that does not halt needs --steps.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A model (with the --data it was trained on), a record or checkpoint, a machine file, a Sled program, a bbchallenge line, or the name of a machine or learner that ships, such as bb5, mean or, from a stream, parity
    #[arg(value_name = "MODEL|RECORD|MACHINE", allow_hyphen_values = true)]
    file: String,
    /// The file to write
    #[arg(short, long, value_name = "REPORT.html")]
    out: PathBuf,
    /// The initial content of a tape, once per tape
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    input: Vec<String>,
    #[command(flatten)]
    data: DataArgs,
    /// The network whose weights the learner finds, such as linear or mlp:2-3-1
    #[arg(long, value_name = "NETWORK")]
    primary: Option<String>,
    /// For a learner from a stream: draw samples, as `luge stream --draw` does
    #[arg(long, value_name = "WHAT", conflicts_with_all = ["data", "input"])]
    draw: Option<Draw>,
    /// The landscape
    #[arg(long, value_name = "KIND", value_parser = word::<LandscapeKind>())]
    landscape: Option<LandscapeKind>,
    /// How the landscape's loss reaches the output
    #[arg(long, value_name = "CARRIER", value_parser = word::<Carrier>())]
    carrier: Option<Carrier>,
    /// Maximum number of gradient steps; digits may be grouped by `_` or `,`
    #[arg(long, value_name = "N", value_parser = step_count)]
    steps: Option<Step>,
    /// For a model that holds only a machine: the Sled program it was compiled from, to show it line by line
    #[arg(long, value_name = "FILE.sled")]
    learner: Option<String>,
    /// Number of steps to record, 2 to 400
    #[arg(long, value_name = "N", default_value_t = 200)]
    moments: usize,
    /// Also write figures to this folder: the loss and every tape over time, as SVG
    #[arg(long, value_name = "FOLDER")]
    figures: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
}

/// The step limit of a run without --steps.
const LONGEST: Step = 10_000_000_000;

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let outputs = args.force.outputs().reading(&args.file);
    let outputs = args.learner.iter().fold(outputs, Outputs::reading);
    let mut outputs = args.data.csv.protect(outputs);
    let page = outputs.place(&args.out)?;
    let job = args.job()?;
    if let Job::Stream(job) = &job {
        let recording = StreamRecording::new(job, args.moments.clamp(2, MAX_MOMENTS))?;
        page.write(stream_report(&recording))?;
        let end = if recording.halted { "halted" } else { "step limit" };
        return finish(end, recording.steps, recording.n_moments, &page.path().display().to_string());
    }
    let prepared = PreparedJob::open(&job)?;
    let places = |folder| figure_places(&mut outputs, folder, &prepared);
    let figures = args.figures.as_deref().map(places).transpose()?.unwrap_or_default();
    let mut progress = Progress::new("recording", args.steps.unwrap_or(LONGEST));
    let report = Report::new(&prepared, args.moments, &mut || {
        progress.reach(0);
        true
    });
    drop(progress);
    let report = report?;
    page.write(&report.html)?;
    if let [loss, tapes @ ..] = &figures[..] {
        loss.write(&report.loss_svg)?;
        for (place, (name, strip)) in tapes.iter().zip(&report.pictures) {
            place.write_with(|out| out.write_all(strip.draw(name)?.as_bytes()))?;
        }
    }
    let written = [&page].into_iter().chain(&figures).map(|place| place.path().display().to_string());
    finish(report.end, report.steps, report.n_moments, &written.collect::<Vec<_>>().join(", "))
}

/// Prints what was recorded, and the files.
fn finish(end: &str, steps: Step, n_moments: usize, written: &str) -> Result<(), Failure> {
    let mut rows = Rows::default();
    rows.row("outcome", end);
    rows.row("steps", count(steps));
    rows.row("moments", n_moments);
    rows.row("written", written);
    print(&rows.text())
}

/// The files of the figures: the loss first, then the tapes.
fn figure_places(
    outputs: &mut Outputs,
    folder: &Path,
    prepared: &PreparedJob,
) -> Result<Vec<Output>, Failure> {
    let refused = |reason| OutputError::from(FileError::new("write", folder, reason));
    fs::create_dir_all(folder).map_err(refused)?;
    let n_tapes = prepared.scene()?.machine.n_tapes();
    let tapes = (0..n_tapes).map(|i| format!("tape_{i}.svg"));
    let names = std::iter::once("loss.svg".to_owned()).chain(tapes);
    Ok(names.map(|name| outputs.place(&folder.join(name))).collect::<Result<_, _>>()?)
}

impl Args {
    /// The job that the file or name stands for, with the given options.
    fn job(&self) -> Result<Job, Failure> {
        let mut job = self.named()?;
        match &mut job {
            Job::Trace(TraceJob { input, options, .. }) => {
                if !self.input.is_empty() {
                    input.clone_from(&self.input);
                }
                options.landscape = self.landscape.unwrap_or(options.landscape);
                options.steps = Some(self.steps.or(options.steps).unwrap_or(LONGEST).min(LONGEST));
            }
            Job::Train(TrainJob { primary, options, .. }) => {
                if let Some(given) = &self.primary {
                    given.clone_into(primary);
                }
                options.format = self.data.csv.format().unwrap_or(options.format);
                options.landscape = self.landscape.unwrap_or(options.landscape);
                options.carrier = self.carrier.unwrap_or(options.carrier);
                options.steps = self.steps.unwrap_or(options.steps).min(LONGEST);
            }
            Job::Stream(_) if self.figures.is_some() => {
                return Err(Failure::usage(
                    "--figures with a learner from a stream",
                    "leave out --figures: the report's own pictures can be saved as SVG",
                ));
            }
            Job::Stream(StreamJob { options, .. }) => {
                options.steps = self.steps.unwrap_or(options.steps).min(LONGEST);
            }
        }
        Ok(job)
    }

    /// The run of a model, a record or a checkpoint, of samples that are drawn, or of a machine or learner.
    fn named(&self) -> Result<Job, Failure> {
        let path = Path::new(&self.file);
        if Checkpoint::begins(path) {
            return Ok(Checkpoint::load(path)?.job);
        }
        if path.extension().is_some_and(|extension| extension == "safetensors") && path.exists() {
            return self.of_model(AnyModel::load(path)?);
        }
        let source = Source::open(&self.file)?;
        let lesson = catalogue::lesson(&source);
        let ships = lesson.filter(|lesson| lesson.table().is_none() && self.data.csv.data.is_none());
        if self.draw.is_some() || ships.is_some() {
            return self.stream(source, ships);
        }
        let learns = lesson.is_some();
        if self.data.csv.data.is_some() || is_program(&source) || learns && self.input.is_empty() {
            return Ok(Job::Train(self.data.job(source)?));
        }
        Ok(Job::Trace(TraceJob::new(source)))
    }

    /// A learner on drawn samples, or on those that ship with it.
    fn stream(&self, source: Source, ships: Option<&ShippedLesson>) -> Result<Job, Failure> {
        let format = self.data.csv.format().unwrap_or_else(|| StreamJob::format_for(&source));
        let samples = match (self.draw, ships) {
            (None, Some(lesson)) => lesson.samples(format)?,
            (draw, _) => Samples::Draw(draw.unwrap_or_else(default_draw)),
        };
        let mut job = StreamJob::new(source, samples);
        job.options.format = format;
        job.primary = self.primary.clone().unwrap_or(job.primary);
        Ok(Job::Stream(job))
    }

    /// The run a model came from; its data must be the ones it was trained on.
    fn of_model(&self, model: AnyModel) -> Result<Job, Failure> {
        let given = self.data.csv.data.as_deref().map(read_text).transpose()?;
        let data = given.map(|(name, text)| Data::like(model.preparation(), name, text, true));
        match model {
            AnyModel::Training(mut model) => {
                if let Some(named) = &self.learner {
                    model.card.program = Some(Program { text: Source::open(named)?.text, set: Vec::new() });
                }
                let job = model.job(data.as_ref().ok_or(ModelError::NoData)?)?;
                match &self.learner {
                    Some(named) if !is_program(&job.source) => Err(Failure::not_certified(format!(
                        "{named} is not the program that the model was trained with"
                    ))),
                    _ => Ok(Job::Train(job)),
                }
            }
            AnyModel::Stream(model) => Ok(Job::Stream(model.job(data.as_ref())?)),
            AnyModel::Mlp(_) => Err(Failure::error(
                format!("{} is a model of landscape mlp, whose runs have no page", self.file),
                "give a model of another landscape",
            )),
        }
    }
}
