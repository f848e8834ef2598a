//! Functions: each is checked by itself, and inlined where it is called. Those that take samples from a stream.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Binding, Checker, Context, Expr, MAX_CALL_DEPTH, Made, Place, Shape, Span, Store, Ty, Value, View,
};
use crate::syntax::{self, ExprKind, Function, Name, Stmt, StmtKind as S, Type};

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
    pub(super) fn returned(
        &mut self,
        value: Value,
        result: &Shape,
        pure: bool,
        span: &Span,
    ) -> Option<Value> {
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
        let bodies: Vec<&Vec<Stmt>> = bodies.chain(program.learners.iter().map(|l| &l.body)).collect();
        let first = |wanted: fn(&Stmt) -> bool| bodies.iter().find_map(|body| Stmt::first(body, &wanted));
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
    pub(super) fn find_takers(&mut self) {
        let functions = self.program.functions.iter().enumerate();
        let takers = functions.filter(|(_, function)| Stmt::first(&function.body, &takes).is_some());
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
    pub(super) fn calls_taker(&self, stmt: &Stmt) -> bool {
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
}

fn takes(stmt: &Stmt) -> bool {
    matches!(stmt.kind, S::Take)
}
