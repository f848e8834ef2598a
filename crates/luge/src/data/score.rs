//! How well outputs predict labels.

use luge_net::Values;
use serde::Serialize;

/// How well a model does on rows whose labels are known.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Score {
    /// The labels are classes.
    Classified {
        /// Rows whose class is predicted correctly.
        right: usize,
        /// All rows.
        of: usize,
    },
    /// The labels are numbers.
    Error {
        /// The root of the mean squared error.
        rms_error: f64,
        /// All rows.
        of: usize,
    },
}

/// Scores labels that are numbers, which may be classes.
pub(super) fn score_of_numbers(out: &Values, labels: &Values, rows: &[usize]) -> Score {
    if let Some(right) = right_rows(out, labels, rows.iter().copied()) {
        return Score::Classified { right, of: rows.len() };
    }
    let squares = rows.iter().flat_map(|&row| out.row(row).iter().zip(labels.row(row)));
    let sum: f64 = squares.map(|(out, y)| (out - y) * (out - y)).sum();
    Score::Error { rms_error: (sum / (rows.len() * labels.shape.cols) as f64).sqrt(), of: rows.len() }
}

/// Counts the rows whose class the output predicts; `None` if the labels are not classes: -1 and 1, 0 and 1, or a 1 among zeros. A
/// number halfway between two classes counts as neither.
#[expect(clippy::float_cmp, reason = "labels that are classes are exactly -1, 0 or 1")]
pub(crate) fn right_rows(
    out: &Values,
    labels: &Values,
    rows: impl Iterator<Item = usize> + Clone,
) -> Option<usize> {
    let single = labels.shape.cols == 1;
    let only = |low: f64| single && rows.clone().all(|row| [low, 1.0].contains(&labels.row(row)[0]));
    let some = |class: f64| rows.clone().any(|row| labels.row(row)[0] == class);
    let middle = match () {
        () if only(-1.0) => Some(0.0),
        () if only(0.0) && some(0.0) && some(1.0) => Some(0.5),
        () => None,
    };
    let one_hot = |row: usize| {
        let row = labels.row(row);
        row.iter().all(|&y| y == 0.0 || y == 1.0) && row.iter().filter(|&&y| y == 1.0).count() == 1
    };
    let highest = |row: &[f64]| (0..row.len()).reduce(|a, b| if row[b] > row[a] { b } else { a });
    let right = |row: &usize| {
        let (out, labels) = (out.row(*row), labels.row(*row));
        match middle {
            Some(middle) => (out[0] - middle) * (labels[0] - middle) > 0.0,
            None => highest(out) == highest(labels),
        }
    };
    let classes = middle.is_some() || !single && rows.clone().all(one_hot);
    classes.then(|| rows.filter(right).count())
}
