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

/// Splits the line with this span into tokens, without its comment.
pub(super) fn tokens(text: &str, line: Range<usize>) -> Result<Vec<Token>, Diagnostic> {
    let mut tokens = Vec::new();
    let mut at = line.start;
    while let Some(c) = text[at..line.end].chars().next() {
        let rest = &text[at..line.end];
        let (kind, length) = match c {
            '#' => break,
            ':' => (Kind::Colon, 1),
            ',' => (Kind::Comma, 1),
            '"' => quoted(text, at, line.end)?,
            c if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            c if c.is_control() => {
                let (span, code) = (at..at + c.len_utf8(), u32::from(c));
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
        tokens.push(Token { kind, span: at..at + length });
        at += length;
    }
    Ok(tokens)
}

/// Reads the quoted name at `start`; also returns its length.
fn quoted(text: &str, start: usize, line_end: usize) -> Result<(Kind, usize), Diagnostic> {
    let mut name = String::new();
    let mut at = start + 1;
    while let Some(c) = text[at..line_end].chars().next() {
        let after = at + c.len_utf8();
        let (character, end) = match c {
            '"' => return Ok((Kind::Quoted(name), after - start)),
            '\\' => {
                let rest = &text[after..line_end];
                let Some((escaped, length)) = escape(rest) else {
                    let end = after + rest.chars().next().map_or(0, char::len_utf8);
                    return Err(Diagnostic::error(at..end, "unknown escape", "not an escape")
                        .with_help(r#"escapes are \" \\ \n \r \t and \u{hexadecimal}"#));
                };
                (escaped, after + length)
            }
            c => (c, after),
        };
        name.push(character);
        at = end;
    }
    Err(Diagnostic::error(start..line_end, "unclosed quote", "begins here")
        .with_help("close it on the same line with `\"`"))
}

/// The character that an escape stands for, and the length of the escape after the backslash.
fn escape(rest: &str) -> Option<(char, usize)> {
    match rest.chars().next()? {
        c @ ('"' | '\\') => Some((c, 1)),
        'n' => Some(('\n', 1)),
        'r' => Some(('\r', 1)),
        't' => Some(('\t', 1)),
        'u' => {
            let digits = rest.strip_prefix("u{")?.split_once('}')?.0;
            let code = u32::from_str_radix(digits, 16).ok()?;
            Some((char::from_u32(code)?, digits.len() + 3))
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
    let mut text = String::from('"');
    for c in name.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            c if c.is_control() => text.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &[Kind]) {
        let kinds: Vec<Kind> = tokens(line, 0..line.len()).unwrap().into_iter().map(|t| t.kind).collect();
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
            let found = tokens(&line, 0..line.len()).unwrap();
            assert_eq!(found.len(), 1, "{line}");
            assert_eq!(found[0].name(), Some(name));
            assert!(!found[0].is("*") && !found[0].is("head"));
        }
    }
}
