//! The arguments that name a machine, and the way from them to the machine.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use luge::source::Source;
use luge_machine::formats::{Format, Loaded};

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

/// A machine and where it came from.
pub(super) struct Found {
    pub(super) format: Format,
    pub(super) loaded: Loaded,
}

impl MachineArgs {
    /// Reads the machine, printing the file's warnings.
    pub(super) fn load(&self) -> Result<Found, Failure> {
        let source = Source::open(&self.file)?;
        let (format, loaded) = source.read(self.from).map_err(|e| Failure::of_reading(e, &source))?;
        show_warnings(&loaded.warnings, &source);
        Ok(Found { format, loaded })
    }
}

/// Takes a format by its short name.
pub(super) fn format_parser() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::slug))
        .try_map(|name| Format::ALL.into_iter().find(|f| f.slug() == name).ok_or("no such format"))
}
