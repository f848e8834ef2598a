//! Compiles Sled programs to circuits: a statement takes a few steps of SGD, and the rows of a table pass in cycles.

use std::collections::BTreeSet;

use luge_circuit::{Circuit, Cycle, RegisterId, Sample, Simulator};
use luge_machine::Step;
use luge_net::NumberFormat;
use luge_sled::{CircuitOptions, CircuitOutput, CompiledCircuit, Outcome, Rows};
use serde::{Deserialize, Serialize};

use super::{JobError, LearnerCircuit, PreparedMlp, SampleStream, Theta, until_halted};
use crate::{
    job::{
        StandardPrimaries, is_circuit,
        program::{SizedSource, raw_of_bits},
        source::Source,
    },
    stream::{Order, Samples, StreamJob},
    trace::LONGEST_SEARCH,
};

/// The program that a circuit was compiled from, and how long each sample passes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CircuitProgram {
    /// The program.
    pub source: Source,
    /// States of the circuit's control; `None` if the circuit is the program's machine on tapes.
    pub n_states: Option<usize>,
    /// For how many steps each row of the table passes; `None` if every step has a new sample.
    pub hold: Option<usize>,
    /// Constants that were set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    set: Vec<String>,
    format: NumberFormat,
    rejected: Option<RegisterId>,
}

/// An upper bound on the statements per step of the circuit.
const STATEMENTS_PER_STEP: u64 = 10_000;

impl CircuitProgram {
    /// A program whose machine on tapes was converted to a circuit.
    pub(crate) fn on_tapes(program: &SizedSource) -> Self {
        let SizedSource { source, set, format, .. } = program.clone();
        Self { source, n_states: None, hold: None, set, format, rejected: None }
    }

    /// Whether the circuit has the samples and registers of this program.
    pub(super) fn fits(&self, circuit: &Circuit) -> bool {
        let coded = circuit.samples().is_some_and(|shape| super::sample_format(shape) == self.format);
        coded && self.rejected.is_none_or(|register| register.index() < circuit.registers().len())
    }

    /// Whether the program has rejected its data, given all registers.
    pub fn has_rejected(&self, registers: &[bool]) -> bool {
        self.rejected.is_some_and(|register| registers[register.index()])
    }

    /// Runs the program in the interpreter on the same samples: the table's rows, or those that the circuit took.
    pub(super) fn interpret(&self, samples: &Samples, taken: &[Sample], steps: Step) -> Option<Outcome> {
        let limit = steps.saturating_add(100).saturating_mul(STATEMENTS_PER_STEP);
        let Self { source, set, format, .. } = self.clone();
        let sized = SizedSource { source, set, format, sizes: samples.sizes() };
        if let (Some(_), Samples::Table(table, _)) = (self.hold, samples) {
            return sized.interpret(table, limit).ok();
        }
        // The circuit of a machine on tapes takes one sample at once, before the machine takes its first; no state reads it.
        let n_unseen = usize::from(self.n_states.is_none());
        let n_bits = self.format.n_bits() as usize;
        let number = |bits: &[bool]| raw_of_bits(bits.iter().copied(), self.format);
        let mut taken = taken.iter().skip(n_unseen).map(|sample| {
            sample
                .features
                .chunks(n_bits)
                .chain(sample.label.chunks(n_bits))
                .map(number)
                .collect::<Vec<i64>>()
        });
        sized.interpret_stream(&mut || taken.next(), limit).ok()
    }
}

impl StreamJob {
    /// Whether a number of the program overflows on the samples that its circuit takes.
    pub(crate) fn circuit_overflows(&self) -> bool {
        let Ok(LearnerCircuit { circuit, program: Some(program), .. }) = self.circuit() else { return false };
        let mut stream = SampleStream::open(circuit.samples(), Some(&self.samples), self.options.seed);
        let (mut simulator, mut taken) = (Simulator::new(&circuit), Vec::new());
        let limit = if program.hold.is_none() { self.options.steps.min(LONGEST_SEARCH) } else { 0 };
        // If there is an error, the samples before it still count.
        let _ = until_halted(&mut simulator, limit, |simulator| {
            let sample = stream.next_sample().bits;
            let cycle = simulator.step(&sample)?;
            taken.extend((cycle == Cycle::Take).then_some(sample));
            Ok(cycle)
        });
        let ran = program.interpret(&self.samples, &taken, simulator.steps());
        ran.is_some_and(|ran| !ran.wraps.is_empty())
    }

    /// Prepares the learner as a network of linear layers and ReLUs.
    ///
    /// # Errors
    /// Everything that can be wrong with the job.
    pub fn prepare_mlp(&self) -> Result<PreparedMlp, JobError> {
        PreparedMlp::new(self.circuit()?, Some(self.samples.clone()), self.options.clone())
    }

    /// Returns the learner as a circuit; programs and machines are converted.
    ///
    /// # Errors
    /// If it cannot be a circuit, or an option has no effect on it.
    pub fn circuit(&self) -> Result<LearnerCircuit, JobError> {
        if self.goes_via_tapes() {
            return self.prepare()?.circuit();
        }
        self.check_options()?;
        match is_circuit(&self.source) {
            true => Ok(self.source.read_circuit(Some(self.samples.sizes().0))?.circuit.into()),
            false => self.compiled_circuit(),
        }
    }

    /// Compiles the program to a circuit. If it loops over the rows of a table, each row passes for the requested number of
    /// steps, or for the number that makes the run shortest.
    fn compiled_circuit(&self) -> Result<LearnerCircuit, JobError> {
        let primary = self.sized().primary(&self.primary, &StandardPrimaries)?;
        let output = (primary.describe() == "parity").then_some(CircuitOutput::Parity);
        let table = match &self.samples {
            Samples::Table(table, Order::Cycle) => Some(table.n_samples()),
            _ => None,
        };
        let compile = |hold: Option<usize>| {
            let rows = table.map(|n_rows| Rows { n_rows, hold });
            self.sized().compile_circuit(CircuitOptions { output, rows })
        };
        let mut compiled = compile(self.options.hold)?;
        self.sized().check_theta(compiled.theta.len(), &*primary)?;
        let rows = table.filter(|_| compiled.loops_over_rows);
        let mut hold = self.options.hold;
        if let (Some(n_rows), None) = (rows, hold) {
            let pace = Pace::of(&compiled, &self.samples, n_rows, self.options.steps.min(LONGEST_SEARCH))?;
            hold = Some(pace.best_hold());
            compiled = compile(hold)?;
        } else if rows.is_none() && hold.is_some() {
            return Err(self.no_effect("hold"));
        }
        let CompiledCircuit { circuit, theta, rejected, n_states, .. } = compiled;
        let format = self.options.format;
        let theta = Theta { words: theta, format, primary };
        let (source, set) = (self.source.clone(), self.set.clone());
        let n_states = Some(n_states);
        let program = CircuitProgram { source, n_states, hold, set, format, rejected };
        Ok(LearnerCircuit { circuit, theta: Some(theta), program: Some(program) })
    }
}

/// Up to this many steps per row all numbers are tried; above it only the times that the program spends on some row.
const MAX_SHORT_HOLD: u64 = 256;

/// When a program takes which rows, if it never waits for one.
struct Pace {
    n_rows: usize,
    /// The rows in the order in which they are taken, each with the step that takes it.
    takes: Vec<(usize, Step)>,
    end: Step,
}

impl Pace {
    fn of(
        compiled: &CompiledCircuit,
        samples: &Samples,
        n_rows: usize,
        limit: Step,
    ) -> Result<Self, JobError> {
        let mut stream = SampleStream::open(compiled.circuit.samples(), Some(samples), 0);
        let rows: Vec<Sample> = (0..n_rows).map(|_| stream.next_sample().bits).collect();
        let (mut simulator, mut takes) = (Simulator::new(&compiled.circuit), Vec::new());
        until_halted(&mut simulator, limit, |simulator| {
            let (step, row) = (simulator.steps(), compiled.wanted_row(simulator.registers()));
            // After the last row the counter is past the end, and the program takes none.
            let cycle = simulator.step(&rows[row % n_rows])?;
            takes.extend((cycle == Cycle::Take).then_some((row, step)));
            Ok(cycle)
        })?;
        Ok(Self { n_rows, takes, end: simulator.steps() })
    }

    /// Returns for how many steps each row should pass: at most the longest time that the program spends on a row.
    fn best_hold(&self) -> usize {
        let spent: BTreeSet<u64> = self.takes.windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
        let short = 1..=spent.last().copied().unwrap_or(1).min(MAX_SHORT_HOLD);
        let best = short.chain(spent).min_by_key(|&hold| self.steps(hold)).unwrap_or(1);
        usize::try_from(best).unwrap_or(usize::MAX)
    }

    /// Returns the steps of the run if each row passes for `hold` steps.
    fn steps(&self, hold: u64) -> Step {
        let round = hold * self.n_rows as u64;
        let late = self.takes.iter().fold(0, |late, &(row, step)| {
            let (now, first) = ((step + late) % round, row as u64 * hold);
            let passes = now / hold == row as u64;
            late + if passes { 0 } else { (first + round - now) % round }
        });
        self.end + late
    }
}
