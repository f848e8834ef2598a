//! No text makes a parser of the single-tape formats panic, and every finding points into its text.

use std::fs;

use luge_machine::{
    Severity,
    formats::{Format, Loaded},
};
use proptest::{collection::vec, prelude::*, sample::Index};

fn check(format: Format, text: &str) -> Result<(), TestCaseError> {
    let findings = match format.read(text) {
        Ok(Loaded { machine, input, warnings }) => {
            prop_assert!(warnings.iter().all(|d| d.severity == Severity::Warning));
            for other in [Format::Bbchallenge, Format::Morphett, Format::TuringMachineIo] {
                let _ = other.write(&machine, input.as_ref());
            }
            let written = format.write(&machine, input.as_ref());
            // What a bbchallenge line or a document says can be said again; so can Morphett's rules.
            prop_assert!(written.is_ok(), "{written:?}");
            warnings
        }
        Err(findings) => {
            prop_assert!(findings.iter().any(|d| d.severity == Severity::Error));
            findings
        }
    };
    for finding in findings {
        prop_assert!(text.get(finding.span.clone()).is_some(), "{finding:?}");
        prop_assert!(!finding.message.is_empty() && !finding.message.ends_with('.'));
        prop_assert!(!finding.one_line(text).is_empty());
    }
    Ok(())
}

/// The good and the broken files of a format.
fn samples(format: Format) -> Vec<String> {
    let folder = format!("formats/{}", format.slug());
    let paths = format.extensions().iter().flat_map(|extension| luge_suite::files(&folder, extension));
    paths
        .map(|path| fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
        .collect()
}

#[derive(Clone, Debug)]
enum Edit {
    Delete(Index, usize),
    Repeat(Index, usize),
    Insert(Index, String),
    Graft(Index, Index, Index, usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let pieces = prop::sample::select(vec![
        "_",
        "---",
        "...",
        "1",
        "Z",
        "R",
        " ",
        "  ",
        "\n",
        "\t",
        ";",
        "*",
        "!",
        "halt",
        "0 1 _ r 0\n",
        "{",
        "}",
        "[",
        "]",
        ":",
        ": ",
        ",",
        "'",
        "\"",
        "\\",
        "&a ",
        "*a",
        "? ",
        "- ",
        "|",
        ">",
        "~",
        "null",
        "%",
        "@",
        "write: ",
        "L",
        "synonyms:\n",
        "table:\n",
        "blank: 0\n",
        "é",
        "日",
        "\u{feff}",
        "\u{0}",
        "\u{2028}",
        "\r",
    ]);
    prop_oneof![
        (any::<Index>(), 1..20_usize).prop_map(|(at, n)| Edit::Delete(at, n)),
        (any::<Index>(), 1..20_usize).prop_map(|(at, n)| Edit::Repeat(at, n)),
        (any::<Index>(), pieces).prop_map(|(at, piece)| Edit::Insert(at, piece.to_owned())),
        (any::<Index>(), any::<char>()).prop_map(|(at, c)| Edit::Insert(at, c.to_string())),
        (any::<Index>(), any::<Index>(), any::<Index>(), 1..40_usize)
            .prop_map(|(at, other, from, n)| Edit::Graft(at, other, from, n)),
    ]
}

fn edited(samples: &[String], start: Index, edits: &[Edit]) -> String {
    let mut text: Vec<char> = start.get(samples).chars().collect();
    for edit in edits {
        let within = |at: &Index, text: &[char]| at.index(text.len() + 1);
        match edit {
            Edit::Delete(at, n) => {
                let at = within(at, &text);
                text.drain(at..(at + n).min(text.len()));
            }
            Edit::Repeat(at, n) => {
                let at = within(at, &text);
                let piece = text[at..(at + n).min(text.len())].to_vec();
                text.splice(at..at, piece);
            }
            Edit::Insert(at, piece) => {
                let at = within(at, &text);
                text.splice(at..at, piece.chars());
            }
            Edit::Graft(at, other, from, n) => {
                let other: Vec<char> = other.get(samples).chars().collect();
                let from = within(from, &other);
                let at = within(at, &text);
                text.splice(at..at, other[from..(from + n).min(other.len())].iter().copied());
            }
        }
    }
    text.into_iter().collect()
}

fn check_format(format: Format) {
    let config = ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config.clone(), |(bytes in vec(any::<u8>(), 0..200))| {
        check(format, &String::from_utf8_lossy(&bytes))?;
    });
    let samples = samples(format);
    proptest!(config, |(start in any::<Index>(), edits in vec(edit(), 1..8))| {
        check(format, &edited(&samples, start, &edits))?;
    });
}

#[test]
fn bbchallenge_survives_any_text() {
    check_format(Format::Bbchallenge);
}

#[test]
fn morphett_survives_any_text() {
    check_format(Format::Morphett);
}

#[test]
fn turingmachine_io_survives_any_text() {
    check_format(Format::TuringMachineIo);
}
