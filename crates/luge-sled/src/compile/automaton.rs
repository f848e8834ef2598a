//! Automata over bits, moves along a ruler, and the way back to the next instruction.

use std::collections::{BTreeMap, VecDeque};

use super::{
    Generator,
    graph::{Arrow, Node},
    plan::Side,
    tapes::{self, BOUND, DATA, MARKS, PRODUCT, Tape},
};

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

/// A head that moves along a ruler, from one distance from home up to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Walker {
    pub(super) tape: Tape,
    pub(super) from: u32,
    pub(super) to: u32,
}

/// A way along a ruler with something happening at several distances; very short ways do without a ruler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Track {
    side: Option<Side>,
    /// Distances that are marked: all that the ruler has on this side.
    marks: Vec<u32>,
    events: Vec<u32>,
    pub(super) total: u32,
}

impl Track {
    /// Where the part of the way begins that one is in after passing so many marks.
    pub(super) fn part(&self, passed: u8) -> u32 {
        let passed = &self.marks[..usize::from(passed).min(self.marks.len())];
        passed.iter().rev().find(|mark| self.events.contains(mark)).copied().unwrap_or(0)
    }

    /// Whether the mark that makes it so many is the end.
    pub(super) fn is_end(&self, passed: u8) -> bool {
        passed > 0 && self.marks.get(usize::from(passed) - 1) == Some(&self.total)
    }

    /// So many marks and one more, if there are so many.
    pub(super) fn count(&self, passed: u8, mark: u8) -> u8 {
        (passed + mark).min(u8::try_from(self.marks.len()).unwrap_or(u8::MAX))
    }

    pub(super) fn end(&self) -> u8 {
        let end = self.marks.iter().position(|&mark| mark == self.total).map_or(0, |at| at + 1);
        u8::try_from(end).unwrap_or(u8::MAX)
    }

    /// The tape to look at for marks.
    pub(super) fn looked_at(&self) -> Vec<Tape> {
        self.side.iter().map(|side| side.tape).collect()
    }

    /// Splits what was read into the ruler's mark and the rest.
    pub(super) fn mark<'b>(&self, bits: &'b [u8]) -> (u8, &'b [u8]) {
        match self.side {
            Some(_) => (bits[0], &bits[1..]),
            None => (1, bits),
        }
    }

    /// One step out or back, in the part that begins at `part`.
    pub(super) fn moves(&self, walkers: &[Walker], part: u32, outwards: bool) -> Vec<(Tape, i8)> {
        let sign = if outwards { 1 } else { -1 };
        let active = walkers.iter().filter(|w| w.from <= part && part < w.to);
        let mut moves: Vec<(Tape, i8)> = active.map(|w| (w.tape, sign)).collect();
        moves.extend(self.side.iter().map(|side| (side.tape, sign * side.direction)));
        moves
    }

    /// A step of the way back, after which so many marks are still in front, and what happens at home.
    pub(super) fn back<S>(
        &self,
        walkers: &[Walker],
        left: u8,
        mark: u8,
        again: impl Fn(u8) -> S,
        exit: usize,
    ) -> Act<S> {
        if left == 0 && mark == 1 {
            return Act::exit(exit);
        }
        let left = left - mark;
        Act::go(&self.moves(walkers, self.part(left), false), again(left))
    }
}

/// A pass that is over while its heads are still at the top of their words: the way back can serve the next instruction.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) track: Track,
    pub(super) back: Vec<Walker>,
    /// Heads that need not go back: they are on the next word already.
    pub(super) movable: Vec<Walker>,
}

impl Generator<'_> {
    pub(super) fn new_node(&mut self) -> Node {
        self.graph.add(self.line)
    }

    /// The state to go on from, the last pass completed.
    pub(super) fn here(&mut self) -> Node {
        self.settle();
        self.cur
    }

    pub(super) fn jump(&mut self, to: Node) {
        let from = self.here();
        self.graph.arrow(from, Arrow::to(to));
    }

    /// How much is done at this place: more inside loops.
    pub(super) fn weight(&self) -> u64 {
        8_u64.pow(u32::try_from(self.loops.len().min(6)).unwrap_or(6))
    }

    /// The way along a ruler with these events, the last of which ends it.
    pub(super) fn track(&mut self, mut events: Vec<u32>) -> Track {
        events.retain(|&event| event > 0);
        events.sort_unstable();
        events.dedup();
        let total = events.last().copied().unwrap_or(0);
        if total <= 2 {
            return Track { side: None, marks: (1..=total).collect(), events, total };
        }
        self.ruled(events)
    }

    /// The same with a ruler, however short it is.
    pub(super) fn ruled(&mut self, events: Vec<u32>) -> Track {
        let total = events.last().copied().unwrap_or(0);
        *self.demand.profiles.entry(events.clone()).or_default() += self.weight();
        let side = self.plan.side(&events);
        Track { marks: side.marks.clone(), side: Some(side), events, total }
    }

    /// Heads that move with this one.
    fn partners(&self, tape: Tape) -> Vec<Tape> {
        match tape {
            DATA => [MARKS].into_iter().chain((0..self.plan.n_places).map(tapes::place)).collect(),
            PRODUCT => vec![BOUND],
            tape if self.plan.has_origin(tape) => vec![tapes::origin(tape)],
            _ => Vec::new(),
        }
    }

    /// An arrow with these moves, partners included.
    pub(super) fn moving(&self, mut arrow: Arrow, moves: &[(Tape, i8)]) -> Arrow {
        for &(tape, offset) in moves {
            arrow = arrow.shift(tape, offset);
            for partner in self.partners(tape) {
                arrow = arrow.shift(partner, offset);
            }
        }
        arrow
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
                let arrow = self.moving(arrow, &act.moves);
                self.graph.arrow(from, arrow);
            }
        }
        exits
    }

    /// An automaton that counts marks on these tapes, which it does not look at before its first step, and goes on from its only exit.
    pub(super) fn sweep(&mut self, marks: &[Tape], step: impl Fn(Option<u8>, &[u8]) -> Act<Option<u8>>) {
        let inspect = |state: &Option<u8>| if state.is_some() { marks.to_vec() } else { Vec::new() };
        self.cur = self.explore(None, 1, inspect, |state, bits| step(*state, bits))[0];
    }

    /// Makes the way back of the last pass.
    pub(super) fn settle(&mut self) {
        let Some(Pending { track, back, .. }) = self.pending.take() else { return };
        // What is alone on the way needs no look at the ruler before its first step.
        self.sweep(&track.looked_at(), |state, bits| match state {
            None => {
                let left = track.end() - 1;
                Act::go(&track.moves(&back, track.part(left), false), Some(left))
            }
            Some(left) => track.back(&back, left, track.mark(bits).0, Some, 0),
        });
    }

    pub(super) fn single_step(&mut self, moves: &[(Tape, i8)], write: Option<(Tape, u8)>) {
        let from = self.here();
        let next = self.new_node();
        let mut arrow = self.moving(Arrow::to(next), moves);
        if let Some((tape, bit)) = write {
            arrow = arrow.write(tape, bit);
        }
        self.graph.arrow(from, arrow);
        self.cur = next;
    }

    /// Moves heads by words of one width, `times` in a row, writing on the way if asked to.
    pub(super) fn glide(&mut self, moves: &[(Tape, i8)], write: Option<(Tape, u8)>, width: u32, times: u32) {
        self.settle();
        if width <= 2 {
            for _ in 0..width * times {
                self.single_step(moves, write);
            }
            return;
        }
        let track = self.track(vec![width]);
        for time in 0..times {
            let outwards = time % 2 == 0;
            self.glide_once(&track, moves, write, outwards);
        }
        if times % 2 == 1 {
            self.pending = Some(Pending { track, back: Vec::new(), movable: Vec::new() });
            self.settle();
        }
    }

    /// Once along a ruler from home to the end, or back.
    fn glide_once(&mut self, track: &Track, moves: &[(Tape, i8)], write: Option<(Tape, u8)>, outwards: bool) {
        let all = [moves, &track.moves(&[], 0, outwards)].concat();
        let put = |act: Act<Option<u8>>| match write {
            Some((tape, bit)) => act.writing(tape, bit),
            None => act,
        };
        let start = if outwards { 0 } else { track.end() - 1 };
        self.sweep(&track.looked_at(), |state, bits| match state {
            None => put(Act::go(&all, Some(start))),
            Some(passed) if outwards && track.is_end(passed + bits[0]) && bits[0] == 1 => Act::exit(0),
            Some(passed) if outwards => put(Act::go(&all, Some(passed + bits[0]))),
            Some(0) if bits[0] == 1 => Act::exit(0),
            Some(left) => put(Act::go(&all, Some(left - bits[0]))),
        });
    }

    /// Moves a head by cells: step by step if they are few, else along a ruler.
    pub(super) fn walk(&mut self, tape: Tape, direction: i8, length: u32, write: Option<u8>) {
        let write = write.map(|bit| (tape, bit));
        if length > 3 {
            return self.glide(&[(tape, direction)], write, length, 1);
        }
        for _ in 0..length {
            self.single_step(&[(tape, direction)], write);
        }
    }

    /// Moves heads until this one's tape shows a mark, which may be at once.
    pub(super) fn until(&mut self, tape: Tape, mark: u8, moves: &[(Tape, i8)]) {
        let from = self.here();
        let next = self.new_node();
        let again = self.moving(Arrow::to(from).read(tape, 1 - mark), moves);
        self.graph.arrow(from, again);
        self.graph.arrow(from, Arrow::to(next).read(tape, mark));
        self.cur = next;
    }

    /// A state of its own to come back to.
    pub(super) fn fresh_node(&mut self) -> Node {
        let node = self.new_node();
        self.jump(node);
        self.cur = node;
        node
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
}
