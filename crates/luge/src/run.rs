//! One run: its engine, the simulator that checks it, its statistics, and its memory.

#[doc(hidden)]
pub mod decimated;
pub mod engine;
#[doc(hidden)]
pub mod estimate;
pub mod follow;
#[doc(hidden)]
pub mod lockstep;
#[doc(hidden)]
pub mod memory;
pub mod revisit;
pub mod run_stats;
pub(crate) mod situations;
#[doc(hidden)]
pub mod step_checker;
pub(crate) mod two_cores;

pub use engine::{Chosen, EngineChoice, EngineError, Task, TrainingConfig};
pub use follow::{Comparisons, ObservationRate, RunProgress};
pub use run_stats::{FirstMismatch, RunStats};
