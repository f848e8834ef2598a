//! Statements, and conditions, which become branches.

use super::{
    BranchEnd, Built, Expr, Generator, Node, Op, Pass, Place, Shown, Stmt, StmtKind, Tail, Tape, Ty,
    comparison,
};

/// The two branches of a condition.
pub(super) struct Branches {
    pub(super) holds: BranchEnd,
    pub(super) fails: BranchEnd,
}

impl Generator<'_> {
    pub(super) fn block(&mut self, body: &[Stmt]) -> Built {
        body.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Built {
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

    pub(super) fn condition(&mut self, condition: &Expr) -> Branches {
        match condition {
            Expr::Constant { raw, .. } => {
                let here = self.branch_end();
                if *raw != 0 {
                    Branches { holds: here, fails: None }
                } else {
                    Branches { holds: None, fails: here }
                }
            }
            Expr::Load(place, _) => self.branch_on_place(place),
            Expr::Read(tape) => self.branch_on(Tape::Own(*tape)),
            Expr::Not(e) => {
                let Branches { holds, fails } = self.condition(e);
                Branches { holds: fails, fails: holds }
            }
            Expr::Binary(Op::And, a, b) => {
                let first = self.condition(a);
                self.resume(first.holds);
                let second = self.condition(b);
                self.join(vec![first.fails, second.fails]);
                Branches { holds: second.holds, fails: self.branch_end() }
            }
            Expr::Binary(Op::Or, a, b) => {
                let first = self.condition(a);
                self.resume(first.fails);
                let second = self.condition(b);
                self.join(vec![first.holds, second.holds]);
                Branches { holds: self.branch_end(), fails: second.fails }
            }
            Expr::Binary(op, a, b) => self.compare(*op, a, b),
            number => unreachable!("a condition is a bit, not {}", number.ty()),
        }
    }

    fn branch_on_place(&mut self, place: &Place) -> Branches {
        let taken = self.taken.clone();
        let spot = self.place_spot(place, 1);
        self.approach(&spot);
        self.taken = taken;
        self.branch_on(spot.tape)
    }

    fn branch_on(&mut self, tape: Tape) -> Branches {
        let [fails, holds] = self.branch(tape);
        self.branches([holds, fails])
    }

    fn branches(&mut self, [holds, fails]: [Node; 2]) -> Branches {
        let end = |node| (!self.dead).then(|| (node, self.pos.clone()));
        Branches { holds: end(holds), fails: end(fails) }
    }

    fn compare(&mut self, op: Op, a: &Expr, b: &Expr) -> Branches {
        let width = a.ty().width();
        let tree = comparison(op, a, b);
        let taken = self.taken.clone();
        let operands = self.resolve(&tree, None);
        let exits =
            self.pass(&Pass { root: &tree.sym, operands: &operands, target: None, width, tail: Tail::Fork });
        self.taken = taken;
        self.branches([exits[0], exits[1]])
    }
}
