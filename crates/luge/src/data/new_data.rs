//! New data for a trained model: prepares them as in training, and interprets outputs.

use luge_net::{Shape, Values};
use serde::Serialize;

use super::{
    Place, Row, Table, TableError,
    preparation::{Preparation, Target},
    score::{Score, score_of_numbers},
    sheet::{Column, Expect, Sheet},
};

/// One answer of a model for one target.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Answer<'a> {
    /// A number.
    Number(f64),
    /// A class.
    Class(&'a str),
}

/// New data for a model: its features, and the labels where the file has them.
#[derive(Clone, PartialEq, Debug)]
pub struct NewData {
    /// x, prepared as in training.
    pub features: Values,
    /// y, NaN where it is missing and infinite where it is not a class of the model; `None` if a target's column is missing.
    pub labels: Option<Values>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl Preparation {
    /// Reads new data from a file, prepared as in training.
    ///
    /// # Errors
    /// If a feature is missing, or has words that training did not see.
    pub fn read_new(&self, text: &str) -> Result<NewData, TableError> {
        let sheet = Sheet::read(text, |header, _| {
            let wanted: Vec<String> = self.features.iter().map(|feature| feature.column.clone()).collect();
            let expected = |words: &[String]| if words.is_empty() { Expect::Numbers } else { Expect::Words };
            let features = super::columns(header, &wanted)?;
            let kinds = self.features.iter().map(|feature| expected(&feature.words));
            let targets: Vec<String> = self.targets.iter().map(|target| target.column.clone()).collect();
            // Without its column, or with two of that name, a target has no labels.
            let targets = super::columns(header, &targets).unwrap_or_default();
            let labels = self.targets.iter().map(|target| match target.classes.is_empty() {
                true => Expect::PerhapsNumbers,
                // Classes that are numbers can be written differently, such as 1.0.
                false if target.classes.iter().all(|class| class.parse::<f64>().is_ok()) => {
                    Expect::PerhapsNumbers
                }
                false => Expect::Words,
            });
            Ok(features.into_iter().zip(kinds).chain(targets.into_iter().zip(labels)).collect())
        })?;
        let rows: Vec<usize> = (0..sheet.lines.len()).collect();
        let (features, targets) = sheet.columns.split_at(self.features.len());
        let labels = (!targets.is_empty()).then(|| self.labels(targets, &rows));
        Ok(NewData {
            features: self.features(features, &rows, Some(&sheet.lines))?,
            labels,
            notes: sheet.notes,
        })
    }

    /// Prepares new numbers, row by row, one per column of the file.
    ///
    /// # Errors
    /// If a column has words, or a number is missing.
    pub fn new_numbers(&self, x: &Values) -> Result<Values, TableError> {
        if let Some(feature) = self.features.iter().find(|feature| !feature.words.is_empty()) {
            return Err(TableError::WordsWanted(feature.column.clone()));
        }
        let names = self.features.iter().map(|feature| feature.column.clone()).collect();
        self.features(&super::number_columns(names, x), &(0..x.shape.rows).collect::<Vec<_>>(), None)
    }

    /// Returns the labels of some rows: NaN if a label is missing, infinity if it is not a class of the training data.
    pub(super) fn labels(&self, columns: &[(String, Column)], rows: &[usize]) -> Values {
        let mut y = Vec::new();
        for &row in rows {
            for (target, (_, column)) in self.targets.iter().zip(columns) {
                let class = match column {
                    Column::Numbers(numbers) if target.classes.is_empty() => {
                        y.push(numbers[row]);
                        continue;
                    }
                    column if column.lacks(row) => None,
                    Column::Numbers(numbers) => Some(target.class_of(numbers[row])),
                    Column::Words(rows) => {
                        rows[row].as_ref().map(|word| target.classes.binary_search(word).ok())
                    }
                };
                match class {
                    Some(Some(class)) => target.push_class(class, &mut y),
                    Some(None) => y.extend(vec![f64::INFINITY; target.n_labels()]),
                    None => y.extend(vec![f64::NAN; target.n_labels()]),
                }
            }
        }
        Values::new(Shape::new(rows.len(), y.len() / rows.len().max(1)), y)
    }

    /// Interprets the outputs for one sample: one answer for each target.
    pub fn answers(&self, out: &[f64]) -> Vec<Answer<'_>> {
        let mut rest = out;
        let answers = self.targets.iter().map(|target| {
            let own;
            (own, rest) = rest.split_at(target.n_labels().min(rest.len()));
            target.answer(own)
        });
        answers.collect()
    }

    /// Scores how well outputs predict labels, without rows whose labels are missing; `None` if no rows are left.
    pub fn score(&self, out: &Values, labels: &Values) -> Option<Score> {
        let rows: Vec<usize> =
            (0..labels.shape.rows).filter(|&row| !labels.row(row).iter().any(|y| y.is_nan())).collect();
        if rows.is_empty() || labels.shape.cols == 0 {
            return None;
        }
        if self.targets.iter().all(|target| target.classes.is_empty()) {
            return Some(score_of_numbers(out, labels, &rows));
        }
        let right = |row: &&usize| {
            let labels = labels.row(**row);
            labels.iter().all(|y| y.is_finite()) && self.answers(out.row(**row)) == self.answers(labels)
        };
        Some(Score::Classified { right: rows.iter().filter(right).count(), of: rows.len() })
    }
}

impl Table {
    /// Counts the rows whose class the output predicts; `None` if the labels are not classes.
    pub fn right_rows(&self, out: &Values) -> Option<usize> {
        match self.preparation.score(out, &self.labels)? {
            Score::Classified { right, .. } => Some(right),
            Score::Error { .. } => None,
        }
    }

    /// Reads other rows with the same columns and prepares them as these were.
    ///
    /// # Errors
    /// If a column is missing, has words that these rows do not have, or lacks a value.
    pub fn other_rows(&self, text: &str) -> Result<Self, TableError> {
        let new = self.preparation.read_new(text)?;
        let target = |i: usize| {
            let names = self.preparation.targets.iter().flat_map(|t| vec![&t.column; t.n_labels()]);
            names.cycle().nth(i).cloned().unwrap_or_default()
        };
        let no_labels =
            || Values::filled(Shape::new(new.features.shape.rows, self.label_names.len()), f64::NAN);
        let labels = new.labels.unwrap_or_else(no_labels);
        if let Some(i) = labels.data.iter().position(|y| !y.is_finite()) {
            let row = Row::Index(i / labels.shape.cols);
            return Err(TableError::MissingLabel(Place { row, column: target(i) }));
        }
        let (feature_names, label_names) = (self.feature_names.clone(), self.label_names.clone());
        let table = Self::new(feature_names, label_names, new.features.data, labels.data);
        Ok(Self { preparation: self.preparation.clone(), notes: new.notes, ..table })
    }
}

impl Target {
    /// Interprets the outputs for one sample.
    fn answer(&self, own: &[f64]) -> Answer<'_> {
        match self.classes.get(self.class(own)) {
            Some(class) => Answer::Class(class),
            None => Answer::Number(own.first().copied().unwrap_or(f64::NAN)),
        }
    }
}
