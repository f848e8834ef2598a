//! Typed indices and literals.

use std::ops::Not;

use luge_machine::typed_id;
use serde::{Deserialize, Serialize};

typed_id!(
    /// A register, numbered in order of declaration.
    #[derive(Serialize, Deserialize)]
    RegisterId(u32)
);
typed_id!(
    /// A wire: the value of one gate. Wire 0 is always false.
    #[derive(Serialize, Deserialize)]
    WireId(u32)
);

/// A wire or its negation; negation costs nothing. Files store it as one number: twice the wire, plus 1 if negated.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(from = "u64", into = "u64")]
pub struct Literal {
    /// The wire.
    pub wire: WireId,
    /// Whether the literal is the negation of the wire.
    pub negated: bool,
}

impl Literal {
    /// The constant 0.
    pub const FALSE: Self = Self { wire: WireId(0), negated: false };
    /// The constant 1.
    pub const TRUE: Self = Self { wire: WireId(0), negated: true };

    /// A constant.
    pub fn constant(value: bool) -> Self {
        Self { wire: WireId(0), negated: value }
    }

    /// The literal, or its negation if the condition holds.
    pub(crate) fn negated_if(self, condition: bool) -> Self {
        Self { negated: self.negated != condition, ..self }
    }

    /// Its value, if it is a constant.
    pub fn as_constant(self) -> Option<bool> {
        (self.wire == WireId(0)).then_some(self.negated)
    }
}

impl From<Literal> for u64 {
    fn from(literal: Literal) -> Self {
        Self::from(literal.wire.0) << 1 | Self::from(literal.negated)
    }
}

impl From<u64> for Literal {
    fn from(code: u64) -> Self {
        // A wire number that is too large is rejected when the circuit is checked.
        Self { wire: WireId(u32::try_from(code >> 1).unwrap_or(u32::MAX)), negated: code & 1 == 1 }
    }
}

impl From<WireId> for Literal {
    fn from(wire: WireId) -> Self {
        Self { wire, negated: false }
    }
}

impl Not for Literal {
    type Output = Self;

    fn not(self) -> Self {
        Self { negated: !self.negated, ..self }
    }
}
