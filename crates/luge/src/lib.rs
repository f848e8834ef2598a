//! What the command line stands on: finding a machine, drawing its run, training in lockstep with the simulator, and
//! learning from data with a certificate.

pub mod audit;
pub mod bench;
pub mod checkpoint;
pub mod compare;
pub mod corollary;
pub mod data;
pub mod edges;
pub mod engine;
pub mod export;
pub mod film;
pub mod lab;
pub mod learners;
pub mod lesson;
pub mod lockstep;
pub mod loss_curve;
pub mod model;
pub mod picture;
pub mod plot;
pub mod predictor;
pub mod program;
pub mod revisit;
pub mod rocq;
pub mod source;
pub mod tolerance;
pub mod trace;
pub mod universal;
