//! Errors in tables.

use luge_net::NumberFormat;

use super::Place;

/// Why a file is not a table.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// Invalid CSV.
    #[error("not a CSV table: {0}")]
    Csv(#[from] csv::Error),
    /// A requested column is missing.
    #[error("there is no column `{column}`; the columns are {known}")]
    NoColumn {
        /// The requested column.
        column: String,
        /// The columns of the file.
        known: String,
    },
    /// Two columns of the same name.
    #[error("duplicate column `{0}` in the header")]
    Twice(String),
    /// The same column is named twice.
    #[error("column `{0}` is named twice")]
    NamedTwice(String),
    /// A column cannot be both.
    #[error("column `{0}` is named both as a feature and as the target")]
    FeatureAndTarget(String),
    /// No feature is left.
    #[error("no column is left for the features")]
    NoFeatures,
    /// No rows.
    #[error("the table has a header but no rows")]
    Empty,
    /// A value is missing.
    #[error("{0}: the value is missing")]
    Missing(Place),
    /// A label is missing.
    #[error("{0}: the label is missing")]
    MissingLabel(Place),
    /// No row is complete.
    #[error("a value is missing in every row")]
    AllDropped,
    /// Decimal commas in a file whose fields are separated by commas.
    #[error("{place}: `{found}` has a decimal comma, but commas separate the fields of this file")]
    DecimalComma {
        /// The line and column of the entry.
        place: Place,
        /// The text of the entry.
        found: String,
    },
    /// Some numbers with points, some with commas.
    #[error("column `{0}` has decimal points, other numbers of the file have decimal commas")]
    MixedDecimals(String),
    /// Words in a feature.
    #[error("{place}: `{found}` is not a number; the column has {n_words} different words")]
    TextFeature {
        /// The line and column of the first.
        place: Place,
        /// The text of the entry.
        found: String,
        /// Distinct words.
        n_words: usize,
    },
    /// Numbers whose mean or spread is not finite.
    #[error("column `{0}` has numbers so large that their mean or spread is not finite")]
    Unscalable(String),
    /// Too many words for one column each.
    #[error("column `{column}` has {n_words} different words, and at most {most} get a column each")]
    TooManyWords {
        /// Its name.
        column: String,
        /// Distinct words.
        n_words: usize,
        /// The most.
        most: usize,
    },
    /// A word that training has not seen.
    #[error("{place}: `{found}` was not among the training data; there were {known}")]
    UnknownWord {
        /// The line and column of the entry.
        place: Place,
        /// The text of the entry.
        found: String,
        /// The words of training.
        known: String,
    },
    /// Numbers for a model that needs words.
    #[error("column `{0}` has words, and numbers were given")]
    WordsWanted(String),
    /// Only one class.
    #[error("column `{column}` has a single class, `{word}`: there is nothing to learn")]
    SingleClass {
        /// Its name.
        column: String,
        /// The class.
        word: String,
    },
    /// More than two classes for a learner of signs.
    #[error("column `{column}` has {n_classes} classes, and only two can be -1 and 1")]
    NotTwoClasses {
        /// Its name.
        column: String,
        /// Classes.
        n_classes: usize,
    },
    /// Numbers that are not classes.
    #[error("column `{column}` has {found}, and classes are at most {most} whole numbers, or words")]
    NotClasses {
        /// Its name.
        column: String,
        /// What it has instead.
        found: String,
        /// The most whole numbers that are taken for classes.
        most: usize,
    },
    /// Dates in a feature.
    #[error("{place}: `{found}` is a date, and learners take numbers")]
    Date {
        /// The line and column of the first.
        place: Place,
        /// The text of the entry.
        found: String,
    },
    /// No rows to test, or none to train on.
    #[error("a share of {fraction} of {n_rows} rows leaves no row to train on or none to test")]
    Split {
        /// The share.
        fraction: f64,
        /// All rows.
        n_rows: usize,
    },
    /// Text instead of a number.
    #[error("{place}: `{found}` is not a finite number")]
    NotANumber {
        /// The line and column of the entry.
        place: Place,
        /// The text of the entry.
        found: String,
    },
    /// A number outside the format's range.
    #[error("{place}: {value} lies outside {format}, which reaches from {} to {}{}", .format.min(), .format.max(), .holds.map_or_else(String::new, |holds| format!("; {holds} holds the column")))]
    OutOfRange {
        /// The line and column of the entry.
        place: Place,
        /// The number.
        value: f64,
        /// The format.
        format: NumberFormat,
        /// The smallest format that holds the column, if there is one of the kind.
        holds: Option<NumberFormat>,
    },
}
