//! Luge's own `.tm` files: line-based, with comments, and able to express every [`Machine`](crate::Machine).
//!
//! States are declared in order, each with its rules; the line `missing:` determines what happens if no rule applies. A
//! machine that is written and read again is the same, with all names in the same order. `docs/native-format.md` has the
//! grammar.

mod lex;

use std::{collections::BTreeMap, ops::Range};

use super::{Draft, DraftRule, DraftState, Loaded, MAX_SYMBOLS, Obstacle, Piece, draft::symbol, lines};
use crate::{
    Access, Alphabet, Diagnostic, Input, Machine, Missing, Move, Rule, SampleUse, SymbolId, Tape, TapeInput,
    diagnostic::Findings,
};
use lex::{Kind, Token, in_quotes, spelled, tokens};

/// Keywords that can occur where a name is expected. As names they must be quoted.
const KEYWORDS: [&str; 5] = ["blank", "read-only", "head", "start", "missing"];

/// The largest distance from cell 0 at which a head may start, because all cells in between are stored in memory.
const FARTHEST_HEAD: i64 = 1 << 24;

/// Reads a `.tm` file.
///
/// # Errors
/// All errors, in the order of the text, together with the warnings.
pub(super) fn read(text: &str) -> Result<Loaded, Vec<Diagnostic>> {
    let mut findings = Findings::default();
    let mut all = Vec::new();
    for line in lines(text) {
        match tokens(&line.trimmed()) {
            Ok(tokens) => all.push(tokens),
            Err(error) => _ = findings.push(error),
        }
    }
    let undeclared =
        |name: &str| Err(format!("states are declared as `{name}:`, `{name}: accept` or `{name}: reject`"));
    let draft = Draft::new(Missing::default(), undeclared, findings);
    let mut file =
        File { draft, has_header: false, has_missing: false, lacks_tape: false, inputs: Vec::new() };
    for line in all.iter().filter(|line| !line.is_empty()) {
        if let Err(error) = file.line(line) {
            file.draft.findings.push(error);
        }
    }
    file.complete(text.len()).resolve(text)
}

/// The lines read so far. A line with an error is reported and skipped.
struct File<'t> {
    draft: Draft<'t>,
    has_header: bool,
    has_missing: bool,
    /// Whether the line of a tape had an error, so that the number of tapes is unknown.
    lacks_tape: bool,
    /// The `input` lines, whose symbols are looked up when all tapes are known: tape, symbols, head.
    inputs: Vec<(&'t Token, Vec<Piece<'t>>, i64)>,
}

/// The span from the first to the last token.
fn span_of(tokens: &[Token]) -> Range<usize> {
    match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => first.span.start..last.span.end,
        _ => 0..0,
    }
}

/// An error about some tokens.
fn refused(tokens: &[Token], message: impl Into<String>, label: &str) -> Diagnostic {
    Diagnostic::error(span_of(tokens), message, label)
}

impl<'t> File<'t> {
    fn line(&mut self, line: &'t [Token]) -> Result<(), Diagnostic> {
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

    fn header(&mut self, line: &'t [Token]) -> Result<(), Diagnostic> {
        if self.has_header {
            return Err(refused(line, "a second `machine` line", "one file, one machine"));
        }
        if !self.draft.tapes.is_empty() || !self.draft.states.is_empty() {
            return Err(refused(line, "`machine` is not the first line", "comes too late"));
        }
        if let Some(extra) = line.get(2) {
            return Err(Diagnostic::error(extra.span.clone(), "the machine's name is one word", "too much")
                .with_help("put a name of several words in quotes"));
        }
        self.has_header = true;
        self.draft.name = line.get(1).and_then(Token::name);
        Ok(())
    }

    fn tape(&mut self, line: &'t [Token]) -> Result<(), Diagnostic> {
        const HELP: &str =
            "write `tape NAME: SYMBOLS blank SYMBOL`, then `read-only` if no rule writes to it";
        let listed = after_colon(line, 2).ok_or_else(|| expected(line, 2, "`:`", HELP))?;
        let at = listed.iter().position(|t| t.is("blank")).ok_or_else(|| {
            refused(line, "the tape has no blank", "`blank SYMBOL` is missing").with_help(HELP)
        })?;
        let at = line.len() - listed.len() + at;
        let blank = line.get(at + 1).filter(|t| t.name().is_some());
        let blank = blank.ok_or_else(|| expected(line, at + 1, "the blank symbol", HELP))?;
        let access = match line.get(at + 2) {
            None => Access::ReadWrite,
            Some(word) if word.is("read-only") => Access::ReadOnly,
            Some(_) => return Err(expected(line, at + 2, "`read-only` or nothing", HELP)),
        };
        if at + 3 < line.len() {
            return Err(expected(line, at + 3, "the end of the line", HELP));
        }
        let (name, span) = (line[1].text(), &line[1].span);
        if self.draft.tapes.iter().any(|tape| tape.name == name) {
            let message = format!("tape `{name}` is declared twice");
            self.draft.findings.error(span, message, "again here");
        }
        let alphabet = self.alphabet(names(&line[3..at])?, blank);
        self.draft.tapes.push(Tape { name: name.to_owned(), alphabet, access });
        Ok(())
    }

    fn alphabet(&mut self, symbols: &[Token], blank: &Token) -> Alphabet {
        let findings = &mut self.draft.findings;
        let mut names: Vec<&str> = Vec::new();
        for symbol in symbols {
            let name = symbol.text();
            if symbol.is("*") {
                findings
                    .error(&symbol.span, "`*` means any symbol", "not a symbol")
                    .remedy("put it in quotes to use it as a symbol");
            } else if names.contains(&name) {
                findings.error(&symbol.span, format!("symbol `{name}` is listed twice"), "again here");
            } else if names.len() == MAX_SYMBOLS {
                findings.error(&symbol.span, "more than 256 symbols on a tape", "one too many");
                break;
            } else {
                names.push(name);
            }
        }
        let index = names.iter().position(|&name| name == blank.text());
        if index.is_none() {
            let message = format!("the blank `{}` is not among the tape's symbols", blank.text());
            findings
                .error(&blank.span, message, "not listed")
                .remedy("list all symbols before `blank`, the blank too");
        }
        Alphabet::new(names, SymbolId::new(index.unwrap_or(0)))
    }

    fn input(&mut self, line: &'t [Token]) -> Result<(), Diagnostic> {
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
        self.inputs.push((&line[1], names(&line[3..at])?.iter().map(Token::piece).collect(), head));
        Ok(())
    }

    fn start(&mut self, line: &'t [Token]) -> Result<(), Diagnostic> {
        const HELP: &str = "write `start: STATE`; a state called start is declared as `\"start\":`";
        match line {
            [_, _, state] if state.name().is_some() && self.draft.start.is_none() => {
                self.draft.start = Some(state.piece());
                Ok(())
            }
            [_, _, state] if state.name().is_some() => {
                Err(refused(line, "a second `start:` line", "the start is already given"))
            }
            _ => Err(expected(line, 2.min(line.len()), "one state", HELP)),
        }
    }

    fn missing(&mut self, line: &'t [Token]) -> Result<(), Diagnostic> {
        const HELP: &str = "write `missing: reject` or `missing: halt`; a state called missing is declared as `\"missing\":`";
        self.draft.missing = match line {
            [_, _, word] if word.is("reject") => Missing::Reject,
            [_, _, word] if word.is("halt") => Missing::Halt,
            _ => return Err(expected(line, 2, "`reject` or `halt`", HELP)),
        };
        let is_second = std::mem::replace(&mut self.has_missing, true);
        if is_second { Err(refused(line, "a second `missing:` line", "it is already given")) } else { Ok(()) }
    }

    fn state(&mut self, line: &'t [Token]) -> Result<(), Diagnostic> {
        const HELP: &str = "a line is `machine`, `tape`, `input`, `start:`, `missing:`, a state `NAME:`, or a rule `reads -> writes, moves, next`";
        if line[0].name().is_none() {
            return Err(expected(line, 0, "a name", HELP));
        }
        if line.get(1).map(|t| &t.kind) != Some(&Kind::Colon) {
            return Err(expected(line, 1, "`:` or `->`", HELP));
        }
        const WORDS: &str = "a state that halts is `NAME: accept` or `NAME: reject`, one that uses samples `NAME: take` or `NAME: latch`; rules stand on lines of their own";
        let (halting, samples, is_known) = match line.get(2).map(|token| &token.kind) {
            Some(Kind::Bare(word)) if word == "accept" => (Some(true), SampleUse::Pass, true),
            Some(Kind::Bare(word)) if word == "reject" => (Some(false), SampleUse::Pass, true),
            Some(Kind::Bare(word)) if word == "take" => (None, SampleUse::Take, true),
            Some(Kind::Bare(word)) if word == "latch" => (None, SampleUse::Latch, true),
            other => (None, SampleUse::Pass, other.is_none()),
        };
        self.draft.states.push(DraftState { samples, ..DraftState::new(line[0].piece(), halting) });
        if !is_known {
            let what = "`accept`, `reject`, `take`, `latch` or the end of the line";
            return Err(expected(line, 2, what, WORDS));
        }
        if line.len() > 3 { Err(expected(line, 3, "the end of the line", WORDS)) } else { Ok(()) }
    }

    fn rule(&mut self, line: &'t [Token]) -> Result<(), Diagnostic> {
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
        let (reads, writes) = (symbols(reads)?, symbols(writes)?);
        let Some(state) = self.draft.states.last_mut() else {
            return Err(refused(line, "a rule before the first state", "of which state?")
                .with_help("put `NAME:` on a line before it"));
        };
        state.rules.push(DraftRule { reads, writes, moves, next: next.piece(), span: span_of(line) });
        Ok(())
    }

    /// Reports missing parts, unless the file has other errors, and looks up the inputs.
    fn complete(mut self, end: usize) -> Draft<'t> {
        let Draft { tapes, states, findings, .. } = &mut self.draft;
        let end = end..end;
        if findings.count() > 0 {
            // The missing part may be on a line with an error.
        } else if !self.has_header {
            findings
                .error(0..0, "the file does not begin with `machine`", "expected here")
                .remedy("the first line is `machine` or `machine \"NAME\"`");
        } else if tapes.is_empty() {
            findings
                .error(end, "the machine has no tape", "the file ends here")
                .remedy("declare one, as in `tape work: 0 1 blank 0`");
        } else if states.is_empty() {
            findings
                .error(end, "the machine has no state", "the file ends here")
                .remedy("declare one, as in `scan:` or `done: accept`");
        }
        if self.lacks_tape {
            self.draft.states.iter_mut().for_each(|state| state.rules.clear());
        }
        self.draft.input = self.resolved_inputs();
        self.draft
    }

    fn resolved_inputs(&mut self) -> Option<Input> {
        let Draft { tapes, findings, .. } = &mut self.draft;
        let mut inputs: BTreeMap<usize, TapeInput> = BTreeMap::new();
        for (token, symbols, head) in &self.inputs {
            let name = token.text();
            let Some(index) = tapes.iter().position(|tape| tape.name == name) else {
                if !self.lacks_tape {
                    findings
                        .error(&token.span, format!("unknown tape `{name}`"), "not declared")
                        .remedy("tapes are declared as in `tape work: 0 1 blank 0`");
                }
                continue;
            };
            let symbols = symbols.iter().map(|name| symbol(&tapes[index], name, findings)).collect();
            if inputs.insert(index, TapeInput { symbols, head: *head }).is_some() {
                findings.error(&token.span, format!("a second input for tape `{name}`"), "again here");
            }
        }
        let last = *inputs.keys().next_back()?;
        Some(Input { tapes: (0..=last).map(|tape| inputs.remove(&tape).unwrap_or_default()).collect() })
    }
}

/// The symbols that a rule reads or writes; `None` for `*`.
fn symbols<'t>(tokens: &'t [Token]) -> Result<Vec<Option<Piece<'t>>>, Diagnostic> {
    Ok(names(tokens)?.iter().map(|token| (!token.is("*")).then(|| token.piece())).collect())
}

fn head_move(token: &Token) -> Result<Move, Diagnostic> {
    let known = token.name().and_then(|name| Move::named(name, ["L", "S", "R"]));
    known.ok_or_else(|| Diagnostic::error(token.span.clone(), "unknown move", "expected `L`, `S` or `R`"))
}

/// The tokens after the colon at `index`.
fn after_colon(line: &[Token], index: usize) -> Option<&[Token]> {
    (line.get(index)?.kind == Kind::Colon).then(|| &line[index + 1..])
}

fn names(tokens: &[Token]) -> Result<&[Token], Diagnostic> {
    const HELP: &str =
        "symbols are separated by spaces; put `:`, `,` and `->` in quotes to use them as symbols";
    let Some(other) = tokens.iter().find(|t| t.name().is_none()) else { return Ok(tokens) };
    Err(Diagnostic::error(other.span.clone(), "expected a symbol", "not a symbol").with_help(HELP))
}

/// The error that the token at `index` is not the expected one, or is missing.
fn expected(line: &[Token], index: usize, what: &str, help: &str) -> Diagnostic {
    let end = span_of(line).end;
    let (span, label) = match line.get(index) {
        Some(found) => (found.span.clone(), "found this"),
        None => (end..end, "the line ends here"),
    };
    Diagnostic::error(span, format!("expected {what}"), label).with_help(help)
}

/// Writes a `.tm` file. A blank input is omitted.
///
/// # Errors
/// If the input has more tapes than the machine or symbols that its tapes do not have.
pub(super) fn write(machine: &Machine, input: Option<&Input>) -> Result<String, Obstacle> {
    let name = machine.name().map_or_else(String::new, |name| format!(" {}", in_quotes(name)));
    let mut text = format!("machine{name}\n");
    for Tape { name, alphabet, access } in machine.tapes() {
        let symbols: Vec<String> = alphabet.names().iter().map(|n| spelled(n)).collect();
        let (name, blank) = (spelled(name), spelled(alphabet.name(alphabet.blank())));
        let access = if *access == Access::ReadOnly { " read-only" } else { "" };
        text += &format!("tape {name}: {} blank {blank}{access}\n", symbols.join(" "));
    }
    text += match machine.missing() {
        Missing::Halt => "missing: halt\n",
        Missing::Reject => "missing: reject\n",
    };
    text += &format!("start: {}\n", spelled(&machine.state(machine.start()).name));
    if let Some(input) = input {
        text += &inputs(machine, input)?;
    }
    for state in machine.states() {
        text += &format!("\n{}:", spelled(&state.name));
        match state.halting {
            Some(true) => text += " accept\n",
            Some(false) => text += " reject\n",
            None => {
                text += &state.samples.word().map_or_else(String::new, |word| format!(" {word}"));
                text += &format!("\n{}", rule_lines(machine, &state.rules));
            }
        }
    }
    Ok(text)
}

/// Symbols with longer names are not aligned.
const WIDEST: usize = 64;

/// One line per tape with an input, and always one for the last tape, so that the number of tapes is the same when read.
fn inputs(machine: &Machine, input: &Input) -> Result<String, Obstacle> {
    let (n_inputs, n_tapes) = (input.tapes.len(), machine.n_tapes());
    if n_inputs > n_tapes {
        return Err(Obstacle::Input(format!("it has {n_inputs} tapes, the machine {n_tapes}")));
    }
    let mut text = String::new();
    for (index, (Tape { name, alphabet, .. }, tape_input)) in
        machine.tapes().iter().zip(&input.tapes).enumerate()
    {
        if index + 1 < n_inputs && *tape_input == TapeInput::default() {
            continue;
        }
        if let Some(unknown) = tape_input.symbols.iter().find(|s| s.index() >= alphabet.len()) {
            return Err(Obstacle::Input(format!("tape `{name}` has no symbol {unknown}")));
        }
        if tape_input.head.unsigned_abs() > FARTHEST_HEAD.unsigned_abs() {
            let reason = format!("the head of tape `{name}` starts on cell {}", tape_input.head);
            return Err(Obstacle::Input(reason));
        }
        text += &format!("input {}:", spelled(name));
        for &symbol in &tape_input.symbols {
            text += &format!(" {}", spelled(alphabet.name(symbol)));
        }
        if tape_input.head != 0 {
            text += &format!(" head {}", tape_input.head);
        }
        text.push('\n');
    }
    Ok(text)
}

fn rule_lines(machine: &Machine, rules: &[Rule]) -> String {
    let spell = |(tape, symbol): (&Tape, Option<SymbolId>)| {
        symbol.map_or("*".to_owned(), |symbol| spelled(tape.alphabet.name(symbol)))
    };
    let tapes = || machine.tapes().iter();
    let row = |rule: &Rule| -> Vec<String> {
        let reads = tapes().zip(rule.reads.iter().map(|read| read.symbol()));
        let writes = tapes().zip(rule.writes.iter().map(|write| write.symbol()));
        reads.chain(writes).map(spell).collect()
    };
    let rows: Vec<Vec<String>> = rules.iter().map(row).collect();
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or(0).min(WIDEST)
    };
    let widths: Vec<usize> = (0..2 * machine.n_tapes()).map(width).collect();
    let mut text = String::new();
    for (rule, row) in rules.iter().zip(&rows) {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        let cells: Vec<String> = cells.collect();
        let (reads, writes) = cells.split_at(machine.n_tapes());
        let moves: Vec<&str> = rule.moves.iter().map(|m| m.spelled(["L", "S", "R"])).collect();
        let next = spelled(&machine.state(rule.next).name);
        let [reads, writes] = [reads, writes].map(|cells| cells.join(" "));
        text += &format!("  {reads} -> {writes}, {}, {next}\n", moves.join(" "));
    }
    text
}
