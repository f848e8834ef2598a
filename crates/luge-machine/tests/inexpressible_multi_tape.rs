//! Machines that turingmachinesimulator.com and JFLAP cannot express are refused, with the reason.

use luge_machine::{
    Alphabet, Input, Machine, MachineBuilder, Missing, Move,
    Pattern::{self, Any, Is},
    StateId, SymbolId, TapeInput,
    Write::{self, Keep, Put},
    formats::Format,
};

const A: Pattern = Is(SymbolId(0));
const B: Pattern = Is(SymbolId(1));

/// One tape with two symbols, `symbols[0]` the blank, and a state that handles both.
fn builder(symbols: [&str; 2], state: &str) -> (MachineBuilder, StateId) {
    let mut b = Machine::builder();
    b.tape("tape", Alphabet::new(symbols, SymbolId(0)));
    let q = b.state(state);
    b.rule(q, [A], [Put(SymbolId(1))], [Move::Right], q);
    b.rule(q, [B], [Keep], [Move::Left], q);
    (b, q)
}

fn check(format: Format, b: MachineBuilder, expected: &str) {
    let machine = b.build().expect("a valid machine");
    let error = format.write(&machine, None).expect_err(expected);
    assert_eq!(error.to_string(), expected);
}

fn check_both(make: impl Fn() -> MachineBuilder, reason: &str) {
    for format in [Format::TuringMachineSimulator, Format::Jflap] {
        check(format, make(), &reason.replace("FORMAT", &format.to_string()));
    }
}

#[test]
fn tapes_and_halting_are_refused() {
    let read_only = || {
        let mut b = Machine::builder();
        b.read_only_tape("book", Alphabet::binary());
        let q = b.state("q");
        b.rule(q, [Any], [Keep], [Move::Right], q);
        b
    };
    check_both(read_only, "FORMAT has no read-only tapes, but tape `book` is one");
    let rejecting = || {
        let mut b = builder(["_", "1"], "q").0;
        b.halting_state("no", false);
        b
    };
    check_both(rejecting, "FORMAT cannot say how this machine halts: state `no` halts without accepting");
    let halts = || {
        let (mut b, q) = builder(["_", "1"], "q");
        let r = b.state("r");
        b.rule(q, [Any], [Keep], [Move::Stay], r);
        b.rule(r, [B], [Keep], [Move::Stay], q);
        b.missing(Missing::Halt);
        b
    };
    let reason = "FORMAT cannot say how this machine halts: state `r` has no rule for `_` and halts there, where a FORMAT machine rejects";
    check_both(halts, reason);
}

/// Without a situation that lacks a rule it does not matter what a missing rule means.
#[test]
fn halting_on_missing_rules_is_written_where_none_is_missing() {
    for format in [Format::TuringMachineSimulator, Format::Jflap] {
        let mut b = builder(["_", "1"], "q").0;
        b.missing(Missing::Halt);
        assert!(format.write(&b.build().unwrap(), None).is_ok());
    }
}

#[test]
fn names_that_would_not_come_back_are_refused() {
    let tms = Format::TuringMachineSimulator;
    let alphabet = |format: Format, symbol: &str, reason: &str| {
        let expected = format!("{format} cannot write the alphabet of tape `tape`: {reason}");
        check(format, builder(["0", symbol], "q").0, &expected);
    };
    alphabet(tms, ",", "the symbol `,` separates there");
    alphabet(tms, "_", "the symbol `_` is the blank there");
    alphabet(tms, " ", "space is not a symbol there");
    alphabet(tms, "10", "symbol `10` is not one character");
    alphabet(Format::Jflap, "10", "symbol `10` is not one character");
    alphabet(Format::Jflap, "~", "`~` means any symbol there");
    alphabet(Format::Jflap, "□", "`□` is the blank there");
    alphabet(Format::Jflap, " ", "` ` is not a symbol there");
    alphabet(Format::Jflap, "\u{1}", "`\\u{1}` is not a symbol there");
    for name in ["", "a,b", "a//b", " a", "a\nb", "init:a", "a: b"] {
        let reason = format!("the name `{}` would not be read back as one", name.escape_debug());
        check(tms, builder(["_", "1"], name).0, &format!("{tms} cannot write the states: {reason}"));
    }
    for name in ["", "\u{0}"] {
        let reason = format!("the name `{}` cannot stand in XML", name.escape_debug());
        let expected = format!("JFLAP cannot write the states: {reason}");
        check(Format::Jflap, builder(["_", "1"], name).0, &expected);
    }
}

#[test]
fn what_no_rule_mentions_is_refused() {
    let unused = || {
        let mut b = Machine::builder();
        b.tape("a", Alphabet::new(["_", "1"], SymbolId(0)));
        b.tape("b", Alphabet::new(["_", "2"], SymbolId(0)));
        let q = b.state("q");
        b.rule(q, [A, A], [Put(SymbolId(1)), Keep], [Move::Right; 2], q);
        b
    };
    check_both(unused, "FORMAT cannot write the alphabet of tape `b`: no rule mentions symbol `2`");
    let tms = Format::TuringMachineSimulator;
    let mut b = builder(["_", "1"], "q").0;
    b.state("alone");
    check(tms, b, "turingmachinesimulator.com cannot write the states: no rule mentions state `alone`");
    let mut b = Machine::builder();
    b.tape("a", Alphabet::new(["_"], SymbolId(0)));
    b.tape("b", Alphabet::new(["_"], SymbolId(0)));
    b.halting_state("q", true);
    let expected = "turingmachinesimulator.com machines have as many tapes as their first rule reads, this one has 2 tapes";
    check(tms, b, expected);
}

/// Seventeen binary tapes make 131,072 situations.
#[test]
fn wildcards_are_not_written_out_without_end() {
    let mut b = Machine::builder();
    for tape in 0..17 {
        b.tape(format!("t{tape}"), Alphabet::binary());
    }
    let q = b.state("q");
    let mut narrow = [Any; 17];
    narrow[0] = A;
    b.rule(q, narrow, [Keep; 17], [Move::Stay; 17], q);
    b.rule(q, [Any; 17], [Put(SymbolId(1)); 17], [Move::Right; 17], q);
    let too_many = "with state `q` they need more than 65536 rules, without wildcards and precedence";
    for format in [Format::TuringMachineSimulator, Format::Jflap] {
        check(format, b.clone(), &format!("{format} cannot write the states: {too_many}"));
    }
}

/// A single-tape symbol that no rule mentions is kept in JFLAP by a negation.
#[test]
fn jflap_keeps_unmentioned_symbols_of_a_single_tape() {
    let mut b = Machine::builder();
    b.tape("tape", Alphabet::new(["_", "1", "2"], SymbolId(0)));
    let q = b.state("q");
    b.rule(q, [A], [Write::Put(SymbolId(1))], [Move::Right], q);
    let machine = b.build().unwrap();
    let text = Format::Jflap.write(&machine, None).unwrap();
    assert!(text.contains("<read>!12</read>"), "{text}");
    assert_eq!(Format::Jflap.read(&text).unwrap().machine, machine);
}

#[test]
fn native_refuses_an_input_that_is_not_the_machines() {
    let machine = builder(["_", "1"], "q").0.build().unwrap();
    let write = |tapes: Vec<TapeInput>| {
        Format::Native.write(&machine, Some(&Input { tapes })).unwrap_err().to_string()
    };
    let unknown = TapeInput { symbols: vec![SymbolId(2)], head: 0 };
    assert_eq!(write(vec![unknown]), "native cannot carry the input: tape `tape` has no symbol 2");
    assert_eq!(
        write(vec![TapeInput::default(); 2]),
        "native cannot carry the input: it has 2 tapes, the machine 1"
    );
}
