//! The machines and the learners that ship with Luge, with their data, by name.

use std::sync::LazyLock;

use luge_landscape::LandscapeKind;
use luge_net::NumberFormat;
use serde::{Deserialize, Serialize};

use crate::{
    data::{ClassCode, PrepareOptions},
    job::{Data, Job, JobError, TraceJob, TrainJob, source::Source},
    stream::{Draw, Order, Samples},
};

/// The table of handwritten digits, 8 by 8 pixels, 1,797 rows.
pub const DIGITS: &str = include_str!("../../data/digits.csv");

/// A machine or a learner that ships.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Shipped {
    /// Its name, and that of its file in `learners` if it is a learner.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// The program.
    #[serde(default)]
    pub text: &'static str,
    /// The extension of files that hold such programs: `sled`, `tm` or `bb`.
    pub extension: &'static str,
    /// Its data and settings, if it is a learner.
    pub lesson: Option<ShippedLesson>,
}

/// The data that ship with a learner, and its settings.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ShippedLesson {
    #[serde(flatten)]
    rows: Option<ShippedTable>,
    /// The distribution of its samples, if they are random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    draw: Option<Draw>,
    /// The default number format.
    pub format: &'static str,
    /// The primary network.
    pub primary: &'static str,
    /// The default landscape.
    pub landscape: LandscapeKind,
}

/// A table that ships, and which of its columns are used.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ShippedTable {
    /// Its file.
    #[serde(rename = "data")]
    pub file: &'static str,
    /// The file's text.
    #[serde(default)]
    pub csv: &'static str,
    /// The labels' columns.
    pub targets: Vec<&'static str>,
    /// The features' columns; none: all others.
    pub features: Vec<&'static str>,
    /// How its rows pass as a stream.
    #[serde(default, skip_serializing)]
    order: Order,
}

/// The learner that `luge train` trains by default.
pub const FIRST_LEARNER: &str = "perceptron";

/// Machines, and learners from tables in Sled and as machines, the simplest first.
pub static SHIPPED: LazyLock<Vec<Shipped>> =
    LazyLock::new(|| read(include_str!("../../learners/shipped.json")));

/// Learners from streams.
pub static STREAM_LEARNERS: LazyLock<Vec<Shipped>> =
    LazyLock::new(|| read(include_str!("../../learners/streams.json")));

/// The names and the texts of files in folders of this crate.
macro_rules! files {
    ($($folder:literal: $($name:literal)*;)*) => {
        [$($(($name, include_str!(concat!("../../", $folder, "/", $name)))),*),*]
    };
}

/// The files that the lists of what ships name.
const FILES: [(&str, &str); 45] = files! {
    "data": "anscombe_i.csv" "breast_cancer.csv" "diabetes.csv" "iris.csv";
    "learners":
        "ballot.tm" "condensed_neighbours.sled" "copy_label.csv" "copy_label.tm" "decision_stump.sled"
        "decision_tree.sled" "early_stopping.sled" "evolution.sled" "iris_setosa.csv" "iris_species.csv"
        "k_means.sled" "keep_label.csv" "keep_label.tm" "largest.tm" "least_squares_line.sled"
        "logistic_regression.sled" "majority.csv" "majority.tm" "mean.csv" "mean.tm" "mlp.sled"
        "mlp_backprop.sled" "naive_bayes.sled" "nearest_centroid.sled" "parity.sled" "parity32.csv"
        "parity_elimination.sled" "parity_machine.tm" "perceptron.sled" "perceptron_rounds.sled"
        "ridge.sled" "sgd_linear.csv" "sgd_linear.sled" "stream_average.tm" "stream_mean.sled"
        "stream_perceptron.sled" "universal.csv" "universal.tm" "wine_signs.csv" "xor.csv" "xor_search.sled";
};

/// Reads a list of what ships, and fills in the texts of its files.
fn read(list: &'static str) -> Vec<Shipped> {
    let text = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let file = FILES.iter().find(|file| file.0 == name);
        file.unwrap_or_else(|| panic!("{path} is not among the files that ship")).1
    };
    let mut all: Vec<Shipped> = serde_json::from_str(list).expect("a list of what ships");
    for Shipped { name, extension, text: program, lesson, .. } in &mut all {
        let Some(lesson) = lesson else { continue };
        *program = text(&format!("{name}.{extension}"));
        lesson.rows.iter_mut().for_each(|table| table.csv = text(table.file));
    }
    all
}

/// Finds the machine or the learner of a name.
pub fn find(name: &str) -> Option<&'static Shipped> {
    all().find(|shipped| shipped.name == name)
}

/// Finds the machine or the learner with this text.
pub fn with_text(text: &str) -> Option<&'static Shipped> {
    all().find(|shipped| shipped.text == text)
}

/// Finds the data and settings of a learner, if it ships.
pub fn lesson(source: &Source) -> Option<&'static ShippedLesson> {
    with_text(&source.text)?.lesson.as_ref()
}

/// The learners from tables that ship.
pub fn learners() -> impl Iterator<Item = &'static Shipped> {
    SHIPPED.iter().filter(|shipped| shipped.lesson.is_some())
}

fn all() -> impl Iterator<Item = &'static Shipped> {
    SHIPPED.iter().chain(STREAM_LEARNERS.iter())
}

impl Shipped {
    /// Its name in a heading: words for a learner, `BB(5)` for a busy beaver.
    pub fn title(&self) -> String {
        match self.name.strip_prefix("bb") {
            Some(n_states) => format!("BB({n_states})"),
            None => self.name.replace('_', " "),
        }
    }

    /// The program as a source.
    pub fn source(&self) -> Source {
        Source::new(self.name, self.text, self.extension)
    }

    /// The default job: learners are trained on their data, machines are traced.
    pub fn job(&self) -> Job {
        match TrainJob::of(self.source()) {
            Ok(job) => Job::Train(job),
            Err(_) => Job::Trace(TraceJob::new(self.source())),
        }
    }
}

impl ShippedLesson {
    /// The table, unless the learner is meant for a stream.
    pub fn table(&self) -> Option<&ShippedTable> {
        self.rows.as_ref().filter(|table| table.order == Order::Cycle)
    }

    /// The samples as a stream with numbers of this format; the rows of a table pass in cycles.
    ///
    /// # Errors
    /// If they do not fit the format.
    pub fn samples(&self, format: NumberFormat) -> Result<Samples, JobError> {
        let table = |table: &ShippedTable| Ok(Samples::Table(table.data().read(format)?, table.order));
        let drawn = self.draw.map(|draw| Ok(Samples::Draw(draw)));
        self.rows.as_ref().map(table).or(drawn).unwrap_or_else(|| unreachable!("every learner has data"))
    }

    /// Returns the command line's flags for the data.
    pub fn flags(&self) -> String {
        let drawn = self.draw.map(|draw| format!("--draw {draw}"));
        drawn.into_iter().chain(self.rows.as_ref().map(ShippedTable::flags)).collect()
    }
}

impl ShippedTable {
    /// The data.
    pub fn data(&self) -> Data {
        let owned = |columns: &[&str]| columns.iter().map(|&column| column.to_owned()).collect();
        Data::Csv {
            name: self.file.to_owned(),
            text: self.csv.to_owned(),
            target: owned(&self.targets),
            features: (!self.features.is_empty()).then(|| owned(&self.features)),
            saturate: false,
            prepare: PrepareOptions::default(),
        }
    }

    fn flags(&self) -> String {
        let mut flags = format!("--data {} --target {}", self.file, self.targets.join(","));
        if !self.features.is_empty() {
            flags.push_str(&format!(" --features {}", self.features.join(",")));
        }
        if self.order != Order::Cycle {
            flags.push_str(&format!(" --order {}", self.order.word()));
        }
        flags
    }

    /// Returns how the table encodes classes.
    pub(super) fn class_code(&self) -> ClassCode {
        if self.targets.len() > 1 {
            return ClassCode::Each;
        }
        let labels = self.data().as_given().map(|table| table.labels.data).unwrap_or_default();
        if labels.iter().all(|label| label.abs().total_cmp(&1.0).is_eq()) {
            ClassCode::Signs
        } else if labels.iter().all(|label| label.fract().abs().total_cmp(&0.0).is_eq()) {
            ClassCode::Numbers
        } else {
            ClassCode::Column
        }
    }
}

#[cfg(test)]
mod tests {
    use luge_landscape::{BitConversion, Carrier, VertexSet, mlp::Float};
    use luge_net::Word;
    use luge_train::{Precision, Rate};
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::{
        data::{Missing, Scale},
        run::{engine::EngineChoice, follow::Comparisons},
        stream::{StreamEngineChoice, StreamLandscape},
    };

    fn check<T: Word + PartialEq + std::fmt::Debug + Serialize + DeserializeOwned>() {
        for &one in T::ALL {
            let json = serde_json::to_string(&one).expect("a word");
            assert_eq!(json, format!("\"{}\"", one.word()));
            assert_eq!(serde_json::from_str::<T>(&json).ok(), Some(one));
        }
        let unknown = serde_json::from_str::<T>("\"nothing\"").unwrap_err().to_string();
        assert!(unknown.starts_with(&format!("there is no {} `nothing`; there are ", T::WHAT)), "{unknown}");
    }

    #[test]
    fn every_word_is_read_back() {
        check::<LandscapeKind>();
        check::<VertexSet>();
        check::<Float>();
        check::<Carrier>();
        check::<BitConversion>();
        check::<EngineChoice>();
        check::<Comparisons>();
        check::<Precision>();
        check::<Rate>();
        check::<Order>();
        check::<StreamEngineChoice>();
        check::<StreamLandscape>();
        check::<Missing>();
        check::<Scale>();
        check::<ClassCode>();
    }

    #[test]
    fn moves_are_words_in_jobs() {
        use crate::trace::TraceOptions;
        for (moves, word) in
            [(luge_machine::lowering::Moves::Keep, "keep"), (luge_machine::lowering::Moves::Strict, "strict")]
        {
            let options = TraceOptions { moves, ..TraceOptions::default() };
            let json = serde_json::to_value(&options).expect("JSON");
            assert_eq!(json["moves"], word);
            assert_eq!(serde_json::from_value::<TraceOptions>(json).ok(), Some(options));
        }
    }

    #[test]
    fn everything_that_ships_can_be_prepared() {
        for shipped in SHIPPED.iter() {
            let refused = |e: JobError| -> () { panic!("{}: {e}", shipped.name) };
            match shipped.job() {
                Job::Trace(job) => job.prepare().map(drop).unwrap_or_else(refused),
                Job::Train(job) => job.prepare().map(drop).unwrap_or_else(refused),
                Job::Stream(job) => panic!("{} ships for tables", job.source.name),
            }
        }
    }
}
