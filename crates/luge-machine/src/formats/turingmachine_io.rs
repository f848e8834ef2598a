//! turingmachine.io: a YAML document with `blank`, `start state`, `table`, and optionally `input` and `synonyms`.
//!
//! What an import does:
//! - The only tape is called `tape`; its symbols are the blank and then the other characters in the table and the input,
//!   sorted. Scalars keep their spelling: `0` is the character `0`, not a number. Keys may list symbols: `[1, 0]: R`.
//! - The states are those of the table, in its order. A state without a value halts and accepts.
//! - A symbol a state does not list has no rule: the machine halts there, without a step and without accepting.
//!   A state with an empty map `{}` lists none, so it always halts in this way.
//! - An instruction is `L`, `R`, the name of a synonym, or a map with exactly one of `L` and `R` and optionally `write`.
//!   Without `write` the cell does not change; without a target the state does not. Every target is a state of the table.
//! - Synonyms name instructions; they neither chain nor redefine `L` or `R`.
//! - `input` begins at cell 0, with the head on cell 0. `name` names the machine; `source` and `positions`, which older
//!   files may have, are ignored; any other key gives a warning.
//! - A document that the site saved, with `name`, `source code` and `positions`, contains the machine as a text in
//!   `source code`. That text is read, and diagnostics point into it.
//! - A key of several characters never matches, as on the site: it is ignored with a warning.
//! - Aliases may add 100,000 entries to those in the text; with more the document is refused.
//!
//! What an export does:
//! - Wildcards become lists of the symbols they match. Symbols that neither a rule nor the input mentions are omitted, and
//!   so is the name of the tape.
//! - A halting state that does not accept becomes `{}`.
//! - [`write_saved`] wraps the same text as the site does when it saves a document, but without positions.
//! - Stay moves, rejecting where no rule applies, and symbols of more than one character are refused.

mod print;
mod saved;
mod yaml;

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ops::Range,
};

use super::{
    Draft, DraftRule, DraftState, Loaded, Piece, ReadOptions, check_symbol, collected_alphabet, listed,
};
use crate::{Diagnostic, Missing, Move, diagnostic::Findings};
pub(super) use print::{LIMITS, write, write_saved};
use yaml::{Document, Kind, NodeId, ROOT};

/// The keys of a machine, and those of older files.
const KEYS: [&str; 6] = ["name", "input", "blank", "start state", "synonyms", "table"];
const IGNORED_KEYS: [&str; 3] = ["source", saved::SOURCE_CODE, "positions"];

/// The most entries that aliases may add to those in the text.
const MAX_SHARED: usize = 100_000;

/// Reads a machine, or a document that the site saved with a machine inside.
///
/// # Errors
/// All errors in the text, in order, together with the warnings.
pub(super) fn read(text: &str, options: &ReadOptions) -> Result<Loaded, Vec<Diagnostic>> {
    let document = Document::parse(text).map_err(|error| vec![error])?;
    match saved::source_code(&document) {
        Some(source) => saved::read(&document, source, text, options),
        None => machine(&document, text, options),
    }
}

/// Reads a machine.
fn machine(document: &Document, text: &str, options: &ReadOptions) -> Result<Loaded, Vec<Diagnostic>> {
    let mut reader = Reader {
        document,
        findings: Findings::default(),
        states: HashSet::new(),
        synonyms: HashMap::new(),
        instructions: None,
        // Without aliases every entry takes at least one byte.
        n_left: text.len() + MAX_SHARED,
    };
    let top = reader.top();
    let value = |key: &str| top.get(key).copied();
    let states = value("table").map_or_else(Vec::new, |table| reader.rows(table));
    let blank = value("blank").and_then(|node| reader.symbol(node, "the blank"));
    let must_be_key = |_: &str| "it must be one of the keys of `table`".to_owned();
    let start = value("start state").and_then(|node| reader.declared(node, "start state", must_be_key));
    let input = value("input").filter(|&node| !document.is_null(node));
    let input = input.and_then(|node| reader.text(node, "the input", "a text")).map(|piece| {
        let characters = piece.characters().into_iter();
        characters.map(|character| Piece { span: piece.span.clone(), ..character }).collect::<Vec<_>>()
    });

    let undeclared = |name: &str| Err(format!("declare `{name}` in `table`"));
    let mut draft = Draft::new(Missing::Halt, undeclared, reader.findings);
    draft.name = value("name").and_then(|node| document.text(node));
    draft.states = states;
    draft.start = start;
    let named = draft.named(0).into_iter().chain(input.iter().flatten().cloned());
    let blank = blank.map_or(" ", |blank| blank.text);
    let alphabet = collected_alphabet(blank, named, true, options.inputs.first(), &mut draft.findings);
    draft.add_tapes(vec![alphabet]);
    if let Some(input) = input {
        draft.set_input(input.into_iter().map(|character| character.text), 0);
    }
    draft.resolve(text)
}

/// An instruction; without a target the state does not change, without a write the cell does not.
#[derive(Clone)]
struct Instruction<'d> {
    write: Option<Piece<'d>>,
    head: Move,
    target: Option<Piece<'d>>,
}

struct Reader<'d> {
    document: &'d Document,
    findings: Findings,
    /// The number of further entries that may be read.
    n_left: usize,
    /// The states of the table.
    states: HashSet<&'d str>,
    /// `None` for a synonym that has an error of its own.
    synonyms: HashMap<&'d str, Option<Instruction<'d>>>,
    /// The possible instructions in words, once they are needed.
    instructions: Option<String>,
}

/// The possible instructions in words, including the synonyms.
fn instructions(synonyms: &HashMap<&str, Option<Instruction<'_>>>) -> String {
    let known: BTreeSet<&str> = synonyms.keys().copied().collect();
    let help = "an instruction is `L`, `R`, a synonym, or a map such as `{write: 1, L: state}`";
    if known.is_empty() { help.to_owned() } else { format!("{help}; synonyms: {}", listed(known, ", ")) }
}

impl<'d> Reader<'d> {
    fn error(&mut self, node: NodeId, message: impl Into<String>, label: &str) -> &mut Diagnostic {
        self.findings.error(&self.document.nodes[node].span, message, label)
    }

    /// Whether this many more entries may be read. With aliases a short text can be a huge machine.
    fn may_take(&mut self, node: NodeId, n_entries: usize) -> bool {
        let left = self.n_left.checked_sub(n_entries);
        if left.is_none() && self.n_left > 0 {
            let label = format!("more than {MAX_SHARED} entries beyond those that are written");
            self.error(node, "the aliases of this document stand for too much", &label)
                .remedy("write fewer states, or shorter ones");
        }
        self.n_left = left.unwrap_or(0);
        left.is_some()
    }

    /// The text of a scalar. Reports other nodes.
    fn text(&mut self, node: NodeId, what: &str, must_be: &str) -> Option<Piece<'d>> {
        let Some(text) = self.document.text(node) else {
            self.error(node, format!("{what} must be {must_be}"), "a list or a map");
            return None;
        };
        Some(Piece { text, span: self.document.nodes[node].span.clone() })
    }

    /// The entries of a mapping. Reports and skips keys that are not words or are repeated.
    fn entries(&mut self, mapping: NodeId, what: &str) -> Option<Vec<(&'d str, NodeId, NodeId)>> {
        let Some(entries) = self.document.mapping(mapping) else {
            self.error(mapping, format!("{what} must be a map"), "expected `key: value` pairs");
            return None;
        };
        if !self.may_take(mapping, entries.len()) {
            return None;
        }
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for &[key, value] in entries {
            match self.text(key, &format!("a key of {what}"), "a word").map(|name| name.text) {
                Some(name) if seen.insert(name) => found.push((name, key, value)),
                Some(name) => {
                    self.error(key, format!("`{name}` stands twice in {what}"), "the second time");
                }
                None => {}
            }
        }
        Some(found)
    }

    /// Reads the top-level keys and declares the states and synonyms.
    fn top(&mut self) -> HashMap<&'d str, NodeId> {
        let Some(entries) = self.entries(ROOT, "the document") else { return HashMap::new() };
        let mut top = HashMap::new();
        for (name, key, value) in entries {
            if !KEYS.contains(&name) && !IGNORED_KEYS.contains(&name) {
                let span = self.document.nodes[key].span.clone();
                self.findings.push(unknown_key(name, span, &KEYS));
            }
            top.insert(name, value);
        }
        for name in ["blank", "start state", "table"] {
            if !top.contains_key(name) {
                self.error(ROOT, format!("`{name}` is missing"), "expected in this document");
            }
        }
        // States are declared first, because targets may refer to later ones.
        let states = top.get("table").and_then(|&table| self.document.mapping(table)).unwrap_or_default();
        self.states.extend(states.iter().filter_map(|&[key, _]| self.document.text(key)));
        if let Some(&synonyms) = top.get("synonyms").filter(|&&node| !self.document.is_null(node)) {
            self.declare_synonyms(synonyms);
        }
        top
    }

    fn declare_synonyms(&mut self, node: NodeId) {
        for (name, key, value) in self.entries(node, "`synonyms`").unwrap_or_default() {
            if name == "L" || name == "R" {
                self.error(key, format!("a synonym cannot redefine `{name}`"), "`L` and `R` are the moves")
                    .remedy("give the synonym another name");
                continue;
            }
            let instruction = match self.document.text(value) {
                Some(word) if !matches!(word, "L" | "R") && !self.document.is_null(value) => {
                    let message = format!("a synonym must be an instruction, not `{word}`");
                    self.error(value, message, "expected `L`, `R` or a map")
                        .remedy("synonyms do not chain: write the instruction out");
                    None
                }
                _ => self.instruction(value),
            };
            self.synonyms.insert(name, instruction);
        }
    }

    fn rows(&mut self, table: NodeId) -> Vec<DraftState<'d>> {
        let entries = self.entries(table, "`table`").unwrap_or_default();
        let row = |(text, key, body): (&'d str, NodeId, NodeId)| {
            let key = Piece { text, span: self.document.nodes[key].span.clone() };
            let halts = self.document.is_null(body);
            let mut state = DraftState::new(key, halts.then_some(true));
            if !halts {
                self.cells(&mut state, body);
            }
            state
        };
        entries.into_iter().map(row).collect()
    }

    /// Reads the instructions of a state.
    fn cells(&mut self, state: &mut DraftState<'d>, body: NodeId) {
        let Some(entries) = self.document.mapping(body) else {
            let message = format!("state `{}` must be a map from symbols to instructions", state.name);
            self.error(body, message, "expected `symbol: instruction` pairs")
                .remedy("a halting state has nothing after the `:`");
            return;
        };
        if !self.may_take(body, entries.len()) {
            return;
        }
        let mut seen = HashSet::new();
        for [key, value] in entries {
            let instruction = self.instruction(*value);
            let keys = match self.document.nodes[*key].kind {
                Kind::Sequence => self.document.nodes[*key].children.as_slice(),
                _ => std::slice::from_ref(key),
            };
            if !self.may_take(*key, keys.len()) {
                return;
            }
            for &key in keys {
                let Some(symbol) = self.key(key) else { continue };
                if !seen.insert(symbol.text) {
                    let message = format!("symbol `{}` stands twice in state `{}`", symbol.text, state.name);
                    self.error(key, message, "the second time");
                } else if let Some(Instruction { write, head, target }) = instruction.clone() {
                    let (next, span) = (target.unwrap_or_else(|| state.key.clone()), symbol.span.clone());
                    let (reads, writes, moves) = (vec![Some(symbol)], vec![write], vec![head]);
                    state.rules.push(DraftRule { reads, writes, moves, next, span });
                }
            }
        }
    }

    /// The symbol of a key. The site accepts longer keys, which never match.
    fn key(&mut self, node: NodeId) -> Option<Piece<'d>> {
        let longer = self.document.text(node).filter(|text| text.chars().nth(1).is_some());
        let Some(text) = longer else { return self.symbol(node, "a key") };
        let message = format!("the key `{text}` is not a single character, so it never matches");
        let span = &self.document.nodes[node].span;
        self.findings.warning(span, message, "ignored").remedy("several symbols are listed as `[0, 1]`");
        None
    }

    fn instruction(&mut self, node: NodeId) -> Option<Instruction<'d>> {
        if self.document.is_null(node) {
            self.error(node, "an instruction is missing", "expected `L`, `R`, a synonym or a map")
                .remedy("to halt at this symbol, leave out the symbol");
            return None;
        }
        let moving = |head| Some(Instruction { write: None, head, target: None });
        let word = match self.document.text(node) {
            None => return self.instruction_map(node),
            Some("L") => return moving(Move::Left),
            Some("R") => return moving(Move::Right),
            Some(word) => word,
        };
        if let Some(instruction) = self.synonyms.get(word) {
            return instruction.clone();
        }
        let help = self.instructions.get_or_insert_with(|| instructions(&self.synonyms)).clone();
        self.error(node, format!("`{word}` is not an instruction"), "neither `L`, `R` nor a synonym")
            .remedy(help);
        None
    }

    fn instruction_map(&mut self, node: NodeId) -> Option<Instruction<'d>> {
        let n_findings = self.findings.count();
        let mut write = None;
        let mut moves = Vec::new();
        for (name, key, value) in self.entries(node, "an instruction")? {
            match name {
                "write" => write = self.symbol(value, "what is written"),
                "L" => moves.push((key, Move::Left, self.target(value))),
                "R" => moves.push((key, Move::Right, self.target(value))),
                other => {
                    let message = format!("`{other}` is not a part of an instruction");
                    self.error(key, message, "expected `write`, `L` or `R`");
                }
            }
        }
        let is_sound = self.findings.count() == n_findings;
        match moves.as_slice() {
            [(_, head, target)] if is_sound => {
                return Some(Instruction { write, head: *head, target: target.clone() });
            }
            &[_, (second, ..), ..] => _ = self.error(second, "an instruction moves once", "a second move"),
            [] if is_sound => _ = self.error(node, "an instruction must move", "neither `L` nor `R`"),
            _ => {}
        }
        None
    }

    /// The target of a move; `None` is the same state.
    fn target(&mut self, node: NodeId) -> Option<Piece<'d>> {
        if self.document.is_null(node) {
            return None;
        }
        self.declared(node, "target", |name| {
            format!("declare it in `table`; a line `{name}:` with nothing after it halts")
        })
    }

    fn declared(&mut self, node: NodeId, what: &str, help: impl Fn(&str) -> String) -> Option<Piece<'d>> {
        let state = self.text(node, &format!("a {what}"), "the name of a state")?;
        if self.states.contains(state.text) {
            return Some(state);
        }
        let message = format!("the {what} `{}` is not a state of the table", state.text);
        self.error(node, message, "no such state").remedy(help(state.text));
        None
    }

    fn symbol(&mut self, node: NodeId, what: &str) -> Option<Piece<'d>> {
        let symbol = self.text(node, what, "one character")?;
        let n_findings = self.findings.count();
        let help = "a symbol is one character; a space must stand in quotes: ' '";
        check_symbol(&symbol, what, help, &mut self.findings);
        (self.findings.count() == n_findings).then_some(symbol)
    }
}

/// The warning about a key that no version of the site uses.
fn unknown_key(key: &str, span: Range<usize>, known: &[&str]) -> Diagnostic {
    Diagnostic::warning(span, format!("`{key}` means nothing here and is ignored"), "an unknown key")
        .with_help(format!("known keys: {}", known.join(", ")))
}

#[cfg(test)]
mod tests;
