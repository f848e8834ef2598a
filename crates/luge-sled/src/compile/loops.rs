//! Loops. A trial pass over the body finds where it first needs each head. Every round starts with the heads there, so a
//! head that follows the loop through an array never moves back.
//!
//! Counters are read-only tapes with marks, one for each running loop. Their heads move one cell per round.

use super::{
    Act, Affine, Arrow, Built, Expr, First, For, Generator, Head, Node, Op, Place, Pos, REJECT, Slot, Stmt,
    Tape, Ty, View, Walk, Walker,
};

/// The counter of a loop over integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Counter {
    pub(super) tape: Tape,
    pub(super) var: usize,
    /// Its value after the loop.
    pub(super) rounds: i64,
}

/// The end of a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// Advances a counter, and increments the slot of this width that holds the loop's variable as a number.
    Count(Counter, Option<(Slot, u32)>),
    /// Moves to the next sample.
    Sample,
    /// Counts a slot of this width down.
    Repeat(Slot, u32),
    /// Goes back to where rounds begin.
    While,
}

/// A loop around the statement that is being compiled.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    step: Step,
    /// The node and the heads at the beginning of a round.
    head: Node,
    begin: Pos,
    /// The node and the heads after the loop, which are known before its body is compiled.
    exit: Node,
    end: Pos,
}

impl Loop {
    fn new(step: Step, (head, begin): (Node, Pos), (exit, end): (Node, Pos)) -> Self {
        Self { step, head, begin, exit, end }
    }

    pub(super) fn counter(&self) -> Option<Counter> {
        if let Step::Count(counter, _) = self.step { Some(counter) } else { None }
    }
}

fn integer(width: u32) -> Ty {
    Ty { integer: width, fraction: 0 }
}

impl Generator<'_> {
    /// Compiles the body of a loop without effect, to find where it first needs each head.
    fn try_out(&mut self, key: usize, step: Step, body: impl FnOnce(&mut Self) -> Built) -> Built<First> {
        if let Some(first) = self.tried.get(&key) {
            return Ok(first.clone());
        }
        self.settle();
        let before = (self.graph.entries.len(), self.cur, self.dead, self.line, self.pos.clone());
        let (routines, taken) = (self.routines.clone(), self.taken.clone());
        let around = [self.cur, self.cur].map(|node| (node, Pos::anywhere()));
        self.cur = self.new_node();
        self.pos = Pos::anywhere();
        self.dead = false;
        if step == Step::Sample {
            self.pos.put(Tape::Data, Head::At(Affine::default()));
        }
        self.trials.push(First::default());
        let [begin, end] = around;
        self.loops.push(Loop::new(step, begin, end));
        body(self)?;
        self.settle();
        self.loops.pop();
        let first = self.trials.pop().unwrap_or_default();
        let n_nodes;
        (n_nodes, self.cur, self.dead, self.line, self.pos) = before;
        self.graph.entries.truncate(n_nodes);
        (self.routines, self.taken) = (routines, taken);
        self.tried.insert(key, first.clone());
        Ok(first)
    }

    fn try_body(&mut self, body: &[Stmt], step: Step) -> Built<First> {
        self.try_out(body.as_ptr() as usize, step, |generator| generator.block(body))
    }

    pub(super) fn for_loop(&mut self, stmt: &For) -> Built {
        if let Some((slot, first)) = &stmt.value {
            self.assign(&Place::slot(*slot), first);
        }
        let rounds = i64::try_from(stmt.most).unwrap_or(i64::MAX);
        let tape = self.start_counter(stmt.most);
        let counter = Counter { tape, var: stmt.var, rounds };
        // The counter ends at the largest number of rounds, so it starts later if there are fewer.
        let (from, to) = (self.known(&stmt.from), self.known(&stmt.to));
        let start = from.minus(&to).offset(rounds);
        for &(var, factor) in &start.terms {
            self.along_counter(var, |generator| generator.move_counter(tape, factor));
        }
        self.move_counter(tape, start.constant);
        let value = Affine::variable(stmt.var).plus(&to).offset(-rounds);
        self.variables.insert(stmt.var, value);
        self.depth += 1;
        let first = self.try_body(&stmt.body, Step::Count(counter, None))?;
        let mut begin = self.pos.wanted(first);
        self.keep_to_sample(&mut begin, counter);
        let entry = begin.with(stmt.var, &start);
        self.go_to(&entry);
        let head = self.fresh_node();
        // On the counter's last mark the loop is over.
        let [again, exit] = self.branch(tape);
        self.cur = again;
        self.pos = begin.clone();
        let end = begin.with(stmt.var, &Affine::constant(rounds));
        let value = stmt.value.as_ref().map(|(slot, first)| (*slot, first.ty().width()));
        self.round(&stmt.body, Loop::new(Step::Count(counter, value), (head, begin), (exit, end)))?;
        self.depth -= 1;
        self.variables.remove(&stmt.var);
        Ok(())
    }

    fn move_counter(&mut self, tape: Tape, cells: i64) {
        let direction = if cells < 0 { -1 } else { 1 };
        for _ in 0..cells.unsigned_abs() {
            self.single_step(&[(tape, direction)], None);
        }
    }

    /// Makes every round start on the first number of the sample if the head could leave the sample otherwise.
    fn keep_to_sample(&self, begin: &mut Pos, counter: Counter) {
        if let Head::At(at) = begin.head(Tape::Data) {
            let end = at.with(counter.var, &Affine::constant(counter.rounds));
            let (lowest, highest) = self.range(&end);
            if lowest < 0 || highest > self.n_numbers() {
                begin.put(Tape::Data, Head::At(Affine::default()));
            }
        }
    }

    /// Compiles the body of a loop and the end of a round. Continues after the loop.
    fn round(&mut self, body: &[Stmt], around: Loop) -> Built {
        let line = self.line;
        let after = (around.exit, around.end.clone());
        self.loops.push(around);
        self.block(body)?;
        self.line = line;
        self.next_round();
        self.loops.pop();
        self.resume(Some(after));
        Ok(())
    }

    /// Compiles the end of a round, or `continue`.
    pub(super) fn next_round(&mut self) {
        let Some(Loop { step, head, begin, exit, end }) = self.loops.last().cloned() else { return };
        if self.dead {
            return;
        }
        let next = match step {
            Step::Count(counter, value) => {
                if let Some((slot, width)) = value {
                    let ty = integer(width);
                    let one = Expr::Constant { raw: 1, ty };
                    let next = Expr::binary(Op::Add, Expr::variable(slot, ty), one);
                    self.assign(&Place::slot(slot), &next);
                }
                let next = Affine::variable(counter.var).offset(1);
                self.go_to(&begin.with(counter.var, &next));
                self.single_step(&[(counter.tape, 1)], None);
                head
            }
            Step::Sample => {
                let mut heads = begin.clone();
                heads.put(Tape::Data, self.pos.head(Tape::Data));
                self.bring_back(&heads);
                self.next_sample();
                self.go_to(&begin);
                head
            }
            Step::Repeat(slot, width) => {
                let spot = self.slot_spot(slot, width);
                self.approach(&spot);
                let [again, over] = self.decrement(spot.tape, width);
                let pos = self.pos.clone();
                self.cur = again;
                self.go_to(&begin);
                self.jump(head);
                self.resume(Some((over, pos)));
                self.go_to(&end);
                exit
            }
            Step::While => {
                self.go_to(&begin);
                head
            }
        };
        self.jump(next);
        self.dead = true;
    }

    /// Leaves the innermost loop.
    pub(super) fn leave_loop(&mut self) {
        let Some(around) = self.loops.last().cloned() else { return };
        if self.dead {
            return;
        }
        self.go_to(&around.end);
        if let Some(counter) = around.counter() {
            self.until(counter.tape, &[1], &[(counter.tape, 1)]);
        }
        self.jump(around.exit);
        self.dead = true;
    }

    /// A loop with many rounds, which counts a number down.
    pub(super) fn repeat(&mut self, times: i64, slot: Slot, body: &[Stmt]) -> Built {
        let width = self.core.widths[slot];
        self.assign(&Place::slot(slot), &Expr::Constant { raw: times - 1, ty: integer(width) });
        let first = self.try_body(body, Step::While)?;
        let begin = self.pos.wanted(first);
        self.go_to(&begin);
        let head = self.fresh_node();
        let exit = self.new_node();
        self.round(body, Loop::new(Step::Repeat(slot, width), (head, begin.clone()), (exit, begin)))
    }

    pub(super) fn while_loop(&mut self, before: &[Stmt], condition: &Expr, body: &[Stmt]) -> Built {
        let line = self.line;
        // Rounds begin with the heads where the condition needs them.
        let first = self.try_out(std::ptr::from_ref(condition) as usize, Step::While, |generator| {
            generator.block(before)?;
            let branches = generator.condition(condition);
            generator.resume(branches.holds);
            generator.block(body)
        })?;
        let begin = self.pos.wanted(first);
        self.go_to(&begin);
        let head = self.fresh_node();
        self.block(before)?;
        self.line = line;
        let branches = self.condition(condition);
        // If the condition never fails, only `break` ends the loop.
        self.resume(branches.fails);
        let after = self.branch_end().unwrap_or_else(|| (self.new_node(), begin.clone()));
        self.resume(branches.holds);
        self.round(body, Loop::new(Step::While, (head, begin), after))
    }

    pub(super) fn each_sample(&mut self, body: &[Stmt]) -> Built {
        let depth = self.data_depth;
        if depth > 0 {
            self.leave_sample(depth - 1);
        } else {
            self.seek_samples(Head::FirstSample);
        }
        self.data_depth += 1;
        let first = self.try_body(body, Step::Sample)?;
        self.pos.put(Tape::Data, Head::At(Affine::default()));
        let mut begin = self.pos.wanted(first);
        begin.put(Tape::Data, Head::At(Affine::default()));
        self.go_to(&begin);
        let head = self.fresh_node();
        let [again, over] = self.sample_or_end();
        self.cur = again;
        let mut end = begin.clone();
        end.put(Tape::Data, Head::BehindSamples);
        self.round(body, Loop::new(Step::Sample, (head, begin), (over, end)))?;
        self.data_depth -= 1;
        if depth > 0 {
            self.find_sample(depth - 1);
        }
        Ok(())
    }

    /// Moves the head of an unused counter to one of its marks.
    pub(super) fn seek_counter(&mut self, tape: Tape, mark: i64) {
        let target = Head::At(Affine::constant(mark));
        match self.pos.head(tape) {
            Head::At(now) => self.defer(|generator| {
                let direction = if now.constant < mark { 1 } else { -1 };
                for _ in 0..now.constant.abs_diff(mark) {
                    generator.single_step(&[(tape, direction)], None);
                    generator.until(tape, &[1], &[(tape, direction)]);
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
        self.until(Tape::Outer, &[1], &[(Tape::Outer, 1), (counter.tape, 1)]);
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
        self.graph.arrow(from, Arrow::to(REJECT));
    }
}
