//! Indices: what is known about them before the program runs, and the elements they refer to.

use super::{Binding, Checker, Shape, Source, Value, View};
use crate::{
    core::{Affine, Computed, Cond, Expr, Index, Op, Place, StmtKind, Ty},
    lex::Span,
    syntax::{self, Binary, ExprKind},
};

impl<'p> Checker<'p> {
    /// The smallest and the largest value of an integer made of variables of loops.
    pub(super) fn interval(&self, affine: &Affine) -> (i64, i64) {
        let mut interval = (affine.constant, affine.constant);
        for &(var, factor) in &affine.terms {
            let ends = [self.variables[var].lowest * factor, self.variables[var].highest * factor];
            interval.0 += ends[0].min(ends[1]);
            interval.1 += ends[0].max(ends[1]);
        }
        interval
    }

    /// A type that holds every integer of an interval.
    pub(super) fn integer_type((low, high): (i64, i64)) -> Ty {
        let fits = |width: u32| low >= -(1 << (width - 1)) && high < 1 << (width - 1);
        Ty { integer: (2..62).find(|&width| fits(width)).unwrap_or(62), fraction: 0 }
    }

    /// The type in which two integers of loops are compared or multiplied.
    pub(super) fn type_of_indices(&mut self, a: &Value, b: &Value, span: &Span) -> Option<Ty> {
        let mut interval = (0, 0);
        for value in [a, b] {
            let (low, high) = match value {
                Value::Index(affine) => self.interval(affine),
                Value::Constant(value) => {
                    let Some(value) = value.to_integer().and_then(|value| i64::try_from(value).ok()) else {
                        self.only_when_run(span);
                        return None;
                    };
                    (value, value)
                }
                _ => return None,
            };
            interval = (low.min(interval.0), high.max(interval.1));
        }
        Some(Self::integer_type(interval))
    }

    pub(super) fn only_when_run(&mut self, span: &Span) -> Value {
        self.error(span, "the variable of a loop is known only when the program runs", "not a constant")
            .remedy(
                "write `unroll for` to have the loop written out, or convert the variable: `i as fix<I,F>`",
            );
        Value::Poison
    }

    /// Sums and multiples of variables of loops are exact; `None` for everything else.
    pub(super) fn index_arithmetic(
        &mut self,
        op: Binary,
        a: &Value,
        b: &Value,
        span: &Span,
    ) -> Option<Value> {
        let integer = |value: &Value| match value {
            Value::Index(affine) => Some(affine.clone()),
            Value::Constant(value) => {
                let value = value.to_integer().and_then(|value| i64::try_from(value).ok());
                value.filter(|value| value.abs() < 1 << 31).map(Affine::constant)
            }
            _ => None,
        };
        if matches!(op, Binary::Rem | Binary::BitAnd | Binary::BitOr | Binary::Xor) {
            // Computed when the program runs, as integers that hold both.
            return None;
        }
        if !matches!(
            (a, b),
            (Value::Index(_), Value::Index(_) | Value::Constant(_)) | (Value::Constant(_), Value::Index(_))
        ) {
            return None;
        }
        let (Some(left), Some(right)) = (integer(a), integer(b)) else {
            return Some(self.only_when_run(span));
        };
        let made = match op {
            Binary::Add => left.plus(&right),
            Binary::Sub => left.minus(&right),
            Binary::Mul if right.is_constant() => left.times(right.constant),
            Binary::Mul if left.is_constant() => right.times(left.constant),
            _ => return Some(self.only_when_run(span)),
        };
        let (low, high) = self.interval(&made);
        if low < -(1 << 40) || high > 1 << 40 {
            return Some(self.only_when_run(span));
        }
        Some(Value::Index(made))
    }

    /// The value of an integer made of variables of loops, as a number.
    pub(super) fn number_of_index(&mut self, affine: &Affine, ty: Ty, span: &Span) -> Option<Expr> {
        let (low, high) = self.interval(affine);
        let (smallest, largest) = (ty.smallest() >> ty.fraction, ty.largest() >> ty.fraction);
        if low < smallest || high > largest {
            let reaches = if high > largest { high } else { low };
            let message = format!("{reaches}, which this comes to, does not fit into {ty}");
            let help = "choose a type with more bits before the point";
            self.error(span, message, "too large").remedy(help);
            return None;
        }
        // Wide enough for every sum on the way.
        let mut reach = affine.constant.abs();
        for &(var, factor) in &affine.terms {
            let of = self.variables[var].lowest.abs().max(self.variables[var].highest.abs() + 1);
            reach += of.max(1) * factor.abs();
        }
        let wide = Self::integer_type((-reach, reach));
        let mut sum: Option<Expr> = None;
        for &(var, factor) in &affine.terms {
            let value = Expr::Cast(Box::new(self.variable_value(var)), wide);
            let constant = |raw| Box::new(Expr::Constant { raw, ty: wide });
            let term = match factor {
                1 => value,
                _ => Expr::Binary(Op::Mul, Box::new(value), constant(factor)),
            };
            sum = Some(match sum {
                None => term,
                Some(sum) => Expr::Binary(Op::Add, Box::new(sum), Box::new(term)),
            });
        }
        let constant = Expr::Constant { raw: affine.constant, ty: wide };
        let sum = match sum {
            None => constant,
            Some(sum) if affine.constant == 0 => sum,
            Some(sum) => Expr::Binary(Op::Add, Box::new(sum), Box::new(constant)),
        };
        Some(if wide == ty { sum } else { Expr::Cast(Box::new(sum), ty) })
    }

    /// The variable of a loop as a number, which the loop counts along from now on.
    fn variable_value(&mut self, var: usize) -> Expr {
        let ty = self.variable_type(var);
        let slot = match self.variables[var].value {
            Some(slot) => slot,
            None => {
                let slot = self.new_slot(ty.width());
                self.variables[var].value = Some(slot);
                slot
            }
        };
        Expr::Variable { slot, ty }
    }

    pub(super) fn variable_type(&self, var: usize) -> Ty {
        let variable = &self.variables[var];
        Self::integer_type((variable.lowest, variable.highest + 1))
    }

    /// What a view is as a value: an element, or an array.
    pub(super) fn view_value(&mut self, view: View) -> Value {
        match (&view.shape, view.source) {
            (Shape::Number(ty), Source::Array(array)) => {
                Value::Number(Expr::Element { array, index: view.first, ty: *ty })
            }
            (Shape::Number(ty), Source::Data) => Value::Number(Expr::Data { index: view.first, ty: *ty }),
            (Shape::Bit, Source::Array(array)) => {
                Value::Condition(Cond::Flag(Place::Element(array, view.first)))
            }
            (Shape::Array(..), _) => Value::Array(view),
            _ => Value::Poison,
        }
    }

    /// The array that an expression names, and whether its elements can be assigned to; `None` has been reported.
    pub(super) fn view(&mut self, expr: &'p syntax::Expr) -> Option<(View, bool)> {
        match &expr.kind {
            ExprKind::Index(array, index) => {
                let (view, assignable) = self.view(array)?;
                Some((self.element(view, index, array)?, assignable))
            }
            ExprKind::Slice(array, from, to) => {
                let (view, assignable) = self.view(array)?;
                Some((self.slice(view, [from, to], array)?, assignable))
            }
            ExprKind::Name(name) => match self.lookup(name, &expr.span) {
                Binding::Array(view) => Some((view, true)),
                Binding::FixedArray(view) => Some((view, false)),
                Binding::Data(view) if matches!(view.shape, Shape::Array(..)) => {
                    let known = self.inside_data(&expr.span);
                    known.then(|| (self.sample_view(view, &expr.span), false))
                }
                Binding::Poison => None,
                _ => {
                    self.error(&expr.span, format!("`{name}` is no array"), "cannot be indexed");
                    None
                }
            },
            _ => match self.expr(expr) {
                Value::Array(view) => Some((view, false)),
                Value::Poison => None,
                value => {
                    let found = super::describe(&value);
                    self.error(&expr.span, format!("expected an array, found {found}"), "cannot be indexed");
                    None
                }
            },
        }
    }

    /// One element of an array, or one array of an array of arrays.
    fn element(&mut self, view: View, index: &'p syntax::Expr, array: &syntax::Expr) -> Option<View> {
        let Shape::Array(element, length) = view.shape else {
            self.error(&array.span, format!("this is {}, not an array", view.shape), "cannot be indexed");
            self.expr(index);
            return None;
        };
        let stride = element.n_elements();
        let mut first = view.first;
        match self.expr(index) {
            Value::Constant(value) => {
                let value = self.as_integer(value, &index.span)?;
                let value = i64::try_from(value).unwrap_or(i64::MAX);
                self.inside(&Affine::constant(value), length, index, array)?;
                first.known = first.known.offset(value * i64::try_from(stride).unwrap_or(1));
            }
            Value::Index(affine) => {
                self.inside(&affine, length, index, array)?;
                first.known = first.known.plus(&affine.times(i64::try_from(stride).unwrap_or(1)));
            }
            Value::Number(value) if value.ty().fraction == 0 => {
                first.computed.push(Computed { value, bound: length, stride });
            }
            Value::Number(value) => {
                let message = format!("an index is an integer, this is {}", value.ty());
                let help = format!("convert it: `as int<{}>`", value.ty().integer.max(2));
                self.error(&index.span, message, "not an integer").remedy(help);
                return None;
            }
            Value::Poison => return None,
            value => {
                self.not_a_number(&value, &index.span);
                return None;
            }
        }
        Some(View { source: view.source, first, shape: *element })
    }

    /// Some elements of an array, as many whatever the variables of loops are.
    fn slice(&mut self, view: View, ends: [&'p syntax::Expr; 2], array: &syntax::Expr) -> Option<View> {
        let Shape::Array(element, length) = view.shape else {
            self.error(&array.span, format!("this is {}, not an array", view.shape), "cannot be sliced");
            return None;
        };
        let (from, to) = (self.slice_end(ends[0])?, self.slice_end(ends[1])?);
        let taken = to.minus(&from);
        let n_taken = usize::try_from(taken.constant).ok().filter(|&n| n > 0 && taken.is_constant());
        let Some(n_taken) = n_taken else {
            let message = "a slice has one length, and at least one element";
            self.error(&ends[1].span, message, "not behind the start, or not always as far");
            return None;
        };
        self.inside(&from, length, ends[0], array)?;
        self.inside(&to.offset(-1), length, ends[1], array)?;
        let mut first = view.first;
        first.known = first.known.plus(&from.times(i64::try_from(element.n_elements()).unwrap_or(1)));
        Some(View { source: view.source, first, shape: Shape::Array(element, n_taken) })
    }

    fn slice_end(&mut self, end: &'p syntax::Expr) -> Option<Affine> {
        match self.expr(end) {
            Value::Index(affine) => Some(affine),
            Value::Constant(value) => {
                let value = self.as_integer(value, &end.span)?;
                Some(Affine::constant(
                    i64::try_from(value).ok().filter(|n| n.abs() < 1 << 40).unwrap_or(1 << 40),
                ))
            }
            Value::Poison => None,
            _ => {
                let message = "the ends of a slice are constants, or made of variables of loops";
                self.error(&end.span, message, "known only when the program runs")
                    .remedy("copy the elements in a loop");
                None
            }
        }
    }

    /// Refuses an index that leaves its array.
    fn inside(
        &mut self,
        affine: &Affine,
        length: usize,
        index: &syntax::Expr,
        array: &syntax::Expr,
    ) -> Option<()> {
        let (low, high) = self.interval(affine);
        let last = i64::try_from(length).unwrap_or(i64::MAX) - 1;
        if low >= 0 && high <= last {
            return Some(());
        }
        let name = match &array.kind {
            ExprKind::Name(name) => format!("`{name}`"),
            _ => "this array".to_owned(),
        };
        let outside = if low < 0 { low } else { high };
        let message = format!("{name} has {length} elements, but element {outside} is asked for");
        let label = format!("expected 0 to {last}");
        if affine.is_constant() {
            self.error(&index.span, message, label);
        } else {
            let help = "let the loop end earlier; if the index never comes there, copy it to an `int` first, which is checked when the program runs";
            self.error(&index.span, message, label).remedy(help);
        }
        None
    }

    /// The view with its computed parts worked out once and for all.
    pub(super) fn frozen(&mut self, mut view: View, span: &Span) -> View {
        for part in &mut view.first.computed {
            let ty = part.value.ty();
            let slot = self.take_slot(ty.width());
            let value = std::mem::replace(&mut part.value, Expr::Variable { slot, ty });
            self.emit(span, StmtKind::Assign(Place::Slot(slot), value));
        }
        view
    }

    /// The element of a flat view that a fresh variable counts through.
    pub(super) fn counted(view: &View, var: usize) -> Index {
        let known = view.first.known.plus(&Affine::variable(var));
        Index { known, computed: view.first.computed.clone() }
    }
}
