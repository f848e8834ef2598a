//! Expressions.

use luge_machine::Diagnostic;

use super::{
    Binding, Checker, Expr, MAX_EXPRESSIONS, MAX_NESTING, Op, Shape, Span, Ty, Value, View, builtin_constant,
    describe, shape_of,
};
use crate::ratio::{self, Ratio};
use crate::syntax::{self, ExprKind, Name};

impl<'p> Checker<'p> {
    pub(super) fn expr(&mut self, expr: &'p syntax::Expr) -> Option<Value> {
        let span = &expr.span;
        self.made.n_expressions += 1;
        if self.made.n_expressions > MAX_EXPRESSIONS {
            self.too_large(&format!("{MAX_EXPRESSIONS} expressions once it is unrolled"), span);
            return None;
        }
        if self.here.level >= MAX_NESTING {
            let message = format!("nested more than {MAX_NESTING} deep once functions are inlined");
            return self.refuse(span, message, "too deep here", "name parts of it with `let`");
        }
        self.here.level += 1;
        let value = self.expr_inside(expr);
        self.here.level -= 1;
        value
    }

    fn expr_inside(&mut self, expr: &'p syntax::Expr) -> Option<Value> {
        let span = &expr.span;
        Some(match &expr.kind {
            ExprKind::Number(value) => Value::Constant(*value),
            ExprKind::Bool(value) => Value::Number(Expr::bit(*value)),
            ExprKind::Name(name) => return self.name(name, span),
            ExprKind::Index(..) | ExprKind::Slice(..) => return self.view(expr)?.0.value(),
            ExprKind::List(values) => return self.list(values, span, None),
            ExprKind::Negate(value) => match self.expr(value)? {
                Value::Constant(value) => Value::Constant(-value),
                Value::Index(affine) => Value::Index(affine.times(-1)),
                value => Value::Number(Expr::Negate(Box::new(self.a_number(value, span)?))),
            },
            ExprKind::If(condition, yes, no) => return self.choice([condition, yes, no], None, span),
            ExprKind::Not(value) => Value::Number(self.condition(value).not()),
            ExprKind::Binary(op, a, b) => return self.binary(*op, [a, b], span),
            ExprKind::Call(name, arguments) => return self.call(name, arguments, span),
            ExprKind::Read(name) => Value::Number(Expr::Read(self.tape(name)?)),
            ExprKind::Cast { value, to, saturating } => {
                let value = self.expr(value);
                return self.cast(value, to, *saturating, span);
            }
        })
    }

    pub(super) fn not_a_number<T>(&mut self, value: &Value, span: &Span) -> Option<T> {
        self.mismatch("a number", value, span);
        None
    }

    pub(super) fn a_number(&mut self, value: Value, span: &Span) -> Option<Expr> {
        match value {
            Value::Number(number) if number.ty() != Ty::BIT => Some(number),
            value => self.not_a_number(&value, span),
        }
    }

    /// Reports a value of the wrong type.
    fn mismatch(&mut self, expected: &str, value: &Value, span: &Span) -> &mut Diagnostic {
        let found = describe(value);
        self.error(span, format!("expected {expected}, found {found}"), format!("this is {found}"))
    }

    /// The value of an expression that must be a bit, called a condition in messages.
    pub(super) fn condition(&mut self, expr: &'p syntax::Expr) -> Expr {
        let value = self.expr(expr);
        self.as_condition(value, &expr.span, "a condition")
    }

    pub(super) fn as_condition(&mut self, value: Option<Value>, span: &Span, expected: &str) -> Expr {
        match value {
            Some(Value::Number(bit)) if bit.ty() == Ty::BIT => return bit,
            Some(value) => {
                self.mismatch(expected, &value, span).remedy("compare it with something, such as `!= 0`");
            }
            None => {}
        }
        Expr::bit(false)
    }

    /// The value of a constant expression.
    pub(super) fn constant(&mut self, expr: &syntax::Expr) -> Option<Ratio> {
        let span = &expr.span;
        match &expr.kind {
            ExprKind::Number(value) => Some(*value),
            ExprKind::Negate(value) => self.constant(value).map(|value| -value),
            ExprKind::Binary(op, a, b) if op.is_arithmetic() => {
                let (a, b) = (self.constant(a)?, self.constant(b)?);
                self.fold(*op, a, b, span)
            }
            ExprKind::Name(name) => match self.lookup(name, span) {
                Binding::Value(Some(Value::Constant(value))) => Some(value),
                Binding::Value(Some(Value::Index(_))) => self.only_when_run(span),
                Binding::Value(None) => None,
                _ => self.not_constant(span),
            },
            _ => self.not_constant(span),
        }
    }

    fn not_constant(&mut self, span: &Span) -> Option<Ratio> {
        let help = "literals, constants, sizes and variables of `unroll for i in a..b` are known";
        self.refuse(span, "not known before the program runs", "expected a constant", help)
    }

    pub(super) fn integer(&mut self, expr: &syntax::Expr) -> Option<i128> {
        let value = self.constant(expr)?;
        self.as_integer(value, &expr.span)
    }

    pub(super) fn as_integer(&mut self, value: Ratio, span: &Span) -> Option<i128> {
        let message = || format!("expected an integer, found {value}");
        ratio::to_integer(value).or_else(|| self.fail(span, message(), "not an integer"))
    }

    /// Features or labels; reports an error outside of loops over the data.
    pub(super) fn sample(&mut self, view: View, span: &Span) -> Option<View> {
        if !self.here.in_data {
            let help =
                "put it into `for sample in data { … }`, or write `take;` for the next sample of a stream";
            return self.refuse(span, "the data are read inside a loop over them", "no sample here", help);
        }
        Some(self.sample_view(view, span))
    }

    fn name(&mut self, name: &str, span: &Span) -> Option<Value> {
        match self.lookup(name, span) {
            Binding::Value(value) => value,
            Binding::Variable(view) => view.value(),
            Binding::Data(view) => self.sample(view, span)?.value(),
            Binding::Alias(_) => self.fail(span, format!("`{name}` is a type"), "expected a value"),
            Binding::Tape(_) => {
                let help = format!("write `{name}.read()`");
                self.refuse(span, format!("`{name}` is a tape"), "not a value", &help)
            }
        }
    }

    /// The value of an expression for a target of known shape.
    pub(super) fn expr_for(&mut self, expr: &'p syntax::Expr, shape: Option<&Shape>) -> Option<Value> {
        match (shape, &expr.kind) {
            // Literals in a list get the type of its elements.
            (Some(Shape::Array(element, _)), ExprKind::List(values)) => {
                self.list(values, &expr.span, Some(element))
            }
            (Some(shape), ExprKind::If(condition, yes, no)) => {
                self.choice([condition, yes, no], Some(shape), &expr.span)
            }
            _ => self.expr(expr),
        }
    }

    fn list(&mut self, values: &'p [syntax::Expr], span: &Span, element: Option<&Shape>) -> Option<Value> {
        let values: Vec<(Option<Value>, &Span)> =
            values.iter().map(|value| (self.expr_for(value, element), &value.span)).collect();
        let values: Vec<(Value, &Span)> =
            values.into_iter().map(|(value, at)| Some((value?, at))).collect::<Option<_>>()?;
        let inferred = values.iter().find_map(|(value, _)| shape_of(value));
        let Some(element) = element.cloned().or(inferred) else {
            let help = "give one of them a type: `[1 as fix<I,F>, 2, 3]`";
            return self.refuse(span, "the type of the list cannot be inferred", "only literals", help);
        };
        let fitting: Vec<Option<Value>> =
            values.into_iter().map(|(value, at)| self.fitting(value, &element, at)).collect();
        Some(Value::List(fitting.into_iter().collect::<Option<_>>()?, element))
    }

    /// The value as one of this shape; a mismatch is reported.
    pub(super) fn fitting(&mut self, value: Value, shape: &Shape, span: &Span) -> Option<Value> {
        let same = match (&value, shape) {
            (_, Shape::Number(Ty::BIT)) => {
                return Some(Value::Number(self.as_condition(Some(value), span, "bit")));
            }
            (_, Shape::Number(ty)) => return self.coerce(value, *ty, span).map(Value::Number),
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

    /// The value as a number of this type: literals are rounded, other numbers must have the type already.
    pub(super) fn coerce(&mut self, value: Value, ty: Ty, span: &Span) -> Option<Expr> {
        match value {
            Value::Constant(value) => {
                let raw = ratio::round(value, ty.fraction).and_then(|raw| i64::try_from(raw).ok());
                let raw = raw.filter(|raw| (ty.smallest()..=ty.largest()).contains(raw));
                if raw.is_none() {
                    self.error(span, format!("{value} does not fit into {ty}"), "too large")
                        .remedy("choose a type with more bits before the point");
                }
                raw.map(|raw| Expr::Constant { raw, ty })
            }
            Value::Index(affine) => self.number_of_index(&affine, ty, span),
            Value::Number(value) if value.ty() == ty => Some(value),
            value => {
                let wrong = self.mismatch(&ty.to_string(), &value, span);
                if matches!(value, Value::Number(_)) {
                    wrong.remedy(format!("convert it with `as {ty}`"));
                }
                None
            }
        }
    }

    fn call(&mut self, name: &Name, arguments: &'p [syntax::Expr], span: &Span) -> Option<Value> {
        let n_expected = match name.text.as_str() {
            "relu" | "abs" | "sign" => 1,
            "min" | "max" => 2,
            "random" => {
                if let Some(argument) = arguments.first() {
                    let help = "it is seeded by `const SEED = 1;` at the top of the file";
                    self.error(&argument.span, "`random` takes no arguments", "unexpected").remedy(help);
                }
                return Some(self.random(span));
            }
            _ => return self.call_function(name, arguments, span),
        };
        let values: Vec<Option<Value>> = arguments.iter().map(|argument| self.expr(argument)).collect();
        if values.len() != n_expected {
            let message = format!("`{}` takes {n_expected} numbers, {} given", name.text, values.len());
            return self.fail(span, message, format!("expected {n_expected}"));
        }
        let mut values = values.into_iter();
        let first = values.next().flatten();
        let second = values.next().unwrap_or(Some(Value::Constant(Ratio::ZERO)));
        let (first, second) = (first?, second?);
        if let (Value::Constant(a), Value::Constant(b)) = (&first, &second) {
            return Some(Value::Constant(builtin_constant(&name.text, *a, *b)));
        }
        let side = |argument: Option<&'p syntax::Expr>| argument.map_or(span, |argument| &argument.span);
        let (a, b) = self.pair(first, second, [side(arguments.first()), side(arguments.last())])?;
        Some(Value::Number(match name.text.as_str() {
            "relu" | "max" => Expr::binary(Op::Max, a, b),
            "min" => Expr::binary(Op::Min, a, b),
            "abs" => Expr::Abs(Box::new(a)),
            _ if a.ty().integer < 2 => {
                let message = format!("{} has no 1, so `sign` has no value", a.ty());
                return self.fail(span, message, "needs 2 bits before the point");
            }
            _ => Expr::Sign(Box::new(a)),
        }))
    }
}
