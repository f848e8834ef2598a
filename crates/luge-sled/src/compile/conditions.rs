//! Conditions, which become branches.

use super::{
    Generator,
    bit_serial::{Pass, Tail},
    graph::Node,
    operands::comparison,
    position::BranchEnd,
    tapes::Tape,
};
use crate::core::{Expr, Op, Place};

/// The two branches of a condition.
pub(super) struct Branches {
    pub(super) holds: BranchEnd,
    pub(super) fails: BranchEnd,
}

impl Generator<'_> {
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
