//! bbchallenge standard text: `1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA`.
//!
//! Rows are states, separated by `_`; columns are the symbols read; a cell is the symbol to write, `L` or `R`, and the
//! next state.
//!
//! What an import does:
//! - The only tape is called `tape`; its symbols are `0`, `1`, …, one per column, and `0` is the blank.
//! - The states are `A`, `B`, …, one per row; the machine starts in `A`.
//! - `---` is an undefined transition: no rule. The machine halts there, without a step and without accepting.
//! - A next state beyond the rows (usually `Z` or `H`) is an accepting halting state; the step into it counts.
//! - The spaced variant `1RB 1LC  1RC ...` (one space between cells, two or more between states, `...` undefined)
//!   means the same.
//! - Empty lines and lines that begin with `#` are ignored, and so is text after the machine, with a warning.
//!   A list has one machine per line: [`entries`] returns all, and [`ReadOptions::line`](super::ReadOptions::line) selects one.
//!
//! What an export does:
//! - Wildcards are expanded; the start state becomes `A`, the other running states follow in order; the blank becomes `0`,
//!   the other symbols follow in order. States that are already called `A`, `B`, … and symbols `1`, `2`, … keep their names.
//! - A halting state keeps its name if that is a letter beyond the rows; otherwise it gets the last free letter, `Z` first.
//!   Halting states that no rule enters are omitted, and so are the names of the machine, tape and symbols.
//! - The input is omitted, because the format has no place for it.

mod entries;

use std::ops::Range;

use super::{Draft, DraftRule, DraftState, Limits, Loaded, Obstacle, Piece, head_move, lines};
use crate::{Alphabet, Diagnostic, Machine, Missing, Move, StateId, SymbolId, Tape, diagnostic::Findings};

pub use entries::{Entry, entries};
pub(super) use entries::{begins_with_cell, begins_with_machine};

/// The states in order.
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// The symbols in order.
const DIGITS: &str = "0123456789";

/// The letter of the `index`-th state, if there is one.
fn letter(index: usize) -> Option<&'static str> {
    LETTERS.get(index..=index)
}

/// The cells of one state.
struct Row<'t> {
    span: Range<usize>,
    cells: Vec<Piece<'t>>,
}

/// Reads the machine on a line of a list, counting all lines from 1, or the only machine of a text.
pub(super) fn read(text: &str, line: Option<usize>) -> Result<Loaded, Vec<Diagnostic>> {
    let mut log = Findings::default();
    let entry = match line {
        None => only_entry(text, &mut log),
        Some(line) => {
            entries(text).find(|entry| entry.line == line).ok_or_else(|| vec![no_machine_on(text, line)])
        }
    }?;
    if !entry.note.is_empty() {
        let end = entry.span.start + entry.text.len();
        let note = end - entry.note.len()..end;
        log.warning(note, "the text after the machine is ignored", "no part of the machine");
    }
    machine(&entry, text, log)
}

/// Reads one machine of a list, without a warning about the text after it.
///
/// # Errors
/// All errors found in the machine, in order. They point into `text`, the whole list.
pub fn read_entry(text: &str, entry: &Entry<'_>) -> Result<Loaded, Vec<Diagnostic>> {
    machine(entry, text, Findings::default())
}

fn machine(entry: &Entry<'_>, text: &str, mut log: Findings) -> Result<Loaded, Vec<Diagnostic>> {
    let rows = rows(&Piece { text: entry.machine, span: entry.span.clone() }, &mut log);
    let model = rows.iter().position(|row| !row.cells.is_empty()).unwrap_or(0);
    let n_symbols = rows.get(model).map_or(0, |row| row.cells.len()).min(DIGITS.len());
    check_shape(&rows, model, &mut log);
    // A letter without a row is a state that halts and accepts.
    let undeclared = |name: &str| match LETTERS.contains(name) {
        true => Ok(Some(true)),
        false => Err("states are letters from `A` to `Z`".to_owned()),
    };
    let mut draft = Draft::new(Missing::Halt, undeclared, log);
    draft.add_tapes(vec![Alphabet::new(DIGITS[..n_symbols].chars(), SymbolId(0))]);
    for (index, Row { span, cells }) in rows.into_iter().enumerate() {
        let Some(letter) = letter(index) else { break };
        let mut state = DraftState::new(Piece { text: letter, span }, None);
        for (symbol, cell) in cells.iter().enumerate().take(n_symbols) {
            state.rules.extend(rule(&DIGITS[symbol..=symbol], cell, &mut draft.findings));
        }
        draft.states.push(state);
    }
    draft.resolve(text)
}

/// The only entry of a text. A second line that is no machine is reported, and the first one is read nonetheless.
fn only_entry<'t>(text: &'t str, log: &mut Findings) -> Result<Entry<'t>, Vec<Diagnostic>> {
    let mut all = entries(text);
    let Some(first) = all.next() else {
        let error =
            Diagnostic::error(0..text.len(), "there is no machine in this text", "nothing but blank space");
        return Err(vec![error.with_help("a machine is one line such as `1RB1LB_1LA1RZ`")]);
    };
    let Some(second) = all.next() else { return Ok(first) };
    if begins_with_cell(second.machine) {
        let message = format!("a list of {} machines, where one is expected", 2 + all.count());
        let error = Diagnostic::error(second.span, message, "the second machine");
        return Err(vec![
            error.with_help("choose one by its line with --line, or take them all with --each"),
        ]);
    }
    let span = second.span.start..second.span.start + second.text.len();
    log.error(span, "a bbchallenge machine is a single line", "a second line")
        .remedy("put all states on one line, separated by `_`; a comment begins with `#`");
    Ok(first)
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

/// Splits a line at `_`, or the spaced variant at spaces.
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
        rows.push(Row { span: row.span.clone(), cells: cells(&row) });
    }
    rows
}

/// Splits a row into pieces of three characters; the last one may be shorter.
fn cells<'t>(row: &Piece<'t>) -> Vec<Piece<'t>> {
    let starts = row.text.char_indices().map(|(at, _)| at).step_by(3);
    let ends: Vec<usize> = starts.chain([row.text.len()]).collect();
    ends.windows(2).map(|ends| row.part(&row.text[ends[0]..ends[1]])).collect()
}

/// Checks that every row has as many cells as the model row, and that there are not too many rows or cells.
fn check_shape(rows: &[Row<'_>], model: usize, log: &mut Findings) {
    if let Some(row) = rows.get(LETTERS.len()) {
        let message = format!("{} states, but there are only {} letters", rows.len(), LETTERS.len());
        log.error(&row.span, message, "the first row without a letter");
    }
    let Some(n_symbols) = rows.get(model).map(|row| row.cells.len()) else { return };
    if let Some(cell) = rows[model].cells.get(DIGITS.len()) {
        let message = format!("{n_symbols} symbols, but there are only {} digits", DIGITS.len());
        log.error(&cell.span, message, "the first column without a digit");
    }
    let first = letter(model).unwrap_or_default();
    for (row, letter) in rows.iter().enumerate().filter_map(|(at, row)| Some((row, letter(at)?))) {
        let found = row.cells.len();
        if found != n_symbols && found != 0 {
            let message =
                format!("all rows must have the same number of cells, {n_symbols} as in row {first}");
            log.error(&row.span, message, format!("row {letter} has {found}"));
        }
    }
}

/// The rule of a cell; `None` if it is undefined or invalid. Reports what is invalid.
fn rule<'t>(symbol: &'t str, cell: &Piece<'t>, log: &mut Findings) -> Option<DraftRule<'t>> {
    if cell.text == "---" || cell.text == "..." {
        return None;
    }
    let characters = cell.characters();
    let [write, head, next] = characters.as_slice() else {
        let message = format!("a cell has three characters, this one has {}", characters.len());
        let help = match characters.len() {
            0..3 => "an undefined transition is written `---`",
            _ => "write `1RB1LC_1RC1RB`, or with spaces `1RB 1LC  1RC 1RB`: two of them between states",
        };
        log.error(&cell.span, message, "expected a digit, `L` or `R`, and a letter").remedy(help);
        return None;
    };
    let span = cell.span.clone();
    let read = Piece { text: symbol, span: span.clone() };
    let (reads, writes) = (vec![Some(read)], vec![Some(write.clone())]);
    let moves = vec![head_move(head, ["L", "", "R"], log)?];
    Some(DraftRule { reads, writes, moves, next: next.clone(), span })
}

/// The limits of the format. Halting states that no rule enters are omitted.
pub(super) const LIMITS: Limits = Limits {
    has_stay: false,
    missing: Some(Missing::Halt),
    start_may_halt: false,
    may_reject: false,
    lists_halting: false,
    max_states: LETTERS.len(),
    max_symbols: DIGITS.len(),
    ..Limits::WIDE
};

/// Writes a machine without its input.
///
/// # Errors
/// If there are not enough digits or letters.
pub(super) fn write(machine: &Machine) -> Result<String, Obstacle> {
    let symbols = symbols_blank_first(machine)?;
    let rows = rows_start_first(machine)?;
    let digit = |symbol: SymbolId| symbols.iter().position(|&s| s == symbol).unwrap_or(0);
    let letters = letters(machine, &rows)?;
    let cell = |state: StateId, symbol: SymbolId| match machine.rule_for(state, &[symbol]) {
        None => "---".to_owned(),
        Some(rule) => {
            let head = if rule.moves[0] == Move::Left { 'L' } else { 'R' };
            format!("{}{head}{}", digit(rule.writes[0].over(symbol)), letters[rule.next.index()])
        }
    };
    let row = |&state: &StateId| symbols.iter().map(|&symbol| cell(state, symbol)).collect::<String>();
    Ok(rows.iter().map(row).collect::<Vec<_>>().join("_") + "\n")
}

fn symbols_blank_first(machine: &Machine) -> Result<Vec<SymbolId>, Obstacle> {
    let Tape { name: tape, alphabet, .. } = &machine.tapes()[0];
    if alphabet.len() > DIGITS.len() {
        let reason = format!("{} symbols, but there are only {} digits", alphabet.len(), DIGITS.len());
        return Err(Obstacle::Alphabet { tape: tape.clone(), reason });
    }
    let name = |symbol| if symbol == alphabet.blank() { "0" } else { alphabet.name(symbol) };
    Ok(in_order(alphabet.symbols().collect(), alphabet.blank(), DIGITS, name))
}

fn rows_start_first(machine: &Machine) -> Result<Vec<StateId>, Obstacle> {
    let rows: Vec<StateId> = machine.state_ids().filter(|&q| machine.halting(q).is_none()).collect();
    if rows.len() > LETTERS.len() {
        let reason = format!("{} states that run, but there are only {} letters", rows.len(), LETTERS.len());
        return Err(Obstacle::States(reason));
    }
    Ok(in_order(rows, machine.start(), LETTERS, |q| &machine.state(q).name))
}

/// The items, the first one in front. If their names are the first of the given ones, they keep them.
fn in_order<'m, I: Copy + PartialEq>(
    mut items: Vec<I>,
    first: I,
    names: &str,
    name: impl Fn(I) -> &'m str,
) -> Vec<I> {
    items.sort_by_key(|&item| item != first);
    let mut by_name = items.clone();
    by_name.sort_by_key(|&item| name(item));
    let named = by_name.iter().map(|&item| name(item)).eq(names.split("").skip(1).take(items.len()));
    if named && by_name[0] == first { by_name } else { items }
}

/// The letters of the states that are rows or that a rule enters.
fn letters(machine: &Machine, rows: &[StateId]) -> Result<Vec<&'static str>, Obstacle> {
    let mut letters = vec![""; machine.states().len()];
    for (row, letter) in rows.iter().zip((0..).map_while(letter)) {
        letters[row.index()] = letter;
    }
    let mut free: Vec<&str> = (rows.len()..).map_while(letter).collect();
    let mut unnamed = Vec::new();
    for halt in rows.iter().flat_map(|&row| machine.rules(row)).map(|rule| rule.next) {
        if machine.halting(halt).is_none() || !letters[halt.index()].is_empty() || unnamed.contains(&halt) {
            continue;
        }
        match free.iter().position(|letter| *letter == machine.state(halt).name) {
            Some(kept) => letters[halt.index()] = free.remove(kept),
            None => unnamed.push(halt),
        }
    }
    for halt in unnamed {
        letters[halt.index()] = free.pop().ok_or_else(|| {
            let name = &machine.state(halt).name;
            Obstacle::States(format!("no letter is left for the halting state `{name}`"))
        })?;
    }
    Ok(letters)
}

#[cfg(test)]
mod tests;
