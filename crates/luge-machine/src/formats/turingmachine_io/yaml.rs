//! YAML as a tree of nodes with their positions in the text. Scalars keep their spelling.

use std::{collections::HashMap, ops::Range};

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

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

/// A document. Aliases share nodes, so it is not larger than the text.
#[derive(Clone, Debug)]
pub(super) struct Document {
    nodes: Vec<Node>,
    pub(super) root: NodeId,
}

impl Document {
    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    /// The spelling of a scalar.
    pub(super) fn text(&self, id: NodeId) -> Option<&str> {
        match &self.node(id).kind {
            Kind::Scalar { text, .. } => Some(text),
            Kind::Sequence | Kind::Mapping => None,
        }
    }

    /// The keys and values of a mapping.
    pub(super) fn mapping(&self, id: NodeId) -> Option<&[[NodeId; 2]]> {
        let node = self.node(id);
        matches!(node.kind, Kind::Mapping).then(|| node.children.as_chunks().0)
    }

    /// Whether the node is null: empty, `~` or `null`, without quotes.
    pub(super) fn is_null(&self, id: NodeId) -> bool {
        matches!(&self.node(id).kind, Kind::Scalar { text, plain: true } if is_null_word(text))
    }

    /// Parses the only document of a text.
    pub(super) fn parse(text: &str) -> Result<Self, Diagnostic> {
        let places = Places::new(text);
        let mut assembly = Assembly::default();
        let mut n_documents = 0;
        for event in Parser::new_from_str(text) {
            let (event, span) = event.map_err(|error| {
                let at = places.byte(error.marker().index());
                let message = format!("this is not YAML: {}", error.info());
                Diagnostic::error(at..at, message, "the reader stopped here")
            })?;
            n_documents += usize::from(matches!(event, Event::DocumentStart(_)));
            if n_documents > 1 {
                let message = "a file holds one machine, so one YAML document";
                return Err(Diagnostic::error(places.range(span), message, "a second document begins here"));
            }
            assembly.take(event, places.range(span));
        }
        let root = assembly.root.ok_or_else(|| {
            Diagnostic::error(0..text.len(), "there is no machine in this text", "an empty document")
                .with_help("`blank`, `start state` and `table` are needed")
        })?;
        Ok(Self { nodes: assembly.nodes, root })
    }
}

/// Whether YAML reads an unquoted word as null.
pub(super) fn is_null_word(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// The byte positions of characters: the parser counts characters.
struct Places(Vec<usize>);

impl Places {
    fn new(text: &str) -> Self {
        Self(text.char_indices().map(|(at, _)| at).chain([text.len()]).collect())
    }

    fn byte(&self, character: usize) -> usize {
        self.0.get(character).or(self.0.last()).copied().unwrap_or(0)
    }

    fn range(&self, span: Span) -> Range<usize> {
        let start = self.byte(span.start.index());
        start..self.byte(span.end.index()).max(start)
    }
}

/// Builds the tree from the parser's events.
#[derive(Default)]
struct Assembly {
    nodes: Vec<Node>,
    root: Option<NodeId>,
    anchors: HashMap<usize, NodeId>,
    /// The open collections.
    open: Vec<NodeId>,
}

impl Assembly {
    fn take(&mut self, event: Event<'_>, span: Range<usize>) {
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let plain = style == ScalarStyle::Plain;
                self.add(span, Kind::Scalar { text: text.into_owned(), plain }, anchor);
            }
            Event::Alias(anchor) => {
                if let Some(&node) = self.anchors.get(&anchor) {
                    self.attach(node);
                }
            }
            Event::SequenceStart(anchor, _) => {
                let node = self.add(span, Kind::Sequence, anchor);
                self.open.push(node);
            }
            Event::MappingStart(anchor, _) => {
                let node = self.add(span, Kind::Mapping, anchor);
                self.open.push(node);
            }
            Event::SequenceEnd | Event::MappingEnd => _ = self.open.pop(),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
        }
    }

    fn add(&mut self, span: Range<usize>, kind: Kind, anchor: usize) -> NodeId {
        let node = self.nodes.len();
        self.nodes.push(Node { span, kind, children: Vec::new() });
        // The parser counts anchors from 1.
        if anchor > 0 {
            self.anchors.insert(anchor, node);
        }
        self.attach(node);
        node
    }

    fn attach(&mut self, node: NodeId) {
        match self.open.last() {
            Some(&parent) => self.nodes[parent].children.push(node),
            None => self.root = Some(node),
        }
    }
}
