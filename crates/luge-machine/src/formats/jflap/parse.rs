//! From states and transitions to a machine.

use std::collections::BTreeSet;

use super::{
    BLANK, Symbol,
    determinism::first_conflict,
    document::{Draft, Transition, draft, line_of},
    labels::{Read, Written},
};
use crate::{
    Alphabet, Diagnostic, Machine, Missing, Pattern, Rule, Severity, StateId, SymbolId, Write,
    formats::Loaded,
};

pub(super) fn parse(text: &str) -> Result<Loaded, Vec<Diagnostic>> {
    let mut draft = draft(text)?;
    let start = check_start(&mut draft, text.len());
    drop_after_final(&mut draft);
    if draft.diagnostics.iter().any(|d| d.severity == Severity::Error) {
        return Err(sorted(draft.diagnostics));
    }
    let tapes: Vec<TapeSymbols> = (0..draft.n_tapes).map(|tape| TapeSymbols::new(&draft, tape)).collect();
    if let Some(large) = tapes.iter().find(|tape| tape.0.len() > 256) {
        let message = format!("{} symbols on a tape, but at most 256 are supported", large.0.len());
        return Err(vec![Diagnostic::error(0..text.len(), message, "this machine")]);
    }
    let mut builder = Machine::builder();
    builder.missing(Missing::Reject);
    for (index, tape) in tapes.iter().enumerate() {
        let name = if tapes.len() == 1 { "tape".to_owned() } else { format!("tape{}", index + 1) };
        builder.tape(name, tape.alphabet());
    }
    for state in &draft.states {
        let id = builder.push_state(state.name.clone());
        if state.is_final {
            builder.halt_in(id, true);
        }
    }
    builder.start(start);
    let mut by_state: Vec<Vec<(Rule, usize)>> = vec![Vec::new(); draft.states.len()];
    for (index, transition) in draft.transitions.iter().enumerate() {
        let rules = rules(transition, &tapes).into_iter().map(|rule| (rule, index));
        by_state[transition.from.index()].extend(rules);
    }
    for (state, rules) in by_state.into_iter().enumerate() {
        if let Some(error) = nondeterminism(&draft, &tapes, state, &rules, text) {
            draft.diagnostics.push(error);
        }
        for (rule, _) in rules {
            builder.push_rule(StateId::new(state), rule);
        }
    }
    if draft.diagnostics.iter().any(|d| d.severity == Severity::Error) {
        return Err(sorted(draft.diagnostics));
    }
    match builder.build() {
        Ok(machine) => Ok(Loaded { machine, input: None, warnings: sorted(draft.diagnostics) }),
        Err(error) => Err(vec![Diagnostic::error(0..text.len(), error.to_string(), "this machine")]),
    }
}

fn sorted(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by_key(|d| d.span.start);
    diagnostics
}

fn check_start(draft: &mut Draft, end: usize) -> StateId {
    let initial: Vec<usize> =
        (0..draft.states.len()).filter(|&index| draft.states[index].is_initial).collect();
    let help = "exactly one state has `<initial/>`";
    if let Some(&second) = initial.get(1) {
        let message = format!("a second initial state, `{}`", draft.states[second].name);
        let span = draft.states[second].span.clone();
        draft.diagnostics.push(Diagnostic::error(span, message, "initial too").with_help(help));
    } else if initial.is_empty() && draft.diagnostics.is_empty() {
        let message = "the machine has no initial state";
        draft.diagnostics.push(Diagnostic::error(end..end, message, "the file ends here").with_help(help));
    }
    StateId::new(initial.first().copied().unwrap_or(0))
}

/// A final state halts: transitions out of it are dropped, with one warning per state.
fn drop_after_final(draft: &mut Draft) {
    let Draft { states, transitions, diagnostics, .. } = draft;
    let mut warned = BTreeSet::new();
    transitions.retain(|transition| {
        let state = &states[transition.from.index()];
        if state.is_final && warned.insert(transition.from) {
            let message = format!("state `{}` is final, so transitions out of it never apply", state.name);
            diagnostics.push(Diagnostic::warning(transition.span.clone(), message, "dropped"));
        }
        !state.is_final
    });
}

/// The symbols of one tape: the blank, then the others sorted.
struct TapeSymbols(Vec<Symbol>);

impl TapeSymbols {
    fn new(draft: &Draft, tape: usize) -> Self {
        let mut mentioned: BTreeSet<char> = BTreeSet::new();
        for transition in &draft.transitions {
            mentioned.extend(transition.reads[tape].mentions());
            if let Written::Put(Some(symbol)) = transition.writes[tape] {
                mentioned.insert(symbol);
            }
        }
        Self([None].into_iter().chain(mentioned.into_iter().map(Some)).collect())
    }

    fn alphabet(&self) -> Alphabet {
        let names: Vec<String> = self.0.iter().map(|&symbol| self.name(symbol)).collect();
        Alphabet::new(names, SymbolId(0))
    }

    fn name(&self, symbol: Symbol) -> String {
        let blank = if self.0.contains(&Some('_')) { BLANK } else { '_' };
        symbol.unwrap_or(blank).to_string()
    }

    fn id(&self, symbol: Symbol) -> SymbolId {
        SymbolId::new(self.0.iter().position(|&s| s == symbol).unwrap_or(0))
    }
}

/// The rules of a transition: one, or on a single tape one per symbol that `!x` or `a,b}v` fits.
fn rules(transition: &Transition, tapes: &[TapeSymbols]) -> Vec<Rule> {
    let put = |written: &Written, tape: &TapeSymbols, read: Symbol| match written {
        Written::Keep => Write::Keep,
        Written::Put(symbol) => Write::Put(tape.id(*symbol)),
        Written::Variable => Write::Put(tape.id(read)),
    };
    let (moves, next) = (transition.moves.clone(), transition.to);
    if let ([read @ (Read::Not(_) | Read::OneOf { .. })], [write], [tape]) =
        (transition.reads.as_slice(), transition.writes.as_slice(), tapes)
    {
        let fitting = tape.0.iter().copied().filter(|&symbol| read.fits(symbol));
        return fitting
            .map(|symbol| Rule {
                reads: vec![Pattern::Is(tape.id(symbol))],
                writes: vec![put(write, tape, symbol)],
                moves: moves.clone(),
                next,
            })
            .collect();
    }
    let reads = transition.reads.iter().zip(tapes).map(|(read, tape)| match read {
        Read::Is(symbol) => Pattern::Is(tape.id(*symbol)),
        Read::Any | Read::Not(_) | Read::OneOf { .. } => Pattern::Any,
    });
    let writes = transition.writes.iter().zip(tapes).map(|(written, tape)| put(written, tape, None));
    vec![Rule { reads: reads.collect(), writes: writes.collect(), moves, next }]
}

fn nondeterminism(
    draft: &Draft,
    tapes: &[TapeSymbols],
    state: usize,
    rules: &[(Rule, usize)],
    text: &str,
) -> Option<Diagnostic> {
    let listed: Vec<&Rule> = rules.iter().map(|(rule, _)| rule).collect();
    let (earlier, later) = first_conflict(&listed)?;
    let [first, second] = [earlier, later].map(|index| &draft.transitions[rules[index].1]);
    let target = |transition: &Transition| draft.states[transition.to.index()].name.clone();
    let common = listed[earlier].reads.iter().zip(&listed[later].reads).zip(tapes).map(|((&a, &b), tape)| {
        match if a == Pattern::Any { b } else { a } {
            Pattern::Any => "any symbol".to_owned(),
            Pattern::Is(symbol) => format!("`{}`", tape.name(tape.0[symbol.index()])),
        }
    });
    let message = format!(
        "not deterministic: reading {} in state `{}`, both the transition to `{}` on line {} and this one to `{}` apply",
        common.collect::<Vec<_>>().join(", "),
        draft.states[state].name,
        target(first),
        line_of(text, &first.span),
        target(second),
    );
    let help = "only deterministic machines are read; remove or narrow one of the two";
    Some(Diagnostic::error(second.span.clone(), message, "the second transition").with_help(help))
}
