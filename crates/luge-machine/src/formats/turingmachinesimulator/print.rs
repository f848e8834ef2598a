//! Writes the headers and the pairs of lines.

use super::{BLANK, header};
use crate::{
    Input, Machine, Move, StateId, SymbolId, Tape,
    formats::{
        Format, Inexpressible,
        expand::{ExactRule, MAX_RULES, exact_rules},
        pieces::only_character,
        refusals::{check_rejecting, check_writable},
    },
};

const FORMAT: Format = Format::TuringMachineSimulator;

/// Writes a machine. The format has no place for an input.
///
/// # Errors
/// If the machine has read-only tapes, halts without accepting, or has names the format cannot spell or mention.
pub fn write(machine: &Machine, _input: Option<&Input>) -> Result<String, Inexpressible> {
    machine.tapes().iter().try_for_each(|tape| check_writable(tape, FORMAT))?;
    let symbols: Vec<Vec<String>> = machine.tapes().iter().map(symbol_texts).collect::<Result<_, _>>()?;
    machine.states().iter().try_for_each(|state| check_state_name(&state.name))?;
    check_rejecting(machine, FORMAT)?;
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
        let spelled = |ids: &[SymbolId]| -> String {
            ids.iter().zip(&symbols).map(|(symbol, names)| format!(",{}", names[symbol.index()])).collect()
        };
        let moves: String = rule.moves.iter().map(|&m| move_text(m)).collect();
        text.push_str(&format!(
            "\n{}{}\n{}{}{moves}\n",
            machine.state(state).name,
            spelled(&rule.reads),
            machine.state(rule.next).name,
            spelled(&rule.writes)
        ));
    }
    Ok(text)
}

fn move_text(head_move: Move) -> &'static str {
    match head_move {
        Move::Left => ",<",
        Move::Stay => ",-",
        Move::Right => ",>",
    }
}

/// The symbols of a tape as the format writes them.
fn symbol_texts(tape: &Tape) -> Result<Vec<String>, Inexpressible> {
    let refused =
        |reason: String| Inexpressible::Alphabet { format: FORMAT, tape: tape.name.clone(), reason };
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

fn check_state_name(name: &str) -> Result<(), Inexpressible> {
    if spells_state(name) {
        return Ok(());
    }
    let reason = format!("the name `{}` would not be read back as one", name.escape_debug());
    Err(Inexpressible::States { format: FORMAT, reason })
}

fn written_out(machine: &Machine) -> Result<Vec<(StateId, ExactRule)>, Inexpressible> {
    let mut all = Vec::new();
    for state in machine.state_ids() {
        let rules = exact_rules(machine, state).ok().filter(|rules| all.len() + rules.len() <= MAX_RULES);
        let Some(rules) = rules else {
            let reason =
                format!("without wildcards they need more than {MAX_RULES} rules, and it has no wildcards");
            return Err(Inexpressible::States { format: FORMAT, reason });
        };
        all.extend(rules.into_iter().map(|rule| (state, rule)));
    }
    Ok(all)
}

/// The format declares nothing: what no line mentions would be lost.
fn check_mentioned(machine: &Machine, rules: &[(StateId, ExactRule)]) -> Result<(), Inexpressible> {
    if rules.is_empty() && machine.n_tapes() > 1 {
        let allowed = "as many tapes as their first rule reads";
        return Err(Inexpressible::Tapes { format: FORMAT, allowed, n_tapes: machine.n_tapes() });
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
            mentioned[rule.reads[tape].index()] = true;
            mentioned[rule.writes[tape].index()] = true;
        }
    }
    if let Some(index) = states.iter().position(|&mentioned| !mentioned) {
        let reason = format!("no rule mentions state `{}`", machine.states()[index].name);
        return Err(Inexpressible::States { format: FORMAT, reason });
    }
    for (tape, mentioned) in machine.tapes().iter().zip(&symbols) {
        if let Some(index) = mentioned.iter().position(|&mentioned| !mentioned) {
            let reason = format!("no rule mentions symbol `{}`", tape.alphabet.names()[index]);
            return Err(Inexpressible::Alphabet { format: FORMAT, tape: tape.name.clone(), reason });
        }
    }
    Ok(())
}
