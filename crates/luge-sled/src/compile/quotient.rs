//! Quotients, by long division of unsigned numbers: the dividend is on `product`, the divisor and the quotient are on tapes
//! of their own.

use super::{
    Act, Affine, Arrow, Expr, Generator, Kind, Op, Operand, Pass, Pos, Routine, Spot, Sym, Tail, Tape,
    Target, Track, Ty, View, Walker, difference,
};

/// The stages of a division. Each round is for one bit of the dividend, and subtracts the divisor if it fits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// Between two rounds.
    Round { first: bool },
    /// At the bit of the dividend above those that are compared.
    Top,
    /// Compares the divisor with the dividend, from the highest bit on.
    Compare { left: u8 },
    /// Moves to the lowest bits, because the divisor fits.
    Down { left: u8 },
    /// Subtracts the divisor.
    Subtract { borrow: u8, passed: Option<u8> },
    /// Moves back up, because the divisor does not fit.
    Up { passed: u8 },
}

const ZERO: Kind = Kind::Uniform { first: 0, rest: 0 };

fn register(tape: Tape, width: u32) -> Target<'static> {
    Target { spot: Spot::new(tape, width, 0), width, place: None }
}

fn divides(expr: &Expr) -> bool {
    expr.has_computed_index() || expr.any(&|e| matches!(e, Expr::Binary(Op::Div, ..)))
}

impl Generator<'_> {
    /// Computes a quotient on its tape.
    pub(super) fn quotient(&mut self, ty: Ty, a: &Expr, b: &Expr) {
        let taken = self.taken.clone();
        self.demand.quotient = true;
        let simple = |generator: &mut Self, e: &Expr| match divides(e) {
            true => generator.copied(e, &[]),
            false => e.clone(),
        };
        let (a, b) = (simple(self, a), simple(self, b));
        self.compute(&b, &register(Tape::Divisor, ty.width()));
        self.compute(&a, &register(Tape::Quotient, ty.width()));
        self.taken = taken;
        self.seek(Tape::Product, 1, &Affine::default());
        self.call(Routine::Quotient(ty));
    }

    /// Branches on whether a register is zero.
    fn is_zero(&mut self, tape: Tape, width: u32) -> [usize; 2] {
        self.register_branch(tape, width, &Sym::new(Kind::Leaf).binary(Sym::new(ZERO), Kind::Equal))
    }

    /// Branches on whether a register is negative.
    fn is_negative(&mut self, tape: Tape, width: u32) -> [usize; 2] {
        self.register_branch(tape, width, &Sym::new(Kind::Leaf))
    }

    fn register_branch(&mut self, tape: Tape, width: u32, root: &Sym) -> [usize; 2] {
        let operands = [Operand { spot: Spot::new(tape, width, 0), width }];
        let exits = self.pass(&Pass { root, operands: &operands, target: None, width, tail: Tail::Branch });
        [exits[0], exits[1]]
    }

    /// Negates a negative register, and then flips the quotient's sign, which is left of the divisor.
    fn make_positive(&mut self, tape: Tape, width: u32) {
        let [negative, other] = self.is_negative(tape, width);
        let joined = self.new_node();
        self.graph.arrow(other, Arrow::to(joined));
        self.cur = negative;
        self.negate(&register(tape, width));
        self.single_step(&[(Tape::Divisor, -1)], None);
        let [zero, one] = self.branch(Tape::Divisor);
        for (node, bit) in [(zero, 1), (one, 0)] {
            let arrow = self.moving(Arrow::to(joined).write(Tape::Divisor, bit), &[(Tape::Divisor, 1)]);
            self.graph.arrow(node, arrow);
        }
        self.cur = joined;
    }

    pub(super) fn quotient_body(&mut self, ty: Ty) {
        let width = ty.width();
        let end = self.new_node();
        let [zero, other] = self.is_zero(Tape::Divisor, width);
        self.cur = zero;
        let (root, target) = (&Sym::new(ZERO), Some(&register(Tape::Quotient, width)));
        self.pass(&Pass { root, operands: &[], target, width, tail: Tail::Nothing });
        self.jump(end);
        self.cur = other;
        self.single_step(&[(Tape::Divisor, -1)], None);
        self.single_step(&[(Tape::Divisor, 1)], Some((Tape::Divisor, 0)));
        self.make_positive(Tape::Divisor, width);
        self.make_positive(Tape::Quotient, width);
        self.divide(ty);
        self.single_step(&[(Tape::Divisor, -1)], None);
        let [positive, negative] = self.branch(Tape::Divisor);
        let arrow = self.moving(Arrow::to(end), &[(Tape::Divisor, 1)]);
        self.graph.arrow(positive, arrow);
        self.cur = negative;
        self.single_step(&[(Tape::Divisor, 1)], None);
        self.negate(&register(Tape::Quotient, width));
        self.jump(end);
        self.cur = end;
    }

    /// Divides unsigned numbers.
    fn divide(&mut self, ty: Ty) {
        let width = ty.width();
        let length = width + ty.fraction;
        // There are as many zeros below the dividend as there are bits after the point. Above it the tape is blank.
        self.walk(Tape::Product, 1, ty.fraction, None);
        self.lift_dividend(width);
        let (direction, end) = self.outer_track(length);
        for _ in 0..=end {
            self.single_step(&[(Tape::Quotient, 1), (Tape::Outer, direction)], None);
            self.until(Tape::Outer, &[1], &[(Tape::Quotient, 1), (Tape::Outer, direction)]);
        }
        let track = self.track(vec![width], false);
        let up = track.moves(&[Tape::Divisor, Tape::Product].map(Walker::whole), 0, true);
        self.sweep_out(&track, |passed| Act::go(&up, Some(passed)));
        self.rounds(&track, end, direction);
        self.clear_remainder(&track);
        self.place_rulers(&Pos::default());
    }

    /// Copies the dividend from `quotient` to `product`. The head of `product` stays above it.
    fn lift_dividend(&mut self, width: u32) {
        self.settle();
        let track = self.track(vec![width], false);
        let walkers = [Tape::Quotient, Tape::Product].map(Walker::whole);
        let up = track.moves(&walkers, 0, true);
        let back = track.moves(&walkers[..1], 0, false);
        // The marks passed, or those left on the way back.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        enum Way {
            First,
            Out(u8),
            Back(u8),
        }
        let copy = |passed: u8, view: &mut View| {
            Act::go(&up, Way::Out(passed)).writing(Tape::Product, view.read(Tape::Quotient))
        };
        let exits = self.explore(Way::First, 1, |way, view| match *way {
            Way::First => copy(0, view),
            Way::Out(passed) => match track.advance(passed, view) {
                Some(passed) => copy(passed, view),
                None => Act::go(&back, Way::Back(passed)),
            },
            Way::Back(left) => track.back(&walkers[..1], left, view, Way::Back, 0),
        });
        self.cur = exits[0];
    }

    fn rounds(&mut self, track: &Track, end: u8, direction: i8) {
        let next = [(Tape::Quotient, -1), (Tape::Product, -1), (Tape::Outer, -direction)];
        let walkers = [Tape::Divisor, Tape::Product].map(Walker::whole);
        let (up, down) = (track.moves(&walkers, 0, true), track.moves(&walkers, 0, false));
        let top = track.n_marks() - 1;
        let start = (Stage::Round { first: true }, end);
        let subtract = Stage::Subtract { borrow: 0, passed: None };
        let exits = self.explore(start, 1, |&(stage, outer), view| {
            let go = |moves: &[(Tape, i8)], stage| Act::go(moves, (stage, outer));
            match stage {
                Stage::Round { first: true } => go(&next, Stage::Top),
                // At home the last round is over.
                Stage::Round { .. } => match view.read(Tape::Outer) {
                    1 if outer == 0 => Act::exit(0),
                    mark => Act::go(&next, (Stage::Top, outer - mark)),
                },
                Stage::Top if view.read(Tape::Product) == 1 => go(&down, Stage::Down { left: top }),
                Stage::Top => go(&down, Stage::Compare { left: top }),
                Stage::Compare { left } => {
                    let mark = track.mark(view);
                    match [Tape::Divisor, Tape::Product].map(|tape| view.read(tape)) {
                        [1, 0] => go(&up, Stage::Up { passed: left }),
                        // All bits are equal: the divisor fits.
                        _ if mark == 1 && left == 0 => go(&[], subtract),
                        [0, 1] => go(&down, Stage::Down { left: left - mark }),
                        _ => go(&down, Stage::Compare { left: left - mark }),
                    }
                }
                Stage::Down { left } => match track.mark(view) {
                    1 if left == 0 => go(&[], subtract),
                    mark => go(&down, Stage::Down { left: left - mark }),
                },
                Stage::Subtract { borrow, passed } => {
                    let Some(passed) = passed.map_or(Some(0), |passed| track.advance(passed, view)) else {
                        let over = go(&[], Stage::Round { first: false });
                        return over.writing(Tape::Product, 0).writing(Tape::Quotient, 1);
                    };
                    let [divisor, rest] = [Tape::Divisor, Tape::Product].map(|tape| view.read(tape));
                    let (value, borrow) = difference(rest, divisor, borrow);
                    let next = Stage::Subtract { borrow, passed: Some(passed) };
                    go(&up, next).writing(Tape::Product, value)
                }
                Stage::Up { passed } => match track.advance(passed, view) {
                    Some(passed) => go(&up, Stage::Up { passed }),
                    None => go(&[], Stage::Round { first: false }).writing(Tape::Quotient, 0),
                },
            }
        });
        self.cur = exits[0];
    }

    /// Moves back from the top of the divisor to the lowest bits, and clears the remainder.
    fn clear_remainder(&mut self, track: &Track) {
        let walkers = [Tape::Divisor, Tape::Product].map(Walker::whole);
        let top = track.n_marks() - 1;
        self.sweep(|state, view| match state {
            None => Act::go(&track.moves(&walkers, 0, false), Some(top)),
            Some(left) => track.back(&walkers, left, view, Some, 0).writing(Tape::Product, 0),
        });
    }
}
