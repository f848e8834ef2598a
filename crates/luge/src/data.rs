//! Tables of numbers: a CSV file, its columns chosen by name.

use std::{fmt, io};

use luge_net::{NumberFormat, Shape, Values};

/// A learning task's data: one row per sample.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// The features' column names.
    pub feature_names: Vec<String>,
    /// The labels' column names.
    pub label_names: Vec<String>,
    /// x.
    pub features: Values,
    /// y; no columns if the table was read for prediction.
    pub labels: Values,
}

/// Where a number stands in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The line in the file, counted from 1.
    pub line: u64,
    /// The column's name.
    pub column: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column `{}`", self.line, self.column)
    }
}

/// Why a file is no table.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The CSV reader refused.
    #[error("not a CSV table: {0}")]
    Csv(#[from] csv::Error),
    /// A column that was asked for is not there.
    #[error("there is no column `{column}`; the columns are {known}")]
    NoColumn {
        /// What was asked for.
        column: String,
        /// What there is.
        known: String,
    },
    /// Two columns of the same name.
    #[error("column `{column}` stands twice in the header")]
    Twice {
        /// Its name.
        column: String,
    },
    /// A column cannot be both.
    #[error("column `{column}` is asked for both as a feature and as the target")]
    FeatureAndTarget {
        /// Its name.
        column: String,
    },
    /// No feature is left.
    #[error("no column is left for the features")]
    NoFeatures,
    /// No rows.
    #[error("the table has a header but no rows")]
    Empty,
    /// Text where a number should be.
    #[error("{place}: `{found}` is no finite number")]
    NotANumber {
        /// Where.
        place: Place,
        /// What stands there.
        found: String,
    },
    /// The number format cannot hold it.
    #[error("{place}: {value} lies outside {format}, which reaches from {low} to {high}")]
    OutOfRange {
        /// Where.
        place: Place,
        /// The number.
        value: f64,
        /// The format.
        format: NumberFormat,
        /// Its smallest number.
        low: f64,
        /// Its largest number.
        high: f64,
    },
}

/// What to do with numbers the format cannot hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Range {
    /// Refuse the file.
    #[default]
    Refuse,
    /// Take the nearest number the format has.
    Saturate,
}

impl Table {
    /// Reads a CSV with a header. Features: the named columns, or all that are not targets.
    ///
    /// # Errors
    /// If a column is missing or a cell is no number.
    pub fn read(
        source: impl io::Read,
        targets: &[String],
        features: Option<&[String]>,
    ) -> Result<Self, TableError> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(source);
        let header: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
        let chosen: Vec<String> = match features {
            Some(features) => features.to_vec(),
            None => header.iter().filter(|name| !targets.contains(name)).cloned().collect(),
        };
        if let Some(column) = chosen.iter().find(|name| targets.contains(name)) {
            return Err(TableError::FeatureAndTarget { column: column.clone() });
        }
        let feature_columns = columns(&header, &chosen)?;
        let label_columns = columns(&header, targets)?;
        if feature_columns.is_empty() {
            return Err(TableError::NoFeatures);
        }
        let (mut x, mut y) = (Vec::new(), Vec::new());
        let mut n_rows = 0;
        for record in reader.records() {
            let record = record?;
            let line = record.position().map_or(0, csv::Position::line);
            let number = |&column: &usize| parse(&record, line, &header, column);
            for column in &feature_columns {
                x.push(number(column)?);
            }
            for column in &label_columns {
                y.push(number(column)?);
            }
            n_rows += 1;
        }
        if n_rows == 0 {
            return Err(TableError::Empty);
        }
        Ok(Self {
            features: Values::new(Shape::new(n_rows, chosen.len()), x),
            labels: Values::new(Shape::new(n_rows, targets.len()), y),
            feature_names: chosen,
            label_names: targets.to_vec(),
        })
    }

    /// Number of samples.
    #[must_use]
    pub fn n_samples(&self) -> usize {
        self.features.shape.rows
    }

    /// Makes every number one the format can hold in size, or says which one it cannot.
    ///
    /// # Errors
    /// The first number outside, if they are to be refused.
    pub fn fit(&mut self, format: NumberFormat, range: Range) -> Result<(), TableError> {
        let (low, high) = (format.min(), format.max());
        let parts = [(&mut self.features, &self.feature_names), (&mut self.labels, &self.label_names)];
        for (values, names) in parts {
            let n_columns = names.len().max(1);
            for (i, value) in values.data.iter_mut().enumerate() {
                if (low..=high).contains(value) {
                    continue;
                }
                if range == Range::Refuse {
                    let line = i / n_columns + 2;
                    let place = Place { line: line as u64, column: names[i % n_columns].clone() };
                    return Err(TableError::OutOfRange { place, value: *value, format, low, high });
                }
                *value = value.clamp(low, high);
            }
        }
        Ok(())
    }
}

fn columns(header: &[String], wanted: &[String]) -> Result<Vec<usize>, TableError> {
    let position = |column: &String| {
        let mut found = header.iter().enumerate().filter(|(_, name)| *name == column);
        match (found.next(), found.next()) {
            (Some((index, _)), None) => Ok(index),
            (Some(_), Some(_)) => Err(TableError::Twice { column: column.clone() }),
            (None, _) => Err(TableError::NoColumn { column: column.clone(), known: header.join(", ") }),
        }
    };
    wanted.iter().map(position).collect()
}

fn parse(record: &csv::StringRecord, line: u64, header: &[String], column: usize) -> Result<f64, TableError> {
    let found = record.get(column).unwrap_or_default();
    found.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| TableError::NotANumber {
        place: Place { line, column: header[column].clone() },
        found: found.to_owned(),
    })
}
