use crate::{
    Alphabet, Diagnostic, Machine, Missing, Move, Pattern, Severity, SymbolId, Write,
    formats::{Format, Inexpressible, Loaded, ReadOptions},
};

fn read(text: &str) -> Result<Loaded, Vec<Diagnostic>> {
    super::read(text, &ReadOptions::default())
}

fn write(machine: &Machine) -> Result<String, Inexpressible> {
    Format::Morphett.write(machine, None)
}

fn machine(text: &str) -> Machine {
    read(text).unwrap_or_else(|errors| panic!("{text}: {errors:?}")).machine
}

#[track_caller]
fn check_prints(text: &str, expected: &str) {
    let machine = machine(text);
    let printed = write(&machine).unwrap();
    assert_eq!(printed, expected);
    assert_eq!(read(&printed).unwrap().machine, machine);
}

#[test]
fn precedence_is_state_symbol_then_state_any_then_any_symbol_then_any_any() {
    check_prints(
        "* * 9 r 3\n* 1 8 r 2\n0 * 7 r 1\n0 1 6 r 0\n1 2 5 l 0\n",
        "0 1 6 r 0\n0 * 7 r 1\n1 2 5 l 0\n1 1 8 r 2\n1 * 9 r 3\n3 1 8 r 2\n3 * 9 r 3\n2 1 8 r 2\n2 * 9 r 3\n",
    );
}

#[test]
fn a_missing_rule_dies_only_where_one_can_be_missing() {
    check_prints("0 1 1 r 0\n", "0 1 1 r 0\n0 * * * halt-no-rule\n");
    check_prints("0 1 1 r 0\n0 _ _ r 0", "0 1 1 r 0\n0 _ _ r 0\n");
    check_prints("0 1 * r *\n* * * l halt-Reject", "0 1 * r 0\n0 * * l halt-Reject\n");
}

#[test]
fn halting_states_go_by_their_names() {
    let machine = machine("0 1 1 r HALTED\n0 2 2 r Halt-rejected\n0 3 3 * whalt");
    let halting = |name: &str| machine.halting(machine.find_state(name).unwrap());
    assert_eq!(halting("HALTED"), Some(true));
    assert_eq!(halting("Halt-rejected"), Some(false));
    assert_eq!(halting("whalt"), None);
}

#[test]
fn the_last_duplicate_counts_and_is_reported() {
    let loaded = read("0 1 1 r 0\n0 1 0 l halt ; again\nhalt 1 1 r 0 !\n").unwrap();
    let found: Vec<_> = loaded.warnings.iter().map(|w| (w.severity, w.span.clone())).collect();
    assert_eq!(found, [(Severity::Warning, 10..22), (Severity::Warning, 31..45)]);
    assert_eq!(write(&loaded.machine).unwrap(), "0 1 0 l halt\n0 * * * halt-no-rule\n");
}

#[test]
fn names_change_only_where_they_must() {
    let mut b = Machine::builder();
    b.tape("t", Alphabet::new(["0", "_", "x"], SymbolId(0)));
    let [start, other, halting, done] = ["go", "0", "halting", "all done"].map(|name| b.state(name));
    b.halt_in(done, true);
    let refused = b.halting_state("halt", false);
    for (state, next) in [(start, other), (other, halting), (halting, done)] {
        b.rule(state, [Pattern::Is(SymbolId(1))], [Write::Put(SymbolId(0))], [Move::Right], next);
        b.rule(state, [Pattern::Any], [Write::Keep], [Move::Stay], refused);
    }
    let printed = write(&b.clone().build().unwrap()).unwrap();
    assert_eq!(
        printed,
        "0 x * * halt-reject-halt\n0 0 _ r go\n0 * * * halt-reject-halt\ngo 0 _ r run-halting\n\
         go * * * halt-reject-halt\nrun-halting 0 _ r halt-all-done\nrun-halting * * * halt-reject-halt\n"
    );
    b.missing(Missing::Halt);
    b.state("lost");
    assert!(write(&b.build().unwrap()).unwrap_err().to_string().contains("`lost` has no rule for `0`"));
}

#[test]
fn too_many_symbols_are_refused() {
    let rules = |n: usize| -> String { ('\u{4e00}'..).take(n).map(|c| format!("0 {c} * r 0\n")).collect() };
    assert_eq!(machine(&rules(255)).tapes()[0].alphabet.len(), 256);
    let text = rules(256);
    let errors = read(&text).unwrap_err();
    let found = (errors[0].message.as_str(), errors[0].position(&text));
    assert_eq!(found, ("more than 256 symbols on a tape", (256, 3)));
}
