//! The lines of a list of machines, and the text after each machine.

use std::ops::Range;

use crate::formats::pieces::lines;

/// One line of a list that is neither empty nor a comment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry<'t> {
    /// The line, counted from 1.
    pub line: usize,
    /// The bytes of the machine in the text.
    pub span: Range<usize>,
    /// The machine as it is written.
    pub machine: &'t str,
    /// The text after the machine, such as `Halt 107 13`; empty if there is none or only a comment.
    pub note: &'t str,
    /// The whole line, without surrounding space and without its comment.
    pub(super) text: &'t str,
}

/// The entries of a list, in order: one machine per line, optionally followed by text. Empty lines and lines that begin
/// with `#` are ignored.
///
/// ```
/// use luge_machine::formats::bbchallenge::{entries, read_entry};
///
/// let list = "# two states\n1RB1LB_1LA1RZ Halt 6 4\n1RB---_1LA---\n";
/// let lines: Vec<(usize, &str)> = entries(list).map(|entry| (entry.line, entry.note)).collect();
/// assert_eq!(lines, [(2, "Halt 6 4"), (3, "")]);
/// assert!(entries(list).all(|entry| read_entry(list, &entry).is_ok()));
/// ```
pub fn entries(text: &str) -> impl Iterator<Item = Entry<'_>> {
    (1..).zip(lines(text)).filter_map(|(number, line)| {
        let line = line.trimmed();
        if line.text.is_empty() || line.text.starts_with('#') {
            return None;
        }
        let machine = line.part(line.text[..machine_length(line.text)].trim_end());
        let rest = line.text[machine.text.len()..].trim_start_matches(separates);
        let (text, note) = match rest.strip_prefix('#') {
            Some(_) => (machine.text, ""),
            None => (line.text, rest),
        };
        Some(Entry { line: number, span: machine.span, machine: machine.text, note, text })
    })
}

/// Whether a text begins with a cell, as a machine does.
pub(in crate::formats) fn begins_with_cell(text: &str) -> bool {
    match text.as_bytes() {
        [b'-', b'-', b'-', ..] | [b'.', b'.', b'.', ..] => true,
        [write, head, next, ..] => {
            write.is_ascii_digit() && b"LR".contains(head) && next.is_ascii_uppercase()
        }
        _ => false,
    }
}

/// Whether a text begins with several cells without spaces.
pub(in crate::formats) fn begins_with_machine(text: &str) -> bool {
    let word = &text[..word_length(text)];
    begins_with_cell(word) && word.len() > 3 && word.contains(|c: char| c.is_ascii_uppercase())
}

/// The length of the longest prefix that could be a machine without spaces.
fn word_length(text: &str) -> usize {
    let of_a_machine = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    text.find(|c: char| !of_a_machine(c)).unwrap_or(text.len())
}

/// Whether a character can separate a machine from the text after it.
fn separates(c: char) -> bool {
    c.is_whitespace() || ",;|:".contains(c)
}

/// The length of the machine at the start of a line: the whole line, unless text follows that cannot be part of the machine.
fn machine_length(line: &str) -> usize {
    if !begins_with_cell(line) {
        return line.len();
    }
    let end = word_length(line);
    let spaced = end == 3;
    if !spaced {
        let rest = &line[end..];
        let note = rest.trim_start_matches(separates);
        let parted = note.len() < rest.len() || note.starts_with(['(', '#']);
        // Rows or cells after a space are part of a malformed machine, not a note.
        let belongs = note.starts_with('_') || begins_with_cell(note);
        return if parted && !belongs { end } else { line.len() };
    }
    let mut at = 0;
    for word in line.split_inclusive(char::is_whitespace) {
        let start = at;
        at += word.len();
        let word = word.trim_end();
        let is_text = word.starts_with(|c: char| c.is_alphabetic() || "#(|,;:".contains(c));
        if is_text && word.chars().count() != 3 {
            return start;
        }
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, machine: &str, note: &str) {
        let all: Vec<Entry> = entries(line).collect();
        let [entry] = all.as_slice() else { panic!("{line}: {all:?}") };
        assert_eq!((entry.machine, entry.note), (machine, note), "{line}");
        assert_eq!(&line[entry.span.clone()], machine, "{line}");
    }

    #[test]
    fn text_after_the_machine_is_told_from_the_machine() {
        check("1RB1LB_1LA1RZ", "1RB1LB_1LA1RZ", "");
        check(" 1RB1LB_1LA1RZ Halt 107 13\r\n", "1RB1LB_1LA1RZ", "Halt 107 13");
        check("1RB---_1LA---,cycler,12", "1RB---_1LA---", "cycler,12");
        check("1RB---_1LA---\t| 12", "1RB---_1LA---", "12");
        check("1RB---_1LA---(open)", "1RB---_1LA---", "(open)");
        check("1RB1LB_1LA1RZ # the champion", "1RB1LB_1LA1RZ", "");
        check("1RB 1LB  1LA 1RZ  Halt 6 4", "1RB 1LB  1LA 1RZ", "Halt 6 4");
        check("1RB ...  1LA ---", "1RB ...  1LA ---", "");
    }

    #[test]
    fn a_machine_written_in_a_wrong_way_is_left_whole() {
        for line in
            ["1RB1LC 1RC1RB", "1RB1LB _ 1LA1RZ", "1RB1LB_ 1LA1RZ", "1RB1L!", "1RB 0 1", "hello there", "é"]
        {
            check(line, line, "");
        }
    }
}
