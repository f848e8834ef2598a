//! Text to tokens.

use std::ops::Range;

use luge_machine::Diagnostic;

/// A byte range in the source.
pub(crate) type Span = Range<usize>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Name,
    Number,
    Symbol(&'static str),
    /// A string, including its double quotes.
    Text,
    End,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

/// Operators and punctuation. Longer ones come first, so that `<=` is one token.
const SYMBOLS: [&str; 50] = [
    "+|=", "-|=", "*|=", "*~=", "<<=", ">>=", "*~", "->", "..", "+|", "-|", "*|", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "<", ">",
    "=", "!", "(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "|", "&", "%", "^",
];

/// The tokens, the last of which is [`Kind::End`]. Characters that start no token are reported and skipped.
pub(crate) fn tokens(source: &str, findings: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = source[at..].chars().next() {
        let rest = &source[at..];
        if c.is_whitespace() {
            at += c.len_utf8();
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if let Some((kind, n)) = token(rest, c) {
            tokens.push(Token { kind, span: at..at + n });
            at += n;
        } else {
            let span = at..at + c.len_utf8();
            let finding =
                Diagnostic::error(span.clone(), format!("unexpected character `{c}`"), "not part of Sled");
            findings.push(match c {
                '?' => finding.with_help("choose with `if c { a } else { b }`"),
                _ => finding,
            });
            at = span.end;
        }
    }
    tokens.push(Token { kind: Kind::End, span: source.len()..source.len() });
    tokens
}

/// The kind and the length of the next token, which begins with `c`.
fn token(rest: &str, c: char) -> Option<(Kind, usize)> {
    if c.is_ascii_alphabetic() || c == '_' {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        return Some((Kind::Name, end.unwrap_or(rest.len())));
    }
    if c.is_ascii_digit() {
        return Some((Kind::Number, number(rest)));
    }
    let symbol = || SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
    let text = quoted(rest).map(|n| (Kind::Text, n));
    text.or_else(|| symbol().map(|symbol| (Kind::Symbol(symbol), symbol.len())))
}

/// The length of a string on one line.
fn quoted(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('"')?;
    let end = inside.find(['"', '\n'])?;
    inside[end..].starts_with('"').then_some(end + 2)
}

/// The length of a number: digits and `_`, with a fraction if a digit follows the point.
fn number(rest: &str) -> usize {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    let whole = digits(rest);
    match rest[whole..].strip_prefix('.') {
        Some(fraction) if fraction.starts_with(|c: char| c.is_ascii_digit()) => whole + 1 + digits(fraction),
        _ => whole,
    }
}
