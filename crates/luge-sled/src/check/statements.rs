//! Statements.

use super::{Binding, Checker, Shape, Source, Value, View, describe, exprs, results::shape_of};
use crate::{
    core::{Cond, Expr, Place, Shown, StmtKind},
    lex::Span,
    syntax::{self, Binary, ExprKind, Name, Printed, Side},
};

impl<'p> Checker<'p> {
    pub(super) fn stmt(&mut self, stmt: &'p syntax::Stmt) {
        use syntax::StmtKind as S;
        let span = &stmt.span;
        self.copies_samples = self.takes && self.call_depth == 0 && self.calls_taker(stmt);
        match &stmt.kind {
            S::Let { name, ty, value } => self.let_stmt(name, ty.as_ref(), value.as_ref(), span),
            S::Assign { place, op, value } => {
                self.held.push(Vec::new());
                self.assign(place, *op, value, span);
                self.release();
            }
            S::If { condition, then, otherwise } => {
                self.held.push(Vec::new());
                let condition = self.condition(condition);
                let then = self.inner(then);
                let otherwise = self.inner(otherwise);
                self.release();
                match condition {
                    Cond::Constant(value) => {
                        let branch = if value { then } else { otherwise };
                        if let Some(out) = self.out.last_mut() {
                            out.extend(branch);
                        }
                    }
                    condition => self.emit(span, StmtKind::If(condition, then, otherwise)),
                }
            }
            S::While { condition, body } => {
                self.held.push(Vec::new());
                self.out.push(Vec::new());
                let condition = self.condition(condition);
                let before = self.out.pop().unwrap_or_default();
                let body = self.round(body);
                self.release();
                self.emit(span, StmtKind::While { before, condition, body });
            }
            S::ForRange { name, from, to, body, unroll } => {
                self.for_range(name, [from, to], body, *unroll, span);
            }
            S::ForData { body } => {
                let outside = std::mem::replace(&mut self.in_data, true);
                let body = self.round(body);
                self.in_data = outside;
                self.emit(span, StmtKind::EachSample(body));
            }
            S::Take => self.emit(span, StmtKind::Take),
            S::Const(name, value) => {
                let value = self.constant(value).map_or(Binding::Poison, Binding::Constant);
                self.bind(name, value);
            }
            S::Return(value) => self.return_stmt(value.as_ref(), span),
            S::Break => self.leave("break", StmtKind::Break, span),
            S::Continue => self.leave("continue", StmtKind::Continue, span),
            S::Assert(condition) => {
                self.held.push(Vec::new());
                let condition = self.condition(condition);
                self.release();
                let reject = crate::core::Stmt { line: self.line(span), kind: StmtKind::Reject };
                self.emit(span, StmtKind::If(condition, Vec::new(), vec![reject]));
            }
            S::Print(parts) => self.print(parts, span),
            S::Write(name, value) => {
                self.held.push(Vec::new());
                let value = self.bit(value);
                if let Some(tape) = self.tape(name) {
                    self.emit(span, StmtKind::Write(tape, value));
                }
                self.release();
            }
            S::Shift(name, side) => {
                let offset = if *side == Side::Left { -1 } else { 1 };
                if let Some(tape) = self.tape(name) {
                    self.emit(span, StmtKind::Shift(tape, offset));
                }
            }
            S::Reject => self.emit(span, StmtKind::Reject),
        }
        self.leave_after(stmt);
    }

    pub(super) fn tape(&mut self, name: &Name) -> Option<usize> {
        match self.lookup(&name.text, &name.span) {
            Binding::Tape(tape) => Some(tape),
            Binding::Poison => None,
            Binding::Array(..) | Binding::FixedArray(..) => {
                let message = format!("`{}` is an array, not a tape", name.text);
                self.error(&name.span, message, "expected a tape");
                None
            }
            _ => {
                self.error(&name.span, format!("`{}` is no tape", name.text), "expected a tape");
                None
            }
        }
    }

    pub(super) fn let_stmt(
        &mut self,
        name: &Name,
        ty: Option<&syntax::Type>,
        value: Option<&'p syntax::Expr>,
        span: &Span,
    ) {
        let shape = ty.map(|ty| self.shape(ty));
        // The value is computed before the variable has a slot of the scope.
        self.held.push(Vec::new());
        let value = value.map(|value| (self.expr_for(value, shape.as_ref()), &value.span));
        let temporaries = self.held.pop().unwrap_or_default();
        let shape = match (shape, &value) {
            (Some(shape), _) => shape,
            (None, Some((value, span))) => shape_of(value).unwrap_or_else(|| {
                if !matches!(value, Value::Poison) {
                    self.error(span, format!("the type of `{}` cannot be told", name.text), "only literals")
                        .remedy(format!("write `let {}: T = …`", name.text));
                }
                Shape::Poison
            }),
            (None, None) => {
                self.error(&name.span, format!("`{}` has neither type nor value", name.text), "unknown type")
                    .remedy("write `let NAME: TYPE;` for a variable that starts at 0");
                Shape::Poison
            }
        };
        let binding = self.declare(name, &shape, value, span);
        self.held.push(temporaries);
        self.release();
        self.bind(name, binding);
    }

    pub(super) fn declare(
        &mut self,
        name: &Name,
        shape: &Shape,
        value: Option<(Value, &Span)>,
        span: &Span,
    ) -> Binding {
        match shape {
            Shape::Number(ty) => {
                let value = match value {
                    Some((value, at)) => self.coerce(value, *ty, at),
                    None => Some(Expr::Constant { raw: 0, ty: *ty }),
                };
                let slot = self.take_slot(ty.width());
                if let Some(value) = value {
                    self.emit(span, StmtKind::Assign(Place::Slot(slot), value));
                }
                Binding::Scalar(slot, *ty)
            }
            Shape::Bit => {
                let value = match value {
                    Some((value, at)) => self.as_condition(value, at, "bit"),
                    None => Cond::Constant(false),
                };
                let slot = self.take_slot(1);
                self.emit(span, StmtKind::SetFlag(Place::Slot(slot), value));
                Binding::Flag(slot)
            }
            Shape::Array(..) => {
                let value = match value {
                    None => None,
                    Some((value, at)) => match self.fitting(value, shape, at) {
                        None => return Binding::Poison,
                        value => value,
                    },
                };
                let Some(view) = self.take_array(shape, span) else { return Binding::Poison };
                match value {
                    Some(value) => self.fill(&view, value, span),
                    None => self.clear(&view, span),
                }
                Binding::Array(view)
            }
            Shape::Tape => {
                if value.is_some() {
                    self.error(span, "a tape starts blank", "it takes no value");
                }
                if self.block_depth > 0 || self.call_depth > 0 {
                    self.error(span, "a tape inside a block", "declared here")
                        .remedy("declare tapes at the top of the learner");
                    return Binding::Poison;
                }
                self.tapes.push(name.text.clone());
                Binding::Tape(self.tapes.len() - 1)
            }
            Shape::Poison => Binding::Poison,
        }
    }

    /// Puts a value that fits into all of an array.
    pub(super) fn fill(&mut self, to: &View, value: Value, span: &Span) {
        let Source::Array(array) = to.source else { return };
        match value {
            Value::Array(from) => {
                let from = self.frozen(from, span);
                let innermost = to.shape.innermost();
                self.each(to.shape.n_elements(), span, |var| {
                    let place = Place::Element(array, Self::counted(to, var));
                    let index = Self::counted(&from, var);
                    match (innermost, from.source) {
                        (Shape::Number(ty), Source::Array(array)) => {
                            StmtKind::Assign(place, Expr::Element { array, index, ty })
                        }
                        (Shape::Number(ty), Source::Data) => {
                            StmtKind::Assign(place, Expr::Data { index, ty })
                        }
                        (_, Source::Array(array)) => {
                            StmtKind::SetFlag(place, Cond::Flag(Place::Element(array, index)))
                        }
                        // Data are numbers.
                        (_, Source::Data) => StmtKind::SetFlag(place, Cond::Constant(false)),
                    }
                });
            }
            Value::List(values, element) => {
                let stride = i64::try_from(element.n_elements()).unwrap_or(1);
                for (at, value) in (0..).zip(values) {
                    let mut first = to.first.clone();
                    first.known = first.known.offset(at * stride);
                    self.fill(&View { source: to.source, first, shape: element.clone() }, value, span);
                }
            }
            Value::Number(value) => {
                self.emit(span, StmtKind::Assign(Place::Element(array, to.first.clone()), value));
            }
            Value::Condition(cond) => {
                self.emit(span, StmtKind::SetFlag(Place::Element(array, to.first.clone()), cond));
            }
            Value::Constant(_) | Value::Index(_) | Value::Poison => {}
        }
    }

    /// Makes every element 0 or `false`.
    fn clear(&mut self, view: &View, span: &Span) {
        let Source::Array(array) = view.source else { return };
        self.each(view.shape.n_elements(), span, |var| {
            let place = Place::Element(array, Self::counted(view, var));
            match view.shape.innermost() {
                Shape::Number(ty) => StmtKind::Assign(place, Expr::Constant { raw: 0, ty }),
                _ => StmtKind::SetFlag(place, Cond::Constant(false)),
            }
        });
    }

    pub(super) fn assign(
        &mut self,
        place: &'p syntax::Expr,
        op: Option<Binary>,
        value: &'p syntax::Expr,
        span: &Span,
    ) {
        match self.target(place) {
            Some(Target::Number(to, old)) => self.assign_number(to, old, op, value, [span, &place.span]),
            Some(Target::Bit(to)) => {
                if let Some(op) = op {
                    self.error(span, format!("`{}=` on a bit", op.text()), "bits are set with `=`");
                }
                let value = self.bit(value);
                self.emit(span, StmtKind::SetFlag(to, value));
            }
            Some(Target::Array(view)) => {
                if let Some(op) = op {
                    self.error(span, format!("`{}=` on a whole array", op.text()), "not a number")
                        .remedy("write a loop over its elements");
                }
                self.assign_array(view, value, place, span);
            }
            None => {
                self.expr(value);
            }
        }
    }

    fn assign_array(&mut self, view: View, value: &'p syntax::Expr, place: &syntax::Expr, span: &Span) {
        let given = self.expr_for(value, Some(&view.shape));
        let Some(given) = self.fitting(given, &view.shape, &value.span) else { return };
        let view = self.frozen(view, span);
        let own = root(place).is_some_and(|name| exprs::mentions(value, name));
        let overlaps = || has_slice(place) || has_slice(value);
        if own && (matches!(given, Value::List(..)) || overlaps()) {
            // The value is complete before the first element changes.
            let Some(copy) = self.take_array(&view.shape, span) else { return };
            self.fill(&copy, given, span);
            return self.fill(&view, Value::Array(copy), span);
        }
        self.fill(&view, given, span);
    }

    fn assign_number(
        &mut self,
        to: Place,
        old: Expr,
        op: Option<Binary>,
        value: &'p syntax::Expr,
        [span, place]: [&Span; 2],
    ) {
        let ty = old.ty();
        if let Some(op @ (Binary::Shl | Binary::Shr)) = op {
            let Value::Number(given) = self.shifted(op, Value::Number(old), value, [span, place]) else {
                return;
            };
            return self.emit(span, StmtKind::Assign(to, given));
        }
        let given = self.expr_for(value, Some(&Shape::Number(ty)));
        let given = match op {
            Some(op) => self.arithmetic(op, Value::Number(old), given, span, [place, &value.span]),
            None => given,
        };
        if let Some(given) = self.coerce(given, ty, &value.span) {
            self.emit(span, StmtKind::Assign(to, given));
        }
    }

    /// What stands left of `=`; `None` has been reported.
    fn target(&mut self, place: &'p syntax::Expr) -> Option<Target> {
        if let ExprKind::Name(name) = &place.kind {
            match self.lookup(name, &place.span) {
                Binding::Scalar(slot, ty) => {
                    return Some(Target::Number(Place::Slot(slot), Expr::Variable { slot, ty }));
                }
                Binding::Flag(slot) => return Some(Target::Bit(Place::Slot(slot))),
                Binding::Array(view) => return Some(Target::Array(view)),
                Binding::Poison => return None,
                _ => {
                    self.cannot_be_assigned(place);
                    return None;
                }
            }
        }
        let (view, assignable) = self.view(place)?;
        let Source::Array(array) = view.source else {
            self.cannot_be_assigned(place);
            return None;
        };
        if !assignable {
            self.cannot_be_assigned(place);
            return None;
        }
        // The place is mentioned twice in `a[j] += 1`, and must be the same.
        Some(match view.shape {
            Shape::Number(ty) => {
                let old = Expr::Element { array, index: view.first.clone(), ty };
                Target::Number(Place::Element(array, view.first), old)
            }
            Shape::Bit => Target::Bit(Place::Element(array, view.first)),
            _ => Target::Array(view),
        })
    }

    fn cannot_be_assigned(&mut self, place: &syntax::Expr) {
        let name = root(place).unwrap_or("this");
        self.error(&place.span, format!("`{name}` cannot be assigned to"), "not a variable")
            .remedy("copy it with `let` first");
    }

    fn print(&mut self, parts: &'p [Printed], span: &Span) {
        self.held.push(Vec::new());
        let mut shown = Vec::new();
        for part in parts {
            if !shown.is_empty() {
                shown.push(Shown::Text(" ".to_owned()));
            }
            match part {
                Printed::Text(text) => shown.push(Shown::Text(text.clone())),
                Printed::Value(expr) => {
                    let value = self.expr(expr);
                    self.show(value, expr, &mut shown);
                }
            }
        }
        self.emit(span, StmtKind::Print(shown));
        self.release();
    }

    fn show(&mut self, value: Value, expr: &syntax::Expr, shown: &mut Vec<Shown>) {
        match value {
            Value::Constant(value) => shown.push(Shown::Text(value.to_string())),
            Value::Number(value) => shown.push(Shown::Number(value)),
            Value::Condition(cond) => shown.push(Shown::Bit(cond)),
            Value::Index(affine) => {
                let ty = crate::core::Ty { integer: 48, fraction: 0 };
                if let Some(value) = self.number_of_index(&affine, ty, &expr.span) {
                    shown.push(Shown::Number(value));
                }
            }
            Value::Array(view) => {
                let Shape::Array(element, length) = &view.shape else { return };
                let stride = i64::try_from(element.n_elements()).unwrap_or(1);
                for at in 0..i64::try_from(*length).unwrap_or(0).min(256) {
                    if at > 0 {
                        shown.push(Shown::Text(" ".to_owned()));
                    }
                    let mut first = view.first.clone();
                    first.known = first.known.offset(at * stride);
                    let value =
                        self.view_value(View { source: view.source, first, shape: (**element).clone() });
                    self.show(value, expr, shown);
                }
            }
            Value::List(..) => {
                let found = describe(&value);
                self.error(&expr.span, format!("`print` of {found}"), "print its elements one by one");
            }
            Value::Poison => {}
        }
    }
}

/// What an assignment changes; a number with the expression for its old value.
#[derive(Clone, Debug)]
pub(super) enum Target {
    Number(Place, Expr),
    Bit(Place),
    Array(View),
}

impl Target {
    /// What is there.
    pub(super) fn value(self) -> Value {
        match self {
            Self::Number(_, value) => Value::Number(value),
            Self::Bit(place) => Value::Condition(Cond::Flag(place)),
            Self::Array(view) => Value::Array(view),
        }
    }
}

/// The name that indices stand behind.
fn root(place: &syntax::Expr) -> Option<&str> {
    match &place.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Index(array, _) | ExprKind::Slice(array, ..) => root(array),
        _ => None,
    }
}

/// Whether a part of an array is meant somewhere in an expression.
fn has_slice(expr: &syntax::Expr) -> bool {
    matches!(expr.kind, ExprKind::Slice(..)) || expr.parts().into_iter().any(has_slice)
}

/// Whether a name occurs in statements.
pub(super) fn mentions(body: &[syntax::Stmt], name: &str) -> bool {
    body.iter().any(|stmt| {
        stmt.expressions().into_iter().any(|expr| exprs::mentions(expr, name))
            || stmt.blocks().into_iter().any(|block| mentions(block, name))
    })
}
