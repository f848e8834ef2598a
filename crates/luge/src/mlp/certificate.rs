//! Trains an MLP in lockstep with the simulator, and certifies the run.

use std::ops::ControlFlow;

use luge_circuit::{Cycle, Sample, Simulator};
use luge_landscape::mlp::{Float, MEMORY_LAYER};
use luge_machine::Step;
use luge_net::{Shape, Values};
use luge_train::sequential::{DenseSgd, Perturbation, Real, SequentialEngine, SparseSgd};

use super::{JobError, PreparedMlp};
use crate::{
    certificate::{Claim, translation},
    data::right_rows,
    stream::{StreamEngineChoice, StreamMoment, StreamReport},
};

/// How far an output may differ from the circuit's, which is a multiple of its unit.
const OUTPUT_TOLERANCE: f64 = 1e-3;

impl PreparedMlp {
    /// Trains, compares every iterate with the simulator, and certifies the run. `watch` sees every step.
    ///
    /// # Errors
    /// If the engine cannot be created. A run that goes wrong gives a certificate that does not hold.
    pub fn train(
        &self,
        watch: impl FnMut(StreamMoment<'_>) -> ControlFlow<()>,
    ) -> Result<StreamReport, JobError> {
        match self.options.precision {
            Float::F64 => self.train_in::<f64>(watch),
            Float::F32 => self.train_in::<f32>(watch),
        }
    }

    fn train_in<T: Real>(
        &self,
        watch: impl FnMut(StreamMoment<'_>) -> ControlFlow<()>,
    ) -> Result<StreamReport, JobError> {
        let (network, rate) = (&self.network.network, self.network.constants.rate);
        Ok(match self.engine() {
            StreamEngineChoice::Dense => {
                let mut engine = DenseSgd::<T>::new(network, rate)?;
                let figures = format!(
                    "every step by automatic differentiation; all {} weights and biases trained",
                    network.n_weights()
                );
                self.follow(&mut engine, watch, |_| Claim::new(true, figures))
            }
            StreamEngineChoice::Sparse => {
                let mut engine = SparseSgd::<T>::new(network, rate);
                self.follow(&mut engine, watch, |engine| self.perturbed(&engine.perturbation()))
            }
        })
    }

    /// The claim about the gradient for the sparse engine, which bounds the effect of the weights that it does not train.
    fn perturbed(&self, bound: &Perturbation) -> Claim {
        let network = &self.network.network;
        let registers = bound.bias_error / self.network.constants.memory_scale;
        let figures = format!(
            "every step by automatic differentiation through the {} weights that are not 0; training all {} would move \
             registers by at most {registers:.1e} and no other weight by more than {:.1e}",
            network.n_nonzero(),
            network.n_weights(),
            bound.largest_move
        );
        Claim::new(bound.closed && registers < 0.05, figures)
    }

    fn follow<E: SequentialEngine>(
        &self,
        engine: &mut E,
        mut watch: impl FnMut(StreamMoment<'_>) -> ControlFlow<()>,
        gradient: impl FnOnce(&E) -> Claim,
    ) -> StreamReport {
        let mut lockstep = Lockstep::new(self);
        let mut stream = self.stream();
        let mut steps = 0;
        let mut goes_on =
            |step| watch(StreamMoment { step, loss: f64::NAN, snapshot: &|| None }).is_continue();
        lockstep.compare(engine);
        while steps < self.rehearsal.steps && lockstep.wrong.is_none() && goes_on(steps) {
            let passing = stream.next_sample();
            engine.step(&passing.x, &passing.y);
            lockstep.advance(&passing.bits);
            steps += 1;
            lockstep.compare(engine);
        }
        let halted = self.rehearsal.halted && steps == self.rehearsal.steps;
        let gradient = gradient(engine);
        let at_rest = self.at_rest(engine, &mut lockstep, &mut stream, halted);
        let (output, judged) = self.output(engine, &lockstep.simulator, halted);
        let theta = self.theta.as_ref().filter(|_| halted);
        let theta = theta.map(|theta| theta.decode(lockstep.simulator.registers()));
        // The outer `None` if there is no program, or the run has not halted.
        let interpreted = self.program.as_ref().filter(|_| halted).map(|program| {
            let samples = self.samples.as_ref()?;
            program.interpret(samples, &lockstep.taken, self.rehearsal.steps)
        });
        let program = interpreted.as_ref().zip(self.theta.as_ref()).map(|(outcome, meaning)| {
            ("program", translation::claim(outcome.as_ref(), theta.as_deref(), meaning.format))
        });
        let claims = [
            ("trace", lockstep.claim(steps)),
            ("gradient", gradient),
            ("constants", self.constants()),
            ("network", self.layers()),
            ("output", output),
            ("at_rest", at_rest),
        ];
        StreamReport {
            halted,
            accepted: halted,
            steps,
            taken: lockstep.simulator.n_taken(),
            theta: theta.unwrap_or_default(),
            wraps: interpreted.flatten().map_or_else(Vec::new, |outcome| outcome.wraps),
            weights: vec![Values::column(engine.biases(MEMORY_LAYER))],
            judged,
            engine: engine.name(),
            certificate: claims.into_iter().chain(program).collect(),
        }
    }

    /// The claim that samples after the end move no register.
    fn at_rest(
        &self,
        engine: &mut dyn SequentialEngine,
        lockstep: &mut Lockstep<'_>,
        stream: &mut super::SampleStream,
        halted: bool,
    ) -> Claim {
        if !halted {
            return Claim::new(true, "not halted");
        }
        let before = engine.biases(MEMORY_LAYER);
        for _ in 0..self.options.after {
            let passing = stream.next_sample();
            engine.step(&passing.x, &passing.y);
            lockstep.advance(&passing.bits);
            lockstep.compare(engine);
        }
        let after = engine.biases(MEMORY_LAYER);
        let moved = before.iter().zip(&after).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let moved = moved / self.network.constants.memory_scale;
        let figures = format!("{} samples after the end moved registers by {moved:.1e}", self.options.after);
        Claim::new(moved < 1e-9 && lockstep.wrong.is_none(), figures)
    }

    /// The claim that the network's output on new inputs is the circuit's, and how many of these are predicted correctly.
    fn output(
        &self,
        engine: &mut dyn SequentialEngine,
        simulator: &Simulator<'_>,
        halted: bool,
    ) -> (Claim, Option<(usize, usize)>) {
        if !halted {
            return (Claim::new(true, "not halted"), None);
        }
        let mut stream = self.new_samples();
        stream.reseed(self.options.seed.wrapping_add(1));
        let (mut alike, mut predicted, mut labels) = (0, Vec::new(), Vec::new());
        let (n_new, registers) = (self.options.n_judged, simulator.registers());
        for _ in 0..n_new {
            let passing = stream.next_sample();
            let found = engine.output(&passing.x);
            let own =
                || simulator.output(&passing.bits.features).map_or(Vec::new(), |f| self.network.labels(&f));
            let learned = self.theta.as_ref().map(|theta| theta.predict(registers, &passing.x));
            let expected = if self.readout.is_some() { learned.clone() } else { None }.unwrap_or_else(own);
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= OUTPUT_TOLERANCE;
            let is_alike = expected.len() == found.len() && expected.iter().zip(&found).all(near);
            alike += usize::from(is_alike);
            predicted.extend(learned.unwrap_or(found));
            labels.extend(passing.y);
        }
        let figures = match (self.has_output(), &self.theta) {
            (true, _) => format!("F(x) = f(x) on {alike} of {n_new} new inputs"),
            (false, None) => "the circuit has no output".to_owned(),
            (false, Some(theta)) => {
                format!(
                    "F(x) = 0 on {alike} of {n_new} new inputs; {} is left to others",
                    theta.primary.describe()
                )
            }
        };
        let known = self.has_output() || self.theta.is_some();
        let shape = self.circuit.samples().filter(|_| known);
        let rows = |data, n_columns| Values::new(Shape::new(n_new, n_columns), data);
        let right = shape.and_then(|shape| {
            let (out, labels) = (rows(predicted, shape.n_labels), rows(labels, shape.n_labels));
            right_rows(&out, &labels, 0..n_new)
        });
        (Claim { holds: alike == n_new, figures }, right.map(|right| (right, n_new)))
    }

    /// Whether the network computes what was learned.
    pub(super) fn has_output(&self) -> bool {
        self.readout.is_some() || !self.circuit.output().is_empty()
    }

    fn constants(&self) -> Claim {
        let inequalities = self.network.constants.inequalities(self.circuit.samples());
        let shown: Vec<String> = inequalities
            .iter()
            .map(|i| format!("{}: {:.1e} <= {:.1e}", i.formula, i.left, i.right))
            .collect();
        Claim { holds: inequalities.iter().all(|i| i.holds()), figures: shown.join("; ") }
    }

    /// The claim about the layers: a [`Sequential`](luge_net::Sequential) has only linear layers and ReLUs.
    fn layers(&self) -> Claim {
        let widths = self.network.network.widths();
        let figures = format!(
            "{} linear layers and {} ReLUs, the widest with {} units; no stop-gradient, no frozen weight, one rate",
            widths.len() - 1,
            widths.len() - 2,
            widths.iter().max().unwrap_or(&0)
        );
        Claim { holds: widths.last() == Some(&self.network.n_outputs()), figures }
    }
}

/// The simulator in lockstep with the engine.
struct Lockstep<'p> {
    prepared: &'p PreparedMlp,
    simulator: Simulator<'p>,
    /// The samples that a program took from a stream, for the interpreter.
    taken: Vec<Sample>,
    largest_error: f64,
    wrong: Option<String>,
}

impl<'p> Lockstep<'p> {
    fn new(prepared: &'p PreparedMlp) -> Self {
        let simulator = Simulator::new(&prepared.circuit);
        Self { prepared, simulator, taken: Vec::new(), largest_error: 0.0, wrong: None }
    }

    fn advance(&mut self, sample: &Sample) {
        let interprets = self.prepared.program.as_ref().is_some_and(|program| program.hold.is_none());
        match self.simulator.step(sample) {
            Ok(Cycle::Take) if interprets => self.taken.push(sample.clone()),
            Ok(_) => {}
            Err(error) => drop(self.wrong.get_or_insert(error.to_string())),
        }
    }

    fn compare(&mut self, engine: &dyn SequentialEngine) {
        let step = self.simulator.steps();
        match self.prepared.network.decode(&engine.biases(MEMORY_LAYER)) {
            Err(error) => {
                self.wrong.get_or_insert(format!("after {step} steps {error}"));
            }
            Ok(memory) => {
                self.largest_error = self.largest_error.max(memory.largest_error);
                let differs =
                    self.simulator.registers().iter().zip(&memory.registers).position(|(a, b)| a != b);
                if let Some(register) = differs {
                    let name = &self.prepared.circuit.registers()[register].name;
                    self.wrong.get_or_insert(format!("after {step} steps register `{name}` differs"));
                } else if memory.held.as_ref() != self.simulator.held() {
                    self.wrong.get_or_insert(format!("after {step} steps the sample that is held differs"));
                }
            }
        }
    }

    fn claim(&self, steps: Step) -> Claim {
        let shape = self.prepared.circuit.samples();
        let n_slots = shape.map_or(0, |shape| shape.n_feature_bits() + self.prepared.network.n_outputs());
        let n_memory = self.prepared.circuit.registers().len() + n_slots;
        let figures = match &self.wrong {
            Some(wrong) => wrong.clone(),
            None => format!(
                "{} iterates of {n_memory} registers and slots, 0 mismatches; all within {:.1e} of their values",
                steps + 1,
                self.largest_error
            ),
        };
        Claim { holds: self.wrong.is_none(), figures }
    }
}
