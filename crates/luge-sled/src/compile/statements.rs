//! Statements.

use super::{BackendError, Generator, tapes::Tape};
use crate::core::{Expr, Place, Shown, Stmt, StmtKind, Ty};

impl Generator<'_> {
    pub(super) fn block(&mut self, body: &[Stmt]) -> Result<(), BackendError> {
        body.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), BackendError> {
        self.check_size()?;
        if self.dead {
            return Ok(());
        }
        self.line = stmt.line;
        match &stmt.kind {
            StmtKind::Assign(place, bit) if bit.ty() == Ty::BIT => self.set_flag(place, bit),
            StmtKind::Assign(place, number) => self.assign(place, number),
            StmtKind::If(cond, then, otherwise) => {
                let branches = self.condition(cond);
                self.resume(branches.fails);
                self.block(otherwise)?;
                let fails = self.branch_end();
                self.resume(branches.holds);
                self.block(then)?;
                let holds = self.branch_end();
                self.line = stmt.line;
                self.join(vec![fails, holds]);
            }
            StmtKind::While { before, condition, body } => self.while_loop(before, condition, body)?,
            StmtKind::For(body) => self.for_loop(body)?,
            StmtKind::Repeat { times, counter, body } => self.repeat(*times, *counter, body)?,
            StmtKind::EachSample(body) => self.each_sample(body)?,
            StmtKind::Take => self.take_sample(),
            StmtKind::Break => self.leave_loop(),
            StmtKind::Continue => self.next_round(),
            StmtKind::Write(tape, cond) => self.write_bit(cond, |_| Tape::Own(*tape)),
            StmtKind::Shift(tape, offset) => {
                let offset = if *offset < 0 { -1 } else { 1 };
                self.single_step(&[(Tape::Own(*tape), offset)], None);
            }
            StmtKind::Print(parts) => self.check_indices(parts),
            StmtKind::Reject => {
                self.jump_to_reject();
                self.dead = true;
            }
        }
        Ok(())
    }

    /// Machines do not print, but an index out of bounds rejects the run here, too.
    fn check_indices(&mut self, parts: &[Shown]) {
        for part in parts {
            match part {
                Shown::Value(value) if !value.has_computed_index() => {}
                Shown::Value(bit) if bit.ty() == Ty::BIT => {
                    let branches = self.condition(bit);
                    self.join(vec![branches.holds, branches.fails]);
                }
                Shown::Value(number) => {
                    let taken = self.taken.clone();
                    self.copied(number, &[]);
                    self.taken = taken;
                }
                Shown::Text(_) => {}
            }
        }
    }

    fn set_flag(&mut self, place: &Place, bit: &Expr) {
        self.write_bit(bit, |generator| {
            let taken = generator.taken.clone();
            let spot = generator.place_spot(place, 1);
            generator.approach(&spot);
            generator.taken = taken;
            spot.tape
        });
    }

    /// Writes whether a condition holds. In each branch `approach` moves a head to the cell and returns its tape.
    fn write_bit(&mut self, bit: &Expr, approach: impl Fn(&mut Self) -> Tape) {
        let branches = self.condition(bit);
        let mut ends = Vec::new();
        for (bit, branch) in [(0, branches.fails), (1, branches.holds)] {
            self.resume(branch);
            if !self.dead {
                let tape = approach(self);
                self.single_step(&[], Some((tape, bit)));
            }
            ends.push(self.branch_end());
        }
        self.join(ends);
    }
}
