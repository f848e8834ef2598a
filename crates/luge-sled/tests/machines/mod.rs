//! Runs a program with the interpreter and as a machine, and compares the two.

#![allow(dead_code, reason = "each test binary uses its own part")]

use luge_machine::{Diagnostic, Input, Simulator, SymbolId, TapeId};
use luge_sled::{BackendError, Compiled, Outcome, Program, Settings, Sizes, Verdict};

/// Sizes with this many columns and bits.
pub(crate) fn sizes(n_features: usize, n_labels: usize, integer: u32, fraction: u32) -> Sizes {
    Sizes { n_features, n_labels, integer, fraction }
}

/// Interprets a program on samples.
pub(crate) fn interpret(
    source: &str,
    sizes: &Sizes,
    samples: &[Vec<i64>],
    limit: u64,
) -> Result<Outcome, Vec<Diagnostic>> {
    Ok(Program::new(source, sizes, &Settings::default())?.interpret(samples, limit))
}

/// Compiles a correct program.
pub(crate) fn compile(source: &str, sizes: &Sizes) -> Result<Compiled, BackendError> {
    let program = Program::new(source, sizes, &Settings::default());
    program.unwrap_or_else(|findings| refuse(source, &findings)).compile()
}

/// The machine's input: a marker, then all numbers with their marks.
pub(crate) fn lay(compiled: &Compiled, sizes: &Sizes, samples: &[Vec<i64>]) -> Input {
    let width = sizes.width();
    let (mut data, mut marks) = (vec![SymbolId(1)], vec![SymbolId(3)]);
    for sample in samples {
        assert_eq!(sample.len(), sizes.n_features + sizes.n_labels);
        for (column, number) in sample.iter().enumerate() {
            for bit in 0..width {
                data.push(SymbolId(u8::from(number >> bit & 1 == 1)));
                let mark = if column < sizes.n_features { 1 } else { 2 };
                marks.push(SymbolId(if bit == 0 { mark } else { 0 }));
            }
        }
    }
    marks.push(SymbolId(3));
    let mut input = compiled.input.clone();
    for (tape, laid) in compiled.machine.tapes().iter().zip(&mut input.tapes) {
        match tape.name.as_str() {
            "data" => laid.symbols = data.clone(),
            "marks" => laid.symbols = marks.clone(),
            _ => {}
        }
    }
    input
}

/// The compiled machine's `theta`, verdict and number of steps.
pub(crate) fn simulate(
    compiled: &Compiled,
    sizes: &Sizes,
    samples: &[Vec<i64>],
    limit: u64,
) -> (Outcome, u64) {
    let machine = &compiled.machine;
    let mut simulator = Simulator::new(machine, &lay(compiled, sizes, samples));
    let outcome = simulator.run(limit);
    let verdict = match outcome {
        luge_machine::Outcome::Halted { accepting: true, .. } => Verdict::Accepted,
        luge_machine::Outcome::Halted { .. } => Verdict::Rejected,
        luge_machine::Outcome::StepLimit => Verdict::Limit,
        luge_machine::Outcome::NoRule { state } => panic!("no rule in state {}", machine.state(state).name),
    };
    let theta = theta(compiled, sizes, &simulator);
    let outcome = Outcome {
        verdict,
        theta,
        statements: 0,
        line: None,
        taken: 0,
        samples: 0,
        wraps: Vec::new(),
        printed: Vec::new(),
    };
    (outcome, simulator.steps())
}

/// The numbers on `theta`.
pub(crate) fn theta(compiled: &Compiled, sizes: &Sizes, simulator: &Simulator<'_>) -> Vec<i64> {
    let tapes = compiled.machine.tapes();
    let theta = tapes.iter().position(|tape| tape.name == "theta").map(TapeId::new).expect("a tape");
    let width = i64::from(sizes.width());
    let number = |i: usize| {
        let bits = (0..width).map(|bit| {
            let cell = i64::try_from(i).expect("a small number") * width + bit;
            i64::from(simulator.tape(theta).read(cell).0) << bit
        });
        let raw: i64 = bits.sum();
        raw << (64 - width) >> (64 - width)
    };
    (0..compiled.n_theta).map(number).collect()
}

/// More steps than any of these programs takes.
const MAX_STEPS: u64 = 20_000_000;

/// Asserts that both end in the same way. Returns theta and the machine's steps.
pub(crate) fn agree(source: &str, sizes: &Sizes, samples: &[Vec<i64>], limit: u64) -> (Outcome, u64) {
    let reference =
        interpret(source, sizes, samples, limit).unwrap_or_else(|findings| refuse(source, &findings));
    assert_ne!(reference.verdict, Verdict::Limit, "the interpreter does not end:\n{source}");
    let compiled = compile(source, sizes).unwrap_or_else(|error| panic!("{error}:\n{source}"));
    let (outcome, steps) = simulate(&compiled, sizes, samples, MAX_STEPS);
    assert_eq!(outcome.verdict, reference.verdict, "{source}\n{samples:?}");
    if reference.verdict == Verdict::Accepted {
        assert_eq!(outcome.theta, reference.theta, "{source}\n{samples:?}");
    }
    (reference, steps)
}

pub(crate) fn refuse(source: &str, findings: &[Diagnostic]) -> ! {
    let lines: Vec<String> = findings.iter().map(|finding| finding.one_line(source)).collect();
    panic!("{}\n{source}", lines.join("\n"));
}
