//! How often a run is compared and observed.

use luge_train::CacheLevel;

/// Which iterates are compared with the simulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Comparisons {
    /// Every one.
    #[default]
    Every,
    /// The last one, and one every 16,777,216 steps: all cells of it. A fast engine then runs at its own speed.
    End,
}

luge_net::names!(Comparisons, "choice of comparisons", Every "every", End "end");

/// Steps between two moments for whoever does not watch every step; moments fall on its multiples.
pub const STRIDE: u64 = 1 << 10;

/// Steps between two moments for whoever does not watch losses either; where no look at all cells is due before, a
/// multiple of it up to [`LONGEST_STRIDE`].
pub const LONG_STRIDE: u64 = 1 << 16;

/// The most steps between two moments.
pub const LONGEST_STRIDE: u64 = 1 << 20;

/// How closely a run is watched. However that is, every iterate is compared that is to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ObservationRate {
    /// A moment for every step.
    Steps,
    /// A moment for every [`STRIDE`], with all losses in between, where the engine reports what its steps change.
    Strides,
    /// A moment now and then: for every [`LONG_STRIDE`] where the engine makes many steps at once, else as for strides.
    #[default]
    Moments,
}

/// What the exact engine needs to remember.
pub(super) fn cache_level(comparisons: Comparisons, attention: ObservationRate) -> CacheLevel {
    match (comparisons, attention) {
        (Comparisons::End, _) | (_, ObservationRate::Moments) => CacheLevel::Macrosteps,
        (Comparisons::Every, ObservationRate::Steps | ObservationRate::Strides) => CacheLevel::Steps,
    }
}
