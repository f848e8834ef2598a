//! The circuit: registers, inputs, gates and outputs; validation and evaluation.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::{Literal, RegisterId, Total, WireId};

/// The encoding of a feature or a label as bits, lowest bit first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Code {
    /// One bit: 0 means -1, 1 means 1.
    Bit,
    /// Two's complement with `n_integer + n_fraction` bits; the sign is one of the `n_integer`.
    Fixed {
        /// Bits before the point, including the sign.
        n_integer: u32,
        /// Bits after the point.
        n_fraction: u32,
    },
}

impl Code {
    /// Number of bits.
    pub fn n_bits(self) -> usize {
        match self {
            Self::Bit => 1,
            Self::Fixed { n_integer, n_fraction } => (n_integer + n_fraction) as usize,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bit => f.write_str("bit"),
            Self::Fixed { n_integer, n_fraction } => write!(f, "fix:{n_integer}.{n_fraction}"),
        }
    }
}

/// What the samples of a stream look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SampleShape {
    /// Number of features.
    pub n_features: usize,
    /// The encoding of each feature. Bit `j` of feature `i` is bit `i * n_bits + j` of the sample.
    pub feature: Code,
    /// Number of labels.
    #[serde(default = "one")]
    pub n_labels: usize,
    /// The encoding of each label. Bit `j` of label `i` is bit `i * n_bits + j` of the labels.
    pub label: Code,
}

/// The default for files that predate several labels.
fn one() -> usize {
    1
}

impl SampleShape {
    /// Number of bits of all features.
    pub fn n_feature_bits(&self) -> usize {
        self.n_features * self.feature.n_bits()
    }

    /// Number of bits of all labels.
    pub fn n_label_bits(&self) -> usize {
        self.n_labels * self.label.n_bits()
    }
}

/// An input bit of the circuit.
///
/// While no sample is held, all bits of the features and labels are 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Input {
    /// `x[i]`: a bit of the features of the held sample.
    Feature(usize),
    /// `y`, or `y[i]` if there are several: a bit of its labels.
    Label(usize),
    /// `query[i]`: a bit of the features of the network's current input.
    Query(usize),
}

/// The gate that drives a wire.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Gate {
    /// The constant 0: wire 0 and no other.
    False,
    /// The value of a register.
    Register(RegisterId),
    /// An input bit.
    Input(Input),
    /// 1 if all operands are 1: one unit, `ReLU(2 sum a - 2r + 1)`.
    And(Vec<Literal>),
    /// The sum of operands of which at most one is 1 at any time: no unit, only weights in the next layer.
    Sum(Vec<Literal>),
    /// 1 if an odd number of operands is 1: two units per operand.
    Parity(Vec<Literal>),
    /// A bit of a number, where bit 0 is the lowest: two units per threshold of its digit.
    Bit(Arc<Total>, u32),
}

impl Gate {
    /// The operands of the gate.
    pub fn operands(&self) -> &[Literal] {
        match self {
            Self::False | Self::Register(_) | Self::Input(_) => &[],
            Self::And(operands) | Self::Sum(operands) | Self::Parity(operands) => operands,
            Self::Bit(total, _) => &total.operands,
        }
    }
}

/// One bit of memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Register {
    /// Unique among the registers of a circuit.
    pub name: String,
    /// Its value before the first cycle.
    pub initial: bool,
    /// The value that it gets in a run cycle.
    pub target: Literal,
}

/// Why registers and gates are not a valid circuit.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CircuitError {
    /// A name is empty or not a single word.
    #[error(
        "`{0}` is not a name: a name is one word of letters, digits and punctuation except `=`, `&`, `+`, `!`, `,`, `(`, `)`, `'` and `#`"
    )]
    Name(String),
    /// Two registers have one name.
    #[error("two registers are called `{0}`")]
    DuplicateName(String),
    /// A register was declared but its target was never set.
    #[error("nothing drives register `{0}`")]
    Undriven(String),
    /// Wire 0 is not the constant, or another wire is.
    #[error("wire w{0} is wrong: wire 0 must be the constant, and no other wire may be")]
    Constant(WireId),
    /// A gate reads a wire that does not come before it: the logic could be cyclic.
    #[error("gate w{wire} reads w{operand}, which does not come before it")]
    NotBefore {
        /// The gate.
        wire: WireId,
        /// The wire that it reads.
        operand: WireId,
    },
    /// Something refers to a wire or register that does not exist.
    #[error("{0} reads a wire or register that does not exist")]
    Missing(String),
    /// An input bit does not exist: the bit, and what exists instead, in words.
    #[error("{0} is read, but {1}")]
    NoSuchInput(Input, String),
    /// A register, `next` or `halted` depends on this bit of the query, which is not part of a sample.
    #[error("{0} depends on {1}, but only `f` may depend on the query")]
    LooksAhead(String, Input),
    /// The output must not depend on the held sample.
    #[error("`f` depends on {0}, but it may depend only on registers and on the query")]
    LooksBack(Input),
    /// A sample reaches the network through the error of its labels, so there must be one.
    #[error("samples have no label, and a circuit needs at least one")]
    NoLabel,
    /// The output and the labels have different numbers of bits.
    #[error("`f` has {n_bits} bits, but the labels of a sample have {expected}")]
    OutputWidth {
        /// Bits of `f`.
        n_bits: usize,
        /// Bits of the labels.
        expected: usize,
    },
}

/// Whether a character may occur in a name.
fn in_name(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !"=&+!,()'#".contains(c)
}

/// The name with `_` in place of characters that names cannot have.
pub(crate) fn valid_name(name: &str) -> String {
    if name.is_empty() { "_".to_owned() } else { name.replace(|c| !in_name(c), "_") }
}

/// Several operands of a sum were 1 at the same time.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{n_ones} operands of the sum w{wire} are 1 at once; at most one may be")]
pub struct NotExclusive {
    /// The sum.
    pub wire: WireId,
    /// Number of operands that are 1.
    pub n_ones: usize,
}

/// The values of all wires at one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Values(Vec<bool>);

impl Values {
    /// The value of a wire or of its negation.
    pub fn get(&self, literal: Literal) -> bool {
        self.0[literal.wire.index()] != literal.negated
    }
}

/// A synchronous circuit; always valid.
///
/// Each gate reads only gates that come before it. Whether the operands of sums are exclusive is not checked in advance:
/// evaluation reports it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct Circuit {
    pub(crate) name: String,
    pub(crate) samples: Option<SampleShape>,
    pub(crate) registers: Vec<Register>,
    pub(crate) gates: Vec<Gate>,
    pub(crate) next: Literal,
    pub(crate) halted: Literal,
    pub(crate) output: Vec<Literal>,
}

/// A circuit as stored in a file, not yet checked.
#[derive(Deserialize)]
struct Parts {
    name: String,
    samples: Option<SampleShape>,
    registers: Vec<Register>,
    gates: Vec<Gate>,
    next: Literal,
    halted: Literal,
    output: Vec<Literal>,
}

impl TryFrom<Parts> for Circuit {
    type Error = CircuitError;

    fn try_from(parts: Parts) -> Result<Self, CircuitError> {
        let Parts { name, samples, registers, mut gates, next, halted, output } = parts;
        // A file repeats a number for each of its bits; in memory, as in a builder, the bits share it.
        let mut numbers: BTreeMap<Arc<Total>, Arc<Total>> = BTreeMap::new();
        for gate in &mut gates {
            if let Gate::Bit(total, _) = gate {
                *total = Arc::clone(numbers.entry(Arc::clone(total)).or_insert_with(|| Arc::clone(total)));
            }
        }
        Self { name, samples, registers, gates, next, halted, output }.checked()
    }
}

impl Circuit {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The shape of its samples; `None` for a circuit that takes none and runs until it halts.
    pub fn samples(&self) -> Option<SampleShape> {
        self.samples
    }

    /// The registers in order.
    pub fn registers(&self) -> &[Register] {
        &self.registers
    }

    /// The gate of each wire. Each gate reads only earlier ones.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// `next`: the circuit is done with the held sample.
    pub fn next(&self) -> Literal {
        self.next
    }

    /// `halted`: nothing changes anymore.
    pub fn halted(&self) -> Literal {
        self.halted
    }

    /// `f`: the output of the halted circuit, as bits of the labels; empty if it has none.
    pub fn output(&self) -> &[Literal] {
        &self.output
    }

    /// The values of all wires, given those of the registers and inputs.
    ///
    /// # Errors
    /// If two operands of a sum are 1 at once.
    pub fn evaluate(
        &self,
        registers: &[bool],
        input: impl Fn(Input) -> bool,
    ) -> Result<Values, NotExclusive> {
        let mut values = Values(Vec::with_capacity(self.gates.len()));
        // The bits of a number are consecutive gates.
        let mut number: Option<(&Arc<Total>, u64)> = None;
        for (index, gate) in self.gates.iter().enumerate() {
            let ones = |operands: &[Literal]| operands.iter().filter(|&&literal| values.get(literal)).count();
            let value = match gate {
                Gate::False => false,
                Gate::Register(register) => registers[register.index()],
                Gate::Input(bit) => input(*bit),
                Gate::And(operands) => operands.iter().all(|&literal| values.get(literal)),
                Gate::Parity(operands) => ones(operands) % 2 == 1,
                Gate::Sum(operands) => match ones(operands) {
                    n_ones @ (0 | 1) => n_ones == 1,
                    n_ones => return Err(NotExclusive { wire: WireId::new(index), n_ones }),
                },
                Gate::Bit(total, bit) => {
                    let known = number.filter(|(last, _)| Arc::ptr_eq(last, total));
                    let value = known.map_or_else(|| total.value(|o| values.get(o)), |(_, value)| value);
                    number = Some((total, value));
                    value >> bit & 1 == 1
                }
            };
            values.0.push(value);
        }
        Ok(values)
    }

    pub(crate) fn checked(self) -> Result<Self, CircuitError> {
        self.check_names()?;
        if self.samples.is_some_and(|shape| shape.n_labels == 0) {
            return Err(CircuitError::NoLabel);
        }
        for (index, gate) in self.gates.iter().enumerate() {
            self.check_gate(WireId::new(index), gate)?;
        }
        let known = |what: &str, literal: Literal| match self.gates.get(literal.wire.index()) {
            Some(_) => Ok(()),
            None => Err(CircuitError::Missing(what.to_owned())),
        };
        let state = self.registers.iter().map(|r| (r.name.as_str(), r.target));
        let state: Vec<_> = state.chain([("next", self.next), ("halted", self.halted)]).collect();
        state.iter().try_for_each(|&(what, literal)| known(what, literal))?;
        self.output.iter().try_for_each(|&literal| known("f", literal))?;

        let query = self.dependence(|input| matches!(input, Input::Query(_)));
        let ahead =
            |&(what, literal): &(&str, Literal)| Some((what.to_owned(), query[literal.wire.index()]?));
        if let Some((what, input)) = state.iter().find_map(ahead) {
            return Err(CircuitError::LooksAhead(format!("`{what}`"), input));
        }
        let held = self.dependence(|input| !matches!(input, Input::Query(_)));
        if let Some(input) = self.output.iter().find_map(|literal| held[literal.wire.index()]) {
            return Err(CircuitError::LooksBack(input));
        }
        let expected = self.samples.map_or(1, |shape| shape.n_label_bits());
        if !self.output.is_empty() && self.output.len() != expected {
            return Err(CircuitError::OutputWidth { n_bits: self.output.len(), expected });
        }
        Ok(self)
    }

    fn check_names(&self) -> Result<(), CircuitError> {
        let mut names = BTreeSet::new();
        let word = |name: &str| !name.is_empty() && name.chars().all(in_name);
        for name in self.registers.iter().map(|register| &register.name) {
            if !word(name) {
                return Err(CircuitError::Name(name.clone()));
            }
            if !names.insert(name) {
                return Err(CircuitError::DuplicateName(name.clone()));
            }
        }
        if word(&self.name) { Ok(()) } else { Err(CircuitError::Name(self.name.clone())) }
    }

    fn check_gate(&self, wire: WireId, gate: &Gate) -> Result<(), CircuitError> {
        if (*gate == Gate::False) != (wire == WireId(0)) {
            return Err(CircuitError::Constant(wire));
        }
        match gate {
            Gate::Input(input) => self.check_input(*input)?,
            Gate::Register(register) if register.index() < self.registers.len() => {}
            Gate::Bit(total, bit) if total.is_valid() && *bit < total.n_bits() => {}
            Gate::Register(_) | Gate::Bit(..) => {
                return Err(CircuitError::Missing(format!("gate w{wire}")));
            }
            _ => {}
        }
        match gate.operands().iter().find(|operand| operand.wire >= wire) {
            Some(operand) => Err(CircuitError::NotBefore { wire, operand: operand.wire }),
            None => Ok(()),
        }
    }

    fn check_input(&self, input: Input) -> Result<(), CircuitError> {
        let refused = |present: String| Err(CircuitError::NoSuchInput(input, present));
        let Some(shape) = self.samples else {
            return refused("the circuit takes no samples".to_owned());
        };
        match input {
            Input::Feature(bit) | Input::Query(bit) if bit >= shape.n_feature_bits() => {
                refused(format!("a sample has {} bits", shape.n_feature_bits()))
            }
            Input::Label(bit) if bit >= shape.n_label_bits() => {
                refused(format!("the labels have {} bits", shape.n_label_bits()))
            }
            _ => Ok(()),
        }
    }

    /// For each wire one of the `chosen` inputs that it depends on, if there are any.
    fn dependence(&self, chosen: impl Fn(Input) -> bool) -> Vec<Option<Input>> {
        let mut found: Vec<Option<Input>> = Vec::with_capacity(self.gates.len());
        for gate in &self.gates {
            let input = match gate {
                Gate::Input(input) => chosen(*input).then_some(*input),
                _ => gate.operands().iter().find_map(|operand| found[operand.wire.index()]),
            };
            found.push(input);
        }
        found
    }
}
