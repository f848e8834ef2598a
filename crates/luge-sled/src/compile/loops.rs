//! Loops. A trial pass over the body finds where it needs each head first, and every round starts with the heads
//! there, so a head that follows the loop through an array never goes back.

use super::{
    BackendError, Generator,
    data::DataPos,
    graph::Node,
    position::{First, Pos},
    tapes::Tape,
};
use crate::core::{Affine, Expr, For, Slot, Stmt};

/// The counter of a loop over integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Counter {
    pub(super) tape: Tape,
    pub(super) var: usize,
    /// What it comes to when the loop is over.
    pub(super) rounds: i64,
}

/// What ends a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// The counter goes on.
    Count,
    /// The next sample.
    Sample,
    Nothing,
}

/// A loop around what is being generated.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) counter: Option<Counter>,
    /// Where each round begins.
    head: Node,
    begin: Pos,
    /// Where the loop ends: known before the body is made.
    exit: Node,
    end: Pos,
    step: Step,
    /// The slot that holds the loop's variable as a number.
    value: Option<(Slot, u32)>,
    /// The slot that counts rounds down.
    repeat: Option<(Slot, u32)>,
}

impl Loop {
    /// A loop without a counter: where its rounds begin, and where it ends.
    fn new(step: Step, (head, begin): (Node, Pos), (exit, end): (Node, Pos)) -> Self {
        Self { counter: None, head, begin, exit, end, step, value: None, repeat: None }
    }
}

impl Generator<'_> {
    /// Where a body wants each head first.
    fn try_out(
        &mut self,
        key: usize,
        trial: Loop,
        body: impl FnOnce(&mut Self) -> Result<(), BackendError>,
    ) -> Result<First, BackendError> {
        if let Some(first) = self.tried.get(&key) {
            return Ok(first.clone());
        }
        self.settle();
        let before = (self.graph.len(), self.cur, self.dead, self.line, self.pos.clone());
        let (routines, taken) = (self.routines.clone(), self.taken.clone());
        self.cur = self.new_node();
        self.pos = Pos::anywhere();
        self.dead = false;
        if trial.step == Step::Sample {
            self.pos.data = DataPos::Inside(Affine::default());
        }
        self.trials.push(First::default());
        self.loops.push(trial);
        body(self)?;
        self.settle();
        self.loops.pop();
        let first = self.trials.pop().unwrap_or_default();
        let n_nodes;
        (n_nodes, self.cur, self.dead, self.line, self.pos) = before;
        self.graph.truncate(n_nodes);
        (self.routines, self.taken) = (routines, taken);
        self.tried.insert(key, first.clone());
        Ok(first)
    }

    fn try_body(
        &mut self,
        body: &[Stmt],
        counter: Option<Counter>,
        step: Step,
    ) -> Result<First, BackendError> {
        let trial = self.trial(counter, step);
        self.try_out(body.as_ptr() as usize, trial, |generator| generator.block(body))
    }

    fn trial(&self, counter: Option<Counter>, step: Step) -> Loop {
        let around = Loop::new(step, (self.cur, Pos::anywhere()), (self.cur, Pos::anywhere()));
        Loop { counter, ..around }
    }

    pub(super) fn for_loop(&mut self, stmt: &For, line: u32) -> Result<(), BackendError> {
        if let Some((slot, first)) = &stmt.value {
            self.assign(&crate::core::Place::Slot(*slot), first);
        }
        let rounds = i64::try_from(stmt.most).unwrap_or(i64::MAX);
        let tape = self.start_counter(stmt.most);
        let counter = Counter { tape, var: stmt.var, rounds };
        // The counter ends at the most rounds, so it starts later where there are fewer.
        let index = |affine: &Affine| crate::core::Index { known: affine.clone(), computed: Vec::new() };
        let (from, to) = (self.known(&index(&stmt.from)), self.known(&index(&stmt.to)));
        let start = from.minus(&to).offset(rounds);
        for &(var, factor) in &start.terms {
            let direction = if factor < 0 { -1 } else { 1 };
            let n_cells = factor.unsigned_abs();
            self.along_counter(var, |generator| {
                for _ in 0..n_cells {
                    generator.single_step(&[(tape, direction)], None);
                }
            });
        }
        let direction = if start.constant < 0 { -1 } else { 1 };
        for _ in 0..start.constant.unsigned_abs() {
            self.single_step(&[(tape, direction)], None);
        }
        let value = Affine::variable(stmt.var).plus(&to).offset(-rounds);
        self.variables.insert(stmt.var, value);
        self.depth += 1;
        let first = self.try_body(&stmt.body, Some(counter), Step::Count)?;
        self.line = line;
        let mut begin = self.pos.wanted(&first);
        self.keep_to_sample(&mut begin, counter);
        let entry = begin.with(stmt.var, &start);
        self.go_to(&entry);
        let head = self.fresh_node();
        // There is another round, or the counter is on its last mark.
        let [again, exit] = self.branch(tape);
        self.cur = again;
        self.pos = begin.clone();
        let end = begin.with(stmt.var, &Affine::constant(rounds));
        let value = stmt.value.as_ref().map(|(slot, first)| (*slot, first.ty().width()));
        let around = Loop::new(Step::Count, (head, begin), (exit, end));
        self.round(&stmt.body, Loop { counter: Some(counter), value, ..around }, line)?;
        self.depth -= 1;
        self.variables.remove(&stmt.var);
        Ok(())
    }

    /// A head that followed the loop out of its sample would not find back, or run off the data: it goes back to the
    /// sample's beginning for each round instead.
    fn keep_to_sample(&self, begin: &mut Pos, counter: Counter) {
        if let DataPos::Inside(at) = &begin.data {
            let end = at.with(counter.var, &Affine::constant(counter.rounds));
            let (lowest, highest) = self.range(&end);
            if lowest < 0 || highest > self.n_numbers() {
                begin.data = DataPos::Inside(Affine::default());
            }
        }
    }

    /// The body of a loop and the way back to its head; goes on where the loop ends.
    fn round(&mut self, body: &[Stmt], around: Loop, line: u32) -> Result<(), BackendError> {
        let after = (around.exit, around.end.clone());
        self.loops.push(around);
        self.block(body)?;
        self.line = line;
        self.next_round();
        self.loops.pop();
        self.resume(Some(after));
        Ok(())
    }

    /// From the end of a round to the beginning of the next: `continue`, too.
    pub(super) fn next_round(&mut self) {
        let Some(around) = self.loops.last().cloned() else { return };
        if self.dead {
            return;
        }
        if let Some((slot, width)) = around.value {
            let ty = crate::core::Ty { integer: width, fraction: 0 };
            let one = Box::new(crate::core::Expr::Constant { raw: 1, ty });
            let old = Box::new(crate::core::Expr::Variable { slot, ty });
            let next = crate::core::Expr::Binary(crate::core::Op::Add, old, one);
            self.assign(&crate::core::Place::Slot(slot), &next);
        }
        match (around.step, around.counter) {
            (Step::Count, Some(counter)) => {
                let next = Affine::variable(counter.var).offset(1);
                self.go_to(&around.begin.with(counter.var, &next));
                self.single_step(&[(counter.tape, 1)], None);
            }
            (Step::Sample, _) => {
                let mut heads = around.begin.clone();
                heads.data = self.pos.data.clone();
                self.bring_back(&heads);
                self.next_sample();
                self.go_to(&around.begin);
            }
            _ => {}
        }
        if let Some((slot, width)) = around.repeat {
            self.count_round(slot, width, &around);
        } else {
            self.go_to_begin(&around);
            self.jump(around.head);
        }
        self.dead = true;
    }

    fn go_to_begin(&mut self, around: &Loop) {
        if around.step == Step::Nothing {
            self.go_to(&around.begin);
        }
    }

    /// Counts a round down: another one, or the loop's end.
    fn count_round(&mut self, slot: Slot, width: u32, around: &Loop) {
        let spot = self.slot_spot(slot, width);
        self.approach(&spot);
        let [some, none] = self.decrement(spot.tape, width);
        let pos = self.pos.clone();
        self.cur = some;
        self.go_to(&around.begin);
        self.jump(around.head);
        self.resume(Some((none, pos)));
        self.go_to(&around.end);
        self.jump(around.exit);
    }

    /// Leaves the innermost loop.
    pub(super) fn leave_loop(&mut self) {
        let Some(around) = self.loops.last().cloned() else { return };
        if self.dead {
            return;
        }
        self.go_to(&around.end);
        if let Some(counter) = around.counter {
            self.until(counter.tape, 1, &[(counter.tape, 1)]);
        }
        self.jump(around.exit);
        self.dead = true;
    }

    /// A loop that counts a number down, for many rounds.
    pub(super) fn repeat(
        &mut self,
        times: u64,
        slot: Slot,
        body: &[Stmt],
        line: u32,
    ) -> Result<(), BackendError> {
        let width = self.core.widths[slot];
        let raw = i64::try_from(times - 1).unwrap_or(i64::MAX);
        let ty = crate::core::Ty { integer: width, fraction: 0 };
        self.assign(&crate::core::Place::Slot(slot), &crate::core::Expr::Constant { raw, ty });
        let first = self.try_body(body, None, Step::Nothing)?;
        self.line = line;
        let begin = self.pos.wanted(&first);
        self.go_to(&begin);
        let head = self.fresh_node();
        let exit = self.new_node();
        let around = Loop::new(Step::Nothing, (head, begin.clone()), (exit, begin));
        self.round(body, Loop { repeat: Some((slot, width)), ..around }, line)
    }

    pub(super) fn while_loop(
        &mut self,
        before: &[Stmt],
        condition: &Expr,
        body: &[Stmt],
        line: u32,
    ) -> Result<(), BackendError> {
        // The condition is looked at first, so where it wants the heads is where rounds begin.
        let trial = self.trial(None, Step::Nothing);
        let first = self.try_out(std::ptr::from_ref(condition) as usize, trial, |generator| {
            generator.block(before)?;
            let branches = generator.condition(condition);
            generator.resume(branches.holds);
            generator.block(body)
        })?;
        self.line = line;
        let begin = self.pos.wanted(&first);
        self.go_to(&begin);
        let head = self.fresh_node();
        self.block(before)?;
        self.line = line;
        let branches = self.condition(condition);
        // Without a way out of its own it ends by `break` alone.
        self.resume(branches.fails);
        let after = self.way_end().unwrap_or_else(|| (self.new_node(), begin.clone()));
        self.resume(branches.holds);
        self.round(body, Loop::new(Step::Nothing, (head, begin), after), line)
    }

    pub(super) fn each_sample(&mut self, body: &[Stmt], line: u32) -> Result<(), BackendError> {
        let depth = self.data_depth;
        if depth > 0 {
            self.leave_sample(depth - 1);
        } else {
            self.seek_data(&DataPos::Start);
        }
        self.data_depth += 1;
        let first = self.try_body(body, None, Step::Sample)?;
        self.line = line;
        let mut begin = self.pos.wanted(&First { data: None, ..first });
        begin.data = DataPos::Inside(Affine::default());
        self.pos.data = begin.data.clone();
        self.go_to(&begin);
        let head = self.fresh_node();
        let [again, over] = self.sample_or_end();
        self.cur = again;
        let mut end = begin.clone();
        end.data = DataPos::End;
        self.round(body, Loop::new(Step::Sample, (head, begin), (over, end)), line)?;
        self.data_depth -= 1;
        if depth > 0 {
            self.find_sample(depth - 1);
        }
        Ok(())
    }
}
