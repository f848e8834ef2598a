//! Pieces of text with their positions, and helpers for several formats.

use std::{collections::HashSet, ops::Range};

use crate::{Move, diagnostic::Findings};

/// A piece of text and its position in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Piece<'t> {
    pub(super) text: &'t str,
    pub(super) span: Range<usize>,
}

/// The lines of a text, including their line breaks, without a byte order mark.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut end = 0;
    text.split_inclusive('\n').map(move |line| {
        let text = if end == 0 { line.strip_prefix('\u{feff}').unwrap_or(line) } else { line };
        end += line.len();
        Piece { text, span: end - text.len()..end }
    })
}

impl<'t> Piece<'t> {
    /// A part of the piece, given as a slice of its text.
    pub(super) fn part(&self, text: &'t str) -> Self {
        let start = self.span.start + (text.as_ptr().addr() - self.text.as_ptr().addr());
        Self { text, span: start..start + text.len() }
    }

    /// The piece without surrounding white space.
    pub(super) fn trimmed(&self) -> Self {
        self.part(self.text.trim_start().trim_end())
    }

    /// The part before a mark, or everything if the mark does not occur.
    pub(super) fn before(&self, mark: &str) -> Self {
        self.part(self.text.split(mark).next().unwrap_or_default())
    }

    /// The parts between separators, without surrounding white space.
    pub(super) fn split(&self, separator: char) -> Vec<Self> {
        self.text.split(separator).map(|text| self.part(text).trimmed()).collect()
    }

    /// The characters.
    pub(super) fn characters(&self) -> Vec<Self> {
        self.text.split("").filter(|text| !text.is_empty()).map(|text| self.part(text)).collect()
    }

    /// The parts separated by white space.
    pub(super) fn words(&self) -> Vec<Self> {
        self.text.split_whitespace().map(|text| self.part(text)).collect()
    }
}

/// Removes repeated names.
pub(super) fn distinct<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let mut seen = HashSet::new();
    names.into_iter().filter(|name| seen.insert(*name)).collect()
}

/// The only character of a text; `None` if there are several or none.
pub(super) fn only_character(text: &str) -> Option<char> {
    let mut characters = text.chars();
    characters.next().filter(|_| characters.next().is_none())
}

/// Reports a symbol that is not one character; `what` is the label.
pub(super) fn check_symbol(symbol: &Piece<'_>, what: &str, help: &str, log: &mut Findings) {
    let message = match symbol.text {
        "" => "a symbol is missing".to_owned(),
        text if only_character(text).is_some() => return,
        text => format!("`{text}` is not one character"),
    };
    log.error(&symbol.span, message, what).remedy(help);
}

/// Parses a move, given a format's spellings of left, stay and right. Reports an unknown move.
pub(super) fn head_move(spelled: &Piece<'_>, spellings: [&str; 3], log: &mut Findings) -> Option<Move> {
    let known = Move::named(spelled.text, spellings).filter(|_| !spelled.text.is_empty());
    if known.is_none() {
        let help = match spellings {
            [left, "", right] => format!("moves are `{left}` and `{right}`; there is no stay move"),
            [left, stay, right] => format!("moves are `{left}`, `{right}` and `{stay}` (stay)"),
        };
        let message = match spelled.text {
            "" => "the move is empty".to_owned(),
            text => format!("unknown move `{text}`"),
        };
        log.error(&spelled.span, message, "a move").remedy(help);
    }
    known
}

/// Returns the first of `name`, `name-2`, `name-3`, … that is free.
pub(super) fn first_free(name: &str, mut is_free: impl FnMut(&str) -> bool) -> String {
    let numbered = (2_u64..).map(|n| format!("{name}-{n}"));
    [name.to_owned()].into_iter().chain(numbered).find(|name| is_free(name)).unwrap_or_default()
}

/// A number with its noun in singular or plural.
pub(super) fn counted(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// Joins names; of a long list, only the first ones.
pub(super) fn listed<'n>(names: impl IntoIterator<Item = &'n str>, separator: &str) -> String {
    const MAX_LISTED: usize = 12;
    let mut names = names.into_iter();
    let mut listed: Vec<&str> = names.by_ref().take(MAX_LISTED).collect();
    listed.extend(names.next().map(|_| "…"));
    listed.join(separator)
}
