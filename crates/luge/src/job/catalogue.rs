//! The machines and the learners that ship with Luge, with their data, by name.

use luge_landscape::LandscapeKind;
use luge_net::NumberFormat;
use serde::Serialize;

use crate::{
    data::{ClassCode, PrepareOptions},
    job::{Data, Job, JobError, TraceJob, TrainJob, source::Source},
    stream::{Concept, Draw, Order, Samples},
};

/// The table of handwritten digits, 8 by 8 pixels, 1,797 rows.
pub const DIGITS: &str = include_str!("../../data/digits.csv");

/// A machine or a learner that ships.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Shipped {
    /// Its name, and that of its file in `learners` if it is a learner.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// The program.
    pub text: &'static str,
    /// The extension of files that hold such programs: `sled`, `tm` or `bb`.
    pub extension: &'static str,
    /// Its data and settings, if it is a learner.
    pub lesson: Option<ShippedLesson>,
}

/// The data that ship with a learner, and its settings.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ShippedLesson {
    /// The data.
    #[serde(flatten)]
    pub data: ShippedData,
    /// The default number format.
    pub format: &'static str,
    /// The primary network.
    pub primary: &'static str,
    /// The default landscape.
    pub landscape: LandscapeKind,
}

/// The data of a learner that ships.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum ShippedData {
    /// A table.
    Table(ShippedTable),
    /// A stream of the rows of a table, shuffled before every pass.
    Shuffled(ShippedTable),
    /// A stream of random samples.
    Draw {
        /// Their distribution.
        draw: Draw,
    },
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

/// The learner that `luge train` trains by default.
pub const FIRST_LEARNER: &str = "perceptron";

/// The tables of learners and machines, in rows.
macro_rules! shipped {
    (@table $data:literal $targets:expr, $features:expr) => {
        ShippedTable {
            file: concat!("crates/luge/", $data),
            csv: include_str!(concat!("../../", $data)),
            targets: &$targets,
            features: &$features,
        }
    };
    (@learner $name:literal $extension:literal $summary:literal
        $data:expr, $format:literal $primary:literal $landscape:ident) => {
        Shipped {
            name: $name,
            summary: $summary,
            text: include_str!(concat!("../../learners/", $name, ".", $extension)),
            extension: $extension,
            lesson: Some(ShippedLesson {
                data: $data,
                format: $format,
                primary: $primary,
                landscape: LandscapeKind::$landscape,
            }),
        }
    };
    (
        learners { $($name:literal $extension:literal $summary:literal
            $data:literal $targets:expr, $features:expr, $format:literal $primary:literal $landscape:ident;)* }
        machines { $($machine:literal $about:literal $line:literal;)* }
        streams { $($stream:literal $of:literal $does:literal $samples:expr, $numbers:literal $network:literal;)* }
    ) => {
        /// Machines, and learners from tables in Sled and as machines, the simplest first.
        pub const SHIPPED: &[Shipped] = &[
            $(shipped!(@learner $name $extension $summary
                ShippedData::Table(shipped!(@table $data $targets, $features)), $format $primary $landscape),)*
            $(Shipped { name: $machine, summary: $about, text: $line, extension: "bb", lesson: None },)*
        ];

        /// Learners from streams.
        pub const STREAM_LEARNERS: &[Shipped] =
            &[$(shipped!(@learner $stream $of $does $samples, $numbers $network Plain),)*];
    };
}

/// Samples of 32 bits, with the parity of 16 of them as the label.
const PARITY: ShippedData = ShippedData::Draw {
    draw: Draw { concept: Concept::Parity { n_hidden: 16 }, n_features: 32, noise: 0.0 },
};
const PETALS: ShippedData =
    ShippedData::Shuffled(shipped!(@table "data/iris.csv" ["petal_length"], ["petal_width"]));
const SETOSA: ShippedData = ShippedData::Shuffled(shipped!(@table "learners/iris_setosa.csv" ["setosa"], []));

/// Labels with a column for each class.
const SPECIES: [&str; 3] = ["setosa", "versicolor", "virginica"];
const WINES: [&str; 3] = ["class_0", "class_1", "class_2"];

/// Four of the thirty measurements of a tumour.
const TUMOUR: [&str; 4] = ["worst_radius", "worst_texture", "worst_smoothness", "worst_concave_points"];

// A learner's name, extension and summary; its data, labels, features (none: all others), number format, primary network
// and landscape.
shipped! {
    learners {
        "perceptron" "sled" "Rosenblatt's perceptron: corrects a plane until it separates two classes"
            "learners/iris_setosa.csv" ["setosa"], [], "fix:8.4" "linear" Compact;
        "perceptron_rounds" "sled" "the perceptron on data that no plane separates: it stops after ROUNDS rounds"
            "data/breast_cancer.csv" ["malignant"], TUMOUR, "fix:6.8" "linear" Compact;
        "least_squares_line" "sled" "the line of least squares through points, in closed form"
            "data/anscombe_i.csv" ["y"], [], "fix:8.8" "linear" Compact;
        "sgd_linear" "sled" "stochastic gradient descent for a linear model"
            "learners/sgd_linear.csv" ["y"], [], "fix:4.8" "linear" Compact;
        "nearest_centroid" "sled" "represents each class by the mean of its samples"
            "learners/iris_species.csv" SPECIES, [], "fix:8.6" "linear" Compact;
        "xor_search" "sled" "tries all small weights of a network with a hidden layer: the global optimum"
            "learners/xor.csv" ["y"], [], "fix:6.0" "mlp:2-2-1" Compact;
        "mlp_backprop" "sled" "backpropagation in a network with a hidden layer"
            "learners/xor.csv" ["y"], [], "fix:4.8" "mlp:2-2-1" Compact;
        "mlp" "sled" "backpropagation for any number of features, labels and hidden units"
            "learners/xor.csv" ["y"], [], "fix:4.10" "mlp:2-4-1" Compact;
        "ridge" "sled" "ridge regression in closed form, by Gaussian elimination"
            "data/diabetes.csv" ["progression"], [], "fix:4.12" "linear" Compact;
        "logistic_regression" "sled" "logistic regression, by stochastic gradient descent"
            "data/breast_cancer.csv" ["malignant"], TUMOUR, "fix:6.8" "linear" Compact;
        "naive_bayes" "sled" "naive Bayes for features that are there or not"
            "learners/wine_signs.csv" WINES, [], "fix:8.6" "linear" Compact;
        "decision_stump" "sled" "the one question about one feature that leaves the fewest mistakes"
            "data/breast_cancer.csv" ["malignant"], TUMOUR, "fix:6.8" "tree:1" Compact;
        "decision_tree" "sled" "a decision tree, grown from its root"
            "data/breast_cancer.csv" ["malignant"], TUMOUR, "fix:6.8" "tree:2" Compact;
        "k_means" "sled" "centres that go to the mean of their samples until none moves"
            "learners/iris_species.csv" SPECIES, [], "fix:5.6" "prototypes:3" Compact;
        "condensed_neighbours" "sled" "stores the samples that nearest neighbours need, and no others"
            "learners/iris_species.csv" SPECIES, [], "fix:5.6" "prototypes:24" Compact;
        "early_stopping" "sled" "gradient descent that ends when samples kept aside say so"
            "data/diabetes.csv" ["progression"], ["bmi", "bp", "s5"], "fix:4.10" "linear" Compact;
        "evolution" "sled" "an evolution strategy: a parent, a child, and the better one stays"
            "learners/sgd_linear.csv" ["y"], [], "fix:4.8" "linear" Compact;
        "parity_elimination" "sled" "finds which of 32 bits a parity counts, by Gaussian elimination"
            "learners/parity32.csv" ["y"], [], "fix:2.0" "parity" Compact;
        "mean" "tm" "the mean of four labels"
            "learners/mean.csv" ["y"], [], "fix:4.4" "linear" Compact;
        "copy_label" "tm" "copies the first label"
            "learners/copy_label.csv" ["y"], [], "fix:3.2" "linear" Compact;
        "majority" "tm" "the majority of binary labels, two features"
            "learners/majority.csv" ["y"], [], "fix:2.0" "linear" Compact;
        "largest" "tm" "the largest label"
            "learners/universal.csv" ["y"], [], "fix:3.0" "linear" Compact;
        "ballot" "tm" "a ballot among labels"
            "learners/universal.csv" ["y"], [], "fix:3.0" "linear" Compact;
        "universal" "tm" "a universal learner: its program is on a tape"
            "learners/universal.csv" ["y"], [], "fix:3.0" "linear" Compact;
        "keep_label" "tm" "keeps the first label, its tape inside the vertex"
            "learners/keep_label.csv" ["y"], [], "fix:2.0" "linear" Internal;
    }
    machines {
        "bb2" "busy beaver, 2 states, 6 steps" "1RB1LB_1LA1RZ";
        "bb3" "busy beaver, 3 states, 21 steps" "1RB1RZ_1LB0RC_1LC1LA";
        "bb4" "busy beaver, 4 states, 107 steps" "1RB1LB_1LA0LC_1RZ1LD_1RD0RA";
        "bb5" "busy beaver, 5 states, 47,176,870 steps" "1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA";
    }
    streams {
        "parity" "sled" "which bits a parity counts, by Gaussian elimination over GF(2)"
            PARITY, "fix:2.0" "parity";
        "stream_perceptron" "sled" "Rosenblatt's perceptron, until fifty samples in a row are right"
            SETOSA, "fix:8.4" "linear";
        "stream_mean" "sled" "the mean of the labels of sixteen samples"
            PETALS, "fix:6.4" "linear";
        "parity_machine" "tm" "the same as parity, as a machine"
            PARITY, "fix:2.0" "parity";
        "stream_average" "tm" "the same as stream_mean, as a machine"
            PETALS, "fix:6.4" "linear";
    }
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
    SHIPPED.iter().chain(STREAM_LEARNERS)
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
        match &self.data {
            ShippedData::Table(table) => Some(table),
            ShippedData::Shuffled(_) | ShippedData::Draw { .. } => None,
        }
    }

    /// The samples as a stream with numbers of this format; the rows of a table pass in cycles.
    ///
    /// # Errors
    /// If they do not fit the format.
    pub fn samples(&self, format: NumberFormat) -> Result<Samples, JobError> {
        let rows = |table: ShippedTable, order| Ok(Samples::Table(table.data().read(format)?, order));
        match self.data {
            ShippedData::Table(table) => rows(table, Order::Cycle),
            ShippedData::Shuffled(table) => rows(table, Order::Shuffle),
            ShippedData::Draw { draw } => Ok(Samples::Draw(draw)),
        }
    }

    /// Returns the command line's flags for the data.
    pub fn flags(&self) -> String {
        match &self.data {
            ShippedData::Table(table) => table.flags(),
            ShippedData::Shuffled(table) => table.flags() + " --order shuffle",
            ShippedData::Draw { draw } => format!("--draw {draw}"),
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
            prepare: PrepareOptions::default(),
        }
    }

    fn flags(&self) -> String {
        let features = match self.features {
            [] => String::new(),
            features => format!(" --features {}", features.join(",")),
        };
        format!("--data {} --target {}{features}", self.file, self.targets.join(","))
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
        for shipped in SHIPPED {
            let refused = |e: JobError| -> () { panic!("{}: {e}", shipped.name) };
            match shipped.job() {
                Job::Trace(job) => job.prepare().map(drop).unwrap_or_else(refused),
                Job::Train(job) => job.prepare().map(drop).unwrap_or_else(refused),
                Job::Stream(job) => panic!("{} ships for tables", job.source.name),
            }
        }
    }
}
