//! Sled, a small language for learners over fixed-point numbers.
//!
//! A program is checked against the [`Sizes`] of its data, and then interpreted, which is what it means, or compiled to a
//! Turing machine that does the same.

mod check;
mod compile;
mod core;
mod interpret;
mod lex;
mod parse;
mod ratio;
mod syntax;

use luge_machine::{Diagnostic, Input, Machine, Severity};

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
    #[must_use]
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
    /// Numbers in theta.
    pub n_theta: usize,
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
}

/// What a run of the interpreter left behind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// How it ended.
    pub verdict: Verdict,
    /// The weights, counted in steps of 2^-fraction.
    pub theta: Vec<i64>,
    /// Statements executed.
    pub statements: u64,
}

/// Why there is no machine.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum CompileError {
    /// The program is wrong: every finding, in order.
    #[error("the program has errors")]
    Findings(Vec<Diagnostic>),
    /// The program is right, but no machine can be made of it.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

/// Checks a program for data of these sizes.
///
/// # Errors
/// Every finding, in the order of the text; at least one is an error.
pub fn check(source: &str, sizes: &Sizes) -> Result<(), Vec<Diagnostic>> {
    checked(source, sizes).map(|_| ())
}

/// Runs a program on samples, each its features and then its labels, as counts of 2^-fraction.
///
/// # Errors
/// If the program is wrong.
pub fn interpret(
    source: &str,
    sizes: &Sizes,
    samples: &[Vec<i64>],
    limit: u64,
) -> Result<Outcome, Vec<Diagnostic>> {
    Ok(interpret::run(&checked(source, sizes)?, samples, limit))
}

/// Makes a machine of a program. The same source and sizes give the same machine.
///
/// # Errors
/// If the program is wrong, or needs more tapes or states than machines have.
pub fn compile(source: &str, sizes: &Sizes) -> Result<Compiled, CompileError> {
    let core = checked(source, sizes).map_err(CompileError::Findings)?;
    Ok(compile::compile(&core)?)
}

fn checked(source: &str, sizes: &Sizes) -> Result<core::Core, Vec<Diagnostic>> {
    let (program, mut findings) = parse::parse(source);
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(findings);
    }
    match check::check(&program, source, sizes, &mut findings) {
        Some(core) => Ok(core),
        None => Err(findings),
    }
}
