//! The content of `<read>`, `<write>` and `<move>`.

use super::BLANK;
use crate::formats::pieces::only_character;

/// A `<read>`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Read {
    /// `~`
    Any,
    /// `a`, or nothing: the blank.
    Is(char),
    /// `!x`: any symbol that does not stand in the label.
    Not(Vec<char>),
    /// `a,b}v`: one of these, remembered in a variable.
    OneOf { symbols: Vec<char>, variable: String },
}

/// A `<write>`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Written {
    /// `~`
    Keep,
    /// `a`, or nothing: the blank.
    Put(char),
    /// `v`: what the variable remembers.
    Variable,
}

/// Why a label could not be read, as advice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum BadLabel {
    /// More than one character, and no shorthand.
    #[error("a symbol is one character, nothing is the blank, `~` any symbol")]
    TooLong,
    /// A shorthand on a machine with several tapes.
    #[error("`!x` and `a,b}}v` exist on machines with one tape only")]
    SingleTapeOnly,
    /// `a,,b}v` or `a,b}`.
    #[error("write one-character symbols, commas between them, then `}}` and the variable's name")]
    BadVariable,
}

pub(super) fn read(text: &str, n_tapes: usize) -> Result<Read, BadLabel> {
    let text = text.trim();
    match (text, only_character(text)) {
        ("", _) => Ok(Read::Is(BLANK)),
        ("~", _) => Ok(Read::Any),
        (_, Some(c)) => Ok(Read::Is(c)),
        _ if n_tapes > 1 && (text.starts_with('!') || text.contains('}')) => Err(BadLabel::SingleTapeOnly),
        _ if text.starts_with('!') => Ok(Read::Not(text.chars().filter(|c| !c.is_whitespace()).collect())),
        _ => {
            let (symbols, variable) = text.split_once('}').ok_or(BadLabel::TooLong)?;
            let symbols = symbols.split(',').map(|s| only_character(s.trim())).collect::<Option<_>>();
            match (symbols, variable.trim()) {
                (None, _) | (_, "") => Err(BadLabel::BadVariable),
                (Some(symbols), variable) => Ok(Read::OneOf { symbols, variable: variable.to_owned() }),
            }
        }
    }
}

/// A `<write>` in a transition that binds `variable`, if it binds one.
pub(super) fn write(text: &str, variable: Option<&str>) -> Result<Written, BadLabel> {
    let text = text.trim();
    match (text, only_character(text)) {
        ("", _) => Ok(Written::Put(BLANK)),
        ("~", _) => Ok(Written::Keep),
        _ if variable == Some(text) => Ok(Written::Variable),
        (_, Some(c)) => Ok(Written::Put(c)),
        _ => Err(BadLabel::TooLong),
    }
}

impl Read {
    /// The variable bound here.
    pub(super) fn variable(&self) -> Option<&str> {
        match self {
            Self::OneOf { variable, .. } => Some(variable),
            _ => None,
        }
    }

    /// The symbols the label shows to be in the alphabet. A comma inside `!…` is taken as a separator.
    pub(super) fn mentions(&self) -> Vec<char> {
        match self {
            Self::Any => Vec::new(),
            Self::Is(symbol) => vec![*symbol],
            Self::Not(label) => match label.get(1..).unwrap_or_default() {
                [only] => vec![*only],
                listed => listed.iter().copied().filter(|&c| c != ',').collect(),
            },
            Self::OneOf { symbols, .. } => symbols.clone(),
        }
    }

    /// Whether the label fits a symbol.
    pub(super) fn fits(&self, symbol: char) -> bool {
        match self {
            Self::Any => true,
            Self::Is(expected) => *expected == symbol,
            Self::Not(label) => !label.contains(&symbol),
            Self::OneOf { symbols, .. } => symbols.contains(&symbol),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<Read, BadLabel>) {
        assert_eq!(read(text, 1), expected, "{text}");
    }

    #[test]
    fn reads_are_told_apart() {
        check("", Ok(Read::Is(BLANK)));
        check("□", Ok(Read::Is(BLANK)));
        check(" a ", Ok(Read::Is('a')));
        check("!", Ok(Read::Is('!')));
        check("}", Ok(Read::Is('}')));
        check("~", Ok(Read::Any));
        check("!□a", Ok(Read::Not(vec!['!', BLANK, 'a'])));
        check("a, □ } w1", Ok(Read::OneOf { symbols: vec!['a', BLANK], variable: "w1".into() }));
        check("ab", Err(BadLabel::TooLong));
        check("a,,b}v", Err(BadLabel::BadVariable));
        check("a,b}", Err(BadLabel::BadVariable));
        assert_eq!(read("!a", 2), Err(BadLabel::SingleTapeOnly));
    }

    #[test]
    fn commas_separate_in_a_negation() {
        assert_eq!(read("!a,b", 1).unwrap().mentions(), ['a', 'b']);
        assert_eq!(read("!,", 1).unwrap().mentions(), [',']);
    }
}
