//! The changes themselves, each for one kind of refusal.

use std::collections::HashSet;

use super::Loss;
use crate::{
    Access, Alphabet, Machine, Missing, Move, Pattern, Rule, SampleUse, State, StateId, StateKind, SymbolId,
    Tape, Write,
    formats::{
        Format, Inexpressible, Obstacle, first_free, jflap, live_rules, morphett, only_character,
        turingmachine_io, turingmachinesimulator, unnamed_symbols,
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
        if let Some(rules) = machine.rules_mut(state) {
            retain(rules, &live);
        }
    }
}

/// Leaves out what is not kept.
fn retain<T>(all: &mut Vec<T>, kept: &[bool]) {
    let mut is_kept = kept.iter();
    all.retain(|_| is_kept.next().is_some_and(|&kept| kept));
}

/// The place of everything that is kept once the rest is left out.
fn places(kept: &[bool]) -> Vec<usize> {
    let n_kept_before = |index: usize| kept[..index].iter().filter(|&&kept| kept).count();
    (0..kept.len()).map(n_kept_before).collect()
}

/// The loss of these things, if there are any.
fn loss_of(names: Vec<String>, loss: impl Fn(Vec<String>) -> Loss) -> Vec<Loss> {
    if names.is_empty() { Vec::new() } else { vec![loss(names)] }
}

fn name(machine: &Machine, state: StateId) -> String {
    machine.state(state).name.clone()
}

fn all_rules_mut(machine: &mut Machine) -> impl Iterator<Item = &mut Rule> {
    machine.states.iter_mut().flat_map(|state| match &mut state.kind {
        StateKind::Running(rules) => rules.as_mut_slice(),
        StateKind::Halting { .. } => &mut [],
    })
}

/// A name that no state has, made from this one.
fn free_name(machine: &Machine, wish: &str) -> String {
    first_free(wish, |name| machine.find_state(name).is_none())
}

/// Adds a state, called so if that is free.
fn push_state(machine: &mut Machine, wish: &str, kind: StateKind) -> StateId {
    let name = free_name(machine, wish);
    machine.states.push(State { name, kind, samples: SampleUse::Pass });
    StateId::new(machine.states.len() - 1)
}

/// A rule of a machine with one tape that keeps the symbol it finds.
fn passing(head: Move, next: StateId) -> Rule {
    Rule { reads: vec![Pattern::Any], writes: vec![Write::Keep], moves: vec![head], next }
}

fn writable(machine: &mut Machine) -> Vec<Loss> {
    let mut tapes = Vec::new();
    for tape in machine.tapes.iter_mut().filter(|tape| tape.access == Access::ReadOnly) {
        tape.access = Access::ReadWrite;
        tapes.push(tape.name.clone());
    }
    loss_of(tapes, Loss::ReadOnly)
}

/// The running states that have no rule for some symbols.
fn partial_states(machine: &Machine) -> Vec<StateId> {
    machine.state_ids().filter(|&q| machine.halting(q).is_none() && !machine.is_total(q)).collect()
}

/// States that halt without accepting, and a start that halts where it must not, become states without rules; and a missing
/// rule means what it means in the file.
fn halts_by_missing_rules(machine: &mut Machine, missing: Missing, start_runs: bool) -> Vec<Loss> {
    let mut lost = Vec::new();
    if machine.missing != missing && !partial_states(machine).is_empty() {
        lost.push(match missing {
            Missing::Halt => Loss::MissingHalts,
            Missing::Reject => Loss::MissingRejects,
        });
    }
    let mut states = Vec::new();
    for state in machine.state_ids() {
        match machine.halting(state) {
            Some(true) if state == machine.start && start_runs => {
                lost.push(Loss::StartAccepts(name(machine, state)));
            }
            Some(false) => states.push(name(machine, state)),
            _ => continue,
        }
        machine.states[state.index()].kind = StateKind::Running(Vec::new());
    }
    machine.missing = missing;
    lost.extend(loss_of(states, Loss::Rejecting));
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
    let partial = partial_states(machine);
    if partial.is_empty() {
        return lost;
    }
    let known = machine.find_state(morphett::NO_RULE).filter(|&q| machine.halting(q) == Some(false));
    let dead = known
        .unwrap_or_else(|| push_state(machine, morphett::NO_RULE, StateKind::Halting { accepting: false }));
    for state in partial {
        machine.rules_mut(state).into_iter().for_each(|rules| rules.push(passing(Move::Stay, dead)));
    }
    lost.push(Loss::MissingSteps);
    lost
}

/// Rules that stay go right into a state that goes back.
fn two_steps(machine: &mut Machine) -> Vec<Loss> {
    let stays = |rule: &&mut Rule| rule.moves == [Move::Stay];
    let entered: Vec<StateId> = all_rules_mut(machine).filter(stays).map(|rule| rule.next).collect();
    let mut back: Vec<Option<StateId>> = vec![None; machine.states.len()];
    for &next in &entered {
        back[next.index()] = back[next.index()].or_else(|| {
            let wish = format!("{}-back", name(machine, next));
            Some(push_state(machine, &wish, StateKind::Running(vec![passing(Move::Left, next)])))
        });
    }
    for rule in all_rules_mut(machine).filter(stays) {
        rule.moves = vec![Move::Right];
        rule.next = back[rule.next.index()].unwrap_or(rule.next);
    }
    if entered.is_empty() { Vec::new() } else { vec![Loss::Stay(entered.len())] }
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
        let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let plain: String = from.chars().take(64).map(plain).collect();
        let to = free_name(machine, if plain.is_empty() { "state" } else { &plain });
        machine.states[index].name.clone_from(&to);
        lost.push(Loss::StateRenamed { from, to });
    }
    lost
}

/// Leaves out the states that nothing leads to. A format that lists only what rules mention keeps those with rules.
fn without_idle_states(format: Format, machine: &mut Machine) -> Vec<Loss> {
    let mut kept = vec![false; machine.states.len()];
    let mut pending = vec![machine.start];
    if format == Format::TuringMachineSimulator {
        let listed = |q: &StateId| !machine.rules(*q).is_empty() || machine.halting(*q).is_some();
        pending.extend(machine.state_ids().filter(listed));
    }
    while let Some(state) = pending.pop() {
        if !std::mem::replace(&mut kept[state.index()], true) {
            pending.extend(machine.rules(state).iter().map(|rule| rule.next));
        }
    }
    let left_out = machine.state_ids().filter(|q| !kept[q.index()]);
    let lost = loss_of(left_out.map(|q| name(machine, q)).collect(), Loss::States);
    let places = places(&kept);
    let place = |state: StateId| StateId::new(places[state.index()]);
    all_rules_mut(machine).for_each(|rule| rule.next = place(rule.next));
    machine.start = place(machine.start);
    retain(&mut machine.states, &kept);
    lost
}

/// Gives a character of its own to every symbol that the format cannot spell.
fn rename_symbols(format: Format, machine: &mut Machine, index: usize) -> Vec<Loss> {
    let Tape { name: tape, alphabet, .. } = &machine.tapes[index];
    let fits = |symbol: SymbolId, name: &str| match (format, only_character(name)) {
        (Format::Native | Format::Bbchallenge, _) => true,
        (Format::TuringMachineIo, single) => single.is_some(),
        _ if symbol == alphabet.blank() => true,
        (_, None) => false,
        (Format::TuringMachineSimulator, Some(c)) => turingmachinesimulator::symbol_problem(c).is_none(),
        (Format::Jflap, Some(c)) => jflap::symbol_problem(c).is_none(),
        (Format::Morphett, Some(c)) => !"*;_".contains(c) && !c.is_whitespace(),
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
    let idle = unnamed_symbols(machine, index, machine.state_ids().flat_map(|state| machine.rules(state)));
    let Tape { name: tape, alphabet, .. } = &machine.tapes[index];
    let kept: Vec<bool> = alphabet.symbols().map(|symbol| !idle.contains(&symbol)).collect();
    let symbols = idle.iter().map(|&symbol| alphabet.name(symbol).to_owned()).collect();
    let lost = loss_of(symbols, |symbols| Loss::Symbols { tape: tape.clone(), symbols });
    let places = places(&kept);
    let place = |symbol: SymbolId| SymbolId::new(places[symbol.index()]);
    let mut names = alphabet.names().to_vec();
    retain(&mut names, &kept);
    machine.tapes[index].alphabet = Alphabet::new(names, place(alphabet.blank()));
    for rule in all_rules_mut(machine) {
        if let Pattern::Is(symbol) = &mut rule.reads[index] {
            *symbol = place(*symbol);
        }
        if let Write::Put(symbol) = &mut rule.writes[index] {
            *symbol = place(*symbol);
        }
    }
    lost
}
