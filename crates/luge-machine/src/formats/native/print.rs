//! Writes `.tm` files, with the rules of a state aligned in columns.

use super::{
    FARTHEST_HEAD,
    lex::{in_quotes, spelled},
};
use crate::{Access, Input, Machine, Missing, Rule, StateKind, SymbolId, Tape, TapeInput, formats::Obstacle};

/// Writes a `.tm` file. A blank input is omitted.
///
/// # Errors
/// If the input has more tapes than the machine or symbols that its tapes do not have.
pub(in crate::formats) fn write(machine: &Machine, input: Option<&Input>) -> Result<String, Obstacle> {
    let name = machine.name().map_or_else(String::new, |name| format!(" {}", in_quotes(name)));
    let mut text = format!("machine{name}\n");
    for Tape { name, alphabet, access } in machine.tapes() {
        let symbols: Vec<String> = alphabet.names().iter().map(|n| spelled(n)).collect();
        let (name, blank) = (spelled(name), spelled(alphabet.name(alphabet.blank())));
        let access = if *access == Access::ReadOnly { " read-only" } else { "" };
        text += &format!("tape {name}: {} blank {blank}{access}\n", symbols.join(" "));
    }
    text += match machine.missing() {
        Missing::Halt => "missing: halt\n",
        Missing::Reject => "missing: reject\n",
    };
    text += &format!("start: {}\n", spelled(&machine.state(machine.start()).name));
    if let Some(input) = input {
        text += &inputs(machine, input)?;
    }
    for state in machine.states() {
        text += &format!("\n{}:", spelled(&state.name));
        match &state.kind {
            StateKind::Halting { accepting: true } => text += " accept\n",
            StateKind::Halting { accepting: false } => text += " reject\n",
            StateKind::Running(rules) => {
                text += &state.samples.word().map_or_else(String::new, |word| format!(" {word}"));
                text += &format!("\n{}", rule_lines(machine, rules));
            }
        }
    }
    Ok(text)
}

/// Symbols with longer names are not aligned.
const WIDEST: usize = 64;

/// One line per tape with an input, and always one for the last tape, so that the number of tapes is the same when read.
fn inputs(machine: &Machine, input: &Input) -> Result<String, Obstacle> {
    let (n_inputs, n_tapes) = (input.tapes.len(), machine.n_tapes());
    if n_inputs > n_tapes {
        return Err(Obstacle::Input(format!("it has {n_inputs} tapes, the machine {n_tapes}")));
    }
    let mut text = String::new();
    for (index, (Tape { name, alphabet, .. }, tape_input)) in
        machine.tapes().iter().zip(&input.tapes).enumerate()
    {
        if index + 1 < n_inputs && *tape_input == TapeInput::default() {
            continue;
        }
        if let Some(unknown) = tape_input.symbols.iter().find(|s| s.index() >= alphabet.len()) {
            return Err(Obstacle::Input(format!("tape `{name}` has no symbol {unknown}")));
        }
        if tape_input.head.unsigned_abs() > FARTHEST_HEAD.unsigned_abs() {
            let reason = format!("the head of tape `{name}` starts on cell {}", tape_input.head);
            return Err(Obstacle::Input(reason));
        }
        text += &format!("input {}:", spelled(name));
        for &symbol in &tape_input.symbols {
            text += &format!(" {}", spelled(alphabet.name(symbol)));
        }
        if tape_input.head != 0 {
            text += &format!(" head {}", tape_input.head);
        }
        text.push('\n');
    }
    Ok(text)
}

fn rule_lines(machine: &Machine, rules: &[Rule]) -> String {
    let spell = |(tape, symbol): (&Tape, Option<SymbolId>)| {
        symbol.map_or("*".to_owned(), |symbol| spelled(tape.alphabet.name(symbol)))
    };
    let tapes = || machine.tapes().iter();
    let row = |rule: &Rule| -> [Vec<String>; 2] {
        let reads = tapes().zip(rule.reads.iter().map(|read| read.symbol())).map(spell);
        let writes = tapes().zip(rule.writes.iter().map(|write| write.symbol())).map(spell);
        [reads.collect(), writes.collect()]
    };
    let rows: Vec<[Vec<String>; 2]> = rules.iter().map(row).collect();
    let width = |part: usize, tape: usize| {
        let widths = rows.iter().map(|row| row[part][tape].chars().count());
        widths.max().unwrap_or(0).min(WIDEST)
    };
    let widths: [Vec<usize>; 2] =
        [0, 1].map(|part| (0..machine.n_tapes()).map(|tape| width(part, tape)).collect());
    let mut text = String::new();
    for (rule, row) in rules.iter().zip(&rows) {
        let [reads, writes] = [0, 1].map(|part| {
            let cells = row[part].iter().zip(&widths[part]).map(|(cell, &width)| format!("{cell:<width$}"));
            cells.collect::<Vec<_>>().join(" ")
        });
        let moves: Vec<&str> = rule.moves.iter().map(|m| m.spelled(["L", "S", "R"])).collect();
        let next = spelled(&machine.state(rule.next).name);
        text += &format!("  {reads} -> {writes}, {}, {next}\n", moves.join(" "));
    }
    text
}
