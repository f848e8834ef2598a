//! The constants of the landscapes: chosen automatically, or given and then checked.
//!
//! Paper: §4.4, (13); docs/construction.md, section 6.

use luge_net::faults;
use serde::{Deserialize, Serialize};

/// The constants of `compact` and `relu`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ExternalConstants {
    /// b: balances edges, barriers and reading.
    pub base: f64,
    /// gamma: the global scale.
    pub scale: f64,
    /// c: keeps the loss positive.
    pub offset: f64,
}

/// The constants of `plain`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlainConstants {
    /// Omega: how far the loss drops when the machine halts.
    pub drop: f64,
    /// c: keeps the loss positive.
    pub offset: f64,
}

/// Bounds of the landscape's loss while the machine runs, and once it has halted.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Bounds {
    /// The loss of a running machine is at least this.
    pub running_low: f64,
    /// The loss of a running machine is at most this.
    pub running_high: f64,
    /// The loss of a halted machine is at most this.
    pub halted_high: f64,
    /// Training stops at or below this level, which is strictly between halted and running.
    pub stop: f64,
    /// A level between `stop` and `running_low`: from here on the machine counts as running.
    pub switch: f64,
}

/// The constants that the user sets; all others are chosen.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConstantOptions {
    /// b of `compact` and `relu`.
    pub base: Option<f64>,
    /// gamma of `compact` and `relu`.
    pub scale: Option<f64>,
    /// c of landscapes B and C.
    pub offset: Option<f64>,
    /// Omega of `plain`.
    pub drop: Option<f64>,
}

/// An inequality that the given constants violate.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ConstantsError {
    /// The halting level would not lie below the running one.
    #[error(
        "base {base} is too small for d = {n_tapes}: b^3 > 8 b^2 d + 3 d is violated ({left} <= {right})"
    )]
    Base {
        /// b.
        base: f64,
        /// d.
        n_tapes: usize,
        /// b^3.
        left: f64,
        /// 8 b^2 d + 3 d.
        right: f64,
    },
    /// b^3 overflows.
    #[error("base {0:e} is out of range: b^3 must be a finite number")]
    BaseRange(f64),
    /// The scale must be a positive number.
    #[error("scale {0} violates 0 < gamma < infinity")]
    Scale(f64),
    /// The loss could be negative on the simplex.
    #[error("offset {offset} is too small: c >= 2 (b^3 + d b) gamma = {needed} is violated")]
    Offset {
        /// c.
        offset: f64,
        /// 2 (b^3 + d b) gamma.
        needed: f64,
    },
    /// Levels or edges that differ on paper are the same number in f64.
    #[error(
        "base {base:e}, scale {scale:e} and offset {offset:e} lie too far apart: levels that must differ round to the same number"
    )]
    Rounding {
        /// b.
        base: f64,
        /// gamma.
        scale: f64,
        /// c.
        offset: f64,
    },
    /// The halting level of `plain` must lie clearly below the running one, above zero.
    #[error("drop {drop} and offset {offset} violate 0 < Omega <= c / 2")]
    Drop {
        /// Omega.
        drop: f64,
        /// c.
        offset: f64,
    },
}

impl ExternalConstants {
    /// The user's values; by default the smallest power of two for b, scale 1 and the smallest offset.
    ///
    /// # Errors
    /// The inequality that the user's values violate.
    pub fn choose(n_tapes: usize, given: &ConstantOptions) -> Result<Self, ConstantsError> {
        let base = given.base.unwrap_or_else(|| smallest_base(n_tapes));
        let scale = given.scale.unwrap_or(1.0);
        let needed = needed_offset(n_tapes, base, scale);
        let constants = Self { base, scale, offset: given.offset.unwrap_or(needed) };
        constants.check(n_tapes)?;
        Ok(constants)
    }

    fn check(&self, n_tapes: usize) -> Result<(), ConstantsError> {
        let Self { base, scale, offset } = *self;
        let (left, right) = (cube(base), base_bound(n_tapes, base));
        let unseen = faults::planted("base");
        if !left.is_finite() {
            return Err(ConstantsError::BaseRange(base));
        }
        if left <= right && !unseen {
            return Err(ConstantsError::Base { base, n_tapes, left, right });
        }
        if !(scale > 0.0 && scale.is_finite()) {
            return Err(ConstantsError::Scale(scale));
        }
        let needed = needed_offset(n_tapes, base, scale);
        if offset.is_nan() || offset < needed || !offset.is_finite() {
            return Err(ConstantsError::Offset { offset, needed });
        }
        let gap = self.halting_gap(n_tapes);
        let levels_differ = offset - gap < offset - gap / 2.0 && offset - gap / 2.0 < offset - gap / 4.0;
        let edges_differ = left + base > left && (left + base) * scale > left * scale;
        if !(levels_differ && edges_differ && (1.0 / scale).is_finite()) {
            return Err(ConstantsError::Rounding { base, scale, offset });
        }
        Ok(())
    }

    /// The loss of a halted machine is at least this far below c: (b^3 - 8 b^2 d - 3 d) gamma.
    pub(crate) fn halting_gap(&self, n_tapes: usize) -> f64 {
        (cube(self.base) - base_bound(n_tapes, self.base)) * self.scale
    }

    /// Bounds of the loss on this many tapes: a running machine is at most (8 b^2 d + 3 d) gamma above c.
    pub(crate) fn bounds(&self, n_tapes: usize) -> Bounds {
        let (offset, gap) = (self.offset, self.halting_gap(n_tapes));
        Bounds {
            running_low: offset,
            running_high: offset + base_bound(n_tapes, self.base) * self.scale,
            halted_high: offset - gap,
            stop: offset - faults::number("stopping level", gap / 2.0, 4.0 * gap),
            switch: offset - gap / 4.0,
        }
    }
}

impl PlainConstants {
    /// The user's values; by default Omega is the smallest power of two from 4 (1 + 3d) on, and c = 2 Omega.
    ///
    /// # Errors
    /// The inequality that the user's values violate.
    pub fn choose(n_tapes: usize, given: &ConstantOptions) -> Result<Self, ConstantsError> {
        let height = Self::running_height(n_tapes);
        let drop = given.drop.unwrap_or_else(|| power_of_two_from(4.0 * height));
        let offset = given.offset.unwrap_or(2.0 * drop);
        if drop > 0.0 && 2.0 * drop <= offset && offset.is_finite() && offset - drop / 8.0 < offset {
            Ok(Self { drop, offset })
        } else {
            Err(ConstantsError::Drop { drop, offset })
        }
    }

    /// The loss of a running machine is at most this far above c: 1 + 3 d.
    fn running_height(n_tapes: usize) -> f64 {
        1.0 + 3.0 * n_tapes as f64
    }

    /// Bounds of the loss on this many tapes.
    pub(crate) fn bounds(&self, n_tapes: usize) -> Bounds {
        let Self { drop, offset } = *self;
        Bounds {
            running_low: offset,
            running_high: offset + Self::running_height(n_tapes),
            halted_high: offset - drop,
            stop: offset - faults::number("stopping level", drop / 2.0, 1.5 * drop),
            switch: offset - drop / 8.0,
        }
    }
}

/// The smallest power of two that is at least `value`, by doubling and halving: the same on every platform.
///
/// # Panics
/// If the value is not a positive number.
pub fn power_of_two_from(value: f64) -> f64 {
    assert!(value > 0.0 && value.is_finite(), "a positive number");
    let mut power = 1.0;
    while power < value {
        power *= 2.0;
    }
    while power / 2.0 >= value {
        power /= 2.0;
    }
    power
}

fn smallest_base(n_tapes: usize) -> f64 {
    let mut base = 2.0_f64;
    while cube(base) <= base_bound(n_tapes, base) {
        base *= 2.0;
    }
    faults::number("base", base, base / 64.0)
}

/// 8 b^2 d + 3 d.
fn base_bound(n_tapes: usize, base: f64) -> f64 {
    n_tapes as f64 * (8.0 * base * base + 3.0)
}

/// 2 (b^3 + d b) gamma.
fn needed_offset(n_tapes: usize, base: f64, scale: f64) -> f64 {
    2.0 * (cube(base) + n_tapes as f64 * base) * scale
}

/// b^3 as two products in a fixed order: `powi` may round differently on other platforms.
pub(crate) fn cube(base: f64) -> f64 {
    base * base * base
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_is_the_smallest_power_of_two() {
        let bases: Vec<f64> = (1..=9).map(smallest_base).collect();
        assert_eq!(bases, [16.0, 32.0, 32.0, 64.0, 64.0, 64.0, 64.0, 128.0, 128.0]);
    }

    #[test]
    fn powers_of_two_are_exact() {
        let found: Vec<f64> = [16.0, 16.5, 1.0, 0.25, 0.3].map(power_of_two_from).to_vec();
        assert_eq!(found, [16.0, 32.0, 1.0, 0.25, 0.5]);
    }

    #[test]
    fn constants_that_round_together_are_refused() {
        let refused = |base, scale, offset| {
            let given = ConstantOptions { base, scale, offset, drop: None };
            matches!(ExternalConstants::choose(1, &given), Err(ConstantsError::Rounding { .. }))
        };
        assert!(refused(None, None, Some(1e300)));
        assert!(refused(None, Some(1e-310), None));
        assert!(refused(Some(1e60), None, None));
        assert!(!refused(Some(64.0), Some(0.25), None));
        let plain = ConstantOptions { offset: Some(1e300), ..ConstantOptions::default() };
        assert!(PlainConstants::choose(1, &plain).is_err());
    }

    #[test]
    fn given_constants_are_checked() {
        let given = |base, scale, offset| ConstantOptions { base, scale, offset, drop: None };
        let message = |given: ConstantOptions| ExternalConstants::choose(1, &given).unwrap_err().to_string();
        assert_eq!(
            message(given(Some(8.0), None, None)),
            "base 8 is too small for d = 1: b^3 > 8 b^2 d + 3 d is violated (512 <= 515)"
        );
        assert_eq!(message(given(None, Some(0.0), None)), "scale 0 violates 0 < gamma < infinity");
        assert_eq!(
            message(given(None, None, Some(8000.0))),
            "offset 8000 is too small: c >= 2 (b^3 + d b) gamma = 8224 is violated"
        );
        let plain = ConstantOptions { drop: Some(9.0), offset: Some(17.0), ..ConstantOptions::default() };
        assert_eq!(
            PlainConstants::choose(1, &plain).unwrap_err().to_string(),
            "drop 9 and offset 17 violate 0 < Omega <= c / 2"
        );
    }
}
