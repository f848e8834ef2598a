//! The programs and settings that the page offers.

use luge::{
    job::catalogue::{SHIPPED, STREAM_LEARNERS, Shipped},
    run::engine::EngineChoice,
};
use luge_landscape::{Carrier, LandscapeKind};
use luge_machine::formats::Format;
use luge_net::Word;
use luge_train::Precision;
use serde_json::{Value, json};

/// All programs and settings.
pub(super) fn catalogue() -> Value {
    let stream = |shipped: &Shipped| json!({ "id": shipped.name, "about": shipped.summary });
    json!({
        "shipped": SHIPPED.iter().map(shipped).collect::<Vec<_>>(),
        "landscapes": words::<LandscapeKind>(),
        "carriers": words::<Carrier>(),
        "engines": words::<EngineChoice>(),
        "precisions": words::<Precision>(),
        "formats": Format::ALL.map(Format::slug),
        "streams": STREAM_LEARNERS.iter().map(stream).collect::<Vec<_>>(),
    })
}

/// A program that ships, with its job.
fn shipped(shipped: &Shipped) -> Value {
    let group = match shipped {
        Shipped { extension: luge::job::program::EXTENSION, .. } => "sled",
        Shipped { lesson: Some(_), .. } => "learner",
        _ => "machine",
    };
    let (first, rest) = shipped.summary.split_at(1);
    let about = first.to_uppercase() + rest;
    let (id, title, job) = (shipped.name, shipped.title(), shipped.job());
    json!({ "id": id, "title": title, "group": group, "about": about, "job": job })
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
        for shipped in catalogue()["shipped"].as_array().expect("a list") {
            let id = &shipped["id"];
            let job = serde_json::from_value(shipped["job"].clone()).unwrap_or_else(|e| panic!("{id}: {e}"));
            let prepared = PreparedJob::open(&job).unwrap_or_else(|e| panic!("{id}: {e}"));
            let scene = prepared.scene().unwrap_or_else(|e| panic!("{id}: {e}"));
            scene.replay().unwrap_or_else(|e| panic!("{id}: {e}"));
        }
    }
}
