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
    core::{Affine, Array, ArrayId, Cond, Core, Expr, Index, Named, Slot, Stmt, StmtKind, THETA, Ty},
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

/// Where the elements of a view are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    Array(ArrayId),
    /// The current sample: the features, then the labels.
    Data,
}

/// An array, a part of one, or one element.
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
    Constant(Ratio),
    Alias(Shape),
    Scalar(Slot, Ty),
    Flag(Slot),
    Array(View),
    /// A number that cannot be assigned to.
    Fixed(Expr),
    FixedFlag(Cond),
    FixedArray(View),
    /// Features or labels, known inside a loop over the data only.
    Data(View),
    /// The variable of a loop that is not unrolled.
    Loop(usize),
    Tape(usize),
    /// Declared in error: everything about it has been said.
    Poison,
}

/// What an expression turned out to be.
#[derive(Clone, Debug)]
enum Value {
    Constant(Ratio),
    /// An integer made of variables of loops.
    Index(Affine),
    Number(Expr),
    Condition(Cond),
    Array(View),
    /// The elements, and what each of them is.
    List(Vec<Value>, Shape),
    Poison,
}

/// What is known of a loop's variable.
#[derive(Clone, Debug)]
struct Variable {
    lowest: i64,
    highest: i64,
    /// Where its value is kept as a number, once somebody asks for it.
    value: Option<Slot>,
}

/// Something to be used again when a scope or a statement ends.
#[derive(Clone, Copy, Debug)]
enum Held {
    Slot(Slot),
    Array(ArrayId),
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
        scopes: vec![BTreeMap::new()],
        widths: Vec::new(),
        arrays: Vec::new(),
        names: Vec::new(),
        n_numbers: 0,
        free: BTreeMap::new(),
        free_arrays: BTreeMap::new(),
        variables: Vec::new(),
        random: None,
        breakable: Breakable::Nothing,
        returning: None,
        held: vec![Vec::new()],
        out: vec![Vec::new()],
        tapes: Vec::new(),
        in_data: false,
        takes: false,
        takers: BTreeSet::new(),
        copies_samples: false,
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
    scopes: Vec<BTreeMap<String, Binding>>,
    widths: Vec<u32>,
    arrays: Vec<Array>,
    /// Names declared so far, those of ended scopes included.
    names: Vec<Named>,
    /// Numbers and bits in slots and arrays.
    n_numbers: usize,
    /// Slots that can be used again, by width.
    free: BTreeMap<u32, BTreeSet<Slot>>,
    /// Arrays that can be used again, by width and length.
    free_arrays: BTreeMap<(u32, usize), BTreeSet<ArrayId>>,
    /// What to free when a scope or a statement ends.
    held: Vec<Vec<Held>>,
    /// All variables of loops so far.
    variables: Vec<Variable>,
    /// The state of `random()`, if it is called.
    random: Option<Slot>,
    /// What `break` and `continue` would be about here.
    breakable: Breakable,
    /// What `return` would be about.
    returning: Option<results::Returning>,
    /// Statements of the blocks being checked.
    out: Vec<Vec<Stmt>>,
    tapes: Vec<String>,
    in_data: bool,
    /// Whether samples come from a stream.
    takes: bool,
    /// Functions that take, themselves or through others.
    takers: BTreeSet<usize>,
    /// Whether the statement calls a function that takes, so that its operands are copied as they are read.
    copies_samples: bool,
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

/// The innermost loop around a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Breakable {
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

    fn line(&self, span: &Span) -> u32 {
        let line = self.line_starts.partition_point(|&start| start <= span.start) + 1;
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    fn program(&mut self, part: Part) -> Option<(Core, ArrayId)> {
        let Some(learner) = self.program.learners.first() else {
            self.error(&(0..0), "the file has no learner", "").remedy(
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
            let set = self.settings.0.iter().find(|(set, _)| *set == name.text).map(|&(_, value)| value);
            let value = set.or_else(|| self.constant(value)).map_or(Binding::Poison, Binding::Constant);
            self.bind(name, value);
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
        let answer = match part {
            Part::Predict => self.predict(learner, format)?,
            Part::Learner => {
                self.learner(learner, parameters);
                THETA
            }
        };
        let mut body = self.out.pop().unwrap_or_default();
        self.sow(&mut body);
        let core = Core {
            name: learner.name.text.clone(),
            widths: std::mem::take(&mut self.widths),
            arrays: std::mem::take(&mut self.arrays),
            n_loop_vars: self.variables.len(),
            names: std::mem::take(&mut self.names),
            format,
            n_features: self.sizes.n_features,
            n_labels: self.sizes.n_labels,
            tapes: std::mem::take(&mut self.tapes),
            takes: self.takes,
            body,
        };
        Some((core, answer))
    }

    fn learner(&mut self, learner: &'p Learner, parameters: Vec<(&'p Name, Binding)>) {
        for (name, binding) in parameters {
            self.bind(name, binding);
        }
        self.in_data = self.takes;
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
                self.error(
                    &name.span,
                    format!("function `{}` is defined already", name.text),
                    "defined again",
                );
            }
        }
    }

    fn bind(&mut self, name: &Name, binding: Binding) {
        self.remember(name, &binding);
        let Some(scope) = self.scopes.last_mut() else { return };
        if TAKEN.contains(&name.text.as_str()) {
            self.error(&name.span, format!("`{}` is a function of the language", name.text), "taken");
        } else if scope.insert(name.text.clone(), binding).is_some() {
            self.error(&name.span, format!("`{}` is defined already", name.text), "defined again")
                .remedy("choose another name");
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
            Some(near) => self.error(span, message, "unknown name").remedy(format!("did you mean `{near}`?")),
            None => {
                self.error(span, message, "unknown name").remedy("declare it with `let` before it is used")
            }
        }
        Binding::Poison
    }

    fn emit(&mut self, span: &Span, kind: StmtKind) {
        self.n_statements += 1;
        let line = self.line(span);
        if self.n_statements > MAX_STATEMENTS {
            if !self.too_large {
                self.too_large = true;
                self.error(
                    span,
                    format!(
                        "the program has more than {MAX_STATEMENTS} statements once its loops are unrolled"
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
        let n_names = self.names.len();
        self.block(body);
        let end = self.last_line(body);
        self.names[n_names..].iter_mut().for_each(|named| named.lines.1 = named.lines.1.min(end));
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
        Value::Index(_) => "the variable of a loop".to_owned(),
        Value::Array(view) => view.shape.to_string(),
        Value::List(values, element) => format!("[{element}; {}]", values.len()),
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
