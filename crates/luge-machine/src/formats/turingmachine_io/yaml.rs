//! YAML as a tree of nodes with their positions in the text. Scalars keep their spelling.

use std::{collections::HashMap, ops::Range};

use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::Diagnostic;

/// The number of a node in its document.
pub(super) type NodeId = usize;

/// A node and its span; for a collection, that of its opening.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
    /// The items of a sequence, or the keys and values of a mapping in turn.
    pub(super) children: Vec<NodeId>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// A scalar, and whether it is plain, without quotes.
    Scalar {
        text: String,
        plain: bool,
    },
    Sequence,
    Mapping,
}

/// A document: its nodes, the root first. Aliases share nodes, so it is not larger than the text.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub(super) nodes: Vec<Node>,
}

/// The root of a document.
pub(super) const ROOT: NodeId = 0;

impl Document {
    /// The spelling of a scalar.
    pub(super) fn text(&self, id: NodeId) -> Option<&str> {
        match &self.nodes[id].kind {
            Kind::Scalar { text, .. } => Some(text),
            Kind::Sequence | Kind::Mapping => None,
        }
    }

    /// The keys and values of a mapping.
    pub(super) fn mapping(&self, id: NodeId) -> Option<&[[NodeId; 2]]> {
        let node = &self.nodes[id];
        matches!(node.kind, Kind::Mapping).then(|| node.children.as_chunks().0)
    }

    /// Whether the node is null: empty, `~` or `null`, without quotes.
    pub(super) fn is_null(&self, id: NodeId) -> bool {
        matches!(&self.nodes[id].kind, Kind::Scalar { text, plain: true } if is_null_word(text))
    }

    /// Parses the only document of a text.
    pub(super) fn parse(text: &str) -> Result<Self, Diagnostic> {
        // The parser counts characters, and anchors from 1.
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let byte = |character: usize| places.get(character).copied().unwrap_or(text.len());
        let mut nodes: Vec<Node> = Vec::new();
        let mut anchors: HashMap<usize, NodeId> = HashMap::new();
        // The open collections.
        let mut open: Vec<NodeId> = Vec::new();
        for event in Parser::new_from_str(text) {
            let (event, span) = event.map_err(|error| {
                let at = byte(error.marker().index());
                let message = format!("this is not YAML: {}", error.info());
                Diagnostic::error(at..at, message, "the reader stopped here")
            })?;
            let start = byte(span.start.index());
            let span = start..byte(span.end.index()).max(start);
            let (kind, anchor) = match event {
                Event::Scalar(text, style, anchor, _) => {
                    (Kind::Scalar { text: text.into_owned(), plain: style == ScalarStyle::Plain }, anchor)
                }
                Event::SequenceStart(anchor, _) => (Kind::Sequence, anchor),
                Event::MappingStart(anchor, _) => (Kind::Mapping, anchor),
                Event::DocumentStart(_) if !nodes.is_empty() => {
                    let message = "a file holds one machine, so one YAML document";
                    return Err(Diagnostic::error(span, message, "a second document begins here"));
                }
                Event::Alias(anchor) => {
                    if let (Some(&parent), Some(&node)) = (open.last(), anchors.get(&anchor)) {
                        nodes[parent].children.push(node);
                    }
                    continue;
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    open.pop();
                    continue;
                }
                _ => continue,
            };
            let node = nodes.len();
            if anchor > 0 {
                anchors.insert(anchor, node);
            }
            if let Some(&parent) = open.last() {
                nodes[parent].children.push(node);
            }
            if !matches!(kind, Kind::Scalar { .. }) {
                open.push(node);
            }
            nodes.push(Node { span, kind, children: Vec::new() });
        }
        if nodes.is_empty() {
            let error =
                Diagnostic::error(0..text.len(), "there is no machine in this text", "an empty document");
            return Err(error.with_help("`blank`, `start state` and `table` are needed"));
        }
        Ok(Self { nodes })
    }
}

/// Whether YAML reads an unquoted word as null.
pub(super) fn is_null_word(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}
