//! Reads quintuples, and orders the rules of each state by precedence.

use std::collections::{BTreeSet, HashMap};

use super::{ANY, BLANK, INITIAL_TAPE, NO_RULE, START, accepts, halts};
use crate::{
    Diagnostic, Missing, Move,
    diagnostic::Findings,
    formats::{
        Draft, DraftRule, DraftState, Loaded, Piece, ReadOptions, check_symbol, collected_alphabet, distinct,
        head_move, lines, listed,
    },
};

/// A rule and the number of its line.
struct Quintuple<'t> {
    line: usize,
    /// The whole rule.
    words: Piece<'t>,
    state: Piece<'t>,
    read: Piece<'t>,
    write: Piece<'t>,
    head: Move,
    next: Piece<'t>,
}

/// Reads a machine. Characters of the input that no rule mentions become symbols, which `*` matches.
pub(in crate::formats) fn read(text: &str, options: &ReadOptions) -> Result<Loaded, Vec<Diagnostic>> {
    let mut log = Findings::default();
    let numbered = (1..).zip(lines(text));
    let quintuples: Vec<Quintuple> =
        numbered.filter_map(|(line, piece)| quintuple(line, &piece, &mut log)).collect();
    let start = options.start.as_deref();
    if quintuples.is_empty() && !log.has_errors() {
        log.error(0..text.len(), "there is no rule in this text", "nothing but blank space and comments")
            .remedy("a rule is a line such as `0 1 _ r 0`");
    } else if !log.has_errors() {
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
        let [own, shared] = [text, ANY].map(|name| by_state.get(name).map_or(&[][..], Vec::as_slice));
        state.rules = resolved(&state.key, own, shared, n_symbols);
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
    let (span, label) = (&quintuples[0].words.span, "the first rule is for another state");
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
    (log.count() == n_findings).then_some(Quintuple { line, words: all, state, read, write, head, next })
}

/// The quintuples of each state. Of those for the same symbol only the last counts.
fn by_state<'t, 'q>(
    quintuples: &'q [Quintuple<'t>],
    log: &mut Findings,
) -> HashMap<&'t str, Vec<&'q Quintuple<'t>>> {
    let mut last: HashMap<[&str; 2], &Quintuple> = HashMap::new();
    for quintuple in quintuples {
        let Quintuple { state: Piece { text: state, .. }, read: Piece { text: read, .. }, .. } = quintuple;
        let span = &quintuple.words.span;
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
    let mut by_state: HashMap<&str, Vec<&Quintuple>> = HashMap::new();
    for quintuple in quintuples {
        if last[&[quintuple.state.text, quintuple.read.text]].line == quintuple.line {
            by_state.entry(quintuple.state.text).or_default().push(quintuple);
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

/// The rules of a state in order of precedence, without those that never apply.
///
/// `own` are the quintuples of the state and `shared` those of `*`, each without duplicates.
fn resolved<'t>(
    state: &Piece<'t>,
    own: &[&Quintuple<'t>],
    shared: &[&Quintuple<'t>],
    n_symbols: usize,
) -> Vec<DraftRule<'t>> {
    let mut rules = Vec::new();
    let mut covered = BTreeSet::new();
    let mut all_covered = false;
    for group in [own, shared] {
        let (specific, general): (Vec<&Quintuple>, Vec<&Quintuple>) =
            group.iter().copied().partition(|q| q.read.text != ANY);
        for Quintuple { read, write, head, next, words, .. } in specific.into_iter().chain(general) {
            let is_new = read.text == ANY || covered.insert(read.text);
            if !is_new || all_covered {
                continue;
            }
            all_covered = read.text == ANY || covered.len() == n_symbols;
            let [reads, writes] = [read, write].map(|s| vec![Some(s).filter(|s| s.text != ANY).cloned()]);
            let next = if next.text == ANY { state } else { next }.clone();
            rules.push(DraftRule { reads, writes, moves: vec![*head], next, span: words.span.clone() });
        }
    }
    if !all_covered {
        let next = Piece { text: NO_RULE, span: 0..0 };
        let (reads, writes, moves) = (vec![None], vec![None], vec![Move::Stay]);
        rules.push(DraftRule { reads, writes, moves, next, span: 0..0 });
    }
    rules
}
