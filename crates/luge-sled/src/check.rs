//! The checker: resolves names and types, inserts sizes, inlines functions, and flattens arrays of arrays.

mod exprs;
mod functions;
mod indices;
mod loops;
mod memory;
mod operators;
mod statements;
mod types;

use std::collections::{BTreeMap, BTreeSet};

use luge_machine::Diagnostic;

use crate::{
    Settings, Sizes,
    core::{
        Affine, Array, ArrayId, Computed, Core, Expr, For, Index, LoopVar, Named, Op, Place, Shown, Slot,
        Stmt, StmtKind, Store, THETA, Ty,
    },
    lex::Span,
    ratio::Ratio,
    syntax::{self, Learner, Name, Program},
};
// The modules take these names from here.
use functions::shape_of;
use operators::builtin_constant;
use types::Shape;

/// The most statements of a program after unrolling and inlining.
const MAX_STATEMENTS: usize = 20_000;

/// The most numbers and bits in all variables and arrays together.
const MAX_NUMBERS: usize = 1 << 16;

/// The deepest nesting of calls.
const MAX_CALL_DEPTH: usize = 64;

/// The deepest nesting of blocks and expressions after inlining; it bounds the use of the stack.
const MAX_NESTING: usize = 400;

/// The most expressions after unrolling and inlining.
const MAX_EXPRESSIONS: usize = 200_000;

/// Names of built-in functions.
const RESERVED: [&str; 6] = ["relu", "abs", "min", "max", "sign", "random"];

/// A variable, an array, or a part of an array.
#[derive(Clone, Debug)]
struct View {
    /// The first element.
    place: Place,
    shape: Shape,
}

/// The meaning of a name.
#[derive(Clone, Debug)]
enum Binding {
    /// A value that cannot be assigned to; `None` if its declaration had an error, which has been reported.
    Value(Option<Value>),
    Variable(View),
    /// Features or labels, which can be used only inside a loop over the data.
    Data(View),
    Alias(Option<Shape>),
    Tape(usize),
}

/// The value of an expression. Functions return `None` for an expression with an error that has been reported.
#[derive(Clone, Debug)]
enum Value {
    Constant(Ratio),
    /// An integer that depends on variables of loops that are not unrolled.
    Index(Affine),
    /// A number or a bit.
    Number(Expr),
    Array(View),
    /// The elements and their shape.
    List(Vec<Value>, Shape),
}

impl Value {
    fn is_bit(&self) -> bool {
        matches!(self, Self::Number(value) if value.ty() == Ty::BIT)
    }
}

/// A loop variable.
#[derive(Clone, Debug)]
struct Variable {
    lowest: i64,
    highest: i64,
    /// The slot that holds its value as a number, if one is needed.
    value: Option<Slot>,
}

/// The name of the function that defines a primary network.
pub(crate) const PREDICT: &str = "predict";

/// The part of a program to compile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Learner,
    Predict,
}

/// Checks the learner or the function `predict`. Returns the program and the array of its result (theta for the learner),
/// or `None` if there are findings.
pub(crate) fn check(
    program: &Program,
    source: &str,
    (sizes, settings): (&Sizes, &Settings),
    part: Part,
    findings: &mut Vec<Diagnostic>,
) -> Option<(Core, ArrayId)> {
    let line_starts = source.match_indices('\n').map(|(at, _)| at + 1).collect();
    let mut checker = Checker {
        program,
        sizes: *sizes,
        settings,
        line_starts,
        findings: Vec::new(),
        here: Context { scopes: vec![BTreeMap::new()], ..Context::default() },
        made: Made::default(),
        out: Vec::new(),
        takes: false,
        takers: BTreeSet::new(),
        checked_alone: None,
        calls: BTreeMap::new(),
        recursive: BTreeSet::new(),
    };
    let core = checker.program(part);
    let mut seen = BTreeSet::new();
    checker.findings.retain(|f| seen.insert((f.span.start, f.span.end, f.message.clone())));
    checker.findings.sort_by_key(|finding| finding.span.start);
    findings.append(&mut checker.findings);
    core.filter(|_| findings.is_empty())
}

struct Checker<'p> {
    program: &'p Program,
    sizes: Sizes,
    settings: &'p Settings,
    line_starts: Vec<usize>,
    findings: Vec<Diagnostic>,
    here: Context,
    made: Made,
    /// The statements generated so far, one list per open block.
    out: Vec<Vec<Stmt>>,
    /// Whether samples come from a stream.
    takes: bool,
    /// Functions that take samples, directly or through calls.
    takers: BTreeSet<usize>,
    /// The function being checked by itself: calls in it are not inlined.
    checked_alone: Option<usize>,
    /// Caller and callee, and the first such call.
    calls: BTreeMap<(usize, usize), Span>,
    /// Recursive functions, which are not inlined.
    recursive: BTreeSet<usize>,
}

/// The surroundings of the statement being checked.
#[derive(Default)]
struct Context {
    scopes: Vec<BTreeMap<String, Binding>>,
    /// Whether a loop of the function or learner is around it.
    in_loop: bool,
    /// Whether the innermost loop is unrolled.
    unrolled: bool,
    /// The function or learner that `return` leaves.
    returning: Option<functions::Returning>,
    in_data: bool,
    /// Whether the statement calls a function that takes a sample, so that features and labels are copied when read.
    copies_samples: bool,
    call_depth: usize,
    /// Nesting depth of blocks and expressions.
    level: usize,
}

/// What has been generated so far.
#[derive(Default)]
struct Made {
    /// Slots, arrays, tapes, and all variables declared so far.
    core: Core,
    /// Number of numbers and bits in slots and arrays.
    n_numbers: usize,
    /// Slots (length 0) and arrays that can be reused, by width and length.
    free: BTreeMap<(u32, usize), BTreeSet<usize>>,
    /// What to free at the end of each open scope or statement.
    held: Vec<Vec<Store>>,
    /// All loop variables so far.
    variables: Vec<Variable>,
    /// The state of `random()`, if it is called.
    random: Option<Slot>,
    n_statements: usize,
    n_expressions: usize,
    too_large: bool,
}

impl<'p> Checker<'p> {
    /// Reports an error, to which a remedy can be added.
    fn error(&mut self, at: &Span, message: impl Into<String>, label: impl Into<String>) -> &mut Diagnostic {
        self.findings.push_mut(Diagnostic::error(at.clone(), message, label))
    }

    /// Reports an error and returns `None`.
    fn fail<T>(&mut self, at: &Span, message: impl Into<String>, label: impl Into<String>) -> Option<T> {
        self.error(at, message, label);
        None
    }

    /// Reports an error with a remedy and returns `None`.
    fn refuse<T>(&mut self, at: &Span, message: impl Into<String>, label: &str, help: &str) -> Option<T> {
        self.error(at, message, label).remedy(help);
        None
    }

    fn line(&self, span: &Span) -> u32 {
        let line = self.line_starts.partition_point(|&start| start <= span.start) + 1;
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    fn program(&mut self, part: Part) -> Option<(Core, ArrayId)> {
        let Some(learner) = self.program.learners.first() else {
            let help = "add `learner name(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M + 1] { … }`";
            return self.refuse(&(0..0), "the file has no learner", "", help);
        };
        for extra in &self.program.learners[1..] {
            self.error(&extra.name.span, "a second learner", "only one per file");
        }
        let format = Ty { integer: self.sizes.integer, fraction: self.sizes.fraction };
        let parameters = self.parameters(learner, format);
        for (name, value) in &self.program.constants {
            let set = self.settings.0.iter().find(|(set, _)| *set == name.text).map(|&(_, value)| value);
            let value = set.or_else(|| self.constant(value));
            self.bind(name, Binding::Value(value.map(Value::Constant)));
        }
        self.settings_have_constants();
        for (name, ty) in &self.program.types {
            let shape = self.shape(ty);
            self.bind(name, Binding::Alias(shape));
        }
        self.samples();
        self.function_names();
        if matches!(learner.parameters.len(), 1 | 2) {
            self.functions();
        }
        self.theta(learner, format);
        let (answer, mut body) = self.apart(|checker| match part {
            Part::Predict => checker.predict(learner, format),
            Part::Learner => {
                checker.learner(learner, parameters);
                Some(THETA)
            }
        });
        self.seed_random(&mut body);
        let core = Core {
            name: learner.name.text.clone(),
            n_loop_vars: self.made.variables.len(),
            format,
            n_features: self.sizes.n_features,
            n_labels: self.sizes.n_labels,
            takes: self.takes,
            body,
            ..std::mem::take(&mut self.made.core)
        };
        Some((core, answer?))
    }

    fn learner(&mut self, learner: &'p Learner, parameters: Vec<(&'p Name, Binding)>) {
        for (name, binding) in parameters {
            self.bind(name, binding);
        }
        self.here.in_data = self.takes;
        if functions::has_return(&learner.body) {
            self.returning_block(None, &learner.body, &learner.name.span);
        } else {
            self.block(&learner.body);
        }
    }

    fn function_names(&mut self) {
        let mut seen = BTreeSet::new();
        for function in &self.program.functions {
            let name = &function.name;
            if RESERVED.contains(&name.text.as_str()) || !seen.insert(&name.text) {
                let message = format!("function `{}` is already defined", name.text);
                self.error(&name.span, message, "defined again");
            }
        }
    }

    fn bind(&mut self, name: &Name, binding: Binding) {
        self.remember(name, &binding);
        let Some(scope) = self.here.scopes.last_mut() else { return };
        if RESERVED.contains(&name.text.as_str()) {
            self.error(&name.span, format!("`{}` is a built-in function", name.text), "reserved");
        } else if scope.insert(name.text.clone(), binding).is_some() {
            self.error(&name.span, format!("`{}` is already defined", name.text), "defined again")
                .remedy("choose another name");
        }
    }

    fn find(&self, name: &str) -> Option<&Binding> {
        self.here.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn lookup(&mut self, name: &str, span: &Span) -> Binding {
        if let Some(binding) = self.find(name) {
            return binding.clone();
        }
        let known: BTreeSet<&String> = self.here.scopes.iter().flat_map(BTreeMap::keys).collect();
        let help = match known.into_iter().find(|known| near(known, name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "declare it with `let` before it is used".to_owned(),
        };
        Binding::Value(self.refuse(span, format!("`{name}` is not defined"), "unknown name", &help))
    }

    fn emit(&mut self, span: &Span, kind: StmtKind) {
        self.made.n_statements += 1;
        let line = self.line(span);
        if self.made.n_statements > MAX_STATEMENTS {
            let what = format!("{MAX_STATEMENTS} statements once its loops are unrolled");
            self.too_large(&what, span);
        } else if let Some(out) = self.out.last_mut() {
            out.push(Stmt { line, kind });
        }
    }

    /// Reports, once, that the program is too large.
    fn too_large(&mut self, what: &str, span: &Span) {
        if !std::mem::replace(&mut self.made.too_large, true) {
            self.error(span, format!("the program has more than {what}"), "the limit is reached here");
        }
    }

    /// Runs `act`, and returns its result with the statements that it emitted.
    fn apart<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> (T, Vec<Stmt>) {
        self.out.push(Vec::new());
        let done = act(self);
        (done, self.out.pop().unwrap_or_default())
    }

    /// Emits an `if`, or only one branch if the condition is constant.
    fn emit_if(&mut self, span: &Span, condition: Expr, then: Vec<Stmt>, otherwise: Vec<Stmt>) {
        match (condition, self.out.last_mut()) {
            (Expr::Constant { raw, .. }, Some(out)) => out.extend(if raw != 0 { then } else { otherwise }),
            (condition, _) => self.emit(span, StmtKind::If(condition, then, otherwise)),
        }
    }

    /// Checks a block in a new scope, and returns its statements.
    fn inner(&mut self, body: &'p [syntax::Stmt]) -> Vec<Stmt> {
        self.here.scopes.push(BTreeMap::new());
        self.made.held.push(Vec::new());
        self.here.level += 1;
        let n_names = self.made.core.names.len();
        let ((), statements) = self.apart(|checker| checker.block(body));
        let end = self.last_line(body);
        let names = &mut self.made.core.names[n_names..];
        names.iter_mut().for_each(|named| named.lines.1 = named.lines.1.min(end));
        self.here.level -= 1;
        self.release();
        self.here.scopes.pop();
        statements
    }

    fn block(&mut self, body: &'p [syntax::Stmt]) {
        for stmt in body {
            if self.made.too_large {
                return;
            }
            self.stmt(stmt);
        }
    }
}

/// The type of a value, in words.
fn describe(value: &Value) -> String {
    match value {
        Value::Constant(value) => format!("the number {value}"),
        Value::Number(value) => value.ty().to_string(),
        Value::Index(_) => "the variable of a loop".to_owned(),
        Value::Array(view) => view.shape.to_string(),
        Value::List(values, element) => format!("[{element}; {}]", values.len()),
    }
}

/// Whether two names differ only in case or in one character.
fn near(known: &str, name: &str) -> bool {
    let long = known.len().min(name.len()) >= 3;
    known.eq_ignore_ascii_case(name) || long && strsim::levenshtein(known, name) <= 1
}
