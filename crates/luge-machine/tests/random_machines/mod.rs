//! Random machines and inputs, shared by the tests that compare two executors.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::ops::RangeInclusive;

use luge_machine::{
    Access, Alphabet, Input, Machine, Missing, Move, Pattern, Rule, StateId, SymbolId, TapeInput, Write,
};
use proptest::{collection::vec, prelude::*};

/// What to draw from.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) n_tapes: RangeInclusive<usize>,
    pub(crate) n_symbols: RangeInclusive<usize>,
    /// Whether the start state may halt.
    pub(crate) start_may_halt: bool,
    /// Whether heads may stay where they are.
    pub(crate) may_stay: bool,
}

/// Numbers that become a machine by taking remainders, so that every draw is valid and shrinks well.
#[derive(Clone, Debug)]
struct Draft {
    tapes: Vec<(usize, u8, bool)>,
    /// Rules of the running states.
    states: Vec<Vec<DraftRule>>,
    /// Halting states: accepting or not.
    halting: Vec<bool>,
    start: u8,
    missing: Missing,
}

#[derive(Clone, Debug)]
struct DraftRule {
    /// Per tape: what is read (`None`: anything), written (`None`: kept), and the move.
    tapes: Vec<(Option<u8>, Option<u8>, Move)>,
    next: u8,
}

fn draft_rule(n_tapes: usize, may_stay: bool) -> impl Strategy<Value = DraftRule> {
    let stay = if may_stay { Move::Stay } else { Move::Right };
    let head_move = prop_oneof![Just(Move::Right), Just(Move::Left), Just(stay)];
    let tape =
        (prop::option::weighted(0.6, any::<u8>()), prop::option::weighted(0.7, any::<u8>()), head_move);
    (vec(tape, n_tapes), any::<u8>()).prop_map(|(tapes, next)| DraftRule { tapes, next })
}

/// Rules in any order, and mostly one for all that is left.
fn draft_rules(n_tapes: usize, may_stay: bool) -> impl Strategy<Value = Vec<DraftRule>> {
    let last = prop::option::weighted(0.75, draft_rule(n_tapes, may_stay));
    (vec(draft_rule(n_tapes, may_stay), 0..10), last).prop_map(|(mut rules, last)| {
        rules.extend(last.map(|mut rule| {
            rule.tapes.iter_mut().for_each(|(read, _, _)| *read = None);
            rule
        }));
        rules
    })
}

fn draft(shape: Shape) -> impl Strategy<Value = Draft> {
    shape.n_tapes.prop_flat_map(move |n_tapes| {
        let tape = (shape.n_symbols.clone(), any::<u8>(), prop::bool::weighted(0.2));
        (
            vec(tape, n_tapes),
            vec(draft_rules(n_tapes, shape.may_stay), 1..9),
            vec(any::<bool>(), 0..3),
            any::<u8>(),
            prop_oneof![Just(Missing::Halt), Just(Missing::Reject)],
        )
            .prop_map(|(tapes, states, halting, start, missing)| Draft {
                tapes,
                states,
                halting,
                start,
                missing,
            })
    })
}

fn build_rule(draft: &DraftRule, machine: &Draft) -> Rule {
    // Mostly on to a running state, so that runs last.
    let (n_running, n_halting) = (machine.states.len(), machine.halting.len());
    let next = match usize::from(draft.next) {
        number if number >= 240 && n_halting > 0 => n_running + number % n_halting,
        number => number % n_running,
    };
    let mut rule =
        Rule { reads: Vec::new(), writes: Vec::new(), moves: Vec::new(), next: StateId::new(next) };
    for (&(n_symbols, _, read_only), &(read, written, head_move)) in machine.tapes.iter().zip(&draft.tapes) {
        let symbol = |number: u8| SymbolId::new(usize::from(number) % n_symbols);
        let read = read.map_or(Pattern::Any, |number| Pattern::Is(symbol(number)));
        let write = match (read_only, written, read) {
            // On a read-only tape a rule may still spell out the symbol it has read.
            (true, Some(_), Pattern::Is(symbol)) => Write::Put(symbol),
            (true, _, _) | (_, None, _) => Write::Keep,
            (false, Some(number), _) => Write::Put(symbol(number)),
        };
        rule.reads.push(read);
        rule.writes.push(write);
        rule.moves.push(head_move);
    }
    rule
}

fn build(draft: &Draft, start_may_halt: bool) -> Machine {
    let mut b = Machine::builder();
    for (index, &(n_symbols, blank, read_only)) in draft.tapes.iter().enumerate() {
        let names = (0..n_symbols).map(|s| format!("s{s}"));
        let alphabet = Alphabet::new(names, SymbolId::new(usize::from(blank) % n_symbols));
        let access = if read_only { Access::ReadOnly } else { Access::ReadWrite };
        b.tape_with(format!("t{index}"), alphabet, access);
    }
    let (n_running, n_halting) = (draft.states.len(), draft.halting.len());
    for state in 0..n_running + n_halting {
        b.push_state(format!("q{state}"));
    }
    for (state, rules) in draft.states.iter().enumerate() {
        for rule in rules {
            b.push_rule(StateId::new(state), build_rule(rule, draft));
        }
    }
    for (index, &accepting) in draft.halting.iter().enumerate() {
        b.halt_in(StateId::new(n_running + index), accepting);
    }
    let n_starts = if start_may_halt { n_running + n_halting } else { n_running };
    b.start(StateId::new(usize::from(draft.start) % n_starts));
    b.missing(draft.missing);
    b.build().expect("drafts are always valid")
}

/// A random machine and an input for it: filled unevenly, the heads inside or outside of it.
pub(crate) fn machine_and_input(shape: Shape) -> impl Strategy<Value = (Machine, Input)> {
    let start_may_halt = shape.start_may_halt;
    let most_tapes = *shape.n_tapes.end();
    let input = vec((vec(any::<u8>(), 0..12), -6_i64..18), 0..=most_tapes);
    (draft(shape), input).prop_map(move |(draft, contents)| {
        let laid = |((numbers, head), tape): ((Vec<u8>, i64), &(usize, u8, bool))| TapeInput {
            symbols: numbers.iter().map(|&n| SymbolId::new(usize::from(n) % tape.0)).collect(),
            head,
        };
        let tapes = contents.into_iter().zip(&draft.tapes).map(laid).collect();
        (build(&draft, start_may_halt), Input { tapes })
    })
}
