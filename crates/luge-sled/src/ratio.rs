//! Exact fractions: the values of literals and constants before they are rounded to a type.

use num_traits::CheckedMul as _;

/// A fraction in lowest terms with a positive denominator.
pub(crate) type Ratio = num_rational::Ratio<i128>;

/// Parses digits, with `_` between them and at most one point; `None` if there are too many.
pub(crate) fn parse(text: &str) -> Option<Ratio> {
    let text = text.replace('_', "");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits = format!("{whole}{fraction}").parse().ok()?;
    Some(Ratio::new(digits, 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?))
}

/// The value, if it is an integer.
pub(crate) fn to_integer(value: Ratio) -> Option<i128> {
    value.is_integer().then(|| value.to_integer())
}

/// The value in units of 2^-fraction, rounded to nearest, ties to even.
pub(crate) fn round(value: Ratio, fraction: u32) -> Option<i128> {
    let scaled = value.checked_mul(&Ratio::from_integer(1_i128.checked_shl(fraction)?))?;
    let (numerator, denominator) = scaled.into_raw();
    let (below, rest) = (numerator.div_euclid(denominator), numerator.rem_euclid(denominator));
    let twice = rest.checked_mul(2)?;
    let up = twice > denominator || (twice == denominator && below % 2 != 0);
    below.checked_add(i128::from(up))
}

#[cfg(test)]
mod tests {
    use num_traits::{CheckedDiv as _, Zero as _};

    use super::*;

    #[test]
    fn literals_round_to_the_nearest() {
        let round = |text: &str, fraction| parse(text).and_then(|r| round(r, fraction));
        assert_eq!(round("0.5", 8), Some(128));
        assert_eq!(round("0.1", 4), Some(2));
        assert_eq!(round("0.5", 0), Some(0));
        assert_eq!(round("1.5", 0), Some(2));
        assert_eq!(round("1_000", 0), Some(1000));
        assert_eq!(parse("0.5").and_then(|r| super::round(-r, 0)), Some(0));
    }

    #[test]
    fn huge_numbers_are_no_panic() {
        let huge = parse("99999999999999999999999999999999999999");
        assert_eq!(huge.and_then(|h| h.checked_mul(&h)), None);
        assert_eq!(Ratio::zero().checked_div(&Ratio::zero()), None);
        assert_eq!(parse("9999999999999999999999999999999999999999"), None);
    }
}
