//! Tables of numbers: a CSV file, its columns chosen by name.

use std::{fmt, io};

use luge_net::{NumberFormat, Shape, Values};
use serde::{Deserialize, Serialize};

/// A learning task's data: one row per sample.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Numbers", into = "Numbers")]
pub struct Table {
    /// The features' column names.
    pub feature_names: Vec<String>,
    /// The labels' column names.
    pub label_names: Vec<String>,
    /// x.
    pub features: Values,
    /// y; no columns if the table was read for prediction.
    pub labels: Values,
    /// The line of the file that each sample stands in, counted from 1; `None` if the table is from no file.
    pub lines: Option<Vec<u64>>,
}

/// Where a number stands in a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The sample's line or row.
    pub row: Row,
    /// The column's name.
    pub column: String,
}

/// Where a sample stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Row {
    /// In this line of a file, counted from 1.
    Line(u64),
    /// In this row of an array, counted from 0.
    Index(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row {
            Row::Line(line) => write!(f, "line {line}, column `{}`", self.column),
            Row::Index(row) => write!(f, "row {row}, column `{}`", self.column),
        }
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
    /// The fields are separated by something else than commas.
    #[error("the header `{header}` is a single column: the fields of a line must be separated by commas")]
    Separator {
        /// The header line.
        header: String,
    },
    /// The same column asked for twice.
    #[error("column `{column}` is asked for twice")]
    AskedTwice {
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
        /// The line and column of the entry.
        place: Place,
        /// What stands there.
        found: String,
    },
    /// The number format cannot hold it.
    #[error("{place}: {value} lies outside {format}, which reaches from {low} to {high}")]
    OutOfRange {
        /// The line and column of the entry.
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

/// The number format if neither the user nor the learner says otherwise: fix:4.4.
#[must_use]
pub fn default_format() -> NumberFormat {
    match "fix:4.4".parse() {
        Ok(format) => format,
        Err(error) => unreachable!("a format written down here: {error}"),
    }
}

/// A table as it is written into files.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbers {
    features: Vec<String>,
    labels: Vec<String>,
    /// All features, row by row.
    x: Vec<f64>,
    /// All labels, row by row.
    y: Vec<f64>,
}

impl From<Table> for Numbers {
    fn from(table: Table) -> Self {
        let Table { feature_names, label_names, features, labels, .. } = table;
        Self { features: feature_names, labels: label_names, x: features.data, y: labels.data }
    }
}

impl TryFrom<Numbers> for Table {
    type Error = String;

    fn try_from(numbers: Numbers) -> Result<Self, String> {
        let Numbers { features, labels, x, y } = numbers;
        let n_samples = x.len() / features.len().max(1);
        if x.len() != n_samples * features.len() || y.len() != n_samples * labels.len() || n_samples == 0 {
            return Err(format!("{} and {} numbers are no table", x.len(), y.len()));
        }
        Ok(Self::new(features, labels, x, y))
    }
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
    /// A table of numbers, row by row.
    ///
    /// # Panics
    /// If the numbers are not as many rows of both.
    #[must_use]
    pub fn new(feature_names: Vec<String>, label_names: Vec<String>, x: Vec<f64>, y: Vec<f64>) -> Self {
        let n_samples = x.len() / feature_names.len().max(1);
        Self {
            features: Values::new(Shape::new(n_samples, feature_names.len()), x),
            labels: Values::new(Shape::new(n_samples, label_names.len()), y),
            feature_names,
            label_names,
            lines: None,
        }
    }

    /// Reads a CSV with a header. Features: the named columns, or all that are not targets.
    ///
    /// # Errors
    /// If a column is missing or a cell is no number.
    pub fn read(
        mut source: impl io::Read,
        targets: &[String],
        features: Option<&[String]>,
    ) -> Result<Self, TableError> {
        let mut text = Vec::new();
        source.read_to_end(&mut text).map_err(csv::Error::from)?;
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_slice());
        let header: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
        let chosen: Vec<String> = match features {
            Some(features) => features.to_vec(),
            None => header.iter().filter(|name| !targets.contains(name)).cloned().collect(),
        };
        let asked: Vec<&String> = chosen.iter().chain(targets).collect();
        if let [only] = &header[..]
            && only.contains([';', '\t'])
            && asked.iter().any(|name| !header.contains(name))
        {
            return Err(TableError::Separator { header: only.clone() });
        }
        let again = |list: &[String]| {
            (1..list.len()).find(|&i| list[..i].contains(&list[i])).map(|i| list[i].clone())
        };
        if let Some(column) = features.and_then(again).or_else(|| again(targets)) {
            return Err(TableError::AskedTwice { column });
        }
        if let Some(column) = chosen.iter().find(|name| targets.contains(name)) {
            return Err(TableError::FeatureAndTarget { column: column.clone() });
        }
        let feature_columns = columns(&header, &chosen)?;
        let label_columns = columns(&header, targets)?;
        if feature_columns.is_empty() {
            return Err(TableError::NoFeatures);
        }
        let (mut x, mut y) = (Vec::new(), Vec::new());
        let mut lines = Vec::new();
        for record in reader.records() {
            let record = record?;
            let line = line(&text, &record);
            let number = |&column: &usize| parse(&record, line, &header, column);
            for column in &feature_columns {
                x.push(number(column)?);
            }
            for column in &label_columns {
                y.push(number(column)?);
            }
            lines.push(line);
        }
        let n_rows = lines.len();
        if n_rows == 0 {
            return Err(TableError::Empty);
        }
        Ok(Self {
            features: Values::new(Shape::new(n_rows, chosen.len()), x),
            labels: Values::new(Shape::new(n_rows, targets.len()), y),
            feature_names: chosen,
            label_names: targets.to_vec(),
            lines: Some(lines),
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
                    let line = self.lines.as_ref().map(|lines| Row::Line(lines[i / n_columns]));
                    let row = line.unwrap_or(Row::Index(i / n_columns));
                    let place = Place { row, column: names[i % n_columns].clone() };
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

/// The line a record begins in. The reader's own position is where the last record ended, in front of the second half
/// of a line's end and of blank lines.
fn line(text: &[u8], record: &csv::StringRecord) -> u64 {
    let Some(position) = record.position() else { return 0 };
    let from = usize::try_from(position.byte()).unwrap_or(usize::MAX);
    let ends = text.get(from..).unwrap_or_default().iter().take_while(|byte| b"\r\n".contains(byte));
    position.line() + ends.map(|&byte| u64::from(byte == b'\n')).sum::<u64>()
}

fn parse(record: &csv::StringRecord, line: u64, header: &[String], column: usize) -> Result<f64, TableError> {
    let found = record.get(column).unwrap_or_default();
    found.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| TableError::NotANumber {
        place: Place { row: Row::Line(line), column: header[column].clone() },
        found: found.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn read(csv: &str, features: Option<&[&str]>) -> Result<Table, TableError> {
        Table::read(csv.as_bytes(), &names(&["y"]), features.map(names).as_deref())
    }

    fn message(csv: &str, features: Option<&[&str]>) -> String {
        read(csv, features).unwrap_err().to_string()
    }

    #[test]
    fn features_are_what_is_not_a_target() {
        let table = read("a, y ,b\n1,2,3\n-4, 5e-1,0.25\n", None).unwrap();
        assert_eq!(table.feature_names, ["a", "b"]);
        assert_eq!(table.label_names, ["y"]);
        assert_eq!(table.features, Values::new(Shape::new(2, 2), vec![1.0, 3.0, -4.0, 0.25]));
        assert_eq!(table.labels, Values::column(vec![2.0, 0.5]));
        assert_eq!(table.n_samples(), 2);
    }

    #[test]
    fn features_come_in_the_order_asked_for() {
        let table = read("a,y,b\n1,2,3\n", Some(&["b", "a"])).unwrap();
        assert_eq!(table.features.data, [3.0, 1.0]);
    }

    #[test]
    fn without_targets_there_are_no_labels() {
        let table = Table::read("a,b\n1,2\n3,4\n".as_bytes(), &[], None).unwrap();
        assert_eq!(table.labels.shape, Shape::new(2, 0));
        assert_eq!(table.features.data, [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn broken_tables() {
        assert_eq!(message("a,b\n1,2\n", None), "there is no column `y`; the columns are a, b");
        assert_eq!(message("a,y\n1,2\n", Some(&["c"])), "there is no column `c`; the columns are a, y");
        assert_eq!(message("a,a,y\n1,2,3\n", None), "column `a` stands twice in the header");
        let both = "column `y` is asked for both as a feature and as the target";
        assert_eq!(message("a,y\n1,2\n", Some(&["a", "y"])), both);
        assert_eq!(message("y\n1\n", None), "no column is left for the features");
        assert_eq!(message("a,y\n", None), "the table has a header but no rows");
        assert_eq!(message("a,y\n1,2\n1,two\n", None), "line 3, column `y`: `two` is no finite number");
        assert_eq!(message("a,y\n,2\n", None), "line 2, column `a`: `` is no finite number");
        assert_eq!(message("a,y\n1,inf\n", None), "line 2, column `y`: `inf` is no finite number");
        assert_eq!(message("a,y\nNaN,1\n", None), "line 2, column `a`: `NaN` is no finite number");
        assert_eq!(
            message("a,y\n1,2\n1,2,3\n", None),
            "not a CSV table: CSV error: record 2 (line: 3, byte: 8): found record with 3 fields, but the previous \
             record has 2 fields"
        );
    }

    #[test]
    fn blank_lines_count() {
        let csv = "a,y\n1,2\n\n\n3,x\n";
        assert_eq!(message(csv, None), "line 5, column `y`: `x` is no finite number");
        assert_eq!(read("\na,y\n1,2\n\n3,4", None).unwrap().lines, Some(vec![3, 5]));
    }

    #[test]
    fn lines_end_in_either_way() {
        let csv = "a,y\r\n1,2\r\n\r\n3,x\r\n";
        assert_eq!(message(csv, None), "line 4, column `y`: `x` is no finite number");
        assert_eq!(read("a,y\r\n1,2\r\n3,4\r\n", None).unwrap().lines, Some(vec![2, 3]));
    }

    #[test]
    fn numbers_out_of_range() {
        let format: NumberFormat = "fix:3.2".parse().unwrap();
        let table = read("a,b,y\n1,2,3\n\n-4,3.75,-4.5\n0,4,1\n", None).unwrap();
        let mut refused = table.clone();
        assert_eq!(
            refused.fit(format, Range::Refuse).unwrap_err().to_string(),
            "line 5, column `b`: 4 lies outside fix:3.2, which reaches from -4 to 3.75"
        );
        let mut saturated = table;
        saturated.fit(format, Range::Saturate).unwrap();
        assert_eq!(saturated.features.data, [1.0, 2.0, -4.0, 3.75, 0.0, 3.75]);
        assert_eq!(saturated.labels.data, [3.0, -4.0, 1.0]);
        saturated.fit(format, Range::Refuse).unwrap();
    }

    #[test]
    fn an_array_has_rows() {
        let mut table = Table::new(names(&["a"]), names(&["y"]), vec![1.0, 9.0], vec![0.0, 0.0]);
        assert_eq!(
            table.fit("fix:3.2".parse().unwrap(), Range::Refuse).unwrap_err().to_string(),
            "row 1, column `a`: 9 lies outside fix:3.2, which reaches from -4 to 3.75"
        );
    }

    #[test]
    fn labels_out_of_range() {
        let mut table = read("a,y\n1,2\n1,-3\n", None).unwrap();
        assert_eq!(
            table.fit("fix:2.0:sm".parse().unwrap(), Range::Refuse).unwrap_err().to_string(),
            "line 2, column `y`: 2 lies outside fix:2.0:sm, which reaches from -1 to 1"
        );
    }
}
