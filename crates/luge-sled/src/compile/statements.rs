//! Statements.

use super::{
    BackendError, Generator,
    tapes::{self, Tape},
};
use crate::core::{Cond, Place, Shown, Stmt, StmtKind};

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
            StmtKind::Assign(place, value) => self.assign(place, value),
            StmtKind::SetFlag(place, cond) => self.set_flag(place, cond),
            StmtKind::If(cond, then, otherwise) => {
                let branches = self.condition(cond);
                self.resume(branches.fails);
                self.block(otherwise)?;
                let fails = self.way_end();
                self.resume(branches.holds);
                self.block(then)?;
                let holds = self.way_end();
                self.line = stmt.line;
                self.join(vec![fails, holds]);
            }
            StmtKind::While { before, condition, body } => {
                self.while_loop(before, condition, body, stmt.line)?
            }
            StmtKind::For(body) => self.for_loop(body, stmt.line)?,
            StmtKind::Repeat { times, counter, body } => self.repeat(*times, *counter, body, stmt.line)?,
            StmtKind::EachSample(body) => self.each_sample(body, stmt.line)?,
            StmtKind::Take => self.take_sample(),
            StmtKind::Break => self.leave_loop(),
            StmtKind::Continue => self.next_round(),
            StmtKind::Write(tape, cond) => self.write_bit(cond, |_| tapes::own(*tape)),
            StmtKind::Shift(tape, offset) => {
                let offset = if *offset < 0 { -1 } else { 1 };
                self.single_step(&[(tapes::own(*tape), offset)], None);
            }
            StmtKind::Print(parts) => self.check_indices(parts),
            StmtKind::Reject => {
                self.jump_to_reject();
                self.dead = true;
            }
        }
        Ok(())
    }

    /// Machines show nothing, but an index outside of its array ends the run here, too.
    fn check_indices(&mut self, parts: &[Shown]) {
        for part in parts {
            match part {
                Shown::Number(value) if value.has_computed_index() => {
                    let mut temporaries = Vec::new();
                    self.copied(value, &[], &mut temporaries);
                    self.free(&temporaries);
                }
                Shown::Bit(cond) if cond.has_computed_index() => {
                    let branches = self.condition(cond);
                    self.join(vec![branches.holds, branches.fails]);
                }
                _ => {}
            }
        }
    }

    fn set_flag(&mut self, place: &Place, cond: &Cond) {
        self.write_bit(cond, |generator| {
            let mut temporaries = Vec::new();
            let spot = generator.place_spot(place, 1, &mut temporaries);
            generator.approach(&spot);
            generator.free(&temporaries);
            spot.tape
        });
    }

    /// Writes whether a condition holds, where the head of the tape is that `approach` chooses.
    fn write_bit(&mut self, cond: &Cond, approach: impl Fn(&mut Self) -> Tape) {
        let branches = self.condition(cond);
        let mut ends = Vec::new();
        for (bit, branch) in [(0, branches.fails), (1, branches.holds)] {
            self.resume(branch);
            if !self.dead {
                let tape = approach(self);
                self.single_step(&[], Some((tape, bit)));
            }
            ends.push(self.way_end());
        }
        self.join(ends);
    }
}
