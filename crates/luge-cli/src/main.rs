//! The command line. One place prints errors and sets the exit code.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run().unwrap_or_else(|report| cli::show_failure(&report))
}
