//! Splits expressions into bit-serial passes: what fits one pass stays a tree, the rest is computed into
//! temporaries first.

use super::{
    Generator,
    bit_serial::{At, Operand, Pass, Root, Sym, Tail},
    plan::Object,
    position::Spot,
    tapes::Tape,
};
use crate::core::{Affine, Computed, Expr, Index, Op, Place, Slot};

/// A part of an expression that does not stream itself.
#[derive(Clone, Copy)]
pub(super) enum Part<'e> {
    Word(&'e Expr),
    /// Something to be computed first.
    Hard(&'e Expr),
}

/// The part of an expression that one pass computes.
pub(super) type Tree<'e> = Sym<Part<'e>>;

/// The most parts of one pass that remember something: each doubles its states.
const MAX_CARRIES: usize = 2;

/// The most words of one pass: each doubles what its states look at.
const MAX_WORDS: usize = 3;

impl Tree<'_> {
    /// Parts that remember something, and words.
    fn cost(&self) -> (usize, usize) {
        (self.n_carries(), self.leaves().len())
    }

    fn n_carries(&self) -> usize {
        match self {
            Self::Leaf(_) | Self::Uniform { .. } => 0,
            Self::Add(a, b) | Self::Sub(a, b) => a.n_carries() + b.n_carries() + 1,
            Self::Bitwise(_, a, b) => a.n_carries() + b.n_carries(),
            Self::Negate(a) | Self::Wrap(a, _) => a.n_carries() + 1,
            Self::Shift(a, _) => a.n_carries(),
        }
    }
}

fn word(expr: &Expr) -> Tree<'_> {
    Tree::Leaf(Part::Word(expr))
}

fn hard(expr: &Expr) -> Tree<'_> {
    Tree::Leaf(Part::Hard(expr))
}

fn fits(a: &Tree<'_>, b: &Tree<'_>, own: usize) -> bool {
    let (a, b) = (a.cost(), b.cost());
    a.0 + b.0 + own <= MAX_CARRIES && a.1 + b.1 <= MAX_WORDS
}

/// Whether a number need not be computed.
pub(super) fn is_word(expr: &Expr) -> bool {
    matches!(expr, Expr::Constant { .. } | Expr::Variable { .. } | Expr::Element { .. } | Expr::Data { .. })
}

/// The tree of an expression.
pub(super) fn tree(expr: &Expr) -> Tree<'_> {
    let width = expr.ty().width();
    match expr {
        Expr::Constant { raw: raw @ -2..=1, .. } => {
            Tree::Uniform { first: u8::from(raw & 1 == 1), rest: u8::from(*raw < 0) }
        }
        expr if is_word(expr) => word(expr),
        Expr::Negate(e) => {
            let inner = tree(e);
            Tree::Negate(Box::new(if inner.n_carries() < MAX_CARRIES { inner } else { hard(e) }))
        }
        Expr::Binary(op @ (Op::Add | Op::Sub | Op::And | Op::Or | Op::Xor), a, b) => {
            let (mut left, mut right) = (tree(a), tree(b));
            let own = usize::from(matches!(op, Op::Add | Op::Sub));
            if !fits(&left, &right, own) && right.cost() >= left.cost() {
                right = hard(b);
            }
            if !fits(&left, &right, own) {
                left = hard(a);
            }
            if !fits(&left, &right, own) {
                right = hard(b);
            }
            let (left, right) = (Box::new(left), Box::new(right));
            match op {
                Op::Add => Tree::Add(left, right),
                Op::Sub => Tree::Sub(left, right),
                op => Tree::Bitwise(*op, left, right),
            }
        }
        // What is shifted out completely is still looked up: its indices are checked.
        Expr::Shl(e, by) => Tree::Shift(Box::new(tree(e)), i64::from((*by).min(width))),
        Expr::Shr(e, 0) => tree(e),
        Expr::Shr(e, by) => Tree::Shift(Box::new(extended(e)), -i64::from((*by).min(width - 1))),
        Expr::Cast(e, to) => {
            let from = e.ty();
            let by = i64::from(to.fraction) - i64::from(from.fraction);
            let by = by.clamp(1 - i64::from(from.width()), i64::from(width));
            let inner = if i64::from(width) - by > i64::from(from.width()) { extended(e) } else { tree(e) };
            if by == 0 { inner } else { Tree::Shift(Box::new(inner), by) }
        }
        expr => hard(expr),
    }
}

/// The trees of two sides of a comparison.
pub(super) fn pair<'e>(a: &'e Expr, b: &'e Expr) -> [Tree<'e>; 2] {
    let (mut left, mut right) = (tree(a), tree(b));
    if !fits(&left, &right, 0) {
        left = hard(a);
    }
    if !fits(&left, &right, 0) {
        right = hard(b);
    }
    [left, right]
}

/// The tree of an expression whose sign is repeated above it.
fn extended(expr: &Expr) -> Tree<'_> {
    let width = expr.ty().width();
    match tree(expr) {
        // A wider word may have lost its upper bits on the way here.
        leaf @ Tree::Leaf(Part::Word(e) | Part::Hard(e)) if e.ty().width() <= width => leaf,
        uniform @ Tree::Uniform { .. } => uniform,
        inner if inner.n_carries() < MAX_CARRIES => Tree::Wrap(Box::new(inner), width),
        _ => hard(expr),
    }
}

/// A place that is written, with its computed indices worked out.
#[derive(Clone, Debug)]
pub(super) struct Target<'e> {
    pub(super) spot: Spot,
    pub(super) width: u32,
    /// What it is called in the program.
    pub(super) place: Option<&'e Place>,
}

/// A tree with places for its words.
pub(super) struct Resolved {
    pub(super) root: Root,
    pub(super) operands: Vec<Operand>,
    /// Temporaries to free once the pass is made.
    pub(super) temporaries: Vec<Slot>,
}

/// A word on its way to an operand, and when its head starts.
struct Leaf {
    expr: Expr,
    start: i64,
}

impl Generator<'_> {
    /// A word for a while; its tape is none of these.
    pub(super) fn temporary(&mut self, width: u32, avoid: &[Tape]) -> Slot {
        for number in 0.. {
            if self.taken.contains(&number) {
                continue;
            }
            let (tape, ..) = self.home(Object::Temporary(number), width, 1);
            if !avoid.contains(&tape) {
                self.taken.insert(number);
                return self.core.widths.len() + number;
            }
        }
        unreachable!("some temporary is on another tape")
    }

    pub(super) fn free(&mut self, slots: &[Slot]) {
        for slot in slots {
            self.taken.remove(&(slot - self.core.widths.len()));
        }
    }

    /// Where a variable or a temporary is.
    pub(super) fn slot_spot(&mut self, slot: Slot, width: u32) -> Spot {
        let n_slots = self.core.widths.len();
        let object = if slot < n_slots { Object::Slot(slot) } else { Object::Temporary(slot - n_slots) };
        let (tape, word, pitch) = self.home(object, width, 1);
        Spot { tape, pitch, at: Affine::constant(word), walks: Vec::new() }
    }

    fn array_spot(&mut self, array: usize, at: &Affine, walks: Vec<(usize, u32, i64)>) -> Spot {
        let shape = self.core.arrays[array];
        let (tape, word, pitch) = self.home(Object::Array(array), shape.width, shape.length);
        Spot { tape, pitch, at: at.offset(word), walks }
    }

    /// Works out the computed parts of an index; outside of its array the run is rejected.
    fn walks(&mut self, index: &Index, temporaries: &mut Vec<Slot>) -> Vec<(usize, u32, i64)> {
        let n_slots = self.core.widths.len();
        let mut walks = Vec::new();
        for Computed { value, bound, stride } in &index.computed {
            let ty = value.ty();
            let slot = self.temporary(ty.width(), &[]);
            temporaries.push(slot);
            self.assign(&Place::Slot(slot), value);
            let number = Expr::Variable { slot, ty };
            let below = |raw: i64| Expr::binary(Op::Less, number.clone(), Expr::Constant { raw, ty });
            let mut outside = below(0);
            let bound = i64::try_from(*bound).unwrap_or(i64::MAX);
            if bound <= ty.largest() {
                outside = Expr::binary(Op::Or, outside, below(bound).not());
            }
            let branches = self.condition(&outside);
            self.resume(branches.holds);
            self.jump_to_reject();
            self.resume(branches.fails);
            self.unwalked.insert(slot - n_slots);
            walks.push((slot - n_slots, ty.width(), i64::try_from(*stride).unwrap_or(i64::MAX)));
        }
        walks
    }

    pub(super) fn place_spot(&mut self, place: &Place, width: u32, temporaries: &mut Vec<Slot>) -> Spot {
        match place {
            Place::Slot(slot) => self.slot_spot(*slot, width),
            Place::Element(array, index) => {
                let walks = self.walks(index, temporaries);
                let known = self.known(index);
                self.array_spot(*array, &known, walks)
            }
        }
    }

    /// Where a word is.
    pub(super) fn operand(
        &mut self,
        expr: &Expr,
        target: Option<&Target<'_>>,
        temporaries: &mut Vec<Slot>,
    ) -> Operand {
        let width = expr.ty().width();
        let at = match expr {
            Expr::Variable { slot, .. } => At::Memory(self.slot_spot(*slot, width)),
            Expr::Element { array, index, .. } => {
                let same = target.filter(|target| {
                    matches!(target.place, Some(Place::Element(other, at)) if other == array && at == index)
                });
                match same {
                    Some(target) => At::Memory(target.spot.clone()),
                    None => At::Memory(self.place_spot(
                        &Place::Element(*array, index.clone()),
                        width,
                        temporaries,
                    )),
                }
            }
            Expr::Data { index, .. } => {
                let walks = self.walks(index, temporaries);
                At::Data(self.known(index), walks)
            }
            Expr::Constant { raw, .. } => {
                let (tape, word, pitch) = self.home(Object::Constant(*raw, width), width, 1);
                At::Memory(Spot { tape, pitch, at: Affine::constant(word), walks: Vec::new() })
            }
            // Only words are asked for.
            _ => At::Quotient,
        };
        Operand { at, width }
    }

    /// The word of an expression: itself, or a temporary that it is computed into.
    pub(super) fn word(&mut self, expr: &Expr, avoid: &[Tape], temporaries: &mut Vec<Slot>) -> Expr {
        if is_word(expr) {
            return expr.clone();
        }
        self.copied(expr, avoid, temporaries)
    }

    /// A temporary with the value of an expression.
    pub(super) fn copied(&mut self, expr: &Expr, avoid: &[Tape], temporaries: &mut Vec<Slot>) -> Expr {
        let ty = expr.ty();
        let slot = self.temporary(ty.width(), avoid);
        temporaries.push(slot);
        self.assign(&Place::Slot(slot), expr);
        Expr::Variable { slot, ty }
    }

    /// Computes what does not stream, and finds places for all words so that no tape has two.
    pub(super) fn resolve(&mut self, trees: &[Tree<'_>], target: Option<&Target<'_>>) -> Resolved {
        let mut temporaries = Vec::new();
        let parts = trees.iter().flat_map(Tree::leaves);
        let hard = parts.filter_map(|part| if let Part::Hard(expr) = part { Some(expr) } else { None });
        let hard: Vec<&Expr> = hard.collect();
        let left_over =
            |op: &Expr| matches!(op, Expr::Binary(Op::Mul | Op::MulWide | Op::MulRound | Op::Div, ..));
        // The last product or quotient is read where it is left.
        let kept = hard.iter().rposition(|expr| left_over(expr));
        let mut words: Vec<Option<Expr>> = Vec::new();
        for (number, expr) in hard.iter().enumerate() {
            let word = (Some(number) != kept).then(|| self.copied(expr, &[], &mut temporaries));
            words.push(word);
        }
        let mut leaves = Vec::new();
        let mut computed = words.into_iter();
        let mut leaf = |part: Part<'_>, start: i64| {
            let expr = match part {
                Part::Word(expr) => expr.clone(),
                Part::Hard(expr) => computed.next().flatten().unwrap_or_else(|| expr.clone()),
            };
            leaves.push(Leaf { expr, start });
            Sym::Leaf(leaves.len() - 1)
        };
        let syms: Vec<Sym> = trees.iter().map(|tree| tree.map(0, &mut leaf)).collect();
        let mut operands = self.operands(&leaves, target, &mut temporaries);
        if let Some(kept) = kept {
            let (at, width) = self.leave(hard[kept]);
            for (leaf, operand) in leaves.iter().zip(&mut operands) {
                if matches!(leaf.expr, Expr::Binary(..)) {
                    *operand = Operand { at: at.clone(), width };
                }
            }
        }
        let mut syms = syms.into_iter();
        let first = syms.next().unwrap_or(Sym::Uniform { first: 0, rest: 0 });
        // Who compares puts the other side in.
        let root = match syms.next() {
            Some(second) => Root::Less(first, second),
            None => Root::Value(first),
        };
        Resolved { root, operands, temporaries }
    }

    /// Operands for words; one whose tape is taken already is copied first.
    fn operands(
        &mut self,
        leaves: &[Leaf],
        target: Option<&Target<'_>>,
        temporaries: &mut Vec<Slot>,
    ) -> Vec<Operand> {
        let mut operands: Vec<Operand> = Vec::new();
        for (number, leaf) in leaves.iter().enumerate() {
            let mut operand = match leaf.expr {
                Expr::Binary(..) => Operand { at: At::Product, width: 0 },
                // Only what starts with the target can be read in the target's place: a computed index leads there once.
                _ => self.operand(&leaf.expr, target.filter(|_| leaf.start == 0), temporaries),
            };
            let tape = operand.at.tape();
            let taken = |other: usize| leaves[other].start != leaf.start || operands[other].at != operand.at;
            let by_other = (0..number).any(|other| operands[other].at.tape() == tape && taken(other));
            let by_target = target.is_some_and(|target| {
                let same = leaf.start == 0 && operand.at == At::Memory(target.spot.clone());
                target.spot.tape == tape && !same
            });
            let in_use = !matches!(leaf.expr, Expr::Binary(..)) && (by_other || by_target);
            if in_use {
                let mut avoid: Vec<Tape> = operands.iter().map(|operand| operand.at.tape()).collect();
                avoid.extend(target.map(|target| target.spot.tape));
                operand = self.copy_of(operand, &leaf.expr, &avoid, temporaries);
            }
            operands.push(operand);
        }
        operands
    }

    /// A copy of a word whose place is known.
    fn copy_of(
        &mut self,
        from: Operand,
        expr: &Expr,
        avoid: &[Tape],
        temporaries: &mut Vec<Slot>,
    ) -> Operand {
        let width = expr.ty().width();
        let mut avoid = avoid.to_vec();
        avoid.push(from.at.tape());
        let slot = self.temporary(width, &avoid);
        temporaries.push(slot);
        let spot = self.slot_spot(slot, width);
        let root = Root::Value(Sym::Leaf(0));
        let operands = [from];
        self.pass(&Pass {
            root: &root,
            operands: &operands,
            target: Some((&spot, width)),
            width,
            tail: Tail::Nothing,
        });
        Operand { at: At::Memory(spot), width }
    }
}
