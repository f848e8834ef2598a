//! What the command line stands on: finding a machine, drawing its run, and training in lockstep with the simulator.

pub mod lockstep;
pub mod picture;
pub mod source;
pub mod trace;
