//! Machine files: five public formats and our own.
//!
//! Every format keeps its source's meaning of halting and its step count; each module says what its import does.

pub mod bbchallenge;
mod draft;
mod expand;
mod fit;
mod jflap;
mod loss;
mod morphett;
mod native;
mod pieces;
mod recognise;
mod resolve;
mod turingmachine_io;
mod turingmachinesimulator;

use crate::{Diagnostic, Input, Machine, TapeInput};

use draft::{Custom, Draft, DraftRule, DraftState, Order, collected};
use expand::{MAX_RULES, exact_rules, live_rules};
use fit::{Limits, fit, spelling_problem, unnamed_symbols};
use pieces::{Piece, check_symbol, counted, distinct, first_free, head_move, lines, listed, only_character};
use resolve::KnownRules;

pub use loss::Loss;
pub use recognise::{Unrecognised, recognise};

/// The most symbols of a tape: they are counted in a byte.
const MAX_SYMBOLS: usize = 256;

/// A file format for machines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Our own, `.tm`: says everything a [`Machine`] can.
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

/// What a machine file holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loaded {
    /// The machine.
    pub machine: Machine,
    /// The input the file carries along, where the format has a place for one.
    pub input: Option<Input>,
    /// What the author should know although the file is accepted.
    pub warnings: Vec<Diagnostic>,
}

/// What a file does not say about a machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReadOptions {
    /// The texts the machine is to run on, one per tape. A format that does not say which symbols its tapes have lets any
    /// character lie on them: wildcards and negations match it, and where no rule does the format's meaning of that applies.
    pub inputs: Vec<String>,
    /// The state to start in, instead of the one the file or its format says.
    pub start: Option<String>,
    /// The line of a bbchallenge list that holds the machine, counted from 1.
    pub line: Option<usize>,
}

/// How to write a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WriteOptions {
    /// Whether to write what can be said and tell what is lost, where a strict conversion is refused.
    pub lossy: bool,
    /// Whether to write a turingmachine.io machine as the site saves it: as text in a document.
    pub saved: bool,
}

/// A machine as a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// The file's text.
    pub text: String,
    /// How the file differs from the machine and its input, and what it leaves out.
    pub lost: Vec<Loss>,
}

/// Why a machine cannot be written in a format.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{format} {obstacle}")]
pub struct Inexpressible {
    /// The format it was to be written in.
    pub format: Format,
    /// What the format cannot say.
    pub obstacle: Obstacle,
}

/// What a format cannot say; it reads as a sentence that the format's name begins.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Obstacle {
    /// The format has one tape only, or fewer than the machine.
    #[error("machines have {allowed}, this one has {n_tapes} tapes")]
    Tapes {
        /// What it allows, in words.
        allowed: &'static str,
        /// What the machine has.
        n_tapes: usize,
    },
    /// The format has no stay move; the first state that stays.
    #[error("has no stay move, but state `{0}` has a rule that stays")]
    Stay(String),
    /// The format cannot count this many symbols, or cannot spell one of them.
    #[error("cannot write the alphabet of tape `{tape}`: {reason}")]
    Alphabet {
        /// The tape's name.
        tape: String,
        /// What stands in the way.
        reason: String,
    },
    /// The format cannot count this many states, or cannot spell one of them.
    #[error("cannot write the states: {0}")]
    States(String),
    /// Halting, accepting or missing rules mean something else there.
    #[error("cannot say how this machine halts: {0}")]
    Halting(String),
    /// The format has no read-only tapes, but this one is.
    #[error("has no read-only tapes, but tape `{0}` is one")]
    ReadOnly(String),
    /// The format has no streams; the first state that takes samples.
    #[error("machines take no samples from a stream, but state `{0}` uses one")]
    Samples(String),
    /// The format has no place for such an input.
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

    /// Its name in messages, its short name, and the extensions of its files.
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

    /// The file extensions that mean this format, the usual one first.
    pub fn extensions(self) -> &'static [&'static str] {
        self.names().2
    }

    /// A short name in lower case: the format's folder in the test suite, and its name on the command line.
    pub fn slug(self) -> &'static str {
        self.names().1
    }

    /// Reads a machine.
    ///
    /// # Errors
    /// All errors found in the text, in order, and the warnings with them.
    pub fn read(self, text: &str) -> Result<Loaded, Vec<Diagnostic>> {
        self.read_with(text, &ReadOptions::default())
    }

    /// Reads a machine as it is to be run.
    ///
    /// # Errors
    /// As [`read`](Self::read), and if the options ask for what the file does not have.
    pub fn read_with(self, text: &str, options: &ReadOptions) -> Result<Loaded, Vec<Diagnostic>> {
        let loaded = match (self, options.line) {
            (Self::Bbchallenge, line) => bbchallenge::read(text, line),
            (_, Some(line)) => return Err(vec![no_list(self, line)]),
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

    /// Writes a machine and, where the format has a place for it, its input.
    ///
    /// # Errors
    /// What the format cannot express.
    pub fn write(self, machine: &Machine, input: Option<&Input>) -> Result<String, Inexpressible> {
        self.write_as(machine, input, WriteOptions::default()).map(|written| written.text)
    }

    fn write_as(
        self,
        machine: &Machine,
        input: Option<&Input>,
        options: WriteOptions,
    ) -> Result<Written, Inexpressible> {
        let written = fit(self, machine, options.lossy).and_then(|(machine, mut lost)| {
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

    /// Whether a file of this format has a place for an input.
    pub fn carries_input(self) -> bool {
        matches!(self, Self::Native | Self::Morphett | Self::TuringMachineIo)
    }

    /// Writes a machine with these options, and says what is lost.
    ///
    /// An input that the format has no place for is left out, strictly or not. All else is lost only where the options are
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
    /// What the format cannot express, or not even with a loss.
    pub fn write_with(
        self,
        machine: &Machine,
        input: Option<&Input>,
        options: WriteOptions,
    ) -> Result<Written, Inexpressible> {
        let carried = input.filter(|_| self.carries_input());
        let mut written = self.write_as(machine, carried, options)?;
        let is_blank = |input: &Input| input.tapes.iter().all(|tape| *tape == TapeInput::default());
        if input.is_some_and(|input| !is_blank(input)) && carried.is_none() {
            written.lost.insert(0, Loss::Input(format!("{self} files have no place for one")));
        }
        Ok(written)
    }
}

/// The machine in another start state.
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

fn no_list(format: Format, line: usize) -> Diagnostic {
    let message = format!("line {line} is asked for, but a {format} file is one machine");
    Diagnostic::error(0..0, message, "this file")
        .with_help("only bbchallenge lists have a machine on each line")
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.names().0)
    }
}
