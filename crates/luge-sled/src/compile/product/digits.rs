//! The digits of a multiplier, one after the other, and the additions they make.

use super::Product;
use crate::compile::{
    Generator,
    automaton::{Act, Track, Walker},
    tapes::{BOUND, OUTER, PRODUCT, Tape},
};

/// Stages of a product. Digits are 1 or -1: whether the multiplicand is subtracted. A zone is the number of marks on
/// `bound` that are behind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// At a bit of the multiplier, with a carry from those below.
    Bit {
        first: bool,
        carry: u8,
        zone: u8,
        outer: u8,
    },
    /// A digit that is not zero: the next bit says which.
    Digit {
        first: bool,
        carry: u8,
        zone: u8,
        outer: u8,
    },
    Add {
        minus: bool,
        carry: u8,
        passed: u8,
        zone: u8,
        outer: u8,
    },
    /// The multiplicand is over: its sign and the carry make 1 or -1 that goes on upwards.
    Ripple {
        minus: bool,
        plus: bool,
        passed: u8,
        zone: u8,
        outer: u8,
    },
    /// On the way back, looking for the next digit: the heads over the sum stay while the multiplier's goes on.
    Seek {
        carry: u8,
        left: u8,
        zone: u8,
        outer: u8,
    },
    /// On the way back, all heads together.
    Back {
        carry: u8,
        left: u8,
        zone: u8,
        outer: u8,
    },
}

/// What the additions of a product need to know.
struct Digits<'p> {
    product: &'p Product,
    track: Track,
    /// Which way the multiplier's bits are counted, and the marks before their end.
    direction: i8,
    end: u8,
    /// The zone above the point, the one behind the multiplier's last bit, and the one above the sum.
    point: u8,
    /// The lowest zone in which there can be the cell before that of the multiplicand's sign.
    lowest: u8,
    highest: u8,
    top: u8,
}

impl Generator<'_> {
    /// Adds the multiplicand once for each digit.
    pub(super) fn add_up(&mut self, product: &Product) {
        let (direction, end) = self.outer_track(product.multiplier.width);
        let fraction = product.fraction;
        let point = self.plan.point(fraction);
        let digits = Digits {
            product,
            track: self.ruled(vec![product.multiplicand.width - 1]),
            direction,
            end,
            point,
            lowest: if product.multiplicand.width > fraction + 1 { point } else { 0 },
            highest: self.plan.zones(fraction, product.multiplier.width - fraction),
            top: self.plan.zones(fraction, product.sum.width),
        };
        let start = Stage::Bit { first: true, carry: 0, zone: 0, outer: 0 };
        let inspect = |stage: &Stage| digits.inspect(stage);
        self.cur = self.explore(start, 1, inspect, |stage, bits| {
            let tapes = digits.inspect(stage);
            let read = |tape: Tape| tapes.iter().position(|&t| t == tape).map_or(0, |at| bits[at]);
            digits.step(*stage, &read)
        })[0];
    }
}

impl Digits<'_> {
    fn inspect(&self, stage: &Stage) -> Vec<Tape> {
        let Product { multiplier, multiplicand, .. } = *self.product;
        let ruler = self.track.looked_at();
        match *stage {
            Stage::Bit { first: true, .. } => vec![multiplier.tape],
            Stage::Bit { zone, .. } if zone < self.highest => vec![multiplier.tape, OUTER, BOUND],
            Stage::Bit { .. } => vec![multiplier.tape, OUTER],
            Stage::Digit { first: true, .. } => vec![multiplier.tape, OUTER, multiplicand.tape],
            Stage::Digit { zone, .. } => vec![multiplier.tape, OUTER, multiplicand.tape, self.tape(zone)],
            Stage::Add { zone, .. } => {
                let mut tapes = [ruler, vec![BOUND, multiplicand.tape, self.tape(zone)]].concat();
                let above = self.tape(zone + 1);
                tapes.extend((above != self.tape(zone)).then_some(above));
                tapes
            }
            Stage::Ripple { zone, .. } => [ruler, vec![BOUND, self.tape(zone)]].concat(),
            Stage::Seek { .. } => [ruler, vec![multiplier.tape, OUTER]].concat(),
            Stage::Back { zone: 0, .. } => ruler,
            Stage::Back { .. } => [ruler, vec![BOUND]].concat(),
        }
    }

    /// The tape that holds the bits of the sum in a zone.
    fn tape(&self, zone: u8) -> Tape {
        if zone < self.point { PRODUCT } else { self.product.sum.tape }
    }

    /// Whether bits in a zone count as their opposites: a product is added to the complement in order to be subtracted.
    fn flips(&self, zone: u8) -> u8 {
        u8::from(self.product.minus && zone >= self.point)
    }

    fn bit(&self, zone: u8, read: &impl Fn(Tape) -> u8) -> u8 {
        read(self.tape(zone)) ^ self.flips(zone)
    }

    /// An act that also writes a bit of the sum.
    fn put(&self, act: Act<Stage>, zone: u8, bit: u8) -> Act<Stage> {
        act.writing(self.tape(zone), bit ^ self.flips(zone))
    }

    /// Moves of the heads over the sum, from a cell in this zone up, or down to it.
    fn along_sum(&self, zone: u8, offset: i8) -> Vec<(Tape, i8)> {
        let mut moves = vec![(PRODUCT, offset)];
        moves.extend((self.tape(zone) != PRODUCT).then_some((self.product.sum.tape, offset)));
        moves
    }

    fn along_multiplicand(&self, up: bool) -> Vec<(Tape, i8)> {
        let walker = Walker { tape: self.product.multiplicand.tape, from: 0, to: u32::MAX };
        self.track.moves(&[walker], 0, up)
    }

    /// Moves of all heads but the multiplier's.
    fn moves(&self, zone: u8, up: bool) -> Vec<(Tape, i8)> {
        [self.along_multiplicand(up), self.along_sum(zone, if up { 1 } else { -1 })].concat()
    }

    fn is_end(&self, mark: u8, outer: u8) -> bool {
        mark == 1 && outer == self.end
    }

    fn mark(&self, read: &impl Fn(Tape) -> u8) -> u8 {
        self.track.looked_at().first().map_or(1, |&ruler| read(ruler))
    }

    fn step(&self, stage: Stage, read: &impl Fn(Tape) -> u8) -> Act<Stage> {
        match stage {
            Stage::Bit { first, carry, zone, outer } => {
                self.at_bit(first, [carry, zone + read(BOUND), outer], read)
            }
            Stage::Digit { first, carry, zone, outer } => {
                // Behind the last bit the sign repeats; it made the digit, or the carry did.
                let over = self.is_end(read(OUTER), outer);
                let next = if over { 1 - carry } else { read(self.product.multiplier.tape) };
                let bit = if first { self.first_bit() } else { self.bit(zone, read) };
                let (bit, carry) = self.sum(bit, next, next, read);
                let add = Stage::Add { minus: next == 1, carry, passed: 0, zone, outer };
                self.put(Act::go(&self.moves(zone, true), add), zone, bit)
            }
            Stage::Add { minus, carry, passed, zone, outer } => {
                let (mark, now) = (self.mark(read), zone + read(BOUND));
                let turn = || self.turn(minus, [passed, zone, outer]);
                if now >= self.top {
                    return turn();
                }
                let (bit, carry) = self.sum(self.bit(now, read), u8::from(minus), carry, read);
                let passed = passed + mark;
                if mark == 1 && self.track.is_end(passed) && zone < self.lowest {
                    // No run comes here.
                    return Act::exit(0);
                }
                let sign = read(self.product.multiplicand.tape) ^ u8::from(minus);
                let act = if mark == 0 || !self.track.is_end(passed) {
                    Act::go(&self.moves(now, true), Stage::Add { minus, carry, passed, zone: now, outer })
                } else if carry == sign {
                    // The sign stands in all places above; with the carry it makes 1, 0 or -1.
                    turn()
                } else {
                    let ripple = Stage::Ripple { minus, plus: carry > sign, passed, zone: now, outer };
                    Act::go(&self.moves(now, true), ripple)
                };
                self.put(act, now, bit)
            }
            Stage::Ripple { minus, plus, passed, zone, outer } => {
                let now = zone + read(BOUND);
                if now >= self.top {
                    return self.turn(minus, [passed, zone, outer]);
                }
                let bit = self.bit(now, read);
                let act = if (bit == 0) == plus {
                    self.turn(minus, [passed, zone, outer])
                } else {
                    let passed = self.track.count(passed, self.mark(read));
                    let ripple = Stage::Ripple { minus, plus, passed, zone: now, outer };
                    Act::go(&self.moves(now, true), ripple)
                };
                self.put(act, now, 1 - bit)
            }
            Stage::Seek { carry, left, zone, outer } => self.seek(carry, [left, zone, outer], read),
            Stage::Back { carry, left, zone, outer } => {
                let mark = self.mark(read);
                if left == 0 && mark == 1 {
                    return self.next_bit(carry, zone, outer);
                }
                let (left, zone) = (left - mark, zone - read(BOUND));
                Act::go(&self.moves(zone, false), Stage::Back { carry, left, zone, outer })
            }
        }
    }

    /// On to a bit that the multiplier's head is on already.
    fn next_bit(&self, carry: u8, zone: u8, outer: u8) -> Act<Stage> {
        Act::go(&self.along_sum(zone, 1), Stage::Bit { first: false, carry, zone, outer })
    }

    /// The first step back, to a cell in this zone.
    fn turn(&self, minus: bool, [left, zone, outer]: [u8; 3]) -> Act<Stage> {
        Act::go(&self.moves(zone, false), Stage::Seek { carry: u8::from(minus), left, zone, outer })
    }

    /// A step back of the multiplicand, which is one bit further up then, if the digit there is zero.
    fn seek(&self, carry: u8, [left, zone, outer]: [u8; 3], read: &impl Fn(Tape) -> u8) -> Act<Stage> {
        let (ruler_mark, mark) = (self.mark(read), read(OUTER));
        if left == 0 && ruler_mark == 1 {
            return self.next_bit(carry, zone, outer);
        }
        let tape = self.product.multiplier.tape;
        let digit = read(tape) + carry;
        if digit == 1 || self.is_end(mark, outer) {
            return Act::go(&[], Stage::Back { carry, left, zone, outer });
        }
        let (left, outer) = (left - ruler_mark, outer + mark);
        let moves = [self.along_multiplicand(false), vec![(tape, 1), (OUTER, self.direction)]].concat();
        Act::go(&moves, Stage::Seek { carry: digit >> 1, left, zone, outer })
    }

    fn at_bit(&self, first: bool, [carry, zone, outer]: [u8; 3], read: &impl Fn(Tape) -> u8) -> Act<Stage> {
        let mark = read(OUTER);
        if self.is_end(mark, outer) {
            return Act::exit(0);
        }
        let outer = outer + mark;
        let tape = self.product.multiplier.tape;
        let ahead = vec![(tape, 1), (OUTER, self.direction)];
        let digit = read(tape) + carry;
        if digit == 1 {
            let first = first && self.point > 0;
            return Act::go(&ahead, Stage::Digit { first, carry, zone, outer });
        }
        let along = [ahead, self.along_sum(zone, 1)].concat();
        let act = Act::go(&along, Stage::Bit { first: false, carry: digit >> 1, zone, outer });
        if first && self.point > 0 { self.put(act, zone, self.first_bit()) } else { act }
    }

    /// What belongs in the lowest cell below the point, whatever is there.
    fn first_bit(&self) -> u8 {
        u8::from(self.product.rounded && self.product.fraction == 1)
    }

    /// One position of an addition: the bit and what is carried on. To subtract is to add the complement and 1.
    fn sum(&self, bit: u8, minus: u8, carry: u8, read: &impl Fn(Tape) -> u8) -> (u8, u8) {
        let sum = bit + (read(self.product.multiplicand.tape) ^ minus) + carry;
        (sum & 1, sum >> 1)
    }
}
