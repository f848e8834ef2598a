//! Writes the rules, state by state.

use std::collections::BTreeSet;

use super::{ANY, BLANK, INITIAL_TAPE, START, accepts, halts};
use crate::{
    Alphabet, Input, Machine, Pattern, Rule, StateId, SymbolId,
    formats::{Limits, Obstacle, first_free, only_character, unnamed_symbols},
};

/// The limits of the format.
pub(in crate::formats) const LIMITS: Limits =
    Limits { missing: None, start_may_halt: false, symbol_problem, ..Limits::WIDE };

/// Writes a machine, and its input as a comment.
///
/// # Errors
/// If the input cannot be written.
pub(in crate::formats) fn write(machine: &Machine, input: Option<&Input>) -> Result<String, Obstacle> {
    let alphabet = &machine.tapes()[0].alphabet;
    let symbols: Vec<&str> = alphabet.symbols().map(|symbol| spelled_symbol(alphabet, symbol)).collect();
    let mut running: Vec<StateId> = machine.state_ids().filter(|&q| machine.halting(q).is_none()).collect();
    running.sort_by_key(|&q| q != machine.start());
    let states = spell_states(machine);

    let line = |state: StateId, read: Pattern, rule: &Rule| {
        let spelled = |symbol: Option<SymbolId>| symbol.map_or(ANY, |symbol| symbols[symbol.index()]);
        let (read, write) = (spelled(read.symbol()), spelled(rule.writes[0].symbol()));
        let head = rule.moves[0].spelled(["l", ANY, "r"]);
        let (state, next) = (&states[state.index()], &states[rule.next.index()]);
        format!("{state} {read} {write} {head} {next}\n")
    };
    let mut text = input.map_or(Ok(String::new()), |input| initial_tape(&symbols, input))?;
    // A symbol that only wildcards match would be lost, so the start state gets an extra rule for it.
    for symbol in unnamed_symbols(machine, 0) {
        if let Some(rule) = machine.rule_for(machine.start(), &[symbol]) {
            text.push_str(&line(machine.start(), Pattern::Is(symbol), rule));
        }
    }
    for &state in &running {
        for rule in machine.rules(state) {
            text.push_str(&line(state, rule.reads[0], rule));
        }
    }
    Ok(text)
}

/// The comment with the input; empty for a blank input.
fn initial_tape(symbols: &[&str], input: &Input) -> Result<String, Obstacle> {
    let refused = |reason: &str| Obstacle::Input(reason.to_owned());
    let laid = match input.tapes.as_slice() {
        [] => return Ok(String::new()),
        [tape] => tape,
        _ => return Err(refused("there is only one tape")),
    };
    let head =
        usize::try_from(laid.head).map_err(|_| refused("the head starts to the left of its first cell"))?;
    let tape: Option<Vec<&str>> = laid.symbols.iter().map(|s| symbols.get(s.index()).copied()).collect();
    let mut tape = tape.ok_or_else(|| refused("it has symbols that the tape does not have"))?;
    if head > 0 {
        tape.resize(tape.len().max(head), BLANK);
        tape.insert(head, "*");
    }
    Ok(match tape.is_empty() {
        true => String::new(),
        false => format!("; {INITIAL_TAPE}: {}\n", tape.concat()),
    })
}

/// The spelling of a symbol: the blank is `_`, and a symbol with that name gets the blank's name.
fn spelled_symbol(alphabet: &Alphabet, symbol: SymbolId) -> &str {
    match alphabet.name(symbol) {
        _ if symbol == alphabet.blank() => BLANK,
        BLANK => alphabet.name(alphabet.blank()),
        name => name,
    }
}

fn symbol_problem(alphabet: &Alphabet, symbol: SymbolId) -> Option<String> {
    let (own, name) = (alphabet.name(symbol), spelled_symbol(alphabet, symbol));
    let fits = only_character(name).is_some_and(|c| c != '*' && c != ';' && !c.is_whitespace());
    (!fits).then(|| {
        format!(
            "symbol `{own}` would be `{name}`, but a symbol is one character other than `*`, `;` and blank space"
        )
    })
}

/// The names of the states, which determine whether they halt and accept; the start is `0`.
fn spell_states(machine: &Machine) -> Vec<String> {
    let start = machine.start();
    let fits = |state: StateId, name: &str| match machine.halting(state) {
        Some(accepting) => halts(name) && accepts(name) == accepting,
        None => !halts(name),
    };
    let wish = |state: StateId| match machine.state(state).name.as_str() {
        START => machine.state(start).name.as_str(),
        name => name,
    };
    let can_stay = |state: StateId| spelled(wish(state)) == wish(state) && fits(state, wish(state));
    // Names that need no change are assigned first, so that no changed name takes them.
    let mut others: Vec<StateId> = machine.state_ids().filter(|&state| state != start).collect();
    others.sort_by_key(|&state| !can_stay(state));
    let mut taken = BTreeSet::from([START.to_owned()]);
    let mut names = vec![START.to_owned(); machine.states().len()];
    for state in others {
        let name = spelled(wish(state));
        let prefix = match machine.halting(state) {
            _ if fits(state, &name) => "",
            None => "run-",
            Some(false) => "halt-reject-",
            Some(true) => "halt-",
        };
        let stem = format!("{prefix}{name}");
        // The name of an accepting state must not contain `reject`.
        let stem = if fits(state, &stem) { stem } else { "halt-accept".to_owned() };
        names[state.index()] = first_free(&stem, |name| taken.insert(name.to_owned()));
    }
    names
}

/// The name with `-` in place of blank space and `;`.
fn spelled(name: &str) -> String {
    match name {
        "" | ANY => "state".to_owned(),
        name => name.chars().map(|c| if c == ';' || c.is_whitespace() { '-' } else { c }).collect(),
    }
}
