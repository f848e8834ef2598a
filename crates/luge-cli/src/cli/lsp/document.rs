//! A program that is open in an editor: its errors, its formatted text, and the cost of its lines.

use lsp_types::{
    DiagnosticSeverity, Hover, HoverContents, MarkupContent, MarkupKind, Position, Range, TextEdit,
};
use luge::job::{ProgramError, program};
use luge_machine::{Diagnostic, Severity};
use luge_sled::{Compiled, Sizes};

use super::text::range;
use crate::cli::command_prelude::*;

/// A text, and what `luge check` makes of it.
pub(super) struct Document {
    text: String,
    sizes: Sizes,
    compiled: Result<Compiled, ProgramError>,
}

impl Document {
    pub(super) fn new(text: String) -> Self {
        let sizes = luge_sled::usual_sizes(&text);
        let compiled = program::compile(&text, "the program", &sizes, &[]);
        Self { text, sizes, compiled }
    }

    /// All errors at their places; an error of the program as a whole is shown in the first line.
    pub(super) fn diagnostics(&self) -> Vec<lsp_types::Diagnostic> {
        match &self.compiled {
            Ok(_) => Vec::new(),
            Err(ProgramError::Broken { findings, .. }) => {
                findings.iter().map(|finding| self.diagnostic(finding)).collect()
            }
            Err(error) => {
                let first = self.text.lines().next().unwrap_or("").len();
                vec![self.diagnostic(&Diagnostic::error(0..first, error.to_string(), ""))]
            }
        }
    }

    fn diagnostic(&self, finding: &Diagnostic) -> lsp_types::Diagnostic {
        let severity = match finding.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        };
        let mut message = finding.message.clone();
        if !finding.label.is_empty() {
            message.push_str(&format!(": {}", finding.label));
        }
        if let Some(help) = &finding.help {
            message.push_str(&format!("\nhelp: {help}"));
        }
        let source = Some("luge".to_owned());
        let range = range(&self.text, &finding.span);
        lsp_types::Diagnostic { range, severity: Some(severity), source, message, ..Default::default() }
    }

    /// The edit that formats the text; `None` if it has syntax errors.
    pub(super) fn formatted(&self) -> Option<Vec<TextEdit>> {
        let formatted = luge_sled::format(&self.text).ok()?;
        if formatted == self.text {
            return Some(Vec::new());
        }
        Some(vec![TextEdit::new(range(&self.text, &(0..self.text.len())), formatted)])
    }

    /// The number of states that a line takes, and the size of the machine; lines are counted from 0.
    pub(super) fn cost(&self, line: u32) -> Option<Hover> {
        let compiled = self.compiled.as_ref().ok()?;
        let own = compiled.lines.iter().filter(|&&of| of == Some(line + 1)).count();
        if own == 0 {
            return None;
        }
        let size = lower(&compiled.machine, Moves::Keep).ok()?.after;
        let format = format!("fix:{}.{}", self.sizes.integer, self.sizes.fraction);
        let value = format!(
            "**{own}** of the machine's {} states\n\n{} vertices on {} binary tapes, for {}",
            compiled.machine.states().len(),
            size.vertices,
            size.tapes,
            sample_sizes(self.sizes.n_features, self.sizes.n_labels, &format)
        );
        let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
        let range = Range::new(Position::new(line, 0), Position::new(line + 1, 0));
        Some(Hover { contents, range: Some(range) })
    }
}
