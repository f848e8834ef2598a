//! A second interpreter of Sled, written from docs/sled.md alone. It shares no code with the crate, not even the parser.

#![allow(dead_code, reason = "each test binary uses its own part")]

mod numbers;
mod parse;

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use luge_sled::{Sizes, Verdict};
use numbers::{Fix, Shape, Value, binary, builtin, cast, fit, fit_like, position, zero};
use parse::{Expr, Function, Program, Stmt, Type};

enum End {
    Run(Verdict),
    Break,
    Continue,
    Return(Option<Value>),
}

type Done<T> = Result<T, End>;

struct Machine<'p> {
    program: &'p Program,
    scopes: Vec<BTreeMap<String, Value>>,
    samples: &'p [Vec<i64>],
    sizes: Sizes,
    sample: Option<usize>,
    n_taken: usize,
    random: i128,
    tapes: BTreeMap<String, (i64, BTreeSet<i64>)>,
    /// Whether numbers are exact, as in `predict`, where types have no effect.
    exact: bool,
}

/// How the program ends, and theta.
pub(crate) fn run(source: &str, sizes: &Sizes, samples: &[Vec<i64>]) -> (Verdict, Vec<i64>) {
    let program = Rc::new(parse::program(source));
    let mut machine = machine(&program, sizes, samples);
    let (theta, ty) = program.theta.clone().expect("a learner");
    let shape = machine.shape(&ty);
    let zero = zero(&shape);
    machine.scopes.push(BTreeMap::from([(theta.clone(), zero)]));
    let verdict = match machine.block(&program.body) {
        Err(End::Run(verdict)) => verdict,
        _ => Verdict::Accepted,
    };
    let mut flat = Vec::new();
    flatten(&machine.scopes[1][&theta], &mut flat);
    (verdict, flat)
}

/// The result of `predict`, for numbers in units of 2^-fraction.
pub(crate) fn predict(source: &str, sizes: &Sizes, x: &[i64], theta: &[i64]) -> Vec<f64> {
    let program = parse::program(source);
    let mut machine = machine(&program, sizes, &[]);
    machine.exact = true;
    let numbers = |of: &[i64]| {
        Value::Array(of.iter().map(|&raw| Value::Exact(raw.into(), 1 << sizes.fraction)).collect())
    };
    match machine.call("predict", vec![numbers(x), numbers(theta)]) {
        Ok(Value::Exact(n, d)) => vec![n as f64 / d as f64],
        Ok(Value::Array(values)) => {
            let number = |value: &Value| match value {
                Value::Exact(n, d) => *n as f64 / *d as f64,
                other => panic!("{other:?} is no exact number"),
            };
            values.iter().map(number).collect()
        }
        _ => panic!("predict gives no number"),
    }
}

fn machine<'p>(program: &'p Program, sizes: &Sizes, samples: &'p [Vec<i64>]) -> Machine<'p> {
    let whole = |n: usize| Value::Exact(i128::try_from(n).expect("a size"), 1);
    let mut globals = BTreeMap::new();
    for (name, size) in [
        ("I", sizes.integer as usize),
        ("F", sizes.fraction as usize),
        ("M", sizes.n_features),
        ("K", sizes.n_labels),
    ] {
        globals.insert(name.to_owned(), whole(size));
    }
    let mut machine = Machine {
        program,
        scopes: vec![globals],
        samples,
        sizes: *sizes,
        sample: None,
        n_taken: 0,
        random: 1,
        tapes: BTreeMap::new(),
        exact: false,
    };
    for (name, value) in &program.constants {
        let Ok(value) = machine.value(value) else { panic!("a constant") };
        if let ("SEED", Value::Exact(seed, _)) = (name.as_str(), &value) {
            machine.random = *seed;
        }
        machine.scopes[0].insert(name.clone(), value);
    }
    machine
}

fn flatten(value: &Value, into: &mut Vec<i64>) {
    match value {
        Value::Array(elements) => elements.iter().for_each(|element| flatten(element, into)),
        Value::Number(_, raw) => into.push(i64::try_from(*raw).expect("a word")),
        other => panic!("{other:?} in theta"),
    }
}

impl Machine<'_> {
    /// Converts a value to a shape; in `predict` numbers stay exact.
    fn fitted(&self, value: Value, shape: &Shape) -> Value {
        if self.exact { value } else { fit(value, shape) }
    }

    fn nothing(&self, shape: &Shape) -> Value {
        match (self.exact, shape) {
            (true, Shape::Number(_)) => Value::Exact(0, 1),
            (true, Shape::Array(element, length)) => Value::Array(vec![self.nothing(element); *length]),
            _ => zero(shape),
        }
    }

    fn find(&mut self, name: &str) -> &mut Value {
        self.scopes.iter_mut().rev().find_map(|scope| scope.get_mut(name)).expect("a known name")
    }

    fn declare(&mut self, name: &str, value: Value) {
        self.scopes.last_mut().expect("a scope").insert(name.to_owned(), value);
    }

    fn size(&mut self, expr: &Expr) -> i128 {
        match self.value(expr) {
            Ok(Value::Exact(n, 1)) => n,
            Ok(Value::Exact(n, d)) if n % d == 0 => n / d,
            _ => panic!("a size"),
        }
    }

    fn shape(&mut self, ty: &Type) -> Shape {
        let small = |n: i128| u32::try_from(n).expect("a small number");
        match ty {
            Type::Bit => Shape::Bit,
            Type::Tape => Shape::Tape,
            Type::Fix(integer, fraction) => {
                Shape::Number(Fix(small(self.size(integer)), small(self.size(fraction))))
            }
            Type::Array(element, length) => {
                let length = usize::try_from(self.size(length)).expect("a length");
                Shape::Array(Box::new(self.shape(element)), length)
            }
            Type::Named(name) => {
                let ty = self.program.types.iter().find(|(own, _)| own == name).expect("a type").1.clone();
                self.shape(&ty)
            }
        }
    }

    fn block(&mut self, body: &[Stmt]) -> Done<()> {
        self.scopes.push(BTreeMap::new());
        let done = body.iter().try_for_each(|stmt| self.stmt(stmt));
        self.scopes.pop();
        done
    }

    /// Returns whether the loop continues.
    fn round(&mut self, body: &[Stmt]) -> Done<bool> {
        match self.block(body) {
            Ok(()) | Err(End::Continue) => Ok(true),
            Err(End::Break) => Ok(false),
            Err(end) => Err(end),
        }
    }

    fn stmt(&mut self, stmt: &Stmt) -> Done<()> {
        match stmt {
            Stmt::Let(name, ty, value) => {
                let shape = ty.as_ref().map(|ty| self.shape(ty));
                let value = match (value, &shape) {
                    (Some(value), Some(shape)) => {
                        let value = self.value(value)?;
                        self.fitted(value, shape)
                    }
                    (Some(value), None) => self.value(value)?,
                    (None, shape) => self.nothing(shape.as_ref().expect("a type")),
                };
                if value == Value::Tape {
                    self.tapes.insert(name.clone(), Default::default());
                }
                self.declare(name, value);
            }
            Stmt::Const(name, value) => {
                let value = self.value(value)?;
                self.declare(name, value);
            }
            Stmt::Assign(place, op, value) => self.assign(place, op.as_deref(), value)?,
            Stmt::If(condition, then, otherwise) => {
                let body = if self.bit(condition)? { then } else { otherwise };
                self.block(body)?;
            }
            Stmt::While(condition, body) => while self.bit(condition)? && self.round(body)? {},
            Stmt::For(name, from, to, body) => {
                let (from, to) = (self.value(from)?, self.value(to)?);
                let ty = [&from, &to].into_iter().find_map(|bound| match bound {
                    Value::Number(ty, _) => Some(*ty),
                    _ => None,
                });
                for at in position(&from)..position(&to) {
                    let variable = ty.map_or(Value::Exact(at, 1), |ty| Value::Number(ty, at));
                    self.scopes.push(BTreeMap::from([(name.clone(), variable)]));
                    let more = self.round(body);
                    self.scopes.pop();
                    if !more? {
                        break;
                    }
                }
            }
            Stmt::Samples(body) => {
                let outside = self.sample;
                for sample in 0..self.samples.len() {
                    self.sample = Some(sample);
                    if !self.round(body)? {
                        break;
                    }
                }
                self.sample = outside;
            }
            Stmt::Take if self.n_taken == self.samples.len() => return Err(End::Run(Verdict::Waiting)),
            Stmt::Take => {
                self.sample = Some(self.n_taken);
                self.n_taken += 1;
            }
            Stmt::Write(tape, value) => {
                let bit = self.bit(value)?;
                let (head, ones) = self.tapes.get_mut(tape).expect("a tape");
                if bit {
                    ones.insert(*head)
                } else {
                    ones.remove(head)
                };
            }
            Stmt::Move(tape, by) => self.tapes.get_mut(tape).expect("a tape").0 += by,
            Stmt::Assert(condition) if self.bit(condition)? => {}
            Stmt::Assert(_) | Stmt::Reject => return Err(End::Run(Verdict::Rejected)),
            Stmt::Print(values) => values.iter().try_for_each(|value| self.value(value).map(drop))?,
            Stmt::Return(value) => {
                let value = value.as_ref().map(|value| self.value(value)).transpose()?;
                return Err(End::Return(value));
            }
            Stmt::Break => return Err(End::Break),
            Stmt::Continue => return Err(End::Continue),
        }
        Ok(())
    }

    fn assign(&mut self, place: &Expr, op: Option<&str>, value: &Expr) -> Done<()> {
        if let Expr::Slice(array, from, to) = place {
            return self.assign_slice(array, [from, to], value);
        }
        let mut indices = Vec::new();
        let mut root = place;
        while let Expr::Index(array, index) = root {
            indices.push(index);
            root = array;
        }
        let Expr::Name(name) = root else { panic!("a place") };
        indices.reverse();
        let indices = indices.into_iter().map(|index| self.value(index)).collect::<Done<Vec<Value>>>()?;
        let old = indices.iter().try_fold(self.find(name).clone(), element)?;
        let given = self.value(value)?;
        let given = match op {
            Some(op) => binary(op, old.clone(), given),
            None => given,
        };
        let given = fit_like(given, &old);
        let mut target = self.find(name);
        for index in &indices {
            let at = position(index);
            let Value::Array(elements) = target else { panic!("an array") };
            target = &mut elements[usize::try_from(at).expect("checked before")];
        }
        *target = given;
        Ok(())
    }

    /// Assigns an array to a slice. Each element gets the type of the one that it replaces.
    fn assign_slice(&mut self, array: &Expr, [from, to]: [&Expr; 2], value: &Expr) -> Done<()> {
        let Expr::Name(name) = array else { panic!("a slice of a name") };
        let (from, to) = (position(&self.value(from)?), position(&self.value(to)?));
        let Value::Array(given) = self.value(value)? else { panic!("an array") };
        let Value::Array(elements) = self.find(name) else { panic!("an array") };
        for (at, given) in (from..to).zip(given) {
            let element = &mut elements[usize::try_from(at).expect("checked before")];
            *element = fit_like(given, element);
        }
        Ok(())
    }

    fn bit(&mut self, expr: &Expr) -> Done<bool> {
        match self.value(expr)? {
            Value::Bit(bit) => Ok(bit),
            other => panic!("{other:?} is no bit"),
        }
    }

    /// A number of the current sample; 0 before the first.
    fn datum(&self, at: usize) -> Value {
        let raw = self.sample.map_or(0, |sample| self.samples[sample][at]);
        Value::Number(Fix(self.sizes.integer, self.sizes.fraction), raw.into())
    }

    fn name(&mut self, name: &str) -> Value {
        let (n_features, n_labels) = (self.sizes.n_features, self.sizes.n_labels);
        if name == self.program.features {
            return Value::Array((0..n_features).map(|at| self.datum(at)).collect());
        }
        match &self.program.labels {
            (labels, true) if labels == name => {
                Value::Array((n_features..n_features + n_labels).map(|at| self.datum(at)).collect())
            }
            (label, false) if label == name => self.datum(n_features),
            _ => self.find(name).clone(),
        }
    }

    fn value(&mut self, expr: &Expr) -> Done<Value> {
        Ok(match expr {
            Expr::Number(n, d) => Value::Exact(*n, *d),
            Expr::Bool(bit) => Value::Bit(*bit),
            // The names of a function hide the data.
            Expr::Name(name) if self.scopes[1..].iter().any(|scope| scope.contains_key(name)) => {
                self.find(name).clone()
            }
            Expr::Name(name) => self.name(name),
            Expr::Index(array, index) => {
                let array = self.value(array)?;
                let index = self.value(index)?;
                element(array, &index)?
            }
            Expr::Slice(array, from, to) => {
                let Value::Array(elements) = self.value(array)? else { panic!("an array") };
                let ends = [self.value(from)?, self.value(to)?];
                let [from, to] = ends.map(|end| usize::try_from(position(&end)).expect("an index"));
                Value::Array(elements[from..to].to_vec())
            }
            Expr::If(condition, yes, no) => {
                let branch = if self.bit(condition)? { yes } else { no };
                self.value(branch)?
            }
            Expr::List(values) => {
                let values = values.iter().map(|value| self.value(value)).collect::<Done<Vec<Value>>>()?;
                let typed = values.iter().find(|value| !matches!(value, Value::Exact(..))).cloned();
                Value::Array(match typed {
                    Some(typed) => values.into_iter().map(|value| fit_like(value, &typed)).collect(),
                    None => values,
                })
            }
            Expr::Unary('!', value) => Value::Bit(!self.bit(value)?),
            Expr::Unary(_, value) => match self.value(value)? {
                Value::Exact(n, d) => Value::Exact(-n, d),
                Value::Number(ty, raw) => Value::Number(ty, ty.wrap(-raw)),
                other => panic!("-{other:?}"),
            },
            Expr::Binary(op, a, b) => match (op.as_str(), self.value(a)?) {
                ("&&", Value::Bit(false)) => Value::Bit(false),
                ("||", Value::Bit(true)) => Value::Bit(true),
                ("&&" | "||", _) => Value::Bit(self.bit(b)?),
                (op, left) => {
                    let right = self.value(b)?;
                    if matches!((op, &right), ("<<" | ">>", Value::Number(_, ..0))) {
                        return Err(End::Run(Verdict::Rejected));
                    }
                    binary(op, left, right)
                }
            },
            Expr::Call(name, arguments) => {
                let arguments =
                    arguments.iter().map(|value| self.value(value)).collect::<Done<Vec<Value>>>()?;
                self.call(name, arguments)?
            }
            Expr::Read(tape) => {
                let (head, ones) = &self.tapes[tape];
                Value::Bit(ones.contains(head))
            }
            Expr::Cast(value, ty, saturating) => {
                let value = self.value(value)?;
                if let (true, Value::Exact(..)) = (self.exact, &value) {
                    return Ok(value);
                }
                let Shape::Number(to) = self.shape(ty) else { panic!("a number type") };
                Value::Number(to, cast(value, to, *saturating))
            }
        })
    }

    fn call(&mut self, name: &str, mut arguments: Vec<Value>) -> Done<Value> {
        if name == "random" {
            self.random = Fix(32, 0).wrap(self.random * 1_664_525 + 1_013_904_223);
            return Ok(Value::Number(Fix(1, 15), (self.random + (1 << 31)).div_euclid(1 << 17)));
        }
        if let "min" | "max" | "relu" | "abs" | "sign" = name {
            let second = if arguments.len() == 2 { arguments.remove(1) } else { Value::Exact(0, 1) };
            return Ok(builtin(name, arguments.remove(0), second));
        }
        let program = self.program;
        let function: &Function = program.functions.iter().find(|f| f.name == name).expect("a function");
        let mut own = BTreeMap::new();
        for ((name, ty), value) in function.parameters.iter().zip(arguments) {
            let shape = self.shape(ty);
            own.insert(name.clone(), self.fitted(value, &shape));
        }
        let outside = self.scopes.split_off(1);
        // Functions do not see the learner's weights, which are in the second scope.
        self.scopes.extend([BTreeMap::new(), own]);
        let result = self.shape(&function.result);
        let value = match function.body.iter().try_for_each(|stmt| self.stmt(stmt)) {
            Err(End::Return(value)) => Ok(self.fitted(value.expect("a function's value"), &result)),
            Err(end) => Err(end),
            Ok(()) => panic!("{name} ends without a value"),
        };
        self.scopes.truncate(1);
        self.scopes.extend(outside);
        value
    }
}

/// An element. An index out of bounds ends the run.
fn element(array: Value, index: &Value) -> Done<Value> {
    let Value::Array(elements) = array else { panic!("an array") };
    let at = usize::try_from(position(index)).ok().filter(|&at| at < elements.len());
    at.map(|at| elements[at].clone()).ok_or(End::Run(Verdict::Rejected))
}
