//! Fixed point: integers counted in steps of a power of two.

use super::{FormatError, MAX_BITS, Word, power_of_two};
use crate::faults::planted;

/// How numbers below 0 are written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Negatives {
    /// The highest bit counts negatively.
    TwosComplement,
    /// The highest bit is the sign of the rest.
    SignMagnitude,
}

/// Integer and fraction bits, the sign among the integer bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct FixedPoint {
    /// Bits before the point, with the sign.
    pub n_integer: u32,
    /// Bits after the point.
    pub n_fraction: u32,
    /// How numbers below 0 are written.
    pub negatives: Negatives,
}

impl Default for FixedPoint {
    /// fix:4.4.
    fn default() -> Self {
        Self { n_integer: 4, n_fraction: 4, negatives: Negatives::TwosComplement }
    }
}

impl FixedPoint {
    /// A format with these bits.
    ///
    /// # Errors
    /// Without a bit for the sign or for anything else, and with more than [`MAX_BITS`] bits.
    pub fn new(n_integer: u32, n_fraction: u32, negatives: Negatives) -> Result<Self, FormatError> {
        let n_bits = u64::from(n_integer) + u64::from(n_fraction);
        if n_integer == 0 {
            return Err(FormatError::NoSignBit);
        }
        if n_bits < 2 {
            return Err(FormatError::OnlySignBit);
        }
        if n_bits > u64::from(MAX_BITS) {
            return Err(FormatError::TooManyBits(n_bits));
        }
        Ok(Self { n_integer, n_fraction, negatives })
    }

    /// Number of bits in all.
    pub fn n_bits(&self) -> u32 {
        self.n_integer + self.n_fraction
    }

    /// The distance from one number to the next.
    pub fn step(&self) -> f64 {
        power_of_two(-exponent(self.n_fraction))
    }

    pub(super) fn n_positive(&self) -> u32 {
        self.sign_bit() - 1
    }

    pub(super) fn n_negative(&self) -> u32 {
        match self.negatives {
            Negatives::TwosComplement => self.sign_bit(),
            Negatives::SignMagnitude => self.sign_bit() - 1,
        }
    }

    fn sign_bit(&self) -> u32 {
        1 << (self.n_bits() - 1)
    }

    /// The bits nearest to a number, and whether they were not saturated.
    pub(super) fn nearest(&self, value: f64) -> (Word, bool) {
        let steps = value * power_of_two(exponent(self.n_fraction));
        let steps = match () {
            () if planted("numbers floored") => steps.floor(),
            () if planted("ties away from zero") => steps.round(),
            () => steps.round_ties_even(),
        };
        let (low, high) = (-f64::from(self.n_negative()), f64::from(self.n_positive()));
        // A whole number of at most 32 bits now, so nothing is lost.
        let clamped = steps.clamp(low, high) as i64;
        let word = match self.negatives {
            Negatives::TwosComplement => clamped as u32 & (u32::MAX >> (u32::BITS - self.n_bits())),
            Negatives::SignMagnitude if clamped < 0 => self.sign_bit() | clamped.unsigned_abs() as u32,
            Negatives::SignMagnitude => clamped as u32,
        };
        (Word(word), (low..=high).contains(&steps))
    }

    pub(super) fn decode(&self, word: Word) -> f64 {
        let (sign_bit, magnitude) = (self.sign_bit(), f64::from(word.0 & (self.sign_bit() - 1)));
        let steps = match self.negatives {
            _ if word.0 & sign_bit == 0 => magnitude,
            Negatives::TwosComplement if planted("negatives without their sign") => magnitude,
            Negatives::TwosComplement => magnitude - f64::from(sign_bit),
            Negatives::SignMagnitude => 0.0 - magnitude,
        };
        steps * self.step()
    }
}

/// A number of bits as an exponent; formats have at most [`MAX_BITS`].
pub(super) fn exponent(n_bits: u32) -> i32 {
    i32::try_from(n_bits).expect("at most 32 bits")
}
