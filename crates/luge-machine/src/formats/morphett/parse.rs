//! Reading the lines: first into quintuples with their places, then state by state into a machine.

use std::{
    collections::{BTreeSet, HashMap},
    ops::Range,
};

use super::{ANY, BLANK, NO_RULE, START, accepts, halts, tape};
use crate::{
    Alphabet, Diagnostic, Machine, MachineBuilder, Move, Pattern, Rule, StateId, SymbolId, Write,
    diagnostic::Findings,
    formats::{
        Loaded, MAX_SYMBOLS, finish,
        pieces::{Piece, lines, listed},
    },
    input::laid_characters,
};

/// A symbol, or `*`.
type Symbol = Option<char>;

/// One line; `None` stands for `*`.
struct Quintuple<'t> {
    line: usize,
    span: Range<usize>,
    state: Option<&'t str>,
    read: Symbol,
    write: Symbol,
    head: Move,
    next: Option<&'t str>,
}

/// Which quintuple counts for a state and a symbol, `None` standing for `*`.
type Winners<'t, 'q> = HashMap<(Option<&'t str>, Symbol), &'q Quintuple<'t>>;

/// Reads a machine that starts in `0`, or in another state, as the site's field for the initial state allows. Its tape may also hold
/// the characters of an input that no rule names: `*` matches them, and where no rule does the machine dies.
pub(in crate::formats) fn read(
    text: &str,
    start: Option<&str>,
    inputs: &[String],
) -> Result<Loaded, Vec<Diagnostic>> {
    let mut findings = Findings::default();
    let quintuples = quintuples(text, &mut findings);
    let winners = winners(&quintuples, &mut findings);
    let named = named_symbols(&quintuples, &mut findings);
    let laid = tape::initial(text, &named, &mut findings);
    let on_tape = laid.iter().flat_map(tape::Laid::characters);
    let known: BTreeSet<char> = named.into_iter().chain(on_tape).filter(|&c| c != BLANK).collect();
    let mut symbols: Vec<char> = [BLANK].into_iter().chain(known).collect();
    for character in inputs.first().into_iter().flat_map(|input| laid_characters(input)) {
        if !symbols.contains(&character) && symbols.len() < MAX_SYMBOLS {
            symbols.push(character);
        }
    }
    if quintuples.is_empty() && !findings.has_errors() {
        findings
            .error(0..text.len(), "there is no rule in this text", "nothing but blank space and comments")
            .remedy("a rule is a line such as `0 1 _ r 0`");
    } else if !findings.has_errors() {
        check_start(&quintuples, start, &mut findings);
    }

    let mut builder = Machine::builder();
    let names = symbols.iter().map(char::to_string);
    builder.tape("tape", Alphabet::new(names, SymbolId(0)));
    let start = start.unwrap_or(START);
    if symbols.len() <= MAX_SYMBOLS && !halts(start) {
        add_rules(&mut builder, start, &quintuples, &winners, &symbols);
    }
    let input = laid.map(|laid| laid.input(&symbols));
    finish(builder, input, findings, text)
}

/// Whether any rule is for the state the machine starts in.
fn check_start(quintuples: &[Quintuple<'_>], asked: Option<&str>, findings: &mut Findings) {
    let start = asked.unwrap_or(START);
    if quintuples.iter().any(|q| q.state.is_none_or(|name| name == start)) && !halts(start) {
        return;
    }
    let span = quintuples[0].span.clone();
    let mut seen = BTreeSet::new();
    let states = quintuples.iter().filter_map(|q| q.state).filter(|name| !halts(name) && seen.insert(*name));
    let states = listed(states, " ");
    findings.push(match asked {
        Some(_) => {
            let message = format!("no rule is for the start state `{start}`");
            Diagnostic::error(span, message, "the first rule is for another state")
                .with_help(format!("the states with rules are {states}"))
        }
        None => Diagnostic::warning(
            span,
            "the start state `0` has no rule, so the machine dies after one step",
            "the first rule is for another state",
        )
        .with_help(format!(
            "machines start in `0` unless another start is asked for with --start; the states with rules are {states}"
        )),
    });
}

/// The words before the comment, of every line that has any, as rules.
fn quintuples<'t>(text: &'t str, findings: &mut Findings) -> Vec<Quintuple<'t>> {
    let numbered = (1..).zip(lines(text)).map(|(number, line)| (number, line.before(";").words()));
    numbered.filter_map(|(number, words)| quintuple(number, &words, findings)).collect()
}

/// Reads one line; anything wrong with it is noted.
fn quintuple<'t>(line: usize, words: &[Piece<'t>], findings: &mut Findings) -> Option<Quintuple<'t>> {
    let [first, .., last] = words else {
        findings.extend(words.first().map(|word| wrong_length(word.span.clone(), 1)));
        return None;
    };
    let span = first.span.start..last.span.end;
    let [state, read, write, head, next, rest @ ..] = words else {
        findings.push(wrong_length(span, words.len()));
        return None;
    };
    let n_findings = findings.count();
    match rest {
        [] => {}
        [breakpoint] if breakpoint.text == "!" => {}
        [extra, ..] => {
            let span = extra.span.start..last.span.end;
            findings
                .error(span, "a rule has five parts and perhaps `!`", "more than that")
                .remedy("a comment begins with `;`");
        }
    }
    let read_symbol = symbol(read, "symbol to read", findings);
    let write_symbol = symbol(write, "symbol to write", findings);
    let direction = match head.text {
        "l" | "L" => Move::Left,
        "r" | "R" => Move::Right,
        ANY => Move::Stay,
        other => {
            let message = format!("`{other}` is not a direction");
            findings.error(&head.span, message, "expected `l`, `r`, or `*` to stay");
            Move::Stay
        }
    };
    let name = |word: &Piece<'t>| (word.text != ANY).then_some(word.text);
    (findings.count() == n_findings).then_some(Quintuple {
        line,
        span,
        state: name(state),
        read: read_symbol,
        write: write_symbol,
        head: direction,
        next: name(next),
    })
}

fn wrong_length(span: Range<usize>, found: usize) -> Diagnostic {
    let message = format!("a rule has five parts, this one has {found}");
    Diagnostic::error(span, message, "expected state, symbol read, symbol written, direction, new state")
}

fn symbol(word: &Piece<'_>, what: &str, findings: &mut Findings) -> Symbol {
    let mut characters = word.text.chars();
    let first = characters.next();
    if characters.next().is_some() {
        let message = format!("the {what} must be one character, not `{}`", word.text);
        findings
            .error(&word.span, message, "more than one character")
            .remedy("the order is: state, symbol read, symbol written, direction, new state");
    }
    first.filter(|_| word.text != ANY)
}

/// Of the quintuples for the same state and symbol, the last.
fn winners<'t, 'q>(quintuples: &'q [Quintuple<'t>], findings: &mut Findings) -> Winners<'t, 'q> {
    let mut winners = Winners::new();
    for quintuple in quintuples {
        let state = quintuple.state.unwrap_or(ANY);
        if quintuple.state.is_some_and(halts) {
            let message = format!("state `{state}` halts, so this rule is never used");
            findings.warning(&quintuple.span, message, "states that begin with `halt` halt");
        }
        if let Some(earlier) = winners.insert((quintuple.state, quintuple.read), quintuple) {
            let read = quintuple.read.map_or(ANY.to_owned(), |c| c.to_string());
            let message =
                format!("another rule for state `{state}` and symbol `{read}`: the last one counts");
            let label = format!("replaces the rule in line {}", earlier.line);
            findings.warning(&quintuple.span, message, label);
        }
    }
    winners
}

/// All symbols that rules name, other than the blank.
fn named_symbols(quintuples: &[Quintuple<'_>], findings: &mut Findings) -> BTreeSet<char> {
    let mut seen = BTreeSet::new();
    for quintuple in quintuples {
        for symbol in [quintuple.read, quintuple.write].into_iter().flatten().filter(|&c| c != BLANK) {
            if seen.insert(symbol) && seen.len() == MAX_SYMBOLS {
                let message = format!("more than {MAX_SYMBOLS} symbols");
                let label = format!("`{symbol}` is one too many");
                findings.error(&quintuple.span, message, label);
            }
        }
    }
    seen
}

/// The states that run: the start, those with rules of their own, those that are only entered.
fn running<'t>(start: &'t str, quintuples: &[Quintuple<'t>]) -> Vec<&'t str> {
    let mut seen = BTreeSet::new();
    let own = quintuples.iter().filter_map(|q| q.state);
    let entered = quintuples.iter().filter_map(|q| q.next);
    [start].into_iter().chain(own).chain(entered).filter(|name| !halts(name) && seen.insert(*name)).collect()
}

fn add_rules<'t>(
    builder: &mut MachineBuilder,
    start: &'t str,
    quintuples: &[Quintuple<'t>],
    winners: &Winners<'t, '_>,
    symbols: &[char],
) {
    let mut states: HashMap<&str, StateId> = HashMap::new();
    let running = running(start, quintuples);
    for &name in &running {
        states.insert(name, builder.push_state(name.to_owned()));
    }
    let mut own: HashMap<Option<&str>, Vec<&Quintuple<'t>>> = HashMap::new();
    for quintuple in quintuples {
        if std::ptr::eq(winners[&(quintuple.state, quintuple.read)], quintuple) {
            own.entry(quintuple.state).or_default().push(quintuple);
        }
    }
    let of = |state: Option<&'t str>| own.get(&state).map_or(&[][..], Vec::as_slice);
    for (&name, id) in running.iter().zip(0..) {
        for rule in resolved(of(Some(name)), of(None), symbols.len()) {
            let next = rule.next.unwrap_or(name);
            let next = *states.entry(next).or_insert_with(|| {
                let state = builder.push_state(next.to_owned());
                builder.halt_in(state, accepts(next));
                state
            });
            let find = |c: char| SymbolId::new(symbols.iter().position(|&s| s == c).unwrap_or(0));
            builder.push_rule(
                StateId(id),
                Rule {
                    reads: vec![rule.read.map_or(Pattern::Any, |c| Pattern::Is(find(c)))],
                    writes: vec![rule.write.map_or(Write::Keep, |c| Write::Put(find(c)))],
                    moves: vec![rule.head],
                    next,
                },
            );
        }
    }
}

/// A rule of one state after precedence; `next` is `None` where the state stays.
struct Resolved<'t> {
    read: Symbol,
    write: Symbol,
    head: Move,
    next: Option<&'t str>,
}

/// The rules of one state in order of precedence, without those that can never apply.
///
/// `own` are the state's quintuples and `shared` those of state `*`, each without duplicates.
fn resolved<'t>(own: &[&Quintuple<'t>], shared: &[&Quintuple<'t>], n_symbols: usize) -> Vec<Resolved<'t>> {
    let mut rules = Vec::new();
    let mut covered = BTreeSet::new();
    let mut all_covered = false;
    for group in [own, shared] {
        let specific = group.iter().filter(|q| q.read.is_some());
        let any = group.iter().filter(|q| q.read.is_none());
        for quintuple in specific.chain(any) {
            let new = match quintuple.read {
                Some(symbol) => covered.insert(symbol),
                None => true,
            };
            if !new || all_covered {
                continue;
            }
            all_covered = quintuple.read.is_none() || covered.len() == n_symbols;
            let (read, write) = (quintuple.read, quintuple.write);
            rules.push(Resolved { read, write, head: quintuple.head, next: quintuple.next });
        }
    }
    if !all_covered {
        rules.push(Resolved { read: None, write: None, head: Move::Stay, next: Some(NO_RULE) });
    }
    rules
}
