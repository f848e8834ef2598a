//! A CSV file: the selected columns, each of numbers or of words.

use std::collections::HashMap;

use super::{Place, Row, TableError, text::without_mark};

/// A column as a file has it.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Column {
    /// Numbers; NaN where one is missing.
    Numbers(Vec<f64>),
    /// Words: each row's place among the distinct ones, which are in order.
    Words { distinct: Vec<String>, rows: Vec<Option<u32>> },
}

/// What a wanted column must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Expect {
    /// Numbers, or words if no field is a number.
    Any,
    /// Numbers alone.
    Numbers,
    /// Words, even if they look like numbers.
    Words,
    /// Numbers; what is none counts as missing.
    PerhapsNumbers,
}

/// The columns that were wanted, in that order.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Sheet {
    pub(super) columns: Vec<(String, Column)>,
    /// The line that each row begins in.
    pub(super) lines: Vec<u64>,
    /// What the reader should know.
    pub(super) notes: Vec<String>,
}

/// What stands for a missing value, in any case.
const MISSING: [&str; 6] = ["", "na", "n/a", "nan", "null", "?"];

impl Sheet {
    /// Reads a file; `choose` says which columns of the header are wanted, and as what.
    pub(super) fn read(
        text: &str,
        choose: impl FnOnce(&[String], &mut Vec<String>) -> Result<Vec<(usize, Expect)>, TableError>,
    ) -> Result<Self, TableError> {
        let text = without_mark(text);
        let separator = separator(text);
        let mut notes = Vec::new();
        match separator {
            b';' => notes.push("the fields are separated by semicolons".to_owned()),
            b'\t' => notes.push("the fields are separated by tabs".to_owned()),
            _ => {}
        }
        let mut builder = csv::ReaderBuilder::new();
        let mut reader = builder.delimiter(separator).trim(csv::Trim::All).from_reader(text.as_bytes());
        let header: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
        let wanted = choose(&header, &mut notes)?;
        let part = |&(column, expect): &(usize, Expect)| Part::new(header[column].clone(), expect, separator);
        let mut parts: Vec<Part> = wanted.iter().map(part).collect();
        let (mut lines, mut record) = (Vec::new(), csv::StringRecord::new());
        while reader.read_record(&mut record)? {
            let line = line(text.as_bytes(), &record);
            lines.push(line);
            for (part, &(column, _)) in parts.iter_mut().zip(&wanted) {
                part.push(record.get(column).unwrap_or_default(), line)?;
            }
        }
        if lines.is_empty() {
            return Err(TableError::Empty);
        }
        parts.iter().try_for_each(Part::check)?;
        if parts.iter().any(|part| part.comma) {
            if let Some(part) = parts.iter().find(|part| part.point && !part.has_words()) {
                return Err(TableError::MixedDecimals(part.name.clone()));
            }
            notes.push("the numbers have decimal commas".to_owned());
        }
        Ok(Self { columns: parts.into_iter().map(Part::finish).collect(), lines, notes })
    }
}

/// A column while it is read.
struct Part {
    name: String,
    expect: Expect,
    separator: u8,
    fields: Fields,
    has_number: bool,
    /// Whether a number has a decimal comma, and whether one has a point.
    comma: bool,
    point: bool,
    /// The first field that is neither missing nor a number.
    first_word: Option<(u64, String)>,
}

/// What a column has. Words have numbers in the order of their first rows.
enum Fields {
    /// So many rows, in all of which a value is missing.
    Missing(usize),
    Numbers(Vec<f64>),
    Words(HashMap<String, u32>, Vec<Option<u32>>),
}

impl Part {
    fn new(name: String, expect: Expect, separator: u8) -> Self {
        let fields = match expect {
            Expect::Any => Fields::Missing(0),
            Expect::Numbers | Expect::PerhapsNumbers => Fields::Numbers(Vec::new()),
            Expect::Words => Fields::Words(HashMap::new(), Vec::new()),
        };
        Self {
            name,
            expect,
            separator,
            fields,
            comma: false,
            point: false,
            has_number: false,
            first_word: None,
        }
    }

    /// Numbers may have decimal commas where commas do not separate fields.
    fn number(&self, field: &str) -> Option<f64> {
        let parsed = match field.contains(',') && self.separator != b',' && !field.contains('.') {
            true => field.replacen(',', ".", 1).parse(),
            false => field.parse(),
        };
        parsed.ok().filter(|number: &f64| number.is_finite())
    }

    /// Takes the field of the next row, which begins in this line.
    fn push(&mut self, field: &str, line: u64) -> Result<(), TableError> {
        let missing = MISSING.iter().any(|word| field.eq_ignore_ascii_case(word));
        let number = self.number(field);
        if !missing {
            let infinite = field.parse::<f64>().is_ok_and(f64::is_infinite);
            if infinite && matches!(self.expect, Expect::Any | Expect::Numbers) {
                let place = Place { row: Row::Line(line), column: self.name.clone() };
                return Err(TableError::NotANumber { place, found: field.to_owned() });
            }
            if number.is_none() {
                self.first_word.get_or_insert_with(|| (line, field.to_owned()));
            }
            self.has_number |= number.is_some();
            self.comma |= number.is_some() && field.contains(',');
            self.point |= number.is_some() && field.contains('.');
            // What the first value is decides what the column has.
            if let Fields::Missing(n) = self.fields {
                self.fields = match number {
                    Some(_) => Fields::Numbers(vec![f64::NAN; n]),
                    None => Fields::Words(HashMap::new(), vec![None; n]),
                };
            }
        }
        match &mut self.fields {
            Fields::Missing(n) => *n += 1,
            Fields::Numbers(numbers) => numbers.push(number.unwrap_or(f64::NAN)),
            Fields::Words(_, rows) if missing => rows.push(None),
            Fields::Words(ids, rows) => {
                let next = u32::try_from(ids.len()).unwrap_or(u32::MAX);
                let known = ids.get(field).copied();
                rows.push(Some(known.unwrap_or_else(|| *ids.entry(field.to_owned()).or_insert(next))));
            }
        }
        Ok(())
    }

    /// Refuses a column of numbers and words, and one of numbers that are written in two ways.
    fn check(&self) -> Result<(), TableError> {
        let numbers = match self.expect {
            Expect::Any => self.has_number,
            Expect::Numbers => true,
            Expect::Words | Expect::PerhapsNumbers => return Ok(()),
        };
        if let Some((line, found)) = self.first_word.clone().filter(|_| numbers) {
            let place = Place { row: Row::Line(line), column: self.name.clone() };
            let decimal_comma = self.separator == b',' && found.replacen(',', ".", 1).parse::<f64>().is_ok();
            return Err(match decimal_comma && found.contains(',') {
                true => TableError::DecimalComma { place, found },
                false => TableError::NotANumber { place, found },
            });
        }
        match self.comma && self.point {
            true => Err(TableError::MixedDecimals(self.name.clone())),
            false => Ok(()),
        }
    }

    fn has_words(&self) -> bool {
        matches!(self.fields, Fields::Words(..))
    }

    /// The column, its words in alphabetical order.
    fn finish(self) -> (String, Column) {
        let (ids, rows) = match self.fields {
            Fields::Missing(n) => return (self.name, Column::Numbers(vec![f64::NAN; n])),
            Fields::Numbers(numbers) => return (self.name, Column::Numbers(numbers)),
            Fields::Words(ids, rows) => (ids, rows),
        };
        let mut ordered: Vec<(String, u32)> = ids.into_iter().collect();
        ordered.sort();
        let mut place_of = vec![0; ordered.len()];
        for (place, &(_, id)) in (0..).zip(&ordered) {
            place_of[id as usize] = place;
        }
        let rows = rows.into_iter().map(|id| id.map(|id| place_of[id as usize])).collect();
        let distinct = ordered.into_iter().map(|(word, _)| word).collect();
        (self.name, Column::Words { distinct, rows })
    }
}

/// What separates the fields: of comma, semicolon and tab the one that the header has most of, outside quotes.
fn separator(text: &str) -> u8 {
    let header = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
    let mut quoted = false;
    for byte in header.bytes() {
        quoted ^= byte == b'"';
        if let Some((_, count)) = counts.iter_mut().find(|(separator, _)| !quoted && *separator == byte) {
            *count += 1;
        }
    }
    // Of equals the first: a comma.
    counts.into_iter().rev().max_by_key(|&(_, count)| count).map_or(b',', |(separator, _)| separator)
}

/// The line a record begins in. The reader's own position is where the last record ended, in front of the second half
/// of a line's end and of blank lines.
fn line(text: &[u8], record: &csv::StringRecord) -> u64 {
    let Some(position) = record.position() else { return 0 };
    let from = usize::try_from(position.byte()).unwrap_or(usize::MAX);
    let ends = text.get(from..).unwrap_or_default().iter().take_while(|byte| b"\r\n".contains(byte));
    position.line() + ends.map(|&byte| u64::from(byte == b'\n')).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Sheet, TableError> {
        Sheet::read(text, |header, _| Ok((0..header.len()).map(|column| (column, Expect::Any)).collect()))
    }

    fn numbers(text: &str) -> (Vec<Vec<f64>>, Vec<String>) {
        let sheet = read(text).expect("a sheet");
        let column = |(_, column): (String, Column)| match column {
            Column::Numbers(numbers) => numbers,
            Column::Words { .. } => panic!("words"),
        };
        (sheet.columns.into_iter().map(column).collect(), sheet.notes)
    }

    #[test]
    fn separators_and_decimal_commas_are_recognised() {
        let expected = vec![vec![1.5, -2.0], vec![0.25, 3.0]];
        for (text, notes) in [
            ("a,b\n1.5,0.25\n-2,3\n", &[][..]),
            ("\u{feff}a,b\n1.5,0.25\n-2,3\n", &[]),
            ("a;b\n1.5;0.25\n-2;3\n", &["the fields are separated by semicolons"]),
            (
                "a;b\n1,5;0,25\n-2;3\n",
                &["the fields are separated by semicolons", "the numbers have decimal commas"],
            ),
            (
                "\"a, b\"\tb\n1,5\t0,25\n-2\t3\n",
                &["the fields are separated by tabs", "the numbers have decimal commas"],
            ),
        ] {
            let (found, said) = numbers(text);
            assert_eq!(found, expected, "{text}");
            assert_eq!(said, notes, "{text}");
        }
    }

    #[test]
    fn what_could_mean_two_things_is_refused() {
        let message = |text: &str| read(text).expect_err("refused").to_string();
        assert_eq!(
            message("a;b\n1,5;1\n2;0.25\n"),
            "column `b` has decimal points, other numbers of the file have decimal commas"
        );
        assert_eq!(message("a;b\n1.234,5;1\n1;2\n"), "line 2, column `a`: `1.234,5` is not a finite number");
        assert_eq!(
            message("a,b\n\"1,5\",1\n2,2\n"),
            "line 2, column `a`: `1,5` has a decimal comma, but commas separate the fields of this file"
        );
    }

    #[test]
    fn words_are_kept_in_order_and_missing_ones_are_seen() {
        let sheet = read("a,b\nred,1\n?,NA\nblue,\nred,4\n").expect("a sheet");
        let words = Column::Words {
            distinct: vec!["blue".to_owned(), "red".to_owned()],
            rows: vec![Some(1), None, Some(0), Some(1)],
        };
        assert_eq!(sheet.columns[0].1, words);
        let Column::Numbers(numbers) = &sheet.columns[1].1 else { panic!("numbers") };
        assert_eq!(numbers.iter().map(|n| n.is_nan()).collect::<Vec<_>>(), [false, true, true, false]);
    }
}
