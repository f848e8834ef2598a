//! The part of the crate `web-time` that Luge uses, on a clock that the page imports into the module.

use std::{
    ops::{Add, Sub},
    time::Duration,
};

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Milliseconds since the worker began.
    safe fn now() -> f64;
}

/// A point in time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Instant(Duration);

impl Instant {
    /// The current time.
    #[must_use]
    pub fn now() -> Self {
        Self(Duration::from_secs_f64(now().max(0.0) / 1000.0))
    }

    /// The time since then.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Self::now() - *self
    }

    /// An earlier point in time, if the clock ran then.
    #[must_use]
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        self.0.checked_sub(duration).map(Self)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0 + duration)
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}
