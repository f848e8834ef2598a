//! Sled, a small language for learners over fixed-point numbers.
//!
//! A program is checked for data of given [`Sizes`]. The interpreter defines what it means; the compilers turn it into a
//! Turing machine or a circuit that computes the same.
//!
//! ```
//! use luge_sled::{Program, Settings, Sizes, Verdict};
//!
//! // The sum of the labels, as numbers with four bits before the point and four after it.
//! let source = "
//!     learner sum(x: [fix<I,F>; 1], y: fix<I,F>) -> theta: [fix<I,F>; 1] {
//!         for sample in data { theta[0] += y; }
//!     }";
//! let sizes = Sizes { n_features: 1, n_labels: 1, integer: 4, fraction: 4 };
//! let program = Program::new(source, &sizes, &Settings::default()).expect("a correct program");
//!
//! // Numbers are integers in units of 1/16: the labels are 1.0 and 2.5, their sum is 3.5.
//! let samples = [vec![0, 16], vec![0, 40]];
//! let outcome = program.interpret(&samples, 1_000);
//! assert_eq!((outcome.verdict, outcome.theta), (Verdict::Accepted, vec![56]));
//!
//! let compiled = program.compile().expect("a machine");
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

/// The sizes of the data that a program is checked for. The number of samples is not among them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// Features per sample.
    pub n_features: usize,
    /// Labels per sample.
    pub n_labels: usize,
    /// Bits of a number before the point, including the sign.
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
    /// The machine, with tapes `data`, `marks` and `theta`, and working tapes.
    pub machine: Machine,
    /// The initial contents of its working tapes.
    pub input: Input,
    /// The source line of each state, counted from 1.
    pub lines: Vec<Option<u32>>,
    /// Length of theta.
    pub n_theta: usize,
    /// Whether it takes its samples from a stream.
    pub takes: bool,
    /// Where the program's variables are on the machine's tapes.
    pub variables: Vec<Variable>,
}

/// The place of a variable on the tapes: words of bits, lowest first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The machine's tape.
    pub tape: TapeId,
    /// The cell of its first bit.
    pub first: usize,
    /// Distance from one element to the next, in cells.
    pub pitch: usize,
    /// Bits of an element.
    pub width: u32,
    /// Bits after the point; `None` for the type `bit`.
    pub fraction: Option<u32>,
    /// Length of an array; `None` for a single value.
    pub length: Option<usize>,
    /// The first and last line of its scope.
    pub lines: (u32, u32),
}

impl Variable {
    /// Decodes the value, or the first `n` elements of an array, from the bits on its tape.
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
    /// The program reached its end.
    Accepted,
    /// The program executed `reject`.
    Rejected,
    /// The limit of executed statements was reached.
    Limit,
    /// The program takes a sample, but the stream has ended.
    Waiting,
    /// A round of a `while` began in the same state as an earlier round: the program never ends.
    Repeats,
}

/// The result of a run of the interpreter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// How the run ended.
    pub verdict: Verdict,
    /// The weights, in units of 2^-fraction.
    pub theta: Vec<i64>,
    /// Number of statements executed.
    pub statements: u64,
    /// The line of the statement that ended the run, unless it reached the program's end.
    pub line: Option<u32>,
    /// Number of samples taken from a stream.
    pub taken: usize,
    /// Number of rounds of loops over the data.
    pub samples: u64,
    /// The lines in which numbers overflowed and wrapped around.
    pub wraps: Vec<OverflowSite>,
    /// The lines that `print` printed.
    pub printed: Vec<String>,
}

/// Overflows in one line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OverflowSite {
    /// The line, counted from 1.
    pub line: u32,
    /// Number of overflows.
    pub count: u64,
    /// The current sample, counted from 0, at the first overflow, if there was one.
    pub first_sample: Option<usize>,
}

/// Values that replace constants of the file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Settings(Vec<(String, ratio::Ratio)>);

impl Settings {
    /// Sets one constant, from a text such as `ROUNDS=4` or `RATE=-0.25`.
    ///
    /// # Errors
    /// If the text does not have this form.
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

/// A setting that could not be parsed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{text}` is not a setting: write NAME=VALUE, such as ROUNDS=4")]
pub struct SettingError {
    /// The text.
    pub text: String,
}

/// Sizes for checking a program without data: those that its signature gives as numbers, and otherwise small ones.
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
        if let syntax::TypeKind::Fix(integer, fraction) = &element.kind {
            sizes.integer = literal(integer).unwrap_or(sizes.integer);
            sizes.fraction = literal(fraction).unwrap_or(sizes.fraction);
        }
    }
    sizes
}

/// Formats a program: indents its blocks and removes extra spaces. Comments are kept.
///
/// # Errors
/// Every finding, if the text is not a program.
pub fn format(source: &str) -> Result<String, Vec<Diagnostic>> {
    let (_, findings) = parse::parse(source);
    if findings.is_empty() { Ok(format::format(source)) } else { Err(findings) }
}

/// A checked program, which can be interpreted and compiled.
#[derive(Clone, Debug)]
pub struct Program(core::Core);

impl Program {
    /// Checks a program, with settings for its constants.
    ///
    /// # Errors
    /// Every finding, in the order of the text; at least one is an error.
    pub fn new(source: &str, sizes: &Sizes, settings: &Settings) -> Result<Self, Vec<Diagnostic>> {
        Ok(Self(checked(source, sizes, settings, check::Part::Learner)?.0))
    }

    /// Interprets it on samples, each its features and then its labels, in units of 2^-fraction. A program that takes
    /// samples from a stream gets these in order.
    pub fn interpret(&self, samples: &[Vec<i64>], limit: u64) -> Outcome {
        let mut taken = samples.iter().cloned();
        interpret::run(&self.0, Samples { table: samples, next: &mut || taken.next() }, limit)
    }

    /// Interprets a program that takes its samples from a stream; `next` returns the next one.
    pub fn interpret_stream(&self, next: &mut dyn FnMut() -> Option<Vec<i64>>, limit: u64) -> Outcome {
        interpret::run(&self.0, Samples { table: &[], next }, limit)
    }

    /// Compiles it to a machine. The same source and sizes give the same machine.
    ///
    /// # Errors
    /// If it needs more tapes or states than machines have.
    pub fn compile(&self) -> Result<Compiled, BackendError> {
        compile::compile(&self.0)
    }

    /// Compiles it to a circuit, in which a statement takes few cycles. The same source and sizes give the same circuit.
    ///
    /// # Errors
    /// If it needs too many registers, a tape, or a table that is missing.
    pub fn compile_circuit(&self, options: CircuitOptions) -> Result<CompiledCircuit, BackendError> {
        Ok(circuit::compile(&self.0, options)?)
    }

    /// Length of theta.
    pub fn n_theta(&self) -> usize {
        self.0.arrays[core::THETA].length
    }
}

/// Whether a program defines its own primary network, a function `predict`.
pub fn has_predict(source: &str) -> bool {
    parse::parse(source).0.functions.iter().any(|function| function.name.text == check::PREDICT)
}

/// Whether a program has a learner that takes no labels.
pub fn has_no_labels(source: &str) -> bool {
    parse::parse(source).0.learners.first().is_some_and(|learner| learner.parameters.len() == 1)
}

/// The function `predict` of a program as a network, in the syntax of `--primary`.
///
/// # Errors
/// If the program has errors, or no network computes `predict` exactly.
pub fn predict_network(source: &str, sizes: &Sizes, settings: &Settings) -> Result<String, Vec<Diagnostic>> {
    let (core, answer) = checked(source, sizes, settings, check::Part::Predict)?;
    predict::network(&core, answer).map_err(|error| vec![error.diagnostic(source)])
}

/// The result of `predict` for one sample. Numbers are exact: nothing rounds or wraps around.
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
    predict::answer(&core, answer, x, theta).map_err(|error| vec![error.diagnostic(source)])
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
        let program = Program::new(SUM, &sizes, &Settings::default()).expect("a correct program");
        let compiled = program.compile().expect("a machine");
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
