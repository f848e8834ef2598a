//! Expressions.

use std::cmp::Ordering;

use super::{Binding, Checker, DEEPEST_CALL, MOST_EXPRESSIONS, Shape, Value, describe};
use crate::{
    core::{Cond, Expr, Op, StmtKind, Ty},
    lex::Span,
    ratio::Ratio,
    syntax::{self, Binary, ExprKind, Name, Type, TypeKind},
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
        match &expr.kind {
            ExprKind::Number(value) => Value::Constant(*value),
            ExprKind::Bool(value) => Value::Condition(Cond::Constant(*value)),
            ExprKind::Name(name) => self.name(name, span),
            ExprKind::Index(name, index) => self.indexed(name, index),
            ExprKind::List(values) => self.list(values, span),
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

    fn not_a_number(&mut self, value: &Value, span: &Span) -> Value {
        if !matches!(value, Value::Poison) {
            let found = describe(value);
            self.error(span, format!("expected a number, found {found}"), format!("this is {found}"));
        }
        Value::Poison
    }

    /// The value of an expression that must be a condition.
    pub(super) fn condition(&mut self, expr: &'p syntax::Expr) -> Cond {
        let value = self.expr(expr);
        self.as_condition(value, &expr.span)
    }

    pub(super) fn as_condition(&mut self, value: Value, span: &Span) -> Cond {
        match value {
            Value::Condition(cond) => cond,
            Value::Poison => Cond::Constant(false),
            value => {
                let found = describe(&value);
                self.error_with_help(
                    span,
                    format!("expected a condition, found {found}"),
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
            ExprKind::Binary(op, a, b) if arithmetic(*op) => {
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

    fn fold(&mut self, op: Binary, a: Ratio, b: Ratio, span: &Span) -> Option<Ratio> {
        let power = |k: Ratio| {
            let k = k.to_integer().and_then(|k| u32::try_from(k).ok()).filter(|&k| k < 100)?;
            Some(Ratio::integer(1 << k))
        };
        let folded = match op {
            Binary::Add | Binary::SatAdd => a.add(b),
            Binary::Sub | Binary::SatSub => a.add(b.negated()),
            Binary::Mul | Binary::SatMul => a.mul(b),
            Binary::Div => a.div(b),
            Binary::Shl => power(b).and_then(|p| a.mul(p)),
            Binary::Shr => power(b).and_then(|p| a.div(p)),
            _ => None,
        };
        if folded.is_none() {
            self.error(span, format!("{a} {} {b} has no value", op.text()), "division by zero, or too large");
        }
        folded
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

    fn list(&mut self, values: &'p [syntax::Expr], span: &Span) -> Value {
        let values: Vec<(Value, &Span)> = values.iter().map(|v| (self.expr(v), &v.span)).collect();
        if values.iter().any(|(value, _)| matches!(value, Value::Poison)) {
            return Value::Poison;
        }
        if values.iter().any(|(value, _)| matches!(value, Value::Condition(_))) {
            return Value::Flags(values.into_iter().map(|(v, at)| self.as_condition(v, at)).collect());
        }
        let typed = values.iter().find_map(|(value, _)| match value {
            Value::Number(value) => Some(value.ty()),
            _ => None,
        });
        let Some(ty) = typed else {
            self.error_with_help(
                span,
                "the type of the list cannot be told",
                "only literals",
                "give one of them a type: `[1 as fix<I,F>, 2, 3]`",
            );
            return Value::Poison;
        };
        let values: Option<Vec<Expr>> = values.into_iter().map(|(v, at)| self.coerce(v, ty, at)).collect();
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

    fn binary(&mut self, op: Binary, a: &'p syntax::Expr, b: &'p syntax::Expr, span: &Span) -> Value {
        match op {
            Binary::And | Binary::Or => {
                let (a, b) = (Box::new(self.condition(a)), Box::new(self.condition(b)));
                Value::Condition(if op == Binary::And { Cond::And(a, b) } else { Cond::Or(a, b) })
            }
            Binary::Shl | Binary::Shr => self.shift(op, a, b, span),
            _ if arithmetic(op) => {
                let (left, right) = (self.expr(a), self.expr(b));
                self.arithmetic(op, left, right, span, &b.span)
            }
            _ => self.comparison(op, a, b, span),
        }
    }

    fn shift(&mut self, op: Binary, a: &'p syntax::Expr, b: &'p syntax::Expr, span: &Span) -> Value {
        let value = self.expr(a);
        if let Value::Constant(value) = value {
            let Some(by) = self.constant(b) else { return Value::Poison };
            return self.fold(op, value, by, span).map_or(Value::Poison, Value::Constant);
        }
        let Some(by) = self.integer(b) else { return Value::Poison };
        let Ok(by) = u32::try_from(by) else {
            self.error(&b.span, format!("a shift by {by}"), "expected 0 or more");
            return Value::Poison;
        };
        match value {
            Value::Number(value) if op == Binary::Shl => Value::Number(Expr::Shl(Box::new(value), by)),
            Value::Number(value) => Value::Number(Expr::Shr(Box::new(value), by)),
            value => self.not_a_number(&value, &a.span),
        }
    }

    /// Both sides as numbers of the type that one of them has.
    fn pair(&mut self, a: Value, b: Value, span: &Span, b_span: &Span) -> Option<(Expr, Expr)> {
        let ty = match (&a, &b) {
            (Value::Poison, _) | (_, Value::Poison) => return None,
            (Value::Number(a), _) => a.ty(),
            (_, Value::Number(b)) => b.ty(),
            (Value::Constant(_), other) | (other, _) => {
                self.not_a_number(&other.clone(), span);
                return None;
            }
        };
        let a = self.coerce(a, ty, span)?;
        Some((a, self.coerce(b, ty, b_span)?))
    }

    pub(super) fn arithmetic(&mut self, op: Binary, a: Value, b: Value, span: &Span, b_span: &Span) -> Value {
        if let (Value::Constant(a), Value::Constant(b)) = (&a, &b) {
            return self.fold(op, *a, *b, span).map_or(Value::Poison, Value::Constant);
        }
        let Some((a, b)) = self.pair(a, b, span, b_span) else { return Value::Poison };
        let ty = a.ty();
        let plain = |op, a, b| Expr::Binary(op, Box::new(a), Box::new(b));
        let wider = Ty { integer: ty.integer + 1, ..ty };
        let widen = |e: Expr| Expr::Cast(Box::new(e), wider);
        Value::Number(match op {
            Binary::Add => plain(Op::Add, a, b),
            Binary::Sub => plain(Op::Sub, a, b),
            Binary::Mul => plain(Op::Mul, a, b),
            Binary::Div => plain(Op::Div, a, b),
            Binary::SatAdd => clamp(plain(Op::Add, widen(a), widen(b)), ty),
            Binary::SatSub => clamp(plain(Op::Sub, widen(a), widen(b)), ty),
            _ => clamp(plain(Op::MulWide, a, b), ty),
        })
    }

    fn comparison(&mut self, op: Binary, a: &'p syntax::Expr, b: &'p syntax::Expr, span: &Span) -> Value {
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
            let both = |a: Cond, b: Cond| Cond::And(Box::new(a), Box::new(b));
            // Both sides are mentioned twice: as flags that costs nothing.
            let (a, b) = (self.as_flag(left.clone(), span), self.as_flag(right.clone(), span));
            let (yes, no) = (both(a.clone(), b.clone()), both(not(a), not(b)));
            let equal = Cond::Or(Box::new(yes), Box::new(no));
            return Value::Condition(if op == Binary::Equal { equal } else { not(equal) });
        }
        let Some((a, b)) = self.pair(left, right, span, &b.span) else { return Value::Poison };
        Value::Condition(match op {
            Binary::Less => Cond::Less(a, b),
            Binary::Greater => Cond::Less(b, a),
            Binary::LessEqual => not(Cond::Less(b, a)),
            Binary::GreaterEqual => not(Cond::Less(a, b)),
            Binary::Equal => Cond::Equal(a, b),
            _ => not(Cond::Equal(a, b)),
        })
    }

    fn as_flag(&mut self, cond: Cond, span: &Span) -> Cond {
        if matches!(cond, Cond::Constant(_) | Cond::Flag(_)) {
            return cond;
        }
        let slot = self.take_slot(1);
        self.emit(span, StmtKind::SetFlag(slot, cond));
        Cond::Flag(slot)
    }

    fn cast(&mut self, value: Value, to: &Type, saturating: bool, span: &Span) -> Value {
        let ty = match self.shape(to) {
            Shape::Number(ty) => ty,
            Shape::Poison => return Value::Poison,
            found => {
                self.error(&to.span, format!("a conversion to {found}"), "expected a number type");
                return Value::Poison;
            }
        };
        match value {
            Value::Number(value) if saturating => {
                let integer = value.ty().integer.max(ty.integer);
                let wide = Ty { integer, ..ty };
                Value::Number(clamp(Expr::Cast(Box::new(value), wide), ty))
            }
            Value::Number(value) => Value::Number(Expr::Cast(Box::new(value), ty)),
            Value::Constant(_) => self.coerce(value, ty, span).map_or(Value::Poison, Value::Number),
            value => self.not_a_number(&value, span),
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
        let second_span = arguments.last().map_or(span, |argument| &argument.span);
        let Some((a, b)) = self.pair(first, second, span, second_span) else { return Value::Poison };
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

    fn builtin_constant(&mut self, name: &str, a: Ratio, b: Ratio) -> Value {
        let order = a.compare(b).unwrap_or(Ordering::Equal);
        Value::Constant(match (name, order) {
            ("relu" | "max", Ordering::Less) | ("min", Ordering::Greater) => b,
            ("abs", Ordering::Less) => a.negated(),
            ("sign", Ordering::Less) => Ratio::integer(-1),
            ("sign", Ordering::Greater) => Ratio::integer(1),
            _ => a,
        })
    }

    /// A function's body comes before the statement it is called in, with variables of its own.
    fn call_function(&mut self, name: &Name, arguments: &'p [syntax::Expr], span: &Span) -> Value {
        let program = self.program;
        let Some(function) = program.functions.iter().find(|f| f.name.text == name.text) else {
            let help = "the language's own are relu, abs, sign, min and max";
            self.error_with_help(
                &name.span,
                format!("there is no function `{}`", name.text),
                "unknown function",
                help,
            );
            return Value::Poison;
        };
        if self.call_depth >= DEEPEST_CALL {
            let message = format!("calls nest more than {DEEPEST_CALL} deep");
            self.error_with_help(
                span,
                message,
                "too deep here",
                "functions are inlined: they cannot call themselves",
            );
            return Value::Poison;
        }
        if arguments.len() != function.parameters.len() {
            let expected = function.parameters.len();
            let message = format!("`{}` takes {expected} arguments, {} given", name.text, arguments.len());
            self.error(span, message, format!("expected {expected}"));
            return Value::Poison;
        }
        let mut bound = Vec::new();
        for ((parameter, ty), argument) in function.parameters.iter().zip(arguments) {
            let value = self.expr(argument);
            let binding = self.argument(value, ty, &argument.span);
            bound.push((parameter, binding));
        }
        let result = self.shape(&function.result);
        // The function sees constants, types and its parameters only.
        let globals = self.scopes.first().cloned().unwrap_or_default();
        let keep =
            |binding: &Binding| matches!(binding, Binding::Constant(_) | Binding::Alias(_) | Binding::Poison);
        let globals = globals.into_iter().filter(|(_, binding)| keep(binding)).collect();
        let outside = std::mem::replace(&mut self.scopes, vec![globals, Default::default()]);
        let in_data = std::mem::replace(&mut self.in_data, false);
        self.call_depth += 1;
        for (parameter, binding) in bound {
            self.bind(parameter, binding);
        }
        self.held.push(Vec::new());
        self.block(&function.body);
        let value = self.expr(&function.value);
        let value = self.returned(value, &result, function.body.is_empty(), &function.value.span);
        let locals = self.held.pop().unwrap_or_default();
        if let Some(held) = self.held.last_mut() {
            held.extend(locals);
        }
        self.call_depth -= 1;
        self.in_data = in_data;
        self.scopes = outside;
        value
    }

    fn argument(&mut self, value: Value, ty: &Type, span: &Span) -> Binding {
        match (self.shape(ty), value) {
            (Shape::Number(ty), value) => match self.coerce(value, ty, span) {
                Some(value @ (Expr::Constant { .. } | Expr::Variable { .. } | Expr::Data { .. })) => {
                    Binding::Fixed(value)
                }
                Some(value) => {
                    let slot = self.take_slot(ty.width());
                    self.emit(span, StmtKind::Assign(slot, value));
                    Binding::Fixed(Expr::Variable { slot, ty })
                }
                None => Binding::Poison,
            },
            (Shape::Bit, value) => {
                let cond = self.as_condition(value, span);
                let slot = self.take_slot(1);
                self.emit(span, StmtKind::SetFlag(slot, cond));
                Binding::FixedFlag(Cond::Flag(slot))
            }
            (Shape::Array(element, length), value) => self.array_argument(&element, length, value, span),
            (Shape::Tape, _) => {
                self.error(&ty.span, "a tape as a parameter", "functions take numbers, bits and arrays");
                Binding::Poison
            }
            (Shape::Poison, _) => Binding::Poison,
        }
    }

    fn array_argument(&mut self, element: &Shape, length: usize, value: Value, span: &Span) -> Binding {
        let slots: Option<Vec<usize>> = match (&value, element) {
            (Value::Array(values, found), Shape::Number(ty)) if found == ty && values.len() == length => {
                values
                    .iter()
                    .map(|value| match value {
                        Expr::Variable { slot, .. } => Some(*slot),
                        _ => None,
                    })
                    .collect()
            }
            (Value::Flags(values), Shape::Bit) if values.len() == length => values
                .iter()
                .map(|value| match value {
                    Cond::Flag(slot) => Some(*slot),
                    _ => None,
                })
                .collect(),
            (Value::Poison, _) => return Binding::Poison,
            _ => {
                let found = describe(&value);
                self.error(
                    span,
                    format!("expected [{element}; {length}], found {found}"),
                    format!("this is {found}"),
                );
                return Binding::Poison;
            }
        };
        let slots = slots.unwrap_or_else(|| {
            let width = match element {
                Shape::Number(ty) => ty.width(),
                _ => 1,
            };
            let slots: Vec<usize> = (0..length).map(|_| self.take_slot(width)).collect();
            self.assign_array(&slots, element, (value, span), span);
            slots
        });
        Binding::FixedArray(slots, element.clone())
    }

    fn returned(&mut self, value: Value, result: &Shape, pure: bool, span: &Span) -> Value {
        match result {
            Shape::Number(ty) => match self.coerce(value, *ty, span) {
                Some(value) if pure => Value::Number(value),
                Some(value) => {
                    let slot = self.take_slot(ty.width());
                    self.emit(span, StmtKind::Assign(slot, value));
                    Value::Number(Expr::Variable { slot, ty: *ty })
                }
                None => Value::Poison,
            },
            Shape::Bit => Value::Condition(self.as_condition(value, span)),
            Shape::Poison => Value::Poison,
            found => {
                self.error(
                    span,
                    format!("a function that returns {found}"),
                    "functions return numbers or bits",
                );
                Value::Poison
            }
        }
    }
}

/// The nearest number of the narrower type.
fn clamp(value: Expr, to: Ty) -> Expr {
    let wide = value.ty();
    if wide == to {
        return value;
    }
    let bound = |raw| Box::new(Expr::Constant { raw, ty: wide });
    let below = Expr::Binary(Op::Min, Box::new(value), bound(to.largest()));
    Expr::Cast(Box::new(Expr::Binary(Op::Max, Box::new(below), bound(to.smallest()))), to)
}

fn arithmetic(op: Binary) -> bool {
    use Binary::{Add, Div, Mul, SatAdd, SatMul, SatSub, Shl, Shr, Sub};
    matches!(op, Add | Sub | Mul | Div | SatAdd | SatSub | SatMul | Shl | Shr)
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
