//! Programs in Sled: from a text and the sizes of its data to a machine.

use std::sync::Arc;

use luge_landscape::{DataLayout, Learner, Primary};
use luge_machine::{Diagnostic, formats::ReadOptions};
use luge_net::{
    NumberFormat,
    numbers::{Negatives, Overflow},
};
use luge_sled::{
    BackendError, CircuitOptions, Compiled, CompiledCircuit, Outcome, OverflowSite, Program, SettingError,
    Settings, Sizes,
};

use crate::{
    data::Table,
    job::{JobError, Loaded, Primaries, source::Source},
};
pub use luge_sled::Variable;

/// The extension of files with programs.
pub const EXTENSION: &str = "sled";

/// Why a program is not a learner for these data.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ProgramError {
    /// Programs compute with two's complement fixed point only.
    #[error("programs compute with fix:I.F numbers, not with {0}")]
    Format(NumberFormat),
    /// The text breaks the language's rules.
    #[error("{name} is not a valid Sled program")]
    Broken {
        /// The source's name.
        name: String,
        /// Every finding, in order.
        findings: Vec<Diagnostic>,
    },
    /// The program is right but too large.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// A constant that is not given as `NAME=VALUE`.
    #[error(transparent)]
    Setting(#[from] SettingError),
}

/// The sizes that a program is compiled for.
///
/// # Errors
/// If programs cannot compute with the format.
pub fn sizes(format: NumberFormat, n_features: usize, n_labels: usize) -> Result<Sizes, ProgramError> {
    match format {
        NumberFormat::Fixed(fixed) if fixed.negatives == Negatives::TwosComplement => {
            Ok(Sizes { n_features, n_labels, integer: fixed.n_integer, fraction: fixed.n_fraction })
        }
        format => Err(ProgramError::Format(format)),
    }
}

/// Whether a source is a program rather than a machine.
pub fn is_program(source: &Source) -> bool {
    source.extension.as_deref() == Some(EXTENSION)
}

/// Parses constants to set, each given as `NAME=VALUE`.
///
/// # Errors
/// If one has another form.
pub fn settings(set: &[String]) -> Result<Settings, ProgramError> {
    let mut settings = Settings::default();
    set.iter().try_for_each(|text| settings.set(text))?;
    Ok(settings)
}

/// Compiles a program called `name` in messages.
///
/// # Errors
/// If it is wrong.
pub fn compile(text: &str, name: &str, sizes: &Sizes, set: &[String]) -> Result<Compiled, ProgramError> {
    let broken = |findings| ProgramError::Broken { name: name.to_owned(), findings };
    Ok(Program::new(text, sizes, &settings(set)?).map_err(broken)?.compile()?)
}

/// A learner, and the number format and the sizes that it is compiled for.
#[derive(Clone, Debug)]
pub struct SizedSource {
    /// The learner.
    pub source: Source,
    /// Constants of a program to set, each as `NAME=VALUE`.
    pub set: Vec<String>,
    /// The number format of data and program.
    pub format: NumberFormat,
    /// Features and labels of a sample.
    pub sizes: (usize, usize),
}

impl SizedSource {
    /// Calls a function of the compiler with the program.
    ///
    /// # Errors
    /// If that fails, or programs cannot compute with the format.
    pub(super) fn with<T>(
        &self,
        run: impl FnOnce(&str, &Sizes, &Settings) -> Result<T, Vec<Diagnostic>>,
    ) -> Result<T, JobError> {
        let (source, (n_features, n_labels)) = (&self.source, self.sizes);
        let broken = |findings| ProgramError::Broken { name: source.name.clone(), findings };
        sizes(self.format, n_features, n_labels)
            .and_then(|sizes| Ok((sizes, settings(&self.set)?)))
            .and_then(|(sizes, settings)| run(&source.text, &sizes, &settings).map_err(broken))
            .map_err(|error| self.refused(error))
    }

    /// Reads the learner, and compiles it if it is a program.
    ///
    /// # Errors
    /// If the text is neither a program nor a machine.
    pub fn load(&self) -> Result<Loaded, JobError> {
        if !is_program(&self.source) {
            return Ok(self.source.read_with(&ReadOptions::default())?.into());
        }
        let compiled = self.compile()?;
        let (machine, input) = (compiled.machine.clone(), Some(compiled.input.clone()));
        Ok(Loaded { machine, input, warnings: Vec::new(), format: None, compiled: Some(compiled) })
    }

    /// Returns the learner in a machine that was read, and the primary network whose weights it finds.
    ///
    /// # Errors
    /// If they do not fit together.
    pub(crate) fn learner(
        &self,
        loaded: &Loaded,
        primary: &str,
        primaries: &dyn Primaries,
    ) -> Result<(Learner, Arc<dyn Primary>), JobError> {
        let learner = Learner::new(&loaded.machine, loaded.input.as_ref())?;
        let primary = self.primary(primary, primaries)?;
        if let Some(compiled) = &loaded.compiled {
            self.check_theta(compiled.n_theta, &*primary)?;
        }
        Ok((learner, primary))
    }

    fn refused(&self, error: impl Into<ProgramError>) -> JobError {
        JobError::Program { text: Box::new(self.source.clone()), error: error.into() }
    }

    /// Compiles the program to a machine.
    ///
    /// # Errors
    /// If the program is wrong, or programs cannot compute with the format.
    pub fn compile(&self) -> Result<Compiled, JobError> {
        self.with(Program::new)?.compile().map_err(|error| self.refused(error))
    }

    /// Compiles the program to a circuit.
    ///
    /// # Errors
    /// If the program is wrong, or has no circuit.
    pub fn compile_circuit(&self, options: CircuitOptions) -> Result<CompiledCircuit, JobError> {
        self.with(Program::new)?.compile_circuit(options).map_err(|error| self.refused(error))
    }

    /// Runs the program in the interpreter on the numbers of a table.
    ///
    /// # Errors
    /// If it is wrong.
    pub fn interpret(&self, table: &Table, limit: u64) -> Result<Outcome, JobError> {
        let layout = layout(table, self.format);
        let all = table.numbers();
        let numbers: Vec<i64> = layout.order().into_iter().map(|i| raw(all[i], self.format)).collect();
        let samples: Vec<Vec<i64>> =
            numbers.chunks(layout.n_features + layout.n_labels).map(<[i64]>::to_vec).collect();
        Ok(self.with(Program::new)?.interpret(&samples, limit))
    }

    /// The same for a program that takes its samples from a stream, which ends when `next` returns `None`.
    ///
    /// # Errors
    /// If it is wrong.
    pub fn interpret_stream(
        &self,
        next: &mut dyn FnMut() -> Option<Vec<i64>>,
        limit: u64,
    ) -> Result<Outcome, JobError> {
        Ok(self.with(Program::new)?.interpret_stream(next, limit))
    }
}

/// The bits of a number, rounded to the format, the lowest first.
pub fn number_bits(number: f64, format: NumberFormat) -> impl Iterator<Item = bool> + use<> {
    format.bits(format.encode(number, Overflow::Saturate).unwrap_or(luge_net::numbers::Word(0)))
}

/// A number as the interpreter stores it: a multiple of the smallest number of the format.
pub fn raw(number: f64, format: NumberFormat) -> i64 {
    raw_of_bits(number_bits(number, format), format)
}

/// The same for a number that is given by its bits.
pub(crate) fn raw_of_bits(bits: impl IntoIterator<Item = bool>, format: NumberFormat) -> i64 {
    let raw = bits.into_iter().enumerate().fold(0_i64, |raw, (at, bit)| raw | i64::from(bit) << at);
    let unused = i64::BITS - format.n_bits();
    raw << unused >> unused
}

/// The number that the interpreter stores as `raw`.
pub fn number(raw: i64, format: NumberFormat) -> f64 {
    let bits: Vec<bool> = (0..format.n_bits()).map(|bit| raw >> bit & 1 == 1).collect();
    format.word(&bits).map_or(f64::NAN, |word| format.decode(word))
}

/// A warning for each line of the program in which a number wrapped around.
pub fn overflow(source: &Source, table: Option<&Table>, wraps: &[OverflowSite]) -> Vec<Diagnostic> {
    let mut starts = vec![0];
    starts.extend(source.text.match_indices('\n').map(|(at, _)| at + 1));
    let finding = |wrap: &OverflowSite| {
        let start = starts.get(wrap.line as usize - 1).copied().unwrap_or(0);
        let line = source.text[start..].lines().next().unwrap_or_default();
        let first = start + (line.len() - line.trim_start().len());
        let times = if wrap.count == 1 { "once".to_owned() } else { format!("{} times", wrap.count) };
        let label = match wrap.first_sample {
            Some(sample) => match table.and_then(|table| table.lines.as_ref()?.get(sample)) {
                Some(line) => format!("first with sample {}, line {line} of the data", sample + 1),
                None => format!("first with sample {}", sample + 1),
            },
            None => "outside of loops over the data".to_owned(),
        };
        Diagnostic::warning(
            first..start + line.len(),
            format!("a number was too large for its type {times}"),
            label,
        )
        .with_help("choose a type with more bits before the point, or operators that saturate, such as `+|`")
    };
    wraps.iter().map(finding).collect()
}

/// The layout of a table's numbers on the machine's tape.
pub fn layout(table: &Table, format: NumberFormat) -> DataLayout {
    let (n_features, n_labels) = (table.features.shape.cols, table.labels.shape.cols);
    DataLayout { n_samples: table.n_samples(), n_features, n_labels, format }
}

/// The bits of a table's numbers in the order of the machine's tape.
pub fn bits(table: &Table, format: NumberFormat) -> Vec<bool> {
    let numbers = table.numbers();
    let order = layout(table, format).order();
    let mut bits = Vec::with_capacity(order.len() * format.n_bits() as usize);
    order.into_iter().for_each(|i| bits.extend(number_bits(numbers[i], format)));
    bits
}
