//! Tables of numbers: reads CSV files, selects columns by name and prepares them for a learner.
//!
//! `sheet` reads the file, `preparation` converts it to numbers, and `new_data` does the same for a model's new
//! data.

mod error;
mod new_data;
mod preparation;
mod prepare_options;
mod score;
mod sheet;
mod text;

use std::{fmt, io};

use luge_net::{
    NumberFormat, Shape, Values,
    numbers::{FixedPoint, MAX_BITS},
};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use serde::{Deserialize, Serialize};

pub use error::TableError;
pub use new_data::{Answer, NewData};
pub use preparation::{Feature, Preparation, Target};
pub use prepare_options::{ClassCode, Missing, PrepareOptions, Scale, Split};
pub use score::Score;
pub(crate) use score::right_rows;
pub use text::decode;

use crate::files::bounded;
use preparation::{Columns, row_of};
use sheet::{Column, Expect, Sheet};

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
    /// The line of the file for each sample, counted from 1; `None` if the table is not from a file.
    pub lines: Option<Vec<u64>>,
    /// How the columns were prepared; a model prepares new data in the same way.
    pub preparation: Preparation,
    /// Rows that were held out of training, to test what is learned.
    pub held_out: Option<Box<Table>>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// The place of a number in a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The sample's line or row.
    pub row: Row,
    /// The column's name.
    pub column: String,
}

/// The place of a sample.
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

/// A table as files store it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbers {
    features: Vec<String>,
    labels: Vec<String>,
    /// All features, row by row.
    x: Vec<f64>,
    /// All labels, row by row.
    y: Vec<f64>,
    /// How the columns were prepared, unless they are plain numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    preparation: Option<Preparation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held_out: Option<Box<Table>>,
}

impl From<Table> for Numbers {
    fn from(table: Table) -> Self {
        let Table { feature_names, label_names, features, labels, preparation, held_out, .. } = table;
        Self {
            features: feature_names,
            labels: label_names,
            x: features.data,
            y: labels.data,
            preparation: Some(preparation).filter(|preparation| !preparation.is_plain()),
            held_out,
        }
    }
}

impl TryFrom<Numbers> for Table {
    type Error = String;

    fn try_from(numbers: Numbers) -> Result<Self, String> {
        let Numbers { features, labels, x, y, preparation, held_out } = numbers;
        let n_samples = x.len() / features.len().max(1);
        if x.len() != n_samples * features.len() || y.len() != n_samples * labels.len() || n_samples == 0 {
            return Err(format!("{} and {} numbers are not a table", x.len(), y.len()));
        }
        let mut table = Self::new(features, labels, x, y);
        table.preparation = preparation.unwrap_or(table.preparation);
        Ok(Self { held_out, ..table })
    }
}

/// What to do with numbers outside the format's range.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Range {
    /// Report an error.
    #[default]
    Refuse,
    /// Replace them by the nearest number of the format.
    Saturate,
}

impl Table {
    /// Creates a table from numbers, row by row.
    ///
    /// # Panics
    /// If features and labels have different numbers of rows.
    pub fn new(feature_names: Vec<String>, label_names: Vec<String>, x: Vec<f64>, y: Vec<f64>) -> Self {
        let n_samples = x.len() / feature_names.len().max(1);
        let preparation = Preparation::plain(&feature_names, &label_names);
        Self {
            features: Values::new(Shape::new(n_samples, feature_names.len()), x),
            labels: Values::new(Shape::new(n_samples, label_names.len()), y),
            feature_names,
            label_names,
            lines: None,
            preparation,
            held_out: None,
            notes: Vec::new(),
        }
    }

    /// Reads a CSV file with a header. The features are the named columns, or all that are not targets.
    ///
    /// ```
    /// let csv = "length,width,kind\n4.5,4.0,apple\n7.5,2.0,banana\n";
    /// let table = luge::Table::read(csv.as_bytes(), &["kind".to_owned()], None)?;
    /// assert_eq!(table.feature_names, ["length", "width"]);
    /// assert_eq!(table.labels.data, [-1.0, 1.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a column is missing, or a field is not a number where one is required.
    pub fn read(
        source: impl io::Read,
        targets: &[String],
        features: Option<&[String]>,
    ) -> Result<Self, TableError> {
        let bytes = bounded::read_from(source, "a table", 8).map_err(csv::Error::from)?;
        let text = String::from_utf8(bytes)
            .map_err(|error| csv::Error::from(io::Error::new(io::ErrorKind::InvalidData, error)))?;
        Self::read_prepared(&text, targets, features, &PrepareOptions::default())
    }

    /// The same, with the columns prepared according to the options.
    ///
    /// # Errors
    /// If a column is missing, a field is not a number where one is required, or the columns cannot be prepared.
    pub fn read_prepared(
        text: &str,
        targets: &[String],
        features: Option<&[String]>,
        options: &PrepareOptions,
    ) -> Result<Self, TableError> {
        if !targets.is_empty() && targets == no_labels(targets.len()) {
            return Ok(Self::read_prepared(text, &[], features, options)?.without_labels(targets.len()));
        }
        let sheet = Sheet::read(text, |header, notes| {
            let chosen = choose(header, targets, features, notes)?;
            let wanted = columns(header, &chosen)?.into_iter().chain(columns(header, targets)?);
            Ok(wanted.map(|column| (column, Expect::Any)).collect())
        })?;
        let Sheet { columns: mut features, lines, notes } = sheet;
        let n_rows = lines.len();
        let targets = features.split_off(features.len() - targets.len());
        let table = prepare(&Columns { features, targets, lines: Some(lines) }, n_rows, options)?;
        Ok(Self { notes: notes.into_iter().chain(table.notes).collect(), ..table })
    }

    /// Prepares the columns of a table of numbers, in which NaN is a missing number.
    ///
    /// # Errors
    /// If they cannot be prepared.
    pub fn prepared(self, options: &PrepareOptions) -> Result<Self, TableError> {
        let n_rows = self.n_samples();
        let features = number_columns(self.feature_names, &self.features);
        let targets = number_columns(self.label_names, &self.labels);
        prepare(&Columns { features, targets, lines: self.lines }, n_rows, options)
    }

    /// Returns the table with this many constant labels of 1, for a learner that takes no labels.
    #[must_use]
    pub fn without_labels(self, n_labels: usize) -> Self {
        let label_names = no_labels(n_labels);
        let labels = Values::filled(Shape::new(self.n_samples(), n_labels), 1.0);
        let targets = Preparation::plain(&[], &label_names).targets;
        let preparation = Preparation { targets, ..self.preparation };
        let held_out = self.held_out.map(|held_out| Box::new(held_out.without_labels(n_labels)));
        Self { label_names, labels, preparation, held_out, ..self }
    }

    /// Whether the labels are data, rather than constants for a learner that takes none.
    pub fn is_labelled(&self) -> bool {
        self.label_names.first().is_none_or(|name| *name != no_labels(1)[0])
    }

    /// Returns all features, then all labels, row by row.
    pub fn numbers(&self) -> Vec<f64> {
        [&self.features.data[..], &self.labels.data].concat()
    }

    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        self.features.shape.rows
    }

    /// Features and labels of a sample.
    pub fn sizes(&self) -> (usize, usize) {
        (self.feature_names.len(), self.label_names.len())
    }

    /// Checks that every number is in the format's range, or clamps it to the range.
    ///
    /// # Errors
    /// The first number outside the range, unless numbers are clamped.
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
                    let row = row_of(self.lines.as_deref(), i / n_columns);
                    let place = Place { row, column: names[i % n_columns].clone() };
                    let value = *value;
                    let column = values.data.iter().skip(i % n_columns).step_by(n_columns);
                    let holds = holding(format, column.copied());
                    return Err(TableError::OutOfRange { place, value, format, holds });
                }
                *value = value.clamp(low, high);
            }
        }
        Ok(())
    }
}

/// Splits numbers, stored row by row, into columns.
fn number_columns(names: Vec<String>, values: &Values) -> Vec<(String, Column)> {
    let n_columns = names.len();
    let column = |i: usize| values.data.iter().skip(i).step_by(n_columns).copied().collect();
    names.into_iter().enumerate().map(|(i, name)| (name, Column::Numbers(column(i)))).collect()
}

/// Returns the names of constant labels, for a learner that takes none.
fn no_labels(n_labels: usize) -> Vec<String> {
    (0..n_labels)
        .map(|at| if at == 0 { "(no label)".to_owned() } else { format!("(no label {at})") })
        .collect()
}

/// Returns the smallest format whose range holds the numbers, as precise as the given one if 32 bits suffice; `None` for floats,
/// and if there is none.
fn holding(format: NumberFormat, numbers: impl Iterator<Item = f64> + Clone) -> Option<NumberFormat> {
    let NumberFormat::Fixed(fixed) = format else { return None };
    let wider = |n_integer: u32| {
        let n_fraction = fixed.n_fraction.min(MAX_BITS - n_integer);
        FixedPoint::new(n_integer, n_fraction, fixed.negatives).ok().map(NumberFormat::Fixed)
    };
    let holds = |format: &NumberFormat| numbers.clone().all(|x| (format.min()..=format.max()).contains(&x));
    (1..=MAX_BITS).filter_map(wider).find(holds)
}

/// Converts columns to numbers: selects rows, learns the preparation from them and applies it.
fn prepare(columns: &Columns, n_rows: usize, options: &PrepareOptions) -> Result<Table, TableError> {
    let rows = columns.rows(options.missing, n_rows)?;
    let n_used = rows.len();
    let (training, testing) = match options.split {
        None => (rows, Vec::new()),
        Some(split) => split_rows(rows, split)?,
    };
    let preparation = Preparation::learn(options, columns, &training)?;
    let (feature_names, label_names) = preparation.names();
    let table = |rows: &[usize]| {
        let x = preparation.features(&columns.features, rows, columns.lines.as_deref())?;
        let y = preparation.labels(&columns.targets, rows);
        let lines = columns.lines.as_ref().map(|lines| rows.iter().map(|&row| lines[row]).collect());
        let table = Table::new(feature_names.clone(), label_names.clone(), x.data, y.data);
        Ok::<_, TableError>(Table { lines, preparation: preparation.clone(), ..table })
    };
    let held_out = (!testing.is_empty()).then(|| table(&testing).map(Box::new)).transpose()?;
    let left_out = n_rows - n_used;
    let note = format!("{left_out} of {n_rows} rows are left out: a value is missing in them");
    let mut notes = if left_out > 0 { vec![note] } else { Vec::new() };
    for (target, (name, column)) in preparation.targets.iter().zip(&columns.targets) {
        if matches!(column, Column::Numbers(_)) && !target.classes.is_empty() {
            let classes = target.classes.join(", ");
            notes.push(format!("column `{name}` has the classes {classes}; --classes numbers keeps numbers"));
        }
    }
    Ok(Table { held_out, notes, ..table(&training)? })
}

/// Splits rows into those to train on and those to test, both in their order.
fn split_rows(mut rows: Vec<usize>, split: Split) -> Result<(Vec<usize>, Vec<usize>), TableError> {
    let n_rows = rows.len();
    let n_testing = (split.fraction * n_rows as f64).round_ties_even() as usize;
    if n_testing == 0 || n_testing >= n_rows {
        return Err(TableError::Split { fraction: split.fraction, n_rows });
    }
    let mut generator = ChaCha8Rng::seed_from_u64(split.seed);
    for i in 0..n_testing {
        let left = (n_rows - i) as u64;
        rows.swap(i, i + usize::try_from(generator.next_u64() % left).unwrap_or(0));
    }
    let mut training = rows.split_off(n_testing);
    rows.sort_unstable();
    training.sort_unstable();
    Ok((training, rows))
}

/// Returns the features' columns: the named ones, or all that have a name and are not targets.
fn choose(
    header: &[String],
    targets: &[String],
    features: Option<&[String]>,
    notes: &mut Vec<String>,
) -> Result<Vec<String>, TableError> {
    let chosen: Vec<String> = match features {
        Some(features) => features.to_vec(),
        None => {
            let nameless = header.iter().filter(|name| name.is_empty()).count();
            if nameless > 0 {
                let these = if nameless == 1 { "a column" } else { "columns" };
                notes.push(format!("{these} without a name left out; --features names those to learn from"));
            }
            header.iter().filter(|name| !name.is_empty() && !targets.contains(name)).cloned().collect()
        }
    };
    let again =
        |list: &[String]| (1..list.len()).find(|&i| list[..i].contains(&list[i])).map(|i| list[i].clone());
    if let Some(column) = features.and_then(again).or_else(|| again(targets)) {
        return Err(TableError::NamedTwice(column));
    }
    if let Some(column) = chosen.iter().find(|name| targets.contains(name)) {
        return Err(TableError::FeatureAndTarget(column.clone()));
    }
    if chosen.is_empty() && targets.iter().all(|target| header.contains(target)) {
        return Err(TableError::NoFeatures);
    }
    Ok(chosen)
}

/// Finds columns in a header.
fn columns(header: &[String], wanted: &[String]) -> Result<Vec<usize>, TableError> {
    let position = |column: &String| {
        let mut places = (0..header.len()).filter(|&i| header[i] == *column);
        match (places.next(), places.next()) {
            (Some(index), None) => Ok(index),
            (Some(_), Some(_)) => Err(TableError::Twice(column.clone())),
            (None, _) => Err(TableError::NoColumn { column: column.clone(), known: header.join(", ") }),
        }
    };
    wanted.iter().map(position).collect()
}

#[cfg(test)]
mod tests;
