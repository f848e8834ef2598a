//! Operators: their operand types, their result types, and constant folding.

use std::cmp::Ordering;

use num_traits::{CheckedAdd as _, CheckedDiv as _, CheckedMul as _, CheckedSub as _, Signed as _};

use super::{Checker, Expr, Op, Place, Shape, Span, Stmt, StmtKind, Ty, Value, shape_of};
use crate::ratio::{self, Ratio};
use crate::syntax::{self, Binary, Type};

impl<'p> Checker<'p> {
    pub(super) fn binary(&mut self, op: Binary, [a, b]: [&'p syntax::Expr; 2], span: &Span) -> Option<Value> {
        let sides = [&a.span, &b.span];
        if let Binary::Lazy(op) = op {
            return Some(self.short_circuit(op, [a, b], span));
        }
        let left = self.expr(a);
        if matches!(op, Binary::Shl | Binary::Shr) {
            if left.is_none() {
                self.expr(b);
            }
            return self.shifted(op, left?, b, [span, &a.span]);
        }
        if let Binary::Compare { op, swaps, negates } = op {
            let right = self.expr(b);
            return self.comparison(op, [swaps, negates], left?, right?, span, sides);
        }
        let number = left.as_ref().filter(|left| matches!(left, Value::Number(_)) && !left.is_bit());
        let shape = number.and_then(shape_of);
        let right = self.expr_for(b, shape.as_ref());
        if let Binary::Plain(op @ (Op::And | Op::Or | Op::Xor)) = op
            && [&left, &right].into_iter().flatten().any(Value::is_bit)
        {
            let left = self.as_condition(left, &a.span, "a condition");
            let right = self.as_condition(right, &b.span, "a condition");
            return Some(Value::Number(self.both_bits(op, left, right, span)));
        }
        self.arithmetic(op, left?, right?, span, sides)
    }

    /// `&&` or `||`: the right side is evaluated, with the statements it needs, only if the left side does not decide.
    fn short_circuit(&mut self, op: Op, [a, b]: [&'p syntax::Expr; 2], span: &Span) -> Value {
        let left = self.condition(a);
        let (right, mut first) = self.apart(|checker| checker.condition(b));
        if first.is_empty() {
            return Value::Number(Expr::binary(op, left, right));
        }
        let slot = self.take_slot(1);
        self.emit(span, StmtKind::Assign(Place::slot(slot), left));
        first.push(Stmt { line: self.line(span), kind: StmtKind::Assign(Place::slot(slot), right) });
        let (then, otherwise) = if op == Op::And { (first, Vec::new()) } else { (Vec::new(), first) };
        let flag = Expr::variable(slot, Ty::BIT);
        self.emit(span, StmtKind::If(flag.clone(), then, otherwise));
        Value::Number(flag)
    }

    /// `&`, `|` or `^` of two bits, both of which are evaluated.
    fn both_bits(&mut self, op: Op, a: Expr, b: Expr, span: &Span) -> Expr {
        if op == Op::Xor {
            return self.differ(a, b, span);
        }
        let (a, b) = (self.as_flag(a, span), self.as_flag(b, span));
        Expr::binary(op, a, b)
    }

    /// `<<` or `>>`, by a constant or by an integer that is computed at run time.
    pub(super) fn shifted(
        &mut self,
        op: Binary,
        value: Value,
        b: &'p syntax::Expr,
        [span, side]: [&Span; 2],
    ) -> Option<Value> {
        if let Value::Constant(value) = value {
            let by = self.constant(b)?;
            return self.fold(op, value, by, span).map(Value::Constant);
        }
        let by = self.expr(b);
        let value = match value {
            Value::Index(_) => return self.only_when_run(side),
            value => self.a_number(value, side)?,
        };
        let by = match by? {
            Value::Constant(by) => {
                let by = self.as_integer(by, &b.span)?;
                let Ok(by) = u32::try_from(by) else {
                    return self.fail(&b.span, format!("a shift by {by}"), "expected 0 or more");
                };
                return Some(Value::Number(shift(op, value, by)));
            }
            Value::Index(affine) => {
                let ty = Self::integer_type(self.interval(&affine));
                self.number_of_index(&affine, ty, &b.span)?
            }
            by => self.an_integer(by, "a number is shifted by an integer", &b.span)?,
        };
        Some(self.shifted_by_number(op, value, by, span))
    }

    /// The value as a number without fraction bits.
    pub(super) fn an_integer(&mut self, value: Value, what: &str, span: &Span) -> Option<Expr> {
        let value = self.a_number(value, span)?;
        if value.ty().fraction == 0 {
            return Some(value);
        }
        let message = format!("{what}, this is {}", value.ty());
        let help = format!("convert it: `as int<{}>`", value.ty().integer.max(2));
        self.refuse(span, message, "not an integer", &help)
    }

    /// Shifts by one in a loop. A negative count rejects the data.
    fn shifted_by_number(&mut self, op: Binary, value: Expr, by: Expr, span: &Span) -> Value {
        let (ty, count, line) = (value.ty(), by.ty(), self.line(span));
        let slots = [ty, count].map(|ty| self.take_slot(ty.width()));
        let stmt = |kind| Stmt { line, kind };
        let assign = |slot, value| StmtKind::Assign(Place::slot(slot), value);
        let constant = |raw| Expr::Constant { raw, ty: count };
        let (number, rest) = (Expr::variable(slots[0], ty), Expr::variable(slots[1], count));
        self.emit(span, assign(slots[0], value));
        // Shifting by more than the width makes no difference.
        let enough = i64::from(ty.width()).min(count.largest());
        self.emit(span, assign(slots[1], Expr::binary(Op::Min, by, constant(enough))));
        let negative = Expr::binary(Op::Less, rest.clone(), constant(0));
        self.emit(span, StmtKind::If(negative, vec![stmt(StmtKind::Reject)], Vec::new()));
        let less = Expr::binary(Op::Sub, rest.clone(), constant(1));
        let body = vec![stmt(assign(slots[0], shift(op, number.clone(), 1))), stmt(assign(slots[1], less))];
        let condition = Expr::binary(Op::Less, constant(0), rest);
        self.emit(span, StmtKind::While { before: Vec::new(), condition, body });
        Value::Number(number)
    }

    /// The remainder of the division that rounds towards zero; `a` if `b` is 0.
    fn remainder(&mut self, a: Expr, b: Expr, span: &Span) -> Expr {
        let ty = a.ty();
        let whole = Ty { integer: ty.width(), fraction: 0 };
        // Reinterprets the bits as another type.
        let counted = |side: Expr, ty: Ty| match side {
            Expr::Constant { raw, .. } => Expr::Constant { raw, ty },
            Expr::Load(place, _) => Expr::Load(place, ty),
            side => side,
        };
        // As integers, so that the point does not matter. Both are used twice.
        let [a, b] = [a, b].map(|side| match side {
            side if side.is_simple() => counted(side, whole),
            side => counted(self.stored_number(side, span), whole),
        });
        // The smallest number divided by -1 needs one more bit.
        let known = matches!(b, Expr::Constant { raw, .. } if raw != -1);
        let wide = if known { whole } else { Ty { integer: whole.integer + 1, ..whole } };
        let cast = |e: Expr, to: Ty| if e.ty() == to { e } else { Expr::Cast(Box::new(e), to) };
        let (a, b) = (cast(a, wide), cast(b, wide));
        let quotient = Expr::binary(Op::Div, a.clone(), b.clone());
        let rest = cast(Expr::binary(Op::Sub, a, Expr::binary(Op::Mul, quotient, b)), whole);
        if ty == whole { rest } else { counted(self.stored_number(rest, span), ty) }
    }

    /// Both sides as numbers of a common type.
    pub(super) fn pair(&mut self, a: Value, b: Value, [a_span, b_span]: [&Span; 2]) -> Option<(Expr, Expr)> {
        let ty = match (&a, &b) {
            (Value::Number(a), _) if a.ty() != Ty::BIT => a.ty(),
            (_, Value::Number(b)) if b.ty() != Ty::BIT => b.ty(),
            (Value::Index(_) | Value::Constant(_), Value::Index(_))
            | (Value::Index(_), Value::Constant(_)) => self.type_of_indices(&a, &b, a_span)?,
            (Value::Constant(_) | Value::Index(_), b) => return self.not_a_number(b, b_span),
            (a, _) => return self.not_a_number(a, a_span),
        };
        let a = self.coerce(a, ty, a_span)?;
        Some((a, self.coerce(b, ty, b_span)?))
    }

    pub(super) fn arithmetic(
        &mut self,
        op: Binary,
        a: Value,
        b: Value,
        span: &Span,
        sides: [&Span; 2],
    ) -> Option<Value> {
        if let (Value::Constant(a), Value::Constant(b)) = (&a, &b) {
            return self.fold(op, *a, *b, span).map(Value::Constant);
        }
        if let Some(value) = self.index_arithmetic(op, &a, &b, span) {
            return value.map(Value::Index);
        }
        let (a, b) = self.pair(a, b, sides)?;
        let ty = a.ty();
        let wider = Ty { integer: ty.integer + 1, ..ty };
        Some(Value::Number(match op {
            Binary::Plain(op) => Expr::binary(op, a, b),
            Binary::Saturating(Op::MulWide) => clamp(Expr::binary(Op::MulWide, a, b), ty),
            Binary::Saturating(op) => {
                let [a, b] = [a, b].map(|side| Expr::Cast(Box::new(side), wider));
                clamp(Expr::binary(op, a, b), ty)
            }
            _ => self.remainder(a, b, span),
        }))
    }

    fn comparison(
        &mut self,
        op: Op,
        [swaps, negates]: [bool; 2],
        a: Value,
        b: Value,
        span: &Span,
        sides: [&Span; 2],
    ) -> Option<Value> {
        if let (Value::Constant(a), Value::Constant(b)) = (&a, &b) {
            let order = if swaps { b.cmp(a) } else { a.cmp(b) };
            let holds = order == if op == Op::Equal { Ordering::Equal } else { Ordering::Less };
            return Some(Value::Number(Expr::bit(holds != negates)));
        }
        let (a, b) = match (a, b) {
            (Value::Number(a), Value::Number(b)) if op == Op::Equal && [a.ty(), b.ty()] == [Ty::BIT; 2] => {
                let differ = self.differ(a, b, span);
                return Some(Value::Number(if negates { differ } else { differ.not() }));
            }
            (a, b) => self.pair(a, b, sides)?,
        };
        let compared = if swaps { Expr::binary(op, b, a) } else { Expr::binary(op, a, b) };
        Some(Value::Number(if negates { compared.not() } else { compared }))
    }

    /// Whether two bits differ.
    fn differ(&mut self, a: Expr, b: Expr, span: &Span) -> Expr {
        // Both operands occur twice: as flags that costs nothing.
        let (a, b) = (self.as_flag(a, span), self.as_flag(b, span));
        let first = Expr::binary(Op::And, a.clone(), b.clone().not());
        Expr::binary(Op::Or, first, Expr::binary(Op::And, a.not(), b))
    }

    fn as_flag(&mut self, bit: Expr, span: &Span) -> Expr {
        if bit.is_simple() { bit } else { self.stored_number(bit, span) }
    }

    pub(super) fn cast(
        &mut self,
        value: Option<Value>,
        to: &Type,
        saturating: bool,
        span: &Span,
    ) -> Option<Value> {
        let ty = match self.shape(to)? {
            Shape::Number(ty) if ty != Ty::BIT => ty,
            found => {
                return self.fail(&to.span, format!("a conversion to {found}"), "expected a number type");
            }
        };
        let value = match value? {
            Value::Constant(value) if saturating => {
                let raw = ratio::round(value, ty.fraction);
                let clamped = raw.map(|raw| raw.clamp(ty.smallest().into(), ty.largest().into()));
                match clamped.and_then(|raw| i64::try_from(raw).ok()) {
                    Some(raw) => return Some(Value::Number(Expr::Constant { raw, ty })),
                    None => Value::Constant(value),
                }
            }
            // A loop variable that does not fit is clamped like any number.
            Value::Index(affine) if saturating => {
                let wide = Self::integer_type(self.interval(&affine));
                Value::Number(self.number_of_index(&affine, wide, span)?)
            }
            value => value,
        };
        Some(Value::Number(match value {
            Value::Number(bit) if bit.ty() == Ty::BIT => self.number_of_bit(bit, ty, span)?,
            Value::Number(value) if saturating => {
                let integer = value.ty().integer.max(ty.integer);
                clamp(Expr::Cast(Box::new(value), Ty { integer, ..ty }), ty)
            }
            Value::Number(value) => Expr::Cast(Box::new(value), ty),
            Value::Constant(_) | Value::Index(_) => self.coerce(value, ty, span)?,
            value => return self.not_a_number(&value, span),
        }))
    }

    /// 1 if the bit is true, else 0.
    fn number_of_bit(&mut self, bit: Expr, ty: Ty, span: &Span) -> Option<Expr> {
        let one = self.coerce(Value::Constant(Ratio::ONE), ty, span)?;
        let (slot, line) = (self.take_slot(ty.width()), self.line(span));
        let set = |value| vec![Stmt { line, kind: StmtKind::Assign(Place::slot(slot), value) }];
        self.emit(span, StmtKind::If(bit, set(one), set(Expr::Constant { raw: 0, ty })));
        Some(Expr::variable(slot, ty))
    }

    pub(super) fn fold(&mut self, op: Binary, a: Ratio, b: Ratio, span: &Span) -> Option<Ratio> {
        let power = |k: Ratio| {
            let k = ratio::to_integer(k).filter(|k| (0..100).contains(k))?;
            Some(Ratio::from_integer(1_i128 << k))
        };
        let bits = ratio::to_integer(a).zip(ratio::to_integer(b));
        let folded = match op {
            Binary::Plain(Op::Add) | Binary::Saturating(Op::Add) => a.checked_add(&b),
            Binary::Plain(Op::Sub) | Binary::Saturating(Op::Sub) => a.checked_sub(&b),
            Binary::Plain(Op::Mul | Op::MulRound) | Binary::Saturating(_) => a.checked_mul(&b),
            Binary::Plain(Op::Div) => a.checked_div(&b),
            Binary::Rem => {
                let whole = a.checked_div(&b).and_then(|ratio| b.checked_mul(&ratio.trunc()));
                whole.and_then(|whole| a.checked_sub(&whole))
            }
            Binary::Plain(Op::And) => bits.map(|(a, b)| Ratio::from_integer(a & b)),
            Binary::Plain(Op::Or) => bits.map(|(a, b)| Ratio::from_integer(a | b)),
            Binary::Plain(Op::Xor) => bits.map(|(a, b)| Ratio::from_integer(a ^ b)),
            Binary::Shl => power(b).and_then(|p| a.checked_mul(&p)),
            Binary::Shr => power(b).and_then(|p| a.checked_div(&p)),
            _ => None,
        };
        // Every value must have a negative.
        let folded = folded.filter(|folded| *folded.numer() > i128::MIN);
        if folded.is_none() {
            self.error(span, format!("{a} {} {b} has no value", op.text()), "division by zero, or too large");
        }
        folded
    }
}

fn shift(op: Binary, value: Expr, by: u32) -> Expr {
    let value = Box::new(value);
    if op == Binary::Shl { Expr::Shl(value, by) } else { Expr::Shr(value, by) }
}

/// The nearest number of the narrower type.
fn clamp(value: Expr, to: Ty) -> Expr {
    if value.ty() == to { value } else { Expr::Clamp(Box::new(value), to) }
}

/// A built-in function of constants; `relu`, `abs` and `sign` get 0 for `b`.
pub(super) fn builtin_constant(name: &str, a: Ratio, b: Ratio) -> Ratio {
    match name {
        "relu" | "max" => a.max(b),
        "min" => a.min(b),
        "abs" => a.abs(),
        _ => a.signum(),
    }
}
