//! Errors as Python exceptions, with the messages and places of the library.

use std::{error::Error, io};

use luge::{
    files::{ModelError, OutputError},
    job::{JobError, Source},
};
use luge_machine::{Diagnostic, Severity};
use pyo3::{
    exceptions::{PyFileExistsError, PyOSError},
    prelude::*,
    types::PyDict,
};

/// An error that becomes a Python exception.
pub(crate) enum Refusal {
    /// The request cannot be carried out: `luge.LugeError`.
    Incompatible(String),
    /// A text with errors: `luge.LugeError` with its findings.
    Broken { headline: String, text: Box<Source>, findings: Vec<Diagnostic> },
    /// The system refused: `OSError`.
    System(String),
    /// A file already exists: `FileExistsError`.
    Exists(String),
    /// An exception of Python code that was called.
    Python(PyErr),
}

impl Refusal {
    /// A request that cannot be carried out.
    pub(crate) fn new(words: impl Into<String>) -> Self {
        Self::Incompatible(words.into())
    }
}

/// The message of an error and of its causes.
fn with_reasons(error: &(dyn Error + 'static)) -> String {
    reasons(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// An error and its causes.
fn reasons<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// Any error of the library.
impl<E: Error + 'static> From<E> for Refusal {
    fn from(error: E) -> Self {
        let error: Box<dyn Error> = Box::new(error);
        let error = match error.downcast::<PyErr>() {
            Ok(raised) => return Self::Python(*raised),
            Err(error) => error,
        };
        let words = with_reasons(&*error);
        if let Some((text, findings)) = of_job(&*error).and_then(JobError::findings) {
            let (text, findings) = (Box::new(text.clone()), findings.to_vec());
            return Self::Broken { headline: error.to_string(), text, findings };
        }
        match error.downcast_ref() {
            Some(OutputError::Exists { .. }) => {
                Self::Exists(format!("{words}: give another name, or force=True to write over it"))
            }
            Some(OutputError::NotAFile { .. }) => Self::System(format!("{words}: name a new file")),
            Some(_) => Self::System(words),
            None if reasons(&*error).any(|reason| reason.is::<io::Error>()) => Self::System(words),
            None => Self::Incompatible(words),
        }
    }
}

/// The error of a job, also inside another error.
fn of_job<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e JobError> {
    match error.downcast_ref() {
        Some(ModelError::Job(error)) => Some(error),
        _ => error.downcast_ref(),
    }
}

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

/// The exception `luge.LugeError`, which is defined in Python.
fn raised(py: Python<'_>, headline: &str, text: Option<&Source>, findings: &[Diagnostic]) -> PyResult<PyErr> {
    let kind = py.import("luge.errors")?.getattr("LugeError")?;
    let found = findings.iter().map(|finding| entry(py, finding, text)).collect::<PyResult<Vec<_>>>()?;
    let (name, text) = text.map_or((None, None), |source| (Some(&source.name), Some(&source.text)));
    Ok(PyErr::from_value(kind.call1((headline, name, text, found))?))
}

/// One finding: what is wrong, where, and a remedy.
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
