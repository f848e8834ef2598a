//! Functions: each checked on its own, and inlined where it is called.

use std::collections::{BTreeMap, BTreeSet};

use super::{Binding, Checker, DEEPEST_CALL, MOST_SLOTS, Shape, Value, describe};
use crate::{
    core::{Cond, Expr, StmtKind},
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
        self.free.clear();
        (self.n_statements, self.n_expressions, self.too_large) = (0, 0, false);
        self.recursion();
    }

    fn function(&mut self, function: &'p Function) {
        let outside = self.enter();
        self.out.push(Vec::new());
        self.held.push(Vec::new());
        self.call_depth += 1;
        let result = self.shape(&function.result);
        let mut n_slots = 0;
        for (name, ty) in &function.parameters {
            let binding = self.any_argument(ty, &mut n_slots);
            self.bind(name, binding);
        }
        self.block(&function.body);
        let value = self.expr(&function.value);
        self.returned(value, &result, false, &function.value.span);
        self.call_depth -= 1;
        self.release();
        self.out.pop();
        self.scopes = outside;
    }

    /// What a parameter stands for as long as there is no call.
    fn any_argument(&mut self, ty: &Type, n_slots: &mut usize) -> Binding {
        match self.shape(ty) {
            Shape::Array(element, length) => {
                *n_slots += length;
                if *n_slots > 16 * MOST_SLOTS {
                    let message = format!("parameters of more than {} numbers", 16 * MOST_SLOTS);
                    self.error(&ty.span, message, "this array is too much");
                    return Binding::Poison;
                }
                let slot = self.take_slot(1);
                Binding::FixedArray(vec![slot; length], *element)
            }
            Shape::Tape => self.argument(Value::Poison, Shape::Tape, ty, &ty.span),
            shape => match self.any_value(&shape) {
                Value::Number(value) => Binding::Fixed(value),
                Value::Condition(cond) => Binding::FixedFlag(cond),
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
            Shape::Bit => Value::Condition(Cond::Flag(self.take_slot(1))),
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
                    self.error_with_help(span, message, "recursion", "functions are inlined: write a loop");
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
            let help = "the language's own are relu, abs, sign, min and max";
            self.error_with_help(
                &name.span,
                format!("there is no function `{}`", name.text),
                "unknown function",
                help,
            );
            return Value::Poison;
        };
        let function = &program.functions[called];
        if let Some(caller) = self.sketched {
            self.calls.entry((caller, called)).or_insert_with(|| name.span.clone());
        }
        if self.call_depth >= DEEPEST_CALL {
            self.error_with_help(
                span,
                format!("calls nest more than {DEEPEST_CALL} deep"),
                "too deep here",
                "write some of the functions out where they are called",
            );
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
        self.call_depth += 1;
        for (parameter, binding) in bound {
            self.bind(parameter, binding);
        }
        self.held.push(Vec::new());
        self.block(&function.body);
        let value = self.expr(&function.value);
        let value = self.returned(value, &result, function.body.is_empty(), &function.value.span);
        let locals = self.held.pop().unwrap_or_default();
        if let Some(held) = self.held.last_mut() {
            held.extend(locals);
        }
        self.call_depth -= 1;
        self.in_data = in_data;
        self.scopes = outside;
        value
    }

    /// From here on names are those a function sees: constants and types. Returns those of the caller.
    fn enter(&mut self) -> Vec<BTreeMap<String, Binding>> {
        let globals = self.scopes.first().cloned().unwrap_or_default();
        let keep =
            |binding: &Binding| matches!(binding, Binding::Constant(_) | Binding::Alias(_) | Binding::Poison);
        let globals = globals.into_iter().filter(|(_, binding)| keep(binding)).collect();
        std::mem::replace(&mut self.scopes, vec![globals, BTreeMap::new()])
    }

    fn argument(&mut self, value: Value, shape: Shape, ty: &Type, span: &Span) -> Binding {
        match (shape, value) {
            (Shape::Number(ty), value) => match self.coerce(value, ty, span) {
                Some(value @ (Expr::Constant { .. } | Expr::Variable { .. } | Expr::Data { .. })) => {
                    Binding::Fixed(value)
                }
                Some(value) => {
                    let slot = self.take_slot(ty.width());
                    self.emit(span, StmtKind::Assign(slot, value));
                    Binding::Fixed(Expr::Variable { slot, ty })
                }
                None => Binding::Poison,
            },
            (Shape::Bit, value) => {
                let cond = self.as_condition(value, span, "bit");
                let slot = self.take_slot(1);
                self.emit(span, StmtKind::SetFlag(slot, cond));
                Binding::FixedFlag(Cond::Flag(slot))
            }
            (Shape::Array(element, length), value) => self.array_argument(&element, length, value, span),
            (Shape::Tape, _) => {
                self.error(&ty.span, "a tape as a parameter", "functions take numbers, bits and arrays");
                Binding::Poison
            }
            (Shape::Poison, _) => Binding::Poison,
        }
    }

    fn array_argument(&mut self, element: &Shape, length: usize, value: Value, span: &Span) -> Binding {
        let slots: Option<Vec<usize>> = match (&value, element) {
            (Value::Array(values, found), Shape::Number(ty)) if found == ty && values.len() == length => {
                values
                    .iter()
                    .map(|value| match value {
                        Expr::Variable { slot, .. } => Some(*slot),
                        _ => None,
                    })
                    .collect()
            }
            (Value::Flags(values), Shape::Bit) if values.len() == length => values
                .iter()
                .map(|value| match value {
                    Cond::Flag(slot) => Some(*slot),
                    _ => None,
                })
                .collect(),
            (Value::Poison, _) => return Binding::Poison,
            _ => {
                let found = describe(&value);
                self.error(
                    span,
                    format!("expected [{element}; {length}], found {found}"),
                    format!("this is {found}"),
                );
                return Binding::Poison;
            }
        };
        let slots = slots.unwrap_or_else(|| {
            let width = match element {
                Shape::Number(ty) => ty.width(),
                _ => 1,
            };
            let slots: Vec<usize> = (0..length).map(|_| self.take_slot(width)).collect();
            self.assign_array(&slots, element, (value, span), span);
            slots
        });
        Binding::FixedArray(slots, element.clone())
    }

    fn returned(&mut self, value: Value, result: &Shape, pure: bool, span: &Span) -> Value {
        match result {
            Shape::Number(ty) => match self.coerce(value, *ty, span) {
                Some(value) if pure => Value::Number(value),
                Some(value) => {
                    let slot = self.take_slot(ty.width());
                    self.emit(span, StmtKind::Assign(slot, value));
                    Value::Number(Expr::Variable { slot, ty: *ty })
                }
                None => Value::Poison,
            },
            Shape::Bit => Value::Condition(self.as_condition(value, span, "bit")),
            Shape::Poison => Value::Poison,
            found => {
                self.error(
                    span,
                    format!("a function that returns {found}"),
                    "functions return numbers or bits",
                );
                Value::Poison
            }
        }
    }
}
