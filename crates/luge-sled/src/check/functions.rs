//! Functions: each is checked on its own, and inlined where it is called.

use std::collections::{BTreeMap, BTreeSet};

use super::{Binding, Breakable, Checker, DEEPEST_CALL, Shape, Source, Value, View};
use crate::{
    core::{Cond, Expr, Index, Place, StmtKind},
    lex::Span,
    syntax::{self, Function, Name, Type},
};

impl<'p> Checker<'p> {
    /// Checks every function, called or not, and refuses those that call themselves. Nothing is left but findings.
    pub(super) fn functions(&mut self) {
        for (index, function) in self.program.functions.iter().enumerate() {
            self.sketched = Some(index);
            self.function(function);
        }
        self.sketched = None;
        self.widths.clear();
        self.arrays.clear();
        self.free.clear();
        self.free_arrays.clear();
        self.variables.clear();
        (self.n_numbers, self.random) = (0, None);
        (self.n_statements, self.n_expressions, self.too_large) = (0, 0, false);
        self.find_takers();
        self.recursion();
    }

    fn function(&mut self, function: &'p Function) {
        let outside = self.enter();
        self.out.push(Vec::new());
        self.held.push(Vec::new());
        self.call_depth += 1;
        let result = self.shape(&function.result);
        for (name, ty) in &function.parameters {
            let binding = self.any_argument(ty);
            self.bind(name, binding);
        }
        self.function_body(function, &result);
        self.call_depth -= 1;
        self.release();
        self.out.pop();
        self.scopes = outside;
    }

    /// What a parameter stands for as long as there is no call.
    fn any_argument(&mut self, ty: &Type) -> Binding {
        match self.shape(ty) {
            Shape::Tape => self.argument(Value::Poison, Shape::Tape, ty, &ty.span),
            shape => match self.any_value(&shape) {
                Value::Number(value) => Binding::Fixed(value),
                Value::Condition(cond) => Binding::FixedFlag(cond),
                Value::Array(view) => Binding::FixedArray(view),
                _ => Binding::Poison,
            },
        }
    }

    /// Something of this shape, in place of what a call would give.
    fn any_value(&mut self, shape: &Shape) -> Value {
        match shape {
            Shape::Number(ty) => {
                let slot = self.take_slot(ty.width());
                Value::Number(Expr::Variable { slot, ty: *ty })
            }
            Shape::Bit => Value::Condition(Cond::Flag(Place::Slot(self.take_slot(1)))),
            Shape::Array(..) => {
                // No element of it is ever looked at.
                let source = Source::Array(usize::MAX);
                Value::Array(View { source, first: Index::default(), shape: shape.clone() })
            }
            _ => Value::Poison,
        }
    }

    /// Follows the calls in depth; one that leads to a function on the way there is recursion.
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

    /// A function's body comes before the statement it is called in, with variables of its own.
    pub(super) fn call_function(&mut self, name: &Name, arguments: &'p [syntax::Expr], span: &Span) -> Value {
        let program = self.program;
        let Some(called) = program.functions.iter().position(|f| f.name.text == name.text) else {
            let help = "the language's own are relu, abs, sign, min, max and random";
            self.error(&name.span, format!("there is no function `{}`", name.text), "unknown function")
                .remedy(help);
            return Value::Poison;
        };
        let function = &program.functions[called];
        if let Some(caller) = self.sketched {
            self.calls.entry((caller, called)).or_insert_with(|| name.span.clone());
        }
        if self.call_depth >= DEEPEST_CALL {
            self.error(span, format!("calls nest more than {DEEPEST_CALL} deep"), "too deep here")
                .remedy("write some of the functions out where they are called");
            return Value::Poison;
        }
        if arguments.len() != function.parameters.len() {
            let expected = function.parameters.len();
            let message = format!("`{}` takes {expected} arguments, {} given", name.text, arguments.len());
            self.error(span, message, format!("expected {expected}"));
            return Value::Poison;
        }
        let mut bound = Vec::new();
        for ((parameter, ty), argument) in function.parameters.iter().zip(arguments) {
            let shape = self.shape(ty);
            let value = self.expr_for(argument, Some(&shape));
            let binding = self.argument(value, shape, ty, &argument.span);
            bound.push((parameter, binding));
        }
        let result = self.shape(&function.result);
        if self.sketched.is_some() || self.recursive.contains(&called) {
            return self.any_value(&result);
        }
        let outside = self.enter();
        let in_data = std::mem::replace(&mut self.in_data, false);
        let breakable = std::mem::replace(&mut self.breakable, Breakable::Nothing);
        let copies_samples = std::mem::replace(&mut self.copies_samples, false);
        self.call_depth += 1;
        for (parameter, binding) in bound {
            self.bind(parameter, binding);
        }
        self.held.push(Vec::new());
        let returning = self.returning.take();
        let value = self.function_body(function, &result);
        self.returning = returning;
        let locals = self.held.pop().unwrap_or_default();
        if let Some(held) = self.held.last_mut() {
            held.extend(locals);
        }
        self.call_depth -= 1;
        self.in_data = in_data;
        self.breakable = breakable;
        self.copies_samples = copies_samples;
        self.scopes = outside;
        value
    }

    /// From here on names are those a function sees: constants and types. Returns those of the caller.
    pub(super) fn enter(&mut self) -> Vec<BTreeMap<String, Binding>> {
        let globals = self.scopes.first().cloned().unwrap_or_default();
        let keep =
            |binding: &Binding| matches!(binding, Binding::Constant(_) | Binding::Alias(_) | Binding::Poison);
        let globals = globals.into_iter().filter(|(_, binding)| keep(binding)).collect();
        std::mem::replace(&mut self.scopes, vec![globals, BTreeMap::new()])
    }

    fn argument(&mut self, value: Value, shape: Shape, ty: &Type, span: &Span) -> Binding {
        match (shape, value) {
            (Shape::Number(ty), value) => match self.coerce(value, ty, span) {
                Some(value @ (Expr::Constant { .. } | Expr::Variable { .. })) => Binding::Fixed(value),
                // An index that is computed is checked at the call.
                Some(Expr::Data { index, ty }) if index.computed.is_empty() => {
                    Binding::Fixed(Expr::Data { index, ty })
                }
                Some(value) => {
                    let slot = self.take_slot(ty.width());
                    self.emit(span, StmtKind::Assign(Place::Slot(slot), value));
                    Binding::Fixed(Expr::Variable { slot, ty })
                }
                None => Binding::Poison,
            },
            (Shape::Bit, value) => {
                let cond = self.as_condition(value, span, "bit");
                let slot = self.take_slot(1);
                self.emit(span, StmtKind::SetFlag(Place::Slot(slot), cond));
                Binding::FixedFlag(Cond::Flag(Place::Slot(slot)))
            }
            (shape @ Shape::Array(..), value) => self.array_argument(&shape, value, span),
            (Shape::Tape, _) => {
                self.error(&ty.span, "a tape as a parameter", "functions take numbers, bits and arrays");
                Binding::Poison
            }
            (Shape::Poison, _) => Binding::Poison,
        }
    }

    /// Arrays are not copied: a function cannot change what it is given, and sees nothing else of its caller's.
    fn array_argument(&mut self, shape: &Shape, value: Value, span: &Span) -> Binding {
        match self.fitting(value, shape, span) {
            Some(Value::Array(view)) => Binding::FixedArray(self.frozen(view, span)),
            Some(value) => {
                let Some(view) = self.take_array(shape, span) else { return Binding::Poison };
                self.fill(&view, value, span);
                Binding::FixedArray(view)
            }
            None => Binding::Poison,
        }
    }

    pub(super) fn returned(&mut self, value: Value, result: &Shape, pure: bool, span: &Span) -> Value {
        match result {
            Shape::Number(ty) => match self.coerce(value, *ty, span) {
                Some(value) if pure => Value::Number(value),
                Some(value) => {
                    let slot = self.take_slot(ty.width());
                    self.emit(span, StmtKind::Assign(Place::Slot(slot), value));
                    Value::Number(Expr::Variable { slot, ty: *ty })
                }
                None => Value::Poison,
            },
            Shape::Bit => Value::Condition(self.as_condition(value, span, "bit")),
            Shape::Poison => Value::Poison,
            Shape::Array(..) => match self.fitting(value, result, span) {
                Some(Value::Array(view)) => Value::Array(self.frozen(view, span)),
                Some(value) => {
                    let Some(view) = self.take_array(result, span) else { return Value::Poison };
                    self.fill(&view, value, span);
                    Value::Array(view)
                }
                None => Value::Poison,
            },
            Shape::Tape => {
                self.error(
                    span,
                    "a function that returns a tape",
                    "functions return numbers, bits and arrays",
                );
                Value::Poison
            }
        }
    }
}
