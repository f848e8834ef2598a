//! Numbers. Expressions are split into bit-serial passes: what fits into one pass stays a tree, and the rest is first
//! computed into temporaries.

use super::{
    BranchEnd, Computed, Expr, Generator, Index, Kind, Object, Op, Operand, Pass, Place, Slot, Spot, Store,
    Summand, Sym, Tail, Tape, Walk,
};

/// An expression that one pass computes from its leaves, which are in the order of `sym`.
pub(super) struct Tree<'e> {
    pub(super) sym: Sym,
    leaves: Vec<Leaf<'e>>,
}

struct Leaf<'e> {
    expr: &'e Expr,
    /// Whether the expression is not stored and must be computed first.
    hard: bool,
}

/// The most parts of one pass that remember something. Each doubles the states.
const MAX_CARRIES: usize = 2;

/// The most leaves of one pass. Each doubles the symbols that the states read.
const MAX_LEAVES: usize = 3;

impl<'e> Tree<'e> {
    fn leaf(expr: &'e Expr, hard: bool) -> Self {
        Self { sym: Sym::new(Kind::Leaf), leaves: vec![Leaf { expr, hard }] }
    }

    fn unary(self, operator: Kind) -> Self {
        Self { sym: self.sym.unary(operator), ..self }
    }

    fn binary(mut self, other: Self, operator: Kind) -> Self {
        self.leaves.extend(other.leaves);
        Self { sym: self.sym.binary(other.sym, operator), ..self }
    }

    fn shifted(self, by: i64) -> Self {
        Self { sym: self.sym.shifted(by), ..self }
    }

    /// The number of parts that remember something, and of leaves.
    fn cost(&self) -> (usize, usize) {
        (self.sym.n_carries(), self.leaves.len())
    }

    /// Whether one pass can compute both and an operator with `own` carries.
    fn fits(&self, other: &Self, own: usize) -> bool {
        let (a, b) = (self.cost(), other.cost());
        a.0 + b.0 + own <= MAX_CARRIES && a.1 + b.1 <= MAX_LEAVES
    }
}

/// Whether a number is stored somewhere.
pub(super) fn is_word(expr: &Expr) -> bool {
    matches!(expr, Expr::Constant { .. } | Expr::Load(..))
}

/// The tree of an expression.
pub(super) fn tree(expr: &Expr) -> Tree<'_> {
    let width = expr.ty().width();
    match expr {
        Expr::Constant { raw: raw @ -2..=1, .. } => {
            let kind = Kind::Uniform { first: u8::from(raw & 1 == 1), rest: u8::from(*raw < 0) };
            Tree { sym: Sym::new(kind), leaves: Vec::new() }
        }
        expr if is_word(expr) => Tree::leaf(expr, false),
        Expr::Negate(e) => {
            let inner = tree(e);
            let inner = if inner.sym.n_carries() < MAX_CARRIES { inner } else { Tree::leaf(e, true) };
            inner.unary(Kind::Negate)
        }
        Expr::Binary(op @ (Op::Add | Op::Sub | Op::And | Op::Or | Op::Xor), a, b) => {
            let (mut left, mut right) = (tree(a), tree(b));
            let own = usize::from(matches!(op, Op::Add | Op::Sub));
            if !left.fits(&right, own) && right.cost() >= left.cost() {
                right = Tree::leaf(b, true);
            }
            if !left.fits(&right, own) {
                left = Tree::leaf(a, true);
            }
            if !left.fits(&right, own) {
                right = Tree::leaf(b, true);
            }
            let kind = match op {
                Op::Add => Kind::Add,
                Op::Sub => Kind::Sub,
                op => Kind::Bitwise(*op),
            };
            left.binary(right, kind)
        }
        // A number that is shifted out completely is still read, so that its indices are checked.
        Expr::Shl(e, by) => tree(e).shifted(i64::from((*by).min(width))),
        Expr::Shr(e, 0) => tree(e),
        Expr::Shr(e, by) => extended(e).shifted(-i64::from((*by).min(width - 1))),
        Expr::Cast(e, to) => {
            let from = e.ty();
            let by = i64::from(to.fraction) - i64::from(from.fraction);
            let by = by.clamp(1 - i64::from(from.width()), i64::from(width));
            let inner = if i64::from(width) - by > i64::from(from.width()) { extended(e) } else { tree(e) };
            if by == 0 { inner } else { inner.shifted(by) }
        }
        expr => Tree::leaf(expr, true),
    }
}

/// The tree of a comparison, `Less` or `Equal`.
pub(super) fn comparison<'e>(op: Op, a: &'e Expr, b: &'e Expr) -> Tree<'e> {
    let (mut left, mut right) = (tree(a), tree(b));
    if !left.fits(&right, 0) {
        left = Tree::leaf(a, true);
    }
    if !left.fits(&right, 0) {
        right = Tree::leaf(b, true);
    }
    left.binary(right, if op == Op::Equal { Kind::Equal } else { Kind::Less })
}

/// The tree of a sign-extended expression.
fn extended(expr: &Expr) -> Tree<'_> {
    let width = expr.ty().width();
    let inner = tree(expr);
    match inner.sym.kind() {
        // The upper bits of a wider word may have been dropped.
        Some(Kind::Leaf) if inner.leaves[0].expr.ty().width() <= width => inner,
        Some(Kind::Uniform { .. }) => inner,
        _ if inner.sym.n_carries() < MAX_CARRIES => inner.unary(Kind::Wrap(width)),
        _ => Tree::leaf(expr, true),
    }
}

/// The word to which a result is written.
#[derive(Clone, Debug)]
pub(super) struct Target<'e> {
    pub(super) spot: Spot,
    pub(super) width: u32,
    /// Its place in the program.
    pub(super) place: Option<&'e Place>,
}

impl Generator<'_> {
    /// Allocates a temporary whose tape is none of these. It is freed when `taken` is set back.
    pub(super) fn temporary(&mut self, width: u32, avoid: &[Tape]) -> Slot {
        for number in 0.. {
            if self.taken.contains(&number) {
                continue;
            }
            let spot = self.home(Object::Temporary(number), width, 1);
            if !avoid.contains(&spot.tape) {
                self.taken.insert(number);
                return self.core.widths.len() + number;
            }
        }
        unreachable!("some temporary is on another tape")
    }

    /// The word of a variable or a temporary.
    pub(super) fn slot_spot(&mut self, slot: Slot, width: u32) -> Spot {
        let n_slots = self.core.widths.len();
        let object = if slot < n_slots { Object::Slot(slot) } else { Object::Temporary(slot - n_slots) };
        self.home(object, width, 1)
    }

    /// Computes the computed parts of an index. The run is rejected if one is out of bounds.
    fn walks(&mut self, index: &Index) -> Vec<Walk> {
        let mut walks = Vec::new();
        for &Computed { ref value, bound, stride } in &index.computed {
            let ty = value.ty();
            let slot = self.temporary(ty.width(), &[]);
            self.assign(&Place::slot(slot), value);
            let number = Expr::variable(slot, ty);
            let below = |raw: i64| Expr::binary(Op::Less, number.clone(), Expr::Constant { raw, ty });
            let mut outside = below(0);
            if bound <= ty.largest() {
                outside = Expr::binary(Op::Or, outside, below(bound).not());
            }
            let branches = self.condition(&outside);
            self.resume(branches.holds);
            self.jump_to_reject();
            self.resume(branches.fails);
            self.unwalked.insert(slot);
            walks.push(Walk { slot, width: ty.width(), stride });
        }
        walks
    }

    pub(super) fn place_spot(&mut self, place: &Place, width: u32) -> Spot {
        let walks = self.walks(&place.index);
        let known = self.known(&place.index.known);
        let first = match place.store {
            Store::Slot(slot) => self.slot_spot(slot, width),
            Store::Array(array) => {
                let shape = self.core.arrays[array];
                self.home(Object::Array(array), shape.width, shape.length)
            }
            Store::Data => Spot::new(Tape::Data, width, 0),
        };
        Spot { at: known.plus(&first.at), walks, ..first }
    }

    /// The operand for a stored number.
    pub(super) fn operand(&mut self, expr: &Expr, target: Option<&Target<'_>>) -> Operand {
        let width = expr.ty().width();
        let spot = match expr {
            Expr::Load(place @ Place { store: Store::Array(_), .. }, _)
                if let Some(target) = target.filter(|target| target.place == Some(place)) =>
            {
                target.spot.clone()
            }
            Expr::Load(place, _) => self.place_spot(place, width),
            Expr::Constant { raw, .. } => self.home(Object::Constant(*raw, width), width, 1),
            other => unreachable!("a stored number, not a computed {}", other.ty()),
        };
        Operand { spot, width }
    }

    /// The expression itself if it is stored, or else a temporary with its value.
    pub(super) fn word(&mut self, expr: &Expr, avoid: &[Tape]) -> Expr {
        if is_word(expr) {
            return expr.clone();
        }
        self.copied(expr, avoid)
    }

    /// A temporary with the value of an expression.
    pub(super) fn copied(&mut self, expr: &Expr, avoid: &[Tape]) -> Expr {
        let ty = expr.ty();
        let slot = self.temporary(ty.width(), avoid);
        self.assign(&Place::slot(slot), expr);
        Expr::variable(slot, ty)
    }

    /// Computes the leaves that are not stored, and finds places for all leaves, each on a tape of its own.
    pub(super) fn resolve(&mut self, tree: &Tree<'_>, target: Option<&Target<'_>>) -> Vec<Operand> {
        let is_kept = |leaf: &Leaf<'_>| {
            leaf.hard && matches!(leaf.expr, Expr::Binary(Op::Mul | Op::MulWide | Op::MulRound | Op::Div, ..))
        };
        // The last product or quotient is read from its own tape.
        let kept = tree.leaves.iter().rposition(is_kept);
        let mut words = Vec::new();
        for ((number, leaf), start) in tree.leaves.iter().enumerate().zip(tree.sym.starts()) {
            let computed = leaf.hard && Some(number) != kept;
            let word = if computed { self.copied(leaf.expr, &[]) } else { leaf.expr.clone() };
            words.push((word, start));
        }
        let mut operands = self.operands(&words, target);
        if let Some(kept) = kept {
            operands[kept] = self.product_or_quotient(tree.leaves[kept].expr);
        }
        operands
    }

    /// The operands for words with these starts. A word whose tape is taken is copied first.
    fn operands(&mut self, words: &[(Expr, i64)], target: Option<&Target<'_>>) -> Vec<Operand> {
        let mut operands: Vec<Operand> = Vec::new();
        for (number, (expr, start)) in words.iter().enumerate() {
            if matches!(expr, Expr::Binary(..)) {
                operands.push(Operand { spot: Spot::new(Tape::Product, 1, 0), width: 0 });
                continue;
            }
            // A computed index can be followed once, so a word is read in the target's place only if both start together.
            let operand = self.operand(expr, target.filter(|_| *start == 0));
            let tape = operand.spot.tape;
            let taken = |other: usize| words[other].1 != *start || operands[other].spot != operand.spot;
            let by_other = (0..number).any(|other| operands[other].spot.tape == tape && taken(other));
            let by_target = target.is_some_and(|target| {
                target.spot.tape == tape && (*start != 0 || operand.spot != target.spot)
            });
            operands.push(if by_other || by_target {
                let mut avoid: Vec<Tape> = operands.iter().map(|operand| operand.spot.tape).collect();
                avoid.extend(target.map(|target| target.spot.tape));
                avoid.push(tape);
                self.copy_of(operand, expr.ty().width(), &avoid)
            } else {
                operand
            });
        }
        operands
    }

    /// Copies a word to a temporary.
    fn copy_of(&mut self, from: Operand, width: u32, avoid: &[Tape]) -> Operand {
        let slot = self.temporary(width, avoid);
        let target = Target { spot: self.slot_spot(slot, width), width, place: None };
        let (root, operands) = (&Sym::new(Kind::Leaf), &[from]);
        self.pass(&Pass { root, operands, target: Some(&target), width, tail: Tail::Nothing });
        Operand { spot: target.spot, width }
    }

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
