//! The circuit: registers, inputs, gates, outputs; what makes it valid; what its wires carry.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::{Literal, RegisterId, Total, WireId};

/// How a feature or a label is written as bits, the lowest bit first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Code {
    /// One bit: 0 stands for -1, 1 for 1.
    Bit,
    /// `n_integer + n_fraction` bits of two's complement; the sign is one of the `n_integer`.
    Fixed {
        /// Bits before the point, the sign included.
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
    /// How each feature is written. Bit `j` of feature `i` is bit `i * n_bits + j` of the sample.
    pub feature: Code,
    /// Number of labels.
    #[serde(default = "one")]
    pub n_labels: usize,
    /// How each label is written. Bit `j` of label `i` is bit `i * n_bits + j` of the labels.
    pub label: Code,
}

/// What files from before there could be several labels mean.
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

/// A bit that comes from outside the circuit.
///
/// While no sample is held, all bits of features and label are 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Input {
    /// `x[i]`: a bit of the features of the sample that is held.
    Feature(usize),
    /// `y`, or `y[i]` where there are several: a bit of its labels.
    Label(usize),
    /// `query[i]`: a bit of the features of the network's current input.
    Query(usize),
}

/// What drives a wire.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Gate {
    /// The constant 0: wire 0 and no other.
    False,
    /// The value of a register.
    Register(RegisterId),
    /// A bit from outside.
    Input(Input),
    /// 1 if all operands are 1: one unit, `ReLU(2 sum a - 2r + 1)`.
    And(Vec<Literal>),
    /// The sum of operands of which at most one is 1 at any time: no unit, only weights of the next layer.
    Sum(Vec<Literal>),
    /// 1 if an odd number of operands is 1: two units for each operand.
    Parity(Vec<Literal>),
    /// A bit of a number, the lowest is bit 0: two units for each threshold of its digit.
    Bit(#[serde(with = "crate::total::shared")] Arc<Total>, u32),
}

impl Gate {
    /// What the gate reads.
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
    /// The value that a run cycle gives it.
    pub target: Literal,
}

/// Why registers and gates are not a circuit.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CircuitError {
    /// A name is missing, or is not a single word.
    #[error(
        "`{0}` is not a name: a name is one word of letters, digits and punctuation except `=`, `&`, `+`, `!`, `,`, `(`, `)`, `'` and `#`"
    )]
    Name(String),
    /// Two registers have one name.
    #[error("two registers are called `{0}`")]
    DuplicateName(String),
    /// A register was declared and its target never said.
    #[error("nothing drives register `{0}`")]
    Undriven(String),
    /// Wire 0 is not the constant, or another wire is.
    #[error("wire {0:?} is the constant where it must not be, or is not where it must")]
    Constant(WireId),
    /// A gate reads a wire that does not come before it, so that logic could run in a circle.
    #[error("gate {wire} reads {operand}, which does not come before it")]
    NotBefore {
        /// The gate.
        wire: WireId,
        /// What it reads.
        operand: WireId,
    },
    /// Something refers to a wire or register that is not there.
    #[error("{0} reads a wire or register that does not exist")]
    Missing(String),
    /// An input bit does not exist.
    #[error("{input} is read, but {present}")]
    NoSuchInput {
        /// The bit.
        input: Input,
        /// What there is.
        present: String,
    },
    /// Memory must not depend on the query, which belongs to no sample yet.
    #[error("{what} depends on {input}, but only `f` may depend on the query")]
    LooksAhead {
        /// A register, `next` or `halted`.
        what: String,
        /// A bit it depends on.
        input: Input,
    },
    /// The output must not depend on the sample that is held.
    #[error("`f` depends on {0}, but it may depend only on registers and on the query")]
    LooksBack(Input),
    /// What is taken comes through the error of a label.
    #[error("samples have no label, and a circuit needs at least one")]
    NoLabel,
    /// The output has another number of bits than the labels.
    #[error("`f` has {n_bits} bits, but the labels of a sample have {expected}")]
    OutputWidth {
        /// Bits of `f`.
        n_bits: usize,
        /// Bits of the labels.
        expected: usize,
    },
}

/// Whether a character may stand in a name.
pub(crate) fn in_name(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !"=&+!,()'#".contains(c)
}

/// Two operands of a sum were 1 at once.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{n_ones} operands of the sum {wire} are 1 at once; at most one may be")]
pub struct NotExclusive {
    /// The sum.
    pub wire: WireId,
    /// How many of its operands are 1.
    pub n_ones: usize,
}

/// The values of all wires in one situation.
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
/// Gates stand in an order in which each reads only earlier ones. The only thing that validity leaves open is whether sums are
/// exclusive: evaluation checks it.
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

/// A circuit as a file has it, not yet checked.
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
        // A file repeats a number at each of its bits; here, as in a builder, they share it.
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

    /// What its samples look like; `None` for a circuit that takes none, and runs until it halts.
    pub fn samples(&self) -> Option<SampleShape> {
        self.samples
    }

    /// The registers in order.
    pub fn registers(&self) -> &[Register] {
        &self.registers
    }

    /// What drives each wire, in an order in which gates read only earlier ones.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// What drives a wire.
    pub fn gate(&self, wire: WireId) -> &Gate {
        &self.gates[wire.index()]
    }

    /// `next`: the circuit is done with the sample that it holds.
    pub fn next(&self) -> Literal {
        self.next
    }

    /// `halted`: nothing changes any more.
    pub fn halted(&self) -> Literal {
        self.halted
    }

    /// `f`: the output once halted, as bits of the labels; empty if the circuit has none.
    pub fn output(&self) -> &[Literal] {
        &self.output
    }

    /// The values of all wires, given the registers and what each input carries.
    ///
    /// # Errors
    /// If two operands of a sum are 1 at once.
    pub fn evaluate(
        &self,
        registers: &[bool],
        input: impl Fn(Input) -> bool,
    ) -> Result<Values, NotExclusive> {
        let mut values = Values(Vec::with_capacity(self.gates.len()));
        // Bits of one number stand side by side.
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
        let memory = self.registers.iter().map(|r| (r.name.as_str(), r.target));
        let memory: Vec<_> = memory.chain([("next", self.next), ("halted", self.halted)]).collect();
        memory.iter().try_for_each(|&(what, literal)| known(what, literal))?;
        self.output.iter().try_for_each(|&literal| known("f", literal))?;

        let query = self.dependence(|input| matches!(input, Input::Query(_)));
        let ahead =
            |&(what, literal): &(&str, Literal)| Some((what.to_owned(), query[literal.wire.index()]?));
        if let Some((what, input)) = memory.iter().find_map(ahead) {
            return Err(CircuitError::LooksAhead { what: format!("`{what}`"), input });
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
            Gate::Register(register) if register.index() >= self.registers.len() => {
                return Err(CircuitError::Missing(format!("gate {wire}")));
            }
            Gate::Input(input) => self.check_input(*input)?,
            Gate::Bit(total, bit) if !total.is_valid() || *bit >= total.n_bits() => {
                return Err(CircuitError::Missing(format!("gate {wire}")));
            }
            _ => {}
        }
        match gate.operands().iter().find(|operand| operand.wire >= wire) {
            Some(operand) => Err(CircuitError::NotBefore { wire, operand: operand.wire }),
            None => Ok(()),
        }
    }

    fn check_input(&self, input: Input) -> Result<(), CircuitError> {
        let refused = |present: String| Err(CircuitError::NoSuchInput { input, present });
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

    /// For each wire one of the `chosen` inputs that it depends on, if there is one.
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
