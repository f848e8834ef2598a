//! Splits the lines of `.tm` files into tokens.

use std::ops::Range;

use crate::{Diagnostic, formats::Piece};

/// The kind of a token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A name or keyword without quotes.
    Bare(String),
    /// A name in quotes, with its escapes replaced; never a keyword or a wildcard.
    Quoted(String),
    /// `:`
    Colon,
    /// `,`
    Comma,
    /// `->`
    Arrow,
}

/// A token and its position in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Range<usize>,
}

impl Token {
    /// The name, if the token is one, else nothing.
    pub(super) fn text(&self) -> &str {
        self.name().unwrap_or_default()
    }

    /// The same with its position.
    pub(super) fn piece(&self) -> Piece<'_> {
        Piece { text: self.text(), span: self.span.clone() }
    }

    /// The name, if the token is one.
    pub(super) fn name(&self) -> Option<&str> {
        match &self.kind {
            Kind::Bare(name) | Kind::Quoted(name) => Some(name),
            Kind::Colon | Kind::Comma | Kind::Arrow => None,
        }
    }

    /// Whether the token is this keyword, without quotes.
    pub(super) fn is(&self, keyword: &str) -> bool {
        matches!(&self.kind, Kind::Bare(word) if word == keyword)
    }
}

/// Whether this character ends a bare word.
pub(super) fn ends_bare_word(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '#' | ',' | ':')
}

/// Splits a line into tokens, without its comment.
pub(super) fn tokens(line: &Piece<'_>) -> Result<Vec<Token>, Diagnostic> {
    let mut tokens = Vec::new();
    let mut rest = line.text.trim_start();
    while let Some(c) = rest.chars().next().filter(|&c| c != '#') {
        let (kind, length) = match c {
            ':' => (Kind::Colon, 1),
            ',' => (Kind::Comma, 1),
            '"' => quoted(&line.part(rest))?,
            c if c.is_control() => {
                let (span, code) = (line.part(&rest[..c.len_utf8()]).span, u32::from(c));
                let label = format!("U+{code:04X}");
                let error = Diagnostic::error(span, "control character outside quotes", label);
                return Err(error.with_help(format!("in a quoted name, write it as \\u{{{code:x}}}")));
            }
            _ if rest.starts_with("->") => (Kind::Arrow, 2),
            _ => {
                let end = rest.find(ends_bare_word).unwrap_or(rest.len());
                let word = rest[..end].split("->").next().unwrap_or_default();
                (Kind::Bare(word.to_owned()), word.len())
            }
        };
        tokens.push(Token { kind, span: line.part(&rest[..length]).span });
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// Reads the quoted name that a text begins with; also returns its length.
fn quoted(text: &Piece<'_>) -> Result<(Kind, usize), Diagnostic> {
    let mut name = String::new();
    let mut rest = &text.text[1..];
    while let Some(c) = rest.chars().next() {
        let (character, length) = match c {
            '"' => return Ok((Kind::Quoted(name), text.text.len() - rest.len() + 1)),
            '\\' => escape(rest).ok_or_else(|| {
                let end = rest.char_indices().nth(2).map_or(rest.len(), |(at, _)| at);
                Diagnostic::error(text.part(&rest[..end]).span, "unknown escape", "not an escape")
                    .with_help(r#"escapes are \" \\ \n \r \t and \u{hexadecimal}"#)
            })?,
            c => (c, c.len_utf8()),
        };
        name.push(character);
        rest = &rest[length..];
    }
    Err(Diagnostic::error(text.span.clone(), "unclosed quote", "begins here")
        .with_help("close it on the same line with `\"`"))
}

/// The character that an escape stands for, and the length of the escape.
fn escape(text: &str) -> Option<(char, usize)> {
    match text.chars().nth(1)? {
        c @ ('"' | '\\') => Some((c, 2)),
        'n' => Some(('\n', 2)),
        'r' => Some(('\r', 2)),
        't' => Some(('\t', 2)),
        'u' => {
            let digits = text.strip_prefix("\\u{")?.split_once('}')?.0;
            let code = u32::from_str_radix(digits, 16).ok()?;
            Some((char::from_u32(code)?, digits.len() + 4))
        }
        _ => None,
    }
}

/// Writes a name: bare if possible, else in quotes.
pub(super) fn spelled(name: &str) -> String {
    let plain = !name.is_empty()
        && !name.contains(ends_bare_word)
        && !name.contains("->")
        && name != "*"
        && !super::KEYWORDS.contains(&name);
    if plain { name.to_owned() } else { in_quotes(name) }
}

/// A name in quotes.
pub(super) fn in_quotes(name: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\\' => c.escape_default().to_string(),
        c if c.is_control() => c.escape_default().to_string(),
        c => c.to_string(),
    };
    format!("\"{}\"", name.chars().map(escaped).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &[Kind]) {
        let kinds: Vec<Kind> =
            tokens(&Piece { text: line, span: 0..line.len() }).unwrap().into_iter().map(|t| t.kind).collect();
        assert_eq!(kinds, expected, "{line}");
    }

    #[test]
    fn line_falls_into_tokens() {
        let bare = |s: &str| Kind::Bare(s.to_owned());
        check("", &[]);
        check("a:b,c # d", &[bare("a"), Kind::Colon, bare("b"), Kind::Comma, bare("c")]);
        check("0->- -", &[bare("0"), Kind::Arrow, bare("-"), bare("-")]);
        check(r##""\u{2a}\"# " é"##, &[Kind::Quoted("*\"# ".into()), bare("é")]);
    }

    #[test]
    fn spelled_name_is_one_token_again() {
        for name in ["a", "", "*", "->", "x->y", "a b", "#", "\"", "\\", "\u{7f}\n", "head", "é", "\u{2028}"]
        {
            let line = spelled(name);
            let found = tokens(&Piece { text: &line, span: 0..line.len() }).unwrap();
            assert_eq!(found.len(), 1, "{line}");
            assert_eq!(found[0].name(), Some(name));
            assert!(!found[0].is("*") && !found[0].is("head"));
        }
    }
}
