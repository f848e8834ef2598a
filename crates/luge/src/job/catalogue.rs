//! The catalogue of what ships with Luge: machines, learners and their data, by name.

use luge_landscape::LandscapeKind;
use serde::Serialize;

use crate::{
    data::{ClassCode, PrepareOptions},
    job::{Data, Job, TraceJob, TrainJob, source::Source},
    words,
};

/// The table of handwritten digits, 8 by 8 pixels, 1,797 rows.
pub const DIGITS: &str = include_str!("../../data/digits.csv");

/// A program that ships.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Shipped {
    /// Its name, and that of its file in `learners` if it is a learner.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// The program.
    pub text: &'static str,
    /// The extension of files that hold such programs: `sled`, `tm` or `bb`.
    pub extension: &'static str,
    /// What it learns from, if it is a learner.
    pub lesson: Option<ShippedTraining>,
}

/// A table that ships, and which of its columns are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct ShippedTable {
    /// Its file.
    #[serde(rename = "data")]
    pub file: &'static str,
    /// The file's text.
    pub csv: &'static str,
    /// The labels' columns.
    pub targets: &'static [&'static str],
    /// The features' columns; none: all others.
    pub features: &'static [&'static str],
}

/// The data that ship with a learner, and how it is meant to be trained.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct ShippedTraining {
    /// The data.
    #[serde(flatten)]
    pub table: ShippedTable,
    /// The number format it is meant for.
    pub format: &'static str,
    /// The network its weights are for.
    pub primary: &'static str,
    /// The landscape it is meant for.
    #[serde(serialize_with = "words::serialize")]
    pub landscape: LandscapeKind,
}

/// The learner that is trained if none is named.
pub const FIRST_LEARNER: &str = "perceptron";

macro_rules! sled {
    ($name:literal, $data:literal, $targets:expr, $format:literal, $primary:literal, $summary:literal) => {
        sled!($name, $data, $targets, [], $format, $primary, $summary)
    };
    ($name:literal, $data:literal, $targets:expr, $features:expr, $format:literal, $primary:literal, $summary:literal) => {
        learner!($name, "sled", $data, $targets, $features, $format, $primary, Compact, $summary)
    };
}

macro_rules! machine_learner {
    ($name:literal, $data:literal, $format:literal, $landscape:ident, $summary:literal) => {
        learner!($name, "tm", $data, ["y"], [], $format, "linear", $landscape, $summary)
    };
}

macro_rules! learner {
    ($name:literal, $extension:literal, $data:literal, $targets:expr, $features:expr, $format:literal, $primary:literal, $landscape:ident, $summary:literal) => {
        Shipped {
            name: $name,
            summary: $summary,
            text: include_str!(concat!("../../learners/", $name, ".", $extension)),
            extension: $extension,
            lesson: Some(ShippedTraining {
                table: ShippedTable {
                    file: concat!("crates/luge/", $data),
                    csv: include_str!(concat!("../../", $data)),
                    targets: &$targets,
                    features: &$features,
                },
                format: $format,
                primary: $primary,
                landscape: LandscapeKind::$landscape,
            }),
        }
    };
}

/// Four of the thirty measurements of a tumour.
const TUMOUR: [&str; 4] = ["worst_radius", "worst_texture", "worst_smoothness", "worst_concave_points"];

const fn machine(name: &'static str, summary: &'static str, line: &'static str) -> Shipped {
    Shipped { name, summary, text: line, extension: "bb", lesson: None }
}

/// Everything that ships: learners in Sled, learners as machines, and machines, the simplest first.
pub const SHIPPED: [Shipped; 28] = [
    sled!(
        "perceptron",
        "learners/iris_setosa.csv",
        ["setosa"],
        "fix:8.4",
        "linear",
        "Rosenblatt's perceptron: corrects a plane until it separates two classes"
    ),
    sled!(
        "least_squares_line",
        "data/anscombe_i.csv",
        ["y"],
        "fix:8.8",
        "linear",
        "the line of least squares through points, in closed form"
    ),
    sled!(
        "sgd_linear",
        "learners/sgd_linear.csv",
        ["y"],
        "fix:4.8",
        "linear",
        "stochastic gradient descent for a linear model"
    ),
    sled!(
        "nearest_centroid",
        "learners/iris_species.csv",
        ["setosa", "versicolor", "virginica"],
        "fix:8.6",
        "linear",
        "represents each class by the mean of its samples"
    ),
    sled!(
        "xor_search",
        "learners/xor.csv",
        ["y"],
        "fix:6.0",
        "mlp:2-2-1",
        "tries all small weights of a network with a hidden layer: the global optimum"
    ),
    sled!(
        "mlp_backprop",
        "learners/xor.csv",
        ["y"],
        "fix:4.8",
        "mlp:2-2-1",
        "backpropagation in a network with a hidden layer"
    ),
    sled!(
        "mlp",
        "learners/xor.csv",
        ["y"],
        "fix:4.10",
        "mlp:2-4-1",
        "backpropagation for any number of features, labels and hidden units"
    ),
    sled!(
        "ridge",
        "data/diabetes.csv",
        ["progression"],
        "fix:4.12",
        "linear",
        "ridge regression in closed form, by Gaussian elimination"
    ),
    sled!(
        "logistic_regression",
        "data/breast_cancer.csv",
        ["malignant"],
        TUMOUR,
        "fix:6.8",
        "linear",
        "logistic regression, by stochastic gradient descent"
    ),
    sled!(
        "naive_bayes",
        "learners/wine_signs.csv",
        ["class_0", "class_1", "class_2"],
        "fix:8.6",
        "linear",
        "naive Bayes for features that are there or not"
    ),
    sled!(
        "decision_stump",
        "data/breast_cancer.csv",
        ["malignant"],
        TUMOUR,
        "fix:6.8",
        "tree:1",
        "the one question about one feature that leaves the fewest mistakes"
    ),
    sled!(
        "decision_tree",
        "data/breast_cancer.csv",
        ["malignant"],
        TUMOUR,
        "fix:6.8",
        "tree:2",
        "a decision tree, grown from its root"
    ),
    sled!(
        "k_means",
        "learners/iris_species.csv",
        ["setosa", "versicolor", "virginica"],
        "fix:5.6",
        "prototypes:3",
        "centres that go to the mean of their samples until none moves"
    ),
    sled!(
        "condensed_neighbours",
        "learners/iris_species.csv",
        ["setosa", "versicolor", "virginica"],
        "fix:5.6",
        "prototypes:24",
        "stores the samples that nearest neighbours need, and no others"
    ),
    sled!(
        "early_stopping",
        "data/diabetes.csv",
        ["progression"],
        ["bmi", "bp", "s5"],
        "fix:4.10",
        "linear",
        "gradient descent that ends when samples kept aside say so"
    ),
    sled!(
        "evolution",
        "learners/sgd_linear.csv",
        ["y"],
        "fix:4.8",
        "linear",
        "an evolution strategy: a parent, a child, and the better one stays"
    ),
    sled!(
        "parity_elimination",
        "learners/parity32.csv",
        ["y"],
        "fix:2.0",
        "parity",
        "finds which of 32 bits a parity counts, by Gaussian elimination"
    ),
    machine_learner!("mean", "learners/mean.csv", "fix:4.4", Compact, "the mean of four labels"),
    machine_learner!("copy_label", "learners/copy_label.csv", "fix:3.2", Compact, "copies the first label"),
    machine_learner!(
        "majority",
        "learners/majority.csv",
        "fix:2.0",
        Compact,
        "the majority of binary labels, two features"
    ),
    machine_learner!("largest", "learners/universal.csv", "fix:3.0", Compact, "the largest label"),
    machine_learner!("ballot", "learners/universal.csv", "fix:3.0", Compact, "a ballot among labels"),
    machine_learner!(
        "universal",
        "learners/universal.csv",
        "fix:3.0",
        Compact,
        "a universal learner: its program is on a tape"
    ),
    machine_learner!(
        "keep_label",
        "learners/keep_label.csv",
        "fix:2.0",
        Internal,
        "keeps the first label, its tape inside the vertex"
    ),
    machine("bb2", "busy beaver, 2 states, 6 steps", "1RB1LB_1LA1RZ"),
    machine("bb3", "busy beaver, 3 states, 21 steps", "1RB1RZ_1LB0RC_1LC1LA"),
    machine("bb4", "busy beaver, 4 states, 107 steps", "1RB1LB_1LA0LC_1RZ1LD_1RD0RA"),
    machine("bb5", "busy beaver, 5 states, 47,176,870 steps", "1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA"),
];

/// What ships under a name.
pub fn find(name: &str) -> Option<&'static Shipped> {
    SHIPPED.iter().find(|shipped| shipped.name == name)
}

/// What ships with this very text, wherever its file lies.
pub fn with_text(text: &str) -> Option<&'static Shipped> {
    SHIPPED.iter().find(|shipped| shipped.text == text)
}

/// The learners that ship.
pub fn learners() -> impl Iterator<Item = (&'static Shipped, &'static ShippedTraining)> {
    SHIPPED.iter().filter_map(|shipped| Some((shipped, shipped.lesson.as_ref()?)))
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
        Source {
            name: self.name.to_owned(),
            text: self.text.to_owned(),
            extension: Some(self.extension.to_owned()),
        }
    }

    /// The default job: learners are trained on their data, machines are traced.
    pub fn job(&self) -> Job {
        match &self.lesson {
            None => Job::Trace(TraceJob::new(self.source())),
            Some(lesson) => Job::Train(TrainJob::new(self.source(), lesson.data())),
        }
    }
}

impl ShippedTraining {
    /// Its data.
    pub fn data(&self) -> Data {
        self.table.data()
    }

    /// How its own data encode classes.
    pub(crate) fn class_code(&self) -> ClassCode {
        if self.table.targets.len() > 1 {
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

impl ShippedTable {
    /// The data.
    pub fn data(&self) -> Data {
        let owned = |columns: &[&str]| columns.iter().map(|&column| column.to_owned()).collect();
        Data::Csv {
            name: self.file.to_owned(),
            text: self.csv.to_owned(),
            target: owned(self.targets),
            features: (!self.features.is_empty()).then(|| owned(self.features)),
            saturate: false,
            asked: PrepareOptions::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_ships_can_be_prepared() {
        for shipped in SHIPPED {
            let refused = |e: crate::job::JobError| -> () { panic!("{}: {e}", shipped.name) };
            match shipped.job() {
                Job::Trace(job) => job.prepare().map(drop).unwrap_or_else(refused),
                Job::Train(job) => job.prepare().map(drop).unwrap_or_else(refused),
                Job::Stream(job) => panic!("{} ships for tables", job.source.name),
            }
        }
    }
}
