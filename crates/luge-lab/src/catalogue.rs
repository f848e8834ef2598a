//! The programs and settings that the page offers.

use luge::{
    job::{
        Job,
        catalogue::{self, SHIPPED},
    },
    run::engine::EngineChoice,
    stream::{STREAM_LEARNERS, ShippedStream},
    words::Word,
};
use luge_landscape::{Carrier, LandscapeKind};
use luge_machine::formats::Format;
use luge_train::Precision;
use serde::Serialize;

/// Everything that can be chosen.
#[derive(Debug, Serialize)]
pub(super) struct Catalogue {
    shipped: Vec<Shipped>,
    landscapes: Vec<&'static str>,
    carriers: Vec<&'static str>,
    engines: Vec<&'static str>,
    precisions: Vec<&'static str>,
    formats: Vec<&'static str>,
    streams: Vec<StreamLearner>,
}

/// A learner from a stream that ships.
#[derive(Debug, Serialize)]
struct StreamLearner {
    id: &'static str,
    about: &'static str,
}

/// A program that ships, with all that it needs.
#[derive(Debug, Serialize)]
struct Shipped {
    /// A short name for addresses.
    id: &'static str,
    /// Its name in a heading.
    title: String,
    /// `machine`, `learner` or `sled`.
    group: &'static str,
    /// A line about it.
    about: String,
    job: Job,
}

impl Catalogue {
    /// All of it.
    pub(super) fn new() -> Self {
        Self {
            shipped: SHIPPED.iter().map(Shipped::new).collect(),
            landscapes: words::<LandscapeKind>(),
            carriers: words::<Carrier>(),
            engines: words::<EngineChoice>(),
            precisions: words::<Precision>(),
            formats: words::<Format>(),
            streams: STREAM_LEARNERS.iter().map(StreamLearner::new).collect(),
        }
    }
}

impl StreamLearner {
    fn new(shipped: &ShippedStream) -> Self {
        Self { id: shipped.program.name, about: shipped.program.summary }
    }
}

impl Shipped {
    fn new(shipped: &catalogue::Shipped) -> Self {
        let group = match shipped {
            catalogue::Shipped { extension: luge::job::program::EXTENSION, .. } => "sled",
            catalogue::Shipped { lesson: Some(_), .. } => "learner",
            _ => "machine",
        };
        let (first, rest) = shipped.summary.split_at(1);
        let about = first.to_uppercase() + rest;
        Self { id: shipped.name, title: shipped.title(), group, about, job: shipped.job() }
    }
}

fn words<T: Word>() -> Vec<&'static str> {
    T::ALL.iter().map(|one| one.word()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PreparedJob;

    #[test]
    fn everything_that_ships_can_be_shown() {
        for shipped in Catalogue::new().shipped {
            let stage = PreparedJob::open(&shipped.job).unwrap_or_else(|e| panic!("{}: {e}", shipped.id));
            let scene = stage.scene().unwrap_or_else(|e| panic!("{}: {e}", shipped.id));
            scene.replay().unwrap_or_else(|e| panic!("{}: {e}", shipped.id));
        }
    }
}
