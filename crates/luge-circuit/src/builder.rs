//! Builds circuits. Equal gates are shared; gates that are constants or copies are not created.

use std::collections::{BTreeSet, HashMap};

use crate::{Circuit, CircuitError, Gate, Input, Literal, Register, RegisterId, SampleShape, WireId};

/// A circuit under construction.
#[derive(Clone, Debug)]
pub struct Builder {
    /// Not checked yet.
    circuit: Circuit,
    /// Registers without a target so far.
    undriven: BTreeSet<RegisterId>,
    depths: Vec<usize>,
    wires: HashMap<Gate, WireId>,
}

impl Builder {
    /// A circuit without registers that takes no samples and never halts.
    pub fn new(name: impl Into<String>) -> Self {
        let circuit = Circuit {
            name: name.into(),
            samples: None,
            registers: Vec::new(),
            gates: vec![Gate::False],
            next: Literal::FALSE,
            halted: Literal::FALSE,
            output: Vec::new(),
        };
        let wires = HashMap::from([(Gate::False, WireId(0))]);
        Self { circuit, undriven: BTreeSet::new(), depths: vec![0], wires }
    }

    /// Sets the shape of the samples; a circuit without one takes no samples.
    pub fn samples(&mut self, shape: SampleShape) {
        self.circuit.samples = Some(shape);
    }

    /// Declares a register.
    pub fn register(&mut self, name: impl Into<String>, initial: bool) -> RegisterId {
        let id = RegisterId::new(self.circuit.registers.len());
        self.circuit.registers.push(Register { name: name.into(), initial, target: Literal::FALSE });
        self.undriven.insert(id);
        id
    }

    /// Sets the value that a register gets in a run cycle.
    pub fn set(&mut self, register: RegisterId, target: Literal) {
        self.undriven.remove(&register);
        self.circuit.registers[register.index()].target = target;
    }

    /// Sets the condition under which the circuit is done with the sample that it holds.
    pub fn next(&mut self, done: Literal) {
        self.circuit.next = done;
    }

    /// Sets the condition under which the circuit has halted.
    pub fn halted(&mut self, halted: Literal) {
        self.circuit.halted = halted;
    }

    /// Sets the output of the halted circuit, as bits of the labels.
    pub fn output(&mut self, bits: impl IntoIterator<Item = Literal>) {
        self.circuit.output = bits.into_iter().collect();
    }

    /// The value of a register.
    pub fn value(&mut self, register: RegisterId) -> Literal {
        self.gate(Gate::Register(register))
    }

    /// An input bit.
    pub fn input(&mut self, bit: Input) -> Literal {
        self.gate(Gate::Input(bit))
    }

    /// A bit of the features of the held sample.
    pub fn feature(&mut self, bit: usize) -> Literal {
        self.input(Input::Feature(bit))
    }

    /// A bit of the labels of the held sample.
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
        // After sorting, a wire comes right before its negation.
        if operands.contains(&Literal::FALSE) || operands.windows(2).any(|pair| pair[0] == !pair[1]) {
            return Literal::FALSE;
        }
        match operands[..] {
            [] => Literal::TRUE,
            [only] => only,
            _ => self.gate(Gate::And(operands)),
        }
    }

    /// The sum of operands of which at most one is 1 at any time. The simulator reports an error if more are.
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

    /// The circuit without unused gates. Wires are renumbered: literals of the builder do not refer to it.
    ///
    /// # Errors
    /// If a register has no target, a name is invalid or used twice, an input does not exist, a register depends on the
    /// query, or the output on the held sample.
    pub fn build(self) -> Result<Circuit, CircuitError> {
        let Self { circuit, undriven, .. } = self;
        match undriven.first() {
            Some(register) => Err(CircuitError::Undriven(circuit.registers[register.index()].name.clone())),
            None => circuit.checked().map(Circuit::trimmed),
        }
    }

    /// Number of wires so far.
    #[must_use]
    pub fn n_wires(&self) -> usize {
        self.circuit.gates.len()
    }

    /// The number of layers up to a wire, as [`Circuit::depths`] counts them.
    pub fn depth(&self, literal: Literal) -> usize {
        self.depths[literal.wire.index()]
    }

    pub(crate) fn gate(&mut self, gate: Gate) -> Literal {
        let Self { circuit, depths, wires, .. } = self;
        let wire = *wires.entry(gate).or_insert_with_key(|gate| {
            depths.push(gate.depth(depths));
            circuit.gates.push(gate.clone());
            WireId::new(circuit.gates.len() - 1)
        });
        wire.into()
    }
}
