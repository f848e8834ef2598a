//! File formats for machines: five public ones and Luge's own.
//!
//! Every import keeps the format's meaning of halting and its step count; each module documents its import.

pub mod bbchallenge;
mod draft;
mod fit;
mod jflap;
mod morphett;
mod native;
mod pieces;
mod recognise;
mod rules;
mod turingmachine_io;
mod turingmachinesimulator;

use crate::{Diagnostic, Input, Machine, TapeInput};

use draft::{Draft, DraftRule, DraftState, RuleOrder, collected_alphabet};
use fit::{Limits, fit, spelling_problem, unnamed_symbols};
use pieces::{Piece, check_symbol, counted, distinct, first_free, head_move, lines, listed, only_character};
use rules::{KnownRules, MAX_RULES, exact_rules, live_rules};

pub use fit::Loss;
pub use recognise::{Unrecognised, recognise};

/// The most symbols of a tape: their ids are bytes.
const MAX_SYMBOLS: usize = 256;

/// A file format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Luge's own format, `.tm`, which can express every [`Machine`].
    Native,
    /// bbchallenge standard text, one line, `.bb`.
    Bbchallenge,
    /// Morphett's quintuples, `.morphett`.
    Morphett,
    /// turingmachine.io, `.yaml` or `.yml`.
    TuringMachineIo,
    /// turingmachinesimulator.com, `.tms`.
    TuringMachineSimulator,
    /// JFLAP, `.jff`.
    Jflap,
}

/// The contents of a machine file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loaded {
    /// The machine.
    pub machine: Machine,
    /// The input in the file, if there is one.
    pub input: Option<Input>,
    /// Problems that do not make the file invalid.
    pub warnings: Vec<Diagnostic>,
}

/// Options for reading a machine: information that its file does not contain.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReadOptions {
    /// The inputs of the run, one text per tape. In formats that do not declare alphabets their characters become symbols,
    /// which wildcards and negations match.
    pub inputs: Vec<String>,
    /// The start state, instead of that of the file or its format.
    pub start: Option<String>,
    /// The line of a bbchallenge list that holds the machine, counted from 1.
    pub line: Option<usize>,
}

/// Options for writing a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WriteOptions {
    /// Whether to write what the format can express and report the losses, instead of returning an error.
    pub lossy: bool,
    /// Whether to write a turingmachine.io machine as the site saves it: as text inside a document.
    pub saved: bool,
}

/// A machine as a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// The file's text.
    pub text: String,
    /// The differences between the machine with its input and what the file says.
    pub lost: Vec<Loss>,
}

/// Why a machine cannot be written in a format.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{format} {obstacle}")]
pub struct Inexpressible {
    /// The format it was to be written in.
    pub format: Format,
    /// What the format cannot express.
    pub obstacle: Obstacle,
}

/// What a format cannot express. Its text continues a sentence that begins with the name of the format.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Obstacle {
    /// The format has fewer tapes than the machine: those of the format in words, and the number of the machine's.
    #[error("machines have {0}, this one has {1} tapes")]
    Tapes(&'static str, usize),
    /// The format has no stay move. Names the first state that stays.
    #[error("has no stay move, but state `{0}` has a rule that stays")]
    Stay(String),
    /// The format cannot have so many symbols, or cannot spell one of them.
    #[error("cannot write the alphabet of tape `{tape}`: {reason}")]
    Alphabet {
        /// The tape's name.
        tape: String,
        /// Why not.
        reason: String,
    },
    /// The format cannot have so many states, or cannot spell one of them.
    #[error("cannot write the states: {0}")]
    States(String),
    /// Halting, accepting or missing rules mean something else in the format.
    #[error("cannot say how this machine halts: {0}")]
    Halting(String),
    /// The format has no read-only tapes. Names the first such tape.
    #[error("has no read-only tapes, but tape `{0}` is one")]
    ReadOnly(String),
    /// The format has no streams. Names the first state that takes samples.
    #[error("machines take no samples from a stream, but state `{0}` uses one")]
    Samples(String),
    /// The format cannot store such an input.
    #[error("cannot carry the input: {0}")]
    Input(String),
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 6] = [
        Self::Native,
        Self::Bbchallenge,
        Self::Morphett,
        Self::TuringMachineIo,
        Self::TuringMachineSimulator,
        Self::Jflap,
    ];

    /// The name in messages, the short name, and the file extensions.
    fn names(self) -> (&'static str, &'static str, &'static [&'static str]) {
        match self {
            Self::Native => ("native", "native", &["tm"]),
            Self::Bbchallenge => ("bbchallenge", "bbchallenge", &["bb"]),
            Self::Morphett => ("Morphett", "morphett", &["morphett"]),
            Self::TuringMachineIo => ("turingmachine.io", "turingmachine-io", &["yaml", "yml"]),
            Self::TuringMachineSimulator => {
                ("turingmachinesimulator.com", "turingmachinesimulator", &["tms"])
            }
            Self::Jflap => ("JFLAP", "jflap", &["jff"]),
        }
    }

    /// The file extensions, the usual one first.
    pub fn extensions(self) -> &'static [&'static str] {
        self.names().2
    }

    /// The short name, for the command line and the folders of the test suite.
    pub fn slug(self) -> &'static str {
        self.names().1
    }

    /// Reads a machine.
    ///
    /// # Errors
    /// All errors in the text, in order, together with the warnings.
    pub fn read(self, text: &str) -> Result<Loaded, Vec<Diagnostic>> {
        self.read_with(text, &ReadOptions::default())
    }

    /// Reads a machine with options.
    ///
    /// # Errors
    /// As for [`read`](Self::read), and if the options do not match the file.
    pub fn read_with(self, text: &str, options: &ReadOptions) -> Result<Loaded, Vec<Diagnostic>> {
        let loaded = match (self, options.line) {
            (Self::Bbchallenge, line) => bbchallenge::read(text, line),
            (_, Some(line)) => {
                let message = format!("line {line} is asked for, but a {self} file is one machine");
                let error = Diagnostic::error(0..0, message, "this file");
                return Err(vec![error.with_help("only bbchallenge lists have a machine on each line")]);
            }
            (Self::Native, None) => native::read(text),
            (Self::Morphett, None) => morphett::read(text, options),
            (Self::TuringMachineIo, None) => turingmachine_io::read(text, options),
            (Self::TuringMachineSimulator, None) => turingmachinesimulator::read(text, options),
            (Self::Jflap, None) => jflap::read(text, options),
        };
        match &options.start {
            Some(start) => started_in(loaded?, start),
            None => loaded,
        }
    }

    /// Writes a machine and, if the format can store it, its input.
    ///
    /// # Errors
    /// What the format cannot express.
    pub fn write(self, machine: &Machine, input: Option<&Input>) -> Result<String, Inexpressible> {
        self.write_with(machine, input, WriteOptions::default()).map(|written| written.text)
    }

    /// Whether the format can store an input.
    pub fn carries_input(self) -> bool {
        matches!(self, Self::Native | Self::Morphett | Self::TuringMachineIo)
    }

    /// Writes a machine with these options and reports what is lost.
    ///
    /// An input is omitted if the format cannot store any. Everything else is lost only if the options are
    /// [`lossy`](WriteOptions::lossy).
    ///
    /// ```
    /// use luge_machine::formats::{Format, WriteOptions};
    ///
    /// let machine = Format::Bbchallenge.read("1RB---_1LA1RZ").unwrap().machine;
    /// let tms = Format::TuringMachineSimulator;
    /// assert!(tms.write(&machine, None).is_err());
    /// let written = tms.write_with(&machine, None, WriteOptions { lossy: true, ..WriteOptions::default() }).unwrap();
    /// let lost: Vec<String> = written.lost.iter().map(|loss| loss.to_string()).collect();
    /// assert_eq!(lost, ["where no rule applies the machine halts; in the file it rejects there"]);
    /// ```
    ///
    /// # Errors
    /// What the format cannot express, not even with losses if they are allowed.
    pub fn write_with(
        self,
        machine: &Machine,
        input: Option<&Input>,
        options: WriteOptions,
    ) -> Result<Written, Inexpressible> {
        let written = fit(self, machine, options.lossy).and_then(|(machine, mut lost)| {
            let is_blank = |input: &Input| input.tapes.iter().all(|tape| *tape == TapeInput::default());
            if !self.carries_input() && input.is_some_and(|input| !is_blank(input)) {
                lost.insert(0, Loss::Input(format!("{self} files have no place for one")));
            }
            let print = |input: Option<&Input>| match self {
                Self::Native => native::write(&machine, input),
                Self::Bbchallenge => bbchallenge::write(&machine),
                Self::Morphett => morphett::write(&machine, input),
                Self::TuringMachineIo if options.saved => turingmachine_io::write_saved(&machine, input),
                Self::TuringMachineIo => turingmachine_io::write(&machine, input),
                Self::TuringMachineSimulator => turingmachinesimulator::write(&machine),
                Self::Jflap => Ok(jflap::write(&machine)),
            };
            let text = match print(input) {
                Err(Obstacle::Input(reason)) if options.lossy => {
                    lost.push(Loss::Input(reason));
                    print(None)?
                }
                printed => printed?,
            };
            Ok(Written { text, lost })
        });
        written.map_err(|obstacle| Inexpressible { format: self, obstacle })
    }
}

/// Changes the start state of a machine.
fn started_in(mut loaded: Loaded, start: &str) -> Result<Loaded, Vec<Diagnostic>> {
    let machine = &mut loaded.machine;
    if let Some(state) = machine.find_state(start) {
        machine.start = state;
        return Ok(loaded);
    }
    let states = listed(machine.states().iter().map(|state| state.name.as_str()), " ");
    let message = format!("there is no state `{start}` to start in");
    Err(vec![Diagnostic::error(0..0, message, "this machine").with_help(format!("the states are {states}"))])
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.names().0)
    }
}
