//! Simulates a circuit cycle by cycle, with plain Boolean values.

use crate::{Circuit, Input, NotExclusive, RegisterId, Values};

/// A sample as bits, in the order that [`SampleShape`](crate::SampleShape) defines.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Sample {
    /// The bits of all features.
    pub features: Vec<bool>,
    /// The bits of all labels.
    pub label: Vec<bool>,
}

/// What a cycle did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cycle {
    /// The circuit has halted: nothing changed.
    Halted,
    /// No sample was held: the circuit took the current one, and the registers did not change.
    Take,
    /// Every register got its target value; the sample was dropped if `next`.
    Run,
}

/// A circuit that runs on a stream.
#[derive(Clone, Debug)]
pub struct Simulator<'c> {
    circuit: &'c Circuit,
    registers: Vec<bool>,
    held: Option<Sample>,
    steps: u64,
    n_taken: u64,
}

impl<'c> Simulator<'c> {
    /// The circuit before its first cycle, with no sample held.
    pub fn new(circuit: &'c Circuit) -> Self {
        let registers = circuit.registers().iter().map(|register| register.initial).collect();
        Self { circuit, registers, held: None, steps: 0, n_taken: 0 }
    }

    /// The values of all registers.
    pub fn registers(&self) -> &[bool] {
        &self.registers
    }

    /// The value of one register.
    pub fn register(&self, register: RegisterId) -> bool {
        self.registers[register.index()]
    }

    /// The held sample.
    pub fn held(&self) -> Option<&Sample> {
        self.held.as_ref()
    }

    /// Number of cycles that took a sample or ran.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Number of samples taken.
    pub fn n_taken(&self) -> u64 {
        self.n_taken
    }

    /// The values of all wires for the input `query`; missing bits of the query are 0.
    ///
    /// # Errors
    /// If two operands of a sum are 1 at once.
    pub fn values(&self, query: &[bool]) -> Result<Values, NotExclusive> {
        let held = |bits: fn(&Sample) -> &Vec<bool>, i: usize| self.held.as_ref().is_some_and(|s| bits(s)[i]);
        self.circuit.evaluate(&self.registers, |input| match input {
            Input::Feature(i) => held(|sample| &sample.features, i),
            Input::Label(i) => held(|sample| &sample.label, i),
            Input::Query(i) => query.get(i).copied().unwrap_or(false),
        })
    }

    /// Whether the circuit has halted.
    ///
    /// # Errors
    /// If two operands of a sum are 1 at once.
    pub fn halted(&self) -> Result<bool, NotExclusive> {
        Ok(self.values(&[])?.get(self.circuit.halted()))
    }

    /// The output `f` for an input, whether or not the circuit has halted.
    ///
    /// # Errors
    /// If two operands of a sum are 1 at once.
    pub fn output(&self, query: &[bool]) -> Result<Vec<bool>, NotExclusive> {
        let values = self.values(query)?;
        Ok(self.circuit.output().iter().map(|&literal| values.get(literal)).collect())
    }

    /// Makes one cycle with `sample` as the current sample.
    ///
    /// # Errors
    /// If two operands of a sum are 1 at once; nothing changes then.
    ///
    /// # Panics
    /// If the sample does not have the shape of the circuit's samples.
    pub fn step(&mut self, sample: &Sample) -> Result<Cycle, NotExclusive> {
        if let Some(shape) = self.circuit.samples() {
            let found = (sample.features.len(), sample.label.len());
            assert_eq!(found, (shape.n_feature_bits(), shape.n_label_bits()), "bits of features and labels");
        }
        let values = self.values(&sample.features)?;
        if values.get(self.circuit.halted()) {
            return Ok(Cycle::Halted);
        }
        self.steps += 1;
        if self.circuit.samples().is_some() && self.held.is_none() {
            self.held = Some(sample.clone());
            self.n_taken += 1;
            return Ok(Cycle::Take);
        }
        for (value, register) in self.registers.iter_mut().zip(self.circuit.registers()) {
            *value = values.get(register.target);
        }
        if values.get(self.circuit.next()) {
            self.held = None;
        }
        Ok(Cycle::Run)
    }
}
