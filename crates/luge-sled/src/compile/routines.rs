//! Products and quotients: long enough to be made once and called from everywhere.
//!
//! A call leaves its number on `product`, to the left of its home, and the routine's end finds the way back by it.

use std::collections::BTreeMap;

use super::{
    ACC, Generator, MEMORY, PRODUCT, RULER, TABLE,
    automaton::{Act, Bit, DataPos, Pos, Sweep, TablePos, returning},
    graph::{Arrow, Node},
    values::Linear,
};
use crate::core::{Slot, Ty};

/// A part of the machine that is made once and called from several places.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Routine {
    /// Accumulator times the word of memory under the head, to the accumulator.
    Product { ty: Ty, wide: bool },
    /// Accumulator divided by the word of memory under the head, which is lost.
    Quotient { ty: Ty },
}

/// Stages of a product: one round for each bit of the accumulator, adding memory to the product where it is 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Times {
    Bit { first: bool, outer: u8 },
    Add { carry: u8, passed: u8, outer: u8 },
    Back { left: u8, outer: u8 },
}

/// Stages of a quotient: one round for each bit of the dividend, subtracting the divisor where it fits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Over {
    Round {
        outer: u8,
        first: bool,
    },
    /// The bit above the window.
    Top {
        outer: u8,
    },
    Compare {
        left: u8,
        outer: u8,
    },
    Down {
        left: u8,
        outer: u8,
    },
    Subtract {
        first: bool,
        borrow: u8,
        passed: u8,
        outer: u8,
    },
    Up {
        passed: u8,
        outer: u8,
    },
}

impl Generator<'_> {
    /// Goes to a routine and on from where it comes back.
    pub(super) fn call(&mut self, routine: Routine) {
        let from = self.here();
        let after = self.new_node();
        self.routines.entry(routine).or_default().push((from, after));
        self.cur = after;
    }

    /// The divisor and the sign of the quotient.
    pub(super) fn division_slots(&mut self, width: u32) -> (Slot, Slot) {
        let found = self.division.get(&width).copied();
        found.unwrap_or_else(|| {
            self.widths.extend([width, 1]);
            let slots = (self.widths.len() - 2, self.widths.len() - 1);
            self.division.insert(width, slots);
            slots
        })
    }

    pub(super) fn routine_bodies(&mut self) {
        let routines: BTreeMap<Routine, Vec<(Node, Node)>> = std::mem::take(&mut self.routines);
        for (routine, calls) in routines {
            // Steps inside are on nobody's line; see `Graph::write`.
            self.line = 0;
            let entry = self.new_node();
            self.cur = entry;
            self.pos = Pos { slot: 0, table: TablePos::Home, data: DataPos::Element(0) };
            match routine {
                Routine::Product { ty, wide } => self.product_body(ty, wide),
                Routine::Quotient { ty } => self.quotient_body(ty),
            }
            self.link(entry, &calls);
        }
    }

    /// Joins calls to a routine whose end is the current state.
    fn link(&mut self, entry: Node, calls: &[(Node, Node)]) {
        let end = self.here();
        if let [(from, after)] = calls {
            self.graph.arrow(*from, Arrow::to(entry));
            self.graph.arrow(end, Arrow::to(*after));
            return;
        }
        let n_bits = usize::BITS - (calls.len() - 1).leading_zeros();
        for (number, &(from, _)) in calls.iter().enumerate() {
            self.cur = from;
            self.single_step(&[(PRODUCT, -1)], None);
            for bit in 0..n_bits {
                let value = u8::from(number >> bit & 1 == 1);
                let last = bit + 1 == n_bits;
                self.single_step(&[(PRODUCT, if last { 1 } else { -1 })], Some((PRODUCT, value)));
            }
            for _ in 1..n_bits {
                self.single_step(&[(PRODUCT, 1)], None);
            }
            self.jump(entry);
        }
        self.cur = end;
        for _ in 0..n_bits {
            self.single_step(&[(PRODUCT, -1)], None);
        }
        self.dispatch(n_bits, 0, calls);
    }

    /// Reads the number of a call, highest bit first, and goes on behind it.
    fn dispatch(&mut self, n_bits: u32, known: usize, calls: &[(Node, Node)]) {
        let from = self.here();
        for bit in 0..2 {
            let number = known | bit << (n_bits - 1);
            if number >= calls.len() {
                continue;
            }
            let next = if n_bits == 1 { calls[number].1 } else { self.new_node() };
            self.graph.arrow(from, Arrow::to(next).read(PRODUCT, u8::from(bit == 1)).shift(PRODUCT, 1));
            if n_bits > 1 {
                self.cur = next;
                self.dispatch(n_bits - 1, number, calls);
            }
        }
    }

    fn outer(&mut self, length: u32) -> u8 {
        self.demand.outer.insert(length);
        self.plan.outer.reach(length).between
    }

    fn product_body(&mut self, ty: Ty, wide: bool) {
        let width = ty.width();
        self.glide(&[(PRODUCT, 1)], Some((PRODUCT, 0)), &[width, width]);
        self.glide(&[(PRODUCT, -1)], None, &[width, width]);
        self.times(width);
        // Up to here both factors counted as numbers without sign, and heads are at the upper half of the product.
        let [negative, other] = self.outer_back(width);
        self.cur = negative;
        self.subtract_high(MEMORY, width);
        let negative = self.here();
        self.join(&[(other, self.pos), (negative, self.pos)]);
        let [negative, other] = self.sign_and_return(width);
        self.cur = negative;
        self.subtract_high(ACC, width);
        self.glide(&[(PRODUCT, -1)], None, &[width]);
        let negative = self.here();
        self.join(&[(other, self.pos), (negative, self.pos)]);
        // The product's point is twice as far up.
        self.walk(PRODUCT, 1, ty.fraction, None);
        self.copy(PRODUCT, ACC, if wide { 2 * ty.integer + ty.fraction } else { width });
        self.walk(PRODUCT, -1, ty.fraction, None);
    }

    /// Adds memory to the product, one cell further up for each bit of the accumulator that is 1.
    fn times(&mut self, width: u32) {
        let end = self.outer(width);
        self.here();
        let reach = self.reach(width);
        let along = [(ACC, 1), (PRODUCT, 1), (TABLE, 1)];
        let up = [(MEMORY, 1), (PRODUCT, 1), (RULER, reach.direction)];
        let down = [(MEMORY, -1), (PRODUCT, -1), (RULER, -reach.direction)];
        let inspect = |stage: &Times| match stage {
            Times::Bit { first: true, .. } => vec![ACC, MEMORY, PRODUCT],
            Times::Bit { first: false, .. } => vec![ACC, MEMORY, PRODUCT, TABLE],
            Times::Add { .. } => vec![RULER, MEMORY, PRODUCT],
            Times::Back { .. } => vec![RULER],
        };
        let exits =
            self.explore(Times::Bit { first: true, outer: 0 }, 1, inspect, |stage, bits| match *stage {
                Times::Bit { first, outer } => {
                    let mark = if first { 0 } else { bits[3] };
                    if mark == 1 && outer == end {
                        return Act::exit(0);
                    }
                    let outer = outer + mark;
                    if bits[0] == 0 {
                        return Act::go(&along, Times::Bit { first: false, outer });
                    }
                    let (carry, sum) = Linear::Add.bit(0, bits[1], bits[2]);
                    Act::go(&up, Times::Add { carry, passed: 0, outer }).writing(PRODUCT, sum)
                }
                Times::Add { carry, passed, outer } if bits[0] == 1 && passed == reach.between => {
                    Act::go(&down, Times::Back { left: passed, outer }).writing(PRODUCT, carry)
                }
                Times::Add { carry, passed, outer } => {
                    let (carry, sum) = Linear::Add.bit(carry, bits[1], bits[2]);
                    Act::go(&up, Times::Add { carry, passed: passed + bits[0], outer }).writing(PRODUCT, sum)
                }
                Times::Back { left: 0, outer } if bits[0] == 1 => {
                    Act::go(&along, Times::Bit { first: false, outer })
                }
                Times::Back { left, outer } => Act::go(&down, Times::Back { left: left - bits[0], outer }),
            });
        self.cur = exits[0];
    }

    /// Takes accumulator and second ruler home; two states: the accumulator is negative, or not.
    fn outer_back(&mut self, width: u32) -> [Node; 2] {
        let end = self.outer(width);
        let down = [(ACC, -1), (TABLE, -1)];
        // Nothing known; the sign looked at; the way home with the sign and the marks to pass.
        let inspect = |stage: &(u8, u8, u8)| match stage.0 {
            0 => vec![],
            1 => vec![TABLE, ACC],
            _ => vec![TABLE],
        };
        let exits = self.explore((0, 0, end), 2, inspect, |&(stage, negative, left), bits| match stage {
            0 => Act::go(&down, (1, 0, left)),
            1 => Act::go(&down, (2, bits[1], left - bits[0].min(left))),
            _ => returning(bits[0], left, &down, |left| (2, negative, left), usize::from(negative == 0)),
        });
        [exits[0], exits[1]]
    }

    /// Subtracts a word from the upper half of the product.
    fn subtract_high(&mut self, tape: usize, width: u32) {
        let sweep =
            Sweep { width, walkers: &[tape, PRODUCT], inspect: &[PRODUCT, tape], target: PRODUCT, carry: 0 };
        self.sweep_up(&sweep, None, |borrow, _, bits| {
            let (borrow, value) = Linear::Sub.bit(borrow, bits[0], bits[1]);
            (borrow, Some(value))
        });
    }

    /// Two states: memory is negative, and the product's head where it was; or not, and that head a word further down.
    fn sign_and_return(&mut self, width: u32) -> [Node; 2] {
        self.here();
        let reach = self.reach(width);
        let out = [(MEMORY, 1), (PRODUCT, -1), (RULER, reach.direction)];
        let stay = [(MEMORY, -1), (RULER, -reach.direction)];
        let back = [(MEMORY, -1), (PRODUCT, 1), (RULER, -reach.direction)];
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        enum Stage {
            First,
            Out(u8, u8),
            Back(u8, u8),
        }
        let inspect = |stage: &Stage| match stage {
            Stage::First => vec![MEMORY],
            Stage::Out(..) => vec![RULER, MEMORY],
            Stage::Back(..) => vec![RULER],
        };
        let way = |negative: u8| if negative == 1 { &back[..] } else { &stay[..] };
        let exits = self.explore(Stage::First, 2, inspect, |stage, bits| match *stage {
            Stage::First => Act::go(&out, Stage::Out(0, bits[0])),
            Stage::Out(passed, last) if bits[0] == 1 && passed == reach.between => {
                Act::go(way(last), Stage::Back(passed, last))
            }
            Stage::Out(passed, _) => Act::go(&out, Stage::Out(passed + bits[0], bits[1])),
            Stage::Back(left, negative) => {
                let exit = usize::from(negative == 0);
                returning(bits[0], left, way(negative), |left| Stage::Back(left, negative), exit)
            }
        });
        [exits[0], exits[1]]
    }

    fn flip(&mut self, slot: Slot) {
        self.seek_slot(slot);
        let [zero, one] = self.branch(MEMORY);
        let next = self.new_node();
        self.graph.arrow(zero, Arrow::to(next).write(MEMORY, 1));
        self.graph.arrow(one, Arrow::to(next).write(MEMORY, 0));
        self.cur = next;
    }

    fn quotient_body(&mut self, ty: Ty) {
        let width = ty.width();
        let (divisor, sign) = self.division_slots(width);
        self.pos.slot = divisor;
        let home = self.pos;
        let [zero, other] = self.is_zero(MEMORY, width);
        self.cur = zero;
        self.sweep_acc(width, 0, |_, _, _| (0, 0));
        let zero = (self.here(), self.pos);
        (self.cur, self.pos) = (other, home);
        self.store_uniform(sign, 1, 0, 0);
        self.seek_slot(divisor);
        let [negative, other] = self.sign_of(MEMORY, width);
        self.cur = negative;
        let sweep = Sweep { width, walkers: &[MEMORY], inspect: &[MEMORY], target: MEMORY, carry: 0 };
        self.cur = self.sweep(
            &sweep,
            1,
            |_| 0,
            |carry, _, bits| {
                let (carry, value) = Linear::SubFrom.bit(carry, bits[0], 0);
                Bit::On(carry, Some(value))
            },
        )[0];
        self.flip(sign);
        let negative = (self.here(), self.pos);
        self.join(&[(other, home), negative]);
        let [negative, other] = self.sign_of(ACC, width);
        self.cur = negative;
        self.negate(width);
        self.flip(sign);
        let negative = (self.here(), self.pos);
        self.join(&[(other, home), negative]);
        self.over(ty);
        self.seek_slot(sign);
        let at_sign = self.pos;
        let [positive, negative] = self.branch(MEMORY);
        self.cur = negative;
        self.negate(width);
        let negative = (self.here(), self.pos);
        self.join(&[zero, (positive, at_sign), negative]);
        self.go_to(home);
    }

    /// Divides numbers without sign, by long division: the dividend on the product, the quotient on the accumulator.
    fn over(&mut self, ty: Ty) {
        let width = ty.width();
        let length = width + ty.fraction;
        self.walk(PRODUCT, 1, ty.fraction, Some(0));
        // The dividend, then a word of zeros while the accumulator goes back.
        let sweep = Sweep { width, walkers: &[ACC, PRODUCT], inspect: &[ACC], target: PRODUCT, carry: 0 };
        self.sweep_up(&sweep, Some(PRODUCT), |_, _, bits| (0, Some(bits[0])));
        self.here();
        self.glide(&[(PRODUCT, 1)], Some((PRODUCT, 0)), &[width]);
        self.single_step(&[], Some((PRODUCT, 0)));
        let end = self.outer(length);
        for _ in 0..=end {
            self.outer_out();
        }
        let reach = self.reach(width);
        let up = [(MEMORY, 1), (RULER, reach.direction)];
        let exits = self.explore(
            None,
            1,
            |state: &Option<u8>| if state.is_some() { vec![RULER] } else { Vec::new() },
            |state, bits| match *state {
                Some(passed) if bits[0] == 1 && passed == reach.between => Act::exit(0),
                Some(passed) => Act::go(&up, Some(passed + bits[0])),
                None => Act::go(&up, Some(0)),
            },
        );
        self.cur = exits[0];
        self.rounds(width, end);
        // All at the top of their words but the product, which is one word up.
        let down = [(MEMORY, -1), (PRODUCT, -1), (RULER, -reach.direction)];
        let exits = self.explore(
            None,
            1,
            |state: &Option<u8>| if state.is_some() { vec![RULER] } else { Vec::new() },
            |state, bits| match *state {
                None => Act::go(&down, Some(reach.between)),
                Some(left) => returning(bits[0], left, &down, Some, 0),
            },
        );
        self.cur = exits[0];
    }

    /// The second ruler's head to its next mark, the accumulator's beside it.
    fn outer_out(&mut self) {
        let moves = [(ACC, 1), (TABLE, 1)];
        let exits = self.explore(
            false,
            1,
            |&started: &bool| if started { vec![TABLE] } else { Vec::new() },
            |&started, bits| if started && bits[0] == 1 { Act::exit(0) } else { Act::go(&moves, true) },
        );
        self.cur = exits[0];
    }

    fn rounds(&mut self, width: u32, end: u8) {
        let reach = self.reach(width);
        let next = [(ACC, -1), (PRODUCT, -1), (TABLE, -1)];
        let up = [(MEMORY, 1), (PRODUCT, 1), (RULER, reach.direction)];
        let down = [(MEMORY, -1), (PRODUCT, -1), (RULER, -reach.direction)];
        let inspect = |stage: &Over| match stage {
            Over::Round { first: true, .. } => vec![],
            Over::Round { .. } => vec![TABLE],
            Over::Top { .. } => vec![PRODUCT],
            Over::Compare { .. } | Over::Subtract { .. } => vec![RULER, MEMORY, PRODUCT],
            Over::Down { .. } | Over::Up { .. } => vec![RULER],
        };
        let start = Over::Round { outer: end, first: true };
        let exits = self.explore(start, 1, inspect, |stage, bits| match *stage {
            Over::Round { outer, first: true } => Act::go(&next, Over::Top { outer }),
            // The round's own bit lies under the second ruler's head; at its home this was the last.
            Over::Round { outer: 0, .. } if bits[0] == 1 => Act::exit(0),
            Over::Round { outer, .. } => Act::go(&next, Over::Top { outer: outer - bits[0] }),
            Over::Top { outer } if bits[0] == 1 => Act::go(&down, Over::Down { left: reach.between, outer }),
            Over::Top { outer } => Act::go(&down, Over::Compare { left: reach.between, outer }),
            Over::Compare { left, outer } => {
                let home = bits[0] == 1 && left == 0;
                match (bits[1], bits[2]) {
                    (1, 0) => Act::go(&up, Over::Up { passed: left, outer }),
                    // Equal down to the last bit: it fits, too.
                    _ if home => subtract(
                        &up,
                        reach.between,
                        [1, bits[1], bits[2]],
                        Over::Subtract { first: true, borrow: 0, passed: 0, outer },
                    ),
                    (0, 1) => Act::go(&down, Over::Down { left: left - bits[0], outer }),
                    _ => Act::go(&down, Over::Compare { left: left - bits[0], outer }),
                }
            }
            Over::Down { left: 0, outer } if bits[0] == 1 => {
                Act::go(&[], Over::Subtract { first: true, borrow: 0, passed: 0, outer })
            }
            Over::Down { left, outer } => Act::go(&down, Over::Down { left: left - bits[0], outer }),
            Over::Subtract { .. } => subtract(&up, reach.between, [bits[0], bits[1], bits[2]], *stage),
            Over::Up { passed, outer } if bits[0] == 1 && passed == reach.between => {
                Act::go(&[], Over::Round { outer, first: false }).writing(ACC, 0)
            }
            Over::Up { passed, outer } => Act::go(&up, Over::Up { passed: passed + bits[0], outer }),
        });
        self.cur = exits[0];
    }
}

/// One position of taking the divisor off the window, and at its top the bit of the quotient.
fn subtract(up: &[(usize, i8)], between: u8, [mark, divisor, window]: [u8; 3], stage: Over) -> Act<Over> {
    let Over::Subtract { first, borrow, passed, outer } = stage else { return Act::go(&[], stage) };
    if !first && mark == 1 && passed == between {
        return Act::go(&[], Over::Round { outer, first: false }).writing(PRODUCT, 0).writing(ACC, 1);
    }
    let (borrow, value) = Linear::Sub.bit(borrow, window, divisor);
    let passed = if first { 0 } else { passed + mark };
    Act::go(up, Over::Subtract { first: false, borrow, passed, outer }).writing(PRODUCT, value)
}
