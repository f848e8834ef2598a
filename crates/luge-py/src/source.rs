//! The texts of machines and programs.

use luge::job::{is_circuit, program, source};
use luge_machine::formats::recognise;
use pyo3::prelude::*;

use crate::refusal::Refusal;

/// The text of a machine or a program.
#[pyclass(frozen, module = "luge._luge")]
pub(crate) struct Source {
    pub(crate) inner: source::Source,
}

#[pymethods]
impl Source {
    /// A file, the name of something that ships, or a bbchallenge line.
    #[staticmethod]
    fn open(place: &str) -> Result<Self, Refusal> {
        Ok(Self { inner: source::Source::open(place)? })
    }

    /// A text. Without an extension, it is a machine if it looks like one, and otherwise a Sled program.
    #[staticmethod]
    #[pyo3(signature = (name, text, extension=None))]
    fn of_text(name: String, text: String, extension: Option<String>) -> Self {
        let machine = || recognise(None, &text).is_ok();
        let extension = extension.or_else(|| (!machine()).then(|| program::EXTENSION.to_owned()));
        Self { inner: source::Source { name, text, extension } }
    }

    /// Its name in messages.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// The text.
    #[getter]
    fn text(&self) -> &str {
        &self.inner.text
    }

    /// The file's extension or the format's short name, if it is known.
    #[getter]
    fn extension(&self) -> Option<&str> {
        self.inner.extension.as_deref()
    }

    /// Warnings about the text, if it is a circuit.
    #[getter]
    fn circuit_warnings(&self) -> Result<Vec<String>, Refusal> {
        if !is_circuit(&self.inner) {
            return Ok(Vec::new());
        }
        let warnings = self.inner.read_circuit(None)?.warnings;
        Ok(warnings.into_iter().map(|warning| warning.message).collect())
    }

    /// Whether it is a Sled program.
    #[getter]
    fn is_program(&self) -> bool {
        program::is_program(&self.inner)
    }
}
