//! The errors between data and a trained model, with the remedy.

use luge::{
    data::TableError,
    files::{FileError, model::ModelError},
    job::{program::ProgramError, source::Source},
    training::TrainingError,
};
use luge_landscape::{BuildError, ExtendedError, LearnerError, PrimaryError};

use super::{Failure, READABLE, did_you_mean, more_cells, remedy_of_internal, remedy_of_size, unreadable};

impl Failure {
    /// A table that cannot be used, with the file's name.
    pub(in super::super) fn of_table(name: &str, error: &TableError) -> Self {
        let problem = format!("{name}: {error}");
        let remedy = match error {
            TableError::Csv(_) => {
                "give a CSV file with a header line and the same number of fields in every line"
            }
            TableError::NoColumn { column, known } => {
                let near = did_you_mean(column, &known.split(", ").collect::<Vec<_>>());
                return Self::unfit(
                    problem,
                    format!("{near}name columns of the header with --target and --features"),
                );
            }
            TableError::AskedTwice { .. } => "name every column once",
            TableError::Twice { .. } => "give every column a name of its own",
            TableError::FeatureAndTarget { .. } => "leave the target out of --features",
            TableError::NoFeatures => "name at least one column that is not the target with --features",
            TableError::Empty => "add at least one row",
            TableError::Missing { .. } => "fill it, or give --missing mean, zero or drop when you train",
            TableError::MissingLabel { .. } => "fill it, or leave such rows out with --missing drop",
            TableError::AllDropped => {
                "leave columns with many gaps out with --features, or give --missing mean"
            }
            TableError::DecimalComma { .. } => {
                "write decimal points, or separate the fields by semicolons or tabs"
            }
            TableError::MixedDecimals { .. } => "write all numbers in one way",
            TableError::TextFeature { .. } => {
                "give --one-hot for a column of 0 and 1 for each word, write numbers for the words, or leave the column out with --features"
            }
            TableError::Unscalable { .. } => "leave the column out with --features, or divide it first",
            TableError::TooManyWords { .. } => "leave the column out with --features, or join words",
            TableError::UnknownWord { .. } => "leave the row out, or train on data that have the word",
            TableError::WordsWanted { .. } => "give the table as a CSV file",
            TableError::SingleClass { .. } => "give rows of at least two classes",
            TableError::NotTwoClasses { .. } => {
                "give rows of two classes, --classes numbers or each, or a learner with a label for each class"
            }
            TableError::NotClasses { .. } => {
                "give a target of words or of few whole numbers, or --classes numbers to learn the numbers themselves"
            }
            TableError::Date { .. } => {
                "write numbers instead, such as days since the first date or columns for year and month, or leave the column out with --features"
            }
            TableError::Split { .. } => "give another share with --split, or more rows",
            TableError::NotANumber { .. } => "correct the cell, or leave its column out with --features",
            TableError::OutOfRange { .. } => {
                "choose a wider --format, rescale the column, or give --saturate"
            }
        };
        Self::unfit(problem, remedy)
    }
}

impl Failure {
    /// What a program's findings look like when they refuse it.
    pub(in super::super) fn of_program(error: ProgramError, source: &Source) -> Self {
        let problem = error.to_string();
        match error {
            ProgramError::Format { .. } => Self::usage(problem, "give --format fix:I.F, such as fix:4.8"),
            ProgramError::Broken { findings, .. } => Self::of_findings(problem, &findings, source),
            ProgramError::Backend(_) => {
                Self::unfit(problem, "leave out `unroll`, write shorter programs, or use fewer tapes")
            }
            ProgramError::Setting(_) => Self::usage(problem, "give --set NAME=VALUE"),
        }
    }
}

impl From<LearnerError> for Failure {
    fn from(error: LearnerError) -> Self {
        let remedy = match &error {
            LearnerError::NoData | LearnerError::NoTheta => {
                "a learner with several tapes reads `data` (and `marks`) and writes `theta`: see docs/learners.md"
            }
            LearnerError::NotBinary { .. } => {
                "declare the tape with two symbols, the blank first: 0 1 blank 0"
            }
            LearnerError::Marks(_) => "declare it as: tape marks: _ x y e blank _ read-only",
            LearnerError::ThetaReadOnly => "leave `read-only` out",
            LearnerError::Occupied(_) => "leave that input line out of the machine's file",
            LearnerError::Lowering(error) => return error.clone().into(),
        };
        Self::unfit(error.to_string(), remedy)
    }
}

impl From<PrimaryError> for Failure {
    fn from(error: PrimaryError) -> Self {
        let remedy = "give --primary linear, mlp: and the widths from the features to the labels, such as mlp:2-3-1, prototypes:K, tree:D, or parity";
        Self::usage(error.to_string(), remedy)
    }
}

impl From<TrainingError> for Failure {
    fn from(error: TrainingError) -> Self {
        let problem = error.to_string();
        let remedy = match error {
            TrainingError::Engine(error) => return error.into(),
            TrainingError::Memory(error) => return error.into(),
            TrainingError::DoesNotHalt(_) => "allow more --steps, if it halts at all",
            TrainingError::Rejected(_) => "check what the learner requires of its data",
            TrainingError::TooFewCells { needed, .. } => return Self::unfit(problem, more_cells(needed)),
            TrainingError::OtherLayers(n_cells) => {
                return Self::unfit(problem, format!("give --cells {n_cells}"));
            }
            TrainingError::LabelsTooSmall { .. } => {
                "give a --label-offset that differs from the labels, such as 1"
            }
            TrainingError::LabelOffset(_) => {
                "give a --label-offset nearer to the labels, such as a small power of two"
            }
            TrainingError::BitsNeedF64(_) => "choose --bits native",
            TrainingError::Shapes { .. } => "choose a --primary that fits the columns",
            TrainingError::Extended(error) => remedy_of_extended(&error),
        };
        Self::unfit(problem, remedy)
    }
}

fn remedy_of_extended(error: &ExtendedError) -> &'static str {
    match error {
        ExtendedError::OneLabel(_) => "choose --carrier offset",
        ExtendedError::FinalLoss(_) => "choose a narrower --format, or give --final-loss a number",
        ExtendedError::ThetaTooLarge { .. } => "choose a smaller --primary or a narrower --format",
        ExtendedError::TakesSamples => "train it with `luge stream`",
        ExtendedError::NoSamples => "add at least one row",
        ExtendedError::Outside(_) => "give more --cells, or leave --cells out",
        ExtendedError::DataWritable { .. } => {
            "declare the tape `data` read-only, or choose --landscape internal"
        }
        ExtendedError::TooManyBits(_) => "use fewer rows, a narrower --format, or another --landscape",
        ExtendedError::Build(BuildError::Constants(_)) => {
            "choose a narrower --format, or give another --final-loss"
        }
        ExtendedError::Build(BuildError::Internal(error)) => remedy_of_internal(error),
        ExtendedError::Build(
            error @ (BuildError::TooManyVertices { .. }
            | BuildError::TooManyColumns(_)
            | BuildError::TooManyEdges { .. }),
        ) => remedy_of_size(error),
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Io(FileError { ref reason, .. }) => {
                unreadable(&error, reason).unwrap_or_else(|| Self::unfit(error, READABLE))
            }
            ModelError::Training(error) => error.into(),
            ModelError::Memory(error) => error.into(),
            error => Self::unfit(error, "give a model that `luge train --out` wrote, unchanged"),
        }
    }
}
