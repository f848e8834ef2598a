//! Expressions.

use luge_machine::Diagnostic;

use super::{Binding, Checker, MAX_EXPRESSIONS, MAX_LEVELS, Shape, Value, describe};
use super::{operators::is_arithmetic, results::shape_of};
use crate::{
    core::{Affine, Cond, Expr, Op, Place, Ty},
    lex::Span,
    ratio::Ratio,
    syntax::{self, ExprKind, Name},
};

impl<'p> Checker<'p> {
    pub(super) fn expr(&mut self, expr: &'p syntax::Expr) -> Value {
        let span = &expr.span;
        self.n_expressions += 1;
        if self.n_expressions > MAX_EXPRESSIONS {
            if !self.too_large {
                self.too_large = true;
                let message =
                    format!("the program has more than {MAX_EXPRESSIONS} expressions once it is unrolled");
                self.error(span, message, "the limit is reached here");
            }
            return Value::Poison;
        }
        if self.level >= MAX_LEVELS {
            self.error(
                span,
                format!("nested more than {MAX_LEVELS} deep once functions are inlined"),
                "too deep here",
            )
            .remedy("name parts of it with `let`");
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
            ExprKind::Index(..) | ExprKind::Slice(..) => match self.view(expr) {
                Some((view, _)) => self.view_value(view),
                None => Value::Poison,
            },
            ExprKind::List(values) => self.list(values, span, None),
            ExprKind::Negate(value) => match self.expr(value) {
                Value::Constant(value) => Value::Constant(value.negated()),
                Value::Index(affine) => Value::Index(affine.times(-1)),
                Value::Number(value) => Value::Number(Expr::Negate(Box::new(value))),
                value => self.not_a_number(&value, span),
            },
            ExprKind::If(condition, yes, no) => self.choice([condition, yes, no], None, span),
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
            self.mismatch("a number", value, span);
        }
        Value::Poison
    }

    /// Notes that something else was expected.
    fn mismatch(&mut self, expected: &str, value: &Value, span: &Span) -> &mut Diagnostic {
        let found = describe(value);
        self.error(span, format!("expected {expected}, found {found}"), format!("this is {found}"))
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
                self.mismatch(expected, &value, span).remedy("compare it with something, such as `!= 0`");
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
                Binding::Loop(_) => {
                    self.only_when_run(span);
                    None
                }
                _ => self.not_constant(span),
            },
            _ => self.not_constant(span),
        }
    }

    fn not_constant(&mut self, span: &Span) -> Option<Ratio> {
        self.error(span, "not known before the program runs", "expected a constant")
            .remedy("literals, constants, sizes and variables of `unroll for i in a..b` are known");
        None
    }

    pub(super) fn integer(&mut self, expr: &syntax::Expr) -> Option<i128> {
        let value = self.constant(expr)?;
        self.as_integer(value, &expr.span)
    }

    pub(super) fn as_integer(&mut self, value: Ratio, span: &Span) -> Option<i128> {
        let integer = value.to_integer();
        if integer.is_none() {
            self.error(span, format!("expected an integer, found {value}"), "not an integer");
        }
        integer
    }

    /// Whether there is a sample here; says so if not.
    pub(super) fn inside_data(&mut self, span: &Span) -> bool {
        if !self.in_data {
            self.error(span, "the data are read inside a loop over them", "no sample here").remedy(
                "put it into `for sample in data { … }`, or write `take;` for the next sample of a stream",
            );
        }
        self.in_data
    }

    fn name(&mut self, name: &str, span: &Span) -> Value {
        match self.lookup(name, span) {
            Binding::Constant(value) => Value::Constant(value),
            Binding::Loop(var) => Value::Index(Affine::variable(var)),
            Binding::Scalar(slot, ty) => Value::Number(Expr::Variable { slot, ty }),
            Binding::Flag(slot) => Value::Condition(Cond::Flag(Place::Slot(slot))),
            Binding::Fixed(value) => Value::Number(value),
            Binding::FixedFlag(cond) => Value::Condition(cond),
            Binding::Array(view) | Binding::FixedArray(view) => self.view_value(view),
            Binding::Data(view) => {
                if self.inside_data(span) {
                    let view = self.sample_view(view, span);
                    self.view_value(view)
                } else {
                    Value::Poison
                }
            }
            Binding::Poison => Value::Poison,
            Binding::Alias(_) => {
                self.error(span, format!("`{name}` is a type"), "expected a value");
                Value::Poison
            }
            Binding::Tape(_) => {
                self.error(span, format!("`{name}` is a tape"), "not a value")
                    .remedy(format!("write `{name}.read()`"));
                Value::Poison
            }
        }
    }

    /// The value of an expression for something of a known shape.
    pub(super) fn expr_for(&mut self, expr: &'p syntax::Expr, shape: Option<&Shape>) -> Value {
        match (shape, &expr.kind) {
            (Some(Shape::Array(element, _)), ExprKind::List(_)) => self.list_or_expr(expr, Some(element)),
            (Some(shape), ExprKind::If(condition, yes, no)) => {
                self.choice([condition, yes, no], Some(shape), &expr.span)
            }
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
        let values: Vec<(Value, &Span)> =
            values.iter().map(|value| (self.expr_for(value, element), &value.span)).collect();
        if values.iter().any(|(value, _)| matches!(value, Value::Poison)) {
            return Value::Poison;
        }
        let told = values.iter().find_map(|(value, _)| shape_of(value));
        let Some(element) = element.cloned().or(told) else {
            self.error(span, "the type of the list cannot be told", "only literals")
                .remedy("give one of them a type: `[1 as fix<I,F>, 2, 3]`");
            return Value::Poison;
        };
        let mut fitting = Vec::new();
        let mut right = true;
        for (value, at) in values {
            match self.fitting(value, &element, at) {
                Some(value) => fitting.push(value),
                None => right = false,
            }
        }
        if right { Value::List(fitting, element) } else { Value::Poison }
    }

    /// The value as one of this shape; what does not fit is reported.
    pub(super) fn fitting(&mut self, value: Value, shape: &Shape, span: &Span) -> Option<Value> {
        let same = match (&value, shape) {
            (Value::Poison, _) => return None,
            (_, Shape::Number(ty)) => return self.coerce(value, *ty, span).map(Value::Number),
            (_, Shape::Bit) => return Some(Value::Condition(self.as_condition(value, span, "bit"))),
            (Value::Array(view), shape) => view.shape == *shape,
            (Value::List(values, found), Shape::Array(element, length)) => {
                values.len() == *length && *found == **element
            }
            _ => false,
        };
        if !same {
            self.mismatch(&shape.to_string(), &value, span);
        }
        same.then_some(value)
    }

    /// The value as a number of this type: literals are rounded, everything else must have it already.
    pub(super) fn coerce(&mut self, value: Value, ty: Ty, span: &Span) -> Option<Expr> {
        match value {
            Value::Constant(value) => {
                let raw = value.round(ty.fraction).and_then(|raw| i64::try_from(raw).ok());
                let raw = raw.filter(|raw| (ty.smallest()..=ty.largest()).contains(raw));
                if raw.is_none() {
                    self.error(span, format!("{value} does not fit into {ty}"), "too large")
                        .remedy("choose a type with more bits before the point");
                }
                raw.map(|raw| Expr::Constant { raw, ty })
            }
            Value::Index(affine) => self.number_of_index(&affine, ty, span),
            Value::Number(value) if value.ty() == ty => Some(value),
            Value::Poison => None,
            value => {
                let wrong = self.mismatch(&ty.to_string(), &value, span);
                if matches!(value, Value::Number(_) | Value::Condition(_)) {
                    wrong.remedy(format!("convert it with `as {ty}`"));
                }
                None
            }
        }
    }

    fn call(&mut self, name: &Name, arguments: &'p [syntax::Expr], span: &Span) -> Value {
        let n_expected = match name.text.as_str() {
            "relu" | "abs" | "sign" => 1,
            "min" | "max" => 2,
            "random" => {
                if let Some(argument) = arguments.first() {
                    let help = "it is seeded by `const SEED = 1;` at the top of the file";
                    self.error(&argument.span, "`random` takes nothing", "too much").remedy(help);
                }
                return self.random(span);
            }
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
    let here = match &expr.kind {
        ExprKind::Name(found) => found == name,
        ExprKind::Read(found) => found.text == name,
        _ => false,
    };
    here || expr.parts().into_iter().any(|part| mentions(part, name))
}
