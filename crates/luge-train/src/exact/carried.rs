//! Converts losses of the landscape to losses of the network.

use crate::sparse::Sparse;

/// The network's losses for losses of the landscape. There are few different ones, so the last ones are kept.
#[derive(Clone, Debug)]
pub(super) struct CarriedLosses([(f64, f64); 64]);

impl CarriedLosses {
    pub(super) fn new() -> Self {
        Self([(f64::NAN, f64::NAN); 64])
    }

    #[inline]
    pub(super) fn of(&mut self, probe: &Sparse<'_>, landscape: f64) -> f64 {
        let bits = landscape.to_bits();
        let known = &mut self.0[(bits.wrapping_mul(crate::MULTIPLIER) >> 58) as usize];
        if known.0.to_bits() != bits {
            *known = (landscape, probe.output_stage().map_or(landscape, |stage| stage.carry(landscape).loss));
        }
        known.1
    }
}
