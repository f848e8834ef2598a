//! Writes `.tm` files, the columns of a state's rules lined up.

use super::{
    FARTHEST_HEAD,
    lex::{in_quotes, spelled},
};
use crate::{Access, Input, Machine, Missing, Rule, StateKind, SymbolId, Tape, TapeInput, formats::Obstacle};

/// Writes a `.tm` file. A blank input is not written: the tapes are blank without it.
///
/// # Errors
/// If the input has more tapes than the machine or symbols that its tapes do not have.
pub(in crate::formats) fn write(machine: &Machine, input: Option<&Input>) -> Result<String, Obstacle> {
    let mut text = String::from("machine");
    if let Some(name) = machine.name() {
        text.push(' ');
        text.push_str(&in_quotes(name));
    }
    text.push('\n');
    for tape in machine.tapes() {
        let symbols: Vec<String> = tape.alphabet.names().iter().map(|n| spelled(n)).collect();
        let blank = spelled(tape.alphabet.name(tape.alphabet.blank()));
        let access = match tape.access {
            Access::ReadWrite => "",
            Access::ReadOnly => " read-only",
        };
        text.push_str(&format!(
            "tape {}: {} blank {blank}{access}\n",
            spelled(&tape.name),
            symbols.join(" ")
        ));
    }
    text.push_str(match machine.missing() {
        Missing::Halt => "missing: halt\n",
        Missing::Reject => "missing: reject\n",
    });
    text.push_str(&format!("start: {}\n", spelled(&machine.state(machine.start()).name)));
    if let Some(input) = input {
        text.push_str(&inputs(machine, input)?);
    }
    for state in machine.states() {
        let name = spelled(&state.name);
        match &state.kind {
            StateKind::Halting { accepting: true } => text.push_str(&format!("\n{name}: accept\n")),
            StateKind::Halting { accepting: false } => text.push_str(&format!("\n{name}: reject\n")),
            StateKind::Running(rules) => {
                let samples = state.samples.word().map_or_else(String::new, |word| format!(" {word}"));
                text.push_str(&format!("\n{name}:{samples}\n"));
                rule_lines(machine, rules, &mut text);
            }
        }
    }
    Ok(text)
}

/// Symbols with longer names are not lined up.
const WIDEST: usize = 64;

/// One line per tape that has an input; the last one always, so that as many are read back.
fn inputs(machine: &Machine, input: &Input) -> Result<String, Obstacle> {
    if input.tapes.len() > machine.n_tapes() {
        return Err(Obstacle::Input(format!(
            "it has {} tapes, the machine {}",
            input.tapes.len(),
            machine.n_tapes()
        )));
    }
    let mut text = String::new();
    for (index, (tape, laid)) in machine.tapes().iter().zip(&input.tapes).enumerate() {
        if index + 1 < input.tapes.len() && *laid == TapeInput::default() {
            continue;
        }
        if let Some(unknown) = laid.symbols.iter().find(|s| s.index() >= tape.alphabet.len()) {
            return Err(Obstacle::Input(format!("tape `{}` has no symbol {unknown}", tape.name)));
        }
        if laid.head.unsigned_abs() > FARTHEST_HEAD.unsigned_abs() {
            return Err(Obstacle::Input(format!(
                "the head of tape `{}` starts on cell {}",
                tape.name, laid.head
            )));
        }
        text.push_str(&format!("input {}:", spelled(&tape.name)));
        for &symbol in &laid.symbols {
            text.push(' ');
            text.push_str(&spelled(tape.alphabet.name(symbol)));
        }
        if laid.head != 0 {
            text.push_str(&format!(" head {}", laid.head));
        }
        text.push('\n');
    }
    Ok(text)
}

fn rule_lines(machine: &Machine, rules: &[Rule], text: &mut String) {
    let rows: Vec<[Vec<String>; 2]> = rules
        .iter()
        .map(|rule| {
            let text = |(tape, symbol): (&Tape, Option<SymbolId>)| {
                symbol.map_or("*".to_owned(), |symbol| spelled(tape.alphabet.name(symbol)))
            };
            let tapes = machine.tapes().iter();
            let reads = tapes.clone().zip(rule.reads.iter().map(|read| read.symbol())).map(text);
            let writes = tapes.zip(rule.writes.iter().map(|write| write.symbol())).map(text);
            [reads.collect(), writes.collect()]
        })
        .collect();
    let width =
        |part: usize, tape: usize| rows.iter().map(|r| r[part][tape].chars().count()).max().unwrap_or(0);
    let widths: [Vec<usize>; 2] =
        [0, 1].map(|part| (0..machine.n_tapes()).map(|tape| width(part, tape)).collect());
    let line_up = |cells: &[String], widths: &[usize]| {
        let padded: Vec<String> =
            cells.iter().zip(widths).map(|(cell, &w)| format!("{cell:<0$}", w.min(WIDEST))).collect();
        padded.join(" ")
    };
    for (rule, [reads, writes]) in rules.iter().zip(&rows) {
        let moves: Vec<&str> = rule.moves.iter().map(|m| m.spelled(["L", "S", "R"])).collect();
        text.push_str(&format!(
            "  {} -> {}, {}, {}\n",
            line_up(reads, &widths[0]),
            line_up(writes, &widths[1]),
            moves.join(" "),
            spelled(&machine.state(rule.next).name)
        ));
    }
}
