//! Errors as Python exceptions, with the library's own messages and places.

use std::{error::Error, io};

use luge::{
    files::{model::ModelError, outputs::OutputError},
    job::{
        JobError,
        program::ProgramError,
        source::{OpenError, ReadError, Source},
    },
    ordinary::OrdinaryError,
    stream::PreparedStreamError,
    trace::TraceError,
    training::TrainingError,
};
use luge_machine::{Diagnostic, Severity};
use pyo3::{
    exceptions::{PyFileExistsError, PyOSError},
    prelude::*,
    types::PyDict,
};

/// Why a request is refused.
pub(crate) enum Refusal {
    /// The request does not make sense: `luge.LugeError`.
    Incompatible(String),
    /// A text that was read, and what was found in it: `luge.LugeError` with its findings.
    Broken { headline: String, text: Box<Source>, findings: Vec<Diagnostic> },
    /// The system refused: `OSError`.
    System(String),
    /// A file is there already: `FileExistsError`.
    Exists(String),
    /// Python code that was called raised this.
    Python(PyErr),
}

impl Refusal {
    /// A refusal in these words.
    pub(crate) fn unfit(words: impl Into<String>) -> Self {
        Self::Incompatible(words.into())
    }

    /// The error with its reasons.
    fn of(error: &dyn Error) -> Self {
        Self::Incompatible(with_reasons(error))
    }
}

/// An error in words, with its reasons.
pub(crate) fn with_reasons(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut reason = error.source();
    while let Some(error) = reason {
        words.push_str(&format!(": {error}"));
        reason = error.source();
    }
    words
}

impl From<PyErr> for Refusal {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<JobError> for Refusal {
    fn from(error: JobError) -> Self {
        let headline = error.to_string();
        match error {
            JobError::Read { text, error: ReadError::Broken { findings, .. } }
            | JobError::Program { text, error: ProgramError::Broken { findings, .. } } => {
                Self::Broken { headline, findings, text }
            }
            error => Self::of(&error),
        }
    }
}

impl From<OpenError> for Refusal {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Read { .. } => Self::System(with_reasons(&error)),
            error => Self::of(&error),
        }
    }
}

impl From<ModelError> for Refusal {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Io(_) => Self::System(with_reasons(&error)),
            ModelError::Job(error) => error.into(),
            error => Self::of(&error),
        }
    }
}

impl From<OutputError> for Refusal {
    fn from(error: OutputError) -> Self {
        let words = with_reasons(&error);
        match error {
            OutputError::Exists { .. } => {
                Self::Exists(format!("{words}: give another name, or force=True to write over it"))
            }
            OutputError::NotAFile { .. } => Self::System(format!("{words}: name a new file")),
            _ => Self::System(words),
        }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::System(error.to_string())
    }
}

impl From<PreparedStreamError> for Refusal {
    fn from(error: PreparedStreamError) -> Self {
        match error {
            PreparedStreamError::Job(error) => error.into(),
            error => Self::of(&error),
        }
    }
}

impl From<OrdinaryError> for Refusal {
    fn from(error: OrdinaryError) -> Self {
        match error {
            OrdinaryError::Job(error) => error.into(),
            error => Self::of(&error),
        }
    }
}

macro_rules! plain {
    ($($error:ty),*) => {$(
        impl From<$error> for Refusal {
            fn from(error: $error) -> Self {
                Self::of(&error)
            }
        }
    )*};
}

plain!(
    TraceError,
    TrainingError,
    luge::run::memory::TooMuch,
    ProgramError,
    serde_json::Error,
    luge_landscape::LearnerError,
    luge_machine::lowering::LoweringError,
    luge_machine::formats::Inexpressible
);

impl From<Refusal> for PyErr {
    fn from(refusal: Refusal) -> Self {
        let (headline, text, findings) = match refusal {
            Refusal::Python(error) => return error,
            Refusal::System(words) => return PyOSError::new_err(words),
            Refusal::Exists(words) => return PyFileExistsError::new_err(words),
            Refusal::Incompatible(words) => (words, None, Vec::new()),
            Refusal::Broken { headline, text, findings } => (headline, Some(text), findings),
        };
        Python::attach(|py| raised(py, &headline, text.as_deref(), &findings).unwrap_or_else(|error| error))
    }
}

/// The exception `luge.LugeError`, which Python code defines.
fn raised(py: Python<'_>, headline: &str, text: Option<&Source>, findings: &[Diagnostic]) -> PyResult<PyErr> {
    let kind = py.import("luge.errors")?.getattr("LugeError")?;
    let found = findings.iter().map(|finding| entry(py, finding, text)).collect::<PyResult<Vec<_>>>()?;
    let (name, text) = text.map_or((None, None), |source| (Some(&source.name), Some(&source.text)));
    Ok(PyErr::from_value(kind.call1((headline, name, text, found))?))
}

/// One finding: what is wrong, where, and how to mend it.
fn entry<'py>(py: Python<'py>, finding: &Diagnostic, text: Option<&Source>) -> PyResult<Bound<'py, PyDict>> {
    let (line, column) = finding.position(text.map_or("", |source| &source.text));
    let entry = PyDict::new(py);
    entry.set_item("message", &finding.message)?;
    entry.set_item("label", &finding.label)?;
    entry.set_item("help", &finding.help)?;
    entry.set_item("line", line)?;
    entry.set_item("column", column)?;
    entry.set_item("span", (finding.span.start, finding.span.end))?;
    entry.set_item("warning", finding.severity == Severity::Warning)?;
    Ok(entry)
}
