//! Results that statements store: `if` as a value, and `return` before the end of a function.

use super::{
    ArrayId, Binding, Checker, Expr, PREDICT, Place, Shape, Slot, Span, Stmt, StmtKind, Store, THETA, Ty,
    Value, View,
};
use crate::syntax::{self, ExprKind, Function, Learner, StmtKind as S};

/// The function or learner that `return` leaves. Its body is the single round of a loop, and `return` breaks out of it.
#[derive(Clone, Debug)]
pub(super) struct Returning {
    /// Where the result is stored; a learner returns nothing.
    result: Option<View>,
    /// A flag that a loop was left by `return`, if there is a `return` in a loop.
    left: Option<Slot>,
}

impl<'p> Checker<'p> {
    /// `if c { a } else { b }` as a value: an `if` statement stores it in a temporary.
    pub(super) fn choice(
        &mut self,
        [condition, yes, no]: [&'p syntax::Expr; 3],
        shape: Option<&Shape>,
        span: &Span,
    ) -> Option<Value> {
        let condition = self.condition(condition);
        let (first, mut then) = self.apart(|checker| checker.expr_for(yes, shape));
        let (second, mut otherwise) = self.apart(|checker| checker.expr_for(no, shape));
        let (first, second) = (first?, second?);
        let inferred = || shape_of(&first).or_else(|| shape_of(&second));
        let Some(shape) = shape.cloned().or_else(inferred) else {
            let help = "give one of them a type: `if c { 1 as fix<I,F> } else { 0 }`";
            return self.refuse(span, "the type of this `if` cannot be inferred", "only literals", help);
        };
        let target = self.take(&shape, span)?;
        then.extend(self.apart(|checker| checker.store(&target, first, &yes.span)).1);
        otherwise.extend(self.apart(|checker| checker.store(&target, second, &no.span)).1);
        self.emit_if(span, condition, then, otherwise);
        target.value()
    }

    /// Assigns a value; a mismatch is reported.
    fn store(&mut self, target: &View, value: Value, span: &Span) {
        if let Some(value) = self.fitting(value, &target.shape, span) {
            self.fill(target, value, span);
        }
    }

    /// Emits the statements of a function, and returns its result.
    pub(super) fn function_body(&mut self, function: &'p Function, result: Option<&Shape>) -> Option<Value> {
        if let Some((syntax::Stmt { kind: S::Return(Some(value)), .. }, body)) = function.body.split_last()
            && !has_return(body)
        {
            self.block(body);
            let given = self.expr_for(value, result);
            return self.returned(given?, result?, body.is_empty(), &value.span);
        }
        let span = &function.name.span;
        if !always_returns(&function.body) {
            let message = format!("`{}` can end without `return`", function.name.text);
            return self.refuse(span, message, "no value in that case", "end it with `return` and a value");
        }
        let target = self.take(result?, span)?;
        self.returning_block(Some(target.clone()), &function.body, span);
        target.value()
    }

    /// Checks `predict` for the data and theta of the learner. Returns the array of its result.
    pub(super) fn predict(&mut self, learner: &'p Learner, format: Ty) -> Option<ArrayId> {
        let program = self.program;
        let function = program.functions.iter().find(|function| function.name.text == PREDICT)?;
        let span = &function.name.span;
        if function.parameters.len() != 2 {
            let help = "write it as `fn predict(x: [fix<I,F>; M], theta: [fix<I,F>; M + 1]) -> fix<I,F>`";
            return self.refuse(span, "`predict` takes a sample and theta", "expected two parameters", help);
        }
        let outside = self.enter();
        let features = Shape::Array(Box::new(Shape::Number(format)), self.sizes.n_features);
        let expected = [(Store::Data, Some(features)), (Store::Array(THETA), self.shape(&learner.result.1))];
        for ((name, ty), (store, shape)) in function.parameters.iter().zip(expected) {
            let shape = shape?;
            if self.shape(ty).as_ref() != Some(&shape) {
                let message = format!("`{}` of `predict` must be {shape}, as in the learner", name.text);
                self.error(&ty.span, message, "another type");
            }
            let view = View { place: Place::first(store), shape };
            self.bind(name, Binding::Value(Some(Value::Array(view))));
        }
        let result = self.shape(&function.result)?;
        let all = match &result {
            Shape::Array(..) => result.clone(),
            single => Shape::Array(Box::new(single.clone()), 1),
        };
        if all.element() == Ty::BIT {
            return self.fail(&function.result.span, "`predict` returns numbers", "no numbers");
        }
        let value = self.function_body(function, Some(&result));
        let view = View { shape: result, ..self.take(&all, span)? };
        self.store(&view, value?, span);
        self.here = outside;
        if let Store::Array(answer) = view.place.store { Some(answer) } else { None }
    }

    /// A body with `return`: the single round of a loop.
    pub(super) fn returning_block(&mut self, result: Option<View>, body: &'p [syntax::Stmt], span: &Span) {
        let left = syntax::Stmt::first(body, &returns_inside).map(|_| self.take_slot(1));
        if let Some(slot) = left {
            self.emit(span, StmtKind::Assign(Place::slot(slot), Expr::bit(false)));
        }
        let outside = self.here.returning.replace(Returning { result, left });
        let (_, body) = self.apart(|checker| {
            checker.block(body);
            checker.emit(span, StmtKind::Break);
        });
        self.here.returning = outside;
        self.emit(span, StmtKind::While { before: Vec::new(), condition: Expr::bit(true), body });
    }

    pub(super) fn return_stmt(&mut self, value: Option<&'p syntax::Expr>, span: &Span) {
        let Some(Returning { result, left }) = self.here.returning.clone() else { return };
        if let (Some(target), Some(value)) = (result, value)
            && let Some(given) = self.expr_for(value, Some(&target.shape))
        {
            self.store(&target, given, &value.span);
        }
        if let Some(slot) = left.filter(|_| self.here.in_loop) {
            self.emit(span, StmtKind::Assign(Place::slot(slot), Expr::bit(true)));
        }
        self.emit(span, StmtKind::Break);
    }

    /// After a loop with a `return` inside, leaves the surrounding loop, too.
    pub(super) fn leave_outer_loop(&mut self, stmt: &syntax::Stmt) {
        let Some(Returning { left: Some(slot), .. }) = self.here.returning else { return };
        if returns_inside(stmt) {
            let leave = Stmt { line: self.line(&stmt.span), kind: StmtKind::Break };
            let left = Expr::variable(slot, Ty::BIT);
            self.emit(&stmt.span, StmtKind::If(left, vec![leave], Vec::new()));
        }
    }
}

/// The shape of a value; `None` for literals and loop variables, which have no type yet.
pub(super) fn shape_of(value: &Value) -> Option<Shape> {
    match value {
        Value::Number(value) => Some(Shape::Number(value.ty())),
        Value::Array(view) => Some(view.shape.clone()),
        Value::List(values, element) => Some(Shape::Array(Box::new(element.clone()), values.len())),
        Value::Constant(_) | Value::Index(_) => None,
    }
}

pub(super) fn has_return(body: &[syntax::Stmt]) -> bool {
    syntax::Stmt::first(body, &|stmt| matches!(stmt.kind, S::Return(_))).is_some()
}

/// Whether a statement is a loop that is not unrolled.
fn is_loop(stmt: &syntax::Stmt) -> bool {
    matches!(stmt.kind, S::While { .. } | S::ForRange { unroll: false, .. } | S::ForData { .. })
}

fn returns_inside(stmt: &syntax::Stmt) -> bool {
    is_loop(stmt) && stmt.blocks().into_iter().any(has_return)
}

/// Whether a body cannot end without `return`.
fn always_returns(body: &[syntax::Stmt]) -> bool {
    body.last().is_some_and(|stmt| match &stmt.kind {
        S::Return(_) | S::Reject => true,
        S::If { then, otherwise, .. } => always_returns(then) && always_returns(otherwise),
        S::While { condition, body } => {
            matches!(condition.kind, ExprKind::Bool(true)) && has_return(body) && !has_break(body)
        }
        _ => false,
    })
}

/// Whether a loop with this body can be left by its own `break`.
fn has_break(body: &[syntax::Stmt]) -> bool {
    body.iter().any(|stmt| {
        matches!(stmt.kind, S::Break) || !is_loop(stmt) && stmt.blocks().into_iter().any(has_break)
    })
}
