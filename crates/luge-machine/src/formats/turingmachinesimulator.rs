//! The multi-tape format of turingmachinesimulator.com.
//!
//! The machine accepts when it reaches a state listed after `accept:`; the step into it counts, and rules of such a state
//! are ignored with a warning. If no rule applies, the machine stops without a step and rejects:
//! [`Missing::Reject`](crate::Missing::Reject), outcome "no-rule". The blank is `_`. A repeated rule gives a warning; two
//! different rules for the same situation are an error. Comments begin with `//`; lines that begin with `#` and are not
//! rules give one error.
//!
//! The format has no names for tapes and no alphabets: tapes are called `tape1`, `tape2`, … (`tape` if there is one), and
//! an alphabet is the blank and the symbols of the rules, in order of occurrence. States are ordered: the start, the
//! accepting ones, those with rules, the rest. So writing keeps the behaviour of the machine, but not these names and
//! orders, nor a name of the machine that does not fit on a line; a blank with another name becomes `_`, and wildcards
//! are expanded.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use super::{
    Draft, DraftRule, DraftState, Limits, Loaded, Obstacle, Piece, ReadOptions, RuleOrder, check_symbol,
    collected_alphabet, counted, head_move, lines, only_character, spelling_problem,
};
use crate::{Diagnostic, Machine, Missing, StateId, SymbolId, diagnostic::Findings};

/// The blank.
const BLANK: &str = "_";

/// The key and value of a header line: one of the three keys and a colon, or any word, a colon and a space.
fn header(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let key = key.trim_end();
    let known = matches!(key, "name" | "init" | "accept");
    let spaced = value.is_empty() || value.starts_with(char::is_whitespace);
    (known || spaced && !key.contains(',')).then_some((key, value))
}

const RULE: &str = "a rule is two lines, `state, reads` and `next, writes, moves`";

#[derive(Default)]
struct Parser<'t> {
    headers: HashMap<&'t str, Piece<'t>>,
    n_tapes: Option<usize>,
    /// The first line of an incomplete rule, and its fields.
    open: Option<(Range<usize>, Vec<Piece<'t>>)>,
    /// The rules and their states.
    rules: Vec<(Piece<'t>, DraftRule<'t>)>,
    /// The first line that looks like a comment with `#`, and the number of such lines.
    hashes: Option<(Range<usize>, usize)>,
    findings: Findings,
}

/// Reads a machine.
///
/// # Errors
/// All errors, in the order of the text, together with the warnings.
pub(super) fn read(text: &str, options: &ReadOptions) -> Result<Loaded, Vec<Diagnostic>> {
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
    parser.draft(text, &options.inputs).resolve(text)
}

/// Whether a line begins with `#`, as comments of other formats do, and cannot be part of a rule.
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
            self.error(&line.span, format!("unknown header `{key}`"), "not a header")
                .remedy("headers are `name:`, `init:` and `accept:`");
        } else if self.headers.contains_key(key) {
            self.error(&line.span, format!("a second `{key}:` line"), "already given")
                .remedy("one line per header; several accepting states are separated by commas");
        } else if key != "name" && value.text.is_empty() {
            self.error(&line.span, format!("`{key}:` names no state"), "a state is missing")
                .remedy("write its name after the colon");
        } else if key == "init" && value.text.contains(',') {
            self.error(&value.span, "more than one initial state", "one state")
                .remedy("name the one state the machine starts in");
        } else if key == "accept" && value.split(',').iter().any(|state| state.text.is_empty()) {
            let message = "an empty name among the accepting states";
            self.error(&value.span, message, "a comma too many").remedy("remove it");
        } else {
            self.headers.insert(key, value);
        }
    }

    /// Reports a first line without a second line.
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
        // A line with an error is stored as well, so that its second line gives no further error.
        self.open = Some((line.span.clone(), fields));
    }

    fn second_line(
        &mut self,
        (span, mut situation): (Range<usize>, Vec<Piece<'t>>),
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
        let moves = action.split_off(n_tapes + 1);
        self.check_fields(&action);
        let moves: Option<Vec<_>> =
            moves.iter().map(|field| head_move(field, ["<", "-", ">"], &mut self.findings)).collect();
        if let (Some(moves), true) = (moves, situation.len() == n_tapes + 1) {
            let [state, next] = [&mut situation, &mut action].map(|fields| fields.remove(0));
            let [reads, writes] = [situation, action].map(|fields| fields.into_iter().map(Some).collect());
            self.rules.push((state, DraftRule { reads, writes, moves, next, span }));
        }
    }

    /// Checks a state and the symbols after it.
    fn check_fields(&mut self, fields: &[Piece<'t>]) {
        if fields[0].text.is_empty() {
            self.error(&fields[0].span, "the state has no name", "empty")
                .remedy("a line begins with a state");
        }
        for symbol in &fields[1..] {
            let help = "symbols are single characters, `_` is the blank";
            check_symbol(symbol, "a symbol", help, &mut self.findings);
        }
    }

    /// Makes the draft. Its states are the start, the accepting ones, those with rules, the rest; a file is written in this
    /// order.
    fn draft(mut self, text: &str, inputs: &[String]) -> Draft<'t> {
        if let Some((span, n_lines)) = self.hashes.take() {
            let more =
                if n_lines > 1 { format!(", here and in {} more lines", n_lines - 1) } else { String::new() };
            self.error(&span, "`#` does not begin a comment", "comments begin with `//`")
                .remedy(format!("write `//` in place of `#`{more}"));
        }
        let accept = self.headers.get("accept").map_or_else(Vec::new, |states| states.split(','));
        let accepting: HashSet<&str> = accept.iter().map(|state| state.text).collect();
        self.check_complete(text.len()..text.len(), &accepting);
        let mut draft = Draft::new(Missing::Reject, |_| Ok(None), self.findings);
        draft.order = RuleOrder::Unordered { reports_all: true };
        draft.name = self.headers.get("name").map(|name| name.text).filter(|name| !name.is_empty());
        let init = self.headers.get("init");
        let mut places: HashMap<&str, usize> = HashMap::new();
        let declared = init.into_iter().chain(&accept).cloned().map(|state| (state, None));
        for (state, rule) in declared.chain(self.rules.into_iter().map(|(state, rule)| (state, Some(rule)))) {
            let place = *places.entry(state.text).or_insert(draft.states.len());
            if place == draft.states.len() {
                let halting = accepting.contains(state.text).then_some(true);
                draft.states.push(DraftState::new(state, halting));
            }
            draft.states[place].rules.extend(rule);
        }
        let mut alphabets = Vec::new();
        for tape in 0..self.n_tapes.unwrap_or(1) {
            let named = draft.named(tape);
            alphabets.push(collected_alphabet(BLANK, named, false, inputs.get(tape), &mut draft.findings));
        }
        draft.add_tapes(alphabets);
        draft
    }

    /// Reports missing parts, unless the file has other errors.
    fn check_complete(&mut self, end: Range<usize>, accepting: &HashSet<&str>) {
        if self.findings.count() > 0 {
            return;
        }
        let has_rule = |name: &str| self.rules.iter().any(|(state, _)| state.text == name);
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
        if self.rules.is_empty() && self.findings.count() == 0 {
            let message = "the machine has no rule, so one blank tape is assumed";
            self.findings.warning(end, message, "the file ends here");
        }
    }
}

/// The limits of the format. It has no declarations, so states and symbols that no line mentions are lost.
pub(super) const LIMITS: Limits = Limits {
    has_one_tape: false,
    may_reject: false,
    lists_states: false,
    symbol_problem: |alphabet, symbol| spelling_problem(alphabet, symbol, character_problem),
    name_problem: |name| {
        let is_header = header(&format!("{name},")).is_some();
        let is_invalid =
            !fits_on_line(name) || name.contains(',') || is_header || name.starts_with('\u{feff}');
        is_invalid.then(|| format!("the name `{}` would not be read back as one", name.escape_debug()))
    },
    expands: |_| true,
    keeps_unnamed: |_, _| false,
    ..Limits::WIDE
};

/// Writes a machine without its input.
///
/// # Errors
/// If there are several tapes but no rules, which determine their number.
pub(super) fn write(machine: &Machine) -> Result<String, Obstacle> {
    if machine.n_rules() == 0 && machine.n_tapes() > 1 {
        return Err(Obstacle::Tapes("as many tapes as their first rule reads", machine.n_tapes()));
    }
    let name_of = |state: StateId| machine.state(state).name.as_str();
    let mut text = String::new();
    if let Some(name) = machine.name().filter(|name| fits_on_line(name)) {
        text += &format!("name: {name}\n");
    }
    text += &format!("init: {}\n", name_of(machine.start()));
    let accepting = machine.state_ids().filter(|&state| machine.halting(state) == Some(true));
    let accepting: Vec<&str> = accepting.map(name_of).collect();
    if !accepting.is_empty() {
        text += &format!("accept: {}\n", accepting.join(","));
    }
    for (state, rule) in machine.all_rules() {
        let spelled = |ids: &mut dyn Iterator<Item = SymbolId>| -> String {
            let names = ids.zip(machine.tapes()).map(|(symbol, tape)| match &tape.alphabet {
                alphabet if symbol == alphabet.blank() => BLANK,
                alphabet => alphabet.name(symbol),
            });
            names.map(|name| format!(",{name}")).collect()
        };
        let reads = spelled(&mut rule.reads.iter().filter_map(|read| read.symbol()));
        let writes = spelled(&mut rule.writes.iter().filter_map(|write| write.symbol()));
        let moves: String = rule.moves.iter().map(|head| head.spelled([",<", ",-", ",>"])).collect();
        text += &format!("\n{}{reads}\n{}{writes}{moves}\n", name_of(state), name_of(rule.next));
    }
    Ok(text)
}

/// Why a character cannot be a symbol.
fn character_problem(c: char) -> Option<String> {
    let problem = match c {
        ',' => "the symbol `,` separates there",
        '_' => "the symbol `_` is the blank there",
        c if c.is_whitespace() => "space is not a symbol there",
        _ => return None,
    };
    Some(problem.to_owned())
}

fn fits_on_line(name: &str) -> bool {
    !name.is_empty() && name == name.trim() && !name.contains('\n') && !name.contains("//")
}
