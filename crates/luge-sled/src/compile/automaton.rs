//! Automata that read and write bits while heads move along a ruler.

use std::collections::{BTreeMap, VecDeque};

use super::{Arrow, Crossing, Generator, Node, Pos, Side, Tape, n_symbols};

/// What one step of an automaton does.
#[derive(Clone)]
pub(super) struct Act<S> {
    writes: Vec<(Tape, u8)>,
    moves: Vec<(Tape, i8)>,
    /// The next state, or an exit.
    next: Result<S, usize>,
}

impl<S> Act<S> {
    pub(super) fn go(moves: &[(Tape, i8)], next: S) -> Self {
        Self { writes: Vec::new(), moves: moves.to_vec(), next: Ok(next) }
    }

    pub(super) fn exit(exit: usize) -> Self {
        Self { writes: Vec::new(), moves: Vec::new(), next: Err(exit) }
    }

    pub(super) fn writing(mut self, tape: Tape, bit: u8) -> Self {
        self.writes.push((tape, bit));
        self
    }
}

/// The bits under the heads in one step of an automaton. It records which tapes the step reads.
#[derive(Default)]
pub(super) struct View {
    tapes: Vec<Tape>,
    /// The bit of each tape, that of the first tape lowest.
    bits: u32,
}

impl View {
    pub(super) fn read(&mut self, tape: Tape) -> u8 {
        let at = self.tapes.iter().position(|&known| known == tape).unwrap_or_else(|| {
            self.tapes.push(tape);
            self.tapes.len() - 1
        });
        u8::from(self.bits >> at & 1 == 1)
    }
}

/// A head that moves along a track between two distances from its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Walker {
    pub(super) tape: Tape,
    /// The direction of the head on the way out.
    pub(super) sign: i8,
    pub(super) from: u32,
    pub(super) to: u32,
}

impl Walker {
    pub(super) fn new(tape: Tape, from: u32, to: u32) -> Self {
        Self { tape, sign: 1, from, to }
    }

    /// A head that moves along the whole track.
    pub(super) fn whole(tape: Tape) -> Self {
        Self::new(tape, 0, u32::MAX)
    }

    /// Whether the head moves in the part of the track that starts at this distance.
    pub(super) fn covers(&self, part: u32) -> bool {
        self.from <= part && part < self.to
    }
}

/// A part of a ruler, from one end to the other. Tracks of one or two cells need no ruler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Track {
    /// The ruler's tape, and the direction of its head.
    ruler: Option<(Tape, i8)>,
    /// All marks on this side of the ruler, as distances from the start of the track.
    marks: Vec<u32>,
    /// The marks that matter on this track; the last is its end.
    events: Vec<u32>,
    total: u32,
    /// Whether it starts at the far end of the ruler.
    far: bool,
}

impl Track {
    /// The same track in the other direction.
    pub(super) fn reversed(&self) -> Self {
        let mirrored = |at: &[u32]| -> Vec<u32> {
            let inner = at.iter().rev().filter(|&&at| at < self.total).map(|at| self.total - at);
            inner.chain([self.total]).collect()
        };
        Self {
            ruler: self.ruler.map(|(tape, direction)| (tape, -direction)),
            marks: mirrored(&self.marks),
            events: mirrored(&self.events),
            total: self.total,
            far: !self.far,
        }
    }

    /// The same moves of a head on the reversed track.
    pub(super) fn mirrored(&self, walker: Walker) -> Walker {
        let mirrored = |at: u32| self.total - at.min(self.total);
        Walker { sign: -walker.sign, from: mirrored(walker.to), to: mirrored(walker.from), ..walker }
    }

    /// The start of a part of this length between two events.
    pub(super) fn part_of_length(&self, length: u32) -> Option<u32> {
        let mut starts = [0].into_iter().chain(self.events.iter().copied());
        starts.find(|from| self.events.contains(&(from + length)))
    }

    /// The same track without events on the way.
    fn plain(&self) -> Self {
        Self { events: vec![self.total], ..self.clone() }
    }

    /// The last event among the first `passed` marks; 0 if there is none.
    pub(super) fn part(&self, passed: u8) -> u32 {
        let passed = &self.marks[..usize::from(passed).min(self.marks.len())];
        passed.iter().rev().find(|mark| self.events.contains(mark)).copied().unwrap_or(0)
    }

    /// Whether the `passed`-th mark is the end.
    fn is_end(&self, passed: u8) -> bool {
        passed > 0 && self.marks.get(usize::from(passed) - 1) == Some(&self.total)
    }

    /// The number of marks up to the end.
    pub(super) fn n_marks(&self) -> u8 {
        let end = self.marks.iter().position(|&mark| mark == self.total).map_or(0, |at| at + 1);
        u8::try_from(end).unwrap_or(u8::MAX)
    }

    /// The ruler's tape.
    pub(super) fn ruler(&self) -> Option<Tape> {
        self.ruler.map(|(tape, _)| tape)
    }

    /// Reads the ruler: 1 on a mark.
    pub(super) fn mark(&self, view: &mut View) -> u8 {
        self.ruler().map_or(1, |ruler| view.read(ruler))
    }

    /// Reads the ruler on the way out. Returns the number of marks passed, or `None` at the end.
    pub(super) fn advance(&self, passed: u8, view: &mut View) -> Option<u8> {
        let mark = self.mark(view);
        (mark == 0 || !self.is_end(passed + mark)).then_some(passed + mark)
    }

    /// The same for a head that may go on beyond the end.
    pub(super) fn advance_beyond(&self, passed: u8, view: &mut View) -> u8 {
        (passed + self.mark(view)).min(u8::try_from(self.marks.len()).unwrap_or(u8::MAX))
    }

    /// The moves of one step out or back, in the part that starts at `part`.
    pub(super) fn moves(&self, walkers: &[Walker], part: u32, outwards: bool) -> Vec<(Tape, i8)> {
        let sign = if outwards { 1 } else { -1 };
        let active = walkers.iter().filter(|walker| walker.covers(part));
        let mut moves: Vec<(Tape, i8)> = active.map(|walker| (walker.tape, sign * walker.sign)).collect();
        moves.extend(self.ruler.map(|(tape, direction)| (tape, sign * direction)));
        moves
    }

    /// A step back, with `left` marks still in front. Takes the exit at home.
    pub(super) fn back<S>(
        &self,
        walkers: &[Walker],
        left: u8,
        view: &mut View,
        again: impl Fn(u8) -> S,
        exit: usize,
    ) -> Act<S> {
        let mark = self.mark(view);
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

    /// The current state, after all deferred moves.
    pub(super) fn here(&mut self) -> Node {
        self.settle();
        self.cur
    }

    pub(super) fn jump(&mut self, to: Node) {
        let from = self.here();
        self.graph.arrow(from, Arrow::to(to));
    }

    /// An estimate of how often this place runs: more inside loops.
    pub(super) fn weight(&self) -> u64 {
        8_u64.pow(u32::try_from(self.loops.len().min(6)).unwrap_or(6))
    }

    /// A track with these events, the last of which is its end. Brings the ruler's head home.
    pub(super) fn track(&mut self, events: Vec<u32>, needs_ruler: bool) -> Track {
        let track = self.new_track(events, needs_ruler);
        if let Some(ruler) = track.ruler() {
            self.bring_home(ruler);
        }
        self.settle();
        track
    }

    /// The same, but it starts at the ruler's far end if the head is there.
    pub(super) fn track_from_here(&mut self, events: Vec<u32>) -> Track {
        let track = self.new_track(events, false);
        let Some(ruler) = track.ruler() else { return track };
        if let Some(waiting) = self.pos.rulers.get(&ruler) {
            let mut back = track.reversed();
            if waiting.ruler == track.ruler
                && waiting.total == track.total
                && track.events.iter().all(|event| back.marks.contains(event))
            {
                back.events = track.events;
                return back;
            }
            self.bring_home(ruler);
        }
        track
    }

    fn new_track(&mut self, mut events: Vec<u32>, needs_ruler: bool) -> Track {
        events.retain(|&event| event > 0);
        events.sort_unstable();
        events.dedup();
        let total = events.last().copied().unwrap_or(0);
        if total <= 2 && !needs_ruler {
            return Track { ruler: None, marks: (1..=total).collect(), events, total, far: false };
        }
        *self.demand.profiles.entry(events.clone()).or_default() += self.weight();
        let Side { tape, direction, marks } = self.plan.rulers.find(&events, Tape::Ruler);
        Track { ruler: Some((tape, direction)), marks, events, total, far: false }
    }

    /// Brings the head of a ruler home.
    fn bring_home(&mut self, ruler: Tape) {
        if let Some(waiting) = self.pos.rulers.get(&ruler).cloned() {
            self.cross_alone(waiting.reversed());
        }
    }

    /// Brings the heads of all rulers to their positions in `target`.
    pub(super) fn place_rulers(&mut self, target: &Pos) {
        let rulers: Vec<Tape> = self.pos.rulers.keys().chain(target.rulers.keys()).copied().collect();
        for ruler in rulers {
            let wanted = target.rulers.get(&ruler);
            if self.pos.rulers.get(&ruler) != wanted {
                self.bring_home(ruler);
                wanted.into_iter().for_each(|track| self.cross_alone(track.clone()));
            }
        }
    }

    /// Records that the ruler's head is at the end of a track.
    pub(super) fn crossed(&mut self, track: &Track) {
        match track.ruler() {
            Some(ruler) if track.far => _ = self.pos.rulers.remove(&ruler),
            Some(ruler) => _ = self.pos.rulers.insert(ruler, track.plain()),
            None => {}
        }
    }

    /// The tapes whose heads move with that of a tape.
    pub(super) fn partners(&self, tape: Tape) -> Vec<Tape> {
        match tape {
            Tape::Data => {
                [Tape::Marks].into_iter().chain((0..self.plan.needs.places).map(Tape::Place)).collect()
            }
            Tape::Product => vec![Tape::Bound],
            tape if self.plan.origins.contains(&tape) => vec![tape.origin()],
            _ => Vec::new(),
        }
    }

    /// The arrow with these moves, and those of the partners.
    pub(super) fn moving(&self, mut arrow: Arrow, moves: &[(Tape, i8)]) -> Arrow {
        for &(tape, offset) in moves {
            arrow = arrow.shift(tape, offset);
            for partner in self.partners(tape) {
                arrow = arrow.shift(partner, offset);
            }
        }
        arrow
    }

    /// Makes a node for each `S` that can be reached from `start`; the node of `start` is the current one. Returns a new node
    /// for each exit.
    pub(super) fn explore<S: Clone + Ord>(
        &mut self,
        start: S,
        n_exits: usize,
        step: impl Fn(&S, &mut View) -> Act<S>,
    ) -> Vec<Node> {
        let exits: Vec<Node> = (0..n_exits).map(|_| self.new_node()).collect();
        let mut nodes = BTreeMap::from([(start.clone(), self.cur)]);
        let mut queue = VecDeque::from([start]);
        while let Some(state) = queue.pop_front() {
            // What a step reads can depend on what it has read, so all combinations are tried first.
            let mut view = View::default();
            while view.bits < 1 << view.tapes.len() {
                step(&state, &mut view);
                view.bits += 1;
            }
            for bits in 0..1 << view.tapes.len() {
                view.bits = bits;
                let act = step(&state, &mut view);
                let next = match act.next {
                    Err(exit) => exits[exit],
                    Ok(next) => *nodes.entry(next.clone()).or_insert_with(|| {
                        queue.push_back(next);
                        self.graph.add(self.line)
                    }),
                };
                let mut arrow = Arrow::to(next);
                for (at, &tape) in view.tapes.iter().enumerate() {
                    arrow = arrow.read(tape, u8::from(bits >> at & 1 == 1));
                }
                for (tape, bit) in act.writes {
                    if arrow.reads.get(&tape) != Some(&bit) {
                        arrow = arrow.write(tape, bit);
                    }
                }
                let arrow = self.moving(arrow, &act.moves);
                self.graph.arrow(nodes[&state], arrow);
            }
        }
        exits
    }

    /// An automaton whose state is a number of marks, `None` before its first step. Continues from its only exit.
    pub(super) fn sweep(&mut self, step: impl Fn(Option<u8>, &mut View) -> Act<Option<u8>>) {
        self.cur = self.explore(None, 1, |state, view| step(*state, view))[0];
    }

    /// Moves along a track to its end; `go` makes a step after a number of marks.
    pub(super) fn sweep_out(&mut self, track: &Track, go: impl Fn(u8) -> Act<Option<u8>>) {
        self.sweep(|state, view| match state {
            None => go(0),
            Some(passed) => track.advance(passed, view).map_or_else(|| Act::exit(0), &go),
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

    /// Moves heads by `times` words. If `write` is given, it is written to every cell on the way.
    pub(super) fn glide(&mut self, moves: &[(Tape, i8)], write: Option<(Tape, u8)>, width: u32, times: u32) {
        if width <= 2 {
            return self.steps(moves, write, width * times);
        }
        for _ in 0..times {
            if write.is_none() && self.share(moves, width) {
                continue;
            }
            let track = self.track_from_here(vec![width]);
            let walkers =
                moves.iter().map(|&(tape, sign)| Walker { tape, sign, from: 0, to: width }).collect();
            self.cross(Crossing { write, ..Crossing::new(track, walkers) });
        }
    }

    /// Moves a head by a number of cells.
    pub(super) fn walk(&mut self, tape: Tape, direction: i8, length: u32, write: Option<u8>) {
        let write = write.map(|bit| (tape, bit));
        if length > 3 {
            return self.glide(&[(tape, direction)], write, length, 1);
        }
        self.steps(&[(tape, direction)], write, length);
    }

    fn steps(&mut self, moves: &[(Tape, i8)], write: Option<(Tape, u8)>, n_steps: u32) {
        self.defer(|generator| (0..n_steps).for_each(|_| generator.single_step(moves, write)));
    }

    /// Moves heads until the tape shows one of these symbols; not at all if it shows one already.
    pub(super) fn until(&mut self, tape: Tape, symbols: &[u8], moves: &[(Tape, i8)]) {
        let from = self.here();
        let next = self.new_node();
        for symbol in 0..n_symbols(tape) {
            let found = symbols.contains(&symbol);
            let arrow = if found { Arrow::to(next) } else { self.moving(Arrow::to(from), moves) };
            self.graph.arrow(from, arrow.read(tape, symbol));
        }
        self.cur = next;
    }

    /// Begins a new state, to which loops can return.
    pub(super) fn fresh_node(&mut self) -> Node {
        let node = self.new_node();
        self.jump(node);
        self.cur = node;
        node
    }

    /// Branches on the bit under a head. Returns the states for 0 and for 1.
    pub(super) fn branch(&mut self, tape: Tape) -> [Node; 2] {
        let from = self.here();
        let nodes = [self.new_node(), self.new_node()];
        for (bit, node) in nodes.into_iter().enumerate() {
            self.graph.arrow(from, Arrow::to(node).read(tape, u8::from(bit == 1)));
        }
        nodes
    }
}
