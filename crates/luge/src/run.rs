//! One run: its engine, the simulator that checks it, its statistics, and its memory.

mod checkpoint_replay;
pub mod decimated;
pub mod engine;
pub mod estimate;
pub mod follow;
pub mod lockstep;
pub mod memory;
pub mod revisit;
pub mod run_stats;
pub(crate) mod situations;
pub mod step_checker;
