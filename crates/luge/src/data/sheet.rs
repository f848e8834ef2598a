//! Reads the selected columns of a CSV file, each of numbers or of words.

use super::{Place, Row, TableError, text::without_mark};

/// A column of a file.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Column {
    /// Numbers; NaN if one is missing.
    Numbers(Vec<f64>),
    /// Words; `None` if one is missing.
    Words(Vec<Option<String>>),
}

impl Column {
    /// Returns the distinct words in alphabetical order.
    pub(super) fn distinct(rows: &[Option<String>]) -> Vec<String> {
        let mut words: Vec<&String> = rows.iter().flatten().collect();
        words.sort_unstable();
        words.dedup();
        words.into_iter().cloned().collect()
    }

    /// Whether a row has no value.
    pub(super) fn lacks(&self, row: usize) -> bool {
        match self {
            Self::Numbers(numbers) => numbers[row].is_nan(),
            Self::Words(rows) => rows[row].is_none(),
        }
    }
}

/// What a selected column must contain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Expect {
    /// Numbers, or words if no field is a number.
    Any,
    /// Numbers.
    Numbers,
    /// Words, even if they look like numbers.
    Words,
    /// Numbers; anything else counts as missing.
    PerhapsNumbers,
}

/// The selected columns, in the order of their selection.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Sheet {
    pub(super) columns: Vec<(String, Column)>,
    /// The line in which each row begins.
    pub(super) lines: Vec<u64>,
    /// Notes for the user.
    pub(super) notes: Vec<String>,
}

/// Fields that mean a missing value, in upper or lower case.
const MISSING: [&str; 6] = ["", "na", "n/a", "nan", "null", "?"];

impl Sheet {
    /// Reads a file; `choose` selects columns of the header and says what they must contain.
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
        let (mut lines, mut records) = (Vec::new(), Vec::new());
        for record in reader.records() {
            let record = record?;
            lines.push(line(text.as_bytes(), &record));
            records.push(record);
        }
        if lines.is_empty() {
            return Err(TableError::Empty);
        }
        let part = |&(column, expect): &(usize, Expect)| {
            let fields = records.iter().map(|record| record.get(column).unwrap_or_default());
            let fields = lines.iter().copied().zip(fields).collect();
            Part { name: &header[column], expect, separator, fields }.read()
        };
        let parts = wanted.iter().map(part).collect::<Result<Vec<_>, _>>()?;
        if parts.iter().any(|(_, decimals)| decimals.comma) {
            if let Some(((name, _), _)) = parts.iter().find(|(_, decimals)| decimals.point) {
                return Err(TableError::MixedDecimals(name.clone()));
            }
            notes.push("the numbers have decimal commas".to_owned());
        }
        Ok(Self { columns: parts.into_iter().map(|(column, _)| column).collect(), lines, notes })
    }
}

/// The fields of a column, each with its line.
struct Part<'a> {
    name: &'a str,
    expect: Expect,
    separator: u8,
    fields: Vec<(u64, &'a str)>,
}

/// Whether a number of a column has a decimal comma, and whether one has a point.
#[derive(Default)]
struct Decimals {
    comma: bool,
    point: bool,
}

impl Part<'_> {
    /// Parses a number, which may have a decimal comma if commas do not separate fields.
    fn number(&self, field: &str) -> Option<f64> {
        let parsed = match field.contains(',') && self.separator != b',' && !field.contains('.') {
            true => field.replacen(',', ".", 1).parse(),
            false => field.parse(),
        };
        parsed.ok().filter(|number: &f64| number.is_finite())
    }

    /// Reads the column, which must not mix numbers and words, or decimal points and commas.
    fn read(self) -> Result<((String, Column), Decimals), TableError> {
        let missing = |field: &str| MISSING.iter().any(|word| field.eq_ignore_ascii_case(word));
        let numbers: Vec<Option<f64>> = self.fields.iter().map(|(_, field)| self.number(field)).collect();
        let first_word =
            self.fields.iter().zip(&numbers).find(|((_, field), number)| number.is_none() && !missing(field));
        let strict = matches!(self.expect, Expect::Any | Expect::Numbers);
        let has_numbers = match self.expect {
            Expect::Any => first_word.is_none() || numbers.iter().any(Option::is_some),
            Expect::Numbers | Expect::PerhapsNumbers => true,
            Expect::Words => false,
        };
        let infinite = |(_, field): &&(u64, &str)| field.parse::<f64>().is_ok_and(f64::is_infinite);
        let refused =
            self.fields.iter().find(infinite).or(first_word.map(|(field, _)| field).filter(|_| has_numbers));
        if let Some(&(line, found)) = refused.filter(|_| strict) {
            let place = Place { row: Row::Line(line), column: self.name.to_owned() };
            let found = found.to_owned();
            let decimal_comma = self.separator == b',' && found.replacen(',', ".", 1).parse::<f64>().is_ok();
            return Err(match decimal_comma && found.contains(',') {
                true => TableError::DecimalComma { place, found },
                false => TableError::NotANumber { place, found },
            });
        }
        let name = self.name.to_owned();
        if !has_numbers {
            let word = |&(_, field): &(u64, &str)| (!missing(field)).then(|| field.to_owned());
            return Ok(((name, Column::Words(self.fields.iter().map(word).collect())), Decimals::default()));
        }
        let written = |with: char| {
            self.fields
                .iter()
                .zip(&numbers)
                .any(|((_, field), number)| number.is_some() && field.contains(with))
        };
        let decimals = Decimals { comma: written(','), point: written('.') };
        if strict && decimals.comma && decimals.point {
            return Err(TableError::MixedDecimals(name));
        }
        let numbers = numbers.into_iter().map(|number| number.unwrap_or(f64::NAN)).collect();
        Ok(((name, Column::Numbers(numbers)), decimals))
    }
}

/// Returns the separator of fields: of comma, semicolon and tab the most frequent in the header, outside quotes.
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
    // If several are equally frequent, the first: `max_by_key` returns the last of equals.
    counts.into_iter().rev().max_by_key(|&(_, count)| count).map_or(b',', |(separator, _)| separator)
}

/// Returns the line in which a record begins. The reader's own position is the end of the last record, before the second half of
/// its line end and before blank lines.
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
            Column::Words(_) => panic!("words"),
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
        let Column::Words(words) = &sheet.columns[0].1 else { panic!("words") };
        let word = |word: &str| Some(word.to_owned());
        assert_eq!(*words, [word("red"), None, word("blue"), word("red")]);
        assert_eq!(Column::distinct(words), ["blue", "red"]);
        let Column::Numbers(numbers) = &sheet.columns[1].1 else { panic!("numbers") };
        assert_eq!(numbers.iter().map(|n| n.is_nan()).collect::<Vec<_>>(), [false, true, true, false]);
    }
}
