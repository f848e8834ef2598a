//! A lowered machine agrees with its source after every step.

mod random_machines;

use luge_machine::{
    Bits, Input, Machine, Move, Outcome, Pattern, Simulator, SymbolId, TapeId, Write,
    lowering::{Lowered, Moves, expand_wildcards, lower},
};
use proptest::{prelude::*, test_runner::TestCaseResult};
use random_machines::{Shape, machine_and_input};

const SHAPE: Shape = Shape { n_tapes: 1..=3, n_symbols: 2..=5, start_may_halt: false, may_stay: true };

/// Asserts that the decoded tapes, heads and state are those of the source.
fn check_agreement(source: &Simulator, lowered: &Lowered, low: &Simulator) -> TestCaseResult {
    prop_assert_eq!(lowered.decode_state(low.state()), Some(source.state()));
    for tape in source.machine().tape_ids() {
        let mut cells = source.tape(tape).extent();
        for track in lowered.tracks(tape) {
            prop_assert_eq!(lowered.decode_head(low.head(track)), Some(source.head(tape)));
            let extent = low.tape(track).extent();
            cells = cells.start.min(extent.start)..cells.end.max(extent.end);
        }
        for cell in cells {
            let decoded = lowered.decode_cell(tape, cell, |track, c| low.tape(track).read(c));
            prop_assert_eq!(decoded, Some(source.tape(tape).read(cell)), "tape {}, cell {}", tape, cell);
        }
    }
    Ok(())
}

/// The situation of a lowered machine, as landscapes use it.
fn bits(simulator: &Simulator) -> Bits {
    simulator
        .reads()
        .iter()
        .enumerate()
        .fold(Bits(0), |bits, (tape, &symbol)| bits.with(tape, symbol == SymbolId(1)))
}

/// Makes one step of the lowered machine, and compares it with the normal form.
fn step_as_normal(lowered: &Lowered, low: &mut Simulator) -> Result<Result<(), Outcome>, TestCaseError> {
    let heads: Vec<i64> = low.machine().tape_ids().map(|t| low.head(t)).collect();
    let expected = lowered.normal.transition(low.state(), bits(low));
    let result = low.step();
    prop_assert_eq!(expected.is_some(), result.is_ok());
    if let Some(transition) = expected {
        prop_assert_eq!(transition.next, low.state());
        for (track, &head) in heads.iter().enumerate() {
            let id = TapeId::new(track);
            prop_assert_eq!(low.head(id), head + transition.moves[track].offset());
            prop_assert_eq!(low.tape(id).read(head) == SymbolId(1), transition.write.get(track));
        }
    }
    Ok(result)
}

fn check_lockstep(machine: &Machine, input: &Input, moves: Moves, limit: u64) -> TestCaseResult {
    let lowered = lower(machine, moves).expect("few tapes, and the start state runs");
    let encoded = lowered.encode(input);
    let mut source = Simulator::new(machine, input);
    let mut low = Simulator::new(lowered.normal.machine(), &encoded);
    let factor = lowered.steps_per_step();
    loop {
        check_agreement(&source, &lowered, &low)?;
        if source.steps() == limit {
            break;
        }
        if let Err(outcome) = source.step() {
            prop_assert_eq!(step_as_normal(&lowered, &mut low)?, Err(outcome));
            break;
        }
        for half in 0..factor {
            prop_assert_eq!(lowered.decode_state(low.state()).is_none(), half > 0);
            prop_assert_eq!(step_as_normal(&lowered, &mut low)?, Ok(()));
        }
    }
    prop_assert_eq!(low.steps(), factor * source.steps());
    let mut again = Simulator::new(lowered.normal.machine(), &encoded);
    prop_assert_eq!(again.run(factor * limit), Simulator::new(machine, input).run(limit));
    check_agreement(&source, &lowered, &again)
}

fn has_stay(machine: &Machine) -> bool {
    machine.state_ids().flat_map(|q| machine.rules(q)).any(|rule| rule.moves.contains(&Move::Stay))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn keeping_moves_agrees_step_for_step((machine, input) in machine_and_input(SHAPE), limit in 60..200_u64) {
        check_lockstep(&machine, &input, Moves::Keep, limit)?;
        let lowered = lower(&machine, Moves::Keep).expect("it was lowered before");
        prop_assert_eq!(lowered.steps_per_step(), 1);
        prop_assert_eq!(lowered.after.rules, machine.n_rules());
        prop_assert_eq!(lowered.after.states, machine.states().len());
    }

    #[test]
    fn strict_moves_agree_every_other_step((machine, input) in machine_and_input(SHAPE), limit in 60..200_u64) {
        check_lockstep(&machine, &input, Moves::Strict, limit)?;
        let lowered = lower(&machine, Moves::Strict).expect("it was lowered before");
        prop_assert!(!has_stay(lowered.normal.machine()));
        prop_assert_eq!(lowered.steps_per_step(), if has_stay(&machine) { 2 } else { 1 });
        let new_states = lowered.after.states - machine.states().len();
        prop_assert_eq!(lowered.after.rules, machine.n_rules() + new_states);
    }

    #[test]
    fn lowering_is_deterministic((machine, _) in machine_and_input(SHAPE)) {
        for moves in [Moves::Keep, Moves::Strict] {
            prop_assert_eq!(lower(&machine, moves), lower(&machine.clone(), moves));
        }
    }

    #[test]
    fn expansion_keeps_every_transition((machine, _) in machine_and_input(SHAPE)) {
        let expanded = expand_wildcards(&machine, usize::MAX).expect("no limit");
        prop_assert_eq!(expanded.tapes(), machine.tapes());
        prop_assert_eq!((expanded.start(), expanded.missing()), (machine.start(), machine.missing()));
        let mut n_with_rule = 0;
        for state in machine.state_ids() {
            prop_assert_eq!(expanded.halting(state), machine.halting(state));
            for reads in machine.situations(&vec![Pattern::Any; machine.n_tapes()]) {
                let outcome = |m: &Machine| {
                    m.rule_for(state, &reads).map(|rule| {
                        let written: Vec<SymbolId> = rule.writes.iter().zip(&reads).map(|(write, &read)| match *write {
                            Write::Keep => read,
                            Write::Put(symbol) => symbol,
                        }).collect();
                        (written, rule.moves.clone(), rule.next)
                    })
                };
                prop_assert_eq!(outcome(&expanded), outcome(&machine));
                n_with_rule += usize::from(machine.rule_for(state, &reads).is_some());
            }
        }
        prop_assert_eq!(expanded.n_rules(), n_with_rule);
        prop_assert!(expand_wildcards(&machine, n_with_rule).is_ok());
        prop_assert_eq!(n_with_rule > 0, expand_wildcards(&machine, n_with_rule.saturating_sub(1)).is_err());
    }
}
