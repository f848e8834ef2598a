//! Writes a machine as one line.

use super::{DIGITS, LETTERS, letter};
use crate::{
    Machine, Missing, Move, StateId, SymbolId,
    formats::{Limits, Obstacle},
};

/// The limits of the format. Halting states that no rule enters are omitted.
pub(in crate::formats) const LIMITS: Limits = Limits {
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
pub(in crate::formats) fn write(machine: &Machine) -> Result<String, Obstacle> {
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
    let tape = &machine.tapes()[0];
    let alphabet = &tape.alphabet;
    if alphabet.len() > DIGITS.len() {
        let reason = format!("{} symbols, but there are only {} digits", alphabet.len(), DIGITS.len());
        return Err(Obstacle::Alphabet { tape: tape.name.clone(), reason });
    }
    let mut symbols: Vec<SymbolId> = alphabet.symbols().collect();
    symbols.sort_by_key(|&s| s != alphabet.blank());
    // Symbols whose names are the digits keep them, in any order.
    let mut by_name = symbols.clone();
    by_name[1..].sort_by_key(|&s| alphabet.name(s));
    let are_digits = by_name.iter().zip(0..).skip(1).all(|(&s, digit)| alphabet.name(s) == digit.to_string());
    Ok(if are_digits { by_name } else { symbols })
}

fn rows_start_first(machine: &Machine) -> Result<Vec<StateId>, Obstacle> {
    let mut rows: Vec<StateId> = machine.state_ids().filter(|&q| machine.halting(q).is_none()).collect();
    rows.sort_by_key(|&q| q != machine.start());
    if rows.len() > LETTERS.len() {
        let reason = format!("{} states that run, but there are only {} letters", rows.len(), LETTERS.len());
        return Err(Obstacle::States(reason));
    }
    // States whose names are the letters keep them, in any order.
    let mut by_name = rows.clone();
    by_name.sort_by_key(|&q| &machine.state(q).name);
    let named = |(index, &q): (usize, &StateId)| letter(index) == Some(machine.state(q).name.as_str());
    let are_letters = by_name[0] == machine.start() && by_name.iter().enumerate().all(named);
    Ok(if are_letters { by_name } else { rows })
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
