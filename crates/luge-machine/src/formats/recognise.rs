//! Recognises the format of a file from its extension and content.
//!
//! A known extension decides, unless the content is clearly of another format. With an unknown extension the content
//! decides.

use super::{Format, bbchallenge};

/// Why the format of a file could not be recognised.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unrecognised {
    /// The extension and the content contradict each other.
    #[error(
        "the extension `.{extension}` means {by_extension}, but the content is {}; give the file the extension of its format",
        described(by_content)
    )]
    Contradiction {
        /// The file's extension, without the dot.
        extension: String,
        /// The format of that extension.
        by_extension: Format,
        /// The formats that the content looks like; never empty.
        by_content: Vec<Format>,
    },
    /// The content looks like several formats.
    #[error("the content could be {}; give the file the extension of its format", described(.0))]
    Ambiguous(Vec<Format>),
    /// The content looks like no format.
    #[error("the content is none of {}; give the file the extension of its format", described(&Format::ALL))]
    Unknown,
}

fn described(formats: &[Format]) -> String {
    let one =
        |format: &Format| format!("{format} (.{})", format.extensions().first().copied().unwrap_or_default());
    formats.iter().map(one).collect::<Vec<_>>().join(" or ")
}

/// Recognises the format of a file from its extension, without the dot, and its text.
///
/// # Errors
/// If extension and content contradict each other, or if the extension is unknown and the content looks like several
/// formats or none.
///
/// ```
/// use luge_machine::formats::{Format, recognise};
///
/// assert_eq!(recognise(None, "1RB1LB_1LA1RZ"), Ok(Format::Bbchallenge));
/// assert!(recognise(Some("yaml"), "<?xml version=\"1.0\"?>").is_err());
/// ```
pub fn recognise(extension: Option<&str>, text: &str) -> Result<Format, Unrecognised> {
    let candidates = by_content(text);
    let known = extension.and_then(|extension| Some((extension, by_extension(extension)?)));
    match (known, candidates.as_slice()) {
        (Some((_, format)), []) => Ok(format),
        (Some((_, format)), formats) if formats.contains(&format) => Ok(format),
        (Some((extension, format)), _) => Err(Unrecognised::Contradiction {
            extension: extension.to_owned(),
            by_extension: format,
            by_content: candidates,
        }),
        (None, []) => Err(Unrecognised::Unknown),
        (None, &[format]) => Ok(format),
        (None, _) => Err(Unrecognised::Ambiguous(candidates)),
    }
}

fn by_extension(extension: &str) -> Option<Format> {
    let lower = extension.to_ascii_lowercase();
    Format::ALL.into_iter().find(|format| format.extensions().contains(&lower.as_str()))
}

/// The formats that the text looks like. It may still have errors, which the parser of that format reports.
fn by_content(text: &str) -> Vec<Format> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with("<?xml") || text.starts_with("<structure") || text.starts_with("<!--") {
        return vec![Format::Jflap];
    }
    if is_native(text) {
        return vec![Format::Native];
    }
    let matches = [
        (Format::Bbchallenge, is_bbchallenge(text)),
        (Format::Morphett, is_morphett(text)),
        (Format::TuringMachineIo, is_turingmachine_io(text)),
        (Format::TuringMachineSimulator, has_key(text, "init") || has_key(text, "accept")),
    ];
    matches.into_iter().filter_map(|(format, fits)| fits.then_some(format)).collect()
}

/// Whether the first line that is not a comment is the header `machine` with an optional name or, if the header was
/// forgotten, a tape is declared. With more words after `machine` the line is a Morphett rule of a state of that name.
fn is_native(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let header = lines.clone().next().and_then(|line| line.strip_prefix("machine")).is_some_and(|rest| {
        let name = rest.split('#').next().unwrap_or_default();
        let one_word = name.split_whitespace().count() <= 1 || rest.trim_start().starts_with('"');
        rest.is_empty() || rest.starts_with(char::is_whitespace) && one_word
    });
    header || lines.any(|line| line.starts_with("tape ") && line.contains(" blank "))
}

/// Whether the first line that is not a comment begins with a machine, or the only line begins with a cell and has only
/// characters of the format.
fn is_bbchallenge(text: &str) -> bool {
    let mut entries = bbchallenge::entries(text);
    if entries.next().is_some_and(|entry| bbchallenge::begins_with_machine(entry.machine)) {
        return true;
    }
    let of_a_machine = |b: u8| b.is_ascii_alphanumeric() || b"_-. ".contains(&b);
    bbchallenge::begins_with_cell(&text.to_ascii_uppercase()) && text.bytes().all(of_a_machine)
}

/// Whether most lines are quintuples.
fn is_morphett(text: &str) -> bool {
    let lines = text.lines().map(|line| line.split(';').next().unwrap_or_default());
    let (quintuples, others): (Vec<&str>, Vec<&str>) =
        lines.filter(|line| !line.trim().is_empty()).partition(|line| is_quintuple(line));
    quintuples.len() > others.len()
}

fn is_quintuple(line: &str) -> bool {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let one_character = |field: &str| field.chars().count() == 1;
    match fields.as_slice() {
        [_, read, write, direction, _] | [_, read, write, direction, _, "!"] => {
            one_character(read) && one_character(write) && matches!(*direction, "l" | "r" | "*" | "L" | "R")
        }
        _ => false,
    }
}

/// Whether at least two of the three required keys start a line, or the document is one that the site saved.
fn is_turingmachine_io(text: &str) -> bool {
    has_key(text, "source code")
        || ["table", "blank", "start state"].iter().filter(|key| has_key(text, key)).count() >= 2
}

/// Whether a line begins, without indentation, with `key` and a colon; the key may be quoted.
fn has_key(text: &str, key: &str) -> bool {
    text.lines().any(|line| {
        line.split_once(':').is_some_and(|(before, _)| before.trim_end().trim_matches(['"', '\'']) == key)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[Format]) {
        assert_eq!(by_content(text), expected, "{text}");
    }

    #[test]
    fn content_shows_the_format() {
        check("# a comment\n\nmachine\ntape t: 0 1 blank 0\n", &[Format::Native]);
        check("machine \"two words\" # why\naccept: done\n", &[Format::Native]);
        check("tape t: 0 1 blank 0\naccept: done\n", &[Format::Native]);
        check("1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA\n", &[Format::Bbchallenge]);
        check("---1RB_1LA---", &[Format::Bbchallenge]);
        check("1RB 1LC  1RC ...", &[Format::Bbchallenge]);
        check("# champions\n\n1RB1LB_1LA1RZ Halt 6 4\n1RB---_1LA--- (open)\n", &[Format::Bbchallenge]);
        check("; adds one\n0 1 _ r 1i ; comment\n0 * * l 0 !\n", &[Format::Morphett]);
        check("machine 0 1 r halt", &[Format::Morphett]);
        check("input: '1'\nblank: ' '\nstart state: a\ntable:\n  a:\n", &[Format::TuringMachineIo]);
        check("\"blank\": 0\n'table': {a: }\n", &[Format::TuringMachineIo]);
        check("name: x\nsource code: |\n  blank: 0\n  table: {a: }\n", &[Format::TuringMachineIo]);
        check("// copy\nname: copy\ninit : q0\naccept: qA\n", &[Format::TuringMachineSimulator]);
        check("\u{feff}\n<?xml version=\"1.0\"?><structure/>", &[Format::Jflap]);
        check("<structure><type>turing</type></structure>", &[Format::Jflap]);
    }

    #[test]
    fn other_texts_show_none() {
        for text in
            ["", "hello", "machinery 0", "table: of contents\n", "name: x\n  init: indented", "1R", "---é"]
        {
            check(text, &[]);
            assert_eq!(recognise(None, text), Err(Unrecognised::Unknown));
        }
    }

    #[test]
    fn extension_decides_where_content_says_nothing() {
        for format in Format::ALL {
            for extension in format.extensions() {
                assert_eq!(recognise(Some(extension), "?"), Ok(format));
                assert_eq!(recognise(Some(&extension.to_uppercase()), "?"), Ok(format));
            }
        }
        assert_eq!(recognise(Some("txt"), "0 1 _ r halt"), Ok(Format::Morphett));
    }

    #[test]
    fn contradiction_names_both() {
        let error = recognise(Some("yaml"), "<?xml?>").unwrap_err();
        assert_eq!(
            error.to_string(),
            "the extension `.yaml` means turingmachine.io, but the content is JFLAP (.jff); give the file the extension of its format"
        );
    }

    #[test]
    fn ambiguous_content_names_the_candidates() {
        let text = "1RB 0 1 r halt";
        let error = recognise(None, text).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the content could be bbchallenge (.bb) or Morphett (.morphett); give the file the extension of its format"
        );
        assert_eq!(recognise(Some("morphett"), text), Ok(Format::Morphett));
        let both = "blank: 0\ntable: {a: }\ninit: a\n";
        let candidates = vec![Format::TuringMachineIo, Format::TuringMachineSimulator];
        assert_eq!(recognise(None, both), Err(Unrecognised::Ambiguous(candidates)));
    }
}
