//! Automata over bits, moves along a ruler, and the way back to the next instruction.

use std::collections::{BTreeMap, VecDeque};

use super::{
    Generator,
    graph::{Arrow, Node},
    lanes::Crossing,
    plan::Side,
    position::Pos,
    tapes::{self, BOUND, DATA, MARKS, PRODUCT, Tape},
};

/// What one step of an automaton does.
#[derive(Clone)]
pub(super) struct Act<S> {
    pub(super) writes: Vec<(Tape, u8)>,
    pub(super) moves: Vec<(Tape, i8)>,
    pub(super) next: Next<S>,
}

#[derive(Clone)]
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
    /// Whether it begins at the far end of the ruler.
    far: bool,
}

impl Track {
    /// The same way from its end to its beginning.
    pub(super) fn reversed(&self) -> Self {
        let mirrored = |at: &[u32]| -> Vec<u32> {
            let inner = at.iter().rev().filter(|&&at| at < self.total).map(|at| self.total - at);
            inner.chain([self.total]).collect()
        };
        let (marks, events) = (mirrored(&self.marks), mirrored(&self.events));
        let side =
            self.side.clone().map(|side| Side { direction: -side.direction, marks: marks.clone(), ..side });
        Self { side, marks, events, total: self.total, far: !self.far }
    }

    /// The same walk of a head, seen from the other end.
    pub(super) fn mirrored(&self, walker: Walker) -> Walker {
        let mirrored = |at: u32| self.total - at.min(self.total);
        Walker { tape: walker.tape, from: mirrored(walker.to), to: mirrored(walker.from) }
    }

    /// Where a part of this length begins that lies between two events.
    pub(super) fn stretch(&self, length: u32) -> Option<u32> {
        let mut starts = [0].into_iter().chain(self.events.iter().copied());
        starts.find(|from| self.events.contains(&(from + length)))
    }

    /// The whole way with nothing happening on it.
    fn plain(&self) -> Self {
        Self { events: vec![self.total], ..self.clone() }
    }

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

    /// The way along a ruler with these events, the last of which ends it; the ruler's head is at home.
    pub(super) fn track(&mut self, events: Vec<u32>) -> Track {
        let track = self.way(events);
        self.leave_home(&track);
        track
    }

    /// The same with a ruler, however short it is.
    pub(super) fn ruled(&mut self, events: Vec<u32>) -> Track {
        let track = self.ruled_way(events);
        self.leave_home(&track);
        track
    }

    /// The same from where the ruler's head is, if that is one of its ends.
    pub(super) fn track_from_here(&mut self, events: Vec<u32>) -> Track {
        let track = self.way(events);
        let Some(side) = &track.side else { return track };
        if let Some(waiting) = self.pos.ruler(side.tape) {
            let same = waiting.side.as_ref().is_some_and(|other| other.direction == side.direction);
            let mut back = track.reversed();
            if same
                && waiting.total == track.total
                && track.events.iter().all(|event| back.marks.contains(event))
            {
                back.events = track.events;
                return back;
            }
            self.bring_home(side.tape);
        }
        track
    }

    fn way(&mut self, mut events: Vec<u32>) -> Track {
        events.retain(|&event| event > 0);
        events.sort_unstable();
        events.dedup();
        let total = events.last().copied().unwrap_or(0);
        if total <= 2 {
            return Track { side: None, marks: (1..=total).collect(), events, total, far: false };
        }
        self.ruled_way(events)
    }

    fn ruled_way(&mut self, events: Vec<u32>) -> Track {
        let total = events.last().copied().unwrap_or(0);
        *self.demand.profiles.entry(events.clone()).or_default() += self.weight();
        let side = self.plan.side(&events);
        Track { marks: side.marks.clone(), side: Some(side), events, total, far: false }
    }

    /// Brings the ruler's head home at once.
    fn leave_home(&mut self, track: &Track) {
        if let Some(side) = &track.side {
            self.bring_home(side.tape);
        }
        self.settle();
    }

    /// Brings the head of a ruler home.
    pub(super) fn bring_home(&mut self, ruler: Tape) {
        if let Some(waiting) = self.pos.ruler(ruler).cloned() {
            self.cross(Crossing { needed: true, ..Crossing::new(waiting.reversed(), Vec::new()) });
        }
    }

    /// Brings the heads of all rulers to where they are to be.
    pub(super) fn place_rulers(&mut self, target: &Pos) {
        for ruler in [self.pos.rulers(), target.rulers()].concat() {
            if self.pos.ruler(ruler) == target.ruler(ruler) {
                continue;
            }
            self.bring_home(ruler);
            if let Some(track) = target.ruler(ruler) {
                self.cross(Crossing { needed: true, ..Crossing::new(track.clone(), Vec::new()) });
            }
        }
    }

    /// Notes that the ruler's head is at the other end of a way now.
    pub(super) fn crossed(&mut self, track: &Track) {
        if let Some(side) = &track.side {
            self.pos.put_ruler(side.tape, (!track.far).then(|| track.plain()));
        }
    }

    /// Heads that move with this one.
    pub(super) fn partners(&self, tape: Tape) -> Vec<Tape> {
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
        if width <= 2 {
            return self.defer(|generator| {
                for _ in 0..width * times {
                    generator.single_step(moves, write);
                }
            });
        }
        for _ in 0..times {
            if write.is_none() && self.share(moves, width) {
                continue;
            }
            let track = self.track_from_here(vec![width]);
            let walker = |&(tape, sign): &(Tape, i8)| (Walker { tape, from: 0, to: width }, sign);
            let walkers = moves.iter().map(walker).collect();
            self.cross(Crossing { write, ..Crossing::new(track, walkers) });
        }
    }

    /// Moves a head by cells: step by step if they are few, else along a ruler.
    pub(super) fn walk(&mut self, tape: Tape, direction: i8, length: u32, write: Option<u8>) {
        let write = write.map(|bit| (tape, bit));
        if length > 3 {
            return self.glide(&[(tape, direction)], write, length, 1);
        }
        self.defer(|generator| {
            for _ in 0..length {
                generator.single_step(&[(tape, direction)], write);
            }
        });
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
