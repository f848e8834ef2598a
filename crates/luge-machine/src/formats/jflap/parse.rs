//! Reads states and transitions as a machine.

use std::collections::HashSet;

use super::{
    BLANK,
    document::{self, Structure, Transition},
    labels::{Read, Written},
};
use crate::{
    Alphabet, Diagnostic, Missing,
    diagnostic::Findings,
    formats::{Draft, DraftRule, Loaded, Piece, ReadOptions, RuleOrder, collected_alphabet},
};

/// Reads a machine. Characters of the input that no transition mentions become symbols. Transitions such as `!a` and `!b`
/// both match them, which is an error if the machine is then not deterministic.
pub(in crate::formats) fn read(text: &str, options: &ReadOptions) -> Result<Loaded, Vec<Diagnostic>> {
    let document = document::parse(text)?;
    let Structure { n_tapes, states, initial, transitions, mut findings, .. } =
        document::structure(&document)?;
    let help = "exactly one state has `<initial/>`";
    match initial.as_slice() {
        [] if findings.is_empty() => {
            let end = text.len()..text.len();
            findings.error(end, "the machine has no initial state", "the file ends here").remedy(help);
        }
        [_, second, ..] => {
            let state = states.iter().find(|state| state.key == *second).map_or("", |state| &state.name);
            let message = format!("a second initial state, `{state}`");
            findings.error(&second.span, message, "initial too").remedy(help);
        }
        _ => {}
    }
    if findings.has_errors() {
        return Err(findings.into_sorted());
    }
    let applies = |transition: &&Transition<'_>| states[transition.from].halting.is_none();
    let used: Vec<&Transition> = transitions.iter().filter(applies).collect();
    let alphabet = |tape: usize| alphabet(&used, tape, options.inputs.get(tape), &mut findings);
    let alphabets: Vec<Alphabet> = (0..n_tapes).map(alphabet).collect();
    let undeclared = |_: &str| Err("the ids are those of `<state>` and `<block>`".to_owned());
    let mut draft = Draft::new(Missing::Reject, undeclared, findings);
    draft.order = RuleOrder::Unordered { reports_all: false };
    draft.states = states;
    draft.start = initial.into_iter().next();
    draft.add_tapes(alphabets.clone());
    let mut known = HashSet::new();
    for transition in &transitions {
        let Transition { from, to, reads, writes, moves, .. } = transition;
        if known.insert((from, to.text, reads, writes, moves)) {
            draft.states[*from].rules.extend(rules(transition, &alphabets));
        }
    }
    draft.resolve(text)
}

/// The alphabet of a tape: the symbols in the transitions and the input. The blank is called `_` unless that is another
/// symbol.
fn alphabet(
    transitions: &[&Transition<'_>],
    tape: usize,
    input: Option<&String>,
    findings: &mut Findings,
) -> Alphabet {
    let mut mentioned = Vec::new();
    for transition in transitions {
        let mut symbols = transition.reads[tape].mentions();
        if let Written::Put(symbol) = transition.writes[tape] {
            symbols.push(symbol);
        }
        let others = symbols.into_iter().filter(|&symbol| symbol != BLANK);
        mentioned.extend(others.map(|text| Piece { text, span: transition.span.clone() }));
    }
    let blank = if mentioned.iter().any(|symbol| symbol.text == "_") { BLANK } else { "_" };
    let input = input.map(|input| input.replace(BLANK, ""));
    collected_alphabet(blank, mentioned, true, input.as_ref(), findings)
}

/// The rules of a transition: one, or on a single tape one per symbol that `!x` or `a,b}v` matches.
fn rules<'a>(transition: &Transition<'a>, alphabets: &'a [Alphabet]) -> Vec<DraftRule<'a>> {
    let Transition { reads, writes, moves, to, span, .. } = transition;
    let blank = |tape: &'a Alphabet| tape.name(tape.blank());
    let piece = |tape: &'a Alphabet, symbol: &'a str| {
        let text = if symbol == BLANK { blank(tape) } else { symbol };
        Some(Piece { text, span: span.clone() })
    };
    // A variable is only written where it was read, so the symbol does not change.
    let put = |(written, tape): (&Written<'a>, &'a Alphabet)| match written {
        Written::Keep | Written::Variable => None,
        Written::Put(symbol) => piece(tape, symbol),
    };
    let rule = |reads, writes| DraftRule {
        reads,
        writes,
        moves: moves.clone(),
        next: to.clone(),
        span: span.clone(),
    };
    if let ([read @ (Read::Not(_) | Read::OneOf { .. })], [write], [tape]) =
        (reads.as_slice(), writes.as_slice(), alphabets)
    {
        let label = |name: &'a String| if name == blank(tape) { BLANK } else { name };
        let fitting = tape.names().iter().map(label).filter(|symbol| read.fits(symbol));
        return fitting.map(|symbol| rule(vec![piece(tape, symbol)], vec![put((write, tape))])).collect();
    }
    let patterns = reads.iter().zip(alphabets).map(|(read, tape)| match read {
        Read::Is(symbol) => piece(tape, symbol),
        Read::Any | Read::Not(_) | Read::OneOf { .. } => None,
    });
    vec![rule(patterns.collect(), writes.iter().zip(alphabets).map(put).collect())]
}
