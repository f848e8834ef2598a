//! The lines of a `.tm` file, before names are looked up.

use std::ops::Range;

use super::{
    FARTHEST_HEAD,
    lex::{Kind, Token, tokens},
};
use crate::{Access, Diagnostic, Missing, Move, SampleUse, diagnostic::Findings, formats::lines};

/// A file as it is written.
#[derive(Default)]
pub(super) struct Draft {
    /// The header `machine`, if it is there, and its name.
    pub(super) header: Option<Option<String>>,
    pub(super) tapes: Vec<DraftTape>,
    /// Whether a tape's line could not be read, so that tapes cannot be counted.
    pub(super) lacks_tape: bool,
    pub(super) inputs: Vec<DraftInput>,
    pub(super) start: Option<Token>,
    pub(super) missing: Option<Missing>,
    pub(super) states: Vec<DraftState>,
}

/// `tape work: 0 1 _ blank _ read-only`
pub(super) struct DraftTape {
    pub(super) name: Token,
    pub(super) symbols: Vec<Token>,
    pub(super) blank: Token,
    pub(super) access: Access,
}

/// `input work: 0 1 1 head 2`
pub(super) struct DraftInput {
    pub(super) tape: Token,
    pub(super) symbols: Vec<Token>,
    pub(super) head: i64,
}

/// `scan:`, `wait: take` or `done: accept`, and the rules below it.
pub(super) struct DraftState {
    pub(super) name: Token,
    pub(super) halting: Option<bool>,
    pub(super) samples: SampleUse,
    pub(super) rules: Vec<DraftRule>,
}

/// `0 * -> 1 *, R S, scan`
pub(super) struct DraftRule {
    pub(super) reads: Vec<Token>,
    pub(super) writes: Vec<Token>,
    pub(super) moves: Vec<Move>,
    pub(super) next: Token,
    pub(super) span: Range<usize>,
}

/// Reads all lines; a line that cannot be read is left out and reported.
pub(super) fn parse(text: &str) -> (Draft, Findings) {
    let mut draft = Draft::default();
    let mut errors = Findings::default();
    for line in lines(text) {
        let read = match tokens(text, line.span) {
            Ok(tokens) if tokens.is_empty() => Ok(()),
            Ok(tokens) => draft.line(&tokens),
            Err(error) => Err(trimmed(error, text)),
        };
        errors.extend(read.err());
    }
    (draft, errors)
}

/// A span that reaches to the end of a line leaves out the line break.
fn trimmed(mut error: Diagnostic, text: &str) -> Diagnostic {
    error.span.end = error.span.start + text[error.span.clone()].trim_end().len();
    error
}

/// From the first to the last of some tokens.
fn span_of(tokens: &[Token]) -> Range<usize> {
    match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => first.span.start..last.span.end,
        _ => 0..0,
    }
}

/// Refuses some tokens.
fn refused(tokens: &[Token], message: impl Into<String>, label: &str) -> Diagnostic {
    Diagnostic::error(span_of(tokens), message, label)
}

impl Draft {
    fn line(&mut self, line: &[Token]) -> Result<(), Diagnostic> {
        let (first, rest) = (&line[0], &line[1..]);
        let second = rest.first().map(|t| &t.kind);
        let names_something = matches!(second, Some(Kind::Bare(_) | Kind::Quoted(_)));
        if line.iter().any(|t| t.kind == Kind::Arrow) {
            self.rule(line)
        } else if first.is("machine") && (rest.is_empty() || names_something) {
            self.header(line)
        } else if first.is("tape") && names_something {
            let read = self.tape(line);
            self.lacks_tape |= read.is_err();
            read
        } else if first.is("input") && names_something {
            self.input(line)
        } else if first.is("start") && second == Some(&Kind::Colon) {
            self.start(line)
        } else if first.is("missing") && second == Some(&Kind::Colon) {
            self.missing(line)
        } else {
            self.state(line)
        }
    }

    fn header(&mut self, line: &[Token]) -> Result<(), Diagnostic> {
        if self.header.is_some() {
            return Err(refused(line, "a second `machine` line", "one file, one machine"));
        }
        if !self.tapes.is_empty() || !self.states.is_empty() {
            return Err(refused(line, "`machine` is not the first line", "comes too late"));
        }
        if let Some(extra) = line.get(2) {
            return Err(Diagnostic::error(extra.span.clone(), "the machine's name is one word", "too much")
                .with_help("put a name of several words in quotes"));
        }
        self.header = Some(line.get(1).and_then(Token::name).map(str::to_owned));
        Ok(())
    }

    fn tape(&mut self, line: &[Token]) -> Result<(), Diagnostic> {
        const HELP: &str =
            "write `tape NAME: SYMBOLS blank SYMBOL`, then `read-only` if no rule writes to it";
        let listed = after_colon(line, 2).ok_or_else(|| expected(line, 2, "`:`", HELP))?;
        let at = listed.iter().position(|t| t.is("blank")).ok_or_else(|| {
            refused(line, "the tape has no blank", "`blank SYMBOL` is missing").with_help(HELP)
        })?;
        let at = line.len() - listed.len() + at;
        let blank = line.get(at + 1).filter(|t| t.name().is_some());
        let blank = blank.ok_or_else(|| expected(line, at + 1, "the blank symbol", HELP))?.clone();
        let access = match line.get(at + 2) {
            None => Access::ReadWrite,
            Some(word) if word.is("read-only") => Access::ReadOnly,
            Some(_) => return Err(expected(line, at + 2, "`read-only` or nothing", HELP)),
        };
        if at + 3 < line.len() {
            return Err(expected(line, at + 3, "the end of the line", HELP));
        }
        self.tapes.push(DraftTape { name: line[1].clone(), symbols: names(&line[3..at])?, blank, access });
        Ok(())
    }

    fn input(&mut self, line: &[Token]) -> Result<(), Diagnostic> {
        const HELP: &str =
            "write `input TAPE: SYMBOLS`, then `head CELL` if the head does not start on cell 0";
        let listed = after_colon(line, 2).ok_or_else(|| expected(line, 2, "`:`", HELP))?;
        let at = line.len() - listed.len() + listed.iter().take_while(|t| !t.is("head")).count();
        let head = match &line[at..] {
            [] => 0,
            [_] => return Err(expected(line, at + 1, "the head's cell", HELP)),
            [_, cell] => match cell.name().map(str::parse::<i64>) {
                Some(Ok(cell)) if cell.unsigned_abs() <= FARTHEST_HEAD.unsigned_abs() => cell,
                Some(Ok(_)) => {
                    let what = format!("a cell from -{FARTHEST_HEAD} to {FARTHEST_HEAD}");
                    return Err(expected(line, at + 1, &what, HELP));
                }
                _ => return Err(expected(line, at + 1, "a whole number", HELP)),
            },
            _ => return Err(expected(line, at + 2, "the end of the line", HELP)),
        };
        self.inputs.push(DraftInput { tape: line[1].clone(), symbols: names(&line[3..at])?, head });
        Ok(())
    }

    fn start(&mut self, line: &[Token]) -> Result<(), Diagnostic> {
        const HELP: &str = "write `start: STATE`; a state called start is declared as `\"start\":`";
        match line {
            [_, _, state] if state.name().is_some() && self.start.is_none() => {
                self.start = Some(state.clone());
                Ok(())
            }
            [_, _, state] if state.name().is_some() => {
                Err(refused(line, "a second `start:` line", "the start is already given"))
            }
            _ => Err(expected(line, 2.min(line.len()), "one state", HELP)),
        }
    }

    fn missing(&mut self, line: &[Token]) -> Result<(), Diagnostic> {
        const HELP: &str = "write `missing: reject` or `missing: halt`; a state called missing is declared as `\"missing\":`";
        let missing = match line {
            [_, _, word] if word.is("reject") => Missing::Reject,
            [_, _, word] if word.is("halt") => Missing::Halt,
            _ => return Err(expected(line, 2, "`reject` or `halt`", HELP)),
        };
        match self.missing.replace(missing) {
            Some(_) => Err(refused(line, "a second `missing:` line", "it is already given")),
            None => Ok(()),
        }
    }

    fn state(&mut self, line: &[Token]) -> Result<(), Diagnostic> {
        const HELP: &str = "a line is `machine`, `tape`, `input`, `start:`, `missing:`, a state `NAME:`, or a rule `reads -> writes, moves, next`";
        if line[0].name().is_none() {
            return Err(expected(line, 0, "a name", HELP));
        }
        if line.get(1).map(|t| &t.kind) != Some(&Kind::Colon) {
            return Err(expected(line, 1, "`:` or `->`", HELP));
        }
        const WORDS: &str = "a state that halts is `NAME: accept` or `NAME: reject`, one that uses samples `NAME: take` or `NAME: latch`; rules stand on lines of their own";
        let is = |word: &str| line.get(2).is_some_and(|token| token.is(word));
        let (halting, samples, is_known) = match () {
            () if is("accept") => (Some(true), SampleUse::Pass, true),
            () if is("reject") => (Some(false), SampleUse::Pass, true),
            () if is("take") => (None, SampleUse::Take, true),
            () if is("latch") => (None, SampleUse::Latch, true),
            () => (None, SampleUse::Pass, line.len() == 2),
        };
        self.states.push(DraftState { name: line[0].clone(), halting, samples, rules: Vec::new() });
        if !is_known {
            let what = "`accept`, `reject`, `take`, `latch` or the end of the line";
            return Err(expected(line, 2, what, WORDS));
        }
        if line.len() > 3 { Err(expected(line, 3, "the end of the line", WORDS)) } else { Ok(()) }
    }

    fn rule(&mut self, line: &[Token]) -> Result<(), Diagnostic> {
        const HELP: &str = "write `reads -> writes, moves, next`, the first three with one entry per tape";
        let arrow = line.iter().position(|t| t.kind == Kind::Arrow).unwrap_or_default();
        let (reads, rest) = (&line[..arrow], &line[arrow + 1..]);
        let parts: Vec<&[Token]> = rest.split(|t| t.kind == Kind::Comma).collect();
        let &[writes, moves, next] = parts.as_slice() else {
            let message = format!("after `->` a rule has three parts, here are {}", parts.len());
            return Err(refused(line, message, "this rule").with_help(HELP));
        };
        let [next] = next else {
            let at = if next.is_empty() { line } else { next };
            return Err(refused(at, "a rule ends with one state", "the next state").with_help(HELP));
        };
        if next.name().is_none() {
            return Err(Diagnostic::error(next.span.clone(), "expected a state", "here").with_help(HELP));
        }
        let moves = moves.iter().map(head_move).collect::<Result<_, _>>()?;
        let (reads, writes) = (names(reads)?, names(writes)?);
        let Some(state) = self.states.last_mut() else {
            return Err(refused(line, "a rule before the first state", "of which state?")
                .with_help("put `NAME:` on a line before it"));
        };
        state.rules.push(DraftRule { reads, writes, moves, next: next.clone(), span: span_of(line) });
        Ok(())
    }
}

fn head_move(token: &Token) -> Result<Move, Diagnostic> {
    let known = token.name().and_then(|name| Move::named(name, ["L", "S", "R"]));
    known.ok_or_else(|| Diagnostic::error(token.span.clone(), "unknown move", "expected `L`, `S` or `R`"))
}

/// What follows the colon at `index`.
fn after_colon(line: &[Token], index: usize) -> Option<&[Token]> {
    (line.get(index)?.kind == Kind::Colon).then(|| &line[index + 1..])
}

fn names(tokens: &[Token]) -> Result<Vec<Token>, Diagnostic> {
    const HELP: &str =
        "symbols are separated by spaces; put `:`, `,` and `->` in quotes to use them as symbols";
    let Some(other) = tokens.iter().find(|t| t.name().is_none()) else { return Ok(tokens.to_vec()) };
    Err(Diagnostic::error(other.span.clone(), "expected a symbol", "not a symbol").with_help(HELP))
}

/// The token at `index` is wrong, or the line ends before it.
fn expected(line: &[Token], index: usize, what: &str, help: &str) -> Diagnostic {
    let end = span_of(line).end;
    let (span, label) = match line.get(index) {
        Some(found) => (found.span.clone(), "found this"),
        None => (end..end, "the line ends here"),
    };
    Diagnostic::error(span, format!("expected {what}"), label).with_help(help)
}
