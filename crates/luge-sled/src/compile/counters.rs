//! Counters: read-only tapes with marks, one for each running loop. Their heads move one cell per round.

use super::{
    Generator,
    automaton::{Act, View, Walker},
    graph::{Arrow, Node},
    loops::{Counter, Loop},
    position::{Head, Pos, Walk},
    tapes::Tape,
};
use crate::core::Affine;

impl Generator<'_> {
    /// Moves the head of an unused counter to one of its marks.
    pub(super) fn seek_counter(&mut self, tape: Tape, mark: i64) {
        let target = Head::At(Affine::constant(mark));
        match self.pos.head(tape) {
            Head::At(now) => self.defer(|generator| {
                let direction = if now.constant < mark { 1 } else { -1 };
                for _ in 0..now.constant.abs_diff(mark) {
                    generator.single_step(&[(tape, direction)], None);
                    generator.until(tape, 1, &[(tape, direction)]);
                }
            }),
            _ => self.want(tape, target.clone()),
        }
        self.pos.put(tape, target);
    }

    /// Prepares the counter of a loop with at most this many rounds.
    pub(super) fn start_counter(&mut self, rounds: u64) -> Tape {
        let tape = Tape::Counter(self.depth);
        self.demand.segments.entry(self.depth).or_default().insert(rounds);
        let segment = self.plan.segment(self.depth, rounds);
        self.seek_counter(tape, segment);
        self.single_step(&[(tape, 1)], None);
        self.pos.put(tape, Head::At(Affine::constant(segment + 1)));
        tape
    }

    /// Repeats `unit` a known number of times.
    pub(super) fn counted(&mut self, rounds: u64, mut unit: impl FnMut(&mut Self)) {
        let tape = self.start_counter(rounds);
        self.depth += 1;
        self.repeat_while(
            |generator| generator.branch(tape),
            |generator| {
                unit(generator);
                generator.single_step(&[(tape, 1)], None);
            },
        );
        self.depth -= 1;
    }

    /// Repeats `unit` while `check` branches to the first of its two nodes. Rulers are used in both directions in turn.
    fn repeat_while(
        &mut self,
        mut check: impl FnMut(&mut Self) -> [Node; 2],
        mut unit: impl FnMut(&mut Self),
    ) {
        let head = self.fresh_node();
        let begin = self.pos.clone();
        let [again, over] = check(self);
        self.cur = again;
        self.steady(&mut unit);
        if self.pos.rulers != begin.rulers {
            let [again, over_here] = check(self);
            let here = self.pos.clone();
            self.cur = over_here;
            self.place_rulers(&begin);
            self.jump(over);
            (self.cur, self.pos) = (again, here);
            self.steady(&mut unit);
            self.place_rulers(&begin);
        }
        self.jump(head);
        self.cur = over;
    }

    /// One round of a repeated unit: brings the counters back to where they were.
    fn steady(&mut self, unit: &mut impl FnMut(&mut Self)) {
        let before = self.pos.clone();
        unit(self);
        for tape in self.pos.counters() {
            if let Head::At(mark) = before.head(tape) {
                self.seek_counter(tape, mark.constant);
            }
        }
    }

    /// The counter of an enclosing loop.
    fn counter_of(&self, var: usize) -> Option<Counter> {
        self.loops.iter().filter_map(Loop::counter).find(|counter| counter.var == var)
    }

    /// The largest value of the counter of an enclosing loop.
    pub(super) fn most_of(&self, var: usize) -> i64 {
        self.counter_of(var).map_or(0, |counter| counter.rounds)
    }

    /// The smallest and largest value of an index inside the enclosing loops.
    pub(super) fn range(&self, index: &Affine) -> (i64, i64) {
        index.range(|var| (0, (self.most_of(var) - 1).max(0)))
    }

    /// Repeats `unit` as often as the counter of an enclosing loop says.
    pub(super) fn along_counter(&mut self, var: usize, mut unit: impl FnMut(&mut Self)) {
        let Some(counter) = self.counter_of(var) else { return };
        self.demand.scratch = true;
        self.settle();
        let back = [(counter.tape, -1), (Tape::Outer, -1)];
        self.single_step(&back, None);
        self.repeat_while(
            |generator| generator.branch(counter.tape),
            |generator| {
                unit(generator);
                generator.single_step(&back, None);
            },
        );
        self.until(Tape::Outer, 1, &[(Tape::Outer, 1), (counter.tape, 1)]);
    }

    /// Repeats `unit` while counting a temporary down to zero. Its value is meaningless afterwards.
    pub(super) fn count_down(&mut self, walk: &Walk, unit: impl FnMut(&mut Self)) {
        let unwalked = self.unwalked.remove(&walk.slot);
        debug_assert!(unwalked, "a computed index is followed once");
        let spot = self.slot_spot(walk.slot, walk.width);
        self.approach(&spot);
        self.place_rulers(&Pos::default());
        self.repeat_while(|generator| generator.decrement(spot.tape, walk.width), unit);
    }

    /// Subtracts 1 from an unsigned number. Returns the nodes for a number above 0, and for 0.
    pub(super) fn decrement(&mut self, tape: Tape, width: u32) -> [usize; 2] {
        self.settle();
        let track = self.track_from_here(vec![width]);
        self.settle();
        let walkers = [Walker::new(tape, 0, width)];
        // Out, with the marks passed; or back, with the exit and the marks left.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        enum Stage {
            First,
            Out(u8),
            Back(usize, u8),
        }
        let bit = |passed: u8, view: &mut View| match view.read(tape) {
            1 => Act::go(&[], Stage::Back(0, passed)).writing(tape, 0),
            _ => Act::go(&track.moves(&walkers, 0, true), Stage::Out(passed)).writing(tape, 1),
        };
        let exits = self.explore(Stage::First, 2, |stage, view| match *stage {
            Stage::First if view.read(tape) == 1 => Act::exit(0).writing(tape, 0),
            Stage::First => bit(0, view),
            Stage::Out(passed) => match track.advance(passed, view) {
                Some(passed) => bit(passed, view),
                None => Act::go(&track.moves(&walkers, 0, false), Stage::Back(1, passed)),
            },
            Stage::Back(result, left) => {
                track.back(&walkers, left, view, |left| Stage::Back(result, left), result)
            }
        });
        [exits[0], exits[1]]
    }

    /// Jumps to `reject`.
    pub(super) fn jump_to_reject(&mut self) {
        let from = self.here();
        self.graph.arrow(from, Arrow::to(self.reject));
    }
}
