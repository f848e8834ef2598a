//! Errors and warnings about a user's file. This crate collects them; the binary renders them.

mod findings;

use std::{fmt, ops::Range};

pub(crate) use findings::{Findings, Lines};

/// Whether a finding makes a file invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The file is invalid.
    Error,
    /// The file is valid, but it may not mean what its author thinks.
    Warning,
}

/// One finding in a source text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Whether it makes the file invalid.
    pub severity: Severity,
    /// What is wrong: lower case, no full stop.
    pub message: String,
    /// Byte range in the source text.
    pub span: Range<usize>,
    /// A short note printed at the span: what was found or expected there.
    pub label: String,
    /// How to fix it, if known.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error.
    pub fn error(span: Range<usize>, message: impl Into<String>, label: impl Into<String>) -> Self {
        Self { severity: Severity::Error, message: message.into(), span, label: label.into(), help: None }
    }

    /// A warning.
    pub fn warning(span: Range<usize>, message: impl Into<String>, label: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(span, message, label) }
    }

    /// Adds the remedy.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.remedy(help);
        self
    }

    /// Adds the remedy, in place.
    pub fn remedy(&mut self, help: impl Into<String>) {
        self.help = Some(help.into());
    }

    /// Line and column of the start of the span in `source`, both counted from 1; columns count characters.
    pub fn position(&self, source: &str) -> (usize, usize) {
        let before = &source[..source.floor_char_boundary(self.span.start)];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }

    /// One line for logs and golden files: `line:column: error: message (label); help: …`.
    pub fn one_line(&self, source: &str) -> String {
        let (line, column) = self.position(source);
        let mut text = format!("{line}:{column}: {}: {}", self.severity, self.message);
        if !self.label.is_empty() {
            text.push_str(&format!(" ({})", self.label));
        }
        if let Some(help) = &self.help {
            text.push_str(&format!("; help: {help}"));
        }
        text
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}
