//! Reads the headers and the pairs of lines.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use super::{BLANK, header};
use crate::{
    Alphabet, Diagnostic, Machine, Missing, Move, Pattern, Rule, StateId, SymbolId, Write,
    diagnostic::{Findings, Lines},
    formats::{
        Loaded, MAX_SYMBOLS, finish,
        pieces::{Piece, counted, lines},
    },
};

/// `state, read, …`, the first line of a pair.
struct Situation<'t> {
    state: Piece<'t>,
    reads: Vec<Piece<'t>>,
    span: Range<usize>,
}

/// Both lines of a pair.
struct Pair<'t> {
    situation: Situation<'t>,
    next: Piece<'t>,
    writes: Vec<Piece<'t>>,
    moves: Vec<Move>,
}

impl Pair<'_> {
    /// Whether the second lines say the same, whatever the space in them.
    fn does_the_same(&self, other: &Self) -> bool {
        let texts = |pair: &Self| pair.writes.iter().map(|field| field.text.to_owned()).collect::<Vec<_>>();
        self.next.text == other.next.text && texts(self) == texts(other) && self.moves == other.moves
    }
}

#[derive(Default)]
struct Parser<'t> {
    name: Option<Piece<'t>>,
    init: Option<Piece<'t>>,
    accept: Option<Vec<Piece<'t>>>,
    n_tapes: Option<usize>,
    open: Option<Situation<'t>>,
    pairs: Vec<Pair<'t>>,
    /// The first line that looks like a comment of another format, and how many there are.
    hashes: Option<(Range<usize>, usize)>,
    findings: Findings,
}

/// Reads a machine.
///
/// # Errors
/// All errors found, in the order of the text, and the warnings with them.
pub(in crate::formats) fn read(text: &str) -> Result<Loaded, Vec<Diagnostic>> {
    let mut parser = Parser::default();
    for line in lines(text) {
        let field = line.before("//").trimmed();
        if looks_like_comment(&field) {
            let (_, n_lines) = parser.hashes.get_or_insert((field.span, 0));
            *n_lines += 1;
        } else if !field.text.is_empty() {
            parser.line(&field);
        }
    }
    parser.close();
    parser.finish(text)
}

/// Whether a line begins with `#` and could not be part of a rule: other formats begin comments so.
fn looks_like_comment(line: &Piece<'_>) -> bool {
    let could_be_rule = || {
        let fields = line.split(',');
        fields.len() > 1 && fields[1..].iter().all(|field| field.text.chars().count() == 1)
    };
    line.text.starts_with('#') && !could_be_rule()
}

impl<'t> Parser<'t> {
    fn line(&mut self, line: &Piece<'t>) {
        if let Some((key, value)) = header(line.text) {
            self.close();
            return self.header(key, line, value);
        }
        let fields = line.split(',');
        let n_tapes = *self.n_tapes.get_or_insert(fields.len() - 1);
        if n_tapes == 0 {
            self.n_tapes = None;
            return self
                .findings
                .error(&line.span, "neither a header nor a rule", "no symbol read")
                .remedy("a rule is two lines, `state, reads` and `next, writes, moves`");
        }
        match self.open.take() {
            None => self.situation(line, fields, n_tapes),
            Some(situation) if fields.len() == n_tapes + 1 => {
                self.open = Some(situation);
                self.close();
                self.situation(line, fields, n_tapes);
            }
            Some(situation) => self.action(situation, line, fields, n_tapes),
        }
    }

    fn header(&mut self, key: &str, line: &Piece<'t>, value: &'t str) {
        let value = line.part(value).trimmed();
        let slot_taken = match key {
            "name" => self.name.is_some(),
            "init" => self.init.is_some(),
            "accept" => self.accept.is_some(),
            _ => {
                let message = format!("unknown header `{key}`");
                let help = "headers are `name:`, `init:` and `accept:`";
                return self.findings.error(&line.span, message, "not a header").remedy(help);
            }
        };
        if slot_taken {
            let help = "one line per header; several accepting states are separated by commas";
            self.findings.error(&line.span, format!("a second `{key}:` line"), "already given").remedy(help);
        } else if key == "name" {
            self.name = Some(value);
        } else if value.text.is_empty() {
            self.findings
                .error(&line.span, format!("`{key}:` names no state"), "a state is missing")
                .remedy("write its name after the colon");
        } else if key == "init" {
            if value.text.contains(',') {
                self.findings
                    .error(&value.span, "more than one initial state", "one state")
                    .remedy("name the one state the machine starts in");
            }
            self.init = Some(value);
        } else {
            let states = value.split(',');
            if states.iter().any(|s| s.text.is_empty()) {
                self.findings
                    .error(&value.span, "an empty name among the accepting states", "a comma too many")
                    .remedy("remove it");
            }
            self.accept = Some(states);
        }
    }

    /// Reports a first line whose second line did not come.
    fn close(&mut self) {
        if let Some(situation) = self.open.take() {
            self.findings
                .error(&situation.span, "this line has no second line", "a rule begins here")
                .remedy("follow it with `next, writes, moves`");
        }
    }

    fn situation(&mut self, line: &Piece<'t>, mut fields: Vec<Piece<'t>>, n_tapes: usize) {
        if fields.len() == 2 * n_tapes + 1 {
            let help = "a rule is two lines, `state, reads` and `next, writes, moves`";
            return self
                .findings
                .error(&line.span, "a second line without a first", "the first line is missing")
                .remedy(help);
        }
        if fields.len() != n_tapes + 1 {
            let message = format!(
                "{} here, but the first rule reads {}",
                counted(fields.len() - 1, "symbol"),
                counted(n_tapes, "tape")
            );
            let help = "the first line of a rule is `state, reads`, one symbol per tape";
            // Kept, so that its second line is not blamed.
            let state = fields.swap_remove(0);
            self.open = Some(Situation { state, reads: Vec::new(), span: line.span.clone() });
            return self
                .findings
                .error(&line.span, message, "the first line of a rule was expected")
                .remedy(help);
        }
        let state = fields.remove(0);
        self.check_state(&state);
        for read in &fields {
            self.check_symbol(read);
        }
        self.open = Some(Situation { state, reads: fields, span: line.span.clone() });
    }

    fn action(
        &mut self,
        situation: Situation<'t>,
        line: &Piece<'t>,
        mut fields: Vec<Piece<'t>>,
        n_tapes: usize,
    ) {
        if fields.len() != 2 * n_tapes + 1 {
            let message = format!(
                "{} after the state, but {} need {n_tapes} writes and {n_tapes} moves",
                counted(fields.len() - 1, "entry").replace("entrys", "entries"),
                counted(n_tapes, "tape")
            );
            let help = "the second line of a rule is `next, writes, moves`";
            return self.findings.error(&line.span, message, "the second line of a rule").remedy(help);
        }
        let next = fields.remove(0);
        self.check_state(&next);
        let moves = fields.split_off(n_tapes);
        for write in &fields {
            self.check_symbol(write);
        }
        let mut taken = Vec::new();
        for field in &moves {
            let known = Move::named(field.text, ["<", "-", ">"]);
            taken.extend(known);
            if known.is_none() {
                let message = format!("unknown move `{}`", field.text);
                let help = "moves are `<`, `-` (stay) and `>`";
                self.findings.error(&field.span, message, "a move").remedy(help);
            }
        }
        if situation.reads.len() == n_tapes && taken.len() == n_tapes {
            self.pairs.push(Pair { situation, next, writes: fields, moves: taken });
        }
    }

    fn check_state(&mut self, state: &Piece<'t>) {
        if state.text.is_empty() {
            self.findings
                .error(&state.span, "the state has no name", "empty")
                .remedy("a line begins with a state");
        }
    }

    fn check_symbol(&mut self, symbol: &Piece<'t>) {
        if symbol.text.chars().count() != 1 {
            let message = if symbol.text.is_empty() {
                "a symbol is missing".to_owned()
            } else {
                format!("`{}` is not one character", symbol.text)
            };
            self.findings
                .error(&symbol.span, message, "a symbol")
                .remedy("symbols are single characters, `_` is the blank");
        }
    }

    fn finish(mut self, text: &str) -> Result<Loaded, Vec<Diagnostic>> {
        let end = text.len();
        if let Some((span, n_lines)) = self.hashes.take() {
            let lines = if n_lines == 1 {
                String::new()
            } else {
                format!(", here and in {} more lines", n_lines - 1)
            };
            let help = format!("write `//` in place of `#`{lines}");
            self.findings
                .error(&span, "`#` does not begin a comment", "comments begin with `//`")
                .remedy(help);
        }
        let had_errors = !self.findings.is_empty();
        let accept = self.accept.take().unwrap_or_default();
        let accepting: HashSet<&str> = accept.iter().map(|state| state.text).collect();
        match self.init.clone() {
            Some(init) => {
                let known = self.pairs.iter().any(|p| p.situation.state.text == init.text)
                    || accepting.contains(init.text);
                if !known && !had_errors {
                    let message = format!("the initial state `{}` has no rule", init.text);
                    let label = "the machine stops at once, rejecting";
                    self.findings.warning(init.span, message, label);
                }
            }
            None if !had_errors => {
                self.findings
                    .error(end..end, "the machine has no initial state", "the file ends here")
                    .remedy("add a line `init: STATE`");
            }
            None => {}
        }
        if self.n_tapes.unwrap_or(1) > 255 {
            let span = self.pairs.first().map_or(0..0, |p| p.situation.span.clone());
            self.findings.error(&span, "more than 255 tapes", "this rule").remedy("use fewer tapes");
        }
        self.check_pairs(text, &accepting);
        if self.findings.has_errors() {
            return Err(self.findings.into_sorted());
        }
        self.build(text, &accept, &accepting)
    }

    /// One rule per situation, though it may be repeated, and none for a state that accepts.
    fn check_pairs(&mut self, text: &str, accepting: &HashSet<&str>) {
        let lines = Lines::new(text);
        let mut seen: HashMap<Vec<&str>, &Pair<'t>> = HashMap::new();
        let mut warned: HashSet<&str> = HashSet::new();
        for pair in &self.pairs {
            let situation = &pair.situation;
            let span = situation.span.clone();
            let key: Vec<&str> =
                [&situation.state].into_iter().chain(&situation.reads).map(|field| field.text).collect();
            if let Some(earlier) = seen.get(&key) {
                let line = lines.of(earlier.situation.span.start);
                self.findings.push(if earlier.does_the_same(pair) {
                    let message = format!("this rule is the same as that on line {line}");
                    Diagnostic::warning(span, message, "repeated")
                } else {
                    let message = format!("a second rule for this situation; line {line} has the first");
                    Diagnostic::error(span, message, "the machine could not choose")
                        .with_help("keep one of them")
                });
            } else {
                seen.insert(key, pair);
            }
            let state = situation.state.text;
            if accepting.contains(state) && warned.insert(state) {
                let message = format!("state `{state}` accepts, so its rules never apply");
                let label = "the machine has stopped here";
                self.findings.warning(&situation.state.span, message, label);
            }
        }
        if self.pairs.is_empty() && self.findings.is_empty() {
            let message = "the machine has no rule, so one blank tape is assumed";
            self.findings.warning(text.len()..text.len(), message, "the file ends here");
        }
    }

    fn build(
        mut self,
        text: &str,
        accept: &[Piece<'t>],
        accepting: &HashSet<&str>,
    ) -> Result<Loaded, Vec<Diagnostic>> {
        let mut seen: HashSet<Vec<&str>> = HashSet::new();
        self.pairs.retain(|Pair { situation, .. }| {
            let fields = [&situation.state].into_iter().chain(&situation.reads);
            !accepting.contains(situation.state.text) && seen.insert(fields.map(|field| field.text).collect())
        });
        let order = self.state_order(accept);
        let ids: HashMap<&str, StateId> =
            order.iter().enumerate().map(|(index, &name)| (name, StateId::new(index))).collect();
        self.pairs.sort_by_key(|pair| ids[pair.situation.state.text]);
        let mut builder = Machine::builder();
        builder.missing(Missing::Reject);
        if let Some(name) = self.name.as_ref().filter(|name| !name.text.is_empty()) {
            builder.name(name.text);
        }
        let n_tapes = self.n_tapes.unwrap_or(1);
        let alphabets: Vec<Alphabet> =
            (0..n_tapes).map(|tape| self.alphabet(tape)).collect::<Result<_, _>>()?;
        for (index, alphabet) in alphabets.iter().enumerate() {
            let name = if n_tapes == 1 { "tape".to_owned() } else { format!("tape{}", index + 1) };
            builder.tape(name, alphabet.clone());
        }
        for &name in &order {
            let state = builder.push_state(name.to_owned());
            if accepting.contains(name) {
                builder.halt_in(state, true);
            }
        }
        for pair in &self.pairs {
            let symbol = |(tape, field): (usize, &Piece)| {
                alphabets[tape].find(field.text).unwrap_or_else(|| alphabets[tape].blank())
            };
            let rule = Rule {
                reads: pair.situation.reads.iter().enumerate().map(symbol).map(Pattern::Is).collect(),
                writes: pair.writes.iter().enumerate().map(symbol).map(Write::Put).collect(),
                moves: pair.moves.clone(),
                next: ids[pair.next.text],
            };
            builder.push_rule(ids[pair.situation.state.text], rule);
        }
        finish(builder, None, self.findings, text)
    }

    /// The start, the accepting states, those with rules, the rest; so that a machine that is written is read in the same order.
    fn state_order(&self, accept: &[Piece<'t>]) -> Vec<&'t str> {
        let mut order: Vec<&'t str> = Vec::new();
        let mut seen: HashMap<&'t str, usize> = HashMap::new();
        let mut add = |name: &'t str| {
            seen.entry(name).or_insert_with(|| {
                order.push(name);
                order.len() - 1
            });
        };
        let firsts = self.init.iter().chain(accept).chain(self.pairs.iter().map(|p| &p.situation.state));
        firsts.for_each(|field| add(field.text));
        let mut by_state: Vec<&Pair> = self.pairs.iter().collect();
        let place: HashMap<&str, usize> = seen.clone();
        by_state.sort_by_key(|pair| place[pair.situation.state.text]);
        for pair in by_state {
            if !seen.contains_key(pair.next.text) {
                seen.insert(pair.next.text, order.len());
                order.push(pair.next.text);
            }
        }
        order
    }

    fn alphabet(&self, tape: usize) -> Result<Alphabet, Vec<Diagnostic>> {
        let mut names = vec![BLANK];
        for pair in &self.pairs {
            for field in [&pair.situation.reads[tape], &pair.writes[tape]] {
                if !names.contains(&field.text) {
                    if names.len() == MAX_SYMBOLS {
                        let message = "more than 256 symbols on a tape";
                        return Err(vec![Diagnostic::error(field.span.clone(), message, "one too many")]);
                    }
                    names.push(field.text);
                }
            }
        }
        Ok(Alphabet::new(names, SymbolId(0)))
    }
}
