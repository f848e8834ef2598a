//! A circuit as readable text: one line for each gate and register.

use std::fmt;

use crate::{Circuit, Code, Gate, Input, Literal, SampleShape, WireId};

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Feature(bit) => write!(f, "x[{bit}]"),
            Self::Label(bit) => write!(f, "y[{bit}]"),
            Self::Query(bit) => write!(f, "query[{bit}]"),
        }
    }
}

/// `16 bit, label bit`, `4 fix:4.4, 3 labels fix:2.2`.
impl fmt::Display for SampleShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, ", self.n_features, self.feature)?;
        match self.n_labels {
            1 => write!(f, "label {}", self.label),
            n_labels => write!(f, "{n_labels} labels {}", self.label),
        }
    }
}

impl SampleShape {
    /// Parses what [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Option<Self> {
        let (n_features, codes) = text.split_once(' ')?;
        let (feature, labels) = codes.split_once(", ")?;
        let (n_labels, label) = match labels.strip_prefix("label ") {
            Some(label) => (1, label),
            None => labels.split_once(" labels ").and_then(|(n, label)| Some((n.parse().ok()?, label)))?,
        };
        let n_features = n_features.parse().ok()?;
        let shape = Self { n_features, feature: Code::parse(feature)?, n_labels, label: Code::parse(label)? };
        let fits = |n: usize, code: Code| n.checked_mul(code.n_bits()).is_some();
        (fits(n_features, shape.feature) && fits(n_labels, shape.label)).then_some(shape)
    }
}

impl Code {
    /// Parses `bit` or `fix:I.F`, with at most 32 bits.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "bit" {
            return Some(Self::Bit);
        }
        let (n_integer, n_fraction) = text.strip_prefix("fix:")?.split_once('.')?;
        let (n_integer, n_fraction) = (n_integer.parse().ok()?, n_fraction.parse().ok()?);
        let fits = |n_bits: u32| (1..=32).contains(&n_bits);
        (n_integer > 0 && fits(u32::checked_add(n_integer, n_fraction)?))
            .then_some(Self::Fixed { n_integer, n_fraction })
    }
}

impl Circuit {
    /// A literal, named after its register or input if it has one.
    fn named(&self, literal: Literal) -> String {
        if let Some(value) = literal.as_constant() {
            return u8::from(value).to_string();
        }
        let sign = if literal.negated { "!" } else { "" };
        match &self.gates[literal.wire.index()] {
            Gate::Register(register) => format!("{sign}{}", self.registers[register.index()].name),
            Gate::Input(input) => format!("{sign}{input}"),
            _ => format!("{sign}w{}", literal.wire),
        }
    }
}

impl fmt::Display for Circuit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "circuit {}", self.name())?;
        if let Some(shape) = self.samples() {
            writeln!(f, "samples {shape}")?;
        }
        for register in self.registers() {
            writeln!(f, "register {} = {}", register.name, u8::from(register.initial))?;
        }
        let list = |operands: &[Literal], between: &str| {
            operands.iter().map(|&operand| self.named(operand)).collect::<Vec<_>>().join(between)
        };
        for (index, gate) in self.gates().iter().enumerate() {
            let wire = WireId::new(index);
            match gate {
                Gate::False | Gate::Register(_) | Gate::Input(_) => {}
                Gate::And(operands) => writeln!(f, "w{wire} = {}", list(operands, " & "))?,
                Gate::Sum(operands) => writeln!(f, "w{wire} = {}", list(operands, " + "))?,
                Gate::Parity(operands) => writeln!(f, "w{wire} = parity({})", list(operands, ", "))?,
                Gate::Bit(total, bit) => {
                    write!(f, "w{wire} = bit({bit}, {}", total.constant)?;
                    for (&operand, weight) in total.operands.iter().zip(&total.weights) {
                        write!(f, " + {weight} {}", self.named(operand))?;
                    }
                    writeln!(f, ")")?;
                }
            }
        }
        for register in self.registers() {
            writeln!(f, "{}' = {}", register.name, self.named(register.target))?;
        }
        writeln!(f, "next = {}", self.named(self.next()))?;
        writeln!(f, "halted = {}", self.named(self.halted()))?;
        if self.output().is_empty() { Ok(()) } else { writeln!(f, "f = {}", list(self.output(), ", ")) }
    }
}
