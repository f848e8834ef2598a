//! Conditions become branches, with one exit if they hold and one if they do not.

use super::{
    Generator,
    bit_serial::{Pass, Root, Tail},
    graph::Node,
    operands::pair,
    position::WayEnd,
    tapes::{self, Tape},
};
use crate::core::{Expr, Op, Place};

/// Where a condition leads to, and the heads with it; nothing comes where `None` is.
pub(super) struct Branches {
    pub(super) holds: WayEnd,
    pub(super) fails: WayEnd,
}

impl Generator<'_> {
    pub(super) fn condition(&mut self, condition: &Expr) -> Branches {
        match condition {
            Expr::Constant { raw, .. } => {
                let here = self.way_end();
                if *raw != 0 {
                    Branches { holds: here, fails: None }
                } else {
                    Branches { holds: None, fails: here }
                }
            }
            Expr::Variable { slot, .. } => self.branch_on_place(&Place::Slot(*slot)),
            Expr::Element { array, index, .. } => {
                self.branch_on_place(&Place::Element(*array, index.clone()))
            }
            Expr::Read(tape) => self.branch_on(tapes::own(*tape)),
            Expr::Not(e) => {
                let Branches { holds, fails } = self.condition(e);
                Branches { holds: fails, fails: holds }
            }
            Expr::Binary(Op::And, a, b) => {
                let first = self.condition(a);
                self.resume(first.holds);
                let second = self.condition(b);
                self.join(vec![first.fails, second.fails]);
                Branches { holds: second.holds, fails: self.way_end() }
            }
            Expr::Binary(Op::Or, a, b) => {
                let first = self.condition(a);
                self.resume(first.fails);
                let second = self.condition(b);
                self.join(vec![first.holds, second.holds]);
                Branches { holds: self.way_end(), fails: second.fails }
            }
            Expr::Binary(op, a, b) => self.compare(a, b, *op == Op::Equal),
            number => unreachable!("a condition is a bit, not {}", number.ty()),
        }
    }

    fn branch_on_place(&mut self, place: &Place) -> Branches {
        let mut temporaries = Vec::new();
        let spot = self.place_spot(place, 1, &mut temporaries);
        self.approach(&spot);
        self.free(&temporaries);
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

    fn compare(&mut self, a: &Expr, b: &Expr, equal: bool) -> Branches {
        let width = a.ty().width();
        let [left, right] = pair(a, b);
        let mut resolved = self.resolve(&[left, right], None);
        if equal && let Root::Less(a, b) = resolved.root {
            resolved.root = Root::Equal(a, b);
        }
        let exits = self.pass(&Pass {
            root: &resolved.root,
            operands: &resolved.operands,
            target: None,
            width,
            tail: Tail::Fork,
        });
        self.free(&resolved.temporaries);
        self.branches([exits[0], exits[1]])
    }
}
