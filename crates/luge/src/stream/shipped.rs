//! The learners from streams that ship.

use luge_net::NumberFormat;

use super::{Concept, Draw, Order, Samples, StreamJob, StreamOptions};
use crate::{
    data::default_format,
    job::{Data, JobError},
    source::{OpenError, Source},
};

/// A learner from a stream, and what it is meant for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ShippedStream {
    /// Its name, and that of its file in `learners`.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// The program or machine.
    pub text: &'static str,
    /// The extension of files that hold such programs: `sled` or `tm`.
    pub extension: &'static str,
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
    Table {
        /// Its file.
        file: &'static str,
        /// The file's text.
        csv: &'static str,
        /// The label's column.
        target: &'static str,
        /// The features' columns; none: all others.
        features: &'static [&'static str],
    },
}

const PARITY: ShippedSamples =
    ShippedSamples::Draw(Draw { concept: Concept::Parity { n_hidden: 16 }, n_features: 32, noise: 0.0 });

const PETALS: ShippedSamples = ShippedSamples::Table {
    file: "data/iris.csv",
    csv: include_str!("../../data/iris.csv"),
    target: "petal_length",
    features: &["petal_width"],
};

const SETOSA: ShippedSamples = ShippedSamples::Table {
    file: "learners/iris_setosa.csv",
    csv: include_str!("../../learners/iris_setosa.csv"),
    target: "setosa",
    features: &[],
};

macro_rules! learner {
    ($name:literal, $extension:literal, $samples:expr, $format:literal, $primary:literal, $summary:literal) => {
        ShippedStream {
            name: $name,
            summary: $summary,
            text: include_str!(concat!("../../learners/", $name, ".", $extension)),
            extension: $extension,
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
        STREAM_LEARNERS.iter().find(|shipped| shipped.name == name)
    }

    /// The learner with this very text, wherever its file lies.
    #[must_use]
    pub fn with_text(text: &str) -> Option<&'static Self> {
        STREAM_LEARNERS.iter().find(|shipped| shipped.text == text)
    }

    /// The program or machine as a source.
    #[must_use]
    pub fn source(&self) -> Source {
        Source {
            name: self.name.to_owned(),
            text: self.text.to_owned(),
            extension: Some(self.extension.to_owned()),
        }
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
            Self::Table { file, csv, target, features } => {
                let features = features.iter().map(|&feature| feature.to_owned()).collect::<Vec<_>>();
                let data = Data::Csv {
                    name: file.to_owned(),
                    text: csv.to_owned(),
                    target: vec![target.to_owned()],
                    features: (!features.is_empty()).then_some(features),
                    saturate: false,
                    asked: crate::data::Asked::default(),
                };
                Ok(Samples::Table(data.read(format)?, Order::Shuffle))
            }
        }
    }

    /// The flags that ask for it on the command line.
    #[must_use]
    pub fn flags(&self) -> String {
        match self {
            Self::Draw(draw) => format!("--draw {draw}"),
            Self::Table { file, target, features: [], .. } => {
                format!("--data {file} --target {target} --order shuffle")
            }
            Self::Table { file, target, features, .. } => {
                format!("--data {file} --target {target} --features {} --order shuffle", features.join(","))
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
        let known = ShippedStream::with_text(&source.text);
        let primary = known.map_or("linear", |shipped| shipped.primary).to_owned();
        Self { source, samples, primary, options }
    }

    /// The number format for a learner, if none is asked for.
    #[must_use]
    pub fn format_for(source: &Source) -> NumberFormat {
        let known = ShippedStream::with_text(&source.text);
        known.and_then(|shipped| shipped.format.parse().ok()).unwrap_or_else(default_format)
    }
}

/// A learner by its name or its file.
///
/// # Errors
/// If there is neither.
pub fn open(named: &str) -> Result<Source, OpenError> {
    match ShippedStream::find(named) {
        Some(shipped) => Ok(shipped.source()),
        None => Source::open(named),
    }
}
