//! Numbers: everything is computed on the accumulator, the other operand where it lies.

use super::{
    ACC, DATA, Generator, MEMORY, PRODUCT, RULER, TABLE, Tape,
    automaton::{Act, Bit, Sweep, TablePos, returning},
    routines::Routine,
};
use crate::core::{Expr, Op, Slot, Ty};

/// A number that need not be computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operand {
    Slot(Slot),
    Element(usize),
    Constant(i64),
    /// A constant whose bits are all the same but perhaps the lowest: 0, 1, -1, -2.
    Uniform {
        first: u8,
        rest: u8,
    },
}

/// What is computed bit by bit from the accumulator and an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Linear {
    Load,
    Add,
    /// Accumulator minus operand.
    Sub,
    /// Operand minus accumulator.
    SubFrom,
}

impl Linear {
    /// Carry and result for one position.
    pub(super) fn bit(self, carry: u8, acc: u8, operand: u8) -> (u8, u8) {
        match self {
            Self::Load => (0, operand),
            Self::Add => {
                let sum = acc + operand + carry;
                (sum >> 1, sum & 1)
            }
            Self::Sub => difference(acc, operand, carry),
            Self::SubFrom => difference(operand, acc, carry),
        }
    }
}

fn difference(from: u8, what: u8, borrow: u8) -> (u8, u8) {
    let value = 2 + from - what - borrow;
    (u8::from(value < 2), value & 1)
}

impl Generator<'_> {
    pub(super) fn temporary(&mut self, width: u32) -> Slot {
        if let Some(slot) = self.free.get_mut(&width).and_then(Vec::pop) {
            return slot;
        }
        self.widths.push(width);
        self.widths.len() - 1
    }

    pub(super) fn free(&mut self, slot: Slot) {
        self.free.entry(self.widths[slot]).or_default().push(slot);
    }

    pub(super) fn operand(expr: &Expr) -> Option<Operand> {
        Some(match expr {
            Expr::Variable { slot, .. } => Operand::Slot(*slot),
            Expr::Data { element, .. } => Operand::Element(*element),
            Expr::Constant { raw: raw @ -2..=1, .. } => {
                Operand::Uniform { first: u8::from(raw & 1 == 1), rest: u8::from(*raw < 0) }
            }
            Expr::Constant { raw, .. } => Operand::Constant(*raw),
            _ => return None,
        })
    }

    /// Puts a head on the operand's lowest bit; says which tape it is on.
    pub(super) fn approach(&mut self, operand: Operand, width: u32) -> Option<Tape> {
        match operand {
            Operand::Slot(slot) => {
                self.seek_slot(slot);
                Some(MEMORY)
            }
            Operand::Element(element) => {
                self.seek_element(element);
                Some(DATA)
            }
            Operand::Constant(raw) => {
                let constant = self.constant(raw, width);
                self.seek_table(TablePos::Constant(constant));
                Some(TABLE)
            }
            Operand::Uniform { .. } => None,
        }
    }

    /// Accumulator and operand to accumulator.
    pub(super) fn linear(&mut self, op: Linear, operand: Operand, width: u32) {
        let tape = self.approach(operand, width);
        let walkers: Vec<Tape> = [Some(ACC), tape].into_iter().flatten().collect();
        let acc = (op != Linear::Load).then_some(ACC);
        let inspect: Vec<Tape> = [acc, tape].into_iter().flatten().collect();
        let sweep = Sweep { width, walkers: &walkers, inspect: &inspect, target: ACC, carry: 0 };
        self.sweep_up(&sweep, tape, |carry, first, bits| {
            let acc = if op == Linear::Load { 0 } else { bits[0] };
            let (carry, value) = op.bit(carry, acc, operand_bit(operand, first, bits));
            (carry, Some(value))
        });
    }

    /// Accumulator to memory: stored, added or subtracted there.
    pub(super) fn combine_slot(&mut self, op: Linear, slot: Slot, width: u32) {
        self.seek_slot(slot);
        let inspect: &[Tape] = if op == Linear::Load { &[ACC] } else { &[MEMORY, ACC] };
        let sweep = Sweep { width, walkers: &[ACC, MEMORY], inspect, target: MEMORY, carry: 0 };
        self.sweep_up(&sweep, Some(MEMORY), |carry, _, bits| {
            let (memory, acc) = if op == Linear::Load { (0, bits[0]) } else { (bits[0], bits[1]) };
            let (carry, value) = op.bit(carry, memory, acc);
            (carry, Some(value))
        });
    }

    pub(super) fn store(&mut self, slot: Slot, width: u32) {
        self.combine_slot(Linear::Load, slot, width);
    }

    /// A constant straight to memory, if its bits are all alike.
    pub(super) fn store_uniform(&mut self, slot: Slot, width: u32, lowest: u8, rest: u8) {
        self.seek_slot(slot);
        let sweep = Sweep { width, walkers: &[MEMORY], inspect: &[], target: MEMORY, carry: 0 };
        self.sweep_up(&sweep, Some(MEMORY), |_, first, _| (0, Some(if first { lowest } else { rest })));
    }

    /// Computes a number on the accumulator.
    pub(super) fn value(&mut self, expr: &Expr) {
        let width = expr.ty().width();
        if let Some(operand) = Self::operand(expr) {
            return self.linear(Linear::Load, operand, width);
        }
        match expr {
            Expr::Negate(e) => {
                self.value(e);
                self.negate(width);
            }
            Expr::Abs(e) => {
                self.value(e);
                let [negative, other] = self.sign_of(ACC, width);
                let pos = self.pos;
                self.cur = negative;
                self.negate(width);
                let negative = self.here();
                self.join(&[(negative, self.pos), (other, pos)]);
            }
            Expr::Sign(e) => self.sign(e),
            Expr::Binary(op, a, b) => self.binary(*op, a, b),
            Expr::Shl(e, by) => {
                self.value(e);
                self.shift_left(width, *by);
            }
            Expr::Shr(e, by) => {
                self.value(e);
                self.shift_right(width, *by);
            }
            Expr::Cast(e, to) => {
                self.value(e);
                self.cast(e.ty(), *to);
            }
            Expr::Constant { .. } | Expr::Variable { .. } | Expr::Data { .. } => {}
        }
    }

    pub(super) fn negate(&mut self, width: u32) {
        self.sweep_acc(width, 0, |carry, _, bit| Linear::SubFrom.bit(carry, bit, 0));
    }

    /// Two states: the word under this head is negative, or not.
    pub(super) fn sign_of(&mut self, tape: Tape, width: u32) -> [usize; 2] {
        let sweep = Sweep { width, walkers: &[tape], inspect: &[tape], target: tape, carry: 0 };
        let exits = self.sweep(&sweep, 2, |last| usize::from(last == 0), |_, _, bits| Bit::On(bits[0], None));
        [exits[0], exits[1]]
    }

    fn sign(&mut self, e: &Expr) {
        let ty = e.ty();
        let width = ty.width();
        self.value(e);
        let [negative, other] = self.sign_of(ACC, width);
        let pos = self.pos;
        let one = |raw: i64| Expr::Constant { raw: raw << ty.fraction, ty };
        self.cur = negative;
        self.value(&one(-1));
        let mut ends = vec![(self.here(), self.pos)];
        self.cur = other;
        self.pos = pos;
        let [zero, positive] = self.is_zero(ACC, width);
        ends.push((zero, self.pos));
        self.cur = positive;
        self.value(&one(1));
        ends.push((self.here(), self.pos));
        self.join(&ends);
    }

    /// Two states: the word under this head is zero, or not.
    pub(super) fn is_zero(&mut self, tape: Tape, width: u32) -> [usize; 2] {
        let sweep = Sweep { width, walkers: &[tape], inspect: &[tape], target: tape, carry: 0 };
        let exits = self.sweep(
            &sweep,
            2,
            |_| 0,
            |_, _, bits| if bits[0] == 1 { Bit::Out(1, None) } else { Bit::On(0, None) },
        );
        [exits[0], exits[1]]
    }

    /// One number on the accumulator, the other as an operand: the second, unless only the first can be one. Says whether
    /// they are swapped. A slot that was taken for it must be freed.
    pub(super) fn pair(&mut self, a: &Expr, b: &Expr) -> (Operand, bool, Option<Slot>) {
        if let Some(operand) = Self::operand(b) {
            self.value(a);
            return (operand, false, None);
        }
        if let Some(operand) = Self::operand(a) {
            self.value(b);
            return (operand, true, None);
        }
        let width = a.ty().width();
        self.value(a);
        let slot = self.temporary(width);
        self.store(slot, width);
        self.value(b);
        (Operand::Slot(slot), true, Some(slot))
    }

    fn binary(&mut self, op: Op, a: &Expr, b: &Expr) {
        let ty = a.ty();
        let width = ty.width();
        match op {
            Op::Mul | Op::MulWide => return self.product(op, ty, a, b),
            Op::Div => return self.quotient(ty, a, b),
            Op::Add | Op::Sub | Op::Min | Op::Max => {}
        }
        let (operand, swapped, slot) = self.pair(a, b);
        match op {
            Op::Add => self.linear(Linear::Add, operand, width),
            Op::Sub => self.linear(if swapped { Linear::SubFrom } else { Linear::Sub }, operand, width),
            _ => {
                // The operand is taken if it is on the other side.
                let [taken, kept] = self.compare_less(operand, width, op == Op::Max);
                let pos = self.pos;
                self.cur = taken;
                self.linear(Linear::Load, operand, width);
                // On the way back the kept value's position is as good as any.
                let end = self.here();
                self.join(&[(kept, pos), (end, self.pos)]);
            }
        }
        if let Some(slot) = slot {
            self.free(slot);
        }
    }

    /// The product's second factor lies in memory.
    fn product(&mut self, op: Op, ty: Ty, a: &Expr, b: &Expr) {
        let width = ty.width();
        let in_memory = |e: &Expr| match e {
            Expr::Variable { slot, .. } => Some(*slot),
            _ => None,
        };
        let mut taken = None;
        let slot = match (in_memory(a), in_memory(b)) {
            (_, Some(slot)) => {
                self.value(a);
                slot
            }
            (Some(slot), None) => {
                self.value(b);
                slot
            }
            (None, None) => {
                self.value(a);
                let slot = self.temporary(width);
                self.store(slot, width);
                self.value(b);
                taken = Some(slot);
                slot
            }
        };
        self.seek_slot(slot);
        self.seek_table(TablePos::Home);
        self.call(Routine::Product { ty, wide: op == Op::MulWide });
        if let Some(slot) = taken {
            self.free(slot);
        }
    }

    fn quotient(&mut self, ty: Ty, a: &Expr, b: &Expr) {
        let width = ty.width();
        // All divisions use the same two slots, so that they can share their states.
        let (divisor, _) = self.division_slots(width);
        if Self::operand(a).is_some() {
            self.value(b);
            self.store(divisor, width);
            self.value(a);
        } else {
            // The numerator may divide, too.
            self.value(a);
            let slot = self.temporary(width);
            self.store(slot, width);
            self.value(b);
            self.store(divisor, width);
            self.linear(Linear::Load, Operand::Slot(slot), width);
            self.free(slot);
        }
        self.seek_slot(divisor);
        self.seek_table(TablePos::Home);
        self.call(Routine::Quotient { ty });
    }

    /// Accumulator to product, or back.
    pub(super) fn copy(&mut self, from: Tape, to: Tape, width: u32) {
        let sweep = Sweep { width, walkers: &[ACC, PRODUCT], inspect: &[from], target: to, carry: 0 };
        self.sweep_up(&sweep, None, |_, _, bits| (0, Some(bits[0])));
    }

    fn shift_left(&mut self, width: u32, by: u32) {
        match by {
            0 => {}
            by if by >= width => self.linear(Linear::Load, Operand::Uniform { first: 0, rest: 0 }, width),
            // The carry holds the bits on their way.
            1..=2 => self.sweep_acc(width, 0, |carry, _, bit| {
                let line = carry | bit << by;
                (line >> 1, line & 1)
            }),
            by => {
                self.walk(PRODUCT, 1, by, Some(0));
                self.copy(ACC, PRODUCT, width);
                self.walk(PRODUCT, -1, by, None);
                self.copy(PRODUCT, ACC, width);
            }
        }
    }

    fn shift_right(&mut self, width: u32, by: u32) {
        if by == 0 {
            return;
        }
        let by = by.min(width - 1);
        self.copy_with_sign(width);
        self.walk(PRODUCT, 1, by, None);
        self.copy(PRODUCT, ACC, width);
        self.walk(PRODUCT, -1, by, None);
    }

    /// Copies the accumulator to the product and puts as many copies of the sign above it.
    fn copy_with_sign(&mut self, width: u32) {
        self.here();
        let reach = self.reach(width);
        let out = [(ACC, 1), (PRODUCT, 1), (RULER, reach.direction)];
        // The product's head goes on while the others return.
        let on = [(ACC, -1), (PRODUCT, 1), (RULER, -reach.direction)];
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        enum Stage {
            First,
            Out(u8, u8),
            On(u8, u8),
        }
        let inspect = |stage: &Stage| match stage {
            Stage::First => vec![ACC],
            Stage::Out(..) => vec![RULER, ACC],
            Stage::On(..) => vec![RULER],
        };
        let exits = self.explore(Stage::First, 1, inspect, |stage, bits| match *stage {
            Stage::First => Act::go(&out, Stage::Out(0, bits[0])).writing(PRODUCT, bits[0]),
            Stage::Out(passed, last) if bits[0] == 1 && passed == reach.between => {
                Act::go(&on, Stage::On(passed, last)).writing(PRODUCT, last)
            }
            Stage::Out(passed, _) => {
                Act::go(&out, Stage::Out(passed + bits[0], bits[1])).writing(PRODUCT, bits[1])
            }
            Stage::On(left, sign) => {
                returning(bits[0], left, &on, |left| Stage::On(left, sign), 0).writing(PRODUCT, sign)
            }
        });
        self.cur = exits[0];
        self.glide(&[(PRODUCT, -1)], None, &[width, width]);
    }

    /// Another type for the number on the accumulator.
    fn cast(&mut self, from: Ty, to: Ty) {
        let (old, new) = (from.width(), to.width());
        if to.fraction < from.fraction {
            self.shift_right(old, from.fraction - to.fraction);
        }
        if new > old {
            self.extend(old, new);
        }
        if to.fraction > from.fraction {
            self.shift_left(new, to.fraction - from.fraction);
        }
    }

    /// Repeats the sign of a narrow number up to a wide one's top.
    fn extend(&mut self, narrow: u32, wide: u32) {
        self.demand.links.insert((narrow, wide));
        self.here();
        let (low, high) = (self.reach(narrow), self.reach(wide));
        if low.between >= high.between {
            // Only in the first of the two rounds, which has no rulers yet.
            return;
        }
        let out = [(ACC, 1), (RULER, high.direction)];
        let back = [(ACC, -1), (RULER, -high.direction)];
        // Marks passed, the last bit, and whether that is the sign; or the way back.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        enum Stage {
            First,
            Inside(u8, u8),
            Above(u8, u8),
            Back(u8),
        }
        let inspect = |stage: &Stage| match stage {
            Stage::First => vec![ACC],
            Stage::Inside(..) => vec![RULER, ACC],
            Stage::Above(..) | Stage::Back(_) => vec![RULER],
        };
        let exits = self.explore(Stage::First, 1, inspect, |stage, bits| match *stage {
            Stage::First => Act::go(&out, Stage::Inside(0, bits[0])),
            Stage::Inside(passed, last) if bits[0] == 1 && passed == low.between => {
                Act::go(&out, Stage::Above(passed + 1, last)).writing(ACC, last)
            }
            Stage::Inside(passed, _) => Act::go(&out, Stage::Inside(passed + bits[0], bits[1])),
            Stage::Above(passed, _) if bits[0] == 1 && passed == high.between => {
                Act::go(&back, Stage::Back(passed))
            }
            Stage::Above(passed, sign) => {
                Act::go(&out, Stage::Above(passed + bits[0], sign)).writing(ACC, sign)
            }
            Stage::Back(left) => returning(bits[0], left, &back, Stage::Back, 0),
        });
        self.cur = exits[0];
    }
}

/// The operand's bit: the last of those looked at, unless it is no tape.
pub(super) fn operand_bit(operand: Operand, first: bool, bits: &[u8]) -> u8 {
    match operand {
        Operand::Uniform { first: bit, .. } if first => bit,
        Operand::Uniform { rest, .. } => rest,
        _ => bits.last().copied().unwrap_or(0),
    }
}
