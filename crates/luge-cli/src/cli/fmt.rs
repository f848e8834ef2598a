//! `luge fmt`: formats programs.

use luge::{files::atomic_file, job::ProgramError};

use crate::cli::command_prelude::*;

/// Format Sled programs
#[derive(clap::Args)]
pub(super) struct Args {
    /// Programs to format in place; `-` reads standard input and writes standard output
    #[arg(value_name = "FILE.sled", required = true)]
    files: Vec<String>,
    /// Change nothing, and fail if something would change
    #[arg(long)]
    check: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    for file in &args.files {
        let source = Source::open(file)?;
        let formatted = luge_sled::format(&source.text).map_err(|findings| {
            Failure::of_program(ProgramError::Broken { name: source.name.clone(), findings }, &source)
        })?;
        if file == "-" && !args.check {
            print(&formatted)?;
        } else if formatted != source.text {
            if args.check {
                return Err(Failure::error(
                    format!("{file} is not formatted"),
                    format!("format it with: luge fmt {file}"),
                ));
            }
            replace(Path::new(file), &formatted)?;
        }
    }
    Ok(())
}

/// Replaces the file of a program; a learner that ships has none.
fn replace(place: &Path, text: &str) -> Result<(), Failure> {
    if !place.is_file() {
        return Err(Failure::usage(
            format!("{} is not a file", place.display()),
            "give the programs' files, or `-` for standard input",
        ));
    }
    atomic_file::write(place, text.as_bytes())
        .map_err(|error| Failure::because(error.to_string(), error.reason))
}
