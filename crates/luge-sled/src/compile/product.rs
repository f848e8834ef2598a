//! Products: the multiplier's bits are recoded so that runs of ones cost little, and for each digit that is not zero the
//! multiplicand is added to the product or subtracted from it, one cell further up each time.

use super::{
    Generator,
    automaton::{Act, Walker},
    bit_serial::{At, Operand, difference},
    operands::is_word,
    position::Head,
    routines::Routine,
    tapes::{BOUND, DATA, OUTER, PRODUCT, Tape},
};
use crate::core::{Affine, Expr, Op, Ty};

/// A product of numbers on two tapes; the multiplicand's head ends where it began.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Product {
    /// The type of both factors.
    ty: Ty,
    /// Bits that are computed, from the lowest on.
    length: u32,
    rounded: bool,
    multiplier: Tape,
    /// Whether the multiplier's head goes back to where it began.
    returns: bool,
    multiplicand: Tape,
}

/// Stages of a product. Digits are 1 or -1: whether the multiplicand is subtracted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// At a bit of the multiplier, with a carry from those below.
    Bit {
        first: bool,
        carry: u8,
        outer: u8,
    },
    /// A digit that is not zero: the next bit says which.
    Digit {
        carry: u8,
        outer: u8,
    },
    /// At the lowest bit of the multiplicand.
    First {
        minus: bool,
        outer: u8,
    },
    Add {
        minus: bool,
        carry: u8,
        passed: u8,
        outer: u8,
        sign: u8,
    },
    /// The multiplicand is over: its sign and the carry make 1 or -1 that goes on upwards.
    Ripple {
        minus: bool,
        up: bool,
        passed: u8,
        outer: u8,
    },
    Back {
        minus: bool,
        left: u8,
        outer: u8,
    },
}

impl Generator<'_> {
    /// Leaves a product on its tape, from cell 0 on.
    pub(super) fn product(&mut self, op: Op, a: &Expr, b: &Expr) {
        let ty = a.ty();
        let mut temporaries = Vec::new();
        let mut a = self.word(a, &[], &mut temporaries);
        let mut b = self.word(b, &[], &mut temporaries);
        debug_assert!(is_word(&a) && is_word(&b));
        let mut first = self.operand(&a, None, &mut temporaries);
        let mut second = self.operand(&b, None, &mut temporaries);
        if first.at.tape() == second.at.tape() {
            a = self.copied(&a, &[second.at.tape()], &mut temporaries);
            first = self.operand(&a, None, &mut temporaries);
        }
        // The multiplier's head moves on by itself, which suits elements.
        if !self.is_element(&first) && self.is_element(&second) || second.at.tape() == DATA {
            std::mem::swap(&mut first, &mut second);
            std::mem::swap(&mut a, &mut b);
        }
        let returns = !self.is_element(&first);
        let length = match op {
            Op::MulWide => 2 * ty.width(),
            _ => ty.fraction + ty.width(),
        };
        let (multiplier, multiplicand) = (first.at.tape(), second.at.tape());
        let rounded = op == Op::MulRound && ty.fraction > 0;
        self.demand.product = true;
        self.demand.bounds.insert(length);
        let start = self.plan.product_start(length);
        self.seek(PRODUCT, 1, &Affine::constant(i64::from(start)));
        self.approach_all(&[first.at.clone(), second.at.clone()]);
        self.call(Routine::Product(Product { ty, length, rounded, multiplier, returns, multiplicand }));
        if !returns {
            self.step_on(multiplier);
        }
        self.free(&temporaries);
    }

    /// Whether an operand is an element whose neighbour its head can go on to.
    fn is_element(&self, operand: &Operand) -> bool {
        match &operand.at {
            At::Memory(spot) => {
                spot.walks.is_empty() && self.holds_array(spot.tape) && spot.pitch == operand.width
            }
            At::Data(_, walks) => walks.is_empty(),
            At::Product | At::Quotient => false,
        }
    }

    pub(super) fn product_body(&mut self, product: Product) {
        let Product { ty, multiplier, returns, .. } = product;
        let width = ty.width();
        if product.rounded {
            self.walk(PRODUCT, 1, ty.fraction - 1, None);
            self.single_step(&[], Some((PRODUCT, 1)));
            self.walk(PRODUCT, -1, ty.fraction - 1, None);
        }
        self.add_up(product);
        // All heads back to the lowest bits; that of an element stays on the next one.
        let outer = self.outer_track(width);
        let mut back = vec![(PRODUCT, -1), (OUTER, -outer.0)];
        if returns {
            back.push((multiplier, -1));
        }
        let end = outer.1;
        self.sweep(&[OUTER], |state, bits| match state {
            None => Act::go(&back, Some(end)),
            Some(0) if bits[0] == 1 => Act::exit(0),
            Some(left) => Act::go(&back, Some(left - bits[0])),
        });
        self.pos.put(multiplier, Head::Lost);
    }

    /// Which way rounds are counted, and marks in front of where so many end.
    pub(super) fn outer_track(&mut self, rounds: u32) -> (i8, u8) {
        *self.demand.outer.entry(vec![rounds]).or_default() += 1;
        let side = self.plan.outer(rounds);
        let before = side.marks.iter().filter(|&&mark| mark < rounds).count();
        (side.direction, u8::try_from(before).unwrap_or(u8::MAX))
    }

    fn add_up(&mut self, product: Product) {
        let Product { ty, multiplier, multiplicand, .. } = product;
        let width = ty.width();
        let (direction, end) = self.outer_track(width);
        let track = self.ruled(vec![width]);
        let walkers = [multiplicand, PRODUCT].map(|tape| Walker { tape, from: 0, to: u32::MAX });
        let (up, down) = (track.moves(&walkers, 0, true), track.moves(&walkers, 0, false));
        let ruler = track.looked_at();
        let along = [(multiplier, 1), (PRODUCT, 1), (OUTER, direction)];
        let ahead = [(multiplier, 1), (OUTER, direction)];
        let is_end = |mark: u8, outer: u8| mark == 1 && outer == end;
        let inspect = |stage: &Stage| match stage {
            Stage::Bit { first: true, .. } => vec![multiplier],
            Stage::Bit { .. } | Stage::Digit { .. } => vec![OUTER, multiplier],
            Stage::First { .. } => vec![multiplicand, PRODUCT],
            Stage::Add { .. } => [ruler.clone(), vec![multiplicand, PRODUCT, BOUND]].concat(),
            Stage::Ripple { .. } => [ruler.clone(), vec![PRODUCT, BOUND]].concat(),
            Stage::Back { .. } => ruler.clone(),
        };
        let start = Stage::Bit { first: true, carry: 0, outer: 0 };
        let exits = self.explore(start, 1, inspect, |stage, bits| match *stage {
            Stage::Bit { first, carry, outer } => {
                let mark = if first { 0 } else { bits[0] };
                if is_end(mark, outer) {
                    return Act::exit(0);
                }
                let outer = outer + mark;
                match bits[bits.len() - 1] + carry {
                    1 => Act::go(&ahead, Stage::Digit { carry, outer }),
                    sum => Act::go(&along, Stage::Bit { first: false, carry: sum >> 1, outer }),
                }
            }
            Stage::Digit { carry, outer } => {
                // Behind the last bit the sign repeats; it made the digit, or the carry did.
                let next = if is_end(bits[0], outer) { 1 - carry } else { bits[1] };
                Act::go(&[], Stage::First { minus: next == 1, outer })
            }
            Stage::First { minus, outer } => {
                let (value, carry) = combine(minus, bits[1], bits[0], 0);
                let sign = bits[0];
                Act::go(&up, Stage::Add { minus, carry, passed: 0, outer, sign }).writing(PRODUCT, value)
            }
            Stage::Add { minus, carry, passed, outer, sign } => {
                let (mark, bits) = track.mark(bits);
                let passed = passed + mark;
                if bits[2] == 1 {
                    return Act::go(&[], Stage::Back { minus, left: passed, outer });
                }
                if mark == 1 && track.is_end(passed) {
                    // The sign stands in all places above; with the carry it makes 1, 0 or -1.
                    if carry == sign {
                        return Act::go(&[], Stage::Back { minus, left: passed, outer });
                    }
                    let plus = (carry == 1) != minus;
                    return ripple(&up, minus, plus, [passed, outer], bits[1]);
                }
                let (value, carry) = combine(minus, bits[1], bits[0], carry);
                Act::go(&up, Stage::Add { minus, carry, passed, outer, sign: bits[0] })
                    .writing(PRODUCT, value)
            }
            Stage::Ripple { minus, up: plus, passed, outer } => {
                let (mark, bits) = track.mark(bits);
                let passed = track.count(passed, mark);
                if bits[1] == 1 {
                    return Act::go(&[], Stage::Back { minus, left: passed, outer });
                }
                ripple(&up, minus, plus, [passed, outer], bits[0])
            }
            Stage::Back { minus, left, outer } => {
                let mark = track.mark(bits).0;
                if left == 0 && mark == 1 {
                    // The multiplier is one bit ahead already.
                    let carry = u8::from(minus);
                    return Act::go(&[(PRODUCT, 1)], Stage::Bit { first: false, carry, outer });
                }
                Act::go(&down, Stage::Back { minus, left: left - mark, outer })
            }
        });
        self.cur = exits[0];
    }
}

/// One position of adding or subtracting: the bit and the carry.
fn combine(minus: bool, product: u8, multiplicand: u8, carry: u8) -> (u8, u8) {
    if minus {
        return difference(product, multiplicand, carry);
    }
    let sum = product + multiplicand + carry;
    (sum & 1, sum >> 1)
}

/// One position of adding 1 or -1: it is over where nothing is carried on.
fn ripple(up: &[(Tape, i8)], minus: bool, plus: bool, [passed, outer]: [u8; 2], bit: u8) -> Act<Stage> {
    if (bit == 0) == plus {
        return Act::go(&[], Stage::Back { minus, left: passed, outer }).writing(PRODUCT, 1 - bit);
    }
    Act::go(up, Stage::Ripple { minus, up: plus, passed, outer }).writing(PRODUCT, 1 - bit)
}
