//! A: the constant carrier of a network that learns from a stream.

use luge_net::NumberFormat;

use crate::power_of_two_from;

/// The constants of `stream`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StreamConstants {
    /// A: the output while the machine runs.
    pub carrier: f64,
    /// A bound on the absolute values of labels.
    pub label_bound: f64,
    /// The distance between neighbouring labels: 2^-F.
    pub label_unit: f64,
}

/// An inequality that the constants of a stream violate.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum StreamConstantsError {
    /// The bound on labels does not fit the format.
    #[error(
        "labels up to {bound} in size: the bound must be a number from {unit} to {largest}, as {format} has them"
    )]
    Bound {
        /// The bound.
        bound: f64,
        /// The smallest label above 0.
        unit: f64,
        /// The largest label.
        largest: f64,
        /// The number format.
        format: NumberFormat,
    },
    /// Every step has a relative error of |y| / A.
    #[error("carrier {carrier} is too small for labels up to {bound}: A >= 16 max|y| = {needed} is violated")]
    Gain {
        /// A.
        carrier: f64,
        /// max|y|.
        bound: f64,
        /// 16 max|y|.
        needed: f64,
    },
    /// A label that is taken has an error of y^2 / A.
    #[error(
        "carrier {carrier} is too small for labels up to {bound} in steps of {unit}: A >= 4 max|y|^2 2^F = {needed} is violated"
    )]
    Labels {
        /// A.
        carrier: f64,
        /// max|y|.
        bound: f64,
        /// 2^-F.
        unit: f64,
        /// 4 max|y|^2 2^F.
        needed: f64,
    },
    /// A label is the difference of two numbers of the carrier's size.
    #[error(
        "carrier {carrier} is too large for arithmetic with {mantissa} bits: labels in steps of {unit} need A <= {most}"
    )]
    Rounding {
        /// A.
        carrier: f64,
        /// Bits of the arithmetic's mantissa, the leading one counted.
        mantissa: u32,
        /// 2^-F.
        unit: f64,
        /// The largest A.
        most: f64,
    },
}

impl StreamConstants {
    /// The user's A, or the smallest power of two that is large enough; without a bound, labels can be any numbers of the
    /// format.
    ///
    /// # Errors
    /// The inequality that is violated.
    pub fn choose(
        format: NumberFormat,
        label_bound: Option<f64>,
        carrier: Option<f64>,
    ) -> Result<Self, StreamConstantsError> {
        let (unit, largest) = (format.smallest_positive(), format.largest_magnitude());
        let bound = label_bound.unwrap_or(largest);
        if !(unit..=largest).contains(&bound) {
            return Err(StreamConstantsError::Bound { bound, unit, largest, format });
        }
        let (gain, labels) = (16.0 * bound, 4.0 * bound * bound / unit);
        let carrier = carrier.unwrap_or_else(|| power_of_two_from(gain.max(labels)));
        if carrier.is_nan() || carrier < gain || !carrier.is_finite() {
            return Err(StreamConstantsError::Gain { carrier, bound, needed: gain });
        }
        if carrier < labels {
            return Err(StreamConstantsError::Labels { carrier, bound, unit, needed: labels });
        }
        Ok(Self { carrier, label_bound: bound, label_unit: unit })
    }

    /// Checks that labels stay right in arithmetic with this many bits of mantissa, including the leading one: 53 in f64, 24
    /// in f32.
    ///
    /// The error |y|^2 / A takes up to 9/32 of a unit. Four roundings of numbers up to A must fit into the rest of half a unit.
    ///
    /// # Errors
    /// The inequality that is violated.
    pub fn check_rounding(&self, mantissa: u32) -> Result<(), StreamConstantsError> {
        let (carrier, unit) = (self.carrier, self.label_unit);
        let ulps = (0..mantissa).fold(1.0, |power: f64, _| 2.0 * power);
        let most = unit * ulps / 32.0;
        if carrier <= most {
            Ok(())
        } else {
            Err(StreamConstantsError::Rounding { carrier, mantissa, unit, most })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(format: &str, bound: Option<f64>, carrier: Option<f64>) -> Result<f64, String> {
        let chosen = StreamConstants::choose(format.parse().unwrap(), bound, carrier);
        chosen.map(|constants| constants.carrier).map_err(|error| error.to_string())
    }

    #[test]
    fn the_smallest_power_of_two_is_chosen() {
        assert_eq!(choose("fix:2.0", Some(1.0), None), Ok(16.0));
        assert_eq!(choose("fix:2.0", None, None), Ok(32.0));
        assert_eq!(choose("fix:2.2", None, None), Ok(64.0));
        assert_eq!(choose("fix:8.4", None, None), Ok(1_048_576.0));
        assert_eq!(choose("fix:8.4", Some(3.0), None), Ok(1024.0));
    }

    #[test]
    fn what_is_violated_is_said_with_its_numbers() {
        assert_eq!(
            choose("fix:2.0", Some(1.0), Some(15.0)),
            Err("carrier 15 is too small for labels up to 1: A >= 16 max|y| = 16 is violated".to_owned())
        );
        assert_eq!(
            choose("fix:4.4", Some(2.0), Some(128.0)),
            Err("carrier 128 is too small for labels up to 2 in steps of 0.0625: A >= 4 max|y|^2 2^F = 256 is violated".to_owned())
        );
        assert!(choose("fix:4.4", Some(2.0), Some(f64::NAN)).is_err());
        assert_eq!(
            choose("fix:2.0", Some(3.0), None),
            Err("labels up to 3 in size: the bound must be a number from 1 to 2, as fix:2.0 has them"
                .to_owned())
        );
    }

    #[test]
    fn a_carrier_can_be_too_large_for_the_arithmetic() {
        let constants = StreamConstants::choose("fix:8.4".parse().unwrap(), None, None).unwrap();
        assert_eq!(constants.check_rounding(53), Ok(()));
        assert_eq!(
            constants.check_rounding(24).unwrap_err().to_string(),
            "carrier 1048576 is too large for arithmetic with 24 bits: labels in steps of 0.0625 need A <= 32768"
        );
    }
}
