//! Syntax to core: names and types are resolved, sizes put in, functions inlined, index loops unrolled.

mod exprs;
mod types;

use std::collections::{BTreeMap, BTreeSet};

use luge_machine::Diagnostic;

use crate::{
    Sizes,
    core::{Cond, Core, Expr, Slot, Stmt, StmtKind, Ty},
    lex::Span,
    ratio::Ratio,
    syntax::{self, Binary, ExprKind, Learner, Name, Program, Side},
};
use types::Shape;

/// The most statements a program may have once its loops are unrolled and its functions inlined.
const MOST_STATEMENTS: usize = 20_000;

/// The longest array, and the most slots in all.
const MOST_SLOTS: usize = 4096;

/// Functions call each other at most this deep.
const DEEPEST_CALL: usize = 6;

/// The most expressions, counted as statements are.
const MOST_EXPRESSIONS: usize = 200_000;

/// Words that mean something already.
const TAKEN: [&str; 5] = ["relu", "abs", "min", "max", "sign"];

/// What a name stands for.
#[derive(Clone, Debug)]
enum Binding {
    Constant(Ratio),
    Alias(Shape),
    Scalar(Slot, Ty),
    Flag(Slot),
    Array(Vec<Slot>, Shape),
    /// A number that cannot be assigned to.
    Fixed(Expr),
    FixedFlag(Cond),
    FixedArray(Vec<Slot>, Shape),
    Features(usize, Ty),
    /// The first element, how many, and whether it is written without index.
    Labels(usize, usize, bool, Ty),
    Tape(usize),
    /// Declared in error: everything about it has been said.
    Poison,
}

/// What an expression turned out to be.
#[derive(Clone, Debug)]
enum Value {
    Constant(Ratio),
    Number(Expr),
    Condition(Cond),
    Array(Vec<Expr>, Ty),
    Flags(Vec<Cond>),
    Poison,
}

/// The checked program, or `None` if there are errors among the findings.
pub(crate) fn check(
    program: &Program,
    source: &str,
    sizes: &Sizes,
    findings: &mut Vec<Diagnostic>,
) -> Option<Core> {
    let line_starts = source.match_indices('\n').map(|(at, _)| at + 1).collect();
    let mut checker = Checker {
        program,
        sizes: *sizes,
        line_starts,
        findings: Vec::new(),
        scopes: vec![BTreeMap::new()],
        widths: Vec::new(),
        free: BTreeMap::new(),
        held: vec![Vec::new()],
        out: vec![Vec::new()],
        tapes: Vec::new(),
        in_data: false,
        call_depth: 0,
        block_depth: 0,
        n_statements: 0,
        n_expressions: 0,
        too_large: false,
    };
    let core = checker.program();
    let mut seen = BTreeSet::new();
    checker.findings.retain(|f| seen.insert((f.span.start, f.span.end, f.message.clone())));
    checker.findings.sort_by_key(|finding| finding.span.start);
    findings.append(&mut checker.findings);
    core.filter(|_| findings.is_empty())
}

struct Checker<'p> {
    program: &'p Program,
    sizes: Sizes,
    line_starts: Vec<usize>,
    findings: Vec<Diagnostic>,
    scopes: Vec<BTreeMap<String, Binding>>,
    widths: Vec<u32>,
    /// Slots that can be used again, by width.
    free: BTreeMap<u32, BTreeSet<Slot>>,
    /// Slots to free when a scope or a statement ends.
    held: Vec<Vec<Slot>>,
    /// Statements of the blocks being checked.
    out: Vec<Vec<Stmt>>,
    tapes: Vec<String>,
    in_data: bool,
    call_depth: usize,
    block_depth: usize,
    n_statements: usize,
    n_expressions: usize,
    too_large: bool,
}

impl<'p> Checker<'p> {
    fn error(&mut self, span: &Span, message: impl Into<String>, label: impl Into<String>) {
        self.findings.push(Diagnostic::error(span.clone(), message, label));
    }

    fn error_with_help(
        &mut self,
        span: &Span,
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.findings.push(Diagnostic::error(span.clone(), message, label).with_help(help));
    }

    fn line(&self, span: &Span) -> u32 {
        let line = self.line_starts.partition_point(|&start| start <= span.start) + 1;
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    fn program(&mut self) -> Option<Core> {
        let Some(learner) = self.program.learners.first() else {
            self.error_with_help(
                &(0..0),
                "the file has no learner",
                "",
                "add `learner name(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M + 1] { … }`",
            );
            return None;
        };
        for extra in &self.program.learners[1..] {
            self.error(&extra.name.span, "a second learner", "only one per file");
        }
        let format = Ty { integer: self.sizes.integer, fraction: self.sizes.fraction };
        let parameters = self.parameters(learner, format);
        for (name, value) in &self.program.constants {
            let value = self.constant(value).map_or(Binding::Poison, Binding::Constant);
            self.bind(name, value);
        }
        for (name, ty) in &self.program.types {
            let shape = self.shape(ty);
            self.bind(name, Binding::Alias(shape));
        }
        self.function_names();
        let n_theta = self.theta(learner, format);
        for (name, binding) in parameters {
            self.bind(name, binding);
        }
        self.block(&learner.body);
        let body = self.out.pop().unwrap_or_default();
        Some(Core {
            name: learner.name.text.clone(),
            widths: std::mem::take(&mut self.widths),
            n_theta,
            format,
            n_features: self.sizes.n_features,
            n_labels: self.sizes.n_labels,
            tapes: std::mem::take(&mut self.tapes),
            body,
        })
    }

    fn function_names(&mut self) {
        let mut seen = BTreeSet::new();
        for function in &self.program.functions {
            let name = &function.name;
            if TAKEN.contains(&name.text.as_str()) || !seen.insert(&name.text) {
                self.error(
                    &name.span,
                    format!("function `{}` is defined already", name.text),
                    "defined again",
                );
            }
        }
    }

    /// Takes the sizes the signature names from the data, and says what the parameters stand for.
    fn parameters(&mut self, learner: &'p Learner, format: Ty) -> Vec<(&'p Name, Binding)> {
        let [features, labels] = &learner.parameters[..] else {
            self.error_with_help(
                &learner.name.span,
                format!(
                    "a learner takes features and labels, this one takes {} parameters",
                    learner.parameters.len()
                ),
                "expected two",
                "write it as `(x: [fix<I,F>; M], y: fix<I,F>)`",
            );
            return Vec::new();
        };
        let (n_features, n_labels) = (self.sizes.n_features, self.sizes.n_labels);
        self.unify_array(&features.1, n_features, "features", format);
        let scalar = !matches!(labels.1.kind, syntax::TypeKind::Array(..));
        if scalar {
            self.unify_format(&labels.1, format);
            if n_labels != 1 {
                let message =
                    format!("the data have {n_labels} labels, but `{}` is a single one", labels.0.text);
                self.error_with_help(
                    &labels.1.span,
                    message,
                    "one label",
                    "make it an array such as `[fix<I,F>; K]`",
                );
            }
        } else {
            self.unify_array(&labels.1, n_labels, "labels", format);
        }
        vec![
            (&features.0, Binding::Features(n_features, format)),
            (&labels.0, Binding::Labels(n_features, n_labels, scalar, format)),
        ]
    }

    fn theta(&mut self, learner: &'p Learner, format: Ty) -> usize {
        let (name, ty) = &learner.result;
        match self.shape(ty) {
            Shape::Array(element, length) if *element == Shape::Number(format) => {
                let slots: Vec<Slot> = (0..length).map(|_| self.new_slot(format.width())).collect();
                self.bind(name, Binding::Array(slots, *element));
                length
            }
            Shape::Poison => {
                self.bind(name, Binding::Poison);
                0
            }
            found => {
                let message = format!("the weights must be an array of the data's type, {format}");
                self.error(&ty.span, message, format!("this is {found}"));
                self.bind(name, Binding::Poison);
                0
            }
        }
    }

    fn bind(&mut self, name: &Name, binding: Binding) {
        let Some(scope) = self.scopes.last_mut() else { return };
        if TAKEN.contains(&name.text.as_str()) {
            self.error(&name.span, format!("`{}` is a function of the language", name.text), "taken");
        } else if scope.insert(name.text.clone(), binding).is_some() {
            self.error_with_help(
                &name.span,
                format!("`{}` is defined already", name.text),
                "defined again",
                "choose another name",
            );
        }
    }

    fn find(&self, name: &str) -> Option<&Binding> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn lookup(&mut self, name: &str, span: &Span) -> Binding {
        if let Some(binding) = self.find(name) {
            return binding.clone();
        }
        let known: BTreeSet<&String> = self.scopes.iter().flat_map(BTreeMap::keys).collect();
        let near = known.into_iter().find(|known| near(known, name)).cloned();
        let message = format!("there is no `{name}` here");
        match near {
            Some(near) => {
                self.error_with_help(span, message, "unknown name", format!("did you mean `{near}`?"))
            }
            None => {
                self.error_with_help(span, message, "unknown name", "declare it with `let` before it is used")
            }
        }
        Binding::Poison
    }

    fn new_slot(&mut self, width: u32) -> Slot {
        self.widths.push(width);
        self.widths.len() - 1
    }

    /// A slot that is free until the innermost scope or statement ends.
    fn take_slot(&mut self, width: u32) -> Slot {
        let again = self.free.get_mut(&width).and_then(BTreeSet::pop_first);
        let slot = again.unwrap_or_else(|| self.new_slot(width));
        if let Some(held) = self.held.last_mut() {
            held.push(slot);
        }
        slot
    }

    fn release(&mut self) {
        for slot in self.held.pop().unwrap_or_default() {
            self.free.entry(self.widths[slot]).or_default().insert(slot);
        }
    }

    fn emit(&mut self, span: &Span, kind: StmtKind) {
        self.n_statements += 1;
        let line = self.line(span);
        if self.n_statements > MOST_STATEMENTS {
            if !self.too_large {
                self.too_large = true;
                self.error(
                    span,
                    format!(
                        "the program has more than {MOST_STATEMENTS} statements once its loops are unrolled"
                    ),
                    "the limit is reached here",
                );
            }
            return;
        }
        if let Some(out) = self.out.last_mut() {
            out.push(Stmt { line, kind });
        }
    }

    /// A block of its own: names and slots end with it.
    fn inner(&mut self, body: &'p [syntax::Stmt]) -> Vec<Stmt> {
        self.out.push(Vec::new());
        self.scopes.push(BTreeMap::new());
        self.held.push(Vec::new());
        self.block_depth += 1;
        self.block(body);
        self.block_depth -= 1;
        self.release();
        self.scopes.pop();
        self.out.pop().unwrap_or_default()
    }

    fn block(&mut self, body: &'p [syntax::Stmt]) {
        for stmt in body {
            if self.too_large {
                return;
            }
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &'p syntax::Stmt) {
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
                let value = self.condition(value);
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

    fn tape(&mut self, name: &Name) -> Option<usize> {
        match self.lookup(&name.text, &name.span) {
            Binding::Tape(tape) => Some(tape),
            Binding::Poison => None,
            _ => {
                self.error(&name.span, format!("`{}` is no tape", name.text), "expected a tape");
                None
            }
        }
    }

    fn let_stmt(
        &mut self,
        name: &Name,
        ty: Option<&syntax::Type>,
        value: Option<&'p syntax::Expr>,
        span: &Span,
    ) {
        let shape = ty.map(|ty| self.shape(ty));
        // The value is computed before the variable has a slot of the scope.
        self.held.push(Vec::new());
        let value = value.map(|value| (self.expr(value), &value.span));
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

    fn declare(&mut self, name: &Name, shape: &Shape, value: Option<(Value, &Span)>, span: &Span) -> Binding {
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
                    Some((value, at)) => self.as_condition(value, at),
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

    fn assign_array(&mut self, slots: &[Slot], element: &Shape, (value, at): (Value, &Span), span: &Span) {
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

    fn assign(&mut self, place: &'p syntax::Expr, op: Option<Binary>, value: &'p syntax::Expr, span: &Span) {
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
                        self.arithmetic(op, old, value, span, value_span)
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
                let value = self.condition(value);
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
                let value = self.expr(value);
                self.assign_array(&slots, &element, (value, value_span), span);
            }
            Binding::Poison => {
                self.expr(value);
            }
            _ => self.error_with_help(
                &place.span,
                format!("`{name}` cannot be assigned to"),
                "not a variable",
                "copy it with `let` first",
            ),
        }
    }

    fn for_range(
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
    fn counter_width(&self, times: u64) -> u32 {
        let needed = (u64::BITS - times.saturating_sub(1).leading_zeros()).max(1);
        let width = self.sizes.width();
        if (2..=width).contains(&needed) { width } else { needed }
    }
}

/// Whether a name occurs in statements.
fn mentions(body: &[syntax::Stmt], name: &str) -> bool {
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

/// What a value is, in words.
fn describe(value: &Value) -> String {
    match value {
        Value::Constant(value) => format!("the number {value}"),
        Value::Number(value) => value.ty().to_string(),
        Value::Condition(_) => "bit".to_owned(),
        Value::Array(values, ty) => format!("[{ty}; {}]", values.len()),
        Value::Flags(flags) => format!("[bit; {}]", flags.len()),
        Value::Poison => "in error".to_owned(),
    }
}

/// Whether two names differ in one character, or only in case.
fn near(known: &str, name: &str) -> bool {
    if known.eq_ignore_ascii_case(name) {
        return true;
    }
    let (short, long) = if known.len() < name.len() { (known, name) } else { (name, known) };
    if short.len() < 3 || long.len() - short.len() > 1 {
        return false;
    }
    let common = short.bytes().zip(long.bytes()).take_while(|(a, b)| a == b).count();
    let rest = if short.len() == long.len() { &short[common + 1..] } else { &short[common..] };
    rest == &long[common + 1..]
}
