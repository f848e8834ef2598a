//! Morphett's quintuples: `0 1 _ r 1i ; comment`, one rule per line.
//!
//! A rule is a state, the symbol read, the symbol written, a direction (`l`, `r`, `*`), the new state, and optionally `!`
//! (a breakpoint).
//!
//! What an import does:
//! - The only tape is called `tape`; its symbols are `_`, the blank, and the other characters in the rules and the
//!   initial tape, sorted.
//! - A comment `; $INITIAL_TAPE: 10*01` is the input, as on the site: a space is a blank, the first `*` marks the head.
//! - The machine starts in `0` or in [`ReadOptions::start`](super::ReadOptions::start): the site has a field for that, the
//!   file does not. States with rules come first, in the order of their first rules, then states that rules only enter,
//!   then halting states in the order in which rules enter them.
//! - A state whose name begins with `halt`, in any case, halts. It accepts unless its name contains `reject`.
//!   A rule of such a state is never used: a warning.
//! - `*` as symbol read or as state matches any; as symbol written or as new state it means unchanged; as direction, stay.
//!   Every running state gets its own rules in the order of precedence: (state, symbol), (state, `*`), (`*`, symbol),
//!   (`*`, `*`). Rules that never apply are omitted.
//! - Of two rules for the same state and symbol the last one counts: a warning.
//! - If no rule applies, the machine halts, and that counts as a step: a last rule goes to `halt-no-rule`, which does not
//!   accept. The site reports "Halted. No rule for state …".
//! - Breakpoints are ignored.
//!
//! What an export does:
//! - The blank becomes `_` and the start state `0`; a symbol or state that had this name gets the other's. Names of halting
//!   states get a prefix (`halt-…`, `halt-reject-…`) if they need one, names of running states lose theirs, and blank
//!   space or `;` in names becomes `-`.
//! - A machine that stops without a step where no rule applies is refused, because here that takes a step.
//! - The input is written as a comment with `$INITIAL_TAPE`.

use std::{
    collections::{BTreeSet, HashMap},
    ops::Range,
};

use super::{
    Draft, DraftRule, DraftState, Limits, Loaded, Obstacle, Piece, ReadOptions, check_symbol,
    collected_alphabet, distinct, first_free, head_move, lines, listed, only_character, unnamed_symbols,
};
use crate::{
    Alphabet, Diagnostic, Input, Machine, Missing, Move, Pattern, Rule, StateId, SymbolId,
    diagnostic::Findings,
};

const BLANK: &str = "_";
const ANY: &str = "*";
const START: &str = "0";
const HALT: &str = "halt";
/// The word before the input in a comment.
const INITIAL_TAPE: &str = "$INITIAL_TAPE";
/// The state that the machine enters if no rule applies.
pub(super) const NO_RULE: &str = "halt-no-rule";

/// Whether a state with this name halts.
fn halts(name: &str) -> bool {
    name.get(..HALT.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(HALT))
}

/// Whether a halting state with this name accepts.
fn accepts(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    !name.contains("reject") && name != NO_RULE
}

/// A rule and the number of its line.
struct Quintuple<'t> {
    line: usize,
    /// Where the whole rule is.
    span: Range<usize>,
    state: Piece<'t>,
    read: Piece<'t>,
    write: Piece<'t>,
    head: Move,
    next: Piece<'t>,
}

/// The quintuples of each state, by precedence: those for a symbol, then that for any symbol.
type ByState<'t, 'q> = HashMap<&'t str, [Vec<&'q Quintuple<'t>>; 2]>;

/// Reads a machine. Characters of the input that no rule mentions become symbols, which `*` matches.
pub(super) fn read(text: &str, options: &ReadOptions) -> Result<Loaded, Vec<Diagnostic>> {
    let mut log = Findings::default();
    let numbered = (1..).zip(lines(text));
    let quintuples: Vec<Quintuple> =
        numbered.filter_map(|(line, piece)| quintuple(line, &piece, &mut log)).collect();
    let start = options.start.as_deref();
    if quintuples.is_empty() && log.n_errors == 0 {
        log.error(0..text.len(), "there is no rule in this text", "nothing but blank space and comments")
            .remedy("a rule is a line such as `0 1 _ r 0`");
    } else if log.n_errors == 0 {
        check_start(&quintuples, start, &mut log);
    }
    let by_state = by_state(&quintuples, &mut log);
    let initial = initial_tape(text, &mut log);
    let in_rules = quintuples.iter().flat_map(|q| [&q.read, &q.write]).filter(|symbol| symbol.text != ANY);
    let named = in_rules.chain(initial.iter().flat_map(|(symbols, _)| symbols)).cloned();
    let alphabet = collected_alphabet(BLANK, named, true, options.inputs.first(), &mut log);
    let n_symbols = alphabet.len();

    let mut draft = Draft::new(Missing::Reject, |name| Ok(halts(name).then(|| accepts(name))), log);
    draft.add_tapes(vec![alphabet]);
    if let Some((symbols, head)) = &initial {
        draft.set_input(symbols.iter().map(|symbol| symbol.text), *head);
    }
    let own = quintuples.iter().map(|q| q.state.text);
    let named = own.chain(quintuples.iter().map(|q| q.next.text)).filter(|name| *name != ANY);
    for text in distinct([start.unwrap_or(START)].into_iter().chain(named).filter(|name| !halts(name))) {
        let mut state = DraftState::new(Piece { text, span: 0..0 }, None);
        state.rules = resolved(&state.key, &by_state, n_symbols);
        draft.states.push(state);
    }
    draft.resolve(text)
}

/// Reports a start state without rules.
fn check_start(quintuples: &[Quintuple<'_>], option: Option<&str>, log: &mut Findings) {
    let start = option.unwrap_or(START);
    if quintuples.iter().any(|q| q.state.text == ANY || q.state.text == start) && !halts(start) {
        return;
    }
    let named = quintuples.iter().map(|q| q.state.text);
    let states = listed(distinct(named.filter(|name| *name != ANY && !halts(name))), " ");
    let (span, label) = (&quintuples[0].span, "the first rule is for another state");
    if option.is_some() {
        let message = format!("no rule is for the start state `{start}`");
        return log.error(span, message, label).remedy(format!("the states with rules are {states}"));
    }
    let message = "the start state `0` has no rule, so the machine dies after one step";
    let help = "machines start in `0` unless another start is asked for with --start";
    log.warning(span, message, label).remedy(format!("{help}; the states with rules are {states}"));
}

/// Parses one line and reports its errors.
fn quintuple<'t>(line: usize, piece: &Piece<'t>, log: &mut Findings) -> Option<Quintuple<'t>> {
    const HELP: &str = "the order is: state, symbol read, symbol written, direction, new state";
    let all = piece.before(";").trimmed();
    let n_findings = log.count();
    let words = all.words();
    let [state, read, write, head, next, rest @ ..] = words.as_slice() else {
        if !words.is_empty() {
            let message = format!("a rule has five parts, this one has {}", words.len());
            let label = "expected state, symbol read, symbol written, direction, new state";
            log.error(&all.span, message, label);
        }
        return None;
    };
    if let Some(extra) = rest.first()
        && (rest.len() > 1 || extra.text != "!")
    {
        log.error(extra.span.start..all.span.end, "a rule has five parts and perhaps `!`", "more than that")
            .remedy("a comment begins with `;`");
    }
    check_symbol(read, "the symbol to read", HELP, log);
    check_symbol(write, "the symbol to write", HELP, log);
    let lower = head.text.to_ascii_lowercase();
    let head = head_move(&Piece { text: &lower, span: head.span.clone() }, ["l", ANY, "r"], log)?;
    let [state, read, write, next] = [state, read, write, next].map(Piece::clone);
    (log.count() == n_findings).then_some(Quintuple { line, span: all.span, state, read, write, head, next })
}

/// Sorts quintuples by state. Of those for the same symbol only the last counts.
fn by_state<'t, 'q>(quintuples: &'q [Quintuple<'t>], log: &mut Findings) -> ByState<'t, 'q> {
    let mut last: HashMap<[&str; 2], &Quintuple> = HashMap::new();
    for quintuple in quintuples {
        let Quintuple { state: Piece { text: state, .. }, read: Piece { text: read, .. }, span, .. } =
            quintuple;
        if halts(state) {
            let message = format!("state `{state}` halts, so this rule is never used");
            log.warning(span, message, "states that begin with `halt` halt");
        }
        if let Some(earlier) = last.insert([state, read], quintuple) {
            let message =
                format!("another rule for state `{state}` and symbol `{read}`: the last one counts");
            log.warning(span, message, format!("replaces the rule in line {}", earlier.line));
        }
    }
    let mut by_state = ByState::new();
    for quintuple in quintuples {
        let (state, read) = (quintuple.state.text, quintuple.read.text);
        if last[&[state, read]].line == quintuple.line {
            by_state.entry(state).or_default()[usize::from(read == ANY)].push(quintuple);
        }
    }
    by_state
}

/// Reads the first comment with `$INITIAL_TAPE`: its symbols and the cell of the head. A space is a blank, and the first `*`
/// marks the head. A tape with characters that cannot be symbols is ignored with a warning.
fn initial_tape<'t>(text: &'t str, log: &mut Findings) -> Option<(Vec<Piece<'t>>, i64)> {
    let mut found = None;
    for tape in lines(text).filter_map(|line| tape_comment(&line)) {
        if found.is_some() {
            log.warning(tape.span, "a second initial tape: the first one counts", "ignored");
            continue;
        }
        let mut symbols = tape.characters();
        let marked = symbols.iter().position(|symbol| symbol.text == "*");
        if let Some(head) = marked {
            symbols.remove(head);
        }
        symbols.iter_mut().filter(|symbol| symbol.text == " ").for_each(|blank| blank.text = BLANK);
        let is_invalid = |c: char| c == '*' || c == ';' || c.is_whitespace() || c.is_control();
        let odd: BTreeSet<&str> = symbols.iter().map(|s| s.text).filter(|s| s.contains(is_invalid)).collect();
        if let Some(odd) = odd.first() {
            let problem = format!("no rule can name the symbol `{}`", odd.escape_debug());
            let message = format!("the initial tape is ignored: {problem}");
            log.warning(tape.span, message, "not used");
            continue;
        }
        found = Some((symbols, i64::try_from(marked.unwrap_or(0)).unwrap_or(i64::MAX)));
    }
    found
}

/// The initial tape in the comment of a line.
fn tape_comment<'t>(line: &Piece<'t>) -> Option<Piece<'t>> {
    let (_, comment) = line.text.split_once(';')?;
    let (_, rest) = comment.split_once(INITIAL_TAPE)?;
    let tape = rest.strip_prefix(':').unwrap_or(rest).trim();
    (!tape.is_empty()).then(|| line.part(tape))
}

/// The rules of a state in order of precedence, without those that never apply: its own, then those of `*`.
fn resolved<'t>(state: &Piece<'t>, by_state: &ByState<'t, '_>, n_symbols: usize) -> Vec<DraftRule<'t>> {
    let mut rules = Vec::new();
    let mut covered = BTreeSet::new();
    let mut all_covered = false;
    let groups = [state.text, ANY].into_iter().filter_map(|name| by_state.get(name));
    for Quintuple { read, write, head, next, span, .. } in groups.flatten().flatten() {
        if all_covered || read.text != ANY && !covered.insert(read.text) {
            continue;
        }
        all_covered = read.text == ANY || covered.len() == n_symbols;
        let [reads, writes] = [read, write].map(|s| vec![Some(s).filter(|s| s.text != ANY).cloned()]);
        let next = if next.text == ANY { state } else { next }.clone();
        rules.push(DraftRule { reads, writes, moves: vec![*head], next, span: span.clone() });
    }
    if !all_covered {
        let next = Piece { text: NO_RULE, span: 0..0 };
        let (reads, writes, moves) = (vec![None], vec![None], vec![Move::Stay]);
        rules.push(DraftRule { reads, writes, moves, next, span: 0..0 });
    }
    rules
}

/// The limits of the format.
pub(super) const LIMITS: Limits =
    Limits { missing: None, start_may_halt: false, symbol_problem, ..Limits::WIDE };

/// Writes a machine, and its input as a comment.
///
/// # Errors
/// If the input cannot be written.
pub(super) fn write(machine: &Machine, input: Option<&Input>) -> Result<String, Obstacle> {
    let alphabet = &machine.tapes()[0].alphabet;
    let symbols: Vec<&str> = alphabet.symbols().map(|symbol| spelled_symbol(alphabet, symbol)).collect();
    let mut running: Vec<StateId> = machine.state_ids().filter(|&q| machine.halting(q).is_none()).collect();
    running.sort_by_key(|&q| q != machine.start());
    let states = spell_states(machine);

    let line = |state: StateId, read: Pattern, rule: &Rule| {
        let spelled = |symbol: Option<SymbolId>| symbol.map_or(ANY, |symbol| symbols[symbol.index()]);
        let (read, write) = (spelled(read.symbol()), spelled(rule.writes[0].symbol()));
        let head = rule.moves[0].spelled(["l", ANY, "r"]);
        let (state, next) = (&states[state.index()], &states[rule.next.index()]);
        format!("{state} {read} {write} {head} {next}\n")
    };
    let mut text = input.map_or(Ok(String::new()), |input| tape_line(&symbols, input))?;
    // A symbol that only wildcards match would be lost, so the start state gets an extra rule for it.
    for symbol in unnamed_symbols(machine, 0) {
        if let Some(rule) = machine.rule_for(machine.start(), &[symbol]) {
            text.push_str(&line(machine.start(), Pattern::Is(symbol), rule));
        }
    }
    for &state in &running {
        for rule in machine.rules(state) {
            text.push_str(&line(state, rule.reads[0], rule));
        }
    }
    Ok(text)
}

/// The comment with the input; empty for a blank input.
fn tape_line(symbols: &[&str], input: &Input) -> Result<String, Obstacle> {
    let refused = |reason: &str| Obstacle::Input(reason.to_owned());
    let laid = match input.tapes.as_slice() {
        [] => return Ok(String::new()),
        [tape] => tape,
        _ => return Err(refused("there is only one tape")),
    };
    let head =
        usize::try_from(laid.head).map_err(|_| refused("the head starts to the left of its first cell"))?;
    let tape: Option<Vec<&str>> = laid.symbols.iter().map(|s| symbols.get(s.index()).copied()).collect();
    let mut tape = tape.ok_or_else(|| refused("it has symbols that the tape does not have"))?;
    if head > 0 {
        tape.resize(tape.len().max(head), BLANK);
        tape.insert(head, "*");
    }
    Ok(match tape.is_empty() {
        true => String::new(),
        false => format!("; {INITIAL_TAPE}: {}\n", tape.concat()),
    })
}

/// The spelling of a symbol: the blank is `_`, and a symbol with that name gets the blank's name.
fn spelled_symbol(alphabet: &Alphabet, symbol: SymbolId) -> &str {
    match alphabet.name(symbol) {
        _ if symbol == alphabet.blank() => BLANK,
        BLANK => alphabet.name(alphabet.blank()),
        name => name,
    }
}

fn symbol_problem(alphabet: &Alphabet, symbol: SymbolId) -> Option<String> {
    let (own, name) = (alphabet.name(symbol), spelled_symbol(alphabet, symbol));
    let fits = only_character(name).is_some_and(|c| c != '*' && c != ';' && !c.is_whitespace());
    (!fits).then(|| {
        format!(
            "symbol `{own}` would be `{name}`, but a symbol is one character other than `*`, `;` and blank space"
        )
    })
}

/// The names of the states, which determine whether they halt and accept; the start is `0`.
fn spell_states(machine: &Machine) -> Vec<String> {
    let start = machine.start();
    let fits = |state: StateId, name: &str| match machine.halting(state) {
        Some(accepting) => halts(name) && accepts(name) == accepting,
        None => !halts(name),
    };
    let wish = |state: StateId| match machine.state(state).name.as_str() {
        START => machine.state(start).name.as_str(),
        name => name,
    };
    let can_stay = |state: StateId| spelled(wish(state)) == wish(state) && fits(state, wish(state));
    // Names that need no change are assigned first, so that no changed name takes them.
    let mut others: Vec<StateId> = machine.state_ids().filter(|&state| state != start).collect();
    others.sort_by_key(|&state| !can_stay(state));
    let mut taken = BTreeSet::from([START.to_owned()]);
    let mut names = vec![START.to_owned(); machine.states().len()];
    for state in others {
        let name = spelled(wish(state));
        let prefix = match machine.halting(state) {
            _ if fits(state, &name) => "",
            None => "run-",
            Some(false) => "halt-reject-",
            Some(true) => "halt-",
        };
        let stem = format!("{prefix}{name}");
        // The name of an accepting state must not contain `reject`.
        let stem = if fits(state, &stem) { stem } else { "halt-accept".to_owned() };
        names[state.index()] = first_free(&stem, |name| taken.insert(name.to_owned()));
    }
    names
}

/// The name with `-` in place of blank space and `;`.
fn spelled(name: &str) -> String {
    match name {
        "" | ANY => "state".to_owned(),
        name => name.chars().map(|c| if c == ';' || c.is_whitespace() { '-' } else { c }).collect(),
    }
}

#[cfg(test)]
mod tests;
