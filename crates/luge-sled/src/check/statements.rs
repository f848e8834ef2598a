//! Statements.

use std::collections::BTreeMap;

use super::{Binding, Checker, MOST_SLOTS, MOST_STATEMENTS, Shape, Value, describe, exprs};
use crate::{
    core::{Cond, Expr, Slot, StmtKind},
    lex::Span,
    ratio::Ratio,
    syntax::{self, Binary, ExprKind, Name, Side},
};

impl<'p> Checker<'p> {
    pub(super) fn stmt(&mut self, stmt: &'p syntax::Stmt) {
        use syntax::StmtKind as S;
        let span = &stmt.span;
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
                let body = self.inner(body);
                self.release();
                self.emit(span, StmtKind::While { before, condition, body });
            }
            S::ForRange { name, from, to, body } => self.for_range(name, from, to, body, span),
            S::ForData { body } => {
                if self.in_data {
                    self.error(
                        span,
                        "a loop over the data inside another",
                        "the data are being read already",
                    );
                }
                let outside = std::mem::replace(&mut self.in_data, true);
                let body = self.inner(body);
                self.in_data = outside;
                self.emit(span, StmtKind::EachSample(body));
            }
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
            (None, Some((value, span))) => match value {
                Value::Number(value) => Shape::Number(value.ty()),
                Value::Condition(_) => Shape::Bit,
                Value::Array(values, ty) => Shape::Array(Box::new(Shape::Number(*ty)), values.len()),
                Value::Flags(flags) => Shape::Array(Box::new(Shape::Bit), flags.len()),
                Value::Constant(_) => {
                    self.error_with_help(
                        span,
                        format!("the type of `{}` cannot be told", name.text),
                        "only literals",
                        format!("write `let {}: T = …`", name.text),
                    );
                    Shape::Poison
                }
                Value::Poison => Shape::Poison,
            },
            (None, None) => {
                self.error_with_help(
                    &name.span,
                    format!("`{}` has neither type nor value", name.text),
                    "unknown type",
                    "write `let NAME: TYPE;` for a variable that starts at 0",
                );
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
                    self.emit(span, StmtKind::Assign(slot, value));
                }
                Binding::Scalar(slot, *ty)
            }
            Shape::Bit => {
                let value = match value {
                    Some((value, at)) => self.as_condition(value, at, "bit"),
                    None => Cond::Constant(false),
                };
                let slot = self.take_slot(1);
                self.emit(span, StmtKind::SetFlag(slot, value));
                Binding::Flag(slot)
            }
            Shape::Array(element, length) => {
                let width = match **element {
                    Shape::Number(ty) => ty.width(),
                    _ => 1,
                };
                if self.widths.len() + length > MOST_SLOTS {
                    self.error(
                        span,
                        format!("more than {MOST_SLOTS} numbers in memory"),
                        "this array is too much",
                    );
                    return Binding::Poison;
                }
                let slots: Vec<Slot> = (0..*length).map(|_| self.take_slot(width)).collect();
                let value = value.unwrap_or_else(|| match **element {
                    Shape::Number(ty) => {
                        (Value::Array(vec![Expr::Constant { raw: 0, ty }; *length], ty), span)
                    }
                    _ => (Value::Flags(vec![Cond::Constant(false); *length]), span),
                });
                self.assign_array(&slots, element, value, span);
                Binding::Array(slots, (**element).clone())
            }
            Shape::Tape => {
                if value.is_some() {
                    self.error(span, "a tape starts blank", "it takes no value");
                }
                if self.block_depth > 0 || self.call_depth > 0 {
                    self.error_with_help(
                        span,
                        "a tape inside a block",
                        "declared here",
                        "declare tapes at the top of the learner",
                    );
                    return Binding::Poison;
                }
                self.tapes.push(name.text.clone());
                Binding::Tape(self.tapes.len() - 1)
            }
            Shape::Poison => Binding::Poison,
        }
    }

    pub(super) fn assign_array(
        &mut self,
        slots: &[Slot],
        element: &Shape,
        (value, at): (Value, &Span),
        span: &Span,
    ) {
        match (value, element) {
            (Value::Poison, _) => {}
            (Value::Array(values, ty), Shape::Number(to)) if values.len() == slots.len() && ty == *to => {
                for (&slot, value) in slots.iter().zip(values) {
                    self.emit(span, StmtKind::Assign(slot, value));
                }
            }
            (Value::Flags(values), Shape::Bit) if values.len() == slots.len() => {
                for (&slot, value) in slots.iter().zip(values) {
                    self.emit(span, StmtKind::SetFlag(slot, value));
                }
            }
            (value, element) => {
                let found = describe(&value);
                self.error(
                    at,
                    format!("expected [{element}; {}], found {found}", slots.len()),
                    format!("this is {found}"),
                );
            }
        }
    }

    pub(super) fn assign(
        &mut self,
        place: &'p syntax::Expr,
        op: Option<Binary>,
        value: &'p syntax::Expr,
        span: &Span,
    ) {
        let (name, index) = match &place.kind {
            ExprKind::Name(name) => (name, None),
            ExprKind::Index(name, index) => (&name.text, Some(index)),
            _ => return,
        };
        let binding = self.lookup(name, &place.span);
        let target = match (binding, index) {
            (Binding::Array(slots, element), Some(index)) => {
                let Some(i) = self.index(index, slots.len(), name) else { return };
                match element {
                    Shape::Number(ty) => Binding::Scalar(slots[i], ty),
                    _ => Binding::Flag(slots[i]),
                }
            }
            (binding, None) => binding,
            (Binding::Scalar(..) | Binding::Flag(_), Some(_)) => {
                return self.error(&place.span, format!("`{name}` is no array"), "cannot be indexed");
            }
            (binding, Some(_)) => binding,
        };
        let value_span = &value.span;
        match target {
            Binding::Scalar(slot, ty) => {
                let value = self.expr(value);
                let value = match op {
                    Some(op) => {
                        let old = Value::Number(Expr::Variable { slot, ty });
                        self.arithmetic(op, old, value, span, [&place.span, value_span])
                    }
                    None => value,
                };
                if let Some(value) = self.coerce(value, ty, value_span) {
                    self.emit(span, StmtKind::Assign(slot, value));
                }
            }
            Binding::Flag(slot) => {
                if let Some(op) = op {
                    self.error(span, format!("`{}=` on a bit", op.text()), "bits are set with `=`");
                }
                let value = self.bit(value);
                self.emit(span, StmtKind::SetFlag(slot, value));
            }
            Binding::Array(slots, element) => {
                if let Some(op) = op {
                    self.error_with_help(
                        span,
                        format!("`{}=` on a whole array", op.text()),
                        "not a number",
                        "write a loop over its elements",
                    );
                }
                let value = self.list_or_expr(value, Some(&element));
                self.assign_array(&slots, &element, (value, value_span), span);
            }
            Binding::Poison => {
                self.expr(value);
            }
            _ => {
                self.error_with_help(
                    &place.span,
                    format!("`{name}` cannot be assigned to"),
                    "not a variable",
                    "copy it with `let` first",
                );
                self.expr(value);
            }
        }
    }

    pub(super) fn for_range(
        &mut self,
        name: &Name,
        from: &'p syntax::Expr,
        to: &'p syntax::Expr,
        body: &'p [syntax::Stmt],
        span: &Span,
    ) {
        let (Some(from), Some(to)) = (self.integer(from), self.integer(to)) else { return };
        if !mentions(body, &name.text) {
            let Ok(times) = u64::try_from((to - from).max(0)) else { return };
            if times > 1 << 31 {
                return self.error(span, format!("{times} rounds are too many"), "at most 2^31");
            }
            self.held.push(Vec::new());
            let counter = self.take_slot(self.counter_width(times));
            let body = self.inner(body);
            self.release();
            if times > 0 {
                self.emit(span, StmtKind::Repeat { times, counter, body });
            }
            return;
        }
        for value in from..to {
            if self.too_large {
                return;
            }
            // Not a statement, but an empty round costs time too.
            self.n_statements += 1;
            let n_findings = self.findings.len();
            self.scopes.push(BTreeMap::from([(name.text.clone(), Binding::Constant(Ratio::integer(value)))]));
            let inner = self.inner(body);
            self.scopes.pop();
            if let Some(out) = self.out.last_mut() {
                out.extend(inner);
            }
            if self.n_statements > MOST_STATEMENTS {
                return self.emit(span, StmtKind::Reject);
            }
            if self.findings.len() > n_findings {
                // The other rounds would say the same again.
                return;
            }
        }
    }

    /// Bits for counting down from `times - 1`: those of the data's numbers if they suffice, so that one ruler serves both.
    pub(super) fn counter_width(&self, times: u64) -> u32 {
        let needed = (u64::BITS - times.saturating_sub(1).leading_zeros()).max(1);
        let width = self.sizes.width();
        if (2..=width).contains(&needed) { width } else { needed }
    }
}

/// Whether a name occurs in statements.
pub(super) fn mentions(body: &[syntax::Stmt], name: &str) -> bool {
    use syntax::StmtKind as S;
    let expr = |e: &syntax::Expr| exprs::mentions(e, name);
    let ty = |t: &syntax::Type| exprs::mentions_type(t, name);
    body.iter().any(|stmt| match &stmt.kind {
        S::Let { ty: t, value, .. } => t.as_ref().is_some_and(ty) || value.as_ref().is_some_and(expr),
        S::Assign { place, value, .. } => expr(place) || expr(value),
        S::If { condition, then, otherwise } => {
            expr(condition) || mentions(then, name) || mentions(otherwise, name)
        }
        S::While { condition, body } => expr(condition) || mentions(body, name),
        S::ForRange { from, to, body, .. } => expr(from) || expr(to) || mentions(body, name),
        S::ForData { body } => mentions(body, name),
        S::Write(_, value) => expr(value),
        S::Shift(..) | S::Reject => false,
    })
}
