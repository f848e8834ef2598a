//! The failures between data and a trained model.

use luge::{data::TableError, files::ModelError, job::ProgramError};
use luge_landscape::{BuildError, ExtendedError, LearnerError, PrimaryError};
use luge_sled::{BackendError, CircuitCompileError};

use super::{READABLE, did_you_mean};
use crate::cli::command_prelude::*;

failures! {
    for TableError(error, problem) {
        error Csv "give a CSV file with a header line and the same number of fields in every line";
        error NamedTwice "name every column once";
        error Twice "give every column a name of its own";
        error FeatureAndTarget "leave the target out of --features";
        error NoFeatures "name at least one column that is not the target with --features";
        error Empty "add at least one row";
        error Missing "fill it, or give --missing mean, zero or drop when you train";
        error MissingLabel "fill it, or leave such rows out with --missing drop";
        error AllDropped "leave columns with many gaps out with --features, or give --missing mean";
        error DecimalComma "write decimal points, or separate the fields by semicolons or tabs";
        error MixedDecimals "write all numbers in one way";
        error TextFeature "give --one-hot for a column of 0 and 1 for each word, write numbers for the words, or leave the column out with --features";
        error Unscalable "leave the column out with --features, or divide it first";
        error TooManyWords "leave the column out with --features, or join words";
        error UnknownWord "leave the row out, or train on data that have the word";
        error WordsWanted "give the table as a CSV file";
        error SingleClass "give rows of at least two classes";
        error NotTwoClasses "give rows of two classes, --classes numbers or each, or a learner with a label for each class";
        error NotClasses "give a target of words or of few whole numbers, or --classes numbers to learn the numbers themselves";
        error Date "write numbers instead, such as days since the first date or columns for year and month, or leave the column out with --features";
        error Split "give another share with --split, or more rows";
        error NotANumber "correct the cell, or leave its column out with --features";
        error OutOfRange "choose a wider --format, rescale the column, or give --saturate";
    } else {
        TableError::NoColumn { column, known } => {
            let near = did_you_mean(&column, &known.split(", ").collect::<Vec<_>>());
            Self::error(problem, format!("{near}name columns of the header with --target and --features"))
        },
    }
    for LearnerError(error, problem) passing Lowering {
        error NoData TAPES;
        error NoTheta TAPES;
        error NotBinary "declare the tape with two symbols, the blank first: 0 1 blank 0";
        error Marks "declare it as: tape marks: _ x y e blank _ read-only";
        error ThetaReadOnly "leave `read-only` out";
        error Occupied "leave that input line out of the machine's file";
    }
    for PrimaryError(error, problem) {}
        rest Self::usage(problem, "give --primary linear, mlp: and the widths from the features to the labels, such as mlp:2-3-1, prototypes:K, tree:D, or parity");
    for ModelError(error, problem) passing Job {
        usage NoData "give the data it was trained on with --data FILE.csv";
        error Inconsistent "give a model of a run that halted, unchanged";
    } else {
        ModelError::Io(error) => Self::of_file(error, READABLE),
        ModelError::OtherData => Self::not_certified(problem),
    } rest Self::error(error, "give a model that `luge train --out` wrote, unchanged");
    for ExtendedError(error, problem) passing Build {
        error OneLabel "choose --carrier offset";
        error FinalLoss "choose a narrower --format, or give --final-loss a number";
        error ThetaTooLarge "choose a smaller --primary or a narrower --format";
        error TakesSamples "train it with `luge stream`";
        error NoSamples "add at least one row";
        error Outside "give more --cells, or leave --cells out";
        error DataWritable "declare the tape `data` read-only, or choose --landscape internal";
        error TooManyBits "use fewer rows, a narrower --format, or another --landscape";
    } else {
        ExtendedError::Build(BuildError::Constants(_)) => {
            Self::error(problem, "choose a narrower --format, or give another --final-loss")
        },
    }
}

/// The tapes that a learner needs.
const TAPES: &str =
    "a learner with several tapes reads `data` (and `marks`) and writes `theta`: see docs/learners.md";

impl Failure {
    /// A table that cannot be used, with the file's name.
    pub(in super::super) fn of_table(name: &str, error: TableError) -> Self {
        let problem = format!("{name}: {error}").into();
        Self { problem, ..error.into() }
    }

    /// A text that is not a program.
    pub(in super::super) fn of_program(error: ProgramError, source: &Source) -> Self {
        let problem = error.to_string();
        match error {
            ProgramError::Format { .. } => Self::usage(problem, "give --format fix:I.F, such as fix:4.8"),
            ProgramError::Broken { findings, .. } => Self::of_findings(problem, &findings, source),
            ProgramError::Backend(BackendError::Circuit(CircuitCompileError::NoTable)) => {
                Self::error(problem, "give --data and --target, with --order cycle")
            }
            ProgramError::Backend(BackendError::Circuit(CircuitCompileError::Nested { .. })) => {
                Self::error(problem, "write one loop over the data, or use luge train")
            }
            ProgramError::Backend(BackendError::Circuit(_)) => Self::error(
                problem,
                "use tapes: luge stream --via tapes where the learner takes samples, else luge train",
            ),
            ProgramError::Backend(_) => {
                Self::error(problem, "leave out `unroll`, write shorter programs, or use fewer tapes")
            }
            ProgramError::Setting(_) => Self::usage(problem, "give --set NAME=VALUE"),
        }
    }
}
