//! Heads: where they are, how they get elsewhere, and loops over the bits of a word.

use std::collections::{BTreeMap, VecDeque};

use super::{
    ACC, DATA, Generator, MARKS, MEMORY, RULER, TABLE, Tape,
    graph::{Arrow, Node},
    plan::Reach,
};

/// Where the heads are between two instructions; all others are at home then.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Pos {
    /// On the lowest bit of this slot of memory.
    pub(super) slot: usize,
    pub(super) table: TablePos,
    pub(super) data: DataPos,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum TablePos {
    /// At the start of the second ruler.
    #[default]
    Home,
    /// On the lowest bit of this constant.
    Constant(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DataPos {
    /// On the lowest bit of this number of a sample, or just behind the last: of the current one in a loop over the data,
    /// of the first one outside.
    Element(usize),
    /// Behind the last sample.
    End,
}

impl Default for DataPos {
    fn default() -> Self {
        Self::Element(0)
    }
}

/// A sweep that is over while its heads are still at the top of their words: the way back can serve the next instruction.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) width: u32,
    back: Vec<Tape>,
    /// A head that need not go back: it is on the next word already.
    pub(super) movable: Option<Tape>,
}

/// What one step of an automaton does.
pub(super) struct Act<S> {
    pub(super) writes: Vec<(Tape, u8)>,
    pub(super) moves: Vec<(Tape, i8)>,
    pub(super) next: Next<S>,
}

pub(super) enum Next<S> {
    State(S),
    Exit(usize),
}

impl<S> Act<S> {
    pub(super) fn go(moves: &[(Tape, i8)], next: S) -> Self {
        Self { writes: Vec::new(), moves: moves.to_vec(), next: Next::State(next) }
    }

    pub(super) fn exit(exit: usize) -> Self {
        Self { writes: Vec::new(), moves: Vec::new(), next: Next::Exit(exit) }
    }

    pub(super) fn writing(mut self, tape: Tape, bit: u8) -> Self {
        self.writes.push((tape, bit));
        self
    }
}

/// What a sweep does with one bit position.
pub(super) enum Bit {
    /// Write and go on with this carry.
    On(u8, Option<u8>),
    /// Write and turn back with this result.
    Out(usize, Option<u8>),
}

/// A loop over the bits of a word, lowest first.
pub(super) struct Sweep<'a> {
    pub(super) width: u32,
    /// Tapes whose heads move with the loop.
    pub(super) walkers: &'a [Tape],
    /// Tapes whose bits decide what is done.
    pub(super) inspect: &'a [Tape],
    /// The tape that is written.
    pub(super) target: Tape,
    /// The carry at the lowest bit.
    pub(super) carry: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SweepState {
    First,
    Out { carry: u8, passed: u8 },
    Back { result: usize, left: u8 },
}

impl Generator<'_> {
    pub(super) fn new_node(&mut self) -> Node {
        self.graph.add(self.line)
    }

    /// The state to go on from, all heads but those of [`Pos`] at home.
    pub(super) fn here(&mut self) -> Node {
        self.settle(0);
        self.cur
    }

    pub(super) fn jump(&mut self, to: Node) {
        let from = self.here();
        self.graph.arrow(from, Arrow::to(to));
    }

    pub(super) fn reach(&mut self, width: u32) -> Reach {
        *self.demand.lengths.entry(width).or_default() += 1;
        self.plan.ruler.reach(width)
    }

    /// Makes a state for each `S` that can be reached from `start`, the current one for `start` itself; returns a fresh
    /// state for each exit.
    pub(super) fn explore<S: Clone + Ord>(
        &mut self,
        start: S,
        n_exits: usize,
        inspect: impl Fn(&S) -> Vec<Tape>,
        step: impl Fn(&S, &[u8]) -> Act<S>,
    ) -> Vec<Node> {
        let exits: Vec<Node> = (0..n_exits).map(|_| self.new_node()).collect();
        let mut nodes = BTreeMap::from([(start.clone(), self.cur)]);
        let mut queue = VecDeque::from([start]);
        while let Some(state) = queue.pop_front() {
            let from = nodes[&state];
            let tapes = inspect(&state);
            for number in 0..1_u32 << tapes.len() {
                let bits: Vec<u8> = (0..tapes.len()).map(|i| u8::from(number >> i & 1 == 1)).collect();
                let act = step(&state, &bits);
                let next = match act.next {
                    Next::Exit(exit) => exits[exit],
                    Next::State(next) => match nodes.get(&next) {
                        Some(&node) => node,
                        None => {
                            let node = self.graph.add(self.line);
                            nodes.insert(next.clone(), node);
                            queue.push_back(next);
                            node
                        }
                    },
                };
                let mut arrow = Arrow::to(next);
                arrow.reads.extend(tapes.iter().copied().zip(bits.iter().copied()));
                for (tape, bit) in act.writes {
                    if arrow.reads.get(&tape) != Some(&bit) {
                        arrow = arrow.write(tape, bit);
                    }
                }
                for (tape, offset) in act.moves {
                    arrow = arrow.shift(tape, offset);
                }
                self.graph.arrow(from, arrow);
            }
        }
        exits
    }

    /// Sweeps up and comes back; one state for each result. At the top, `end` turns the carry into a result.
    pub(super) fn sweep(
        &mut self,
        sweep: &Sweep<'_>,
        n_results: usize,
        end: impl Fn(u8) -> usize,
        bit: impl Fn(u8, bool, &[u8]) -> Bit,
    ) -> Vec<Node> {
        self.settle(0);
        if sweep.width == 1 {
            return self.explore(
                (),
                n_results,
                |()| sweep.inspect.to_vec(),
                |(), bits| {
                    let (result, written) = match bit(sweep.carry, true, bits) {
                        Bit::On(carry, written) => (end(carry), written),
                        Bit::Out(result, written) => (result, written),
                    };
                    let act = Act::exit(result);
                    written.map_or(Act::exit(result), |value| act.writing(sweep.target, value))
                },
            );
        }
        let reach = self.reach(sweep.width);
        let out = moves(sweep.walkers, 1, reach.direction);
        let back = moves(sweep.walkers, -1, -reach.direction);
        let inspect = |state: &SweepState| match state {
            SweepState::First => sweep.inspect.to_vec(),
            SweepState::Out { .. } => [&[RULER], sweep.inspect].concat(),
            SweepState::Back { .. } => vec![RULER],
        };
        let process = |carry, first, passed, bits: &[u8]| match bit(carry, first, bits) {
            Bit::On(carry, written) => (Act::go(&out, SweepState::Out { carry, passed }), written),
            Bit::Out(result, written) if first => (Act::exit(result), written),
            Bit::Out(result, written) => (Act::go(&back, SweepState::Back { result, left: passed }), written),
        };
        let put = |(act, written): (Act<SweepState>, Option<u8>)| match written {
            Some(value) => act.writing(sweep.target, value),
            None => act,
        };
        self.explore(SweepState::First, n_results, inspect, |state, bits| match *state {
            SweepState::First => put(process(sweep.carry, true, 0, bits)),
            SweepState::Out { carry, passed } if bits[0] == 1 && passed == reach.between => {
                Act::go(&back, SweepState::Back { result: end(carry), left: passed })
            }
            SweepState::Out { carry, passed } => {
                // Turning back on a mark that is not the last one leaves it behind.
                let outward = passed + bits[0];
                match bit(carry, false, &bits[1..]) {
                    Bit::Out(..) => put(process(carry, false, passed, &bits[1..])),
                    Bit::On(..) => put(process(carry, false, outward, &bits[1..])),
                }
            }
            SweepState::Back { result, left } => {
                returning(bits[0], left, &back, |left| SweepState::Back { result, left }, result)
            }
        })
    }

    /// Sweeps up, and leaves the way back to the next instruction. `movable` is on the word above its own then.
    pub(super) fn sweep_up(
        &mut self,
        sweep: &Sweep<'_>,
        movable: Option<Tape>,
        bit: impl Fn(u8, bool, &[u8]) -> (u8, Option<u8>),
    ) {
        self.settle(0);
        if sweep.width == 1 {
            let bit = |carry, first, bits: &[u8]| {
                let (carry, written) = bit(carry, first, bits);
                Bit::On(carry, written)
            };
            self.cur = self.sweep(sweep, 1, |_| 0, bit)[0];
            return;
        }
        let reach = self.reach(sweep.width);
        let out = moves(sweep.walkers, 1, reach.direction);
        let inspect = |state: &SweepState| match state {
            SweepState::First => sweep.inspect.to_vec(),
            _ => [&[RULER], sweep.inspect].concat(),
        };
        let exits = self.explore(SweepState::First, 1, inspect, |state, bits| {
            let (carry, first, passed, bits) = match *state {
                SweepState::Out { carry, passed } if bits[0] == 1 => {
                    if passed == reach.between {
                        return Act::exit(0);
                    }
                    (carry, false, passed + 1, &bits[1..])
                }
                SweepState::Out { carry, passed } => (carry, false, passed, &bits[1..]),
                _ => (sweep.carry, true, 0, bits),
            };
            let (carry, written) = bit(carry, first, bits);
            let act = Act::go(&out, SweepState::Out { carry, passed });
            match written {
                Some(value) => act.writing(sweep.target, value),
                None => act,
            }
        });
        self.cur = exits[0];
        let back = sweep.walkers.iter().copied().filter(|&tape| movable != Some(tape)).collect();
        self.pending = Some(Pending { width: sweep.width, back, movable });
        self.step_movable(movable, 1);
    }

    /// Notes that the movable head went one word up or down.
    fn step_movable(&mut self, movable: Option<Tape>, words: isize) {
        match movable {
            Some(MEMORY) => self.pos.slot = self.pos.slot.saturating_add_signed(words),
            Some(TABLE) => {
                if let TablePos::Constant(constant) = &mut self.pos.table {
                    *constant = constant.saturating_add_signed(words);
                }
            }
            Some(DATA) => {
                if let DataPos::Element(element) = &mut self.pos.data {
                    *element = element.saturating_add_signed(words);
                }
            }
            _ => {}
        }
    }

    /// Makes the way back of the last sweep, the movable head going `words` words up or down meanwhile.
    pub(super) fn settle(&mut self, words: i8) {
        let Some(pending) = self.pending.take() else { return };
        let reach = self.reach(pending.width);
        let mut back = moves(&pending.back, -1, -reach.direction);
        if let Some(tape) = pending.movable {
            back.extend(with_marks(&[tape]).into_iter().map(|tape| (tape, words)));
        }
        self.step_movable(pending.movable, isize::from(words));
        self.ruler_home(reach, &back);
    }

    /// From the end of a length back home, with other moves on every step.
    pub(super) fn ruler_home(&mut self, reach: Reach, back: &[(Tape, i8)]) {
        let exits = self.explore(
            None,
            1,
            |state: &Option<u8>| if state.is_some() { vec![RULER] } else { Vec::new() },
            |state, bits| match *state {
                None => Act::go(back, Some(reach.between)),
                Some(left) => returning(bits[0], left, back, Some, 0),
            },
        );
        self.cur = exits[0];
    }

    /// Two states: one for each bit under a head.
    pub(super) fn branch(&mut self, tape: Tape) -> [Node; 2] {
        let from = self.here();
        let nodes = [self.new_node(), self.new_node()];
        for (bit, node) in nodes.into_iter().enumerate() {
            self.graph.arrow(from, Arrow::to(node).read(tape, u8::from(bit == 1)));
        }
        nodes
    }

    /// A sweep of the accumulator alone.
    pub(super) fn sweep_acc(&mut self, width: u32, carry: u8, bit: impl Fn(u8, bool, u8) -> (u8, u8)) {
        let sweep = Sweep { width, walkers: &[ACC], inspect: &[ACC], target: ACC, carry };
        self.sweep_up(&sweep, None, |carry, first, bits| {
            let (carry, value) = bit(carry, first, bits[0]);
            (carry, Some(value))
        });
    }
}

/// One step towards home: `left` marks are still to be passed.
pub(super) fn returning<S>(
    mark: u8,
    left: u8,
    back: &[(Tape, i8)],
    again: impl Fn(u8) -> S,
    exit: usize,
) -> Act<S> {
    match (mark, left) {
        (1, 0) => Act::exit(exit),
        (mark, left) => Act::go(back, again(left - mark)),
    }
}

/// The data's head and the one beside it move as one.
fn with_marks(tapes: &[Tape]) -> Vec<Tape> {
    let mut all = tapes.to_vec();
    if tapes.contains(&DATA) {
        all.push(MARKS);
    }
    all
}

fn moves(walkers: &[Tape], offset: i8, ruler: i8) -> Vec<(Tape, i8)> {
    let mut moves: Vec<(Tape, i8)> = with_marks(walkers).into_iter().map(|tape| (tape, offset)).collect();
    moves.push((RULER, ruler));
    moves
}
