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
        let file = File { text: without_mark(text), separator: separator(without_mark(text)) };
        let mut notes = Vec::new();
        match file.separator {
            b';' => notes.push("the fields are separated by semicolons".to_owned()),
            b'\t' => notes.push("the fields are separated by tabs".to_owned()),
            _ => {}
        }
        let header: Vec<String> = file.reader().headers()?.iter().map(str::to_owned).collect();
        let wanted = choose(&header, &mut notes)?;
        let (kinds, lines) = file.survey(&header, &wanted)?;
        if lines.is_empty() {
            return Err(TableError::Empty);
        }
        if kinds.iter().any(|kind| kind.comma) {
            notes.push("the numbers have decimal commas".to_owned());
        }
        let columns = file.collect(&wanted, &kinds, lines.len())?;
        let names = wanted.iter().map(|&(column, _)| header[column].clone());
        Ok(Self { columns: names.zip(columns).collect(), lines, notes })
    }
}

/// What was seen of a column on the first way through the file.
#[derive(Clone, Debug, Default)]
struct Kind {
    words: bool,
    n_numbers: usize,
    comma: bool,
    point: bool,
    /// The first field that is neither missing nor a number.
    first_word: Option<(u64, String)>,
}

struct File<'t> {
    text: &'t str,
    separator: u8,
}

impl<'t> File<'t> {
    fn reader(&self) -> csv::Reader<&'t [u8]> {
        let mut builder = csv::ReaderBuilder::new();
        builder.delimiter(self.separator).trim(csv::Trim::All);
        builder.from_reader(self.text.as_bytes())
    }

    /// Numbers may have decimal commas where commas do not separate fields.
    fn number(&self, field: &str) -> Option<f64> {
        let parsed = match field.contains(',') && self.separator != b',' && !field.contains('.') {
            true => field.replacen(',', ".", 1).parse(),
            false => field.parse(),
        };
        parsed.ok().filter(|number: &f64| number.is_finite())
    }

    /// Reads every field once, and finds the kind of each wanted column and the line in which each row begins.
    fn survey(
        &self,
        header: &[String],
        wanted: &[(usize, Expect)],
    ) -> Result<(Vec<Kind>, Vec<u64>), TableError> {
        let mut kinds = vec![Kind::default(); wanted.len()];
        let mut lines = Vec::new();
        let (mut reader, mut record) = (self.reader(), csv::StringRecord::new());
        while reader.read_record(&mut record)? {
            let line = line(self.text.as_bytes(), &record);
            lines.push(line);
            for (kind, &(column, expect)) in kinds.iter_mut().zip(wanted) {
                let field = record.get(column).unwrap_or_default();
                if is_missing(field) {
                    continue;
                }
                if matches!(expect, Expect::Any | Expect::Numbers) && is_infinite(field) {
                    let place = Place { row: Row::Line(line), column: header[column].clone() };
                    return Err(TableError::NotANumber { place, found: field.to_owned() });
                }
                if self.number(field).is_some() {
                    kind.n_numbers += 1;
                    kind.comma |= field.contains(',');
                    kind.point |= field.contains('.');
                } else {
                    kind.first_word.get_or_insert_with(|| (line, field.to_owned()));
                }
            }
        }
        for (kind, &(column, expect)) in kinds.iter_mut().zip(wanted) {
            kind.words = match expect {
                Expect::Any => kind.n_numbers == 0 && kind.first_word.is_some(),
                Expect::Numbers => false,
                Expect::Words => true,
                Expect::PerhapsNumbers => continue,
            };
            if let Some((line, found)) = kind.first_word.take().filter(|_| !kind.words) {
                let place = Place { row: Row::Line(line), column: header[column].clone() };
                return Err(self.no_number(place, found));
            }
            if kind.comma && kind.point && !kind.words {
                return Err(TableError::MixedDecimals(header[column].clone()));
            }
        }
        if kinds.iter().any(|kind| kind.comma) {
            let mixed = kinds.iter().zip(wanted).find(|(kind, _)| kind.point && !kind.words);
            if let Some((_, &(column, _))) = mixed {
                return Err(TableError::MixedDecimals(header[column].clone()));
            }
        }
        Ok((kinds, lines))
    }

    fn no_number(&self, place: Place, found: String) -> TableError {
        let decimal_comma = self.separator == b',' && found.replacen(',', ".", 1).parse::<f64>().is_ok();
        if decimal_comma && found.contains(',') {
            return TableError::DecimalComma { place, found };
        }
        TableError::NotANumber { place, found }
    }

    /// Takes the fields of the wanted columns.
    fn collect(
        &self,
        wanted: &[(usize, Expect)],
        kinds: &[Kind],
        n_rows: usize,
    ) -> Result<Vec<Column>, TableError> {
        let mut parts: Vec<Part> = kinds.iter().map(|kind| Part::new(kind, n_rows)).collect();
        let (mut reader, mut record) = (self.reader(), csv::StringRecord::new());
        while reader.read_record(&mut record)? {
            for (part, &(column, _)) in parts.iter_mut().zip(wanted) {
                let field = record.get(column).unwrap_or_default();
                match part {
                    Part::Numbers(numbers) => numbers.push(self.number(field).unwrap_or(f64::NAN)),
                    Part::Words(words) => words.push(field),
                }
            }
        }
        Ok(parts.into_iter().map(Part::finish).collect())
    }
}

/// A column while it is read.
enum Part {
    Numbers(Vec<f64>),
    Words(Words),
}

#[derive(Default)]
struct Words {
    ids: HashMap<String, u32>,
    rows: Vec<Option<u32>>,
}

impl Words {
    fn push(&mut self, field: &str) {
        if is_missing(field) {
            return self.rows.push(None);
        }
        let next = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        let id = match self.ids.get(field) {
            Some(&id) => id,
            None => *self.ids.entry(field.to_owned()).or_insert(next),
        };
        self.rows.push(Some(id));
    }
}

impl Part {
    fn new(kind: &Kind, n_rows: usize) -> Self {
        if kind.words {
            return Self::Words(Words { rows: Vec::with_capacity(n_rows), ..Words::default() });
        }
        Self::Numbers(Vec::with_capacity(n_rows))
    }

    /// The column, its words in alphabetical order.
    fn finish(self) -> Column {
        let Words { ids, rows } = match self {
            Self::Numbers(numbers) => return Column::Numbers(numbers),
            Self::Words(words) => words,
        };
        let mut ordered: Vec<(String, u32)> = ids.into_iter().collect();
        ordered.sort();
        let mut place_of = vec![0; ordered.len()];
        for (place, &(_, id)) in (0..).zip(&ordered) {
            place_of[id as usize] = place;
        }
        let rows = rows.into_iter().map(|id| id.map(|id| place_of[id as usize])).collect();
        Column::Words { distinct: ordered.into_iter().map(|(word, _)| word).collect(), rows }
    }
}

fn is_missing(field: &str) -> bool {
    MISSING.iter().any(|word| field.eq_ignore_ascii_case(word))
}

/// A number that is not finite.
fn is_infinite(field: &str) -> bool {
    field.parse::<f64>().is_ok_and(f64::is_infinite)
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
