//! The preparation of a table's columns before training: missing values, scales, words to numbers. A model stores
//! it and applies it to new data.

use luge_net::{Shape, Values};
use serde::{Deserialize, Serialize};

use super::{
    Place, Row, TableError,
    prepare_options::{ClassCode, Missing, PrepareOptions, Scale},
    sheet::Column,
};

/// How the columns are prepared, with every number that this needs.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    /// The options.
    pub asked: PrepareOptions,
    /// The features' columns in the file, and how they become numbers.
    pub features: Vec<Feature>,
    /// The targets' columns in the file, and what they mean.
    pub targets: Vec<Target>,
}

/// How a column becomes features.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    /// The column's name.
    pub column: String,
    /// Its words, each of which has a feature of its own; none if it has numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// The replacement for a missing number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<f64>,
    /// The offset that is subtracted, and the divisor of the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<(f64, f64)>,
}

/// What a target's column means.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The column's name.
    pub column: String,
    /// The classes' names; none if it has numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// How classes are numbers.
    pub code: ClassCode,
}

/// The most whole numbers of a target that are taken for classes.
const MAX_CLASSES: usize = 32;

/// The most words of a feature that get a column each.
const MAX_WORDS: usize = 1000;

impl Feature {
    /// A column of numbers as they are.
    pub fn plain(column: String) -> Self {
        Self { column, words: Vec::new(), fill: None, scale: None }
    }

    /// The names of the features it becomes.
    fn names(&self) -> Vec<String> {
        names(&self.column, &self.words)
    }

    fn learn(
        column: &(String, Column),
        asked: &PrepareOptions,
        training: &[usize],
        lines: Option<&[u64]>,
    ) -> Result<Self, TableError> {
        let (name, column) = column;
        let mut feature = Self::plain(name.clone());
        let numbers = match column {
            Column::Words(rows) => {
                feature.words = Column::distinct(rows);
                let n_words = feature.words.len();
                if asked.one_hot && n_words <= MAX_WORDS {
                    // What stands for a missing word is that no column has a 1.
                    feature.fill = matches!(asked.missing, Missing::Mean | Missing::Zero).then_some(0.0);
                    return Ok(feature);
                }
                if asked.one_hot {
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
        feature.fill = match asked.missing {
            Missing::Refuse | Missing::Drop => None,
            Missing::Zero => Some(0.0),
            Missing::Mean => Some(mean(known())),
        };
        let fill = feature.fill;
        let filled = || training.iter().map(move |&row| filled(numbers[row], fill));
        feature.scale = match asked.scale {
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

    /// The features of a row, pushed.
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

    fn learn((name, column): &(String, Column), asked: ClassCode) -> Result<Self, TableError> {
        let distinct = match column {
            Column::Words(rows) => Column::distinct(rows),
            Column::Numbers(_) if !matches!(asked, ClassCode::Signs | ClassCode::Each) => {
                return Ok(Self::plain(name.clone()));
            }
            Column::Numbers(numbers) => classes(name, numbers)?,
        };
        if asked == ClassCode::Signs && distinct == ["-1", "1"] {
            return Ok(Self::plain(name.clone()));
        }
        let n_classes = distinct.len();
        if n_classes < 2 {
            return Err(TableError::SingleClass { column: name.clone(), word: distinct.concat() });
        }
        let code = match asked {
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

    /// The class that a number names.
    pub(super) fn class_of(&self, number: f64) -> Option<usize> {
        self.classes.iter().position(|class| class.parse() == Ok(number))
    }

    /// The labels of a class.
    pub(super) fn push_class(&self, class: usize, y: &mut Vec<f64>) {
        match self.code {
            ClassCode::Each => y.extend((0..self.classes.len()).map(|i| f64::from(u8::from(i == class)))),
            ClassCode::Signs => y.push(if class == 1 { 1.0 } else { -1.0 }),
            ClassCode::Auto | ClassCode::Column | ClassCode::Numbers => y.push(class as f64),
        }
    }

    /// The class that outputs predict.
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
    /// Rows that are used: all, or those in which nothing is missing.
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
    /// Columns of numbers as they are.
    pub fn plain(features: &[String], labels: &[String]) -> Self {
        Self {
            asked: PrepareOptions::default(),
            features: features.iter().cloned().map(Feature::plain).collect(),
            targets: labels.iter().cloned().map(Target::plain).collect(),
        }
    }

    /// The names of the features and of the labels that the columns become.
    pub fn names(&self) -> (Vec<String>, Vec<String>) {
        let features = self.features.iter().flat_map(Feature::names).collect();
        (features, self.targets.iter().flat_map(Target::names).collect())
    }

    /// Whether some column has words; classes may be whole numbers as well.
    pub fn has_words(&self) -> bool {
        let feature = self.features.iter().any(|feature| !feature.words.is_empty());
        let is_word = |class: &String| class.parse::<f64>().is_err();
        feature || self.targets.iter().any(|target| target.classes.iter().any(is_word))
    }

    /// Whether it leaves numbers as they are.
    pub fn is_plain(&self) -> bool {
        let plain = |feature: &Feature| *feature == Feature::plain(feature.column.clone());
        self.asked == PrepareOptions::default() && self.features.iter().all(plain) && !self.has_words()
    }

    /// Learns the preparation from the training rows.
    pub(super) fn learn(
        asked: &PrepareOptions,
        columns: &Columns,
        training: &[usize],
    ) -> Result<Self, TableError> {
        let lines = columns.lines.as_deref();
        let features = columns.features.iter().map(|column| Feature::learn(column, asked, training, lines));
        let targets = columns.targets.iter().map(|column| Target::learn(column, asked.classes));
        let features = features.collect::<Result<_, _>>()?;
        let targets: Vec<Target> = targets.collect::<Result<_, _>>()?;
        // How classes are written says nothing where there are none.
        let numbers = targets.iter().all(|target| target.classes.is_empty());
        let classes = if numbers { ClassCode::Auto } else { asked.classes };
        Ok(Self { asked: PrepareOptions { classes, ..asked.clone() }, features, targets })
    }

    /// The features of some rows.
    ///
    /// # Errors
    /// If a value without a replacement is missing, or a word was not among the training data.
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

/// The names of the classes that whole numbers are.
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

/// Whether a text is a date, as 2024-05-31, 31.05.2024 or 5/31/2024, perhaps with a time after it.
fn is_date(text: &str) -> bool {
    let day = text.split(['T', ' ']).next().unwrap_or_default();
    ['-', '.', '/'].iter().any(|&separator| {
        let parts: Vec<&str> = day.split(separator).collect();
        let digits =
            |part: &&str| part.len() <= 4 && !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        parts.len() == 3 && parts.iter().all(digits) && parts.iter().any(|part| part.len() != 3)
    })
}

/// A number, or its replacement if it is missing.
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
