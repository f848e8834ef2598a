//! The current token, and the errors for unexpected ones.

use luge_machine::Diagnostic;

use super::{KEYWORDS, MAX_NESTING, Parsed, Parser, Reported};
use crate::{
    lex::{Kind, Span, Token},
    syntax::Name,
};

impl Parser<'_> {
    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    pub(super) fn text(&self) -> &str {
        &self.source[self.peek().span.clone()]
    }

    pub(super) fn span(&self) -> Span {
        self.peek().span.clone()
    }

    /// The span from `start` to the end of the last token.
    pub(super) fn since(&self, start: usize) -> Span {
        let end = self.at.checked_sub(1).map_or(start, |last| self.tokens[last].span.end);
        start..end.max(start)
    }

    pub(super) fn advance(&mut self) {
        if self.peek().kind != Kind::End {
            self.at += 1;
        }
    }

    /// Whether this symbol or word is next.
    pub(super) fn is(&self, text: &str) -> bool {
        matches!(self.peek().kind, Kind::Name | Kind::Symbol(_)) && self.text() == text
    }

    pub(super) fn take(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn fail<T>(&mut self, expected: &str) -> Parsed<T> {
        self.fail_at(self.span(), expected)
    }

    pub(super) fn fail_at<T>(&mut self, span: Span, expected: &str) -> Parsed<T> {
        let found = match self.peek().kind {
            Kind::End => "the end of the file".to_owned(),
            _ => format!("`{}`", shortened(self.text())),
        };
        let message = format!("expected {expected}, found {found}");
        let mut finding = Diagnostic::error(span, message, format!("expected {expected}"));
        finding.help = self.hint(expected).map(str::to_owned);
        self.findings.push(finding);
        Err(Reported)
    }

    pub(super) fn refuse<T>(
        &mut self,
        span: Span,
        message: impl Into<String>,
        label: &str,
        help: &str,
    ) -> Parsed<T> {
        self.findings.push(Diagnostic::error(span, message, label).with_help(help));
        Err(Reported)
    }

    /// A hint for syntax of other languages.
    pub(super) fn hint(&self, expected: &str) -> Option<&'static str> {
        let twice = |symbol| {
            self.is(symbol) && self.tokens.get(self.at + 1).is_some_and(|t| t.kind == Kind::Symbol(symbol))
        };
        let after_plus =
            self.at.checked_sub(1).is_some_and(|last| self.tokens[last].kind == Kind::Symbol("+"));
        match expected {
            "`=`" | "a statement" if twice("+") => Some("write `+= 1` after the name"),
            "`=`" | "a statement" if twice("-") => Some("write `-= 1` after the name"),
            "an expression" if self.is("+") && after_plus => Some("write `+= 1` in a statement of its own"),
            "`=`" if self.is("==") => Some("assign with `=`"),
            "`{`" | "`)`" if self.is("=") => Some("compare with `==`"),
            "`=`" if self.is("(") => Some("functions return a value: write `v = f(…);`"),
            _ if self.is_exponent() => Some("there are no exponents: write the number out"),
            _ => None,
        }
    }

    /// Whether the current token is an exponent, as `e2` in `3.5e2`.
    pub(super) fn is_exponent(&self) -> bool {
        let Some(last) = self.at.checked_sub(1).map(|last| &self.tokens[last]) else { return false };
        let digits = self.text().strip_prefix(['e', 'E']);
        last.kind == Kind::Number
            && last.span.end == self.peek().span.start
            && digits.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
    }

    pub(super) fn expect(&mut self, text: &str) -> Parsed<()> {
        if self.take(text) { Ok(()) } else { self.fail(&format!("`{text}`")) }
    }

    /// An item between two symbols.
    pub(super) fn between<T>(
        &mut self,
        open: &str,
        item: fn(&mut Self) -> Parsed<T>,
        close: &str,
    ) -> Parsed<T> {
        self.expect(open)?;
        let found = item(self)?;
        self.expect(close)?;
        Ok(found)
    }

    /// An item that ends with a semicolon.
    pub(super) fn with_semicolon<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let found = inside(self)?;
        self.semicolon()?;
        Ok(found)
    }

    /// Items separated by commas, and the symbol that ends the list.
    pub(super) fn list<T>(&mut self, end: &str, item: fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut list = Vec::new();
        while !self.is(end) {
            list.push(item(self)?);
            if !self.take(",") {
                break;
            }
        }
        self.expect(end)?;
        Ok(list)
    }

    /// The `;` that ends a statement. If it was forgotten, the error points right after the last token, and parsing
    /// continues as if it were there.
    pub(super) fn semicolon(&mut self) -> Parsed<()> {
        if self.take(";") {
            return Ok(());
        }
        let end = self.since(0).end;
        let begins = [
            "let", "if", "while", "for", "unroll", "break", "continue", "assert", "print", "reject", "return",
        ];
        let next_line = self.source[end..self.span().start].contains('\n');
        let forgotten = next_line
            || self.is("}")
            || self.peek().kind == Kind::End
            || begins.iter().any(|word| self.is(word));
        if forgotten {
            let _: Parsed<()> = self.fail_at(end..end, "`;`");
            return Ok(());
        }
        self.fail("`;`")
    }

    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        if self.peek().kind != Kind::Name {
            return self.fail(what);
        }
        if KEYWORDS.contains(&self.text()) {
            let message = format!("expected {what}, found the keyword `{}`", self.text());
            return self.refuse(self.span(), message, "a keyword", "choose another name");
        }
        let name = Name { text: self.text().to_owned(), span: self.span() };
        self.advance();
        Ok(name)
    }

    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_NESTING {
            let message = format!("nested more than {MAX_NESTING} deep");
            return self.refuse(self.span(), message, "too deep here", "name parts of it with `let`");
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }
}

/// The text, shortened if it is long.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
