//! Writes `.jff` files. The states are placed on a grid for display in JFLAP.

use super::BLANK;
use crate::{
    Alphabet, Machine, Pattern, Rule, StateId, SymbolId,
    formats::{KnownRules, Limits, spelling_problem, unnamed_symbols},
};

/// The number of states in a row of the grid, and the distance between them.
const PER_ROW: usize = 8;
const SPACING: usize = 120;

/// The limits of the format. It declares no alphabets, so symbols that no rule mentions are lost.
pub(in crate::formats) const LIMITS: Limits = Limits {
    has_one_tape: false,
    may_reject: false,
    symbol_problem: |alphabet, symbol| spelling_problem(alphabet, symbol, character_problem),
    name_problem: |name| {
        let is_invalid = name.is_empty() || !name.chars().all(is_xml);
        is_invalid.then(|| format!("the name `{}` cannot stand in XML", name.escape_debug()))
    },
    expands: |rules| !KnownRules::are_unordered(rules),
    keeps_unnamed: |machine, _| mention_all(machine).is_some(),
    ..Limits::WIDE
};

/// Writes a machine without its input.
pub(in crate::formats) fn write(machine: &Machine) -> String {
    let special = mention_all(machine);
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
    for (state, rule) in machine.all_rules() {
        text += &transition(machine, state, rule, None);
        if let Some((_, read)) = special.as_ref().filter(|(at, _)| std::ptr::eq(*at, rule)) {
            text += &transition(machine, state, rule, Some(read));
        }
    }
    text + "  </automaton>\n</structure>\n"
}

/// The label of a symbol; that of the blank is empty.
fn label(alphabet: &Alphabet, symbol: SymbolId) -> &str {
    if symbol == alphabet.blank() { "" } else { alphabet.name(symbol) }
}

/// A rule as a transition; `read` replaces the label that the rule reads.
fn transition(machine: &Machine, state: StateId, rule: &Rule, read: Option<&str>) -> String {
    let mut text = format!("    <transition><from>{state}</from><to>{}</to>", rule.next);
    for (index, tape) in machine.tapes().iter().enumerate() {
        let spelled = |symbol: Option<SymbolId>| symbol.map_or("~", |symbol| label(&tape.alphabet, symbol));
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

/// Why a character cannot be a symbol.
fn character_problem(c: char) -> Option<String> {
    match c {
        '~' => Some("`~` means any symbol there".to_owned()),
        '□' => Some(format!("`{BLANK}` is the blank there")),
        c if c.is_whitespace() || !is_xml(c) => Some(format!("`{}` is not a symbol there", c.escape_debug())),
        _ => None,
    }
}

/// On a single tape, symbols that no rule mentions are preserved by a second copy of some rule, which reads `!` and all
/// other symbols instead of its own. Returns that rule and the label.
fn mention_all(machine: &Machine) -> Option<(&Rule, String)> {
    let [tape] = machine.tapes() else { return None };
    let alphabet = &tape.alphabet;
    let lost = unnamed_symbols(machine, 0);
    // Inside `!…` a comma is a separator, so it cannot be listed there.
    if lost.is_empty() || lost.iter().any(|&symbol| alphabet.name(symbol) == ",") {
        return None;
    }
    let (rule, read) = machine.all_rules().find_map(|(_, rule)| match rule.reads[0] {
        Pattern::Is(symbol) if alphabet.name(symbol) != "!" => Some((rule, symbol)),
        _ => None,
    })?;
    let others = alphabet.symbols().filter(|&symbol| symbol != read);
    let spelled = |symbol| if symbol == alphabet.blank() { BLANK } else { alphabet.name(symbol) };
    Some((rule, format!("!{}", others.map(spelled).collect::<String>())))
}
