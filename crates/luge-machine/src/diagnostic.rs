//! Errors and warnings about a user's file. This crate collects them; the binary renders them.

use std::{borrow::Borrow, fmt, ops::Range};

/// The most findings of one severity that are listed. The rest are counted.
const MAX_LISTED: usize = 100;

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

/// The findings of a parser, in bounded memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    listed: Vec<Diagnostic>,
    pub(crate) n_errors: usize,
    n_warnings: usize,
    /// The first error and the first warning that are not listed.
    beyond: [Option<Diagnostic>; 2],
}

impl Findings {
    /// Adds a finding. A remedy can be added to it.
    pub(crate) fn push(&mut self, finding: Diagnostic) -> &mut Diagnostic {
        let n_found = match finding.severity {
            Severity::Error => &mut self.n_errors,
            Severity::Warning => &mut self.n_warnings,
        };
        *n_found += 1;
        if *n_found <= MAX_LISTED {
            return self.listed.push_mut(finding);
        }
        self.beyond[finding.severity as usize].get_or_insert(finding)
    }

    /// Adds an error. A remedy can be added to it.
    pub(crate) fn error(
        &mut self,
        span: impl Borrow<Range<usize>>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> &mut Diagnostic {
        self.push(Diagnostic::error(span.borrow().clone(), message, label))
    }

    /// Adds a warning. A remedy can be added to it.
    pub(crate) fn warning(
        &mut self,
        span: impl Borrow<Range<usize>>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> &mut Diagnostic {
        self.push(Diagnostic::warning(span.borrow().clone(), message, label))
    }

    /// Number of findings, listed or not.
    pub(crate) fn count(&self) -> usize {
        self.n_errors + self.n_warnings
    }

    /// The listed findings in the order of the text, then the number of further ones.
    pub(crate) fn into_sorted(self) -> Vec<Diagnostic> {
        let mut sorted = self.listed;
        sorted.sort_by_key(|d| (d.span.start, d.span.end));
        for (first, n_found) in self.beyond.into_iter().zip([self.n_errors, self.n_warnings]) {
            let Some(Diagnostic { severity, span, .. }) = first else { continue };
            let message = match n_found - MAX_LISTED {
                1 => format!("1 more {severity} is not listed"),
                n_more => format!("{n_more} more {severity}s are not listed"),
            };
            let at = span.start..span.start;
            sorted.push(Diagnostic { severity, ..Diagnostic::error(at, message, "the first of them") });
        }
        sorted
    }
}

/// The line starts of a text, for finding line numbers quickly.
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        Self([0].into_iter().chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    /// The line that holds byte `at`, counted from 1.
    pub(crate) fn of(&self, at: usize) -> usize {
        self.0.partition_point(|&start| start <= at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_beyond_the_list_are_counted_and_still_refuse() {
        let mut findings = Findings::default();
        for at in 0..MAX_LISTED + 2 {
            findings.push(Diagnostic::warning(at..at + 1, "odd", ""));
        }
        assert_eq!(findings.n_errors, 0);
        findings.push(Diagnostic::error(3..4, "wrong", "")).help = Some("mend it".to_owned());
        assert!(findings.n_errors > 0);
        assert_eq!(findings.count(), MAX_LISTED + 3);
        let listed = findings.into_sorted();
        assert_eq!(listed.len(), MAX_LISTED + 2);
        assert_eq!((listed[4].message.as_str(), listed[4].help.as_deref()), ("wrong", Some("mend it")));
        let last = listed.last().unwrap();
        assert_eq!(last.message, "2 more warnings are not listed");
        assert_eq!((last.severity, last.span.start), (Severity::Warning, MAX_LISTED));
    }

    #[test]
    fn lines_are_counted_from_one() {
        let lines = Lines::new("a\n\nb");
        assert_eq!([0, 1, 2, 3, 4].map(|at| lines.of(at)), [1, 1, 2, 3, 3]);
        assert_eq!(Lines::new("").of(0), 1);
    }
}
