//! Writing the lines, state by state.

use std::collections::BTreeSet;

use super::{ANY, BLANK, INITIAL_TAPE, START, accepts, halts};
use crate::{
    Input, Machine, Missing, Pattern, Rule, StateId, SymbolId,
    formats::{
        Obstacle, first_free, only_character, only_tape, running_states, unnamed_symbols, without_rule,
    },
};

/// Writes a machine, and its input as a comment.
///
/// # Errors
/// What Morphett's format cannot express.
pub(in crate::formats) fn write(machine: &Machine, input: Option<&Input>) -> Result<String, Obstacle> {
    let symbols = spell_symbols(machine)?;
    let running = running_states(machine)?;
    check_complete(machine)?;
    let states = spell_states(machine);

    let line = |state: StateId, read: Pattern, rule: &Rule| {
        let spelled =
            |symbol: Option<SymbolId>| symbol.map_or(ANY.to_owned(), |s| symbols[s.index()].to_string());
        let (read, write) = (spelled(read.symbol()), spelled(rule.writes[0].symbol()));
        let head = rule.moves[0].spelled(["l", ANY, "r"]);
        let (state, next) = (&states[state.index()], &states[rule.next.index()]);
        format!("{state} {read} {write} {head} {next}\n")
    };
    let mut text = input.map_or(Ok(String::new()), |input| initial_tape(&symbols, input))?;
    // A symbol that stands behind wildcards only would be lost.
    let live = running.iter().flat_map(|&state| live_rules(machine, state));
    for symbol in unnamed_symbols(machine, 0, live) {
        if let Some(rule) = machine.rule_for(machine.start(), &[symbol]) {
            text.push_str(&line(machine.start(), Pattern::Is(symbol), rule));
        }
    }
    for &state in &running {
        for rule in live_rules(machine, state) {
            text.push_str(&line(state, rule.reads[0], rule));
        }
    }
    Ok(text)
}

/// The comment with the input; nothing for a blank one.
fn initial_tape(symbols: &[char], input: &Input) -> Result<String, Obstacle> {
    let refused = |reason: &str| Obstacle::Input(reason.to_owned());
    let laid = match input.tapes.as_slice() {
        [] => return Ok(String::new()),
        [tape] => tape,
        _ => return Err(refused("there is only one tape")),
    };
    let head =
        usize::try_from(laid.head).map_err(|_| refused("the head starts to the left of its first cell"))?;
    let tape: Option<Vec<char>> = laid.symbols.iter().map(|s| symbols.get(s.index()).copied()).collect();
    let mut tape = tape.ok_or_else(|| refused("it has symbols that the tape does not have"))?;
    if head > 0 {
        tape.resize(tape.len().max(head), BLANK);
        tape.insert(head, '*');
    }
    Ok(match tape.is_empty() {
        true => String::new(),
        false => format!("; {INITIAL_TAPE}: {}\n", tape.iter().collect::<String>()),
    })
}

/// The rules of a state that can apply.
fn live_rules(machine: &Machine, state: StateId) -> impl Iterator<Item = &Rule> {
    let mut earlier: Vec<Pattern> = Vec::new();
    machine.rules(state).iter().filter(move |rule| {
        let read = rule.reads[0];
        let live = !earlier.contains(&read) && !earlier.contains(&Pattern::Any);
        earlier.push(read);
        live
    })
}

/// A running state without a rule for some symbol would need a step to halt.
fn check_complete(machine: &Machine) -> Result<(), Obstacle> {
    let does = match machine.missing() {
        Missing::Halt => "halts",
        Missing::Reject => "rejects",
    };
    let does = format!("{does} there without a step, where Morphett's machines step into `halt`");
    for state in machine.state_ids().filter(|&q| machine.halting(q).is_none()) {
        let mut symbols = machine.tapes()[0].alphabet.symbols();
        if let Some(symbol) = symbols.find(|&symbol| machine.rule_for(state, &[symbol]).is_none()) {
            return Err(without_rule(machine, state, symbol, &does));
        }
    }
    Ok(())
}

/// One character per symbol; the blank is `_`, and a symbol that had that name takes the blank's.
fn spell_symbols(machine: &Machine) -> Result<Vec<char>, Obstacle> {
    let tape = only_tape(machine)?;
    let alphabet = &tape.alphabet;
    let spell = |symbol: SymbolId| {
        if symbol == alphabet.blank() {
            return Ok(BLANK);
        }
        let own = alphabet.name(symbol);
        let name = if own.chars().eq([BLANK]) { alphabet.name(alphabet.blank()) } else { own };
        only_character(name).filter(|&c| c != '*' && c != ';' && !c.is_whitespace()).ok_or_else(|| {
            let reason = format!(
                "symbol `{own}` would be `{name}`, but a symbol is one character other than `*`, `;` and blank space"
            );
            Obstacle::Alphabet { tape: tape.name.clone(), reason }
        })
    };
    alphabet.symbols().map(spell).collect()
}

/// A name per state that says whether it halts and accepts; the start is `0`.
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
    // Names that can stay are given out first, so that no changed name takes them.
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
        // An accepting state may not be called anything with `reject` in it.
        let stem = if fits(state, &stem) { stem } else { "halt-accept".to_owned() };
        names[state.index()] = first_free(&stem, |name| taken.insert(name.to_owned()));
    }
    names
}

/// The name without blank space and `;`.
fn spelled(name: &str) -> String {
    match name {
        "" | ANY => "state".to_owned(),
        name => name.chars().map(|c| if c == ';' || c.is_whitespace() { '-' } else { c }).collect(),
    }
}
