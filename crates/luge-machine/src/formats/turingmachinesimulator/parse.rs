//! Reads the headers and the pairs of lines.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    ops::Range,
};

use super::{BLANK, header};
use crate::{
    Alphabet, Diagnostic, Machine, Missing, Move, Pattern, Rule, SymbolId, Write,
    diagnostic::{Findings, Lines},
    formats::{
        Loaded, MAX_SYMBOLS, Piece, add_tapes, counted, distinct, finish, lines, numbered, only_character,
        texts,
    },
};

const RULE: &str = "a rule is two lines, `state, reads` and `next, writes, moves`";

/// The two lines of a rule, `state, reads` and `next, writes, moves`.
struct Pair<'t> {
    /// The state and what it reads.
    situation: Vec<Piece<'t>>,
    /// The next state and what is written.
    action: Vec<Piece<'t>>,
    moves: Vec<Move>,
    /// The first line.
    span: Range<usize>,
}

#[derive(Default)]
struct Parser<'t> {
    headers: HashMap<&'t str, Piece<'t>>,
    n_tapes: Option<usize>,
    /// The first line of a rule whose second line is expected, and its fields.
    open: Option<(Range<usize>, Vec<Piece<'t>>)>,
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
        fields.len() > 1 && fields[1..].iter().all(|field| only_character(field.text).is_some())
    };
    line.text.starts_with('#') && !could_be_rule()
}

impl<'t> Parser<'t> {
    fn error(&mut self, span: &Range<usize>, message: impl Into<String>, label: &str) -> &mut Diagnostic {
        self.findings.error(span, message, label)
    }

    fn line(&mut self, line: &Piece<'t>) {
        if let Some((key, value)) = header(line.text) {
            self.close();
            return self.header(key, line, value);
        }
        let fields = line.split(',');
        let n_tapes = *self.n_tapes.get_or_insert(fields.len() - 1);
        if n_tapes == 0 {
            self.n_tapes = None;
            return self.error(&line.span, "neither a header nor a rule", "no symbol read").remedy(RULE);
        }
        if fields.len() == n_tapes + 1 {
            self.close();
        }
        match self.open.take() {
            None => self.first_line(line, fields, n_tapes),
            Some(open) => self.second_line(open, line, fields, n_tapes),
        }
    }

    fn header(&mut self, key: &'t str, line: &Piece<'t>, value: &'t str) {
        let value = line.part(value).trimmed();
        if !matches!(key, "name" | "init" | "accept") {
            let help = "headers are `name:`, `init:` and `accept:`";
            return self.error(&line.span, format!("unknown header `{key}`"), "not a header").remedy(help);
        }
        if self.headers.contains_key(key) {
            let help = "one line per header; several accepting states are separated by commas";
            let message = format!("a second `{key}:` line");
            return self.error(&line.span, message, "already given").remedy(help);
        }
        if key != "name" && value.text.is_empty() {
            let message = format!("`{key}:` names no state");
            let help = "write its name after the colon";
            return self.error(&line.span, message, "a state is missing").remedy(help);
        }
        if key == "init" && value.text.contains(',') {
            self.error(&value.span, "more than one initial state", "one state")
                .remedy("name the one state the machine starts in");
        }
        if key == "accept" && value.split(',').iter().any(|state| state.text.is_empty()) {
            self.error(&value.span, "an empty name among the accepting states", "a comma too many")
                .remedy("remove it");
        }
        self.headers.insert(key, value);
    }

    /// Reports a first line whose second line did not come.
    fn close(&mut self) {
        if let Some((span, _)) = self.open.take() {
            self.error(&span, "this line has no second line", "a rule begins here")
                .remedy("follow it with `next, writes, moves`");
        }
    }

    fn first_line(&mut self, line: &Piece<'t>, fields: Vec<Piece<'t>>, n_tapes: usize) {
        if fields.len() == 2 * n_tapes + 1 {
            let label = "the first line is missing";
            return self.error(&line.span, "a second line without a first", label).remedy(RULE);
        }
        if fields.len() == n_tapes + 1 {
            self.check_fields(&fields);
        } else {
            let (found, n_tapes) = (counted(fields.len() - 1, "symbol"), counted(n_tapes, "tape"));
            let message = format!("{found} here, but the first rule reads {n_tapes}");
            self.error(&line.span, message, "the first line of a rule was expected")
                .remedy("the first line of a rule is `state, reads`, one symbol per tape");
        }
        // A wrong line is kept too, so that its second line is not blamed.
        self.open = Some((line.span.clone(), fields));
    }

    fn second_line(
        &mut self,
        (span, situation): (Range<usize>, Vec<Piece<'t>>),
        line: &Piece<'t>,
        mut action: Vec<Piece<'t>>,
        n_tapes: usize,
    ) {
        if action.len() != 2 * n_tapes + 1 {
            let found = counted(action.len() - 1, "entry").replace("entrys", "entries");
            let tapes = counted(n_tapes, "tape");
            let message =
                format!("{found} after the state, but {tapes} need {n_tapes} writes and {n_tapes} moves");
            let help = "the second line of a rule is `next, writes, moves`";
            return self.error(&line.span, message, "the second line of a rule").remedy(help);
        }
        let spelled = action.split_off(n_tapes + 1);
        self.check_fields(&action);
        let mut moves = Vec::new();
        for field in &spelled {
            match Move::named(field.text, ["<", "-", ">"]) {
                Some(known) => moves.push(known),
                None => self
                    .error(&field.span, format!("unknown move `{}`", field.text), "a move")
                    .remedy("moves are `<`, `-` (stay) and `>`"),
            }
        }
        if situation.len() == n_tapes + 1 && moves.len() == n_tapes {
            self.pairs.push(Pair { situation, action, moves, span });
        }
    }

    /// Checks a state and the symbols after it.
    fn check_fields(&mut self, fields: &[Piece<'t>]) {
        if fields[0].text.is_empty() {
            self.error(&fields[0].span, "the state has no name", "empty")
                .remedy("a line begins with a state");
        }
        for symbol in fields[1..].iter().filter(|field| only_character(field.text).is_none()) {
            let message = match symbol.text {
                "" => "a symbol is missing".to_owned(),
                text => format!("`{text}` is not one character"),
            };
            self.error(&symbol.span, message, "a symbol")
                .remedy("symbols are single characters, `_` is the blank");
        }
    }

    fn finish(mut self, text: &str) -> Result<Loaded, Vec<Diagnostic>> {
        let end = text.len()..text.len();
        if let Some((span, n_lines)) = self.hashes.take() {
            let lines = match n_lines - 1 {
                0 => String::new(),
                n_more => format!(", here and in {n_more} more lines"),
            };
            self.error(&span, "`#` does not begin a comment", "comments begin with `//`")
                .remedy(format!("write `//` in place of `#`{lines}"));
        }
        let accept = self.headers.get("accept").map_or_else(Vec::new, |states| texts(&states.split(',')));
        let accepting: HashSet<&str> = accept.iter().copied().collect();
        if self.findings.is_empty() {
            let has_rule = |state: &str| self.pairs.iter().any(|pair| pair.situation[0].text == state);
            match self.headers.get("init") {
                None => self
                    .error(&end, "the machine has no initial state", "the file ends here")
                    .remedy("add a line `init: STATE`"),
                Some(init) if !has_rule(init.text) && !accepting.contains(init.text) => {
                    let message = format!("the initial state `{}` has no rule", init.text);
                    self.findings.warning(&init.span, message, "the machine stops at once, rejecting");
                }
                Some(_) => {}
            }
        }
        if self.n_tapes.unwrap_or(1) > 255 {
            let span = self.pairs.first().map_or(0..0, |pair| pair.span.clone());
            self.error(&span, "more than 255 tapes", "this rule").remedy("use fewer tapes");
        }
        self.drop_repeated(text, &accepting);
        if self.pairs.is_empty() && self.findings.is_empty() {
            let message = "the machine has no rule, so one blank tape is assumed";
            self.findings.warning(end, message, "the file ends here");
        }
        if self.findings.has_errors() {
            return Err(self.findings.into_sorted());
        }
        self.pairs.retain(|pair| !accepting.contains(pair.situation[0].text));
        self.build(text, &accept)
    }

    /// One rule per situation, though it may be repeated, and none for a state that accepts.
    fn drop_repeated(&mut self, text: &str, accepting: &HashSet<&str>) {
        let lines = Lines::new(text);
        let mut places: HashMap<Vec<&str>, usize> = HashMap::new();
        let mut warned: HashSet<&str> = HashSet::new();
        for pair in std::mem::take(&mut self.pairs) {
            let state = pair.situation[0].clone();
            match places.entry(texts(&pair.situation)) {
                Entry::Vacant(place) => {
                    place.insert(self.pairs.len());
                    self.pairs.push(pair);
                }
                Entry::Occupied(place) => {
                    let earlier = &self.pairs[*place.get()];
                    let line = lines.of(earlier.span.start);
                    if texts(&earlier.action) == texts(&pair.action) && earlier.moves == pair.moves {
                        let message = format!("this rule is the same as that on line {line}");
                        self.findings.warning(&pair.span, message, "repeated");
                    } else {
                        let message = format!("a second rule for this situation; line {line} has the first");
                        self.error(&pair.span, message, "the machine could not choose")
                            .remedy("keep one of them");
                    }
                }
            }
            if accepting.contains(state.text) && warned.insert(state.text) {
                let message = format!("state `{}` accepts, so its rules never apply", state.text);
                self.findings.warning(&state.span, message, "the machine has stopped here");
            }
        }
    }

    /// The states are the start, the accepting ones, those with rules, the rest: in this order they are written, too.
    fn build(mut self, text: &str, accept: &[&'t str]) -> Result<Loaded, Vec<Diagnostic>> {
        let init = self.headers.get("init").map(|init| init.text);
        let with_rules = self.pairs.iter().map(|pair| pair.situation[0].text);
        let mut states = distinct(init.into_iter().chain(accept.iter().copied()).chain(with_rules));
        let places = numbered(&states);
        self.pairs.sort_by_key(|pair| places[pair.situation[0].text]);
        states = distinct(states.into_iter().chain(self.pairs.iter().map(|pair| pair.action[0].text)));
        let ids = numbered(&states);

        let mut builder = Machine::builder();
        builder.missing(Missing::Reject);
        if let Some(name) = self.headers.get("name").filter(|name| !name.text.is_empty()) {
            builder.name(name.text);
        }
        let tapes = 1..=self.n_tapes.unwrap_or(1);
        let alphabets: Vec<Alphabet> = tapes.map(|tape| self.alphabet(tape)).collect::<Result<_, _>>()?;
        add_tapes(&mut builder, &alphabets);
        for &name in &states {
            builder.push_state(name.to_owned());
        }
        for state in accept {
            builder.halt_in(ids[state], true);
        }
        for Pair { situation, action, moves, .. } in self.pairs {
            let symbols = |fields: &[Piece<'t>]| {
                let found = fields[1..].iter().zip(&alphabets).map(|(field, tape)| tape.find(field.text));
                found.map(|symbol| symbol.unwrap_or(SymbolId(0))).collect::<Vec<_>>()
            };
            let rule = Rule {
                reads: symbols(&situation).into_iter().map(Pattern::Is).collect(),
                writes: symbols(&action).into_iter().map(Write::Put).collect(),
                moves,
                next: ids[action[0].text],
            };
            builder.push_rule(ids[situation[0].text], rule);
        }
        finish(builder, None, self.findings, text)
    }

    /// The blank and the symbols of the rules, by occurrence; tapes count from 1.
    fn alphabet(&self, tape: usize) -> Result<Alphabet, Vec<Diagnostic>> {
        let fields = || self.pairs.iter().flat_map(|pair| [&pair.situation[tape], &pair.action[tape]]);
        let names = distinct([BLANK].into_iter().chain(fields().map(|field| field.text)));
        if let Some(extra) = names.get(MAX_SYMBOLS).and_then(|name| fields().find(|f| f.text == *name)) {
            let message = "more than 256 symbols on a tape";
            return Err(vec![Diagnostic::error(extra.span.clone(), message, "one too many")]);
        }
        Ok(Alphabet::new(names, SymbolId(0)))
    }
}
