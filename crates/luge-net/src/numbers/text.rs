//! Number formats as text, as on the command line and in model files.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{FixedPoint, MAX_BITS, MAX_EXPONENT_BITS, Negatives, NumberFormat, SmallFloat};

/// Why something is not a number format.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FormatError {
    /// The text does not have the parts of a format.
    #[error("`{0}` is not a number format: expected fix:I.F, fix:I.F:sm or float:E.M")]
    Shape(String),
    /// The first word is neither fix nor float.
    #[error("`{0}` is not a kind of number: expected fix or float")]
    Kind(String),
    /// A number of bits is not a number.
    #[error("`{0}` is not a number of bits")]
    Count(String),
    /// The last word is neither tc nor sm.
    #[error("`{0}` does not say how negative numbers are written: expected tc or sm")]
    Negatives(String),
    /// A float with two's complement.
    #[error("floats have no two's complement: leave out `tc`")]
    FloatTwosComplement,
    /// There is no integer bit.
    #[error("0 integer bits leave no room for the sign")]
    NoSignBit,
    /// There is a sign and nothing else.
    #[error("1 bit is the sign and leaves no room for a number")]
    OnlySignBit,
    /// A float without exponent, or with a larger one than f64.
    #[error("{0} exponent bits: expected 1 to {MAX_EXPONENT_BITS}")]
    ExponentBits(u32),
    /// Too many bits in all.
    #[error("{0} bits: a number has at most {MAX_BITS}")]
    TooManyBits(u64),
}

impl fmt::Display for NumberFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(fixed) => {
                write!(f, "fix:{}.{}", fixed.n_integer, fixed.n_fraction)?;
                match fixed.negatives {
                    Negatives::TwosComplement => Ok(()),
                    Negatives::SignMagnitude => f.write_str(":sm"),
                }
            }
            Self::Float(float) => write!(f, "float:{}.{}", float.n_exponent, float.n_mantissa),
        }
    }
}

impl Default for NumberFormat {
    /// fix:4.4, the format if neither the user nor the learner says otherwise.
    fn default() -> Self {
        Self::Fixed(FixedPoint::default())
    }
}

impl Serialize for NumberFormat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for NumberFormat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl FromStr for NumberFormat {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        let shape = || FormatError::Shape(text.to_owned());
        let (kind, rest) = text.split_once(':').ok_or_else(shape)?;
        let (counts, negatives) = match rest.split_once(':') {
            Some((counts, suffix)) => (counts, Some(negatives(suffix)?)),
            None => (rest, None),
        };
        let (first, second) = counts.split_once('.').ok_or_else(shape)?;
        match (kind, negatives) {
            ("fix", negatives) => {
                let negatives = negatives.unwrap_or(Negatives::TwosComplement);
                FixedPoint::new(count(first)?, count(second)?, negatives).map(Self::Fixed)
            }
            ("float", Some(Negatives::TwosComplement)) => Err(FormatError::FloatTwosComplement),
            ("float", Some(Negatives::SignMagnitude) | None) => {
                SmallFloat::new(count(first)?, count(second)?).map(Self::Float)
            }
            _ => Err(FormatError::Kind(kind.to_owned())),
        }
    }
}

fn negatives(suffix: &str) -> Result<Negatives, FormatError> {
    match suffix {
        "tc" => Ok(Negatives::TwosComplement),
        "sm" => Ok(Negatives::SignMagnitude),
        _ => Err(FormatError::Negatives(suffix.to_owned())),
    }
}

fn count(text: &str) -> Result<u32, FormatError> {
    let error = || FormatError::Count(text.to_owned());
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(error());
    }
    text.parse().map_err(|_| error())
}
