//! Writes headers, and rules as pairs of lines.

use super::{BLANK, header};
use crate::{
    Machine, StateId, SymbolId,
    formats::{Limits, Obstacle, spelling_problem},
};

/// The limits of the format. It has no declarations, so states and symbols that no line mentions are lost.
pub(in crate::formats) const LIMITS: Limits = Limits {
    has_one_tape: false,
    may_reject: false,
    lists_states: false,
    symbol_problem: |alphabet, symbol| spelling_problem(alphabet, symbol, character_problem),
    name_problem: |name| {
        let is_header = header(&format!("{name},")).is_some();
        let is_invalid =
            !fits_on_line(name) || name.contains(',') || is_header || name.starts_with('\u{feff}');
        is_invalid.then(|| format!("the name `{}` would not be read back as one", name.escape_debug()))
    },
    expands: |_| true,
    keeps_unnamed: |_, _| false,
    ..Limits::WIDE
};

/// Writes a machine without its input.
///
/// # Errors
/// If there are several tapes but no rules, which determine their number.
pub(in crate::formats) fn write(machine: &Machine) -> Result<String, Obstacle> {
    if machine.n_rules() == 0 && machine.n_tapes() > 1 {
        let allowed = "as many tapes as their first rule reads";
        return Err(Obstacle::Tapes { allowed, n_tapes: machine.n_tapes() });
    }
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
    for state in machine.state_ids() {
        for rule in machine.rules(state) {
            let spelled = |ids: &mut dyn Iterator<Item = SymbolId>| -> String {
                let names = ids.zip(machine.tapes()).map(|(symbol, tape)| match &tape.alphabet {
                    alphabet if symbol == alphabet.blank() => BLANK,
                    alphabet => alphabet.name(symbol),
                });
                names.map(|name| format!(",{name}")).collect()
            };
            let reads = spelled(&mut rule.reads.iter().filter_map(|read| read.symbol()));
            let writes = spelled(&mut rule.writes.iter().filter_map(|write| write.symbol()));
            let moves: String = rule.moves.iter().map(|head| head.spelled([",<", ",-", ",>"])).collect();
            text += &format!("\n{}{reads}\n{}{writes}{moves}\n", name_of(state), name_of(rule.next));
        }
    }
    Ok(text)
}

/// Why a character cannot be a symbol.
fn character_problem(c: char) -> Option<String> {
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
