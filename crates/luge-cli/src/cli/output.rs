//! Results on standard output.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
};

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

/// Opens a file to write to: before the work begins, so that a bad path does not cost the wait.
pub(super) fn create(path: Option<&Path>) -> Result<Option<(&Path, File)>, Failure> {
    path.map(|path| Ok((path, File::create(path).map_err(unwritable(path))?))).transpose()
}

/// Fills an opened file.
pub(super) fn fill((path, mut file): (&Path, File), text: &str) -> Result<(), Failure> {
    file.write_all(text.as_bytes()).map_err(unwritable(path))
}

/// The failure to write to a place.
pub(super) fn unwritable(place: &Path) -> impl FnOnce(io::Error) -> Failure {
    let place = place.to_owned();
    |reason| Failure::Write { place, reason }
}

/// Two columns, the first as wide as it needs to be.
pub(super) fn table(rows: &[(String, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    rows.iter().map(|(name, value)| format!("{name:<width$}  {value}").trim_end().to_owned() + "\n").collect()
}

/// Says something beside the result, on standard error.
pub(super) fn note(text: &str) {
    // If standard error is closed nobody wants to know.
    let _ = writeln!(io::stderr().lock(), "{text}");
}
