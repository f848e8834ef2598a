//! Documents that the site saved: they contain the machine as a text, and diagnostics point into that text.

use std::ops::Range;

use super::{
    machine, unknown_key,
    yaml::{Document, NodeId, ROOT},
};
use crate::{
    Diagnostic,
    diagnostic::Findings,
    formats::{Loaded, ReadOptions},
};

/// The key of the machine's text.
pub(super) const SOURCE_CODE: &str = "source code";

/// The key `source code` and its value; `None` if the document itself is a machine.
pub(super) fn source_code(document: &Document) -> Option<[NodeId; 2]> {
    let mut entries = document.mapping(ROOT)?.iter();
    let has_table = entries.clone().any(|&[key, _]| document.text(key) == Some("table"));
    entries.find(|&&[key, _]| document.text(key) == Some(SOURCE_CODE) && !has_table).copied()
}

/// Reads the machine in the text. Its name is a key of the document.
pub(super) fn read(
    document: &Document,
    [key, value]: [NodeId; 2],
    text: &str,
    options: &ReadOptions,
) -> Result<Loaded, Vec<Diagnostic>> {
    let (name, mut outer) = about(document);
    let key = &document.nodes[key].span;
    let Some(source) = document.text(value).filter(|_| !document.is_null(value)) else {
        outer
            .error(key, "`source code` must be a text", "nothing to read here")
            .remedy("the machine stands below it: `source code: |` and then indented lines");
        return Err(outer.into_sorted());
    };
    let inner = Document::parse(source).map_err(|error| vec![error]);
    let read = inner.and_then(|inner| machine(&inner, source, options));
    let places = places(text, key, source);
    let placed = |found: Diagnostic| {
        let span = places.as_ref().map_or(key.clone(), |places| {
            let [start, end] = [found.span.start, found.span.end].map(|at| place(places, at));
            start..end.max(start)
        });
        Diagnostic { span, ..found }
    };
    match read {
        Ok(mut loaded) => {
            loaded.machine.name = name.or(loaded.machine.name);
            loaded.warnings.into_iter().for_each(|found| _ = outer.push(placed(found)));
            Ok(Loaded { warnings: outer.into_sorted(), ..loaded })
        }
        Err(errors) => {
            errors.into_iter().for_each(|found| _ = outer.push(placed(found)));
            Err(outer.into_sorted())
        }
    }
}

/// The machine's name, and a warning for every key the site does not write.
fn about(document: &Document) -> (Option<String>, Findings) {
    let mut name = None;
    let mut findings = Findings::default();
    for &[key, value] in document.mapping(ROOT).unwrap_or_default() {
        match document.text(key) {
            Some("name") if !document.is_null(value) => name = document.text(value).map(str::to_owned),
            Some("name" | SOURCE_CODE | "positions") => {}
            other => {
                let span = document.nodes[key].span.clone();
                let known = ["name", SOURCE_CODE, "positions"];
                findings.push(unknown_key(other.unwrap_or("this key"), span, &known));
            }
        }
    }
    (name, findings)
}

/// For each line of the machine, its start in the machine's text and, after the indentation, in the document; and the end
/// of the last line. `None` if the machine is not a literal block after the key, but quoted or folded.
fn places(text: &str, key: &Range<usize>, source: &str) -> Option<Vec<[usize; 2]>> {
    let [mut inner, mut outer] = [0, key.end + text[key.end..].find('\n')? + 1];
    let mut places = Vec::new();
    for line in source.split_inclusive('\n') {
        let spelled = text[outer..].split_inclusive('\n').next().unwrap_or_default();
        let indent = spelled.trim_end_matches(['\n', '\r']).strip_suffix(line.trim_end_matches('\n'))?;
        if indent.contains(|c| c != ' ') {
            return None;
        }
        places.push([inner, outer + indent.len()]);
        (inner, outer) = (inner + line.len(), outer + spelled.len());
    }
    places.push([inner, outer]);
    Some(places)
}

/// The position in the document of a position in the machine's text.
fn place(places: &[[usize; 2]], at: usize) -> usize {
    let line = places.partition_point(|&[inner, _]| inner <= at).saturating_sub(1);
    let [inner, outer] = places[line];
    outer + if line + 1 < places.len() { at - inner } else { 0 }
}
