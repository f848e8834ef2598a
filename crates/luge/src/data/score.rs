//! How well outputs tell labels.

use luge_net::Values;
use serde::Serialize;

/// How well a model does on rows whose labels are known.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Score {
    /// The labels are classes.
    Classified {
        /// Rows whose class is told right.
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

/// The score where labels are numbers: classes if they are -1 and 1, or a 1 among zeros.
#[expect(clippy::float_cmp, reason = "labels that are classes are exactly -1, 0 or 1")]
pub(super) fn score_of_numbers(out: &Values, labels: &Values, rows: &[usize]) -> Score {
    let n_labels = labels.shape.cols;
    let signs = n_labels == 1 && rows.iter().all(|&row| labels.row(row)[0].abs() == 1.0);
    let one_hot = |row: &usize| {
        let row = labels.row(*row);
        row.iter().all(|&y| y == 0.0 || y == 1.0) && row.iter().filter(|&&y| y == 1.0).count() == 1
    };
    if signs || n_labels > 1 && rows.iter().all(one_hot) {
        let highest = |row: &[f64]| (0..row.len()).reduce(|a, b| if row[b] > row[a] { b } else { a });
        let right = |row: &&usize| {
            let (out, labels) = (out.row(**row), labels.row(**row));
            if signs { out[0] * labels[0] > 0.0 } else { highest(out) == highest(labels) }
        };
        return Score::Classified { right: rows.iter().filter(right).count(), of: rows.len() };
    }
    let squares = rows.iter().flat_map(|&row| out.row(row).iter().zip(labels.row(row)));
    let sum: f64 = squares.map(|(out, y)| (out - y) * (out - y)).sum();
    Score::Error { rms_error: (sum / (rows.len() * n_labels) as f64).sqrt(), of: rows.len() }
}
