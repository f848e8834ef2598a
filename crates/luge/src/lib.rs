//! What the command line stands on: finding a machine, drawing its run, and training in lockstep with the simulator.

pub mod edges;
pub mod lockstep;
pub mod loss_curve;
pub mod picture;
pub mod plot;
pub mod source;
pub mod tolerance;
pub mod trace;
