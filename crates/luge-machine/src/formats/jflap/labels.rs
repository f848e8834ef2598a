//! The labels of `<read>` and `<write>`.

use super::BLANK;
use crate::formats::pieces::only_character;

/// A `<read>`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Read<'l> {
    /// `~`
    Any,
    /// `a`, or nothing: the blank.
    Is(&'l str),
    /// `!x`: any symbol that is not in the label.
    Not(&'l str),
    /// `a,b}v`: one of these symbols, stored in a variable.
    OneOf { symbols: Vec<&'l str>, variable: &'l str },
}

/// Why a label is invalid, phrased as a remedy: it has several characters, and is not a shorthand.
const TOO_LONG: &str = "a symbol is one character, nothing is the blank, `~` any symbol";
/// It is a shorthand, on a machine with several tapes.
const SINGLE_TAPE_ONLY: &str = "`!x` and `a,b}v` exist on machines with one tape only";
/// It is `a,,b}v` or `a,b}`.
const BAD_VARIABLE: &str =
    "write one-character symbols, commas between them, then `}` and the variable's name";

pub(super) fn read(text: &str, n_tapes: usize) -> Result<Read<'_>, &'static str> {
    match text.trim() {
        "" => Ok(Read::Is(BLANK)),
        "~" => Ok(Read::Any),
        text if only_character(text).is_some() => Ok(Read::Is(text)),
        text if n_tapes > 1 && (text.starts_with('!') || text.contains('}')) => Err(SINGLE_TAPE_ONLY),
        text if text.starts_with('!') => Ok(Read::Not(text)),
        text => {
            let (symbols, variable) = text.split_once('}').ok_or(TOO_LONG)?;
            let symbols: Vec<&str> = symbols.split(',').map(str::trim).collect();
            let is_bad = symbols.iter().any(|symbol| only_character(symbol).is_none());
            match variable.trim() {
                variable if is_bad || variable.is_empty() => Err(BAD_VARIABLE),
                variable => Ok(Read::OneOf { symbols, variable }),
            }
        }
    }
}

/// Parses a `<write>` in a transition that may bind a variable; `None` keeps the symbol. A variable is only written where
/// it was read, so the symbol does not change.
pub(super) fn write<'l>(text: &'l str, variable: Option<&str>) -> Result<Option<&'l str>, &'static str> {
    match text.trim() {
        "" => Ok(Some(BLANK)),
        text if text == "~" || variable == Some(text) => Ok(None),
        text if only_character(text).is_some() => Ok(Some(text)),
        _ => Err(TOO_LONG),
    }
}

impl<'l> Read<'l> {
    /// The variable that the label binds.
    pub(super) fn variable(&self) -> Option<&'l str> {
        match self {
            Self::OneOf { variable, .. } => Some(variable),
            _ => None,
        }
    }

    /// The symbols in the label. A comma inside `!…` is a separator.
    pub(super) fn mentions(&self) -> Vec<&'l str> {
        match self {
            Self::Any => Vec::new(),
            Self::Is(symbol) => vec![symbol],
            Self::Not(label) => {
                let listed = label[1..].split("").filter(|symbol| !symbol.trim().is_empty());
                match listed.clone().count() {
                    1 => listed.collect(),
                    _ => listed.filter(|symbol| *symbol != ",").collect(),
                }
            }
            Self::OneOf { symbols, .. } => symbols.clone(),
        }
    }

    /// Whether the label matches a symbol.
    pub(super) fn fits(&self, symbol: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Is(expected) => *expected == symbol,
            Self::Not(label) => !label.contains(symbol),
            Self::OneOf { symbols, .. } => symbols.contains(&symbol),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<Read<'_>, &'static str>) {
        assert_eq!(read(text, 1), expected, "{text}");
    }

    #[test]
    fn reads_are_told_apart() {
        check("", Ok(Read::Is(BLANK)));
        check("□", Ok(Read::Is(BLANK)));
        check(" a ", Ok(Read::Is("a")));
        check("!", Ok(Read::Is("!")));
        check("}", Ok(Read::Is("}")));
        check("~", Ok(Read::Any));
        check("!□a", Ok(Read::Not("!□a")));
        check("a, □ } w1", Ok(Read::OneOf { symbols: vec!["a", BLANK], variable: "w1" }));
        check("ab", Err(TOO_LONG));
        check("a,,b}v", Err(BAD_VARIABLE));
        check("a,b}", Err(BAD_VARIABLE));
        assert_eq!(read("!a", 2), Err(SINGLE_TAPE_ONLY));
    }

    #[test]
    fn commas_separate_in_a_negation() {
        assert_eq!(read("!a,b", 1).unwrap().mentions(), ["a", "b"]);
        assert_eq!(read("!,", 1).unwrap().mentions(), [","]);
    }
}
