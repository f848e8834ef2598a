//! Values that statements leave somewhere: `if` as a value, and `return` before a function's end.

use super::{Binding, Checker, PREDICT, Shape, Source, Value, View, statements::Target};
use crate::{
    core::{ArrayId, Cond, Expr, Index, Place, Slot, Stmt, StmtKind, THETA, Ty},
    lex::Span,
    syntax::{self, ExprKind, Function, Learner, StmtKind as S},
};

/// Where `return` leads in the function or learner that is being checked: out of a loop of one round around its body.
#[derive(Clone, Debug)]
pub(super) struct Returning {
    /// What is returned and where it is left; a learner returns nothing.
    result: Option<(Shape, Target)>,
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
    ) -> Value {
        let condition = self.condition(condition);
        let (first, mut then) = self.apart(|checker| checker.expr_for(yes, shape));
        let (second, mut otherwise) = self.apart(|checker| checker.expr_for(no, shape));
        if matches!(first, Value::Poison) || matches!(second, Value::Poison) {
            return Value::Poison;
        }
        let told = || shape_of(&first).or_else(|| shape_of(&second));
        let Some(shape) = shape.cloned().or_else(told) else {
            self.error(span, "the type of this `if` cannot be told", "only literals")
                .remedy("give one of them a type: `if c { 1 as fix<I,F> } else { 0 }`");
            return Value::Poison;
        };
        let Some(target) = self.fresh(&shape, span) else { return Value::Poison };
        then.extend(self.apart(|checker| checker.store(&target, &shape, first, &yes.span)).1);
        otherwise.extend(self.apart(|checker| checker.store(&target, &shape, second, &no.span)).1);
        match condition {
            Cond::Constant(value) => {
                if let Some(out) = self.out.last_mut() {
                    out.extend(if value { then } else { otherwise });
                }
            }
            condition => self.emit(span, StmtKind::If(condition, then, otherwise)),
        }
        target.value()
    }

    /// What something gives, and the statements that it needs.
    fn apart<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> (T, Vec<Stmt>) {
        self.out.push(Vec::new());
        let done = act(self);
        (done, self.out.pop().unwrap_or_default())
    }

    /// A place for a value of this shape, until the innermost scope or statement ends.
    fn fresh(&mut self, shape: &Shape, span: &Span) -> Option<Target> {
        match shape {
            Shape::Number(ty) => {
                let slot = self.take_slot(ty.width());
                Some(Target::Number(Place::Slot(slot), Expr::Variable { slot, ty: *ty }))
            }
            Shape::Bit => Some(Target::Bit(Place::Slot(self.take_slot(1)))),
            Shape::Array(..) => self.take_array(shape, span).map(Target::Array),
            Shape::Tape | Shape::Poison => None,
        }
    }

    fn store(&mut self, target: &Target, shape: &Shape, value: Value, span: &Span) {
        match (target, self.fitting(value, shape, span)) {
            (Target::Number(place, _), Some(Value::Number(value))) => {
                self.emit(span, StmtKind::Assign(place.clone(), value));
            }
            (Target::Bit(place), Some(Value::Condition(cond))) => {
                self.emit(span, StmtKind::SetFlag(place.clone(), cond));
            }
            (Target::Array(view), Some(value)) => self.fill(view, value, span),
            _ => {}
        }
    }

    /// The statements of a function, and what it returns.
    pub(super) fn function_body(&mut self, function: &'p Function, result: &Shape) -> Value {
        if let Some((syntax::Stmt { kind: S::Return(Some(value)), .. }, body)) = function.body.split_last()
            && !has_return(body)
        {
            self.block(body);
            let given = self.expr_for(value, Some(result));
            return self.returned(given, result, body.is_empty(), &value.span);
        }
        let span = &function.name.span;
        if !always_returns(&function.body) {
            self.error(span, format!("`{}` can end without `return`", function.name.text), "no value then")
                .remedy("end it with `return` and a value");
            return Value::Poison;
        }
        let Some(target) = self.fresh(result, span) else {
            return self.returned(Value::Poison, result, false, span);
        };
        self.returning_block(Some((result.clone(), target.clone())), &function.body, span);
        target.value()
    }

    /// The function `predict` for the data and theta of the learner; says which array its answer is left in.
    pub(super) fn predict(&mut self, learner: &'p Learner, format: Ty) -> Option<ArrayId> {
        let program = self.program;
        let function = program.functions.iter().find(|function| function.name.text == PREDICT)?;
        let span = &function.name.span;
        let [(x, x_type), (theta, theta_type)] = &function.parameters[..] else {
            self.error(span, "`predict` takes a sample and theta", "expected two parameters")
                .remedy("write it as `fn predict(x: [fix<I,F>; M], theta: [fix<I,F>; M + 1]) -> fix<I,F>`");
            return None;
        };
        let outside = self.enter();
        let number = Box::new(Shape::Number(format));
        let expected = [Shape::Array(number, self.sizes.n_features), self.shape(&learner.result.1)];
        let sources = [Source::Data, Source::Array(THETA)];
        for (((name, ty), shape), source) in
            [(x, x_type), (theta, theta_type)].into_iter().zip(expected).zip(sources)
        {
            if self.shape(ty) != shape {
                let message = format!("`{}` of `predict` must be {shape}, as in the learner", name.text);
                self.error(&ty.span, message, "another type");
            }
            self.bind(name, Binding::FixedArray(View { source, first: Index::default(), shape }));
        }
        let result = self.shape(&function.result);
        let all = match &result {
            Shape::Array(..) => result.clone(),
            single => Shape::Array(Box::new(single.clone()), 1),
        };
        if !matches!(all.innermost(), Shape::Number(_)) {
            self.error(&function.result.span, "`predict` returns numbers", "no numbers");
            return None;
        }
        self.call_depth += 1;
        let value = self.function_body(function, &result);
        self.call_depth -= 1;
        let view = self.take_array(&all, span)?;
        let Source::Array(answer) = view.source else { return None };
        match self.fitting(value, &result, span)? {
            Value::Number(value) => {
                self.emit(span, StmtKind::Assign(Place::Element(answer, Index::default()), value));
            }
            value => self.fill(&view, value, span),
        }
        self.scopes = outside;
        Some(answer)
    }

    /// A body that may be left by `return`: a loop of one round around it.
    pub(super) fn returning_block(
        &mut self,
        result: Option<(Shape, Target)>,
        body: &'p [syntax::Stmt],
        span: &Span,
    ) {
        let left = returns_in_loop(body, false).then(|| self.take_slot(1));
        if let Some(slot) = left {
            self.emit(span, StmtKind::SetFlag(Place::Slot(slot), Cond::Constant(false)));
        }
        let outside = self.returning.replace(Returning { result, left, n_loops: 0 });
        let (_, body) = self.apart(|checker| {
            checker.block(body);
            checker.emit(span, StmtKind::Break);
        });
        self.returning = outside;
        self.emit(span, StmtKind::While { before: Vec::new(), condition: Cond::Constant(true), body });
    }

    pub(super) fn return_stmt(&mut self, value: Option<&'p syntax::Expr>, span: &Span) {
        let Some(Returning { result, left, n_loops }) = self.returning.clone() else { return };
        if let (Some((shape, target)), Some(value)) = (result, value) {
            self.held.push(Vec::new());
            let given = self.expr_for(value, Some(&shape));
            self.store(&target, &shape, given, &value.span);
            self.release();
        }
        if let (Some(slot), 1..) = (left, n_loops) {
            self.emit(span, StmtKind::SetFlag(Place::Slot(slot), Cond::Constant(true)));
        }
        self.emit(span, StmtKind::Break);
    }

    /// Inside or outside of one more loop.
    pub(super) fn count_loop(&mut self, inside: bool) {
        if let Some(returning) = &mut self.returning {
            returning.n_loops = if inside { returning.n_loops + 1 } else { returning.n_loops - 1 };
        }
    }

    /// Behind a loop with a `return` inside, the loop around it is left, too.
    pub(super) fn leave_after(&mut self, stmt: &syntax::Stmt) {
        let Some(Returning { left: Some(slot), .. }) = self.returning else { return };
        if is_loop(stmt) && stmt.blocks().into_iter().any(has_return) {
            let leave = Stmt { line: self.line(&stmt.span), kind: StmtKind::Break };
            self.emit(&stmt.span, StmtKind::If(Cond::Flag(Place::Slot(slot)), vec![leave], Vec::new()));
        }
    }
}

/// What a value's type is, if it has one.
pub(super) fn shape_of(value: &Value) -> Option<Shape> {
    match value {
        Value::Number(value) => Some(Shape::Number(value.ty())),
        Value::Condition(_) => Some(Shape::Bit),
        Value::Array(view) => Some(view.shape.clone()),
        Value::List(values, element) => Some(Shape::Array(Box::new(element.clone()), values.len())),
        Value::Constant(_) | Value::Index(_) | Value::Poison => None,
    }
}

pub(super) fn has_return(body: &[syntax::Stmt]) -> bool {
    body.iter().any(|stmt| matches!(stmt.kind, S::Return(_)) || stmt.blocks().into_iter().any(has_return))
}

/// A loop that is not written out.
fn is_loop(stmt: &syntax::Stmt) -> bool {
    matches!(stmt.kind, S::While { .. } | S::ForRange { unroll: false, .. } | S::ForData { .. })
}

fn returns_in_loop(body: &[syntax::Stmt], inside: bool) -> bool {
    body.iter().any(|stmt| {
        let inside = inside || is_loop(stmt);
        inside && matches!(stmt.kind, S::Return(_))
            || stmt.blocks().into_iter().any(|body| returns_in_loop(body, inside))
    })
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
