//! Writes the headers and the pairs of lines.

use std::collections::HashSet;

use super::{BLANK, header};
use crate::{
    Machine, Rule, StateId, SymbolId,
    formats::{
        MAX_RULES, Obstacle, check_names, check_rejecting, check_writable, rules_of_all, spelled_symbols,
        unmentioned, unnamed_symbols,
    },
};

/// Writes a machine. The format has no place for an input.
///
/// # Errors
/// If the machine has read-only tapes, halts without accepting, or has names the format cannot spell or mention.
pub(in crate::formats) fn write(machine: &Machine) -> Result<String, Obstacle> {
    machine.tapes().iter().try_for_each(check_writable)?;
    let symbols: Vec<Vec<String>> = machine
        .tapes()
        .iter()
        .map(|tape| spelled_symbols(tape, BLANK, symbol_problem))
        .collect::<Result<_, _>>()?;
    check_names(machine, spells_state, |name| {
        format!("the name `{}` would not be read back as one", name.escape_debug())
    })?;
    check_rejecting(machine)?;
    let never_kept = |_: &[Rule]| false;
    let rules = rules_of_all(machine, never_kept, |_| {
        format!("without wildcards they need more than {MAX_RULES} rules, and it has no wildcards")
    })?;
    check_mentioned(machine, &rules)?;

    let name_of = |state: StateId| machine.state(state).name.as_str();
    let mut text = String::new();
    if let Some(name) = machine.name().filter(|name| fits_on_line(name)) {
        text += &format!("name: {name}\n");
    }
    text += &format!("init: {}\n", name_of(machine.start()));
    let accepting = machine.state_ids().filter(|&state| machine.halting(state) == Some(true));
    let accepting: Vec<&str> = accepting.map(name_of).collect();
    if !accepting.is_empty() {
        text += &format!("accept: {}\n", accepting.join(","));
    }
    for (state, rule) in &rules {
        let spelled = |ids: &mut dyn Iterator<Item = SymbolId>| -> String {
            ids.zip(&symbols).map(|(symbol, names)| format!(",{}", names[symbol.index()])).collect()
        };
        let reads = spelled(&mut rule.reads.iter().filter_map(|read| read.symbol()));
        let writes = spelled(&mut rule.writes.iter().filter_map(|write| write.symbol()));
        let moves: String = rule.moves.iter().map(|head| head.spelled([",<", ",-", ",>"])).collect();
        text += &format!("\n{}{reads}\n{}{writes}{moves}\n", name_of(*state), name_of(rule.next));
    }
    Ok(text)
}

/// Why a character cannot be a symbol.
pub(in crate::formats) fn symbol_problem(c: char) -> Option<String> {
    let problem = match c {
        ',' => "the symbol `,` separates there",
        '_' => "the symbol `_` is the blank there",
        c if c.is_whitespace() => "space is not a symbol there",
        _ => return None,
    };
    Some(problem.to_owned())
}

fn fits_on_line(name: &str) -> bool {
    !name.is_empty() && name == name.trim() && !name.contains('\n') && !name.contains("//")
}

/// Whether a state may have this name.
pub(in crate::formats) fn spells_state(name: &str) -> bool {
    let in_rule = format!("{name},");
    fits_on_line(name) && !name.contains(',') && header(&in_rule).is_none() && !name.starts_with('\u{feff}')
}

/// The format declares nothing: what no line mentions would be lost.
fn check_mentioned(machine: &Machine, rules: &[(StateId, Rule)]) -> Result<(), Obstacle> {
    if rules.is_empty() && machine.n_tapes() > 1 {
        let allowed = "as many tapes as their first rule reads";
        return Err(Obstacle::Tapes { allowed, n_tapes: machine.n_tapes() });
    }
    let in_rules: HashSet<StateId> = rules.iter().flat_map(|(state, rule)| [*state, rule.next]).collect();
    let mentioned = |&state: &StateId| {
        state == machine.start() || machine.halting(state) == Some(true) || in_rules.contains(&state)
    };
    if let Some(lost) = machine.state_ids().find(|state| !mentioned(state)) {
        return Err(Obstacle::States(format!("no rule mentions state `{}`", machine.state(lost).name)));
    }
    for (index, tape) in machine.tapes().iter().enumerate() {
        if let Some(&lost) = unnamed_symbols(machine, index, rules.iter().map(|(_, rule)| rule)).first() {
            return Err(unmentioned(tape, lost));
        }
    }
    Ok(())
}
