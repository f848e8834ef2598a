//! The learners from streams that ship.

use luge_net::NumberFormat;

use super::{Samples, StreamJob, StreamOptions};
use crate::{
    data::default_format,
    source::{OpenError, Source},
};

/// A learner from a stream, and what it is meant for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShippedStream {
    /// Its name, and that of its file in `learners`.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// The machine.
    pub text: &'static str,
    /// The number format it is meant for.
    pub format: &'static str,
    /// The network its weights are for.
    pub primary: &'static str,
}

/// All of them.
pub const STREAM_LEARNERS: [ShippedStream; 2] = [
    ShippedStream {
        name: "parity",
        summary: "which bits a parity counts, by Gaussian elimination over GF(2)",
        text: include_str!("../../learners/parity.tm"),
        format: "fix:2.0",
        primary: "parity",
    },
    ShippedStream {
        name: "stream_mean",
        summary: "the mean of the labels of sixteen samples",
        text: include_str!("../../learners/stream_mean.tm"),
        format: "fix:6.4",
        primary: "linear",
    },
];

impl ShippedStream {
    /// The learner with this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        STREAM_LEARNERS.iter().find(|shipped| shipped.name == name)
    }

    /// The machine as a source.
    #[must_use]
    pub fn source(&self) -> Source {
        Source { name: self.name.to_owned(), text: self.text.to_owned(), extension: Some("tm".to_owned()) }
    }
}

impl StreamJob {
    /// A learner on a stream, everything else as it comes; one that ships is known by its text, and comes with its number format
    /// and primary network.
    #[must_use]
    pub fn new(source: Source, samples: Samples) -> Self {
        let options = StreamOptions::new(Self::format_for(&source));
        let primary = with_text(&source).map_or("linear", |shipped| shipped.primary).to_owned();
        Self { source, samples, primary, options }
    }

    /// The number format for a learner, if none is asked for.
    #[must_use]
    pub fn format_for(source: &Source) -> NumberFormat {
        let format = with_text(source).and_then(|shipped| shipped.format.parse().ok());
        format.unwrap_or_else(default_format)
    }
}

fn with_text(source: &Source) -> Option<&'static ShippedStream> {
    STREAM_LEARNERS.iter().find(|shipped| shipped.text == source.text)
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
