//! The command line. One place prints errors and sets the exit code.

mod cli;

use std::process::ExitCode;

pub(crate) fn main() -> ExitCode {
    cli::run().map_or_else(cli::show_failure, |()| ExitCode::SUCCESS)
}
