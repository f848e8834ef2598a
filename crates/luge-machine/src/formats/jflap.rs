//! JFLAP's `.jff` files, XML, for Turing machines with one or more tapes.
//!
//! The machine accepts when it reaches a final state; the step into it counts, and transitions out of it are ignored with a
//! warning. If no transition applies, the machine stops without a step and rejects:
//! [`Missing::Reject`](crate::Missing::Reject), outcome "no-rule". Machines that are not deterministic are refused.
//!
//! An empty element is the blank, which is called `_`, or `□` on a tape on which `_` is a symbol; `□` in a file is the blank,
//! too. An alphabet is the blank and the symbols in the transitions, sorted; `~` and `!x` range over it. JFLAP files do not
//! declare alphabets, so [`ReadOptions::inputs`](super::ReadOptions::inputs) adds the characters of the input, which `~` and
//! `!x` match. A variable is known only in the transition that binds it; JFLAP remembers it for later steps, too, and files
//! that rely on that are refused.
//!
//! Files of type `turingbb` are read like those of type `turing`: a block that is a single state is a state. Blocks with a
//! machine inside are refused, and so are automata of other types.
//!
//! Writing keeps the behaviour of the machine and the names and order of its states, but not its name nor those of its tapes
//! and blanks. Rules that rely on their order are expanded.

mod labels;
mod print;

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use roxmltree::{Document, Node};

use super::{
    Draft, DraftRule, DraftState, Loaded, Piece, ReadOptions, RuleOrder, collected_alphabet, head_move,
};
use crate::{Alphabet, Diagnostic, Missing, Move, diagnostic::Findings};
use labels::Read;
pub(super) use print::{LIMITS, write};

/// The blank as JFLAP displays it, and writes it in longer labels.
const BLANK: &str = "□";

/// Reads a machine. Characters of the input that no transition mentions become symbols. Transitions such as `!a` and `!b`
/// both match them, which is an error if the machine is then not deterministic.
pub(super) fn read(text: &str, options: &ReadOptions) -> Result<Loaded, Vec<Diagnostic>> {
    let document = Document::parse(text).map_err(|error| vec![not_xml(text, &error)])?;
    let root = document.root_element();
    check_kind(root).map_err(|refusal| vec![refusal])?;
    let mut reader = Reader { n_tapes: 1, ..Reader::default() };
    reader.read_tapes(root);
    let automaton = child(root, "automaton").unwrap_or(root);
    reader.read_states(automaton);
    reader.find_variables(automaton);
    let nodes = automaton.children().filter(|node| node.has_tag_name("transition"));
    let transitions: Vec<Transition> = nodes.filter_map(|node| reader.transition(node)).collect();
    reader.check_initial(text.len()..text.len());
    let Reader { n_tapes, states, initial, mut findings, .. } = reader;
    if findings.n_errors > 0 {
        return Err(findings.into_sorted());
    }
    let applies = |transition: &&Transition<'_>| states[transition.from].halting.is_none();
    let used: Vec<&Transition> = transitions.iter().filter(applies).collect();
    let alphabet = |tape: usize| alphabet(&used, tape, options.inputs.get(tape), &mut findings);
    let alphabets: Vec<Alphabet> = (0..n_tapes).map(alphabet).collect();
    let undeclared = |_: &str| Err("the ids are those of `<state>` and `<block>`".to_owned());
    let mut draft = Draft::new(Missing::Reject, undeclared, findings);
    draft.order = RuleOrder::Unordered { reports_all: false };
    draft.states = states;
    draft.start = initial.into_iter().next();
    draft.add_tapes(alphabets.clone());
    let mut known = HashSet::new();
    for transition in &transitions {
        let Transition { from, to, reads, writes, moves, .. } = transition;
        if known.insert((from, to.text, reads, writes, moves)) {
            draft.states[*from].rules.extend(rules(transition, &alphabets));
        }
    }
    draft.resolve(text)
}

/// What is read of a file before its transitions.
#[derive(Default)]
struct Reader<'a> {
    n_tapes: usize,
    /// The states; rules refer to them by id.
    states: Vec<DraftState<'a>>,
    /// The ids of initial states.
    initial: Vec<Piece<'a>>,
    findings: Findings,
    /// The position of each state in the list.
    ids: HashMap<&'a str, usize>,
    /// The names of all variables, to detect their use in transitions that do not bind them.
    variables: HashSet<&'a str>,
}

/// A `<transition>`; the lists have one entry per tape.
struct Transition<'a> {
    /// The position of its state in the list.
    from: usize,
    to: Piece<'a>,
    reads: Vec<Read<'a>>,
    /// The symbols to write; `None` keeps the symbol.
    writes: Vec<Option<&'a str>>,
    moves: Vec<Move>,
    span: Range<usize>,
}

/// The alphabet of a tape: the symbols in the transitions and the input. The blank is called `_` unless that is another
/// symbol.
fn alphabet(
    transitions: &[&Transition<'_>],
    tape: usize,
    input: Option<&String>,
    findings: &mut Findings,
) -> Alphabet {
    let mut mentioned = Vec::new();
    for transition in transitions {
        let symbols = transition.reads[tape].mentions().into_iter().chain(transition.writes[tape]);
        let others = symbols.filter(|&symbol| symbol != BLANK);
        mentioned.extend(others.map(|text| Piece { text, span: transition.span.clone() }));
    }
    let blank = if mentioned.iter().any(|symbol| symbol.text == "_") { BLANK } else { "_" };
    let input = input.map(|input| input.replace(BLANK, ""));
    collected_alphabet(blank, mentioned, true, input.as_ref(), findings)
}

/// The rules of a transition: one, or on a single tape one per symbol that `!x` or `a,b}v` matches.
fn rules<'a>(transition: &Transition<'a>, alphabets: &'a [Alphabet]) -> Vec<DraftRule<'a>> {
    let Transition { reads, writes, moves, to, span, .. } = transition;
    let piece = |tape: &'a Alphabet, symbol: &'a str| {
        let text = if symbol == BLANK { tape.name(tape.blank()) } else { symbol };
        Some(Piece { text, span: span.clone() })
    };
    let rule = |reads| {
        let writes = writes.iter().zip(alphabets).map(|(write, tape)| piece(tape, (*write)?)).collect();
        DraftRule { reads, writes, moves: moves.clone(), next: to.clone(), span: span.clone() }
    };
    if let ([read @ (Read::Not(_) | Read::OneOf { .. })], [tape]) = (reads.as_slice(), alphabets) {
        let label = |symbol| if symbol == tape.blank() { BLANK } else { tape.name(symbol) };
        let fitting = tape.symbols().map(label).filter(|symbol| read.fits(symbol));
        return fitting.map(|symbol| rule(vec![piece(tape, symbol)])).collect();
    }
    let patterns = reads.iter().zip(alphabets).map(|(read, tape)| match read {
        Read::Is(symbol) => piece(tape, symbol),
        Read::Any | Read::Not(_) | Read::OneOf { .. } => None,
    });
    vec![rule(patterns.collect())]
}

/// Returns an error if the file is not a Turing machine.
fn check_kind(root: Node<'_, '_>) -> Result<(), Diagnostic> {
    const HELP: &str = "only Turing machines are read, of type `turing` or `turingbb`";
    if !root.has_tag_name("structure") {
        let message = format!("the root element is `{}`", root.tag_name().name());
        let refusal = Diagnostic::error(tag_span(root), message, "expected `structure`");
        return Err(refusal.with_help("a JFLAP file is one `<structure>`"));
    }
    let kind = child(root, "type").ok_or_else(|| {
        let label = "`<type>` is missing";
        Diagnostic::error(tag_span(root), "the structure has no type", label).with_help(HELP)
    })?;
    let name = text_of(kind);
    let described = match name {
        "turing" | "turingbb" => return Ok(()),
        "fa" => "a finite automaton",
        "pda" => "a pushdown automaton",
        "mealy" | "moore" => "a machine with output",
        "grammar" => "a grammar",
        "re" => "a regular expression",
        "lsystem" => "an L-system",
        _ => "no Turing machine",
    };
    let message = format!("a structure of type `{name}`");
    Err(Diagnostic::error(tag_span(kind), message, described).with_help(HELP))
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
    let [row, column] = [error.pos().row, error.pos().col].map(|n| n.saturating_sub(1) as usize);
    let line_start: usize = text.split_inclusive('\n').take(row).map(str::len).sum();
    let rest = &text[line_start..];
    let (at, length) = rest.char_indices().nth(column).map_or((rest.len(), 0), |(at, c)| (at, c.len_utf8()));
    let reason = error.to_string();
    let reason = reason.split(" at ").next().unwrap_or_default();
    let span = line_start + at..line_start + at + length;
    Diagnostic::error(span, format!("not well-formed XML: {reason}"), "here")
}

/// The text of an element, with the position of its tag.
fn piece<'a>(node: Node<'a, '_>) -> Piece<'a> {
    Piece { text: text_of(node), span: tag_span(node) }
}

impl<'a> Reader<'a> {
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

    fn find_variables(&mut self, automaton: Node<'a, '_>) {
        for read in automaton.descendants().filter(|node| node.has_tag_name("read")) {
            if let Ok(Read::OneOf { variable, .. }) = labels::read(text_of(read), self.n_tapes) {
                self.variables.insert(variable);
            }
        }
    }

    fn check_initial(&mut self, end: Range<usize>) {
        let help = "exactly one state has `<initial/>`";
        match self.initial.as_slice() {
            [] if self.findings.count() == 0 => {
                self.findings
                    .error(end, "the machine has no initial state", "the file ends here")
                    .remedy(help);
            }
            [_, second, ..] => {
                let state =
                    self.states.iter().find(|state| state.key == *second).map_or("", |state| &state.name);
                let message = format!("a second initial state, `{state}`");
                self.findings.error(&second.span, message, "initial too").remedy(help);
            }
            _ => {}
        }
    }

    fn transition(&mut self, node: Node<'a, '_>) -> Option<Transition<'a>> {
        let n_errors = self.findings.count();
        let (from, to) = (self.end(node, "from"), self.end(node, "to"));
        let [reads, writes, moves] = ["read", "write", "move"].map(|name| self.per_tape(node, name));
        // A missing element is the blank, like an empty one.
        let label = |element: Option<Node<'a, '_>>| element.map_or("", text_of);
        let looked_up: Vec<Read<'a>> = reads
            .iter()
            .map(|&element| {
                let read = labels::read(label(element), self.n_tapes);
                read.unwrap_or_else(|help| self.bad_label(element, "read", help, Read::Any))
            })
            .collect();
        for ((element, write), read) in reads.into_iter().zip(&writes).zip(&looked_up) {
            self.check_variable_use(element, read.variable());
            self.check_variable_use(*write, read.variable());
        }
        let variable = looked_up.iter().find_map(Read::variable);
        let write = |element| {
            let written = labels::write(label(element), variable);
            written.unwrap_or_else(|help| self.bad_label(element, "write", help, None))
        };
        let writes = writes.into_iter().map(write).collect();
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

    /// Reports an invalid label, in whose place another is used.
    fn bad_label<T>(&mut self, element: Option<Node<'_, '_>>, verb: &str, help: &str, instead: T) -> T {
        if let Some(node) = element.filter(|&node| !self.variables.contains(text_of(node))) {
            let message = format!("cannot {verb} the label `{}`", text_of(node));
            self.error(node, message, &format!("what to {verb}")).remedy(help);
        }
        instead
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
