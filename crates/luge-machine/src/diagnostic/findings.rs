//! Collects errors and warnings, and finds line numbers.

use std::{borrow::Borrow, ops::Range};

use super::{Diagnostic, Severity};

/// The most findings of one severity that are listed. The rest are counted.
const MAX_LISTED: usize = 100;

/// The findings of a parser, in bounded memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    listed: Vec<Diagnostic>,
    errors: Unlisted,
    warnings: Unlisted,
}

/// The number of findings of one severity, and the last one that is not listed.
#[derive(Clone, Debug, Default)]
struct Unlisted {
    n_found: usize,
    first: usize,
    last: Option<Diagnostic>,
}

impl Findings {
    /// Adds a finding. A remedy can be added to it.
    pub(crate) fn push(&mut self, finding: Diagnostic) -> &mut Diagnostic {
        let group = match finding.severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        group.n_found += 1;
        if group.n_found <= MAX_LISTED {
            return self.listed.push_mut(finding);
        }
        if group.n_found == MAX_LISTED + 1 {
            group.first = finding.span.start;
        }
        group.last.insert(finding)
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
        self.errors.n_found + self.warnings.n_found
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count() == 0
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.errors.n_found > 0
    }

    /// The listed findings in the order of the text, then the number of further ones.
    pub(crate) fn into_sorted(self) -> Vec<Diagnostic> {
        let mut sorted = self.listed;
        sorted.sort_by_key(|d| (d.span.start, d.span.end));
        for (group, severity) in [(self.errors, Severity::Error), (self.warnings, Severity::Warning)] {
            let message = match group.n_found.saturating_sub(MAX_LISTED) {
                0 => continue,
                1 => format!("1 more {severity} is not listed"),
                n_more => format!("{n_more} more {severity}s are not listed"),
            };
            let at = group.first..group.first;
            sorted.push(Diagnostic { severity, ..Diagnostic::error(at, message, "the first of them") });
        }
        sorted
    }
}

impl Extend<Diagnostic> for Findings {
    fn extend<T: IntoIterator<Item = Diagnostic>>(&mut self, findings: T) {
        for finding in findings {
            self.push(finding);
        }
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
        assert!(!findings.has_errors());
        findings.push(Diagnostic::error(3..4, "wrong", "")).help = Some("mend it".to_owned());
        assert!(findings.has_errors());
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
