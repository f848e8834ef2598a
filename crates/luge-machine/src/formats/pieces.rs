//! Pieces of a text and their positions, for the formats that are read line by line.

use std::{collections::HashSet, ops::Range};

use crate::{Move, diagnostic::Findings};

/// A piece of a text and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Piece<'t> {
    pub(super) text: &'t str,
    pub(super) span: Range<usize>,
}

/// The lines of a text, each with its end, without the mark that some programs put in front of all.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut end = 0;
    text.split_inclusive('\n').map(move |line| {
        let text = if end == 0 { line.strip_prefix('\u{feff}').unwrap_or(line) } else { line };
        end += line.len();
        Piece { text, span: end - text.len()..end }
    })
}

impl<'t> Piece<'t> {
    /// A part of it, which is a slice of its text.
    pub(super) fn part(&self, text: &'t str) -> Self {
        let start = self.span.start + (text.as_ptr().addr() - self.text.as_ptr().addr());
        Self { text, span: start..start + text.len() }
    }

    /// Without the space around it.
    pub(super) fn trimmed(&self) -> Self {
        self.part(self.text.trim_start().trim_end())
    }

    /// What stands before a mark; all of it if the mark is not there.
    pub(super) fn before(&self, mark: &str) -> Self {
        self.part(self.text.split(mark).next().unwrap_or_default())
    }

    /// The parts between separators, without the space around them.
    pub(super) fn split(&self, separator: char) -> Vec<Self> {
        self.text.split(separator).map(|text| self.part(text).trimmed()).collect()
    }

    /// Its characters.
    pub(super) fn characters(&self) -> Vec<Self> {
        self.text.split("").filter(|text| !text.is_empty()).map(|text| self.part(text)).collect()
    }

    /// The parts between spaces.
    pub(super) fn words(&self) -> Vec<Self> {
        self.text.split_whitespace().map(|text| self.part(text)).collect()
    }
}

/// Every name once, where it stands first.
pub(super) fn distinct<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let mut seen = HashSet::new();
    names.into_iter().filter(|name| seen.insert(*name)).collect()
}

/// The character that is all of a text; `None` if there are more or none.
pub(super) fn only_character(text: &str) -> Option<char> {
    let mut characters = text.chars();
    characters.next().filter(|_| characters.next().is_none())
}

/// Notes a symbol that is not one character; `what` says which symbol it is.
pub(super) fn check_symbol(symbol: &Piece<'_>, what: &str, help: &str, log: &mut Findings) {
    let message = match symbol.text {
        "" => "a symbol is missing".to_owned(),
        text if only_character(text).is_some() => return,
        text => format!("`{text}` is not one character"),
    };
    log.error(&symbol.span, message, what).remedy(help);
}

/// The move of a format that spells left, stay and right like this; anything else is noted.
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

/// The first of `name`, `name-2`, `name-3`, … that is free.
pub(super) fn first_free(name: &str, mut is_free: impl FnMut(&str) -> bool) -> String {
    let numbered = (2_u64..).map(|n| format!("{name}-{n}"));
    [name.to_owned()].into_iter().chain(numbered).find(|name| is_free(name)).unwrap_or_default()
}

/// A number of things, with the noun in singular or plural.
pub(super) fn counted(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// The first names of a list, which may be long.
pub(super) fn listed<'n>(names: impl IntoIterator<Item = &'n str>, separator: &str) -> String {
    const MAX_LISTED: usize = 12;
    let mut names = names.into_iter();
    let mut listed: Vec<&str> = names.by_ref().take(MAX_LISTED).collect();
    listed.extend(names.next().map(|_| "…"));
    listed.join(separator)
}
