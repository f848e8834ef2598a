//! Tables that find rules by index instead of by search.

use crate::{Machine, Pattern, StateId, SymbolId, TapeId};

/// The effect of a rule, without the tapes that it does not change.
#[derive(Clone, Debug)]
pub(super) struct Action {
    pub(super) writes: Vec<(usize, SymbolId)>,
    pub(super) moves: Vec<(usize, i64)>,
    pub(super) next: StateId,
}

/// The rules of all states, each indexed by the symbols on the tapes that the state reads.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) actions: Vec<Action>,
    states: Vec<Lookup>,
    /// The tapes that each state reads.
    pub(super) looked_at: Vec<Vec<TapeId>>,
}

/// How a state finds its action.
#[derive(Clone, Debug)]
enum Lookup {
    /// An index over the tapes that the state reads; `None` if no rule applies.
    Index { looked_at: Vec<(usize, usize)>, actions: Vec<Option<u32>> },
    /// Rules in order, for states whose index would be too large.
    Search { rules: Vec<(Vec<Pattern>, u32)> },
}

/// The most entries of an index. It has also at most [`ENTRIES_PER_RULE`] per rule, unless it is small: large machines
/// whose states read many tapes must fit into memory.
const LARGEST_INDEX: usize = 1 << 16;
const ENTRIES_PER_RULE: usize = 64;
const SMALL_INDEX: usize = 256;

impl Table {
    pub(super) fn new(machine: &Machine) -> Self {
        let mut actions = Vec::with_capacity(machine.n_rules());
        let states = machine.state_ids().map(|q| Lookup::new(machine, q, &mut actions)).collect();
        let looked_at = machine.state_ids().map(|q| machine.looked_at(q).collect()).collect();
        Self { actions, states, looked_at }
    }

    /// The number of the action of a state; `read` returns the symbols under the heads.
    pub(super) fn find(&self, state: StateId, read: impl Fn(usize) -> SymbolId) -> Option<u32> {
        match &self.states[state.index()] {
            Lookup::Index { looked_at, actions } => {
                actions[looked_at.iter().map(|&(tape, stride)| read(tape).index() * stride).sum::<usize>()]
            }
            Lookup::Search { rules } => {
                let matches = |reads: &[Pattern]| (0..).zip(reads).all(|(tape, p)| p.matches(read(tape)));
                rules.iter().find(|(reads, _)| matches(reads)).map(|&(_, action)| action)
            }
        }
    }
}

impl Lookup {
    fn new(machine: &Machine, state: StateId, actions: &mut Vec<Action>) -> Self {
        let rules = machine.rules(state);
        let mut numbered = Vec::with_capacity(rules.len());
        for rule in rules {
            let writes = rule.writes.iter().enumerate();
            let writes = writes.filter_map(|(tape, write)| Some((tape, write.symbol()?)));
            let moves = rule.moves.iter().map(|m| m.offset()).enumerate().filter(|&(_, offset)| offset != 0);
            numbered.push((rule.reads.clone(), actions.len() as u32));
            actions.push(Action { writes: writes.collect(), moves: moves.collect(), next: rule.next });
        }
        let mut looked_at = Vec::new();
        let mut size = 1_usize;
        for tape in machine.looked_at(state) {
            looked_at.push((tape.index(), size));
            size = size.saturating_mul(machine.tape(tape).alphabet.len());
        }
        let largest = rules.len().saturating_mul(ENTRIES_PER_RULE).clamp(SMALL_INDEX, LARGEST_INDEX);
        if size > largest {
            return Self::Search { rules: numbered };
        }
        let symbol_at = |index: usize, tape: usize, stride: usize| {
            SymbolId::new(index / stride % machine.tapes()[tape].alphabet.len())
        };
        let applies = |reads: &[Pattern], index: usize| {
            looked_at.iter().all(|&(tape, stride)| reads[tape].matches(symbol_at(index, tape, stride)))
        };
        let first_match = |index: usize| {
            numbered.iter().find(|(reads, _)| applies(reads, index)).map(|&(_, action)| action)
        };
        Self::Index { actions: (0..size).map(first_match).collect(), looked_at }
    }
}

/// One packed entry per state and symbol, for machines with a single tape.
#[derive(Clone, Debug)]
pub(super) struct SingleTable {
    /// Bits 0..8: the symbol to write; 8..10: the move plus one; 10: whether the machine stops; 11..: the next row.
    pub(super) entries: Vec<u64>,
    /// The row of a state is its number, shifted by so many bits.
    pub(super) shift: u32,
}

/// Bit 10 of an entry.
pub(super) const STOPS: u64 = 1 << 10;

impl SingleTable {
    pub(super) fn new(machine: &Machine) -> Option<Self> {
        let [tape] = machine.tapes() else { return None };
        let width = tape.alphabet.len().next_power_of_two();
        let mut entries = vec![STOPS; machine.states().len() * width];
        let shift = width.trailing_zeros();
        for state in machine.state_ids() {
            for symbol in tape.alphabet.symbols() {
                let Some(rule) = machine.rule_for(state, &[symbol]) else { continue };
                let written = rule.writes[0].over(symbol);
                let next_row = (rule.next.index() as u64) << shift;
                let direction = rule.moves[0].offset().wrapping_add(1).unsigned_abs();
                entries[(state.index() << shift) + symbol.index()] =
                    u64::from(written.0) | direction << 8 | next_row << 11;
            }
        }
        Some(Self { entries, shift })
    }
}
