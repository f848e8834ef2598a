//! The preparation of a table's columns before training: missing values, scales, words to numbers. A model stores
//! it and applies it to new data.

use luge_net::{Shape, Values};
use serde::{Deserialize, Serialize};

use super::{
    Place, Row, TableError,
    prepare_options::{ClassCode, Missing, PrepareOptions, Scale},
    sheet::Column,
};

/// How the columns are prepared, with all parameters that were learned for this.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    /// The options.
    #[serde(rename = "asked")]
    pub options: PrepareOptions,
    /// The features' columns in the file, and how they become numbers.
    pub features: Vec<Feature>,
    /// The targets' columns in the file, and how they become numbers.
    pub targets: Vec<Target>,
}

/// How a column becomes features.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    /// The column's name.
    pub column: String,
    /// Its words, each of which becomes a feature; empty if it has numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// The value for a missing number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<f64>,
    /// The offset that is subtracted, and the divisor of the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<(f64, f64)>,
}

/// How a target's column becomes labels.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The column's name.
    pub column: String,
    /// The classes' names; empty if it has numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// How classes are encoded as numbers.
    pub code: ClassCode,
}

/// The most distinct whole numbers of a target that count as classes.
const MAX_CLASSES: usize = 32;

/// The most words of a column that become a feature each.
const MAX_WORDS: usize = 1000;

impl Feature {
    /// A column of numbers that are not changed.
    pub fn plain(column: String) -> Self {
        Self { column, words: Vec::new(), fill: None, scale: None }
    }

    /// The names of the features it becomes.
    fn names(&self) -> Vec<String> {
        names(&self.column, &self.words)
    }

    fn learn(
        column: &(String, Column),
        options: &PrepareOptions,
        training: &[usize],
        lines: Option<&[u64]>,
    ) -> Result<Self, TableError> {
        let (name, column) = column;
        let mut feature = Self::plain(name.clone());
        let numbers = match column {
            Column::Words(rows) => {
                feature.words = Column::distinct(rows);
                let n_words = feature.words.len();
                if options.one_hot && n_words <= MAX_WORDS {
                    // For a missing word all features are 0.
                    feature.fill = matches!(options.missing, Missing::Mean | Missing::Zero).then_some(0.0);
                    return Ok(feature);
                }
                if options.one_hot {
                    return Err(TableError::TooManyWords { column: name.clone(), n_words, most: MAX_WORDS });
                }
                let row = rows.iter().position(Option::is_some).unwrap_or_default();
                let place = Place { row: row_of(lines, row), column: name.clone() };
                let found = rows[row].clone().unwrap_or_default();
                return Err(match is_date(&found) {
                    true => TableError::Date { place, found },
                    false => TableError::TextFeature { place, found, n_words },
                });
            }
            Column::Numbers(numbers) => numbers,
        };
        let known = || training.iter().map(|&row| numbers[row]).filter(|number| !number.is_nan());
        feature.fill = match options.missing {
            Missing::Refuse | Missing::Drop => None,
            Missing::Zero => Some(0.0),
            Missing::Mean => Some(mean(known())),
        };
        let fill = feature.fill;
        let filled = || training.iter().map(move |&row| filled(numbers[row], fill));
        feature.scale = match options.scale {
            Scale::None => None,
            Scale::Standard => {
                let mean = mean(filled());
                let squares = filled().map(|number| (number - mean) * (number - mean));
                Some((mean, width((squares.sum::<f64>() / training.len() as f64).sqrt())))
            }
            Scale::MinMax => {
                let least = filled().fold(f64::INFINITY, f64::min);
                Some((least, width(filled().fold(f64::NEG_INFINITY, f64::max) - least)))
            }
        };
        if !filled().all(|number| number.is_nan() || feature.scaled(number).is_finite()) {
            return Err(TableError::Unscalable(name.clone()));
        }
        Ok(feature)
    }

    fn scaled(&self, number: f64) -> f64 {
        self.scale.map_or(number, |(shift, width)| (number - shift) / width)
    }

    /// Appends the features of a row.
    fn push(&self, column: &Column, row: usize, place: Row, x: &mut Vec<f64>) -> Result<(), TableError> {
        let place = || Place { row: place, column: self.column.clone() };
        let missing = || TableError::Missing(place());
        match column {
            Column::Numbers(numbers) => {
                let number = filled(numbers[row], self.fill);
                x.push(self.scaled(number));
                if number.is_finite() { Ok(()) } else { Err(missing()) }
            }
            Column::Words(rows) => {
                let known = |word: &String| {
                    self.words.binary_search(word).map_err(|_| TableError::UnknownWord {
                        place: place(),
                        found: word.clone(),
                        known: self.words.join(", "),
                    })
                };
                let word = rows[row].as_ref().map(known).transpose()?;
                x.extend((0..self.words.len()).map(|i| f64::from(u8::from(word == Some(i)))));
                word.or(self.fill.map(|_| 0)).map(drop).ok_or_else(missing)
            }
        }
    }
}

impl Target {
    /// A column of numbers.
    pub fn plain(column: String) -> Self {
        Self { column, classes: Vec::new(), code: ClassCode::Auto }
    }

    /// The names of the labels it becomes.
    fn names(&self) -> Vec<String> {
        names(&self.column, if self.code == ClassCode::Each { &self.classes } else { &[] })
    }

    /// How many labels it becomes.
    pub(super) fn n_labels(&self) -> usize {
        if self.code == ClassCode::Each { self.classes.len() } else { 1 }
    }

    fn learn((name, column): &(String, Column), requested: ClassCode) -> Result<Self, TableError> {
        let distinct = match column {
            Column::Words(rows) => Column::distinct(rows),
            Column::Numbers(_) if !matches!(requested, ClassCode::Signs | ClassCode::Each) => {
                return Ok(Self::plain(name.clone()));
            }
            Column::Numbers(numbers) => classes(name, numbers)?,
        };
        if requested == ClassCode::Signs && distinct == ["-1", "1"] {
            return Ok(Self::plain(name.clone()));
        }
        let n_classes = distinct.len();
        if n_classes < 2 {
            return Err(TableError::SingleClass { column: name.clone(), word: distinct.concat() });
        }
        let code = match requested {
            ClassCode::Auto | ClassCode::Column if n_classes == 2 => ClassCode::Signs,
            ClassCode::Auto => ClassCode::Each,
            ClassCode::Column => ClassCode::Numbers,
            ClassCode::Signs if n_classes > 2 => {
                return Err(TableError::NotTwoClasses { column: name.clone(), n_classes });
            }
            code => code,
        };
        Ok(Self { column: name.clone(), classes: distinct, code })
    }

    /// Finds the class whose name is this number.
    pub(super) fn class_of(&self, number: f64) -> Option<usize> {
        self.classes.iter().position(|class| class.parse() == Ok(number))
    }

    /// Appends the labels of a class.
    pub(super) fn push_class(&self, class: usize, y: &mut Vec<f64>) {
        match self.code {
            ClassCode::Each => y.extend((0..self.classes.len()).map(|i| f64::from(u8::from(i == class)))),
            ClassCode::Signs => y.push(if class == 1 { 1.0 } else { -1.0 }),
            ClassCode::Auto | ClassCode::Column | ClassCode::Numbers => y.push(class as f64),
        }
    }

    /// Returns the class that outputs predict.
    pub(super) fn class(&self, out: &[f64]) -> usize {
        let first = out.first().copied().unwrap_or(0.0);
        match self.code {
            ClassCode::Signs => usize::from(first > 0.0),
            ClassCode::Each => (0..out.len()).reduce(|a, b| if out[b] > out[a] { b } else { a }).unwrap_or(0),
            ClassCode::Auto | ClassCode::Column | ClassCode::Numbers => {
                let last = self.classes.len().saturating_sub(1);
                first.round_ties_even().clamp(0.0, last as f64) as usize
            }
        }
    }
}

/// The columns of a table before preparation.
pub(super) struct Columns {
    pub(super) features: Vec<(String, Column)>,
    pub(super) targets: Vec<(String, Column)>,
    pub(super) lines: Option<Vec<u64>>,
}

impl Columns {
    /// Returns the rows that are used: all, or those in which nothing is missing.
    pub(super) fn rows(&self, missing: Missing, n_rows: usize) -> Result<Vec<usize>, TableError> {
        let all = || self.features.iter().chain(&self.targets);
        if missing == Missing::Drop {
            let rows: Vec<usize> =
                (0..n_rows).filter(|&row| all().all(|(_, column)| !column.lacks(row))).collect();
            return if rows.is_empty() { Err(TableError::AllDropped) } else { Ok(rows) };
        }
        let refused = |columns: &[(String, Column)]| {
            let first = |(name, column): &(String, Column)| {
                (0..n_rows).find(|&row| column.lacks(row)).map(|row| (row, name.clone()))
            };
            let (row, column) = columns.iter().filter_map(first).min()?;
            Some(Place { row: row_of(self.lines.as_deref(), row), column })
        };
        if let Some(place) = refused(&self.targets) {
            return Err(TableError::MissingLabel(place));
        }
        if let Some(place) = refused(&self.features).filter(|_| missing == Missing::Refuse) {
            return Err(TableError::Missing(place));
        }
        Ok((0..n_rows).collect())
    }
}

impl Preparation {
    /// Columns of numbers that are not changed.
    pub fn plain(features: &[String], labels: &[String]) -> Self {
        Self {
            options: PrepareOptions::default(),
            features: features.iter().cloned().map(Feature::plain).collect(),
            targets: labels.iter().cloned().map(Target::plain).collect(),
        }
    }

    /// Returns the names of the features and of the labels.
    pub fn names(&self) -> (Vec<String>, Vec<String>) {
        let features = self.features.iter().flat_map(Feature::names).collect();
        (features, self.targets.iter().flat_map(Target::names).collect())
    }

    /// Whether some column has words. Classes that are whole numbers are not words.
    pub fn has_words(&self) -> bool {
        let feature = self.features.iter().any(|feature| !feature.words.is_empty());
        let is_word = |class: &String| class.parse::<f64>().is_err();
        feature || self.targets.iter().any(|target| target.classes.iter().any(is_word))
    }

    /// Whether it changes nothing.
    pub fn is_plain(&self) -> bool {
        let plain = |feature: &Feature| *feature == Feature::plain(feature.column.clone());
        self.options == PrepareOptions::default() && self.features.iter().all(plain) && !self.has_words()
    }

    /// Learns the preparation from the training rows.
    pub(super) fn learn(
        options: &PrepareOptions,
        columns: &Columns,
        training: &[usize],
    ) -> Result<Self, TableError> {
        let lines = columns.lines.as_deref();
        let features = columns.features.iter().map(|column| Feature::learn(column, options, training, lines));
        let targets = columns.targets.iter().map(|column| Target::learn(column, options.classes));
        let features = features.collect::<Result<_, _>>()?;
        let targets: Vec<Target> = targets.collect::<Result<_, _>>()?;
        // Without classes their encoding does not matter.
        let numbers = targets.iter().all(|target| target.classes.is_empty());
        let classes = if numbers { ClassCode::Auto } else { options.classes };
        Ok(Self { options: PrepareOptions { classes, ..options.clone() }, features, targets })
    }

    /// Returns the features of some rows.
    ///
    /// # Errors
    /// If a value is missing and there is none to replace it, or a word was not in the training data.
    pub(super) fn features(
        &self,
        columns: &[(String, Column)],
        rows: &[usize],
        lines: Option<&[u64]>,
    ) -> Result<Values, TableError> {
        let mut x = Vec::new();
        for &row in rows {
            for (feature, (_, column)) in self.features.iter().zip(columns) {
                feature.push(column, row, row_of(lines, row), &mut x)?;
            }
        }
        Ok(Values::new(Shape::new(rows.len(), x.len() / rows.len()), x))
    }
}

/// Returns the names of classes that are whole numbers.
fn classes(column: &str, numbers: &[f64]) -> Result<Vec<String>, TableError> {
    let mut known: Vec<f64> = numbers.iter().copied().filter(|number| !number.is_nan()).collect();
    known.sort_by(f64::total_cmp);
    known.dedup();
    let refused = |found| TableError::NotClasses { column: column.to_owned(), found, most: MAX_CLASSES };
    if let Some(number) = known.iter().find(|number| number.fract() != 0.0) {
        return Err(refused(format!("numbers such as {number}")));
    }
    if known.len() > MAX_CLASSES {
        return Err(refused(format!("{} different numbers", known.len())));
    }
    Ok(known.iter().map(ToString::to_string).collect())
}

/// Whether a text is a date, such as 2024-05-31, 31.05.2024 or 5/31/2024, perhaps with a time after it.
fn is_date(text: &str) -> bool {
    let day = text.split(['T', ' ']).next().unwrap_or_default();
    ['-', '.', '/'].iter().any(|&separator| {
        let parts: Vec<&str> = day.split(separator).collect();
        let digits =
            |part: &&str| part.len() <= 4 && !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        parts.len() == 3 && parts.iter().all(digits) && parts.iter().any(|part| part.len() != 3)
    })
}

/// Returns a number, or its replacement if it is missing.
fn filled(number: f64, fill: Option<f64>) -> f64 {
    if number.is_nan() { fill.unwrap_or(number) } else { number }
}

fn names(column: &str, words: &[String]) -> Vec<String> {
    if words.is_empty() {
        return vec![column.to_owned()];
    }
    words.iter().map(|word| format!("{column}={word}")).collect()
}

pub(super) fn row_of(lines: Option<&[u64]>, row: usize) -> Row {
    lines.map_or(Row::Index(row), |lines| Row::Line(lines[row]))
}

fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (n, sum) = numbers.fold((0_u64, 0.0), |(n, sum), number| (n + 1, sum + number));
    if n == 0 { 0.0 } else { sum / n as f64 }
}

/// The divisor of a column; 1 if the column is constant.
fn width(width: f64) -> f64 {
    if width > 0.0 && width.is_finite() { width } else { 1.0 }
}
