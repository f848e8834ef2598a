//! The arguments that name a machine and its input, and the way from them to both.

use std::{fs::File, io::Read, path::Path};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use luge::{program::EXTENSION, source::Source};
use luge_machine::{
    Input, Step,
    formats::{Format, Loaded},
    parse_inputs,
};

use super::failure::{Failure, show_warnings};

#[derive(clap::Args)]
pub(super) struct MachineArgs {
    /// A machine file, `-` for standard input, or a bbchallenge line such as 1RB1LB_1LA1RZ
    #[arg(value_name = "FILE", value_parser = machine_place, allow_hyphen_values = true)]
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
    /// Whether any tape's content is given.
    pub(super) fn is_given(&self) -> bool {
        !self.input.is_empty()
    }

    /// The input asked for, or the one that the file carries along. A machine from a format that declares no alphabet
    /// takes any character.
    pub(super) fn lay(&self, found: &mut Found) -> Result<Input, Failure> {
        if self.input.is_empty() {
            return Ok(found.loaded.input.clone().unwrap_or_else(Input::blank));
        }
        if let Ok(loaded) = found.format.read_for(&found.text, &self.input) {
            found.loaded = loaded;
        }
        Ok(parse_inputs(&found.loaded.machine, &self.input)?)
    }
}

/// Takes a machine's place; a flag in its place is a slip, but a line may begin with an undefined transition.
fn machine_place(text: &str) -> Result<String, String> {
    if text.starts_with('-') && text != "-" && !text.starts_with("---") {
        return Err("expected a machine file, `-`, or a bbchallenge line before the flags".to_owned());
    }
    Ok(text.to_owned())
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
    text: String,
}

impl MachineArgs {
    /// The file, if it is a model and not a machine.
    pub(super) fn model(&self) -> Option<&Path> {
        let path = Path::new(&self.file);
        let named = path.extension().is_some_and(|extension| extension == "safetensors");
        // A safetensors file begins with the length of its header, eight bytes, and the header with a brace.
        let mut start = [0; 9];
        let mut begins = || {
            File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
                && start[8] == b'{'
                && start[7] == 0
        };
        (named || begins()).then_some(path)
    }

    /// The file, if it is a program and not a machine.
    pub(super) fn program(&self) -> Result<Option<Source>, Failure> {
        let named = Path::new(&self.file).extension().is_some_and(|extension| extension == EXTENSION);
        Ok(if named && self.from.is_none() { Some(Source::open(&self.file)?) } else { None })
    }

    /// Reads the machine, printing the file's warnings.
    pub(super) fn load(&self) -> Result<Found, Failure> {
        let source = Source::open(&self.file)?;
        if luge::program::is_program(&source) {
            return Err(Failure::Usage {
                problem: format!("{} is a Sled program, not a machine", source.name),
                remedy: "make it one with luge compile, or use luge train or luge run".to_owned(),
            });
        }
        let (format, loaded) = source.read(self.from).map_err(|e| Failure::of_reading(e, &source))?;
        show_warnings(&loaded.warnings, &source);
        Ok(Found { format, loaded, text: source.text })
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

/// Takes a format by its short name or one of its extensions.
pub(super) fn format_parser() -> impl TypedValueParser<Value = Format> {
    let value = |format: Format| PossibleValue::new(format.slug()).aliases(format.extensions());
    let of = |text: &str| {
        Format::ALL.into_iter().find(|format| format.slug() == text || format.extensions().contains(&text))
    };
    PossibleValuesParser::new(Format::ALL.map(value)).try_map(move |text| of(&text).ok_or("no such format"))
}
