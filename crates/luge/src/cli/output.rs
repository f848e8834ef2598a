//! Results on standard output.

use std::io::{self, Write};

use luge_machine::{Alphabet, SymbolId};
use serde::Serialize;

use super::failure::Failure;

/// Prints a result. A reader that has heard enough (`| head`) is no failure.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Print(error)),
        _ => Ok(()),
    }
}

/// Prints a result as JSON.
pub(super) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Failure::Print(e.into()))?;
    print(&(text + "\n"))
}

/// Two columns, the first as wide as it needs to be.
pub(super) fn table(rows: &[(String, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    rows.iter().map(|(name, value)| format!("{name:<width$}  {value}").trim_end().to_owned() + "\n").collect()
}

/// Symbols as `--input` takes them: one after the other where each is a single character, else with spaces between.
pub(super) fn spelled(alphabet: &Alphabet, symbols: &[SymbolId]) -> String {
    let names: Vec<&str> = symbols.iter().map(|&s| alphabet.name(s)).collect();
    names.join(separator(alphabet))
}

/// What stands between two symbols of a tape.
pub(super) fn separator(alphabet: &Alphabet) -> &'static str {
    if alphabet.names().iter().all(|name| name.chars().count() == 1) { "" } else { " " }
}

/// Says something beside the result, on standard error.
pub(super) fn note(text: &str) {
    // If standard error is closed nobody wants to know.
    let _ = writeln!(io::stderr().lock(), "{text}");
}
