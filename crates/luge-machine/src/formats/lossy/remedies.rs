//! The changes themselves, each for one kind of refusal.

use std::collections::HashSet;

use super::Loss;
use crate::{
    Access, Alphabet, Machine, Missing, Move, Pattern, Rule, SampleUse, State, StateId, StateKind, SymbolId,
    Tape, Write,
    formats::{
        Format, Inexpressible, Obstacle, expand::live_rules, jflap, morphett, pieces::only_character,
        turingmachine_io, turingmachinesimulator,
    },
};

/// Changes the machine so that this refusal does not come again; no loss means that nothing could be done.
pub(super) fn apply(refusal: &Inexpressible, machine: &mut Machine) -> Vec<Loss> {
    let format = refusal.format;
    match &refusal.obstacle {
        Obstacle::Tapes { .. } | Obstacle::Input(_) | Obstacle::Samples(_) => Vec::new(),
        Obstacle::Stay(_) => two_steps(machine),
        Obstacle::ReadOnly(_) => writable(machine),
        Obstacle::Halting(_) => match format {
            Format::Native => Vec::new(),
            Format::Bbchallenge => halts_by_missing_rules(machine, Missing::Halt, true),
            Format::TuringMachineIo => halts_by_missing_rules(machine, Missing::Halt, false),
            Format::TuringMachineSimulator | Format::Jflap => {
                halts_by_missing_rules(machine, Missing::Reject, false)
            }
            Format::Morphett => steps_into_halt(machine),
        },
        Obstacle::States(_) => {
            let renamed = rename_states(format, machine);
            if renamed.is_empty() { without_idle_states(format, machine) } else { renamed }
        }
        Obstacle::Alphabet { tape, .. } => {
            let Some(index) = machine.tapes.iter().position(|t| t.name == *tape) else { return Vec::new() };
            let renamed = rename_symbols(format, machine, index);
            if renamed.is_empty() { without_idle_symbols(machine, index) } else { renamed }
        }
    }
}

/// Leaves out the rules that never apply, so that nothing is kept for their sake. That is no loss.
pub(super) fn without_dead_rules(machine: &mut Machine) {
    for state in machine.state_ids() {
        let Ok(live) = live_rules(machine, state) else { continue };
        if let StateKind::Running(rules) = &mut machine.states[state.index()].kind {
            let mut is_live = live.iter();
            rules.retain(|_| is_live.next().is_some_and(|&live| live));
        }
    }
}

fn name(machine: &Machine, state: StateId) -> String {
    machine.state(state).name.clone()
}

fn rules_mut(machine: &mut Machine) -> impl Iterator<Item = &mut Rule> {
    machine.states.iter_mut().flat_map(|state| match &mut state.kind {
        StateKind::Running(rules) => rules.as_mut_slice(),
        StateKind::Halting { .. } => &mut [],
    })
}

/// A name that no state has, made from this one.
fn free_name(machine: &Machine, wish: &str) -> String {
    let numbered = (2_u64..).map(|n| format!("{wish}-{n}"));
    let mut names = [wish.to_owned()].into_iter().chain(numbered);
    names.find(|name| machine.find_state(name).is_none()).unwrap_or_default()
}

/// Adds a state, called so if that is free.
fn push_state(machine: &mut Machine, wish: &str, kind: StateKind) -> StateId {
    let name = free_name(machine, wish);
    machine.states.push(State { name, kind, samples: SampleUse::Pass });
    StateId::new(machine.states.len() - 1)
}

/// A rule of a machine with one tape that keeps whatever it finds.
fn passing(head: Move, next: StateId) -> Rule {
    Rule { reads: vec![Pattern::Any], writes: vec![Write::Keep], moves: vec![head], next }
}

fn writable(machine: &mut Machine) -> Vec<Loss> {
    let marked = machine.tapes.iter_mut().filter(|tape| tape.access == Access::ReadOnly);
    let tapes: Vec<String> = marked
        .map(|tape| {
            tape.access = Access::ReadWrite;
            tape.name.clone()
        })
        .collect();
    if tapes.is_empty() { Vec::new() } else { vec![Loss::ReadOnly(tapes)] }
}

/// States that halt without accepting, and a start that halts where it must not, become states without rules; and a missing
/// rule means what it means in the file.
fn halts_by_missing_rules(machine: &mut Machine, missing: Missing, start_runs: bool) -> Vec<Loss> {
    let mut lost = Vec::new();
    let without_rule = machine.state_ids().any(|q| machine.halting(q).is_none() && !machine.is_total(q));
    if machine.missing != missing && without_rule {
        lost.push(match missing {
            Missing::Halt => Loss::MissingHalts,
            Missing::Reject => Loss::MissingRejects,
        });
    }
    let mut states = Vec::new();
    for state in machine.state_ids() {
        let is_start = state == machine.start && start_runs;
        match machine.halting(state) {
            Some(true) if is_start => lost.push(Loss::StartAccepts(name(machine, state))),
            Some(false) => states.push(name(machine, state)),
            _ => continue,
        }
        machine.states[state.index()].kind = StateKind::Running(Vec::new());
    }
    machine.missing = missing;
    if !states.is_empty() {
        lost.push(Loss::Rejecting(states));
    }
    lost
}

/// Every missing rule becomes one that leads into a halting state, and so does a start that halts.
fn steps_into_halt(machine: &mut Machine) -> Vec<Loss> {
    let mut lost = Vec::new();
    if machine.halting(machine.start).is_some() {
        lost.push(Loss::StartSteps(name(machine, machine.start)));
        let kind = StateKind::Running(vec![passing(Move::Stay, machine.start)]);
        machine.start = push_state(machine, "start", kind);
    }
    let partial: Vec<StateId> =
        machine.state_ids().filter(|&q| machine.halting(q).is_none() && !machine.is_total(q)).collect();
    if partial.is_empty() {
        return lost;
    }
    let known = machine.find_state(morphett::NO_RULE).filter(|&q| machine.halting(q) == Some(false));
    let dead = known
        .unwrap_or_else(|| push_state(machine, morphett::NO_RULE, StateKind::Halting { accepting: false }));
    for state in partial {
        if let StateKind::Running(rules) = &mut machine.states[state.index()].kind {
            rules.push(passing(Move::Stay, dead));
        }
    }
    lost.push(Loss::MissingSteps);
    lost
}

/// Rules that stay go right into a state that goes back.
fn two_steps(machine: &mut Machine) -> Vec<Loss> {
    let stays = |rule: &Rule| rule.moves == [Move::Stay];
    let mut back: Vec<Option<StateId>> = vec![None; machine.states.len()];
    let mut n_rules = 0;
    for state in machine.state_ids() {
        for index in 0..machine.rules(state).len() {
            let rule = &machine.rules(state)[index];
            if !stays(rule) {
                continue;
            }
            let next = rule.next;
            let returning = back[next.index()].unwrap_or_else(|| {
                let wish = format!("{}-back", name(machine, next));
                push_state(machine, &wish, StateKind::Running(vec![passing(Move::Left, next)]))
            });
            back[next.index()] = Some(returning);
            if let StateKind::Running(rules) = &mut machine.states[state.index()].kind {
                rules[index].moves = vec![Move::Right];
                rules[index].next = returning;
                n_rules += 1;
            }
        }
    }
    if n_rules == 0 { Vec::new() } else { vec![Loss::Stay(n_rules)] }
}

fn rename_states(format: Format, machine: &mut Machine) -> Vec<Loss> {
    let fits = |name: &str| match format {
        Format::TuringMachineSimulator => turingmachinesimulator::spells_state(name),
        Format::Jflap => jflap::spells_state(name),
        Format::TuringMachineIo => turingmachine_io::spells_state(name),
        Format::Native | Format::Bbchallenge | Format::Morphett => true,
    };
    let mut lost = Vec::new();
    for index in 0..machine.states.len() {
        let from = machine.states[index].name.clone();
        if fits(&from) {
            continue;
        }
        let plain: String = from
            .chars()
            .take(64)
            .map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' })
            .collect();
        let to = free_name(machine, if plain.is_empty() { "state" } else { &plain });
        machine.states[index].name.clone_from(&to);
        lost.push(Loss::StateRenamed { from, to });
    }
    lost
}

/// Leaves out the states that nothing leads to. A format that lists only what rules mention keeps those with rules.
fn without_idle_states(format: Format, machine: &mut Machine) -> Vec<Loss> {
    let mut kept = vec![false; machine.states.len()];
    if format == Format::TuringMachineSimulator {
        for state in machine.state_ids() {
            let rules = machine.rules(state);
            kept[state.index()] |= !rules.is_empty() || machine.halting(state).is_some();
            rules.iter().for_each(|rule| kept[rule.next.index()] = true);
        }
        kept[machine.start.index()] = true;
    } else {
        let mut pending = vec![machine.start];
        while let Some(state) = pending.pop() {
            if !std::mem::replace(&mut kept[state.index()], true) {
                pending.extend(machine.rules(state).iter().map(|rule| rule.next));
            }
        }
    }
    let states: Vec<String> =
        machine.state_ids().filter(|q| !kept[q.index()]).map(|q| name(machine, q)).collect();
    if states.is_empty() {
        return Vec::new();
    }
    let mut places = Vec::new();
    let mut n_kept = 0;
    for &kept in &kept {
        places.push(StateId::new(n_kept));
        n_kept += usize::from(kept);
    }
    rules_mut(machine).for_each(|rule| rule.next = places[rule.next.index()]);
    machine.start = places[machine.start.index()];
    let mut is_kept = kept.iter();
    machine.states.retain(|_| is_kept.next().is_some_and(|&kept| kept));
    vec![Loss::States(states)]
}

/// Gives a character of its own to every symbol that the format cannot spell.
fn rename_symbols(format: Format, machine: &mut Machine, index: usize) -> Vec<Loss> {
    let Tape { name: tape, alphabet, .. } = &machine.tapes[index];
    let fits = |symbol: SymbolId, name: &str| {
        let single = only_character(name);
        let is_blank = symbol == alphabet.blank();
        match (format, single) {
            (Format::Native | Format::Bbchallenge, _) => true,
            (Format::TuringMachineIo, single) => single.is_some(),
            (_, _) if is_blank => true,
            (_, None) => false,
            (Format::TuringMachineSimulator, Some(c)) => !",_".contains(c) && !c.is_whitespace(),
            (Format::Jflap, Some(c)) => !"~□".contains(c) && !c.is_whitespace() && jflap::is_xml(c),
            (Format::Morphett, Some(c)) => !"*;_".contains(c) && !c.is_whitespace(),
        }
    };
    let mut names = alphabet.names().to_vec();
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut lost = Vec::new();
    for symbol in alphabet.symbols() {
        let from = alphabet.name(symbol);
        if fits(symbol, from) {
            continue;
        }
        let first = from.chars().next().filter(|c| c.is_alphanumeric());
        let others = ('a'..='z').chain('A'..='Z').chain('0'..='9').chain('\u{c0}'..='\u{24f}');
        let free = first.into_iter().chain(others).map(String::from).find(|name| !taken.contains(name));
        let Some(to) = free else { return Vec::new() };
        taken.insert(to.clone());
        names[symbol.index()].clone_from(&to);
        lost.push(Loss::SymbolRenamed { tape: tape.clone(), from: from.to_owned(), to });
    }
    let blank = alphabet.blank();
    machine.tapes[index].alphabet = Alphabet::new(names, blank);
    lost
}

/// Leaves out the symbols of a tape that no rule names: nothing can write them.
fn without_idle_symbols(machine: &mut Machine, index: usize) -> Vec<Loss> {
    let Tape { name: tape, alphabet, .. } = &machine.tapes[index];
    let mut kept = vec![false; alphabet.len()];
    kept[alphabet.blank().index()] = true;
    for rule in machine.state_ids().flat_map(|state| machine.rules(state)) {
        let named = [rule.reads[index].symbol(), rule.writes[index].symbol()];
        named.into_iter().flatten().for_each(|symbol| kept[symbol.index()] = true);
    }
    let is_kept = |symbol: &SymbolId| kept[symbol.index()];
    let symbols: Vec<String> =
        alphabet.symbols().filter(|s| !is_kept(s)).map(|s| alphabet.name(s).to_owned()).collect();
    if symbols.is_empty() {
        return Vec::new();
    }
    let place = |symbol: SymbolId| SymbolId::new(kept[..symbol.index()].iter().filter(|&&kept| kept).count());
    let places: Vec<SymbolId> = alphabet.symbols().map(place).collect();
    let names: Vec<String> =
        alphabet.symbols().filter(is_kept).map(|s| alphabet.name(s).to_owned()).collect();
    let lost = Loss::Symbols { tape: tape.clone(), symbols };
    let blank = places[alphabet.blank().index()];
    machine.tapes[index].alphabet = Alphabet::new(names, blank);
    for rule in rules_mut(machine) {
        if let Pattern::Is(symbol) = &mut rule.reads[index] {
            *symbol = places[symbol.index()];
        }
        if let Write::Put(symbol) = &mut rule.writes[index] {
            *symbol = places[symbol.index()];
        }
    }
    vec![lost]
}
