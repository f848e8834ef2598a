//! Indices: what is known about them at compile time, and the elements they refer to.

use super::{Affine, Binding, Checker, Computed, Expr, Op, Shape, Span, Ty, Value, Variable, View};
use crate::ratio::{self, Ratio};
use crate::syntax::{self, Binary, ExprKind};

impl<'p> Checker<'p> {
    /// The smallest and largest value of an integer that depends on loop variables.
    pub(super) fn interval(&self, affine: &Affine) -> (i64, i64) {
        affine.range(|var| (self.made.variables[var].lowest, self.made.variables[var].highest))
    }

    /// The smallest integer type that holds an interval.
    pub(super) fn integer_type((low, high): (i64, i64)) -> Ty {
        let fits = |width: u32| low >= -(1 << (width - 1)) && high < 1 << (width - 1);
        Ty { integer: (2..62).find(|&width| fits(width)).unwrap_or(62), fraction: 0 }
    }

    /// The type in which two integers that depend on loop variables are compared or multiplied.
    pub(super) fn type_of_indices(&mut self, a: &Value, b: &Value, span: &Span) -> Option<Ty> {
        let mut interval = (0, 0);
        for value in [a, b] {
            let (low, high) = match value {
                Value::Index(affine) => self.interval(affine),
                Value::Constant(value) => match small_integer(*value) {
                    Some(value) => (value, value),
                    None => return self.only_when_run(span),
                },
                _ => return None,
            };
            interval = (low.min(interval.0), high.max(interval.1));
        }
        Some(Self::integer_type(interval))
    }

    pub(super) fn only_when_run<T>(&mut self, span: &Span) -> Option<T> {
        let message = "the variable of a loop is known only when the program runs";
        let help =
            "write `unroll for` to have the loop written out, or convert the variable: `i as fix<I,F>`";
        self.refuse(span, message, "not a constant", help)
    }

    /// Sums and multiples of loop variables, which are exact; `None` for other operands.
    pub(super) fn index_arithmetic(
        &mut self,
        op: Binary,
        a: &Value,
        b: &Value,
        span: &Span,
    ) -> Option<Option<Affine>> {
        if matches!(op, Binary::Rem | Binary::Plain(Op::And | Op::Or | Op::Xor)) {
            // These are computed at run time.
            return None;
        }
        let integer = |value: &Value| match value {
            Value::Index(affine) => Some(Some(affine.clone())),
            Value::Constant(value) => {
                Some(small_integer(*value).filter(|value| value.abs() < 1 << 31).map(Affine::constant))
            }
            _ => None,
        };
        let (left, right) = (integer(a)?, integer(b)?);
        let made = left.zip(right).and_then(|(left, right)| match op {
            Binary::Plain(Op::Add) => Some(left.plus(&right)),
            Binary::Plain(Op::Sub) => Some(left.minus(&right)),
            Binary::Plain(Op::Mul) if right.is_constant() => Some(left.times(right.constant)),
            Binary::Plain(Op::Mul) if left.is_constant() => Some(right.times(left.constant)),
            _ => None,
        });
        let within = |(low, high): (i64, i64)| low >= -(1 << 40) && high <= 1 << 40;
        let made = made.filter(|made| within(self.interval(made)));
        Some(made.or_else(|| self.only_when_run(span)))
    }

    /// An integer that depends on loop variables, as a number.
    pub(super) fn number_of_index(&mut self, affine: &Affine, ty: Ty, span: &Span) -> Option<Expr> {
        let (low, high) = self.interval(affine);
        let (smallest, largest) = (ty.smallest() >> ty.fraction, ty.largest() >> ty.fraction);
        if low < smallest || high > largest {
            let reaches = if high > largest { high } else { low };
            let message = format!("the value {reaches} does not fit into {ty}");
            return self.refuse(span, message, "too large", "choose a type with more bits before the point");
        }
        // Wide enough for every partial sum.
        let mut reach = affine.constant.abs();
        for &(var, factor) in &affine.terms {
            let Variable { lowest, highest, .. } = self.made.variables[var];
            reach += lowest.abs().max(highest.abs() + 1) * factor.abs();
        }
        let wide = Self::integer_type((-reach, reach));
        let mut terms = Vec::new();
        for &(var, factor) in &affine.terms {
            let value = Expr::Cast(Box::new(self.variable_value(var)), wide);
            terms.push(match factor {
                1 => value,
                _ => Expr::binary(Op::Mul, value, Expr::Constant { raw: factor, ty: wide }),
            });
        }
        let constant = Expr::Constant { raw: affine.constant, ty: wide };
        if affine.constant != 0 {
            terms.push(constant.clone());
        }
        let sum = terms.into_iter().reduce(|a, b| Expr::binary(Op::Add, a, b)).unwrap_or(constant);
        Some(if wide == ty { sum } else { Expr::Cast(Box::new(sum), ty) })
    }

    /// A loop variable as a number, which the loop then counts, too.
    fn variable_value(&mut self, var: usize) -> Expr {
        let ty = self.variable_type(var);
        let slot = self.made.variables[var].value.unwrap_or_else(|| self.new_slot(ty.width()));
        self.made.variables[var].value = Some(slot);
        Expr::variable(slot, ty)
    }

    pub(super) fn variable_type(&self, var: usize) -> Ty {
        let variable = &self.made.variables[var];
        Self::integer_type((variable.lowest, variable.highest + 1))
    }

    /// The array that an expression denotes, and whether its elements can be assigned to; `None` if an error is reported.
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
                Binding::Variable(view) if matches!(view.shape, Shape::Array(..)) => Some((view, true)),
                Binding::Value(Some(Value::Array(view))) => Some((view, false)),
                Binding::Data(view) if matches!(view.shape, Shape::Array(..)) => {
                    Some((self.sample(view, &expr.span)?, false))
                }
                Binding::Value(None) => None,
                _ => self.fail(&expr.span, format!("`{name}` is not an array"), "cannot be indexed"),
            },
            _ => match self.expr(expr)? {
                Value::Array(view) => Some((view, false)),
                value => {
                    let found = super::describe(&value);
                    self.fail(&expr.span, format!("expected an array, found {found}"), "cannot be indexed")
                }
            },
        }
    }

    /// One element of an array, or one array of an array of arrays.
    fn element(&mut self, view: View, index: &'p syntax::Expr, array: &syntax::Expr) -> Option<View> {
        let Shape::Array(element, length) = view.shape else {
            self.expr(index);
            let message = format!("this is {}, not an array", view.shape);
            return self.fail(&array.span, message, "cannot be indexed");
        };
        let [stride, bound] = [element.n_elements(), length].map(|n| i64::try_from(n).unwrap_or(i64::MAX));
        let mut place = view.place;
        let known = match self.expr(index)? {
            Value::Constant(value) => {
                let value = self.as_integer(value, &index.span)?;
                Affine::constant(i64::try_from(value).unwrap_or(i64::MAX))
            }
            Value::Index(affine) => affine,
            value => {
                let value = self.an_integer(value, "an index is an integer", &index.span)?;
                place.index.computed.push(Computed { value, bound, stride });
                Affine::default()
            }
        };
        self.inside(&known, length, &index.span, array)?;
        place.index.known = place.index.known.plus(&known.times(stride));
        Some(View { place, shape: *element })
    }

    /// A slice of an array. Its length must not depend on loop variables.
    fn slice(&mut self, view: View, ends: [&'p syntax::Expr; 2], array: &syntax::Expr) -> Option<View> {
        let Shape::Array(element, length) = view.shape else {
            let message = format!("this is {}, not an array", view.shape);
            return self.fail(&array.span, message, "cannot be sliced");
        };
        let (from, to) = (self.slice_end(ends[0])?, self.slice_end(ends[1])?);
        let taken = to.minus(&from);
        let n_taken = usize::try_from(taken.constant).ok().filter(|&n| n > 0 && taken.is_constant());
        let Some(n_taken) = n_taken else {
            let message = "a slice has one length, and at least one element";
            return self.fail(
                &ends[1].span,
                message,
                "not after the start, or not always at the same distance",
            );
        };
        self.inside(&from, length, &ends[0].span, array)?;
        self.inside(&to.offset(-1), length, &ends[1].span, array)?;
        let mut place = view.place;
        let skipped = from.times(i64::try_from(element.n_elements()).unwrap_or(1));
        place.index.known = place.index.known.plus(&skipped);
        Some(View { place, shape: Shape::Array(element, n_taken) })
    }

    fn slice_end(&mut self, end: &'p syntax::Expr) -> Option<Affine> {
        match self.expr(end)? {
            Value::Index(affine) => Some(affine),
            Value::Constant(value) => {
                let value = i64::try_from(self.as_integer(value, &end.span)?).ok();
                Some(Affine::constant(value.filter(|n| n.abs() < 1 << 40).unwrap_or(1 << 40)))
            }
            _ => {
                let message = "the ends of a slice are constants, or made of variables of loops";
                let label = "known only when the program runs";
                self.refuse(&end.span, message, label, "copy the elements in a loop")
            }
        }
    }

    /// Reports an index that can be out of bounds.
    fn inside(&mut self, affine: &Affine, length: usize, index: &Span, array: &syntax::Expr) -> Option<()> {
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
            return self.fail(index, message, label);
        }
        let help = "let the loop end earlier; if the index is never that large, copy it to an `int` first, which is checked at run time";
        self.refuse(index, message, &label, help)
    }

    /// The view with its computed indices evaluated and stored.
    pub(super) fn frozen(&mut self, mut view: View, span: &Span) -> View {
        for part in &mut view.place.index.computed {
            part.value = self.stored_number(part.value.clone(), span);
        }
        view
    }
}

fn small_integer(value: Ratio) -> Option<i64> {
    ratio::to_integer(value).and_then(|value| i64::try_from(value).ok())
}

impl View {
    /// One element of an array.
    pub(super) fn part(&self, at: i64) -> Self {
        let shape = match &self.shape {
            Shape::Array(element, _) => (**element).clone(),
            shape => shape.clone(),
        };
        let mut place = self.place.clone();
        place.index.known = place.index.known.offset(at * i64::try_from(shape.n_elements()).unwrap_or(1));
        Self { place, shape }
    }

    /// The element at a loop variable, counting through the flat array.
    pub(super) fn counted(&self, var: usize) -> Self {
        let mut place = self.place.clone();
        place.index.known = place.index.known.plus(&Affine::variable(var));
        Self { place, shape: Shape::Number(self.shape.element()) }
    }
}
