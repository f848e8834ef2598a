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
};

pyo3::import_exception!(luge.errors, LugeError);

/// An error that becomes a Python exception.
pub(crate) struct Refusal(PyErr);

impl Refusal {
    /// A request that cannot be carried out: `luge.LugeError`.
    pub(crate) fn new(words: impl Into<String>) -> Self {
        Self(LugeError::new_err(words.into()))
    }

    /// A text with errors: `luge.LugeError` with its findings.
    fn of_text(headline: String, text: &Source, findings: &[Diagnostic]) -> Self {
        let findings: Vec<Finding> = findings.iter().map(|found| Finding::new(found, &text.text)).collect();
        Self(LugeError::new_err((headline, text.name.clone(), text.text.clone(), findings)))
    }
}

/// What is wrong in a text, where, and a remedy: a `dict` in Python.
#[derive(IntoPyObject)]
struct Finding {
    message: String,
    label: String,
    help: Option<String>,
    line: usize,
    column: usize,
    span: (usize, usize),
    warning: bool,
}

impl Finding {
    fn new(found: &Diagnostic, text: &str) -> Self {
        let (line, column) = found.position(text);
        let Diagnostic { severity, span, message, label, help, .. } = found.clone();
        let warning = severity == Severity::Warning;
        Self { message, label, help, line, column, span: (span.start, span.end), warning }
    }
}

/// Any error of the library.
impl<E: Error + 'static> From<E> for Refusal {
    fn from(error: E) -> Self {
        let error: Box<dyn Error> = Box::new(error);
        let error = match error.downcast::<PyErr>() {
            Ok(raised) => return Self(*raised),
            Err(error) => error,
        };
        if let Some((text, findings)) = of_job(&*error).and_then(JobError::findings) {
            return Self::of_text(error.to_string(), text, findings);
        }
        let causes = || std::iter::successors(Some(&*error), |&error| error.source());
        let words = causes().map(ToString::to_string).collect::<Vec<_>>().join(": ");
        Self(match error.downcast_ref() {
            Some(OutputError::Exists { .. }) => PyFileExistsError::new_err(format!(
                "{words}: give another name, or force=True to write over it"
            )),
            Some(OutputError::NotAFile { .. }) => PyOSError::new_err(format!("{words}: name a new file")),
            Some(_) => PyOSError::new_err(words),
            None if causes().any(|cause| cause.is::<io::Error>()) => PyOSError::new_err(words),
            None => return Self::new(words),
        })
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
        refusal.0
    }
}
