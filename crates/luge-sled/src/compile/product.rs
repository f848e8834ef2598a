//! Products. The multiplier's bits are recoded so that runs of ones cost little, and for each digit that is not zero
//! the multiplicand is added or subtracted, one cell further up each time ([`digits`]).
//!
//! What is above the point is added where it is wanted: to a variable, or to zeros on `product` if the product is part
//! of a larger expression. What is below the point is always on `product`, left of cell 0. Its head stays where a product
//! begins; cells below it may hold anything.

mod digits;

use super::{
    Generator,
    automaton::Act,
    bit_serial::{At, Operand},
    graph::Arrow,
    operands::{Target, is_word},
    routines::Routine,
    tapes::{BOUND, DATA, OUTER, PRODUCT, Tape},
};
use crate::core::{Affine, Expr, Op};

/// How often a product goes along its ruler, about.
const WALKS: u64 = 8;

/// A number that is multiplied, or the one a product is added to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Factor {
    tape: Tape,
    width: u32,
    /// Whether its head ends on the next element of an array, not where it began.
    steps_on: bool,
}

/// A product of numbers on two tapes that is added to one on a third.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Product {
    multiplier: Factor,
    multiplicand: Factor,
    /// Bits of the product that are below the point of the sum.
    fraction: u32,
    rounded: bool,
    sum: Factor,
    /// Whether it is subtracted instead.
    minus: bool,
}

/// A product to be added to what is at a target.
pub(super) struct Summand<'e> {
    pub(super) op: Op,
    pub(super) factors: [&'e Expr; 2],
    pub(super) minus: bool,
}

impl Generator<'_> {
    /// Leaves a product on its tape, from cell 0 on.
    pub(super) fn product(&mut self, op: Op, a: &Expr, b: &Expr, width: u32) {
        let summand = Summand { op, factors: [a, b], minus: false };
        self.multiply(&summand, Factor { tape: PRODUCT, width, steps_on: false }, None);
        self.seek(PRODUCT, 1, &Affine::default());
    }

    /// Adds a product to a number, or subtracts it.
    pub(super) fn accumulate(&mut self, summand: &Summand<'_>, target: &Target<'_>) {
        let place = At::Memory(target.spot.clone());
        let sum = Factor { tape: target.spot.tape, width: target.width, steps_on: false };
        self.multiply(summand, sum, Some(place));
    }

    fn multiply(&mut self, summand: &Summand<'_>, mut sum: Factor, place: Option<At>) {
        let [a, b] = summand.factors;
        let mut fraction = a.ty().fraction;
        let mut temporaries = Vec::new();
        let (mut a, mut b) = (narrowed(a, &mut fraction), narrowed(b, &mut fraction));
        let mut first = self.factor(&mut a, &[sum.tape], &mut temporaries);
        let mut second = self.factor(&mut b, &[sum.tape], &mut temporaries);
        if first.at.tape() == second.at.tape() {
            a = self.copied(&a, &[sum.tape, second.at.tape()], &mut temporaries);
            first = self.operand(&a, None, &mut temporaries);
        }
        if self.rank(&b, &second) > self.rank(&a, &first) {
            std::mem::swap(&mut first, &mut second);
        }
        // The heads of the others step on while the multiplier's bits are counted back.
        let width = first.width;
        let factor = |factor: &Operand| {
            let steps_on =
                factor.width == width && self.is_element(factor) && self.may_step_on(factor.at.tape());
            Factor { tape: factor.at.tape(), width: factor.width, steps_on }
        };
        let [multiplier, multiplicand] = [&first, &second].map(factor);
        if let Some(at) = &place {
            sum = factor(&Operand { at: at.clone(), width: sum.width });
        }
        let rounded = summand.op == Op::MulRound && fraction > 0;
        self.demand.product = true;
        // Marks of others in the way would cost most here.
        let weight = WALKS * self.weight();
        *self.demand.profiles.entry(vec![multiplicand.width - 1]).or_default() += weight;
        self.demand.rounds |= rounded;
        self.demand.fractions.insert(fraction);
        self.demand.heights.insert(sum.width);
        self.seek(PRODUCT, 1, &Affine::constant(-i64::from(fraction)));
        let places: Vec<At> = [first.at, second.at].into_iter().chain(place).collect();
        self.approach_all(&places);
        if self.plan.rounds && !rounded && fraction > 0 {
            self.walk(PRODUCT, 1, fraction - 1, None);
            self.single_step(&[], Some((PRODUCT, 0)));
            self.walk(PRODUCT, -1, fraction - 1, None);
        }
        let minus = summand.minus;
        let product = Product { multiplier, multiplicand, fraction, rounded, sum, minus };
        self.call(Routine::Product(product));
        for factor in [multiplier, multiplicand, sum].iter().filter(|factor| factor.steps_on) {
            self.step_on(factor.tape);
            self.pos.note_step(factor.tape, (self.line, self.loops.len()));
        }
        self.free(&temporaries);
    }

    /// Where a factor is: not on these tapes.
    fn factor(&mut self, expr: &mut Expr, avoid: &[Tape], temporaries: &mut Vec<usize>) -> Operand {
        *expr = self.word(expr, avoid, temporaries);
        debug_assert!(is_word(expr));
        let operand = self.operand(expr, None, temporaries);
        if !avoid.contains(&operand.at.tape()) {
            return operand;
        }
        *expr = self.copied(expr, avoid, temporaries);
        self.operand(expr, None, temporaries)
    }

    /// The larger, the better as a multiplier: constants with few digits, then elements, because the multiplier's head moves
    /// on by itself, then narrow numbers. The tape decides last, so that more calls share a routine.
    fn rank(&self, expr: &Expr, operand: &Operand) -> (bool, bool, bool, u32, Tape) {
        let is_easy = matches!(expr, Expr::Constant { raw, .. } if 4 * n_digits(*raw) < operand.width);
        let (tape, is_element) = (operand.at.tape(), self.is_element(operand));
        let order = if is_element { tape } else { Tape::MAX - tape };
        (is_easy, tape == DATA, is_element, u32::MAX - operand.width, order)
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

    /// Moves the head of `product` between its cell 0 and places where products begin. On the way down all bits that products
    /// start with are put: 0, and if they are rounded 1 next to the point.
    pub(super) fn seek_product(&mut self, from: i64, to: i64) {
        let direction = if from < to { 1 } else { -1 };
        let (low, high) = (from.min(to), from.max(to));
        let n_marks = self.plan.marks_between(low, high);
        for number in 0..n_marks {
            self.single_step(&[(PRODUCT, direction)], None);
            let head = self.here();
            let edge = direction < 0 && number == 0 && from == 0;
            let again = if edge { self.new_node() } else { head };
            let next = self.new_node();
            for (node, value) in [(head, u8::from(edge && self.plan.rounds)), (again, 0)] {
                let mut arrow = Arrow::to(again).read(BOUND, 0);
                if direction < 0 {
                    arrow = arrow.write(PRODUCT, value);
                }
                let arrow = self.moving(arrow, &[(PRODUCT, direction)]);
                self.graph.arrow(node, arrow);
                let last = number + 1 == n_marks;
                let mut found = Arrow::to(next).read(BOUND, 1);
                if direction < 0 && !last {
                    found = found.write(PRODUCT, value);
                }
                self.graph.arrow(node, found);
                if again == head {
                    break;
                }
            }
            self.cur = next;
        }
    }

    pub(super) fn product_body(&mut self, product: Product) {
        self.add_up(&product);
        // All heads back to the lowest bits, or on to those of the next element.
        let Product { multiplier, multiplicand, sum, fraction, .. } = product;
        let outer = self.outer_track(multiplier.width);
        let point = self.plan.point(fraction);
        let rounds = u8::from(self.plan.rounds);
        let back = |zone: u8| {
            let mut back = vec![(OUTER, -outer.0), (PRODUCT, -1)];
            back.extend((!multiplier.steps_on).then_some((multiplier.tape, -1)));
            back.extend(multiplicand.steps_on.then_some((multiplicand.tape, 1)));
            // It is as far above its point as the multiplier's bits reach, so as many are missing as are below.
            match (sum.steps_on, zone < point) {
                (true, true) => back.push((sum.tape, 1)),
                (false, false) if sum.tape != PRODUCT => back.push((sum.tape, -1)),
                _ => {}
            }
            back
        };
        let before = self.plan.zones(fraction, multiplier.width - fraction - 1);
        // Marks left, the zone, and whether the cell is the highest below the point.
        let inspect = |state: &Option<(u8, u8, bool)>| match state {
            None => Vec::new(),
            Some((_, 0, _)) => vec![OUTER],
            Some(_) => vec![OUTER, BOUND],
        };
        self.cur = self.explore(None, 1, inspect, |state, bits| {
            let Some((left, zone, edge)) = *state else {
                return Act::go(&back(before), Some((outer.1, before, false)));
            };
            if left == 0 && bits[0] == 1 {
                return Act::exit(0);
            }
            let is_below = zone < point;
            let next = if zone == 0 { 0 } else { zone - bits[1] };
            let act = Act::go(&back(next), Some((left - bits[0], next, next < point && !is_below)));
            if is_below { act.writing(PRODUCT, if edge { rounds } else { 0 }) } else { act }
        })[0];
    }

    /// Which way rounds are counted, and marks in front of where so many end.
    pub(super) fn outer_track(&mut self, rounds: u32) -> (i8, u8) {
        *self.demand.outer.entry(vec![rounds]).or_default() += 1;
        let side = self.plan.outer(rounds);
        let before = side.marks.iter().filter(|&&mark| mark < rounds).count();
        (side.direction, u8::try_from(before).unwrap_or(u8::MAX))
    }
}

/// How many digits of a number are not zero.
fn n_digits(number: i64) -> u32 {
    let number = i128::from(number);
    ((3 * number) ^ number).count_ones()
}

/// A factor without a conversion that only repeats its sign or adds zeros below, which the product's fraction then lacks.
fn narrowed(expr: &Expr, fraction: &mut u32) -> Expr {
    if let Expr::Cast(inner, to) = expr {
        let from = inner.ty();
        if from.integer <= to.integer && from.fraction <= to.fraction {
            let zeros = to.fraction - from.fraction;
            if zeros <= *fraction {
                *fraction -= zeros;
                return narrowed(inner, fraction);
            }
        }
    }
    expr.clone()
}
