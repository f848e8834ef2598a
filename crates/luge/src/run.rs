//! One run: which engine trains, the simulator beside it, what is recorded, what it may cost.

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
