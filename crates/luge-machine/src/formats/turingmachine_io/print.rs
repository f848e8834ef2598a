//! Writes a document with its keys in the usual order.

use super::yaml::is_null_word;
use crate::{
    Alphabet, Input, Machine, Missing, Move, Rule, StateId, SymbolId,
    formats::{Limits, Obstacle, only_character},
};

/// YAML allows a key at most 1024 characters.
const LONGEST_NAME: usize = 1000;
/// The most symbols that a key lists; such keys are far shorter than that.
const MAX_LISTED: usize = 24;

/// The limits of the format.
pub(in crate::formats) const LIMITS: Limits = Limits {
    has_stay: false,
    missing: Some(Missing::Halt),
    symbol_problem: |alphabet, symbol| {
        let name = alphabet.name(symbol);
        only_character(name).is_none().then(|| format!("symbol `{name}` is not one character"))
    },
    name_problem: |name| {
        let begin: String = name.chars().take(20).collect();
        let is_long = scalar(name).chars().count() > LONGEST_NAME;
        is_long.then(|| format!("the name `{begin}…` is too long for a key"))
    },
    ..Limits::WIDE
};

/// Writes a machine and its input.
///
/// # Errors
/// If the input cannot be written.
pub(in crate::formats) fn write(machine: &Machine, input: Option<&Input>) -> Result<String, Obstacle> {
    let alphabet = &machine.tapes()[0].alphabet;
    let mut text = String::new();
    if let Some(name) = machine.name() {
        text += &format!("name: {}\n", scalar(name));
    }
    if let Some(input) = input {
        text += &input_line(alphabet, input)?;
    }
    text += &format!("blank: {}\n", quoted(alphabet.name(alphabet.blank())));
    text += &format!("start state: {}\n", scalar(&machine.state(machine.start()).name));
    text += "table:\n";
    for state in machine.state_ids() {
        text += &format!("  {}:", scalar(&machine.state(state).name));
        match machine.halting(state) {
            Some(true) => {}
            Some(false) => text += " {}",
            None => text += &row(machine, state),
        }
        text.push('\n');
    }
    Ok(text)
}

/// Writes a machine and its input as the site saves them: as a text inside a document.
///
/// # Errors
/// As [`write()`].
pub(in crate::formats) fn write_saved(machine: &Machine, input: Option<&Input>) -> Result<String, Obstacle> {
    let unnamed = Machine { name: None, ..machine.clone() };
    let name = machine.name().map_or_else(String::new, |name| format!("name: {}\n", scalar(name)));
    let source = write(&unnamed, input)?;
    let lines: String = source.lines().map(|line| format!("  {line}\n")).collect();
    Ok(format!("{name}source code: |\n{lines}positions: null\n"))
}

fn input_line(alphabet: &Alphabet, input: &Input) -> Result<String, Obstacle> {
    let refuse = |reason: &str| Err(Obstacle::Input(reason.to_owned()));
    match input.tapes.as_slice() {
        [] => Ok(String::new()),
        [tape] if tape.head != 0 => refuse("the head must start on the first cell"),
        [tape] => {
            let symbols: String = tape.symbols.iter().map(|&s| alphabet.name(s)).collect();
            Ok(format!("input: {}\n", quoted(&symbols)))
        }
        _ => refuse("there is only one tape"),
    }
}

/// The instructions of a running state; consecutive symbols with the same instruction share a key.
fn row(machine: &Machine, state: StateId) -> String {
    let (alphabet, rules) = (&machine.tapes()[0].alphabet, machine.rules(state));
    let rule_for = |symbol: SymbolId| rules.iter().position(|rule| rule.matches(&[symbol]));
    let mut live: Vec<(usize, SymbolId)> =
        alphabet.symbols().filter_map(|symbol| Some((rule_for(symbol)?, symbol))).collect();
    live.sort_unstable();
    let action = |rule: &Rule| (rule.writes[0], rule.moves[0], rule.next);
    let mut groups: Vec<(Vec<String>, &Rule)> = Vec::new();
    for (rule, symbol) in live.into_iter().map(|(index, symbol)| (&rules[index], symbol)) {
        let name = scalar(alphabet.name(symbol));
        match groups.last_mut() {
            Some((names, last)) if action(last) == action(rule) && names.len() < MAX_LISTED => {
                names.push(name)
            }
            _ => groups.push((vec![name], rule)),
        }
    }
    if groups.is_empty() {
        return " {}".to_owned();
    }
    let mut text = String::new();
    for (names, rule) in groups {
        let key =
            if let [name] = names.as_slice() { name.clone() } else { format!("[{}]", names.join(", ")) };
        text += &format!("\n    {key}: {}", instruction(machine, state, rule));
    }
    text
}

fn instruction(machine: &Machine, state: StateId, rule: &Rule) -> String {
    let head = if rule.moves[0] == Move::Left { "L" } else { "R" };
    let written = rule.writes[0].symbol().map(|symbol| machine.tapes()[0].alphabet.name(symbol));
    let written = written.map(|name| format!("write: {}, ", scalar(name)));
    let target = (rule.next != state).then(|| format!(": {}", scalar(&machine.state(rule.next).name)));
    match (written, target) {
        (None, None) => head.to_owned(),
        (written, target) => {
            format!("{{{}{head}{}}}", written.unwrap_or_default(), target.unwrap_or_default())
        }
    }
}

/// Writes a text as a YAML scalar, in quotes if it could be misread.
fn scalar(text: &str) -> String {
    let word = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let digit = text.len() == 1 && text.starts_with(|c: char| c.is_ascii_digit());
    if (word && !has_meaning(text)) || digit { text.to_owned() } else { quoted(text) }
}

/// Whether YAML parsers read a word as something other than text.
fn has_meaning(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    is_null_word(&word) || matches!(word.as_str(), "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n")
}

fn quoted(text: &str) -> String {
    let printable = |c: char| c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric();
    if text.chars().all(printable) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if printable(c) => quoted.push(c),
            c => quoted += &format!("\\U{:08x}", u32::from(c)),
        }
    }
    quoted.push('"');
    quoted
}
