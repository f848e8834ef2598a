//! Writes the headers and the pairs of lines.

use super::{BLANK, header};
use crate::{
    Machine, Rule, StateId, SymbolId, Tape,
    formats::{
        Obstacle,
        expand::{MAX_RULES, exact_rules},
        pieces::only_character,
        refusals::{check_rejecting, check_writable},
    },
};

/// Writes a machine. The format has no place for an input.
///
/// # Errors
/// If the machine has read-only tapes, halts without accepting, or has names the format cannot spell or mention.
pub(in crate::formats) fn write(machine: &Machine) -> Result<String, Obstacle> {
    machine.tapes().iter().try_for_each(check_writable)?;
    let symbols: Vec<Vec<String>> = machine.tapes().iter().map(symbol_texts).collect::<Result<_, _>>()?;
    machine.states().iter().try_for_each(|state| check_state_name(&state.name))?;
    check_rejecting(machine)?;
    let rules = written_out(machine)?;
    check_mentioned(machine, &rules)?;

    let mut text = String::new();
    if let Some(name) = machine.name().filter(|name| fits_on_line(name)) {
        text.push_str(&format!("name: {name}\n"));
    }
    text.push_str(&format!("init: {}\n", machine.state(machine.start()).name));
    let accepting: Vec<&str> = machine
        .state_ids()
        .filter(|&state| machine.halting(state) == Some(true))
        .map(|state| machine.state(state).name.as_str())
        .collect();
    if !accepting.is_empty() {
        text.push_str(&format!("accept: {}\n", accepting.join(",")));
    }
    for (state, rule) in rules {
        let spelled = |ids: &mut dyn Iterator<Item = SymbolId>| -> String {
            ids.zip(&symbols).map(|(symbol, names)| format!(",{}", names[symbol.index()])).collect()
        };
        let moves: String = rule.moves.iter().map(|head| head.spelled([",<", ",-", ",>"])).collect();
        text.push_str(&format!(
            "\n{}{}\n{}{}{moves}\n",
            machine.state(state).name,
            spelled(&mut rule.reads.iter().filter_map(|read| read.symbol())),
            machine.state(rule.next).name,
            spelled(&mut rule.writes.iter().filter_map(|write| write.symbol()))
        ));
    }
    Ok(text)
}

/// The symbols of a tape as the format writes them.
fn symbol_texts(tape: &Tape) -> Result<Vec<String>, Obstacle> {
    let refused = |reason: String| Obstacle::Alphabet { tape: tape.name.clone(), reason };
    let alphabet = &tape.alphabet;
    alphabet
        .symbols()
        .map(|symbol| {
            let name = alphabet.name(symbol);
            if symbol == alphabet.blank() {
                return Ok(BLANK.to_owned());
            }
            let single = only_character(name)
                .ok_or_else(|| refused(format!("symbol `{name}` is not one character")))?;
            match single {
                ',' => Err(refused("the symbol `,` separates there".to_owned())),
                '_' => Err(refused("the symbol `_` is the blank there".to_owned())),
                c if c.is_whitespace() => Err(refused("space is not a symbol there".to_owned())),
                _ => Ok(name.to_owned()),
            }
        })
        .collect()
}

fn fits_on_line(name: &str) -> bool {
    !name.is_empty() && name == name.trim() && !name.contains('\n') && !name.contains("//")
}

/// Whether a state may have this name.
pub(in crate::formats) fn spells_state(name: &str) -> bool {
    let in_rule = format!("{name},");
    fits_on_line(name) && !name.contains(',') && header(&in_rule).is_none() && !name.starts_with('\u{feff}')
}

fn check_state_name(name: &str) -> Result<(), Obstacle> {
    if spells_state(name) {
        return Ok(());
    }
    let reason = format!("the name `{}` would not be read back as one", name.escape_debug());
    Err(Obstacle::States(reason))
}

fn written_out(machine: &Machine) -> Result<Vec<(StateId, Rule)>, Obstacle> {
    let mut all = Vec::new();
    for state in machine.state_ids() {
        let rules = exact_rules(machine, state).ok().filter(|rules| all.len() + rules.len() <= MAX_RULES);
        let Some(rules) = rules else {
            let reason =
                format!("without wildcards they need more than {MAX_RULES} rules, and it has no wildcards");
            return Err(Obstacle::States(reason));
        };
        all.extend(rules.into_iter().map(|rule| (state, rule)));
    }
    Ok(all)
}

/// The format declares nothing: what no line mentions would be lost.
fn check_mentioned(machine: &Machine, rules: &[(StateId, Rule)]) -> Result<(), Obstacle> {
    if rules.is_empty() && machine.n_tapes() > 1 {
        let allowed = "as many tapes as their first rule reads";
        return Err(Obstacle::Tapes { allowed, n_tapes: machine.n_tapes() });
    }
    let mut states: Vec<bool> = machine
        .state_ids()
        .map(|state| state == machine.start() || machine.halting(state) == Some(true))
        .collect();
    let mut symbols: Vec<Vec<bool>> = machine
        .tapes()
        .iter()
        .map(|tape| tape.alphabet.symbols().map(|s| s == tape.alphabet.blank()).collect())
        .collect();
    for (state, rule) in rules {
        states[state.index()] = true;
        states[rule.next.index()] = true;
        for (tape, mentioned) in symbols.iter_mut().enumerate() {
            let named = [rule.reads[tape].symbol(), rule.writes[tape].symbol()];
            named.into_iter().flatten().for_each(|symbol| mentioned[symbol.index()] = true);
        }
    }
    if let Some(index) = states.iter().position(|&mentioned| !mentioned) {
        let reason = format!("no rule mentions state `{}`", machine.states()[index].name);
        return Err(Obstacle::States(reason));
    }
    for (tape, mentioned) in machine.tapes().iter().zip(&symbols) {
        if let Some(index) = mentioned.iter().position(|&mentioned| !mentioned) {
            let reason = format!("no rule mentions symbol `{}`", tape.alphabet.names()[index]);
            return Err(Obstacle::Alphabet { tape: tape.name.clone(), reason });
        }
    }
    Ok(())
}
