//! Products. The multiplier's bits are recoded as digits 0, 1 and -1, so that runs of ones cost little. For each digit
//! that is not 0 the multiplicand is added or subtracted, one cell further up each time ([`digits`]).
//!
//! The bits above the point are added to the variable that gets the product, or to zeros on `product` if the product is
//! part of a larger expression. The bits below the point are always on `product`, left of cell 0. The head of `product`
//! stays where a product begins; cells below that may hold anything.
//!
//! Products and quotients need many states, so they are routines, compiled once and called. A call writes its number on
//! `product`, to the left of its start cell. At the end of the routine the number selects the call to which to return.

mod digits;

use std::cmp::Reverse;

use super::{Act, Affine, Arrow, Expr, Generator, Node, Op, Operand, Pos, Spot, Tape, Target, Ty, is_word};

/// An estimate of how often a product moves along its ruler.
const WALKS: u64 = 8;

/// A number that is multiplied, or to which a product is added.
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

/// A product that is added to a target.
pub(super) struct Summand<'e> {
    pub(super) op: Op,
    pub(super) factors: [&'e Expr; 2],
    pub(super) minus: bool,
}

/// A part of the machine that is compiled once for all its calls.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Routine {
    Product(Product),
    Quotient(Ty),
}

impl Generator<'_> {
    /// Computes a product on its tape, from cell 0 on.
    pub(super) fn product(&mut self, op: Op, a: &Expr, b: &Expr, width: u32) {
        let summand = Summand { op, factors: [a, b], minus: false };
        self.multiply(&summand, Factor { tape: Tape::Product, width, steps_on: false }, None);
        self.seek(Tape::Product, 1, &Affine::default());
    }

    /// Adds a product to a number, or subtracts it.
    pub(super) fn accumulate(&mut self, summand: &Summand<'_>, target: &Target<'_>) {
        let sum = Factor { tape: target.spot.tape, width: target.width, steps_on: false };
        self.multiply(summand, sum, Some(target.spot.clone()));
    }

    fn multiply(&mut self, summand: &Summand<'_>, mut sum: Factor, place: Option<Spot>) {
        let [a, b] = summand.factors;
        let mut fraction = a.ty().fraction;
        let taken = self.taken.clone();
        let (mut a, mut b) = (narrowed(a, &mut fraction), narrowed(b, &mut fraction));
        let mut first = self.factor(&mut a, &[sum.tape]);
        let mut second = self.factor(&mut b, &[sum.tape]);
        if first.spot.tape == second.spot.tape {
            a = self.copied(&a, &[sum.tape, second.spot.tape]);
            first = self.operand(&a, None);
        }
        if self.rank(&b, &second) > self.rank(&a, &first) {
            std::mem::swap(&mut first, &mut second);
        }
        // Other heads can step to the next element while the multiplier's bits are counted back.
        let width = first.width;
        let factor = |factor: &Operand| {
            let tape = factor.spot.tape;
            let steps_on = factor.width == width && self.is_element(factor) && self.may_step_on(tape);
            Factor { tape, width: factor.width, steps_on }
        };
        let [multiplier, multiplicand] = [&first, &second].map(factor);
        if let Some(spot) = &place {
            sum = factor(&Operand { spot: spot.clone(), width: sum.width });
        }
        let rounded = summand.op == Op::MulRound && fraction > 0;
        self.demand.product = true;
        // Products pay most for foreign marks on their ruler.
        let weight = WALKS * self.weight();
        *self.demand.profiles.entry(vec![multiplicand.width - 1]).or_default() += weight;
        self.demand.rounds |= rounded;
        self.demand.fractions.insert(fraction);
        self.demand.heights.insert(sum.width);
        self.seek(Tape::Product, 1, &Affine::constant(-i64::from(fraction)));
        let places: Vec<Spot> = [first.spot, second.spot].into_iter().chain(place).collect();
        self.approach_all(&places);
        if self.plan.needs.rounds && !rounded && fraction > 0 {
            self.walk(Tape::Product, 1, fraction - 1, None);
            self.single_step(&[], Some((Tape::Product, 0)));
            self.walk(Tape::Product, -1, fraction - 1, None);
        }
        let minus = summand.minus;
        let product = Product { multiplier, multiplicand, fraction, rounded, sum, minus };
        self.call(Routine::Product(product));
        for factor in [multiplier, multiplicand, sum].iter().filter(|factor| factor.steps_on) {
            self.step_on(factor.tape);
            self.pos.stepped.insert(factor.tape, (self.line, self.loops.len()));
        }
        self.taken = taken;
    }

    /// The operand of a factor, copied if its tape is one of these.
    fn factor(&mut self, expr: &mut Expr, avoid: &[Tape]) -> Operand {
        *expr = self.word(expr, avoid);
        debug_assert!(is_word(expr));
        let operand = self.operand(expr, None);
        if !avoid.contains(&operand.spot.tape) {
            return operand;
        }
        *expr = self.copied(expr, avoid);
        self.operand(expr, None)
    }

    /// How well a factor suits as the multiplier. The best are constants with few digits, then elements, because the
    /// multiplier's head ends on the next element anyway, then narrow numbers. The tape breaks ties, so that calls share routines.
    fn rank(&self, expr: &Expr, operand: &Operand) -> impl Ord + use<> {
        let is_easy = matches!(expr, Expr::Constant { raw, .. } if 4 * n_digits(*raw) < operand.width);
        let (tape, is_element) = (operand.spot.tape, self.is_element(operand));
        let order = if is_element { (Some(tape), None) } else { (None, Some(Reverse(tape))) };
        (is_easy, tape == Tape::Data, is_element, u32::MAX - operand.width, order)
    }

    /// Whether an operand is an element from which its head can step to the next one.
    fn is_element(&self, Operand { spot, width }: &Operand) -> bool {
        spot.walks.is_empty() && self.has_elements(spot.tape) && spot.pitch == *width
    }

    /// Moves the head of `product` between cell 0 and the cells where products begin. On the way down it writes the initial bits
    /// of products: 0, or 1 right below the point if they are rounded.
    pub(super) fn seek_product(&mut self, from: i64, to: i64) {
        let direction = if from < to { 1 } else { -1 };
        let (low, high) = (from.min(to), from.max(to));
        let n_marks = self.plan.marks_between(low, high);
        for number in 0..n_marks {
            self.single_step(&[(Tape::Product, direction)], None);
            let head = self.here();
            let edge = direction < 0 && number == 0 && from == 0;
            let again = if edge { self.new_node() } else { head };
            let next = self.new_node();
            for (node, value) in [(head, u8::from(edge && self.plan.needs.rounds)), (again, 0)] {
                let mut arrow = Arrow::to(again).read(Tape::Bound, 0);
                if direction < 0 {
                    arrow = arrow.write(Tape::Product, value);
                }
                let arrow = self.moving(arrow, &[(Tape::Product, direction)]);
                self.graph.arrow(node, arrow);
                let last = number + 1 == n_marks;
                let mut found = Arrow::to(next).read(Tape::Bound, 1);
                if direction < 0 && !last {
                    found = found.write(Tape::Product, value);
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
        // Moves all heads back to the lowest bits, or on to those of the next element.
        let Product { multiplier, multiplicand, sum, fraction, .. } = product;
        let outer = self.outer_track(multiplier.width);
        let point = self.plan.point(fraction);
        let rounds = u8::from(self.plan.needs.rounds);
        let back = |zone: u8| {
            let mut back = vec![(Tape::Outer, -outer.0), (Tape::Product, -1)];
            back.extend((!multiplier.steps_on).then_some((multiplier.tape, -1)));
            back.extend(multiplicand.steps_on.then_some((multiplicand.tape, 1)));
            // The sum's head moved only above the point. It goes back there, or makes up for the missing steps below.
            match (sum.steps_on, zone < point) {
                (true, true) => back.push((sum.tape, 1)),
                (false, false) if sum.tape != Tape::Product => back.push((sum.tape, -1)),
                _ => {}
            }
            back
        };
        let before = self.plan.zones(fraction, multiplier.width - fraction - 1);
        // Marks left, the zone, and whether the cell is the highest below the point.
        self.cur = self.explore(None, 1, |state, view| {
            let Some((left, zone, edge)) = *state else {
                return Act::go(&back(before), Some((outer.1, before, false)));
            };
            let mark = view.read(Tape::Outer);
            let next = if zone == 0 { 0 } else { zone - view.read(Tape::Bound) };
            if left == 0 && mark == 1 {
                return Act::exit(0);
            }
            let is_below = zone < point;
            let act = Act::go(&back(next), Some((left - mark, next, next < point && !is_below)));
            if is_below { act.writing(Tape::Product, if edge { rounds } else { 0 }) } else { act }
        })[0];
    }

    /// The direction in which `rounds` rounds are counted on `outer`, and the number of marks before their end.
    pub(super) fn outer_track(&mut self, rounds: u32) -> (i8, u8) {
        *self.demand.outer.entry(vec![rounds]).or_default() += 1;
        let side = self.plan.outer.find(&[rounds], |_| Tape::Outer);
        let before = side.marks.iter().filter(|&&mark| mark < rounds).count();
        (side.direction, u8::try_from(before).unwrap_or(u8::MAX))
    }

    /// Computes a product or a quotient on its own tape.
    pub(super) fn product_or_quotient(&mut self, expr: &Expr) -> Operand {
        let (ty, width) = (expr.ty(), expr.ty().width());
        let spot = match expr {
            Expr::Binary(Op::Div, a, b) => {
                self.quotient(ty, a, b);
                Spot::new(Tape::Quotient, width, 0)
            }
            Expr::Binary(op, a, b) => {
                self.product(*op, a, b, width);
                Spot::new(Tape::Product, 1, 0)
            }
            other => unreachable!("a product or a quotient, not another {}", other.ty()),
        };
        Operand { spot, width }
    }

    /// Calls a routine, and continues where it returns.
    pub(super) fn call(&mut self, routine: Routine) {
        self.place_rulers(&Pos::default());
        let from = self.here();
        let after = self.new_node();
        if !self.dead {
            self.routines.entry(routine).or_default().push((from, after));
        }
        self.cur = after;
    }

    pub(super) fn routine_bodies(&mut self) {
        // Routines do not call routines.
        for (routine, calls) in std::mem::take(&mut self.routines) {
            // The states belong to the line of the only call, or to no line if there are several calls.
            self.line = match calls[..] {
                [(from, _)] => self.graph.entries[from].line,
                _ => 0,
            };
            let entry = self.new_node();
            self.resume(Some((entry, Pos::default())));
            match routine {
                Routine::Product(product) => self.product_body(product),
                Routine::Quotient(ty) => self.quotient_body(ty),
            }
            self.link(entry, &calls);
        }
    }

    /// Connects a routine, which ends in the current state, to its calls.
    fn link(&mut self, entry: Node, calls: &[(Node, Node)]) {
        self.place_rulers(&Pos::default());
        let end = self.here();
        if let [(from, after)] = calls {
            self.graph.arrow(*from, Arrow::to(entry));
            self.graph.arrow(end, Arrow::to(*after));
            return;
        }
        let n_bits = usize::BITS - (calls.len() - 1).leading_zeros();
        for (number, &(from, _)) in calls.iter().enumerate() {
            self.line = self.graph.entries[from].line;
            self.cur = from;
            self.single_step(&[(Tape::Product, -1)], None);
            for bit in 0..n_bits {
                let value = u8::from(number >> bit & 1 == 1);
                let last = bit + 1 == n_bits;
                self.single_step(&[(Tape::Product, if last { 1 } else { -1 })], Some((Tape::Product, value)));
            }
            for _ in 1..n_bits {
                self.single_step(&[(Tape::Product, 1)], None);
            }
            self.jump(entry);
        }
        self.line = 0;
        self.cur = end;
        for _ in 0..n_bits {
            self.single_step(&[(Tape::Product, -1)], None);
        }
        self.dispatch(n_bits, 0, calls);
    }

    /// Reads the number of a call, highest bit first, and returns to it.
    fn dispatch(&mut self, n_bits: u32, known: usize, calls: &[(Node, Node)]) {
        let from = self.here();
        for bit in 0..2 {
            let number = known | bit << (n_bits - 1);
            if number >= calls.len() {
                continue;
            }
            let next = if n_bits == 1 { calls[number].1 } else { self.new_node() };
            let arrow = Arrow::to(next).read(Tape::Product, u8::from(bit == 1)).write(Tape::Product, 0);
            let arrow = self.moving(arrow, &[(Tape::Product, 1)]);
            self.graph.arrow(from, arrow);
            if n_bits > 1 {
                self.cur = next;
                self.dispatch(n_bits - 1, number, calls);
            }
        }
    }
}

/// The number of digits of a number that are not 0.
fn n_digits(number: i64) -> u32 {
    let number = i128::from(number);
    ((3 * number) ^ number).count_ones()
}

/// A factor without a conversion that only extends its sign or appends zeros. The product then has fewer fraction bits.
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
