//! Options for the preparation of a table's columns.

use serde::{Deserialize, Serialize};

/// How the columns are prepared.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PrepareOptions {
    /// What to do about missing values.
    pub missing: Missing,
    /// How the numbers of the features are scaled.
    pub scale: Scale,
    /// Whether features of words become a column of 0 and 1 for each word.
    pub one_hot: bool,
    /// How words of a target become numbers.
    pub classes: ClassCode,
    /// Rows that are held out of training, to test what was learned.
    pub split: Option<Split>,
}

/// What to do about missing values of features.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Missing {
    /// Refuse the file, naming the first.
    #[default]
    Refuse,
    /// Take the mean of the column's training rows.
    Mean,
    /// Take zero.
    Zero,
    /// Leave the row out; also where a label is missing.
    Drop,
}

luge_net::names!(Missing, "way with missing values", Refuse "refuse", Mean "mean", Zero "zero", Drop "drop");

/// How the numbers of the features are scaled, column by column.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scale {
    /// Not at all.
    #[default]
    None,
    /// To mean 0 and standard deviation 1 over the training rows.
    Standard,
    /// To 0 for the least and 1 for the largest of the training rows.
    MinMax,
}

luge_net::names!(Scale, "scale", None "none", Standard "standard", MinMax "minmax");

/// How the words of a target become numbers; they are taken in alphabetical order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ClassCode {
    /// As the learner wants it; if that is not known, -1 and 1 for two classes and a column for each of more.
    #[default]
    Auto,
    /// One column: -1 and 1 for two classes, 0, 1, 2 and so on for more.
    Column,
    /// -1 and 1, for two classes.
    Signs,
    /// 0, 1, 2 and so on, in one column.
    Numbers,
    /// A column for each class, 1 for its rows and 0 for the others.
    Each,
}

luge_net::names!(
    ClassCode, "way to write classes",
    Auto "auto", Column "column", Signs "signs", Numbers "numbers", Each "each",
);

/// Rows held out of training.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// Their share of all rows.
    pub fraction: f64,
    /// Where the random choice of rows starts.
    pub seed: u64,
}
