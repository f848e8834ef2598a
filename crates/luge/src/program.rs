//! Programs in Sled: from a text and the sizes of its data to a machine.

use luge_landscape::DataLayout;
use luge_machine::Diagnostic;
use luge_net::{
    NumberFormat,
    numbers::{Negatives, Overflow},
};
use luge_sled::{BackendError, CompileError, Compiled, Sizes};

use crate::{data::Table, source::Source};
pub use luge_sled::Variable;

/// The extension of files with programs.
pub const EXTENSION: &str = "sled";

/// Why a program is no learner for the data at hand.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ProgramError {
    /// Programs compute with two's complement fixed point only.
    #[error("programs compute with fix:I.F numbers, not with {format}")]
    Format {
        /// What was asked for.
        format: NumberFormat,
    },
    /// The text breaks the language's rules.
    #[error("{name} does not read as a Sled program")]
    Broken {
        /// The source's name.
        name: String,
        /// Every finding, in order.
        findings: Vec<Diagnostic>,
    },
    /// The program is right but too large.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

/// What a program is told of its data.
///
/// # Errors
/// If the format is none that programs compute with.
pub fn sizes(format: NumberFormat, n_features: usize, n_labels: usize) -> Result<Sizes, ProgramError> {
    match format {
        NumberFormat::Fixed(fixed) if fixed.negatives() == Negatives::TwosComplement => {
            Ok(Sizes { n_features, n_labels, integer: fixed.n_integer(), fraction: fixed.n_fraction() })
        }
        format => Err(ProgramError::Format { format }),
    }
}

/// Whether a source is a program rather than a machine.
#[must_use]
pub fn is_program(source: &Source) -> bool {
    source.extension.as_deref() == Some(EXTENSION)
}

/// Compiles a program called `name` in messages.
///
/// # Errors
/// If it is wrong.
pub fn compile(text: &str, name: &str, sizes: &Sizes) -> Result<Compiled, ProgramError> {
    luge_sled::compile(text, sizes).map_err(|error| match error {
        CompileError::Findings(findings) => ProgramError::Broken { name: name.to_owned(), findings },
        CompileError::Backend(error) => error.into(),
    })
}

/// Where a table's numbers lie on the machine's tape.
#[must_use]
pub fn layout(table: &Table, format: NumberFormat) -> DataLayout {
    let (n_features, n_labels) = (table.features.shape.cols, table.labels.shape.cols);
    DataLayout { n_samples: table.n_samples(), n_features, n_labels, format }
}

/// The bits of a table's numbers, as the machine finds them.
#[must_use]
pub fn bits(table: &Table, format: NumberFormat) -> Vec<bool> {
    let numbers: Vec<f64> = table.features.data.iter().chain(&table.labels.data).copied().collect();
    let number =
        |i: usize| format.encode(numbers[i], Overflow::Saturate).unwrap_or(luge_net::numbers::Word(0));
    layout(table, format).order().into_iter().flat_map(|i| format.bits(number(i))).collect()
}
