//! Cached steps, for machines with several binary tapes: most steps of a run are made many at a time.
//!
//! The state determines which cell a machine reads first; the symbol there determines which cell it reads next, and
//! so on. So the steps from a state form a tree of reads, which grows when the run takes a new branch. Each path ends
//! with the combined effect of some steps, which were made one by one the first time. No training code can use this.

use super::{Simulator, recorded_steps::Trace};
use crate::{Cell, Machine, StateId, Step, SymbolId};

/// The most reads and the most steps of a path.
const MAX_LOOKS: usize = 14;
pub(super) const MAX_STEPS: Step = 63;
/// The most nodes of all trees.
const MAX_NODES: usize = 1 << 20;

/// The cached steps of all states.
#[derive(Clone, Debug)]
pub(super) struct Memo {
    /// The root of each state's tree in the order of the states, then the other nodes.
    nodes: Vec<Node>,
    endings: Vec<Ending>,
}

#[derive(Clone, Copy, Debug)]
enum Node {
    /// Not reached yet.
    Unknown,
    /// A cell to read, relative to the head's first position, and the child for each symbol.
    Look { tape: u32, offset: i32, next: [u32; 2] },
    /// The number of an ending.
    End(u32),
}

/// The combined effect of some steps.
#[derive(Clone, Debug)]
struct Ending {
    steps: Step,
    to: StateId,
    /// The last write to each cell.
    writes: Vec<(u32, i32, SymbolId)>,
    traces: Box<[Trace]>,
}

impl Memo {
    /// An empty cache; `None` unless the machine has several tapes with two symbols each.
    pub(super) fn new(machine: &Machine) -> Option<Self> {
        let binary = machine.tapes().iter().all(|tape| tape.alphabet.len() <= 2);
        (machine.n_tapes() > 1 && binary)
            .then(|| Self { nodes: vec![Node::Unknown; machine.states().len()], endings: Vec::new() })
    }

    /// Makes at most [`MAX_STEPS`] steps, and caches them if they are new. Returns `false` if the caller must make single steps.
    pub(super) fn pass(&mut self, simulator: &mut Simulator<'_>) -> bool {
        let mut at = simulator.state.0;
        loop {
            match self.nodes[at as usize] {
                Node::Look { tape, offset, next } => {
                    let (tape, offset) = (tape as usize, Cell::from(offset));
                    at = next[simulator.tapes[tape].read(simulator.heads[tape] + offset).index()];
                }
                Node::End(ending) => return self.endings[ending as usize].make(simulator),
                Node::Unknown => return self.nodes.len() < MAX_NODES && self.learn(simulator),
            }
        }
    }

    /// Makes steps one by one, and adds them to the tree.
    fn learn(&mut self, simulator: &mut Simulator<'_>) -> bool {
        let (from, heads) = (simulator.state, simulator.heads.clone());
        let mut looks = Vec::new();
        let traces = Trace::start(simulator).into();
        let mut ending = Ending { steps: 0, to: from, writes: Vec::new(), traces };
        while ending.steps < MAX_STEPS && looks.len() < MAX_LOOKS {
            ending.look(simulator, &heads, &mut looks);
            if !ending.step(simulator, &heads) {
                break;
            }
        }
        ending.traces = Trace::moving(&ending.traces);
        let made = ending.steps > 0;
        self.add(from, &looks, ending);
        made
    }

    fn add(&mut self, from: StateId, looks: &[(u32, i32, SymbolId)], ending: Ending) {
        let mut at = from.index();
        for &(tape, offset, symbol) in looks {
            if let Node::Unknown = self.nodes[at] {
                let first = self.nodes.len() as u32;
                self.nodes.extend([Node::Unknown; 2]);
                self.nodes[at] = Node::Look { tape, offset, next: [first, first + 1] };
            }
            let Node::Look { next, .. } = self.nodes[at] else { return };
            at = next[symbol.index()] as usize;
        }
        self.nodes[at] = Node::End(self.endings.len() as u32);
        self.endings.push(ending);
    }
}

impl Ending {
    /// Records the cells that the next step reads and no earlier one read or wrote.
    fn look(&self, simulator: &Simulator<'_>, heads: &[Cell], looks: &mut Vec<(u32, i32, SymbolId)>) {
        for tape in simulator.table.looked_at[simulator.state.index()].iter().map(|tape| tape.index()) {
            let head = simulator.heads[tape];
            let place = (tape as u32, (head - heads[tape]) as i32);
            let same = |&(tape, offset, _): &(u32, i32, SymbolId)| (tape, offset) == place;
            if !looks.iter().chain(&self.writes).any(same) {
                looks.push((place.0, place.1, simulator.tapes[tape].read(head)));
            }
        }
    }

    /// Makes a step; `false` if the machine has stopped.
    fn step(&mut self, simulator: &mut Simulator<'_>, heads: &[Cell]) -> bool {
        let Ok(action) = simulator.next_action() else { return false };
        for &(tape, symbol) in &simulator.table.actions[action as usize].writes {
            let (tape, offset) = (tape as u32, (simulator.heads[tape] - heads[tape]) as i32);
            match self.writes.iter_mut().find(|write| (write.0, write.1) == (tape, offset)) {
                Some(write) => write.2 = symbol,
                None => self.writes.push((tape, offset, symbol)),
            }
        }
        Trace::note(&mut self.traces, &simulator.table.actions[action as usize].moves);
        self.steps += 1;
        simulator.act(action);
        self.to = simulator.state;
        true
    }

    /// Applies the effect; `false` if there were no steps.
    fn make(&self, simulator: &mut Simulator<'_>) -> bool {
        for &(tape, offset, symbol) in &self.writes {
            let tape = tape as usize;
            simulator.tapes[tape].write(simulator.heads[tape] + Cell::from(offset), symbol);
        }
        simulator.advance(self.to, self.steps, &self.traces);
        self.steps > 0
    }
}
