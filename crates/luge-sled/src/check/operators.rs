//! Operators: their operand types, their result types, and constant folding.

use std::cmp::Ordering;

use super::{Checker, Shape, Value, results::shape_of};
use crate::{
    core::{Cond, Expr, Op, Place, StmtKind, Ty},
    lex::Span,
    ratio::Ratio,
    syntax::{self, Binary, Type},
};

impl<'p> Checker<'p> {
    pub(super) fn binary(
        &mut self,
        op: Binary,
        a: &'p syntax::Expr,
        b: &'p syntax::Expr,
        span: &Span,
    ) -> Value {
        match op {
            Binary::And | Binary::Or => self.stopping_early(op == Binary::And, [a, b], span),
            Binary::Shl | Binary::Shr => {
                let value = self.expr(a);
                self.shifted(op, value, b, [span, &a.span])
            }
            _ if is_arithmetic(op) => {
                let left = self.expr(a);
                let right = self
                    .expr_for(b, shape_of(&left).filter(|shape| matches!(shape, Shape::Number(_))).as_ref());
                let bitwise = matches!(op, Binary::BitAnd | Binary::BitOr | Binary::Xor);
                if bitwise && [&left, &right].iter().any(|side| matches!(side, Value::Condition(_))) {
                    let left = self.as_condition(left, &a.span, "a condition");
                    let right = self.as_condition(right, &b.span, "a condition");
                    return Value::Condition(self.both_bits(op, left, right, span));
                }
                self.arithmetic(op, left, right, span, [&a.span, &b.span])
            }
            _ => self.comparison(op, a, b, span),
        }
    }

    /// `&&` or `||`: the right side is evaluated, with all the statements it takes, only where the left side does not decide.
    fn stopping_early(&mut self, and: bool, [a, b]: [&'p syntax::Expr; 2], span: &Span) -> Value {
        let left = self.condition(a);
        self.out.push(Vec::new());
        let right = self.condition(b);
        let mut first = self.out.pop().unwrap_or_default();
        if first.is_empty() {
            let (left, right) = (Box::new(left), Box::new(right));
            return Value::Condition(if and { Cond::And(left, right) } else { Cond::Or(left, right) });
        }
        let slot = self.take_slot(1);
        self.emit(span, StmtKind::SetFlag(Place::Slot(slot), left));
        first.push(crate::core::Stmt {
            line: self.line(span),
            kind: StmtKind::SetFlag(Place::Slot(slot), right),
        });
        let (then, otherwise) = if and { (first, Vec::new()) } else { (Vec::new(), first) };
        let flag = Cond::Flag(Place::Slot(slot));
        self.emit(span, StmtKind::If(flag.clone(), then, otherwise));
        Value::Condition(flag)
    }

    /// `&`, `|` or `^` of two bits, both of which are evaluated.
    fn both_bits(&mut self, op: Binary, a: Cond, b: Cond, span: &Span) -> Cond {
        if op == Binary::Xor {
            return self.differ(a, b, span);
        }
        let (a, b) = (Box::new(self.as_flag(a, span)), Box::new(self.as_flag(b, span)));
        if op == Binary::BitAnd { Cond::And(a, b) } else { Cond::Or(a, b) }
    }

    /// `<<` or `>>`, by a constant or by an integer that is known when the program runs.
    pub(super) fn shifted(
        &mut self,
        op: Binary,
        value: Value,
        b: &'p syntax::Expr,
        [span, side]: [&Span; 2],
    ) -> Value {
        if let Value::Constant(value) = value {
            let Some(by) = self.constant(b) else { return Value::Poison };
            return self.fold(op, value, by, span).map_or(Value::Poison, Value::Constant);
        }
        let by = self.expr(b);
        let value = match value {
            Value::Number(value) => value,
            Value::Index(_) => return self.only_when_run(side),
            value => return self.not_a_number(&value, side),
        };
        match by {
            Value::Constant(by) => {
                let Some(by) = self.as_integer(by, &b.span) else { return Value::Poison };
                let Ok(by) = u32::try_from(by) else {
                    self.error(&b.span, format!("a shift by {by}"), "expected 0 or more");
                    return Value::Poison;
                };
                Value::Number(shift(op, value, by))
            }
            Value::Index(affine) => {
                let ty = Self::integer_type(self.interval(&affine));
                let by = self.number_of_index(&affine, ty, &b.span);
                by.map_or(Value::Poison, |by| self.shifted_often(op, value, by, span))
            }
            Value::Number(by) if by.ty().fraction == 0 => self.shifted_often(op, value, by, span),
            Value::Number(by) => {
                let message = format!("a number is shifted by an integer, this is {}", by.ty());
                let help = format!("convert it: `as int<{}>`", by.ty().integer.max(2));
                self.error(&b.span, message, "not an integer").remedy(help);
                Value::Poison
            }
            by => self.not_a_number(&by, &b.span),
        }
    }

    /// Shifts by one as often as a number says; one below 0 ends the run.
    fn shifted_often(&mut self, op: Binary, value: Expr, by: Expr, span: &Span) -> Value {
        let (ty, count, line) = (value.ty(), by.ty(), self.line(span));
        let (slot, left) = (self.take_slot(ty.width()), self.take_slot(count.width()));
        let stmt = |kind| crate::core::Stmt { line, kind };
        let assign = |slot, value| StmtKind::Assign(Place::Slot(slot), value);
        let constant = |raw| Expr::Constant { raw, ty: count };
        let (number, rest) = (Expr::Variable { slot, ty }, Expr::Variable { slot: left, ty: count });
        self.emit(span, assign(slot, value));
        // Nothing is left of a number that was shifted by its width.
        let enough = i64::from(ty.width()).min(count.largest());
        self.emit(span, assign(left, Expr::Binary(Op::Min, Box::new(by), Box::new(constant(enough)))));
        let negative = Cond::Less(rest.clone(), constant(0));
        self.emit(span, StmtKind::If(negative, vec![stmt(StmtKind::Reject)], Vec::new()));
        let less = Expr::Binary(Op::Sub, Box::new(rest.clone()), Box::new(constant(1)));
        let body = vec![stmt(assign(slot, shift(op, number.clone(), 1))), stmt(assign(left, less))];
        let condition = Cond::Less(constant(0), rest);
        self.emit(span, StmtKind::While { before: Vec::new(), condition, body });
        Value::Number(number)
    }

    /// What the quotient, rounded towards zero, leaves of `a`; all of it if `b` is 0.
    fn remainder(&mut self, a: Expr, b: Expr, span: &Span) -> Expr {
        let ty = a.ty();
        let whole = Ty { integer: ty.width(), fraction: 0 };
        // Counted in steps, so that the point does not matter; both are used twice.
        let [a, b] = [a, b].map(|side| match side {
            Expr::Constant { raw, .. } => Expr::Constant { raw, ty: whole },
            Expr::Variable { slot, .. } => Expr::Variable { slot, ty: whole },
            side => {
                let slot = self.take_slot(ty.width());
                self.emit(span, StmtKind::Assign(Place::Slot(slot), side));
                Expr::Variable { slot, ty: whole }
            }
        });
        // The smallest number over -1 needs one bit more.
        let known = matches!(b, Expr::Constant { raw, .. } if raw != -1);
        let wide = if known { whole } else { Ty { integer: whole.integer + 1, ..whole } };
        let cast = |e: Expr, to: Ty| if e.ty() == to { e } else { Expr::Cast(Box::new(e), to) };
        let (a, b) = (cast(a, wide), cast(b, wide));
        let binary = |op, a: &Expr, b: &Expr| Expr::Binary(op, Box::new(a.clone()), Box::new(b.clone()));
        let product = binary(Op::Mul, &binary(Op::Div, &a, &b), &b);
        let rest = cast(binary(Op::Sub, &a, &product), whole);
        if ty == whole {
            return rest;
        }
        let slot = self.take_slot(ty.width());
        self.emit(span, StmtKind::Assign(Place::Slot(slot), rest));
        Expr::Variable { slot, ty }
    }

    /// Both sides as numbers of the type that one of them has.
    pub(super) fn pair(&mut self, a: Value, b: Value, [a_span, b_span]: [&Span; 2]) -> Option<(Expr, Expr)> {
        let ty = match (&a, &b) {
            (Value::Poison, _) | (_, Value::Poison) => return None,
            (Value::Number(a), _) => a.ty(),
            (_, Value::Number(b)) => b.ty(),
            (Value::Index(_) | Value::Constant(_), Value::Index(_))
            | (Value::Index(_), Value::Constant(_)) => self.type_of_indices(&a, &b, a_span)?,
            (Value::Constant(_) | Value::Index(_), b) => {
                self.not_a_number(b, b_span);
                return None;
            }
            (a, _) => {
                self.not_a_number(a, a_span);
                return None;
            }
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
    ) -> Value {
        if let (Value::Constant(a), Value::Constant(b)) = (&a, &b) {
            return self.fold(op, *a, *b, span).map_or(Value::Poison, Value::Constant);
        }
        if let Some(value) = self.index_arithmetic(op, &a, &b, span) {
            return value;
        }
        let Some((a, b)) = self.pair(a, b, sides) else { return Value::Poison };
        let ty = a.ty();
        let plain = |op, a, b| Expr::Binary(op, Box::new(a), Box::new(b));
        let wider = Ty { integer: ty.integer + 1, ..ty };
        let widen = |e: Expr| Expr::Cast(Box::new(e), wider);
        Value::Number(match op {
            Binary::Add => plain(Op::Add, a, b),
            Binary::Sub => plain(Op::Sub, a, b),
            Binary::Mul => plain(Op::Mul, a, b),
            Binary::RoundMul => plain(Op::MulRound, a, b),
            Binary::Div => plain(Op::Div, a, b),
            Binary::Rem => self.remainder(a, b, span),
            Binary::BitAnd => plain(Op::And, a, b),
            Binary::BitOr => plain(Op::Or, a, b),
            Binary::Xor => plain(Op::Xor, a, b),
            Binary::SatAdd => clamp(plain(Op::Add, widen(a), widen(b)), ty),
            Binary::SatSub => clamp(plain(Op::Sub, widen(a), widen(b)), ty),
            _ => clamp(plain(Op::MulWide, a, b), ty),
        })
    }

    pub(super) fn comparison(
        &mut self,
        op: Binary,
        a: &'p syntax::Expr,
        b: &'p syntax::Expr,
        span: &Span,
    ) -> Value {
        let (left, right) = (self.expr(a), self.expr(b));
        if let (Value::Constant(left), Value::Constant(right)) = (&left, &right) {
            let Some(order) = left.compare(*right) else {
                self.error(span, "numbers too large to compare", "");
                return Value::Poison;
            };
            let holds = match op {
                Binary::Less => order == Ordering::Less,
                Binary::LessEqual => order != Ordering::Greater,
                Binary::Greater => order == Ordering::Greater,
                Binary::GreaterEqual => order != Ordering::Less,
                Binary::Equal => order == Ordering::Equal,
                _ => order != Ordering::Equal,
            };
            return Value::Condition(Cond::Constant(holds));
        }
        let not = |cond| Cond::Not(Box::new(cond));
        if let (Value::Condition(left), Value::Condition(right)) = (&left, &right)
            && matches!(op, Binary::Equal | Binary::NotEqual)
        {
            let differ = self.differ(left.clone(), right.clone(), span);
            return Value::Condition(if op == Binary::NotEqual { differ } else { not(differ) });
        }
        let Some((a, b)) = self.pair(left, right, [&a.span, &b.span]) else { return Value::Poison };
        Value::Condition(match op {
            Binary::Less => Cond::Less(a, b),
            Binary::Greater => Cond::Less(b, a),
            Binary::LessEqual => not(Cond::Less(b, a)),
            Binary::GreaterEqual => not(Cond::Less(a, b)),
            Binary::Equal => Cond::Equal(a, b),
            _ => not(Cond::Equal(a, b)),
        })
    }

    /// Whether two bits differ.
    pub(super) fn differ(&mut self, a: Cond, b: Cond, span: &Span) -> Cond {
        let not = |cond| Box::new(Cond::Not(Box::new(cond)));
        // Both sides are mentioned twice: as flags that costs nothing.
        let (a, b) = (self.as_flag(a, span), self.as_flag(b, span));
        let first = Cond::And(Box::new(a.clone()), not(b.clone()));
        Cond::Or(Box::new(first), Box::new(Cond::And(not(a), Box::new(b))))
    }

    pub(super) fn as_flag(&mut self, cond: Cond, span: &Span) -> Cond {
        if matches!(cond, Cond::Constant(_) | Cond::Flag(Place::Slot(_))) {
            return cond;
        }
        let slot = self.take_slot(1);
        self.emit(span, StmtKind::SetFlag(Place::Slot(slot), cond));
        Cond::Flag(Place::Slot(slot))
    }

    pub(super) fn cast(&mut self, value: Value, to: &Type, saturating: bool, span: &Span) -> Value {
        let ty = match self.shape(to) {
            Shape::Number(ty) => ty,
            Shape::Poison => return Value::Poison,
            found => {
                self.error(&to.span, format!("a conversion to {found}"), "expected a number type");
                return Value::Poison;
            }
        };
        let value = match value {
            Value::Constant(value) if saturating => {
                let raw = value.round(ty.fraction);
                let clamped = raw.map(|raw| raw.clamp(ty.smallest().into(), ty.largest().into()));
                match clamped.and_then(|raw| i64::try_from(raw).ok()) {
                    Some(raw) => return Value::Number(Expr::Constant { raw, ty }),
                    None => Value::Constant(value),
                }
            }
            // A loop's variable that does not fit is cut off like any number.
            Value::Index(affine) if saturating => {
                let wide = Self::integer_type(self.interval(&affine));
                self.number_of_index(&affine, wide, span).map_or(Value::Poison, Value::Number)
            }
            value => value,
        };
        match value {
            Value::Number(value) if saturating => {
                let integer = value.ty().integer.max(ty.integer);
                let wide = Ty { integer, ..ty };
                Value::Number(clamp(Expr::Cast(Box::new(value), wide), ty))
            }
            Value::Number(value) => Value::Number(Expr::Cast(Box::new(value), ty)),
            Value::Constant(_) | Value::Index(_) => {
                self.coerce(value, ty, span).map_or(Value::Poison, Value::Number)
            }
            Value::Condition(cond) => self.number_of_bit(cond, ty, span),
            value => self.not_a_number(&value, span),
        }
    }

    /// 1 where a bit is true, else 0.
    fn number_of_bit(&mut self, cond: Cond, ty: Ty, span: &Span) -> Value {
        let Some(one) = self.coerce(Value::Constant(Ratio::integer(1)), ty, span) else {
            return Value::Poison;
        };
        let slot = self.take_slot(ty.width());
        let line = self.line(span);
        let set = |value| vec![crate::core::Stmt { line, kind: StmtKind::Assign(Place::Slot(slot), value) }];
        self.emit(span, StmtKind::If(cond, set(one), set(Expr::Constant { raw: 0, ty })));
        Value::Number(Expr::Variable { slot, ty })
    }

    pub(super) fn builtin_constant(&mut self, name: &str, a: Ratio, b: Ratio) -> Value {
        let order = a.compare(b).unwrap_or(Ordering::Equal);
        Value::Constant(match (name, order) {
            ("relu" | "max", Ordering::Less) | ("min", Ordering::Greater) => b,
            ("abs", Ordering::Less) => a.negated(),
            ("sign", Ordering::Less) => Ratio::integer(-1),
            ("sign", Ordering::Greater) => Ratio::integer(1),
            _ => a,
        })
    }

    pub(super) fn fold(&mut self, op: Binary, a: Ratio, b: Ratio, span: &Span) -> Option<Ratio> {
        let power = |k: Ratio| {
            let k = k.to_integer().and_then(|k| u32::try_from(k).ok()).filter(|&k| k < 100)?;
            Some(Ratio::integer(1 << k))
        };
        let folded = match op {
            Binary::Add | Binary::SatAdd => a.add(b),
            Binary::Sub | Binary::SatSub => a.add(b.negated()),
            Binary::Mul | Binary::SatMul | Binary::RoundMul => a.mul(b),
            Binary::Div => a.div(b),
            Binary::Rem if b == Ratio::ZERO => None,
            Binary::Rem => {
                a.div(b).and_then(|ratio| b.mul(ratio.truncated())).and_then(|q| a.add(q.negated()))
            }
            Binary::BitAnd | Binary::BitOr | Binary::Xor => {
                let [a, b] = [a, b].map(Ratio::to_integer);
                a.zip(b).map(|(a, b)| {
                    Ratio::integer(match op {
                        Binary::BitAnd => a & b,
                        Binary::BitOr => a | b,
                        _ => a ^ b,
                    })
                })
            }
            Binary::Shl => power(b).and_then(|p| a.mul(p)),
            Binary::Shr => power(b).and_then(|p| a.div(p)),
            _ => None,
        };
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
    let wide = value.ty();
    if wide == to {
        return value;
    }
    Expr::Clamp(Box::new(value), to)
}

pub(super) fn is_arithmetic(op: Binary) -> bool {
    use Binary::{Add, BitAnd, BitOr, Div, Mul, Rem, RoundMul, SatAdd, SatMul, SatSub, Shl, Shr, Sub, Xor};
    matches!(
        op,
        Add | Sub | Mul | RoundMul | Div | Rem | SatAdd | SatSub | SatMul | Shl | Shr | BitAnd | BitOr | Xor
    )
}
