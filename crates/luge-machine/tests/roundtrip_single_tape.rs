//! Writes and reads machines in the single-tape formats: the result is the same machine if the format can express it, and
//! otherwise one with the same steps but other names, another order, or without wildcards.

use std::collections::{BTreeMap, BTreeSet};

use luge_machine::{
    Alphabet, Input, Machine, Missing, Move, Pattern, StateId, SymbolId, TapeInput, Write,
    formats::{Format, Loaded},
};
use proptest::{collection::vec, prelude::*, sample::subsequence};

const CASES: u32 = 2_000;

fn config() -> ProptestConfig {
    ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() }
}

/// What happens in a state on a symbol, whatever rule or state says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Event {
    Halts { accepting: bool },
    Rejects,
    Steps { write: SymbolId, head: Move, next: StateId },
}

fn event(machine: &Machine, state: StateId, symbol: SymbolId) -> Event {
    if let Some(accepting) = machine.halting(state) {
        return Event::Halts { accepting };
    }
    match machine.rule_for(state, &[symbol]) {
        Some(rule) => {
            let write = match rule.writes[0] {
                Write::Keep => symbol,
                Write::Put(symbol) => symbol,
            };
            Event::Steps { write, head: rule.moves[0], next: rule.next }
        }
        None if machine.missing() == Missing::Halt => Event::Halts { accepting: false },
        None => Event::Rejects,
    }
}

/// Follows both machines from their starts over all symbols of `symbols`, a map from one alphabet to the other.
fn check_same_steps(
    machine: &Machine,
    other: &Machine,
    symbols: &BTreeMap<SymbolId, SymbolId>,
) -> Result<(), TestCaseError> {
    let mut states = BTreeMap::from([(machine.start(), other.start())]);
    let mut pending = vec![(machine.start(), other.start())];
    while let Some((state, other_state)) = pending.pop() {
        for (&symbol, &other_symbol) in symbols {
            let found = event(other, other_state, other_symbol);
            let Event::Steps { write, head, next } = event(machine, state, symbol) else {
                prop_assert_eq!(found, event(machine, state, symbol));
                continue;
            };
            let Event::Steps { write: other_write, head: other_head, next: other_next } = found else {
                return Err(TestCaseError::fail(format!("{state} on {symbol}: {found:?} instead of a step")));
            };
            prop_assert_eq!((symbols.get(&write), head), (Some(&other_write), other_head));
            match states.insert(next, other_next) {
                Some(known) => prop_assert_eq!(known, other_next),
                None => pending.push((next, other_next)),
            }
        }
    }
    Ok(())
}

/// Any machine with one tape: wildcards, shadowed rules, stay moves, missing rules, halting states of both kinds.
fn any_machine(stay: bool, complete: bool) -> impl Strategy<Value = Machine> {
    let names = vec!["q", "0", "A", "halt", "Halt-reject", "a b", "null", "*", "Z", "é;", "rejected", "H"];
    let symbols = vec!["0", "1", "_", " ", "x", "B", "~", "é"];
    (subsequence(names, 1..=8).prop_shuffle(), subsequence(symbols, 1..=5).prop_shuffle()).prop_flat_map(
        move |(names, symbols)| {
            let (n_states, n_symbols) = (names.len(), symbols.len());
            let head =
                if stay { vec![Move::Left, Move::Stay, Move::Right] } else { vec![Move::Left, Move::Right] };
            let symbol = move || (0..n_symbols).prop_map(SymbolId::new);
            let read = prop_oneof![3 => symbol().prop_map(Pattern::Is), 1 => Just(Pattern::Any)];
            let write = prop_oneof![2 => symbol().prop_map(Write::Put), 1 => Just(Write::Keep)];
            let rule = (read, write, prop::sample::select(head), 0..n_states);
            let state = (vec(rule, 0..6), prop::option::weighted(0.25, any::<bool>()));
            let missing = prop::sample::select(vec![Missing::Halt, Missing::Reject]);
            (vec(state, n_states), 0..n_states, 0..n_symbols, missing).prop_map(
                move |(states, start, blank, missing)| {
                    let mut builder = Machine::builder();
                    builder.tape("t", Alphabet::new(symbols.clone(), SymbolId::new(blank)));
                    builder.missing(missing).start(StateId::new(start));
                    for name in &names {
                        builder.push_state((*name).to_owned());
                    }
                    for (q, (rules, halting)) in states.into_iter().enumerate() {
                        let q = StateId::new(q);
                        if let Some(accepting) = halting {
                            builder.halt_in(q, accepting);
                            continue;
                        }
                        for (read, write, head, next) in rules {
                            builder.rule(q, [read], [write], [head], StateId::new(next));
                        }
                        if complete {
                            builder.rule(q, [Pattern::Any], [Write::Keep], [Move::Right], q);
                        }
                    }
                    builder.build().expect("a consistent machine")
                },
            )
        },
    )
}

fn running(machine: &Machine) -> impl Iterator<Item = StateId> {
    machine.state_ids().filter(|&q| machine.halting(q).is_none())
}

/// All that happens in the running states.
fn events(machine: &Machine) -> Vec<Event> {
    let symbols = || machine.tapes()[0].alphabet.symbols();
    running(machine).flat_map(|q| symbols().map(move |s| event(machine, q, s))).collect()
}

/// Whether a format can express the machine; the machines here have few states and symbols.
fn expressible(format: Format, machine: &Machine) -> bool {
    let events = events(machine);
    let stays = events.iter().any(|e| matches!(e, Event::Steps { head: Move::Stay, .. }));
    let stops = events.iter().any(|e| matches!(e, Event::Halts { .. }));
    let rejects = events.contains(&Event::Rejects);
    let enters = |accepting: bool| {
        let entered =
            |e: &Event| matches!(e, Event::Steps { next, .. } if machine.halting(*next) == Some(accepting));
        events.iter().any(entered)
    };
    let start_runs = machine.halting(machine.start()).is_none();
    let alphabet = &machine.tapes()[0].alphabet;
    match format {
        Format::Bbchallenge => start_runs && !stays && !rejects && !enters(false),
        Format::TuringMachineIo => !stays && !rejects,
        _ => {
            let blank = alphabet.name(alphabet.blank());
            let spelled = |name: &str| name != " " && (name != "_" || blank != " ");
            let mut others = alphabet.names().iter().filter(|name| *name != blank);
            start_runs && !stops && !rejects && others.all(|name| spelled(name))
        }
    }
}

/// Where each symbol went; symbols that were left out are missing.
fn symbol_map(format: Format, machine: &Machine, other: &Machine) -> BTreeMap<SymbolId, SymbolId> {
    let (from, to) = (&machine.tapes()[0].alphabet, &other.tapes()[0].alphabet);
    let pairs: Vec<(SymbolId, Option<SymbolId>)> = match format {
        Format::Bbchallenge => {
            let others = from.symbols().filter(|&s| s != from.blank());
            [from.blank()].into_iter().chain(others).zip((0..).map(|s| Some(SymbolId(s)))).collect()
        }
        _ => {
            let name = |s: SymbolId| match from.name(s) {
                _ if format == Format::TuringMachineIo => from.name(s),
                _ if s == from.blank() => "_",
                "_" => from.name(from.blank()),
                name => name,
            };
            from.symbols().map(|s| (s, to.find(name(s)))).collect()
        }
    };
    pairs.into_iter().filter_map(|(from, to)| to.map(|to| (from, to))).collect()
}

fn read(format: Format, text: &str) -> Result<Loaded, TestCaseError> {
    format.read(text).map_err(|errors| TestCaseError::fail(format!("{text}\n{errors:?}")))
}

fn check_behaviour(format: Format, machine: &Machine) -> Result<bool, TestCaseError> {
    let written = format.write(machine, None);
    prop_assert_eq!(written.is_ok(), expressible(format, machine), "{:?}", written);
    let Ok(text) = written else { return Ok(false) };
    let loaded = read(format, &text)?;
    prop_assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let symbols = symbol_map(format, machine, &loaded.machine);
    let all: BTreeSet<SymbolId> = machine.tapes()[0].alphabet.symbols().collect();
    if format == Format::TuringMachineIo {
        // A symbol may be left out where no rule names or meets it.
        let met = |s: SymbolId| running(machine).any(|q| machine.rule_for(q, &[s]).is_some());
        prop_assert!(all.iter().all(|s| symbols.contains_key(s) || !met(*s)), "{}", text);
    } else {
        prop_assert_eq!(symbols.len(), all.len(), "{}", text);
    }
    check_same_steps(machine, &loaded.machine, &symbols)?;
    let again = format.write(&loaded.machine, None);
    prop_assert_eq!(read(format, &again.expect("what was read can be written"))?, loaded);
    Ok(true)
}

/// Every machine that can be written behaves the same when read; the rest is refused.
fn check_all_behave(format: Format) {
    let mut n_written = 0;
    for (stay, complete) in [(true, true), (false, true), (false, false)] {
        let cell = std::cell::Cell::new(0);
        proptest!(config(), |(machine in any_machine(stay, complete))| {
            if check_behaviour(format, &machine)? {
                cell.set(cell.get() + 1);
            }
        });
        n_written += cell.get();
    }
    assert!(n_written >= 1_000, "only {n_written} machines could be written");
}

fn check_identity(format: Format, machine: &Machine, input: Option<&Input>) -> Result<(), TestCaseError> {
    let text = format.write(machine, input).map_err(|e| TestCaseError::fail(e.to_string()))?;
    let loaded = read(format, &text)?;
    prop_assert_eq!(&loaded.machine, machine, "{}", text);
    prop_assert_eq!(loaded.input.as_ref(), input, "{}", text);
    Ok(())
}

#[test]
fn bbchallenge_behaves_the_same_when_read_back() {
    check_all_behave(Format::Bbchallenge);
}

#[test]
fn morphett_behaves_the_same_when_read_back() {
    check_all_behave(Format::Morphett);
}

#[test]
fn turingmachine_io_behaves_the_same_when_read_back() {
    check_all_behave(Format::TuringMachineIo);
}

/// Machines named and ordered as a bbchallenge line has them.
fn bbchallenge_machine() -> impl Strategy<Value = Machine> {
    (1..=26_usize, 1..=10_usize).prop_flat_map(|(n_states, n_symbols)| {
        let cell = (0..n_symbols, any::<bool>(), 0..26_u8);
        vec(vec(prop::option::weighted(0.9, cell), n_symbols), n_states).prop_map(move |rows| {
            let mut builder = Machine::builder();
            builder.missing(Missing::Halt);
            builder.tape("tape", Alphabet::new((0..n_symbols).map(|s| s.to_string()), SymbolId(0)));
            for letter in ('A'..='Z').take(n_states) {
                builder.state(letter.to_string());
            }
            for (row, state) in rows.into_iter().zip(0..) {
                for (cell, symbol) in row.into_iter().zip(0..) {
                    let Some((write, left, next)) = cell else { continue };
                    let name = char::from(b'A' + next).to_string();
                    let halts = usize::from(next) >= n_states;
                    let next = if halts { builder.halting_state(name, true) } else { builder.state(name) };
                    let head = if left { Move::Left } else { Move::Right };
                    let (read, write) = (Pattern::Is(SymbolId(symbol)), Write::Put(SymbolId::new(write)));
                    builder.rule(StateId(state), [read], [write], [head], next);
                }
            }
            builder.build().expect("a consistent machine")
        })
    })
}

/// Symbols sorted, the blank first.
fn sorted_symbols(blank: &'static str) -> impl Strategy<Value = Vec<&'static str>> {
    let others = vec!["!", "#", "0", "1", ":", "B", "a", "z", "~", "é", "日"];
    let others: Vec<&str> = others.into_iter().filter(|s| *s != blank).collect();
    subsequence(others, 0..=6).prop_map(move |others| [blank].into_iter().chain(others).collect())
}

/// Machines named and ordered as an import of Morphett's rules leaves them.
fn morphett_machine() -> impl Strategy<Value = Machine> {
    let names = vec!["q", "1i", "whalt", "é", "!", "**", "HAL"];
    (subsequence(names, 0..=5).prop_shuffle(), sorted_symbols("_")).prop_flat_map(|(names, symbols)| {
        let n_symbols = symbols.len();
        let halts = ["halt", "halt-reject", "HaltReJected", "HALT2"];
        let n_names = names.len() + 1 + halts.len();
        let head = prop::sample::select(vec![Move::Left, Move::Stay, Move::Right]);
        let action = (prop::option::of(0..n_symbols), head, 0..n_names);
        let order = Just((0..n_symbols).collect::<Vec<_>>()).prop_shuffle();
        let state = (vec(action, n_symbols + 1), order, 0..=n_symbols);
        vec(state, names.len() + 1).prop_map(move |states| {
            let mut builder = Machine::builder();
            builder.tape("tape", Alphabet::new(symbols.clone(), SymbolId(0)));
            let running: Vec<&str> = ["0"].into_iter().chain(names.iter().copied()).collect();
            for name in &running {
                builder.state(name);
            }
            for (q, (actions, order, n_specific)) in states.into_iter().enumerate() {
                // The start names every symbol, so that none is lost.
                let n_specific = if q == 0 { n_symbols } else { n_specific };
                let specific = order.iter().take(n_specific).map(|&s| Pattern::Is(SymbolId::new(s)));
                let rest = (n_specific < n_symbols).then_some(Pattern::Any);
                for (read, (write, head, next)) in specific.chain(rest).zip(actions) {
                    let next = match running.get(next) {
                        Some(name) => builder.state(name),
                        None => {
                            let name = halts[next - running.len()];
                            builder.halting_state(name, !name.to_lowercase().contains("reject"))
                        }
                    };
                    let write = write.map_or(Write::Keep, |s| Write::Put(SymbolId::new(s)));
                    builder.rule(StateId::new(q), [read], [write], [head], next);
                }
            }
            builder.build().expect("a consistent machine")
        })
    })
}

/// Machines with sorted symbols, all of them on the input, and states in any order.
fn turingmachine_io_machine() -> impl Strategy<Value = (Machine, Input)> {
    let names = vec!["", "a", "L", "null", "a b", "it's", "- x", "7", "\u{7}\n\t\"\\", "#é", "yes", "{"];
    (subsequence(names, 1..=8).prop_shuffle(), sorted_symbols("~")).prop_flat_map(|(names, symbols)| {
        let (n_states, n_symbols) = (names.len(), symbols.len());
        let action = (prop::option::of(0..n_symbols), any::<bool>(), 0..n_states);
        let order = Just((0..n_symbols).collect::<Vec<_>>()).prop_shuffle();
        let state = prop::option::weighted(0.8, (vec(action, n_symbols), order.clone(), 0..=n_symbols));
        let name = prop::option::of("[ -~é]{0,12}");
        (vec(state, n_states), 0..n_states, order, name).prop_map(move |(states, start, input, name)| {
            let mut builder = Machine::builder();
            builder.missing(Missing::Halt);
            if let Some(name) = name {
                builder.name(name);
            }
            builder.tape("tape", Alphabet::new(symbols.clone(), SymbolId(0)));
            for name in &names {
                builder.push_state((*name).to_owned());
            }
            for (q, state) in states.into_iter().enumerate() {
                let q = StateId::new(q);
                let Some((actions, order, n_listed)) = state else {
                    builder.halt_in(q, true);
                    continue;
                };
                for (symbol, (write, left, next)) in order.into_iter().take(n_listed).zip(actions) {
                    let write = write.map_or(Write::Keep, |s| Write::Put(SymbolId::new(s)));
                    let head = if left { Move::Left } else { Move::Right };
                    let read = Pattern::Is(SymbolId::new(symbol));
                    builder.rule(q, [read], [write], [head], StateId::new(next));
                }
            }
            builder.start(StateId::new(start));
            let symbols = input.into_iter().map(SymbolId::new).collect();
            let input = Input { tapes: vec![TapeInput { symbols, head: 0 }] };
            (builder.build().expect("a consistent machine"), input)
        })
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn bbchallenge_reads_what_it_writes(machine in bbchallenge_machine()) {
        check_identity(Format::Bbchallenge, &machine, None)?;
    }

    #[test]
    fn morphett_reads_what_it_writes(machine in morphett_machine()) {
        check_identity(Format::Morphett, &machine, None)?;
    }

    #[test]
    fn turingmachine_io_reads_what_it_writes((machine, input) in turingmachine_io_machine()) {
        check_identity(Format::TuringMachineIo, &machine, Some(&input))?;
    }
}
