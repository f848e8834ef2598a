//! Documents as the site saves them: the machine is text inside, and findings point into that text.

use std::ops::Range;

use super::{
    parse,
    yaml::{Document, NodeId},
};
use crate::{Diagnostic, diagnostic::Findings, formats::Loaded};

/// The key of the machine's own text.
pub(super) const SOURCE_CODE: &str = "source code";

/// The key and the value of `source code`, unless the document is a bare machine.
pub(super) fn source_code(document: &Document) -> Option<(NodeId, NodeId)> {
    let mut entries = document.entries(document.root).iter();
    let has_table = entries.clone().any(|&(key, _)| document.text(key) == Some("table"));
    entries.find(|&&(key, _)| document.text(key) == Some(SOURCE_CODE) && !has_table).copied()
}

/// Reads the machine inside; its name stands outside.
pub(super) fn read(
    document: &Document,
    (key, value): (NodeId, NodeId),
    text: &str,
) -> Result<Loaded, Vec<Diagnostic>> {
    let (name, mut outer) = about(document);
    let Some(source) = document.text(value).filter(|_| !document.is_null(value)) else {
        let span = document.node(key).span.clone();
        outer
            .error(span, "`source code` must be a text", "nothing to read here")
            .remedy("the machine stands below it: `source code: |` and then indented lines");
        return Err(outer.into_sorted());
    };
    let places = Places::new(text, document.node(key).span.clone(), source);
    let moved = |findings: Vec<Diagnostic>| {
        findings.into_iter().map(|finding| Diagnostic { span: places.range(&finding.span), ..finding })
    };
    let inner = Document::parse(source).map_err(|error| vec![error]);
    match inner.and_then(|inner| parse::machine(&inner, source)) {
        Ok(mut loaded) => {
            loaded.machine.name = name.or(loaded.machine.name);
            outer.extend(moved(loaded.warnings));
            Ok(Loaded { warnings: outer.into_sorted(), ..loaded })
        }
        Err(errors) => {
            outer.extend(moved(errors));
            Err(outer.into_sorted())
        }
    }
}

/// The machine's name, and a warning for every key the site does not write.
fn about(document: &Document) -> (Option<String>, Findings) {
    let mut name = None;
    let mut findings = Findings::default();
    for &(key, value) in document.entries(document.root) {
        match document.text(key) {
            Some("name") if !document.is_null(value) => name = document.text(value).map(str::to_owned),
            Some("name" | SOURCE_CODE | "positions") => {}
            other => {
                let span = document.node(key).span.clone();
                let known = ["name", SOURCE_CODE, "positions"];
                findings.push(parse::unknown_key(other.unwrap_or("this key"), span, &known));
            }
        }
    }
    (name, findings)
}

/// Where the machine's text stands in the document.
enum Places {
    /// In a block of lines: where each begins in the machine's text and, after its indentation, in the document.
    Lines(Vec<(usize, usize)>),
    /// Somewhere behind a key, in quotes or folded.
    After(Range<usize>),
}

impl Places {
    fn new(text: &str, key: Range<usize>, source: &str) -> Self {
        Self::lines(text, &key, source).map_or(Self::After(key), Self::Lines)
    }

    /// Lays the lines of the machine beside those after the key's own; nothing if they are not the same.
    fn lines(text: &str, key: &Range<usize>, source: &str) -> Option<Vec<(usize, usize)>> {
        let mut at = key.end + text[key.end..].find('\n')? + 1;
        let mut start = 0;
        let mut lines = Vec::new();
        for line in source.split_inclusive('\n') {
            let outer = text[at..].split_inclusive('\n').next().unwrap_or_default();
            let (spelled, content) = (outer.trim_end_matches(['\n', '\r']), line.trim_end_matches('\n'));
            let indent = spelled.strip_suffix(content)?;
            if indent.contains(|c| c != ' ') {
                return None;
            }
            lines.push((start, at + indent.len()));
            at += outer.len();
            start += line.len();
        }
        lines.push((start, at));
        Some(lines)
    }

    fn range(&self, span: &Range<usize>) -> Range<usize> {
        match self {
            Self::After(key) => key.clone(),
            Self::Lines(lines) => {
                let place = |at: usize| {
                    let line = lines.partition_point(|&(start, _)| start <= at).saturating_sub(1);
                    let (start, outer) = lines[line];
                    // Nothing stands after the last line.
                    outer + if line + 1 < lines.len() { at - start } else { 0 }
                };
                let start = place(span.start);
                start..place(span.end).max(start)
            }
        }
    }
}
