//! Syntax to core: names and types are resolved, sizes put in, functions inlined, index loops unrolled.

mod exprs;
mod functions;
mod operators;
mod statements;
mod types;

use std::collections::{BTreeMap, BTreeSet};

use luge_machine::Diagnostic;

use crate::{
    Sizes,
    core::{Cond, Core, Expr, Slot, Stmt, StmtKind, Ty},
    lex::Span,
    ratio::Ratio,
    syntax::{self, Learner, Name, Program},
};
use types::Shape;

/// The most statements a program may have once its loops are unrolled and its functions inlined.
const MOST_STATEMENTS: usize = 20_000;

/// The longest array, and the most slots in all.
const MOST_SLOTS: usize = 4096;

/// Functions call each other at most this deep.
const DEEPEST_CALL: usize = 64;

/// Blocks and expressions nest at most this deep once functions are inlined: they take the stack.
const MOST_LEVELS: usize = 400;

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
        level: 0,
        too_large: false,
        sketched: None,
        calls: BTreeMap::new(),
        recursive: BTreeSet::new(),
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
    /// Blocks and expressions around what is being checked.
    level: usize,
    too_large: bool,
    /// The function being checked on its own: calls in it are not inlined.
    sketched: Option<usize>,
    /// Which function calls which, and where first.
    calls: BTreeMap<(usize, usize), Span>,
    /// Functions not to be inlined, so that no call leads back to itself.
    recursive: BTreeSet<usize>,
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
        if learner.parameters.len() == 2 {
            self.functions();
        }
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
        self.level += 1;
        self.block(body);
        self.level -= 1;
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
