//! Small machines lowered by hand.

use super::*;
use crate::{
    Access, Alphabet,
    Move::{Left, Right, Stay},
    Outcome, Pattern,
    Pattern::{Any, Is},
    Rule, Simulator, Write,
    Write::{Keep, Put},
};

const S0: SymbolId = SymbolId(0);
const S1: SymbolId = SymbolId(1);
const S2: SymbolId = SymbolId(2);

fn letters(text: &str, blank: u8) -> Alphabet {
    Alphabet::new(text.chars(), SymbolId(blank))
}

fn rule<const N: usize>(reads: [Pattern; N], writes: [Write; N], moves: [Move; N], next: StateId) -> Rule {
    Rule { reads: reads.into(), writes: writes.into(), moves: moves.into(), next }
}

/// Three symbols, the blank in the middle: codes a = 1, blank = 0, b = 2.
fn three_symbols() -> Machine {
    let mut b = Machine::builder();
    b.name("three");
    b.tape("work", letters("a_b", 1));
    let (p, q, end) = (b.state("p"), b.state("q"), b.halting_state("end", true));
    b.rule(p, [Is(S1)], [Put(S2)], [Right], q);
    b.rule(p, [Any], [Keep], [Stay], end);
    b.rule(q, [Is(S0)], [Put(S1)], [Left], p);
    b.rule(q, [Is(S2)], [Put(S0)], [Stay], end);
    b.build().unwrap()
}

fn tape_names(lowered: &Lowered) -> Vec<&str> {
    lowered.normal.machine().tapes().iter().map(|t| t.name.as_str()).collect()
}

#[test]
fn each_rule_becomes_one_rule_on_the_tracks() {
    let lowered = lower(&three_symbols(), Moves::Keep).unwrap();
    let machine = lowered.normal.machine();
    let [p, q, end] = [StateId(0), StateId(1), StateId(2)];
    assert_eq!(machine.name(), Some("three"));
    assert_eq!(tape_names(&lowered), ["work.0", "work.1"]);
    assert_eq!(
        machine.rules(p),
        [
            rule([Is(S0), Is(S0)], [Put(S0), Put(S1)], [Right, Right], q),
            rule([Any, Any], [Keep, Keep], [Stay, Stay], end),
        ]
    );
    assert_eq!(
        machine.rules(q),
        [
            rule([Is(S1), Is(S0)], [Put(S0), Put(S0)], [Left, Left], p),
            rule([Is(S0), Is(S1)], [Put(S1), Put(S0)], [Stay, Stay], end),
        ]
    );
    assert_eq!(machine.halting(end), Some(true));
    assert_eq!((machine.states().len(), lowered.steps_per_step()), (3, 1));
}

#[test]
fn strict_moves_go_through_the_cells_between() {
    let lowered = lower(&three_symbols(), Moves::Strict).unwrap();
    let machine = lowered.normal.machine();
    let names: Vec<&str> = machine.states().iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["p", "q", "end", "q.R", "end.L", "p.L"]);
    let [p, q, end, q_right, end_left, p_left] = [0, 1, 2, 3, 4, 5].map(StateId);
    assert_eq!(
        machine.rules(p),
        [
            rule([Is(S0), Is(S0)], [Put(S0), Put(S1)], [Right, Right], q_right),
            rule([Any, Any], [Keep, Keep], [Right, Right], end_left),
        ]
    );
    assert_eq!(
        machine.rules(q),
        [
            rule([Is(S1), Is(S0)], [Put(S0), Put(S0)], [Left, Left], p_left),
            rule([Is(S0), Is(S1)], [Put(S1), Put(S0)], [Right, Right], end_left),
        ]
    );
    assert_eq!(machine.rules(q_right), [rule([Any, Any], [Keep, Keep], [Right, Right], q)]);
    assert_eq!(machine.rules(end_left), [rule([Any, Any], [Keep, Keep], [Left, Left], end)]);
    assert_eq!(machine.rules(p_left), [rule([Any, Any], [Keep, Keep], [Left, Left], p)]);
    assert_eq!(lowered.decode_state(end), Some(end));
    assert_eq!(lowered.decode_state(q_right), None);
    assert_eq!([-4, -3, 0, 5].map(|h| lowered.decode_head(h)), [Some(-2), None, Some(0), None]);
}

#[test]
fn halving_states_differ_by_tape() {
    let mut b = Machine::builder();
    b.tape("x", Alphabet::binary());
    b.tape("y", Alphabet::binary());
    let p = b.state("p");
    b.state("p.RL");
    b.rule(p, [Is(S0), Any], [Put(S1), Keep], [Right, Stay], p);
    b.rule(p, [Is(S1), Any], [Put(S1), Keep], [Right, Left], p);
    b.rule(p, [Any, Any], [Keep, Keep], [Stay, Right], p);
    let lowered = lower(&b.build().unwrap(), Moves::Strict).unwrap();
    let machine = lowered.normal.machine();
    let names: Vec<&str> = machine.states().iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["p", "p.RL", "p.RL_", "p.LR"]);
    let first_halves: Vec<(&[Move], StateId)> =
        machine.rules(p).iter().map(|r| (r.moves.as_slice(), r.next)).collect();
    let (shared, other) = (StateId(2), StateId(3));
    assert_eq!(
        first_halves,
        [(&[Right, Right][..], shared), (&[Right, Left], shared), (&[Right, Right], other)]
    );
}

#[test]
fn a_stay_by_hand() {
    // Reads b, writes a, stays; then reads a, goes left onto the blank and finds no rule.
    let mut b = Machine::builder();
    let tape = b.tape("work", letters("_ab", 0));
    let (p, q) = (b.state("p"), b.state("q"));
    b.rule(p, [Is(S2)], [Put(S1)], [Stay], q);
    b.rule(q, [Is(S1)], [Keep], [Left], q);
    let machine = b.build().unwrap();
    let lowered = lower(&machine, Moves::Strict).unwrap();
    let input = lowered.encode(&crate::parse_inputs(&machine, &["a*b"]).unwrap());
    // Codes a = 01, b = 10 with a blank cell between; both heads on physical cell 2.
    assert_eq!(input.tapes.iter().map(|t| t.head).collect::<Vec<_>>(), [2, 2]);
    assert_eq!(input.tapes[0].symbols, [S1, S0, S0]);
    assert_eq!(input.tapes[1].symbols, [S0, S0, S1]);

    let mut simulator = Simulator::new(lowered.normal.machine(), &input);
    let mut heads = Vec::new();
    let outcome = loop {
        heads.push(simulator.head(TapeId(0)));
        assert_eq!(simulator.head(TapeId(1)), simulator.head(TapeId(0)));
        if let Err(outcome) = simulator.step() {
            break outcome;
        }
    };
    assert_eq!(heads, [2, 3, 2, 1, 0, -1, -2]);
    assert_eq!(outcome, Outcome::NoRule { state: q });
    let symbols = [-1, 0, 1, 2].map(|cell| lowered.decode_cell(tape, cell, |t, c| simulator.tape(t).read(c)));
    assert_eq!(symbols, [S0, S1, S1, S0].map(Some));
}

#[test]
fn strict_without_stays_is_the_same_machine() {
    let mut b = Machine::builder();
    b.tape("work", letters("abc", 2));
    let p = b.state("p");
    b.rule(p, [Is(S0)], [Put(S1)], [Right], p);
    b.rule(p, [Any], [Keep], [Left], p);
    let machine = b.build().unwrap();
    let (keep, strict) = (lower(&machine, Moves::Keep).unwrap(), lower(&machine, Moves::Strict).unwrap());
    assert_eq!(keep.normal, strict.normal);
    assert_eq!(strict.steps_per_step(), 1);
    let note = "no rule stays, so strict moves need no doubled cells";
    assert!(strict.to_string().ends_with(note) && !keep.to_string().contains(note));
}

#[test]
fn tracks_are_named_after_their_tapes() {
    let mut b = Machine::builder();
    b.read_only_tape("in", letters("_abcd", 0));
    b.tape("in.1", letters("x_", 1));
    b.tape("one", letters("_", 0));
    let p = b.state("p");
    b.rule(p, [Is(S1), Is(S0), Is(S0)], [Put(S1), Put(S1), Keep], [Right; 3], p);
    let lowered = lower(&b.build().unwrap(), Moves::Keep).unwrap();
    let machine = lowered.normal.machine();
    assert_eq!(tape_names(&lowered), ["in.0", "in.1_", "in.2", "in.1", "one"]);
    assert_eq!(machine.tapes()[3].alphabet, letters("_x", 0));
    assert_eq!(machine.tapes()[4].alphabet, Alphabet::binary());
    use Access::{ReadOnly, ReadWrite};
    let access: Vec<Access> = machine.tapes().iter().map(|t| t.access).collect();
    assert_eq!(access, [ReadOnly, ReadOnly, ReadOnly, ReadWrite, ReadWrite]);
    let expected = rule(
        [Is(S1), Is(S0), Is(S0), Is(S1), Is(S0)],
        [Put(S1), Put(S0), Put(S0), Put(S0), Keep],
        [Right; 5],
        p,
    );
    assert_eq!(machine.rules(p), [expected]);
    assert_eq!(lowered.tracks(TapeId(1)).collect::<Vec<_>>(), [TapeId(3)]);
}

#[test]
fn a_machine_in_normal_form_is_left_alone() {
    for moves in [Moves::Keep, Moves::Strict] {
        let once = lower(&three_symbols(), moves).unwrap().normal;
        assert_eq!(lower(once.machine(), moves).unwrap().normal, once);
    }
}

#[test]
fn codes_beyond_the_alphabet_are_no_symbol() {
    let lowered = lower(&three_symbols(), Moves::Keep).unwrap();
    let decode = |low: u8, high: u8| {
        lowered.decode_cell(TapeId(0), 0, |track, _| SymbolId([low, high][track.index()]))
    };
    assert_eq!(
        [decode(0, 0), decode(1, 0), decode(0, 1), decode(1, 1)],
        [Some(S1), Some(S0), Some(S2), None]
    );
}

#[test]
fn the_report_counts_both_sides() {
    let lowered = lower(&three_symbols(), Moves::Strict).unwrap();
    assert_eq!(lowered.before, Size { states: 3, tapes: 1, rules: 4, vertices: 7 });
    assert_eq!(lowered.after, Size { states: 6, tapes: 2, rules: 7, vertices: 12 });
    let table = "                before       after
states               3           6
tapes                1           2
rules                4           7
vertices             7          12
steps                1           2";
    assert_eq!(lowered.to_string(), table);
}

#[test]
fn refusals_name_the_numbers() {
    let mut b = Machine::builder();
    for i in 0..7 {
        b.tape(format!("t{i}"), letters("abcdefghi", 0));
    }
    b.state("p");
    let error = lower(&b.build().unwrap(), Moves::Keep).unwrap_err();
    assert_eq!(error, LoweringError::TooManyTracks { n_tapes: 7, n_tracks: 28 });
    assert_eq!(error.to_string(), "the 7 tapes need 28 binary tracks, but at most 24 are supported");

    let mut b = Machine::builder();
    b.tape("t", letters("abc", 0));
    b.halting_state("end", true);
    let error = lower(&b.build().unwrap(), Moves::Strict).unwrap_err();
    assert_eq!(error, LoweringError::NotNormal(NotNormal::StartHalts("end".to_owned())));
}

#[test]
fn expansion_lists_what_has_a_rule() {
    let mut b = Machine::builder();
    b.tape("x", letters("abc", 0));
    b.tape("y", Alphabet::binary());
    let (p, end) = (b.state("p"), b.halting_state("end", false));
    b.rule(p, [Is(S1), Any], [Put(S0), Keep], [Right, Stay], p);
    b.rule(p, [Any, Is(S0)], [Keep, Put(S1)], [Stay, Left], end);
    let machine = b.build().unwrap();
    let expanded = expand_wildcards(&machine, 4).unwrap();
    let expected = [
        rule([Is(S0), Is(S0)], [Keep, Put(S1)], [Stay, Left], end),
        rule([Is(S1), Is(S0)], [Put(S0), Keep], [Right, Stay], p),
        rule([Is(S1), Is(S1)], [Put(S0), Keep], [Right, Stay], p),
        rule([Is(S2), Is(S0)], [Keep, Put(S1)], [Stay, Left], end),
    ];
    assert_eq!(expanded.rules(p), expected);
    assert_eq!(expand_wildcards(&machine, 3), Err(TooManyRules { at_least: 4, most_rules: 3 }));
}

#[test]
fn expansion_refuses_before_it_fills_memory() {
    let mut b = Machine::builder();
    for i in 0..40 {
        b.tape(format!("t{i}"), letters("abcd", 0));
    }
    let p = b.state("p");
    b.rule(p, [Any; 40], [Keep; 40], [Right; 40], p);
    let error = expand_wildcards(&b.build().unwrap(), 1000).unwrap_err();
    assert_eq!(error, TooManyRules { at_least: usize::MAX, most_rules: 1000 });
}
