//! The digits of a multiplier, one after the other, and the additions that they cause.

use super::Product;
use crate::compile::{Act, Generator, Tape, Track, View, Walker};

/// A state of the automaton that adds up a product.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    stage: Stage,
    /// The number of marks on `bound` below the head.
    zone: u8,
    /// The number of marks on `outer` that were passed.
    outer: u8,
}

/// What the automaton does. Digits are 1 or -1; `minus` means that the multiplicand is subtracted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// At a bit of the multiplier, with a carry from those below.
    Bit { first: bool, carry: u8 },
    /// A digit that is not zero: the next bit says which one.
    Digit { first: bool, carry: u8 },
    /// Adds the multiplicand.
    Add { minus: bool, carry: u8, passed: u8 },
    /// Above the multiplicand: its sign and the carry add 1 or -1, which carries on upwards.
    Ripple { minus: bool, plus: bool, passed: u8 },
    /// Moves back and looks for the next digit: the heads on the sum stay while the multiplier's advances.
    Seek { carry: u8, left: u8 },
    /// Moves all heads back together.
    Back { carry: u8, left: u8 },
}

/// The parameters of the additions.
struct Digits<'p> {
    product: &'p Product,
    track: Track,
    /// The direction in which the multiplier's bits are counted, and the number of marks before the last.
    direction: i8,
    end: u8,
    /// The zone right above the point.
    point: u8,
    /// The lowest zone in which the cell below the multiplicand's sign can be.
    lowest: u8,
    /// The zone above the multiplier's last bit.
    highest: u8,
    /// The zone above the sum.
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
            track: self.track(vec![product.multiplicand.width - 1], true),
            direction,
            end,
            point,
            lowest: if product.multiplicand.width > fraction + 1 { point } else { 0 },
            highest: self.plan.zones(fraction, product.multiplier.width - fraction),
            top: self.plan.zones(fraction, product.sum.width),
        };
        let start = State { stage: Stage::Bit { first: true, carry: 0 }, zone: 0, outer: 0 };
        self.cur = self.explore(start, 1, |state, view| digits.step(*state, view))[0];
    }
}

impl Digits<'_> {
    /// The tape that holds the bits of the sum in a zone.
    fn tape(&self, zone: u8) -> Tape {
        if zone < self.point { Tape::Product } else { self.product.sum.tape }
    }

    /// 1 if the bits in a zone are inverted: to subtract a product, it is added to the complement.
    fn flips(&self, zone: u8) -> u8 {
        u8::from(self.product.minus && zone >= self.point)
    }

    fn bit(&self, zone: u8, view: &mut View) -> u8 {
        view.read(self.tape(zone)) ^ self.flips(zone)
    }

    /// An act that also writes a bit of the sum.
    fn put(&self, act: Act<State>, zone: u8, bit: u8) -> Act<State> {
        act.writing(self.tape(zone), bit ^ self.flips(zone))
    }

    /// The moves of the heads on the sum: up from a cell in this zone, or down to it.
    fn along_sum(&self, zone: u8, offset: i8) -> Vec<(Tape, i8)> {
        let mut moves = vec![(Tape::Product, offset)];
        moves.extend((self.tape(zone) != Tape::Product).then_some((self.product.sum.tape, offset)));
        moves
    }

    fn along_multiplicand(&self, up: bool) -> Vec<(Tape, i8)> {
        self.track.moves(&[Walker::whole(self.product.multiplicand.tape)], 0, up)
    }

    /// The moves of all heads but the multiplier's.
    fn moves(&self, zone: u8, up: bool) -> Vec<(Tape, i8)> {
        [self.along_multiplicand(up), self.along_sum(zone, if up { 1 } else { -1 })].concat()
    }

    fn is_end(&self, mark: u8, outer: u8) -> bool {
        mark == 1 && outer == self.end
    }

    fn step(&self, state: State, view: &mut View) -> Act<State> {
        let State { stage, zone, outer } = state;
        let multiplier = self.product.multiplier.tape;
        match stage {
            Stage::Bit { first, carry } => self.at_bit(first, carry, state, view),
            Stage::Digit { first, carry } => {
                let tapes = [multiplier, Tape::Outer, self.product.multiplicand.tape];
                let [next, mark, number] = tapes.map(|tape| view.read(tape));
                // Above the last bit the sign repeats; it made the digit, or the carry did.
                let next = if self.is_end(mark, outer) { 1 - carry } else { next };
                let bit = if first { self.first_bit() } else { self.bit(zone, view) };
                // To subtract is to add the complement and 1.
                let sum = bit + (number ^ next) + next;
                let stage = Stage::Add { minus: next == 1, carry: sum >> 1, passed: 0 };
                self.put(Act::go(&self.moves(zone, true), State { stage, ..state }), zone, sum & 1)
            }
            Stage::Add { minus, carry, passed } => self.add(minus, carry, passed, state, view),
            Stage::Ripple { minus, plus, passed } => {
                let beyond = self.track.advance_beyond(passed, view);
                let now = zone + view.read(Tape::Bound);
                if now >= self.top {
                    return self.turn(minus, passed, state);
                }
                // No run carries from below the point to above it.
                let crosses = self.tape(now) != self.tape(zone);
                let bit = if crosses { self.flips(now) } else { self.bit(now, view) };
                let act = if (bit == 0) == plus {
                    self.turn(minus, passed, state)
                } else {
                    let stage = Stage::Ripple { minus, plus, passed: beyond };
                    Act::go(&self.moves(now, true), State { stage, zone: now, outer })
                };
                self.put(act, now, 1 - bit)
            }
            Stage::Seek { carry, left } => {
                let [passed, bit, mark] =
                    [self.track.mark(view), view.read(multiplier), view.read(Tape::Outer)];
                if left == 0 && passed == 1 {
                    return self.next_bit(carry, state);
                }
                let digit = bit + carry;
                if digit == 1 || self.is_end(mark, outer) {
                    return Act::go(&[], State { stage: Stage::Back { carry, left }, ..state });
                }
                // The digit is 0. The multiplicand's head moves back, which makes up for the multiplier's.
                let ahead = vec![(multiplier, 1), (Tape::Outer, self.direction)];
                let stage = Stage::Seek { carry: digit >> 1, left: left - passed };
                let moves = [self.along_multiplicand(false), ahead].concat();
                Act::go(&moves, State { stage, zone, outer: outer + mark })
            }
            Stage::Back { carry, left } => {
                let passed = self.track.mark(view);
                let below = if zone == 0 { 0 } else { zone - view.read(Tape::Bound) };
                if left == 0 && passed == 1 {
                    return self.next_bit(carry, state);
                }
                let stage = Stage::Back { carry, left: left - passed };
                Act::go(&self.moves(below, false), State { stage, zone: below, outer })
            }
        }
    }

    fn at_bit(&self, first: bool, carry: u8, state: State, view: &mut View) -> Act<State> {
        let State { mut zone, mut outer, .. } = state;
        let tape = self.product.multiplier.tape;
        let digit = view.read(tape) + carry;
        if !first {
            let mark = view.read(Tape::Outer);
            zone += if zone < self.highest { view.read(Tape::Bound) } else { 0 };
            if self.is_end(mark, outer) {
                return Act::exit(0);
            }
            outer += mark;
        }
        let ahead = vec![(tape, 1), (Tape::Outer, self.direction)];
        let first = first && self.point > 0;
        if digit == 1 {
            return Act::go(&ahead, State { stage: Stage::Digit { first, carry }, zone, outer });
        }
        let stage = Stage::Bit { first: false, carry: digit >> 1 };
        let moves = [ahead, self.along_sum(zone, 1)].concat();
        let act = Act::go(&moves, State { stage, zone, outer });
        if first { self.put(act, zone, self.first_bit()) } else { act }
    }

    fn add(&self, minus: bool, carry: u8, passed: u8, state: State, view: &mut View) -> Act<State> {
        let advanced = self.track.advance(passed, view);
        let now = state.zone + view.read(Tape::Bound);
        let number = view.read(self.product.multiplicand.tape) ^ u8::from(minus);
        if now >= self.top {
            return self.turn(minus, passed, state);
        }
        let sum = self.bit(now, view) + number + carry;
        let carry = sum >> 1;
        let go = |stage| Act::go(&self.moves(now, true), State { stage, zone: now, ..state });
        let act = match advanced {
            Some(passed) => go(Stage::Add { minus, carry, passed }),
            // No run comes here.
            None if state.zone < self.lowest => return Act::exit(0),
            // This was the sign, which repeats above; together with the carry that adds 1, 0 or -1.
            None if carry == number => self.turn(minus, passed, state),
            None => go(Stage::Ripple { minus, plus: carry > number, passed: passed + 1 }),
        };
        self.put(act, now, sum & 1)
    }

    /// Continues with a bit that the multiplier's head has already reached.
    fn next_bit(&self, carry: u8, state: State) -> Act<State> {
        let stage = Stage::Bit { first: false, carry };
        Act::go(&self.along_sum(state.zone, 1), State { stage, ..state })
    }

    /// The first step back, to a cell in the zone of the state.
    fn turn(&self, minus: bool, passed: u8, state: State) -> Act<State> {
        let stage = Stage::Seek { carry: u8::from(minus), left: passed };
        Act::go(&self.moves(state.zone, false), State { stage, ..state })
    }

    /// The bit that belongs in the lowest cell below the point, whatever is there.
    fn first_bit(&self) -> u8 {
        u8::from(self.product.rounded && self.product.fraction == 1)
    }
}
