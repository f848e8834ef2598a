//! The reference: what a program means, in plain integers.

use std::collections::BTreeMap;

use crate::{
    Outcome, Verdict,
    core::{Cond, Core, Expr, Op, Slot, Stmt, StmtKind, Ty},
};

/// Runs a program on samples: the features and then the labels of each, as counts of 2^-fraction.
pub(crate) fn run(core: &Core, samples: &[Vec<i64>], limit: u64) -> Outcome {
    let mut state = State {
        slots: vec![0; core.widths.len()],
        tapes: vec![Tape::default(); core.tapes.len()],
        samples,
        sample: &[],
        left: limit,
    };
    let verdict = match state.block(&core.body) {
        Ok(()) => Verdict::Accepted,
        Err(verdict) => verdict,
    };
    Outcome { verdict, theta: state.slots[..core.n_theta].to_vec(), statements: limit - state.left }
}

#[derive(Clone, Default)]
struct Tape {
    head: i64,
    ones: BTreeMap<i64, ()>,
}

struct State<'a> {
    slots: Vec<i64>,
    tapes: Vec<Tape>,
    samples: &'a [Vec<i64>],
    sample: &'a [i64],
    left: u64,
}

impl State<'_> {
    /// `Err` ends the run.
    fn block(&mut self, body: &[Stmt]) -> Result<(), Verdict> {
        body.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn tick(&mut self) -> Result<(), Verdict> {
        self.left = self.left.checked_sub(1).ok_or(Verdict::Limit)?;
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), Verdict> {
        self.tick()?;
        match &stmt.kind {
            StmtKind::Assign(slot, value) => self.slots[*slot] = self.value(value),
            StmtKind::SetFlag(slot, cond) => self.slots[*slot] = i64::from(self.holds(cond)),
            StmtKind::If(cond, then, otherwise) => {
                let branch = if self.holds(cond) { then } else { otherwise };
                self.block(branch)?;
            }
            StmtKind::While { before, condition, body } => loop {
                self.tick()?;
                self.block(before)?;
                if !self.holds(condition) {
                    break;
                }
                self.block(body)?;
            },
            StmtKind::Repeat { times, body, .. } => {
                for _ in 0..*times {
                    self.tick()?;
                    self.block(body)?;
                }
            }
            StmtKind::EachSample(body) => {
                for sample in self.samples {
                    self.tick()?;
                    self.sample = sample;
                    self.block(body)?;
                }
            }
            StmtKind::Write(tape, cond) => {
                let bit = self.holds(cond);
                let tape = &mut self.tapes[*tape];
                if bit {
                    tape.ones.insert(tape.head, ());
                } else {
                    tape.ones.remove(&tape.head);
                }
            }
            StmtKind::Shift(tape, offset) => self.tapes[*tape].head += offset,
            StmtKind::Reject => return Err(Verdict::Rejected),
        }
        Ok(())
    }

    fn holds(&self, cond: &Cond) -> bool {
        match cond {
            Cond::Constant(value) => *value,
            Cond::Flag(slot) => self.flag(*slot),
            Cond::Less(a, b) => self.value(a) < self.value(b),
            Cond::Equal(a, b) => self.value(a) == self.value(b),
            Cond::Not(cond) => !self.holds(cond),
            Cond::And(a, b) => self.holds(a) && self.holds(b),
            Cond::Or(a, b) => self.holds(a) || self.holds(b),
            Cond::Read(tape) => self.tapes[*tape].ones.contains_key(&self.tapes[*tape].head),
        }
    }

    fn flag(&self, slot: Slot) -> bool {
        self.slots[slot] != 0
    }

    fn value(&self, expr: &Expr) -> i64 {
        let ty = expr.ty();
        let wide = |e: &Expr| i128::from(self.value(e));
        match expr {
            Expr::Constant { raw, .. } => *raw,
            Expr::Variable { slot, .. } => self.slots[*slot],
            Expr::Data { element, .. } => self.sample.get(*element).copied().unwrap_or(0),
            Expr::Negate(e) => ty.wrap(-wide(e)),
            Expr::Abs(e) => ty.wrap(wide(e).abs()),
            Expr::Sign(e) => self.value(e).signum() << ty.fraction,
            Expr::Binary(op, a, b) => binary(*op, a.ty(), wide(a), wide(b)),
            Expr::Shl(e, k) => ty.wrap(wide(e) << (*k).min(64)),
            Expr::Shr(e, k) => self.value(e) >> (*k).min(63),
            Expr::Cast(e, to) => {
                let from = e.ty();
                let value = wide(e);
                to.wrap(if to.fraction >= from.fraction {
                    value << (to.fraction - from.fraction)
                } else {
                    value >> (from.fraction - to.fraction)
                })
            }
        }
    }
}

/// The operators of the page on semantics.
fn binary(op: Op, ty: Ty, a: i128, b: i128) -> i64 {
    match op {
        Op::Add => ty.wrap(a + b),
        Op::Sub => ty.wrap(a - b),
        Op::Mul => ty.wrap((a * b) >> ty.fraction),
        Op::MulWide => Ty { integer: 2 * ty.integer, ..ty }.wrap((a * b) >> ty.fraction),
        Op::Div if b == 0 => 0,
        // Rounds towards zero.
        Op::Div => ty.wrap((a << ty.fraction) / b),
        Op::Min => ty.wrap(a.min(b)),
        Op::Max => ty.wrap(a.max(b)),
    }
}
