//! Reading the line: first into rows and cells with their places in the text, then into a machine.

use std::ops::Range;

use super::{
    MAX_STATES, MAX_SYMBOLS,
    entries::{Entry, begins_with_cell, entries},
    letter,
};
use crate::{
    Alphabet, Diagnostic, Machine, Missing, Move, Pattern, StateId, SymbolId, Write,
    diagnostic::Findings,
    formats::{Loaded, Piece, finish, lines},
};

/// One state's row: its place and its cells.
struct Row<'t> {
    span: Range<usize>,
    cells: Vec<Piece<'t>>,
}

/// Reads the machine on a line of a list, counted from 1 with the comments and the empty lines, or the only one of a text.
pub(in crate::formats) fn read(text: &str, line: Option<usize>) -> Result<Loaded, Vec<Diagnostic>> {
    let mut log = Findings::default();
    let entry = match line {
        None => only_entry(text, &mut log),
        Some(line) => {
            let entry = entries(text).find(|entry| entry.line == line);
            if entry.is_none() {
                log.push(no_machine_on(text, line));
            }
            entry
        }
    };
    if let Some(entry) = entry.as_ref().filter(|entry| !entry.note.is_empty()) {
        log.push(note_passed_over(entry));
    }
    machine(entry.as_ref(), text, log)
}

/// Reads one machine of a list. The text after it is the caller's to show: it gives no finding.
///
/// # Errors
/// All errors found in the machine, in order. They point into `text`, the whole list.
pub fn read_entry(text: &str, entry: &Entry<'_>) -> Result<Loaded, Vec<Diagnostic>> {
    machine(Some(entry), text, Findings::default())
}

fn machine(entry: Option<&Entry<'_>>, text: &str, mut log: Findings) -> Result<Loaded, Vec<Diagnostic>> {
    let rows = match entry {
        Some(entry) => rows(&Piece { text: entry.machine, span: entry.span.clone() }, &mut log),
        None => Vec::new(),
    };
    let model = rows.iter().position(|row| !row.cells.is_empty()).unwrap_or(0);
    let n_symbols = rows.get(model).map_or(0, |row| row.cells.len());
    check_shape(&rows, model, &mut log);

    let mut builder = Machine::builder();
    builder.missing(Missing::Halt);
    builder.tape("tape", Alphabet::new((0..n_symbols.min(MAX_SYMBOLS)).map(|s| s.to_string()), SymbolId(0)));
    let letters: Vec<char> = (0..rows.len().min(MAX_STATES)).map(letter).collect();
    let states: Vec<StateId> = letters.iter().map(|letter| builder.state(letter.to_string())).collect();
    for (&state, row) in states.iter().zip(&rows) {
        for (cell, symbol) in row.cells.iter().take(MAX_SYMBOLS).zip(0..) {
            let Some((write, head, next)) = step(cell, n_symbols, &mut log) else { continue };
            let is_row = letters.iter().any(|letter| next.chars().eq([*letter]));
            let next = if is_row { builder.state(next) } else { builder.halting_state(next, true) };
            builder.rule(state, [Pattern::Is(SymbolId(symbol))], [Write::Put(write)], [head], next);
        }
    }
    finish(builder, None, log, text)
}

/// The entry of a text that has one; anything else is noted.
fn only_entry<'t>(text: &'t str, log: &mut Findings) -> Option<Entry<'t>> {
    let mut all = entries(text);
    let Some(first) = all.next() else {
        log.error(0..text.len(), "there is no machine in this text", "nothing but blank space")
            .remedy("a machine is one line such as `1RB1LB_1LA1RZ`");
        return None;
    };
    let Some(second) = all.next() else { return Some(first) };
    if begins_with_cell(second.machine) {
        let message = format!("a list of {} machines, where one is expected", 2 + all.count());
        log.error(second.span, message, "the second machine")
            .remedy("choose one by its line with --line, or take them all with --each");
        return None;
    }
    let span = second.span.start..second.span.start + second.text().len();
    log.error(span, "a bbchallenge machine is a single line", "a second line")
        .remedy("put all states on one line, separated by `_`; a comment begins with `#`");
    Some(first)
}

fn note_passed_over(entry: &Entry<'_>) -> Diagnostic {
    let end = entry.span.start + entry.text().len();
    let message = "the text after the machine is ignored";
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
fn rows<'t>(line: &Piece<'t>, log: &mut Findings) -> Vec<Row<'t>> {
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
            log.error(&row.span, format!("row {} is empty", rows.len() + 1), "expected cells here")
                .remedy("rows are separated by one `_`, with none at either end");
        }
        rows.push(Row { span: row.span.clone(), cells: chunks(&row, 3) });
    }
    rows
}

/// Pieces of this many characters, the last one shorter if there is a rest.
fn chunks<'t>(piece: &Piece<'t>, n_characters: usize) -> Vec<Piece<'t>> {
    let starts = piece.text.char_indices().map(|(at, _)| at).step_by(n_characters);
    let ends: Vec<usize> = starts.chain([piece.text.len()]).collect();
    ends.windows(2).map(|ends| piece.part(&piece.text[ends[0]..ends[1]])).collect()
}

/// As many cells in every row as in the model row, and not too many rows or cells.
fn check_shape(rows: &[Row<'_>], model: usize, log: &mut Findings) {
    if let Some(row) = rows.get(MAX_STATES) {
        let message = format!("{} states, but there are only {MAX_STATES} letters", rows.len());
        log.error(&row.span, message, "the first row without a letter");
    }
    let Some(n_symbols) = rows.get(model).map(|row| row.cells.len()) else { return };
    if let Some(cell) = rows[model].cells.get(MAX_SYMBOLS) {
        let message = format!("{n_symbols} symbols, but there are only {MAX_SYMBOLS} digits");
        log.error(&cell.span, message, "the first column without a digit");
    }
    for (index, row) in rows.iter().enumerate().take(MAX_STATES).skip(model + 1) {
        let found = row.cells.len();
        if found != n_symbols && found != 0 {
            let first = letter(model);
            let message =
                format!("all rows must have the same number of cells, {n_symbols} as in row {first}");
            let label = format!("row {} has {found}", letter(index));
            log.error(&row.span, message, label);
        }
    }
}

/// What a cell says: the symbol to write, the move and the next state. Nothing if it is undefined, or if anything is wrong with
/// it, which is noted.
fn step<'t>(cell: &Piece<'t>, n_symbols: usize, log: &mut Findings) -> Option<(SymbolId, Move, &'t str)> {
    if cell.text == "---" || cell.text == "..." {
        return None;
    }
    let characters = chunks(cell, 1);
    let [write, head, next] = characters.as_slice() else {
        let message = format!("a cell has three characters, this one has {}", characters.len());
        let help = match characters.len() {
            0..3 => "an undefined transition is written `---`",
            _ => "write `1RB1LC_1RC1RB`, or with spaces `1RB 1LC  1RC 1RB`: two of them between states",
        };
        log.error(&cell.span, message, "expected a digit, `L` or `R`, and a letter").remedy(help);
        return None;
    };
    let n_findings = log.count();
    let digit = write.text.parse::<u8>();
    match digit {
        Ok(digit) if usize::from(digit) >= n_symbols => {
            let message = format!("symbol {digit} has no column: rows have {n_symbols} cells");
            log.error(&write.span, message, "written here, but it could never be read");
        }
        Ok(_) => {}
        Err(_) => {
            let message = format!("`{}` is not a symbol", write.text);
            log.error(&write.span, message, "expected a digit: the symbol to write");
        }
    }
    // There is no stay move, so nothing spells it.
    let direction = Move::named(head.text, ["L", "", "R"]);
    if direction.is_none() {
        let message = format!("`{}` is not a move", head.text);
        let finding = log.error(&head.span, message, "expected `L` or `R`");
        if matches!(head.text, "S" | "N") {
            finding.remedy("a bbchallenge machine has no stay move");
        }
    }
    if !next.text.starts_with(|c: char| c.is_ascii_uppercase()) {
        let label = "expected a letter from `A` to `Z`: the next state";
        log.error(&next.span, format!("`{}` is not a state", next.text), label);
    }
    (log.count() == n_findings).then_some((SymbolId(digit.ok()?), direction?, next.text))
}
