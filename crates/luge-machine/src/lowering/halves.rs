//! Doubled cells, so that a machine moves only left and right.

use std::collections::{HashMap, HashSet};

use super::encoding::unused_name;
use crate::{Machine, Move, Pattern, Rule, SampleUse, State, StateId, StateKind, Write};

/// The machine with each step split in two. Cell i becomes cell 2i; odd cells stay blank. Right is RR, left is LL, stay is RL.
///
/// The new states between the two halves of a step follow those of the machine: one per pair of next state and second
/// moves, in the order of first use.
pub(super) fn with_doubled_cells(machine: &Machine) -> Machine {
    let n_tapes = machine.n_tapes();
    let mut taken: HashSet<String> = machine.states().iter().map(|state| state.name.clone()).collect();
    let mut halfway: Vec<State> = Vec::new();
    let mut ids: HashMap<(StateId, Vec<Move>), StateId> = HashMap::new();
    let mut doubled = machine.clone();
    for rule in doubled.all_rules_mut() {
        let half = |stay: Move| -> Vec<Move> {
            rule.moves.iter().map(|&head| if head == Move::Stay { stay } else { head }).collect()
        };
        let (first, second) = (half(Move::Right), half(Move::Left));
        rule.next = *ids.entry((rule.next, second)).or_insert_with_key(|(next, moves)| {
            let letters: String = moves.iter().map(|m| if *m == Move::Left { 'L' } else { 'R' }).collect();
            let name = unused_name(format!("{}.{letters}", machine.state(*next).name), &mut taken);
            let (reads, writes) = (vec![Pattern::Any; n_tapes], vec![Write::Keep; n_tapes]);
            let rules = vec![Rule { reads, writes, moves: moves.clone(), next: *next }];
            halfway.push(State { name, kind: StateKind::Running(rules), samples: SampleUse::Pass });
            StateId::new(machine.states().len() + halfway.len() - 1)
        });
        rule.moves = first;
    }
    doubled.states.append(&mut halfway);
    doubled
}
