//! Values that statements leave somewhere: `if` as a value, and `return` before a function's end.

use super::{Binding, Checker, PREDICT, Shape, Source, Value, View};
use crate::{
    core::{ArrayId, Expr, Index, Place, Slot, Stmt, StmtKind, THETA, Ty},
    lex::Span,
    syntax::{self, ExprKind, Function, Learner, StmtKind as S},
};

/// Where `return` leads in the function or learner that is being checked: out of a loop of one round around its body.
#[derive(Clone, Debug)]
pub(super) struct Returning {
    /// Where what is returned is left; a learner returns nothing.
    result: Option<View>,
    /// Says behind a loop that it was left by `return`; only where a loop has one inside.
    left: Option<Slot>,
    /// Loops around the statement, inside of the function.
    n_loops: usize,
}

impl<'p> Checker<'p> {
    /// `if c { a } else { b }`: a statement in front of this one decides.
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
        let told = || shape_of(&first).or_else(|| shape_of(&second));
        let Some(shape) = shape.cloned().or_else(told) else {
            let help = "give one of them a type: `if c { 1 as fix<I,F> } else { 0 }`";
            return self.refuse(span, "the type of this `if` cannot be told", "only literals", help);
        };
        let target = self.take(&shape, span)?;
        then.extend(self.apart(|checker| checker.store(&target, first, &yes.span)).1);
        otherwise.extend(self.apart(|checker| checker.store(&target, second, &no.span)).1);
        self.emit_if(span, condition, then, otherwise);
        target.value()
    }

    /// Puts a value somewhere, if it fits.
    fn store(&mut self, target: &View, value: Value, span: &Span) {
        if let Some(value) = self.fitting(value, &target.shape, span) {
            self.fill(target, value, span);
        }
    }

    /// The statements of a function, and what it returns.
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
            return self.refuse(span, message, "no value then", "end it with `return` and a value");
        }
        let target = self.take(result?, span)?;
        self.returning_block(Some(target.clone()), &function.body, span);
        target.value()
    }

    /// The function `predict` for the data and theta of the learner; says which array its answer is left in.
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
        let expected =
            [(Source::Data, Some(features)), (Source::Array(THETA), self.shape(&learner.result.1))];
        for ((name, ty), (source, shape)) in function.parameters.iter().zip(expected) {
            let shape = shape?;
            if self.shape(ty).as_ref() != Some(&shape) {
                let message = format!("`{}` of `predict` must be {shape}, as in the learner", name.text);
                self.error(&ty.span, message, "another type");
            }
            let view = View { source, first: Index::default(), shape };
            self.bind(name, Binding::Value(Some(Value::Array(view))));
        }
        let result = self.shape(&function.result)?;
        let all = match &result {
            Shape::Array(..) => result.clone(),
            single => Shape::Array(Box::new(single.clone()), 1),
        };
        if !matches!(all.innermost(), Shape::Number(_)) {
            return self.fail(&function.result.span, "`predict` returns numbers", "no numbers");
        }
        let value = self.function_body(function, Some(&result));
        let view = View { shape: result, ..self.take(&all, span)? };
        self.store(&view, value?, span);
        self.here = outside;
        if let Source::Array(answer) = view.source { Some(answer) } else { None }
    }

    /// A body that may be left by `return`: a loop of one round around it.
    pub(super) fn returning_block(&mut self, result: Option<View>, body: &'p [syntax::Stmt], span: &Span) {
        let left = syntax::Stmt::first(body, &returns_inside).map(|_| self.take_slot(1));
        if let Some(slot) = left {
            self.emit(span, StmtKind::Assign(Place::Slot(slot), Expr::bit(false)));
        }
        let outside = self.here.returning.replace(Returning { result, left, n_loops: 0 });
        let (_, body) = self.apart(|checker| {
            checker.block(body);
            checker.emit(span, StmtKind::Break);
        });
        self.here.returning = outside;
        self.emit(span, StmtKind::While { before: Vec::new(), condition: Expr::bit(true), body });
    }

    pub(super) fn return_stmt(&mut self, value: Option<&'p syntax::Expr>, span: &Span) {
        let Some(Returning { result, left, n_loops }) = self.here.returning.clone() else { return };
        if let (Some(target), Some(value)) = (result, value)
            && let Some(given) = self.expr_for(value, Some(&target.shape))
        {
            self.store(&target, given, &value.span);
        }
        if let (Some(slot), 1..) = (left, n_loops) {
            self.emit(span, StmtKind::Assign(Place::Slot(slot), Expr::bit(true)));
        }
        self.emit(span, StmtKind::Break);
    }

    /// Inside or outside of one more loop.
    pub(super) fn count_loop(&mut self, inside: bool) {
        if let Some(returning) = &mut self.here.returning {
            returning.n_loops = if inside { returning.n_loops + 1 } else { returning.n_loops - 1 };
        }
    }

    /// Behind a loop with a `return` inside, the loop around it is left, too.
    pub(super) fn leave_after(&mut self, stmt: &syntax::Stmt) {
        let Some(Returning { left: Some(slot), .. }) = self.here.returning else { return };
        if returns_inside(stmt) {
            let leave = Stmt { line: self.line(&stmt.span), kind: StmtKind::Break };
            self.emit(
                &stmt.span,
                StmtKind::If(Expr::Variable { slot, ty: Ty::BIT }, vec![leave], Vec::new()),
            );
        }
    }
}

/// What a value's type is, if it has one.
pub(super) fn shape_of(value: &Value) -> Option<Shape> {
    match value {
        Value::Number(value) => Some(Shape::Number(value.ty())),
        Value::Bit(_) => Some(Shape::Bit),
        Value::Array(view) => Some(view.shape.clone()),
        Value::List(values, element) => Some(Shape::Array(Box::new(element.clone()), values.len())),
        Value::Constant(_) | Value::Index(_) => None,
    }
}

pub(super) fn has_return(body: &[syntax::Stmt]) -> bool {
    syntax::Stmt::first(body, &|stmt| matches!(stmt.kind, S::Return(_))).is_some()
}

/// A loop that is not written out.
fn is_loop(stmt: &syntax::Stmt) -> bool {
    matches!(stmt.kind, S::While { .. } | S::ForRange { unroll: false, .. } | S::ForData { .. })
}

fn returns_inside(stmt: &syntax::Stmt) -> bool {
    is_loop(stmt) && stmt.blocks().into_iter().any(has_return)
}

/// Whether no way leads to the end of a body.
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
