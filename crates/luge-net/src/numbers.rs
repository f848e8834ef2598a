//! Numbers as bit strings, as on the machine's read-only tape and on its output tape.
//!
//! The lowest bit comes first and the sign last, because machines add from the lowest bit. A [`Word`] holds the bits
//! of one number; bit 0 is the one nearest to the marker cell.
//!
//! | format | bits, first to last | values |
//! |---|---|---|
//! | `fix:I.F` or `fix:I.F:tc` | `I + F` bits of two's complement; the sign is one of the `I` | multiples of `2^-F` in `[-2^(I-1), 2^(I-1) - 2^-F]` |
//! | `fix:I.F:sm` | `I + F - 1` bits of magnitude, sign | multiples of `2^-F` in `±(2^(I-1) - 2^-F)` |
//! | `float:E.M` or `float:E.M:sm` | `M` bits of mantissa, `E` of exponent, sign | 0 and `±(1 + mantissa / 2^M) 2^(exponent - bias)` |
//!
//! The bias is `2^(E-1) - 1`. Exponent 0 means zero, whatever the mantissa: there are no subnormal numbers, because the
//! network that converts (see [`quantize`](crate::quantizer::quantize)) relies on the leading bit of the mantissa. There are no
//! infinities and no NaN either, so all other exponents are numbers. Negative zeros decode to 0 and are never written.
//!
//! Paper: Appendix B.

mod fixed;
mod float;
#[cfg(test)]
pub(crate) mod tests;
mod text;

pub use fixed::{FixedPoint, Negatives};
pub use float::SmallFloat;
pub use text::FormatError;

/// The most bits a format may have.
pub const MAX_BITS: u32 = 32;

/// The most exponent bits a float may have: with more, its values leave the range of f64.
pub const MAX_EXPONENT_BITS: u32 = 10;

/// How numbers are written as bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NumberFormat {
    /// Multiples of one step.
    Fixed(FixedPoint),
    /// A mantissa times a power of two.
    Float(SmallFloat),
}

/// The bits of one number; bit 0 is the lowest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Word(pub u32);

impl Word {
    /// Whether bit `index` is 1.
    pub fn bit(self, index: u32) -> bool {
        self.0.checked_shr(index).is_some_and(|rest| rest & 1 == 1)
    }
}

/// What to do with numbers beyond the largest and smallest of a format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Overflow {
    /// Return an error.
    Refuse,
    /// Use the largest or smallest number.
    Saturate,
}

/// Why a number has no bits in a format.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum EncodeError {
    /// It rounds to something beyond the format's range.
    #[error("{value} is out of range: {format} reaches from {} to {}", .format.min(), .format.max())]
    OutOfRange {
        /// The number.
        value: f64,
        /// The format.
        format: NumberFormat,
    },
    /// It is not a number.
    #[error("NaN has no bits in {0}")]
    NotANumber(NumberFormat),
}

/// A bit string of another length than the format's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{n_bits} bits are not a number: {format} has {}", .format.n_bits())]
pub struct WrongLength {
    /// Number of bits.
    pub n_bits: usize,
    /// The format.
    pub format: NumberFormat,
}

impl NumberFormat {
    /// Number of bits of every number.
    pub fn n_bits(&self) -> u32 {
        match self {
            Self::Fixed(fixed) => fixed.n_bits(),
            Self::Float(float) => float.n_bits(),
        }
    }

    /// The largest number.
    pub fn max(&self) -> f64 {
        self.magnitude(self.n_positive())
    }

    /// The smallest number, negative.
    pub fn min(&self) -> f64 {
        -self.magnitude(self.n_negative())
    }

    /// The largest absolute value.
    pub fn largest_magnitude(&self) -> f64 {
        self.max().max(-self.min())
    }

    /// The smallest number above 0.
    pub fn smallest_positive(&self) -> f64 {
        self.magnitude(1)
    }

    /// The bits of the number nearest to `value`. Ties go to the number whose lowest bit is 0, and a tie between 0 and the
    /// smallest number goes to 0. A value is out of range if a format with more bits would round it to a number beyond the
    /// range of this one.
    ///
    /// # Errors
    /// For NaN, and for values out of range unless they saturate.
    pub fn encode(&self, value: f64, overflow: Overflow) -> Result<Word, EncodeError> {
        if value.is_nan() {
            return Err(EncodeError::NotANumber(*self));
        }
        let (nearest, in_range) = match self {
            Self::Fixed(fixed) => fixed.nearest(value),
            Self::Float(float) => float.nearest(value),
        };
        match overflow {
            Overflow::Refuse if !in_range => Err(EncodeError::OutOfRange { value, format: *self }),
            Overflow::Refuse | Overflow::Saturate => Ok(nearest),
        }
    }

    /// The number with these bits, exactly. Bits above [`n_bits`](Self::n_bits) are ignored.
    pub fn decode(&self, word: Word) -> f64 {
        match self {
            Self::Fixed(fixed) => fixed.decode(word),
            Self::Float(float) => float.decode(word),
        }
    }

    /// The number of this format nearest to `value`, as the machine reads it.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn round(&self, value: f64, overflow: Overflow) -> Result<f64, EncodeError> {
        self.encode(value, overflow).map(|word| self.decode(word))
    }

    /// A word's bits, the lowest first.
    pub fn bits(&self, word: Word) -> impl ExactSizeIterator<Item = bool> + use<> {
        (0..self.n_bits()).map(move |index| word.bit(index))
    }

    /// The word with these bits, the lowest first.
    ///
    /// # Errors
    /// If there are more or fewer than the format has.
    pub fn word(&self, bits: &[bool]) -> Result<Word, WrongLength> {
        if u32::try_from(bits.len()) != Ok(self.n_bits()) {
            return Err(WrongLength { n_bits: bits.len(), format: *self });
        }
        Ok(Word(bits.iter().rev().fold(0, |code, &bit| code << 1 | u32::from(bit))))
    }

    /// All numbers of the format, in ascending order, each once.
    pub fn all_values(&self) -> impl Iterator<Item = f64> + use<> {
        let format = *self;
        let negative = (1..=self.n_negative()).rev().map(move |rank| -format.magnitude(rank));
        let positive = (1..=self.n_positive()).map(move |rank| format.magnitude(rank));
        negative.chain([0.0]).chain(positive)
    }

    /// Number of numbers above 0.
    fn n_positive(&self) -> u32 {
        match self {
            Self::Fixed(fixed) => fixed.n_positive(),
            Self::Float(float) => float.n_magnitudes(),
        }
    }

    /// Number of numbers below 0.
    fn n_negative(&self) -> u32 {
        match self {
            Self::Fixed(fixed) => fixed.n_negative(),
            Self::Float(float) => float.n_magnitudes(),
        }
    }

    /// The absolute value with this rank; 0 has rank 0.
    fn magnitude(&self, rank: u32) -> f64 {
        match self {
            Self::Fixed(fixed) => f64::from(rank) * fixed.step(),
            Self::Float(float) => float.magnitude(rank),
        }
    }
}

/// 2^exponent, exactly, for exponents of normal f64 numbers.
pub(crate) fn power_of_two(exponent: i32) -> f64 {
    let biased = u64::try_from(exponent + 1023).ok().filter(|biased| (1..=2046).contains(biased));
    f64::from_bits(biased.expect("the exponent of a normal number") << 52)
}

/// The bits of all numbers as -1 and 1, the lowest bit of the first number first. NaN becomes 0, and numbers out of range
/// saturate.
pub fn to_signs(format: NumberFormat, numbers: &[f64]) -> Vec<f64> {
    let n_bits = format.n_bits() as usize;
    let mut signs = vec![0.0; numbers.len() * n_bits];
    for (&number, signs) in numbers.iter().zip(signs.chunks_exact_mut(n_bits)) {
        let Word(word) = format.encode(number, Overflow::Saturate).unwrap_or(Word(0));
        // 1 is -1 with the other sign.
        let sign = |bit: u32| f64::from_bits((-1.0_f64).to_bits() ^ u64::from(word >> bit) << 63);
        signs.iter_mut().zip(0..).for_each(|(entry, bit)| *entry = sign(bit));
    }
    signs
}

/// The numbers with these bits; positive values are bits that are 1.
pub fn from_signs(format: NumberFormat, bits: &[f64]) -> Vec<f64> {
    let word = |bits: &[f64]| bits.iter().rev().fold(0, |code, &bit| code << 1 | u32::from(bit > 0.0));
    bits.chunks(format.n_bits() as usize).map(|bits| format.decode(Word(word(bits)))).collect()
}
