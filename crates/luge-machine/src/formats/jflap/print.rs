//! Writes `.jff` files, the states on a grid so that JFLAP can show them.

use super::{BLANK, determinism::first_conflict};
use crate::{
    Machine, Pattern, Rule, StateId, SymbolId, Tape,
    formats::{
        MAX_RULES, Obstacle, check_names, check_rejecting, check_writable, rules_of_all, spelled_symbols,
        unmentioned, unnamed_symbols,
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
    let labels: Vec<Vec<String>> = machine.tapes().iter().map(labels).collect::<Result<_, _>>()?;
    check_names(machine, spells_state, |name| {
        format!("the name `{}` cannot stand in XML", name.escape_debug())
    })?;
    check_rejecting(machine)?;
    let rules = rules_of_all(machine, are_unordered, |name| {
        format!("state `{name}` needs more than {MAX_RULES} rules where their order does not matter")
    })?;
    let special = mention_all(machine, &labels, &rules)?;

    let mut text =
        String::from("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n<structure>\n");
    text += "  <type>turing</type>\n";
    if machine.n_tapes() > 1 {
        text += &format!("  <tapes>{}</tapes>\n", machine.n_tapes());
    }
    text += "  <automaton>\n";
    for state in machine.state_ids() {
        let [x, y] = [state.index() % PER_ROW, state.index() / PER_ROW].map(|place| (place + 1) * SPACING);
        let initial = if state == machine.start() { "<initial/>" } else { "" };
        let accepting = if machine.halting(state) == Some(true) { "<final/>" } else { "" };
        let name = escaped(&machine.state(state).name);
        text += &format!(
            "    <state id=\"{state}\" name=\"{name}\"><x>{x}.0</x><y>{y}.0</y>{initial}{accepting}</state>\n"
        );
    }
    for (index, (state, rule)) in rules.iter().enumerate() {
        text += &transition(&labels, *state, rule, None);
        if let Some((_, read)) = special.as_ref().filter(|(at, _)| *at == index) {
            text += &transition(&labels, *state, rule, Some(read));
        }
    }
    Ok(text + "  </automaton>\n</structure>\n")
}

/// Whether the order of rules does not matter.
fn are_unordered(rules: &[Rule]) -> bool {
    first_conflict(&rules.iter().collect::<Vec<_>>()).is_none()
}

/// A rule as a transition; `read`, if it is given, stands in place of what the rule reads.
fn transition(labels: &[Vec<String>], state: StateId, rule: &Rule, read: Option<&str>) -> String {
    let mut text = format!("    <transition><from>{state}</from><to>{}</to>", rule.next);
    for (index, labels) in labels.iter().enumerate() {
        let spelled = |symbol: Option<SymbolId>| symbol.map_or("~", |symbol| &labels[symbol.index()]);
        let elements = [
            ("read", read.unwrap_or_else(|| spelled(rule.reads[index].symbol()))),
            ("write", spelled(rule.writes[index].symbol())),
            ("move", rule.moves[index].spelled(["L", "S", "R"])),
        ];
        let on = if rule.reads.len() == 1 { String::new() } else { format!(" tape=\"{}\"", index + 1) };
        for (name, content) in elements {
            text += &match content {
                "" => format!("<{name}{on}/>"),
                content => format!("<{name}{on}>{}</{name}>", escaped(content)),
            };
        }
    }
    text + "</transition>\n"
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
fn is_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// The symbols of a tape as they are written: the blank is nothing.
fn labels(tape: &Tape) -> Result<Vec<String>, Obstacle> {
    check_writable(tape)?;
    spelled_symbols(tape, "", symbol_problem)
}

/// Why a character cannot be a symbol.
pub(in crate::formats) fn symbol_problem(c: char) -> Option<String> {
    match c {
        '~' => Some("`~` means any symbol there".to_owned()),
        BLANK => Some(format!("`{BLANK}` is the blank there")),
        c if c.is_whitespace() || !is_xml(c) => Some(format!("`{}` is not a symbol there", c.escape_debug())),
        _ => None,
    }
}

/// Whether a state may have this name.
pub(in crate::formats) fn spells_state(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_xml)
}

/// The format declares no alphabets: a symbol that no rule mentions would be lost. On a single tape the first rule that can is
/// written a second time, reading instead of its symbol `!` and all others. Returns that rule's place and its label, if one is needed.
fn mention_all(
    machine: &Machine,
    labels: &[Vec<String>],
    rules: &[(StateId, Rule)],
) -> Result<Option<(usize, String)>, Obstacle> {
    for (index, tape) in machine.tapes().iter().enumerate() {
        let labels = &labels[index];
        let lost = unnamed_symbols(machine, index, rules.iter().map(|(_, rule)| rule));
        let Some(&first) = lost.first() else { continue };
        let narrowed = rules.iter().enumerate().find_map(|(at, (_, rule))| match rule.reads[index] {
            Pattern::Is(symbol) if tape.alphabet.name(symbol) != "!" => Some((at, symbol)),
            _ => None,
        });
        // Inside `!…` a comma separates, so a comma that nothing else mentions cannot be mentioned there.
        let comma_lost = lost.iter().any(|&symbol| labels[symbol.index()] == ",");
        let Some((at, read)) = narrowed.filter(|_| machine.n_tapes() == 1 && !comma_lost) else {
            return Err(unmentioned(tape, first));
        };
        let others = labels.iter().enumerate().filter(|&(symbol, _)| symbol != read.index());
        let label: String = others.map(|(_, name)| name.chars().next().unwrap_or(BLANK)).collect();
        return Ok(Some((at, format!("!{label}"))));
    }
    Ok(None)
}
