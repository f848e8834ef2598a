//! The arguments that name a machine and its input, and the way from them to both.

use std::path::Path;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use luge::source::Source;
use luge_machine::{
    Input, Step,
    formats::{Format, Loaded},
    parse_inputs,
};

use super::failure::{Failure, show_warnings};

#[derive(clap::Args)]
pub(super) struct MachineArgs {
    /// A machine file, `-` for standard input, or a bbchallenge line such as 1RB1LB_1LA1RZ
    #[arg(value_name = "FILE")]
    file: String,
    /// The file's format; by default told from its extension and content
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    from: Option<Format>,
}

#[derive(clap::Args)]
pub(super) struct InputArgs {
    /// What lies on a tape at the start, once per tape; by default the file's own input, else blanks
    ///
    /// Symbols follow each other without separator where all are single characters: a space is the blank and the
    /// first `*` marks the head, unless they are symbols themselves. Otherwise symbols are separated by spaces.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    input: Vec<String>,
}

impl InputArgs {
    /// The input asked for, or the one that the file carries along.
    pub(super) fn lay(&self, loaded: &Loaded) -> Result<Input, Failure> {
        if self.input.is_empty() {
            return Ok(loaded.input.clone().unwrap_or_else(Input::blank));
        }
        Ok(parse_inputs(&loaded.machine, &self.input)?)
    }
}

/// Takes a number of steps; `_` and `,` may group the digits.
pub(super) fn step_count(text: &str) -> Result<Step, String> {
    let digits: String = text.chars().filter(|c| !matches!(c, '_' | ',')).collect();
    digits.parse().map_err(|_| format!("expected a number of steps from 0 to {}", Step::MAX))
}

/// A machine and where it came from.
pub(super) struct Found {
    pub(super) format: Format,
    pub(super) loaded: Loaded,
}

impl MachineArgs {
    /// The file, if it is a model and not a machine.
    pub(super) fn model(&self) -> Option<&Path> {
        let path = Path::new(&self.file);
        path.extension().is_some_and(|extension| extension == "safetensors").then_some(path)
    }

    /// Reads the machine, printing the file's warnings.
    pub(super) fn load(&self) -> Result<Found, Failure> {
        let source = Source::open(&self.file)?;
        let (format, loaded) = source.read(self.from).map_err(|e| Failure::of_reading(e, &source))?;
        show_warnings(&loaded.warnings, &source);
        Ok(Found { format, loaded })
    }
}

impl Found {
    /// What a picture calls the machine: its own name, or the file's.
    pub(super) fn title(&self, args: &MachineArgs) -> String {
        self.loaded.machine.name().map_or_else(|| args.file.clone(), str::to_owned)
    }
}

/// Takes one of a few values by its name.
pub(super) fn named<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.map(name))
        .try_map(move |text| all.into_iter().find(|&one| name(one) == text).ok_or("no such value"))
}

/// Takes a format by its short name.
pub(super) fn format_parser() -> impl TypedValueParser<Value = Format> {
    named(Format::ALL, Format::slug)
}
