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
    /// Whether a column of words becomes a feature of 0 and 1 for each word.
    pub one_hot: bool,
    /// How classes become numbers.
    pub classes: ClassCode,
    /// Rows that are held out of training, to test what was learned.
    pub split: Option<Split>,
}

/// What to do about missing values of features.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Missing {
    /// Report the first as an error.
    #[default]
    Refuse,
    /// Use the mean of the column's training rows.
    Mean,
    /// Use zero.
    Zero,
    /// Leave out the row; also if a label is missing.
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

/// How classes, in alphabetical order, become numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ClassCode {
    /// As the learner expects; if that is unknown, -1 and 1 for two classes and a column for each of more classes.
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
