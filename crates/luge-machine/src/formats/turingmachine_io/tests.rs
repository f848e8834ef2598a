use super::write;
use crate::{
    Diagnostic, Machine, Missing,
    formats::{Loaded, ReadOptions},
};

fn read(text: &str) -> Result<Loaded, Vec<Diagnostic>> {
    super::read(text, &ReadOptions::default())
}

const INCREMENT: &str = "\
input: '1011'
blank: ' '
start state: right
table:
  right: {[1,0]: R, ' ': {L: carry}}
  carry:
    1: {write: 0, L}
    [0,' ']: {write: 1, L: done}
  done:
";

fn machine(text: &str) -> Machine {
    read(text).unwrap_or_else(|errors| panic!("{text}: {errors:?}")).machine
}

#[track_caller]
fn check_same(text: &str, other: &str) {
    assert_eq!(machine(text), machine(other), "{text}");
}

/// A one-state document around one row.
fn row(row: &str) -> String {
    format!("blank: ' '\nstart state: a\ntable:\n  a: {row}\n  b:\n")
}

#[test]
fn the_documented_example_prints_as_people_write_it() {
    let loaded = read(INCREMENT).unwrap();
    assert_eq!(loaded.machine.missing(), Missing::Halt);
    assert_eq!(loaded.machine.tapes()[0].alphabet.names(), [" ", "0", "1"]);
    let printed = write(&loaded.machine, loaded.input.as_ref()).unwrap();
    let expected = "\
input: '1011'
blank: ' '
start state: right
table:
  right:
    [1, 0]: R
    ' ': {L: carry}
  carry:
    1: {write: 0, L}
    [0, ' ']: {write: 1, L: done}
  done:
";
    assert_eq!(printed, expected);
    assert_eq!(read(&printed).unwrap(), loaded);
}

#[test]
fn spellings_of_one_instruction_agree() {
    check_same(&row("{1: R}"), &row("{1: {R}}"));
    check_same(&row("{1: R}"), &row("{1: {R: }}"));
    check_same(&row("{1: R}"), &row("{1: {R: ~}}"));
    check_same(&row("{1: R}"), &row("{1: {R: a}}"));
    check_same(&row("{'1': {L: b}}"), &row("{\"1\": {\"L\": 'b'}}"));
    check_same(&row("{1: {L: b}}"), &(row("{1: stop}") + "synonyms: {stop: {L: b}}"));
    check_same(&row("{1: &x {L: b}, 0: *x}"), &row("{[1, 0]: {L: b}}"));
}

#[test]
fn scalars_keep_their_spelling() {
    let machine = machine("blank: ~\nstart state: null\ntable: {null: {y: {write: ~, R}, n: R}}\n");
    assert_eq!(machine.tapes()[0].alphabet.names(), ["~", "n", "y"]);
    assert_eq!(machine.states()[0].name, "null");
}

#[test]
fn a_state_with_an_empty_map_has_no_rule_and_one_without_value_accepts() {
    let machine = machine(&row("{}"));
    assert_eq!(machine.halting(machine.start()), None);
    assert_eq!(machine.n_rules(), 0);
    assert_eq!(machine.halting(machine.find_state("b").unwrap()), Some(true));
}

#[test]
fn deep_nesting_is_an_error_and_not_a_stack_overflow() {
    for opening in ["[", "{", "{a: ", "- ", "? "] {
        assert!(read(&opening.repeat(20_000)).is_err());
        assert!(read(&format!("blank: ' '\nstart state: a\ntable: {}", opening.repeat(20_000))).is_err());
    }
    assert!(read("&a {*a : *a}").is_err());
}

#[test]
fn too_many_symbols_are_refused() {
    let input: String = ('\u{4e00}'..).take(300).collect();
    let errors = read(&format!("input: {input}\n{}", row(""))).unwrap_err();
    assert_eq!(errors[0].message, "more than 256 symbols on a tape");
}
