//! Writes `.jff` files, the states on a grid so that JFLAP can show them.

use super::{BLANK, determinism::first_conflict};
use crate::{
    Alphabet, Machine, Pattern, Rule, StateId, SymbolId, Tape, Write,
    formats::{
        Obstacle,
        expand::{MAX_RULES, exact_rules},
        pieces::only_character,
        refusals::{check_rejecting, check_writable},
    },
};

/// States in a row, and the distance between them.
const PER_ROW: usize = 8;
const SPACING: usize = 120;

/// Writes a machine, its states on a grid. The format has no place for an input.
///
/// # Errors
/// If the machine has read-only tapes, halts without accepting, or has names the format cannot spell or mention.
pub(in crate::formats) fn write(machine: &Machine) -> Result<String, Obstacle> {
    machine.tapes().iter().try_for_each(check_tape)?;
    check_names(machine)?;
    check_rejecting(machine)?;
    let rules = unordered_rules(machine)?;
    let special = mention_all(machine, &rules)?;

    let mut text =
        String::from("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n<structure>\n");
    text.push_str("  <type>turing</type>\n");
    if machine.n_tapes() > 1 {
        text.push_str(&format!("  <tapes>{}</tapes>\n", machine.n_tapes()));
    }
    text.push_str("  <automaton>\n");
    for state in machine.state_ids() {
        let [x, y] = [state.index() % PER_ROW, state.index() / PER_ROW].map(|place| (place + 1) * SPACING);
        let initial = if state == machine.start() { "<initial/>" } else { "" };
        let accepting = if machine.halting(state) == Some(true) { "<final/>" } else { "" };
        let name = escaped(&machine.state(state).name);
        text.push_str(&format!(
            "    <state id=\"{state}\" name=\"{name}\"><x>{x}.0</x><y>{y}.0</y>{initial}{accepting}</state>\n"
        ));
    }
    for (index, (state, rule)) in rules.iter().enumerate() {
        transition(machine, *state, rule, None, &mut text);
        if let Some((_, label)) = special.as_ref().filter(|(at, _)| *at == index) {
            transition(machine, *state, rule, Some(label), &mut text);
        }
    }
    text.push_str("  </automaton>\n</structure>\n");
    Ok(text)
}

fn transition(machine: &Machine, state: StateId, rule: &Rule, label: Option<&str>, text: &mut String) {
    text.push_str(&format!("    <transition><from>{state}</from><to>{}</to>", rule.next));
    for (index, tape) in machine.tapes().iter().enumerate() {
        let on = if machine.n_tapes() == 1 { String::new() } else { format!(" tape=\"{}\"", index + 1) };
        let spelled =
            |symbol: Option<SymbolId>| symbol.map_or("~", |symbol| label_of(&tape.alphabet, symbol));
        let read = label.unwrap_or_else(|| spelled(rule.reads[index].symbol()));
        text.push_str(&element("read", &on, &escaped(read)));
        text.push_str(&element("write", &on, &escaped(spelled(rule.writes[index].symbol()))));
        text.push_str(&element("move", &on, rule.moves[index].spelled(["L", "S", "R"])));
    }
    text.push_str("</transition>\n");
}

fn element(name: &str, attributes: &str, content: &str) -> String {
    if content.is_empty() {
        format!("<{name}{attributes}/>")
    } else {
        format!("<{name}{attributes}>{content}</{name}>")
    }
}

fn label_of(alphabet: &Alphabet, symbol: SymbolId) -> &str {
    if symbol == alphabet.blank() { "" } else { alphabet.name(symbol) }
}

fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\t' | '\n' | '\r' => safe.push_str(&format!("&#{};", u32::from(c))),
            c => safe.push(c),
        }
    }
    safe
}

/// The characters XML 1.0 allows.
pub(in crate::formats) fn is_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

fn check_tape(tape: &Tape) -> Result<(), Obstacle> {
    check_writable(tape)?;
    let alphabet = &tape.alphabet;
    for symbol in alphabet.symbols().filter(|&symbol| symbol != alphabet.blank()) {
        let name = alphabet.name(symbol);
        let reason = match only_character(name) {
            Some('~') => "`~` means any symbol there".to_owned(),
            Some(BLANK) => format!("`{BLANK}` is the blank there"),
            Some(c) if c.is_whitespace() || !is_xml(c) => {
                format!("`{}` is not a symbol there", c.escape_debug())
            }
            Some(_) => continue,
            None => format!("symbol `{name}` is not one character"),
        };
        return Err(Obstacle::Alphabet { tape: tape.name.clone(), reason });
    }
    Ok(())
}

/// Whether a state may have this name.
pub(in crate::formats) fn spells_state(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_xml)
}

fn check_names(machine: &Machine) -> Result<(), Obstacle> {
    match machine.states().iter().find(|state| !spells_state(&state.name)) {
        None => Ok(()),
        Some(state) => {
            let reason = format!("the name `{}` cannot stand in XML", state.name.escape_debug());
            Err(Obstacle::States(reason))
        }
    }
}

/// The rules of all states, those of a state written out where they rely on their order.
fn unordered_rules(machine: &Machine) -> Result<Vec<(StateId, Rule)>, Obstacle> {
    let mut all = Vec::new();
    for state in machine.state_ids() {
        let rules: Vec<&Rule> = machine.rules(state).iter().collect();
        if first_conflict(&rules).is_none() {
            all.extend(rules.into_iter().map(|rule| (state, rule.clone())));
            continue;
        }
        let exact = exact_rules(machine, state).ok().filter(|exact| all.len() + exact.len() <= MAX_RULES);
        let Some(exact) = exact else {
            let name = &machine.state(state).name;
            let reason =
                format!("state `{name}` needs more than {MAX_RULES} rules where their order does not matter");
            return Err(Obstacle::States(reason));
        };
        all.extend(exact.into_iter().map(|rule| (state, rule)));
    }
    Ok(all)
}

/// The format declares no alphabets: a symbol that no rule mentions would be lost. On a single tape the first rule that can is
/// written a second time, reading instead of its symbol `!` and all others. Returns that rule's place and its label, if one is needed.
fn mention_all(machine: &Machine, rules: &[(StateId, Rule)]) -> Result<Option<(usize, String)>, Obstacle> {
    for (index, tape) in machine.tapes().iter().enumerate() {
        let alphabet = &tape.alphabet;
        let mentions = |rule: &Rule, symbol: SymbolId| {
            rule.reads[index] == Pattern::Is(symbol) || rule.writes[index] == Write::Put(symbol)
        };
        let is_lost = |&symbol: &SymbolId| {
            symbol != alphabet.blank() && !rules.iter().any(|(_, rule)| mentions(rule, symbol))
        };
        let Some(lost) = alphabet.symbols().find(is_lost) else { continue };
        let narrowed = rules.iter().enumerate().find_map(|(at, (_, rule))| match rule.reads[index] {
            Pattern::Is(symbol) if alphabet.name(symbol) != "!" => Some((at, symbol)),
            _ => None,
        });
        // Inside `!…` a comma separates, so a comma that nothing else mentions cannot be mentioned there.
        let comma_lost = alphabet.symbols().any(|symbol| is_lost(&symbol) && alphabet.name(symbol) == ",");
        return match narrowed {
            Some((at, read)) if machine.n_tapes() == 1 && !comma_lost => {
                let others = alphabet.symbols().filter(|&symbol| symbol != read);
                let spelled = others.map(|symbol| match label_of(alphabet, symbol) {
                    "" => BLANK.to_string(),
                    name => name.to_owned(),
                });
                Ok(Some((at, format!("!{}", spelled.collect::<String>()))))
            }
            _ => {
                let reason = format!("no rule mentions symbol `{}`", alphabet.name(lost));
                Err(Obstacle::Alphabet { tape: tape.name.clone(), reason })
            }
        };
    }
    Ok(None)
}
