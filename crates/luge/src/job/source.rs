//! Sources of machines and programs: a file, standard input, a line on the command line, or a name.

use std::{path::Path, str};

use luge_circuit::aiger;
use luge_machine::{
    Diagnostic, Input, Machine,
    formats::{Format, Loaded, ReadOptions, Unrecognised, recognise},
};

use crate::{
    files::{FileError, bounded},
    job::{JobError, catalogue, circuits, program::EXTENSION},
};

/// The text of a machine, a program or a circuit, before it is read.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its name in messages: the path, `standard input`, or `command line`.
    pub name: String,
    /// The text, without a byte order mark.
    pub text: String,
    /// The file's extension, the short name of its format, or `circuit` for a circuit that ships. Without it the format is recognised
    /// from the text.
    #[serde(default)]
    pub extension: Option<String>,
}

/// The memory that a source needs, relative to its size: its tokens and its syntax tree are larger than its text.
const TIMES: u64 = 64;

/// The same for an AIGER file.
const AIGER_TIMES: u64 = 4;

/// Why a source cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No file of that name, and the name is not a machine either.
    #[error("there is no file `{0}`, and it is not a bbchallenge line")]
    Missing(String),
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] FileError),
    /// The file is not text.
    #[error("{name} is not UTF-8 text: invalid byte at offset {offset}")]
    NotText {
        /// The source's name.
        name: String,
        /// The first byte that does not fit, counted from 0.
        offset: usize,
    },
}

/// Why a text is not a machine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReadError {
    /// Neither the extension nor the content determines the format.
    #[error("cannot tell the format of {name}")]
    Unrecognised {
        /// The source's name.
        name: String,
        /// Why not.
        #[source]
        reason: Unrecognised,
    },
    /// The text breaks its format's rules.
    #[error("{name} is not a valid {format} machine")]
    Broken {
        /// The source's name.
        name: String,
        /// The format it was read as.
        format: Format,
        /// Every finding, in order.
        findings: Vec<Diagnostic>,
    },
    /// A circuit has no states and tapes.
    #[error("{0} is a circuit, not a machine")]
    Circuit(String),
    /// The file is not a valid circuit.
    #[error("{name} does not read as an AIGER circuit")]
    BrokenCircuit {
        /// The source's name.
        name: String,
        /// Every finding, in order.
        findings: Vec<Diagnostic>,
    },
}

impl Source {
    /// Opens `place`, which is `-` for standard input, the path of a file, the name of something that ships, or a line in the
    /// bbchallenge format.
    ///
    /// # Errors
    /// If it is none of these, or not text.
    pub fn open(place: &str) -> Result<Self, OpenError> {
        if place == "-" {
            return Self::from_bytes("standard input", None, bounded::read(Path::new(place), TIMES)?);
        }
        let path = Path::new(place);
        // A folder does not hide what ships under its name.
        let shipped = || catalogue::find(place).map(|shipped| shipped.source());
        if let Some(shipped) = shipped().or_else(|| circuits::shipped(place))
            && (!path.exists() || path.is_dir())
        {
            return Ok(shipped);
        }
        if !path.exists() {
            return match begins_like_a_line(place) {
                true => Ok(Self::new("command line", place, Format::Bbchallenge.extensions()[0])),
                false => Err(OpenError::Missing(place.to_owned())),
            };
        }
        let extension = path.extension().map(|e| e.to_string_lossy().into_owned());
        let is_aiger = extension.as_deref().is_some_and(|extension| ["aag", "aig"].contains(&extension));
        let bytes = bounded::read(path, if is_aiger { AIGER_TIMES } else { TIMES })?;
        Self::from_bytes(place, extension, bytes)
    }

    fn from_bytes(name: &str, mut extension: Option<String>, bytes: Vec<u8>) -> Result<Self, OpenError> {
        let name = name.to_owned();
        if aiger::recognise(&bytes) {
            extension = Some(String::from_utf8_lossy(&bytes[..3]).into_owned());
        }
        if extension.as_deref() == Some("aig") {
            // A binary file: each byte becomes the character with its number.
            let text = bytes.into_iter().map(char::from).collect();
            return Ok(Self { name, text, extension });
        }
        match str::from_utf8(&bytes) {
            Ok(text) => {
                let text = text.strip_prefix('\u{feff}').unwrap_or(text).to_owned();
                Ok(Self { name, text, extension })
            }
            Err(error) => Err(OpenError::NotText { name, offset: error.valid_up_to() }),
        }
    }

    pub(crate) fn new(name: &str, text: impl Into<String>, extension: &str) -> Self {
        Self { name: name.to_owned(), text: text.into(), extension: Some(extension.to_owned()) }
    }

    /// A program in Sled.
    pub fn sled(name: &str, text: &str) -> Self {
        Self::new(name, text, EXTENSION)
    }

    /// A machine and its input as a source in the native format.
    pub fn native(name: &str, machine: &Machine, input: Option<&Input>) -> Self {
        Self::new(name, Format::Native.write(machine, input).unwrap_or_default(), Format::Native.slug())
    }

    /// Reads the machine with options: inputs whose symbols its format does not declare, another start state, or one line of a list.
    ///
    /// # Errors
    /// If the text is not a machine, or the options ask for what it does not have.
    pub fn read_with(&self, options: &ReadOptions) -> Result<(Format, Loaded), JobError> {
        let refused = |error| JobError::Read { text: Box::new(self.clone()), error };
        let format = self.format(None).map_err(refused)?;
        let broken = |findings| ReadError::Broken { name: self.name.clone(), format, findings };
        let loaded = format.read_with(&self.text, options).map_err(|findings| refused(broken(findings)))?;
        Ok((format, loaded))
    }

    /// Reads the machine in `format`, or in the format the text is recognised to be in.
    ///
    /// # Errors
    /// If the format cannot be recognised, or the text breaks its rules.
    pub fn read(&self, format: Option<Format>) -> Result<(Format, Loaded), ReadError> {
        let format = self.format(format)?;
        match format.read(&self.text) {
            Ok(loaded) => Ok((format, loaded)),
            Err(findings) => Err(ReadError::Broken { name: self.name.clone(), format, findings }),
        }
    }

    /// The format given, named by the extension, or recognised in the text.
    fn format(&self, format: Option<Format>) -> Result<Format, ReadError> {
        if format.is_none() && circuits::is_circuit(self) {
            return Err(ReadError::Circuit(self.name.clone()));
        }
        let named =
            || Format::ALL.into_iter().find(|format| Some(format.slug()) == self.extension.as_deref());
        let recognised = || recognise(self.extension.as_deref(), &self.text);
        let unrecognised = |reason| ReadError::Unrecognised { name: self.name.clone(), reason };
        format.or_else(named).map_or_else(|| recognised().map_err(unrecognised), Ok)
    }
}

/// Whether a text begins like a bbchallenge line: with a digit, L or R, and a letter; or with three dashes.
fn begins_like_a_line(place: &str) -> bool {
    matches!(place.as_bytes(), [b'-', b'-', b'-', ..] | [b'0'..=b'9', b'L' | b'R', b'A'..=b'Z', ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(place: &str, expected: bool) {
        assert_eq!(Source::open(place).is_ok(), expected, "{place}");
    }

    #[test]
    fn a_line_is_told_from_a_missing_file() {
        check("1RB1LB_1LA1RZ", true);
        check("---1RB_1LA1RZ", true);
        check("1RB1L!", true);
        check("no-such-file.tm", false);
        check("1rb", false);
        check("", false);
    }

    #[test]
    fn the_byte_order_mark_is_no_part_of_the_text() {
        let source = Source::from_bytes("x", None, b"\xef\xbb\xbf1RB".to_vec()).unwrap();
        assert_eq!(source.text, "1RB");
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_with_their_place() {
        let error = Source::from_bytes("x", None, b"ab\xff".to_vec()).unwrap_err();
        assert!(matches!(error, OpenError::NotText { offset: 2, .. }), "{error:?}");
    }
}
