//! Quotients, by long division of numbers without sign: the dividend on `product`, the divisor and the quotient on tapes
//! of their own.

use super::{
    Generator,
    automaton::{Act, Track, Walker},
    bit_serial::{At, Operand, Pass, Root, Sym, Tail, difference},
    graph::Arrow,
    operands::Target,
    position::{Pos, Spot},
    routines::Routine,
    tapes::{DIVISOR, OUTER, PRODUCT, QUOTIENT, Tape},
};
use crate::core::{Affine, Expr, Op, Ty};

/// Stages of a division: one round for each bit of the dividend, subtracting the divisor where it fits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
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

fn register(tape: Tape, width: u32) -> Target<'static> {
    let spot = Spot { tape, pitch: width, at: Affine::default(), walks: Vec::new() };
    Target { spot, width, place: None }
}

fn divides(expr: &Expr) -> bool {
    expr.has_computed_index() || expr.any(&|e| matches!(e, Expr::Binary(Op::Div, ..)))
}

impl Generator<'_> {
    /// Leaves a quotient on its tape.
    pub(super) fn quotient(&mut self, ty: Ty, a: &Expr, b: &Expr) {
        let mut temporaries = Vec::new();
        self.demand.quotient = true;
        let mut simple = |generator: &mut Self, e: &Expr| match divides(e) {
            true => generator.copied(e, &[], &mut temporaries),
            false => e.clone(),
        };
        let (a, b) = (simple(self, a), simple(self, b));
        self.compute(&b, &register(DIVISOR, ty.width()));
        self.compute(&a, &register(QUOTIENT, ty.width()));
        self.free(&temporaries);
        self.seek(PRODUCT, 1, &Affine::default());
        self.call(Routine::Quotient(ty));
    }

    /// Two ways on: a register is zero, or not.
    fn is_zero(&mut self, tape: Tape, width: u32) -> [usize; 2] {
        let root = Root::Equal(Sym::Leaf(0), Sym::Uniform { first: 0, rest: 0 });
        self.register_branch(tape, width, &root)
    }

    fn is_negative(&mut self, tape: Tape, width: u32) -> [usize; 2] {
        self.register_branch(tape, width, &Root::Value(Sym::Leaf(0)))
    }

    fn register_branch(&mut self, tape: Tape, width: u32, root: &Root) -> [usize; 2] {
        let operands = [Operand { at: At::Memory(register(tape, width).spot), width }];
        let exits = self.pass(&Pass { root, operands: &operands, target: None, width, tail: Tail::Branch });
        [exits[0], exits[1]]
    }

    /// Makes a register positive; the sign of the quotient, left of the divisor, flips if it was not.
    fn make_positive(&mut self, tape: Tape, width: u32) {
        let [negative, other] = self.is_negative(tape, width);
        let joined = self.new_node();
        self.graph.arrow(other, Arrow::to(joined));
        self.cur = negative;
        self.negate(&register(tape, width));
        self.single_step(&[(DIVISOR, -1)], None);
        let [zero, one] = self.branch(DIVISOR);
        for (node, bit) in [(zero, 1), (one, 0)] {
            let arrow = self.moving(Arrow::to(joined).write(DIVISOR, bit), &[(DIVISOR, 1)]);
            self.graph.arrow(node, arrow);
        }
        self.cur = joined;
    }

    pub(super) fn quotient_body(&mut self, ty: Ty) {
        let width = ty.width();
        let end = self.new_node();
        let [zero, other] = self.is_zero(DIVISOR, width);
        self.cur = zero;
        let root = Root::Value(Sym::Uniform { first: 0, rest: 0 });
        let target = register(QUOTIENT, width);
        let target = Some((&target.spot, width));
        self.pass(&Pass { root: &root, operands: &[], target, width, tail: Tail::Nothing });
        self.jump(end);
        self.cur = other;
        self.single_step(&[(DIVISOR, -1)], None);
        self.single_step(&[(DIVISOR, 1)], Some((DIVISOR, 0)));
        self.make_positive(DIVISOR, width);
        self.make_positive(QUOTIENT, width);
        self.divide(ty);
        self.single_step(&[(DIVISOR, -1)], None);
        let [positive, negative] = self.branch(DIVISOR);
        let arrow = self.moving(Arrow::to(end), &[(DIVISOR, 1)]);
        self.graph.arrow(positive, arrow);
        self.cur = negative;
        self.single_step(&[(DIVISOR, 1)], None);
        self.negate(&register(QUOTIENT, width));
        self.jump(end);
        self.cur = end;
    }

    /// Divides numbers without sign.
    fn divide(&mut self, ty: Ty) {
        let width = ty.width();
        let length = width + ty.fraction;
        // The dividend above as many zeros as there are bits behind the point; above it the product is zero anyway.
        self.walk(PRODUCT, 1, ty.fraction, None);
        self.lift_dividend(width);
        let (direction, end) = self.outer_track(length);
        for _ in 0..=end {
            self.single_step(&[(QUOTIENT, 1), (OUTER, direction)], None);
            self.until(OUTER, 1, &[(QUOTIENT, 1), (OUTER, direction)]);
        }
        let track = self.track(vec![width]);
        let divisor = [Walker { tape: DIVISOR, from: 0, to: u32::MAX }];
        let up = [track.moves(&divisor, 0, true), vec![(PRODUCT, 1)]].concat();
        self.sweep(&track.looked_at(), |state, bits| match state {
            None => Act::go(&up, Some(0)),
            Some(passed) => match track.mark(bits).0 {
                1 if track.is_end(passed + 1) => Act::exit(0),
                mark => Act::go(&up, Some(passed + mark)),
            },
        });
        self.rounds(&track, end, direction);
        self.clear_remainder(&track);
        self.place_rulers(&Pos::default());
    }

    /// Copies the dividend from the quotient's tape to the product, whose head stays above it.
    fn lift_dividend(&mut self, width: u32) {
        self.settle();
        let track = self.track(vec![width]);
        let walkers = [QUOTIENT, PRODUCT].map(|tape| Walker { tape, from: 0, to: u32::MAX });
        let up = track.moves(&walkers, 0, true);
        let back = track.moves(&walkers[..1], 0, false);
        // Marks passed, or marks left on the way back.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        enum Way {
            First,
            Out(u8),
            Back(u8),
        }
        let inspect = |way: &Way| match way {
            Way::First => vec![QUOTIENT],
            Way::Out(_) => [track.looked_at(), vec![QUOTIENT]].concat(),
            Way::Back(_) => track.looked_at(),
        };
        let exits = self.explore(Way::First, 1, inspect, |way, bits| match *way {
            Way::First => Act::go(&up, Way::Out(0)).writing(PRODUCT, bits[0]),
            Way::Out(passed) => {
                let (mark, bits) = track.mark(bits);
                if mark == 1 && track.is_end(passed + mark) {
                    return Act::go(&back, Way::Back(passed));
                }
                Act::go(&up, Way::Out(passed + mark)).writing(PRODUCT, bits[0])
            }
            Way::Back(left) => match track.mark(bits).0 {
                1 if left == 0 => Act::exit(0),
                mark => Act::go(&back, Way::Back(left - mark)),
            },
        });
        self.cur = exits[0];
    }

    fn rounds(&mut self, track: &Track, end: u8, direction: i8) {
        let next = [(QUOTIENT, -1), (PRODUCT, -1), (OUTER, -direction)];
        let walkers = [DIVISOR, PRODUCT].map(|tape| Walker { tape, from: 0, to: u32::MAX });
        let (up, down) = (track.moves(&walkers, 0, true), track.moves(&walkers, 0, false));
        let top = track.end() - 1;
        let ruler = track.looked_at();
        let inspect = |stage: &Stage| match stage {
            Stage::Round { first: true, .. } => vec![],
            Stage::Round { .. } => vec![OUTER],
            Stage::Top { .. } => vec![PRODUCT],
            Stage::Compare { .. } | Stage::Subtract { .. } => {
                [ruler.clone(), vec![DIVISOR, PRODUCT]].concat()
            }
            Stage::Down { .. } | Stage::Up { .. } => ruler.clone(),
        };
        let start = Stage::Round { outer: end, first: true };
        let exits = self.explore(start, 1, inspect, |stage, bits| match *stage {
            Stage::Round { outer, first: true } => Act::go(&next, Stage::Top { outer }),
            // The round's own bit lies under the counting head; at its home this was the last.
            Stage::Round { outer: 0, .. } if bits[0] == 1 => Act::exit(0),
            Stage::Round { outer, .. } => Act::go(&next, Stage::Top { outer: outer - bits[0] }),
            Stage::Top { outer } if bits[0] == 1 => Act::go(&down, Stage::Down { left: top, outer }),
            Stage::Top { outer } => Act::go(&down, Stage::Compare { left: top, outer }),
            Stage::Compare { left, outer } => {
                let (mark, bits) = track.mark(bits);
                let home = mark == 1 && left == 0;
                match (bits[0], bits[1]) {
                    (1, 0) => Act::go(&up, Stage::Up { passed: left, outer }),
                    // Equal down to the last bit: it fits, too.
                    _ if home => Act::go(&[], Stage::Subtract { first: true, borrow: 0, passed: 0, outer }),
                    (0, 1) => Act::go(&down, Stage::Down { left: left - mark, outer }),
                    _ => Act::go(&down, Stage::Compare { left: left - mark, outer }),
                }
            }
            Stage::Down { left, outer } => match track.mark(bits).0 {
                1 if left == 0 => Act::go(&[], Stage::Subtract { first: true, borrow: 0, passed: 0, outer }),
                mark => Act::go(&down, Stage::Down { left: left - mark, outer }),
            },
            Stage::Subtract { first, borrow, passed, outer } => {
                let (mark, bits) = track.mark(bits);
                let passed = if first { 0 } else { passed + mark };
                if !first && mark == 1 && track.is_end(passed) {
                    let over = Stage::Round { outer, first: false };
                    return Act::go(&[], over).writing(PRODUCT, 0).writing(QUOTIENT, 1);
                }
                let (value, borrow) = difference(bits[1], bits[0], borrow);
                Act::go(&up, Stage::Subtract { first: false, borrow, passed, outer }).writing(PRODUCT, value)
            }
            Stage::Up { passed, outer } => {
                let mark = track.mark(bits).0;
                if mark == 1 && track.is_end(passed + mark) {
                    return Act::go(&[], Stage::Round { outer, first: false }).writing(QUOTIENT, 0);
                }
                Act::go(&up, Stage::Up { passed: passed + mark, outer })
            }
        });
        self.cur = exits[0];
    }

    /// From the top of the divisor back to the lowest bits, leaving zeros.
    fn clear_remainder(&mut self, track: &Track) {
        let walkers = [DIVISOR, PRODUCT].map(|tape| Walker { tape, from: 0, to: u32::MAX });
        let top = track.end() - 1;
        self.sweep(&track.looked_at(), |state, bits| match state {
            None => Act::go(&track.moves(&walkers, 0, false), Some(top)),
            Some(left) => track.back(&walkers, left, track.mark(bits).0, Some, 0).writing(PRODUCT, 0),
        });
    }
}
