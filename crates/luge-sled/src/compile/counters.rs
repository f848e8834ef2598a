//! Counters: read-only tapes with marks, one for each running loop. The head moves one cell per round.

use super::{
    Generator,
    automaton::Act,
    graph::{Arrow, Node},
    loops::Counter,
    plan::Object,
    position::Pos,
    tapes::{self, OUTER, Tape},
};
use crate::core::Affine;

impl Generator<'_> {
    /// Puts the head of a counter that is not in use on one of its marks.
    pub(super) fn seek_counter(&mut self, tape: Tape, mark: usize) {
        match self.pos.counter(tape) {
            Some(now) => self.defer(|generator| {
                let direction = if now < mark { 1 } else { -1 };
                for _ in 0..now.abs_diff(mark) {
                    generator.single_step(&[(tape, direction)], None);
                    generator.until(tape, 1, &[(tape, direction)]);
                }
            }),
            None => self.want(|first| {
                first.counters.entry(tape).or_insert(mark);
            }),
        }
        self.pos.put_counter(tape, mark);
    }

    /// The counter for a loop of at most so many rounds, its head in front of the first.
    pub(super) fn start_counter(&mut self, rounds: u64) -> Tape {
        let tape = tapes::counter(self.depth);
        self.demand.segments.entry(self.depth).or_default().insert(rounds);
        let segment = self.plan.segment(self.depth, rounds);
        self.seek_counter(tape, segment);
        self.single_step(&[(tape, 1)], None);
        self.pos.put_counter(tape, segment + 1);
        tape
    }

    /// Does something a known number of times.
    pub(super) fn counted(&mut self, rounds: u64, mut unit: impl FnMut(&mut Self)) {
        let tape = self.start_counter(rounds);
        self.depth += 1;
        self.again_and_again(
            |generator| generator.branch(tape),
            |generator| {
                unit(generator);
                generator.single_step(&[(tape, 1)], None);
            },
        );
        self.depth -= 1;
    }

    /// Does something again and again until `check` says that it is over: two states, another round or none. Rulers
    /// are used in one direction and the other in turn.
    fn again_and_again(
        &mut self,
        mut check: impl FnMut(&mut Self) -> [Node; 2],
        mut unit: impl FnMut(&mut Self),
    ) {
        let head = self.fresh_node();
        let begin = self.pos.clone();
        let [again, over] = check(self);
        self.cur = again;
        self.steady(&mut unit);
        if !self.pos.same_rulers(&begin) {
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

    /// One round of something that is done again and again: counters inside end where they begin.
    fn steady(&mut self, unit: &mut impl FnMut(&mut Self)) {
        let before = self.pos.clone();
        unit(self);
        for tape in self.pos.counters_used() {
            if let Some(mark) = before.counter(tape) {
                self.seek_counter(tape, mark);
            }
        }
    }

    /// The counter of a loop around.
    fn counter_of(&self, var: usize) -> Option<Counter> {
        self.loops.iter().find_map(|around| around.counter.filter(|counter| counter.var == var))
    }

    /// The most that the counter of a loop around comes to.
    pub(super) fn most_of(&self, var: usize) -> i64 {
        self.counter_of(var).map_or(0, |counter| counter.rounds)
    }

    /// Between what an index lies while the loops around it run.
    pub(super) fn range(&self, index: &Affine) -> (i64, i64) {
        index.range(|var| (0, (self.most_of(var) - 1).max(0)))
    }

    /// Does something as often as the counter of a loop around says.
    pub(super) fn along_counter(&mut self, var: usize, mut unit: impl FnMut(&mut Self)) {
        let Some(counter) = self.counter_of(var) else { return };
        self.demand.scratch = true;
        self.settle();
        let back = [(counter.tape, -1), (OUTER, -1)];
        self.single_step(&back, None);
        self.again_and_again(
            |generator| generator.branch(counter.tape),
            |generator| {
                unit(generator);
                generator.single_step(&back, None);
            },
        );
        self.until(OUTER, 1, &[(OUTER, 1), (counter.tape, 1)]);
    }

    /// Counts a temporary down to zero, doing something each time. What is left in it means nothing.
    pub(super) fn count_down(&mut self, temporary: usize, width: u32, unit: impl FnMut(&mut Self)) {
        let unwalked = self.unwalked.remove(&temporary);
        debug_assert!(unwalked, "a computed index is used up by walking along it");
        let (tape, word, pitch) = self.home(Object::Temporary(temporary), width, 1);
        self.seek(tape, pitch, &Affine::constant(word));
        self.place_rulers(&Pos::default());
        self.again_and_again(|generator| generator.decrement(tape, width), unit);
    }

    /// Takes one off a number without sign; two states: there was one to take, or it was zero.
    pub(super) fn decrement(&mut self, tape: Tape, width: u32) -> [usize; 2] {
        self.settle();
        let track = self.track_from_here(vec![width]);
        self.settle();
        let walkers = [super::automaton::Walker { tape, from: 0, to: width }];
        // Outwards with the marks passed, or back with the result and the marks left.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        enum Stage {
            First,
            Out(u8),
            Back(usize, u8),
        }
        let bit = |passed: u8, bit: u8| match bit {
            1 => Act::go(&[], Stage::Back(0, passed)).writing(tape, 0),
            _ => Act::go(&track.moves(&walkers, 0, true), Stage::Out(passed)).writing(tape, 1),
        };
        let inspect = |stage: &Stage| match stage {
            Stage::First => vec![tape],
            Stage::Out(_) => [track.looked_at(), vec![tape]].concat(),
            Stage::Back(..) => track.looked_at(),
        };
        let exits = self.explore(Stage::First, 2, inspect, |stage, bits| match *stage {
            Stage::First => match bits[0] {
                1 => Act::exit(0).writing(tape, 0),
                _ => bit(0, 0),
            },
            Stage::Out(passed) => {
                let (mark, bits) = track.mark(bits);
                let passed = passed + mark;
                if mark == 1 && track.is_end(passed) {
                    let left = passed - 1;
                    return Act::go(&track.moves(&walkers, 0, false), Stage::Back(1, left));
                }
                bit(passed, bits[0])
            }
            Stage::Back(result, left) => {
                track.back(&walkers, left, track.mark(bits).0, |left| Stage::Back(result, left), result)
            }
        });
        [exits[0], exits[1]]
    }

    /// A jump to `reject`.
    pub(super) fn jump_to_reject(&mut self) {
        let from = self.here();
        self.graph.arrow(from, Arrow::to(self.reject));
    }
}
