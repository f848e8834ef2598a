//! From states and transitions to a machine.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{
    BLANK,
    determinism::{disagree, first_conflict},
    document::{Draft, Transition, draft},
    labels::{Read, Written},
};
use crate::{
    Alphabet, Diagnostic, Machine, Missing, Pattern, Rule, StateId, SymbolId, Write,
    diagnostic::Lines,
    formats::{Characters, Loaded, MAX_SYMBOLS, add_tapes, finish},
    input::laid_characters,
};

/// Reads a machine whose tapes may also hold the characters of these texts, one per tape, although no transition names them.
/// Transitions that differ only in such characters, as `!a` and `!b` do, may not be deterministic on them: that is an error.
pub(in crate::formats) fn read(text: &str, inputs: &[String]) -> Result<Loaded, Vec<Diagnostic>> {
    let mut draft = draft(text)?;
    let start = check_start(&mut draft, text.len());
    if draft.findings.has_errors() {
        return Err(draft.findings.into_sorted());
    }
    drop_after_final(&mut draft);
    let input = |tape: usize| inputs.get(tape).map_or("", String::as_str);
    let tapes: Vec<Characters> =
        (0..draft.n_tapes).map(|tape| tape_symbols(&draft, tape, input(tape))).collect();
    if let Some(n_symbols) = tapes.iter().map(|tape| tape.as_slice().len()).find(|&n| n > MAX_SYMBOLS) {
        let message = format!("{n_symbols} symbols on a tape, but at most {MAX_SYMBOLS} are supported");
        return Err(vec![Diagnostic::error(0..text.len(), message, "this machine")]);
    }
    let alphabets: Vec<Alphabet> = tapes.iter().map(alphabet).collect();
    let mut builder = Machine::builder();
    builder.missing(Missing::Reject);
    add_tapes(&mut builder, &alphabets);
    for state in &draft.states {
        let id = builder.push_state(state.name.clone());
        if state.is_final {
            builder.halt_in(id, true);
        }
    }
    builder.start(start);
    let by_state = rules_by_state(&draft, &tapes);
    if let Some(refusal) = nondeterminism(&draft, &alphabets, &by_state, text) {
        return Err(vec![refusal]);
    }
    for (state, rules) in by_state.into_iter().enumerate() {
        for (rule, _) in rules {
            builder.push_rule(StateId::new(state), rule);
        }
    }
    finish(builder, None, draft.findings, text)
}

/// The rules of every state with the transitions they come from. A rule that repeats another is left out, and so is all that
/// follows two that disagree.
fn rules_by_state(draft: &Draft, tapes: &[Characters]) -> Vec<Vec<(Rule, usize)>> {
    let mut by_state: Vec<Vec<(Rule, usize)>> = vec![Vec::new(); draft.states.len()];
    let mut seen: Vec<HashMap<Vec<Pattern>, usize>> = vec![HashMap::new(); draft.states.len()];
    let mut in_conflict = vec![false; draft.states.len()];
    let mut written = HashSet::new();
    for (index, transition) in draft.transitions.iter().enumerate() {
        let Transition { from, to, reads, writes, moves, .. } = transition;
        if !written.insert((from, to, reads, writes, moves)) {
            continue;
        }
        let state = from.index();
        let known = &mut by_state[state];
        for rule in rules(transition, tapes) {
            if in_conflict[state] {
                break;
            }
            match seen[state].get(&rule.reads) {
                Some(&earlier) if !disagree(&known[earlier].0, &rule) => continue,
                Some(_) => in_conflict[state] = true,
                None => {
                    seen[state].insert(rule.reads.clone(), known.len());
                }
            }
            known.push((rule, index));
        }
    }
    by_state
}

fn check_start(draft: &mut Draft, end: usize) -> StateId {
    let initial: Vec<usize> =
        (0..draft.states.len()).filter(|&index| draft.states[index].is_initial).collect();
    let help = "exactly one state has `<initial/>`";
    if let Some(&second) = initial.get(1) {
        let message = format!("a second initial state, `{}`", draft.states[second].name);
        let span = draft.states[second].span.clone();
        draft.findings.error(span, message, "initial too").remedy(help);
    } else if initial.is_empty() && draft.findings.is_empty() {
        let message = "the machine has no initial state";
        draft.findings.error(end..end, message, "the file ends here").remedy(help);
    }
    StateId::new(initial.first().copied().unwrap_or(0))
}

/// A final state halts: transitions out of it are dropped, with one warning per state.
fn drop_after_final(draft: &mut Draft) {
    let Draft { states, transitions, findings, .. } = draft;
    let mut warned = BTreeSet::new();
    transitions.retain(|transition| {
        let state = &states[transition.from.index()];
        if state.is_final && warned.insert(transition.from) {
            let message = format!("state `{}` is final, so transitions out of it never apply", state.name);
            findings.warning(&transition.span, message, "dropped");
        }
        !state.is_final
    });
}

/// The symbols that transitions mention, and those of the input that no transition does. `_` in the input names the blank
/// where no transition mentions it.
fn tape_symbols(draft: &Draft, tape: usize, input: &str) -> Characters {
    let mentions = |transition: &Transition| {
        let mut mentioned = transition.reads[tape].mentions();
        if let Written::Put(symbol) = transition.writes[tape] {
            mentioned.push(symbol);
        }
        mentioned
    };
    let mut symbols = Characters::new(BLANK, draft.transitions.iter().flat_map(mentions));
    symbols.admit(laid_characters(input).filter(|&c| c != '_'));
    symbols
}

/// The blank is called `_` unless that is another symbol.
fn alphabet(symbols: &Characters) -> Alphabet {
    let mut names = symbols.as_slice().to_vec();
    if !names.contains(&'_') {
        names[0] = '_';
    }
    Alphabet::new(names, SymbolId(0))
}

/// The rules of a transition: one, or on a single tape one per symbol that `!x` or `a,b}v` fits.
fn rules(transition: &Transition, tapes: &[Characters]) -> Vec<Rule> {
    let Transition { reads, writes, moves, to, .. } = transition;
    let rule = |reads, writes| Rule { reads, writes, moves: moves.clone(), next: *to };
    // A variable without its own read is refused before, so it keeps what is there.
    let put = |(written, tape): (&Written, &Characters)| match written {
        Written::Keep | Written::Variable => Write::Keep,
        Written::Put(symbol) => Write::Put(tape.id(*symbol)),
    };
    if let ([read @ (Read::Not(_) | Read::OneOf { .. })], [write], [tape]) =
        (reads.as_slice(), writes.as_slice(), tapes)
    {
        let fitting = tape.as_slice().iter().filter(|&&symbol| read.fits(symbol));
        let one = |symbol: SymbolId| {
            let write = if *write == Written::Variable { Write::Put(symbol) } else { put((write, tape)) };
            rule(vec![Pattern::Is(symbol)], vec![write])
        };
        return fitting.map(|&symbol| one(tape.id(symbol))).collect();
    }
    let patterns = reads.iter().zip(tapes).map(|(read, tape)| match read {
        Read::Is(symbol) => Pattern::Is(tape.id(*symbol)),
        Read::Any | Read::Not(_) | Read::OneOf { .. } => Pattern::Any,
    });
    vec![rule(patterns.collect(), writes.iter().zip(tapes).map(put).collect())]
}

/// The first pair of transitions between which the machine could not choose, and how many other states have one.
fn nondeterminism(
    draft: &Draft,
    alphabets: &[Alphabet],
    by_state: &[Vec<(Rule, usize)>],
    text: &str,
) -> Option<Diagnostic> {
    let conflict = |rules: &[(Rule, usize)]| {
        let listed: Vec<&Rule> = rules.iter().map(|(rule, _)| rule).collect();
        first_conflict(&listed)
    };
    let mut conflicts = by_state.iter().enumerate().filter_map(|(q, rules)| Some((q, conflict(rules)?)));
    let (state, (earlier, later)) = conflicts.next()?;
    let n_others = conflicts.count();
    let [first, second] = [earlier, later].map(|index| &by_state[state][index]);
    let target = |(_, transition): &(Rule, usize)| {
        draft.states[draft.transitions[*transition].to.index()].name.as_str()
    };
    let common = first.0.reads.iter().zip(&second.0.reads).zip(alphabets).map(|((&a, &b), alphabet)| {
        match if a == Pattern::Any { b } else { a } {
            Pattern::Any => "any symbol".to_owned(),
            Pattern::Is(symbol) => format!("`{}`", alphabet.name(symbol)),
        }
    });
    let message = format!(
        "not deterministic: reading {} in state `{}`, both the transition to `{}` on line {} and this one to `{}` apply",
        common.collect::<Vec<_>>().join(", "),
        draft.states[state].name,
        target(first),
        Lines::new(text).of(draft.transitions[first.1].span.start),
        target(second),
    );
    let others = match n_others {
        0 => String::new(),
        1 => "; another state has such a pair too".to_owned(),
        n_others => format!("; {n_others} other states have such a pair too"),
    };
    let help = format!("only deterministic machines are read; remove or narrow one of the two{others}");
    let span = draft.transitions[second.1].span.clone();
    Some(Diagnostic::error(span, message, "the second transition").with_help(help))
}
