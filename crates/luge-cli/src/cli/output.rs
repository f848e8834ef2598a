//! Results on standard output.

use std::{
    io::{self, Write},
    path::Path,
};

use indicatif::HumanCount;
use luge::outputs::{Output, Outputs};
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

#[derive(clap::Args)]
pub(super) struct ForceArg {
    /// Write over files that exist
    #[arg(long)]
    force: bool,
}

impl ForceArg {
    /// The places that a command writes to.
    pub(super) fn outputs(&self) -> Outputs {
        Outputs::new(self.force)
    }
}

/// A place that may have been named: looked at before the work begins, so that a bad name does not cost the wait.
pub(super) fn place(outputs: &mut Outputs, path: Option<&Path>) -> Result<Option<Output>, Failure> {
    Ok(path.map(|path| outputs.place(path)).transpose()?)
}

/// Two columns, the first as wide as it needs to be.
pub(super) fn table(rows: &[(String, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    rows.iter().map(|(name, value)| format!("{name:<width$}  {value}").trim_end().to_owned() + "\n").collect()
}

/// What a sample is made of: "4 features, 1 label, fix:8.4".
pub(super) fn sample_sizes(features: usize, labels: usize, format: &str) -> String {
    let plural =
        |n: usize, what: &str| format!("{} {what}{}", HumanCount(n as u64), if n == 1 { "" } else { "s" });
    format!("{}, {}, {format}", plural(features, "feature"), plural(labels, "label"))
}

/// Says something beside the result, on standard error.
pub(super) fn note(text: &str) {
    // If standard error is closed nobody wants to know.
    let _ = writeln!(io::stderr().lock(), "{text}");
}
