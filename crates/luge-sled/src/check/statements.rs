//! Statements.

use super::{
    Binding, Checker, Expr, Shape, Shown, Span, Stmt, StmtKind, Store, Ty, Value, View, describe, shape_of,
};
use crate::syntax::{self, Binary, ExprKind, Name, Type};

impl<'p> Checker<'p> {
    pub(super) fn stmt(&mut self, stmt: &'p syntax::Stmt) {
        use syntax::StmtKind as S;
        let span = &stmt.span;
        self.here.copies_samples = self.takes && self.here.call_depth == 0 && self.calls_taker(stmt);
        // Other statements free their temporaries at their end.
        let declares = matches!(stmt.kind, S::Let { .. } | S::ForRange { .. });
        if !declares {
            self.made.held.push(Vec::new());
        }
        match &stmt.kind {
            S::Let { name, ty, value } => self.let_stmt(name, ty.as_ref(), value.as_ref(), span),
            S::Assign { place, op, value } => self.assign(place, *op, value, span),
            S::If { condition, then, otherwise } => {
                let condition = self.condition(condition);
                let (then, otherwise) = (self.inner(then), self.inner(otherwise));
                self.emit_if(span, condition, then, otherwise);
            }
            S::While { condition, body } => {
                let (condition, before) = self.apart(|checker| checker.condition(condition));
                let body = self.round(body);
                self.emit(span, StmtKind::While { before, condition, body });
            }
            S::ForRange { name, from, to, body, unroll } => {
                self.for_range(name, [from, to], body, *unroll, span);
            }
            S::ForData { body } => {
                let outside = std::mem::replace(&mut self.here.in_data, true);
                let body = self.round(body);
                self.here.in_data = outside;
                self.emit(span, StmtKind::EachSample(body));
            }
            S::Take => self.emit(span, StmtKind::Take),
            S::Const(name, value) => {
                let value = self.constant(value).map(Value::Constant);
                self.bind(name, Binding::Value(value));
            }
            S::Return(value) => self.return_stmt(value.as_ref(), span),
            S::Break => self.leave("break", StmtKind::Break, span),
            S::Continue => self.leave("continue", StmtKind::Continue, span),
            S::Assert(condition) => {
                let condition = self.condition(condition);
                let reject = Stmt { line: self.line(span), kind: StmtKind::Reject };
                self.emit(span, StmtKind::If(condition, Vec::new(), vec![reject]));
            }
            S::Print(parts) => self.print(parts, span),
            S::Write(name, value) => {
                let given = self.expr(value);
                let value = self.as_condition(given, &value.span, "bit");
                if let Some(tape) = self.tape(name) {
                    self.emit(span, StmtKind::Write(tape, value));
                }
            }
            S::Shift(name, offset) => {
                if let Some(tape) = self.tape(name) {
                    self.emit(span, StmtKind::Shift(tape, *offset));
                }
            }
            S::Reject => self.emit(span, StmtKind::Reject),
        }
        if !declares {
            self.release();
        }
        self.leave_outer_loop(stmt);
    }

    pub(super) fn tape(&mut self, name: &Name) -> Option<usize> {
        let message = match self.lookup(&name.text, &name.span) {
            Binding::Tape(tape) => return Some(tape),
            Binding::Value(None) => return None,
            Binding::Variable(View { shape: Shape::Array(..), .. })
            | Binding::Value(Some(Value::Array(_))) => format!("`{}` is an array, not a tape", name.text),
            _ => format!("`{}` is not a tape", name.text),
        };
        self.fail(&name.span, message, "expected a tape")
    }

    fn let_stmt(&mut self, name: &Name, ty: Option<&Type>, value: Option<&'p syntax::Expr>, span: &Span) {
        let declared = ty.map(|ty| self.shape(ty));
        let shape = declared.clone().flatten();
        // The value is computed before the variable gets a slot in the scope.
        self.made.held.push(Vec::new());
        let value = value.map(|value| (self.expr_for(value, shape.as_ref()), &value.span));
        let temporaries = self.made.held.pop().unwrap_or_default();
        let shape = match (declared, &value) {
            (Some(shape), _) => shape,
            (None, Some((None, _))) => None,
            (None, Some((Some(value), at))) => shape_of(value).or_else(|| {
                let message = format!("the type of `{}` cannot be inferred", name.text);
                self.refuse(at, message, "only literals", &format!("write `let {}: T = …`", name.text))
            }),
            (None, None) => {
                let message = format!("`{}` has neither type nor value", name.text);
                let help = "write `let NAME: TYPE;` for a variable that starts at 0";
                self.refuse(&name.span, message, "unknown type", help)
            }
        };
        let binding = shape.and_then(|shape| self.declare(name, &shape, value, span));
        self.made.held.push(temporaries);
        self.release();
        self.bind(name, binding.unwrap_or(Binding::Value(None)));
    }

    fn declare(
        &mut self,
        name: &Name,
        shape: &Shape,
        value: Option<(Option<Value>, &Span)>,
        span: &Span,
    ) -> Option<Binding> {
        if *shape == Shape::Tape {
            if value.is_some() {
                self.error(span, "a tape starts blank", "it takes no value");
            }
            if self.here.level > 0 || self.here.call_depth > 0 {
                let help = "declare tapes at the top of the learner";
                return self.refuse(span, "a tape inside a block", "declared here", help);
            }
            self.made.core.tapes.push(name.text.clone());
            return Some(Binding::Tape(self.made.core.tapes.len() - 1));
        }
        let is_given = value.is_some();
        let value = value.and_then(|(value, at)| self.fitting(value?, shape, at));
        if is_given && value.is_none() && matches!(shape, Shape::Array(..)) {
            return None;
        }
        let view = self.take(shape, span)?;
        match value {
            Some(value) => self.fill(&view, value, span),
            None if is_given => {}
            None => self.clear(&view, span),
        }
        Some(Binding::Variable(view))
    }

    /// Assigns a value of the right shape to a view.
    pub(super) fn fill(&mut self, to: &View, value: Value, span: &Span) {
        match value {
            Value::Array(from) => {
                let from = self.frozen(from, span);
                self.each(to.shape.n_elements(), span, |var| to.counted(var).set(from.counted(var).value()?));
            }
            Value::List(values, _) => {
                for (at, value) in (0..).zip(values) {
                    self.fill(&to.part(at), value, span);
                }
            }
            value => to.set(value).into_iter().for_each(|kind| self.emit(span, kind)),
        }
    }

    /// Sets all elements to 0 or `false`.
    fn clear(&mut self, to: &View, span: &Span) {
        let zero = Value::Number(Expr::Constant { raw: 0, ty: to.shape.element() });
        match to.shape {
            Shape::Array(..) => self.each(to.shape.n_elements(), span, |var| to.counted(var).set(zero)),
            _ => self.fill(to, zero, span),
        }
    }

    fn assign(&mut self, place: &'p syntax::Expr, op: Option<Binary>, value: &'p syntax::Expr, span: &Span) {
        let Some(to) = self.target(place) else {
            self.expr(value);
            return;
        };
        match (&to.shape, op) {
            (Shape::Number(ty), _) if *ty != Ty::BIT => {
                if let Some(given) = self.assigned(&to, *ty, op, value, [span, &place.span]) {
                    self.fill(&to, Value::Number(given), span);
                }
                return;
            }
            (_, None) => {}
            (Shape::Number(_), Some(op)) => {
                self.error(span, format!("`{}=` on a bit", op.text()), "bits are set with `=`");
            }
            (_, Some(op)) => self
                .error(span, format!("`{}=` on a whole array", op.text()), "not a number")
                .remedy("write a loop over its elements"),
        }
        if to.shape == Shape::Number(Ty::BIT) {
            let given = self.expr(value);
            let value = Value::Number(self.as_condition(given, &value.span, "bit"));
            return self.fill(&to, value, span);
        }
        self.assign_array(to, value, place, span);
    }

    fn assign_array(&mut self, view: View, value: &'p syntax::Expr, place: &syntax::Expr, span: &Span) {
        let Some(given) = self.expr_for(value, Some(&view.shape)) else { return };
        let Some(given) = self.fitting(given, &view.shape, &value.span) else { return };
        let view = self.frozen(view, span);
        let own = root(place).is_some_and(|name| value.any(&|kind| kind.is_called(name)));
        let overlaps = || [place, value].iter().any(|e| e.any(&|kind| matches!(kind, ExprKind::Slice(..))));
        if own && (matches!(given, Value::List(..)) || overlaps()) {
            // The value must be complete before the first element changes.
            let Some(copy) = self.stored(given, &view.shape, span) else { return };
            return self.fill(&view, copy, span);
        }
        self.fill(&view, given, span);
    }

    /// The number that an assignment stores.
    fn assigned(
        &mut self,
        to: &View,
        ty: Ty,
        op: Option<Binary>,
        value: &'p syntax::Expr,
        [span, place]: [&Span; 2],
    ) -> Option<Expr> {
        let old = to.clone().value()?;
        if let Some(op @ (Binary::Shl | Binary::Shr)) = op {
            let Value::Number(given) = self.shifted(op, old, value, [span, place])? else { return None };
            return Some(given);
        }
        let given = self.expr_for(value, Some(&Shape::Number(ty)))?;
        let given = match op {
            Some(op) => self.arithmetic(op, old, given, span, [place, &value.span])?,
            None => given,
        };
        self.coerce(given, ty, &value.span)
    }

    /// The target of an assignment; `None` if it has an error, which is reported.
    fn target(&mut self, place: &'p syntax::Expr) -> Option<View> {
        if let ExprKind::Name(name) = &place.kind {
            match self.lookup(name, &place.span) {
                Binding::Variable(view) => return Some(view),
                Binding::Value(None) => return None,
                _ => {}
            }
        } else if let (view, true) = self.view(place)? {
            return Some(view);
        }
        let message = format!("`{}` cannot be assigned to", root(place).unwrap_or("this"));
        self.refuse(&place.span, message, "not a variable", "copy it with `let` first")
    }

    fn print(&mut self, parts: &'p [Shown<syntax::Expr>], span: &Span) {
        let mut shown = Vec::new();
        for part in parts {
            if !shown.is_empty() {
                shown.push(Shown::Text(" ".to_owned()));
            }
            match part {
                Shown::Text(text) => shown.push(Shown::Text(text.clone())),
                Shown::Value(expr) => {
                    if let Some(value) = self.expr(expr) {
                        self.show(value, expr, &mut shown);
                    }
                }
            }
        }
        self.emit(span, StmtKind::Print(shown));
    }

    fn show(&mut self, value: Value, expr: &syntax::Expr, shown: &mut Vec<Shown>) {
        match value {
            Value::Constant(value) => shown.push(Shown::Text(value.to_string())),
            Value::Number(value) => shown.push(Shown::Value(value)),
            Value::Index(affine) => {
                let ty = Ty { integer: 48, fraction: 0 };
                shown.extend(self.number_of_index(&affine, ty, &expr.span).map(Shown::Value));
            }
            Value::Array(view) => {
                let Shape::Array(_, length) = view.shape else { return };
                for at in 0..i64::try_from(length).unwrap_or(0).min(256) {
                    if at > 0 {
                        shown.push(Shown::Text(" ".to_owned()));
                    }
                    if let Some(value) = view.part(at).value() {
                        self.show(value, expr, shown);
                    }
                }
            }
            Value::List(..) => {
                let found = describe(&value);
                self.error(&expr.span, format!("`print` of {found}"), "print its elements one by one");
            }
        }
    }
}

impl View {
    /// The statement that assigns a value of the right type; `None` for features and labels.
    fn set(&self, value: Value) -> Option<StmtKind> {
        match value {
            Value::Number(value) if self.place.store != Store::Data => {
                Some(StmtKind::Assign(self.place.clone(), value))
            }
            _ => None,
        }
    }

    /// Its value.
    pub(super) fn value(self) -> Option<Value> {
        Some(match self.shape {
            Shape::Array(..) => Value::Array(self),
            Shape::Number(ty) => Value::Number(Expr::Load(self.place, ty)),
            Shape::Tape => return None,
        })
    }
}

/// The name that is indexed.
fn root(place: &syntax::Expr) -> Option<&str> {
    match &place.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Index(array, _) | ExprKind::Slice(array, ..) => root(array),
        _ => None,
    }
}

/// Whether statements use a name.
pub(super) fn mentions(body: &[syntax::Stmt], name: &str) -> bool {
    let uses = |expr: &syntax::Expr| expr.any(&|kind| kind.is_called(name));
    syntax::Stmt::first(body, &|stmt| stmt.expressions().into_iter().any(uses)).is_some()
}
