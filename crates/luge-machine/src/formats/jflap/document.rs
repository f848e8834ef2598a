//! Reads the states and transitions of an XML document, with their positions in the text.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use roxmltree::{Document, Node};

use super::labels::{self, BadLabel, Read, Written};
use crate::{
    Diagnostic, Move,
    diagnostic::Findings,
    formats::{DraftState, Piece, head_move},
};

/// The states and transitions of a file.
#[derive(Default)]
pub(super) struct Structure<'a> {
    pub(super) n_tapes: usize,
    /// The states; rules refer to them by id.
    pub(super) states: Vec<DraftState<'a>>,
    /// The ids of initial states.
    pub(super) initial: Vec<Piece<'a>>,
    pub(super) transitions: Vec<Transition<'a>>,
    pub(super) findings: Findings,
    ids: HashMap<&'a str, usize>,
    variables: HashSet<&'a str>,
}

/// A `<transition>`; the lists have one entry per tape.
pub(super) struct Transition<'a> {
    /// The position of its state in the list.
    pub(super) from: usize,
    pub(super) to: Piece<'a>,
    pub(super) reads: Vec<Read<'a>>,
    pub(super) writes: Vec<Written<'a>>,
    pub(super) moves: Vec<Move>,
    pub(super) span: Range<usize>,
}

pub(super) fn parse(text: &str) -> Result<Document<'_>, Vec<Diagnostic>> {
    Document::parse(text).map_err(|error| vec![not_xml(text, &error)])
}

pub(super) fn structure<'a>(document: &'a Document<'_>) -> Result<Structure<'a>, Vec<Diagnostic>> {
    let root = document.root_element();
    if !root.has_tag_name("structure") {
        let message = format!("the root element is `{}`", root.tag_name().name());
        let refusal = Diagnostic::error(tag_span(root), message, "expected `structure`");
        return Err(vec![refusal.with_help("a JFLAP file is one `<structure>`")]);
    }
    if let Some(refusal) = other_kind(root) {
        return Err(vec![refusal]);
    }
    let mut draft = Structure { n_tapes: 1, ..Structure::default() };
    draft.read_tapes(root);
    let automaton = child(root, "automaton").unwrap_or(root);
    draft.read_states(automaton);
    draft.find_variables(automaton);
    for node in automaton.children().filter(|node| node.has_tag_name("transition")) {
        let transition = draft.transition(node);
        draft.transitions.extend(transition);
    }
    Ok(draft)
}

/// The error if the structure is not a Turing machine.
fn other_kind(root: Node<'_, '_>) -> Option<Diagnostic> {
    const HELP: &str = "only Turing machines are read, of type `turing` or `turingbb`";
    let Some(kind) = child(root, "type") else {
        let label = "`<type>` is missing";
        return Some(Diagnostic::error(tag_span(root), "the structure has no type", label).with_help(HELP));
    };
    let name = text_of(kind);
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

/// The opening tag, up to the end of its first line.
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
    node.text().unwrap_or_default().trim()
}

fn is_state(node: &Node<'_, '_>) -> bool {
    node.has_tag_name("state") || node.has_tag_name("block")
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

/// The text of an element, with the position of its tag.
fn piece<'a>(node: Node<'a, '_>) -> Piece<'a> {
    Piece { text: text_of(node), span: tag_span(node) }
}

impl<'a> Structure<'a> {
    fn error(&mut self, node: Node<'_, '_>, message: impl Into<String>, label: &str) -> &mut Diagnostic {
        self.findings.error(tag_span(node), message, label)
    }

    fn read_tapes(&mut self, root: Node<'_, '_>) {
        let Some(node) = child(root, "tapes") else { return };
        match text_of(node).parse() {
            Ok(n_tapes @ 1..=255) => self.n_tapes = n_tapes,
            _ => self
                .error(node, format!("`{}` is not a number of tapes", text_of(node)), "expected 1 to 255")
                .remedy("leave `<tapes>` out for one tape"),
        }
    }

    fn read_states(&mut self, automaton: Node<'a, '_>) {
        let nodes = || automaton.children().filter(is_state);
        let written: HashSet<&str> = nodes().filter_map(|node| node.attribute("name")).collect();
        let mut names: HashSet<String> = HashSet::new();
        for node in nodes() {
            let Some(id) = node.attribute("id").map(str::trim) else {
                self.error(node, "the state has no id", "`id` is missing")
                    .remedy("transitions refer to states by id");
                continue;
            };
            self.check_empty_block(automaton, node);
            if self.ids.insert(id, self.states.len()).is_some() {
                self.error(node, format!("two states have the id `{id}`"), "again here")
                    .remedy("give every state an id of its own");
                continue;
            }
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
            let key = Piece { text: id, span: tag_span(node) };
            self.initial.extend(child(node, "initial").map(|_| key.clone()));
            let halting = child(node, "final").map(|_| true);
            self.states.push(DraftState { name, ..DraftState::new(key, halting) });
        }
    }

    /// Reports a block with a machine inside: an element with the name of its tag that has states.
    fn check_empty_block(&mut self, automaton: Node<'_, '_>, block: Node<'_, '_>) {
        let machine = child(block, "tag").and_then(|tag| child(automaton, text_of(tag)));
        let has_state = |machine: Node<'_, '_>| machine.descendants().any(|inner| is_state(&inner));
        if block.has_tag_name("block") && machine.is_some_and(has_state) {
            let name = block.attribute("name").unwrap_or_default();
            self.error(block, format!("block `{name}` has a machine inside"), "a building block")
                .remedy("only blocks that are single states are read; put its states in place of the block");
        }
    }

    /// Collects the names of all variables, to detect their use in transitions that do not bind them.
    fn find_variables(&mut self, automaton: Node<'a, '_>) {
        for read in automaton.descendants().filter(|node| node.has_tag_name("read")) {
            if let Ok(Read::OneOf { variable, .. }) = labels::read(text_of(read), self.n_tapes) {
                self.variables.insert(variable);
            }
        }
    }

    fn transition(&mut self, node: Node<'a, '_>) -> Option<Transition<'a>> {
        let n_errors = self.findings.count();
        let (from, to) = (self.end(node, "from"), self.end(node, "to"));
        let [reads, writes, moves] = ["read", "write", "move"].map(|name| self.per_tape(node, name));
        let looked_up: Vec<Read<'a>> = reads.iter().map(|&element| self.read(element)).collect();
        for ((element, write), read) in reads.into_iter().zip(&writes).zip(&looked_up) {
            self.check_variable_use(element, read.variable());
            self.check_variable_use(*write, read.variable());
        }
        let variable = looked_up.iter().find_map(Read::variable);
        let writes = writes.into_iter().map(|element| self.write(element, variable)).collect();
        let head = |element: Option<Node<'a, '_>>| match element {
            Some(node) => head_move(&piece(node), ["L", "S", "R"], &mut self.findings),
            None => Some(Move::Right),
        };
        let moves = moves.into_iter().filter_map(head).collect();
        if self.findings.count() > n_errors {
            return None;
        }
        let from = *self.ids.get(from?.text)?;
        Some(Transition { from, to: to?, reads: looked_up, writes, moves, span: tag_span(node) })
    }

    fn end(&mut self, transition: Node<'a, '_>, name: &str) -> Option<Piece<'a>> {
        let Some(node) = child(transition, name) else {
            self.error(transition, format!("the transition has no `<{name}>`"), "this transition")
                .remedy("give the id of a state");
            return None;
        };
        if !self.ids.contains_key(text_of(node)) {
            self.error(node, format!("no state has the id `{}`", text_of(node)), "unknown state")
                .remedy("the ids are those of `<state>` and `<block>`");
        }
        Some(piece(node))
    }

    /// The elements called `name`, by tape.
    fn per_tape<'i>(&mut self, transition: Node<'a, 'i>, name: &str) -> Vec<Option<Node<'a, 'i>>> {
        let mut found: Vec<Option<Node>> = vec![None; self.n_tapes];
        for node in transition.children().filter(|node| node.has_tag_name(name)) {
            let tape = node.attribute("tape").map_or(Ok(1), |tape| tape.trim().parse::<usize>());
            match tape.ok().and_then(|tape| found.get_mut(tape.checked_sub(1)?)) {
                None => {
                    let message = format!("no such tape: `{}`", node.attribute("tape").unwrap_or_default());
                    let help = format!("tapes are counted from 1 to {}", self.n_tapes);
                    self.error(node, message, "unknown tape").remedy(help);
                }
                Some(Some(_)) => self
                    .error(node, format!("a second `<{name}>` for the same tape"), "again here")
                    .remedy("keep one of them"),
                Some(slot) => *slot = Some(node),
            }
        }
        found
    }

    /// Parses a `<read>`; a missing element is the blank, like an empty one.
    fn read(&mut self, element: Option<Node<'a, '_>>) -> Read<'a> {
        labels::read(element.map_or("", text_of), self.n_tapes).unwrap_or_else(|bad| {
            self.bad_label(element, "read", bad);
            Read::Any
        })
    }

    fn write(&mut self, element: Option<Node<'a, '_>>, variable: Option<&str>) -> Written<'a> {
        labels::write(element.map_or("", text_of), variable).unwrap_or_else(|bad| {
            self.bad_label(element, "write", bad);
            Written::Keep
        })
    }

    fn bad_label(&mut self, element: Option<Node<'_, '_>>, verb: &str, bad: BadLabel) {
        let Some(node) = element.filter(|&node| !self.variables.contains(text_of(node))) else { return };
        let message = format!("cannot {verb} the label `{}`", text_of(node));
        self.error(node, message, &format!("what to {verb}")).remedy(bad.to_string());
    }

    /// Reports the use of a variable of another transition. JFLAP keeps variables for later steps; a Turing machine cannot.
    fn check_variable_use(&mut self, element: Option<Node<'_, '_>>, own: Option<&str>) {
        let Some(node) = element else { return };
        let label = text_of(node);
        if self.variables.contains(label) && own != Some(label) {
            let message = format!("variable `{label}` is used in a transition that does not bind it");
            self.error(node, message, "not bound here").remedy(
                "only `a,b}v` and its own write are read; use a state for every symbol to be remembered",
            );
        }
    }
}
