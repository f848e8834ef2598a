//! Conditions become branches, with one exit if they hold and one if they do not.

use super::{
    Generator,
    bit_serial::{Pass, Root, Tail},
    graph::Node,
    operands::pair,
    position::WayEnd,
    tapes::{self, Tape},
};
use crate::core::{Cond, Expr};

/// Where a condition leads to, and the heads with it; nothing comes where `None` is.
pub(super) struct Branches {
    pub(super) holds: WayEnd,
    pub(super) fails: WayEnd,
}

impl Generator<'_> {
    pub(super) fn condition(&mut self, cond: &Cond) -> Branches {
        match cond {
            Cond::Constant(value) => {
                let here = self.way_end();
                if *value {
                    Branches { holds: here, fails: None }
                } else {
                    Branches { holds: None, fails: here }
                }
            }
            Cond::Flag(place) => {
                let mut temporaries = Vec::new();
                let spot = self.place_spot(place, 1, &mut temporaries);
                self.approach(&spot);
                self.free(&temporaries);
                self.branch_on(spot.tape)
            }
            Cond::Read(tape) => self.branch_on(tapes::own(*tape)),
            Cond::Less(a, b) => self.compare(a, b, false),
            Cond::Equal(a, b) => self.compare(a, b, true),
            Cond::Not(cond) => {
                let Branches { holds, fails } = self.condition(cond);
                Branches { holds: fails, fails: holds }
            }
            Cond::And(a, b) => {
                let first = self.condition(a);
                self.resume(first.holds);
                let second = self.condition(b);
                self.join(vec![first.fails, second.fails]);
                Branches { holds: second.holds, fails: self.way_end() }
            }
            Cond::Or(a, b) => {
                let first = self.condition(a);
                self.resume(first.fails);
                let second = self.condition(b);
                self.join(vec![first.holds, second.holds]);
                Branches { holds: self.way_end(), fails: second.fails }
            }
        }
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
