//! Results on standard output.

use std::{
    env,
    fmt::Display,
    io::{self, IsTerminal, Write},
    ops::Range,
    path::Path,
};

use luge::{
    draw::grouped,
    files::{Output, Outputs},
    training::Claim,
};
use serde::Serialize;

use super::failure::{Failure, escape_control};

/// Prints a result. A reader that closes the pipe (`| head`) is not a failure.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::print(error)),
        _ => Ok(()),
    }
}

/// Prints a result as JSON.
pub(super) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(Failure::print)?;
    print(&(text + "\n"))
}

/// A value as JSON on one line.
pub(super) fn json_line(value: &impl Serialize) -> Result<String, Failure> {
    Ok(serde_json::to_string(value).map_err(Failure::print)? + "\n")
}

/// Prints a value as JSON, or the text that describes it.
pub(super) fn show(json: bool, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Failure> {
    if json { print_json(value) } else { print(&text()) }
}

/// Prints a value as JSON, or rows that describe it.
pub(super) fn show_rows(
    json: bool,
    value: &impl Serialize,
    describe: impl FnOnce(&mut Rows),
) -> Result<(), Failure> {
    show(json, value, || {
        let mut rows = Rows::default();
        describe(&mut rows);
        rows.text()
    })
}

#[derive(clap::Args)]
pub(super) struct ForceArg {
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
}

impl ForceArg {
    /// The output files of a command.
    pub(super) fn outputs(&self) -> Outputs {
        Outputs::new(self.force)
    }
}

/// The output file for a result, if one is named. It is checked before the work begins, so that a bad name costs no time.
pub(super) fn place(outputs: &mut Outputs, path: Option<&Path>) -> Result<Option<Output>, Failure> {
    Ok(path.map(|path| outputs.place(path)).transpose()?)
}

/// A result as names and values, one pair a line.
#[derive(Default)]
pub(super) struct Rows(Vec<(String, String)>);

impl Rows {
    pub(super) fn row(&mut self, name: &str, value: impl Display) {
        self.0.push((name.to_owned(), value.to_string()));
    }

    /// Adds the claims of a certificate, one to a row.
    pub(super) fn certificate<'c>(&mut self, claims: impl IntoIterator<Item = (&'c str, &'c Claim)>) {
        self.row("certificate", "");
        for (name, claim) in claims {
            self.row(&format!("  {}", name.replace('_', " ")), verdict(claim));
        }
    }

    /// Names and values in two columns; on a terminal, lines are at most [`LINE`] wide.
    pub(super) fn text(&self) -> String {
        if io::stdout().is_terminal() {
            let colour = env::var_os("NO_COLOR").is_none_or(|set| set.is_empty());
            return folded(&self.0, colour && env::var_os("TERM").is_some_and(|term| term != "dumb"));
        }
        let pairs: Vec<[&str; 2]> = self.0.iter().map(|(name, value)| [name.as_str(), value]).collect();
        columns(&pairs, 0..0)
    }
}

/// Characters per line on a terminal.
const LINE: usize = 80;

/// The table for a terminal: long values are wrapped, and the rows after a name without a value have columns of their own.
fn folded(rows: &[(String, String)], colour: bool) -> String {
    let mut text = String::new();
    for part in rows.chunk_by(|_, (name, value)| name.is_empty() || !value.is_empty()) {
        let named = part.iter().map(|(name, _)| escape_control(name));
        let width = named.map(|name| name.chars().count()).max().unwrap_or(0) + 2;
        for (name, value) in part {
            let mut line = format!("{:width$}", escape_control(name));
            let mut colour = colour;
            for word in escape_control(value).split(' ') {
                let (used, room) = (line.chars().count(), word.chars().count());
                if used > width && used + room > LINE {
                    text.push_str(&painted(line.trim_end(), width, colour));
                    (line, colour) = (" ".repeat(width), false);
                }
                line.push_str(word);
                line.push(' ');
            }
            text.push_str(&painted(line.trim_end(), width, colour));
        }
    }
    text
}

/// A line of the table; a verdict at the beginning of its value is coloured.
fn painted(line: &str, column: usize, colour: bool) -> String {
    let value = line.char_indices().nth(column).map_or("", |(at, _)| &line[at..]);
    let word = value.split([':', ',']).next().unwrap_or_default();
    let code = match word {
        "yes" => "32",
        "NO" | "no" => "1;31",
        _ => "",
    };
    if !colour || code.is_empty() {
        return format!("{line}\n");
    }
    let before = &line[..line.len() - value.len()];
    format!("{before}\x1b[{code}m{word}\x1b[0m{}\n", &value[word.len()..])
}

/// Aligned columns; those of numbers are aligned to the right.
pub(super) fn columns<S: AsRef<str>>(rows: &[impl AsRef<[S]>], numbers: Range<usize>) -> String {
    let cells = |row: &[S]| row.iter().map(|cell| escape_control(cell.as_ref())).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = rows.iter().map(|row| cells(row.as_ref())).collect();
    let mut widths = Vec::new();
    for (column, cell) in rows.iter().flat_map(|row| row.iter().enumerate()) {
        widths.resize(widths.len().max(column + 1), 0);
        widths[column] = widths[column].max(cell.chars().count());
    }
    // Not by `format!`, whose widths end at 65,535.
    let padded = |(column, cell): (usize, &String)| {
        let room = " ".repeat(widths[column] - cell.chars().count());
        if numbers.contains(&column) { room + cell } else { format!("{cell}{room}") }
    };
    let line = |row: &Vec<String>| row.iter().enumerate().map(padded).collect::<Vec<_>>().join("  ");
    rows.iter().map(|row| line(row).trim_end().to_owned() + "\n").collect()
}

/// Formats a count with its digits in groups of three.
pub(super) fn count(n: impl TryInto<u64>) -> String {
    grouped(n.try_into().unwrap_or(u64::MAX))
}

/// Numbers separated by spaces.
pub(super) fn numbers(values: &[f64]) -> String {
    values.iter().map(f64::to_string).collect::<Vec<_>>().join(" ")
}

/// Whether a claim holds, and its figures.
pub(super) fn verdict(claim: &Claim) -> String {
    format!("{}: {}", if claim.holds { "yes" } else { "NO" }, claim.figures)
}

/// The sizes of a sample: "4 features, 1 label, fix:8.4".
pub(super) fn sample_sizes(features: usize, labels: usize, format: impl Display) -> String {
    let plural = |n: usize, what: &str| format!("{} {what}{}", count(n), if n == 1 { "" } else { "s" });
    format!("{}, {}, {format}", plural(features, "feature"), plural(labels, "label"))
}

/// Prints a note on standard error.
pub(super) fn note(text: &str) {
    // Nothing can be done if standard error is closed.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_fit_a_terminal_and_verdicts_have_their_colour() {
        let long = "one of many words that say what was found and how, ".repeat(4);
        let rows =
            [("certified", "yes: all"), ("found", &long), ("certificate", ""), ("  a long name", &long)];
        let rows = rows.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let text = folded(&rows, false);
        assert!(text.lines().all(|line| line.chars().count() <= LINE), "{text}");
        assert!(text.starts_with("certified  yes: all\nfound      one of"), "{text}");
        assert!(text.contains("certificate\n  a long name  one of"), "{text}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&text), words(&Rows(rows.to_vec()).text()), "nothing is lost");
        assert!(folded(&rows, true).starts_with("certified  \x1b[32myes\x1b[0m: all\n"));
        assert_eq!(folded(&[("tape".to_owned(), "1".repeat(90))], false).lines().count(), 1);
    }
}
