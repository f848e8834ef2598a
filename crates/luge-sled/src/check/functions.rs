//! Functions: each is checked by itself, and inlined where it is called. Results that statements store: `if` as a value, and
//! `return` before the end of a function. Functions that take samples from a stream.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    ArrayId, Binding, Checker, Context, Expr, MAX_CALL_DEPTH, Made, PREDICT, Place, Shape, Slot, Span, Stmt,
    StmtKind, Store, THETA, Ty, Value, View,
};
use crate::syntax::{self, ExprKind, Function, Learner, Name, StmtKind as S, Type};

/// The function or learner that `return` leaves. Its body is the single round of a loop, and `return` breaks out of it.
#[derive(Clone, Debug)]
pub(super) struct Returning {
    /// Where the result is stored; a learner returns nothing.
    result: Option<View>,
    /// A flag that a loop was left by `return`, if there is a `return` in a loop.
    left: Option<Slot>,
}

impl<'p> Checker<'p> {
    /// Checks every function, called or not, and reports recursion. Discards the generated code.
    pub(super) fn functions(&mut self) {
        for (index, function) in self.program.functions.iter().enumerate() {
            self.checked_alone = Some(index);
            self.function(function);
        }
        self.checked_alone = None;
        self.made = Made::default();
        self.find_takers();
        self.recursion();
    }

    fn function(&mut self, function: &'p Function) {
        let outside = self.enter();
        self.made.held.push(Vec::new());
        let result = self.result(function);
        for (name, ty) in &function.parameters {
            let shape = match self.shape(ty) {
                Some(Shape::Tape) => {
                    self.fail(&ty.span, "a tape as a parameter", "functions take numbers, bits and arrays")
                }
                shape => shape,
            };
            let value = shape.and_then(|shape| self.placeholder(&shape));
            self.bind(name, Binding::Value(value));
        }
        self.apart(|checker| checker.function_body(function, result.as_ref()));
        self.release();
        self.here = outside;
    }

    fn result(&mut self, function: &Function) -> Option<Shape> {
        match self.shape(&function.result) {
            Some(Shape::Tape) => {
                let label = "functions return numbers, bits and arrays";
                self.fail(&function.result.span, "a function that returns a tape", label)
            }
            shape => shape,
        }
    }

    /// A value of this shape, in place of the result of a call.
    fn placeholder(&mut self, shape: &Shape) -> Option<Value> {
        match shape {
            Shape::Array(..) => {
                // The code is discarded, so the array need not exist.
                let place = Place::first(Store::Array(usize::MAX));
                Some(Value::Array(View { place, shape: shape.clone() }))
            }
            shape => self.take(shape, &(0..0))?.value(),
        }
    }

    /// Reports recursion: a depth-first search of the calls, without recursion of its own.
    fn recursion(&mut self) {
        let functions = &self.program.functions;
        let mut calls = vec![Vec::new(); functions.len()];
        for ((caller, called), span) in std::mem::take(&mut self.calls) {
            calls[caller].push((called, span));
        }
        let mut seen = vec![false; functions.len()];
        let mut on_way = BTreeSet::new();
        for root in 0..functions.len() {
            let mut way = Vec::new();
            if !seen[root] {
                way.push((root, 0));
            }
            while let Some((caller, followed)) = way.last_mut() {
                let caller = *caller;
                seen[caller] = true;
                on_way.insert(caller);
                let Some((called, span)) = calls[caller].get(*followed) else {
                    on_way.remove(&caller);
                    way.pop();
                    continue;
                };
                *followed += 1;
                if on_way.contains(called) {
                    let name = &functions[*called].name.text;
                    let message = if caller == *called {
                        format!("`{name}` calls itself")
                    } else {
                        format!("`{name}` calls itself through `{}`", functions[caller].name.text)
                    };
                    self.error(span, message, "recursion").remedy("functions are inlined: write a loop");
                    self.recursive.extend([caller, *called]);
                } else if !seen[*called] {
                    way.push((*called, 0));
                }
            }
        }
    }

    /// Inlines a call: the function's body is emitted before the statement that calls it.
    pub(super) fn call_function(
        &mut self,
        name: &Name,
        arguments: &'p [syntax::Expr],
        span: &Span,
    ) -> Option<Value> {
        let program = self.program;
        let Some(called) = program.functions.iter().position(|f| f.name.text == name.text) else {
            let message = format!("there is no function `{}`", name.text);
            let help = "the built-in functions are relu, abs, sign, min, max and random";
            return self.refuse(&name.span, message, "unknown function", help);
        };
        let function = &program.functions[called];
        if let Some(caller) = self.checked_alone {
            self.calls.entry((caller, called)).or_insert_with(|| name.span.clone());
        }
        if self.here.call_depth >= MAX_CALL_DEPTH {
            let message = format!("calls nest more than {MAX_CALL_DEPTH} deep");
            let help = "write some of the functions out where they are called";
            return self.refuse(span, message, "too deep here", help);
        }
        if arguments.len() != function.parameters.len() {
            let expected = function.parameters.len();
            let message = format!("`{}` takes {expected} arguments, {} given", name.text, arguments.len());
            return self.fail(span, message, format!("expected {expected}"));
        }
        let mut bound = Vec::new();
        for ((_, ty), argument) in function.parameters.iter().zip(arguments) {
            bound.push(self.argument(ty, argument));
        }
        let result = self.result(function);
        if self.checked_alone.is_some() || self.recursive.contains(&called) {
            return self.placeholder(&result?);
        }
        let outside = self.enter();
        for ((parameter, _), value) in function.parameters.iter().zip(bound) {
            self.bind(parameter, Binding::Value(value));
        }
        self.made.held.push(Vec::new());
        let value = self.function_body(function, result.as_ref());
        let locals = self.made.held.pop().unwrap_or_default();
        locals.into_iter().for_each(|local| self.hold(local));
        self.here = outside;
        value
    }

    /// Enters a function, which sees only constants and types. Returns the context of the call.
    pub(super) fn enter(&mut self) -> Context {
        let mut globals = self.here.scopes.first().cloned().unwrap_or_default();
        globals.retain(|_, binding| {
            matches!(binding, Binding::Value(None | Some(Value::Constant(_))) | Binding::Alias(_))
        });
        let scopes = vec![globals, BTreeMap::new()];
        let (call_depth, level) = (self.here.call_depth + 1, self.here.level);
        std::mem::replace(&mut self.here, Context { scopes, call_depth, level, ..Context::default() })
    }

    /// The value of an argument. Arrays are not copied, because a function cannot change its arguments or any other
    /// variable of its caller.
    fn argument(&mut self, ty: &Type, argument: &'p syntax::Expr) -> Option<Value> {
        let shape = self.shape(ty);
        let value = self.expr_for(argument, shape.as_ref());
        let (shape, span) = (shape.filter(|shape| *shape != Shape::Tape)?, &argument.span);
        match self.fitting(value?, &shape, span)? {
            Value::Number(number) if number.is_simple() && number.ty() != Ty::BIT => {
                Some(Value::Number(number))
            }
            // A computed index must be checked at the call.
            Value::Number(Expr::Load(place, ty))
                if place.store == Store::Data && place.index.computed.is_empty() =>
            {
                Some(Value::Number(Expr::Load(place, ty)))
            }
            Value::Array(view) => Some(Value::Array(self.frozen(view, span))),
            value => self.stored(value, &shape, span),
        }
    }

    /// The result of a function, copied unless later statements cannot change it; `pure` functions have no statements.
    fn returned(&mut self, value: Value, result: &Shape, pure: bool, span: &Span) -> Option<Value> {
        match self.fitting(value, result, span)? {
            Value::Array(view) => Some(Value::Array(self.frozen(view, span))),
            value @ Value::Number(_) if pure || value.is_bit() => Some(value),
            value => self.stored(value, result, span),
        }
    }

    /// Determines whether the program takes samples; it cannot loop over the data, too.
    pub(super) fn samples(&mut self) {
        let program = self.program;
        let bodies = program.functions.iter().map(|function| &function.body);
        let bodies: Vec<&Vec<syntax::Stmt>> =
            bodies.chain(program.learners.iter().map(|l| &l.body)).collect();
        let first = |wanted: fn(&syntax::Stmt) -> bool| {
            bodies.iter().find_map(|body| syntax::Stmt::first(body, &wanted))
        };
        let each = first(|stmt| matches!(stmt.kind, S::ForData { .. }));
        self.takes = first(takes).is_some();
        if let Some(each) = each.filter(|_| self.takes) {
            let message = "a loop over the data in a learner that takes samples";
            let help =
                "samples come from a stream or from a table: use either `take;` or `for sample in data`";
            self.error(&each.span, message, "there is no table").remedy(help);
        }
    }

    /// Finds the functions that take a sample, directly or through calls.
    fn find_takers(&mut self) {
        let functions = self.program.functions.iter().enumerate();
        let takers = functions.filter(|(_, function)| syntax::Stmt::first(&function.body, &takes).is_some());
        self.takers = takers.map(|(at, _)| at).collect();
        loop {
            let callers = self.calls.keys().filter(|(_, called)| self.takers.contains(called));
            let callers: Vec<usize> = callers.map(|&(caller, _)| caller).collect();
            let n_known = self.takers.len();
            self.takers.extend(callers);
            if self.takers.len() == n_known {
                return;
            }
        }
    }

    /// Whether a statement, apart from its blocks, calls a function that takes a sample.
    pub(super) fn calls_taker(&self, stmt: &syntax::Stmt) -> bool {
        let functions = &self.program.functions;
        let takes = |name: &str| self.takers.iter().any(|&taker| functions[taker].name.text == name);
        let calls = |kind: &ExprKind| matches!(kind, ExprKind::Call(name, _) if takes(&name.text));
        stmt.expressions().into_iter().any(|expr| expr.any(&calls))
    }

    /// Features or labels, copied if the same statement takes another sample.
    pub(super) fn sample_view(&mut self, view: View, span: &Span) -> View {
        if !self.here.copies_samples {
            return view;
        }
        let array = match &view.shape {
            Shape::Number(_) => Shape::Array(Box::new(view.shape.clone()), 1),
            array => array.clone(),
        };
        let Some(copy) = self.take(&array, span) else { return view };
        let shape = view.shape.clone();
        self.fill(&copy, Value::Array(view), span);
        View { shape, ..copy }
    }

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
    fn function_body(&mut self, function: &'p Function, result: Option<&Shape>) -> Option<Value> {
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

fn takes(stmt: &syntax::Stmt) -> bool {
    matches!(stmt.kind, S::Take)
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
