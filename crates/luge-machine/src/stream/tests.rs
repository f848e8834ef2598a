use super::*;
use crate::{Alphabet, Move, Pattern::Any, Write::Keep, formats::Format};

/// A machine on a data tape and a work tape that goes through states with these uses in turn, and then halts or goes round.
fn chain(uses: &[SampleUse], round: bool) -> Machine {
    let mut b = Machine::builder();
    b.read_only_tape("data", Alphabet::binary());
    b.tape("work", Alphabet::binary());
    let states: Vec<_> = (0..uses.len()).map(|i| b.state(format!("s{i}"))).collect();
    let end = b.halting_state("end", true);
    for (i, (&state, &samples)) in states.iter().zip(uses).enumerate() {
        let next = states.get(i + 1).copied().unwrap_or(if round { states[0] } else { end });
        b.rule(state, [Any, Any], [Keep, Keep], [Move::Stay, Move::Stay], next);
        b.samples_in(state, samples);
    }
    b.build().unwrap()
}

use SampleUse::{Latch, Pass, Take};

fn refused(uses: &[SampleUse], round: bool) -> Option<(String, BreachKind)> {
    check(&chain(uses, round)).err().map(|breach| (breach.state, breach.kind))
}

#[test]
fn a_latch_comes_right_after_a_take() {
    let nothing = |state: &str| Some((state.to_owned(), BreachKind::LatchesNothing));
    assert_eq!(refused(&[Take, Latch], false), None);
    assert_eq!(refused(&[Pass, Latch], false), nothing("s1"));
    assert_eq!(refused(&[Take, Pass, Latch], false), nothing("s2"));
    assert_eq!(refused(&[Take, Latch, Latch], false), nothing("s2"));
}

#[test]
fn two_steps_lie_between_takes() {
    let soon = |state: &str| Some((state.to_owned(), BreachKind::TakesTooSoon));
    assert_eq!(refused(&[Take, Take], false), soon("s1"));
    assert_eq!(refused(&[Take, Latch, Take], false), soon("s2"));
    assert_eq!(refused(&[Take, Pass, Take], false), soon("s2"));
    assert_eq!(refused(&[Take, Latch, Pass, Take], false), None);
    // Going round, the first state is right the first time: it is caught when it is run.
    assert_eq!(refused(&[Take, Latch], true), None);
    assert_eq!(
        check(&chain(&[Take, Latch, Take], false)).unwrap_err().to_string(),
        "state `s2` takes a batch too soon: between two takes there are at least two steps"
    );
}

fn memory() -> Memory {
    Memory { tape: TapeId(0), features: vec![1, 2], labels: vec![3] }
}

fn batch(features: [u8; 2], label: u8) -> Batch {
    Batch { features: features.map(SymbolId).to_vec(), labels: vec![SymbolId(label)] }
}

fn held(simulator: &StreamSimulator<'_>) -> Vec<u8> {
    (0..5).map(|cell| simulator.simulator().tape(TapeId(0)).read(cell).0).collect()
}

#[test]
fn features_come_with_the_take_and_labels_with_the_latch() {
    let machine = chain(&[Pass, Take, Latch, Pass, Take, Latch], false);
    let mut simulator = StreamSimulator::new(&machine, &Input::blank(), memory());
    let batches = [
        batch([1, 1], 1),
        batch([1, 0], 1),
        batch([0, 0], 0),
        batch([0, 1], 0),
        batch([0, 1], 0),
        batch([1, 1], 1),
    ];
    let seen: Vec<Vec<u8>> = batches
        .into_iter()
        .map(|batch| {
            simulator.step(|| batch).unwrap();
            held(&simulator)
        })
        .collect();
    let expected: [[u8; 5]; 6] = [
        [0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0],
        [0, 1, 0, 1, 0],
        [0, 1, 0, 1, 0],
        [0, 0, 1, 1, 0],
        [0, 0, 1, 0, 0],
    ];
    assert_eq!(seen, expected);
    assert_eq!((simulator.n_taken(), simulator.steps()), (2, 6));
    let end = simulator.step(Batch::default).unwrap_err();
    assert!(matches!(end, StreamOutcome::Stopped(Outcome::Halted { accepting: true, .. })));
}

#[test]
fn what_cannot_be_seen_is_caught() {
    let machine = chain(&[Take, Latch], true);
    let mut simulator = StreamSimulator::new(&machine, &Input::blank(), memory());
    simulator.step(|| batch([1, 1], 1)).unwrap();
    simulator.step(Batch::default).unwrap();
    let state = machine.find_state("s0").unwrap();
    let breach = StreamOutcome::Breach { state, kind: BreachKind::TakesTooSoon };
    assert_eq!(simulator.step(Batch::default), Err(breach));
    assert_eq!(simulator.steps(), 2);
}

#[test]
fn only_the_native_format_has_words_for_samples() {
    let machine = chain(&[Take, Latch, Pass], false);
    let text = Format::Native.write(&machine, None).unwrap();
    assert!(text.contains("s0: take\n") && text.contains("s1: latch\n") && text.contains("s2:\n"), "{text}");
    assert_eq!(Format::Native.read(&text).unwrap().machine, machine);
    for format in Format::ALL.into_iter().filter(|&format| format != Format::Native) {
        let refused = format.write(&machine, None).unwrap_err().to_string();
        assert_eq!(
            refused,
            format!("{format} machines take no samples from a stream, but state `s0` uses one")
        );
    }
    let halting =
        Format::Native.read("machine\ntape t: 0 1 blank 0\na: take\n * -> *, R, a\nb: accept take\n");
    assert!(halting.is_err());
}

#[test]
fn steps_are_not_doubled() {
    use crate::lowering::{LoweringError, Moves, lower};
    let machine = chain(&[Take, Latch], false);
    assert!(lower(&machine, Moves::Keep).unwrap().normal.machine().takes_samples());
    let refused = lower(&machine, Moves::Strict).unwrap_err();
    assert_eq!(refused, LoweringError::Samples("s0".to_owned()));
}
