//! The comment that gives an input: `; $INITIAL_TAPE: 10*01`.

use std::collections::BTreeSet;

use super::BLANK;
use crate::{
    Input, SymbolId, TapeInput,
    diagnostic::Findings,
    formats::{
        MAX_SYMBOLS,
        pieces::{Piece, lines},
    },
};

/// The word in a comment that the input follows.
pub(super) const INITIAL_TAPE: &str = "$INITIAL_TAPE";

/// An input as it is written: a space is a blank, the first `*` marks the head.
pub(super) struct Laid<'t> {
    text: &'t str,
}

impl Laid<'_> {
    /// The characters on the tape.
    pub(super) fn characters(&self) -> impl Iterator<Item = char> {
        let before = self.head().map_or("", |head| &self.text[..head]);
        let after = self.head().map_or(self.text, |head| &self.text[head + 1..]);
        before.chars().chain(after.chars()).map(|c| if c == ' ' { BLANK } else { c })
    }

    fn head(&self) -> Option<usize> {
        self.text.find('*')
    }

    /// The input, where `symbols` holds all characters on the tape.
    pub(super) fn input(&self, symbols: &[char]) -> Input {
        let find = |c: char| SymbolId::new(symbols.iter().position(|&s| s == c).unwrap_or(0));
        let before = self.head().map_or(0, |head| self.text[..head].chars().count());
        let head = i64::try_from(before).unwrap_or(i64::MAX);
        Input { tapes: vec![TapeInput { symbols: self.characters().map(find).collect(), head }] }
    }
}

/// The initial tape that the first such comment gives. One that no rule could read is passed over with a warning.
pub(super) fn initial<'t>(
    text: &'t str,
    named: &BTreeSet<char>,
    findings: &mut Findings,
) -> Option<Laid<'t>> {
    let mut found = None;
    for Piece { span, text } in comments(text) {
        if found.is_some() {
            let message = "a second initial tape: the first one counts";
            findings.warning(span, message, "passed over");
            continue;
        }
        let laid = Laid { text };
        let symbols: BTreeSet<char> = laid.characters().filter(|&c| c != BLANK).collect();
        let odd = symbols.iter().find(|&&c| c == '*' || c == ';' || c.is_whitespace() || c.is_control());
        let problem = if let Some(odd) = odd {
            Some(format!("no rule can name the symbol `{}`", odd.escape_debug()))
        } else if symbols.union(named).count() >= MAX_SYMBOLS {
            Some(format!("a machine has at most {MAX_SYMBOLS} symbols"))
        } else {
            None
        };
        if let Some(problem) = problem {
            let message = format!("the initial tape is passed over: {problem}");
            findings.warning(span, message, "not laid on the tape");
            continue;
        }
        found = Some(laid);
    }
    found
}

/// The tapes that comments give.
fn comments(text: &str) -> impl Iterator<Item = Piece<'_>> {
    lines(text).filter_map(|line| {
        let comment = line.text.find(';')?;
        let word = comment + line.text[comment..].find(INITIAL_TAPE)?;
        let rest = &line.text[word + INITIAL_TAPE.len()..];
        let tape = rest.strip_prefix(':').unwrap_or(rest).trim();
        (!tape.is_empty()).then(|| line.part(tape))
    })
}
