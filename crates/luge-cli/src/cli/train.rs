//! `luge train`: from a learner and data to a trained network and its certificate.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use indicatif::HumanCount;
use luge::{
    checkpoint::{Checkpoint, Request, SeenState, TrainRequest},
    data::Table,
    engine::Engine,
    learners::{self, Shipped},
    lesson::{Certificate, Lesson, LessonOptions, LessonReport, Moment, Seen},
    loss_curve::LossCurve,
    model::{Model, native_text},
    plot::numeral,
    program,
    source::{OpenError, Source},
    universal::Program,
};
use luge_landscape::{Carrier, LandscapeKind, Learner, Mlp, Primary};
use luge_machine::{Input, Machine, Step, formats::Format};
use luge_net::{Network, NumberFormat};
use serde::Serialize;

use super::{
    failure::{Failure, show_warnings},
    landscape_args::cell_count,
    long_run::{LongRunArgs, RunArchive},
    machine_args::{format_parser, named, step_count},
    output::{create, fill, print, print_json, table},
    progress::Progress,
    table_args::{fit, read_table},
};

/// Train a network on data by gradient descent, which runs the learner inside it, and certify the run
///
/// Without arguments, the perceptron on Iris. The exit status is 1 if the run is not what it
/// should be; the paper's claims about the network's size are reported, but do not fail a run.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The learner: a Sled program, a machine file with the tapes `data`, `marks` and `theta` or with a single tape, or
    /// the name of one that `luge learners` lists
    #[arg(value_name = "LEARNER")]
    learner: Option<String>,
    /// With a universal learner: the learner that it is to run, a machine file; its initial weights hold it
    #[arg(long, value_name = "MACHINE", requires = "learner")]
    program: Option<String>,
    /// The machine file's format; by default told from its extension and content
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    from: Option<Format>,
    /// A CSV file with a header, `-` for standard input; by default the data that ship with the learner
    #[arg(long, value_name = "FILE.csv", requires = "target")]
    data: Option<PathBuf>,
    /// The label's column, or several with commas between
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', requires = "data")]
    target: Vec<String>,
    /// The features' columns; by default all that are no label
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "data")]
    features: Option<Vec<String>>,
    /// The network whose weights are learned: linear, or mlp: and its widths [default: linear, or what a learner that ships is for]
    #[arg(long, value_name = "NETWORK")]
    primary: Option<String>,
    /// How numbers become bits: fix:I.F, fix:I.F:sm or float:E.M [default: fix:4.4, or what a learner that ships is for]
    #[arg(long, value_name = "FORMAT")]
    format: Option<NumberFormat>,
    /// Take the nearest number of the format for data outside it
    #[arg(long)]
    saturate: bool,
    /// Which landscape to build
    #[arg(long, value_name = "KIND", default_value = LandscapeKind::default().word(), value_parser = named(LandscapeKind::ALL, LandscapeKind::word))]
    landscape: LandscapeKind,
    /// How the landscape's loss reaches the output
    #[arg(long, value_name = "CARRIER", default_value = Carrier::default().word(), value_parser = named(Carrier::ALL, Carrier::word))]
    carrier: Carrier,
    /// What computes the gradients
    #[arg(long, value_name = "ENGINE", default_value = Engine::default().word(), value_parser = named(Engine::ALL, Engine::word))]
    engine: Engine,
    /// Cells per tape; by default what the run needs and a margin
    #[arg(long, value_name = "N", value_parser = cell_count)]
    cells: Option<usize>,
    /// What the network puts out before it has seen the labels [default: 0; for internal, large enough for a loss that never rises]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    label_offset: Option<f64>,
    /// A bound on the final loss; by default from the number format and the network
    #[arg(long, value_name = "LOSS")]
    final_loss: Option<f64>,
    /// The most machine steps
    #[arg(long, value_name = "N", default_value = "1_000_000_000", value_parser = step_count)]
    steps: Step,
    /// Write the trained model here, if the run is what it should be
    #[arg(long, value_name = "MODEL.safetensors")]
    out: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Draw the loss over the steps, with the bounds it must keep
    #[arg(long, value_name = "OUT.svg")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    long_run: LongRunArgs,
}

/// The number format if neither the user nor the learner says otherwise.
const DEFAULT_FORMAT: &str = "fix:4.4";

/// The learner that is trained if none is named.
const FIRST: &str = "perceptron";

/// The result as JSON.
#[derive(Serialize)]
struct Summary<'a> {
    learner: Option<&'a str>,
    outcome: &'static str,
    steps: u64,
    machine_steps: Step,
    theta: &'a [f64],
    train_loss: f64,
    /// Rows told right, if the labels are classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    classified: Option<usize>,
    b_stop: f64,
    drift: Drift,
    certificate: &'a Certificate,
    landscape: &'static str,
    carrier: &'static str,
    format: String,
    primary: String,
    engine: &'static str,
    engine_why: &'a str,
    samples: usize,
    cells: usize,
    vertices: usize,
    wall_s: f64,
}

#[derive(Serialize)]
struct Drift {
    tape: f64,
    head: f64,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let Material { machine, input, data, format, primary, n_theta } = args.material()?;
    let learner = Learner::new(&machine, input.as_ref())?;
    let primary = Mlp::parse(&primary, data.feature_names.len(), data.label_names.len())?;
    if let Some(n_theta) = n_theta.filter(|&n| n != primary.n_weights()) {
        let (primary, n_weights) = (primary.describe(), primary.n_weights());
        return Err(Failure::Usage {
            problem: format!(
                "the program's theta has {n_theta} numbers, but {primary} has {n_weights} weights"
            ),
            remedy: "give the network the program is for with --primary, such as mlp:2-2-1".to_owned(),
        });
    }
    let options = args.options(format);
    let lesson = Lesson::prepare(&learner, &primary, &data, &options)?;
    args.out.as_deref().map_or(Ok(()), Model::reserve)?;
    let plot = create(args.plot.as_deref())?;
    let request = TrainRequest::new(&machine, input.as_ref(), &primary.describe(), &data, &options);
    let archive =
        args.long_run.archive(Request::Train(request), lesson.extended().network(), lesson.dense())?;

    let mut curve = LossCurve::default();
    let task = Task {
        lesson: &lesson,
        machine: &machine,
        input: input.as_ref(),
        primary: &primary,
        options: &options,
        out: args.out.as_deref(),
        json: args.json,
    };
    let lessons = task.train(archive, None, |step, loss| curve.add(step, loss))?;
    if let Some(file) = plot {
        let title = machine.name().unwrap_or("a learner").to_owned();
        let subtitle =
            format!("{} gradient steps on {}", HumanCount(lessons.outcome.steps()), options.landscape.word());
        let svg = curve.draw(&title, &subtitle, options.landscape, &lesson.loss_levels(), None);
        fill(file, &svg)?;
    }
    verdict(&lessons)
}

/// Goes on with training.
pub(super) fn resume(
    checkpoint: &Checkpoint,
    name: &str,
    request: &TrainRequest,
    (json, out): (bool, Option<&Path>),
    archive: impl FnOnce(Request, &Network) -> Result<RunArchive, Failure>,
) -> Result<(), Failure> {
    let training = request.read().map_err(|error| Failure::of_request(name, &error))?;
    let learner = Learner::new(&training.machine, training.input.as_ref())?;
    let lesson = Lesson::prepare(&learner, &training.primary, &training.table, &training.options)?;
    checkpoint.belongs_to(lesson.extended().network(), name)?;
    out.map_or(Ok(()), Model::reserve)?;
    let archive = archive(checkpoint.request.clone(), lesson.extended().network())?;
    let task = Task {
        lesson: &lesson,
        machine: &training.machine,
        input: training.input.as_ref(),
        primary: &training.primary,
        options: &training.options,
        out,
        json,
    };
    verdict(&task.train(archive, Some(checkpoint), |_, _| ())?)
}

fn verdict(lessons: &LessonReport) -> Result<(), Failure> {
    if lessons.certificate.proves_the_run() {
        return Ok(());
    }
    let failed = lessons.certificate.checks().into_iter().find(|(_, check)| !check.holds);
    let reason = failed.map_or_else(String::new, |(name, check)| format!("{name}: {}", check.figures));
    Err(Failure::NotCertified { reason })
}

/// A lesson, and what is to become of it.
struct Task<'a> {
    lesson: &'a Lesson<'a>,
    machine: &'a Machine,
    input: Option<&'a Input>,
    primary: &'a Mlp,
    options: &'a LessonOptions,
    out: Option<&'a Path>,
    json: bool,
}

impl Task<'_> {
    /// Trains, keeps what is to be kept, and shows what came of it.
    fn train(
        &self,
        mut archive: RunArchive,
        from: Option<&Checkpoint>,
        mut see: impl FnMut(u64, f64),
    ) -> Result<LessonReport, Failure> {
        let most_steps = self.lesson.machine_steps() + self.lesson.extended().extra_steps();
        let mut progress = Progress::new("training", most_steps).certainly();
        let started = Instant::now();
        let watch = |moment: Moment<'_>| {
            progress.reach_with_loss(moment.step, moment.loss);
            see(moment.step, moment.loss);
            archive.see(moment.step, moment.engine, || SeenState::from(moment.seen))
        };
        let start = from.and_then(|checkpoint| Some((checkpoint, checkpoint.last()?)));
        let first_step = start.as_ref().map_or(0, |(_, snapshot)| snapshot.step);
        let lessons = match start {
            Some((checkpoint, snapshot)) => {
                self.lesson.resume(&snapshot, Seen::from(&checkpoint.seen), watch)?
            }
            None => self.lesson.train(watch)?,
        };
        let seconds = started.elapsed().as_secs_f64();
        drop(progress);
        if let Some(path) = self.out.filter(|_| lessons.certificate.proves_the_run()) {
            let machine = native_text(self.machine, self.input);
            Model::new(machine, self.primary, self.lesson, self.options, &lessons).save(path)?;
        }
        if let luge_train::Outcome::Interrupted { steps } = lessons.outcome {
            archive.finish(steps)?;
            return Err(archive.interrupted(steps));
        }
        let made = lessons.outcome.steps().saturating_sub(first_step);
        if self.json {
            print_json(&self.summary(&lessons, seconds))?;
        } else {
            print(&table(&rows(self.lesson, &lessons, made, seconds)))?;
        }
        archive.finish(lessons.outcome.steps())?;
        Ok(lessons)
    }

    fn summary<'t>(&'t self, lessons: &'t LessonReport, seconds: f64) -> Summary<'t> {
        let lesson = self.lesson;
        Summary {
            learner: self.machine.name(),
            outcome: super::trace::word(lessons.outcome),
            steps: lessons.outcome.steps(),
            machine_steps: lessons.machine_steps,
            theta: &lessons.theta,
            train_loss: lessons.train_loss,
            classified: lessons.classified,
            b_stop: lesson.extended().stop(),
            drift: Drift { tape: lessons.tape_drift, head: lessons.head_drift },
            certificate: &lessons.certificate,
            landscape: self.options.landscape.word(),
            carrier: self.options.carrier.word(),
            format: self.options.format.to_string(),
            primary: self.primary.describe(),
            engine: lessons.chosen.engine.word(),
            engine_why: &lessons.chosen.why,
            samples: lesson.table().n_samples(),
            cells: lesson.window().n_cells,
            vertices: lesson.extended().n_vertices(),
            wall_s: seconds,
        }
    }
}

/// What is trained, and on what.
struct Material {
    machine: Machine,
    input: Option<Input>,
    data: Table,
    format: NumberFormat,
    primary: String,
    /// How many numbers a program leaves; a machine does not say.
    n_theta: Option<usize>,
}

impl Args {
    /// Finds learner and data, and compiles the learner if it is a program.
    fn material(&self) -> Result<Material, Failure> {
        let named = self.learner.as_deref().unwrap_or(FIRST);
        let shipped = learners::find(named).filter(|_| !Path::new(named).exists());
        let source = match shipped {
            Some(shipped) => Source {
                name: format!("{}.sled", shipped.name),
                text: shipped.text.to_owned(),
                extension: Some(program::EXTENSION.to_owned()),
            },
            None => Source::open(named).map_err(|error| of_learner(named, error))?,
        };
        // A learner that ships is known by its text too, wherever the file lies.
        let known = shipped.or_else(|| learners::SHIPPED.iter().find(|shipped| shipped.text == source.text));
        let usual = known.map_or(DEFAULT_FORMAT, |shipped| shipped.format);
        let usual = || usual.parse().expect("formats written down here are formats");
        let format = self.format.unwrap_or_else(usual);
        let primary = self.primary.as_deref().or(known.map(|s| s.primary)).unwrap_or("linear").to_owned();
        let (mut data, place) = self.table(shipped, &source)?;
        fit(&mut data, &place, format, self.saturate)?;
        let (machine, mut input, n_theta) = self.learner(&source, &data, format)?;
        if let Some(place) = &self.program {
            input = Some(load_program(place, self.from, &machine, input.as_ref())?);
        }
        Ok(Material { machine, input, data, format, primary, n_theta })
    }

    /// The data, and what to call them.
    fn table(&self, shipped: Option<&Shipped>, source: &Source) -> Result<(Table, String), Failure> {
        match (&self.data, shipped) {
            (Some(place), _) => {
                let table = read_table(place, &self.target, self.features.as_deref())?;
                Ok((table, place.display().to_string()))
            }
            (None, Some(shipped)) => {
                let targets: Vec<String> = shipped.targets.iter().map(|&t| t.to_owned()).collect();
                let table = Table::read(shipped.csv.as_bytes(), &targets, None)
                    .map_err(|error| Failure::of_table(shipped.data, &error))?;
                Ok((table, shipped.data.to_owned()))
            }
            (None, None) => Err(Failure::Usage {
                problem: format!("{} has no data of its own", source.name),
                remedy: "give them with --data FILE.csv --target COLUMN".to_owned(),
            }),
        }
    }

    fn learner(
        &self,
        source: &Source,
        data: &Table,
        format: NumberFormat,
    ) -> Result<(Machine, Option<Input>, Option<usize>), Failure> {
        if program::is_program(source) {
            let refused = |error| Failure::of_program(error, source);
            let sizes = program::sizes(format, data.feature_names.len(), data.label_names.len());
            let compiled =
                program::compile(&source.text, &source.name, &sizes.map_err(refused)?).map_err(refused)?;
            return Ok((compiled.machine, Some(compiled.input), Some(compiled.n_theta)));
        }
        let (_, loaded) = source.read(self.from).map_err(|error| Failure::of_reading(error, source))?;
        show_warnings(&loaded.warnings, source);
        Ok((loaded.machine, loaded.input, None))
    }

    fn options(&self, format: NumberFormat) -> LessonOptions {
        LessonOptions {
            landscape: self.landscape,
            engine: self.engine,
            carrier: self.carrier,
            cells: self.cells,
            label_offset: self.label_offset,
            final_loss: self.final_loss,
            steps: self.steps,
            ..LessonOptions::new(format)
        }
    }
}

/// A learner that is neither a file nor one that ships.
fn of_learner(named: &str, error: OpenError) -> Failure {
    match error {
        OpenError::Missing { .. } => {
            let names: Vec<&str> = learners::SHIPPED.iter().map(|shipped| shipped.name).collect();
            Failure::Unfit {
                problem: format!("there is no file `{named}`, and no learner of that name ships"),
                remedy: format!("give a file, or one of {}", names.join(", ")),
            }
        }
        error => error.into(),
    }
}

/// The universal learner's own input, with another learner as its program.
fn load_program(
    place: &str,
    from: Option<Format>,
    machine: &Machine,
    input: Option<&Input>,
) -> Result<Input, Failure> {
    let source = Source::open(place)?;
    let (_, loaded) = source.read(from).map_err(|error| Failure::of_reading(error, &source))?;
    let loaded = Program::encode(&loaded.machine, loaded.input.as_ref())
        .and_then(|program| program.load(machine, input));
    loaded.map_err(|error| Failure::Unfit {
        problem: format!("{place} cannot be run as a program by this learner: {error}"),
        remedy:
            "give --program only with learners/universal.tm, and a machine as docs/universal.md describes"
                .to_owned(),
    })
}

fn rows(lesson: &Lesson<'_>, lessons: &LessonReport, made: u64, seconds: f64) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut row = |name: &str, value: String| rows.push((name.to_owned(), value));
    let extended = lesson.extended();
    let count = |n: u64| HumanCount(n).to_string();
    row("labels read", format!("step 1: {} labels in z", count(lesson.table().labels.data.len() as u64)));
    row(
        "running",
        format!(
            "{} machine steps on landscape {}, {} vertices, {} cells per tape",
            count(lessons.machine_steps),
            extended.kind().word(),
            count(extended.n_vertices() as u64),
            count(lesson.window().n_cells as u64),
        ),
    );
    let steps = lessons.outcome.steps();
    let loss = numeral(lessons.train_loss);
    let stop = numeral(extended.stop());
    let end = match lessons.outcome {
        luge_train::Outcome::Converged { .. } => "halted",
        _ => "not halted",
    };
    row(end, format!("after {} gradient steps: loss {loss}, at most {stop} stops training", count(steps)));
    let theta: Vec<String> = lessons.theta.iter().map(|v| format!("{v}")).collect();
    row("theta", theta.join(" "));
    row("training loss", loss);
    if let Some(right) = lessons.classified {
        let all = count(lesson.table().n_samples() as u64);
        row("classified", format!("{} of {all} rows right", count(right as u64)));
    }
    row("drift", format!("tape {:.1e}, head {:.1e}", lessons.tape_drift, lessons.head_drift));
    row("engine", format!("{}: {}", lessons.chosen.engine.word(), lessons.chosen.why));
    row("time", format!("{seconds:.2} s, {} steps/s", count((made as f64 / seconds) as u64)));
    row("certificate", String::new());
    for (name, check) in lessons.certificate.checks() {
        let verdict = if check.holds { "yes" } else { "NO" };
        row(&format!("  {}", name.replace('_', " ")), format!("{verdict}: {}", check.figures));
    }
    rows
}
