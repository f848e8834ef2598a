//! Joins two consecutive steps if the second uses no tape on which the first moves.

use std::collections::BTreeSet;

use luge_machine::SampleUse;

use super::{Arrow, Entry, Graph, MAX_RULES, Node, Shape, n_symbols};
use crate::compile::Tape;

/// The most vertices of a state that takes over the rules of the next one.
const MAX_VERTICES: u64 = 32;

/// The most vertices that the machine may gain per joined step.
const MAX_GROWTH: u64 = 4;

/// The most steps that are joined to one.
const MAX_JOINED: usize = 12;

impl Graph {
    /// Joins steps where the machine hardly grows.
    pub(super) fn join_steps(&mut self) {
        let mut n_before = vec![0_usize; self.len()];
        for arrow in self.entries.iter().flat_map(|entry| &entry.arrows) {
            n_before[arrow.next] += 1;
        }
        for node in 0..self.len() {
            if self.entries[node].samples != SampleUse::Pass {
                continue;
            }
            for _ in 0..MAX_JOINED {
                let Some(number) =
                    (0..self.entries[node].arrows.len()).find(|&number| self.pays(node, number, &n_before))
                else {
                    break;
                };
                let arrow = self.entries[node].arrows.remove(number);
                n_before[arrow.next] -= 1;
                let joined = self.joined(node, &arrow).unwrap_or_default();
                joined.iter().for_each(|arrow| n_before[arrow.next] += 1);
                self.entries[node].arrows.extend(joined);
            }
        }
    }

    /// Whether to join a rule of a state with the rules that follow it.
    fn pays(&self, node: Node, number: usize, n_before: &[usize]) -> bool {
        let entry = &self.entries[node];
        let arrow = &entry.arrows[number];
        let Some(joined) = self.joined(node, arrow) else { return false };
        if arrow.is_empty() || entry.arrows.len() + joined.len() > MAX_RULES {
            return false;
        }
        let others = entry.arrows.iter().enumerate().filter(|&(other, _)| other != number);
        let after = n_vertices(others.map(|(_, arrow)| arrow).chain(&joined));
        let gone = if n_before[arrow.next] == 1 { n_vertices(&self.entries[arrow.next].arrows) } else { 0 };
        let before = n_vertices(&entry.arrows);
        after <= before + gone + MAX_GROWTH && after <= MAX_VERTICES
    }

    /// A rule joined with those that follow it; `None` if that would change the run.
    pub(super) fn joined(&self, node: Node, first: &Arrow) -> Option<Vec<Arrow>> {
        let Entry { arrows, shape, samples, .. } = &self.entries[first.next];
        let waits = *shape != Shape::Running || *samples != SampleUse::Pass || arrows.is_empty();
        if first.next == node || waits {
            return None;
        }
        arrows
            .iter()
            .filter(|second| may_follow(first, second))
            .map(|second| in_one_step(first, second))
            .collect()
    }
}

/// The symbol that a rule leaves under the head of a tape, if it is known.
fn left_by(first: &Arrow, tape: Tape) -> Option<u8> {
    first.writes.get(&tape).or_else(|| first.reads.get(&tape)).copied()
}

/// Whether the second rule can apply after the first.
fn may_follow(first: &Arrow, second: &Arrow) -> bool {
    second.reads.iter().all(|(tape, symbol)| {
        first.moves.contains_key(tape) || left_by(first, *tape).is_none_or(|left| left == *symbol)
    })
}

fn in_one_step(first: &Arrow, second: &Arrow) -> Option<Arrow> {
    let moved = |tape: &Tape| first.moves.contains_key(tape);
    if second.reads.keys().chain(second.writes.keys()).chain(second.moves.keys()).any(moved) {
        return None;
    }
    let mut joined = first.clone();
    for (&tape, &symbol) in &second.reads {
        if !first.writes.contains_key(&tape) {
            joined.reads.insert(tape, symbol);
        }
    }
    joined.writes.extend(&second.writes);
    joined.moves.extend(&second.moves);
    joined.next = second.next;
    Some(joined)
}

/// The number of combinations of the symbols that these rules read.
pub(super) fn n_vertices<'a>(arrows: impl IntoIterator<Item = &'a Arrow>) -> u64 {
    let tapes: BTreeSet<Tape> = arrows.into_iter().flat_map(|arrow| arrow.reads.keys().copied()).collect();
    tapes.into_iter().map(|tape| u64::from(n_symbols(tape))).product()
}
