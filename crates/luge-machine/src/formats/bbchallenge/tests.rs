use super::{read, write};
use crate::{Input, Machine, Missing, Outcome, Simulator};

fn machine(line: &str) -> Machine {
    read(line, None).unwrap_or_else(|errors| panic!("{line}: {errors:?}")).machine
}

#[track_caller]
fn check_steps(line: &str, steps: u64, nonzero: u64) {
    let machine = machine(line);
    let mut simulator = Simulator::new(&machine, &Input::blank());
    assert!(matches!(simulator.run(1_000_000), Outcome::Halted { .. }), "{line}");
    assert_eq!((simulator.steps(), simulator.n_nonblank()), (steps, nonzero), "{line}");
}

#[track_caller]
fn check_errors(line: &str, expected: &[&str]) {
    let found: Vec<String> = read(line, None).unwrap_err().iter().map(|d| d.message.clone()).collect();
    assert_eq!(found, expected, "{line}");
}

#[test]
fn the_small_champions_halt_when_they_should() {
    check_steps("1RB1LB_1LA1RZ", 6, 4);
    check_steps("1RB1RZ_1LB0RC_1LC1LA", 21, 5);
    check_steps("1RB2LB1RZ_2LA2RB1LB", 38, 9);
}

#[test]
fn an_undefined_transition_halts_without_a_step() {
    check_steps("1RB---_1LA---", 2, 2);
    let machine = machine("1RB---_1LA---");
    assert_eq!(machine.missing(), Missing::Halt);
    let mut simulator = Simulator::new(&machine, &Input::blank());
    assert!(!simulator.run(10).accepting());
}

#[test]
fn the_spaced_variant_reads_the_same() {
    assert_eq!(machine("1RB 1LC  1RC ...  0LA 1RH\n"), machine("1RB1LC_1RC---_0LA1RH"));
    assert_eq!(machine("1RB ...\t \t1LA ---"), machine("1RB---_1LA---"));
}

#[test]
fn letters_beyond_the_rows_are_kept() {
    let machine = machine("1RZ0LH_---1RC");
    let names: Vec<&str> = machine.states().iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["A", "B", "Z", "H", "C"]);
    assert_eq!(write(&machine).unwrap(), "1RZ0LH_---1RC\n");
}

#[test]
fn errors_are_collected() {
    check_errors(
        "1RB2LB_1SA",
        &[
            "tape `tape` has no symbol `2`",
            "all rows must have the same number of cells, 2 as in row A",
            "unknown move `S`",
        ],
    );
    check_errors(" \n", &["there is no machine in this text"]);
    check_errors("é", &["a cell has three characters, this one has 1"]);
}
