//! What the command line stands on: finding a machine, drawing its run, training in lockstep with the simulator, and
//! learning from data with a certificate.

pub mod data;
pub mod export;
pub mod lesson;
pub mod lockstep;
pub mod picture;
pub mod predictor;
pub mod source;
pub mod trace;
