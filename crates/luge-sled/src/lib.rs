//! Sled, a small language for learners over fixed-point numbers.
//!
//! A program is checked against the [`Sizes`] of its data. Then it is interpreted, which defines what it means, or compiled
//! to a Turing machine that computes the same.
//!
//! ```
//! use luge_sled::{Sizes, Verdict, compile, interpret};
//!
//! // The sum of the labels, as numbers with four bits before the point and four after it.
//! let source = "
//!     learner sum(x: [fix<I,F>; 1], y: fix<I,F>) -> theta: [fix<I,F>; 1] {
//!         for sample in data { theta[0] += y; }
//!     }";
//! let sizes = Sizes { n_features: 1, n_labels: 1, integer: 4, fraction: 4 };
//!
//! // Numbers are counted in steps of 1/16: the labels are 1.0 and 2.5, their sum is 3.5.
//! let samples = [vec![0, 16], vec![0, 40]];
//! let outcome = interpret(source, &sizes, &samples, 1_000).expect("a correct program");
//! assert_eq!((outcome.verdict, outcome.theta), (Verdict::Accepted, vec![56]));
//!
//! let compiled = compile(source, &sizes).expect("a machine");
//! assert_eq!(compiled.n_theta, 1);
//! ```

mod check;
mod circuit;
mod compile;
mod core;
mod format;
mod interpret;
mod lex;
mod parse;
mod predict;
mod ratio;
mod syntax;

use interpret::Samples;
use luge_machine::{Diagnostic, Input, Machine, Severity, TapeId};

pub use circuit::{CircuitCompileError, CircuitOptions, CircuitOutput, CompiledCircuit, MAX_REGISTERS, Rows};
pub use compile::BackendError;

/// What a program takes from its data: everything but their number and their values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// Numbers per sample that are given.
    pub n_features: usize,
    /// Numbers per sample that are to be predicted.
    pub n_labels: usize,
    /// Bits of a number before the point, with the sign.
    pub integer: u32,
    /// Bits of a number after the point.
    pub fraction: u32,
}

impl Sizes {
    /// Bits per number.
    pub fn width(&self) -> u32 {
        self.integer + self.fraction
    }
}

/// A compiled program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compiled {
    /// The machine: a learner with tapes `data`, `marks` and `theta`, and some of its own.
    pub machine: Machine,
    /// What lies on its own tapes at the start.
    pub input: Input,
    /// For each state the line of the source, counted from 1, that it belongs to.
    pub lines: Vec<Option<u32>>,
    /// How many numbers theta has.
    pub n_theta: usize,
    /// Whether its samples come from a stream: it has states that take and latch.
    pub takes: bool,
    /// Where the program's variables lie on the machine's tapes.
    pub variables: Vec<Variable>,
}

/// Where a variable of the program lies: words of bits, the lowest first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The machine's tape.
    pub tape: TapeId,
    /// The cell of its first bit.
    pub first: usize,
    /// Cells from one element to the next.
    pub pitch: usize,
    /// Bits of an element.
    pub width: u32,
    /// Bits after the point; `None` for a single bit that is no number.
    pub fraction: Option<u32>,
    /// The elements of an array; `None` for a single value.
    pub length: Option<usize>,
    /// The first and the last line in which the name stands for this.
    pub lines: (u32, u32),
}

impl Variable {
    /// The value, or the first `n` of an array, from the bits on its tape.
    pub fn values(&self, n: usize, mut bit: impl FnMut(usize) -> bool) -> Vec<f64> {
        let mut value = |element: usize| {
            let first = self.first + element * self.pitch;
            let raw =
                (0..self.width.min(63)).fold(0_i64, |raw, i| raw | i64::from(bit(first + i as usize)) << i);
            match self.fraction {
                None => raw as f64,
                Some(fraction) => {
                    let unused = 64 - self.width.clamp(1, 63);
                    let scale = (1_u64 << fraction.min(62)) as f64;
                    (raw << unused >> unused) as f64 / scale
                }
            }
        };
        (0..n).map(&mut value).collect()
    }
}

/// How a run of the interpreter ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The program came to its end.
    Accepted,
    /// The program came to `reject`.
    Rejected,
    /// The allowed number of statements is used up.
    Limit,
    /// The program takes a sample, and none is left.
    Waiting,
    /// A round of a `while` began with everything as in an earlier round: the program never ends.
    Repeats,
}

/// What a run of the interpreter left behind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// How the run ended.
    pub verdict: Verdict,
    /// The weights, counted in steps of 2^-fraction.
    pub theta: Vec<i64>,
    /// How many statements were executed.
    pub statements: u64,
    /// The line of the statement the run ended in, unless it came to the program's end.
    pub line: Option<u32>,
    /// How many samples it took, if it takes them from a stream.
    pub taken: usize,
    /// How many samples loops over the data looked at, each as often as it was.
    pub samples: u64,
    /// Where numbers were too large for their types and wrapped around, by line.
    pub wraps: Vec<OverflowSite>,
    /// What `print` showed, line by line.
    pub printed: Vec<String>,
}

/// Numbers of one line that wrapped around.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OverflowSite {
    /// The line, counted from 1.
    pub line: u32,
    /// How often.
    pub count: u64,
    /// The sample, counted from 0, that was being read when it happened first, if one was.
    pub first_sample: Option<usize>,
}

/// Constants given from outside, in the place of what the file says.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Settings(Vec<(String, ratio::Ratio)>);

impl Settings {
    /// Sets one constant, from a text such as `ROUNDS=4` or `RATE=-0.25`.
    ///
    /// # Errors
    /// If the text does not read so.
    pub fn set(&mut self, text: &str) -> Result<(), SettingError> {
        let wrong = || SettingError { text: text.to_owned() };
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        let (name, value) = (name.trim(), value.trim());
        let digits = value.strip_prefix('-').unwrap_or(value);
        let plain = digits.chars().all(|c| c.is_ascii_digit() || c == '.') && digits.matches('.').count() < 2;
        if name.is_empty() || !plain || !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(wrong());
        }
        let number = ratio::parse(digits).ok_or_else(wrong)?;
        let number = if digits == value { number } else { -number };
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), number));
        Ok(())
    }
}

/// A setting that does not read as one.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{text}` is no setting: write NAME=VALUE, such as ROUNDS=4")]
pub struct SettingError {
    /// What was given.
    pub text: String,
}

/// Why a program could not be compiled.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum CompileError {
    /// The program is wrong: every finding, in order.
    #[error("the program has errors")]
    Findings(Vec<Diagnostic>),
    /// The program is right, but no machine can be made of it.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

/// Sizes that a program can be checked with when there are no data: those its signature names, else small ones.
pub fn usual_sizes(source: &str) -> Sizes {
    let (program, _) = parse::parse(source);
    let literal = |expr: &syntax::Expr| match &expr.kind {
        syntax::ExprKind::Number(value) => ratio::to_integer(*value).and_then(|n| u32::try_from(n).ok()),
        _ => None,
    };
    let mut sizes = Sizes { n_features: 2, n_labels: 1, integer: 8, fraction: 8 };
    let Some(learner) = program.learners.first() else { return sizes };
    for (number, (_, ty)) in learner.parameters.iter().enumerate() {
        let element = match &ty.kind {
            syntax::TypeKind::Array(element, length) => {
                let length = literal(length).map_or(2, |length| length as usize);
                if number == 0 {
                    sizes.n_features = length;
                } else {
                    sizes.n_labels = length;
                }
                element
            }
            _ => ty,
        };
        match &element.kind {
            syntax::TypeKind::Fix(integer, fraction) => {
                sizes.integer = literal(integer).unwrap_or(sizes.integer);
                sizes.fraction = literal(fraction).unwrap_or(sizes.fraction);
            }
            syntax::TypeKind::Int(width) => {
                (sizes.integer, sizes.fraction) = (literal(width).unwrap_or(8), 0);
            }
            _ => {}
        }
    }
    sizes
}

/// Checks a program for data of these sizes.
///
/// # Errors
/// Every finding, in the order of the text; at least one is an error.
pub fn check(source: &str, sizes: &Sizes) -> Result<(), Vec<Diagnostic>> {
    Program::new(source, sizes, &Settings::default()).map(|_| ())
}

/// The program in the usual form: indented by its blocks, with single spaces; comments stay.
///
/// # Errors
/// Every finding, if the text is no program.
pub fn format(source: &str) -> Result<String, Vec<Diagnostic>> {
    let (_, findings) = parse::parse(source);
    if findings.is_empty() { Ok(format::format(source)) } else { Err(findings) }
}

/// A program that was checked for data of known sizes. It can be interpreted, and compiled.
#[derive(Clone, Debug)]
pub struct Program(core::Core);

impl Program {
    /// Checks a program, with constants set from outside.
    ///
    /// # Errors
    /// Every finding, in the order of the text; at least one is an error.
    pub fn new(source: &str, sizes: &Sizes, settings: &Settings) -> Result<Self, Vec<Diagnostic>> {
        Ok(Self(checked(source, sizes, settings, check::Part::Learner)?.0))
    }

    /// Runs it on samples, each its features and then its labels, as counts of 2^-fraction. If it takes its samples from a
    /// stream, it gets these, one after the other.
    pub fn interpret(&self, samples: &[Vec<i64>], limit: u64) -> Outcome {
        let mut taken = samples.iter().cloned();
        interpret::run(&self.0, Samples { table: samples, next: &mut || taken.next() }, limit)
    }

    /// Runs one that takes its samples from a stream, where `next` gives one after the other and none is kept.
    pub fn interpret_stream(&self, next: &mut dyn FnMut() -> Option<Vec<i64>>, limit: u64) -> Outcome {
        interpret::run(&self.0, Samples { table: &[], next }, limit)
    }

    /// Makes a machine of it. The same source and sizes give the same machine.
    ///
    /// # Errors
    /// If it needs more tapes or states than machines have.
    pub fn compile(&self) -> Result<Compiled, BackendError> {
        compile::compile(&self.0)
    }

    /// Makes a circuit of it, in which a statement takes few cycles. The same source and sizes give the same circuit.
    ///
    /// # Errors
    /// If no circuit can be made of it.
    pub fn compile_circuit(&self, options: CircuitOptions) -> Result<CompiledCircuit, BackendError> {
        Ok(circuit::compile(&self.0, options)?)
    }

    /// How many numbers theta has.
    pub fn n_theta(&self) -> usize {
        self.0.arrays[core::THETA].length
    }
}

/// Runs a program on samples, as [`Program::interpret`] does.
///
/// # Errors
/// If the program is wrong.
pub fn interpret(
    source: &str,
    sizes: &Sizes,
    samples: &[Vec<i64>],
    limit: u64,
) -> Result<Outcome, Vec<Diagnostic>> {
    Ok(Program::new(source, sizes, &Settings::default())?.interpret(samples, limit))
}

/// Makes a machine of a program, as [`Program::compile`] does.
///
/// # Errors
/// If the program is wrong, or needs more tapes or states than machines have.
pub fn compile(source: &str, sizes: &Sizes) -> Result<Compiled, CompileError> {
    let program = Program::new(source, sizes, &Settings::default()).map_err(CompileError::Findings)?;
    Ok(program.compile()?)
}

/// Whether a program brings its own primary network, a function `predict`.
pub fn has_predict(source: &str) -> bool {
    parse::parse(source).0.functions.iter().any(|function| function.name.text == check::PREDICT)
}

/// Whether a program has a learner that takes no labels.
pub fn has_no_labels(source: &str) -> bool {
    parse::parse(source).0.learners.first().is_some_and(|learner| learner.parameters.len() == 1)
}

/// The function `predict` of a program as a network, in the words that a primary network is described with.
///
/// # Errors
/// If the program is wrong, or `predict` has what no network can compute exactly.
pub fn predict_network(source: &str, sizes: &Sizes, settings: &Settings) -> Result<String, Vec<Diagnostic>> {
    let (core, answer) = checked(source, sizes, settings, check::Part::Predict)?;
    predict::network(&core, answer).map_err(|refused| vec![refused.finding(source)])
}

/// What `predict` gives for one sample, by definition: exact numbers, nothing rounds or wraps around.
///
/// # Errors
/// As for [`predict_network`].
pub fn predict(
    source: &str,
    sizes: &Sizes,
    settings: &Settings,
    x: &[f64],
    theta: &[f64],
) -> Result<Vec<f64>, Vec<Diagnostic>> {
    let (core, answer) = checked(source, sizes, settings, check::Part::Predict)?;
    predict::answer(&core, answer, x, theta).map_err(|refused| vec![refused.finding(source)])
}

fn checked(
    source: &str,
    sizes: &Sizes,
    settings: &Settings,
    part: check::Part,
) -> Result<(core::Core, core::ArrayId), Vec<Diagnostic>> {
    let (program, mut findings) = parse::parse(source);
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(findings);
    }
    check::check(&program, source, (sizes, settings), part, &mut findings).ok_or(findings)
}

#[cfg(test)]
mod tests {
    use luge_machine::{Simulator, SymbolId};

    use super::*;

    const SUM: &str = "learner sum(x: [fix<I,F>; 1], y: fix<I,F>) -> theta: [fix<I,F>; 1] {
        let any: bit = false;
        let lists: [fix<I,F>; 3];
        for sample in data {
            let twice = y + y;
            if twice > 0 {
                any = true;
                lists[1] += y;
            }
            theta[0] += twice;
        }
    }";

    #[test]
    fn variables_lie_where_the_compiler_says() {
        let sizes = Sizes { n_features: 1, n_labels: 1, integer: 4, fraction: 4 };
        let compiled = compile(SUM, &sizes).expect("a machine");
        // The marker, then a feature of 0 and a label of 1.5 with a mark before each number.
        let bits = |raw: u32| (0..8).map(move |i| SymbolId((raw >> i & 1) as u8));
        let mut input = compiled.input.clone();
        let tape =
            |name: &str| compiled.machine.tapes().iter().position(|tape| tape.name == name).expect("a tape");
        input.tapes[tape("data")].symbols =
            [SymbolId(1)].into_iter().chain(bits(0)).chain(bits(24)).collect();
        let marks = (0..18).map(|cell| {
            SymbolId(match cell {
                1 => 1,
                9 => 2,
                17 => 3,
                _ => 0,
            })
        });
        input.tapes[tape("marks")].symbols = marks.collect();
        let mut simulator = Simulator::new(&compiled.machine, &input);
        simulator.run(100_000);
        let value = |name: &str| {
            let variable = compiled.variables.iter().find(|v| v.name == name).expect("a variable");
            let tape = simulator.tape(variable.tape);
            variable.values(variable.length.unwrap_or(1), |cell| tape.read(cell as i64).0 == 1)
        };
        assert_eq!(
            (value("theta"), value("any"), value("lists")),
            (vec![3.0], vec![1.0], vec![0.0, 1.5, 0.0])
        );
        let lines = |name: &str| compiled.variables.iter().find(|v| v.name == name).map(|v| v.lines);
        assert_eq!((lines("any"), lines("twice")), (Some((2, u32::MAX)), Some((5, 10))));
    }
}
