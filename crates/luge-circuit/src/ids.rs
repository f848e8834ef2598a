//! Typed indices and literals.

use std::{fmt, ops::Not};

use serde::{Deserialize, Serialize};

macro_rules! typed_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// The id of the `index`-th item.
            ///
            /// # Panics
            /// If there are more than 2^32 items.
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect(concat!("too many items for ", stringify!($name))))
            }

            /// The position of the item in its list.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

typed_id!(
    /// A register, counted in order of declaration.
    RegisterId
);
typed_id!(
    /// A wire: the value of one gate. Wire 0 is always false.
    WireId
);

/// A wire or its negation. Negation costs nothing. In files twice the wire, plus 1 for a negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(from = "u64", into = "u64")]
pub struct Literal {
    /// The wire.
    pub wire: WireId,
    /// Whether its negation is meant.
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

    /// The literal, or its negation where the condition holds.
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
        // A wire beyond the last is refused with the circuit.
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

impl fmt::Display for WireId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "w{}", self.0)
    }
}
