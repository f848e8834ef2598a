//! The XML: states and transitions as they are written, with their places in the text.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use roxmltree::{Document, Node};

use super::labels::{self, Read, Written};
use crate::{Diagnostic, Move, StateId, diagnostic::Findings};

/// A file's states and transitions.
pub(super) struct Draft {
    pub(super) n_tapes: usize,
    pub(super) states: Vec<DraftState>,
    pub(super) transitions: Vec<Transition>,
    pub(super) findings: Findings,
}

/// A `<state>` or `<block>`.
pub(super) struct DraftState {
    pub(super) name: String,
    pub(super) is_initial: bool,
    pub(super) is_final: bool,
    pub(super) span: Range<usize>,
}

/// A `<transition>`; the lists have one entry per tape.
pub(super) struct Transition {
    pub(super) from: StateId,
    pub(super) to: StateId,
    pub(super) reads: Vec<Read>,
    pub(super) writes: Vec<Written>,
    pub(super) moves: Vec<Move>,
    pub(super) span: Range<usize>,
}

pub(super) fn draft(text: &str) -> Result<Draft, Vec<Diagnostic>> {
    let document = Document::parse(text).map_err(|error| vec![not_xml(text, &error)])?;
    let root = document.root_element();
    if !root.has_tag_name("structure") {
        let message = format!("the root element is `{}`", root.tag_name().name());
        return Err(vec![
            Diagnostic::error(tag_span(root), message, "expected `structure`")
                .with_help("a JFLAP file is one `<structure>`"),
        ]);
    }
    let mut reader =
        Reader { n_tapes: 1, ids: HashMap::new(), variables: HashSet::new(), findings: Findings::default() };
    if let Some(refusal) = other_kind(root) {
        return Err(vec![refusal]);
    }
    reader.tapes(root);
    let automaton = child(root, "automaton").unwrap_or(root);
    let states = reader.states(automaton);
    reader.variables(automaton);
    let transitions: Vec<Node> = automaton.children().filter(|n| n.has_tag_name("transition")).collect();
    let transitions = transitions.into_iter().filter_map(|node| reader.transition(node)).collect();
    Ok(Draft { n_tapes: reader.n_tapes, states, transitions, findings: reader.findings })
}

/// Why the structure is no Turing machine: nothing else that is in it could matter then.
fn other_kind(root: Node<'_, '_>) -> Option<Diagnostic> {
    const HELP: &str = "only Turing machines are read, of type `turing` or `turingbb`";
    let Some(kind) = child(root, "type") else {
        let label = "`<type>` is missing";
        return Some(Diagnostic::error(tag_span(root), "the structure has no type", label).with_help(HELP));
    };
    let name = text_of(kind).trim();
    let described = match name {
        "turing" | "turingbb" => return None,
        "fa" => "a finite automaton",
        "pda" => "a pushdown automaton",
        "mealy" | "moore" => "a machine with output",
        "grammar" => "a grammar",
        "re" => "a regular expression",
        "lsystem" => "an L-system",
        _ => "no Turing machine",
    };
    let message = format!("a structure of type `{name}`");
    Some(Diagnostic::error(tag_span(kind), message, described).with_help(HELP))
}

/// The opening tag, or what of it stands on its first line.
fn tag_span(node: Node<'_, '_>) -> Range<usize> {
    let range = node.range();
    let text = &node.document().input_text()[range.clone()];
    let length = text.find('>').map_or(text.len(), |end| end + 1);
    let length = text[..length].find(['\n', '\r']).unwrap_or(length);
    range.start..range.start + length
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|child| child.has_tag_name(name))
}

fn text_of<'a>(node: Node<'a, '_>) -> &'a str {
    node.text().unwrap_or_default()
}

fn not_xml(text: &str, error: &roxmltree::Error) -> Diagnostic {
    let position = error.pos();
    let row = usize::try_from(position.row).unwrap_or(usize::MAX).saturating_sub(1);
    let column = usize::try_from(position.col).unwrap_or(usize::MAX).saturating_sub(1);
    let line_start: usize = text.split_inclusive('\n').take(row).map(str::len).sum();
    let in_line: usize = text[line_start..].chars().take(column).map(char::len_utf8).sum();
    let at = (line_start + in_line).min(text.len());
    let end = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
    let reason = error.to_string();
    let reason = reason.split(" at ").next().unwrap_or_default();
    Diagnostic::error(at..end, format!("not well-formed XML: {reason}"), "here")
}

struct Reader {
    n_tapes: usize,
    ids: HashMap<String, StateId>,
    variables: HashSet<String>,
    findings: Findings,
}

impl Reader {
    fn tapes(&mut self, root: Node<'_, '_>) {
        let Some(node) = child(root, "tapes") else { return };
        match text_of(node).trim().parse() {
            Ok(n_tapes @ 1..=255) => self.n_tapes = n_tapes,
            _ => {
                let message = format!("`{}` is not a number of tapes", text_of(node).trim());
                self.findings
                    .error(tag_span(node), message, "expected 1 to 255")
                    .remedy("leave `<tapes>` out for one tape");
            }
        }
    }

    fn states(&mut self, automaton: Node<'_, '_>) -> Vec<DraftState> {
        let nodes: Vec<Node> =
            automaton.children().filter(|n| n.has_tag_name("state") || n.has_tag_name("block")).collect();
        let written: HashSet<&str> = nodes.iter().filter_map(|node| node.attribute("name")).collect();
        let mut names: HashSet<String> = HashSet::new();
        let mut states = Vec::new();
        for node in nodes {
            let span = tag_span(node);
            let Some(id) = node.attribute("id").map(str::trim) else {
                self.findings
                    .error(span, "the state has no id", "`id` is missing")
                    .remedy("transitions refer to states by id");
                continue;
            };
            if self.ids.insert(id.to_owned(), StateId::new(states.len())).is_some() {
                let help = "give every state an id of its own";
                self.findings
                    .error(&span, format!("two states have the id `{id}`"), "again here")
                    .remedy(help);
            }
            self.check_empty_block(automaton, node);
            let own = node.attribute("name").filter(|name| !name.is_empty());
            let mut name = own.map_or_else(|| format!("q{id}"), str::to_owned);
            let taken =
                |name: &str, as_written: bool| names.contains(name) || !as_written && written.contains(name);
            if taken(&name, own.is_some()) {
                name = format!("{name} ({id})");
                while taken(&name, false) {
                    name.push('\'');
                }
            }
            names.insert(name.clone());
            let is_initial = child(node, "initial").is_some();
            let is_final = child(node, "final").is_some();
            states.push(DraftState { name, is_initial, is_final, span });
        }
        states
    }

    /// A block whose machine, an element named by its tag, has states of its own is more than a state.
    fn check_empty_block(&mut self, automaton: Node<'_, '_>, block: Node<'_, '_>) {
        let machine =
            child(block, "tag").map(|tag| text_of(tag).trim()).and_then(|tag| child(automaton, tag));
        let has_state = |node: Node<'_, '_>| {
            node.descendants().any(|inner| inner.has_tag_name("state") || inner.has_tag_name("block"))
        };
        if block.has_tag_name("block") && machine.is_some_and(has_state) {
            let name = block.attribute("name").unwrap_or_default();
            let message = format!("block `{name}` has a machine inside");
            let help = "only blocks that are single states are read; put its states in place of the block";
            self.findings.error(tag_span(block), message, "a building block").remedy(help);
        }
    }

    /// Notes the names of all variables, so that a use outside the binding transition is seen.
    fn variables(&mut self, automaton: Node<'_, '_>) {
        let reads = automaton.descendants().filter(|node| node.has_tag_name("read"));
        for read in reads {
            if let Ok(Read::OneOf { variable, .. }) = labels::read(text_of(read), self.n_tapes) {
                self.variables.insert(variable);
            }
        }
    }

    fn transition(&mut self, node: Node<'_, '_>) -> Option<Transition> {
        let n_errors = self.findings.count();
        let from = self.end(node, "from");
        let to = self.end(node, "to");
        let [reads, writes, moves] = ["read", "write", "move"].map(|name| self.per_tape(node, name));
        let looked_up: Vec<Read> = reads.iter().map(|&element| self.read(element)).collect();
        for ((element, write), read) in reads.into_iter().zip(&writes).zip(&looked_up) {
            self.check_variable_use(element, read.variable());
            self.check_variable_use(*write, read.variable());
        }
        let variable = looked_up.iter().find_map(Read::variable);
        let writes = writes.into_iter().map(|element| self.write(element, variable)).collect();
        let moves = moves.into_iter().map(|element| self.head_move(element)).collect();
        let span = tag_span(node);
        if self.findings.count() > n_errors {
            return None;
        }
        Some(Transition { from: from?, to: to?, reads: looked_up, writes, moves, span })
    }

    fn end(&mut self, transition: Node<'_, '_>, name: &str) -> Option<StateId> {
        let Some(node) = child(transition, name) else {
            let message = format!("the transition has no `<{name}>`");
            self.findings
                .error(tag_span(transition), message, "this transition")
                .remedy("give the id of a state");
            return None;
        };
        let id = text_of(node).trim();
        let known = self.ids.get(id).copied();
        if known.is_none() {
            let message = format!("no state has the id `{id}`");
            self.findings
                .error(tag_span(node), message, "unknown state")
                .remedy("the ids are those of `<state>` and `<block>`");
        }
        known
    }

    /// The elements called `name`, by the tape they are for.
    fn per_tape<'a, 'i>(&mut self, transition: Node<'a, 'i>, name: &str) -> Vec<Option<Node<'a, 'i>>> {
        let mut found: Vec<Option<Node>> = vec![None; self.n_tapes];
        for node in transition.children().filter(|node| node.has_tag_name(name)) {
            let tape = node.attribute("tape").map_or(Ok(1), |tape| tape.trim().parse::<usize>());
            let slot = tape.ok().and_then(|tape| found.get_mut(tape.checked_sub(1)?));
            match slot {
                None => {
                    let message = format!("no such tape: `{}`", node.attribute("tape").unwrap_or_default());
                    let help = format!("tapes are counted from 1 to {}", self.n_tapes);
                    self.findings.error(tag_span(node), message, "unknown tape").remedy(help);
                }
                Some(Some(_)) => {
                    let message = format!("a second `<{name}>` for the same tape");
                    self.findings.error(tag_span(node), message, "again here").remedy("keep one of them");
                }
                Some(slot) => *slot = Some(node),
            }
        }
        found
    }

    fn read(&mut self, element: Option<Node<'_, '_>>) -> Read {
        let Some(node) = element else { return Read::Is(None) };
        labels::read(text_of(node), self.n_tapes).unwrap_or_else(|bad| {
            if !self.variables.contains(text_of(node).trim()) {
                let message = format!("cannot read the label `{}`", text_of(node).trim());
                self.findings.error(tag_span(node), message, "what to read").remedy(bad.help());
            }
            Read::Any
        })
    }

    fn write(&mut self, element: Option<Node<'_, '_>>, variable: Option<&str>) -> Written {
        let Some(node) = element else { return Written::Put(None) };
        labels::write(text_of(node), variable).unwrap_or_else(|bad| {
            if !self.variables.contains(text_of(node).trim()) {
                let message = format!("cannot write the label `{}`", text_of(node).trim());
                self.findings.error(tag_span(node), message, "what to write").remedy(bad.help());
            }
            Written::Keep
        })
    }

    /// JFLAP remembers a variable's symbol for later steps; a machine has no such memory.
    fn check_variable_use(&mut self, element: Option<Node<'_, '_>>, own: Option<&str>) {
        let Some(node) = element else { return };
        let label = text_of(node).trim();
        if self.variables.contains(label) && own != Some(label) {
            let message = format!("variable `{label}` is used in a transition that does not bind it");
            let help =
                "only `a,b}v` and its own write are read; use a state for every symbol to be remembered";
            self.findings.error(tag_span(node), message, "not bound here").remedy(help);
        }
    }

    fn head_move(&mut self, element: Option<Node<'_, '_>>) -> Move {
        let Some(node) = element else { return Move::Right };
        Move::named(text_of(node).trim(), ["L", "S", "R"]).unwrap_or_else(|| {
            let message = match text_of(node).trim() {
                "" => "the move is empty".to_owned(),
                other => format!("unknown move `{other}`"),
            };
            self.findings
                .error(tag_span(node), message, "a move")
                .remedy("moves are `L`, `R` and `S` (stay)");
            Move::Stay
        })
    }
}
