//! What ships with the program and can be chosen on the page.

use luge_landscape::{Carrier, LandscapeKind};
use luge_machine::formats::Format;
use luge_train::Precision;
use serde::Serialize;

use super::{Data, Language, Program, Request};
use crate::film::Choice;
use luge::learners;

/// Everything that can be chosen.
#[derive(Debug, Serialize)]
pub struct Catalogue {
    /// Programs, with all that they need.
    pub shipped: Vec<Shipped>,
    landscapes: Vec<&'static str>,
    carriers: Vec<&'static str>,
    engines: Vec<&'static str>,
    precisions: Vec<&'static str>,
    formats: Vec<&'static str>,
}

/// A program that ships.
#[derive(Debug, Serialize)]
pub struct Shipped {
    /// A short name for addresses.
    pub id: &'static str,
    /// `machine`, `learner` or `sled`.
    pub group: &'static str,
    /// A line about it.
    pub about: &'static str,
    /// What to ask for.
    pub request: Request,
}

macro_rules! learner_file {
    ($name:literal) => {
        include_str!(concat!("../../luge/learners/", $name))
    };
}

impl Catalogue {
    /// All of it.
    #[must_use]
    pub fn new() -> Self {
        Self {
            shipped: shipped(),
            landscapes: LandscapeKind::ALL.map(LandscapeKind::word).to_vec(),
            carriers: Carrier::ALL.map(Carrier::word).to_vec(),
            engines: Choice::ALL.map(Choice::word).to_vec(),
            precisions: Precision::ALL.map(Precision::word).to_vec(),
            formats: Format::ALL.map(Format::slug).to_vec(),
        }
    }

    /// The program of a short name.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&Shipped> {
        self.shipped.iter().find(|shipped| shipped.id == id)
    }
}

impl Default for Catalogue {
    fn default() -> Self {
        Self::new()
    }
}

fn shipped() -> Vec<Shipped> {
    let mut all = machines();
    all.extend(learners::SHIPPED.iter().map(program));
    all
}

/// A learner in Sled.
fn program(shipped: &'static learners::Shipped) -> Shipped {
    let target = shipped.targets.iter().map(|&name| name.to_owned()).collect();
    let request = Request {
        name: Some(shipped.name.replace('_', " ")),
        source: Program { kind: Language::Sled, ..Request::machine(shipped.text).source },
        data: Some(Data { text: shipped.csv.to_owned(), target, features: None }),
        primary: shipped.primary.to_owned(),
        format: shipped.format.to_owned(),
        ..Request::machine(String::new())
    };
    Shipped { id: shipped.name, group: "sled", about: shipped.summary, request }
}

fn machines() -> Vec<Shipped> {
    vec![
        learner(
            "mean",
            "Mean of four labels",
            learner_file!("mean.tm"),
            learner_file!("mean.csv"),
            "fix:4.4",
        ),
        learner(
            "copy_label",
            "Copies the first label",
            learner_file!("copy_label.tm"),
            learner_file!("copy_label.csv"),
            "fix:3.2",
        ),
        learner(
            "majority",
            "Majority of binary labels, two features",
            learner_file!("majority.tm"),
            learner_file!("majority.csv"),
            "fix:2.0",
        ),
        learner(
            "largest",
            "The largest label",
            learner_file!("largest.tm"),
            learner_file!("universal.csv"),
            "fix:3.0",
        ),
        learner(
            "ballot",
            "A ballot among labels",
            learner_file!("ballot.tm"),
            learner_file!("universal.csv"),
            "fix:3.0",
        ),
        learner(
            "universal",
            "A universal learner: its program is on a tape",
            learner_file!("universal.tm"),
            learner_file!("universal.csv"),
            "fix:3.0",
        ),
        inside(learner(
            "keep_label",
            "Keeps the first label, tape inside the vertex",
            learner_file!("keep_label.tm"),
            learner_file!("keep_label.csv"),
            "fix:2.0",
        )),
        machine("bb2", "Busy beaver, 2 states, 6 steps", "BB(2)", "1RB1LB_1LA1RZ"),
        machine("bb3", "Busy beaver, 3 states, 21 steps", "BB(3)", "1RB1RZ_1LB0RC_1LC1LA"),
        machine("bb4", "Busy beaver, 4 states, 107 steps", "BB(4)", "1RB1LB_1LA0LC_1RZ1LD_1RD0RA"),
        machine(
            "bb5",
            "Busy beaver, 5 states, 47,176,870 steps",
            "BB(5)",
            "1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA",
        ),
    ]
}

fn machine(id: &'static str, about: &'static str, name: &str, text: &str) -> Shipped {
    let request = Request { name: Some(name.to_owned()), ..Request::machine(text) };
    Shipped { id, group: "machine", about, request }
}

fn learner(id: &'static str, about: &'static str, text: &str, csv: &str, format: &str) -> Shipped {
    let data = Data { text: csv.to_owned(), target: vec!["y".to_owned()], features: None };
    let source = Program { format: Some(Format::Native.slug().to_owned()), ..Request::machine(text).source };
    let request =
        Request { source, data: Some(data), format: format.to_owned(), ..Request::machine(String::new()) };
    Shipped { id, group: "learner", about, request }
}

fn inside(mut shipped: Shipped) -> Shipped {
    shipped.request.landscape = LandscapeKind::Internal.word().to_owned();
    shipped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stage;

    #[test]
    fn everything_that_ships_can_be_run() {
        for shipped in Catalogue::new().shipped {
            let stage = Stage::open(&shipped.request).unwrap_or_else(|e| panic!("{}: {e}", shipped.id));
            stage.perform(|_| ()).unwrap_or_else(|e| panic!("{}: {e}", shipped.id));
        }
    }
}
