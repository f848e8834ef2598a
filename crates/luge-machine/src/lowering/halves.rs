//! The states halfway through a step, where cells are doubled.

use std::collections::{HashMap, HashSet};

use super::encoding::{Encoding, unused_name};
use crate::{Machine, Move, Rule, SampleUse, State, StateId, StateKind};

/// Collects a state for each pair of next state and second half of the moves, in the order they are first needed.
///
/// Cell i of the source is cell 2i; the odd cells stay blank. Right is RR, left is LL, stay is RL.
pub(super) struct Halves {
    n_before: usize,
    taken: HashSet<String>,
    names: Vec<String>,
    ids: HashMap<(StateId, Vec<Move>), StateId>,
    rules: Vec<(Vec<Move>, StateId)>,
}

impl Halves {
    pub(super) fn new(machine: &Machine) -> Self {
        let names: Vec<String> = machine.states().iter().map(|s| s.name.clone()).collect();
        let taken = names.iter().cloned().collect();
        Self { n_before: names.len(), taken, names, ids: HashMap::new(), rules: Vec::new() }
    }

    /// The first half of a rule's moves, and the state that makes the second half.
    pub(super) fn first(&mut self, rule: &Rule) -> (Vec<Move>, StateId) {
        let half = |stay: Move| -> Vec<Move> {
            rule.moves.iter().map(|&head| if head == Move::Stay { stay } else { head }).collect()
        };
        (half(Move::Right), self.second(rule.next, half(Move::Left)))
    }

    fn second(&mut self, next: StateId, moves: Vec<Move>) -> StateId {
        if let Some(&state) = self.ids.get(&(next, moves.clone())) {
            return state;
        }
        let state = StateId::new(self.names.len());
        let letters: String = moves.iter().map(|m| if *m == Move::Left { 'L' } else { 'R' }).collect();
        let name = unused_name(format!("{}.{letters}", self.names[next.index()]), &mut self.taken);
        self.names.push(name);
        self.rules.push((moves.clone(), next));
        self.ids.insert((next, moves), state);
        state
    }

    /// The new states, to follow those of the source machine.
    pub(super) fn into_states(self, encoding: &Encoding) -> impl Iterator<Item = State> {
        let names = self.names.into_iter().skip(self.n_before);
        names.zip(self.rules).map(|(name, (moves, next))| State {
            name,
            kind: StateKind::Running(vec![encoding.moving_rule(&moves, next)]),
            samples: SampleUse::Pass,
        })
    }
}
