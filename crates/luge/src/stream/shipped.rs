//! The stream learners that ship.

use luge_net::NumberFormat;

use super::{Concept, Draw, Order, Samples, StreamJob, StreamLandscape, StreamOptions};
use crate::{
    data::Table,
    job::{
        Data, JobError, TrainJob,
        catalogue::{self, Shipped, ShippedTable, ShippedTraining},
        program::SizedSource,
        source::{OpenError, Source},
    },
};

/// A learner from a stream, and what it is meant for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ShippedStream {
    /// The program or machine, whose file lies in `learners`.
    pub program: Shipped,
    /// The number format it is meant for.
    pub format: &'static str,
    /// The network its weights are for.
    pub primary: &'static str,
    /// The stream that its story is about.
    pub samples: ShippedSamples,
}

/// A stream that a learner's story is about.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ShippedSamples {
    /// Samples that are drawn.
    Draw(Draw),
    /// The rows of a table, which pass in an order that changes every time.
    Table(ShippedTable),
}

const PARITY: ShippedSamples =
    ShippedSamples::Draw(Draw { concept: Concept::Parity { n_hidden: 16 }, n_features: 32, noise: 0.0 });

const PETALS: ShippedSamples = ShippedSamples::Table(ShippedTable {
    file: "crates/luge/data/iris.csv",
    csv: include_str!("../../data/iris.csv"),
    targets: &["petal_length"],
    features: &["petal_width"],
});

const SETOSA: ShippedSamples = ShippedSamples::Table(ShippedTable {
    file: "crates/luge/learners/iris_setosa.csv",
    csv: include_str!("../../learners/iris_setosa.csv"),
    targets: &["setosa"],
    features: &[],
});

macro_rules! learner {
    ($name:literal, $extension:literal, $samples:expr, $format:literal, $primary:literal, $summary:literal) => {
        ShippedStream {
            program: Shipped {
                name: $name,
                summary: $summary,
                text: include_str!(concat!("../../learners/", $name, ".", $extension)),
                extension: $extension,
                lesson: None,
            },
            format: $format,
            primary: $primary,
            samples: $samples,
        }
    };
}

/// All of them: programs, then machines.
pub const STREAM_LEARNERS: [ShippedStream; 5] = [
    learner!(
        "parity",
        "sled",
        PARITY,
        "fix:2.0",
        "parity",
        "which bits a parity counts, by Gaussian elimination over GF(2)"
    ),
    learner!(
        "stream_perceptron",
        "sled",
        SETOSA,
        "fix:8.4",
        "linear",
        "Rosenblatt's perceptron, until fifty samples in a row are right"
    ),
    learner!("stream_mean", "sled", PETALS, "fix:6.4", "linear", "the mean of the labels of sixteen samples"),
    learner!("parity_machine", "tm", PARITY, "fix:2.0", "parity", "the same as parity, as a machine"),
    learner!("stream_average", "tm", PETALS, "fix:6.4", "linear", "the same as stream_mean, as a machine"),
];

impl ShippedStream {
    /// The learner with this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        STREAM_LEARNERS.iter().find(|shipped| shipped.program.name == name)
    }

    /// The learner with this very text, wherever its file lies.
    #[must_use]
    pub fn with_text(text: &str) -> Option<&'static Self> {
        STREAM_LEARNERS.iter().find(|shipped| shipped.program.text == text)
    }
}

impl ShippedSamples {
    /// The stream, with numbers of this format.
    ///
    /// # Errors
    /// If they do not fit the format.
    pub fn read(&self, format: NumberFormat) -> Result<Samples, JobError> {
        match *self {
            Self::Draw(draw) => Ok(Samples::Draw(draw)),
            Self::Table(table) => Ok(Samples::Table(table.data().read(format)?, Order::Shuffle)),
        }
    }

    /// The flags that ask for it on the command line.
    #[must_use]
    pub fn flags(&self) -> String {
        match self {
            Self::Draw(draw) => format!("--draw {draw}"),
            Self::Table(ShippedTable { file, targets, features, .. }) => {
                let features = match features {
                    [] => String::new(),
                    features => format!(" --features {}", features.join(",")),
                };
                format!("--data {file} --target {}{features} --order shuffle", targets.join(","))
            }
        }
    }
}

impl StreamJob {
    /// A learner on a stream, everything else as it comes; one that ships is known by its text, and comes with its number format
    /// and primary network.
    #[must_use]
    pub fn new(source: Source, samples: Samples) -> Self {
        let options = StreamOptions::new(Self::format_for(&source));
        let known = ShippedStream::with_text(&source.text).map(|shipped| shipped.primary);
        let known = known.or_else(|| Some(of_table(&source)?.primary));
        let primary = known.unwrap_or_else(|| TrainJob::usual_primary(&source)).to_owned();
        let landscape = StreamLandscape::default();
        Self { source, samples, primary, set: Vec::new(), landscape, options }
    }

    /// The learner, for the samples of the stream.
    pub(crate) fn sized(&self) -> SizedSource<'_> {
        let (format, sizes) = (self.options.format, self.samples.sizes());
        SizedSource { source: &self.source, set: &self.set, format, sizes }
    }

    /// The rows of a table as numbers of a format, classes as the learner wants them.
    ///
    /// # Errors
    /// If they are no table, or do not fit the format.
    pub fn table(source: &Source, data: Data, format: NumberFormat) -> Result<Table, JobError> {
        let mut job = TrainJob::new(source.clone(), data);
        job.options.format = format;
        job.table()
    }

    /// The same as numbers of any size.
    ///
    /// # Errors
    /// If they are no table.
    pub fn as_given(source: &Source, data: Data) -> Result<Table, JobError> {
        TrainJob::new(source.clone(), data).as_given()
    }

    /// The number format for a learner, if none is asked for.
    #[must_use]
    pub fn format_for(source: &Source) -> NumberFormat {
        let known = ShippedStream::with_text(&source.text).map(|shipped| shipped.format);
        let known = known.or_else(|| Some(of_table(source)?.format));
        known.and_then(|format| format.parse().ok()).unwrap_or_default()
    }
}

/// What a learner from a table that ships is meant for: landscape mlp passes it the rows in cycles.
fn of_table(source: &Source) -> Option<&'static ShippedTraining> {
    catalogue::with_text(&source.text)?.lesson.as_ref()
}

/// The samples that a learner's story is about: its stream, or the rows of its table in cycles. `None` unless it ships.
///
/// # Errors
/// If they do not fit the format.
pub fn own_samples(source: &Source, format: NumberFormat) -> Result<Option<Samples>, JobError> {
    let table = |lesson: &ShippedTraining| Ok(Samples::Table(lesson.data().read(format)?, Order::Cycle));
    match ShippedStream::with_text(&source.text) {
        Some(known) => known.samples.read(format).map(Some),
        None => of_table(source).map(table).transpose(),
    }
}

/// A learner by its name or its file.
///
/// # Errors
/// If there is neither.
pub fn open(named: &str) -> Result<Source, OpenError> {
    match ShippedStream::find(named) {
        Some(shipped) => Ok(shipped.program.source()),
        None => Source::open(named),
    }
}
