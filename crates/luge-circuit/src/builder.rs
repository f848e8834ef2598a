//! Builds circuits. Equal gates are shared, and gates that are constants or copies are left out.

use std::collections::HashMap;

use crate::{Circuit, CircuitError, Gate, Input, Literal, Register, RegisterId, SampleShape, WireId};

/// A circuit that grows.
#[derive(Clone, Debug)]
pub struct Builder {
    name: String,
    samples: Option<SampleShape>,
    registers: Vec<(String, bool, Option<Literal>)>,
    gates: Vec<Gate>,
    depths: Vec<usize>,
    known: HashMap<Gate, WireId>,
    next: Literal,
    halted: Literal,
    output: Vec<Literal>,
}

impl Builder {
    /// A circuit without registers that takes no samples and never halts.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            samples: None,
            registers: Vec::new(),
            gates: vec![Gate::False],
            depths: vec![0],
            known: HashMap::from([(Gate::False, WireId(0))]),
            next: Literal::FALSE,
            halted: Literal::FALSE,
            output: Vec::new(),
        }
    }

    /// Says what samples look like; without this the circuit takes none.
    pub fn samples(&mut self, shape: SampleShape) {
        self.samples = Some(shape);
    }

    /// Declares a register.
    pub fn register(&mut self, name: impl Into<String>, initial: bool) -> RegisterId {
        self.registers.push((name.into(), initial, None));
        RegisterId::new(self.registers.len() - 1)
    }

    /// Says what a run cycle makes of a register.
    pub fn set(&mut self, register: RegisterId, target: Literal) {
        self.registers[register.index()].2 = Some(target);
    }

    /// Says when the circuit is done with the sample that it holds.
    pub fn next(&mut self, done: Literal) {
        self.next = done;
    }

    /// Says when the circuit has halted.
    pub fn halted(&mut self, halted: Literal) {
        self.halted = halted;
    }

    /// Says what the circuit outputs once halted, as bits of a label.
    pub fn output(&mut self, bits: impl IntoIterator<Item = Literal>) {
        self.output = bits.into_iter().collect();
    }

    /// The value of a register.
    pub fn value(&mut self, register: RegisterId) -> Literal {
        self.gate(Gate::Register(register))
    }

    /// A bit from outside.
    pub fn input(&mut self, bit: Input) -> Literal {
        self.gate(Gate::Input(bit))
    }

    /// A bit of the features of the sample that is held.
    pub fn feature(&mut self, bit: usize) -> Literal {
        self.input(Input::Feature(bit))
    }

    /// A bit of the labels of the sample that is held.
    pub fn label(&mut self, bit: usize) -> Literal {
        self.input(Input::Label(bit))
    }

    /// A bit of the features of the query, the network's current input.
    pub fn query(&mut self, bit: usize) -> Literal {
        self.input(Input::Query(bit))
    }

    /// 1 if all operands are 1.
    pub fn and(&mut self, operands: impl IntoIterator<Item = Literal>) -> Literal {
        let mut operands: Vec<Literal> = operands.into_iter().filter(|&o| o != Literal::TRUE).collect();
        operands.sort_unstable();
        operands.dedup();
        // Sorted, a wire stands right before its negation.
        if operands.contains(&Literal::FALSE) || operands.windows(2).any(|pair| pair[0] == !pair[1]) {
            return Literal::FALSE;
        }
        match operands[..] {
            [] => Literal::TRUE,
            [only] => only,
            _ => self.gate(Gate::And(operands)),
        }
    }

    /// The sum of operands of which at most one is 1 at any time. The simulator refuses to run a circuit where more are.
    pub fn sum(&mut self, operands: impl IntoIterator<Item = Literal>) -> Literal {
        let mut operands: Vec<Literal> = operands.into_iter().filter(|&o| o != Literal::FALSE).collect();
        operands.sort_unstable();
        match operands[..] {
            [] => Literal::FALSE,
            [only] => only,
            // A wire and its negation: the others must be 0.
            [one, other] if one == !other => Literal::TRUE,
            _ => self.gate(Gate::Sum(operands)),
        }
    }

    /// 1 if an odd number of operands is 1.
    pub fn parity(&mut self, operands: impl IntoIterator<Item = Literal>) -> Literal {
        let mut odd = false;
        let mut wires: Vec<WireId> = Vec::new();
        for operand in operands {
            odd ^= operand.negated;
            wires.push(operand.wire);
        }
        wires.retain(|&wire| wire != WireId(0));
        wires.sort_unstable();
        let mut single: Vec<Literal> = Vec::with_capacity(wires.len());
        for wire in wires {
            if single.last() == Some(&wire.into()) {
                single.pop();
            } else {
                single.push(wire.into());
            }
        }
        let even = match single[..] {
            [] => Literal::FALSE,
            [only] => only,
            _ => self.gate(Gate::Parity(single)),
        };
        even.negated_if(odd)
    }

    /// The circuit, without gates that nothing reads: literals of the builder mean nothing to it.
    ///
    /// # Errors
    /// If a register has no target, a name is used twice or is not a name, an input does not exist, memory depends on the input
    /// in front, or the output on the sample that is held.
    pub fn build(self) -> Result<Circuit, CircuitError> {
        let driven = |(name, initial, target): (String, bool, Option<Literal>)| match target {
            Some(target) => Ok(Register { name, initial, target }),
            None => Err(CircuitError::Undriven(name)),
        };
        let registers = self.registers.into_iter().map(driven).collect::<Result<_, _>>()?;
        let Self { name, samples, gates, next, halted, output, .. } = self;
        Circuit { name, samples, registers, gates, next, halted, output }.checked().map(Circuit::trimmed)
    }

    /// Wires so far.
    #[must_use]
    pub fn n_wires(&self) -> usize {
        self.gates.len()
    }

    /// The layers of logic before a wire, as [`Circuit::depths`] counts them.
    pub fn depth(&self, literal: Literal) -> usize {
        self.depths[literal.wire.index()]
    }

    pub(crate) fn gate(&mut self, gate: Gate) -> Literal {
        if let Some(&wire) = self.known.get(&gate) {
            return wire.into();
        }
        let wire = WireId::new(self.gates.len());
        self.depths.push(gate.depth(&self.depths));
        self.gates.push(gate.clone());
        self.known.insert(gate, wire);
        wire.into()
    }
}
