//! `luge report`: a run as one page that needs nothing else.

use std::{
    fs,
    io::BufWriter,
    path::{Path, PathBuf},
};

use luge::{
    checkpoint::{self, Checkpoint},
    model::{Model, data_digest},
    program::is_program,
    source::Source,
};
use luge_lab::{Catalogue, Data, Language, Program, Refusal, Report, Request};
use luge_landscape::{Carrier, LandscapeKind};
use luge_machine::Step;

use super::{
    failure::Failure,
    machine_args::{named, step_count},
    output::{create, fill, print, table, unwritable},
    progress::Progress,
    table_args::{fit, read_table},
};

/// Write a run as one page that needs nothing else: all the lab's views, at up to 150 moments
///
/// The run is made again from what it was asked for. One that does not halt needs --steps.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A model (with the --data it was trained on), a record or checkpoint, a machine file, a Sled program, a bbchallenge line, or the name of something that ships, such as bb5 or mean
    #[arg(value_name = "MODEL|RECORD|MACHINE", allow_hyphen_values = true)]
    file: String,
    /// The page
    #[arg(short, long, value_name = "REPORT.html")]
    out: PathBuf,
    /// What lies on a tape at the start, once per tape
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    input: Vec<String>,
    /// A CSV file with a header: what the machine learns from
    #[arg(long, value_name = "FILE.csv")]
    data: Option<PathBuf>,
    /// The label's column, or several with commas between
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', requires = "data")]
    target: Vec<String>,
    /// The features' columns; by default all that are no label
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "data")]
    features: Option<Vec<String>>,
    /// The network whose weights are learned: linear, or mlp: and its widths
    #[arg(long, value_name = "NETWORK")]
    primary: Option<String>,
    /// How numbers become bits
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Which landscape
    #[arg(long, value_name = "KIND", value_parser = named(LandscapeKind::ALL, LandscapeKind::word))]
    landscape: Option<LandscapeKind>,
    /// How the landscape's loss reaches the output
    #[arg(long, value_name = "CARRIER", value_parser = named(Carrier::ALL, Carrier::word))]
    carrier: Option<Carrier>,
    /// The most gradient steps. `_` and `,` may group the digits
    #[arg(long, value_name = "N", value_parser = step_count)]
    steps: Option<Step>,
    /// Moments to record, 2 to 150
    #[arg(long, value_name = "N", default_value_t = 120)]
    moments: usize,
    /// Also write the figures into this folder: the loss as SVG, every tape over time as PNG
    #[arg(long, value_name = "FOLDER")]
    figures: Option<PathBuf>,
}

/// Steps after which a run that nobody limited is taken not to end.
const LONGEST: Step = 10_000_000_000;

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let request = args.request()?;
    let file = create(Some(&args.out))?;
    let mut progress = Progress::new("recording", request.steps);
    let report = Report::new(&request, args.moments, &mut || {
        progress.reach(0);
        true
    });
    drop(progress);
    let report = report.map_err(|refusal| refused(&refusal))?;
    if let Some(file) = file {
        fill(file, &report.html)?;
    }
    let mut written = vec![args.out.display().to_string()];
    if let Some(folder) = &args.figures {
        written.extend(write_figures(&report, folder)?);
    }
    let row = |name: &str, value: String| (name.to_owned(), value);
    print(&table(&[
        row("outcome", report.end.to_owned()),
        row("steps", indicatif::HumanCount(report.steps).to_string()),
        row("moments", report.n_moments.to_string()),
        row("written", written.join(", ")),
    ]))
}

fn write_figures(report: &Report, folder: &Path) -> Result<Vec<String>, Failure> {
    fs::create_dir_all(folder).map_err(unwritable(folder))?;
    let mut written = Vec::new();
    let loss = folder.join("loss.svg");
    fs::write(&loss, &report.loss_svg).map_err(unwritable(&loss))?;
    written.push(loss.display().to_string());
    for (i, (_, strip)) in report.pictures.iter().enumerate() {
        let place = folder.join(format!("tape_{i}.png"));
        let file = fs::File::create(&place).map_err(unwritable(&place))?;
        strip.write_png(BufWriter::new(file)).map_err(|error| unwritable(&place)(error.into()))?;
        written.push(place.display().to_string());
    }
    Ok(written)
}

fn refused(refusal: &Refusal) -> Failure {
    let findings =
        refusal.findings.iter().map(|f| format!("\n  line {}:{}: {}", f.line, f.column, f.message));
    let remedy = match refusal.part {
        "data" => "see --data, --target and --format",
        "input" => "see --input",
        "source" => "mend the program",
        _ => "see the options",
    };
    Failure::Unfit {
        problem: format!("{}{}", refusal.message, findings.collect::<String>()),
        remedy: remedy.to_owned(),
    }
}

impl Args {
    fn request(&self) -> Result<Request, Failure> {
        let mut request = self.base()?;
        if let Some(place) = &self.data {
            let text = fs::read_to_string(place).map_err(|reason| {
                Failure::Unreadable(luge::source::OpenError::Read {
                    name: place.display().to_string(),
                    reason,
                })
            })?;
            // A model knows the names of its columns.
            let known = request.data.take().filter(|_| self.target.is_empty());
            let (target, features) = match known {
                Some(data) => (data.target, data.features),
                None if self.target.is_empty() => {
                    return Err(Failure::Usage {
                        problem: "--data without --target".to_owned(),
                        remedy: "name the label's column with --target".to_owned(),
                    });
                }
                None => (self.target.clone(), self.features.clone()),
            };
            request.data = Some(Data { text, target, features });
        } else if request.data.as_ref().is_some_and(|data| data.text.is_empty()) {
            return Err(Failure::Usage {
                problem: format!("{} is a model, which does not hold its data", self.file),
                remedy: "give the data it was trained on with --data FILE.csv".to_owned(),
            });
        }
        if !self.input.is_empty() {
            request.input.clone_from(&self.input);
        }
        let replace = |field: &mut String, given: Option<&str>| {
            if let Some(given) = given {
                given.clone_into(field);
            }
        };
        replace(&mut request.primary, self.primary.as_deref());
        replace(&mut request.format, self.format.as_deref());
        replace(&mut request.landscape, self.landscape.map(LandscapeKind::word));
        replace(&mut request.carrier, self.carrier.map(Carrier::word));
        request.steps = self.steps.unwrap_or(request.steps).min(LONGEST);
        Ok(request)
    }

    /// What the file, or the name, stands for.
    fn base(&self) -> Result<Request, Failure> {
        let path = Path::new(&self.file);
        if !path.exists() {
            if let Some(shipped) = Catalogue::new().find(&self.file) {
                return Ok(shipped.request.clone());
            }
        } else if path.extension().is_some_and(|extension| extension == "safetensors") {
            return self.of_model(&Model::load(path)?);
        } else if path.is_file() && is_record(path) {
            return of_record(&Checkpoint::load(path)?.request);
        }
        let source = Source::open(&self.file)?;
        if is_program(&source) {
            let program = Program { kind: Language::Sled, ..Request::machine(source.text).source };
            return Ok(Request { source: program, ..Request::machine(String::new()) });
        }
        let (format, _) = source.read(None).map_err(|error| Failure::of_reading(error, &source))?;
        let program =
            Program { format: Some(format.slug().to_owned()), ..Request::machine(source.text).source };
        Ok(Request { source: program, ..Request::machine(String::new()) })
    }
}

impl Args {
    /// The run a model came from; its data must be the ones it was trained on.
    fn of_model(&self, model: &Model) -> Result<Request, Failure> {
        let card = &model.card;
        if let Some(place) = &self.data {
            let mut table = read_table(place, &card.labels, Some(&card.features))?;
            fit(&mut table, &place.display().to_string(), model.options()?.format, true)?;
            if data_digest(&table) != card.data_sha256 {
                return Err(Failure::NotCertified {
                    reason: format!("{} does not hold the data the model was trained on", place.display()),
                });
            }
        }
        let source = Program { format: Some("native".to_owned()), ..Request::machine(&card.machine).source };
        let data =
            Data { text: String::new(), target: card.labels.clone(), features: Some(card.features.clone()) };
        Ok(Request {
            source,
            data: Some(data),
            primary: card.primary.clone(),
            format: card.format.clone(),
            landscape: card.landscape.clone(),
            carrier: card.carrier.clone(),
            ..Request::machine(String::new())
        })
    }
}

/// Whether a file begins as records do.
fn is_record(path: &Path) -> bool {
    use std::io::Read;
    let mut start = [0; 16];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && &start == b"luge checkpoint\n"
}

fn of_record(asked: &checkpoint::Request) -> Result<Request, Failure> {
    let native = |text: &str| {
        let source = Program { format: Some("native".to_owned()), ..Request::machine(text).source };
        Request { source, ..Request::machine(String::new()) }
    };
    match asked {
        checkpoint::Request::Trace(trace) => {
            if trace.strict || trace.constants.iter().any(Option::is_some) {
                return Err(Failure::Unfit {
                    problem: "the record is of a run with --strict or with constants of its own".to_owned(),
                    remedy: "reports are of runs with chosen constants; use luge revisit".to_owned(),
                });
            }
            let request = native(&trace.machine);
            Ok(Request {
                landscape: trace.landscape.clone(),
                steps: trace.steps.unwrap_or(request.steps),
                ..request
            })
        }
        checkpoint::Request::Train(train) => {
            let (n_features, n_labels) = (train.features.len(), train.labels.len());
            let numbers: Vec<String> =
                train.numbers.iter().map(|&bits| f64::from_bits(bits).to_string()).collect();
            let n_samples = numbers.len() / (n_features + n_labels).max(1);
            let (x, y) = numbers.split_at(n_samples * n_features);
            let quoted = |name: &String| format!("\"{}\"", name.replace('"', "\"\""));
            let header: Vec<String> = train.features.iter().chain(&train.labels).map(quoted).collect();
            let rows = x.chunks(n_features.max(1)).zip(y.chunks(n_labels.max(1)));
            let rows = rows.map(|(x, y)| [x, y].concat().join(","));
            let text = std::iter::once(header.join(",")).chain(rows).collect::<Vec<String>>().join("\n");
            let data = Data { text, target: train.labels.clone(), features: Some(train.features.clone()) };
            Ok(Request {
                data: Some(data),
                primary: train.primary.clone(),
                format: train.format.clone(),
                landscape: train.landscape.clone(),
                carrier: train.carrier.clone(),
                ..native(&train.machine)
            })
        }
    }
}
