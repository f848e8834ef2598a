//! Writes and reads random machines in the formats with several tapes.

use luge_machine::{
    Access, Alphabet, Input, Machine, Missing, Move, Pattern, Rule, SampleUse, StateId, SymbolId, TapeInput,
    Write,
    formats::{Format, Loaded},
};
use proptest::prelude::*;

/// What a random machine may use.
#[derive(Clone, Copy, Debug)]
struct Kit {
    names: &'static [&'static str],
    state_names: &'static [&'static str],
    everything: bool,
}

/// Names that need quotes, look like syntax, or both.
const ODD: Kit = Kit {
    names: &[
        "0",
        "1",
        "_",
        "*",
        "#",
        "->",
        "a b",
        ",",
        ":",
        "blank",
        "head",
        "\"",
        "\\",
        "é\n",
        "",
        "read-only",
    ],
    state_names: &[
        "A", "start", "missing", "machine", "tape", "", "a,b", "x -> y", "accept", "\u{7f}", "#1", "input",
    ],
    everything: true,
};

/// Names of one character, as the other formats have them.
const PLAIN: Kit = Kit {
    names: &["_", "0", "1", "x", "*", "#", "/", "<", "&", "!", "}", "é"],
    state_names: &["q0", "q1", "a b", "ünder", "<s>", "q:1", "\"q\"", "7"],
    everything: false,
};

fn some_of(
    names: &'static [&'static str],
    n: std::ops::RangeInclusive<usize>,
) -> impl Strategy<Value = Vec<&'static str>> {
    proptest::sample::subsequence(names, n).prop_shuffle()
}

/// 1 to 3 tapes with 2 to 5 symbols each, wildcards and stay moves; read-only tapes and all ways of halting if `kit.everything`.
fn machine(kit: Kit) -> impl Strategy<Value = Machine> {
    let tape = (some_of(kit.names, 2..=5), any::<proptest::sample::Index>(), any::<bool>());
    let tapes = prop::collection::vec(tape, 1..=3);
    let states = some_of(kit.state_names, 1..=5);
    (tapes, states, any::<bool>(), proptest::option::of("[a-z]{1,3}( [a-z]{1,3})?")).prop_flat_map(
        move |(tapes, states, halt_on_missing, name)| {
            let part = (any::<u8>(), any::<u8>(), any::<u8>());
            let rule = (prop::collection::vec(part, tapes.len()), any::<u8>());
            let kinds = prop::collection::vec((0..6_u8, prop::collection::vec(rule, 0..6)), states.len());
            (kinds, any::<u8>()).prop_map(move |(kinds, start)| {
                let mut b = Machine::builder();
                if let Some(name) = &name {
                    b.name(name.as_str());
                }
                for (index, (symbols, blank, read_only)) in tapes.iter().enumerate() {
                    let blank = if kit.everything {
                        blank.index(symbols.len())
                    } else {
                        symbols.iter().position(|&s| s == "_").unwrap_or(blank.index(symbols.len()))
                    };
                    let alphabet = Alphabet::new(symbols.iter().copied(), SymbolId::new(blank));
                    let access =
                        if kit.everything && *read_only { Access::ReadOnly } else { Access::ReadWrite };
                    let name = if kit.everything { kit.names[index] } else { ["a", "b", "c"][index] };
                    b.tape_with(name, alphabet, access);
                }
                for state in &states {
                    b.push_state((*state).to_owned());
                }
                for (index, (kind, rules)) in kinds.iter().enumerate() {
                    let state = StateId::new(index);
                    match kind {
                        0 => {
                            b.halt_in(state, true);
                        }
                        1 if kit.everything => {
                            b.halt_in(state, false);
                        }
                        _ => {
                            let samples = match kind {
                                2 if kit.everything => SampleUse::Take,
                                3 if kit.everything => SampleUse::Latch,
                                _ => SampleUse::Pass,
                            };
                            b.samples_in(state, samples);
                            for (parts, next) in rules {
                                b.push_rule(
                                    state,
                                    rule_of(
                                        parts,
                                        &tapes,
                                        kit,
                                        StateId(u32::from(*next) % states.len() as u32),
                                    ),
                                );
                            }
                        }
                    }
                }
                b.start(StateId(u32::from(start) % states.len() as u32));
                b.missing(if halt_on_missing && kit.everything { Missing::Halt } else { Missing::Reject });
                b.build().expect("a valid machine")
            })
        },
    )
}

fn rule_of(
    parts: &[(u8, u8, u8)],
    tapes: &[(Vec<&'static str>, proptest::sample::Index, bool)],
    kit: Kit,
    next: StateId,
) -> Rule {
    let mut rule = Rule { reads: Vec::new(), writes: Vec::new(), moves: Vec::new(), next };
    for (&(read, write, head_move), (symbols, _, read_only)) in parts.iter().zip(tapes) {
        let pick = |n: u8| SymbolId::new(usize::from(n / 4) % symbols.len());
        let read = if read % 4 == 0 { Pattern::Any } else { Pattern::Is(pick(read)) };
        let write = match (read, kit.everything && *read_only) {
            (Pattern::Is(symbol), true) if write % 4 == 1 => Write::Put(symbol),
            (_, true) => Write::Keep,
            _ if write % 4 == 0 => Write::Keep,
            _ => Write::Put(pick(write)),
        };
        rule.reads.push(read);
        rule.writes.push(write);
        rule.moves.push([Move::Left, Move::Stay, Move::Right][usize::from(head_move % 3)]);
    }
    rule
}

/// A machine and an input for it; the last tape's entry may be empty.
fn machine_with_input(kit: Kit) -> impl Strategy<Value = (Machine, Option<Input>)> {
    machine(kit).prop_flat_map(|machine| {
        let laid = (prop::collection::vec(any::<u8>(), 0..6), -3..9_i64);
        let input = proptest::option::of(prop::collection::vec(laid, 1..=machine.n_tapes()));
        input.prop_map(move |input| {
            let tapes = |laid: Vec<(Vec<u8>, i64)>| {
                let symbols = |tape: usize, symbols: Vec<u8>| {
                    let n = machine.tapes()[tape].alphabet.len();
                    symbols.into_iter().map(|s| SymbolId::new(usize::from(s) % n)).collect()
                };
                let tape = |(tape, (laid, head))| TapeInput { symbols: symbols(tape, laid), head };
                laid.into_iter().enumerate().map(tape).collect()
            };
            (machine.clone(), input.map(|laid| Input { tapes: tapes(laid) }))
        })
    })
}

fn reread(format: Format, text: &str) -> Loaded {
    format.read(text).unwrap_or_else(|errors| {
        let listed: Vec<String> = errors.iter().map(|e| e.one_line(text)).collect();
        panic!("{}\n{text}", listed.join("\n"))
    })
}

/// Both machines do the same in every state on all symbols; states go by name, symbols too, but blank by blank.
fn assert_same_behaviour(a: &Machine, b: &Machine) {
    assert_eq!(a.n_tapes(), b.n_tapes());
    assert_eq!(a.states().len(), b.states().len());
    let symbol = |tape: usize, s: SymbolId| {
        let (a, b) = (&a.tapes()[tape].alphabet, &b.tapes()[tape].alphabet);
        if s == a.blank() { b.blank() } else { b.find(a.name(s)).expect("the symbol is kept") }
    };
    let state = |q: StateId| b.find_state(&a.state(q).name).expect("the state is kept");
    for (one, other) in a.tapes().iter().zip(b.tapes()) {
        assert_eq!(one.alphabet.len(), other.alphabet.len());
    }
    assert_eq!(state(a.start()), b.start());
    for q in a.state_ids() {
        assert_eq!(a.halting(q), b.halting(state(q)));
        for reads in a.situations(&vec![Pattern::Any; a.n_tapes()]) {
            let there: Vec<SymbolId> = reads.iter().enumerate().map(|(t, &s)| symbol(t, s)).collect();
            let (here, there_rule) = (a.rule_for(q, &reads), b.rule_for(state(q), &there));
            assert_eq!(here.is_some(), there_rule.is_some());
            let (Some(rule), Some(other)) = (here, there_rule) else { continue };
            assert_eq!(state(rule.next), other.next);
            assert_eq!(rule.moves, other.moves);
            for tape in 0..reads.len() {
                let written = |write: Write, read: SymbolId| match write {
                    Write::Keep => read,
                    Write::Put(symbol) => symbol,
                };
                let expected = symbol(tape, written(rule.writes[tape], reads[tape]));
                assert_eq!(expected, written(other.writes[tape], there[tape]));
            }
        }
    }
}

/// A format that drops some names and orders: what it writes does the same, and from then on nothing changes any more.
fn check_lossy(format: Format, machine: &Machine) -> bool {
    let Ok(text) = format.write(machine, None) else { return false };
    let read = reread(format, &text).machine;
    assert_same_behaviour(machine, &read);
    let again = format.write(&read, None).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(reread(format, &again).machine, read, "{again}");
    true
}

/// Random machines, of which the format must be able to write at least a quarter.
fn check_many(format: Format) {
    let (mut n_cases, mut n_written) = (0, 0);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(4000));
    let counts = std::cell::RefCell::new((&mut n_cases, &mut n_written));
    let result = runner.run(&machine(PLAIN), |machine| {
        let written = check_lossy(format, &machine);
        let mut counts = counts.borrow_mut();
        *counts.0 += 1;
        *counts.1 += i32::from(written);
        Ok(())
    });
    result.unwrap_or_else(|e| panic!("{e}"));
    assert!(n_written >= 1000, "only {n_written} of {n_cases} machines could be written");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn native_keeps_everything((machine, input) in machine_with_input(ODD)) {
        let text = Format::Native.write(&machine, input.as_ref()).expect("native writes every machine");
        let loaded = reread(Format::Native, &text);
        prop_assert_eq!(loaded.machine, machine, "{}", text);
        prop_assert_eq!(loaded.input, input, "{}", text);
    }
}

#[test]
fn turingmachinesimulator_keeps_what_the_machine_does() {
    check_many(Format::TuringMachineSimulator);
}

#[test]
fn jflap_keeps_what_the_machine_does() {
    check_many(Format::Jflap);
}

/// A machine whose names and orders are those the formats give themselves comes back equal, not only alike.
#[test]
fn canonical_machine_comes_back_equal() {
    let mut b = Machine::builder();
    let alphabet = || Alphabet::new(["_", "0", "1"], SymbolId(0));
    b.tape("tape1", alphabet());
    b.tape("tape2", alphabet());
    let (q, done, r) = (b.state("q"), b.halting_state("done", true), b.state("r"));
    let [blank, zero, one] = [0, 1, 2].map(|s| Pattern::Is(SymbolId(s)));
    let [put_blank, put_zero, put_one] = [0, 1, 2].map(|s| Write::Put(SymbolId(s)));
    b.rule(q, [zero, zero], [put_one, put_one], [Move::Right, Move::Stay], r);
    b.rule(r, [one, blank], [put_blank, put_zero], [Move::Left, Move::Left], q);
    b.rule(r, [blank, one], [put_one, put_blank], [Move::Stay, Move::Right], done);
    let machine = b.build().unwrap();
    for format in [Format::TuringMachineSimulator, Format::Jflap] {
        let text = format.write(&machine, None).unwrap();
        assert_eq!(reread(format, &text).machine, machine, "{text}");
    }
    assert!(machine.states().iter().any(|s| s.halting == Some(true)));
}
