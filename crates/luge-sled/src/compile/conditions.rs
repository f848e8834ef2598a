//! Conditions become branches: a state where they hold and one where they do not.

use super::{
    ACC, FIRST_OWN, Generator, MEMORY, Tape,
    automaton::{Bit, Pos, Sweep},
    graph::Node,
    values::{Operand, operand_bit},
};
use crate::core::{Cond, Expr};

/// Where a condition leads to, and the heads with it.
pub(super) struct Branches {
    pub(super) holds: (Node, Pos),
    pub(super) fails: (Node, Pos),
}

impl Generator<'_> {
    pub(super) fn condition(&mut self, cond: &Cond) -> Branches {
        match cond {
            Cond::Constant(value) => {
                let here = (self.here(), self.pos);
                let never = (self.new_node(), self.pos);
                let (holds, fails) = if *value { (here, never) } else { (never, here) };
                Branches { holds, fails }
            }
            Cond::Flag(slot) => {
                self.seek_slot(*slot);
                self.branch_on(MEMORY)
            }
            Cond::Read(tape) => self.branch_on(FIRST_OWN + tape),
            Cond::Less(a, b) => self.less(a, b),
            Cond::Equal(a, b) => {
                let width = a.ty().width();
                let (operand, _, slot) = self.pair(a, b);
                let tapes = self.approach(operand, width);
                let [equal, other] = self.compare(
                    tapes,
                    width,
                    0,
                    |_| 0,
                    |_, first, bits| {
                        let same = bits[0] == operand_bit(operand, first, bits);
                        if same { Bit::On(0, None) } else { Bit::Out(1, None) }
                    },
                );
                self.branches(equal, other, slot)
            }
            Cond::Not(cond) => {
                let Branches { holds, fails } = self.condition(cond);
                Branches { holds: fails, fails: holds }
            }
            Cond::And(a, b) => {
                let first = self.condition(a);
                (self.cur, self.pos) = first.holds;
                let second = self.condition(b);
                self.join(&[first.fails, second.fails]);
                Branches { holds: second.holds, fails: (self.cur, self.pos) }
            }
            Cond::Or(a, b) => {
                let first = self.condition(a);
                (self.cur, self.pos) = first.fails;
                let second = self.condition(b);
                self.join(&[first.holds, second.holds]);
                Branches { holds: (self.cur, self.pos), fails: second.fails }
            }
        }
    }

    fn branch_on(&mut self, tape: Tape) -> Branches {
        let [fails, holds] = self.branch(tape);
        Branches { holds: (holds, self.pos), fails: (fails, self.pos) }
    }

    fn branches(&mut self, holds: Node, fails: Node, slot: Option<usize>) -> Branches {
        if let Some(slot) = slot {
            self.free(slot);
        }
        Branches { holds: (holds, self.pos), fails: (fails, self.pos) }
    }

    fn less(&mut self, a: &Expr, b: &Expr) -> Branches {
        let width = a.ty().width();
        let (operand, swapped, slot) = self.pair(a, b);
        let [holds, fails] = self.compare_less(operand, width, !swapped);
        self.branches(holds, fails, slot)
    }

    /// Two states: the accumulator is less than the operand, or not; the other way round if not `acc_first`.
    pub(super) fn compare_less(&mut self, operand: Operand, width: u32, acc_first: bool) -> [Node; 2] {
        let tape = self.approach(operand, width);
        // The carry: bit 0 says whether it is less so far, bit 1 whether the last bits differed. At the top the last bits are
        // signs, and if they differ the order is the other way round.
        let end = |carry: u8| usize::from((carry & 1) ^ (carry >> 1) == 0);
        self.compare(tape, width, 0, end, |carry, first, bits| {
            let (acc, other) = (bits[0], operand_bit(operand, first, bits));
            let (left, right) = if acc_first { (acc, other) } else { (other, acc) };
            Bit::On(if left == right { carry & 1 } else { 2 | right }, None)
        })
    }

    fn compare(
        &mut self,
        tape: Option<Tape>,
        width: u32,
        carry: u8,
        end: impl Fn(u8) -> usize,
        bit: impl Fn(u8, bool, &[u8]) -> Bit,
    ) -> [Node; 2] {
        let tapes: Vec<Tape> = [Some(ACC), tape].into_iter().flatten().collect();
        let sweep = Sweep { width, walkers: &tapes, inspect: &tapes, target: ACC, carry };
        let exits = self.sweep(&sweep, 2, end, bit);
        [exits[0], exits[1]]
    }
}
