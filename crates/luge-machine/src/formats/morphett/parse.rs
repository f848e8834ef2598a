//! Reading the lines: first into quintuples with their places, then state by state into a machine.

use std::{
    collections::{BTreeSet, HashMap},
    ops::Range,
};

use super::{ANY, BLANK, INITIAL_TAPE, NO_RULE, START, accepts, halts};
use crate::{
    Diagnostic, Input, Machine, MachineBuilder, Move, Pattern, StateId, TapeInput, Write,
    diagnostic::Findings,
    formats::{
        Characters, Loaded, MAX_SYMBOLS, Piece, distinct, finish, lines, listed, numbered, only_character,
    },
    input::{laid_characters, without_head},
};

/// A symbol, or `None` for `*`.
type Symbol = Option<char>;

/// What a line says of a symbol read; without a next state the machine keeps its own.
#[derive(Clone, Copy)]
struct Action<'t> {
    read: Symbol,
    write: Symbol,
    head: Move,
    next: Option<&'t str>,
}

/// One line; its state is `None` for `*`.
struct Quintuple<'t> {
    line: usize,
    span: Range<usize>,
    state: Option<&'t str>,
    action: Action<'t>,
}

/// The quintuples that count, by state.
type ByState<'t, 'q> = HashMap<Option<&'t str>, Vec<&'q Quintuple<'t>>>;

/// Reads a machine that starts in `0`, or in another state, as the site's field for the initial state allows. Its tape may also hold
/// the characters of an input that no rule names: `*` matches them, and where no rule does the machine dies.
pub(in crate::formats) fn read(
    text: &str,
    start: Option<&str>,
    inputs: &[String],
) -> Result<Loaded, Vec<Diagnostic>> {
    let mut log = Findings::default();
    let words = (1..).zip(lines(text)).map(|(number, line)| (number, line.before(";").words()));
    let quintuples: Vec<Quintuple> =
        words.filter_map(|(number, words)| quintuple(number, &words, &mut log)).collect();
    let by_state = by_state(&quintuples, &mut log);
    let named = named_symbols(&quintuples, &mut log);
    let laid = initial_tape(text, &named, &mut log);
    let mut symbols = Characters::new(BLANK, named.into_iter().chain(laid.into_iter().flat_map(on_tape)));
    symbols.admit(inputs.first().into_iter().flat_map(|input| laid_characters(input)));
    if quintuples.is_empty() && !log.has_errors() {
        log.error(0..text.len(), "there is no rule in this text", "nothing but blank space and comments")
            .remedy("a rule is a line such as `0 1 _ r 0`");
    } else if !log.has_errors() {
        check_start(&quintuples, start, &mut log);
    }

    let mut builder = Machine::builder();
    builder.tape("tape", symbols.alphabet());
    let start = start.unwrap_or(START);
    if symbols.as_slice().len() <= MAX_SYMBOLS && !halts(start) {
        add_rules(&mut builder, start, &quintuples, &by_state, &symbols);
    }
    let input = laid.map(|laid| {
        let before = laid.split_once('*').map_or(0, |(before, _)| before.chars().count());
        let head = i64::try_from(before).unwrap_or(i64::MAX);
        Input { tapes: vec![TapeInput { symbols: on_tape(laid).map(|c| symbols.id(c)).collect(), head }] }
    });
    finish(builder, input, log, text)
}

/// Whether any rule is for the state the machine starts in.
fn check_start(quintuples: &[Quintuple<'_>], asked: Option<&str>, log: &mut Findings) {
    let start = asked.unwrap_or(START);
    if quintuples.iter().any(|q| q.state.is_none_or(|name| name == start)) && !halts(start) {
        return;
    }
    let states = distinct(quintuples.iter().filter_map(|q| q.state).filter(|name| !halts(name)));
    let states = listed(states, " ");
    let (span, label) = (&quintuples[0].span, "the first rule is for another state");
    if asked.is_some() {
        let message = format!("no rule is for the start state `{start}`");
        return log.error(span, message, label).remedy(format!("the states with rules are {states}"));
    }
    let message = "the start state `0` has no rule, so the machine dies after one step";
    let help = "machines start in `0` unless another start is asked for with --start";
    log.warning(span, message, label).remedy(format!("{help}; the states with rules are {states}"));
}

/// Reads the words of one line; anything wrong with them is noted.
fn quintuple<'t>(line: usize, words: &[Piece<'t>], log: &mut Findings) -> Option<Quintuple<'t>> {
    let (first, last) = (words.first()?, words.last()?);
    let span = first.span.start..last.span.end;
    let [state, read, write, head, next, rest @ ..] = words else {
        let message = format!("a rule has five parts, this one has {}", words.len());
        log.error(span, message, "expected state, symbol read, symbol written, direction, new state");
        return None;
    };
    let n_findings = log.count();
    if let Some(extra) = rest.first()
        && (rest.len() > 1 || extra.text != "!")
    {
        log.error(extra.span.start..span.end, "a rule has five parts and perhaps `!`", "more than that")
            .remedy("a comment begins with `;`");
    }
    let read = symbol(read, "symbol to read", log);
    let write = symbol(write, "symbol to write", log);
    let direction = Move::named(&head.text.to_ascii_lowercase(), ["l", ANY, "r"]);
    if direction.is_none() {
        let message = format!("`{}` is not a direction", head.text);
        log.error(&head.span, message, "expected `l`, `r`, or `*` to stay");
    }
    let name = |word: &Piece<'t>| (word.text != ANY).then_some(word.text);
    let action = Action { read, write, head: direction?, next: name(next) };
    (log.count() == n_findings).then_some(Quintuple { line, span, state: name(state), action })
}

fn symbol(word: &Piece<'_>, what: &str, log: &mut Findings) -> Symbol {
    let character = only_character(word.text);
    if character.is_none() {
        let message = format!("the {what} must be one character, not `{}`", word.text);
        log.error(&word.span, message, "more than one character")
            .remedy("the order is: state, symbol read, symbol written, direction, new state");
    }
    character.filter(|_| word.text != ANY)
}

/// Of the quintuples for the same state and symbol, the last counts.
fn by_state<'t, 'q>(quintuples: &'q [Quintuple<'t>], log: &mut Findings) -> ByState<'t, 'q> {
    let mut last: HashMap<(Option<&str>, Symbol), &Quintuple> = HashMap::new();
    for quintuple in quintuples {
        let state = quintuple.state.unwrap_or(ANY);
        if quintuple.state.is_some_and(halts) {
            let message = format!("state `{state}` halts, so this rule is never used");
            log.warning(&quintuple.span, message, "states that begin with `halt` halt");
        }
        if let Some(earlier) = last.insert((quintuple.state, quintuple.action.read), quintuple) {
            let read = quintuple.action.read.map_or(ANY.to_owned(), |c| c.to_string());
            let message =
                format!("another rule for state `{state}` and symbol `{read}`: the last one counts");
            let label = format!("replaces the rule in line {}", earlier.line);
            log.warning(&quintuple.span, message, label);
        }
    }
    let mut by_state = ByState::new();
    for quintuple in quintuples {
        if std::ptr::eq(last[&(quintuple.state, quintuple.action.read)], quintuple) {
            by_state.entry(quintuple.state).or_default().push(quintuple);
        }
    }
    by_state
}

/// All symbols that rules name, other than the blank.
fn named_symbols(quintuples: &[Quintuple<'_>], log: &mut Findings) -> BTreeSet<char> {
    let mut seen = BTreeSet::new();
    for Quintuple { action, span, .. } in quintuples {
        for symbol in [action.read, action.write].into_iter().flatten().filter(|&c| c != BLANK) {
            if seen.insert(symbol) && seen.len() == MAX_SYMBOLS {
                let message = format!("more than {MAX_SYMBOLS} symbols");
                log.error(span, message, format!("`{symbol}` is one too many"));
            }
        }
    }
    seen
}

/// The characters that a comment lays on the tape: a space is a blank, the first `*` marks the head.
fn on_tape(laid: &str) -> impl Iterator<Item = char> {
    without_head(laid).map(|c| if c == ' ' { BLANK } else { c })
}

/// The initial tape that the first such comment gives. One that no rule could read is ignored with a warning.
fn initial_tape<'t>(text: &'t str, named: &BTreeSet<char>, log: &mut Findings) -> Option<&'t str> {
    let mut found = None;
    for Piece { span, text } in lines(text).filter_map(|line| tape_comment(&line)) {
        if found.is_some() {
            log.warning(span, "a second initial tape: the first one counts", "ignored");
            continue;
        }
        let symbols: BTreeSet<char> = on_tape(text).filter(|&c| c != BLANK).collect();
        let odd = symbols.iter().find(|&&c| c == '*' || c == ';' || c.is_whitespace() || c.is_control());
        let problem = match odd {
            Some(odd) => format!("no rule can name the symbol `{}`", odd.escape_debug()),
            None if symbols.union(named).count() >= MAX_SYMBOLS => {
                format!("a machine has at most {MAX_SYMBOLS} symbols")
            }
            None => {
                found = Some(text);
                continue;
            }
        };
        log.warning(span, format!("the initial tape is ignored: {problem}"), "not laid on the tape");
    }
    found
}

/// The tape that the comment of a line gives.
fn tape_comment<'t>(line: &Piece<'t>) -> Option<Piece<'t>> {
    let (_, comment) = line.text.split_once(';')?;
    let (_, rest) = comment.split_once(INITIAL_TAPE)?;
    let tape = rest.strip_prefix(':').unwrap_or(rest).trim();
    (!tape.is_empty()).then(|| line.part(tape))
}

fn add_rules<'t>(
    builder: &mut MachineBuilder,
    start: &'t str,
    quintuples: &[Quintuple<'t>],
    by_state: &ByState<'t, '_>,
    symbols: &Characters,
) {
    let own = quintuples.iter().filter_map(|q| q.state);
    let entered = quintuples.iter().filter_map(|q| q.action.next);
    let running = distinct([start].into_iter().chain(own).chain(entered).filter(|name| !halts(name)));
    let mut states = numbered(&running);
    for &name in &running {
        builder.push_state(name.to_owned());
    }
    let of = |state: Option<&'t str>| by_state.get(&state).map_or(&[][..], Vec::as_slice);
    for (&name, id) in running.iter().zip(0..) {
        for Action { read, write, head, next } in resolved(of(Some(name)), of(None), symbols.as_slice().len())
        {
            let next = next.unwrap_or(name);
            let next = *states.entry(next).or_insert_with(|| {
                let state = builder.push_state(next.to_owned());
                builder.halt_in(state, accepts(next));
                state
            });
            let read = read.map_or(Pattern::Any, |c| Pattern::Is(symbols.id(c)));
            let write = write.map_or(Write::Keep, |c| Write::Put(symbols.id(c)));
            builder.rule(StateId(id), [read], [write], [head], next);
        }
    }
}

/// The rules of one state in order of precedence, without those that can never apply.
///
/// `own` are the state's quintuples and `shared` those of state `*`, each without duplicates.
fn resolved<'t>(own: &[&Quintuple<'t>], shared: &[&Quintuple<'t>], n_symbols: usize) -> Vec<Action<'t>> {
    let mut rules = Vec::new();
    let mut covered = BTreeSet::new();
    let mut all_covered = false;
    for group in [own, shared] {
        let actions = || group.iter().map(|quintuple| quintuple.action);
        let specific = actions().filter(|action| action.read.is_some());
        for action in specific.chain(actions().filter(|action| action.read.is_none())) {
            if action.read.is_none_or(|symbol| covered.insert(symbol)) && !all_covered {
                all_covered = action.read.is_none() || covered.len() == n_symbols;
                rules.push(action);
            }
        }
    }
    if !all_covered {
        rules.push(Action { read: None, write: None, head: Move::Stay, next: Some(NO_RULE) });
    }
    rules
}
