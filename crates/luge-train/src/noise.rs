//! Relative Gaussian noise on every update, to measure the tolerance of a landscape.

use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use rand_distr::{Distribution, Normal};

/// Multiplies every entry of every update by 1 + sigma * N(0, 1). The same seed gives the same run.
#[derive(Clone, Debug)]
pub struct Noise {
    normal: Normal<f64>,
    generator: ChaCha8Rng,
}

impl Noise {
    /// Noise of relative size `sigma`; `None` if that is not a finite number of at least 0.
    pub fn new(sigma: f64, seed: u64) -> Option<Self> {
        let normal = Normal::new(1.0, sigma).ok().filter(|_| sigma >= 0.0 && sigma.is_finite())?;
        Some(Self { normal, generator: ChaCha8Rng::seed_from_u64(seed) })
    }

    /// The next `n` factors.
    pub(crate) fn factors(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.normal.sample(&mut self.generator)).collect()
    }
}
