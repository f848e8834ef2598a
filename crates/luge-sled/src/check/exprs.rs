//! Expressions.

use super::operators::is_arithmetic;
use super::{Binding, Checker, MOST_EXPRESSIONS, MOST_LEVELS, Shape, Value, describe};
use crate::{
    core::{Cond, Expr, Op, Ty},
    lex::Span,
    ratio::Ratio,
    syntax::{self, ExprKind, Name, Type, TypeKind},
};

impl<'p> Checker<'p> {
    pub(super) fn expr(&mut self, expr: &'p syntax::Expr) -> Value {
        let span = &expr.span;
        self.n_expressions += 1;
        if self.n_expressions > MOST_EXPRESSIONS {
            if !self.too_large {
                self.too_large = true;
                let message =
                    format!("the program has more than {MOST_EXPRESSIONS} expressions once it is unrolled");
                self.error(span, message, "the limit is reached here");
            }
            return Value::Poison;
        }
        if self.level >= MOST_LEVELS {
            self.error_with_help(
                span,
                format!("nested more than {MOST_LEVELS} deep once functions are inlined"),
                "too deep here",
                "name parts of it with `let`",
            );
            return Value::Poison;
        }
        self.level += 1;
        let value = self.expr_inside(expr);
        self.level -= 1;
        value
    }

    fn expr_inside(&mut self, expr: &'p syntax::Expr) -> Value {
        let span = &expr.span;
        match &expr.kind {
            ExprKind::Number(value) => Value::Constant(*value),
            ExprKind::Bool(value) => Value::Condition(Cond::Constant(*value)),
            ExprKind::Name(name) => self.name(name, span),
            ExprKind::Index(name, index) => self.indexed(name, index),
            ExprKind::List(values) => self.list(values, span, None),
            ExprKind::Negate(value) => match self.expr(value) {
                Value::Constant(value) => Value::Constant(value.negated()),
                Value::Number(value) => Value::Number(Expr::Negate(Box::new(value))),
                value => self.not_a_number(&value, span),
            },
            ExprKind::Not(value) => Value::Condition(Cond::Not(Box::new(self.condition(value)))),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, span),
            ExprKind::Call(name, arguments) => self.call(name, arguments, span),
            ExprKind::Read(name) => {
                self.tape(name).map_or(Value::Poison, |tape| Value::Condition(Cond::Read(tape)))
            }
            ExprKind::Cast { value, to, saturating } => {
                let value = self.expr(value);
                self.cast(value, to, *saturating, span)
            }
        }
    }

    pub(super) fn not_a_number(&mut self, value: &Value, span: &Span) -> Value {
        if !matches!(value, Value::Poison) {
            let found = describe(value);
            self.error(span, format!("expected a number, found {found}"), format!("this is {found}"));
        }
        Value::Poison
    }

    /// The value of an expression that must be a condition.
    pub(super) fn condition(&mut self, expr: &'p syntax::Expr) -> Cond {
        let value = self.expr(expr);
        self.as_condition(value, &expr.span, "a condition")
    }

    /// The value of an expression that must be a bit.
    pub(super) fn bit(&mut self, expr: &'p syntax::Expr) -> Cond {
        let value = self.expr(expr);
        self.as_condition(value, &expr.span, "bit")
    }

    pub(super) fn as_condition(&mut self, value: Value, span: &Span, expected: &str) -> Cond {
        match value {
            Value::Condition(cond) => cond,
            Value::Poison => Cond::Constant(false),
            value => {
                let found = describe(&value);
                self.error_with_help(
                    span,
                    format!("expected {expected}, found {found}"),
                    format!("this is {found}"),
                    "compare it with something, such as `!= 0`",
                );
                Cond::Constant(false)
            }
        }
    }

    /// An expression of literals, constants and loop variables.
    pub(super) fn constant(&mut self, expr: &syntax::Expr) -> Option<Ratio> {
        let span = &expr.span;
        match &expr.kind {
            ExprKind::Number(value) => Some(*value),
            ExprKind::Negate(value) => self.constant(value).map(Ratio::negated),
            ExprKind::Binary(op, a, b) if is_arithmetic(*op) => {
                let (a, b) = (self.constant(a)?, self.constant(b)?);
                self.fold(*op, a, b, span)
            }
            ExprKind::Name(name) => match self.lookup(name, span) {
                Binding::Constant(value) => Some(value),
                Binding::Poison => None,
                _ => self.not_constant(span),
            },
            _ => self.not_constant(span),
        }
    }

    fn not_constant(&mut self, span: &Span) -> Option<Ratio> {
        self.error_with_help(
            span,
            "not known before the program runs",
            "expected a constant",
            "literals, constants, sizes and variables of `for i in a..b` are known",
        );
        None
    }

    pub(super) fn integer(&mut self, expr: &syntax::Expr) -> Option<i128> {
        let value = self.constant(expr)?;
        let integer = value.to_integer();
        if integer.is_none() {
            self.error(&expr.span, format!("expected an integer, found {value}"), "not an integer");
        }
        integer
    }

    pub(super) fn index(&mut self, index: &syntax::Expr, length: usize, name: &str) -> Option<usize> {
        let value = self.integer(index)?;
        match usize::try_from(value) {
            Ok(value) if value < length => Some(value),
            _ => {
                let message = format!("`{name}` has {length} elements, but element {value} is asked for");
                self.error(&index.span, message, format!("expected 0 to {}", length.saturating_sub(1)));
                None
            }
        }
    }

    fn data(&mut self, element: usize, ty: Ty, span: &Span) -> Value {
        if !self.in_data {
            self.error_with_help(
                span,
                "the data are read inside a loop over them",
                "no sample here",
                "put it into `for sample in data { … }`",
            );
            return Value::Poison;
        }
        Value::Number(Expr::Data { element, ty })
    }

    fn name(&mut self, name: &str, span: &Span) -> Value {
        match self.lookup(name, span) {
            Binding::Constant(value) => Value::Constant(value),
            Binding::Scalar(slot, ty) => Value::Number(Expr::Variable { slot, ty }),
            Binding::Flag(slot) => Value::Condition(Cond::Flag(slot)),
            Binding::Fixed(value) => Value::Number(value),
            Binding::FixedFlag(cond) => Value::Condition(cond),
            Binding::Array(slots, Shape::Number(ty)) | Binding::FixedArray(slots, Shape::Number(ty)) => {
                Value::Array(slots.into_iter().map(|slot| Expr::Variable { slot, ty }).collect(), ty)
            }
            Binding::Array(slots, _) | Binding::FixedArray(slots, _) => {
                Value::Flags(slots.into_iter().map(Cond::Flag).collect())
            }
            Binding::Features(n, ty) => self.data_array(0, n, ty, span),
            Binding::Labels(first, 1, true, ty) => self.data(first, ty, span),
            Binding::Labels(first, n, _, ty) => self.data_array(first, n, ty, span),
            Binding::Poison => Value::Poison,
            Binding::Alias(_) => {
                self.error(span, format!("`{name}` is a type"), "expected a value");
                Value::Poison
            }
            Binding::Tape(_) => {
                self.error_with_help(
                    span,
                    format!("`{name}` is a tape"),
                    "not a value",
                    format!("write `{name}.read()`"),
                );
                Value::Poison
            }
        }
    }

    fn data_array(&mut self, first: usize, n: usize, ty: Ty, span: &Span) -> Value {
        match self.data(first, ty, span) {
            Value::Number(_) => {
                Value::Array((first..first + n).map(|element| Expr::Data { element, ty }).collect(), ty)
            }
            value => value,
        }
    }

    fn indexed(&mut self, name: &Name, index: &syntax::Expr) -> Value {
        match self.lookup(&name.text, &name.span) {
            Binding::Array(slots, element) | Binding::FixedArray(slots, element) => {
                match (self.index(index, slots.len(), &name.text), element) {
                    (Some(i), Shape::Number(ty)) => Value::Number(Expr::Variable { slot: slots[i], ty }),
                    (Some(i), _) => Value::Condition(Cond::Flag(slots[i])),
                    (None, _) => Value::Poison,
                }
            }
            Binding::Features(n, ty) => match self.index(index, n, &name.text) {
                Some(i) => self.data(i, ty, &name.span),
                None => Value::Poison,
            },
            Binding::Labels(first, n, false, ty) => match self.index(index, n, &name.text) {
                Some(i) => self.data(first + i, ty, &name.span),
                None => Value::Poison,
            },
            Binding::Poison => Value::Poison,
            _ => {
                self.error(&name.span, format!("`{}` is no array", name.text), "cannot be indexed");
                Value::Poison
            }
        }
    }

    /// The value of an expression for something of a known shape.
    pub(super) fn expr_for(&mut self, expr: &'p syntax::Expr, shape: Option<&Shape>) -> Value {
        match shape {
            Some(Shape::Array(element, _)) => self.list_or_expr(expr, Some(element)),
            _ => self.expr(expr),
        }
    }

    /// The value of an expression for an array whose elements are known: the literals of a list become such.
    pub(super) fn list_or_expr(&mut self, expr: &'p syntax::Expr, element: Option<&Shape>) -> Value {
        match &expr.kind {
            ExprKind::List(values) => self.list(values, &expr.span, element),
            _ => self.expr(expr),
        }
    }

    fn list(&mut self, values: &'p [syntax::Expr], span: &Span, element: Option<&Shape>) -> Value {
        let values: Vec<(Value, &Span)> = values.iter().map(|v| (self.expr(v), &v.span)).collect();
        if values.iter().any(|(value, _)| matches!(value, Value::Poison)) {
            return Value::Poison;
        }
        let bits = match element {
            Some(element) => *element == Shape::Bit,
            None => values.iter().any(|(value, _)| matches!(value, Value::Condition(_))),
        };
        if bits {
            return Value::Flags(values.into_iter().map(|(v, at)| self.as_condition(v, at, "bit")).collect());
        }
        let typed = values.iter().find_map(|(value, _)| match value {
            Value::Number(value) => Some(value.ty()),
            _ => None,
        });
        let wanted = match element {
            Some(Shape::Number(ty)) => Some(*ty),
            _ => None,
        };
        let Some(ty) = wanted.or(typed) else {
            self.error_with_help(
                span,
                "the type of the list cannot be told",
                "only literals",
                "give one of them a type: `[1 as fix<I,F>, 2, 3]`",
            );
            return Value::Poison;
        };
        let values: Vec<Option<Expr>> = values.into_iter().map(|(v, at)| self.coerce(v, ty, at)).collect();
        let values: Option<Vec<Expr>> = values.into_iter().collect();
        values.map_or(Value::Poison, |values| Value::Array(values, ty))
    }

    /// The value as a number of this type: literals are rounded, everything else must have it already.
    pub(super) fn coerce(&mut self, value: Value, ty: Ty, span: &Span) -> Option<Expr> {
        match value {
            Value::Constant(value) => {
                let raw = value.round(ty.fraction).and_then(|raw| i64::try_from(raw).ok());
                let raw = raw.filter(|raw| (ty.smallest()..=ty.largest()).contains(raw));
                if raw.is_none() {
                    self.error_with_help(
                        span,
                        format!("{value} does not fit into {ty}"),
                        "too large",
                        "choose a type with more bits before the point",
                    );
                }
                raw.map(|raw| Expr::Constant { raw, ty })
            }
            Value::Number(value) if value.ty() == ty => Some(value),
            Value::Poison => None,
            value => {
                let found = describe(&value);
                let message = format!("expected {ty}, found {found}");
                let label = format!("this is {found}");
                if matches!(value, Value::Number(_)) {
                    self.error_with_help(span, message, label, format!("convert it with `as {ty}`"));
                } else {
                    self.error(span, message, label);
                }
                None
            }
        }
    }

    fn call(&mut self, name: &Name, arguments: &'p [syntax::Expr], span: &Span) -> Value {
        let n_expected = match name.text.as_str() {
            "relu" | "abs" | "sign" => 1,
            "min" | "max" => 2,
            _ => return self.call_function(name, arguments, span),
        };
        let values: Vec<Value> = arguments.iter().map(|argument| self.expr(argument)).collect();
        if values.len() != n_expected {
            let message = format!("`{}` takes {n_expected} numbers, {} given", name.text, values.len());
            self.error(span, message, format!("expected {n_expected}"));
            return Value::Poison;
        }
        let mut values = values.into_iter();
        let (first, second) = (values.next().unwrap_or(Value::Poison), values.next());
        let second = second.unwrap_or(Value::Constant(Ratio::ZERO));
        if let (Value::Constant(a), Value::Constant(b)) = (&first, &second) {
            return self.builtin_constant(&name.text, *a, *b);
        }
        let side = |argument: Option<&'p syntax::Expr>| argument.map_or(span, |argument| &argument.span);
        let sides = [side(arguments.first()), side(arguments.last())];
        let Some((a, b)) = self.pair(first, second, sides) else { return Value::Poison };
        let binary = |op, a, b| Expr::Binary(op, Box::new(a), Box::new(b));
        Value::Number(match name.text.as_str() {
            "relu" | "max" => binary(Op::Max, a, b),
            "min" => binary(Op::Min, a, b),
            "abs" => Expr::Abs(Box::new(a)),
            _ if a.ty().integer < 2 => {
                let message = format!("{} has no 1, so `sign` has no value", a.ty());
                self.error(span, message, "needs 2 bits before the point");
                return Value::Poison;
            }
            _ => Expr::Sign(Box::new(a)),
        })
    }
}

/// Whether a name occurs in an expression.
pub(super) fn mentions(expr: &syntax::Expr, name: &str) -> bool {
    match &expr.kind {
        ExprKind::Number(_) | ExprKind::Bool(_) => false,
        ExprKind::Name(found) => found == name,
        ExprKind::Read(found) => found.text == name,
        ExprKind::Index(found, index) => found.text == name || mentions(index, name),
        ExprKind::List(list) | ExprKind::Call(_, list) => list.iter().any(|e| mentions(e, name)),
        ExprKind::Negate(e) | ExprKind::Not(e) => mentions(e, name),
        ExprKind::Binary(_, a, b) => mentions(a, name) || mentions(b, name),
        ExprKind::Cast { value, to, .. } => mentions(value, name) || mentions_type(to, name),
    }
}

pub(super) fn mentions_type(ty: &Type, name: &str) -> bool {
    match &ty.kind {
        TypeKind::Bit | TypeKind::Tape | TypeKind::Named(_) => false,
        TypeKind::Int(width) => mentions(width, name),
        TypeKind::Fix(integer, fraction) => mentions(integer, name) || mentions(fraction, name),
        TypeKind::Array(element, length) => mentions_type(element, name) || mentions(length, name),
    }
}
