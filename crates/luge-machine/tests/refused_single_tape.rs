//! Machines that the single-tape formats cannot express are refused, with the reason.

use luge_machine::{
    Alphabet, Input, Machine, MachineBuilder, Missing, Move, Pattern, StateId, SymbolId, TapeInput, Write,
    formats::Format,
};

const FORMATS: [Format; 3] = [Format::Bbchallenge, Format::Morphett, Format::TuringMachineIo];

#[track_caller]
fn check(format: Format, builder: MachineBuilder, input: Option<&Input>, reason: &str) {
    let machine = builder.build().expect("a consistent machine");
    let refusal = format.write(&machine, input).expect_err("a refusal");
    assert_eq!(refusal.to_string(), reason);
}

/// Goes right forever, over the given symbols.
fn walker<S: Into<String>>(symbols: impl IntoIterator<Item = S>) -> MachineBuilder {
    let mut builder = Machine::builder();
    builder.tape("work", Alphabet::new(symbols, SymbolId(0)));
    let walk = builder.state("walk");
    builder.rule(walk, [Pattern::Any], [Write::Keep], [Move::Right], walk);
    builder
}

fn leaves_to(builder: &mut MachineBuilder, next: StateId) {
    let leave = builder.state("leave");
    builder.rule(leave, [Pattern::Any], [Write::Keep], [Move::Left], next);
}

#[test]
fn other_tapes() {
    for format in FORMATS {
        let mut two = Machine::builder();
        two.tape("a", Alphabet::binary());
        two.tape("b", Alphabet::binary());
        two.state("q");
        check(format, two, None, &format!("{format} machines have one tape, this one has 2 tapes"));
        let mut fixed = Machine::builder();
        fixed.read_only_tape("a", Alphabet::binary());
        fixed.state("q");
        check(format, fixed, None, &format!("{format} has no read-only tapes, but tape `a` is one"));
    }
}

#[test]
fn stay_moves() {
    for format in [Format::Bbchallenge, Format::TuringMachineIo] {
        let mut builder = walker(["0", "1"]);
        let stay = builder.state("wait");
        builder.rule(stay, [Pattern::Any], [Write::Keep], [Move::Stay], stay);
        check(
            format,
            builder,
            None,
            &format!("{format} has no stay move, but state `wait` has a rule that stays"),
        );
    }
}

#[test]
fn alphabets() {
    let eleven = (0..11).map(|s| char::from(b'a' + s).to_string());
    let reason =
        "bbchallenge cannot write the alphabet of tape `work`: 11 symbols, but there are only 10 digits";
    check(Format::Bbchallenge, walker(eleven), None, reason);
    let reason = "Morphett cannot write the alphabet of tape `work`: symbol `10` would be `10`, \
                  but a symbol is one character other than `*`, `;` and blank space";
    check(Format::Morphett, walker(["0", "10"]), None, reason);
    let reason = "Morphett cannot write the alphabet of tape `work`: symbol `_` would be `;`, \
                  but a symbol is one character other than `*`, `;` and blank space";
    check(Format::Morphett, walker([";", "_"]), None, reason);
    let reason =
        "turingmachine.io cannot write the alphabet of tape `work`: symbol `10` is not one character";
    check(Format::TuringMachineIo, walker(["0", "10"]), None, reason);
}

#[test]
fn states() {
    let mut many = walker(["0", "1"]);
    for n in 1..26 {
        let state = many.state(n.to_string());
        many.rule(state, [Pattern::Any], [Write::Keep], [Move::Left], state);
    }
    assert!(Format::Bbchallenge.write(&many.clone().build().unwrap(), None).is_ok());
    let mut no_letter = many.clone();
    let done = no_letter.halting_state("done", true);
    no_letter.rule(StateId(25), [Pattern::Any], [Write::Keep], [Move::Left], done);
    // The state's first rule always applies, so the halting state is never entered and needs no letter.
    assert!(Format::Bbchallenge.write(&no_letter.build().unwrap(), None).is_ok());

    let mut twenty_six = walker(["0", "1"]);
    for n in 1..25 {
        let state = twenty_six.state(n.to_string());
        twenty_six.rule(state, [Pattern::Any], [Write::Keep], [Move::Left], state);
    }
    let done = twenty_six.halting_state("done", true);
    leaves_to(&mut twenty_six, done);
    let reason = "bbchallenge cannot write the states: no letter is left for the halting state `done`";
    check(Format::Bbchallenge, twenty_six, None, reason);

    let more = many.state("one more");
    many.rule(more, [Pattern::Any], [Write::Keep], [Move::Left], more);
    let reason = "bbchallenge cannot write the states: 27 states that run, but there are only 26 letters";
    check(Format::Bbchallenge, many, None, reason);

    let mut long = walker(["0"]);
    long.halting_state("n".repeat(1001), true);
    let reason =
        "turingmachine.io cannot write the states: the name `nnnnnnnnnnnnnnnnnnnn…` is too long for a key";
    check(Format::TuringMachineIo, long, None, reason);
}

#[test]
fn halting() {
    let start_halts = || {
        let mut builder = walker(["0", "1"]);
        let end = builder.halting_state("end", true);
        builder.start(end);
        builder
    };
    for format in [Format::Bbchallenge, Format::Morphett] {
        let reason = format!("{format} cannot say how this machine halts: the start state `end` halts");
        check(format, start_halts(), None, &reason);
    }
    let mut refuses = walker(["0", "1"]);
    let no = refuses.halting_state("no", false);
    leaves_to(&mut refuses, no);
    let reason = "bbchallenge cannot say how this machine halts: state `no` halts without accepting";
    check(Format::Bbchallenge, refuses, None, reason);

    let stuck = |missing: Missing| {
        let mut builder = walker(["0", "1"]);
        builder.missing(missing);
        let stuck = builder.state("stuck");
        builder.rule(stuck, [Pattern::Is(SymbolId(0))], [Write::Keep], [Move::Left], stuck);
        builder
    };
    let reason = "bbchallenge cannot say how this machine halts: \
                  state `stuck` has no rule for `1` and rejects there, where a bbchallenge machine halts";
    check(Format::Bbchallenge, stuck(Missing::Reject), None, reason);
    let reason = "turingmachine.io cannot say how this machine halts: \
                  state `stuck` has no rule for `1` and rejects there, where a turingmachine.io machine halts";
    check(Format::TuringMachineIo, stuck(Missing::Reject), None, reason);
    for (missing, does) in [(Missing::Reject, "rejects"), (Missing::Halt, "halts")] {
        let reason = format!(
            "Morphett cannot say how this machine halts: state `stuck` has no rule for `1` and {does} there \
             without a step, where Morphett's machines step into `halt`"
        );
        check(Format::Morphett, stuck(missing), None, &reason);
    }
}

#[test]
fn inputs() {
    let marked = Input { tapes: vec![TapeInput { symbols: vec![SymbolId(1); 3], head: 1 }] };
    let reason = "turingmachine.io cannot carry the input: the head must start on the first cell";
    check(Format::TuringMachineIo, walker(["0", "1"]), Some(&marked), reason);
    let two = Input { tapes: vec![TapeInput::default(); 2] };
    let reason = "turingmachine.io cannot carry the input: there is only one tape";
    check(Format::TuringMachineIo, walker(["0", "1"]), Some(&two), reason);
}
