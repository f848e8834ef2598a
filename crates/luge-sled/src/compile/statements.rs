//! Statements.

use super::{
    BackendError, END, FEATURE, FIRST_OWN, Generator, MARKS, MEMORY,
    automaton::{Bit, DataPos, Sweep},
    graph::{Arrow, Shape},
    values::{Linear, Operand},
};
use crate::core::{Cond, Expr, Op, Slot, Stmt, StmtKind};

impl Generator<'_> {
    pub(super) fn block(&mut self, body: &[Stmt]) -> Result<(), BackendError> {
        body.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), BackendError> {
        self.check_size()?;
        self.line = stmt.line;
        match &stmt.kind {
            StmtKind::Assign(slot, value) => self.assign(*slot, value),
            StmtKind::SetFlag(slot, cond) => self.set_flag(*slot, cond),
            StmtKind::If(cond, then, otherwise) => {
                let branches = self.condition(cond);
                (self.cur, self.pos) = branches.fails;
                self.block(otherwise)?;
                let fails = (self.here(), self.pos);
                (self.cur, self.pos) = branches.holds;
                self.block(then)?;
                let holds = (self.here(), self.pos);
                self.line = stmt.line;
                self.join(&[fails, holds]);
            }
            StmtKind::While { before, condition, body } => {
                let head = self.loop_head();
                let start = self.pos;
                self.block(before)?;
                self.line = stmt.line;
                let branches = self.condition(condition);
                (self.cur, self.pos) = branches.holds;
                self.block(body)?;
                self.line = stmt.line;
                self.go_to(start);
                self.jump(head);
                (self.cur, self.pos) = branches.fails;
            }
            StmtKind::Repeat { times, counter, body } => self.repeat(stmt.line, *times, *counter, body)?,
            StmtKind::EachSample(body) => self.each_sample(stmt.line, body)?,
            StmtKind::Write(tape, cond) => {
                let branches = self.condition(cond);
                let joined = self.new_node();
                let pos = branches.fails.1;
                for (bit, (node, at)) in [(0, branches.fails), (1, branches.holds)] {
                    (self.cur, self.pos) = (node, at);
                    self.go_to(pos);
                    let from = self.here();
                    self.graph.arrow(from, Arrow::to(joined).write(FIRST_OWN + tape, bit));
                }
                (self.cur, self.pos) = (joined, pos);
            }
            StmtKind::Shift(tape, offset) => {
                let offset = if *offset < 0 { -1 } else { 1 };
                self.single_step(&[(FIRST_OWN + tape, offset)], None);
            }
            StmtKind::Reject => {
                let reject = match self.reject {
                    Some(reject) => reject,
                    None => {
                        let reject = self.graph.add(0);
                        self.graph.finish(reject, Shape::Reject);
                        self.reject = Some(reject);
                        reject
                    }
                };
                self.jump(reject);
                // Nothing leads on from here.
                self.cur = self.new_node();
            }
        }
        Ok(())
    }

    /// A state that loops come back to: where it is must not depend on the way it was reached first.
    fn loop_head(&mut self) -> usize {
        let head = self.new_node();
        self.jump(head);
        self.cur = head;
        head
    }

    fn assign(&mut self, slot: Slot, value: &Expr) {
        let width = value.ty().width();
        let is_target = |e: &Expr| matches!(e, Expr::Variable { slot: other, .. } if *other == slot);
        match value {
            Expr::Binary(Op::Add, a, b) if is_target(a) => {
                self.value(b);
                self.combine_slot(Linear::Add, slot, width);
            }
            Expr::Binary(Op::Add, a, b) if is_target(b) => {
                self.value(a);
                self.combine_slot(Linear::Add, slot, width);
            }
            Expr::Binary(Op::Sub, a, b) if is_target(a) => {
                self.value(b);
                self.combine_slot(Linear::Sub, slot, width);
            }
            value => match Self::operand(value) {
                Some(Operand::Uniform { first, rest }) => self.store_uniform(slot, width, first, rest),
                _ => {
                    self.value(value);
                    self.store(slot, width);
                }
            },
        }
    }

    fn put_flag(&mut self, slot: Slot, bit: u8) {
        self.seek_slot(slot);
        self.single_step(&[], Some((MEMORY, bit)));
    }

    fn set_flag(&mut self, slot: Slot, cond: &Cond) {
        if let Cond::Constant(value) = cond {
            return self.put_flag(slot, u8::from(*value));
        }
        let branches = self.condition(cond);
        let mut ends = Vec::new();
        for (bit, (node, pos)) in [(0, branches.fails), (1, branches.holds)] {
            (self.cur, self.pos) = (node, pos);
            self.put_flag(slot, bit);
            ends.push((self.here(), self.pos));
        }
        self.join(&ends);
    }

    fn repeat(&mut self, line: u32, times: u64, counter: Slot, body: &[Stmt]) -> Result<(), BackendError> {
        if times <= 1 {
            return self.block(body);
        }
        let width = self.widths[counter];
        let raw = i64::try_from(times - 1).unwrap_or(i64::MAX);
        match raw {
            1 => self.store_uniform(counter, width, 1, 0),
            raw => {
                self.linear(Linear::Load, Operand::Constant(raw), width);
                self.store(counter, width);
            }
        }
        self.line = line;
        let head = self.loop_head();
        let start = self.pos;
        self.block(body)?;
        self.line = line;
        self.seek_slot(counter);
        // Counts down; below zero it is over.
        let sweep = Sweep { width, walkers: &[MEMORY], inspect: &[MEMORY], target: MEMORY, carry: 0 };
        let exits = self.sweep(
            &sweep,
            2,
            |_| 1,
            |_, _, bits| {
                if bits[0] == 1 { Bit::Out(0, Some(0)) } else { Bit::On(0, Some(1)) }
            },
        );
        let pos = self.pos;
        self.cur = exits[0];
        self.go_to(start);
        self.jump(head);
        self.cur = exits[1];
        self.pos = pos;
        Ok(())
    }

    fn each_sample(&mut self, line: u32, body: &[Stmt]) -> Result<(), BackendError> {
        self.seek_element(0);
        let head = self.loop_head();
        let start = self.pos;
        let (first, end) = (self.new_node(), self.new_node());
        self.graph.arrow(head, Arrow::to(first).read(MARKS, FEATURE));
        self.graph.arrow(head, Arrow::to(end).read(MARKS, END));
        self.cur = first;
        self.block(body)?;
        self.line = line;
        self.next_sample();
        self.go_to(start);
        self.jump(head);
        self.cur = end;
        self.pos = start;
        self.pos.data = DataPos::End;
        Ok(())
    }
}
