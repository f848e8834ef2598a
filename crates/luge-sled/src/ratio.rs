//! Exact fractions: the values of literals and constants until a type rounds them.

/// A fraction in lowest terms with a positive denominator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ratio {
    numerator: i128,
    denominator: i128,
}

impl Ratio {
    pub(crate) const ZERO: Self = Self { numerator: 0, denominator: 1 };

    pub(crate) fn integer(value: i128) -> Self {
        Self { numerator: value, denominator: 1 }
    }

    fn new(numerator: i128, denominator: i128) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let divisor = gcd(numerator.unsigned_abs(), denominator.unsigned_abs());
        let divisor = i128::try_from(divisor).ok()?.max(1);
        let sign = denominator.signum();
        Some(Self {
            numerator: (numerator / divisor).checked_mul(sign)?,
            denominator: (denominator / divisor).checked_mul(sign)?,
        })
    }

    /// Reads digits, with `_` between them and at most one point.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (mut numerator, mut denominator, mut after_point) = (0_i128, 1_i128, false);
        for c in text.chars() {
            match c {
                '_' => {}
                '.' => after_point = true,
                _ => {
                    let digit = i128::from(c.to_digit(10)?);
                    numerator = numerator.checked_mul(10)?.checked_add(digit)?;
                    if after_point {
                        denominator = denominator.checked_mul(10)?;
                    }
                }
            }
        }
        Self::new(numerator, denominator)
    }

    pub(crate) fn add(self, other: Self) -> Option<Self> {
        let left = self.numerator.checked_mul(other.denominator)?;
        let right = other.numerator.checked_mul(self.denominator)?;
        Self::new(left.checked_add(right)?, self.denominator.checked_mul(other.denominator)?)
    }

    pub(crate) fn negated(self) -> Self {
        Self { numerator: self.numerator.saturating_neg(), ..self }
    }

    pub(crate) fn mul(self, other: Self) -> Option<Self> {
        Self::new(
            self.numerator.checked_mul(other.numerator)?,
            self.denominator.checked_mul(other.denominator)?,
        )
    }

    pub(crate) fn div(self, other: Self) -> Option<Self> {
        Self::new(
            self.numerator.checked_mul(other.denominator)?,
            self.denominator.checked_mul(other.numerator)?,
        )
    }

    /// Rounded towards zero.
    pub(crate) fn truncated(self) -> Self {
        Self::integer(self.numerator / self.denominator)
    }

    /// Whether this is less than, equal to or greater than `other`; `None` if the numbers are too large to tell.
    pub(crate) fn compare(self, other: Self) -> Option<std::cmp::Ordering> {
        let left = self.numerator.checked_mul(other.denominator)?;
        Some(left.cmp(&other.numerator.checked_mul(self.denominator)?))
    }

    /// The value, if it is an integer.
    pub(crate) fn to_integer(self) -> Option<i128> {
        (self.denominator == 1).then_some(self.numerator)
    }

    /// The nearest multiple of 2^-fraction, counted in those; ties go to the even one.
    pub(crate) fn round(self, fraction: u32) -> Option<i128> {
        let scaled = self.numerator.checked_mul(1_i128.checked_shl(fraction)?)?;
        let (below, rest) = (scaled.div_euclid(self.denominator), scaled.rem_euclid(self.denominator));
        let twice = rest.checked_mul(2)?;
        let up = twice > self.denominator || (twice == self.denominator && below % 2 != 0);
        below.checked_add(i128::from(up))
    }
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            denominator => write!(f, "{}/{denominator}", self.numerator),
        }
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_round_to_the_nearest() {
        let round = |text: &str, fraction| Ratio::parse(text).and_then(|r| r.round(fraction));
        assert_eq!(round("0.5", 8), Some(128));
        assert_eq!(round("0.1", 4), Some(2));
        assert_eq!(round("0.5", 0), Some(0));
        assert_eq!(round("1.5", 0), Some(2));
        assert_eq!(round("1_000", 0), Some(1000));
        assert_eq!(Ratio::parse("0.5").and_then(|r| r.negated().round(0)), Some(0));
    }

    #[test]
    fn huge_numbers_are_no_panic() {
        let huge = Ratio::parse("99999999999999999999999999999999999999");
        assert_eq!(huge.and_then(|h| h.mul(h)), None);
        assert_eq!(Ratio::ZERO.div(Ratio::ZERO), None);
    }
}
