//! Small floats: sign, biased exponent, mantissa with a leading 1 that is not written.

use crate::faults::planted;

use super::{FormatError, MAX_BITS, MAX_EXPONENT_BITS, Word, fixed::exponent, power_of_two};

/// Exponent and mantissa bits; the sign comes on top.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct SmallFloat {
    /// Bits of the exponent.
    pub n_exponent: u32,
    /// Bits of the mantissa, without the leading 1.
    pub n_mantissa: u32,
}

impl SmallFloat {
    /// A format with these bits.
    ///
    /// # Errors
    /// Without exponent bits or with more than [`MAX_EXPONENT_BITS`], and with more than [`MAX_BITS`] bits in all.
    pub fn new(n_exponent: u32, n_mantissa: u32) -> Result<Self, FormatError> {
        if !(1..=MAX_EXPONENT_BITS).contains(&n_exponent) {
            return Err(FormatError::ExponentBits(n_exponent));
        }
        let n_bits = 1 + u64::from(n_exponent) + u64::from(n_mantissa);
        if n_bits > u64::from(MAX_BITS) {
            return Err(FormatError::TooManyBits(n_bits));
        }
        Ok(Self { n_exponent, n_mantissa })
    }

    /// Number of bits in all.
    pub fn n_bits(&self) -> u32 {
        1 + self.n_exponent + self.n_mantissa
    }

    /// What is subtracted from the written exponent: `2^(E-1) - 1`.
    pub fn bias(&self) -> i32 {
        (1 << (self.n_exponent - 1)) - 1
    }

    /// The largest written exponent: `2^E - 1`.
    pub fn largest_exponent(&self) -> i32 {
        (1 << self.n_exponent) - 1
    }

    /// The power of two that a written exponent stands for.
    pub(crate) fn scale(&self, written: i32) -> f64 {
        power_of_two(written - self.bias())
    }

    pub(super) fn n_magnitudes(&self) -> u32 {
        self.largest_code() - self.hidden_one() + 1
    }

    /// Ranks pass over the codes with exponent 0.
    pub(super) fn magnitude(&self, rank: u32) -> f64 {
        if rank == 0 { 0.0 } else { self.decode(Word(rank - 1 + self.hidden_one())) }
    }

    /// The bits of the smallest number above 0, and the weight of the leading 1 among mantissa bits.
    fn hidden_one(&self) -> u32 {
        1 << self.n_mantissa
    }

    /// The bits of the largest number.
    fn largest_code(&self) -> u32 {
        self.sign_bit() - 1
    }

    fn sign_bit(&self) -> u32 {
        1 << (self.n_exponent + self.n_mantissa)
    }

    /// The bits nearest to a number, and whether they were not saturated.
    pub(super) fn nearest(&self, value: f64) -> (Word, bool) {
        let nearest = self.nearest_magnitude(value.abs());
        let code = nearest.unwrap_or(self.largest_code());
        let sign = if value < 0.0 && code > 0 { self.sign_bit() } else { 0 };
        (Word(sign | code), nearest.is_some())
    }

    /// Exponent and mantissa bits, unless they would need a larger exponent.
    fn nearest_magnitude(&self, magnitude: f64) -> Option<u32> {
        let smallest = self.scale(1);
        if magnitude < smallest {
            return Some(if magnitude > smallest / 2.0 { self.hidden_one() } else { 0 });
        }
        // The exponent of a normal number, or 1024 for infinity.
        let power = (magnitude.to_bits() >> 52) as i32 - 1023;
        let written = power + self.bias();
        if written > self.largest_exponent() {
            return None;
        }
        let mantissa = magnitude * power_of_two(exponent(self.n_mantissa) - power);
        let below = mantissa.floor();
        let code = ((written as u32) << self.n_mantissa) + (below as u32 - self.hidden_one());
        let up = match (mantissa - below).total_cmp(&0.5) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => code & 1 == u32::from(!planted("float ties to odd")),
            std::cmp::Ordering::Greater => true,
        };
        Some(code + u32::from(up)).filter(|&code| code <= self.largest_code())
    }

    pub(super) fn decode(&self, word: Word) -> f64 {
        let written = (word.0 & self.largest_code()) >> self.n_mantissa;
        if written == 0 {
            return 0.0;
        }
        let mantissa = self.hidden_one() | word.0 & (self.hidden_one() - 1);
        let magnitude =
            f64::from(mantissa) * power_of_two(-exponent(self.n_mantissa)) * self.scale(written as i32);
        if word.0 & self.sign_bit() == 0 { magnitude } else { -magnitude }
    }
}
