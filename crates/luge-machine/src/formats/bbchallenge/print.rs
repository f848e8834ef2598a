//! Writing the line.

use super::{MAX_STATES, MAX_SYMBOLS, letter};
use crate::{
    Machine, Missing, Move, StateId, SymbolId,
    formats::{Action, Obstacle, only_tape, running_states, without_rule},
};

/// Writes a machine. The input is left out: the format has no place for it.
///
/// # Errors
/// What a bbchallenge line cannot express.
pub(in crate::formats) fn write(machine: &Machine) -> Result<String, Obstacle> {
    let symbols = symbols_blank_first(machine)?;
    let rows = rows_start_first(machine)?;
    let digit = |symbol: SymbolId| symbols.iter().position(|&s| s == symbol).unwrap_or(0);
    let letters = letters(machine, &rows)?;
    let mut text = String::new();
    for (index, &state) in rows.iter().enumerate() {
        if index > 0 {
            text.push('_');
        }
        for &symbol in &symbols {
            let Some(Action { write, head, next }) = Action::of(machine, state, symbol) else {
                if machine.missing() == Missing::Reject {
                    let does = "rejects there, where a bbchallenge machine halts";
                    return Err(without_rule(machine, state, symbol, does));
                }
                text.push_str("---");
                continue;
            };
            text.push_str(&digit(write).to_string());
            text.push(match head {
                Move::Left => 'L',
                Move::Right => 'R',
                Move::Stay => return Err(Obstacle::Stay(machine.state(state).name.clone())),
            });
            text.push(letters[next.index()].unwrap_or('Z'));
        }
    }
    text.push('\n');
    Ok(text)
}

fn symbols_blank_first(machine: &Machine) -> Result<Vec<SymbolId>, Obstacle> {
    let tape = only_tape(machine)?;
    let alphabet = &tape.alphabet;
    if alphabet.len() > MAX_SYMBOLS {
        let reason = format!("{} symbols, but there are only {MAX_SYMBOLS} digits", alphabet.len());
        return Err(Obstacle::Alphabet { tape: tape.name.clone(), reason });
    }
    let mut symbols: Vec<SymbolId> = alphabet.symbols().collect();
    symbols.sort_by_key(|&s| s != alphabet.blank());
    // Symbols that are the digits already keep them, whatever their order.
    let mut by_name = symbols.clone();
    by_name[1..].sort_by_key(|&s| alphabet.name(s));
    let are_digits = by_name.iter().zip(0..).skip(1).all(|(&s, digit)| alphabet.name(s) == digit.to_string());
    Ok(if are_digits { by_name } else { symbols })
}

fn rows_start_first(machine: &Machine) -> Result<Vec<StateId>, Obstacle> {
    let rows = running_states(machine)?;
    if rows.len() > MAX_STATES {
        let reason = format!("{} states that run, but there are only {MAX_STATES} letters", rows.len());
        return Err(Obstacle::States(reason));
    }
    // States that are the letters already keep them, whatever their order.
    let mut by_name = rows.clone();
    by_name.sort_by_key(|&q| &machine.state(q).name);
    let named = |(index, &q): (usize, &StateId)| machine.state(q).name.chars().eq([letter(index)]);
    let are_letters = by_name[0] == machine.start() && by_name.iter().enumerate().all(named);
    Ok(if are_letters { by_name } else { rows })
}

/// A letter for every state that is a row or is entered by a rule that can apply.
fn letters(machine: &Machine, rows: &[StateId]) -> Result<Vec<Option<char>>, Obstacle> {
    let mut letters = vec![None; machine.states().len()];
    for (index, row) in rows.iter().enumerate() {
        letters[row.index()] = Some(letter(index));
    }
    let mut free: Vec<char> = (rows.len()..MAX_STATES).map(letter).collect();
    let mut unnamed = Vec::new();
    for halt in entered_halts(machine, rows)? {
        let name = &machine.state(halt).name;
        match free.iter().position(|letter| name.chars().eq([*letter])) {
            Some(kept) => letters[halt.index()] = Some(free.remove(kept)),
            None => unnamed.push(halt),
        }
    }
    for halt in unnamed {
        let Some(last) = free.pop() else {
            let reason = format!("no letter is left for the halting state `{}`", machine.state(halt).name);
            return Err(Obstacle::States(reason));
        };
        letters[halt.index()] = Some(last);
    }
    Ok(letters)
}

/// The halting states that rules enter, in order; all must accept.
fn entered_halts(machine: &Machine, rows: &[StateId]) -> Result<Vec<StateId>, Obstacle> {
    let mut entered = Vec::new();
    for &row in rows {
        for symbol in machine.tapes()[0].alphabet.symbols() {
            let Some(next) = Action::of(machine, row, symbol).map(|action| action.next) else { continue };
            match machine.halting(next) {
                Some(true) if !entered.contains(&next) => entered.push(next),
                Some(false) => {
                    let reason = format!("state `{}` halts without accepting", machine.state(next).name);
                    return Err(Obstacle::Halting(reason));
                }
                _ => {}
            }
        }
    }
    Ok(entered)
}
