//! From the document to the machine.

use std::{
    collections::{BTreeSet, HashMap},
    ops::Range,
};

use super::{
    saved,
    yaml::{Document, Kind, NodeId},
};
use crate::{
    Alphabet, Diagnostic, Input, Machine, Missing, Move, Pattern, Rule, StateId, SymbolId, TapeInput, Write,
    diagnostic::Findings,
    formats::{Loaded, MAX_SYMBOLS, finish, pieces::listed},
};

/// The keys of a bare machine.
const KNOWN_KEYS: &str = "name, input, blank, start state, synonyms, table";
/// What messages call a symbol that an instruction belongs to.
const KEY: &str = "a key";

/// What aliases may add to the entries that stand in the text itself.
const MAX_SHARED: usize = 100_000;
/// Reads a machine, bare or in a document as the site saves it.
///
/// # Errors
/// All errors found in the text, in order, and the warnings with them.
pub(in crate::formats) fn read(text: &str) -> Result<Loaded, Vec<Diagnostic>> {
    let document = Document::parse(text).map_err(|error| vec![error])?;
    match saved::source_code(&document) {
        Some(source) => saved::read(&document, source, text),
        None => machine(&document, text),
    }
}

/// Reads the bare machine.
pub(super) fn machine(document: &Document, text: &str) -> Result<Loaded, Vec<Diagnostic>> {
    let mut reader = Reader {
        document,
        findings: Findings::default(),
        states: HashMap::new(),
        synonyms: HashMap::new(),
        instructions: None,
        // Without aliases every entry takes up a byte at least.
        n_left: text.len() + MAX_SHARED,
    };
    let top = reader.top();
    let rows = reader.rows(top.table);
    let blank = top.blank.and_then(|node| reader.symbol(node, "the blank"));
    let start = reader.start(top.start);
    let laid = reader.input(top.input);
    let symbols = reader.symbols(blank.unwrap_or(' '), &rows, laid.as_deref().unwrap_or_default());

    let find = |c: char| SymbolId::new(symbols.iter().position(|&s| s == c).unwrap_or(0));
    let mut builder = Machine::builder();
    builder.missing(Missing::Halt);
    builder.tape("tape", Alphabet::new(symbols.iter().map(char::to_string), SymbolId(0)));
    if let Some(name) = top.name.and_then(|node| document.text(node)) {
        builder.name(name);
    }
    for (row, id) in rows.iter().zip(0..) {
        builder.push_state(row.name.to_owned());
        let Some(cells) = &row.cells else {
            builder.halt_in(StateId(id), true);
            continue;
        };
        for (symbol, instruction) in cells {
            builder.push_rule(
                StateId(id),
                Rule {
                    reads: vec![Pattern::Is(find(*symbol))],
                    writes: vec![instruction.write.map_or(Write::Keep, |c| Write::Put(find(c)))],
                    moves: vec![instruction.head],
                    next: instruction.target.unwrap_or(StateId(id)),
                },
            );
        }
    }
    if let Some(start) = start {
        builder.start(start);
    }
    let input = laid.map(|laid| Input {
        tapes: vec![TapeInput { symbols: laid.iter().map(|&c| find(c)).collect(), head: 0 }],
    });
    finish(builder, input, reader.findings, text)
}

/// The values of the keys at the top.
#[derive(Default)]
struct Top {
    name: Option<NodeId>,
    blank: Option<NodeId>,
    start: Option<NodeId>,
    table: Option<NodeId>,
    input: Option<NodeId>,
}

/// One state of the table; `cells` is `None` if it halts.
struct Row<'d> {
    name: &'d str,
    cells: Option<Vec<(char, Instruction)>>,
}

/// What to do; no target means the same state, nothing to write means to keep.
#[derive(Clone, Copy)]
struct Instruction {
    write: Option<char>,
    head: Move,
    target: Option<StateId>,
}

struct Reader<'d> {
    document: &'d Document,
    findings: Findings,
    /// How many more entries of maps and lists are looked at.
    n_left: usize,
    /// The states of the table.
    states: HashMap<&'d str, StateId>,
    /// `None` for a synonym that has an error of its own.
    synonyms: HashMap<&'d str, Option<Instruction>>,
    /// What an instruction can be, in words, once they were needed.
    instructions: Option<String>,
}

/// What an instruction can be, the synonyms with it.
fn instructions(synonyms: &HashMap<&str, Option<Instruction>>) -> String {
    let mut known: Vec<&str> = synonyms.keys().copied().collect();
    known.sort_unstable();
    let help = "an instruction is `L`, `R`, a synonym, or a map such as `{write: 1, L: state}`";
    match known.as_slice() {
        [] => help.to_owned(),
        known => format!("{help}; synonyms: {}", listed(known.iter().copied(), ", ")),
    }
}

impl<'d> Reader<'d> {
    fn error(
        &mut self,
        node: NodeId,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> &mut Diagnostic {
        let span = self.span(node);
        self.findings.error(span, message, label)
    }

    /// Whether so many more entries of `node` may be looked at: aliases can make a short text stand for a huge machine.
    fn may_take(&mut self, node: NodeId, n_entries: usize) -> bool {
        let left = self.n_left.checked_sub(n_entries);
        if left.is_none() && self.n_left > 0 {
            let message = "the aliases of this document stand for too much";
            let label = format!("more than {MAX_SHARED} entries beyond those that are written");
            self.error(node, message, label).remedy("write fewer states, or shorter ones");
        }
        self.n_left = left.unwrap_or(0);
        left.is_some()
    }

    fn span(&self, node: NodeId) -> Range<usize> {
        self.document.node(node).span.clone()
    }

    /// The entries of a mapping whose keys are words, each once; other keys are noted and left out.
    fn entries(&mut self, mapping: NodeId, what: &str) -> Option<Vec<(&'d str, NodeId, NodeId)>> {
        let document = self.document;
        let Kind::Mapping(entries) = &document.node(mapping).kind else {
            let label = "expected `key: value` pairs";
            self.error(mapping, format!("{what} must be a map"), label);
            return None;
        };
        if !self.may_take(mapping, entries.len()) {
            return None;
        }
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for &(key, value) in entries {
            match document.text(key) {
                Some(name) if seen.insert(name) => found.push((name, key, value)),
                Some(name) => {
                    self.error(key, format!("`{name}` stands twice in {what}"), "the second time");
                }
                None => {
                    self.error(key, format!("a key of {what} must be a word"), "a list or a map");
                }
            }
        }
        Some(found)
    }

    fn top(&mut self) -> Top {
        let mut top = Top::default();
        let root = self.document.root;
        let Some(entries) = self.entries(root, "the document") else { return top };
        let mut synonyms = None;
        for (name, key, value) in entries {
            match name {
                "name" => top.name = Some(value),
                "blank" => top.blank = Some(value),
                "start state" => top.start = Some(value),
                "table" => top.table = Some(value),
                "input" => top.input = Some(value),
                "synonyms" => synonyms = Some(value),
                "source" | saved::SOURCE_CODE | "positions" => {}
                other => {
                    self.findings.push(unknown_key(other, self.span(key), KNOWN_KEYS));
                }
            }
        }
        let required = [("blank", top.blank), ("start state", top.start), ("table", top.table)];
        for (name, value) in required {
            if value.is_none() {
                self.error(root, format!("`{name}` is missing"), "expected in this document");
            }
        }
        self.declare_states(top.table);
        if let Some(synonyms) = synonyms.filter(|&node| !self.document.is_null(node)) {
            self.declare_synonyms(synonyms);
        }
        top
    }

    /// Numbers the states first, because targets may name later ones.
    fn declare_states(&mut self, table: Option<NodeId>) {
        let document = self.document;
        let Some(Kind::Mapping(entries)) = table.map(|table| &document.node(table).kind) else { return };
        for name in entries.iter().filter_map(|&(key, _)| document.text(key)) {
            let next = StateId::new(self.states.len());
            self.states.entry(name).or_insert(next);
        }
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
                    self.error(
                        value,
                        format!("a synonym must be an instruction, not `{word}`"),
                        "expected `L`, `R` or a map",
                    )
                    .remedy("synonyms do not chain: write the instruction out");
                    None
                }
                _ => self.instruction(value),
            };
            self.synonyms.insert(name, instruction);
        }
    }

    fn rows(&mut self, table: Option<NodeId>) -> Vec<Row<'d>> {
        let Some(table) = table else { return Vec::new() };
        let entries = self.entries(table, "`table`").unwrap_or_default();
        let row = |(name, _, body): (&'d str, NodeId, NodeId)| {
            let cells = if self.document.is_null(body) { None } else { Some(self.cells(name, body)) };
            Row { name, cells }
        };
        entries.into_iter().map(row).collect()
    }

    /// The instructions of one state, symbol by symbol.
    fn cells(&mut self, state: &str, body: NodeId) -> Vec<(char, Instruction)> {
        let document = self.document;
        let Kind::Mapping(entries) = &document.node(body).kind else {
            let message = format!("state `{state}` must be a map from symbols to instructions");
            self.error(body, message, "expected `symbol: instruction` pairs")
                .remedy("a halting state has nothing after the `:`");
            return Vec::new();
        };
        let mut seen = BTreeSet::new();
        let mut cells = Vec::new();
        if !self.may_take(body, entries.len()) {
            return cells;
        }
        for (key, value) in entries {
            let instruction = self.instruction(*value);
            let keys = match &document.node(*key).kind {
                Kind::Sequence(items) => items.as_slice(),
                _ => std::slice::from_ref(key),
            };
            if !self.may_take(*key, keys.len()) {
                return cells;
            }
            for &key in keys {
                let Some(symbol) = self.key(key) else { continue };
                if !seen.insert(symbol) {
                    let message = format!("symbol `{symbol}` stands twice in state `{state}`");
                    self.error(key, message, "the second time");
                } else if let Some(instruction) = instruction {
                    cells.push((symbol, instruction));
                }
            }
        }
        cells
    }

    /// The symbol a key stands for. The site lets a longer key pass, which then fits no symbol.
    fn key(&mut self, node: NodeId) -> Option<char> {
        let longer = self.document.text(node).filter(|text| text.chars().nth(1).is_some());
        let Some(text) = longer else { return self.symbol(node, KEY) };
        let message = format!("the key `{text}` is no single character, so it never matches");
        let finding = Diagnostic::warning(self.span(node), message, "passed over");
        self.findings.push(finding.with_help("several symbols are listed as `[0, 1]`"));
        None
    }

    fn instruction(&mut self, node: NodeId) -> Option<Instruction> {
        if self.document.is_null(node) {
            self.error(node, "an instruction is missing", "expected `L`, `R`, a synonym or a map")
                .remedy("to halt at this symbol, leave out the symbol");
            return None;
        }
        match self.document.text(node) {
            Some("L") => Some(Instruction { write: None, head: Move::Left, target: None }),
            Some("R") => Some(Instruction { write: None, head: Move::Right, target: None }),
            Some(word) => self.synonym(node, word),
            None => self.instruction_map(node),
        }
    }

    fn synonym(&mut self, node: NodeId, word: &str) -> Option<Instruction> {
        if let Some(instruction) = self.synonyms.get(word) {
            return *instruction;
        }
        let help = self.instructions.get_or_insert_with(|| instructions(&self.synonyms)).clone();
        self.error(node, format!("`{word}` is not an instruction"), "neither `L`, `R` nor a synonym")
            .remedy(help);
        None
    }

    fn instruction_map(&mut self, node: NodeId) -> Option<Instruction> {
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
        match moves[..] {
            [(_, head, target)] if self.findings.count() == n_findings => {
                Some(Instruction { write, head, target })
            }
            [(_, _, _), (key, _, _), ..] => {
                self.error(key, "an instruction moves once", "a second move");
                None
            }
            [] if self.findings.count() == n_findings => {
                self.error(node, "an instruction must move", "neither `L` nor `R`");
                None
            }
            _ => None,
        }
    }

    /// The state a move leads to; nothing means the same state.
    fn target(&mut self, node: NodeId) -> Option<StateId> {
        if self.document.is_null(node) {
            return None;
        }
        self.declared(node, "target", |name| {
            format!("declare it in `table`; a line `{name}:` with nothing after it halts")
        })
    }

    fn start(&mut self, node: Option<NodeId>) -> Option<StateId> {
        self.declared(node?, "start state", |_| "it must be one of the keys of `table`".to_owned())
    }

    fn declared(&mut self, node: NodeId, what: &str, help: impl Fn(&str) -> String) -> Option<StateId> {
        let Some(name) = self.document.text(node) else {
            self.error(node, format!("a {what} must be the name of a state"), "a list or a map");
            return None;
        };
        let state = self.states.get(name).copied();
        if state.is_none() {
            let message = format!("the {what} `{name}` is not a state of the table");
            self.error(node, message, "no such state").remedy(help(name));
        }
        state
    }

    fn symbol(&mut self, node: NodeId, what: &str) -> Option<char> {
        let Some(text) = self.document.text(node) else {
            self.error(node, format!("{what} must be one character"), "a list or a map");
            return None;
        };
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(symbol), None) => Some(symbol),
            (None, _) => {
                self.error(node, format!("{what} must be one character"), "nothing here")
                    .remedy("a space must stand in quotes: ' '");
                None
            }
            (Some(_), Some(_)) => {
                let message = format!("{what} must be one character, not `{text}`");
                self.error(node, message, "more than one character");
                None
            }
        }
    }

    /// The characters of the input, if there is one.
    fn input(&mut self, node: Option<NodeId>) -> Option<Vec<char>> {
        let node = node.filter(|&node| !self.document.is_null(node))?;
        let text = self.document.text(node);
        if text.is_none() {
            self.error(node, "the input must be a text", "a list or a map");
        }
        text.map(|text| text.chars().collect())
    }

    /// The blank, then all other symbols that occur, sorted.
    fn symbols(&mut self, blank: char, rows: &[Row<'_>], input: &[char]) -> Vec<char> {
        let cells = rows.iter().flat_map(|row| row.cells.iter().flatten());
        let in_table = cells.flat_map(|&(symbol, instruction)| [Some(symbol), instruction.write]);
        let seen: BTreeSet<char> =
            in_table.flatten().chain(input.iter().copied()).filter(|&symbol| symbol != blank).collect();
        let mut symbols: Vec<char> = [blank].into_iter().chain(seen).collect();
        if symbols.len() > MAX_SYMBOLS {
            let message = format!("{} symbols, but at most {MAX_SYMBOLS} are supported", symbols.len());
            self.error(self.document.root, message, "in this document");
            symbols.truncate(MAX_SYMBOLS);
        }
        symbols
    }
}

/// A key that no version of the site knows.
pub(super) fn unknown_key(key: &str, span: Range<usize>, known: &str) -> Diagnostic {
    Diagnostic::warning(span, format!("`{key}` means nothing here and is passed over"), "an unknown key")
        .with_help(format!("known keys: {known}"))
}
