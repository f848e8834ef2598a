//! Assignments of numbers.

use super::{
    BranchEnd, Expr, Generator, Kind, Op, Operand, Pass, Place, Summand, Sym, Tail, Target, is_word, tree,
};

impl Generator<'_> {
    pub(super) fn assign(&mut self, place: &Place, value: &Expr) {
        let width = value.ty().width();
        let taken = self.taken.clone();
        let spot = self.place_spot(place, width);
        // A computed index can be followed only once, by the last of several passes.
        let several = !spot.walks.is_empty() && !is_one_pass(value);
        let copied = several.then(|| self.copied(value, &[]));
        self.compute(copied.as_ref().unwrap_or(value), &Target { spot, width, place: Some(place) });
        self.taken = taken;
    }

    /// Computes a number and writes it to the target.
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
        let (tree, width) = (tree(value), value.ty().width());
        let taken = self.taken.clone();
        let operands = self.resolve(&tree, Some(target));
        let (root, operands, target) = (&tree.sym, &operands, Some(target));
        let exits = self.pass(&Pass { root, operands, target, width, tail });
        self.taken = taken;
        exits
    }

    /// Negates a word in place.
    pub(super) fn negate(&mut self, target: &Target<'_>) {
        let operands = &[Operand { spot: target.spot.clone(), width: target.width }];
        let root = &Sym::new(Kind::Leaf).unary(Kind::Negate);
        let (width, target) = (target.width, Some(target));
        self.pass(&Pass { root, operands, target, width, tail: Tail::Nothing });
    }

    fn absolute(&mut self, e: &Expr, target: &Target<'_>) {
        let exits = self.in_one_pass(e, target, Tail::Fork);
        let other = Some((exits[1], self.pos.clone()));
        self.negate(target);
        let negative = self.branch_end();
        self.join(vec![negative, other]);
    }

    /// Computes a value in one of several branches, and returns the branch's new end.
    fn computed_after(&mut self, branch: BranchEnd, value: &Expr, target: &Target<'_>) -> BranchEnd {
        self.resume(branch);
        self.compute(value, target);
        self.branch_end()
    }

    fn sign(&mut self, e: &Expr, target: &Target<'_>) {
        let ty = e.ty();
        let taken = self.taken.clone();
        let word = self.word(e, &[]);
        let constant = |raw: i64| Expr::Constant { raw: raw << ty.fraction, ty };
        let signs = self.condition(&Expr::binary(Op::Less, word.clone(), constant(0)));
        let negative = self.computed_after(signs.holds, &constant(-1), target);
        self.resume(signs.fails);
        let zeros = self.condition(&Expr::binary(Op::Equal, word, constant(0)));
        self.taken = taken;
        let zero = self.computed_after(zeros.holds, &constant(0), target);
        let positive = self.computed_after(zeros.fails, &constant(1), target);
        self.join(vec![negative, zero, positive]);
    }

    fn choose(&mut self, op: Op, a: &Expr, b: &Expr, target: &Target<'_>) {
        let taken = self.taken.clone();
        let a = self.word(a, &[]);
        let b = self.word(b, &[]);
        let less = self.condition(&Expr::binary(Op::Less, a.clone(), b.clone()));
        let (if_less, if_not) = if op == Op::Min { (a, b) } else { (b, a) };
        let first = self.computed_after(less.fails, &if_not, target);
        let second = self.computed_after(less.holds, &if_less, target);
        self.taken = taken;
        self.join(vec![first, second]);
    }
}

/// Whether the target already holds a number.
fn is_there(value: &Expr, target: &Target<'_>) -> bool {
    matches!(value, Expr::Load(place, _) if target.place == Some(place))
}

/// The product that a value adds to the target, if it does nothing else.
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

/// Whether a single pass writes a value.
fn is_one_pass(value: &Expr) -> bool {
    is_word(value) || !matches!(value, Expr::Binary(Op::Min | Op::Max, ..) | Expr::Abs(_) | Expr::Sign(_))
}
