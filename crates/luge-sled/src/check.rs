//! Syntax to core: resolves names and types, inserts sizes, inlines functions, and flattens arrays of arrays.

mod exprs;
mod functions;
mod indices;
mod loops;
mod memory;
mod names;
mod operators;
mod results;
mod samples;
mod signature;
mod statements;
mod types;

use std::collections::{BTreeMap, BTreeSet};

use luge_machine::Diagnostic;

use crate::{
    Settings, Sizes,
    core::{Affine, ArrayId, Core, Expr, Index, Slot, Stmt, StmtKind, THETA, Ty},
    lex::Span,
    ratio::Ratio,
    syntax::{self, Learner, Name, Program},
};
use types::Shape;

/// The most statements a program may have once its loops are unrolled and its functions inlined.
const MAX_STATEMENTS: usize = 20_000;

/// The most numbers and bits in all variables and arrays.
const MAX_NUMBERS: usize = 1 << 16;

/// Functions call each other at most this deep.
const DEEPEST_CALL: usize = 64;

/// Blocks and expressions nest at most this deep once functions are inlined: they take the stack.
const MAX_LEVELS: usize = 400;

/// The most expressions, counted as statements are.
const MAX_EXPRESSIONS: usize = 200_000;

/// Words that mean something already.
const TAKEN: [&str; 6] = ["relu", "abs", "min", "max", "sign", "random"];

/// Where the numbers or bits of a view are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    Slot(Slot),
    Array(ArrayId),
    /// The current sample: the features, then the labels.
    Data,
}

/// A variable, an array, a part of one, or one element.
#[derive(Clone, Debug)]
struct View {
    source: Source,
    /// The first element.
    first: Index,
    shape: Shape,
}

/// What a name stands for.
#[derive(Clone, Debug)]
enum Binding {
    /// Something that cannot be assigned to; `None` if it was declared in error, and everything about it has been said.
    Value(Option<Value>),
    Variable(View),
    /// Features or labels, known inside a loop over the data only.
    Data(View),
    Alias(Option<Shape>),
    Tape(usize),
}

/// What an expression turned out to be. Where there is none, everything about it has been said.
#[derive(Clone, Debug)]
enum Value {
    Constant(Ratio),
    /// An integer made of variables of loops that are not unrolled.
    Index(Affine),
    Number(Expr),
    Bit(Expr),
    Array(View),
    /// The elements, and what each of them is.
    List(Vec<Value>, Shape),
}

/// What is known of a loop's variable.
#[derive(Clone, Debug)]
struct Variable {
    lowest: i64,
    highest: i64,
    /// Where its value is kept as a number, once somebody asks for it.
    value: Option<Slot>,
}

/// The function that is a primary network.
pub(crate) const PREDICT: &str = "predict";

/// What of a program is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Learner,
    Predict,
}

/// The checked program, or `None` if there are errors among the findings.
///
/// Of the learner, with theta; or of the function `predict`, with the array that its answer is left in.
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
        sketched: None,
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
    /// Statements of the blocks being checked.
    out: Vec<Vec<Stmt>>,
    /// Whether samples come from a stream.
    takes: bool,
    /// Functions that take, themselves or through others.
    takers: BTreeSet<usize>,
    /// The function being checked on its own: calls in it are not inlined.
    sketched: Option<usize>,
    /// Which function calls which, and where first.
    calls: BTreeMap<(usize, usize), Span>,
    /// Functions not to be inlined, so that no call leads back to itself.
    recursive: BTreeSet<usize>,
}

/// What is around the statement being checked.
#[derive(Default)]
struct Context {
    scopes: Vec<BTreeMap<String, Binding>>,
    breakable: Breakable,
    /// What `return` would be about.
    returning: Option<results::Returning>,
    in_data: bool,
    /// Whether the statement calls a function that takes, so that its operands are copied as they are read.
    copies_samples: bool,
    call_depth: usize,
    /// Blocks and expressions around.
    level: usize,
}

/// What the program has come to so far.
#[derive(Default)]
struct Made {
    /// Slots, arrays, tapes, and the names declared so far, those of ended scopes included.
    core: Core,
    /// Numbers and bits in slots and arrays.
    n_numbers: usize,
    /// Slots, with length 0, and arrays that can be used again, by width and length.
    free: BTreeMap<(u32, usize), BTreeSet<usize>>,
    /// What to free when a scope or a statement ends.
    held: Vec<Vec<Source>>,
    /// All variables of loops so far.
    variables: Vec<Variable>,
    /// The state of `random()`, if it is called.
    random: Option<Slot>,
    n_statements: usize,
    n_expressions: usize,
    too_large: bool,
}

/// The innermost loop around a statement, which `break` and `continue` are about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Breakable {
    #[default]
    Nothing,
    Loop,
    Unrolled,
}

impl<'p> Checker<'p> {
    /// Notes what is wrong somewhere; a remedy can still be added.
    fn error(
        &mut self,
        span: &Span,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> &mut Diagnostic {
        self.findings.push_mut(Diagnostic::error(span.clone(), message, label))
    }

    /// Notes what is wrong somewhere, in place of what is asked for.
    fn fail<T>(&mut self, at: &Span, message: impl Into<String>, label: impl Into<String>) -> Option<T> {
        self.error(at, message, label);
        None
    }

    /// The same, with a remedy.
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
        self.sow(&mut body);
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
        if results::has_return(&learner.body) {
            self.returning_block(None, &learner.body, &learner.name.span);
        } else {
            self.block(&learner.body);
        }
    }

    fn function_names(&mut self) {
        let mut seen = BTreeSet::new();
        for function in &self.program.functions {
            let name = &function.name;
            if TAKEN.contains(&name.text.as_str()) || !seen.insert(&name.text) {
                let message = format!("function `{}` is defined already", name.text);
                self.error(&name.span, message, "defined again");
            }
        }
    }

    fn bind(&mut self, name: &Name, binding: Binding) {
        self.remember(name, &binding);
        let Some(scope) = self.here.scopes.last_mut() else { return };
        if TAKEN.contains(&name.text.as_str()) {
            self.error(&name.span, format!("`{}` is a function of the language", name.text), "taken");
        } else if scope.insert(name.text.clone(), binding).is_some() {
            self.error(&name.span, format!("`{}` is defined already", name.text), "defined again")
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
        Binding::Value(self.refuse(span, format!("there is no `{name}` here"), "unknown name", &help))
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

    /// Says once that the program has too much of something.
    fn too_large(&mut self, what: &str, span: &Span) {
        if !std::mem::replace(&mut self.made.too_large, true) {
            self.error(span, format!("the program has more than {what}"), "the limit is reached here");
        }
    }

    /// What something gives, and the statements that it needs.
    fn apart<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> (T, Vec<Stmt>) {
        self.out.push(Vec::new());
        let done = act(self);
        (done, self.out.pop().unwrap_or_default())
    }

    /// One of two branches if it is known which, else the statement that decides.
    fn emit_if(&mut self, span: &Span, condition: Expr, then: Vec<Stmt>, otherwise: Vec<Stmt>) {
        match (condition, self.out.last_mut()) {
            (Expr::Constant { raw, .. }, Some(out)) => out.extend(if raw != 0 { then } else { otherwise }),
            (condition, _) => self.emit(span, StmtKind::If(condition, then, otherwise)),
        }
    }

    /// A block of its own: names and slots end with it.
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

/// What a value is, in words.
fn describe(value: &Value) -> String {
    match value {
        Value::Constant(value) => format!("the number {value}"),
        Value::Number(value) | Value::Bit(value) => value.ty().to_string(),
        Value::Index(_) => "the variable of a loop".to_owned(),
        Value::Array(view) => view.shape.to_string(),
        Value::List(values, element) => format!("[{element}; {}]", values.len()),
    }
}

/// Whether two names differ in one character, or only in case.
fn near(known: &str, name: &str) -> bool {
    let long = known.len().min(name.len()) >= 3;
    known.eq_ignore_ascii_case(name) || long && strsim::levenshtein(known, name) <= 1
}
