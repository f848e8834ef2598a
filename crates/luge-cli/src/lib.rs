//! The command line, as a library for the program and for the test that runs it over another allocator. One place
//! prints errors and sets the exit code.

mod cli;

use std::process::ExitCode;

/// Runs the command line.
pub fn main() -> ExitCode {
    cli::run().map_or_else(cli::show_failure, |()| ExitCode::SUCCESS)
}
