//! Arguments that describe a machine and its input.

use std::{fs::File, io::Read};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use luge::job::{Loaded, TraceJob, catalogue, program::EXTENSION};
use luge_machine::formats::Format;
use luge_net::Word;

use crate::cli::command_prelude::*;

#[derive(clap::Args)]
pub(super) struct MachineArgs {
    /// A machine file, `-` for standard input, a bbchallenge line such as 1RB1LB_1LA1RZ, or the name of a machine that ships, such as bb4
    #[arg(value_name = "FILE", value_parser = machine_place, allow_hyphen_values = true)]
    pub(super) file: String,
    /// The file's format [default: from its extension and content]
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    from: Option<Format>,
    /// Start in this state instead of the file's start state
    #[arg(long, value_name = "STATE")]
    start: Option<String>,
    /// Read the machine on this line of a bbchallenge list, counted from 1
    #[arg(long, value_name = "N")]
    pub(super) line: Option<usize>,
}

#[derive(Default, clap::Args)]
pub(super) struct InputArgs {
    /// The initial content of a tape, once per tape [default: the file's own input, otherwise blank]
    ///
    /// Single-character symbols are written without separators; a space is the blank and the first `*` marks the head,
    /// unless they are symbols themselves. Other symbols are separated by spaces.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) input: Vec<String>,
}

/// Parses the place of a machine. A flag is refused, but a bbchallenge line may begin with an undefined transition.
fn machine_place(text: &str) -> Result<String, String> {
    if text.starts_with('-') && text != "-" && !text.starts_with("---") {
        return Err("expected a machine file, `-`, or a bbchallenge line before the flags".to_owned());
    }
    Ok(text.to_owned())
}

/// Parses a number of steps; `_` and `,` may group the digits.
pub(super) fn step_count(text: &str) -> Result<Step, String> {
    let digits: String = text.chars().filter(|c| !matches!(c, '_' | ',')).collect();
    digits.parse().map_err(|_| format!("expected a number of steps from 0 to {}", Step::MAX))
}

/// Parses a number from 1 to `most`.
pub(super) fn up_to(most: usize, what: &'static str) -> impl Fn(&str) -> Result<usize, String> + Clone {
    move |text| {
        let n = text.parse().ok().filter(|n| (1..=most).contains(n));
        n.ok_or_else(|| format!("expected a number of {what} from 1 to {most}"))
    }
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

    /// The program, if the file or what ships under that name is one.
    pub(super) fn program(&self) -> Result<Option<Source>, Failure> {
        let ships = || catalogue::find(&self.file).is_some_and(|shipped| shipped.extension == EXTENSION);
        let named = match Path::new(&self.file).extension() {
            Some(extension) => extension == EXTENSION,
            None => !Path::new(&self.file).exists() && ships(),
        };
        Ok(if named && self.from.is_none() { Some(Source::open(&self.file)?) } else { None })
    }

    /// A trace of the machine on the input given, or on the one in its file.
    pub(super) fn job(&self, input: &InputArgs) -> Result<TraceJob, Failure> {
        let mut source = Source::open(&self.file)?;
        if let Some(format) = self.from {
            source.extension = Some(format.slug().to_owned());
        }
        Ok(TraceJob {
            input: input.input.clone(),
            start: self.start.clone(),
            line: self.line,
            ..TraceJob::new(source)
        })
    }

    /// Reads a job's machine, printing the file's warnings.
    pub(super) fn load(&self, job: &TraceJob) -> Result<Loaded, Failure> {
        let loaded = job.load()?;
        show_warnings(&loaded.warnings, &job.source);
        Ok(loaded)
    }

    /// The title of a picture: the machine's name, or the file's.
    pub(super) fn title(&self, loaded: &Loaded) -> String {
        loaded.machine.name().map_or_else(|| self.file.clone(), str::to_owned)
    }
}

/// Parses one of a few values by its word.
pub(super) fn word<T: Word>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::ALL.iter().map(|one| one.word())).try_map(|text| T::from_word(&text))
}

/// Parses a format by its short name or one of its extensions.
pub(super) fn format_parser() -> impl TypedValueParser<Value = Format> {
    let value = |format: Format| PossibleValue::new(format.slug()).aliases(format.extensions());
    let of = |text: &str| {
        Format::ALL.into_iter().find(|format| format.slug() == text || format.extensions().contains(&text))
    };
    PossibleValuesParser::new(Format::ALL.map(value)).try_map(move |text| of(&text).ok_or("no such format"))
}
