//! Reading the line: first into rows and cells with their places in the text, then into a machine.

use std::ops::Range;

use super::{
    MAX_STATES, MAX_SYMBOLS,
    entries::{Entry, begins_with_cell, entries},
    letter,
};
use crate::{
    Alphabet, Diagnostic, Machine, MachineBuilder, Missing, Move, Pattern, SymbolId, Write,
    diagnostic::Findings,
    formats::{
        Loaded, finish,
        pieces::{Piece, lines},
    },
};

/// One state's row: its place and its cells.
struct Row<'t> {
    span: Range<usize>,
    cells: Vec<Piece<'t>>,
}

/// What a cell says.
enum Content {
    Undefined,
    Step { write: u8, head: Move, next: char },
}

/// Reads the machine on a line of a list, counted from 1 with the comments and the empty lines, or the only one of a text.
pub(in crate::formats) fn read(text: &str, line: Option<usize>) -> Result<Loaded, Vec<Diagnostic>> {
    let mut findings = Findings::default();
    let entry = match line {
        None => only_entry(text, &mut findings),
        Some(line) => {
            let entry = entries(text).find(|entry| entry.line == line);
            if entry.is_none() {
                findings.push(no_machine_on(text, line));
            }
            entry
        }
    };
    if let Some(entry) = entry.as_ref().filter(|entry| !entry.note.is_empty()) {
        findings.push(note_passed_over(entry));
    }
    machine(entry.as_ref(), text, findings)
}

/// Reads one machine of a list. The text after it is the caller's to show: it gives no finding.
///
/// # Errors
/// All errors found in the machine, in order. They point into `text`, the whole list.
pub fn read_entry(text: &str, entry: &Entry<'_>) -> Result<Loaded, Vec<Diagnostic>> {
    machine(Some(entry), text, Findings::default())
}

fn machine(entry: Option<&Entry<'_>>, text: &str, mut findings: Findings) -> Result<Loaded, Vec<Diagnostic>> {
    let rows = match entry {
        Some(entry) => rows(&Piece { text: entry.machine, span: entry.span.clone() }, &mut findings),
        None => Vec::new(),
    };
    let model = rows.iter().position(|row| !row.cells.is_empty()).unwrap_or(0);
    let n_symbols = rows.get(model).map_or(0, |row| row.cells.len());
    check_shape(&rows, model, &mut findings);

    let mut builder = Machine::builder();
    builder.missing(Missing::Halt);
    builder.tape("tape", Alphabet::new((0..n_symbols.min(MAX_SYMBOLS)).map(|s| s.to_string()), SymbolId(0)));
    for state in 0..rows.len().min(MAX_STATES) {
        builder.state(letter(state).to_string());
    }
    for (state, row) in rows.iter().take(MAX_STATES).enumerate() {
        for (symbol, cell) in row.cells.iter().take(MAX_SYMBOLS).enumerate() {
            if let Some(Content::Step { write, head, next }) = content(cell, n_symbols, &mut findings) {
                add_rule(&mut builder, rows.len(), (state, symbol), (write, head, next));
            }
        }
    }
    finish(builder, None, findings, text)
}

fn add_rule(
    builder: &mut MachineBuilder,
    n_rows: usize,
    (state, symbol): (usize, usize),
    (write, head, next): (u8, Move, char),
) {
    let name = next.to_string();
    let is_row = (0..n_rows.min(MAX_STATES)).any(|row| letter(row) == next);
    let next = if is_row { builder.state(name) } else { builder.halting_state(name, true) };
    let state = builder.state(letter(state).to_string());
    builder.rule(state, [Pattern::Is(SymbolId::new(symbol))], [Write::Put(SymbolId(write))], [head], next);
}

/// The entry of a text that has one; anything else is noted.
fn only_entry<'t>(text: &'t str, findings: &mut Findings) -> Option<Entry<'t>> {
    let mut all = entries(text);
    let Some(first) = all.next() else {
        findings
            .error(0..text.len(), "there is no machine in this text", "nothing but blank space")
            .remedy("a machine is one line such as `1RB1LB_1LA1RZ`");
        return None;
    };
    let Some(second) = all.next() else { return Some(first) };
    if begins_with_cell(second.machine) {
        let message = format!("a list of {} machines, where one is expected", 2 + all.count());
        findings
            .error(second.span, message, "the second machine")
            .remedy("choose one by its line with --line, or take them all with --each");
        return None;
    }
    let span = second.span.start..second.span.start + second.text().len();
    findings
        .error(span, "a bbchallenge machine is a single line", "a second line")
        .remedy("put all states on one line, separated by `_`; a comment begins with `#`");
    Some(first)
}

fn note_passed_over(entry: &Entry<'_>) -> Diagnostic {
    let end = entry.span.start + entry.text().len();
    let message = "the text after the machine is passed over";
    Diagnostic::warning(end - entry.note.len()..end, message, "no part of the machine")
}

fn no_machine_on(text: &str, line: usize) -> Diagnostic {
    let Some(found) = line.checked_sub(1).and_then(|index| lines(text).nth(index)) else {
        let message = format!("there is no line {line}");
        let label = format!("the text ends after line {}", text.lines().count());
        return Diagnostic::error(text.len()..text.len(), message, label)
            .with_help("lines are counted from 1");
    };
    let label = if found.text.trim().is_empty() { "an empty line" } else { "a comment" };
    let span = found.part(found.text.trim_end()).span;
    Diagnostic::error(span, format!("line {line} holds no machine"), label)
}

/// Splits the line at `_`, or the spaced variant at spaces.
fn rows<'t>(line: &Piece<'t>, findings: &mut Findings) -> Vec<Row<'t>> {
    let spaced = !line.text.contains('_') && line.text.contains(char::is_whitespace);
    let mut rows = Vec::new();
    if spaced {
        for word in line.words() {
            let before = &line.text[..word.span.start - line.span.start];
            let gap = before.chars().rev().take_while(|c| c.is_whitespace()).count();
            match rows.last_mut() {
                Some(Row { span, cells }) if gap == 1 => {
                    span.end = word.span.end;
                    cells.push(word);
                }
                _ => rows.push(Row { span: word.span.clone(), cells: vec![word] }),
            }
        }
        return rows;
    }
    for row in line.text.split('_').map(|text| line.part(text)) {
        if row.text.is_empty() {
            findings
                .error(&row.span, format!("row {} is empty", rows.len() + 1), "expected cells here")
                .remedy("rows are separated by one `_`, with none at either end");
        }
        rows.push(Row { span: row.span.clone(), cells: chunks(&row) });
    }
    rows
}

/// Pieces of three characters, the last one shorter if there is a rest.
fn chunks<'t>(row: &Piece<'t>) -> Vec<Piece<'t>> {
    let mut starts: Vec<usize> = row.text.char_indices().map(|(at, _)| at).step_by(3).collect();
    starts.push(row.text.len());
    starts.windows(2).map(|ends| row.part(&row.text[ends[0]..ends[1]])).collect()
}

/// As many cells in every row as in the model row, and not too many rows or cells.
fn check_shape(rows: &[Row<'_>], model: usize, findings: &mut Findings) {
    if let Some(row) = rows.get(MAX_STATES) {
        let message = format!("{} states, but there are only {MAX_STATES} letters", rows.len());
        findings.error(&row.span, message, "the first row without a letter");
    }
    let Some(n_symbols) = rows.get(model).map(|row| row.cells.len()) else { return };
    if let Some(cell) = rows[model].cells.get(MAX_SYMBOLS) {
        let message = format!("{n_symbols} symbols, but there are only {MAX_SYMBOLS} digits");
        findings.error(&cell.span, message, "the first column without a digit");
    }
    for (index, row) in rows.iter().enumerate().take(MAX_STATES).skip(model + 1) {
        let found = row.cells.len();
        if found != n_symbols && found != 0 {
            let first = letter(model);
            let message =
                format!("all rows must have the same number of cells, {n_symbols} as in row {first}");
            let label = format!("row {} has {found}", letter(index));
            findings.error(&row.span, message, label);
        }
    }
}

/// Reads one cell; anything wrong with it is noted.
fn content(cell: &Piece<'_>, n_symbols: usize, findings: &mut Findings) -> Option<Content> {
    if cell.text == "---" || cell.text == "..." {
        return Some(Content::Undefined);
    }
    let characters: Vec<(usize, char)> = cell.text.char_indices().collect();
    let &[write, head, next] = characters.as_slice() else {
        let message = format!("a cell has three characters, this one has {}", characters.len());
        let help = match characters.len() {
            0..3 => "an undefined transition is written `---`",
            _ => "write `1RB1LC_1RC1RB`, or with spaces `1RB 1LC  1RC 1RB`: two of them between states",
        };
        let label = "expected a digit, `L` or `R`, and a letter";
        findings.error(&cell.span, message, label).remedy(help);
        return None;
    };
    let n_findings = findings.count();
    let mut complain = |(at, c): (usize, char), message: String, label: &str, help: Option<&str>| {
        let start = cell.span.start + at;
        let mut finding = Diagnostic::error(start..start + c.len_utf8(), message, label);
        finding.help = help.map(str::to_owned);
        findings.push(finding);
    };
    let digit = write.1.to_digit(10).map_or(usize::MAX, |d| d as usize);
    if digit == usize::MAX {
        complain(
            write,
            format!("`{}` is not a symbol", write.1),
            "expected a digit: the symbol to write",
            None,
        );
    } else if digit >= n_symbols {
        let message = format!("symbol {digit} has no column: rows have {n_symbols} cells");
        complain(write, message, "written here, but it could never be read", None);
    }
    let direction = match head.1 {
        'L' => Move::Left,
        'R' => Move::Right,
        other => {
            let help = matches!(other, 'S' | 'N').then_some("a bbchallenge machine has no stay move");
            complain(head, format!("`{other}` is not a move"), "expected `L` or `R`", help);
            Move::Left
        }
    };
    if !next.1.is_ascii_uppercase() {
        let label = "expected a letter from `A` to `Z`: the next state";
        complain(next, format!("`{}` is not a state", next.1), label, None);
    }
    let write = u8::try_from(digit).ok().filter(|_| findings.count() == n_findings)?;
    Some(Content::Step { write, head: direction, next: next.1 })
}
