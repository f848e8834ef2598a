//! Assignments of numbers.

use super::{
    Generator,
    bit_serial::{At, Operand, Pass, Root, Sym, Tail},
    operands::{Target, is_word, tree},
    position::WayEnd,
    product::Summand,
};
use crate::core::{Expr, Op, Place};

impl Generator<'_> {
    pub(super) fn assign(&mut self, place: &Place, value: &Expr) {
        let width = value.ty().width();
        let mut temporaries = Vec::new();
        let spot = self.place_spot(place, width, &mut temporaries);
        if !spot.walks.is_empty() && !is_one_pass(value) {
            // What takes several passes cannot find a computed place again.
            let word = self.copied(value, &[], &mut temporaries);
            self.compute(&word, &Target { spot, width, place: Some(place) });
        } else {
            self.compute(value, &Target { spot, width, place: Some(place) });
        }
        self.free(&temporaries);
    }

    /// Computes a number where it is wanted.
    pub(super) fn compute(&mut self, value: &Expr, target: &Target<'_>) {
        if let Some(summand) = summand(value, target) {
            return self.accumulate(&summand, target);
        }
        let zero = |e: &Expr| matches!(e, Expr::Constant { raw: 0, .. });
        match value {
            Expr::Binary(Op::Max, a, b) if zero(b) => drop(self.in_one_pass(a, target, Tail::Relu)),
            Expr::Binary(Op::Max, a, b) if zero(a) => drop(self.in_one_pass(b, target, Tail::Relu)),
            Expr::Binary(op @ (Op::Min | Op::Max), a, b) => self.choose(*op, a, b, target),
            Expr::Clamp(e, _) => drop(self.in_one_pass(e, target, Tail::Clamp)),
            Expr::Abs(e) => self.absolute(e, target),
            Expr::Sign(e) => self.sign(e, target),
            value => {
                if !is_there(value, target) {
                    self.in_one_pass(value, target, Tail::Nothing);
                }
            }
        }
    }

    fn in_one_pass(&mut self, value: &Expr, target: &Target<'_>, tail: Tail) -> Vec<usize> {
        let resolved = self.resolve(&[tree(value)], Some(target));
        let exits = self.pass(&Pass {
            root: &resolved.root,
            operands: &resolved.operands,
            target: Some((&target.spot, target.width)),
            width: value.ty().width(),
            tail,
        });
        self.free(&resolved.temporaries);
        exits
    }

    /// Negates a word where it is.
    pub(super) fn negate(&mut self, target: &Target<'_>) {
        let operands = [Operand { at: At::Memory(target.spot.clone()), width: target.width }];
        let root = Root::Value(Sym::Negate(Box::new(Sym::Leaf(0))));
        let (width, target) = (target.width, Some((&target.spot, target.width)));
        self.pass(&Pass { root: &root, operands: &operands, target, width, tail: Tail::Nothing });
    }

    fn absolute(&mut self, e: &Expr, target: &Target<'_>) {
        let exits = self.in_one_pass(e, target, Tail::Fork);
        let other = Some((exits[1], self.pos.clone()));
        self.negate(target);
        let negative = self.way_end();
        self.join(vec![negative, other]);
    }

    /// Computes a value on one of several ways, and says where the way ends.
    fn computed_after(&mut self, way: WayEnd, value: &Expr, target: &Target<'_>) -> WayEnd {
        self.resume(way);
        self.compute(value, target);
        self.way_end()
    }

    fn sign(&mut self, e: &Expr, target: &Target<'_>) {
        let ty = e.ty();
        let mut temporaries = Vec::new();
        let word = self.word(e, &[], &mut temporaries);
        let constant = |raw: i64| Expr::Constant { raw: raw << ty.fraction, ty };
        let signs = self.condition(&Expr::binary(Op::Less, word.clone(), constant(0)));
        let negative = self.computed_after(signs.holds, &constant(-1), target);
        self.resume(signs.fails);
        let zeros = self.condition(&Expr::binary(Op::Equal, word, constant(0)));
        self.free(&temporaries);
        let zero = self.computed_after(zeros.holds, &constant(0), target);
        let positive = self.computed_after(zeros.fails, &constant(1), target);
        self.join(vec![negative, zero, positive]);
    }

    fn choose(&mut self, op: Op, a: &Expr, b: &Expr, target: &Target<'_>) {
        let mut temporaries = Vec::new();
        let a = self.word(a, &[], &mut temporaries);
        let b = self.word(b, &[], &mut temporaries);
        let less = self.condition(&Expr::binary(Op::Less, a.clone(), b.clone()));
        let (if_less, if_not) = if op == Op::Min { (a, b) } else { (b, a) };
        let first = self.computed_after(less.fails, &if_not, target);
        let second = self.computed_after(less.holds, &if_less, target);
        self.free(&temporaries);
        self.join(vec![first, second]);
    }
}

/// Whether a number is where it is wanted already.
fn is_there(value: &Expr, target: &Target<'_>) -> bool {
    match (value, target.place) {
        (Expr::Variable { slot, .. }, Some(Place::Slot(other))) => slot == other,
        (Expr::Element { array, index, .. }, Some(Place::Element(other, at))) => {
            array == other && index == at
        }
        _ => false,
    }
}

/// The product that is added to what is at the target, if that is all that happens to it.
fn summand<'e>(value: &'e Expr, target: &Target<'_>) -> Option<Summand<'e>> {
    let Expr::Binary(add @ (Op::Add | Op::Sub), a, b) = value else { return None };
    let product = |old: &Expr, product: &'e Expr| match product {
        Expr::Binary(op @ (Op::Mul | Op::MulRound), a, b) if is_there(old, target) => {
            Some(Summand { op: *op, factors: [a, b], minus: *add == Op::Sub })
        }
        _ => None,
    };
    let summand = product(a, b);
    let summand = summand.or_else(|| if *add == Op::Add { product(b, a) } else { None });
    summand.filter(|_| target.spot.walks.is_empty() && target.width == value.ty().width())
}

/// Whether a value is written once, in a single pass.
fn is_one_pass(value: &Expr) -> bool {
    is_word(value) || !matches!(value, Expr::Binary(Op::Min | Op::Max, ..) | Expr::Abs(_) | Expr::Sign(_))
}
